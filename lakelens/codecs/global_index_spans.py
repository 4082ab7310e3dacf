"""Paimon's global B-tree index files with a name for every byte; other kinds of global indexes are told, unexplained.

    data blocks | null bitmap? | bloom filter? | index block | footer
    footer        bloom filter: offset i64, size i32, expected entries i64 | index block: offset i64, size i32 |
                  null bitmap: offset i64, size i32 | version i32 | magic "ITBP"         (all zero: not there)
    block         entries | how entries are found | compression u8 | CRC-32 of the block and the compression byte i32
    entry         key length varint | key | value length varint | value
                  value of a data block: row count varint | row ids varint; of the index block: offset, size varint
    found by      entries of one size: that size i32 | 00     or     position of each i32 | entry count i32 | 01

Everything is little-endian; a varint holds 7 bits in a byte, lowest first. As written by Paimon 1.4 and 2.0.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from lakelens.codecs.index_keys import choose_layout
from lakelens.codecs.paimon_type import TypeLike
from lakelens.codecs.roaring_spans import explain_roaring64
from lakelens.codecs.span import Octets, Span
from lakelens.codecs.span_reader import (
    GROUP,
    SpanReader,
    collect,
    flaw,
    flaw_if,
    group_items,
    rename,
    tell_count,
)
from lakelens.errors import Corrupt, Unsupported

MAGIC = b"ITBP"
VERSION = 1
FOOTER = 52
_TRAILER = 5  # the compression byte and the CRC word
_TAIL = 5  # the entry size or count and the kind of block
_WHAT = "a B-tree index"
_COMPRESSIONS = {0: "none", 1: "zstd", 2: "lz4", 3: "lzo"}
_MAX_VARINT = 9
#: Larger blocks than this are not listed; writers close a block at 64 KiB.
_MAX_BLOCK = 1 << 23


def explain_global_index(
    data: Octets, start: int = 0, end: int | None = None, *, type: TypeLike | None = None
) -> Span:
    """A global index file that fills `data[start:end]`: a B-tree from keys to row ids, told by the magic at its end.

    `type` is the Paimon type of the indexed column: without it keys are bytes. Row ids count from the first row that the
    index covers. The bytes of other kinds of index (full text, vectors) have no public layout and are left unexplained.

    >>> explain_global_index(b"of another kind").role
    'unexplained'
    """
    end = len(data) if end is None else end
    if end - start < FOOTER or bytes(data[end - 4 : end]) != MAGIC:
        return Span(start, end, "global index", None, "of a kind that is not known", role="unexplained")
    children = partial(_explain_file, data, start, end, type)
    return Span(start, end, "B-tree index", None, "from keys to row ids", children, origin=start)


@dataclass(frozen=True, slots=True)
class _Handle:
    """Where a part lies: absolute positions; `after` counts its trailer."""

    label: str
    start: int
    end: int
    after: int


def _explain_file(data: Octets, start: int, end: int, type_: TypeLike | None) -> Iterator[Span]:
    footer = end - FOOTER
    handles, failure = collect(_find_parts(data, start, footer))
    pieces, overlap = _cut_parts(handles, start, footer)

    def make(first: int, stop: int) -> Iterator[Span]:
        for begin, after, handle in pieces[first:stop]:
            yield _explain_part(data, begin, after, handle, type_)

    places = [begin for begin, _, _ in pieces] + [footer]
    yield from group_items(len(pieces), places.__getitem__, "blocks", make)
    if (error := overlap or failure) is not None:
        at = pieces[-1][1] if pieces else start
        yield flaw(Span(at, footer if overlap else at, "blocks"), error)
    reader = SpanReader(data, footer, end, _WHAT)
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
    yield version if known else flaw(version, Unsupported(f"version {version.value} of a B-tree index"))
    at = reader.take(4, "its magic")
    yield Span(at, reader.at, "magic", MAGIC, "ASCII")


def _find_parts(data: Octets, start: int, footer: int) -> Iterator[_Handle]:
    """The parts that the footer and the index block name. Raises `Corrupt` for one that leaves the file."""
    values = struct.unpack("<qiqqiqii", bytes(data[footer : footer + FOOTER - 4]))
    bloom, index, nulls, version = values[:2], values[3:5], values[5:7], values[7]
    handle = _place("index block", index, start, footer, _TRAILER)
    yield handle
    if any(bloom):
        yield _place("bloom filter", bloom, start, footer, 0)
    if any(nulls):
        yield _place("null bitmap", nulls, start, footer, 4)
    readable = version == VERSION and handle.end - handle.start <= _MAX_BLOCK
    if readable and _compression(data, handle) == 0:
        for entry in _find_entries(data, handle.start, handle.end):
            inner = SpanReader(data, entry.value, entry.end, _WHAT)
            block = (_read_varint(inner), _read_varint(inner))
            yield _place("data block", block, start, footer, _TRAILER)


def _place(label: str, found: tuple[int, int], start: int, footer: int, trailer: int) -> _Handle:
    begin, size = start + found[0], found[1]
    if not start <= begin <= begin + size + trailer <= footer or size < 0:
        seen = f"{found[0]} + {size}"
        raise Corrupt(
            f"a {label} outside the file", offset=footer, expected=f"0 to {footer - start}", seen=seen
        )
    return _Handle(label, begin, begin + size, begin + size + trailer)


def _compression(data: Octets, handle: _Handle) -> int:
    return bytes(data[handle.end : handle.end + 1])[0]


def _cut_parts(
    handles: list[_Handle], start: int, footer: int
) -> tuple[list[tuple[int, int, _Handle | None]], Corrupt | None]:
    """The parts in order of bytes with the gaps between them, up to the first that overlaps another."""
    pieces: list[tuple[int, int, _Handle | None]] = []
    at = start
    for handle in sorted(handles, key=lambda handle: (handle.start, handle.after)):
        if handle.start < at:
            seen = f"{handle.start} to {handle.after}"
            return pieces, Corrupt(f"a {handle.label} overlaps another part", offset=at, seen=seen)
        if at < handle.start:
            pieces.append((at, handle.start, None))
        pieces.append((handle.start, handle.after, handle))
        at = handle.after
    if at < footer:
        pieces.append((at, footer, None))
    return pieces, None


def _explain_part(
    data: Octets, begin: int, after: int, handle: _Handle | None, type_: TypeLike | None
) -> Span:
    if handle is None:
        return Span(begin, after, "unreferenced", None, "no part of the index", role="unexplained")
    if handle.label == "bloom filter":
        return Span(begin, after, handle.label, None, f"{8 * (after - begin)} bits", role="unexplained")
    explain = _explain_nulls if handle.label == "null bitmap" else _explain_block
    return Span(begin, after, handle.label, None, "", partial(explain, data, handle, type_), origin=begin)


def _explain_nulls(data: Octets, handle: _Handle, type_: TypeLike | None) -> Iterator[Span]:
    bitmap = explain_roaring64(data, handle.start, handle.end)
    yield rename(bitmap, "null bitmap", "row ids whose key is null")
    yield _explain_crc(data, handle.start, handle.end)


def _explain_crc(data: Octets, start: int, at: int) -> Span:
    computed = zlib.crc32(bytes(data[start:at]))
    reader = SpanReader(data, at, at + 4, _WHAT)
    leaf = reader.number("<I", "CRC-32", tell=lambda stored: f"stored {stored:08x}, computed {computed:08x}")
    message = "the CRC of a block does not match"
    return flaw_if(
        leaf.value != computed, leaf, message, expected=f"{computed:08x}", seen=f"{leaf.value:08x}"
    )


def _explain_block(data: Octets, handle: _Handle, type_: TypeLike | None) -> Iterator[Span]:
    packed = _compression(data, handle)
    if packed or handle.end - handle.start > _MAX_BLOCK:
        kind = _COMPRESSIONS.get(packed, "in a way that is not known")
        note = f"compressed: {kind}" if packed else "too large to be listed"
        yield Span(handle.start, handle.end, "block", None, note, role="unexplained")
    else:
        yield from _explain_entries(data, handle, type_)
    trailer = SpanReader(data, handle.end, handle.after, _WHAT)
    yield trailer.number("<B", "compression", tell=lambda kind: _COMPRESSIONS.get(kind, "not known"))
    yield _explain_crc(data, handle.start, handle.end + 1)


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
    reader = SpanReader(data, start, stop, _WHAT)
    while reader.left:
        begin = reader.at
        size = _read_varint(reader)
        key = reader.take(size, "a key")
        key_end = reader.at
        size = _read_varint(reader)
        yield _Entry(begin, key, key_end, reader.take(size, "a value"), reader.at)


def _read_varint(reader: SpanReader) -> int:
    start, value = reader.at, 0
    for shift in range(0, 7 * _MAX_VARINT, 7):
        byte = reader.octets(1, "a varint")[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
    raise Corrupt("a varint that does not end", offset=start, expected=f"at most {_MAX_VARINT} bytes")


def _explain_entries(data: Octets, handle: _Handle, type_: TypeLike | None) -> Iterator[Span]:
    start, end = handle.start, handle.end
    stop, aligned, number = _find_tail(data, start, end)
    entries, failure = collect(_find_entries(data, start, end))
    tell = _explain_handle if handle.label == "index block" else _explain_rows
    read_key = partial(_decode_key, choose_layout(type_))

    def make(first: int, last: int) -> Iterator[Span]:
        for entry in entries[first:last]:
            yield _explain_entry(data, entry, read_key, tell)

    if entries:
        places = [entry.start for entry in entries] + [entries[-1].end]
        yield from group_items(len(entries), places.__getitem__, "entries", make)
    if failure is not None:
        at = entries[-1].end if entries else start
        yield flaw(Span(at, stop, "entries"), failure)
    tail = SpanReader(data, stop, end, _WHAT)
    if not aligned:
        yield from _explain_positions(tail, number, [entry.start - start for entry in entries])
    note = "bytes of each entry" if aligned else "how many entries"
    yield tail.number("<i", "entry size" if aligned else "entry count", note)
    yield tail.number("<B", "aligned type", "entries of one size" if aligned else "with the position of each")


def _explain_positions(reader: SpanReader, count: int, true: list[int]) -> Iterator[Span]:
    start = reader.take(4 * count, "its positions")

    def make(first: int, stop: int) -> Iterator[Span]:
        for i in range(first, stop):
            leaf = SpanReader(reader.data, start + 4 * i, reader.end, _WHAT).number("<i", f"entry {i}")
            expected = true[i] if i < len(true) else leaf.value
            yield flaw_if(leaf.value != expected, leaf, "a wrong position of an entry", expected=expected)

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
        reader = SpanReader(data, entry.start, entry.end, _WHAT)
        yield _explain_varint(reader, "key length", "bytes")
        reader.at = entry.key_end
        yield Span(entry.key, entry.key_end, "key", value, note)
        yield _explain_varint(reader, "value length", "bytes")
        yield from tell(reader)

    return Span(entry.start, entry.end, "entry", value, "", make)


def _explain_varint(reader: SpanReader, label: str, note: str = "") -> Span:
    start = reader.at
    value = _read_varint(reader)
    words = f"varint, {tell_count(reader.at - start, 'byte')}"
    return Span(start, reader.at, label, value, f"{words}: {note}" if note else words)


def _explain_rows(reader: SpanReader) -> Iterator[Span]:
    """The row ids of one key."""
    count = _explain_varint(reader, "row count")
    yield flaw_if(count.value > reader.left, count, "an impossible count of rows", expected=reader.left)
    if count.value <= GROUP:
        yield from _list_rows(reader, count.value)
    elif count.error is None:
        for first in range(0, count.value, GROUP):
            begin, stop = reader.at, min(first + GROUP, count.value)
            for _ in range(first, stop):
                _read_varint(reader)
            inner = partial(SpanReader, reader.data, begin, reader.at, _WHAT)
            children = partial(_list_rows_of, inner, stop - first)
            yield Span(begin, reader.at, f"rows {first} to {stop - 1}", None, "", children)
    if reader.left:
        yield reader.rest("row ids", "in a way that is not known")


def _list_rows_of(make: Callable[[], SpanReader], count: int) -> Iterator[Span]:
    return _list_rows(make(), count)


def _list_rows(reader: SpanReader, count: int) -> Iterator[Span]:
    for _ in range(count):
        yield _explain_varint(reader, "row id")


def _explain_handle(reader: SpanReader) -> Iterator[Span]:
    """Where the data block lies whose last key this is."""
    yield _explain_varint(reader, "offset", "of the data block whose last key this is")
    yield _explain_varint(reader, "size", "bytes without the trailer")


def _decode_key(layout: str | None, data: bytes) -> tuple[Any, str]:
    """A key and how it is encoded: little-endian here, unlike in file indexes."""
    if layout == "text":
        try:
            return data.decode(), "UTF-8"
        except UnicodeDecodeError:
            return data, "not UTF-8"
    if layout is None or struct.calcsize(layout) != len(data):
        return data, "bytes"
    return struct.unpack(f"<{layout[-1]}", data)[0], "little-endian"
