"""How many bytes of a Parquet file are each column's, and how many are indexes, bloom filters and the footer.

    PAR1 | column chunks … | column indexes | offset indexes | bloom filters | FileMetaData | its length | PAR1

Follows the Apache Parquet format ("File format", `ColumnChunk`): `total_compressed_size` of a chunk counts its dictionary
and data pages with their headers, as stored. Refused with `Corrupt`: members of another type than the format's; with
`Unsupported`: columns whose lengths are encrypted.
"""

from __future__ import annotations

from lakelens.codecs.parquet.footer import MIN_SIZE, ParquetFooter
from lakelens.codecs.parquet.structure import StructReader
from lakelens.codecs.parquet.thrift_schema import FILE
from lakelens.codecs.span.reader import in_file
from lakelens.errors import Unsupported

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
