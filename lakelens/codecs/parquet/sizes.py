"""How many bytes of a Parquet file are each column's, and what its values take once they are decoded."""

from __future__ import annotations

from lakelens.codecs.compression import check_decoded
from lakelens.codecs.parquet.footer import MIN_SIZE, ParquetFooter
from lakelens.codecs.parquet.pages import read_dictionary
from lakelens.codecs.parquet.structure import ColumnChunk, SchemaLeaf, StructReader
from lakelens.codecs.parquet.thrift import ThriftReader
from lakelens.codecs.parquet.thrift_schema import FILE
from lakelens.codecs.span.reader import in_file
from lakelens.errors import Corrupt, LakeError, Unsupported

# How many bytes of a Parquet file are each column's, and how many are indexes, bloom filters and the footer.
#
#     PAR1 | column chunks … | column indexes | offset indexes | bloom filters | FileMetaData | its length | PAR1
#
# Follows the Apache Parquet format ("File format", `ColumnChunk`): `total_compressed_size` of a chunk counts its
# dictionary and data pages with their headers, as stored. Refused with `Corrupt`: members of another type than the
# format's; with `Unsupported`: columns whose lengths are encrypted.

Columns = dict[tuple[str, int | None], int]


def measure_parts(footer: ParquetFooter) -> tuple[Columns, dict[str, int], str]:
    """Bytes by column (path and field id), bytes of the other parts, and which part what is left of the file belongs to.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> from lakelens.codecs.parquet.footer import decode_footer
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"id": list(range(100)), "b": ["x"] * 100}), sink, write_page_index=True)
    >>> columns, parts, rest = measure_parts(decode_footer(sink))
    >>> list(columns), list(parts), rest
    ([('id', None), ('b', None)], ['page indexes', 'bloom filters', 'footers'], 'padding')
    >>> sum(columns.values()) + sum(parts.values()) == len(sink.getvalue())
    True
    """
    with in_file(footer.path):
        sizes = [0] * len(footer.leaves)
        indexes = blooms = 0
        is_open = False  # a bloom filter of which only the place is recorded, as writers did before there was a length
        for group in StructReader(footer.structure, FILE, None).structs("row_groups"):
            chunks = group.structs("columns")
            if len(chunks) != len(sizes):
                group.fail("a row group without every column", expected=len(sizes), seen=len(chunks))
            for place, chunk in enumerate(chunks):
                if "meta_data" not in chunk:
                    raise Unsupported(f"the column {footer.leaves[place].path} is encrypted")
                metadata = chunk.struct("meta_data", chunk.get("meta_data"))
                sizes[place] += metadata.integer("total_compressed_size")
                indexes += chunk.optional("column_index_length") or 0
                indexes += chunk.optional("offset_index_length") or 0
                bloom = metadata.optional("bloom_filter_length")
                blooms += bloom or 0
                is_open |= bloom is None and "bloom_filter_offset" in metadata
    columns: Columns = {}
    for leaf, size in zip(footer.leaves, sizes, strict=True):
        key = leaf.path, leaf.field_id
        columns[key] = columns.get(key, 0) + size
    parts = {
        "page indexes": indexes,
        "bloom filters": blooms,
        "footers": footer.serialized_size + MIN_SIZE,
    }
    return columns, parts, "bloom filters" if is_open else "padding"


# by their ids: PageHeader, and the headers of pages in it, whose first member is the number of values
_UNCOMPRESSED, _COMPRESSED = 2, 3
_DATA_PAGES, _DICTIONARY = (5, 8), 7
_LENGTH = 8  # what a value takes beside its bytes, or instead


def check_records(data: bytes, footer: ParquetFooter) -> None:
    """Raises `Corrupt` for a file in memory whose records would take too much once all of them are decoded.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> from lakelens.codecs.parquet.footer import decode_footer
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"a": ["x" * 1000] * 50_000}), sink)
    >>> check_records(sink.getvalue(), decode_footer(sink))
    """
    size = footer.num_rows * _LENGTH
    with in_file(footer.path):
        for group in footer.row_groups:
            if not group.num_rows:
                continue
            for leaf, chunk in zip(footer.leaves, group.columns, strict=True):
                size += _measure_chunk(data, leaf, chunk)
                check_decoded(size, offset=chunk.start)


def _measure_chunk(data: bytes, leaf: SchemaLeaf, chunk: ColumnChunk) -> int:
    """Bytes of a chunk's pages, and of its values where they are in a dictionary."""
    at, end = chunk.start, chunk.start + chunk.compressed_size
    if not 0 <= at <= end <= len(data):
        message, expected = "a column chunk that is not inside its file", f"at most {len(data)} bytes"
        raise Corrupt(message, offset=at, expected=expected, seen=f"{at} to {end}")
    size = dictionary = values = 0
    reader = ThriftReader(data, 0)
    while at < end:
        reader.at = at
        header = reader.fields(0)
        claimed, stored = header.get(_UNCOMPRESSED), header.get(_COMPRESSED)
        if type(claimed) is not int or type(stored) is not int or stored < 0 or claimed < 0:
            raise Corrupt(
                "no page header", offset=at, expected="sizes of a page", seen=f"{claimed}, {stored}"
            )
        size += claimed
        dictionary += claimed if _DICTIONARY in header else 0
        inner = (header.get(key) for key in _DATA_PAGES)
        counts = (page.get(1) for page in inner if isinstance(page, dict))
        values += sum(count for count in counts if isinstance(count, int) and count > 0)
        at = reader.at + stored
    values = max(values, chunk.num_values)
    size += _LENGTH * values
    if dictionary and size + dictionary * values > _LENGTH * values + (1 << 20):
        size += values * _find_longest(data, leaf, chunk, dictionary)
    return size


def _find_longest(data: bytes, leaf: SchemaLeaf, chunk: ColumnChunk, size: int) -> int:
    """Find the bytes of the longest value of a dictionary; all of it where it cannot be read here."""
    if leaf.physical_type != "BYTE_ARRAY":
        return leaf.width
    try:
        end = chunk.start + chunk.compressed_size
        return max(map(len, read_dictionary(data, chunk.start, end, leaf, chunk.compression)), default=0)
    except LakeError:
        return size
