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
from dataclasses import dataclass
from functools import partial
from typing import Any

from lakelens.codecs.bitmaps.roaring_spans import explain_roaring64
from lakelens.codecs.paimon.index.blocks import (
    MAX_BLOCK,
    TRAILER,
    WHAT,
    Part,
    decode_key,
    explain_crc,
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
from lakelens.codecs.span.reader import (
    GROUP,
    SpanReader,
    collect,
    damage_span,
    damage_span_if,
    group_items,
    rename,
)
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import Corrupt, Unsupported

MAGIC = b"ITBP"
VERSION = 1
FOOTER = 52
_TAIL = 5  # the entry size or count and the kind of block


def explain_btree_index(data: Octets, start: int, end: int, type_: TypeLike | None = None) -> Iterator[Span]:
    """The parts of a B-tree index file that fills `data[start:end]`, which ends in its magic."""
    footer = end - FOOTER
    yield from explain_parts(
        data, start, footer, _find_parts(data, start, footer), partial(_explain_part, data, type_)
    )
    reader = SpanReader(data, footer, end, WHAT)
    yield Span(footer, end, "footer", None, "where the other parts lie", list(_read_footer(reader)))


def _read_footer(reader: SpanReader) -> Iterator[Span]:
    for label in ("bloom filter", "index block", "null bitmap"):
        begin = reader.at
        parts = [reader.number("<q", "offset"), reader.number("<i", "size")]
        if label == "bloom filter":
            parts.append(reader.number("<q", "expected entries"))
        there = any(part.value for part in parts)
        yield Span(begin, reader.at, label, None, "" if there else "all zero: not there", parts)
    version = reader.number("<i", "version")
    known = version.value == VERSION
    yield (
        version if known else damage_span(version, Unsupported(f"version {version.value} of a B-tree index"))
    )
    at = reader.take(4, "its magic")
    yield Span(at, reader.at, "magic", MAGIC, "ASCII")


def _find_parts(data: Octets, start: int, footer: int) -> Iterator[Part]:
    """The parts that the footer and the index block name. Raises `Corrupt` for one that leaves the file."""
    values = struct.unpack("<qiqqiqii", bytes(data[footer : footer + FOOTER - 4]))
    bloom, index, nulls, version = values[:2], values[3:5], values[5:7], values[7]
    part = place_part("index block", index, start, footer, TRAILER)
    yield part
    if any(bloom):
        yield place_part("bloom filter", bloom, start, footer, 0)
    if any(nulls):
        yield place_part("null bitmap", nulls, start, footer, 4)
    readable = version == VERSION and part.end - part.start <= MAX_BLOCK
    if readable and tell_compression(data, part) == 0:
        for entry in _find_entries(data, part.start, part.end):
            inner = SpanReader(data, entry.value, entry.end, WHAT)
            block = (read_varint(inner), read_varint(inner))
            yield place_part("data block", block, start, footer, TRAILER)


def _explain_part(data: Octets, type_: TypeLike | None, part: Part) -> Span:
    if part.label == "bloom filter":
        note = f"{8 * (part.after - part.start)} bits"
        return Span(part.start, part.after, part.label, None, note, role="unexplained")
    explain = _explain_nulls if part.label == "null bitmap" else _explain_block
    children = partial(explain, data, part, type_)
    return Span(part.start, part.after, part.label, None, "", children, origin=part.start)


def _explain_nulls(data: Octets, part: Part, type_: TypeLike | None) -> Iterator[Span]:
    bitmap = explain_roaring64(data, part.start, part.end)
    yield rename(bitmap, "null bitmap", "row ids whose key is null")
    yield explain_crc(data, part.start, part.end)


def _explain_block(data: Octets, part: Part, type_: TypeLike | None) -> Iterator[Span]:
    unlisted = tell_unlisted(data, part)
    if unlisted is not None:
        yield unlisted
    else:
        yield from _explain_entries(data, part, type_)
    yield from explain_trailer(data, part)


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where an entry lies: its first byte, its key, its value and the byte after it."""

    start: int
    key: int
    key_end: int
    value: int
    end: int


def _find_tail(data: Octets, start: int, end: int) -> tuple[int, bool, int]:
    """Where the entries of a block end, whether all have one size, and that size or their count. Raises `Corrupt`."""
    if end - start < _TAIL:
        raise Corrupt("a block that is too short", offset=start, expected=f"{_TAIL} bytes", seen=end - start)
    number, kind = struct.unpack("<iB", bytes(data[end - _TAIL : end]))
    room = end - start - _TAIL
    stop = end - _TAIL - (4 * number if kind else 0)
    if kind > 1 or number < 0 or stop < start or (kind == 0 and (not number or room % number)):
        raise Corrupt(
            "a block whose entries cannot be found", offset=end - _TAIL, seen=f"{number}, kind {kind}"
        )
    return stop, kind == 0, number


def _find_entries(data: Octets, start: int, end: int) -> Iterator[_Entry]:
    """The entries of an uncompressed block. Raises `Corrupt` for one that does not fit."""
    stop, _, _ = _find_tail(data, start, end)
    reader = SpanReader(data, start, stop, WHAT)
    while reader.left:
        begin = reader.at
        size = read_varint(reader)
        key = reader.take(size, "a key")
        key_end = reader.at
        size = read_varint(reader)
        yield _Entry(begin, key, key_end, reader.take(size, "a value"), reader.at)


def _explain_entries(data: Octets, part: Part, type_: TypeLike | None) -> Iterator[Span]:
    start, end = part.start, part.end
    stop, aligned, number = _find_tail(data, start, end)
    entries, failure = collect(_find_entries(data, start, end))
    tell = _explain_handle if part.label == "index block" else _explain_rows
    read_key = partial(decode_key, choose_layout(type_))

    def make(first: int, last: int) -> Iterator[Span]:
        for entry in entries[first:last]:
            yield _explain_entry(data, entry, read_key, tell)

    if entries:
        places = [entry.start for entry in entries] + [entries[-1].end]
        yield from group_items(len(entries), places.__getitem__, "entries", make)
    if failure is not None:
        at = entries[-1].end if entries else start
        yield damage_span(Span(at, stop, "entries"), failure)
    tail = SpanReader(data, stop, end, WHAT)
    if not aligned:
        yield from _explain_positions(tail, number, [entry.start - start for entry in entries])
    note = "bytes of each entry" if aligned else "how many entries"
    yield tail.number("<i", "entry size" if aligned else "entry count", note)
    yield tail.number("<B", "aligned type", "entries of one size" if aligned else "with the position of each")


def _explain_positions(reader: SpanReader, count: int, true: list[int]) -> Iterator[Span]:
    start = reader.take(4 * count, "its positions")

    def make(first: int, stop: int) -> Iterator[Span]:
        for i in range(first, stop):
            leaf = SpanReader(reader.data, start + 4 * i, reader.end, WHAT).number("<i", f"entry {i}")
            expected = true[i] if i < len(true) else leaf.value
            yield damage_span_if(
                leaf.value != expected, leaf, "a wrong position of an entry", expected=expected
            )

    if count:
        children = partial(group_items, count, lambda i: start + 4 * i, "positions", make)
        yield Span(start, reader.at, "entry positions", None, "from the block's start", children)


def _explain_entry(
    data: Octets,
    entry: _Entry,
    read_key: Callable[[bytes], tuple[Any, str]],
    tell: Callable[[SpanReader], Iterator[Span]],
) -> Span:
    value, note = read_key(bytes(data[entry.key : entry.key_end]))

    def make() -> Iterator[Span]:
        reader = SpanReader(data, entry.start, entry.end, WHAT)
        yield explain_varint(reader, "key length", "bytes")
        reader.at = entry.key_end
        yield Span(entry.key, entry.key_end, "key", value, note)
        yield explain_varint(reader, "value length", "bytes")
        yield from tell(reader)

    return Span(entry.start, entry.end, "entry", value, "", make)


def _explain_rows(reader: SpanReader) -> Iterator[Span]:
    """The row ids of one key."""
    count = explain_varint(reader, "row count")
    yield damage_span_if(
        count.value > reader.left, count, "an impossible count of rows", expected=reader.left
    )
    if count.value <= GROUP:
        yield from _list_rows(reader, count.value)
    elif count.error is None:
        for first in range(0, count.value, GROUP):
            begin, stop = reader.at, min(first + GROUP, count.value)
            for _ in range(first, stop):
                read_varint(reader)
            inner = partial(SpanReader, reader.data, begin, reader.at, WHAT)
            children = partial(_list_rows_of, inner, stop - first)
            yield Span(begin, reader.at, f"rows {first} to {stop - 1}", None, "", children)
    if reader.left:
        yield reader.rest("row ids", "in a way that is not known")


def _list_rows_of(make: Callable[[], SpanReader], count: int) -> Iterator[Span]:
    return _list_rows(make(), count)


def _list_rows(reader: SpanReader, count: int) -> Iterator[Span]:
    for _ in range(count):
        yield explain_varint(reader, "row id")


def _explain_handle(reader: SpanReader) -> Iterator[Span]:
    """Where the data block lies whose last key this is."""
    yield explain_varint(reader, "offset", "of the data block whose last key this is")
    yield explain_varint(reader, "size", "bytes without the trailer")
