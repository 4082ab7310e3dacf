"""Paimon's global bitmap index files with a name for every byte.

    bitmaps and dictionary blocks | null rows | non-null rows | index block | footer
    footer        null rows: offset i64, size i32 | non-null rows: the same | index block: the same
                  value count i32 | version i32 | magic "BGIX"
    index block, dictionary block     entry count varint | entries | trailer, see `lakelens.codecs.paimon.index.blocks`
    entry         key length varint | key | offset varint | size varint     of a dictionary block (its first key) or a bitmap
    bitmap        64-bit Roaring, without a trailer

The footer is big-endian, trailers little-endian. As written by Paimon 2.0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from lakelens.codecs.bitmaps.roaring_spans import explain_roaring64
from lakelens.codecs.paimon.index.blocks import (
    MAX_BLOCK,
    TRAILER,
    WHAT,
    Part,
    decode_key,
    explain_parts,
    explain_trailer,
    explain_varint,
    place_part,
    read_varint,
    tell_compression,
    tell_unlisted,
)
from lakelens.codecs.paimon.index.keys import choose_layout
from lakelens.codecs.paimon.types import TypeLike
from lakelens.codecs.span.reader import SpanReader, collect, damage_span, format_count, group_items, rename
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import Corrupt, Unsupported

MAGIC = b"BGIX"
VERSION = 1
FOOTER = 48
_ROWS = ("null rows", "non-null rows")
_BLOCKS = ("index block", "dictionary block")


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where an entry lies, and the block or bitmap that it names."""

    start: int
    end: int
    key: tuple[int, int]
    found: tuple[int, int]


def explain_bitmap_index(data: Octets, start: int, end: int, type_: TypeLike | None = None) -> Iterator[Span]:
    """The parts of a global bitmap index file that fills `data[start:end]`, which ends in its magic."""
    footer = end - FOOTER
    yield from explain_parts(
        data, start, footer, _find_parts(data, start, footer), partial(_explain_part, data, type_)
    )
    reader = SpanReader(data, footer, end, WHAT)
    yield Span(footer, end, "footer", None, "where the other parts lie", list(_read_footer(reader)))


def _read_footer(reader: SpanReader) -> Iterator[Span]:
    for label in (*_ROWS, "index block"):
        begin = reader.at
        parts = (reader.number(">q", "offset"), reader.number(">i", "size"))
        yield Span(begin, reader.at, label, None, "", parts)
    yield reader.number(">i", "value count")
    version = reader.number(">i", "version")
    known = version.value == VERSION
    error = Unsupported(f"version {version.value} of a global bitmap index")
    yield version if known else damage_span(version, error)
    at = reader.take(4, "its magic")
    yield Span(at, reader.at, "magic", MAGIC, "ASCII")


def _find_parts(data: Octets, start: int, footer: int) -> Iterator[Part]:
    """The parts that the footer, the index block and the dictionary blocks name, each once. Raises `Corrupt`."""
    values = struct.unpack(">qiqiqii", bytes(data[footer : footer + FOOTER - 8]))
    version = int.from_bytes(bytes(data[footer + FOOTER - 8 : footer + FOOTER - 4]), "big")
    index = place_part("index block", values[4:6], start, footer, TRAILER)
    yield index
    yield place_part(_ROWS[0], values[:2], start, footer, 0)
    yield place_part(_ROWS[1], values[2:4], start, footer, 0)
    after = start
    for entry in _list_entries(data, index) if version == VERSION else ():
        block = place_part("dictionary block", entry.found, start, footer, TRAILER)
        if block.start < after:  # each is listed once, so that naming one again and again costs nothing
            message = "dictionary blocks that do not follow each other"
            raise Corrupt(message, offset=entry.start, expected=f"from {after}", seen=block.start)
        after = block.after
        yield block
        for inner in _list_entries(data, block):
            yield place_part("bitmap", inner.found, start, footer, 0)


def _list_entries(data: Octets, block: Part) -> Iterator[_Entry]:
    """The entries of a block, none when it cannot be listed. Raises `Corrupt`."""
    if tell_compression(data, block) or block.end - block.start > MAX_BLOCK:
        return
    reader = SpanReader(data, block.start, block.end, WHAT)
    for _ in range(_read_count(reader)):
        start = reader.at
        size = read_varint(reader)
        key = reader.take(size, "a key")
        place = (key, reader.at)
        found = (read_varint(reader), read_varint(reader))
        yield _Entry(start, reader.at, place, found)


def _read_count(reader: SpanReader) -> int:
    start = reader.at
    count = read_varint(reader)
    if count > reader.left // 3:
        reader.fail("an impossible count of entries", start, expected=f"0 to {reader.left // 3}", seen=count)
    return count


def _explain_part(data: Octets, type_: TypeLike | None, part: Part) -> Span:
    if part.label in _BLOCKS:
        children = partial(_explain_block, data, part, type_)
        return Span(part.start, part.after, part.label, None, "", children, origin=part.start)
    return rename(explain_roaring64(data, part.start, part.end), part.label, "row ids")


def _explain_block(data: Octets, part: Part, type_: TypeLike | None) -> Iterator[Span]:
    unlisted = tell_unlisted(data, part)
    if unlisted is not None:
        yield unlisted
    else:
        yield from _explain_entries(data, part, type_)
    yield from explain_trailer(data, part)


def _explain_entries(data: Octets, part: Part, type_: TypeLike | None) -> Iterator[Span]:
    reader = SpanReader(data, part.start, part.end, WHAT)
    yield explain_varint(reader, "entry count")
    entries, failure = collect(_list_entries(data, part))
    layout = choose_layout(type_)
    named = "dictionary block" if part.label == "index block" else "bitmap"

    def make(first: int, stop: int) -> Iterator[Span]:
        for entry in entries[first:stop]:
            yield _explain_entry(data, entry, layout, named)

    if entries:
        places = [entry.start for entry in entries] + [entries[-1].end]
        children = partial(group_items, len(entries), places.__getitem__, "entries", make)
        note = f"{format_count(len(entries), 'key')}, each with its {named}"
        yield Span(places[0], places[-1], "entries", None, note, children)
    if failure is not None:
        raise failure
    if (stop := entries[-1].end if entries else reader.at) < part.end:
        raise Corrupt("bytes after the last entry of a block", offset=stop, seen=f"{part.end - stop} bytes")


def _explain_entry(data: Octets, entry: _Entry, layout: str | None, named: str) -> Span:
    key, note = decode_key(layout, bytes(data[entry.key[0] : entry.key[1]]))

    def make() -> Iterator[Span]:
        reader = SpanReader(data, entry.start, entry.end, WHAT)
        yield explain_varint(reader, "key length", "bytes")
        reader.at = entry.key[1]
        yield Span(entry.key[0], entry.key[1], "key", key, note)
        yield explain_varint(reader, "offset", f"of the {named}")
        yield explain_varint(reader, "size", "bytes without the trailer" if named != "bitmap" else "bytes")

    return Span(entry.start, entry.end, "entry", key, "", make)
