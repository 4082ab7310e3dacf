"""What Paimon's global indexes are made of: parts that a footer names, blocks with a trailer, varints.

    block     content | compression u8 | CRC-32 of both, i32
    varint    7 bits in a byte, lowest first; the top bit says that more follow

Trailers are little-endian.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from lakelens.codecs.span.reader import (
    Layout,
    SpanReader,
    collect,
    damage_span,
    damage_span_if,
    explain_apart,
    format_count,
)
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import Corrupt

WHAT = "a global index"
TRAILER = 5  # the compression byte and the CRC word
#: Larger blocks than this are not listed; writers close a block at 64 KiB.
MAX_BLOCK = 1 << 21
_COMPRESSIONS = {0: "none", 1: "zstd", 2: "lz4", 3: "lzo"}
_MAX_VARINT = 9


@dataclass(frozen=True, slots=True)
class IndexPart:
    """A part of an index and where it is: absolute positions; `after` counts its trailer."""

    label: str
    start: int
    end: int
    after: int


def explain_parts(
    data: Octets, start: int, footer: Span, found: Iterator[IndexPart], explain: Callable[[IndexPart], Span]
) -> Iterator[Span]:
    """Explain the parts up to the footer in order of bytes, each once, with the gaps between them; then the footer."""
    parts, failure = collect(found)
    yield from explain_apart(
        parts,
        lambda part: (part.start, part.after),
        explain,
        start,
        footer.start,
        "parts",
        "no part of the index",
        lambda part: f"the {part.label}",
    )
    if failure is not None:
        yield damage_span(Span(footer.start, footer.start, "parts"), failure)
    yield footer


def read_footer(reader: SpanReader, handles: Mapping[str, Layout], end: Layout) -> Iterator[Span]:
    """Read the leaves of a footer: where each part is, then its end with version and magic."""
    for label, handle in handles.items():
        begin, parts = reader.at, list(reader.struct(handle))
        note = "" if any(part.value for part in parts) else "all zero: not there"
        yield Span(begin, reader.at, label, None, note, parts)
    yield from reader.struct(end)


def place_parts(footer: Span, start: int, trailers: dict[str, int]) -> Iterator[IndexPart]:
    """Place the parts that a footer names and that are there. Raises `Corrupt` for one that leaves the file."""
    handles = {part.label: part.children for part in footer.children}
    for label, trailer in trailers.items():
        offset, size = (part.value for part in handles[label][:2])
        if offset or size:
            yield place_part(label, (offset, size), start, footer.start, trailer)


def place_part(label: str, found: tuple[int, int], start: int, end: int, trailer: int) -> IndexPart:
    """Place the part at an offset and of a size, with a trailer after it. Raises `Corrupt` when it leaves the file."""
    begin, size = start + found[0], found[1]
    if not start <= begin <= begin + size + trailer <= end or size < 0:
        seen = f"{found[0]} + {size}"
        raise Corrupt(f"a {label} outside the file", offset=end, expected=f"0 to {end - start}", seen=seen)
    return IndexPart(label, begin, begin + size, begin + size + trailer)


def is_listed(data: Octets, part: IndexPart) -> bool:
    """Check whether the content of a block can be listed: it is neither compressed nor too large."""
    return not data[part.end] and part.end - part.start <= MAX_BLOCK


def explain_block(
    data: Octets, part: IndexPart, explain: Callable[[SpanReader], Iterator[Span]]
) -> Iterator[Span]:
    """Explain the content of a block, as one leaf when it cannot be listed, and its trailer."""
    if is_listed(data, part):
        yield from explain(SpanReader(data, part.start, part.end, WHAT))
    else:
        kind = _COMPRESSIONS.get(data[part.end], "in an unknown way")
        note = f"compressed: {kind}" if data[part.end] else "too large to be listed"
        yield Span(part.start, part.end, "block", None, note, role="unexplained")
    trailer = SpanReader(data, part.end, part.after, WHAT)
    yield trailer.number("<B", "compression", describe=lambda kind: _COMPRESSIONS.get(kind, "unknown"))
    yield explain_crc(data, part.start, part.end + 1)


def explain_crc(data: Octets, start: int, at: int) -> Span:
    """Explain a CRC word, compared with the CRC of the bytes from `start` to it."""
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
    """Read the next varint. Raises `Corrupt`.

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
    """Explain the next varint as a leaf."""
    start = reader.at
    value = read_varint(reader)
    encoding = f"varint, {format_count(reader.at - start, 'byte')}"
    return Span(start, reader.at, label, value, f"{encoding}: {note}" if note else encoding)
