"""Data files of formats that Apache Paimon writes and lakelens knows, but whose rows it does not decode: their footers.

    Row     block … | block index | rows i64 | blocks i32 | index offset i64 | index length i32 | version 1 | 0 0 0 | SWOR
    Mosaic  bucket … | schema | row group index | index offset i64 | schema offset i64 | buckets i32 | row groups i32
            | compression u8 | version 1 | 0 0 | MOSA                                              (big-endian)
    Lance   pages … | column metadata | their table | table of global buffers | 3 offsets u64 | buffers u32 | columns u32
            | major u16 | minor u16 | LANC;    before 2.0: … | metadata offset i64 | major u16 | minor u16 | LANC
    Vortex  VTXF | segments … | postscript | version u16 | postscript length u16 | VTXF
    Video   videos and indexes … | IDEO | version u8

Little-endian where nothing else is said. Follows "Row Format" of Paimon's specification, "Design & Format Specification" of
Paimon Mosaic, the protocol of the Lance file format and "File Format" of Vortex. Damage: magics, versions that are not
known, parts that are not inside the file. What the parts hold is left unexplained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from lakelens.codecs.paimon.blob import decode_deltas
from lakelens.codecs.span.reader import (
    FixedField,
    Layout,
    SpanReader,
    collect,
    damage_span,
    explain_apart,
    explain_numbers,
    fields,
    format_count,
    group_items,
    measure,
)
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt, Unsupported

_COMPRESSIONS = {0: "none", 1: "zstd"}
_LENGTHS = ("blocks", "buckets", "row groups", "columns", "global buffers")
_SUMMARY = ("rows", *_LENGTHS, "compression", "postscript", "version")
_MAX_INDEX = 1 << 22
_PLACE = 16  # an offset and a length, in the tables of Lance


def _magic(magic: bytes) -> FixedField:
    return FixedField(f"{len(magic)}s", "magic", known=(magic,), wrong="not the magic of the format")


def _version(layout: str, title: str, *known: int) -> FixedField:
    return FixedField(layout, "version", known=known, unread=f"version {{}} of a {title} is not known")


# the footers, which are the last bytes of a file
_ROW = (
    *fields("<q rows; <i blocks; <q index offset; <i index length"),
    _version("b", "Row file", 1),
    FixedField("3x", "reserved", "zero"),
    _magic(b"SWOR"),  # "ROWS", as a little-endian number
)
_MOSAIC = (
    *fields(">q index offset; >q schema offset; >i buckets; >i row groups"),
    FixedField("B", "compression", describe=lambda code: _COMPRESSIONS.get(code, "unknown")),
    _version("B", "Mosaic file", 1),
    FixedField("2x", "reserved", "zero"),
    _magic(b"MOSA"),
)
_LANCE_VERSION = (
    FixedField("<H", "major version"),
    FixedField("<H", "minor version", describe=lambda minor: "version 2.0" if minor == 3 else ""),
    _magic(b"LANC"),
)
_LANCE = (
    *fields("<Q column metadata offset; <Q column table offset; <Q buffer table offset"),
    *fields("<I global buffers; <I columns"),
    *_LANCE_VERSION,
)
_OLD_LANCE = (FixedField("<q", "metadata offset"), *_LANCE_VERSION)
_VORTEX_MAGIC = _magic(b"VTXF")
_VORTEX = (_version("<H", "Vortex file", 1), FixedField("<H", "postscript length"), _VORTEX_MAGIC)
_VIDEO = (_magic(b"IDEO"), _version("B", "Video file", 1, 2))


class _Part(NamedTuple):
    """A part that a footer names: absolute positions."""

    label: str
    start: int
    end: int
    note: str = ""
    children: Callable[[], Iterator[Span]] | None = None


def explain_row(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a tree over a file of Paimon's Row format; its value is what the footer says: rows, blocks, version.

    >>> footer = bytes(8) + bytes(4) + bytes(8) + (3).to_bytes(4, "little") + b"\\x01\\0\\0\\0SWOR"
    >>> explain_row(b"\\0\\0\\0" + footer).value
    {'rows': 0, 'blocks': 0, 'version': 1}
    """
    return _explain(data, start, end, "Row file", _ROW, _list_row_parts)


def explain_mosaic(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """A tree over a file of Paimon's Mosaic format; its value is what the footer says: buckets, row groups, compression.

    >>> footer = bytes(8) + bytes(8) + bytes.fromhex("00000002 00000000 01 01 0000") + b"MOSA"
    >>> explain_mosaic(footer).value
    {'buckets': 2, 'row groups': 0, 'compression': 'zstd', 'version': 1}
    """
    return _explain(data, start, end, "Mosaic file", _MOSAIC, _list_mosaic_parts)


def explain_lance(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a tree over a Lance file; its value is what the footer says: the version, and columns since 2.0.

    >>> footer = bytes(24) + bytes.fromhex("00000000 00000000 0000 0300") + b"LANC"
    >>> explain_lance(footer).value
    {'columns': 0, 'global buffers': 0, 'version': '0.3'}
    """
    stop = len(data) if end is None else end
    tail = bytes(data[max(start, stop - 8) : stop])
    major, minor = int.from_bytes(tail[:2], "little"), int.from_bytes(tail[2:4], "little")
    is_old = len(tail) == 8 and major == 0 and minor < 3
    return _explain(data, start, stop, "Lance file", _OLD_LANCE if is_old else _LANCE, _list_lance_parts)


def explain_vortex(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a tree over a Vortex file; its value is the version that its end says.

    >>> explain_vortex(b"VTXF" + bytes(8) + bytes.fromhex("0100 0800") + b"VTXF").value
    {'postscript': 8, 'version': 1}
    """
    return _explain(data, start, end, "Vortex file", _VORTEX, _list_vortex_parts)


def explain_video(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a tree over a `.video` file of Paimon, which packs whole videos whose frames are rows.

    >>> explain_video(bytes(16) + b"IDEO\\x01").value
    {'version': 1}
    """
    return _explain(data, start, end, "Video file", _VIDEO, _list_video_parts)


def _explain(
    data: Octets,
    start: int,
    end: int | None,
    title: str,
    footer: Layout,
    find: Callable[[SpanReader, dict[str, Any]], Iterator[_Part]],
) -> Span:
    """Explain a file whose last bytes are a footer, by whose values `find` finds the parts."""
    stop, size = len(data) if end is None else end, measure(footer)

    def open_footer() -> SpanReader:
        if stop - start < size:
            seen = f"{stop - start} bytes"
            message = f"a {title} that is shorter than its footer"
            raise Corrupt(message, offset=start, expected=f"{size} bytes", seen=seen)
        return SpanReader(data, stop - size, stop, f"a {title}")

    def decode() -> dict[str, Any]:
        leaves = list(open_footer().struct(footer))
        for leaf in leaves:
            leaf.check()
        # what the leaves of a footer say of the rows, without the places of parts
        found = {leaf.label: leaf.value for leaf in leaves}
        if "major version" in found:
            found["version"] = f"{found['major version']}.{found['minor version']}"
        if "compression" in found:
            found["compression"] = _COMPRESSIONS.get(found["compression"], found["compression"])
        if title == "Vortex file":
            found["postscript"] = found["postscript length"]
        return {label: found[label] for label in _SUMMARY if label in found}

    def make() -> Iterator[Span]:
        leaves = list(open_footer().struct(footer))
        facts = {leaf.label: leaf.value for leaf in leaves}
        whole = SpanReader(data, start, stop - size, f"a {title}")
        parts, failure = collect(find(whole, facts))
        yield from explain_apart(
            parts,
            lambda part: (part.start, part.end),
            _explain_part,
            start,
            stop - size,
            "parts",
            "no part that the footer names",
            lambda part: f"the {part.label}",
        )
        if failure is not None:
            yield damage_span(Span(stop - size, stop - size, "parts"), failure)
        yield Span(stop - size, stop, "footer", None, format_count(size, "byte"), leaves)

    return Span(start, stop, title, Deferred(decode), "known; its rows are not decoded", make)


def _explain_part(part: _Part) -> Span:
    if part.children is None or part.start == part.end:
        return Span(part.start, part.end, part.label, None, part.note, role="unexplained")
    return Span(part.start, part.end, part.label, None, part.note, part.children)


def _place(whole: SpanReader, label: str, offset: int, size: int, note: str = "", **more: Any) -> _Part:
    """Place a part at an offset. Raises `Corrupt` when it is not before the footer."""
    begin = whole.at + offset
    if not whole.at <= begin <= begin + size <= whole.end:
        seen, expected = f"{offset} to {offset + size}", f"0 to {whole.end - whole.at}"
        raise Corrupt(f"a {label} outside the file", offset=whole.end, expected=expected, seen=seen)
    return _Part(label, begin, begin + size, note, **more)


def _list_row_parts(whole: SpanReader, facts: dict[str, Any]) -> Iterator[_Part]:
    offset, length = facts["index offset"], facts["index length"]
    begin = whole.at + offset
    index = _place(
        whole,
        "block index",
        offset,
        length,
        "three arrays of differences as zigzag varints",
        children=lambda: _explain_row_index(SpanReader(whole.data, begin, begin + length, "a block index")),
    )
    yield index
    yield _place(
        whole,
        "blocks",
        0,
        offset,
        "Zstandard each",
        children=partial(_explain_row_blocks, whole, index, offset),
    )


def _explain_row_index(reader: SpanReader) -> Iterator[Span]:
    for label in ("compressed sizes", "uncompressed sizes", "first rows"):
        length, content = _take_array(reader)
        yield length
        yield Span(
            content.start, content.end, label, _decode_array(reader, content), "differences, zigzag varints"
        )
    if reader.left:
        yield reader.rest("bytes", "no array of the index")


def _take_array(reader: SpanReader) -> tuple[Span, Span]:
    """Take the length of the next array of a block index, and the place of its bytes."""
    start, length, shift = reader.at, 0, 0
    while True:
        byte = reader.octets(1, "the length of an array")[0]
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
        if shift > 35:
            reader.fail("a length of more than 32 bits", start)
    leaf = Span(start, reader.at, "length", length, "varint")
    begin = reader.take(length, "an array")
    return leaf, Span(begin, reader.at, "array")


def _decode_array(reader: SpanReader, place: Span) -> tuple[int, ...]:
    if len(place) > _MAX_INDEX:
        raise Unsupported(f"an index of {len(place)} bytes is not explained, only up to {_MAX_INDEX}")
    stored = bytes(reader.data[place.start : place.end])
    return tuple(value for _, value in decode_deltas(stored, place.start))


def _explain_row_blocks(whole: SpanReader, index: _Part, size: int) -> Iterator[Span]:
    """Explain the blocks, one behind the other; their sizes are in the index."""
    reader = SpanReader(whole.data, index.start, index.end, "a block index")
    sizes, plain, rows = (_decode_array(reader, _take_array(reader)[1]) for _ in range(3))
    ends = [whole.at]
    for one in sizes:
        ends.append(ends[-1] + one)
        if one < 0 or ends[-1] > whole.at + size:
            raise Corrupt(
                "blocks that do not fit the file", offset=ends[-2], expected=f"{size} bytes", seen=one
            )

    def make(first: int, last: int) -> Iterator[Span]:
        for number in range(first, last):
            begins = f"rows from {rows[number]} on" if number < len(rows) else "rows"
            unpacked = f", {plain[number]} bytes unpacked" if number < len(plain) else ""
            label, note = f"block {number}", f"{begins}{unpacked}"
            yield Span(ends[number], ends[number + 1], label, None, note, role="unexplained")

    yield from group_items(len(sizes), ends.__getitem__, "blocks", make)


def _list_mosaic_parts(whole: SpanReader, facts: dict[str, Any]) -> Iterator[_Part]:
    index, schema = facts["index offset"], facts["schema offset"]
    yield _place(
        whole, "row group index", index, whole.end - whole.at - index, "rows and buckets of row groups"
    )
    yield _place(
        whole, "schema", schema, index - schema, "unpacked size, uint32 big-endian; then the packed schema"
    )
    yield _place(whole, "bucket data", 0, schema, "columns, some of them together in a bucket")


def _list_lance_parts(whole: SpanReader, facts: dict[str, Any]) -> Iterator[_Part]:
    if "metadata offset" in facts:
        offset = facts["metadata offset"]
        yield _place(
            whole, "metadata", offset, whole.end - whole.at - offset, "a message of Protocol Buffers"
        )
        yield _place(whole, "pages", 0, offset)
        return
    columns = facts["column metadata offset"], facts["column table offset"], facts["columns"]
    buffers = facts["buffer table offset"], facts["global buffers"]
    yield _place_table(whole, "buffer table", *buffers, "global buffer")
    yield _place_table(whole, "column table", *columns[1:], "column")
    yield _place(
        whole, "column metadata", columns[0], columns[1] - columns[0], "messages of Protocol Buffers"
    )
    yield _place(whole, "pages and buffers", 0, columns[0])


def _place_table(whole: SpanReader, label: str, offset: int, count: int, noun: str) -> _Part:
    """Give a table of places: an offset and a length for each column or buffer."""
    part = _place(whole, label, offset, count * _PLACE, f"offset and length of each {noun}")

    def name(number: int, leaf: Span) -> Span:
        fact = "length" if number % 2 else "offset"
        return Span(leaf.start, leaf.end, f"{fact} of {noun} {number // 2}", leaf.value, leaf.note)

    return part._replace(
        children=lambda: explain_numbers(whole.data, part.start, "<Q", 2 * count, noun, name)
    )


def _list_vortex_parts(whole: SpanReader, facts: dict[str, Any]) -> Iterator[_Part]:
    length = facts["postscript length"]

    def make() -> Iterator[Span]:
        yield _VORTEX_MAGIC.read(SpanReader(whole.data, whole.at, whole.end, whole.what))

    yield _place(whole, "head", 0, 4, children=make)
    size = whole.end - whole.at
    yield _place(whole, "postscript", size - length, length, "where types, layout and statistics are")
    yield _place(whole, "segments", 4, size - length - 4)


def _list_video_parts(whole: SpanReader, facts: dict[str, Any]) -> Iterator[_Part]:
    note = "whole videos, one behind the other, then indexes of frames and their lengths"
    yield _place(whole, "videos and indexes", 0, whole.end - whole.at, note)
