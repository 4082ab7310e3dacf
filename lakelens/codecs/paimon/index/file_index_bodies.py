"""The indexes in a Paimon file index with a name for every byte.

    bloom-filter   number of hash functions i32 | bit set
    bitmap         version u8 | rows i32 | distinct values i32 | has null | null offset i32 (when there are nulls)
                   version 1: per value: value | offset i32
                   version 2: null length i32 (when there are nulls) | block count i32
                              per block: first value | offset i32
                              bitmaps offset i32
                              per block: entry count i32, per entry: value | offset i32 | length i32
                   Roaring bitmaps; a negative offset -1 - p stands for the single row p
    bsi            version u8 | rows i32 | has positive | slices | has negative | slices
    slices         version u8 | min i64 | max i64 | rows with a value: Roaring | slice count i32 | Roaring bitmaps
    range-bitmap   `lakelens.codecs.paimon.index.file_index_bodies`

Everything but the Roaring bitmaps is big-endian. Values are i32 length + UTF-8 for texts and of fixed width for others: the
type of the column must be known to separate them. Follows "File Index" of Paimon's specification.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from lakelens.codecs.bitmaps.roaring_spans import explain_roaring32, measure_roaring32
from lakelens.codecs.paimon.index.keys import KeyLayout, choose_layout, read_key
from lakelens.codecs.paimon.types import TypeLike
from lakelens.codecs.span.reader import (
    SpanReader,
    collect,
    explain_items,
    explain_numbers,
    explain_part,
    fields,
    find_places,
    format_count,
    measure,
    rename,
)
from lakelens.codecs.span.span import Octets, Span

# Paimon's range-bitmap index with a name for every byte.
#
#     header       header length i32 | version u8 | rows i32 | distinct values i32 | min | max (both only when there are
#                  values) | dictionary length i32
#     dictionary   header length i32 | version u8 | chunk count i32 | offsets length i32 | chunks length i32
#                  per chunk: offset i32
#                  per chunk: version u8 | first value | code i32 | offset i32 | size i32 | two lengths i32
#                  the other values of the chunks
#     slices       header length i32 | version u8 | slice count u8 | existence length i32 | indexes length i32
#                  per slice: offset i32 | length i32
#                  existence bitmap | one Roaring bitmap for each bit of the codes
#
# Everything but the Roaring bitmaps is big-endian; header lengths do not count themselves. A value's code is its place in
# the dictionary. Follows "File Index: range-bitmap" of Paimon's specification.

_FIXED_HEADER = 13  # version, rows, distinct values, dictionary length
_UNTYPED = "not separable without the type of the column"
_RANGE_HEADER = fields(">b version; >i row count; >i distinct values")
_DICTIONARY = fields(">i header length; >b version; >i chunk count; >i offsets length; >i chunks length")
_VALUES = fields(
    ">i code: of the first value; >i offset: of the other values; >i size: how many other values"
)
_CHUNK = (*_VALUES, *fields(">i values length; >i width"))
_CHUNK_OF_TEXTS = (*_VALUES, *fields(">i offsets length; >i values length"))
_SLICES = fields(
    ">i header length; >b version; >B slice count: one for each bit of the codes; >i existence bitmap length; "
    ">i indexes length"
)
_SLICE = fields(">i offset; >i length: bytes")


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
        explain = partial(_explain_range_dictionary, layout)
        yield explain_part(reader, dictionary, reader.at, "dictionary", explain)
    slices = reader.take(reader.left, "its slices")
    if slices < reader.end:
        yield explain_part(reader, slices, reader.end, "slices", _explain_range_slices)


def _explain_header(layout: KeyLayout | None, reader: SpanReader) -> Iterator[Span]:
    head = yield from reader.struct(_RANGE_HEADER)
    if head["distinct values"] > 0 and layout is None:
        yield reader.leaf(reader.left - 4, "min and max", _UNTYPED, role="unexplained")
    elif head["distinct values"] > 0 and layout is not None:
        yield read_key(reader, layout, "min")
        yield read_key(reader, layout, "max")
    yield reader.number(">i", "dictionary length")
    if reader.left:
        yield reader.rest("unused", "header bytes that version 1 does not have")


def _explain_range_dictionary(layout: KeyLayout | None, reader: SpanReader) -> Iterator[Span]:
    head = yield from reader.struct(_DICTIONARY)
    reader.take(head["header length"] + 4 - measure(_DICTIONARY), "the dictionary's header")
    first, count, size = reader.at, head["chunk count"], head["chunks length"]
    raw = reader.octets(head["offsets length"], "the chunks' offsets")
    starts = struct.unpack(f">{len(raw) // 4}i", raw[: len(raw) // 4 * 4])
    if len(starts) != count or any(b <= a for a, b in pairwise(starts)):
        reader.fail("the chunks' offsets do not fit", first, expected=f"{count} that ascend")
    if starts:
        children = partial(explain_numbers, reader.data, first, ">i", len(starts), "chunk", group="offsets")
        yield Span(first, reader.at, "chunk offsets", None, "from the first chunk on", children)
    base = reader.take(size, "the chunks")
    if starts and (starts[0] != 0 or starts[-1] >= size):
        reader.fail("the chunks' offsets do not fit", first, expected=f"0 to {size}", seen=starts)
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
    """Explain the head of a chunk: its first value, and where the values after it are."""
    yield reader.number(">b", "version")
    if layout is None:
        yield reader.rest("first value and lengths", _UNTYPED)
        return
    yield read_key(reader, layout, "first value")
    yield from reader.struct(_CHUNK_OF_TEXTS if layout == "text" else _CHUNK)


def _explain_values(layout: KeyLayout | None, reader: SpanReader) -> Iterator[Span]:
    """Explain the values after the first of each chunk, one by one when they have one width."""
    start = reader.at
    width = struct.calcsize(layout) if layout is not None and layout != "text" else 0
    if layout is None or not width or reader.left % width:
        yield reader.rest("values", "the values after the first of each chunk")
        return
    children = partial(explain_numbers, reader.data, start, layout, reader.left // width, "value")
    yield Span(start, reader.end, "values", None, "the values after the first of each chunk", children)


def _explain_range_slices(reader: SpanReader) -> Iterator[Span]:
    header = reader.at + 4
    head = yield from reader.struct(_SLICES)
    count, indexes = head["slice count"], head["indexes length"]
    if indexes != 8 * count or head["header length"] != 10 + indexes:
        reader.fail("the lengths of the slices do not fit", header, expected=8 * count, seen=indexes)
    places = []
    for i in range(count):
        offset, length = reader.struct(_SLICE)
        places.append((offset.value, length.value))
        yield Span(offset.start, length.end, f"slice {i}", None, "where it is", (offset, length))
    at = reader.take(head["existence bitmap length"], "its existence bitmap")
    if at < reader.at:
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


_LARGEST_BIT_SET = 1 << 24
_MAX_VALUES = 1 << 20
_MAX_SLICES = 64
_BSI = fields(">b version; >i row count")
_BSI_OF_A_SIGN = fields(">b version; >q min; >q max")


def explain_index_body(
    data: Octets, start: int, end: int, kind: str, column: str, type_: TypeLike | None, number: int
) -> Span:
    """Explain one index of a file index, by its type; one of an unknown type stays unexplained."""
    note = f"index of column {column}"
    explain = _BODIES.get(kind)
    if explain is None:
        note += ", of an unknown type"
        return Span(start, end, kind, None, note, role="unexplained", number=number)
    reader, layout = SpanReader(data, start, end, f"a {kind} index"), choose_layout(type_)
    return explain_part(reader, start, end, kind, lambda part: explain(part, layout), note, number=number)


def _explain_bloom_filter(reader: SpanReader, layout: KeyLayout | None) -> Iterator[Span]:
    yield reader.number(">i", "number of hash functions")
    size = reader.left
    if not size:
        return
    note = f"{8 * size} bits"
    if size <= _LARGEST_BIT_SET:
        ones = int.from_bytes(bytes(reader.data[reader.at : reader.end]), "big").bit_count()
        note += f", {ones} of them set"
    yield reader.leaf(size, "bit set", note, part="its bits")


def _explain_bitmap(reader: SpanReader, layout: KeyLayout | None) -> Iterator[Span]:
    start = reader.at
    version = reader.number(">b", "version")
    rows = reader.number(">i", "row count")
    values = reader.number(">i", "distinct values", "nulls not counted")
    nulls = reader.number(">?", "has null")
    head = [version, rows, values, nulls]
    null_offset = -1
    if nulls.value:
        head.append(reader.number(">i", "null offset", describe=_describe_offset))
        null_offset = head[-1].value
        if version.value == 2:
            head.append(reader.number(">i", "null bitmap length"))
    yield Span(start, reader.at, "head", None, "", head)
    if version.value not in (1, 2):
        yield reader.rest("dictionary and bitmaps", f"of version {version.value}, which is unknown")
    elif layout is None:
        yield reader.rest("dictionary and bitmaps", "not separable without the type of the column")
    elif not 0 <= values.value <= reader.left // 5:
        message, expected = "an impossible count of values", f"0 to {reader.left // 5}"
        reader.fail(message, values.start, expected=expected, seen=values.value)
    elif values.value > _MAX_VALUES:
        yield reader.rest("dictionary and bitmaps", f"more than {_MAX_VALUES} values are not listed")
    else:
        offsets = [null_offset]
        if version.value == 1:
            yield from _explain_dictionary(reader, layout, values.value, 0, offsets, "dictionary")
        else:
            yield from _explain_blocks(reader, layout, values.value, offsets)
        yield from _explain_bitmaps(reader, sorted({offset for offset in offsets if offset >= 0}))


def _describe_offset(offset: int) -> str:
    return f"the single row {-1 - offset}" if offset < 0 else "a bitmap"


def _explain_dictionary(
    reader: SpanReader, layout: KeyLayout, count: int, more: int, offsets: list[int], label: str
) -> Iterator[Span]:
    """Values with the offset of their bitmap and `more` numbers each; the offsets are added to `offsets`."""

    def make(inner: SpanReader, number: int) -> Span:
        start, key = inner.at, read_key(inner, layout, "value")
        parts = [key, inner.number(">i", "offset", describe=_describe_offset)]
        if more:
            parts.append(inner.number(">i", "length", describe=lambda n: "" if n >= 0 else "no bitmap"))
        return Span(start, inner.at, f"value {number}", key.value, "", parts)

    places = list(find_places(reader, count, lambda all_: offsets.append(make(all_, 0).children[1].value)))
    if count:
        children = partial(explain_items, reader, places, "values", make)
        yield Span(places[0], places[-1], label, None, format_count(count, "value"), children)


def _explain_blocks(reader: SpanReader, layout: KeyLayout, count: int, offsets: list[int]) -> Iterator[Span]:
    """Explain the two levels of version 2: the first value of each block, then the blocks."""
    blocks = reader.number(">i", "index block count")
    yield blocks
    limit = min(count, reader.left // 5)
    if not 0 <= blocks.value <= limit:
        message = "an impossible count of index blocks"
        reader.fail(message, blocks.start, expected=f"0 to {limit}", seen=blocks.value)

    # the first value of each block and where the block starts
    def make(inner: SpanReader, number: int) -> Span:
        start, key = inner.at, read_key(inner, layout, "first value")
        offset = inner.number(">i", "offset", "from the first block on")
        return Span(start, inner.at, f"block {number}", key.value, "", [key, offset])

    places = list(find_places(reader, blocks.value, lambda all_: make(all_, 0)))
    if blocks.value:
        children = partial(explain_items, reader, places, "blocks", make)
        yield Span(
            places[0], places[-1], "blocks", None, "the first value of each, and where it starts", children
        )
    body = reader.number(">i", "bitmaps offset", "where the bitmaps start, from the first block on")
    yield body
    first = reader.at
    for i in range(blocks.value):
        at = reader.at
        entries = reader.number(">i", "entry count")
        if not 0 <= entries.value <= min(count, reader.left // 9):
            reader.fail("an impossible count of values", at, expected=f"0 to {count}", seen=entries.value)
        inside = list(_explain_dictionary(reader, layout, entries.value, 1, offsets, "entries"))
        yield Span(at, reader.at, f"index block {i}", None, "", [entries, *inside])
    if reader.at - first != body.value:
        reader.fail(
            "the bitmaps do not start after the blocks",
            reader.at,
            expected=body.value,
            seen=reader.at - first,
        )


def _explain_bitmaps(reader: SpanReader, offsets: list[int]) -> Iterator[Span]:
    """Explain the bitmaps after the dictionary, each up to the next."""
    base, end = reader.at, reader.end
    inside = [offset for offset in offsets if base + offset < end]

    def make(item: SpanReader, _: int) -> Span:
        return rename(explain_roaring32(item.data, item.at, item.end), "bitmap", "rows with one value")

    if inside:
        if inside[0]:
            yield Span(base, base + inside[0], "unreferenced", None, "no value names it", role="unexplained")
        places = [*(base + offset for offset in inside), end]
        children = partial(explain_items, reader, places, "bitmaps", make)
        yield Span(places[0], end, "bitmaps", None, format_count(len(inside), "bitmap"), children)
        reader.at = end
    if len(inside) < len(offsets):
        missing = offsets[len(inside)]
        reader.fail("a bitmap outside its index", end, expected=f"0 to {end - base}", seen=missing)
    if reader.left:
        yield reader.rest("unreferenced", "no value names it")


def _explain_bsi(reader: SpanReader, layout: KeyLayout | None) -> Iterator[Span]:
    yield from reader.struct(_BSI)
    for sign in ("positive", "negative"):
        present = reader.number(">?", f"has {sign}")
        yield present
        if present.value:
            # a bit-sliced index of the values of one sign: one bitmap for each bit of the values
            start = reader.at
            parts, failure = collect(_read_slices(reader))
            if parts:
                yield Span(
                    start,
                    parts[-1].end,
                    f"{sign} values",
                    None,
                    "their amounts, one bitmap for each bit",
                    parts,
                )
            if failure is not None:
                raise failure


def _read_slices(reader: SpanReader) -> Iterator[Span]:
    yield from reader.struct(_BSI_OF_A_SIGN)
    yield _read_bitmap(reader, "existence bitmap", "rows with a value of this sign")
    count = reader.number(">i", "slice count")
    yield count
    if not 0 <= count.value <= _MAX_SLICES:
        message = "an impossible count of slices"
        reader.fail(message, count.start, expected=f"0 to {_MAX_SLICES}", seen=count.value)
    for i in range(count.value):
        yield _read_bitmap(reader, f"slice {i}", f"rows whose value has bit {i} set")


def _read_bitmap(reader: SpanReader, label: str, note: str) -> Span:
    stop = measure_roaring32(reader.data, reader.at, reader.end)
    at, reader.at = reader.at, stop
    return rename(explain_roaring32(reader.data, at, stop), label, note)


_BODIES: dict[str, Callable[[SpanReader, KeyLayout | None], Iterator[Span]]] = {
    "bloom-filter": _explain_bloom_filter,
    "bitmap": _explain_bitmap,
    "bsi": _explain_bsi,
    "range-bitmap": explain_range_bitmap,
}
