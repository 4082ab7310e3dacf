"""Who committed a version, which vectors delete rows of a file in each of them, and the rows by physical names.

With row tracking a row's id is stored in a column that the table's properties name, where it was moved; else it is counted
on from the file's `baseRowId`. See "Row Tracking", "Reader Requirements for Column Mapping" of the Delta protocol.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from lakelens.codecs.temporal import read_interval
from lakelens.formats.delta.context import RETENTION, WEEK
from lakelens.formats.delta.vectors import match_vector
from lakelens.model.life.living import FileDeletes, Living, NamedRows, StoredRows

if TYPE_CHECKING:
    from lakelens.formats.delta.actions import Action
    from lakelens.formats.delta.context import LogContext
    from lakelens.formats.delta.log_table import DeltaTable
    from lakelens.model.datafile import DataFile
    from lakelens.model.deletes import DeleteMatch
    from lakelens.model.schema import Field
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.storage import Storage

_SYSTEM = {
    "_row_id": "delta.rowTracking.materializedRowIdColumnName",
    "_last_updated_sequence_number": "delta.rowTracking.materializedRowCommitVersionColumnName",
}
_SAID = (
    "predicate",
    "matchedPredicates",
    "zOrderBy",
    "clusterBy",
    "version",
    "timestamp",
    "mode",
    "properties",
)
_NUMBERED = re.compile(r"(?<=\w)#\d+L?")  # by which Spark distinguishes columns of one name
_MOST_WORDS = 200


class VersionDeletes(FileDeletes):
    """The vectors of some files, version by version: a file has one at most, and another one in a later version."""

    def __init__(self, files: Sequence[DataFile], context: LogContext) -> None:
        super().__init__(files)
        self._context = context
        self._paths = {getattr(file, "logical_path", file.path) for file in files}
        self._vectors: dict[int, dict[str, Action]] = {}

    def mark(self, snapshot: Snapshot) -> Hashable:
        """See `FileDeletes.mark`: the vectors of the files."""
        found = self._find(snapshot)
        return frozenset(action.key for action in found.values()) or None

    def match(self, snapshot: Snapshot, file: DataFile) -> Sequence[DeleteMatch]:
        """See `FileDeletes.match`."""
        action = self._find(snapshot).get(getattr(file, "logical_path", file.path))
        if action is None:
            return ()
        context = self._context
        return context.access.attempt(lambda: match_vector(action, context), action.path, ())

    def _find(self, snapshot: Any) -> dict[str, Action]:
        if snapshot.id not in self._vectors:
            self._vectors[snapshot.id] = {
                name: action
                for (name, vector), action in snapshot.state.files.items()
                if vector and name in self._paths
            }
        return self._vectors[snapshot.id]


def open_mapped(storage: Storage, file: DataFile, context: LogContext) -> NamedRows:
    """Open a data file by the physical names of its columns; where the table maps by id and these are others, by id."""
    columns, settings = context.columns, context.configuration

    def name(way: Sequence[Field]) -> tuple[str, ...] | None:
        logical = ".".join(field.name for field in way)
        leaf = next((leaf for leaf in columns.leaves if leaf.name == logical), None)
        if leaf is not None:
            return leaf.physical
        return (columns.physical.get(logical, logical),) if len(way) == 1 else None

    system = {name: settings[key] for name, key in _SYSTEM.items() if settings.get(key)}
    by_id = settings.get("delta.columnMapping.mode", "none").lower() == "id"
    return NamedRows(storage, file, name, system=system, by_id=by_id)


class DeltaLiving(Living):
    """What only a Delta table knows of lives."""

    first_id = 0
    table: DeltaTable

    def open_deletes(self, files: Sequence[DataFile]) -> FileDeletes:
        """See `Living.open_deletes`."""
        return VersionDeletes(files, self.table._context)

    def open_rows(self, file: DataFile) -> StoredRows:
        """See `Living.open_rows`."""
        storage = self.table.storage
        return super().open_rows(file) if storage is None else open_mapped(storage, file, self.table._context)

    def describe_release(self, snapshot: Snapshot, when: str) -> str:
        """See `Living.describe_release`: its tombstone has to be older than the table's retention."""
        days = read_interval(self.table._context.configuration, RETENTION, WEEK) / timedelta(days=1)
        return f"VACUUM, {days:g} days after the commit that followed version {snapshot.id} ({when}),"

    def describe_commit(self, snapshot: Snapshot) -> str:
        """See `Living.describe_commit`: the operation, and what it was asked to do."""
        found: Any = snapshot
        said = found.operation_parameters
        words = [f"{name} {said[name]}" for name in _SAID if said.get(name) not in (None, "", "[]", "{}")]
        asked = _NUMBERED.sub("", ", ".join(words))[:_MOST_WORDS]
        return f"{found.operation or 'commit'}{f' ({asked})' if asked else ''}"

    def describe_writer(self, snapshot: Snapshot) -> str:
        """See `Living.describe_writer`."""
        return getattr(snapshot, "engine_info", None) or ""

    def describe_origin(self, file: DataFile) -> tuple[str, ...]:
        """See `Living.describe_origin`: what has clustered it, and its first row id."""
        found: Any = file
        words = []
        if found.clustering_provider:
            words.append(f"clustered by {found.clustering_provider}")
        if found.base_row_id is not None:
            words.append(f"row ids from {found.base_row_id:,}")
        return tuple(words)
