"""What the values of a Parquet file take once they are decoded, from its footer and its page headers alone.

    column chunk   [dictionary page] data page …       page   PageHeader (Thrift compact) | compressed_page_size bytes

A page may claim to be gigabytes, and a value of a dictionary may be repeated at the price of nothing; readers believe
both. Follows "Data Pages" and "Dictionary Encoding" of the Apache Parquet format. Refused with `Corrupt`: what takes more
than the user's budget for decoded values, and page headers that are none.
"""

from __future__ import annotations

from lakelens.codecs.compression import check_decoded
from lakelens.codecs.parquet.dictionary import read_dictionary
from lakelens.codecs.parquet.footer import ParquetFooter
from lakelens.codecs.parquet.structure import ColumnChunk, SchemaLeaf
from lakelens.codecs.parquet.thrift import ThriftReader
from lakelens.codecs.span.reader import in_file
from lakelens.errors import Corrupt, LakeError

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
        values += sum(_count_values(header.get(key)) for key in _DATA_PAGES)
        at = reader.at + stored
    values = max(values, chunk.num_values)
    size += _LENGTH * values
    if dictionary and size + dictionary * values > _LENGTH * values + (1 << 20):
        size += values * _find_longest(data, leaf, chunk, dictionary)
    return size


def _count_values(inner: object) -> int:
    count = inner.get(1) if isinstance(inner, dict) else None
    return count if isinstance(count, int) and count > 0 else 0


def _find_longest(data: bytes, leaf: SchemaLeaf, chunk: ColumnChunk, size: int) -> int:
    """The bytes of the longest value of a dictionary; all of it where it cannot be read here."""
    if leaf.physical_type != "BYTE_ARRAY":
        return leaf.width
    try:
        end = chunk.start + chunk.compressed_size
        return max(map(len, read_dictionary(data, chunk.start, end, leaf, chunk.compression)), default=0)
    except LakeError:
        return size
