"""What refers to the objects of a Delta table, and what an object is for that nothing refers to.

The newest version keeps its live files and their vectors; files that were removed are named by tombstones until VACUUM may
delete them, and the files of older versions may be gone: that is no damage. The files of the log are found by their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from lakelens.codecs.numbers import read_number
from lakelens.codecs.temporal import read_interval
from lakelens.errors import LakeError
from lakelens.formats.delta.context import RETENTION, WEEK
from lakelens.formats.delta.discovery import LOG, guess_role
from lakelens.formats.delta.vectors import find_vector
from lakelens.io.store import find_info
from lakelens.model.check.references import Keeper, Purpose, Reference, Referring

if TYPE_CHECKING:
    from lakelens.formats.delta.log_table import DeltaTable

_LOOSE = {
    "data": "neither a live file nor a tombstone of the newest version names it",
    "deletion vectors": "no live file of the newest version has a vector in it",
    "sidecar": "no checkpoint names it",
}


class DeltaReferring(Referring):
    """What refers to the objects of a Delta table: versions before the newest keep nothing from VACUUM but by tombstones."""

    noun = "version"
    history_keeps = False
    removed_are_kept = True
    table: DeltaTable

    def __init__(self, table: DeltaTable) -> None:
        super().__init__(table)
        self.access = table._context.access
        span = read_interval(table._context.configuration, RETENTION, WEEK)
        self.removed_kept_by = (
            f"tombstones, until VACUUM finds them older than {span / timedelta(days=1):g} days"
        )

    def list_named(self, keeper: Keeper) -> Iterator[Reference]:
        """List the live files of a version: they are those of its state, whatever entries its commits have."""
        snapshot: Any = keeper.snapshot
        context = self.table._context
        for (name, _), action in snapshot.state.files.items():
            recorded = action.fields["path"]
            yield Reference(
                context.locate(name), "data", read_number(action.fields, "size"), recorded, is_needed=True
            )

    def list_documents(self) -> Iterator[Reference]:
        """List files of vectors, and sidecars of kept checkpoints; what was removed is named by entries."""
        context, state = self.table._context, self.table.newest.state
        for action in state.files.values():
            path = find_vector(action, context)
            if path is not None:
                yield Reference(path, "deletion vectors", is_needed=True)
        for (name, _), action in state.tombstones.items():
            for path, role in (
                (context.locate(name), "removed data"),
                (find_vector(action, context), "removed vectors"),
            ):
                # VACUUM may have deleted it since
                if path is not None and find_info(context.store, path) is not None:
                    yield Reference(path, role)
        for version, checkpoints in context.log.checkpoints.items():
            for checkpoint in checkpoints:
                try:
                    parts = context.list_parts(checkpoint)
                except LakeError:  # a finding of the version that needs it
                    continue
                for path, size in parts[len(checkpoint.files) :]:
                    is_newest = checkpoint is state.checkpoint
                    yield Reference(path, "sidecar", size, is_needed=is_newest, snapshot_id=version)

    def find_purpose(self, relative_path: str) -> Purpose:
        """See `Referring.find_purpose`. Names with `_` or `.` in front are hidden, but for partition columns called so."""
        role = guess_role(relative_path)
        if relative_path.startswith(f"{LOG}/"):
            return Purpose(role, "loose", _LOOSE[role]) if role in _LOOSE else Purpose(role, "known")
        if role == "change data":
            return Purpose(role, "known")
        if self.table._hides(relative_path):
            return Purpose(role, "hidden")
        return Purpose(role, "loose", _LOOSE[role])
