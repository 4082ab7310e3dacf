"""A blob file of Apache Paimon byte by byte: records with their checksums, and the index of their lengths.

    record   magic 1481511375, int32 LE | bytes | length of the record, int64 LE | CRC-32 of all before, uint32 LE
    file     record … | lengths, zigzag varints of differences (-1 null, -2 placeholder) | their length, int32 LE | version 1

    bytes    one blob, or one of these, little-endian, whose lengths are zigzag varints of differences (-1 null, no bytes):
    array    BCBA | version 1 | count i32 | blob … | lengths of blobs | their bytes i32
    map      BCBM | version 1 | count i32 | key … | blob … | lengths of keys | lengths of blobs | bytes of both i32, i32

Follows what Paimon's `BlobFormatWriter`, `ArrayBlobElementSerializer` and `MapBlobElementSerializer` write (2.1). A null or
a placeholder has no record. A record does not say its type: content that begins with such a magic and whose lengths do not
add up is a blob that happens to begin so. Refused with `Corrupt`: a version that is not 1, lengths that do not add up to the
file, magics and checksums that are not the record's.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from lakelens.caching import cached_property
from lakelens.codecs.paimon.varints import decode_deltas
from lakelens.codecs.span.reader import damage_span_if, format_count, group_items
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt, Unsupported

ARRAY_MAGIC = b"BCBA"
MAP_MAGIC = b"BCBM"
_HEAD = 9
_MAX_INDEX = 1 << 22


class _Group(NamedTuple):
    """Keys or blobs side by side: their name, their lengths, where they begin, and where the lengths are stored."""

    noun: str
    lengths: tuple[int, ...]
    start: int
    stored: tuple[int, int]


def explain_content(data: Octets, start: int, end: int) -> Span:
    """The content of a record: a leaf, or the elements of an array or a map of blobs.

    >>> array = ARRAY_MAGIC + bytes.fromhex("01 02000000") + b"one" + bytes.fromhex("06 07 02000000")
    >>> span = explain_content(array, 0, len(array))
    >>> span.label, span.value, [part.label for part in span.children][3]
    ('array of blobs', (3, None), 'blob 0')
    """
    found = _find_groups(data, start, end)
    if found is None:
        return Span(start, end, "content", None, format_count(end - start, "byte"))
    blobs = found[-1]
    label = "map of blobs" if len(found) > 1 else "array of blobs"
    value = tuple(None if length < 0 else length for length in blobs.lengths)
    note = f"{len(value):,} of them" if len(value) != 1 else "one"
    return Span(start, end, label, value, note, partial(_explain_groups, data, start, end, found))


def _find_groups(data: Octets, start: int, end: int) -> list[_Group] | None:
    """The keys, if it is a map, and the blobs; None for what is neither an array nor a map."""
    head = bytes(data[start : min(end, start + _HEAD)])
    nouns = {ARRAY_MAGIC: ("blob",), MAP_MAGIC: ("key", "blob")}.get(head[:4])
    if nouns is None or len(head) < _HEAD or head[4] != 1 or end - start < _HEAD + 4 * len(nouns):
        return None
    count = int.from_bytes(head[5:], "little", signed=True)
    tail = end - 4 * len(nouns)
    stored = bytes(data[tail:end])
    sizes = [int.from_bytes(stored[i : i + 4], "little", signed=True) for i in range(0, len(stored), 4)]
    if any(not 0 <= size <= _MAX_INDEX for size in sizes) or tail - sum(sizes) < start + _HEAD:
        return None
    at, place, groups = start + _HEAD, tail - sum(sizes), list[_Group]()
    limit = place
    for noun, size in zip(nouns, sizes, strict=True):
        try:
            lengths = tuple(value for _, value in decode_deltas(bytes(data[place : place + size]), place))
        except Corrupt:
            return None
        if len(lengths) != count or any(length < -1 for length in lengths):
            return None
        groups.append(_Group(noun, lengths, at, (place, place + size)))
        at += sum(max(length, 0) for length in lengths)
        place += size
    return groups if at == limit else None


def _explain_groups(data: Octets, start: int, end: int, groups: list[_Group]) -> Iterator[Span]:
    yield Span(start, start + 4, "magic", bytes(data[start : start + 4]), "ASCII")
    yield Span(start + 4, start + 5, "version", 1, "1 byte")
    yield Span(start + 5, start + _HEAD, "count", len(groups[0].lengths), "int32, little-endian")
    for group in groups:
        yield from _explain_members(data, group)
    for group in groups:
        begin, stop = group.stored
        if begin < stop:
            note = "differences, zigzag varints; -1 is null"
            yield Span(begin, stop, f"lengths of {group.noun}s", group.lengths, note)
    for group in groups:
        at = end - 4 * (len(groups) - groups.index(group))
        begin, stop = group.stored
        yield Span(at, at + 4, f"bytes of lengths of {group.noun}s", stop - begin, "int32, little-endian")


def _explain_members(data: Octets, group: _Group) -> Iterator[Span]:
    """Those that have bytes; a null and an empty one have none."""
    places, at = [group.start], group.start
    held = [(number, length) for number, length in enumerate(group.lengths) if length > 0]
    for _, length in held:
        at += length
        places.append(at)

    def make(first: int, last: int) -> Iterator[Span]:
        for i in range(first, last):
            number, length = held[i]
            begin, stop = places[i], places[i + 1]
            value = bytes(data[begin:stop]) if group.noun == "key" and length <= 256 else None
            yield Span(
                begin, stop, f"{group.noun} {number}", value, format_count(length, "byte"), number=number
            )

    yield from group_items(len(held), places.__getitem__, f"{group.noun}s", make)


MAGIC = 1481511375
_FRAME = 16
_MAX_CHECKED = 1 << 26
_WORDS = {-1: "null", -2: "placeholder"}


def explain_blob(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """A tree over a blob file; its value is the length of each record's content: None for null, -2 for a placeholder.

    >>> explain_blob(bytes.fromhex("01 01000000 01")).value
    (None,)
    """
    file = _File(data, start, len(data) if end is None else end)
    return Span(start, file.end, "blob file", Deferred(file.decode), "Apache Paimon", file.explain)


class _File:
    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.data, self.start, self.end = data, start, end

    @cached_property
    def index(self) -> tuple[int, list[tuple[int, int]]]:
        """Where the index begins, and behind each of its varints its end and the length that it gives."""
        tail = bytes(self.data[max(self.start, self.end - 5) : self.end])
        if len(tail) < 5 or tail[4] != 1:
            raise Corrupt(
                "not a blob file", offset=max(self.start, self.end - 1), expected="version 1", seen=tail[4:]
            )
        size = int.from_bytes(tail[:4], "little", signed=True)
        if not 0 <= size <= self.end - self.start - 5:
            raise Corrupt("an index longer than the file", offset=self.end - 5, seen=size)
        if size > _MAX_INDEX:
            raise Unsupported(f"an index of {size} bytes is not explained, only up to {_MAX_INDEX}")
        begin = self.end - 5 - size
        stored = bytes(self.data[begin : self.end - 5])
        found = decode_deltas(stored, begin)
        return begin, found

    @cached_property
    def places(self) -> list[tuple[int, int, int]]:
        """Number, start and end of every record. Raises `Corrupt` when they do not fill the file."""
        begin, lengths = self.index
        at, places = self.start, []
        for i, (_, length) in enumerate(lengths):
            if length in _WORDS:
                continue
            if not _FRAME <= length <= begin - at:
                raise Corrupt(
                    "a record that does not fit the file",
                    offset=at,
                    expected=f"{begin - at} bytes",
                    seen=length,
                )
            places.append((i, at, at + length))
            at += length
        if at != begin:
            raise Corrupt("lengths that do not add up to the file", offset=at, expected=begin - at, seen=0)
        return places

    def decode(self) -> tuple[int | None, ...]:
        _ = self.places
        lengths = [length for _, length in self.index[1]]
        return tuple(None if n == -1 else n if n in _WORDS else n - _FRAME for n in lengths)

    def explain(self) -> Iterator[Span]:
        begin = self.index[0]
        places = self.places
        records = partial(self.explain_records, places)
        yield from group_items(
            len(places), lambda i: places[i][1] if i < len(places) else begin, "records", records
        )
        if begin < self.end - 5:
            yield Span(begin, self.end - 5, "index", None, "differences of lengths", self.explain_index)
        size = self.end - 5 - begin
        yield Span(self.end - 5, self.end - 1, "index length", size, "int32, little-endian")
        yield Span(self.end - 1, self.end, "version", 1, "1 byte")

    def explain_records(self, places: list[tuple[int, int, int]], low: int, high: int) -> Iterator[Span]:
        for number, start, end in places[low:high]:
            note = f"{end - start - _FRAME} bytes"
            make = partial(self.explain_record, start, end)
            yield Span(start, end, f"record {number}", None, note, make, number=number)

    def explain_record(self, start: int, end: int) -> Iterator[Span]:
        magic = int.from_bytes(bytes(self.data[start : start + 4]), "little")
        span = Span(start, start + 4, "magic", magic, "int32, little-endian")
        yield damage_span_if(magic != MAGIC, span, "not the magic of a record", expected=MAGIC)
        if end - start > _FRAME:
            yield explain_content(self.data, start + 4, end - 12)
        length = int.from_bytes(bytes(self.data[end - 12 : end - 4]), "little", signed=True)
        span = Span(end - 12, end - 4, "length", length, "int64, little-endian: with magic and all")
        yield damage_span_if(
            length != end - start, span, "not the length that the index gives", expected=end - start
        )
        stored = int.from_bytes(bytes(self.data[end - 4 : end]), "little")
        span = Span(end - 4, end, "CRC-32", stored, "uint32, little-endian: of all before")
        if end - start <= _MAX_CHECKED:
            found = zlib.crc32(bytes(self.data[start : end - 4]))
            span = damage_span_if(found != stored, span, "not the checksum of the record", expected=found)
        yield span

    def explain_index(self) -> Iterator[Span]:
        begin, lengths = self.index

        def place(i: int) -> int:
            return lengths[i - 1][0] if i else begin

        def make(low: int, high: int) -> Iterator[Span]:
            for i in range(low, high):
                length = lengths[i][1]
                note = _WORDS.get(length, f"{length} bytes") + ": zigzag varint, added to the one before"
                yield Span(place(i), place(i + 1), f"length {i}", length, note, number=i)

        yield from group_items(len(lengths), place, "lengths", make)
