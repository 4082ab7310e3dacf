"""The content of one record of a blob file of Apache Paimon: one blob, or an array or a map of blobs.

    array   BCBA | version 1 | count i32 | blob … | lengths of blobs | their bytes i32
    map     BCBM | version 1 | count i32 | key … | blob … | lengths of keys | lengths of blobs | bytes of both i32, i32

Little-endian; lengths are zigzag varints of differences, -1 is null and has no bytes. Follows `ArrayBlobElementSerializer`
and `MapBlobElementSerializer` of Paimon's sources (2.1). A record does not say its type: content that begins with such a
magic and whose lengths do not add up is a blob that happens to begin so.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from lakelens.codecs.paimon.varints import decode_deltas
from lakelens.codecs.span.reader import format_count, group_items
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import Corrupt

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
