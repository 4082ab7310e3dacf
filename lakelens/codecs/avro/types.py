"""Avro types, for the explaining path: where a value ends, and what it is.

One value, see "Binary Encoding" of the Avro 1.12 specification::

    null     nothing                      boolean      one byte                  record  its fields in order
    int, long, enum  zigzag varint        float        4 bytes LE, double 8      fixed   its bytes
    string, bytes    long size, bytes     array, map   { long count, [long size if count < 0], items } 0
    union    long branch, value           zigzag       0 -1 1 -2 2 … as 0 1 2 3 4 …, 7 bits to a byte, lowest first

`avro.schema` makes types of a schema. Independent of `avro.records`, which decodes with a library; a test compares the
two. Refused: values nested deeper than 200, numbers of more than 64 bits, branches and symbols that are not there,
counts and sizes beyond the end.
"""

from __future__ import annotations

import struct
from typing import Any

from lakelens.codecs.span.span import Octets
from lakelens.errors import Corrupt

MAX_LEVELS = 200  # of values: types that contain themselves have no depth of their own


def read_long(data: Octets, at: int, end: int, what: str = "number") -> tuple[int, int]:
    """Read the zigzag number at `at` and the byte after it. Raises `Corrupt` when it is cut short or has more than 64 bits.

    >>> read_long(bytes([0x8F, 0x01]), 0, 2)
    (-72, 2)
    """
    if at < end and (byte := data[at]) < 0x80:  # most numbers
        return (byte >> 1) ^ -(byte & 1), at + 1
    value = shift = 0
    for position in range(at, min(at + 10, end)):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                seen = bytes(data[at : position + 1]).hex()
                raise Corrupt(f"{what} of more than 64 bits", offset=at, seen=seen)
            return (value >> 1) ^ -(value & 1), position + 1
        shift += 7
    raise Corrupt(f"{what} {'longer than 10 bytes' if at + 10 <= end else 'cut short'}", offset=at)


class AvroType:
    """One type. `name` is the specification's word, `words` adds the logical type, `size` is set where it never varies.

    `logical` is the logical type, `scale` that of a decimal.
    """

    __slots__ = ("logical", "name", "scale", "size", "words")

    def __init__(self, name: str, words: str = "", size: int | None = None) -> None:
        self.name = name
        self.words = words or name
        self.size = size
        self.logical = ""
        self.scale = 0

    def parts(self) -> tuple[AvroType, ...]:
        """The types inside."""
        return ()

    def skip(self, data: Octets, at: int, end: int, level: int = 0) -> int:
        """Skip the byte after the value at `at`. Raises `Corrupt` with the byte that is wrong."""
        assert self.size is not None
        return self.take(at, self.size, end)

    def decode(self, data: Octets, at: int, end: int, level: int = 0) -> tuple[Any, int]:
        """Decode the value at `at`, as stored, and the byte after it. Raises `Corrupt`."""
        raise NotImplementedError

    def take(self, at: int, size: int, end: int) -> int:
        """Take the byte `size` bytes on. Raises `Corrupt` beyond the end."""
        if not 0 <= size <= end - at:
            seen = f"{end - at} bytes"
            raise Corrupt(f"{self.name} cut short", offset=at, expected=f"{size} bytes", seen=seen)
        return at + size

    def descend(self, at: int, level: int) -> int:
        """One level deeper. Raises `Corrupt` for values nested too deeply."""
        if level >= MAX_LEVELS:
            raise Corrupt("Avro value nested too deeply", offset=at, expected=f"at most {MAX_LEVELS} levels")
        return level + 1


class NullType(AvroType):
    """No value, and no byte."""

    __slots__ = ()

    def __init__(self, name: str = "null", words: str = "") -> None:
        super().__init__(name, words, 0)

    def decode(self, data: Octets, at: int, end: int, level: int = 0) -> tuple[Any, int]:
        """None."""
        return None, at


class PlainType(AvroType):
    """boolean, float and double: a fixed number of bytes."""

    __slots__ = ("_layout",)

    def __init__(self, name: str, words: str = "") -> None:
        self._layout = {"boolean": "<?", "float": "<f", "double": "<d"}[name]
        super().__init__(name, words, struct.calcsize(self._layout))

    def decode(self, data: Octets, at: int, end: int, level: int = 0) -> tuple[Any, int]:
        """Decode the number; any byte but 0 is true."""
        stop = self.skip(data, at, end)
        return struct.unpack(self._layout, bytes(data[at:stop]))[0], stop


class NumberType(AvroType):
    """int and long: a varint."""

    __slots__ = ()

    @property
    def bits(self) -> int:
        """32 or 64."""
        return 32 if self.name == "int" else 64

    def skip(self, data: Octets, at: int, end: int, level: int = 0) -> int:
        """Skip the byte after the number."""
        if at < end and data[at] < 0x80:
            return at + 1
        return read_long(data, at, end)[1]

    def decode(self, data: Octets, at: int, end: int, level: int = 0) -> tuple[Any, int]:
        """Decode the number."""
        return read_long(data, at, end)


class EnumType(AvroType):
    """enum: the position of a symbol."""

    __slots__ = ("symbols",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.symbols: list[Any] = []

    def skip(self, data: Octets, at: int, end: int, level: int = 0) -> int:
        """Skip the byte after the position."""
        return self.decode(data, at, end)[1]

    def decode(self, data: Octets, at: int, end: int, level: int = 0) -> tuple[Any, int]:
        """Decode the symbol."""
        index, stop = read_long(data, at, end)
        if not 0 <= index < len(self.symbols):
            expected = f"0 to {len(self.symbols) - 1}"
            raise Corrupt("no symbol of the enum", offset=at, expected=expected, seen=index)
        return self.symbols[index], stop


class SizedType(AvroType):
    """string and bytes: their size, then the bytes."""

    __slots__ = ()

    @property
    def is_text(self) -> bool:
        """Whether it is a string."""
        return self.name == "string"

    def skip(self, data: Octets, at: int, end: int, level: int = 0) -> int:
        """Skip the byte after the content."""
        size, start = read_long(data, at, end, "size")
        if not 0 <= size <= end - start:
            expected, seen = f"at most {end - start} bytes", f"{size} bytes"
            raise Corrupt(f"{self.words} cut short", offset=at, expected=expected, seen=seen)
        return start + size

    def decode(self, data: Octets, at: int, end: int, level: int = 0) -> tuple[Any, int]:
        """Decode the text or the bytes."""
        stop = self.skip(data, at, end)
        _, start = read_long(data, at, end)
        content = bytes(data[start:stop])
        return decode_text(content, start) if self.is_text else content, stop


class FixedType(AvroType):
    """fixed: its bytes."""

    __slots__ = ()

    def decode(self, data: Octets, at: int, end: int, level: int = 0) -> tuple[Any, int]:
        """Decode the bytes."""
        stop = self.skip(data, at, end)
        return bytes(data[at:stop]), stop


class UnionType(AvroType):
    """union: the position of a branch, then its value."""

    __slots__ = ("branches",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.branches: list[AvroType] = []

    def parts(self) -> tuple[AvroType, ...]:
        """The branches."""
        return tuple(self.branches)

    def choose(self, data: Octets, at: int, end: int) -> tuple[int, int]:
        """The position of the branch and the byte where its value starts. Raises `Corrupt` for one that is not there."""
        index, start = read_long(data, at, end, "union branch")
        if not 0 <= index < len(self.branches):
            expected = f"0 to {len(self.branches) - 1}"
            raise Corrupt("no branch of the union", offset=at, expected=expected, seen=index)
        return index, start

    def skip(self, data: Octets, at: int, end: int, level: int = 0) -> int:
        """Skip the byte after the value."""
        index, start = self.choose(data, at, end)
        return self.branches[index].skip(data, start, end, self.descend(at, level))

    def decode(self, data: Octets, at: int, end: int, level: int = 0) -> tuple[Any, int]:
        """Decode the value of the branch."""
        index, start = self.choose(data, at, end)
        return self.branches[index].decode(data, start, end, self.descend(at, level))


class ItemsType(AvroType):
    """array and map: blocks of items, each with its count; a count of 0 ends them. Items of a map begin with their key."""

    __slots__ = ("items", "key")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.items: AvroType = NullType()
        self.key = SizedType("string", "key")

    @property
    def is_map(self) -> bool:
        """Whether each item begins with a key."""
        return self.name == "map"

    def parts(self) -> tuple[AvroType, ...]:
        """The items."""
        return (self.items,)

    def count(self, data: Octets, at: int, end: int) -> tuple[int, int | None, int, int]:
        """Give the head of a block: count of items, their size as recorded, where that size is, where the items start.

        Raises `Corrupt` for more items than there are bytes.
        """
        count, middle = read_long(data, at, end, "count of items")
        size, start = None, middle
        if count < 0:
            count = -count
            size, start = read_long(data, middle, end, "size of a block")
        limit = end - start  # no item takes less than a byte
        if count > limit:
            raise Corrupt("absurd count of items", offset=at, expected=f"at most {limit}", seen=count)
        return count, size, middle, start

    def skip(self, data: Octets, at: int, end: int, level: int = 0) -> int:
        """Skip the byte after the last block."""
        level, size = self.descend(at, level), None if self.is_map else self.items.size
        while True:
            count, _, _, start = self.count(data, at, end)
            if count == 0:
                return start
            at = start
            if size is not None:
                at = self.take(at, count * size, end)
                continue
            for _ in range(count):
                at = self.skip_key(data, at, end)
                at = self.items.skip(data, at, end, level)

    def skip_key(self, data: Octets, at: int, end: int) -> int:
        """Skip the byte where the value of an item starts."""
        return self.key.skip(data, at, end) if self.is_map else at

    def decode(self, data: Octets, at: int, end: int, level: int = 0) -> tuple[Any, int]:
        """Decode a list, or a dict for a map."""
        level = self.descend(at, level)
        values: list[Any] = []
        keys: list[str | bytes] = []
        while True:
            count, _, _, at = self.count(data, at, end)
            if count == 0:
                return (dict(zip(keys, values, strict=True)) if self.is_map else values), at
            for _ in range(count):
                if self.is_map:
                    key, at = self.key.decode(data, at, end)
                    keys.append(key)
                value, at = self.items.decode(data, at, end, level)
                values.append(value)


class RecordType(AvroType):
    """record: its fields in order, (name, type, field id or None)."""

    __slots__ = ("fields",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.fields: list[tuple[str, AvroType, int | None]] = []

    def parts(self) -> tuple[AvroType, ...]:
        """The types of the fields."""
        return tuple(kind for _, kind, _ in self.fields)

    def skip(self, data: Octets, at: int, end: int, level: int = 0) -> int:
        """Skip the byte after the last field."""
        if self.size is not None:
            return self.take(at, self.size, end)
        level = self.descend(at, level)
        for _, kind, _ in self.fields:
            at = kind.skip(data, at, end, level)
        return at

    def decode(self, data: Octets, at: int, end: int, level: int = 0) -> tuple[Any, int]:
        """Decode a dict by field name."""
        level, values = self.descend(at, level), {}
        for name, kind, _ in self.fields:
            values[name], at = kind.decode(data, at, end, level)
        return values, at


def decode_text(content: bytes, at: int) -> str:
    """UTF-8 text, which is at `at`. Raises `Corrupt` with the byte.

    >>> decode_text(b"a", 0)
    'a'
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        seen = content[error.start : error.start + 8].hex()
        raise Corrupt("text that is not UTF-8", offset=at + error.start, seen=seen) from None
