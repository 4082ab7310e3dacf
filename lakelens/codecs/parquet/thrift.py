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
from typing import Any, NoReturn

from lakelens.errors import Corrupt

STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(14)
MAX_DEPTH = 40
#: Field ids have 16 bits: so no structure of any size has more fields.
MAX_ID = (1 << 15) - 1


def decode_struct(data: bytes, *, base: int = 0) -> dict[int, Any]:
    """The struct that `data` begins with, as a dict by field id. `base` is where `data` starts in its file.

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

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
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
        while header := self.take(1)[0]:
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
            return self.take(1)[0] == TRUE
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
        header = self.take(1)[0]
        kind, size = header & 0x0F, header >> 4
        size = self.varint() if size == 15 else size
        self.check_size(size, depth)
        return [self.value(kind, depth) for _ in range(size)]

    def pairs(self, depth: int) -> list[tuple[Any, Any]]:
        size = self.varint()
        self.check_size(size, depth)
        kinds = self.take(1)[0] if size else 0
        return [(self.value(kinds >> 4, depth), self.value(kinds & 0x0F, depth)) for _ in range(size)]

    def check_size(self, size: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            self.fail("structures nested too deeply", expected=f"at most {MAX_DEPTH} levels")
        if size > len(self.data) - self.at:  # every element takes a byte or more
            self.fail(
                "a list longer than the footer", expected=f"at most {len(self.data) - self.at}", seen=size
            )
