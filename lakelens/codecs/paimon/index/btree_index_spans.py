"""Paimon's global B-tree index files with a name for every byte.

    data blocks | null bitmap? | bloom filter? | index block | footer
    footer        bloom filter: offset i64, size i32, expected entries i64
                  index block: offset i64, size i32
                  null bitmap: offset i64, size i32                  (all zero: not there)
                  version i32 | magic "ITBP"
    block         entries | how entries are found | trailer, see `lakelens.codecs.paimon.index.blocks`
    entry         key length varint | key | value length varint | value
                  value of a data block: row count varint | row ids varint; of the index block: offset, size varint
    found by      entries of one size: that size i32 | 00     or     position of each i32 | entry count i32 | 01
    null bitmap   64-bit Roaring | CRC-32

Everything is little-endian. As written by Paimon 1.4 and 2.0.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import partial

from lakelens.codecs.bitmaps.roaring_spans import explain_roaring64
from lakelens.codecs.paimon.index.blocks import (
    TRAILER,
    WHAT,
    IndexPart,
    explain_block,
    explain_crc,
    explain_parts,
    explain_varint,
    is_listed,
    place_part,
    place_parts,
    read_footer,
    read_varint,
)
from lakelens.codecs.paimon.index.keys import KeyLayout, choose_layout, decode_key
from lakelens.codecs.paimon.types import TypeLike
from lakelens.codecs.span.reader import (
    GROUP,
    FixedField,
    SpanReader,
    collect,
    damage_span,
    damage_span_if,
    explain_items,
    explain_numbers,
    fields,
    rename,
)
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import Corrupt

MAGIC = b"ITBP"
FOOTER = 52
_TAIL = 5  # the entry size or count and the kind of block
_HANDLE = fields("<q offset; <i size")
_HANDLES = {
    "bloom filter": (*_HANDLE, FixedField("<q", "expected entries")),
    "index block": _HANDLE,
    "null bitmap": _HANDLE,
}
_END = (
    FixedField("<i", "version", known=(1,), unread="version {} of a B-tree index"),
    FixedField("4s", "magic"),
)
_TRAILERS = {"index block": TRAILER, "bloom filter": 0, "null bitmap": 4}


def explain_btree_index(data: Octets, start: int, end: int, type_: TypeLike | None = None) -> Iterator[Span]:
    """Explain the parts of a B-tree index file that fills `data[start:end]`, which ends in its magic."""
    reader = SpanReader(data, end - FOOTER, end, WHAT)
    leaves = list(read_footer(reader, _HANDLES, _END))
    footer = Span(end - FOOTER, end, "footer", None, "where the other parts are", leaves)
    explain = partial(_explain_part, data, choose_layout(type_))
    return explain_parts(data, start, footer, _find_parts(data, start, footer), explain)


def _find_parts(data: Octets, start: int, footer: Span) -> Iterator[IndexPart]:
    """Find the parts that the footer and the index block name. Raises `Corrupt` for one that leaves the file."""
    index = None
    for part in place_parts(footer, start, _TRAILERS):
        index = part if part.label == "index block" else index
        yield part
    if index is None or any(leaf.error for leaf in footer.children) or not is_listed(data, index):
        return
    block = SpanReader(data, index.start, index.end, WHAT)
    entries = SpanReader(data, index.start, _find_tail(block)[0], WHAT)
    while entries.left:
        _, value = _skip_entry(entries)
        handle = SpanReader(data, value, entries.at, WHAT)
        found = (read_varint(handle), read_varint(handle))
        yield place_part("data block", found, start, footer.start, TRAILER)


def _explain_part(data: Octets, layout: KeyLayout | None, part: IndexPart) -> Span:
    if part.label == "bloom filter":
        note = f"{8 * (part.after - part.start)} bits"
        return Span(part.start, part.after, part.label, None, note, role="unexplained")
    explain = _explain_handle if part.label == "index block" else _explain_rows
    children = (
        partial(_explain_nulls, data, part)
        if part.label == "null bitmap"
        else partial(explain_block, data, part, partial(_explain_entries, layout, explain))
    )
    return Span(part.start, part.after, part.label, None, "", children, origin=part.start)


def _explain_nulls(data: Octets, part: IndexPart) -> Iterator[Span]:
    bitmap = explain_roaring64(data, part.start, part.end)
    yield rename(bitmap, "null bitmap", "row ids whose key is null")
    yield explain_crc(data, part.start, part.end)


def _find_tail(block: SpanReader) -> tuple[int, bool, int]:
    """Find where the entries of a block end, whether all have one size, and that size or their count. Raises `Corrupt`."""
    start, end = block.at, block.end
    if end - start < _TAIL:
        raise Corrupt("a block that is too short", offset=start, expected=f"{_TAIL} bytes", seen=end - start)
    number, kind = struct.unpack("<iB", bytes(block.data[end - _TAIL : end]))
    room = end - start - _TAIL
    stop = end - _TAIL - (4 * number if kind else 0)
    if kind > 1 or number < 0 or stop < start or (kind == 0 and (not number or room % number)):
        raise Corrupt(
            "a block whose entries cannot be found", offset=end - _TAIL, seen=f"{number}, kind {kind}"
        )
    return stop, kind == 0, number


def _skip_entry(reader: SpanReader) -> tuple[int, int]:
    """Moves past an entry: where it starts, and where its value does. Raises `Corrupt` for one that does not fit."""
    start = reader.at
    reader.take(read_varint(reader), "a key")
    return start, reader.take(read_varint(reader), "a value")


def _explain_entries(
    layout: KeyLayout | None, explain: Callable[[SpanReader], Iterator[Span]], reader: SpanReader
) -> Iterator[Span]:
    start, end = reader.at, reader.end
    stop, aligned, number = _find_tail(reader)
    entries = SpanReader(reader.data, start, stop, WHAT)
    places, failure = collect(_find_entries(entries))
    yield from explain_items(entries, places, "entries", partial(_explain_entry, layout, explain))
    if failure is not None:
        yield damage_span(Span(places[-1], stop, "entries"), failure)
    tail = SpanReader(reader.data, stop, end, WHAT)
    if not aligned and number:
        true = [place - start for place in places[:-1]]
        at = tail.take(4 * number, "its positions")
        children = partial(_explain_positions, reader.data, at, number, true)
        yield Span(at, tail.at, "entry positions", None, "from the block's start", children)
    note = "bytes of each entry" if aligned else "how many entries"
    yield tail.number("<i", "entry size" if aligned else "entry count", note)
    yield tail.number("<B", "aligned type", "entries of one size" if aligned else "with the position of each")


def _find_entries(reader: SpanReader) -> Iterator[int]:
    yield reader.at
    while reader.left:
        _skip_entry(reader)
        yield reader.at


def _explain_positions(data: Octets, start: int, count: int, true: list[int]) -> Iterator[Span]:
    def check(number: int, leaf: Span) -> Span:
        expected = true[number] if number < len(true) else leaf.value
        message = "a wrong position of an entry"
        return damage_span_if(leaf.value != expected, leaf, message, expected=expected)

    return explain_numbers(data, start, "<i", count, "entry", check, group="positions")


def _explain_entry(
    layout: KeyLayout | None, explain: Callable[[SpanReader], Iterator[Span]], reader: SpanReader, _: int
) -> Span:
    start, data = reader.at, reader.data
    size = explain_varint(reader, "key length", "bytes")
    at = reader.at
    value, note = decode_key(layout, reader.octets(size.value, "a key"))

    def make() -> Iterator[Span]:
        yield size
        yield Span(at, at + size.value, "key", value, note)
        inner = SpanReader(data, at + size.value, reader.end, WHAT)
        yield explain_varint(inner, "value length", "bytes")
        yield from explain(inner)

    return Span(start, reader.end, "entry", value, "", make)


def _explain_rows(reader: SpanReader) -> Iterator[Span]:
    """Explain the row ids of one key."""
    count = explain_varint(reader, "row count")
    too_many = count.value > reader.left
    yield damage_span_if(too_many, count, "an impossible count of rows", expected=reader.left)
    if not too_many and count.value <= GROUP:
        for _ in range(count.value):
            yield explain_varint(reader, "row id")
    elif not too_many:
        for first in range(0, count.value, GROUP):
            begin, stop = reader.at, min(first + GROUP, count.value)
            for _ in range(first, stop):
                read_varint(reader)
            children = partial(_list_rows, reader.data, begin, reader.at)
            yield Span(begin, reader.at, f"rows {first} to {stop - 1}", None, "", children)
    if reader.left:
        yield reader.rest("row ids", "in an unknown way")


def _list_rows(data: Octets, start: int, end: int) -> Iterator[Span]:
    reader = SpanReader(data, start, end, WHAT)
    while reader.left:
        yield explain_varint(reader, "row id")


def _explain_handle(reader: SpanReader) -> Iterator[Span]:
    """Explain where the data block is whose last key this is."""
    yield explain_varint(reader, "offset", "of the data block whose last key this is")
    yield explain_varint(reader, "size", "bytes without the trailer")
