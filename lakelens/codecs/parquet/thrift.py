"""Thrift's compact protocol: bytes to plain structures, without the schema, in the few forms that Parquet footers use.

    struct   field header … 00      header: (id delta << 4) | type, or type, then the id as zigzag varint
    list     (size << 4) | type, or F0 | type, then the size as varint
    integers zigzag varints         bool: in the field's type, or a byte of 1 or 2 in a list
    double   8 bytes LE             binary: size as varint, then the bytes          byte: 1 byte

Follows "Thrift Compact protocol encoding". A struct becomes a dict by field id, a list a list, binary stays bytes. Refused
with `Corrupt` and the offset: types that are not known, sizes that do not fit, endings inside a value, nesting without end.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn, TypeVar

from lakelens.caching import cached_property
from lakelens.codecs.parquet.thrift_schema import Shape, Struct, decode_text, element_shape, name_value
from lakelens.codecs.span.reader import GROUP, Enum, format_count
from lakelens.codecs.span.span import Deferred, Span
from lakelens.errors import Corrupt

STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(14)
MAX_DEPTH = 40
#: Field ids have 16 bits: so no structure of any size has more fields.
MAX_ID = (1 << 15) - 1


def decode_struct(data: bytes, *, base: int = 0) -> dict[int, Any]:
    """Decode the struct that `data` begins with, as a dict by field id. `base` is where `data` starts in its file.

    >>> decode_struct(bytes.fromhex("15 04 18 01 61 00"))
    {1: 2, 2: b'a'}
    """
    return ThriftReader(data, base).fields(0)


class ThriftReader:
    """Takes values from `data`, one behind the other; `at` is the next byte, errors count from `base`."""

    def __init__(self, data: bytes, base: int, at: int = 0) -> None:
        self.data, self.base, self.at = data, base, at

    def fail(self, message: str, *, expected: object = None, seen: object = None) -> NoReturn:
        raise Corrupt(message, offset=self.base + self.at, expected=expected, seen=seen)

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            self.fail(
                "the footer ends inside a value", expected=f"{size} bytes", seen=f"{len(self.data) - self.at}"
            )
        self.at += size
        return self.data[self.at - size : self.at]

    def byte(self) -> int:
        at = self.at
        if at >= len(self.data):
            self.take(1)  # fails
        self.at = at + 1
        return self.data[at]

    def varint(self) -> int:
        value = self.byte()
        if value < 0x80:
            return value
        value, shift = value & 0x7F, 7
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                self.fail("a number of more than 64 bits")

    def integer(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def fields(self, depth: int) -> dict[int, Any]:
        if depth > MAX_DEPTH:
            self.fail("structures nested too deeply", expected=f"at most {MAX_DEPTH} levels")
        fields: dict[int, Any] = {}
        field_id = 0
        while header := self.byte():
            kind, delta = header & 0x0F, header >> 4
            field_id = field_id + delta if delta else self.integer()
            if not -MAX_ID <= field_id <= MAX_ID:
                self.fail("a field id of more than 16 bits", expected=f"at most {MAX_ID}", seen=field_id)
            fields[field_id] = kind == TRUE if kind in (TRUE, FALSE) else self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        if kind in (I16, I32, I64):
            return self.integer()
        if kind == BINARY:
            return self.take(self.varint())
        if kind == STRUCT:
            return self.fields(depth + 1)
        if kind in (LIST, SET):
            return self.sequence(depth + 1)
        if kind in (TRUE, FALSE):
            return self.byte() == TRUE
        if kind == BYTE:
            return struct.unpack("b", self.take(1))[0]
        if kind == DOUBLE:
            return struct.unpack("<d", self.take(8))[0]
        if kind == UUID:
            return self.take(16)
        if kind == MAP:
            return self.pairs(depth + 1)
        return self.fail("a type that Thrift does not have", expected="1 to 13", seen=kind)

    def sequence(self, depth: int) -> list[Any]:
        header = self.byte()
        kind, size = header & 0x0F, header >> 4
        size = self.varint() if size == 15 else size
        self.check_size(size, depth)
        return [self.value(kind, depth) for _ in range(size)]

    def pairs(self, depth: int) -> list[tuple[Any, Any]]:
        size = self.varint()
        self.check_size(size, depth)
        kinds = self.byte() if size else 0
        return [(self.value(kinds >> 4, depth), self.value(kinds & 0x0F, depth)) for _ in range(size)]

    def check_size(self, size: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            self.fail("structures nested too deeply", expected=f"at most {MAX_DEPTH} levels")
        if size > len(self.data) - self.at:  # every element takes a byte or more
            self.fail(
                "a list longer than the footer", expected=f"at most {len(self.data) - self.at}", seen=size
            )


# Thrift's compact protocol byte by byte, with the names of a schema.
#
#     struct   field … 00         field   header (id delta << 4 | type) [id, zigzag varint] value
#     list     header (size << 4 | type) [size, varint] element …          binary   size, varint, then the bytes
#
# Follows "Thrift Compact protocol encoding". The bytes are gone through once for where structures and lists end; their
# parts are made when asked for. Refused with `Corrupt` is what `thrift.decode_struct` refuses, with the same offset.

_KINDS = {TRUE: "bool", FALSE: "bool", BYTE: "byte", I16: "i16", I32: "i32", I64: "i64", DOUBLE: "double"}
_KINDS |= {BINARY: "binary", LIST: "list", SET: "set", MAP: "map", STRUCT: "struct", UUID: "uuid"}
_NOTES = {I16: "i16, zigzag varint", I32: "i32, zigzag varint", I64: "i64, zigzag varint", BYTE: "i8"}
_NOTES |= {
    DOUBLE: "double, little-endian",
    UUID: "uuid, 16 bytes",
    TRUE: "bool, 1 byte",
    FALSE: "bool, 1 byte",
}


def explain_struct(data: bytes, shape: Struct, label: str = "", *, start: int = 0, base: int = 0) -> Span:
    """Explain the struct that begins at `data[start]`, as a tree whose positions are those in `data` moved by `base`.

    The tree covers the struct alone when it is whole, else all of the data. Its value is a dict by name.

    >>> kind = Struct("Pair", {1: ("first", None), 2: ("second", decode_text)})
    >>> pair = explain_struct(bytes.fromhex("15 04 18 01 61 00 ff"), kind)
    >>> pair.value, pair.end, [part.label for part in pair.children]
    ({'first': 2, 'second': 'a'}, 6, ['first', 'second', 'stop'])
    """
    tree = _Tree(data, base)
    tree.start = start
    make = partial(tree.explain_fields, start, shape, 0)
    value = Deferred(partial(tree.decode, STRUCT, start, shape, 0))
    note = f"{shape.name}, Thrift compact" if label and label != shape.name else "Thrift compact"
    return Span(base + start, base + tree.end_of(start), label or shape.name, value, note, make)


_Value = TypeVar("_Value")


class _Marker(ThriftReader):
    """Reads as the decoder does and notes where structures, lists and maps begin and end."""

    def __init__(self, data: bytes, base: int, at: int) -> None:
        super().__init__(data, base, at)
        self.starts, self.ends = array("Q"), array("Q")

    def fields(self, depth: int) -> dict[int, Any]:
        return self.mark(super().fields, depth)

    def sequence(self, depth: int) -> list[Any]:
        return self.mark(super().sequence, depth)

    def pairs(self, depth: int) -> list[tuple[Any, Any]]:
        return self.mark(super().pairs, depth)

    def mark(self, read: Callable[[int], _Value], depth: int) -> _Value:
        place = len(self.starts)
        self.starts.append(self.at)
        self.ends.append(0)
        value = read(depth)
        self.ends[place] = self.at
        return value


class _Tree:
    """The bytes of one struct, and the spans of what is in it: positions in `data` here, moved by `base` in spans."""

    start = 0

    def __init__(self, data: bytes, base: int) -> None:
        self.data, self.base = data, base

    @cached_property
    def marks(self) -> _Marker:
        marker = _Marker(self.data, self.base, self.start)
        with suppress(Corrupt):  # what could not be closed has no end; its own explanation fails again
            marker.fields(0)
        return marker

    def end_of(self, at: int) -> int:
        """Say where the structure, list or map that begins at a place ends; the end of the data when it does not."""
        starts, ends = self.marks.starts, self.marks.ends
        place = bisect_left(starts, at)
        end = ends[place] if place < len(starts) and starts[place] == at else 0
        return end or len(self.data)

    def reader(self, at: int) -> ThriftReader:
        return ThriftReader(self.data, self.base, at)

    def decode(self, kind: int, at: int, shape: Shape, depth: int) -> Any:
        reader = self.reader(at)
        return name_value(reader.fields(depth) if kind == STRUCT else reader.value(kind, depth), shape)

    def leaf(self, start: int, end: int, label: str, value: Any = None, note: str = "") -> Span:
        return Span(self.base + start, self.base + end, label, value, note)

    def explain_fields(self, at: int, shape: Shape, depth: int) -> Iterator[Span]:
        if depth > MAX_DEPTH:
            self.reader(at).fail("structures nested too deeply", expected=f"at most {MAX_DEPTH} levels")
        yield from self.explain_from(at, self.end_of(at), shape, depth, 0)

    def explain_from(self, at: int, end: int, shape: Shape, depth: int, number: int) -> Iterator[Span]:
        """Explain the fields behind field `number` and the stop; after many of them the rest is a span of its own."""
        reader, count = self.reader(at), 0
        known = shape.fields if isinstance(shape, Struct) else {}
        while header := reader.byte():
            count += 1
            if count > GROUP:
                make = partial(self.explain_from, reader.at - 1, end, shape, depth, number)
                yield Span(self.base + reader.at - 1, self.base + end, "further fields", children=make)
                return
            start, kind, delta = reader.at - 1, header & 0x0F, header >> 4
            number = number + delta if delta else reader.integer()
            if not -MAX_ID <= number <= MAX_ID:
                reader.fail("a field id of more than 16 bits", expected=f"at most {MAX_ID}", seen=number)
            name, inner = known.get(number, (f"field {number}", None))
            word = _KINDS.get(kind, f"type {kind}")
            if kind in (TRUE, FALSE):
                note = f"field {number}: bool, in the header"
                value = name_value(kind == TRUE, inner)
                yield self.leaf(start, reader.at, name, value, note)
                continue
            note = f"field {number}, {word}" + (f": {delta} after the one before" if delta else "")
            head = [self.leaf(start, start + 1, "field header", None, note)]
            if not delta:
                head.append(self.leaf(start + 1, reader.at, "field id", number, "zigzag varint"))
            yield self.explain_value(tuple(head), kind, reader, name, inner, depth, f"field {number}: ")
        yield self.leaf(reader.at - 1, reader.at, "stop", None, "end of the structure")

    def explain_value(
        self,
        head: tuple[Span, ...],
        kind: int,
        reader: ThriftReader,
        name: str,
        shape: Shape,
        depth: int,
        prefix: str = "",
    ) -> Span:
        """Explain a value with what stands before it; moves the reader behind it."""
        at = reader.at
        start = head[0].start if head else self.base + at
        if kind in (STRUCT, LIST, SET, MAP):
            make: Callable[..., Iterator[Span]] = self.explain_list if kind != STRUCT else self.explain_fields
            make = self.explain_pairs if kind == MAP else make
            reader.at = self.end_of(at)
            return Span(
                start,
                self.base + reader.at,
                name,
                Deferred(partial(self.decode, kind, at, shape, depth + 1 if kind == STRUCT else depth)),
                prefix + (shape.name if isinstance(shape, Struct) and kind == STRUCT else _KINDS[kind]),
                partial(_chain, head, make, at, shape, depth + 1),
            )
        if kind == BINARY:
            size = reader.varint()
            body = reader.at
            stored = reader.take(size)
            value = name_value(stored, shape)
            note = f"{prefix}{'text' if shape is decode_text else 'binary'}, {format_count(size, 'byte')}"
            parts = [*head, self.leaf(at, body, "length", size, "varint")]
            if size:
                parts.append(
                    self.leaf(body, reader.at, name, value, "UTF-8" if shape is decode_text else "bytes")
                )
            return Span(start, self.base + reader.at, name, value, note, tuple(parts))
        stored = reader.value(kind, depth)
        value = name_value(stored, shape)
        note = f"{prefix}{_NOTES[kind]}"
        if isinstance(shape, Enum):
            note = f"{prefix}{shape.name} {stored}, {_NOTES[kind]}"
        leaf = self.leaf(at, reader.at, name, value, note)
        return leaf if not head else Span(start, leaf.end, name, value, note, (*head, leaf))

    def explain_list(self, at: int, shape: Shape, depth: int) -> Iterator[Span]:
        reader = self.reader(at)
        header = reader.byte()
        kind, size = header & 0x0F, header >> 4
        of = f"of {_KINDS.get(kind, f'type {kind}')}"
        note = f"{format_count(size, 'element')} {of}" if size < 15 else of
        yield self.leaf(at, at + 1, "list header", None if size == 15 else size, note)
        if size == 15:
            size = reader.varint()
            yield self.leaf(at + 1, reader.at, "size", size, "varint")
        reader.check_size(size, depth)
        if size <= GROUP:
            yield from self.explain_elements(reader.at, kind, shape, depth, 0, size)
            return
        for low in range(0, size, GROUP):
            high, start = min(low + GROUP, size), reader.at
            make = partial(self.explain_elements, start, kind, shape, depth, low, high)
            failure = self.skip(reader, kind, high - low, depth)
            end = len(self.data) if failure else reader.at
            label = f"[{low:,}] to [{high - 1:,}]"
            yield Span(self.base + start, self.base + end, label, None, f"of {size:,} elements", make)
            if failure:
                raise failure

    def skip(self, reader: ThriftReader, kind: int, count: int, depth: int) -> Corrupt | None:
        """Moves the reader past `count` elements; returns the error that made it impossible."""
        try:
            for _ in range(count):
                if kind in (STRUCT, LIST, SET, MAP):
                    reader.at = self.end_of(reader.at)
                else:
                    reader.value(kind, depth)
        except Corrupt as error:
            return error
        return None

    def explain_elements(
        self, at: int, kind: int, shape: Shape, depth: int, low: int, high: int
    ) -> Iterator[Span]:
        reader = self.reader(at)
        for i in range(low, high):
            yield self.explain_value((), kind, reader, f"[{i}]", element_shape(shape, i), depth)

    def explain_pairs(self, at: int, shape: Shape, depth: int) -> Iterator[Span]:
        reader = self.reader(at)
        size = reader.varint()
        yield self.leaf(at, reader.at, "size", size, "varint")
        reader.check_size(size, depth)
        if size:
            kinds = reader.byte()
            yield self.leaf(reader.at - 1, reader.at, "types", kinds, "of keys and of values")
            yield from self.pair_up(reader.at, self.end_of(at), kinds, depth, 0, size)

    def pair_up(self, at: int, end: int, kinds: int, depth: int, low: int, size: int) -> Iterator[Span]:
        reader = self.reader(at)
        for i in range(low, min(low + GROUP, size)):
            yield self.explain_value((), kinds >> 4, reader, f"key {i}", None, depth)
            yield self.explain_value((), kinds & 0x0F, reader, f"value {i}", None, depth)
        if low + GROUP < size:
            make = partial(self.pair_up, reader.at, end, kinds, depth, low + GROUP, size)
            yield Span(self.base + reader.at, self.base + end, "further pairs", children=make)


def _chain(
    head: tuple[Span, ...], make: Callable[..., Iterator[Span]], at: int, shape: Shape, depth: int
) -> Iterator[Span]:
    yield from head
    yield from make(at, shape, depth)
