"""Paimon's global bitmap index files with a name for every byte.

    bitmaps and dictionary blocks | null rows | non-null rows | index block | footer
    footer        null rows: offset i64, size i32 | non-null rows: the same | index block: the same
                  value count i32 | version i32 | magic "BGIX"
    index block, dictionary block     entry count varint | entries | trailer, see `lakelens.codecs.paimon.index.blocks`
    entry         key length varint | key | offset varint | size varint     of a dictionary block (its first key) or a bitmap
    bitmap        64-bit Roaring, without a trailer

The footer is big-endian, trailers little-endian. As written by Paimon 2.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from lakelens.codecs.bitmaps.roaring_spans import explain_roaring64
from lakelens.codecs.paimon.index.blocks import (
    TRAILER,
    WHAT,
    IndexPart,
    explain_block,
    explain_parts,
    explain_varint,
    is_listed,
    place_part,
    place_parts,
    read_footer,
)
from lakelens.codecs.paimon.index.keys import KeyLayout, choose_layout, decode_key
from lakelens.codecs.paimon.types import TypeLike
from lakelens.codecs.span.reader import (
    FixedField,
    SpanReader,
    collect,
    explain_items,
    fields,
    find_places,
    format_count,
    rename,
)
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import Corrupt

MAGIC = b"BGIX"
FOOTER = 48
_HANDLES = dict.fromkeys(("null rows", "non-null rows", "index block"), fields(">q offset; >i size"))
_END = (
    FixedField(">i", "value count"),
    FixedField(">i", "version", known=(1,), unread="version {} of a global bitmap index"),
    FixedField("4s", "magic"),
)
_TRAILERS = {"index block": TRAILER, "null rows": 0, "non-null rows": 0}


def explain_bitmap_index(data: Octets, start: int, end: int, type_: TypeLike | None = None) -> Iterator[Span]:
    """Explain the parts of a global bitmap index file that fills `data[start:end]`, which ends in its magic."""
    reader = SpanReader(data, end - FOOTER, end, WHAT)
    leaves = list(read_footer(reader, _HANDLES, _END))
    footer = Span(end - FOOTER, end, "footer", None, "where the other parts are", leaves)
    explain = partial(_explain_part, data, choose_layout(type_))
    return explain_parts(data, start, footer, _find_parts(data, start, footer), explain)


def _find_parts(data: Octets, start: int, footer: Span) -> Iterator[IndexPart]:
    """Find the parts that the footer, the index block and the dictionary blocks name, each once. Raises `Corrupt`."""
    index = None
    for part in place_parts(footer, start, _TRAILERS):
        index = part if part.label == "index block" else index
        yield part
    if index is None or any(leaf.error for leaf in footer.children):
        return
    after = start
    for entry in _list_entries(data, index):
        block = place_part("dictionary block", _find_handle(entry), start, footer.start, TRAILER)
        if block.start < after:  # each is listed once, so that naming one again and again costs nothing
            message = "dictionary blocks that do not follow each other"
            raise Corrupt(message, offset=entry.start, expected=f"from {after}", seen=block.start)
        after = block.after
        yield block
        for inner in _list_entries(data, block):
            yield place_part("bitmap", _find_handle(inner), start, footer.start, 0)


def _list_entries(data: Octets, block: IndexPart) -> Iterator[Span]:
    """List the entries of a block, none when it cannot be listed. Raises `Corrupt`."""
    if is_listed(data, block):
        reader = SpanReader(data, block.start, block.end, WHAT)
        for _ in range(_read_count(reader).value):
            yield _read_entry(None, "", reader, 0)


def _find_handle(entry: Span) -> tuple[int, int]:
    """Find the offset and the size that an entry names."""
    return entry.children[-2].value, entry.children[-1].value


def _read_count(reader: SpanReader) -> Span:
    count = explain_varint(reader, "entry count")
    limit = reader.left // 3
    if count.value > limit:
        reader.fail("an impossible count of entries", count.start, expected=f"0 to {limit}", seen=count.value)
    return count


def _explain_part(data: Octets, layout: KeyLayout | None, part: IndexPart) -> Span:
    if not part.label.endswith("block"):
        return rename(explain_roaring64(data, part.start, part.end), part.label, "row ids")
    named = "dictionary block" if part.label == "index block" else "bitmap"
    children = partial(explain_block, data, part, partial(_explain_entries, layout, named))
    return Span(part.start, part.after, part.label, None, "", children, origin=part.start)


def _explain_entries(layout: KeyLayout | None, named: str, reader: SpanReader) -> Iterator[Span]:
    count = _read_count(reader)
    yield count
    make = partial(_read_entry, layout, named)
    places, failure = collect(find_places(reader, count.value, lambda block: _read_entry(None, "", block, 0)))
    if len(places) > 1:
        children = partial(explain_items, reader, places, "entries", make)
        note = f"{format_count(len(places) - 1, 'key')}, each with its {named}"
        yield Span(places[0], places[-1], "entries", None, note, children)
    if failure is not None:
        raise failure
    if reader.left:
        message = "bytes after the last entry of a block"
        raise Corrupt(message, offset=reader.at, seen=f"{reader.left} bytes")


def _read_entry(layout: KeyLayout | None, named: str, reader: SpanReader, _: int) -> Span:
    start = reader.at
    size = explain_varint(reader, "key length", "bytes")
    at = reader.at
    value, note = decode_key(layout, reader.octets(size.value, "a key"))
    key = Span(at, reader.at, "key", value, note)
    offset = explain_varint(reader, "offset", f"of the {named}")
    length = explain_varint(reader, "size", "bytes" if named == "bitmap" else "bytes without the trailer")
    return Span(start, reader.at, "entry", value, "", (size, key, offset, length))
