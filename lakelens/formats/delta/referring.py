"""What refers to the objects of a Delta table, and what an object is for that nothing refers to.

The newest version keeps its live files and their vectors; files that were removed are named by tombstones until VACUUM may
delete them, and the files of older versions may be gone: that is no damage. The files of the log are found by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.delta.discovery import LOG, guess_role
from lakelens.formats.delta.vectors import place_vector
from lakelens.io.store import ObjectInfo, find_info, walk
from lakelens.model.check.references import Keeper, Purpose, Reference, Referring

if TYPE_CHECKING:
    from lakelens.formats.delta.log_table import DeltaTable

_LOOSE = {
    "data": "neither a live file nor a tombstone of the newest version names it",
    "deletion vectors": "no live file of the newest version has a vector in it",
    "sidecar": "no checkpoint names it",
}


class DeltaReferring(Referring):
    """What refers to the objects of a Delta table."""

    removed_are_kept = True
    table: DeltaTable

    def list_keepers(self) -> Iterator[Keeper]:
        """List the newest version: those before it keep nothing from VACUUM but by their tombstones."""
        newest = self.table.newest
        yield Keeper(f"version {newest.id}", newest, newest.path)

    def list_documents(self) -> Iterator[Reference]:
        """List files of vectors, and sidecars of kept checkpoints; what was removed is named by entries."""
        context, state = self.table._context, self.table.newest.state
        for is_live, actions in ((True, state.files.values()), (False, state.tombstones.values())):
            for action in actions:
                if action.vector is None:
                    continue
                try:
                    place = place_vector(action, context)
                except LakeError:  # a finding of its file
                    continue
                # that of a tombstone goes with its file
                if place.inline is None and (is_live or find_info(context.store, place.path) is not None):
                    yield Reference(place.path, "deletion vectors", is_needed=is_live)
        for version, checkpoints in context.log.checkpoints.items():
            for checkpoint in checkpoints:
                try:
                    parts = context.list_parts(checkpoint)
                except LakeError:  # a finding of the version that needs it
                    continue
                for path, size in parts[len(checkpoint.files) :]:
                    is_newest = checkpoint is state.checkpoint
                    yield Reference(path, "sidecar", size, is_needed=is_newest, snapshot_id=version)

    def list_objects(self, refuse: Callable[[LakeError], None]) -> Iterator[ObjectInfo]:
        """See `Referring.list_objects`."""
        context = self.table._context
        return (found for found in walk(context.store, context.root, refuse=refuse) if not found.is_dir)

    def find_sizes(self, recorded: Sequence[tuple[str, str | None]]) -> Iterator[int | None]:
        """See `Referring.find_sizes`."""
        return self.table._context.access.find_sizes(recorded)

    def find_purpose(self, relative_path: str) -> Purpose:
        """See `Referring.find_purpose`. Names with `_` or `.` in front are hidden, but for partition columns called so."""
        role = guess_role(relative_path)
        if relative_path.startswith(f"{LOG}/"):
            return Purpose(role, "loose", _LOOSE[role]) if role in _LOOSE else Purpose(role, "known")
        parts = relative_path.split("/")
        if role == "change data":
            return Purpose(role, "known")
        columns = {field.source_name for field in self.table.partitioning.fields}
        for part in parts:
            if part.startswith(".") or (part.startswith("_") and part.partition("=")[0] not in columns):
                return Purpose(role, "hidden")
        return Purpose(role, "loose", _LOOSE[role])
