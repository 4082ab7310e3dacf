"""Rewrites Parquet footers to what old writers left: Thrift's compact protocol, decoded and encoded with its type codes.

A struct is `{field id: [type, value]}`, a list `(element type, [values])`, an integer an int, a binary bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

BINARY, LIST, STRUCT, I64, I32 = 8, 9, 12, 6, 5
SCHEMA, GROUPS, CREATED_BY = 2, 4, 6
COLUMNS, METADATA, STATISTICS = 1, 3, 12
MAX, MIN, NULLS, MAX_VALUE, MIN_VALUE = 1, 2, 3, 5, 6


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3 or kind == 7:
            size = 1 if kind == 3 else 8
            self.at += size
            return self.data[self.at - size : self.at]
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == BINARY:
            size = self.varint()
            self.at += size
            return self.data[self.at - size : self.at]
        if kind in (LIST, 10):
            head = self.data[self.at]
            self.at += 1
            size, inner = head >> 4, head & 15
            size = self.varint() if size == 15 else size
            if inner in (1, 2):
                self.at += size
                return inner, list(self.data[self.at - size : self.at])
            return inner, [self.value(inner) for _ in range(size)]
        return self.struct()

    def struct(self) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = {}
        last = 0
        while head := self.data[self.at]:
            self.at += 1
            kind, delta = head & 15, head >> 4
            last = last + delta if delta else self.zigzag()
            found[last] = [kind, self.value(kind)]
        self.at += 1
        return found


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _zigzag(value: int) -> bytes:
    return _varint(value * 2 if value >= 0 else -value * 2 - 1)


def _encode(kind: int, value: Any) -> bytes:
    if kind in (1, 2):
        return b""
    if kind in (3, 7):
        return bytes(value)
    if kind in (4, 5, 6):
        return _zigzag(value)
    if kind == BINARY:
        return _varint(len(value)) + bytes(value)
    if kind in (LIST, 10):
        inner, parts = value
        head = (
            bytes([len(parts) << 4 | inner])
            if len(parts) < 15
            else bytes([0xF0 | inner]) + _varint(len(parts))
        )
        body = bytes(parts) if inner in (1, 2) else b"".join(_encode(inner, part) for part in parts)
        return head + body
    out, last = b"", 0
    for number in sorted(value):
        kind, part = value[number]
        if kind in (1, 2):
            kind = 1 if part else 2
        delta = number - last
        out += bytes([delta << 4 | kind]) if 0 < delta < 16 else bytes([kind]) + _zigzag(number)
        out += _encode(kind, part)
        last = number
    return out + b"\0"


def rewrite_footer(path: Path, change: Callable[[dict[int, list[Any]]], None]) -> int:
    """Changes a file's footer in place; gives its new length."""
    data = path.read_bytes()
    (size,) = struct.unpack("<I", data[-8:-4])
    footer = _Reader(data[-8 - size : -8]).struct()
    change(footer)
    made = _encode(STRUCT, footer)
    path.write_bytes(data[: -8 - size] + made + struct.pack("<I", len(made)) + b"PAR1")
    return path.stat().st_size


def list_statistics(footer: dict[int, list[Any]], leaf: int) -> list[dict[int, list[Any]]]:
    """The statistics of one leaf in each row group, made where there are none."""
    found = []
    for group in footer[GROUPS][1][1]:
        metadata = group[COLUMNS][1][1][leaf][METADATA][1]
        found.append(metadata.setdefault(STATISTICS, [STRUCT, {}])[1])
    return found


def sign(footer: dict[int, list[Any]], created_by: str) -> None:
    """Names another writer."""
    footer[CREATED_BY] = [BINARY, created_by.encode()]
