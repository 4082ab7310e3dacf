"""The stored values of a Parquet column that is in no list, page by page: what is read of rows where pyarrow is not.

    data page      [definition levels] values: PLAIN one after the other, or indexes into the chunk's dictionary
    levels         a run for each stretch: width of the largest level, 0 for null      (RLE and bit-packing hybrid)

Pages are found, decompressed and checked by `pages`. Follows "Data Pages", "Encodings" of the Apache Parquet format. Refused
with `Corrupt`: values that do not fill their page, indexes outside of the dictionary; with `Unsupported`: columns in lists,
and the encodings that only newer writers choose (DELTA_…, BYTE_STREAM_SPLIT).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lakelens.codecs.parquet.footer import ParquetFooter
from lakelens.codecs.parquet.pages import Chunk, explain_pages, explain_runs, read_content, split_plain
from lakelens.codecs.parquet.structure import ColumnChunk, SchemaLeaf
from lakelens.codecs.span.reader import in_file
from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt, Unsupported

_HEADERS = {
    "DATA_PAGE": "data_page_header",
    "DATA_PAGE_V2": "data_page_header_v2",
    "DICTIONARY_PAGE": "dictionary_page_header",
}
_INDEXED = ("RLE_DICTIONARY", "PLAIN_DICTIONARY")


def iterate_values(data: bytes, footer: ParquetFooter, number: int) -> Iterator[list[bytes | None]]:
    """Iterate the values of the column at a place among the leaves: bytes as stored without a length, None for null.

    Raises `Corrupt` and `Unsupported` naming the file.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> from lakelens.codecs.parquet.footer import decode_footer
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"a": ["x", None, "yz", "x"]}), sink)
    >>> list(iterate_values(sink.getvalue(), decode_footer(sink), 0))
    [[b'x', None, b'yz', b'x']]
    """
    leaf = footer.leaves[number]
    with in_file(footer.path):
        if leaf.max_repetition_level:
            raise Unsupported(f"the rows of {leaf.path}, a column in a list, take pyarrow")
        for group in footer.row_groups:
            chunk, rows = group.columns[number], 0
            for values in _iterate_chunk(data, chunk, leaf, group.num_rows):
                rows += len(values)
                yield values
            if rows != group.num_rows:
                message = f"another number of values of {leaf.path} than of rows"
                raise Corrupt(message, offset=chunk.start, expected=group.num_rows, seen=rows)


def _iterate_chunk(
    data: bytes, chunk: ColumnChunk, leaf: SchemaLeaf, left: int
) -> Iterator[list[bytes | None]]:
    end, dictionary = chunk.start + chunk.compressed_size, None
    if end > len(data):
        message, expected = "a column chunk that is not inside its file", f"at most {len(data)} bytes"
        raise Corrupt(message, offset=chunk.start, expected=expected, seen=end)
    for page in _flatten(explain_pages(data, chunk.start, end, Chunk(leaf, chunk.compression))):
        kind = page.value.get("type")
        if kind not in _HEADERS:
            continue
        inner: Any = page.value.get(_HEADERS.get(kind))
        count = inner.get("num_values") if isinstance(inner, dict) else None
        if type(count) is not int or count < 0:
            raise Corrupt("no proper num_values in a page header", offset=page.start, seen=count)
        if kind == "DICTIONARY_PAGE":
            dictionary = split_plain(read_content(data, page, chunk.compression), count, leaf, page.start)
        else:
            if count > left:
                raise Corrupt("a page of more values than rows", offset=page.start, expected=left, seen=count)
            left -= count
            yield _decode_page(data, page, inner, chunk, leaf, dictionary)


def _flatten(pages: Iterator[Span]) -> Iterator[Span]:
    for page in pages:
        if page.label == "further pages":
            yield from _flatten(page.iter_children())
        else:
            yield page


def _decode_page(
    data: bytes, page: Span, header: Any, chunk: ColumnChunk, leaf: SchemaLeaf, dictionary: list[bytes] | None
) -> list[bytes | None]:
    content = read_content(data, page, chunk.compression)
    count, encoding = header["num_values"], header.get("encoding")
    levels: list[int] | None = None
    width = leaf.max_definition_level.bit_length()
    if width and page.value["type"] == "DATA_PAGE_V2":
        stored = next((part for part in page.iter_children() if part.label == "definition levels"), None)
        levels = [0] * count if stored is None else decode_runs(data, stored.start, stored.end, width, count)
    elif width:
        if header.get("definition_level_encoding", "RLE") != "RLE":
            raise Unsupported("definition levels that are bit-packed take pyarrow")
        end = 4 + int.from_bytes(content[:4], "little")
        if end > len(content):
            raise Corrupt("a page that ends inside its definition levels", offset=page.start, seen=end)
        levels = decode_runs(content, 4, end, width, count)
        content = content[end:]
    there = count if levels is None else sum(level == leaf.max_definition_level for level in levels)
    if encoding == "PLAIN":
        values = split_plain(content, there, leaf, page.start)
    elif encoding in _INDEXED and dictionary is not None:
        indexes = decode_runs(content, 1, len(content), content[0] if content else 0, there)
        if indexes and max(indexes) >= len(dictionary):
            message, expected = "an index outside of its dictionary", f"below {len(dictionary)}"
            raise Corrupt(message, offset=page.start, expected=expected, seen=max(indexes))
        values = [dictionary[index] for index in indexes]
    else:
        raise Unsupported(f"values in the encoding {encoding} take pyarrow")
    if levels is None:
        return list(values)
    following = iter(values)
    return [next(following) if level == leaf.max_definition_level else None for level in levels]


def decode_runs(data: bytes, start: int, end: int, width: int, count: int) -> list[int]:
    """Decode the first `count` values of the RLE and bit-packing hybrid. Raises `Corrupt` where there are fewer.

    >>> decode_runs(bytes([6, 1, 3, 0b10101010]), 0, 4, 1, 6)
    [1, 1, 1, 0, 1, 0]
    """
    values: list[int] = []
    if width > 32:
        raise Corrupt(
            "runs of values that are too wide", offset=start, expected="at most 32 bits", seen=width
        )
    waiting = [explain_runs(data, start, end, width)]
    while waiting and len(values) < count:
        run = next(waiting[-1], None)
        if run is None:
            waiting.pop()
        elif run.label == "further runs":
            waiting.append(run.iter_children())
        elif isinstance(value := run.value, int):
            values += [value] * min(run.children[0].value >> 1, count - len(values))
        else:
            values += value[: count - len(values)]
    if width == 0:  # indexes of no bits, into a dictionary of one value
        values += [0] * (count - len(values))
    if len(values) < count:
        raise Corrupt("fewer values than their page counts", offset=start, expected=count, seen=len(values))
    return values
