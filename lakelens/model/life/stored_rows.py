"""The rows of one data file, under the columns that a table has or had: where the file keeps each, or what stands for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.datafile import DataFile
    from lakelens.model.schema import Field
    from lakelens.model.storage import Storage

#: Columns that formats keep beside those of the schema: a row's id, when it was last changed, its order, what it does.
SYSTEM = ("_row_id", "_last_updated_sequence_number", "_SEQUENCE_NUMBER", "_VALUE_KIND")


class StoredRows(ABC):
    """One data file, ready to be read: `find` and `find_system` say where a column is, `read` gives arrays in file order."""

    @abstractmethod
    def find(self, way: Sequence[Field]) -> Any:
        """Where the file has a column, by the fields that lead to it from the top; None where it does not have it."""

    def find_system(self, name: str) -> Any:
        """Where the file has one of `SYSTEM`; None where it does not."""
        return None

    def get_constant(self, field: Field) -> Any:
        """The value of a column that the file does not have: of its partition, its default, or None."""
        return field.initial_default

    @abstractmethod
    def read(self, places: Sequence[Any]) -> Iterator[list[pa.Array]]:
        """All rows in pieces, an array for each column that was found. Raises `LakeError`."""


class NamedRows(StoredRows):
    """A file whose columns are found by name; `partition` holds columns that are not in it."""

    def __init__(self, storage: Storage, file: DataFile, *, has_partition: bool = True) -> None:
        self._storage = storage
        self._file = file
        self._has_partition = has_partition

    def name(self, way: Sequence[Field]) -> tuple[str, ...] | None:
        """What the file calls a column; None where its schema has no such one."""
        return tuple(field.name for field in way)

    def find(self, way: Sequence[Field]) -> Any:
        """See `StoredRows.find`."""
        names = self.name(way)
        if names is None or (self._has_partition and names[0] in self._file.partition):
            return None
        return names if self._has(names) else None

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
        return (name,) if name in self._schema else None

    def get_constant(self, field: Field) -> Any:
        """See `StoredRows.get_constant`."""
        if self._has_partition and field.name in self._file.partition:
            value = self._file.partition[field.name]
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
