"""Gzip files, member by member: header, compressed bytes with their content, checksum and size.

    1F 8B | 08 | flags | mtime, uint32 LE | extra flags | system
    [extra: uint16 LE size, bytes] [name … 00] [comment … 00] [header CRC, uint16 LE]
    deflate stream | CRC-32 of the content, uint32 LE | size of the content, uint32 LE
    next member …

Follows RFC 1952. Members follow each other and their contents are one; zero bytes behind the last are padding. Refused with
`Corrupt` and the offset: other bytes, streams that are damaged or cut, checksums and sizes that are not the content's, and
contents of more than 256 MiB in all.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from lakelens.codecs.compression import MAX_CONTENT, inflate
from lakelens.codecs.kinds import choose_kind, explain
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt

MAGIC = b"\x1f\x8b"
#: Gzip inside of gzip is explained so many times, then its bytes stay unexplained.
MAX_NESTING = 3
_MEMBERS = 1000
_READ = 1 << 16
_SYSTEMS = {0: "FAT", 3: "Unix", 7: "Macintosh", 11: "NTFS", 255: "unknown"}
_FLAGS = ("FTEXT", "FHCRC", "FEXTRA", "FNAME", "FCOMMENT")


def explain_gzip(data: Octets, start: int = 0, end: int | None = None, *, nesting: int = 0) -> Span:
    """A tree over a gzip file; its value is the decompressed content (at most 256 MiB, else `Corrupt`).

    >>> import gzip
    >>> root = explain_gzip(gzip.compress(b'{"a": 1}'))
    >>> root.value, [part.label for part in root.children]
    (b'{"a": 1}', ['header', 'compressed data', 'CRC-32', 'size'])
    """
    stop = len(data) if end is None else end
    make = partial(_explain_members, data, start, stop, MAX_CONTENT, nesting)
    return Span(start, stop, "gzip", Deferred(lambda: _decode(data, start, stop)), "RFC 1952", make)


def _explain_members(data: Octets, start: int, end: int, room: int, nesting: int) -> Iterator[Span]:
    at, number, is_alone = start, 0, True
    while at < end or at == start:
        if number and not any(bytes(data[at : min(at + _READ, end)])):
            yield from _explain_padding(data, at, end)
            return
        if number == _MEMBERS:
            rest = partial(_explain_members, data, at, end, room, nesting)
            yield Span(at, end, "further members", children=rest)
            return
        header = _explain_header(data, at, end)
        stop, size, crc = inflate(data, header.end, end, room)
        is_alone = is_alone and not any(bytes(data[stop + 8 : min(stop + 8 + _READ, end)]))
        parts = (header, _explain_stream(data, header.end, stop, room, nesting, is_alone))
        if is_alone:
            yield from parts
            yield from _explain_trailer(data, stop, end, size, crc)
        else:
            trailer = partial(_explain_trailer, data, stop, min(stop + 8, end), size, crc)
            yield Span(
                at,
                min(stop + 8, end),
                f"member {number}",
                children=partial(_join, parts, trailer),
            )
        if end - stop < 8:
            return
        at, number, room = stop + 8, number + 1, room - size


def _join(parts: tuple[Span, ...], trailer: partial[Iterator[Span]]) -> Iterator[Span]:
    yield from parts
    yield from trailer()


def _explain_padding(data: Octets, start: int, end: int) -> Iterator[Span]:
    for at in range(start, end, _READ):
        if any(bytes(data[at : min(at + _READ, end)])):
            raise Corrupt("bytes behind the last member", offset=at, expected="zero bytes or a member")
    yield Span(start, end, "zero bytes", role="padding")


class _Header:
    """Takes the fields of a member's header one behind the other."""

    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.data, self.at, self.end = data, start, end
        self.spans: list[Span] = []

    def take(self, size: int, what: str) -> bytes:
        if size > self.end - self.at:
            raise Corrupt(
                f"a gzip header that ends before its {what}",
                offset=self.at,
                expected=f"{size} bytes",
                seen=self.end - self.at,
            )
        return bytes(self.data[self.at : self.at + size])

    def add(self, size: int, label: str, value: object, note: str) -> None:
        self.spans.append(Span(self.at, self.at + size, label, value, note))
        self.at += size

    def add_text(self, label: str) -> None:
        """Latin-1 text up to a zero byte; no more than 64 KiB of it."""
        read = bytes(self.data[self.at : min(self.at + _READ, self.end)])
        size = read.find(0) + 1
        if not size:
            raise Corrupt(f"a {label} without an end in a gzip header", offset=self.at)
        self.add(size, label, read[: size - 1].decode("latin-1"), "Latin-1, ends with a zero byte")


def _explain_header(data: Octets, start: int, end: int) -> Span:
    header = _Header(data, start, end)
    magic = header.take(2, "magic")
    if magic != MAGIC:
        raise Corrupt("not a gzip member", offset=start, expected="1f 8b", seen=magic.hex(" "))
    header.add(2, "magic", None, "1f 8b")
    method = header.take(1, "method")[0]
    if method != 8:
        raise Corrupt("a compression that gzip does not have", offset=header.at, expected=8, seen=method)
    header.add(1, "method", method, "deflate")
    flags = header.take(1, "flags")[0]
    if flags & 0xE0:
        raise Corrupt("flags that gzip does not have", offset=header.at, seen=f"{flags:08b}")
    named = [name for bit, name in enumerate(_FLAGS) if flags >> bit & 1]
    header.add(1, "flags", flags, ", ".join(named) or "none")
    seconds = int.from_bytes(header.take(4, "time"), "little")
    told = datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else "not told"
    header.add(4, "mtime", seconds, f"uint32, little-endian: {told}")
    header.add(1, "extra flags", header.take(1, "extra flags")[0], "1 byte")
    system = header.take(1, "system")[0]
    header.add(1, "system", system, _SYSTEMS.get(system, "another one"))
    if flags & 4:
        size = int.from_bytes(header.take(2, "extra size"), "little")
        header.add(2, "extra size", size, "uint16, little-endian")
        header.add(size, "extra", header.take(size, "extra field"), "bytes")
    if flags & 8:
        header.add_text("name")
    if flags & 16:
        header.add_text("comment")
    if flags & 2:
        stored = int.from_bytes(header.take(2, "header CRC"), "little")
        crc = zlib.crc32(bytes(data[start : header.at])) & 0xFFFF
        if crc != stored:
            raise Corrupt(
                "a header CRC that is not the header's", offset=header.at, expected=crc, seen=stored
            )
        header.add(2, "header CRC", stored, "uint16, little-endian: matches")
    return Span(start, header.at, "header", children=tuple(header.spans))


def _explain_stream(data: Octets, start: int, end: int, room: int, nesting: int, is_alone: bool) -> Span:
    def unpack() -> tuple[bytes, Span]:
        kept: list[bytes] = []
        inflate(data, start, end, room, kept)
        content = b"".join(kept)
        return content, _explain_content(content, nesting, is_alone)

    return Span(start, end, "compressed data", None, "deflate", unpacked=unpack)


def _explain_content(content: bytes, nesting: int, is_whole: bool) -> Span:
    """What was compressed; of several members each has but a part of it, which only text can be told by."""
    kind = choose_kind(content)
    if kind == "gzip":
        if nesting + 1 < MAX_NESTING:
            return explain_gzip(content, nesting=nesting + 1)
        return explain(content, "unknown")
    if not is_whole:
        kind = "text" if kind in ("text", "json", "json_lines") else "unknown"
    return explain(content, kind)


def _explain_trailer(data: Octets, start: int, end: int, size: int, crc: int) -> Iterator[Span]:
    for at, label, expected in ((start, "CRC-32", crc), (start + 4, "size", size & 0xFFFFFFFF)):
        stored = bytes(data[at : min(at + 4, end)])
        if len(stored) < 4:
            raise Corrupt(f"a gzip member that ends before its {label}", offset=at, expected="4 bytes")
        value = int.from_bytes(stored, "little")
        if value != expected:
            raise Corrupt(f"a {label} that is not the content's", offset=at, expected=expected, seen=value)
        yield Span(at, at + 4, label, value, "uint32, little-endian: matches")


def _decode(data: Octets, start: int, end: int) -> bytes:
    kept: list[bytes] = []
    at, room = start, MAX_CONTENT
    while at < end or at == start:
        if at > start and not any(bytes(data[at : min(at + _READ, end)])):
            tuple(_explain_padding(data, at, end))
            break
        header = _explain_header(data, at, end)
        stop, size, crc = inflate(data, header.end, end, room, kept)
        tuple(_explain_trailer(data, stop, end, size, crc))
        at, room = stop + 8, room - size
    return b"".join(kept)
