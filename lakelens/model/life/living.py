"""What a format says of its states and files so that their lives can be followed, beside what every format has."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.errors import Unsupported
from lakelens.model.driver import Part

if TYPE_CHECKING:
    from lakelens.model.datafile import DataFile
    from lakelens.model.deletes import DeleteMatch
    from lakelens.model.life.merging import Merge
    from lakelens.model.life.stored_rows import StoredRows
    from lakelens.model.snapshot import Snapshot


class FileDeletes:
    """What deletes rows of some data files, state by state. A format that has many states looks them up by what changed."""

    def __init__(self, files: Sequence[DataFile]) -> None:
        self._files = list(files)
        self._seen: dict[Any, dict[Hashable, DataFile]] = {}

    def mark(self, snapshot: Snapshot) -> Hashable:
        """What is equal for two states in which the same deletes reach the files; None where none does."""
        if not any(file.deletes for file in self._look_up(snapshot).values()):
            return None
        return snapshot.path or snapshot.id

    def match(self, snapshot: Snapshot, file: DataFile) -> Sequence[DeleteMatch]:
        """The deletes that reach one of the files in a state."""
        found = self._look_up(snapshot).get(file.identity)
        return () if found is None else found.deletes

    def _look_up(self, snapshot: Snapshot) -> dict[Hashable, DataFile]:
        key = snapshot.path or snapshot.id
        if key not in self._seen:
            wanted = {file.identity for file in self._files}
            self._seen[key] = {file.identity: file for file in snapshot.files if file.identity in wanted}
        return self._seen[key]


class Living(Part):
    """What only a format knows of the lives of files and rows."""

    answer = "life"

    def open_deletes(self, files: Sequence[DataFile]) -> FileDeletes:
        """What deletes rows of some data files, ready to be asked state by state."""
        return FileDeletes(files)

    def open_rows(self, file: DataFile) -> StoredRows:
        """The rows of a data file, ready to be read by today's columns. Raises `LakeError`."""
        from lakelens.model.life.stored_rows import NamedRows

        if self.table.storage is None:
            raise Unsupported(f"rows of {self.table.traits.title} tables are not read", path=file.path)
        return NamedRows(self.table.storage, file)

    def open_merge(self, snapshot: Snapshot, slots: Mapping[int, int]) -> Merge | None:
        """How a reader of a state merges the rows of one key from several files; None where each row stands for itself.

        `slots` are the places of columns in the values of records, by field id. Raises `Unsupported` where rows are put
        together in a way that is not known.
        """
        return None

    def begins_later(self, snapshot: Snapshot) -> bool:
        """Whether a state that has no state before it was not the first one: what was before it has expired."""
        return snapshot.parent_id is not None

    def find_row_writer(self, snapshot: Snapshot, file: DataFile, sequence: int) -> Snapshot | None:
        """The commit that wrote a row which a later snapshot made visible, in `file`; None where that is not another."""
        return None

    def describe_commit(self, snapshot: Snapshot) -> str:
        """How a snapshot was committed: its operation, and what its document says of the statement."""
        return snapshot.operation or "commit"

    def describe_writer(self, snapshot: Snapshot) -> str:
        """Who committed a snapshot, as its document says it; empty where it says nothing."""
        return ""

    def describe_origin(self, file: DataFile) -> tuple[str, ...]:
        """How a file was written, as its entry says it: its schema, its order, its level."""
        return () if file.schema_id is None else (f"schema {file.schema_id}",)
