"""The schema in a table's metadata: JSON into fields with ids and types. See "Schema Serialization Format"."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from lakelens.errors import Corrupt
from lakelens.model.schema import DataType, Field, Schema

_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(-?\d{1,2})\s*\)")
_TEXT = "__CHAR_VARCHAR_TYPE_STRING"
MAPPED_ID, MAPPED_NAME = "delta.columnMapping.id", "delta.columnMapping.physicalName"
_MOST_DEPTH = 100
_PLAIN = {
    "string": "string",
    "long": "int64",
    "integer": "int32",
    "short": "int16",
    "byte": "int8",
    "float": "float32",
    "double": "float64",
    "boolean": "boolean",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
    "variant": "variant",
}


@dataclass(frozen=True, slots=True)
class LogColumn:
    """A leaf that is in no list and no map: its name today, its field, and its names in files and statistics."""

    name: str
    field: Field
    physical: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of one schema: as the model has them, and by the names that files and statistics have them under."""

    schema: Schema
    leaves: tuple[LogColumn, ...]
    #: the physical name of each top-level column
    physical: Mapping[str, str]


def parse_schema(text: Any, path: str, number: int, *, mode: str = "none") -> TableColumns:
    """Parse `schemaString`. Raises `Corrupt` for what is no schema; a type that is not known is of the kind "unknown".

    >>> text = '{"type":"struct","fields":[{"name":"id","type":"long","nullable":false,"metadata":{}}]}'
    >>> parse_schema(text, "c", 0).schema
    <Schema 0: id long not null>
    """
    try:
        raw = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise Corrupt("the schema is no JSON", path=path, expected="schemaString", seen=str(error)) from None
    numbers = count(1)
    leaves: list[LogColumn] = []
    fields = tuple(_read_fields(raw, path, "schemaString", numbers, leaves, (), mode != "none", 0))
    physical = {
        field.name: _name_physical(described, mode != "none")
        for field, described in zip(fields, raw["fields"], strict=True)
    }
    return TableColumns(Schema(number, fields, raw=raw), tuple(leaves), physical)


def _name_physical(described: Mapping[str, Any], is_mapped: bool) -> str:
    metadata = described.get("metadata")
    named = metadata.get(MAPPED_NAME) if is_mapped and isinstance(metadata, Mapping) else None
    return named if isinstance(named, str) else str(described["name"])


def _read_fields(
    raw: Any,
    path: str,
    place: str,
    numbers: Iterator[int],
    leaves: list[LogColumn],
    above: tuple[tuple[str, str], ...] | None,
    is_mapped: bool,
    depth: int,
) -> Iterator[Field]:
    """Read the fields of a struct; `above` are the names and physical names of the structs around (None: in a list)."""
    listed = raw.get("fields") if isinstance(raw, Mapping) else None
    if not isinstance(listed, list) or depth > _MOST_DEPTH:
        raise Corrupt(f"no struct at {place}", path=path, expected='{"type":"struct","fields":[…]}', seen=raw)
    for position, described in enumerate(listed):
        where = f"{place}.fields[{position}]"
        if not isinstance(described, Mapping) or not isinstance(described.get("name"), str):
            raise Corrupt(f"no field at {where}", path=path, expected='{"name", "type", …}', seen=described)
        metadata = described.get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        number, mapped = next(numbers), metadata.get(MAPPED_ID)
        if is_mapped and type(mapped) is int:
            number = mapped
        name = described["name"]
        inner = None if above is None else (*above, (name, _name_physical(described, is_mapped)))
        kind = described.get("type")
        if kind == "string" and isinstance(metadata.get(_TEXT), str):
            made = DataType(metadata[_TEXT], "string")
        else:
            made = _read_type(kind, path, where, numbers, leaves, inner, is_mapped, depth)
        comment = metadata.get("comment")
        field = Field(
            number,
            name,
            made,
            described.get("nullable") is not False,
            comment if isinstance(comment, str) else None,
            write_default=metadata.get("CURRENT_DEFAULT"),
            initial_default=metadata.get("EXISTS_DEFAULT"),
        )
        if inner is not None and not made.is_nested:
            leaves.append(LogColumn(".".join(one for one, _ in inner), field, tuple(one for _, one in inner)))
        yield field


def _read_type(
    kind: Any,
    path: str,
    place: str,
    numbers: Iterator[int],
    leaves: list[LogColumn],
    above: tuple[tuple[str, str], ...] | None,
    is_mapped: bool,
    depth: int,
) -> DataType:
    if isinstance(kind, str):
        matched = _DECIMAL.fullmatch(kind)
        if matched or kind == "decimal":
            precision, scale = (int(matched[1]), int(matched[2])) if matched else (10, 0)
            if 1 <= precision <= 38 and 0 <= scale <= precision:
                return DataType(kind, "decimal", precision=precision, scale=scale)
        logical = _PLAIN.get(kind, "unknown")
        return DataType(kind, logical, precision=6 if logical.startswith("timestamp") else 0)
    if not isinstance(kind, Mapping) or depth > _MOST_DEPTH:
        raise Corrupt(f"no type at {place}", path=path, expected="a name or an object", seen=kind)

    def read(key: str, name: str, nullable: bool) -> Field:
        number = next(numbers)
        inner = _read_type(kind.get(key), path, f"{place}.{key}", numbers, leaves, None, is_mapped, depth + 1)
        return Field(number, name, inner, nullable)

    if kind.get("type") == "struct":
        fields = tuple(_read_fields(kind, path, place, numbers, leaves, above, is_mapped, depth + 1))
        text = f"struct<{','.join(f'{field.name}:{field.type}' for field in fields)}>"
        # a struct without fields is a leaf of nothing
        return DataType(text, "struct" if fields else "unknown", children=fields)
    if kind.get("type") == "array":
        element = read("elementType", "element", kind.get("containsNull") is not False)
        return DataType(f"array<{element.type}>", "list", children=(element,))
    if kind.get("type") == "map":
        key = read("keyType", "key", False)
        value = read("valueType", "value", kind.get("valueContainsNull") is not False)
        return DataType(f"map<{key.type},{value.type}>", "map", children=(key, value))
    return DataType(str(kind.get("type"))[:100], "unknown")
