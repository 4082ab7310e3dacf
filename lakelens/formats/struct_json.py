"""Schemas as Spark writes them into metadata: a struct in JSON, into fields with ids and types.

    {"type": "struct", "fields": [{"name", "type", "nullable", "metadata": {}}]}

A format may map columns: two keys of `metadata` then have the id of a field and its name in files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import count
from typing import Any

from lakelens.errors import Corrupt
from lakelens.lazy import dataclass
from lakelens.model.schema import DataType, Field, Schema

_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(-?\d{1,2})\s*\)")
_TEXT = "__CHAR_VARCHAR_TYPE_STRING"
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
class StructColumn:
    """A leaf that is in no list and no map: its name today, its field, and its names in files and statistics.

    `was_single` says that it is a double now, and that older files have it as a number of 32 bits.
    """

    name: str
    field: Field
    physical: tuple[str, ...]
    was_single: bool = False


@dataclass(frozen=True, slots=True)
class StructColumns:
    """The columns of one schema: as the model has them, and by the names that files and statistics have them under."""

    schema: Schema
    leaves: tuple[StructColumn, ...]
    #: the physical name of each top-level column
    physical: Mapping[str, str]


def parse_schema(text: Any, path: str, number: int, mapped: tuple[str, str] | None = None) -> StructColumns:
    """Parse a schema, whose columns are `mapped` by the values of two keys: an id and a name.

    A type that is not known is of the kind "unknown". Raises `Corrupt` for what is no schema.

    >>> text = '{"type":"struct","fields":[{"name":"id","type":"long","nullable":false,"metadata":{}}]}'
    >>> parse_schema(text, "c", 0).schema
    <Schema 0: id long not null>
    """
    try:
        raw = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise Corrupt("the schema is no JSON", path=path, expected="a schema", seen=str(error)) from None
    reader = _Reader(path, mapped)
    fields = tuple(reader.read_fields(raw, "schemaString", (), 0))
    physical = {
        field.name: reader.name_physical(described)
        for field, described in zip(fields, raw["fields"], strict=True)
    }
    return StructColumns(Schema(number, fields, raw=raw), tuple(reader.leaves), physical)


_Above = tuple[tuple[str, str], ...] | None


@dataclass
class _Reader:
    """Reads one schema: `numbers` are the ids of fields that have none, `leaves` those that were read so far.

    What a method is given as `above` are the names and physical names of the structs around; None within a list or a map.
    """

    path: str
    mapped: tuple[str, str] | None
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    leaves: list[StructColumn] = field(default_factory=list)

    def name_physical(self, described: Mapping[str, Any]) -> str:
        """Name a field as files and statistics do."""
        metadata = described.get("metadata")
        named = metadata.get(self.mapped[1]) if self.mapped and isinstance(metadata, Mapping) else None
        return named if isinstance(named, str) else str(described["name"])

    def read_fields(self, raw: Any, place: str, above: _Above, depth: int) -> Iterator[Field]:
        """Read the fields of a struct."""
        listed = raw.get("fields") if isinstance(raw, Mapping) else None
        if not isinstance(listed, list) or depth > _MOST_DEPTH:
            expected = '{"type":"struct","fields":[…]}'
            raise Corrupt(f"no struct at {place}", path=self.path, expected=expected, seen=raw)
        for position, described in enumerate(listed):
            where = f"{place}.fields[{position}]"
            if not isinstance(described, Mapping) or not isinstance(described.get("name"), str):
                expected = '{"name", "type", …}'
                raise Corrupt(f"no field at {where}", path=self.path, expected=expected, seen=described)
            metadata = described.get("metadata")
            metadata = metadata if isinstance(metadata, Mapping) else {}
            number, mapped = next(self.numbers), metadata.get(self.mapped[0]) if self.mapped else None
            if type(mapped) is int:
                number = mapped
            name = described["name"]
            inner = None if above is None else (*above, (name, self.name_physical(described)))
            kind = described.get("type")
            if kind == "string" and isinstance(metadata.get(_TEXT), str):
                made = DataType(metadata[_TEXT], "string")
            else:
                made = self.read_type(kind, where, inner, depth)
            comment = metadata.get("comment")
            column = Field(
                number,
                name,
                made,
                described.get("nullable") is not False,
                comment if isinstance(comment, str) else None,
                write_default=metadata.get("CURRENT_DEFAULT"),
                initial_default=metadata.get("EXISTS_DEFAULT"),
            )
            if inner is not None and not made.is_nested:
                names, physical = zip(*inner, strict=True)
                self.leaves.append(StructColumn(".".join(names), column, physical))
            yield column

    def read_type(self, kind: Any, place: str, above: _Above, depth: int) -> DataType:
        """Read a type: a name, or an object of a nested one."""
        if isinstance(kind, str):
            matched = _DECIMAL.fullmatch(kind)
            if matched or kind == "decimal":
                precision, scale = (int(matched[1]), int(matched[2])) if matched else (10, 0)
                if 1 <= precision <= 38 and 0 <= scale <= precision:
                    return DataType(kind, "decimal", precision=precision, scale=scale)
            logical = _PLAIN.get(kind, "unknown")
            return DataType(kind, logical, precision=6 if logical.startswith("timestamp") else 0)
        if not isinstance(kind, Mapping) or depth > _MOST_DEPTH:
            raise Corrupt(f"no type at {place}", path=self.path, expected="a name or an object", seen=kind)

        def read(key: str, name: str, nullable: bool) -> Field:
            number = next(self.numbers)
            inner = self.read_type(kind.get(key), f"{place}.{key}", None, depth + 1)
            return Field(number, name, inner, nullable)

        if kind.get("type") == "struct":
            fields = tuple(self.read_fields(kind, place, above, depth + 1))
            text = f"struct<{','.join(f'{column.name}:{column.type}' for column in fields)}>"
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
