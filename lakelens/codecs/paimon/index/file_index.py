"""Paimon's file index: the container of a `.index` file or of `_EMBEDDED_FILE_INDEX`, and the heads of the indexes in it.

    magic i64 | version i32 (1) | head length i32 | column count i32
    per column: name | index count i32 | per index: type name | start i32 | length i32
    redundant length i32 | that many bytes | body: the indexes

Everything is big-endian; names are Java `writeUTF` (u16 length, modified UTF-8); `start` counts from byte 0 of the
container, -1 is an empty index. Follows Paimon's "File Index" specification. Refused with `Corrupt` and the offset: another
magic, counts and lengths that do not fit, an index outside the container; `Unsupported`: another version.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from lakelens.errors import Corrupt, Unsupported

MAGIC = 1493475289347502
VERSION = 1
EMPTY = -1


@dataclass(frozen=True, slots=True)
class Index:
    """One index of one column. `start` is its byte in the container (None when `empty`), `length` its size in bytes.

    `facts` is what the head of the index tells, by name; empty for types that are not known.
    """

    type: str
    start: int | None
    length: int
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """True when the writer had nothing to index."""
        return self.start is None


@dataclass(frozen=True, slots=True)
class IndexedColumn:
    """One column and its indexes in file order."""

    name: str
    indexes: tuple[Index, ...]


@dataclass(frozen=True, slots=True)
class FileIndex:
    """A file index: `head_length` bytes of head, then the indexes."""

    version: int
    head_length: int
    columns: tuple[IndexedColumn, ...]


def decode_file_index(data: bytes, *, path: str | None = None) -> FileIndex:
    """The columns and indexes in a file-index container. Raises `Corrupt` or `Unsupported`.

    >>> head = (1493475289347502).to_bytes(8, "big") + bytes.fromhex("00000001 00000018 00000000 00000000")
    >>> decode_file_index(head)
    FileIndex(version=1, head_length=24, columns=())
    """
    reader = _Reader(data, path)
    magic = reader.number(">q", "the magic")
    if magic != MAGIC:
        reader.fail("not a Paimon file index", 0, expected=f"magic {MAGIC}", seen=magic)
    version = reader.number(">i", "the version")
    if version != VERSION:
        raise Unsupported(f"version {version} of Paimon's file index", path=path)
    at = reader.at
    head_length = reader.number(">i", "the head length")
    if not reader.at < head_length <= len(data):
        reader.fail("a head length that does not fit", at, expected=f"up to {len(data)}", seen=head_length)
    head = _Reader(data[:head_length], path, reader.at)
    columns = []
    for _ in range(head.count("columns", 6)):
        name = head.text("a column's name")
        indexes = [_decode_index(head, data) for _ in range(head.count("indexes", 10))]
        columns.append(IndexedColumn(name, tuple(indexes)))
    head.take(head.count("redundant bytes", 1), "the redundant bytes")
    return FileIndex(version, head_length, tuple(columns))


def _decode_index(head: _Reader, data: bytes) -> Index:
    kind = head.text("an index's type")
    at = head.at
    start = head.number(">i", "an index's start")
    length = head.number(">i", "an index's length")
    if start == EMPTY:
        return Index(kind, None, max(0, length))
    if start < len(head.data) or length < 0 or start + length > len(data):
        head.fail(
            f"a {kind} index outside the container",
            at,
            expected=f"bytes {len(head.data)} to {len(data)}",
            seen=f"{start} + {length}",
        )
    decode = _HEADS.get(kind)
    body = _Reader(data[: start + length], head.path, start)
    return Index(kind, start, length, decode(body, length) if decode else {})


def _bloom_filter(body: _Reader, length: int) -> dict[str, Any]:
    return {"hash_functions": body.number(">i", "a bloom filter"), "bits": (length - 4) * 8}


def _bitmap(body: _Reader, length: int) -> dict[str, Any]:
    facts = {
        "version": body.number(">b", "a bitmap index"),
        "rows": body.number(">i", "a bitmap index"),
        "distinct_values": body.number(">i", "a bitmap index"),
    }
    return facts | {"has_null": body.number(">b", "a bitmap index") != 0}


def _bsi(body: _Reader, length: int) -> dict[str, Any]:
    facts = {"version": body.number(">b", "a bsi index"), "rows": body.number(">i", "a bsi index")}
    return facts | {"has_positive": body.number(">b", "a bsi index") != 0}


def _range_bitmap(body: _Reader, length: int) -> dict[str, Any]:
    body.number(">i", "a range-bitmap index")
    return {
        "version": body.number(">b", "a range-bitmap index"),
        "rows": body.number(">i", "a range-bitmap index"),
        "distinct_values": body.number(">i", "a range-bitmap index"),
    }


_HEADS = {"bloom-filter": _bloom_filter, "bitmap": _bitmap, "bsi": _bsi, "range-bitmap": _range_bitmap}


class _Reader:
    """Takes big-endian values one after the other and knows where each began."""

    def __init__(self, data: bytes, path: str | None, at: int = 0) -> None:
        self.data, self.path, self.at = data, path, at

    def fail(self, message: str, at: int, *, expected: object = None, seen: object = None) -> NoReturn:
        raise Corrupt(message, path=self.path, offset=at, expected=expected, seen=seen)

    def take(self, size: int, what: str) -> bytes:
        data = self.data[self.at : self.at + size]
        if len(data) < size:
            self.fail(
                f"a file index ends inside {what}",
                self.at,
                expected=f"{size} bytes",
                seen=f"{len(data)} bytes",
            )
        self.at += size
        return data

    def number(self, layout: str, what: str) -> int:
        value: int = struct.unpack(layout, self.take(struct.calcsize(layout), what))[0]
        return value

    def count(self, what: str, smallest: int) -> int:
        """A count of things that take at least `smallest` bytes each."""
        at = self.at
        value = self.number(">i", f"the count of {what}")
        limit = (len(self.data) - self.at) // smallest
        if not 0 <= value <= limit:
            self.fail(f"an impossible count of {what}", at, expected=f"0 to {limit}", seen=value)
        return value

    def text(self, what: str) -> str:
        at = self.at
        data = self.take(self.number(">H", what), what)
        try:
            return decode_modified_utf8(data)
        except UnicodeError as error:
            raise Corrupt(
                f"{what} is not UTF-8", path=self.path, offset=at + 2, seen=data[:40].hex()
            ) from error


def decode_modified_utf8(data: bytes) -> str:
    """The text in Java's modified UTF-8: zero is C0 80, characters beyond 16 bits are two surrogates of three bytes each.

    Raises `UnicodeError`.

    >>> decode_modified_utf8(bytes.fromhex("61c080"))
    'a\\x00'
    """
    text = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return text.encode("utf-16", "surrogatepass").decode("utf-16")
