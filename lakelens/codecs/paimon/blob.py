"""Blob files of Apache Paimon byte by byte, and which packs of managed blobs a data file refers to."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from lakelens.caching import cached_property
from lakelens.codecs.span.reader import FixedField, SpanReader, damage_span_if, format_count, group_items
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt, Unsupported

# Paimon's arrays of numbers as differences: what `DeltaVarintCompressor` of its sources writes.
#
# difference to the number before (to 0 for the first), zigzag, as a varint of 7 bits in a byte, lowest first


def decode_deltas(stored: bytes, start: int = 0) -> list[tuple[int, int]]:
    """The numbers, each after the absolute position of its end. Raises `Corrupt` with the byte; `start` is the first's.

    >>> decode_deltas(bytes.fromhex("0401"))
    [(1, 2), (2, 1)]
    """
    found, value, raw, shift = [], 0, 0, 0
    for i, byte in enumerate(stored):
        raw |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            value += raw >> 1 ^ -(raw & 1)
            found.append((start + i + 1, value))
            raw = shift = 0
        elif shift > 63:
            raise Corrupt("a number of more than 64 bits", offset=start + i)
    if shift:
        raise Corrupt("an index that ends inside a number", offset=start + len(stored))
    return found


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
    """Explain the content of a record: a leaf, or the elements of an array or a map of blobs.

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
    """Find the keys, if it is a map, and the blobs; None for what is neither an array nor a map."""
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


# Which packs of managed blobs one data file of Apache Paimon refers to: its `.blobref` file.
#
#     magic 50 42 4C 52 ("PBLR") | version 1, 1 byte | count, int32 BE | count * (UTF root, UTF name) | CRC-32, uint32 BE
#     UTF    length, uint16 BE | modified UTF-8, as Java's writeUTF has it
#     the checksum covers all from the version to the last name
#
# Follows `ManagedBlobReferenceFile` of Paimon's sources (since 2.0). A pack is in the directory of its data file. Refused
# with `Corrupt`: another magic or version, counts and lengths that do not add up, a wrong checksum, a name with a
# directory in it.

REFERENCES_MAGIC = b"PBLR"
_REFERENCES_HEAD = (
    FixedField("4s", "magic", known=(REFERENCES_MAGIC,), wrong="not a blob reference file"),
    FixedField(">B", "version", known=(1,), wrong="a version that is not known"),
)
_HEAD_BLOB_REFERENCES = struct.Struct(">4sBi")
_LEAST = _HEAD_BLOB_REFERENCES.size + 4
_MOST = 1 << 24


def decode_blob_references(data: bytes, path: str | None = None) -> tuple[str, ...]:
    """Decode the names of the packs. Raises `Corrupt` with the offset.

    >>> body = bytes.fromhex("01 00000001 0002") + b"/b" + b"\\0\\x0e" + b"a.managed.blob"
    >>> decode_blob_references(REFERENCES_MAGIC + body + zlib.crc32(body).to_bytes(4, "big"))
    ('a.managed.blob',)
    """
    if len(data) < _LEAST:
        raise Corrupt(
            "a blob reference file that is cut", path=path, offset=len(data), expected=f"{_LEAST} bytes"
        )
    magic, version, count = _HEAD_BLOB_REFERENCES.unpack_from(data)
    if magic != REFERENCES_MAGIC:
        raise Corrupt("not a blob reference file", path=path, offset=0, expected=REFERENCES_MAGIC, seen=magic)
    if version != 1:
        raise Corrupt("a version that is not known", path=path, offset=4, expected=1, seen=version)
    end = len(data) - 4
    checksum, counted = int.from_bytes(data[end:], "big"), zlib.crc32(data[4:end])
    if checksum != counted:
        raise Corrupt(
            "a wrong checksum", path=path, offset=end, expected=f"{counted:08x}", seen=f"{checksum:08x}"
        )
    texts = list(_iterate_texts(data, _HEAD_BLOB_REFERENCES.size, end, path))
    if count < 0 or len(texts) != 2 * count:
        raise Corrupt("another number of packs", path=path, offset=5, expected=len(texts) // 2, seen=count)
    names = tuple(texts[1::2])
    for name in names:
        if "/" in name or "\\" in name or name in ("", ".", ".."):
            raise Corrupt("a pack that is not named alone", path=path, expected="a file's name", seen=name)
    return names


def _iterate_texts(data: bytes, at: int, end: int, path: str | None) -> Iterator[str]:
    while at < end:
        start = at + 2
        stop = start + int.from_bytes(data[at:start], "big")
        if start > end or stop > end:
            raise Corrupt("a text that ends behind the file", path=path, offset=at, expected=end, seen=stop)
        try:
            yield data[start:stop].replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise Corrupt("a text that is no UTF-8", path=path, offset=start + error.start) from error
        at = stop


def explain_blob_references(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a tree over a `.blobref` file; its value is the names of the packs.

    >>> body = bytes.fromhex("01 00000001 0002") + b"/b" + b"\\0\\x0e" + b"a.managed.blob"
    >>> span = explain_blob_references(REFERENCES_MAGIC + body + zlib.crc32(body).to_bytes(4, "big"))
    >>> span.value, [part.label for part in span.children][3:]
    (('a.managed.blob',), ['root 0', 'name 0', 'CRC-32'])
    """
    stop = len(data) if end is None else end

    def decode() -> tuple[str, ...]:
        if stop - start > _MOST:
            raise Corrupt(
                "a blob reference file that is too long", expected=f"{_MOST} bytes", seen=stop - start
            )
        return decode_blob_references(bytes(data[start:stop]))

    def make() -> Iterator[Span]:
        reader = SpanReader(data, start, stop, "a blob reference file")
        yield from reader.struct(_REFERENCES_HEAD)
        packs = reader.count(">i", "packs", "packs", 4)
        yield packs
        for number in range(max(packs.value, 0)):
            for label in ("root", "name"):
                begin = reader.at
                size = int.from_bytes(reader.octets(2, f"the length of a {label}"), "big")
                text = reader.octets(size, f"a {label}").decode("utf-8", "replace")
                yield Span(begin, reader.at, f"{label} {number}", text, "uint16 length, then modified UTF-8")
        yield _check_sum(data, start, reader)

    return Span(start, stop, "blob references", Deferred(decode), "packs of managed blobs", make)


def _check_sum(data: Octets, start: int, reader: SpanReader) -> Span:
    at = reader.at
    stored = reader.number(">I", "CRC-32", "of all from the version on")
    if at - start > _MOST:
        return stored
    found = zlib.crc32(bytes(data[start + 4 : at]))
    return damage_span_if(found != stored.value, stored, "a wrong checksum", expected=found)
