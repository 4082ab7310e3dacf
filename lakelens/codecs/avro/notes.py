"""How Avro values are encoded and what their logical types make of them: the notes of `avro.record_spans`.

Follows "Logical Types" of the Avro 1.12 specification. Timestamps are written without a zone: which clock they show,
the format says that wrote them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from lakelens.codecs.avro.types import (
    AvroType,
    EnumType,
    FixedType,
    ItemsType,
    NumberType,
    PlainType,
    RecordType,
    SizedType,
    UnionType,
    read_long,
)
from lakelens.codecs.span.reader import format_count
from lakelens.codecs.span.span import Octets
from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)
from lakelens.errors import Corrupt

_MAX_DECIMAL = 40  # bytes, and digits of scale: more is no decimal of any format


def join_notes(*notes: str) -> str:
    """Notes in one line.

    >>> join_notes("long", "", "field id 1")
    'long; field id 1'
    """
    return "; ".join(note for note in notes if note)


def describe_varint(at: int, stop: int) -> str:
    """How a count, a size or a branch is encoded.

    >>> describe_varint(4, 6)
    'varint, zigzag: 2 bytes'
    """
    return f"varint, zigzag: {format_count(stop - at, 'byte')}"


def describe_value(kind: AvroType, data: Octets, at: int, stop: int) -> str:
    """How a value that has parts is encoded; of a damaged one only the type.

    >>> describe_value(SizedType("string"), bytes([4]) + b"hi", 0, 3)
    'string: 2 bytes'
    """
    try:
        return _describe_value(kind, data, at, stop)
    except Corrupt:
        return kind.words


def _describe_value(kind: AvroType, data: Octets, at: int, stop: int) -> str:
    if isinstance(kind, UnionType):
        index, start = kind.choose(data, at, stop)
        return f"union branch {index}: {_describe_value(kind.branches[index], data, start, stop)}"
    if isinstance(kind, SizedType):
        size, start = read_long(data, at, stop)
        words = f"{kind.words}: {format_count(size, 'byte')}"
        is_known = kind.logical and not kind.is_text and size <= _MAX_DECIMAL
        return join_notes(words, format_logical(kind, bytes(data[start:stop]))) if is_known else words
    if isinstance(kind, ItemsType):
        return kind.words if kind.count(data, at, stop)[0] else f"{kind.words}: no items"
    if isinstance(kind, RecordType):
        return kind.words
    value, end = kind.decode(data, at, stop)
    return describe_leaf(kind, data, at, end, value)


def describe_leaf(kind: AvroType, data: Octets, at: int, stop: int, value: Any) -> str:
    """How a value of one leaf is encoded, and what its logical type makes of it.

    >>> describe_leaf(NumberType("long"), bytes([2]), 0, 1, 1)
    'long, varint, zigzag: 1 byte'
    """
    size, meaning = format_count(stop - at, "byte"), format_logical(kind, value)
    if isinstance(kind, NumberType):
        beyond = "" if -(2 ** (kind.bits - 1)) <= value < 2 ** (kind.bits - 1) else "more than 32 bits"
        return join_notes(f"{kind.words}, {describe_varint(at, stop)}", meaning, beyond)
    if isinstance(kind, EnumType):
        return f"{kind.words}, {describe_varint(at, stop)}; symbol {read_long(data, at, stop)[0]}"
    if isinstance(kind, PlainType):
        if stop - at == 1:
            return join_notes(f"{kind.words}: {size}", "" if data[at] < 2 else "neither 0 nor 1")
        return f"{kind.words}, little-endian: {size}"
    return join_notes(f"{kind.words}: {size}" if stop > at else f"{kind.words}: takes no byte", meaning)


def format_logical(kind: AvroType, value: Any) -> str:
    """What a logical type makes of a stored value; empty without one, or where it makes nothing of it.

    >>> date = NumberType("int", "int (date)")
    >>> date.logical = "date"
    >>> format_logical(date, 19723)
    '2024-01-01'
    """
    if not kind.logical:
        return ""
    try:
        if isinstance(kind, NumberType):
            return _format_number(kind.logical, value)
        if isinstance(value, bytes) and isinstance(kind, FixedType | SizedType):
            return _format_bytes(kind, value)
    except (ArithmeticError, ValueError):
        pass
    return ""


def _format_number(logical: str, value: int) -> str:
    if logical == "date":
        return str(date_from_days(value))
    if logical in ("time-millis", "time-micros"):
        return str(time_from_micros(value * 1000 if logical == "time-millis" else value))
    match logical.removeprefix("local-"):
        case "timestamp-millis":
            return str(timestamp_from_micros(value * 1000, False))
        case "timestamp-micros":
            return str(timestamp_from_micros(value, False))
        case "timestamp-nanos":
            return str(timestamp_from_nanos(value, False))
    return ""


def _format_bytes(kind: AvroType, value: bytes) -> str:
    if kind.logical == "uuid" and len(value) == 16:
        return str(UUID(bytes=value))
    if kind.logical == "decimal" and 0 < len(value) <= _MAX_DECIMAL and 0 <= kind.scale <= _MAX_DECIMAL:
        digits = tuple(map(int, str(abs(unscaled := int.from_bytes(value, "big", signed=True)))))
        return f"{Decimal((int(unscaled < 0), digits, -kind.scale)):f}"
    return ""


def describe_key(kind: ItemsType, data: Octets, at: int, end: int) -> str:
    """The key of an item of a map that is stored as an array of pairs; empty for other items.

    >>> describe_key(ItemsType("array"), b"", 0, 0)
    ''
    """
    pair = kind.items
    if kind.logical != "map" or not isinstance(pair, RecordType) or not pair.fields:
        return ""
    name, key, _ = pair.fields[0]
    if name != "key" or not isinstance(key, NumberType | SizedType):
        return ""
    try:
        return f"key {str(key.decode(data, at, end)[0])[:40]}"
    except Corrupt:
        return ""
