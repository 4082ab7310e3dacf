"""Avro schemas: checked, compiled to the types of `avro.types`, and written again without logical types.

Follows "Schema Declaration" of the Avro 1.12 specification; names are resolved as it says, and types that contain themselves
are compiled too, but only explained, not decoded in bulk. A schema that comes with damaged or hostile bytes must not hang a
decoder. Refused: schemas of more than 4 MiB, nested deeper than 64, of more than 20,000 types (also with names expanded) or
more than 1,000 that take no byte, arrays of items without a byte (a count of 2^60 would cost nothing), a name defined twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import field
from functools import lru_cache
from typing import Any

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
from lakelens.lazy import dataclass

MAX_DEPTH = 64
MAX_TYPES = 20_000
MAX_SIZE = 1 << 22  # bytes: parsing alone takes a hundred times as much memory
MAX_EMPTY_TYPES = 1000  # null fields and the like of one value: they cost memory and no byte
_MAX_CACHED = 1 << 20  # bytes of a schema
_SYMBOL = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_SCALARS: dict[str, Callable[[str, str], AvroType]] = {
    **dict.fromkeys(("int", "long"), NumberType),
    **dict.fromkeys(("boolean", "float", "double"), PlainType),
    **dict.fromkeys(("string", "bytes"), SizedType),
    "null": NullType,
}


@dataclass(frozen=True, slots=True)
class AvroSchema:
    """A schema as parsed JSON (ids kept) and as a type; `smallest` is the fewest bytes that one value takes."""

    json: Any
    kind: AvroType = field(compare=False, repr=False)
    smallest: int
    is_recursive: bool


def parse_schema(text: bytes) -> AvroSchema:
    """Parse the schema of its JSON text. Raises `Corrupt` with the place in it, `Unsupported` for what is refused.

    >>> parse_schema(b'["null", "long"]').kind.words
    'union of null, long'
    """
    if len(text) > MAX_SIZE:
        expected, seen = f"at most {MAX_SIZE:,} bytes", f"{len(text):,} bytes"
        raise Corrupt("Avro schema too large", json_path="avro.schema", expected=expected, seen=seen)
    return _parse_cached(text) if len(text) <= _MAX_CACHED else _parse(text)


def _parse(text: bytes) -> AvroSchema:
    try:
        schema = json.loads(text)
    except RecursionError:
        raise Corrupt("Avro schema nested too deeply", json_path="avro.schema") from None
    except ValueError as error:
        seen = bytes(text[:100])
        raise Corrupt("Avro schema is not JSON", json_path="avro.schema", expected=error, seen=seen) from None
    return compile_schema(schema)


# an explanation is walked more than once, and the manifests of a table share a schema
_parse_cached = lru_cache(maxsize=32)(_parse)


def compile_schema(schema: Any) -> AvroSchema:
    """The schema of its parsed JSON. Raises `Corrupt` with the place in it, `Unsupported` for what is refused.

    >>> kind = compile_schema({"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "long"]}]}).kind
    >>> kind.decode(bytes([2, 6]), 0, 2)
    ({'a': 3}, 2)
    """
    compiler, measure = _Compiler(), _Measure()
    root = compiler.compile(schema, "avro.schema", "", 0)
    types, empty, smallest = measure.count(root)
    if types > MAX_TYPES:
        raise _refuse_size()
    if empty > MAX_EMPTY_TYPES:
        raise Unsupported(f"Avro schema with more than {MAX_EMPTY_TYPES} types that take no bytes")
    for place, items in compiler.items:
        if items.items.size == 0 and not items.is_map:
            raise Unsupported(f"Avro array of items that take no bytes, at {place}")
    return AvroSchema(schema, root, smallest, measure.is_recursive)


def find_record(schema: Any) -> dict[str, Any] | None:
    """Find the record of the root: the schema itself, or the one of a union with null; None for any other root.

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


def write_plain(kind: AvroType, *, with_empty: bool = True) -> Any:
    """A schema of the values as stored, without logical types; without `with_empty` also without fields of empty records.

    >>> write_plain(parse_schema(b'{"type": "long", "logicalType": "timestamp-millis"}').kind)
    'long'
    """
    names: dict[int, str] = {}

    def write(kind: AvroType) -> Any:
        if isinstance(kind, UnionType):
            return [write(branch) for branch in kind.branches]
        if isinstance(kind, ItemsType):
            return {"type": kind.name, ("values" if kind.is_map else "items"): write(kind.items)}
        if not isinstance(kind, RecordType | EnumType | FixedType):
            return kind.name
        if id(kind) in names:
            return names[id(kind)]
        name = names[id(kind)] = f"{kind.name}_{len(names)}"
        if isinstance(kind, EnumType):
            return {"type": "enum", "name": name, "symbols": kind.symbols}
        if isinstance(kind, FixedType):
            return {"type": "fixed", "name": name, "size": kind.size}
        fields = [(label, part) for label, part, _ in kind.fields if with_empty or not is_empty(part)]
        return {
            "type": "record",
            "name": name,
            "fields": [{"name": label, "type": write(part)} for label, part in fields],
        }

    return write(kind)


def is_empty(kind: AvroType) -> bool:
    """Check whether a type is a record without fields, or of such records only: it takes no bytes."""
    return isinstance(kind, RecordType) and all(is_empty(part) for part in kind.parts())


class _Compiler:
    """One walk over a schema. Named types are entered before they are compiled, so that they may contain themselves."""

    def __init__(self) -> None:
        self.named: dict[str, AvroType] = {}
        self.items: list[tuple[str, ItemsType]] = []
        self.count = 0

    def compile(self, schema: Any, place: str, space: str, depth: int) -> AvroType:
        self.count += 1
        if self.count > 2 * MAX_TYPES:  # a type may be an object around its name
            raise _refuse_size()
        if depth > MAX_DEPTH:
            message, expected = "Avro schema nested too deeply", f"at most {MAX_DEPTH} levels"
            raise Corrupt(message, json_path=place, expected=expected)
        if isinstance(schema, str):
            return self.find(schema, place, space)
        if isinstance(schema, list):
            return self.compile_union(schema, place, space, depth)
        if not isinstance(schema, dict) or "type" not in schema:
            raise _refuse("not an Avro schema", place, schema, "a name, a list, or an object with type")
        kind = schema["type"]
        if kind == "record":
            return self.compile_record(schema, place, space, depth)
        if kind in ("array", "map"):
            return self.compile_items(schema, place, space, depth)
        if kind in ("enum", "fixed"):
            return self.compile_leaf(schema, place, space)
        if isinstance(kind, str) and kind in _SCALARS:
            return _add_logical(_SCALARS[kind](kind, ""), schema)
        return self.compile(kind, f"{place}.type", space, depth + 1)

    def find(self, name: str, place: str, space: str) -> AvroType:
        if name in _SCALARS:
            return _SCALARS[name](name, "")
        found = self.named.get(name) or self.named.get(f"{space}.{name}")
        if found is None:
            raise _refuse("unknown Avro type", place, name, "a type of Avro or a name defined before")
        return found

    def declare(self, schema: dict[str, Any], made: AvroType, place: str, space: str) -> str:
        name = schema.get("name")
        if not isinstance(name, str) or not name:
            raise _refuse("Avro type without a name", place, name, "a name")
        own = schema.get("namespace", space)
        full = name if "." in name or not own else f"{own}.{name}"
        if full in self.named:
            raise _refuse("Avro type defined twice", place, full)
        self.named[full] = made
        return full.rpartition(".")[0]

    def compile_union(self, schema: list[Any], place: str, space: str, depth: int) -> AvroType:
        if not schema:
            raise _refuse("empty union in the Avro schema", place, schema)
        union = UnionType("union")
        for i, branch in enumerate(schema):
            union.branches.append(self.compile(branch, f"{place}[{i}]", space, depth + 1))
        union.words = f"union of {', '.join(branch.words for branch in union.branches)}"[:80]
        return union

    def compile_record(self, schema: dict[str, Any], place: str, space: str, depth: int) -> AvroType:
        record = RecordType("record")
        inner = self.declare(schema, record, place, space)
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise _refuse("Avro record without fields", place, fields, "a list")
        for i, entry in enumerate(fields):
            where = f"{place}.fields[{i}]"
            if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or "type" not in entry:
                raise _refuse("not a field of an Avro record", where, entry, "an object with name and type")
            kind = self.compile(entry["type"], f"{where}.type", inner, depth + 1)
            number = entry.get("field-id")
            record.fields.append((entry["name"], kind, number if isinstance(number, int) else None))
        sizes = [kind.size for kind in record.parts()]
        if all(size is not None for size in sizes):
            record.size = sum(size for size in sizes if size is not None)
        return record

    def compile_items(self, schema: dict[str, Any], place: str, space: str, depth: int) -> AvroType:
        made = ItemsType(schema["type"])
        key = "values" if made.is_map else "items"
        if key not in schema:
            raise _refuse(f"Avro {made.name} without {key}", place, sorted(map(str, schema)))
        made.items = self.compile(schema[key], f"{place}.{key}", space, depth + 1)
        self.items.append((place, made))
        return _add_logical(made, schema)

    def compile_leaf(self, schema: dict[str, Any], place: str, space: str) -> AvroType:
        made: AvroType
        if schema["type"] == "enum":
            symbols = schema.get("symbols")
            if not isinstance(symbols, list):
                raise _refuse("Avro enum without symbols", place, symbols, "a list")
            if not all(isinstance(symbol, str) and _SYMBOL.fullmatch(symbol) for symbol in symbols):
                raise _refuse("bad symbol of an Avro enum", place, symbols, "letters, digits and _")
            made = EnumType("enum")
            made.symbols = symbols
        else:
            size = schema.get("size")
            if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 2**31:
                raise _refuse("bad size of an Avro fixed", f"{place}.size", size, "0 or more")
            made = FixedType("fixed", f"fixed[{size}]", size)
        self.declare(schema, made, place, space)
        return _add_logical(made, schema)


def _refuse_size() -> Corrupt:
    return Corrupt("Avro schema too large", json_path="avro.schema", expected=f"at most {MAX_TYPES} types")


def _refuse(message: str, place: str, seen: Any, expected: str | None = None) -> Corrupt:
    return Corrupt(message, json_path=place, expected=expected, seen=repr(seen))


def _add_logical(made: AvroType, schema: dict[str, Any]) -> AvroType:
    """Add the type with its logical type, which its words name."""
    logical, scale = schema.get("logicalType"), schema.get("scale")
    if isinstance(logical, str):
        made.logical, made.scale = logical, scale if isinstance(scale, int) else 0
        if logical == "decimal" and "precision" in schema:
            logical = f"decimal({schema['precision']}, {schema.get('scale', 0)})"
        made.words = f"{made.words} ({logical})"[:80]
    return made


class _Measure:
    """How many types one value has with names expanded, how many of them take no byte, and the fewest bytes it takes."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[int, int, int]] = {}
        self.is_recursive = False
        self._open: set[int] = set()

    def count(self, kind: AvroType) -> tuple[int, int, int]:
        found = self.known.get(id(kind))
        if found is not None:
            return found
        if id(kind) in self._open:  # inside itself a type counts once
            self.is_recursive = True
            return 1, 0, 0
        self._open.add(id(kind))
        parts = [self.count(part) for part in kind.parts()]
        types = 1 + sum(part[0] for part in parts)
        empty = sum(part[1] for part in parts) if parts else int(kind.size == 0)
        smallest = 1 if kind.size is None else kind.size
        if isinstance(kind, RecordType):
            smallest = sum(part[2] for part in parts)
        elif isinstance(kind, UnionType):
            smallest = 1 + min(part[2] for part in parts)
        self.known[id(kind)] = types, empty, smallest
        return self.known[id(kind)]
