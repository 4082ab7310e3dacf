"""Avro schemas as JSON: checked before anything is decoded with them, and rewritten without logical types.

Follows "Schema Declaration" of the Avro 1.12 specification. A schema that comes with damaged or hostile bytes must not
hang the decoder, so these are refused: JSON or types nested deeper than 64, types that refer to themselves, more than
100,000 types when names are expanded, and arrays of items that take no bytes (a count of 2^60 would cost nothing).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from lakelens.errors import Corrupt, Unsupported

MAX_DEPTH = 64
MAX_TYPES = 100_000
_SMALLEST = {"null": 0, "boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1}


@dataclass(frozen=True, slots=True)
class SchemaSize:
    """What one value of a schema takes at least: bytes, and types when all names are expanded."""

    smallest: int
    types: int


def parse_schema(text: bytes, path: str | None = None) -> Any:
    """Give the JSON of `avro.schema`, once it is known to be a schema that can be decoded with.

    Raises `Corrupt` with the place in the JSON.

    >>> parse_schema(b'{"type": "record", "name": "r", "fields": [{"name": "a", "type": "long"}]}')["name"]
    'r'
    """
    try:
        schema = json.loads(text)
    except RecursionError:
        raise Corrupt("Avro schema nested too deeply", path=path) from None
    except ValueError as error:
        seen = bytes(text[:100])
        raise Corrupt(
            "Avro schema is not JSON", path=path, json_path="avro.schema", expected=error, seen=seen
        ) from None
    _Measure(path).measure(schema, "avro.schema", "", 0)
    return schema


def measure_schema(schema: Any) -> SchemaSize:
    """Give the least bytes that one value takes, and the number of types.

    >>> measure_schema({"type": "fixed", "name": "f", "size": 16}).smallest
    16
    """
    return _Measure(None).measure(schema, "avro.schema", "", 0)


def find_record(schema: Any) -> dict[str, Any] | None:
    """Give the record of the root: the schema itself, or the one of a union with null; None for any other root.

    >>> find_record(["null", {"type": "record", "name": "r", "fields": []}])["name"]
    'r'
    """
    if isinstance(schema, dict):
        return schema if schema.get("type") == "record" else None
    if isinstance(schema, list):
        records = [branch for branch in schema if branch != "null"]
        if len(records) == 1 and isinstance(records[0], dict):
            return find_record(records[0])
    return None


def strip_logical_types(schema: Any) -> Any:
    """Give a copy without logical types, so that every value decodes to what is stored: counts, bytes, text.

    >>> strip_logical_types({"type": "long", "logicalType": "timestamp-millis"})
    {'type': 'long'}
    """
    if isinstance(schema, list):
        return [strip_logical_types(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    dropped = {"logicalType", "default", "aliases", "order", "doc"}
    stripped = {key: value for key, value in schema.items() if key not in dropped}
    for key in ("type", "items", "values"):
        if key in stripped:
            stripped[key] = strip_logical_types(stripped[key])
    if isinstance(stripped.get("fields"), list):
        stripped["fields"] = [strip_logical_types(field) for field in stripped["fields"]]
    return stripped


def field_ids(schema: Any) -> dict[str, int]:
    """Give dotted name to field id, for every field of an Iceberg Avro schema that has one.

    List items are `name.element`, keys and values of maps `name.key` and `name.value`.

    >>> field_ids({"type": "record", "name": "r", "fields": [{"name": "a", "type": "long", "field-id": 7}]})
    {'a': 7}
    """
    ids: dict[str, int] = {}
    _collect_ids(schema, "", ids)
    return ids


def _collect_ids(schema: Any, prefix: str, ids: dict[str, int]) -> None:
    if isinstance(schema, list):
        for branch in schema:
            _collect_ids(branch, prefix, ids)
    if not isinstance(schema, dict):
        return
    for key, name in (("element-id", "element"), ("key-id", "key"), ("value-id", "value")):
        if isinstance(schema.get(key), int):
            ids[f"{prefix}{name}"] = schema[key]
    kind = schema.get("type")
    if kind == "record":
        for field in schema["fields"]:
            if isinstance(field.get("field-id"), int):
                ids[f"{prefix}{field['name']}"] = field["field-id"]
            _collect_ids(field["type"], f"{prefix}{field['name']}.", ids)
    elif kind == "array":
        inner = "" if schema.get("logicalType") == "map" else "element."
        _collect_ids(schema["items"], f"{prefix}{inner}", ids)
    elif kind == "map":
        _collect_ids(schema["values"], f"{prefix}value.", ids)
    elif isinstance(kind, dict | list):
        _collect_ids(kind, prefix, ids)


class _Measure:
    """One walk over a schema: checks it and adds up what a value takes."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.named: dict[str, SchemaSize | None] = {}

    def fail(self, message: str, json_path: str, expected: object = None, seen: object = None) -> Corrupt:
        return Corrupt(message, path=self.path, json_path=json_path, expected=expected, seen=seen)

    def measure(self, schema: Any, json_path: str, space: str, depth: int) -> SchemaSize:
        if depth > MAX_DEPTH:
            raise self.fail("Avro schema nested too deeply", json_path, f"at most {MAX_DEPTH} levels")
        size = self._measure_any(schema, json_path, space, depth)
        if size.types > MAX_TYPES:
            raise self.fail("Avro schema too large", json_path, f"at most {MAX_TYPES} types", size.types)
        return size

    def _measure_any(self, schema: Any, json_path: str, space: str, depth: int) -> SchemaSize:
        if isinstance(schema, str):
            return self._measure_name(schema, json_path, space)
        if isinstance(schema, list):
            sizes = [
                self.measure(branch, f"{json_path}[{i}]", space, depth + 1) for i, branch in enumerate(schema)
            ]
            if not sizes:
                raise self.fail("empty union in the Avro schema", json_path)
            return SchemaSize(1 + min(size.smallest for size in sizes), 1 + sum(size.types for size in sizes))
        if not isinstance(schema, dict) or "type" not in schema:
            raise self.fail(
                "not an Avro schema", json_path, "a name, a list, or an object with type", repr(schema)
            )
        kind = schema["type"]
        if kind == "record":
            return self._measure_record(schema, json_path, space, depth)
        if kind in ("enum", "fixed"):
            return self._measure_leaf(schema, json_path, space)
        if kind in ("array", "map"):
            return self._measure_items(schema, json_path, space, depth)
        return self.measure(kind, f"{json_path}.type", space, depth + 1)

    def _measure_name(self, name: str, json_path: str, space: str) -> SchemaSize:
        if name in _SMALLEST:
            return SchemaSize(_SMALLEST[name], 1)
        for full in (name, f"{space}.{name}"):
            if full in self.named:
                size = self.named[full]
                if size is None:
                    message = f"the Avro type {name} contains itself, at {json_path}"
                    raise Unsupported(message, path=self.path)
                return size
        raise self.fail("unknown Avro type", json_path, "a type of Avro or a name defined before", name)

    def _declare(self, schema: dict[str, Any], json_path: str, space: str) -> str:
        name = schema.get("name")
        if not isinstance(name, str) or not name:
            raise self.fail("Avro type without a name", json_path, "a name", repr(name))
        own = schema.get("namespace", space)
        full = name if "." in name or not own else f"{own}.{name}"
        self.named[full] = None
        return full

    def _measure_record(self, schema: dict[str, Any], json_path: str, space: str, depth: int) -> SchemaSize:
        full = self._declare(schema, json_path, space)
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise self.fail("Avro record without fields", json_path, "a list", repr(fields))
        smallest, types = 0, 1
        for i, field in enumerate(fields):
            where = f"{json_path}.fields[{i}]"
            if not isinstance(field, dict) or not isinstance(field.get("name"), str) or "type" not in field:
                raise self.fail(
                    "not a field of an Avro record", where, "an object with name and type", repr(field)
                )
            size = self.measure(field["type"], f"{where}.type", full.rpartition(".")[0], depth + 1)
            smallest, types = smallest + size.smallest, types + size.types
        self.named[full] = SchemaSize(smallest, types)
        return SchemaSize(smallest, types)

    def _measure_leaf(self, schema: dict[str, Any], json_path: str, space: str) -> SchemaSize:
        full = self._declare(schema, json_path, space)
        smallest = 1
        if schema["type"] == "fixed":
            smallest = schema.get("size", -1)
            if not isinstance(smallest, int) or not 0 <= smallest < 2**31:
                raise self.fail("bad size of an Avro fixed", f"{json_path}.size", "0 or more", repr(smallest))
        elif not isinstance(schema.get("symbols"), list):
            raise self.fail("Avro enum without symbols", json_path, "a list", repr(schema.get("symbols")))
        self.named[full] = SchemaSize(smallest, 1)
        return SchemaSize(smallest, 1)

    def _measure_items(self, schema: dict[str, Any], json_path: str, space: str, depth: int) -> SchemaSize:
        key = "items" if schema["type"] == "array" else "values"
        if key not in schema:
            raise self.fail(f"Avro {schema['type']} without {key}", json_path)
        size = self.measure(schema[key], f"{json_path}.{key}", space, depth + 1)
        if key == "items" and size.smallest == 0:
            raise Unsupported(f"Avro array of items that take no bytes, at {json_path}", path=self.path)
        return SchemaSize(1, 1 + size.types)
