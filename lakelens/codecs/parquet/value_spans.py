"""What is in a page of a Parquet file: levels, runs and plain values.

    PLAIN   numbers little-endian; BYTE_ARRAY: int32 LE length, bytes; booleans one bit each
    RLE     runs: varint header; even: header >> 1 times the value that follows; odd: (header >> 1) * 8 values, bit-packed
    RLE_DICTIONARY   bit width, 1 byte, then runs of indexes into the dictionary page
    levels  of a data page: int32 LE length and runs, repetition levels first; BIT_PACKED levels have no length

Follows "Encodings" of the Apache Parquet format. Values of the other encodings (DELTA_…, BYTE_STREAM_SPLIT) stay one leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from lakelens.codecs.parquet.structure import SchemaLeaf
from lakelens.codecs.parquet.thrift_schema import decode_statistic
from lakelens.codecs.span.reader import GROUP
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt

_WIDTHS = {"INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a column means to whoever wrote the file: a note, and what explains a value of bytes by its content.

    `find` is asked for each stored byte array; the explainer that it returns (None: nothing more is known) explains it in
    its place.
    """

    note: str = ""
    find: Callable[[bytes], Callable[[Octets, int, int], Span] | None] | None = None


@dataclass(frozen=True, slots=True)
class PageContent:
    """What the content of a page depends on. `has_levels`: they are before the values in it."""

    leaf: SchemaLeaf | None
    count: int
    encoding: str
    has_levels: bool = False
    definition_encoding: str = "RLE"
    repetition_encoding: str = "RLE"
    meaning: Meaning | None = None


def explain_content(data: Octets, start: int, end: int, page: PageContent) -> Iterator[Span]:
    """The levels and values of a page, from its decompressed bytes. Raises `Corrupt` where they do not fit."""
    at = start
    leaf = page.leaf
    if leaf is None:
        yield Span(start, end, "levels and values", role="unexplained")
        return
    if page.has_levels:
        for name, most, encoding in (
            ("repetition", leaf.max_repetition_level, page.repetition_encoding),
            ("definition", leaf.max_definition_level, page.definition_encoding),
        ):
            if most:
                span = _explain_levels(
                    data, at, end, f"{name} levels", most.bit_length(), encoding, page.count
                )
                at = span.end
                yield span
    if at < end:
        yield from _explain_values(data, at, end, page, leaf)


def explain_runs(data: Octets, start: int, end: int, width: int, number: int = 0) -> Iterator[Span]:
    """Runs of the RLE and bit-packing hybrid, of values of `width` bits; after many the rest is a span of its own.

    >>> [(run.label, run.note) for run in explain_runs(bytes([6, 1, 3, 0b10101010]), 0, 4, 1)]
    [('run 0', '3 times 1'), ('run 1', '8 values of 1 bit')]
    """
    at, first = start, number
    while at < end:
        if number - first == GROUP:
            yield Span(at, end, "further runs", children=partial(explain_runs, data, at, end, width, number))
            return
        header, body = _read_varint(data, at, end)
        head = Span(at, body, "run header", header, "varint")
        count, size = header >> 1, (width + 7) // 8
        if header & 1:
            stop = min(body + count * width, end)  # some writers cut the padding of the last run
            note = f"{count * 8} values of {width} bit{'s' * (width != 1)}"
            value: Any = Deferred(partial(_unpack_bits, data, body, stop, width))
        else:
            stop = body + size
            if stop > end:
                raise Corrupt("a run that ends before its value", offset=body, expected=f"{size} bytes")
            repeated = int.from_bytes(bytes(data[body:stop]), "little")
            note, value = f"{count} times {repeated}", repeated
        parts = (head,) if stop == body else (head, Span(body, stop, "values", value, note))
        yield Span(at, stop, f"run {number}", value, note, parts)
        at, number = stop, number + 1


def _unpack_bits(data: Octets, start: int, end: int, width: int) -> list[int]:
    stored = int.from_bytes(bytes(data[start:end]), "little")
    mask = (1 << width) - 1
    return (
        [stored >> shift & mask for shift in range(0, (end - start) * 8 - width + 1, width)] if width else []
    )


def _read_varint(data: Octets, at: int, end: int) -> tuple[int, int]:
    stored = bytes(data[at : min(at + 5, end)])
    value = 0
    for i, byte in enumerate(stored):
        value |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return value, at + i + 1
    raise Corrupt("a run header without an end", offset=at, seen=stored.hex(" "))


def _explain_levels(
    data: Octets, start: int, end: int, label: str, width: int, encoding: str, count: int
) -> Span:
    if encoding == "BIT_PACKED":
        stop = start + (count * width + 7) // 8
        if stop > end:
            raise Corrupt(
                f"a page that ends inside its {label}", offset=start, expected=f"{stop - start} bytes"
            )
        return Span(start, stop, label, None, f"bit-packed, {width} bits each, highest bits first")
    size = int.from_bytes(bytes(data[start : min(start + 4, end)]), "little")
    if end - start < 4 or size > end - start - 4:
        raise Corrupt(f"a page that ends inside its {label}", offset=start, seen=f"{size} bytes")
    stop = start + 4 + size

    def explain() -> Iterator[Span]:
        yield Span(start, start + 4, "length", size, "int32, little-endian")
        yield from explain_runs(data, start + 4, stop, width)

    return Span(start, stop, label, None, f"runs, {width} bit{'s' * (width != 1)} each", explain)


def _explain_values(
    data: Octets, start: int, end: int, page: PageContent, leaf: SchemaLeaf
) -> Iterator[Span]:
    note = f"{leaf.physical_type}, {page.encoding}"
    plain = partial(_explain_plain, data, start, end, page, leaf)
    if page.encoding in ("RLE_DICTIONARY", "PLAIN_DICTIONARY"):
        width = bytes(data[start : start + 1])[0]
        if width > 32:
            raise Corrupt("indexes that are too wide", offset=start, expected="at most 32 bits", seen=width)
        yield Span(start, start + 1, "bit width", width, "of an index into the dictionary")
        if start + 1 < end:
            runs = partial(explain_runs, data, start + 1, end, width)
            yield Span(start + 1, end, "values", None, f"{note}: indexes into the dictionary", runs)
    elif page.encoding == "PLAIN" and (leaf.physical_type == "BYTE_ARRAY" or _width(leaf)):
        yield Span(start, end, "values", None, note, plain)
    else:
        yield Span(start, end, "values", None, note)


def _width(leaf: SchemaLeaf) -> int:
    return leaf.width if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY" else _WIDTHS.get(leaf.physical_type, 0)


def _explain_plain(
    data: Octets, start: int, end: int, page: PageContent, leaf: SchemaLeaf, number: int = 0
) -> Iterator[Span]:
    """Plain values one behind the other; after many the rest is a span of its own."""
    width, at, first = _width(leaf), start, number
    while at < end:
        if number - first == GROUP:
            rest = partial(_explain_plain, data, at, end, page, leaf, number)
            yield Span(at, end, "further values", children=rest)
            return
        body, size = at, width
        if not width:
            size = int.from_bytes(bytes(data[at : min(at + 4, end)]), "little")
            body = at + 4
        stop = body + size
        if stop > end:
            raise Corrupt(
                "a page that ends inside a value", offset=at, expected=f"{stop - at} bytes", seen=end - at
            )
        stored = bytes(data[body:stop])
        value = decode_statistic(stored, leaf.physical_type, leaf.logical_type)
        value = stored if value is None else value
        part = Span(body, stop, f"value {number}", value, leaf.logical_type or leaf.physical_type)
        inner = _explain_inner(data, part, stored, page.meaning) if size else part
        if width:
            yield inner
        else:
            length = Span(at, body, "length", size, "int32, little-endian")
            yield Span(at, stop, f"value {number}", value, inner.note, (length, inner) if size else (length,))
        at, number = stop, number + 1


def _explain_inner(data: Octets, part: Span, stored: bytes, meaning: Meaning | None) -> Span:
    """A value as what it means explains it; as it is where nobody does."""
    explain = None if meaning is None or meaning.find is None else meaning.find(stored)
    return part if explain is None else explain(data, part.start, part.end)
