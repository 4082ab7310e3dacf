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
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from lakelens.codecs.bitmaps.roaring_spans import explain_roaring32
from lakelens.codecs.paimon.index.keys import KeyLayout, read_key
from lakelens.codecs.span.reader import (
    SpanReader,
    explain_items,
    explain_numbers,
    explain_part,
    format_count,
    rename,
)
from lakelens.codecs.span.span import Span

_FIXED_HEADER = 13  # version, rows, distinct values, dictionary length
_UNTYPED = "not separable without the type of the column"


def explain_range_bitmap(reader: SpanReader, layout: KeyLayout | None) -> Iterator[Span]:
    """The parts of a range-bitmap index that fills the reader's bytes. Without `layout` its values are not separated."""
    size = reader.number(">i", "header length")
    yield size
    header = reader.take(max(size.value, _FIXED_HEADER), "its header")
    if size.value < _FIXED_HEADER:
        reader.fail("a header length that does not fit", size.start, expected=_FIXED_HEADER, seen=size.value)
    yield explain_part(reader, header, reader.at, "header", partial(_explain_header, layout))
    length = int.from_bytes(bytes(reader.data[reader.at - 4 : reader.at]), "big", signed=True)
    dictionary = reader.take(length, "its dictionary")
    if length:
        explain = partial(_explain_dictionary, layout)
        yield explain_part(reader, dictionary, reader.at, "dictionary", explain)
    slices = reader.take(reader.left, "its slices")
    if slices < reader.end:
        yield explain_part(reader, slices, reader.end, "slices", _explain_slices)


def _explain_header(layout: KeyLayout | None, reader: SpanReader) -> Iterator[Span]:
    yield from reader.numbers(">b version; >i row count")
    values = reader.number(">i", "distinct values")
    yield values
    if values.value > 0 and layout is None:
        yield reader.leaf(reader.left - 4, "min and max", _UNTYPED, role="unexplained")
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
        children = partial(explain_numbers, reader.data, first, ">i", len(starts), "chunk", group="offsets")
        yield Span(first, reader.at, "chunk offsets", None, "from the first chunk on", children)
    base = reader.take(chunks.value, "the chunks")
    if starts and (starts[0] != 0 or starts[-1] >= chunks.value):
        reader.fail("the chunks' offsets do not fit", first, expected=f"0 to {chunks.value}", seen=starts)
    if starts:
        places = [base + start for start in starts] + [reader.at]
        explain = partial(_explain_chunk, layout)

        def make(item: SpanReader, number: int) -> Span:
            return explain_part(item, item.at, item.end, f"chunk {number}", explain)

        children = partial(explain_items, reader, places, "chunks", make)
        yield Span(base, reader.at, "chunks", None, format_count(len(starts), "chunk"), children)
    if reader.left:
        yield from _explain_values(layout, reader)


def _explain_chunk(layout: KeyLayout | None, reader: SpanReader) -> Iterator[Span]:
    """The head of a chunk: its first value, and where the values after it are."""
    yield reader.number(">b", "version")
    if layout is None:
        yield reader.rest("first value and lengths", _UNTYPED)
        return
    yield read_key(reader, layout, "first value")
    yield reader.number(">i", "code", "of the first value")
    yield reader.number(">i", "offset", "of the other values")
    yield reader.number(">i", "size", "how many other values")
    names = ("offsets length", "values length") if layout == "text" else ("values length", "width")
    for name in names:
        yield reader.number(">i", name)


def _explain_values(layout: KeyLayout | None, reader: SpanReader) -> Iterator[Span]:
    """The values after the first of each chunk, one by one when they have one width."""
    start = reader.at
    width = struct.calcsize(layout) if layout is not None and layout != "text" else 0
    if layout is None or not width or reader.left % width:
        yield reader.rest("values", "the values after the first of each chunk")
        return
    children = partial(explain_numbers, reader.data, start, layout, reader.left // width, "value")
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
        yield Span(offset.start, length.end, f"slice {i}", None, "where it is", (offset, length))
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
