"""What Paimon's index manifests say of a global index in bytes: its keys, and what it was made from.

    index meta    first key length i32 | first key | last key length i32 | last key | has nulls u8
                  from 2.0 on: version u8 (1) | null key flags u8 (bit 0 the first, bit 1 the last); a length of -1 is no key
    source meta   of one level of a bucket: version i32 | level i32 | file count i32, per file: name | rows i64
                  of rows with ids: magic "DEIX" | version i32 | scanned snapshot id i64

Index meta (of B-tree and bitmap indexes) is little-endian, source meta big-endian; names are Java `writeUTF`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from lakelens.codecs.paimon.index.keys import choose_layout, decode_key, explain_name
from lakelens.codecs.paimon.types import TypeLike
from lakelens.codecs.span.reader import (
    FixedField,
    SpanReader,
    damage_span_if,
    explain_items,
    fields,
    find_places,
)
from lakelens.codecs.span.span import Octets, Span

DATA_EVOLUTION = b"DEIX"
_SMALLEST_FILE = 10
_SINCE_2 = fields("<B version; <B null key flags: bit 0: no first key, bit 1: no last key")
_EVOLUTION = (FixedField("4s", "magic"), *fields(">i version; >q scanned snapshot id"))
_LEVEL = fields(">i version; >i level")


def explain_index_meta(
    data: Octets, start: int = 0, end: int | None = None, *, type: TypeLike | None = None
) -> Span:
    """Explain the keys that a B-tree or bitmap index begins and ends with; `type` is the Paimon type of its column.

    >>> span = explain_index_meta(bytes.fromhex("03000000 6f6e65 03000000 74776f 00"), type="STRING")
    >>> [leaf.value for leaf in span.leaves()]
    [3, 'one', 3, 'two', False]
    """
    end = len(data) if end is None else end
    children = partial(_explain_keys, data, start, end, type)
    return Span(start, end, "index meta", None, "the keys of the index", children, origin=start)


def explain_source_meta(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain what a global index was made from: the data files of one level, or the rows up to a snapshot.

    >>> span = explain_source_meta(bytes.fromhex("44454958 00000001 0000000000000007"))
    >>> [leaf.value for leaf in span.leaves()]
    [b'DEIX', 1, 7]
    """
    end = len(data) if end is None else end
    children = partial(_explain_source, data, start, end)
    return Span(start, end, "source meta", None, "what the index was made from", children, origin=start)


def _explain_keys(data: Octets, start: int, end: int, type_: TypeLike | None) -> Iterator[Span]:
    reader = SpanReader(data, start, end, "an index meta")
    layout = choose_layout(type_)
    for label in ("first key", "last key"):
        size = reader.number("<i", f"{label} length", describe=lambda size: "no key" if size < 0 else "bytes")
        yield damage_span_if(size.value < -1, size, "an impossible length of a key", expected="-1 or more")
        if size.value > 0:
            at = reader.at
            value, note = decode_key(layout, reader.octets(size.value, label))
            yield Span(at, reader.at, label, value, note)
    yield reader.number("<?", "has nulls")
    if reader.left:
        yield from reader.struct(_SINCE_2)
    if reader.left:
        yield reader.rest("unused", "bytes that version 1 does not have")


def _explain_source(data: Octets, start: int, end: int) -> Iterator[Span]:
    reader = SpanReader(data, start, end, "a source meta")
    if bytes(data[start : start + 4]) == DATA_EVOLUTION:
        yield from reader.struct(_EVOLUTION)
    else:
        yield from reader.struct(_LEVEL)
        count = reader.count(">i", "file count", "files", _SMALLEST_FILE)
        yield count
        if count.error is None:
            places = list(find_places(reader, count.value, _skip_file))
            yield from explain_items(reader, places, "files", _explain_file)
    if reader.left:
        yield reader.rest("unused", "bytes after the last file")


def _skip_file(reader: SpanReader) -> None:
    reader.take(int.from_bytes(reader.octets(2, "a file's name"), "big") + 8, "a file")


def _explain_file(reader: SpanReader, number: int) -> Span:
    start = reader.at
    size, name = explain_name(reader, "file name")
    rows = reader.number(">q", "rows")
    return Span(start, reader.at, f"file {number}", name.value, "", (size, name, rows))
