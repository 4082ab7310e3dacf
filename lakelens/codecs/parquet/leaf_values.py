"""The values of one Parquet column as they are stored, page by page, with the levels that say where they belong.

    data page      [repetition levels] [definition levels] values: encoded, or indexes into the chunk's dictionary
    levels         runs: 0 begins a row, more goes on in a list; the largest one is a value, less is null or empty

Pages are found, decompressed and checked by `pages`, values taken apart by `encodings`. Follows "Data Pages", "Nested
Encoding" of the Apache Parquet format. Refused with `Corrupt`: pages that hold more than their chunk counts, levels that the
schema does not have, indexes outside of the dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lakelens.codecs.compression import check_decoded
from lakelens.codecs.parquet.encodings import decode_plain, decode_runs, decode_values, unpack_levels
from lakelens.codecs.parquet.pages import Chunk, explain_pages, read_content
from lakelens.codecs.parquet.structure import ColumnChunk, SchemaLeaf
from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt, LakeError
from lakelens.lazy import dataclass

#: Makes a value of what is stored.
Convert = Callable[[Any], Any]

_HEADERS = {
    "DATA_PAGE": "data_page_header",
    "DATA_PAGE_V2": "data_page_header_v2",
    "DICTIONARY_PAGE": "dictionary_page_header",
}
_INDEXED = ("RLE_DICTIONARY", "PLAIN_DICTIONARY")
_VALUE_BYTES = 24  # of a value in a list, with its levels


@dataclass(slots=True)
class LeafPage:
    """What one page holds: for each place its levels (None where all are 0), and the values of those that have one."""

    count: int
    repetitions: list[int] | None
    definitions: list[int] | None
    values: list[Any]


def iterate_pages(
    data: bytes, chunk: ColumnChunk, leaf: SchemaLeaf, convert: Convert | None = None
) -> Iterator[LeafPage]:
    """Iterate the data pages of a column chunk, their values converted: those of a dictionary once. Raises `LakeError`."""
    end, dictionary, left = chunk.start + chunk.compressed_size, None, chunk.num_values
    if end > len(data):
        message, expected = "a column chunk that is not inside its file", f"at most {len(data)} bytes"
        raise Corrupt(message, offset=chunk.start, expected=expected, seen=end)
    check_decoded(left * _VALUE_BYTES, offset=chunk.start, stored=len(data))
    pages = _flatten(explain_pages(data, chunk.start, end, Chunk(leaf, chunk.compression)))
    while left:  # what is behind the last value is no page
        page = next(pages, None)
        if page is None:
            break
        kind = page.value.get("type")
        if kind not in _HEADERS:
            continue
        inner: Any = page.value.get(_HEADERS[kind])
        count = inner.get("num_values") if isinstance(inner, dict) else None
        if type(count) is not int or count < 0:
            raise Corrupt("no proper num_values in a page header", offset=page.start, seen=count)
        if kind == "DICTIONARY_PAGE":
            content = read_content(data, page, chunk.compression)
            check_decoded(count * _VALUE_BYTES, offset=page.start, stored=len(data))
            dictionary = _convert(decode_plain(content, count, leaf, page.start), convert, leaf, page.start)
            continue
        if count > left:
            message = "a page of more values than its column counts"
            raise Corrupt(message, offset=page.start, expected=left, seen=count)
        left -= count
        yield _decode_page(data, page, inner, chunk, leaf, dictionary, convert)


def _flatten(pages: Iterator[Span]) -> Iterator[Span]:
    for page in pages:
        if page.label == "further pages":
            yield from _flatten(page.iter_children())
        else:
            yield page


def _convert(values: list[Any], convert: Convert | None, leaf: SchemaLeaf, offset: int) -> list[Any]:
    if convert is None:
        return values
    try:
        return list(map(convert, values))
    except LakeError:
        raise
    except (ValueError, ArithmeticError) as error:  # text that is none, a number of no such width
        message, kind = (
            f"values of {leaf.path} that do not fit its type",
            leaf.logical_type or leaf.physical_type,
        )
        raise Corrupt(message, offset=offset, expected=kind, seen=error) from error


def _decode_page(
    data: bytes,
    page: Span,
    header: Any,
    chunk: ColumnChunk,
    leaf: SchemaLeaf,
    dictionary: list[Any] | None,
    convert: Convert | None,
) -> LeafPage:
    content = read_content(data, page, chunk.compression)
    count, encoding, levels = header["num_values"], str(header.get("encoding")), list[list[int] | None]()
    for name, most in (("repetition", leaf.max_repetition_level), ("definition", leaf.max_definition_level)):
        found: list[int] | None = None
        if most and page.value["type"] == "DATA_PAGE_V2":
            part = next((part for part in page.iter_children() if part.label == f"{name} levels"), None)
            found = [0] * count
            if part is not None:
                found = decode_runs(data, part.start, part.end, most.bit_length(), count, page.start)
        elif most:
            kind = header.get(f"{name}_level_encoding", "RLE")
            found, content = _cut_levels(content, most, count, kind, name, page.start)
        if found and max(found) > most:
            raise Corrupt(f"{name} levels that the schema has not", offset=page.start, expected=most)
        levels.append(found)
    repetitions, definitions = levels
    there = count if definitions is None else definitions.count(leaf.max_definition_level)
    if encoding in _INDEXED and dictionary is not None:
        indexes = decode_runs(content, 1, len(content), content[0] if content else 0, there, page.start)
        if indexes and max(indexes) >= len(dictionary):
            message, expected = "an index outside of its dictionary", f"below {len(dictionary)}"
            raise Corrupt(message, offset=page.start, expected=expected, seen=max(indexes))
        values = [dictionary[index] for index in indexes]
    elif encoding in _INDEXED and there:
        raise Corrupt("indexes without a dictionary", offset=page.start)
    else:
        values = [] if not there else decode_values(encoding, content, there, leaf, page.start)
        values = _convert(values, convert, leaf, page.start)
    return LeafPage(count, repetitions, definitions, values)


def _cut_levels(
    content: bytes, most: int, count: int, encoding: str, name: str, offset: int
) -> tuple[list[int], bytes]:
    """Decode the levels in front of the values, and cut them off."""
    width = most.bit_length()
    if encoding == "BIT_PACKED":
        end = (count * width + 7) // 8
        levels = unpack_levels(content[:end], width, count) if end <= len(content) else []
    else:
        end = 4 + int.from_bytes(content[:4], "little")
        levels = decode_runs(content, 4, end, width, count, offset) if end <= len(content) else []
    if end > len(content):
        raise Corrupt(f"a page that ends inside its {name} levels", offset=offset, seen=f"{end} bytes")
    return levels, content[end:]
