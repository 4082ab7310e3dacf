"""Gzip files, member by member: header, compressed bytes with their content, checksum and size.

    1F 8B | 08 | flags | mtime, uint32 LE | extra flags | system
    [extra: uint16 LE size, bytes] [name … 00] [comment … 00] [header CRC, uint16 LE]
    deflate stream | CRC-32 of the content, uint32 LE | size of the content, uint32 LE
    next member …

Follows RFC 1952. Members follow each other and their contents are joined; zero bytes behind the last are padding. Refused
with `Corrupt` and the offset: other bytes, streams that are damaged or cut, checksums and sizes that are not the content's,
and contents of more than 256 MiB in all.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from lakelens.codecs.compression import MAX_CONTENT, inflate
from lakelens.codecs.kinds import choose_kind, explain
from lakelens.codecs.span.reader import SpanReader
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt

MAGIC = b"\x1f\x8b"
#: Gzip inside of gzip is explained to this depth, then its bytes stay unexplained.
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
            behind = min(stop + 8, end)
            trailer = partial(_explain_trailer, data, stop, behind, size, crc)
            yield Span(at, behind, f"member {number}", children=partial(_join, parts, trailer))
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


def _explain_header(data: Octets, start: int, end: int) -> Span:
    reader = SpanReader(data, start, end, "a gzip header")
    magic = reader.octets(2, "magic")
    if magic != MAGIC:
        raise Corrupt("not a gzip member", offset=start, expected="1f 8b", seen=magic.hex(" "))
    spans = [Span(start, reader.at, "magic", None, "1f 8b"), reader.number("<B", "method", "deflate")]
    if spans[-1].value != 8:
        reader.fail("a compression that gzip does not have", start + 2, expected=8, seen=spans[-1].value)
    spans.append(reader.number("<B", "flags", describe=_name_flags))
    flags = spans[-1].value
    if flags & 0xE0:
        reader.fail("flags that gzip does not have", start + 3, seen=f"{flags:08b}")
    spans.append(reader.number("<I", "mtime", describe=_format_time))
    spans.append(reader.number("<B", "extra flags"))
    spans.append(reader.number("<B", "system", describe=lambda system: _SYSTEMS.get(system, "another one")))
    if flags & 4:
        spans.append(reader.number("<H", "extra size"))
        at, extra = reader.at, reader.octets(spans[-1].value, "extra field")
        spans.append(Span(at, reader.at, "extra", extra, "bytes"))
    if flags & 8:
        spans.append(_explain_text(reader, "name"))
    if flags & 16:
        spans.append(_explain_text(reader, "comment"))
    if flags & 2:
        crc = zlib.crc32(bytes(data[start : reader.at])) & 0xFFFF
        spans.append(reader.number("<H", "header CRC", "matches"))
        if spans[-1].value != crc:
            at, seen = spans[-1].start, spans[-1].value
            reader.fail("a header CRC that is not the header's", at, expected=crc, seen=seen)
    return Span(start, reader.at, "header", children=tuple(spans))


def _name_flags(flags: int) -> str:
    return ", ".join(name for bit, name in enumerate(_FLAGS) if flags >> bit & 1) or "none"


def _format_time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else "not recorded"


def _explain_text(reader: SpanReader, label: str) -> Span:
    """Latin-1 text up to a zero byte; no more than 64 KiB of it."""
    start = reader.at
    size = bytes(reader.data[start : min(start + _READ, reader.end)]).find(0) + 1
    if not size:
        reader.fail(f"a {label} without an end in a gzip header", start)
    text = reader.octets(size, label)[:-1].decode("latin-1")
    return Span(start, reader.at, label, text, "Latin-1, ends with a zero byte")


def _explain_stream(data: Octets, start: int, end: int, room: int, nesting: int, is_alone: bool) -> Span:
    def unpack() -> tuple[bytes, Span]:
        parts: list[bytes] = []
        inflate(data, start, end, room, parts)
        content = b"".join(parts)
        return content, _explain_content(content, nesting, is_alone)

    return Span(start, end, "compressed data", None, "deflate", unpacked=unpack)


def _explain_content(content: bytes, nesting: int, is_whole: bool) -> Span:
    """What was compressed; of several members each has only a part of it, which is recognised only if it is text."""
    kind = choose_kind(content)
    if not is_whole:
        kind = "text" if kind in ("text", "json", "json_lines") else "unknown"
    elif kind == "gzip":
        if nesting + 1 < MAX_NESTING:
            return explain_gzip(content, nesting=nesting + 1)
        kind = "unknown"
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
    content: list[bytes] = []
    at, room = start, MAX_CONTENT
    while at < end or at == start:
        if at > start and not any(bytes(data[at : min(at + _READ, end)])):
            tuple(_explain_padding(data, at, end))
            break
        header = _explain_header(data, at, end)
        stop, size, crc = inflate(data, header.end, end, room, content)
        tuple(_explain_trailer(data, stop, end, size, crc))
        at, room = stop + 8, room - size
    return b"".join(content)
