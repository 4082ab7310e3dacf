"""A blob file of Apache Paimon byte by byte: records with their checksums, and the index of their lengths.

    record   magic 1481511375, int32 LE | bytes | length of the record, int64 LE | CRC-32 of all before, uint32 LE
    file     record … | lengths, zigzag varints of differences (-1 null, -2 placeholder) | their length, int32 LE | version 1

The bytes of a record are one blob, or an array or a map of blobs: see `blob_element_spans`. Follows what Paimon's
`BlobFormatWriter` writes. A null or a placeholder has no record. Refused with `Corrupt`: a version
that is not 1, lengths that do not add up to the file, magics and checksums that are not the record's.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import partial

from lakelens.caching import cached_property
from lakelens.codecs.paimon.blob_element_spans import explain_content
from lakelens.codecs.paimon.varints import decode_deltas
from lakelens.codecs.span.reader import damage_span_if, group_items
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt, Unsupported

MAGIC = 1481511375
_FRAME = 16
_MAX_CHECKED = 1 << 26
_MAX_INDEX = 1 << 22
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
