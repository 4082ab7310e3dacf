"""Parquet files of records, written from the shape that `records` reads them in.

Follows the Apache Parquet format ("Nested Types", "Logical Types"): maps and lists in their three levels, `field_id` of
every field that has one. The rest of the file is Arrow's.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

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
_UNITS = {"millis": "ms", "micros": "us", "nanos": "ns"}
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
    """The field, and what makes Arrow's values of those that are given."""
    import pyarrow as pa

    kind, is_optional = _unwrap(described["type"])
    type_, convert = _make_type(kind)
    number = described.get("field-id")
    metadata = None if number is None else {"PARQUET:field_id": str(number)}
    return pa.field(described["name"], type_, is_optional, metadata), convert


def _unwrap(kind: Any) -> tuple[Any, bool]:
    if not isinstance(kind, list):
        return kind, False
    return next((branch for branch in kind if branch != "null"), "null"), "null" in kind


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
    """A number of days or of parts of a second."""
    import pyarrow as pa

    name, _, unit = str(kind.get("logicalType")).rpartition("-")
    if unit == "date":
        return pa.date32()
    if unit in _UNITS and name == "time":
        return pa.time64(_UNITS[unit])
    if unit in _UNITS and name == "timestamp":
        return pa.timestamp(_UNITS[unit], "UTC" if kind.get("adjust-to-utc") else None)
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
