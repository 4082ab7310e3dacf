"""From an Avro schema to the types of `avro_types`.

Follows "Schema Declaration" of the Avro 1.12 specification; names are resolved as it says, and types that contain themselves
are compiled too. Refused: schemas nested deeper than 64, of more than 100,000 types with names expanded or more than 1,000
that take no byte, arrays of items without a byte, a name defined twice.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from lakelens.codecs.avro.schema import MAX_DEPTH, MAX_TYPES
from lakelens.codecs.avro.types import (
    AvroType,
    EnumType,
    FixedType,
    ItemsType,
    NullType,
    NumberType,
    PlainType,
    RecordType,
    SizedType,
    UnionType,
)
from lakelens.errors import Corrupt, Unsupported

_MAX_CACHED = 1 << 20  # bytes of a schema
MAX_EMPTY_TYPES = 1000  # null fields and the like of one value: they cost memory and no byte


def compile_text(text: bytes) -> AvroType:
    """The type of a schema as it is stored. Raises `Corrupt` with the place in it, `Unsupported` for what is refused.

    >>> compile_text(b'["null", "long"]').words
    'union of null, long'
    """
    return _compile_cached(text) if len(text) <= _MAX_CACHED else _compile_text(text)


def _compile_text(text: bytes) -> AvroType:
    try:
        schema = json.loads(text)
    except RecursionError:
        raise Corrupt("Avro schema nested too deeply", json_path="avro.schema") from None
    except ValueError as error:
        raise Corrupt("Avro schema is not JSON", json_path="avro.schema", expected=error) from None
    return compile_schema(schema)


# an explanation is walked more than once, and the manifests of a table share a schema
_compile_cached = lru_cache(maxsize=32)(_compile_text)


def compile_schema(schema: Any) -> AvroType:
    """The type of a schema as parsed JSON. Raises `Corrupt` with the place in it, `Unsupported` for what is refused.

    >>> kind = compile_schema({"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "long"]}]})
    >>> kind.decode(bytes([2, 6]), 0, 2)
    ({'a': 3}, 2)
    """
    compiler = _Compiler()
    root = compiler.compile(schema, "avro.schema", "", 0)
    types, empty = _Measure().count(root)
    if types > MAX_TYPES:
        raise Corrupt("Avro schema too large", json_path="avro.schema", expected=f"at most {MAX_TYPES} types")
    if empty > MAX_EMPTY_TYPES:
        raise Unsupported(f"Avro schema with more than {MAX_EMPTY_TYPES} types that take no bytes")
    for place, items in compiler.items:
        if items.items.size == 0 and not items.is_map:
            raise Unsupported(f"Avro array of items that take no bytes, at {place}")
    return root


_SYMBOL = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_NUMBERS, _PLAIN, _SIZED = ("int", "long"), ("boolean", "float", "double"), ("string", "bytes")


class _Compiler:
    """One walk over a schema. Named types are entered before they are compiled, so that they may contain themselves."""

    def __init__(self) -> None:
        self.named: dict[str, AvroType] = {}
        self.items: list[tuple[str, ItemsType]] = []

    def compile(self, schema: Any, place: str, space: str, depth: int) -> AvroType:
        if depth > MAX_DEPTH:
            raise Corrupt(
                "Avro schema nested too deeply", json_path=place, expected=f"at most {MAX_DEPTH} levels"
            )
        if isinstance(schema, str):
            return self.find(schema, place, space)
        if isinstance(schema, list):
            return self.compile_union(schema, place, space, depth)
        if not isinstance(schema, dict) or "type" not in schema:
            raise self.fail("not an Avro schema", place, schema, "a name, a list, or an object with type")
        kind = schema["type"]
        if kind == "record":
            return self.compile_record(schema, place, space, depth)
        if kind in ("array", "map"):
            return self.compile_items(schema, place, space, depth)
        if kind == "enum" or kind == "fixed":
            return self.compile_leaf(schema, place, space)
        if isinstance(kind, str) and isinstance(schema.get("logicalType"), str):
            made = make_scalar(kind, _word(kind, schema))
            if made is not None:
                return _tell_logical(made, schema)
        return self.compile(kind, f"{place}.type", space, depth + 1)

    def fail(self, message: str, place: str, seen: Any, expected: str | None = None) -> Corrupt:
        return Corrupt(message, json_path=place, expected=expected, seen=repr(seen))

    def find(self, name: str, place: str, space: str) -> AvroType:
        made = make_scalar(name, name) or self.named.get(name) or self.named.get(f"{space}.{name}")
        if made is None:
            raise self.fail(
                "unknown Avro type", place, name, "a type of Avro or a name that was defined before"
            )
        return made

    def declare(self, schema: dict[str, Any], made: AvroType, place: str, space: str) -> str:
        name = schema.get("name")
        if not isinstance(name, str) or not name:
            raise self.fail("Avro type without a name", place, name, "a name")
        own = schema.get("namespace", space)
        full = name if "." in name or not own else f"{own}.{name}"
        if full in self.named:
            raise self.fail("Avro type defined twice", place, full)
        self.named[full] = made
        return full.rpartition(".")[0]

    def compile_union(self, schema: list[Any], place: str, space: str, depth: int) -> AvroType:
        if not schema:
            raise self.fail("empty union in the Avro schema", place, schema)
        union = UnionType()
        for i, branch in enumerate(schema):
            union.branches.append(self.compile(branch, f"{place}[{i}]", space, depth + 1))
        union.words = f"union of {', '.join(branch.words for branch in union.branches)}"[:80]
        return union

    def compile_record(self, schema: dict[str, Any], place: str, space: str, depth: int) -> AvroType:
        record = RecordType("record")
        inner = self.declare(schema, record, place, space)
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise self.fail("Avro record without fields", place, fields, "a list")
        for i, field in enumerate(fields):
            where = f"{place}.fields[{i}]"
            if not isinstance(field, dict) or not isinstance(field.get("name"), str) or "type" not in field:
                raise self.fail("not a field of an Avro record", where, field, "an object with name and type")
            kind = self.compile(field["type"], f"{where}.type", inner, depth + 1)
            number = field.get("field-id")
            record.fields.append((field["name"], kind, number if isinstance(number, int) else None))
        sizes = [kind.size for _, kind, _ in record.fields]
        if all(size is not None for size in sizes):
            record.size = sum(size for size in sizes if size is not None)
        return record

    def compile_items(self, schema: dict[str, Any], place: str, space: str, depth: int) -> AvroType:
        is_map = schema["type"] == "map"
        key = "values" if is_map else "items"
        if key not in schema:
            raise self.fail(f"Avro {schema['type']} without {key}", place, sorted(map(str, schema)))
        made = ItemsType(_word(schema["type"], schema), is_map)
        made.items = self.compile(schema[key], f"{place}.{key}", space, depth + 1)
        self.items.append((place, made))
        return _tell_logical(made, schema)

    def compile_leaf(self, schema: dict[str, Any], place: str, space: str) -> AvroType:
        made: AvroType
        if schema["type"] == "enum":
            symbols = schema.get("symbols")
            if not isinstance(symbols, list):
                raise self.fail("Avro enum without symbols", place, symbols, "a list")
            if not all(isinstance(symbol, str) and _SYMBOL.fullmatch(symbol) for symbol in symbols):
                raise self.fail("bad symbol of an Avro enum", place, symbols, "letters, digits and _")
            made = EnumType(_word("enum", schema), symbols)
        else:
            size = schema.get("size")
            if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 2**31:
                raise self.fail("bad size of an Avro fixed", f"{place}.size", size, "0 or more")
            made = FixedType(_word(f"fixed[{size}]", schema), size)
        self.declare(schema, made, place, space)
        return _tell_logical(made, schema)


def make_scalar(kind: str, words: str) -> AvroType | None:
    """The type of a primitive name; None for any other.

    >>> make_scalar("long", "long (timestamp-millis)").words
    'long (timestamp-millis)'
    """
    if kind == "null":
        return NullType(words, 0)
    if kind in _NUMBERS:
        return NumberType(kind, words)
    if kind in _PLAIN:
        return PlainType(kind, words)
    return SizedType(kind, words) if kind in _SIZED else None


class _Measure:
    """How many types one value has with names expanded, and how many of them take no byte."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[int, int]] = {}

    def count(self, kind: AvroType) -> tuple[int, int]:
        found = self.known.get(id(kind))
        if found is None:
            self.known[id(kind)] = (1, 0)  # inside itself a type counts once
            parts = [self.count(part) for part in kind.parts()]
            types = 1 + sum(part[0] for part in parts)
            empty = sum(part[1] for part in parts) if parts else int(kind.size == 0)
            found = self.known[id(kind)] = (types, empty)
        return found


def _tell_logical(made: AvroType, schema: dict[str, Any]) -> AvroType:
    logical, scale = schema.get("logicalType"), schema.get("scale")
    made.logical = logical if isinstance(logical, str) else ""
    made.scale = scale if isinstance(scale, int) else 0
    return made


def _word(kind: str, schema: dict[str, Any]) -> str:
    logical = schema.get("logicalType")
    if not isinstance(logical, str):
        return kind
    if logical == "decimal" and "precision" in schema:
        logical = f"decimal({schema['precision']}, {schema.get('scale', 0)})"
    return f"{kind} ({logical})"[:80]
