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
from datetime import date
from decimal import Context, Decimal
from typing import Any

from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)
from lakelens.errors import Corrupt

MAX_DEPTH = 64
_EXACT = Context(prec=100)
_INTEGERS = {3: 1, 4: 2, 5: 4, 6: 8}
_DECIMALS = {8: 4, 9: 8, 10: 16}
_TIMESTAMPS = {12: (True, False), 13: (False, False), 18: (True, True), 19: (False, True)}  # id: (utc, nanos)


@dataclass(frozen=True, slots=True)
class Variant:
    """The two parts of a variant, as they were written."""

    value: bytes
    metadata: bytes

    def to_python(self) -> Any:
        """Give the value as dict, list, str, numbers, dates: what JSON and SQL would show.

        Raises `Corrupt` with the byte of the value, or of the metadata, that is wrong.

        >>> Variant(bytes.fromhex("02010000020c01"), bytes.fromhex("0101000161")).to_python()
        {'a': 1}
        """
        names = _decode_names(self.metadata)
        return _Decoder(self.value, names).decode(0, 0)


def _read_uint(data: bytes, offset: int, size: int, where: str) -> int:
    if offset + size > len(data):
        expected = f"{size} bytes"
        raise Corrupt(
            f"variant {where} cut short", offset=offset, expected=expected, seen=f"{len(data) - offset} bytes"
        )
    return int.from_bytes(data[offset : offset + size], "little")


def _decode_names(metadata: bytes) -> list[str]:
    header = _read_uint(metadata, 0, 1, "metadata")
    if header & 0x0F != 1:
        raise Corrupt("unknown version of variant metadata", offset=0, expected="1", seen=header & 0x0F)
    size = (header >> 6) + 1
    count = _read_uint(metadata, 1, size, "metadata")
    first = 1 + size
    start = first + (count + 1) * size
    if start > len(metadata):
        raise Corrupt(
            "variant metadata cut short", offset=1, expected=f"{start} bytes", seen=f"{len(metadata)} bytes"
        )
    ends = [_read_uint(metadata, first + i * size, size, "metadata") for i in range(count + 1)]
    names = []
    for i in range(count):
        low, high = start + ends[i], start + ends[i + 1]
        if not low <= high <= len(metadata):
            raise Corrupt(
                "variant key outside the metadata", offset=first + i * size, seen=f"bytes {low} to {high}"
            )
        names.append(_decode_text(metadata, low, high))
    return names


def _decode_text(data: bytes, start: int, end: int) -> str:
    try:
        return data[start:end].decode("utf-8")
    except UnicodeDecodeError as error:
        raise Corrupt("text is not UTF-8", offset=start + error.start, seen=data[start:end].hex()) from None


class _Decoder:
    def __init__(self, data: bytes, names: list[str]) -> None:
        self.data = data
        self.names = names
        self.left = len(data)

    def spend(self, size: int, offset: int) -> None:
        self.left -= size
        if self.left < 0:
            raise Corrupt("variant values overlap", offset=offset)

    def take(self, offset: int, size: int) -> bytes:
        if offset + size > len(self.data):
            seen = f"{max(len(self.data) - offset, 0)} bytes"
            raise Corrupt("variant value cut short", offset=offset, expected=f"{size} bytes", seen=seen)
        self.spend(size, offset)
        return self.data[offset : offset + size]

    def decode(self, offset: int, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Corrupt("variant nested too deeply", offset=offset, expected=f"at most {MAX_DEPTH} levels")
        head = self.take(offset, 1)[0]
        basic, header = head & 3, head >> 2
        if basic == 0:
            return self.decode_primitive(header, offset + 1)
        if basic == 1:
            self.take(offset + 1, header)
            return _decode_text(self.data, offset + 1, offset + 1 + header)
        if basic == 2:
            return self.decode_object(header, offset + 1, depth)
        return self.decode_array(header, offset + 1, depth)

    def decode_primitive(self, kind: int, offset: int) -> Any:
        if kind <= 2:
            return (None, True, False)[kind]
        if kind in _INTEGERS:
            return int.from_bytes(self.take(offset, _INTEGERS[kind]), "little", signed=True)
        if kind in _DECIMALS:
            scale = self.take(offset, 1)[0]
            unscaled = int.from_bytes(self.take(offset + 1, _DECIMALS[kind]), "little", signed=True)
            return Decimal(unscaled).scaleb(-scale, _EXACT)
        if kind in _TIMESTAMPS:
            utc, nanos = _TIMESTAMPS[kind]
            count = int.from_bytes(self.take(offset, 8), "little", signed=True)
            return timestamp_from_nanos(count, utc) if nanos else timestamp_from_micros(count, utc)
        match kind:
            case 7:
                return struct.unpack("<d", self.take(offset, 8))[0]
            case 14:
                return struct.unpack("<f", self.take(offset, 4))[0]
            case 11:
                days: date = date_from_days(int.from_bytes(self.take(offset, 4), "little", signed=True))
                return days
            case 17:
                return time_from_micros(int.from_bytes(self.take(offset, 8), "little", signed=True))
            case 20:
                return uuid.UUID(bytes=self.take(offset, 16))
            case 15 | 16:
                size = int.from_bytes(self.take(offset, 4), "little")
                content = self.take(offset + 4, size)
                return content if kind == 15 else _decode_text(self.data, offset + 4, offset + 4 + size)
        raise Corrupt("unknown type of variant value", offset=offset - 1, expected="0 to 20", seen=kind)

    def decode_object(self, header: int, offset: int, depth: int) -> dict[str, Any]:
        offset_size, id_size = (header & 3) + 1, (header >> 2 & 3) + 1
        count_size = 4 if header >> 4 & 1 else 1
        count = int.from_bytes(self.take(offset, count_size), "little")
        ids = offset + count_size
        offsets = ids + count * id_size
        values = offsets + (count + 1) * offset_size
        self.take(ids, values - ids)
        result = {}
        for i in range(count):
            key = _read_uint(self.data, ids + i * id_size, id_size, "value")
            if key >= len(self.names):
                seen = f"{key} of {len(self.names)}"
                raise Corrupt("variant key not in the metadata", offset=ids + i * id_size, seen=seen)
            start = _read_uint(self.data, offsets + i * offset_size, offset_size, "value")
            result[self.names[key]] = self.decode(values + start, depth + 1)
        return result

    def decode_array(self, header: int, offset: int, depth: int) -> list[Any]:
        offset_size = (header & 3) + 1
        count_size = 4 if header >> 2 & 1 else 1
        count = int.from_bytes(self.take(offset, count_size), "little")
        offsets = offset + count_size
        values = offsets + (count + 1) * offset_size
        self.take(offsets, values - offsets)
        starts = [
            _read_uint(self.data, offsets + i * offset_size, offset_size, "value") for i in range(count)
        ]
        return [self.decode(values + start, depth + 1) for start in starts]
