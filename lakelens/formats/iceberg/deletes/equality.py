"""Equality deletes: the values that a delete file holds, and the rows of a data file that equal them.

Follows "Equality Delete Files" and "Column Projection" of the Iceberg table specification. Values are compared as the
engine does: null equals null, NaN equals NaN, the two zeros differ; columns that were widened since are widened first; a
column that the data file does not have is its partition value, its default or null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from lakelens.codecs.iceberg.types import IcebergType
from lakelens.errors import Corrupt, Unsupported
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.deletes.stored_columns import StoredColumns, view_numbers
from lakelens.formats.iceberg.metadata.partitions import convert_stored

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.bitmaps import BitMap64
    from lakelens.formats.iceberg.deletes.stored_columns import StoredColumn
    from lakelens.formats.iceberg.deletes.stored_rows import StoredRows
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile

_UNITS = {"timestamp": "us", "timestamptz": "us", "timestamp_ns": "ns", "timestamptz_ns": "ns"}
_MOST_ROWS = 1 << 27
_KEPT_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """One column that is compared: its id, today's name and type."""

    id: int
    name: str
    type: IcebergType


def describe_keys(context: TableContext, ids: Sequence[int]) -> tuple[KeyColumn, ...]:
    """Describe the columns of `equality_ids`, under today's names and types."""
    columns = [context.columns.find(column_id) for column_id in ids]
    return tuple(KeyColumn(column.id, column.name, column.iceberg_type) for column in columns)


class KeySet:
    """The keys of one equality delete file: `arrays` hold the values of each column in comparable form.

    >>> import pyarrow as pa
    >>> keys = KeySet([pa.array([1, None]), pa.array(["a", "b"])])
    >>> keys.find([pa.array([1, 1, None]), pa.array(["a", "b", "b"])]).tolist()
    [0, 2]
    """

    def __init__(self, arrays: Sequence[pa.Array | pa.ChunkedArray]) -> None:
        import numpy as np

        self.sets = [_list_distinct(array) for array in arrays]
        self._pairs: list[NDArray[np.int64]] = []
        codes = self._encode(arrays[0], 0)
        for index in range(1, len(arrays)):
            pairs = codes * len(self.sets[index]) + self._encode(arrays[index], index)
            known, codes = np.unique(pairs, return_inverse=True)
            self._pairs.append(known)

    def find(self, arrays: Sequence[pa.Array]) -> NDArray[np.int64]:
        """Find the places of the rows whose values in all columns are one of the keys."""
        import numpy as np

        codes = self._encode(arrays[0], 0)
        for index in range(1, len(arrays)):
            other = self._encode(arrays[index], index)
            pairs = np.where((codes < 0) | (other < 0), -1, codes * len(self.sets[index]) + other)
            known = self._pairs[index - 1]
            if not len(known):
                return np.empty(0, np.int64)
            places = np.minimum(np.searchsorted(known, pairs), len(known) - 1)
            codes = np.where(known[places] == pairs, places, -1)
        return np.nonzero(codes >= 0)[0]

    def _encode(self, array: pa.Array | pa.ChunkedArray, index: int) -> NDArray[np.int64]:
        """Encode which of the column's distinct values each value is; -1 for none of them."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        if isinstance(array, pa.ChunkedArray):
            parts = [self._encode(chunk, index) for chunk in array.chunks]
            return np.concatenate(parts) if parts else np.empty(0, np.int64)
        if pa.types.is_dictionary(
            array.type
        ):  # each distinct value is looked up once, however often it is there
            values = pa.concat_arrays([array.dictionary, pa.nulls(1, array.dictionary.type)])
            places = view_numbers(array.indices.cast(pa.int64()), len(values) - 1)
            looked_up: NDArray[np.int64] = self._encode(values, index)[places]
            return looked_up
        return view_numbers(pc.index_in(array, value_set=self.sets[index]).cast(pa.int64()), -1)


def _list_distinct(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """List the distinct values of a column, null among them where it is there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    parts = [
        chunk.dictionary.take(pc.unique(chunk.indices)) if pa.types.is_dictionary(chunk.type) else chunk
        for chunk in chunks
    ]
    return pc.unique(pa.chunked_array(parts))


def read_keys(
    context: TableContext, columns: Sequence[KeyColumn], path: str, kind: str
) -> list[pa.ChunkedArray]:
    """Read the values of an equality delete file in comparable form, an array for each column. Raises `LakeError`."""
    import pyarrow as pa

    check_columns(columns, path)
    stored = StoredColumns(context, path, kind)
    chosen = find_columns(stored, columns, path)
    parts: list[list[pa.Array]] = [[] for _ in columns]
    rows = 0
    for arrays in stored.batches(chosen):
        rows += len(arrays[0])
        refuse_many(rows, path)
        for part, array, column in zip(parts, arrays, columns, strict=True):
            part.append(make_comparable(array, column, path))
    return [
        pa.chunked_array(part or [make_comparable(pa.nulls(0), column, path)])
        for part, column in zip(parts, columns, strict=True)
    ]


def check_columns(columns: Sequence[KeyColumn], path: str) -> None:
    """Raises `Corrupt` for a delete file that compares nothing."""
    if not columns:
        raise Corrupt("an equality delete file that names no column", path=path, expected="equality_ids")


def find_columns(
    stored: StoredColumns | StoredRows, columns: Sequence[KeyColumn], path: str
) -> list[StoredColumn]:
    """Find the columns of a delete file that it compares. Raises `Corrupt` for one without."""
    chosen = []
    for column in columns:
        found = stored.find(column.id)
        if found is None:
            message = f"an equality delete file without the column {column.name} that it compares"
            raise Corrupt(message, path=path, expected=f"field id {column.id}")
        chosen.append(found)
    return chosen


def refuse_many(rows: int, path: str) -> None:
    """Raises `Unsupported` for a delete file of too many rows."""
    if rows > _MOST_ROWS:
        raise Unsupported(f"more than {_MOST_ROWS} equality deletes in one file", path=path)


def format_keys(
    columns: Sequence[KeyColumn], arrays: Sequence[pa.ChunkedArray]
) -> tuple[tuple[Any, ...], ...]:
    """Format the values of comparable arrays as Python values of the columns' types, a tuple for each row."""
    lists = [
        [_to_value(item, column.type) for item in array.to_pylist()]
        for column, array in zip(columns, arrays, strict=True)
    ]
    return tuple(zip(*lists, strict=True))


class DataKeys:
    """What a data file holds in some columns, in comparable form; a small one is read once. Raises `LakeError`."""

    def __init__(
        self, context: TableContext, data: IcebergDataFile, columns: Sequence[KeyColumn], path: str, kind: str
    ) -> None:
        self._columns = columns
        self._path = path
        self._record_count = data.record_count or 0
        self._stored = StoredColumns(context, path, kind)
        self._places = [self._stored.find(column.id) for column in columns]
        self._constants = [
            None if place is not None else make_constant(context, data, column, path)
            for place, column in zip(self._places, columns, strict=True)
        ]
        self._kept: list[list[pa.Array]] | None = None

    def find(self, keys: KeySet) -> BitMap64:
        """Find the positions of the rows that equal one of the keys."""
        import numpy as np

        from lakelens.bitmaps import BitMap64

        hits, start = BitMap64(), 0
        if all(place is None for place in self._places):  # the same for every row
            if len(keys.find([array for array in self._constants if array is not None])):
                hits.add_range(0, self._record_count)
            return hits
        for arrays in self._batches():
            hits.update((keys.find(arrays) + start).astype(np.uint64))
            start += len(arrays[0])
        return hits

    def _batches(self) -> Iterator[list[pa.Array]]:
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[list[pa.Array]] = []
        size = 0
        for arrays in self._read():
            size += sum(array.nbytes for array in arrays)
            if size <= _KEPT_BYTES:
                kept.append(arrays)
            yield arrays
        self._kept = kept if size <= _KEPT_BYTES else None

    def _read(self) -> Iterator[list[pa.Array]]:
        import numpy as np
        import pyarrow as pa

        read = [place for place in self._places if place is not None]
        for batch in self._stored.batches(read):
            given, nowhere = iter(batch), pa.array(np.zeros(len(batch[0]), np.int64))
            yield [
                make_comparable(next(given), column, self._path)
                if constant is None
                else constant.take(nowhere)
                for column, constant in zip(self._columns, self._constants, strict=True)
            ]


def make_constant(context: TableContext, data: IcebergDataFile, column: KeyColumn, path: str) -> pa.Array:
    """Make the one value of a column that a data file does not have: its identity partition's, its default, or null."""
    import pyarrow as pa

    from lakelens.formats.iceberg.metadata.schemas import describe_type
    from lakelens.model.arrow import arrow_type

    value = find_constant(context, data, column)
    if value is None:
        return make_comparable(pa.nulls(1), column, path)
    try:
        array = pa.array([value], arrow_type(describe_type(column.type)))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise Corrupt(f"a value of {column.name} that is no {column.type}", path=path, seen=value) from error
    return make_comparable(array, column, path)


def find_constant(context: TableContext, data: IcebergDataFile, column: KeyColumn) -> Any:
    """Find the one value of a column that a data file does not have; None for null."""
    name = find_identity(context, data, column.id)
    if name is not None:
        return data.partition[name]
    fields = {field.id: field for _, field in context.schemas.current.walk()}
    return fields[column.id].initial_default if column.id in fields else None


def find_identity(context: TableContext, data: IcebergDataFile, column_id: int) -> str | None:
    """Find the name of the partition value that is a column's own value."""
    spec = context.specs.specs.get(data.spec_id) if data.spec_id is not None else None
    columns = context.specs.columns(data.spec_id) or []
    for field, column in zip(spec.fields if spec is not None else (), columns, strict=False):
        if field.source_id == column_id and field.transform == "identity" and column.shown in data.partition:
            return column.shown
    return None


def make_comparable(array: pa.Array, column: KeyColumn, path: str) -> pa.Array:
    """Values in the form in which equal means equal: counts as int64, floats as the bits of a double, texts, bytes.

    Raises `Corrupt` for values that the column's type cannot hold, `Unsupported` for a type that has no equality.

    >>> import pyarrow as pa
    >>> column = KeyColumn(1, "d", IcebergType("double"))
    >>> make_comparable(pa.array([0.0, None], pa.float32()), column, "f").to_pylist()
    [0, None]
    """
    import pyarrow as pa

    convert = _choose_conversion(column.type)
    if convert is None:
        raise Unsupported(f"{column.name} of type {column.type} is not compared", path=path)
    try:
        if pa.types.is_dictionary(array.type):
            return pa.DictionaryArray.from_arrays(array.indices, convert(array.dictionary))
        return convert(array)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise Corrupt(
            f"{column.name} does not fit its type", path=path, expected=column.type, seen=array.type
        ) from error


def _choose_conversion(type_: IcebergType) -> Callable[[Any], Any] | None:
    import pyarrow as pa

    name = type_.name
    if name in ("boolean", "int", "long"):
        return lambda array: array.cast(pa.int64())
    if name in ("float", "double"):
        return _to_bits
    if name == "date":
        return lambda array: array.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
    if name == "time":
        return lambda array: array.cast(pa.time64("us")).cast(pa.int64())
    if name in _UNITS:
        return lambda array: _to_moments(array, _UNITS[name])
    if type_.precision is not None:
        return lambda array: array.cast(pa.decimal128(38, type_.scale or 0))
    if name == "string":
        return lambda array: array.cast(pa.string())
    if name in ("binary", "uuid") or type_.length is not None:
        return lambda array: array.cast(pa.binary())
    return None


def _to_moments(array: Any, unit: str) -> Any:
    import pyarrow as pa

    zone = array.type.tz if pa.types.is_timestamp(array.type) else None
    # ORC gives nanoseconds of what was written in microseconds
    return array.cast(pa.timestamp(unit, zone), safe=False).cast(pa.int64())


def _to_bits(array: Any) -> Any:
    """Doubles as their bits, all NaNs as one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    doubles = array.cast(pa.float64())
    return pc.if_else(pc.is_nan(doubles), pa.scalar(float("nan")), doubles).view(pa.int64())


def _to_value(item: Any, type_: IcebergType) -> Any:
    import struct

    if item is None:
        return None
    if type_.name in ("float", "double"):
        return struct.unpack("<d", struct.pack("<q", item))[0]
    if type_.name == "boolean":
        return bool(item)
    if type_.name == "uuid" and len(item) == 16:
        return UUID(bytes=item)
    return item if type_.precision is not None else convert_stored(item, type_)
