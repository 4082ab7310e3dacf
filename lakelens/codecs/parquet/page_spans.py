"""The pages of a column chunk of a Parquet file: headers field by field, data as stored and decompressed.

    [dictionary page] data page …        page   PageHeader (Thrift compact) | compressed_page_size bytes
    data page V2   repetition levels | definition levels | values: only these are compressed

Follows "Data Pages" of the Apache Parquet format. Refused with `Corrupt`: headers that are none, pages that do not fit their
chunk, content of another size than recorded, and checksums that are not the page's (once its data is looked at).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from lakelens.codecs.compression import allow_growth, decompress, refuse_growth
from lakelens.codecs.parquet.structure import SchemaLeaf
from lakelens.codecs.parquet.thrift_schema import Struct, shape_page_header
from lakelens.codecs.parquet.thrift_spans import explain_struct
from lakelens.codecs.parquet.value_spans import Meaning, PageContent, explain_content, explain_runs
from lakelens.codecs.span.reader import GROUP, format_count
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import Corrupt

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
    """A Thrift struct of unknown length at `data[start]`: little more is read than it takes. Raises `Corrupt`."""
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
