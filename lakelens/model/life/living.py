"""What a format says of its states and files so that their lives can be followed, beside what every format has.

The rows of one data file are stored under the columns that a table has or had: where the file keeps each, or what stands for
it. Rows of one key a reader merges: what a format's merge is given, and what comes out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.errors import Unsupported
from lakelens.model.driver import Part

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.datafile import DataFile
    from lakelens.model.deletes import DeleteMatch
    from lakelens.model.schema import Field
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.storage import Storage


@dataclass(frozen=True, slots=True)
class Record:
    """One stored row: the number of its file and its place there, its values by slot, and its system columns.

    `sequence` orders the records of one key, `kind` says what the record does: +I 0, -U 1, +U 2, -D 3.
    """

    file: int
    position: int
    values: tuple[Any, ...]
    sequence: int = 0
    kind: int = 0
    row_id: int | None = None
    updated: int | None = None
    level: int = 0

    @property
    def removes(self) -> bool:
        """Whether the record takes a row away."""
        return self.kind in (1, 3)


@dataclass(frozen=True, slots=True)
class Merged:
    """What a reader sees of the records of a key: the values, and the record that decided last.

    `unknown` are the numbers of values that cannot be worked out. A key whose row is gone has no values.
    """

    values: tuple[Any, ...] | None
    last: Record
    unknown: tuple[int, ...] = ()


class Merge(ABC):
    """How the records of one key are merged: `words` say how, `keys` are the names of the key columns."""

    words: str
    keys: tuple[str, ...]
    #: whether a merged row may hold values that no single record holds together
    is_combining: bool = False

    def sees(self, level: int | None, bucket: int | None) -> bool:
        """Check whether a reader reads files of this level and bucket."""
        return True

    @abstractmethod
    def merge(self, records: Sequence[Record]) -> Merged:
        """The row of one key, of one record or more, in any order."""


#: Columns that formats keep beside those of the schema: a row's id, when it was last changed, its order, what it does.
SYSTEM = ("_row_id", "_last_updated_sequence_number", "_SEQUENCE_NUMBER", "_VALUE_KIND")


class StoredRows(ABC):
    """One data file, ready to be read: `find` and `find_system` say where a column is, `read` gives arrays in file order."""

    @abstractmethod
    def find(self, way: Sequence[Field]) -> Any:
        """Where the file has a column, by the fields that lead to it from the top; None where it does not have it."""

    def find_system(self, name: str) -> Any:
        """Find where the file has one of `SYSTEM`; None where it does not."""
        return None

    def get_constant(self, field: Field) -> Any:
        """Give the value of a column that the file does not have: of its partition, its default, or None."""
        return field.initial_default

    @abstractmethod
    def read(self, places: Sequence[Any]) -> Iterator[list[pa.Array]]:
        """All rows in pieces, an array for each column that was found. Raises `LakeError`."""


def name_as_shown(way: Sequence[Field]) -> tuple[str, ...] | None:
    """Name a column in a file as the table shows it."""
    return tuple(field.name for field in way)


class NamedRows(StoredRows):
    """A file whose columns are found by name.

    `name` says what the file calls the column that some fields lead to, None where its schema has no such one. `system` are
    the names that it has for columns of `SYSTEM`, where these are others. With `by_id` a column that is not there under its
    name is found by its field id. Columns of the partition are not in the file, unless it `stores_partition`.
    """

    def __init__(
        self,
        storage: Storage,
        file: DataFile,
        name: Callable[[Sequence[Field]], tuple[str, ...] | None] = name_as_shown,
        *,
        system: Mapping[str, str] | None = None,
        by_id: bool = False,
        stores_partition: bool = False,
    ) -> None:
        self._storage = storage
        self._file = file
        self._name = name
        self._system = system
        self._by_id = by_id
        self._partition = {} if stores_partition else file.partition

    def find(self, way: Sequence[Field]) -> Any:
        """See `StoredRows.find`."""
        if way[0].name in self._partition:
            return None
        names = self._name(way)
        if names is None or self._has(names):
            return names
        leaves = getattr(self._file.footer.facts, "leaves", ()) if self._by_id else ()
        return next((tuple(leaf.path.split(".")) for leaf in leaves if leaf.field_id == way[-1].id), None)

    def _has(self, names: tuple[str, ...]) -> bool:
        import pyarrow as pa

        kind: Any = self._schema.get(names[0])
        for name in names[1:]:
            if kind is None or not pa.types.is_struct(kind) or kind.get_field_index(name) < 0:
                return False
            kind = kind.field(name).type
        return kind is not None

    @property
    def _schema(self) -> dict[str, pa.DataType]:
        found = self.__dict__.get("_read_schema")
        if found is None:
            found = {}
            for piece in self._storage.read_columns(self._file.path, self._file.file_format):
                found = {field.name: field.type for field in piece.schema}
                break
            self.__dict__["_read_schema"] = found
        return found

    def find_system(self, name: str) -> Any:
        """See `StoredRows.find_system`."""
        column = name if self._system is None else self._system.get(name)
        return (column,) if column in self._schema else None

    def get_constant(self, field: Field) -> Any:
        """See `StoredRows.get_constant`."""
        if field.name in self._partition:
            value = self._partition[field.name]
            return str(value) if value is not None and field.type.logical == "string" else value
        return field.initial_default

    def read(self, places: Sequence[Any]) -> Iterator[list[pa.Array]]:
        """See `StoredRows.read`."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = list(dict.fromkeys(place[0] for place in places))
        for piece in self._storage.read_columns(self._file.path, self._file.file_format, names):
            arrays = []
            for first, *further in places:
                column = piece[first]
                array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
                if isinstance(array, pa.ChunkedArray):
                    array = pa.concat_arrays(array.chunks)
                for name in further:
                    array = pc.struct_field(array, array.type.get_field_index(name))
                arrays.append(array)
            yield arrays


class FileDeletes:
    """What deletes rows of some data files, state by state. A format that has many states looks them up by what changed."""

    def __init__(self, files: Sequence[DataFile]) -> None:
        self._files = list(files)
        self._seen: dict[Any, dict[Hashable, DataFile]] = {}

    def mark(self, snapshot: Snapshot) -> Hashable:
        """Say what is equal for two states in which the same deletes reach the files; None where none does."""
        if not any(file.deletes for file in self._look_up(snapshot).values()):
            return None
        return snapshot.path or snapshot.id

    def match(self, snapshot: Snapshot, file: DataFile) -> Sequence[DeleteMatch]:
        """Match the deletes that reach one of the files in a state."""
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

    #: the id of the first state, where each has the next number; None where ids say nothing of their order
    first_id: int | None = None

    def open_deletes(self, files: Sequence[DataFile]) -> FileDeletes:
        """Open what deletes rows of some data files, ready to be asked state by state."""
        return FileDeletes(files)

    def open_rows(self, file: DataFile) -> StoredRows:
        """Open the rows of a data file, ready to be read by today's columns. Raises `LakeError`."""
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
        """Check whether a state that has no state before it was not the first one: what was before it has expired."""
        if self.first_id is None:
            return snapshot.parent_id is not None
        return snapshot.id is not None and snapshot.id > self.first_id

    def find_row_writer(self, snapshot: Snapshot, file: DataFile, sequence: int) -> Snapshot | None:
        """The commit that wrote a row which a later snapshot made visible, in `file`; None where that is not another."""
        return None

    def describe_release(self, snapshot: Snapshot, when: str) -> str:
        """Describe what lets go of a file that no state after a snapshot has; `when` is the time of its commit."""
        return f"expiring snapshot {snapshot.id} ({when}) and what is older"

    def describe_commit(self, snapshot: Snapshot) -> str:
        """Describe how a snapshot was committed: its operation, and what its document says of the statement."""
        return snapshot.operation or "commit"

    def describe_writer(self, snapshot: Snapshot) -> str:
        """Who committed a snapshot, as its document says it; empty where it says nothing."""
        return ""

    def describe_origin(self, file: DataFile) -> tuple[str, ...]:
        """Describe how a file was written, as its entry says it: its schema, its order, its level."""
        return () if file.schema_id is None else (f"schema {file.schema_id}",)
