"""Columns of a data or delete file, found by field id whatever the file calls them.

Follows "Column Projection" of the Iceberg table specification: by the ids that the file keeps (Parquet's `field_id`, ORC's
`iceberg.id`, Avro's `field-id`), else by the table's name mapping, else by the names of the table's schemas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.codecs.avro import container as avro_container
from lakelens.codecs.avro.bulk import decode_table
from lakelens.codecs.avro.schema import find_record
from lakelens.codecs.orc.footer import FIELD_ID_KEYS
from lakelens.errors import Corrupt, Unsupported
from lakelens.formats.contents import load_codec, open_file
from lakelens.formats.iceberg.metadata.columns import read_name_mapping
from lakelens.formats.iceberg.metadata.schemas import walk_fields

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.formats.iceberg.context import TableContext

_ID_KEYS = (b"PARQUET:field_id", *FIELD_ID_KEYS)
_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """One column of a file: the way to it through structs, and its Avro type where the file is Avro."""

    path: tuple[str, ...]
    avro: Any = None


class StoredColumns:
    """The columns of one file of a known format; nothing but its schema is read before `batches`. Raises `LakeError`."""

    def __init__(self, context: TableContext, path: str, kind: str) -> None:
        self._store = context.access.store
        self.path = path
        self._kind = kind
        self._avro = self._store.read(path) if kind == "avro" else b""
        columns = list(self._walk())
        self._by_id = map_ids(columns, context)
        self._by_name = {column.path: column for column, _ in columns}

    def find(self, field_id: int) -> StoredColumn | None:
        """Find the column of a field id; None when the file does not have it."""
        return self._by_id.get(field_id)

    def named(self, name: str) -> StoredColumn | None:
        """The top-level column of a name."""
        return self._by_name.get((name,))

    def batches(self, columns: Sequence[StoredColumn]) -> Iterator[list[pa.Array]]:
        """The values of some columns, all rows in file order, an array for each column in each batch."""
        for batch in self._iter_batches({column.path[0] for column in columns}):
            yield [self._pick(batch, column) for column in columns]

    def _iter_batches(self, names: set[str]) -> Iterator[pa.RecordBatch]:
        if self._kind == "avro":
            table = decode_table(self._avro, self.path)
            return iter(table.select([name for name in table.schema.names if name in names]).to_batches())
        file = open_file(self._store, self.path)
        batches: Iterator[pa.RecordBatch] = load_codec(self._kind).iter_columns(file, names, self.path)
        return batches

    def _pick(self, batch: pa.RecordBatch, column: StoredColumn) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        index = batch.schema.get_field_index(column.path[0])
        if index < 0:
            raise Corrupt("a column that is there twice", path=self.path, seen=column.path[0])
        array = batch.column(index)
        for name in column.path[1:]:
            if not pa.types.is_struct(array.type) or array.type.get_field_index(name) < 0:
                raise Corrupt("a nested column that is not where the schema says", path=self.path, seen=name)
            array = pc.struct_field(array, array.type.get_field_index(name))
        return array if column.avro is None else _apply_logical(array, column.avro, self.path)

    def _walk(self) -> Iterator[tuple[StoredColumn, int | None]]:
        if self._kind == "avro":
            record = find_record(avro_container.decode_header(self._avro, self.path).schema)
            yield from walk_avro(record or {}, (), 0)
            return
        if self._kind not in ("parquet", "orc"):
            raise Unsupported(f"rows of a {self._kind or 'nameless'} file are not read", path=self.path)
        schema = load_codec(self._kind).read_schema(open_file(self._store, self.path), self.path)
        yield from _walk_arrow(schema, (), 0)


def view_numbers(array: pa.Array, null: int = 0) -> NDArray[np.int64]:
    """An Arrow array of int64 as numpy's, nulls as a number. Unlike `to_numpy` this does not make pyarrow import pandas.

    >>> import pyarrow as pa
    >>> view_numbers(pa.array([5, None, 7]).slice(1), -1).tolist()
    [-1, 7]
    """
    import numpy as np

    valid, data = array.buffers()
    if not len(array) or data is None:
        return np.full(len(array), null, np.int64)
    end = array.offset + len(array)
    numbers: NDArray[np.int64] = np.frombuffer(data, np.int64, end)[array.offset :]
    if valid is None or not array.null_count:
        return numbers
    bits = np.unpackbits(np.frombuffer(valid, np.uint8), count=end, bitorder="little")[array.offset :]
    return np.where(bits == 1, numbers, null)


def _walk_arrow(fields: Iterable[pa.Field], prefix: tuple[str, ...], depth: int) -> Iterator[Any]:
    import pyarrow as pa

    for field in fields:
        path = (*prefix, field.name)
        metadata = field.metadata or {}
        text = next((metadata[key] for key in _ID_KEYS if key in metadata), b"")
        yield StoredColumn(path), int(text) if text.isdigit() and len(text) <= 10 else None
        if pa.types.is_struct(field.type) and depth < _MAX_DEPTH:
            yield from _walk_arrow(
                (field.type.field(i) for i in range(field.type.num_fields)), path, depth + 1
            )


def walk_avro(
    record: Mapping[str, Any], prefix: tuple[str, ...], depth: int
) -> Iterator[tuple[StoredColumn, int | None]]:
    """Walk the columns of an Avro schema, those in structs too, each with its field id."""
    for field in record.get("fields", ()):
        path = (*prefix, field["name"])
        kind = field["type"]
        if isinstance(kind, list):  # the type without the union that only makes it optional
            branches = [branch for branch in kind if branch != "null"]
            kind = branches[0] if len(branches) == 1 else kind
        number = field.get("field-id")
        yield StoredColumn(path, kind), number if isinstance(number, int) else None
        if isinstance(kind, dict) and kind.get("type") == "record" and depth < _MAX_DEPTH:
            yield from walk_avro(kind, path, depth + 1)


def _apply_logical(array: pa.Array, kind: Any, path: str) -> pa.Array:
    """Avro's stored integers and bytes as the Arrow type that their logical type means."""
    import pyarrow as pa

    logical = kind.get("logicalType") if isinstance(kind, dict) else None
    try:
        if logical == "date":
            return array.cast(pa.int32()).cast(pa.date32())
        if logical == "time-micros":
            return array.cast(pa.time64("us"))
        if isinstance(logical, str) and logical.removeprefix("local-").startswith("timestamp-"):
            unit = {"millis": "ms", "micros": "us", "nanos": "ns"}.get(logical.rpartition("-")[2])
            return array if unit is None else array.cast(pa.timestamp(unit))
        if logical == "decimal":
            scale = kind.get("scale", 0)
            whole = [
                None if item is None else int.from_bytes(item, "big", signed=True)
                for item in array.to_pylist()
            ]
            return _make_decimals(whole, scale)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise Corrupt(f"values that are no Avro {logical}", path=path, seen=error) from error
    return array


def _make_decimals(whole: Sequence[int | None], scale: int) -> pa.Array:
    from decimal import Context, Decimal

    import pyarrow as pa

    exact = Context(prec=76)
    values = [None if item is None else Decimal(item).scaleb(-scale, exact) for item in whole]
    return pa.array(values, pa.decimal128(38, scale))


def map_ids(
    columns: Iterable[tuple[StoredColumn, int | None]], context: TableContext
) -> dict[int, StoredColumn]:
    """Map field ids to the columns of a file: by the ids that it keeps, else by names."""
    by_id: dict[int, StoredColumn] = {}
    by_name: dict[tuple[str, ...], StoredColumn] = {}
    for column, field_id in columns:
        by_name[column.path] = column
        if field_id is not None:
            by_id.setdefault(field_id, column)
    return by_id or _map_names(by_name, context)


def _map_names(
    by_name: Mapping[tuple[str, ...], StoredColumn], context: TableContext
) -> dict[int, StoredColumn]:
    """Ids for a file that keeps none: by the name mapping, or by name where the table has no mapping."""
    found: dict[int, StoredColumn] = {}
    mapping = read_name_mapping(context.properties)
    if mapping is not None:
        for path, field_id in mapping.items():
            if path in by_name:
                found.setdefault(field_id, by_name[path])
        return found
    for struct in context.schemas.newest_first():
        for path, field in walk_fields(struct):
            if path in by_name:
                found.setdefault(field.id, by_name[path])
    return found
