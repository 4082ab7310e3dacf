"""Avro values as bytes again, in plain Python: what `avro.types` decodes.

A library does the same faster, where it is installed: `avro.records` takes it, and a test compares the two.
"""

from __future__ import annotations

import struct
from typing import Any

from lakelens.codecs.avro.container import encode_long
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
from lakelens.errors import Unsupported

_LAYOUTS = {"boolean": "<?", "float": "<f", "double": "<d"}


def encode_value(kind: AvroType, value: Any) -> bytes:
    """Encode a value as its type stores it. Raises `Unsupported` for one that no branch of a union or no number holds.

    >>> from lakelens.codecs.avro.schema import compile_schema
    >>> encode_value(compile_schema(["null", {"type": "array", "items": "string"}]).kind, ["a", "é"]).hex()
    '0204026104c3a900'
    """
    if isinstance(kind, NullType):
        return b""
    if isinstance(kind, RecordType):
        return b"".join(encode_value(part, value.get(name)) for name, part, _ in kind.fields)
    if isinstance(kind, UnionType):
        place = next((place for place, branch in enumerate(kind.branches) if fits(branch, value)), None)
        if place is None:
            raise Unsupported(
                "a record has a value that no branch of its union holds", seen=type(value).__name__
            )
        return encode_long(place) + encode_value(kind.branches[place], value)
    if isinstance(kind, ItemsType):
        keys = [encode_value(kind.key, key) for key in value] if kind.is_map else [b""] * len(value)
        items = value.values() if kind.is_map else value
        content = b"".join(
            key + encode_value(kind.items, item) for key, item in zip(keys, items, strict=True)
        )
        return (encode_long(len(value)) if len(value) else b"") + content + b"\x00"
    if isinstance(kind, EnumType):
        return encode_long(kind.symbols.index(value))
    if isinstance(kind, NumberType):
        if not -(1 << 63) <= value < 1 << 63:
            raise Unsupported(
                "a record has a number that its type cannot hold",
                expected="an int or a long as its schema says",
            )
        return encode_long(value)
    if isinstance(kind, SizedType):
        sized: bytes = value.encode() if kind.is_text else value
        return encode_long(len(sized)) + sized
    stored: bytes = value if isinstance(kind, FixedType) else struct.pack(_LAYOUTS[kind.name], value)
    return stored


def fits(kind: AvroType, value: Any) -> bool:
    """Check whether a value is one that a type holds, as decoded: the branch of a union is the first that does.

    >>> from lakelens.codecs.avro.schema import compile_schema
    >>> fits(compile_schema("int").kind, 1 << 31), fits(compile_schema("long").kind, 1 << 31)
    (False, True)
    """
    if isinstance(kind, UnionType):
        return any(fits(branch, value) for branch in kind.branches)
    if isinstance(kind, RecordType):
        names = {name for name, _, _ in kind.fields}
        is_one = isinstance(value, dict) and value.keys() <= names
        return is_one and all(fits(part, value.get(name)) for name, part, _ in kind.fields)
    if isinstance(kind, ItemsType):
        items = value.values() if isinstance(value, dict) else value
        return isinstance(value, dict if kind.is_map else list) and all(
            fits(kind.items, item) for item in items
        )
    if isinstance(kind, EnumType):
        return value in kind.symbols
    if isinstance(kind, NumberType):
        most = 1 << kind.bits - 1
        return isinstance(value, int) and not isinstance(value, bool) and -most <= value < most
    if isinstance(kind, SizedType):
        return isinstance(value, str if kind.is_text else bytes)
    if isinstance(kind, FixedType):
        return isinstance(value, bytes) and len(value) == kind.size
    if isinstance(kind, PlainType):
        return isinstance(value, bool) if kind.name == "boolean" else isinstance(value, float)
    return value is None
