"""The pages of a Parquet column chunk: headers field by field, levels, runs and values, and the dictionary read alone."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from lakelens.codecs.compression import allow_growth, decompress, refuse_growth
from lakelens.codecs.parquet.structure import SchemaLeaf, StructReader
from lakelens.codecs.parquet.thrift import explain_struct
from lakelens.codecs.parquet.thrift_schema import (
    ENCODINGS,
    PAGE_TYPES,
    Struct,
    decode_statistic,
    shape_page_header,
)
from lakelens.codecs.span.reader import GROUP, format_count
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt, Unsupported
from lakelens.lazy import dataclass

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
    """Explain the levels and values of a page, from its decompressed bytes. Raises `Corrupt` where they do not fit."""
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
        # a value is explained as what it means, where that is known
        find = None if page.meaning is None or not size else page.meaning.find
        explain = None if find is None else find(stored)
        inner = part if explain is None else explain(data, part.start, part.end)
        if width:
            yield inner
        else:
            length = Span(at, body, "length", size, "int32, little-endian")
            yield Span(at, stop, f"value {number}", value, inner.note, (length, inner) if size else (length,))
        at, number = stop, number + 1


# The pages of a column chunk of a Parquet file: headers field by field, data as stored and decompressed.
#
#     [dictionary page] data page …        page   PageHeader (Thrift compact) | compressed_page_size bytes
#     data page V2   repetition levels | definition levels | values: only these are compressed
#
# Follows "Data Pages" of the Apache Parquet format. Refused with `Corrupt`: headers that are none, pages that do not fit
# their chunk, content of another size than recorded, and checksums that are not the page's (once its data is looked at).

_RATIO = 64
_WINDOWS = (1 << 10, 1 << 14, 1 << 20, 1 << 24)
_CODECS = {"SNAPPY": "snappy", "GZIP": "gzip", "ZSTD": "zstd", "BROTLI": "brotli", "LZ4_RAW": "lz4_block"}
_LABELS = {"DATA_PAGE": "data page", "DATA_PAGE_V2": "data page V2", "DICTIONARY_PAGE": "dictionary page"}


@dataclass(frozen=True, slots=True)
class Chunk:
    """The facts about a column chunk that its pages need."""

    leaf: SchemaLeaf | None
    codec: str
    meaning: Meaning | None = None


def explain_pages(data: Octets, start: int, end: int, chunk: Chunk, number: int = 0) -> Iterator[Span]:
    """The pages that fill `data[start:end]`, data pages numbered from `number`. Only headers are read. Raises `Corrupt`."""
    at, count, shape = start, 0, shape_page_header(chunk.leaf)
    while at < end:
        count += 1
        if count > GROUP:
            rest = partial(explain_pages, data, at, end, chunk, number)
            yield Span(at, end, "further pages", children=rest)
            return
        header = explain_leading_struct(data, at, end, shape, "page header")
        page = _Page(data, header, header.value, chunk)
        if page.end > end:
            message, expected = (
                "a page that does not fit its column chunk",
                f"at most {end - page.body} bytes",
            )
            raise Corrupt(message, offset=at, expected=expected, seen=page.end - page.body)
        label = _LABELS.get(page.type, "page")
        label += f" {number}" if page.is_data else ""
        yield Span(at, page.end, label, header.value, page.note, page.explain)
        at, number = page.end, number + page.is_data


def explain_leading_struct(data: Octets, start: int, end: int, shape: Struct, label: str) -> Span:
    """Explain a Thrift struct of unknown length at `data[start]`: little more is read than it takes. Raises `Corrupt`."""
    for window in _WINDOWS:
        stop = min(start + window, end)
        span = explain_struct(bytes(data[start:stop]), shape, label, base=start)
        try:
            _ = span.value
        except Corrupt:
            if stop == end or window == _WINDOWS[-1]:
                raise
        else:
            return span
    raise AssertionError("a window is always the last one")


class _Page:
    """One page: its header's facts, taken with care, and the spans of its data."""

    def __init__(self, data: Octets, header: Span, facts: Any, chunk: Chunk) -> None:
        self.data, self.header, self.facts, self.chunk = data, header, facts, chunk
        self.type = str(facts.get("type"))
        self.body = header.end
        self.end = header.end + self.number(facts, "compressed_page_size")
        key = {"DATA_PAGE_V2": "data_page_header_v2", "DICTIONARY_PAGE": "dictionary_page_header"}
        inner = facts.get(key.get(self.type, "data_page_header"))
        self.more = inner if isinstance(inner, dict) else {}

    @property
    def is_data(self) -> bool:
        return self.type in ("DATA_PAGE", "DATA_PAGE_V2")

    @property
    def note(self) -> str:
        count, encoding = self.more.get("num_values"), self.more.get("encoding")
        parts = [format_count(count, "value")] if isinstance(count, int) else []
        parts += [encoding] if isinstance(encoding, str) else []
        return ", ".join([*parts, format_count(self.end - self.body, "byte")])

    def number(self, facts: Any, name: str) -> int:
        value = facts.get(name)
        if type(value) is not int or value < 0:
            raise Corrupt(f"no proper {name} in a page header", offset=self.header.start, seen=value)
        return value

    def explain(self) -> Iterator[Span]:
        yield self.header
        at = self.body
        size = self.number(self.facts, "uncompressed_page_size")
        is_packed = self.chunk.codec != "UNCOMPRESSED"
        if self.type == "DATA_PAGE_V2":
            is_packed = is_packed and self.more.get("is_compressed", True) is not False
            for name in ("repetition", "definition"):
                length = self.number(self.more, f"{name}_levels_byte_length")
                if length > self.end - at or length > size:
                    message = f"a page that ends inside its {name} levels"
                    raise Corrupt(message, offset=at, seen=f"{length} bytes")
                if length:
                    yield self.explain_levels(at, at + length, name)
                at, size = at + length, size - length
        if at == self.end:
            return
        if not is_packed:
            yield Span(at, self.end, "page data", None, "not compressed", partial(self.explain_plain, at))
        elif self.chunk.codec in _CODECS:
            note = f"{self.chunk.codec}: {size} bytes of content"
            yield Span(at, self.end, "page data", None, note, unpacked=partial(self.unpack, at, size))
        else:
            yield Span(at, self.end, "page data", None, f"{self.chunk.codec}, which is not decompressed here")

    def explain_levels(self, start: int, end: int, name: str) -> Span:
        leaf = self.chunk.leaf
        if leaf is None:
            return Span(start, end, f"{name} levels")
        most = leaf.max_repetition_level if name == "repetition" else leaf.max_definition_level
        runs = partial(explain_runs, self.data, start, end, most.bit_length())
        return Span(start, end, f"{name} levels", None, "runs", runs)

    def explain_plain(self, start: int) -> Iterator[Span]:
        self.check_sum()
        yield from explain_content(self.data, start, self.end, self.content())

    def unpack(self, start: int, size: int) -> tuple[bytes, Span]:
        self.check_sum()
        stored = bytes(self.data[start : self.end])
        most = allow_growth(len(stored), _RATIO)
        if size > most:  # before any of it is unpacked
            raise refuse_growth(len(stored), most, start)
        content = decompress(_CODECS[self.chunk.codec], stored, size, offset=start)
        if len(content) != size:
            message = "page content of another size than recorded"
            raise Corrupt(message, offset=start, expected=size, seen=len(content))
        make = partial(explain_content, content, 0, size, self.content())
        return content, Span(0, size, "page content", None, self.note, make)

    def content(self) -> PageContent:
        count = self.more.get("num_values")
        return PageContent(
            leaf=self.chunk.leaf if self.type in _LABELS else None,
            count=count if type(count) is int and count >= 0 else 0,
            encoding="PLAIN" if self.type == "DICTIONARY_PAGE" else str(self.more.get("encoding", "")),
            has_levels=self.type == "DATA_PAGE",
            definition_encoding=str(self.more.get("definition_level_encoding", "RLE")),
            repetition_encoding=str(self.more.get("repetition_level_encoding", "RLE")),
            meaning=self.chunk.meaning,
        )

    def check_sum(self) -> None:
        stored = self.facts.get("crc")
        if type(stored) is int:
            computed, seen = zlib.crc32(bytes(self.data[self.body : self.end])), stored & 0xFFFFFFFF
            if computed != seen:
                message = "a checksum that is not the page's"
                raise Corrupt(message, offset=self.body, expected=f"{computed:08x}", seen=f"{seen:08x}")


# The dictionary page of a column chunk, read alone: every value that the chunk holds, where all its pages use it.
#
#     [dictionary page] data page …       dictionary page   PageHeader | compressed PLAIN values, each once
#
# Follows "Dictionary Encoding" of the Apache Parquet format, and `DictionaryFilter` of parquet-mr for when the dictionary
# is all there is: by the `encoding_stats` of the chunk, without them by its `encodings`, where PLAIN_DICTIONARY shows
# version 1.0 pages. Refused with `Corrupt`: a first page that is no dictionary, and values that do not fit it; with
# `Unsupported`: a dictionary of more than `MAX_SIZE` bytes.

#: Writers give up a dictionary at 1 MiB (parquet-mr, Arrow) or 2 MiB (Iceberg); a far larger one is not worth its reading.
MAX_SIZE = 4 << 20
_VALUE_WIDTHS = {"INT32": 4, "INT64": 8, "FLOAT": 4, "DOUBLE": 8}
_OF_DICTIONARY = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}
_OF_LEVELS = {"RLE", "BIT_PACKED"}


def is_dictionary_encoded(metadata: StructReader) -> bool:
    """Check whether the dictionary of a chunk holds all of its values: True only where the footer proves it.

    >>> from lakelens.codecs.parquet.thrift_schema import FILE, Each
    >>> groups = StructReader({4: [{1: [{3: {2: [2, 3]}}]}]}, FILE, None).structs("row_groups")
    >>> column = groups[0].structs("columns")[0]
    >>> is_dictionary_encoded(column.struct("meta_data", column.get("meta_data")))
    True
    """
    if "encoding_stats" in metadata:
        kinds: set[str] = set()
        for page in metadata.structs("encoding_stats"):
            if PAGE_TYPES.find(page.get("page_type")) in ("DATA_PAGE", "DATA_PAGE_V2"):
                kinds.add(ENCODINGS.find(page.get("encoding")))
        return bool(kinds) and kinds <= _OF_DICTIONARY
    named = {ENCODINGS.find(encoding) for encoding in metadata.sequence("encodings")}
    # of version 2.0 pages the encodings do not say whether one of them fell back to PLAIN
    return "PLAIN_DICTIONARY" in named and named <= {"PLAIN_DICTIONARY", *_OF_LEVELS}


def read_dictionary(
    data: Octets, start: int, end: int, leaf: SchemaLeaf, codec: str, most: int = MAX_SIZE
) -> list[bytes]:
    """The PLAIN values, byte arrays without their length, of the dictionary page at `data[start]`; its chunk ends at `end`.

    One of more than `most` bytes is refused. Raises `Corrupt` and `Unsupported` with the offset.
    """
    if not 0 <= start < end <= len(data):
        message, expected = "a column chunk that is not inside its file", f"at most {len(data)} bytes"
        raise Corrupt(message, offset=start, expected=expected, seen=f"{start} to {end}")
    page = next(explain_pages(data, start, end, Chunk(leaf, codec)))
    header: Any = page.value if isinstance(page.value, dict) else {}
    inner = header.get("dictionary_page_header")
    count = inner.get("num_values") if isinstance(inner, dict) else None
    if header.get("type") != "DICTIONARY_PAGE" or type(count) is not int or count < 0:
        message = "a column chunk that does not begin with its dictionary"
        raise Corrupt(message, offset=start, seen=header.get("type"))
    size = header.get("uncompressed_page_size")
    if type(size) is not int or not 0 <= size <= most or page.end - page.start > most:
        raise Unsupported(f"a dictionary of {size} bytes at byte {start}", hint=f"up to {most} are read")
    return split_plain(read_content(data, page, codec), count, leaf, start)


def read_content(data: Octets, page: Span, codec: str) -> bytes:
    """Read the decompressed content of a page, whose checksum is checked."""
    for part in page.iter_children():
        if part.error is not None:
            raise part.error
        if part.label != "page data":
            continue
        if part.is_packed:
            return part.unpack()[0]
        if codec != "UNCOMPRESSED" and codec not in _CODECS:
            raise Unsupported(f"{codec} is not decompressed here")
        first = next(part.iter_children(), None)
        if first is not None and first.error is not None:
            raise first.error
        return bytes(data[part.start : part.end])
    return b""


def split_plain(content: bytes, count: int, leaf: SchemaLeaf, offset: int) -> list[bytes]:
    kind = leaf.physical_type
    if kind == "BYTE_ARRAY":
        return _split_arrays(content, count, offset)
    width = leaf.width if kind == "FIXED_LEN_BYTE_ARRAY" else _VALUE_WIDTHS.get(kind, 0)
    if width <= 0:
        raise Unsupported(f"a dictionary of {kind} values at byte {offset}")
    if len(content) != count * width:
        message, expected = "a dictionary of another size than its values", f"{count * width} bytes"
        raise Corrupt(message, offset=offset, expected=expected, seen=len(content))
    return [content[at : at + width] for at in range(0, len(content), width)]


def _split_arrays(content: bytes, count: int, offset: int) -> list[bytes]:
    values, at = [], 0
    while at < len(content):
        length = int.from_bytes(content[at : at + 4], "little", signed=True)
        begin, at = at + 4, at + 4 + length
        if length < 0 or at > len(content):
            message = "a value that leaves its dictionary"
            raise Corrupt(message, offset=offset, expected=f"at most {len(content) - begin}", seen=length)
        values.append(content[begin:at])
    if len(values) != count:
        message = "a dictionary with another number of values than recorded"
        raise Corrupt(message, offset=offset, expected=count, seen=len(values))
    return values
