"""Avro schemas as Hive words them: the columns of an Avro data file (Avro 1.12, "Schema Declaration", "Logical Types")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakelens.formats.hive.types import make_list, make_map, make_scalar, make_struct, parse_type
from lakelens.model.schema import DataType, Field

_LOGICAL = {
    "date": "date",
    "timestamp-millis": "timestamp",
    "timestamp-micros": "timestamp",
    "local-timestamp-millis": "timestamp_ntz",
    "local-timestamp-micros": "timestamp_ntz",
}
_PLAIN = {"bytes": "binary", "fixed": "binary", "enum": "string", "long": "bigint"}


def parse_avro_fields(record: Mapping[str, Any]) -> list[Field]:
    """The columns of an Avro record, not yet numbered.

    >>> parse_avro_fields({"fields": [{"name": "a", "type": ["null", "long"]}]})
    [Field(id=0, name='a', type='bigint', nullable=True, doc=None, initial_default=None, write_default=None)]
    """
    found = []
    for column in record.get("fields", ()):
        kind, nullable = _parse_avro_type(column["type"])
        found.append(Field(0, column["name"], kind, nullable, column.get("doc")))
    return found


def _parse_avro_type(schema: Any) -> tuple[DataType, bool]:
    if isinstance(schema, list):
        others = [branch for branch in schema if branch != "null"]
        if len(others) == 1:
            return _parse_avro_type(others[0])[0], len(others) < len(schema)
        return DataType(f"uniontype<{','.join(_parse_avro_type(b)[0] for b in others)}>", "unknown"), True
    if isinstance(schema, str):
        return parse_type(_PLAIN.get(schema, schema)), schema == "null"
    return _parse_complex(schema), False


def _parse_complex(schema: Mapping[str, Any]) -> DataType:
    kind, logical = schema["type"], schema.get("logicalType")
    if logical == "decimal":
        return make_scalar("decimal", int(schema.get("precision", 38)), int(schema.get("scale", 0)))
    if logical in _LOGICAL:
        return make_scalar(_LOGICAL[logical])
    if kind == "record":
        return make_struct(parse_avro_fields(schema))
    if kind == "array":
        return make_list(*_parse_avro_type(schema["items"]))
    if kind == "map":
        value, nullable = _parse_avro_type(schema["values"])
        return make_map(make_scalar("string"), value, nullable)
    return _parse_avro_type(kind)[0]
