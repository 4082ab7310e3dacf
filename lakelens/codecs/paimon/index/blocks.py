"""What Paimon's global indexes are made of: parts that a footer names, blocks with a trailer, varints, keys.

    block     content | compression u8 | CRC-32 of both, i32
    varint    7 bits in a byte, lowest first; the top bit says that more follow

Everything is little-endian.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lakelens.codecs.span.reader import (
    SpanReader,
    collect,
    damage_span,
    damage_span_if,
    format_count,
    group_items,
)
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import Corrupt

WHAT = "a global index"
TRAILER = 5  # the compression byte and the CRC word
#: Larger blocks than this are not listed; writers close a block at 64 KiB.
MAX_BLOCK = 1 << 21
COMPRESSIONS = {0: "none", 1: "zstd", 2: "lz4", 3: "lzo"}
_MAX_VARINT = 9


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an index and where it lies: absolute positions; `after` counts its trailer."""

    label: str
    start: int
    end: int
    after: int


def explain_parts(
    data: Octets,
    start: int,
    end: int,
    found: Iterator[Part],
    explain: Callable[[Part], Span],
) -> Iterator[Span]:
    """The parts in order of bytes, each once, with the gaps between them; what is wrong is told where they stop."""
    parts, failure = collect(found)
    pieces, overlap = _cut_parts(parts, start, end)

    def make(first: int, stop: int) -> Iterator[Span]:
        for begin, after, part in pieces[first:stop]:
            if part is None:
                yield Span(begin, after, "unreferenced", None, "no part of the index", role="unexplained")
            else:
                yield explain(part)

    places = [begin for begin, _, _ in pieces] + [end]
    yield from group_items(len(pieces), places.__getitem__, "parts", make)
    if (error := overlap or failure) is not None:
        at = pieces[-1][1] if pieces else start
        yield damage_span(Span(at, end if overlap else at, "parts"), error)


def place_part(label: str, found: tuple[int, int], start: int, end: int, trailer: int) -> Part:
    """The part at an offset and of a size, with a trailer after it. Raises `Corrupt` when it leaves the file."""
    begin, size = start + found[0], found[1]
    if not start <= begin <= begin + size + trailer <= end or size < 0:
        seen = f"{found[0]} + {size}"
        raise Corrupt(f"a {label} outside the file", offset=end, expected=f"0 to {end - start}", seen=seen)
    return Part(label, begin, begin + size, begin + size + trailer)


def _cut_parts(
    parts: list[Part], start: int, end: int
) -> tuple[list[tuple[int, int, Part | None]], Corrupt | None]:
    """The parts in order of bytes with the gaps between them, up to the first that overlaps another."""
    pieces: list[tuple[int, int, Part | None]] = []
    at = start
    for part in sorted(parts, key=lambda part: (part.start, part.after)):
        if part.start < at:
            seen = f"{part.start} to {part.after}"
            return pieces, Corrupt(f"a {part.label} overlaps another part", offset=at, seen=seen)
        if at < part.start:
            pieces.append((at, part.start, None))
        pieces.append((part.start, part.after, part))
        at = part.after
    if at < end:
        pieces.append((at, end, None))
    return pieces, None


def tell_compression(data: Octets, part: Part) -> int:
    """The compression byte of a block: 0 for none."""
    return bytes(data[part.end : part.end + 1])[0]


def explain_trailer(data: Octets, part: Part) -> Iterator[Span]:
    """The compression byte and the CRC word of a block."""
    trailer = SpanReader(data, part.end, part.after, WHAT)
    yield trailer.number("<B", "compression", describe=lambda kind: COMPRESSIONS.get(kind, "not known"))
    yield explain_crc(data, part.start, part.end + 1)


def tell_unlisted(data: Octets, part: Part) -> Span | None:
    """The content of a block as one leaf when it is compressed or too large to be listed; None when it can be listed."""
    packed = tell_compression(data, part)
    if not packed and part.end - part.start <= MAX_BLOCK:
        return None
    kind = COMPRESSIONS.get(packed, "in a way that is not known")
    note = f"compressed: {kind}" if packed else "too large to be listed"
    return Span(part.start, part.end, "block", None, note, role="unexplained")


def explain_crc(data: Octets, start: int, at: int) -> Span:
    """A CRC word, compared with the CRC of the bytes from `start` to it."""
    computed = zlib.crc32(bytes(data[start:at]))
    reader = SpanReader(data, at, at + 4, WHAT)
    leaf = reader.number(
        "<I", "CRC-32", describe=lambda stored: f"stored {stored:08x}, computed {computed:08x}"
    )
    message = "the CRC of a block does not match"
    return damage_span_if(
        leaf.value != computed, leaf, message, expected=f"{computed:08x}", seen=f"{leaf.value:08x}"
    )


def read_varint(reader: SpanReader) -> int:
    """The next varint. Raises `Corrupt`.

    >>> read_varint(SpanReader(bytes.fromhex("ac02"), 0, 2, "an index"))
    300
    """
    start, value = reader.at, 0
    for shift in range(0, 7 * _MAX_VARINT, 7):
        byte = reader.octets(1, "a varint")[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
    raise Corrupt("a varint that does not end", offset=start, expected=f"at most {_MAX_VARINT} bytes")


def explain_varint(reader: SpanReader, label: str, note: str = "") -> Span:
    """The next varint as a leaf."""
    start = reader.at
    value = read_varint(reader)
    words = f"varint, {format_count(reader.at - start, 'byte')}"
    return Span(start, reader.at, label, value, f"{words}: {note}" if note else words)


def decode_key(layout: str | None, data: bytes) -> tuple[Any, str]:
    """A key and how it is encoded: little-endian here, unlike in file indexes; bytes when its layout is not known.

    >>> decode_key(">i", bytes.fromhex("05000000")), decode_key("text", b"a"), decode_key(None, b"a")
    ((5, 'little-endian'), ('a', 'UTF-8'), (b'a', 'bytes'))
    """
    if layout == "text":
        try:
            return data.decode(), "UTF-8"
        except UnicodeDecodeError:
            return data, "not UTF-8"
    if layout is None or struct.calcsize(layout) != len(data):
        return data, "bytes"
    return struct.unpack(f"<{layout[-1]}", data)[0], "little-endian"
