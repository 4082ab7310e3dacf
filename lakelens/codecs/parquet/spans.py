"""A Parquet file byte by byte: pages, bloom filters, page indexes and the footer, every field with its name.

    PAR1 | row groups: column chunks: pages … | bloom filters | column indexes | offset indexes
         | FileMetaData (Thrift compact) | its length, uint32 LE | PAR1
    PARE | encrypted … | FileCryptoMetaData, encrypted footer | length | PARE

Follows the Apache Parquet format ("File format", "Page Index", "Bloom Filter", "Encryption"). The footer says where
everything is: bytes that no member of it points to stay unexplained. Only footer, page headers and indexes are read, and
data where it is looked at. Refused with `Corrupt` is what `footer.decode_footer` refuses, and sections that overlap or leave
the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter

from lakelens.caching import cached_property
from lakelens.codecs.parquet.footer import ENCRYPTED_MAGIC, MAGIC, ParquetFooter, decode_footer, find_footer
from lakelens.codecs.parquet.pages import Chunk, Meaning, explain_leading_struct, explain_pages
from lakelens.codecs.parquet.structure import SchemaLeaf, StructReader
from lakelens.codecs.parquet.thrift import decode_struct, explain_struct
from lakelens.codecs.parquet.thrift_schema import (
    BLOOM_FILTER,
    CODECS,
    FILE,
    FILE_CRYPTO,
    OFFSET_INDEX,
    Struct,
    shape_column_index,
    shape_file,
)
from lakelens.codecs.span.reader import format_count, shift_errors
from lakelens.codecs.span.span import Deferred, EmbeddedFile, Octets, Span, damaged_leaf
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


#: What a column means, by its place in the schema; None where nothing is known.
FindMeaning = Callable[[SchemaLeaf], Meaning | None]


def explain_parquet(
    data: Octets, start: int = 0, end: int | None = None, *, nested: FindMeaning | None = None
) -> Span:
    """Explain a tree over a Parquet file; its value is its `ParquetFooter`.

    Page data is a compressed leaf to unpack, or its levels and values. `nested` says what columns mean. Follows the Apache
    Parquet format.

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
    file = _ParquetFile(data, start, stop)
    file.nested = nested
    return Span(start, stop, "Parquet file", Deferred(file.decode), "Apache Parquet", file.explain)


@dataclass(frozen=True, slots=True)
class _Section:
    """A piece of the file that the footer points to; positions are absolute."""

    start: int
    end: int
    kind: str
    group: int
    column: int
    chunk: StructReader


class _ParquetFile(EmbeddedFile):
    """The bytes of a file and what its footer says; the footer is decoded once, when first needed."""

    nested: FindMeaning | None = None

    @cached_property
    def footer_start(self) -> int:
        """Where the footer begins. Raises `Corrupt` when the frame is not that of a Parquet file."""
        with shift_errors(self.start):
            return self.start + find_footer(self.view)[0]

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
        with shift_errors(self.start):
            return decode_footer(self.view)

    @cached_property
    def structure(self) -> StructReader:
        stored = self.stored  # refuses what is too large before anything is decoded
        try:
            structure = self.footer.structure
        except LakeError:
            structure = decode_struct(stored, base=self.footer_start)
        return StructReader(structure, FILE, self.footer_start)

    @cached_property
    def leaves(self) -> tuple[SchemaLeaf, ...]:
        """The columns; none when the schema is damaged."""
        try:
            return self.footer.leaves
        except LakeError:
            return ()

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
            note = "the footer that describes them is encrypted"
            yield Span(self.start + 4, self.footer_start, "row groups", None, note, role="unexplained")
        crypto = explain_struct(self.stored, FILE_CRYPTO, base=self.footer_start)
        yield crypto
        if crypto.end < self.end - 8:
            note = "length, nonce, ciphertext and tag"
            yield Span(crypto.end, self.end - 8, "encrypted footer", None, note, role="unexplained")

    @cached_property
    def metadata(self) -> Span:
        """The footer as a struct, bounds decoded by the types of their columns where the schema is whole."""
        return explain_struct(self.stored, shape_file(self.leaves), base=self.footer_start)

    def explain_footer(self) -> Iterator[Span]:
        metadata, end = self.metadata, self.end - 8
        yield from metadata.iter_children()
        if end - metadata.end == _SIGNATURE and "encryption_algorithm" in self.structure:
            note = "nonce, 12 bytes, and tag, 16 bytes"
            yield Span(metadata.end, end, "signature", None, note, role="unexplained")
        elif metadata.end < end:
            yield Span(metadata.end, end, "unexplained", role="unexplained")
        error = self.find_damage()
        if error is not None:
            yield damaged_leaf(end, end, error)

    def find_damage(self) -> LakeError | None:
        """Find what is wrong with a footer that is whole Thrift, but not what a footer must be."""
        try:
            _ = self.structure
        except LakeError:
            return None  # the struct's own tree has it
        try:
            _ = self.footer.row_groups
        except Unsupported:
            return None
        except Corrupt as error:
            error.offset = error.offset or self.footer_start
            return error
        return None

    def explain_body(self) -> Iterator[Span]:
        at, stop = self.start + 4, self.footer_start
        try:
            sections = sorted(self.find_sections(), key=attrgetter("start", "end"))
        except LakeError:
            if at < stop:
                note = "the footer that describes them is damaged"
                yield Span(at, stop, "row groups", None, note, role="unexplained")
            return
        fitting: list[_Section] = []
        wrong = None
        for section in sections:
            if section.start == section.end:
                continue  # a row group without rows has no pages
            if not at <= section.start < section.end <= stop:
                wrong = wrong or section
            else:
                fitting.append(section)
                at = section.end
        for (kind, group), run in groupby(fitting, key=attrgetter("kind", "group")):
            of_group = tuple(run)
            label = _RUN_LABELS[kind].format(group)
            explain = partial(self.explain_sections, of_group)
            note = self.note_group(group) if kind == "pages" else format_count(len(of_group), "column")
            yield Span(of_group[0].start, of_group[-1].end, label, None, note, explain)
        if wrong is not None:
            where = f"column {wrong.column} in row group {wrong.group}"
            message = f"the footer puts the {wrong.kind} of {where} where it cannot be"
            seen = f"bytes {wrong.start} to {wrong.end}"
            yield damaged_leaf(stop, stop, Corrupt(message, offset=stop, seen=seen))

    def note_group(self, number: int) -> str:
        group = self.structure.struct("row_groups", self.structure.get("row_groups")[number])
        rows, size = group.optional("num_rows"), group.optional("total_byte_size")
        if rows is None or size is None:
            return ""
        return f"{format_count(rows, 'row')}, {format_count(size, 'byte')} uncompressed"

    def find_sections(self) -> Iterator[_Section]:
        """Everything that the footer points to, in the order of the footer. Raises `Corrupt` when it is damaged."""
        for g, group in enumerate(_whole_structs(self.structure, "row_groups")):
            for c, chunk in enumerate(_whole_structs(group, "columns") if group else ()):
                if chunk is not None and "file_path" not in chunk:  # else its data is in another file
                    yield from self.find_sections_of(g, c, chunk)

    def find_sections_of(self, g: int, c: int, chunk: StructReader) -> Iterator[_Section]:
        stored = chunk.get("meta_data")
        metadata = chunk.struct("meta_data", stored if isinstance(stored, dict) else {})

        def section(kind: str, offset: object, length: object) -> Iterator[_Section]:
            if type(offset) is int and type(length) is int:
                at = self.start + offset
                yield _Section(at, at + length, kind, g, c, chunk)

        # writers put 0 where there is no dictionary page, or no data page behind one
        offsets = [metadata.get(name) for name in ("data_page_offset", "dictionary_page_offset")]
        first = min((offset for offset in offsets if type(offset) is int and offset), default=None)
        yield from section("pages", first, metadata.get("total_compressed_size"))
        for kind in ("offset_index", "column_index"):
            offset, length = chunk.get(f"{kind}_offset"), chunk.get(f"{kind}_length")
            yield from section(kind.replace("_", " "), offset, length)
        bloom = metadata.get("bloom_filter_offset")
        if type(bloom) is int:
            length = metadata.get("bloom_filter_length") or self.measure_bloom(bloom)
            yield from section("bloom filter", bloom, length)

    def measure_bloom(self, offset: int) -> int | None:
        """Measure the length of a bloom filter where the footer does not record it; None when there is none."""
        at = self.start + offset
        if not self.start <= at < self.footer_start:
            return None
        try:
            header = explain_leading_struct(self.data, at, self.footer_start, BLOOM_FILTER, "header")
        except Corrupt:
            return None
        size = header.value.get("numBytes")
        return header.end - at + size if type(size) is int and size >= 0 else None

    def explain_sections(self, sections: tuple[_Section, ...]) -> Iterator[Span]:
        for section in sections:
            leaf = self.leaves[section.column] if section.column < len(self.leaves) else None
            label = leaf.path if leaf else f"column {section.column}"
            if section.kind == "pages":
                yield self.explain_chunk(section, label, leaf)
            elif section.kind == "bloom filter":
                yield self.explain_bloom(section, label)
            else:
                shape = shape_column_index(leaf) if section.kind == "column index" else OFFSET_INDEX
                yield self.explain_index(section, label, shape)

    def explain_chunk(self, section: _Section, label: str, leaf: SchemaLeaf | None) -> Span:
        start, end, column = section.start, section.end, section.column
        if "crypto_metadata" in section.chunk:
            return Span(start, end, label, None, "an encrypted column", role="unexplained", number=column)
        metadata = section.chunk.struct("meta_data", section.chunk.get("meta_data"))
        codec, count = CODECS.find(metadata.get("codec")), metadata.optional("num_values")
        note = f"{leaf.physical_type if leaf else 'pages'}, {codec}"
        note += "" if count is None else f", {format_count(count, 'value')}"
        meaning = None if leaf is None or self.nested is None else self.nested(leaf)
        note += f"; {meaning.note}" if meaning is not None and meaning.note else ""
        make = partial(explain_pages, self.data, start, end, Chunk(leaf, codec, meaning))
        return Span(start, end, label, None, note, make, number=column)

    def explain_index(self, section: _Section, label: str, shape: Struct) -> Span:
        """Explain an index in the room that the footer gives it."""
        stored = bytes(self.data[section.start : min(section.end, section.start + MAX_FOOTER)])
        index = explain_struct(stored, shape, label, base=section.start)
        index.number = section.column
        if index.end == section.end:
            return index
        return Span(section.start, section.end, label, children=lambda: (index,), number=section.column)

    def explain_bloom(self, section: _Section, label: str) -> Span:
        start, end = section.start, section.end

        def explain() -> Iterator[Span]:
            header = explain_leading_struct(self.data, start, end, BLOOM_FILTER, "header")
            yield header
            size, expected = header.value.get("numBytes"), end - header.end
            if size != expected:
                message = "a bloom filter of another size than recorded"
                raise Corrupt(message, offset=header.start, expected=expected, seen=size)
            if size:
                yield Span(header.end, end, "bits", None, f"{size // 32} blocks of 256 bits")

        return Span(start, end, label, None, "header and bits", explain, number=section.column)


def _whole_structs(parent: StructReader, name: str) -> Iterator[StructReader | None]:
    """The structures of a list, None in the place of anything else; nothing when there is no list."""
    stored = parent.get(name)
    for i, value in enumerate(stored if isinstance(stored, list) else ()):
        yield parent.struct(name, value, i) if isinstance(value, dict) else None
