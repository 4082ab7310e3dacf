"""Parquet files of records, in the shape in which Avro gives the same records: no logical types, maps as pairs.

    Parquet, as Arrow reads it              here                                as an Avro schema
    date32, time64, timestamp               int32, int64: the stored count      int, long with a logicalType
    decimal(p, s)                           fixed_size_binary(16), big-endian   fixed with logicalType decimal
    map<k, v>                               list<struct<key, value>>            array of records key, value
    large, dictionary and extension types   what they stand for

Whoever reads records of either kind by field id therefore reads both. The schema is the Avro schema that a writer would
have given the same records: `field-id` of every field, `null` in a union where a field is optional.

Rows are pyarrow's, in batches, so that one is in memory at a time. Refused before anything is decoded: a footer that
claims more rows or content than its bytes can be (see `compression.allow_growth`), and dictionaries whose values would be
too large, repeated as often as the footer says. Follows the Apache Parquet format ("Nested Types", "Logical Types").
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lakelens.codecs.compression import MAX_CONTENT, allow_growth
from lakelens.codecs.parquet.footer import ParquetFooter, pyarrow_errors
from lakelens.codecs.parquet.pages import read_dictionary
from lakelens.codecs.parquet.structure import ColumnChunk, SchemaLeaf
from lakelens.errors import Corrupt, LakeError

if TYPE_CHECKING:
    import pyarrow as pa


#: Rows that are decoded at once.
BATCH_ROWS = 16_384
# content by stored bytes: manifests compress three to twenty times
_RATIO = 64
_MAX_FILE = 1 << 40  # of which a batch is in memory
_BATCH_BYTES = 32 * 1024 * 1024
_VALUE_BYTES = 12
_MOST_DICTIONARY = 64 << 20  # bytes of one that is looked through: of long texts some writers keep megabytes
_ID = b"PARQUET:field_id"
_UNITS = {"s": "seconds", "ms": "millis", "us": "micros", "ns": "nanos"}


def describe_schema(schema: pa.Schema) -> dict[str, Any]:
    """Describe the schema of the records as parsed Avro JSON, every field with its id where the file has one.

    >>> import pyarrow as pa
    >>> describe_schema(pa.schema([pa.field("a", pa.int64(), False, {"PARQUET:field_id": "7"})]))["fields"]
    [{'name': 'a', 'type': 'long', 'field-id': 7}]
    """
    return {"type": "record", "name": "record", "fields": [_describe_field(field) for field in schema]}


def _describe_field(field: pa.Field) -> dict[str, Any]:
    kind = _describe_type(field.type)
    described: dict[str, Any] = {"name": field.name, "type": ["null", kind] if field.nullable else kind}
    number = find_id(field)
    return described if number is None else described | {"field-id": number}


def find_id(field: pa.Field) -> int | None:
    """Find the id that the file gives a field; None where it gives none, or one that is no number.

    >>> import pyarrow as pa
    >>> find_id(pa.field("a", pa.int32(), metadata={"PARQUET:field_id": "102"}))
    102
    """
    text = (field.metadata or {}).get(_ID, b"")
    try:
        return int(text)
    except ValueError:
        return None


def _describe_type(kind: pa.DataType) -> Any:
    import pyarrow as pa

    kind = _unwrap(kind)
    if pa.types.is_struct(kind):
        return {"type": "record", "fields": [_describe_field(kind.field(i)) for i in range(kind.num_fields)]}
    if pa.types.is_map(kind):
        pair = pa.struct([kind.key_field.with_name("key"), kind.item_field.with_name("value")])
        return {"type": "array", "logicalType": "map", "items": _describe_type(pair)}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        number = find_id(kind.value_field)
        inner = _describe_field(kind.value_field)["type"]
        described = {"type": "array", "items": inner}
        return described if number is None else described | {"element-id": number}
    if pa.types.is_decimal(kind):
        logical = {"logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}
        return {"type": "fixed", "size": kind.byte_width, **logical}
    if pa.types.is_fixed_size_binary(kind):
        return {"type": "fixed", "size": kind.byte_width}
    return _describe_plain(kind)


def _describe_plain(kind: pa.DataType) -> Any:
    import pyarrow as pa

    if pa.types.is_date32(kind):
        return {"type": "int", "logicalType": "date"}
    if pa.types.is_time(kind):
        return {"type": "long", "logicalType": f"time-{_UNITS[kind.unit]}"}
    if pa.types.is_timestamp(kind):
        logical = {"logicalType": f"timestamp-{_UNITS[kind.unit]}", "adjust-to-utc": kind.tz is not None}
        return {"type": "long", **logical}
    plain = {pa.bool_(): "boolean", pa.int32(): "int", pa.int64(): "long", pa.float32(): "float"}
    plain |= {pa.float64(): "double", pa.string(): "string", pa.binary(): "bytes", pa.null(): "null"}
    return plain.get(kind, str(kind))


def _unwrap(kind: pa.DataType) -> pa.DataType:
    """Say what a type stands for that only says how values are kept in memory, or how they are shown."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return _unwrap(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return _unwrap(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    return kind


def iter_plain_tables(data: bytes, footer: ParquetFooter, path: str | None = None) -> Iterator[pa.Table]:
    """All records in file order, some thousand at a time. Raises `Corrupt` and `Unsupported` naming the file.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> from lakelens.codecs.parquet.footer import decode_footer
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"m": pa.array([[(1, 2)]], pa.map_(pa.int32(), pa.int64()))}), sink)
    >>> [table.to_pylist() for table in iter_plain_tables(sink.getvalue(), decode_footer(sink))]
    [[{'m': [{'key': 1, 'value': 2}]}]]
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_claims(data, footer, path)
    rows = 0
    with pyarrow_errors(path):
        parquet = pq.ParquetFile(io.BytesIO(data), arrow_extensions_enabled=False)
        for batch in parquet.iter_batches(count_batch_rows(footer), use_threads=False):
            batch.validate(full=True)
            rows += batch.num_rows
            columns = [to_plain(column) for column in batch.columns]
            yield pa.Table.from_arrays(columns, batch.schema.names)
    if rows != footer.num_rows:
        message = "another number of records than the footer counts"
        raise Corrupt(message, path=path, expected=footer.num_rows, seen=rows)


def to_plain(array: pa.Array) -> pa.Array:
    """An array without logical types, nested ones too: values as Avro's readers give them.

    >>> import datetime, pyarrow as pa
    >>> to_plain(pa.array([datetime.date(1970, 1, 2), None])).to_pylist()
    [1, None]
    """
    import pyarrow as pa

    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return to_plain(array.storage)
    if pa.types.is_dictionary(kind):
        return to_plain(array.dictionary_decode())
    if pa.types.is_struct(kind):
        names = [kind.field(i).name for i in range(kind.num_fields)]
        if not names:
            return array
        children = [to_plain(array.field(i)) for i in range(kind.num_fields)]
        mask = array.is_null() if array.null_count else None
        fields = [pa.field(name, child.type) for name, child in zip(names, children, strict=True)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=mask)
    if pa.types.is_map(kind):
        pairs = pa.StructArray.from_arrays([to_plain(array.keys), to_plain(array.items)], ["key", "value"])
        return _make_list(array, pairs)
    if pa.types.is_list(kind):
        return _make_list(array, to_plain(array.values))
    unwrapped = _unwrap(kind)
    if unwrapped != kind:
        return array.cast(unwrapped)
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return array.view(pa.int32()).cast(pa.int64() if pa.types.is_time32(kind) else pa.int32())
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        return array.view(pa.int64())
    return _to_bytes(array) if pa.types.is_decimal128(kind) else array


def _make_list(array: pa.Array, values: pa.Array) -> pa.Array:
    """Lists of other values with the same bounds; the arrays of a batch begin where their buffers do, or are copied."""
    import pyarrow as pa

    if array.offset:
        array = pa.concat_arrays([array, array[:0]])
    return pa.ListArray.from_arrays(array.offsets, values, mask=array.is_null() if array.null_count else None)


def _to_bytes(array: pa.Array) -> pa.Array:
    """Decimals as their unscaled values, 16 bytes big-endian."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    _, data = array.buffers()
    stored = np.frombuffer(data, np.uint8)[array.offset * 16 : (array.offset + len(array)) * 16]
    swapped = pa.py_buffer(np.ascontiguousarray(stored.reshape(-1, 16)[:, ::-1]).tobytes())
    made = pa.Array.from_buffers(pa.binary(16), len(array), [None, swapped])
    return pc.if_else(array.is_valid(), made, pa.scalar(None, pa.binary(16)))


def count_batch_rows(footer: ParquetFooter) -> int:
    """Count how many records are decoded at once: fewer where each has many values, as manifests of wide tables do."""
    values = sum(column.num_values for column in footer.columns)
    each = max(1, values * _VALUE_BYTES // max(1, footer.num_rows))
    return max(1, min(BATCH_ROWS, _BATCH_BYTES // each))


def check_claims(data: bytes, footer: ParquetFooter, path: str | None = None) -> None:
    """Raises `Corrupt` for a footer that claims more than its file can be: a bomb, not records."""
    limit = allow_growth(len(data), _RATIO, most=_MAX_FILE)
    most_values = max((column.num_values for column in footer.columns), default=0)
    for what, seen, most in (
        ("rows", footer.num_rows, len(data) + BATCH_ROWS),
        ("bytes of content", sum(column.uncompressed_size for column in footer.columns), limit),
        ("values of a column", most_values, limit),
    ):
        if seen > most:
            raise Corrupt("too much for its size", path=path, expected=f"at most {most} {what}", seen=seen)
    share = min(1.0, count_batch_rows(footer) / max(1, footer.num_rows))
    for group in footer.row_groups:
        expanded = 0
        for leaf, chunk in zip(footer.leaves, group.columns, strict=True):
            expanded += int(_measure_expanded(data, leaf, chunk) * share)
        if expanded > MAX_CONTENT:
            message = "dictionaries whose repeated values are too large"
            raise Corrupt(message, path=path, expected=f"at most {MAX_CONTENT} bytes", seen=expanded)


def _measure_expanded(data: bytes, leaf: SchemaLeaf, chunk: ColumnChunk) -> int:
    """Measure what the texts of a chunk may become: each as long as the longest in its dictionary."""
    if leaf.physical_type != "BYTE_ARRAY" or chunk.dictionary_page_offset is None:
        return 0
    most = chunk.uncompressed_size * chunk.num_values
    if most <= allow_growth(0, 0):
        return most
    try:
        end = chunk.start + chunk.compressed_size
        values = read_dictionary(data, chunk.start, end, leaf, chunk.compression, _MOST_DICTIONARY)
    except LakeError:
        return most
    return max(map(len, values), default=0) * chunk.num_values


# Parquet files of records, written from the shape that `records` reads them in.
#
# Follows the Apache Parquet format ("Nested Types", "Logical Types"): maps and lists in their three levels, `field_id` of
# every field that has one. The rest of the file is Arrow's.

_PLAIN = {
    "boolean": "bool_",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "string": "string",
    "bytes": "binary",
    "null": "null",
}
_WRITTEN_UNITS = {"millis": "ms", "micros": "us", "nanos": "ns"}
Convert = Callable[[Any], Any]


def encode_records(
    schema: Mapping[str, Any], records: Iterable[Mapping[str, Any]], metadata: Mapping[str, bytes], codec: str
) -> bytes:
    """The bytes of a file with these records and key/values; `schema` is Avro JSON, as `records.describe_schema` gives it.

    >>> schema = {"type": "record", "fields": [{"name": "a", "type": "long", "field-id": 7}]}
    >>> encode_records(schema, [{"a": 1}], {}, "none")[:4]
    b'PAR1'
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = [_make_field(field) for field in schema["fields"]]
    converts = [(field.name, convert) for field, convert in made]
    rows = [{name: convert(record.get(name)) for name, convert in converts} for record in records]
    table = pa.Table.from_pylist(rows, pa.schema([field for field, _ in made], dict(metadata)))
    sink = io.BytesIO()
    known = "none" if codec in ("null", "uncompressed") else codec
    pq.write_table(table, sink, compression=known, store_schema=False)
    return sink.getvalue()


def _make_field(described: Mapping[str, Any]) -> tuple[pa.Field, Convert]:
    """Give the field, and what makes Arrow's values of those that are given."""
    import pyarrow as pa

    kind, is_optional = described["type"], False
    if isinstance(kind, list):
        kind, is_optional = next((branch for branch in kind if branch != "null"), "null"), "null" in kind
    type_, convert = _make_type(kind)
    number = described.get("field-id")
    metadata = None if number is None else {"PARQUET:field_id": str(number)}
    return pa.field(described["name"], type_, is_optional, metadata), convert


def _make_type(kind: Any) -> tuple[pa.DataType, Convert]:
    import pyarrow as pa

    if not isinstance(kind, Mapping):
        return getattr(pa, _PLAIN.get(kind, "binary"))(), _keep
    if kind["type"] == "record":
        made = [_make_field(field) for field in kind["fields"]]
        return pa.struct([field for field, _ in made]), _convert_record(made)
    if kind["type"] == "array":
        return _make_items(kind)
    if kind["type"] == "fixed":
        return _make_fixed(kind)
    return _make_count(kind), _keep


def _make_items(kind: Mapping[str, Any]) -> tuple[pa.DataType, Convert]:
    import pyarrow as pa

    if kind.get("logicalType") == "map":
        (key, to_key), (value, to_value) = (_make_field(field) for field in kind["items"]["fields"])
        pairs = _each(lambda pair: (to_key(pair["key"]), to_value(pair["value"])))
        return pa.map_(key.with_nullable(False), value), pairs
    number = {"field-id": kind["element-id"]} if "element-id" in kind else {}
    item, convert = _make_field({"name": "element", "type": kind["items"], **number})
    return pa.list_(item), _each(convert)


def _make_fixed(kind: Mapping[str, Any]) -> tuple[pa.DataType, Convert]:
    import pyarrow as pa

    if kind.get("logicalType") != "decimal":
        return pa.binary(kind["size"]), _keep
    scale = kind.get("scale", 0)

    def convert(value: Any) -> Any:
        if value is None:
            return None
        unscaled = int.from_bytes(value, "big", signed=True)
        return Decimal((unscaled < 0, tuple(map(int, str(abs(unscaled)))), -scale))

    return pa.decimal128(kind["precision"], scale), convert


def _make_count(kind: Mapping[str, Any]) -> pa.DataType:
    """Make a number of days or of parts of a second."""
    import pyarrow as pa

    name, _, unit = str(kind.get("logicalType")).rpartition("-")
    if unit == "date":
        return pa.date32()
    if unit in _WRITTEN_UNITS and name == "time":
        return pa.time64(_WRITTEN_UNITS[unit])
    if unit in _WRITTEN_UNITS and name == "timestamp":
        return pa.timestamp(_WRITTEN_UNITS[unit], "UTC" if kind.get("adjust-to-utc") else None)
    return getattr(pa, _PLAIN.get(kind["type"], "binary"))()


def _keep(value: Any) -> Any:
    return value


def _each(convert: Convert) -> Convert:
    return lambda value: None if value is None else [convert(one) for one in value]


def _convert_record(made: list[tuple[pa.Field, Convert]]) -> Convert:
    converts = [(field.name, convert) for field, convert in made]

    def convert_record(value: Any) -> Any:
        return None if value is None else {name: convert(value.get(name)) for name, convert in converts}

    return convert_record
