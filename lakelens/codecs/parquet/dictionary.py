"""The dictionary page of a column chunk, read alone: every value that the chunk holds, where all its pages use it.

    [dictionary page] data page …       dictionary page   PageHeader | compressed PLAIN values, each once

Follows "Dictionary Encoding" of the Apache Parquet format, and `DictionaryFilter` of parquet-mr for when the dictionary is
all there is: by the `encoding_stats` of the chunk, without them by its `encodings`, where PLAIN_DICTIONARY shows version 1.0
pages. Refused with `Corrupt`: a first page that is no dictionary, and values that do not fit it; with `Unsupported`: a
dictionary of more than `MAX_SIZE` bytes.
"""

from __future__ import annotations

from typing import Any

from lakelens.codecs.parquet.page_spans import Chunk, explain_pages
from lakelens.codecs.parquet.structure import SchemaLeaf, StructReader
from lakelens.codecs.parquet.thrift_schema import ENCODINGS, PAGE_TYPES
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import Corrupt, Unsupported

#: Writers give up a dictionary at 1 MiB (parquet-mr, Arrow) or 2 MiB (Iceberg); a far larger one is not worth its reading.
MAX_SIZE = 4 << 20
_WIDTHS = {"INT32": 4, "INT64": 8, "FLOAT": 4, "DOUBLE": 8}
_OF_DICTIONARY = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}
_OF_LEVELS = {"RLE", "BIT_PACKED"}


def is_dictionary_encoded(metadata: StructReader) -> bool:
    """Whether the dictionary of a chunk holds all of its values: True only where the footer proves it.

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


def read_dictionary(data: Octets, start: int, end: int, leaf: SchemaLeaf, codec: str) -> list[bytes]:
    """The PLAIN values, byte arrays without their length, of the dictionary page at `data[start]`; its chunk ends at `end`.

    Raises `Corrupt` and `Unsupported` with the offset.
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
    if type(size) is not int or not 0 <= size <= MAX_SIZE or page.end - page.start > MAX_SIZE:
        raise Unsupported(f"a dictionary of {size} bytes at byte {start}", hint=f"up to {MAX_SIZE} are read")
    return _split(_read_content(data, page, codec), count, leaf, start)


def _read_content(data: Octets, page: Span, codec: str) -> bytes:
    """The decompressed content of a page, whose checksum is checked."""
    for part in page.iter_children():
        if part.error is not None:
            raise part.error
        if part.label != "page data":
            continue
        if part.is_packed:
            return part.unpack()[0]
        if codec != "UNCOMPRESSED":
            raise Unsupported(f"{codec} is not decompressed here")
        first = next(part.iter_children(), None)
        if first is not None and first.error is not None:
            raise first.error
        return bytes(data[part.start : part.end])
    return b""


def _split(content: bytes, count: int, leaf: SchemaLeaf, offset: int) -> list[bytes]:
    kind = leaf.physical_type
    if kind == "BYTE_ARRAY":
        return _split_arrays(content, count, offset)
    width = leaf.width if kind == "FIXED_LEN_BYTE_ARRAY" else _WIDTHS.get(kind, 0)
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
