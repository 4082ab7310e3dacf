"""A Parquet file byte by byte: pages, bloom filters, page indexes and the footer, every field with its name.

    PAR1 | row groups: column chunks: pages … | bloom filters | column indexes | offset indexes
         | FileMetaData (Thrift compact) | its length, uint32 LE | PAR1
    PARE | encrypted … | FileCryptoMetaData, encrypted footer | length | PARE

Follows the Apache Parquet format ("File format", "Page Index", "Bloom Filter", "Encryption"). Where everything lies is in
the footer: what no member of it points to stays unexplained. Only footer, page headers and indexes are read, and data
where it is looked at. Refused with `Corrupt` is what `parquet.decode_footer` refuses, and parts that overlap or leave the
file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from operator import attrgetter
from typing import IO, Any, cast

from lakelens.codecs.parquet.enums import CODECS, name_of
from lakelens.codecs.parquet.footer import ENCRYPTED_MAGIC, MAGIC, MIN_SIZE, ParquetFooter, decode_footer
from lakelens.codecs.parquet.page_spans import Chunk, explain_leading_struct, explain_pages
from lakelens.codecs.parquet.structure import SchemaLeaf
from lakelens.codecs.parquet.thrift import decode_struct
from lakelens.codecs.parquet.thrift_schema import (
    BLOOM_FILTER,
    FILE_CRYPTO,
    OFFSET_INDEX,
    shape_column_index,
    shape_file,
)
from lakelens.codecs.parquet.thrift_spans import explain_struct
from lakelens.codecs.span.octets import OctetsFile
from lakelens.codecs.span.reader import format_count, shift_errors
from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.errors import Corrupt, LakeError, Unsupported

#: Larger footers are not explained field by field.
MAX_FOOTER = 1 << 25
_SIGNATURE = 28  # nonce and tag of a footer that is signed
_RUN_LABELS = {
    "pages": "row group {}",
    "bloom filter": "bloom filters of row group {}",
    "column index": "column indexes of row group {}",
    "offset index": "offset indexes of row group {}",
}


def explain_parquet(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """A tree over a Parquet file; its value is its `ParquetFooter`.

    Page data is a compressed leaf to unpack, or its levels and values. Follows the Apache Parquet format.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"id": [1, 2, 3]}), sink)
    >>> root = explain_parquet(sink.getvalue())
    >>> [part.label for part in root.children]
    ['magic', 'row group 0', 'footer', 'footer length', 'magic']
    >>> root.value.num_rows
    3
    """
    stop = len(data) if end is None else end
    file = _File(data, start, stop)
    return Span(start, stop, "Parquet file", Deferred(file.decode), "Apache Parquet", file.explain)


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the file that the footer points to; positions are absolute."""

    start: int
    end: int
    kind: str
    group: int
    column: int
    facts: Mapping[int, Any]


class _File:
    """The bytes of a file and what its footer says; the footer is decoded once, when first needed."""

    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.data, self.start, self.end = data, start, end

    @cached_property
    def footer_start(self) -> int:
        """Where the footer begins. Raises `Corrupt` when the frame is not that of a Parquet file."""
        size = self.end - self.start
        tail = bytes(self.data[max(self.start, self.end - 8) : self.end])
        if size < MIN_SIZE or tail[-4:] not in (MAGIC, ENCRYPTED_MAGIC):
            raise Corrupt(
                "a Parquet file that is cut: its end is missing",
                offset=max(self.start, self.end - 4),
                expected="PAR1",
                seen=tail[-4:],
            )
        length = int.from_bytes(tail[:4], "little")
        if length > size - MIN_SIZE:
            raise Corrupt(
                "a footer length that does not fit the file",
                offset=self.end - 8,
                expected=f"at most {size - MIN_SIZE}",
                seen=length,
            )
        return self.end - 8 - length

    @cached_property
    def stored(self) -> bytes:
        """The bytes of the footer."""
        size = self.end - 8 - self.footer_start
        if size > MAX_FOOTER:
            raise Unsupported(f"a footer of {size} bytes is not explained, only up to {MAX_FOOTER}")
        return bytes(self.data[self.footer_start : self.end - 8])

    @cached_property
    def footer(self) -> ParquetFooter:
        return self.decode()

    def decode(self) -> ParquetFooter:
        view = cast(IO[bytes], OctetsFile(self.data, self.start, self.end))
        with shift_errors(self.start):
            return decode_footer(view)

    @cached_property
    def structure(self) -> Mapping[int, Any]:
        stored = self.stored  # refuses what is too large before anything is decoded
        with suppress(LakeError):
            return self.footer.structure
        return decode_struct(stored, base=self.footer_start)

    def explain(self) -> Iterator[Span]:
        head = bytes(self.data[self.start : min(self.start + 4, self.end)])
        if head not in (MAGIC, ENCRYPTED_MAGIC):
            raise Corrupt("not a Parquet file", offset=self.start, expected="PAR1", seen=head)
        yield Span(self.start, self.start + 4, "magic", head.decode(), "ASCII")
        footer, end = self.footer_start, self.end
        tail = bytes(self.data[end - 4 : end])
        if ENCRYPTED_MAGIC in (head, tail):
            yield from self.explain_encrypted()
        else:
            yield from self.explain_body()
            value = Deferred(lambda: self.metadata.value)
            note = "FileMetaData, Thrift compact"
            yield Span(footer, end - 8, "footer", value, note, self.explain_footer)
        yield Span(end - 8, end - 4, "footer length", end - 8 - footer, "uint32, little-endian")
        yield Span(end - 4, end, "magic", tail.decode(), "ASCII")

    def explain_encrypted(self) -> Iterator[Span]:
        if self.footer_start > self.start + 4:
            note = "the footer that tells what they are is encrypted"
            yield Span(self.start + 4, self.footer_start, "row groups", None, note, role="unexplained")
        crypto = explain_struct(self.stored, FILE_CRYPTO, base=self.footer_start)
        yield crypto
        if crypto.end < self.end - 8:
            note = "length, nonce, ciphertext and tag"
            yield Span(crypto.end, self.end - 8, "encrypted footer", None, note, role="unexplained")

    @cached_property
    def metadata(self) -> Span:
        """The footer as a struct, bounds decoded by the types of their columns where the schema is whole."""
        stored = self.stored
        leaves: tuple[SchemaLeaf, ...] = ()
        with suppress(LakeError):
            leaves = self.footer.leaves
        return explain_struct(stored, shape_file(leaves), base=self.footer_start)

    def explain_footer(self) -> Iterator[Span]:
        metadata, end = self.metadata, self.end - 8
        yield from metadata.iter_children()
        if end - metadata.end == _SIGNATURE and 8 in self.structure:
            yield Span(
                metadata.end, end, "signature", None, "nonce, 12 bytes, and tag, 16 bytes", role="unexplained"
            )
        elif metadata.end < end:
            yield Span(metadata.end, end, "unexplained", role="unexplained")
        error = self.find_flaw()
        if error is not None:
            yield damaged_leaf(end, end, error)

    def find_flaw(self) -> LakeError | None:
        """What is wrong with a footer that is whole Thrift, but not what a footer must be."""
        try:
            _ = self.structure
        except LakeError:
            return None  # the struct's own tree tells it
        try:
            _ = self.footer.row_groups
        except Unsupported:
            return None
        except Corrupt as error:
            if error.offset:
                return error
            return Corrupt(error.message, offset=self.footer_start, expected=error.expected, seen=error.seen)
        return None

    def explain_body(self) -> Iterator[Span]:
        at, stop = self.start + 4, self.footer_start
        try:
            parts = sorted(self.find_parts(), key=attrgetter("start", "end"))
        except LakeError:
            if at < stop:
                note = "the footer that tells what they are is damaged"
                yield Span(at, stop, "row groups", None, note, role="unexplained")
            return
        fitting: list[_Part] = []
        wrong = None
        for part in parts:
            if part.start == part.end:
                continue  # a row group without rows has no pages
            if not at <= part.start < part.end <= stop:
                wrong = wrong or part
            else:
                fitting.append(part)
                at = part.end
        for (kind, group), run in groupby(fitting, key=attrgetter("kind", "group")):
            run_parts = tuple(run)
            label = _RUN_LABELS[kind].format(group)
            explain = partial(self.explain_parts, run_parts)
            note = self.note_group(group) if kind == "pages" else format_count(len(run_parts), "column")
            yield Span(run_parts[0].start, run_parts[-1].end, label, None, note, explain)
        if wrong is not None:
            where = f"column {wrong.column} in row group {wrong.group}"
            message = f"the footer puts the {wrong.kind} of {where} where it cannot be"
            seen = f"bytes {wrong.start} to {wrong.end}"
            yield damaged_leaf(stop, stop, Corrupt(message, offset=stop, seen=seen))

    def note_group(self, group: int) -> str:
        facts = self.structure[4][group]
        rows, size = facts.get(3), facts.get(2)
        if type(rows) is not int or type(size) is not int:
            return ""
        return f"{format_count(rows, 'row')}, {format_count(size, 'byte')} without codec"

    def find_parts(self) -> Iterator[_Part]:
        """Everything that the footer points to, in the order of the footer. Raises `Corrupt` when it is damaged."""
        groups = self.structure.get(4)
        for g, group in enumerate(groups if isinstance(groups, list) else ()):
            columns = group.get(1) if isinstance(group, dict) else None
            for c, column in enumerate(columns if isinstance(columns, list) else ()):
                if isinstance(column, dict) and 1 not in column:  # else its data is in another file
                    yield from self.find_parts_of(g, c, column)

    def find_parts_of(self, g: int, c: int, column: Mapping[int, Any]) -> Iterator[_Part]:
        facts = column.get(3)
        facts = facts if isinstance(facts, dict) else {}

        def part(kind: str, offset: object, length: object) -> Iterator[_Part]:
            if type(offset) is int and type(length) is int:
                at = self.start + offset
                yield _Part(at, at + length, kind, g, c, column)

        # writers put 0 where there is no dictionary page, or no data page behind one
        offsets = [offset for offset in (facts.get(9), facts.get(11)) if type(offset) is int and offset]
        yield from part("pages", min(offsets, default=None), facts.get(7))
        yield from part("offset index", column.get(4), column.get(5))
        yield from part("column index", column.get(6), column.get(7))
        bloom = facts.get(14)
        if type(bloom) is int:
            yield from part("bloom filter", bloom, facts.get(15) or self.measure_bloom(bloom))

    def measure_bloom(self, offset: int) -> int | None:
        """The length of a bloom filter whose footer does not tell it; None when there is none."""
        at = self.start + offset
        if not self.start <= at < self.footer_start:
            return None
        try:
            header = explain_leading_struct(self.data, at, self.footer_start, BLOOM_FILTER, "header")
        except Corrupt:
            return None
        size = header.value.get("numBytes")
        return header.end - at + size if type(size) is int and size >= 0 else None

    def explain_parts(self, parts: tuple[_Part, ...]) -> Iterator[Span]:
        leaves: tuple[SchemaLeaf, ...] = ()
        with suppress(LakeError):
            leaves = self.footer.leaves
        for part in parts:
            leaf = leaves[part.column] if part.column < len(leaves) else None
            label = leaf.path if leaf else f"column {part.column}"
            make = {
                "pages": self.explain_chunk,
                "column index": self.explain_column_index,
                "offset index": self.explain_offset_index,
                "bloom filter": self.explain_bloom,
            }[part.kind]
            yield make(part, label, leaf)

    def explain_chunk(self, part: _Part, label: str, leaf: SchemaLeaf | None) -> Span:
        facts = part.facts[3]
        if 8 in part.facts:
            return Span(
                part.start,
                part.end,
                label,
                None,
                "an encrypted column",
                role="unexplained",
                number=part.column,
            )
        codec = name_of(CODECS, facts.get(4))
        kind = leaf.physical_type if leaf else "pages"
        chunk = Chunk(leaf, codec, self.widths[part.column] if part.column < len(self.widths) else 0)
        count = facts.get(5)
        note = f"{kind}, {codec}" + (f", {format_count(count, 'value')}" if type(count) is int else "")
        make = partial(explain_pages, self.data, part.start, part.end, chunk)
        return Span(part.start, part.end, label, None, note, make, number=part.column)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """The length of the values of each column of FIXED_LEN_BYTE_ARRAY, 0 of the others."""
        try:
            _ = self.footer
        except LakeError:  # what follows trusts that the schema is a list of structures
            return ()
        elements = [e for i, e in enumerate(self.structure[2]) if not e.get(5) and (i or 1 in e)]
        stored = [element.get(2) for element in elements]
        return tuple(width if type(width) is int and width > 0 else 0 for width in stored)

    def explain_column_index(self, part: _Part, label: str, leaf: SchemaLeaf | None) -> Span:
        return self.explain_index(
            part, explain_struct(self.take(part), shape_column_index(leaf), label, base=part.start)
        )

    def explain_offset_index(self, part: _Part, label: str, leaf: SchemaLeaf | None) -> Span:
        return self.explain_index(part, explain_struct(self.take(part), OFFSET_INDEX, label, base=part.start))

    def explain_index(self, part: _Part, index: Span) -> Span:
        """An index in the room that the footer gives it."""
        index.number = part.column
        if index.end == part.end:
            return index
        return Span(part.start, part.end, index.label, children=lambda: (index,), number=part.column)

    def take(self, part: _Part) -> bytes:
        return bytes(self.data[part.start : min(part.end, part.start + MAX_FOOTER)])

    def explain_bloom(self, part: _Part, label: str, leaf: SchemaLeaf | None) -> Span:
        def explain() -> Iterator[Span]:
            header = explain_leading_struct(self.data, part.start, part.end, BLOOM_FILTER, "header")
            yield header
            size = header.value.get("numBytes")
            if size != part.end - header.end:
                raise Corrupt(
                    "a bloom filter of another size than told",
                    offset=header.start,
                    expected=part.end - header.end,
                    seen=size,
                )
            if size:
                yield Span(header.end, part.end, "bits", None, f"{size // 32} blocks of 256 bits")

        return Span(part.start, part.end, label, None, "header and bits", explain, number=part.column)
