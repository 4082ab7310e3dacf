"""Paimon's file indexes with a name for every byte; `lakelens.codecs.paimon.index.file_index` draws the layout.

file index
├─ head      magic, version, head length, column count
│            each column: its name, index count, each index: type, start, length
│            redundant length, redundant bytes
└─ body      the indexes in order of bytes, explained by `file_index_body_spans`;
             bytes that the head does not name are told
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from lakelens.codecs.paimon.index.file_index import (
    EMPTY,
    MAGIC,
    VERSION,
    FileIndex,
    decode_file_index,
    decode_modified_utf8,
)
from lakelens.codecs.paimon.index.file_index_body_spans import explain_index_body
from lakelens.codecs.paimon.types import TypeLike
from lakelens.codecs.span.reader import (
    SpanReader,
    collect,
    damage_span,
    damage_span_if,
    group_items,
    shift_errors,
)
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt, Unsupported

_WHAT = "a file index"
_FIXED_HEAD = 20
_SMALLEST_COLUMN = 6
_SMALLEST_INDEX = 10


def explain_file_index(
    data: Octets, start: int = 0, end: int | None = None, *, types: Mapping[str, TypeLike] | None = None
) -> Span:
    """A file-index container: a `.index` file or `_EMBEDDED_FILE_INDEX`. Its value is what `decode_file_index` gives.

    `types` gives the Paimon type of each column: without it the values in bitmap indexes cannot be told apart. Follows
    "File Index" of Paimon's specification.

    >>> head = (1493475289347502).to_bytes(8, "big") + bytes.fromhex("00000001 00000018 00000000 00000000")
    >>> [leaf.label for leaf in explain_file_index(head).leaves()]
    ['magic', 'version', 'head length', 'column count', 'redundant length']
    """
    end = len(data) if end is None else end

    def decode() -> FileIndex:
        with shift_errors(start):
            return decode_file_index(bytes(data[start:end]))

    note = "indexes of the columns of one data file"
    children = partial(_explain_container, data, start, end, types or {})
    return Span(start, end, "file index", Deferred(decode), note, children, origin=start)


@dataclass(frozen=True, slots=True)
class _Entry:
    """An index as the head names it, and where its start is written; `start` is absolute."""

    column: str
    number: int
    kind: str
    start: int
    end: int


def _explain_container(data: Octets, start: int, end: int, types: Mapping[str, TypeLike]) -> Iterator[Span]:
    reader = SpanReader(data, start, end, _WHAT)
    head = list(_read_fixed_head(reader))
    damaged = any(leaf.error for leaf in head)
    stop = reader.at if damaged else start + head[2].value
    if damaged:
        yield Span(start, reader.at, "head", None, "", head)
        yield reader.rest("columns and indexes", "of a layout that is not known")
        return
    children = partial(_explain_head, data, start, stop, end)
    yield Span(start, stop, "head", None, "the columns, and where their indexes lie", children)
    if stop < end:
        children = partial(_explain_body, data, start, stop, end, types)
        yield Span(stop, end, "body", None, "the indexes", children)


def _read_fixed_head(reader: SpanReader) -> Iterator[Span]:
    """The leaves before the columns; what does not fit holds an error."""
    start = reader.at
    magic = reader.number(">q", "magic")
    yield damage_span_if(magic.value != MAGIC, magic, "not a Paimon file index", expected=f"magic {MAGIC}")
    version = reader.number(">i", "version")
    known = version.value == VERSION
    error = Unsupported(f"version {version.value} of Paimon's file index")
    yield version if known else damage_span(version, error)
    length = reader.number(">i", "head length", "bytes up to the body")
    fits = reader.at - start < length.value <= reader.end - start
    message = "a head length that does not fit"
    yield damage_span_if(not fits, length, message, expected=f"up to {reader.end - start}")


def _explain_head(data: Octets, start: int, stop: int, end: int) -> Iterator[Span]:
    reader = SpanReader(data, start, stop, _WHAT)
    yield from _read_fixed_head(reader)
    count = _read_count(reader, "column count", "columns", _SMALLEST_COLUMN)
    yield count
    if count.error is not None:
        yield reader.rest("columns", "more than their bytes can be")
        return
    first = reader.at
    bounds, failure = collect(_find_columns(reader, count.value))
    if failure is not None:  # the last column reaches to the end of the head, and tells what is wrong in it
        bounds.append((bounds[-1][1] if bounds else first, stop))
    make = partial(_explain_columns, data, start, end, bounds)
    yield from group_items(len(bounds), partial(_place, bounds, first), "columns", make)
    if failure is not None:
        return
    redundant = _read_count(reader, "redundant length", "redundant bytes", 1)
    yield redundant
    if redundant.error is None and redundant.value:
        at = reader.take(redundant.value, "the redundant bytes")
        yield Span(at, reader.at, "redundant bytes", None, "", role="unexplained")
    if reader.left:
        yield reader.rest("unused", "head bytes after the redundant ones")


def _place(bounds: list[tuple[int, int]], first: int, i: int) -> int:
    """Where item i starts, or the last one ends."""
    return bounds[i][0] if i < len(bounds) else bounds[-1][1] if bounds else first


def _read_count(reader: SpanReader, label: str, what: str, smallest: int) -> Span:
    """A count of things that take at least `smallest` bytes each."""
    count = reader.number(">i", label)
    limit = reader.left // smallest
    message = f"an impossible count of {what}"
    return damage_span_if(not 0 <= count.value <= limit, count, message, expected=f"0 to {limit}")


def _find_columns(reader: SpanReader, count: int) -> Iterator[tuple[int, int]]:
    """Where the columns lie in the head. Raises `Corrupt` where one does not fit."""
    for _ in range(count):
        begin = reader.at
        _read_text(reader, "a column's name")
        indexes = _read_count(reader, "index count", "indexes", _SMALLEST_INDEX)
        if indexes.error is not None:
            raise indexes.error
        for _ in _find_indexes(reader, indexes.value):
            pass
        yield begin, reader.at


def _find_indexes(reader: SpanReader, count: int) -> Iterator[tuple[int, int]]:
    """Where the indexes of one column lie in the head."""
    for _ in range(count):
        begin = reader.at
        _read_text(reader, "an index's type")
        reader.take(8, "an index's start and length")
        yield begin, reader.at


def _read_text(reader: SpanReader, part: str) -> str:
    size = int.from_bytes(reader.octets(2, part), "big")
    at = reader.at
    data = reader.octets(size, part)
    try:
        return decode_modified_utf8(data)
    except UnicodeError as error:
        raise Corrupt(f"{part} is not UTF-8", offset=at, seen=data[:40].hex()) from error


def _explain_text(reader: SpanReader, label: str, part: str) -> Iterator[Span]:
    """The length and the characters of a name, as Java writes them."""
    start = reader.at
    yield reader.number(">H", f"{label} length")
    at, reader.at = reader.at, start
    text = _read_text(reader, part)
    yield Span(at, reader.at, label, text, "modified UTF-8")


def _explain_columns(
    data: Octets, start: int, end: int, bounds: list[tuple[int, int]], first: int, stop: int
) -> Iterator[Span]:
    for number, (begin, after) in enumerate(bounds[first:stop], first):
        name, _ = collect(_read_names(data, begin, after))
        children = partial(_explain_column, data, start, begin, after, end, number)
        yield Span(begin, after, "column", name[0] if name else None, "", children, number=number)


def _read_names(data: Octets, begin: int, after: int) -> Iterator[str]:
    yield _read_text(SpanReader(data, begin, after, _WHAT), "a column's name")


def _explain_column(
    data: Octets, start: int, begin: int, after: int, end: int, number: int
) -> Iterator[Span]:
    reader = SpanReader(data, begin, after, _WHAT)
    yield from _explain_text(reader, "column name", "a column's name")
    count = _read_count(reader, "index count", "indexes", _SMALLEST_INDEX)
    yield count
    if count.error is not None:
        return
    first = reader.at
    bounds, failure = collect(_find_indexes(reader, count.value))
    if failure is not None:
        bounds.append((bounds[-1][1] if bounds else first, after))
    make = partial(_explain_indexes, data, start, end, bounds, number)
    yield from group_items(len(bounds), partial(_place, bounds, first), "indexes", make)


def _explain_indexes(
    data: Octets,
    start: int,
    end: int,
    bounds: list[tuple[int, int]],
    number: int,
    first: int,
    stop: int,
) -> Iterator[Span]:
    for begin, after in bounds[first:stop]:
        children = partial(_explain_index, data, start, begin, after, end, number)
        yield Span(
            begin, after, "index", None, "its type, and where it lies in the body", children, number=number
        )


def _explain_index(data: Octets, start: int, begin: int, after: int, end: int, number: int) -> Iterator[Span]:
    reader = SpanReader(data, begin, after, _WHAT)
    kind = Span(begin, begin, "")
    for kind in _explain_text(reader, "index type", "an index's type"):
        yield kind
    head_length = int.from_bytes(bytes(data[start + 12 : start + 16]), "big")
    place = reader.number(
        ">i", "start", describe=lambda at: "an empty index" if at == EMPTY else "", number=number
    )
    length = reader.number(">i", "length", "bytes", number=number)
    outside = place.value != EMPTY and (
        place.value < head_length or length.value < 0 or place.value + length.value > end - start
    )
    message = f"a {kind.value} index outside the container"
    expected, seen = f"bytes {head_length} to {end - start}", f"{place.value} + {length.value}"
    yield damage_span_if(outside, place, message, expected=expected, seen=seen)
    yield length


def _list_entries(data: Octets, start: int, stop: int, end: int) -> Iterator[_Entry]:
    """The indexes that the head names and that lie in the body. Raises `Corrupt` where the head is damaged."""
    reader = SpanReader(data, start + _FIXED_HEAD, stop, _WHAT)
    count = int.from_bytes(bytes(data[start + 16 : start + 20]), "big")
    for number in range(count):
        column = _read_text(reader, "a column's name")
        for _ in range(int.from_bytes(reader.octets(4, "the count of indexes"), "big")):
            kind = _read_text(reader, "an index's type")
            place, length = struct.unpack(">ii", reader.octets(8, "an index's start and length"))
            begin = start + place
            if place != EMPTY and begin >= stop and length >= 0 and begin + length <= end:
                yield _Entry(column, number, kind, begin, begin + length)


def _explain_body(
    data: Octets, start: int, stop: int, end: int, types: Mapping[str, TypeLike]
) -> Iterator[Span]:
    entries, _ = collect(_list_entries(data, start, stop, end))
    pieces, failure = _cut_body(entries, stop, end)

    def make(first: int, last: int) -> Iterator[Span]:
        for begin, after, entry in pieces[first:last]:
            if entry is None:
                note = "no index of the head lies here"
                yield Span(begin, after, "unreferenced", None, note, role="unexplained")
            else:
                kind = types.get(entry.column)
                yield explain_index_body(data, begin, after, entry.kind, entry.column, kind, entry.number)

    bounds = [(begin, after) for begin, after, _ in pieces]
    yield from group_items(len(pieces), partial(_place, bounds, stop), "indexes", make)
    if failure is not None:
        raise failure


def _cut_body(
    entries: list[_Entry], stop: int, end: int
) -> tuple[list[tuple[int, int, _Entry | None]], Corrupt | None]:
    """The indexes in order of bytes with the gaps between them, up to the first that overlaps another."""
    pieces: list[tuple[int, int, _Entry | None]] = []
    at = stop
    for entry in sorted(entries, key=lambda entry: (entry.start, entry.end)):
        if entry.start < at:
            seen = f"{entry.start} to {entry.end}"
            message = f"the {entry.kind} index of {entry.column} overlaps another"
            return pieces, Corrupt(message, offset=at, expected=f"from {at}", seen=seen)
        if at < entry.start:
            pieces.append((at, entry.start, None))
        pieces.append((entry.start, entry.end, entry))
        at = entry.end
    if at < end:
        pieces.append((at, end, None))
    return pieces, None
