"""Paimon's range-bitmap index with a name for every byte.

    header       header length i32 | version u8 | rows i32 | distinct values i32 | min | max (both only when there are
                 values) | dictionary length i32
    dictionary   header length i32 | version u8 | chunk count i32 | offsets length i32 | chunks length i32
                 per chunk: offset i32
                 per chunk: version u8 | first value | code i32 | offset i32 | size i32 | two lengths i32
                 the other values of the chunks
    slices       header length i32 | version u8 | slice count u8 | existence length i32 | indexes length i32
                 per slice: offset i32 | length i32
                 existence bitmap | one Roaring bitmap for each bit of the codes

Everything but the Roaring bitmaps is big-endian; header lengths do not count themselves. A value's code is its place in the
dictionary. Follows "File Index: range-bitmap" of Paimon's specification.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from lakelens.codecs.bitmaps.roaring_spans import explain_roaring32
from lakelens.codecs.paimon.index.keys import KeyLayout, read_key
from lakelens.codecs.span.reader import SpanReader, format_count, group_items, rename
from lakelens.codecs.span.span import Span

_FIXED_HEADER = 13  # version, rows, distinct values, dictionary length


def explain_range_bitmap(reader: SpanReader, layout: KeyLayout | None) -> Iterator[Span]:
    """The parts of a range-bitmap index that fills the reader's bytes. Without `layout` its values are not told apart."""
    size = reader.number(">i", "header length")
    yield size
    header = reader.take(max(size.value, _FIXED_HEADER), "its header")
    if size.value < _FIXED_HEADER:
        reader.fail("a header length that does not fit", size.start, expected=_FIXED_HEADER, seen=size.value)
    yield _section(reader, header, reader.at, "header", partial(_explain_header, layout))
    length = int.from_bytes(bytes(reader.data[reader.at - 4 : reader.at]), "big", signed=True)
    dictionary = reader.take(length, "its dictionary")
    if length:
        explain = partial(_explain_dictionary, layout)
        yield _section(reader, dictionary, reader.at, "dictionary", explain)
    slices = reader.take(reader.left, "its slices")
    if slices < reader.end:
        yield _section(reader, slices, reader.end, "slices", _explain_slices)


def _section(
    reader: SpanReader,
    start: int,
    end: int,
    label: str,
    explain: Callable[[SpanReader], Iterator[Span]],
) -> Span:
    """A part whose damage stays in it."""

    def make() -> Iterator[Span]:
        return explain(SpanReader(reader.data, start, end, reader.what))

    return Span(start, end, label, None, "", make, origin=start)


def _explain_header(layout: KeyLayout | None, reader: SpanReader) -> Iterator[Span]:
    yield reader.number(">b", "version")
    yield reader.number(">i", "row count")
    values = reader.number(">i", "distinct values")
    yield values
    if values.value > 0 and layout is None:
        at = reader.take(reader.left - 4, "min and max")
        note = "not told apart without the type of the column"
        yield Span(at, reader.at, "min and max", None, note, role="unexplained")
    elif values.value > 0 and layout is not None:
        yield read_key(reader, layout, "min")
        yield read_key(reader, layout, "max")
    yield reader.number(">i", "dictionary length")
    if reader.left:
        yield reader.rest("unused", "header bytes that version 1 does not have")


def _explain_dictionary(layout: KeyLayout | None, reader: SpanReader) -> Iterator[Span]:
    size = reader.number(">i", "header length")
    yield size
    header = reader.at
    yield reader.number(">b", "version")
    count = reader.number(">i", "chunk count")
    yield count
    offsets = reader.number(">i", "offsets length")
    yield offsets
    chunks = reader.number(">i", "chunks length")
    yield chunks
    reader.take(size.value - (reader.at - header), "the dictionary's header")
    first = reader.at
    raw = reader.octets(offsets.value, "the chunks' offsets")
    starts = struct.unpack(f">{len(raw) // 4}i", raw[: len(raw) // 4 * 4])
    if len(starts) != count.value or any(b <= a for a, b in pairwise(starts)):
        reader.fail("the chunks' offsets do not fit", first, expected=f"{count.value} that ascend")
    if starts:
        make = partial(_explain_offsets, first, starts)
        children = partial(group_items, len(starts), lambda i: first + 4 * i, "offsets", make)
        yield Span(first, reader.at, "chunk offsets", None, "from the first chunk on", children)
    base = reader.take(chunks.value, "the chunks")
    if starts and (starts[0] != 0 or starts[-1] >= chunks.value):
        reader.fail("the chunks' offsets do not fit", first, expected=f"0 to {chunks.value}", seen=starts)
    if starts:
        places = [base + start for start in starts] + [reader.at]
        build = partial(_explain_chunks, layout, reader, places)
        children = partial(group_items, len(starts), places.__getitem__, "chunks", build)
        yield Span(base, reader.at, "chunks", None, format_count(len(starts), "chunk"), children)
    if reader.left:
        yield from _explain_values(layout, reader)


def _explain_offsets(place: int, starts: tuple[int, ...], first: int, stop: int) -> Iterator[Span]:
    for i in range(first, stop):
        at = place + 4 * i
        yield Span(at, at + 4, f"chunk {i}", starts[i], "int32, big-endian")


def _explain_chunks(
    layout: KeyLayout | None, reader: SpanReader, places: list[int], first: int, stop: int
) -> Iterator[Span]:
    for i in range(first, stop):
        explain = partial(_explain_chunk, layout)
        yield _section(reader, places[i], places[i + 1], f"chunk {i}", explain)


def _explain_chunk(layout: KeyLayout | None, reader: SpanReader) -> Iterator[Span]:
    """The head of a chunk: its first value, and where the values after it lie."""
    yield reader.number(">b", "version")
    if layout is None:
        yield reader.rest("first value and lengths", "not told apart without the type of the column")
        return
    yield read_key(reader, layout, "first value")
    yield reader.number(">i", "code", "of the first value")
    yield reader.number(">i", "offset", "of the other values")
    yield reader.number(">i", "size", "how many other values")
    names = ("offsets length", "values length") if layout == "text" else ("values length", "width")
    for name in names:
        yield reader.number(">i", name)


def _explain_values(layout: KeyLayout | None, reader: SpanReader) -> Iterator[Span]:
    """The values after the first of each chunk: told one by one when they have one width."""
    start = reader.at
    width = struct.calcsize(layout) if layout is not None and layout != "text" else 0
    if layout is None or not width or reader.left % width:
        yield reader.rest("values", "the values after the first of each chunk")
        return
    count = reader.left // width

    def make(first: int, stop: int) -> Iterator[Span]:
        for i in range(first, stop):
            inner = SpanReader(reader.data, start + width * i, start + width * (i + 1), reader.what)
            yield read_key(inner, layout, "value")

    reader.at = reader.end
    children = partial(group_items, count, lambda i: start + width * i, "values", make)
    yield Span(start, reader.end, "values", None, "the values after the first of each chunk", children)


def _explain_slices(reader: SpanReader) -> Iterator[Span]:
    size = reader.number(">i", "header length")
    yield size
    header = reader.at
    yield reader.number(">b", "version")
    count = reader.number(">B", "slice count", "one for each bit of the codes")
    yield count
    existence = reader.number(">i", "existence bitmap length")
    yield existence
    indexes = reader.number(">i", "indexes length")
    yield indexes
    if indexes.value != 8 * count.value or size.value != 10 + indexes.value:
        reader.fail(
            "the lengths of the slices do not fit", header, expected=8 * count.value, seen=indexes.value
        )
    places = []
    for i in range(count.value):
        offset, length = reader.number(">i", "offset"), reader.number(">i", "length", "bytes")
        places.append((offset.value, length.value))
        yield Span(offset.start, length.end, f"slice {i}", None, "where it lies", (offset, length))
    at = reader.take(existence.value, "its existence bitmap")
    if existence.value:
        bitmap = explain_roaring32(reader.data, at, reader.at)
        yield rename(bitmap, "existence bitmap", "rows with a value")
    base = reader.at
    for i, (place, length) in enumerate(places):
        if base + place != reader.at:
            reader.fail(
                "the slices do not follow each other", reader.at, expected=reader.at - base, seen=place
            )
        at = reader.take(length, "a slice")
        bitmap = explain_roaring32(reader.data, at, reader.at)
        yield rename(bitmap, f"slice {i}", f"rows whose code has bit {i} set")
    if reader.left:
        yield reader.rest("unused", "bytes after the last slice")
