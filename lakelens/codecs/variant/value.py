"""Variant: a JSON-like value in two binary parts, as Paimon, Spark, Parquet and Iceberg share it.

Layout, see "Variant Binary Encoding" in the Parquet format repository (everything little-endian)::

    metadata   header: version 1 in bits 0-3, sorted bit 4, offset size - 1 in bits 6-7
               | count | count + 1 offsets | the names of all keys, UTF-8
    value      1 byte: basic type in bits 0-1, then 6 bits of header
               0 primitive (header = type id) | 1 short string (header = length)
               2 object: | count | field ids | count + 1 offsets | values      3 array: | count | offsets | values

Refused as `Corrupt`: other versions, offsets outside, nesting deeper than 64, values that overlap.
"""

from __future__ import annotations

import struct
import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lakelens.codecs.span.span import Octets
from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)
from lakelens.errors import Corrupt

MAX_DEPTH = 64
#: Values that have a length of 4 bytes after their header.
LONG = {15: "binary", 16: "string"}
#: Type id: name, and bytes after the header.
PRIMITIVES = {
    0: ("null", 0),
    1: ("true", 0),
    2: ("false", 0),
    3: ("int8", 1),
    4: ("int16", 2),
    5: ("int32", 4),
    6: ("int64", 8),
    7: ("double", 8),
    8: ("decimal4", 5),
    9: ("decimal8", 9),
    10: ("decimal16", 17),
    11: ("date", 4),
    12: ("timestamp", 8),
    13: ("timestamp without zone", 8),
    14: ("float", 4),
    17: ("time", 8),
    18: ("timestamp of nanoseconds", 8),
    19: ("timestamp of nanoseconds without zone", 8),
    20: ("uuid", 16),
}


@dataclass(frozen=True, slots=True)
class Variant:
    """The two parts of a variant, as they were written."""

    value: bytes
    metadata: bytes

    def to_python(self) -> Any:
        """The value as dict, list, str, numbers, dates: what JSON and SQL would show.

        Raises `Corrupt` with the byte of the value, or of the metadata, that is wrong.

        >>> Variant(bytes.fromhex("02010000020c01"), bytes.fromhex("0101000161")).to_python()
        {'a': 1}
        """
        names = decode_names(self.metadata, 0, len(self.metadata))
        return _Decoder(self.value, names).decode(0, 0)


# -- the layouts, at absolute positions


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the keys in metadata: `count + 1` offsets of `size` bytes at `offsets`, then `text` up to `end`."""

    size: int
    count: int
    offsets: int
    text: int
    end: int


def read_uints(data: Octets, start: int, size: int, count: int) -> list[int]:
    """Unsigned numbers of `size` bytes side by side."""
    content = data[start : start + count * size]
    return [int.from_bytes(content[i : i + size], "little") for i in range(0, count * size, size)]


def read_head(data: Octets, start: int, end: int) -> Names:
    """The head of the metadata from `start` to `end`, whose offsets are all there. Raises `Corrupt`."""
    if end - start < 1:
        raise Corrupt("variant metadata cut short", offset=start, expected="1 byte", seen="0 bytes")
    header = data[start]
    if header & 0x0F != 1:
        raise Corrupt("unknown version of variant metadata", offset=start, expected="1", seen=header & 0x0F)
    size = (header >> 6) + 1
    offsets = start + 1 + size
    count = int.from_bytes(data[start + 1 : min(offsets, end)], "little")
    text = offsets + (count + 1) * size
    if text > end:
        expected, seen = f"{text - start} bytes", f"{end - start} bytes"
        raise Corrupt("variant metadata cut short", offset=start, expected=expected, seen=seen)
    return Names(size, count, offsets, text, end)


def place_names(data: Octets, head: Names) -> list[int]:
    """Where each name starts, and where the last one ends. Raises `Corrupt` at the first that is not inside."""
    places = [head.text + end for end in read_uints(data, head.offsets, head.size, head.count + 1)]
    for i in range(head.count):
        if not places[i] <= places[i + 1] <= head.end:
            seen = f"bytes {places[i]} to {places[i + 1]}"
            raise Corrupt("variant key outside the metadata", offset=head.offsets + i * head.size, seen=seen)
    return places


def decode_names(data: Octets, start: int, end: int) -> tuple[str, ...]:
    """The keys that the metadata from `start` to `end` holds. Raises `Corrupt`."""
    places = place_names(data, head := read_head(data, start, end))
    return tuple(decode_text(data, places[i], places[i + 1]) for i in range(head.count))


def decode_text(data: Octets, start: int, end: int) -> str:
    """The UTF-8 text from one position to another. Raises `Corrupt`."""
    content = bytes(data[start:end])
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Corrupt("text is not UTF-8", offset=start + error.start, seen=content.hex()) from None


@dataclass(frozen=True, slots=True)
class Container:
    """Where the parts of an object or array are; an array has no field ids."""

    start: int
    count: int
    ids: int
    id_size: int
    offsets: int
    offset_size: int
    values: int


def read_container(data: Octets, start: int, limit: int) -> Container:
    """The parts of the object or array at `start`, as far as its values. Raises `Corrupt`."""
    is_object, header = data[start] & 3 == 2, data[start] >> 2
    offset_size = (header & 3) + 1
    id_size = (header >> 2 & 3) + 1 if is_object else 0
    count_size = 4 if header >> (4 if is_object else 2) & 1 else 1
    require(start + 1, count_size, limit)
    ids = start + 1 + count_size
    count = int.from_bytes(data[start + 1 : ids], "little")
    offsets = ids + count * id_size
    values = offsets + (count + 1) * offset_size
    require(ids, values - ids, limit)
    return Container(start, count, ids, id_size, offsets, offset_size, values)


def find_name(names: tuple[str, ...], key: int, offset: int) -> str:
    """The name of a key whose id is at `offset`. Raises `Corrupt`."""
    if key >= len(names):
        raise Corrupt("variant key not in the metadata", offset=offset, seen=f"{key} of {len(names)}")
    return names[key]


def require(offset: int, size: int, limit: int) -> None:
    """Raises `Corrupt` unless `size` bytes from `offset` end before the limit."""
    if offset + size > limit:
        seen = f"{max(limit - offset, 0)} bytes"
        raise Corrupt("variant value cut short", offset=offset, expected=f"{size} bytes", seen=seen)


# -- values


class _Decoder:
    """Decodes the values in some bytes, never giving more than these bytes can hold."""

    def __init__(self, data: bytes, names: tuple[str, ...]) -> None:
        self.data, self.names, self.left = data, names, len(data)

    def take(self, offset: int, size: int) -> bytes:
        require(offset, size, len(self.data))
        self.left -= size
        if self.left < 0:
            raise Corrupt("variant values overlap", offset=offset)
        return self.data[offset : offset + size]

    def decode(self, offset: int, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Corrupt("variant nested too deeply", offset=offset, expected=f"at most {MAX_DEPTH} levels")
        head = self.take(offset, 1)[0]
        basic, header = head & 3, head >> 2
        if basic >= 2:
            return self.decode_container(offset, depth)
        if basic == 1:
            self.take(offset + 1, header)
            return decode_text(self.data, offset + 1, offset + 1 + header)
        if header in LONG:
            size = int.from_bytes(self.take(offset + 1, 4), "little")
            content = self.take(offset + 5, size)
            return decode_text(self.data, offset + 5, offset + 5 + size) if header == 16 else content
        if header not in PRIMITIVES:
            raise Corrupt("unknown type of variant value", offset=offset, expected="0 to 20", seen=header)
        return _decode_primitive(header, self.take(offset + 1, PRIMITIVES[header][1]))

    def decode_container(self, offset: int, depth: int) -> dict[str, Any] | list[Any]:
        found = read_container(self.data, offset, len(self.data))
        self.take(offset + 1, found.values - offset - 1)
        starts = read_uints(self.data, found.offsets, found.offset_size, found.count)
        if not found.id_size:
            return [self.decode(found.values + start, depth + 1) for start in starts]
        result = {}
        keys = read_uints(self.data, found.ids, found.id_size, found.count)
        for i, (key, start) in enumerate(zip(keys, starts, strict=True)):
            name = find_name(self.names, key, found.ids + i * found.id_size)
            result[name] = self.decode(found.values + start, depth + 1)
        return result


def _decode_primitive(kind: int, content: bytes) -> Any:
    match kind:
        case 0 | 1 | 2:
            return (None, True, False)[kind]
        case 7 | 14:
            return struct.unpack("<d" if kind == 7 else "<f", content)[0]
        case 8 | 9 | 10:
            return Decimal(f"{int.from_bytes(content[1:], 'little', signed=True)}E-{content[0]}")
        case 20:
            return uuid.UUID(bytes=content)
    count = int.from_bytes(content, "little", signed=True)
    match kind:
        case 11:
            return date_from_days(count)
        case 12 | 13:
            return timestamp_from_micros(count, utc=kind == 12)
        case 17:
            return time_from_micros(count)
        case 18 | 19:
            return timestamp_from_nanos(count, utc=kind == 18)
    return count
