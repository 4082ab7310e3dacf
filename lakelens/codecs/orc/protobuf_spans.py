"""Protocol buffers byte by byte, with the names of a schema.

    message   field …        field   tag, varint: number << 3 | wire type, then the value
    wire 0    varint         wire 1  8 bytes LE      wire 2  length, varint, then bytes, a message or packed values
                             wire 5  4 bytes LE

Follows "Encoding" of Protocol Buffers. Refused with `Corrupt` and the offset: groups and unknown wire types, field 0,
numbers of more than 64 bits, and endings inside a field.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from lakelens.codecs.span.reader import GROUP, Enum, format_count
from lakelens.codecs.span.span import Deferred, Span
from lakelens.errors import Corrupt

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIRES = {VARINT: "varint", FIXED64: "8 bytes", BYTES: "length-delimited", FIXED32: "4 bytes"}
_LABEL_NOTES = {"sint": "zigzag varint", "uint": "varint", "int": "varint", "bool": "varint"}

Scalar = Literal["uint", "sint", "int", "bool", "double", "fixed64", "text", "bytes"]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a schema: its name, and name and type of each field by number."""

    name: str
    fields: Mapping[int, tuple[str, Type]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Many:
    """A repeated field, packed or not."""

    of: Scalar | Enum | Message


Type = Scalar | Enum | Message | Many | None


@dataclass(frozen=True, slots=True)
class _Field:
    """One field as stored: where it and its value begin and end, and the plain value (bytes for wire 2)."""

    start: int
    value_start: int  # behind the tag; for wire 2 the length
    body: int
    end: int
    number: int
    wire: int
    value: Any


def explain_message(
    data: bytes, message: Message, label: str = "", *, start: int = 0, end: int | None = None, base: int = 0
) -> Span:
    """The message in `data[start:end]`, as a tree whose positions are those in `data` moved by `base`.

    Its value is a dict by name: a list for a repeated field, a name for an enumeration.

    >>> pair = Message("Pair", {1: ("first", "sint"), 2: ("second", Many("text"))})
    >>> span = explain_message(bytes.fromhex("08 03 12 01 61"), pair)
    >>> span.value, [part.label for part in span.children]
    ({'first': -2, 'second': ['a']}, ['first', 'second[0]'])
    """
    stop = len(data) if end is None else end
    tree = _Tree(data, base)
    make = partial(tree.explain_fields, start, stop, message, {})
    value = Deferred(partial(tree.decode, start, stop, message))
    note = f"{message.name}, protobuf" if label and label != message.name else "protobuf"
    return Span(base + start, base + stop, label or message.name, value, note, make)


class _Tree:
    """The bytes of a message, and the spans of what is in it: positions in `data` here, moved by `base` in spans."""

    def __init__(self, data: bytes, base: int) -> None:
        self.data, self.base = data, base

    def fail(self, at: int, message: str, seen: object = None) -> Corrupt:
        return Corrupt(message, offset=self.base + at, seen=seen)

    def read_varint(self, at: int, end: int) -> tuple[int, int]:
        value = shift = 0
        for place in range(at, min(at + 10, end)):
            byte = self.data[place]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF, place + 1
            shift += 7
        is_cut = end - at < 10
        raise self.fail(
            at, "a message that ends inside a number" if is_cut else "a number of more than 64 bits"
        )

    def read_field(self, at: int, end: int) -> _Field:
        tag, body = self.read_varint(at, end)
        number, wire = tag >> 3, tag & 7
        if number == 0 or number >= 1 << 29 or wire not in _WIRES:
            raise self.fail(at, "no field of a message", f"field {number}, wire type {wire}")
        start = body
        if wire == VARINT:
            value, stop = self.read_varint(body, end)
            return _Field(at, start, body, stop, number, wire, value)
        size = 8 if wire == FIXED64 else 4
        if wire == BYTES:
            size, body = self.read_varint(body, end)
        if size > end - body:
            raise self.fail(at, "a message that ends inside a field", f"{size} bytes")
        return _Field(at, start, body, body + size, number, wire, self.data[body : body + size])

    def decode(self, start: int, end: int, message: Message) -> dict[str, Any]:
        """The message as a dict by name."""
        decoded: dict[str, Any] = {}
        while start < end:
            found = self.read_field(start, end)
            name, kind = _find_type(found, message)
            if isinstance(kind, Many):
                decoded.setdefault(name, []).extend(self.decode_many(found, kind))
            else:
                decoded[name] = self.decode_value(found, kind)
            start = found.end
        return decoded

    def decode_many(self, found: _Field, kind: Many) -> list[Any]:
        if is_packed(found, kind):
            return [value for _, _, value in self.read_packed(found, kind)]
        return [self.decode_value(found, kind.of)]

    def decode_value(self, found: _Field, kind: Type) -> Any:
        if isinstance(kind, Message):
            return self.decode(found.body, found.end, kind)
        return _convert(found.value, found.wire, kind)

    def read_packed(self, found: _Field, kind: Many) -> Iterator[tuple[int, int, Any]]:
        """Start, end and value of every packed number."""
        at = found.body
        while at < found.end:
            if kind.of in ("fixed64", "double"):
                if found.end - at < 8:
                    raise self.fail(at, "a list that ends inside a number")
                yield at, at + 8, _convert(self.data[at : at + 8], FIXED64, kind.of)
                at += 8
            else:
                value, stop = self.read_varint(at, found.end)
                yield at, stop, _convert(value, VARINT, kind.of)
                at = stop

    def leaf(self, start: int, end: int, label: str, value: Any = None, note: str = "") -> Span:
        return Span(self.base + start, self.base + end, label, value, note)

    def explain_fields(
        self, start: int, end: int, message: Message, counts: dict[int, int]
    ) -> Iterator[Span]:
        """The fields; after many of them the rest is a span of its own. `counts` are those seen of each number."""
        seen, at, total = dict(counts), start, 0
        while at < end:
            if total == GROUP:
                rest = partial(self.explain_fields, at, end, message, dict(seen))
                yield Span(self.base + at, self.base + end, "further fields", children=rest)
                return
            found = self.read_field(at, end)
            name, kind = _find_type(found, message)
            if isinstance(kind, Many):
                place = seen.get(found.number, 0)
                seen[found.number] = place + 1
                yield self.explain_many(found, f"{name}[{place}]", name, kind)
            else:
                yield self.explain_field(found, name, kind)
            at, total = found.end, total + 1

    def head(self, found: _Field) -> tuple[Span, ...]:
        tag = self.leaf(
            found.start, found.value_start, "tag", None, f"field {found.number}, {_WIRES[found.wire]}: varint"
        )
        if found.wire != BYTES:
            return (tag,)
        return tag, self.leaf(found.value_start, found.body, "length", found.end - found.body, "varint")

    def explain_field(self, found: _Field, name: str, kind: Type) -> Span:
        head, prefix = self.head(found), f"field {found.number}: "
        start, end = self.base + found.start, self.base + found.end
        if isinstance(kind, Message):
            value = Deferred(partial(self.decode, found.body, found.end, kind))
            return Span(
                start, end, name, value, f"{prefix}{kind.name}", partial(self.explain_inner, found, kind)
            )
        decoded = self.decode_value(found, kind)
        note = prefix + _note(found, kind)
        leaf = (self.leaf(found.body, found.end, name, decoded, note),) if found.end > found.body else ()
        return Span(start, end, name, decoded, note, (*head, *leaf))

    def explain_inner(self, found: _Field, kind: Message) -> Iterator[Span]:
        yield from self.head(found)
        yield from self.explain_fields(found.body, found.end, kind, {})

    def explain_many(self, found: _Field, label: str, name: str, kind: Many) -> Span:
        if not is_packed(found, kind):
            return self.explain_field(found, label, kind.of)
        value = Deferred(partial(self.decode_many, found, kind))
        note = f"field {found.number}: packed"
        make = partial(self.explain_packed, found, kind)
        return Span(self.base + found.start, self.base + found.end, name, value, note, make)

    def explain_packed(self, found: _Field, kind: Many) -> Iterator[Span]:
        yield from self.head(found)
        yield from self.explain_numbers(found, kind, 0)

    def explain_numbers(self, found: _Field, kind: Many, first: int) -> Iterator[Span]:
        for i, (start, end, value) in enumerate(self.read_packed(found, kind)):
            if i == GROUP:
                rest = _Field(found.start, start, start, found.end, found.number, found.wire, b"")
                make = partial(self.explain_numbers, rest, kind, first + i)
                yield Span(self.base + start, self.base + found.end, "further numbers", children=make)
                return
            yield self.leaf(start, end, f"[{first + i}]", value, _LABEL_NOTES.get(str(kind.of), "varint"))


def is_packed(found: _Field, kind: Many) -> bool:
    """Whether a field of a repeated number holds many of them at once."""
    return found.wire == BYTES and not isinstance(kind.of, Message) and kind.of not in ("text", "bytes")


def _find_type(found: _Field, message: Message) -> tuple[str, Type]:
    """Name and type of a field; one whose wire type is not that of its type is not known, as for every decoder."""
    name, kind = message.fields.get(found.number, ("", None))
    inner = kind.of if isinstance(kind, Many) else kind
    if isinstance(inner, Message) or inner in ("text", "bytes"):
        fits = found.wire == BYTES
    else:
        fits = found.wire == (FIXED64 if inner in ("fixed64", "double") else VARINT)
        fits = fits or (isinstance(kind, Many) and is_packed(found, kind))
    return (name, kind) if kind is not None and fits else (f"field {found.number}", None)


def _convert(value: Any, wire: int, kind: Type) -> Any:
    """A stored number or bytes as what the schema says; as they are when they do not fit."""
    if isinstance(kind, Enum):
        return kind.find(value)
    if isinstance(value, int):
        if kind == "sint":
            return value >> 1 ^ -(value & 1)
        if kind == "int":
            return value - (1 << 64) if value >> 63 else value
        return bool(value) if kind == "bool" else value
    if wire == BYTES:
        return value.decode(errors="replace") if kind == "text" else value
    if kind == "double" and wire == FIXED64:
        return struct.unpack("<d", value)[0]
    return int.from_bytes(value, "little")


def _note(found: _Field, kind: Type) -> str:
    if isinstance(kind, Enum):
        return f"{kind.name} {found.value}, varint" if found.wire == VARINT else kind.name
    if found.wire == BYTES:
        return f"{'UTF-8' if kind == 'text' else 'bytes'}, {format_count(found.end - found.body, 'byte')}"
    if found.wire == VARINT:
        return _LABEL_NOTES.get(str(kind), "varint")
    return f"{'double' if kind == 'double' else f'fixed{(found.end - found.body) * 8}'}, little-endian"
