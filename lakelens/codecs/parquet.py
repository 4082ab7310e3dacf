"""Parquet footers as plain facts: what a file says of its rows, row groups and columns.

    PAR1 | column chunks … | page indexes, bloom filters | FileMetaData (Thrift compact) | its length i32 LE | PAR1

Follows the Apache Parquet format ("File format", "Metadata"). The Thrift structures are read by pyarrow; what pyarrow does
not check with a place to name (magics, footer length) is checked here first. Refused: an encrypted footer (`PARE`) with
`Unsupported`, everything else that is not the layout above with `Corrupt`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

from lakelens.errors import Corrupt, Unsupported

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"PAR1"
ENCRYPTED_MAGIC = b"PARE"
#: Head magic, footer length, tail magic.
MIN_SIZE = 12


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """One column in one row group. Sizes in bytes; `min` and `max` are Python values or None when not stored.

    `start` is where its pages begin: the dictionary page, if there is one, else the first data page.
    """

    path: str
    physical_type: str
    compression: str
    encodings: tuple[str, ...]
    num_values: int
    compressed_size: int
    uncompressed_size: int
    start: int
    min: Any = None
    max: Any = None
    null_count: int | None = None
    distinct_count: int | None = None
    dictionary_page_offset: int | None = None
    data_page_offset: int | None = None
    bloom_filter_offset: int | None = None
    has_column_index: bool = False
    has_offset_index: bool = False


@dataclass(frozen=True, slots=True)
class RowGroup:
    """One row group. `start` is its first byte, `compressed_size` the bytes on disk, `uncompressed_size` without codec."""

    index: int
    num_rows: int
    start: int
    compressed_size: int
    uncompressed_size: int
    sorting_columns: tuple[str, ...]
    columns: tuple[ColumnChunk, ...]


@dataclass(frozen=True, slots=True)
class ParquetColumn:
    """One leaf column over the whole file: its schema, and its chunks added up.

    `min` and `max` are None unless every row group that has values has them; `null_count` None unless all know it.
    """

    path: str
    physical_type: str
    logical_type: str | None
    field_id: int | None
    max_definition_level: int
    max_repetition_level: int
    compression: tuple[str, ...]
    encodings: tuple[str, ...]
    num_values: int
    compressed_size: int
    uncompressed_size: int
    null_count: int | None
    min: Any
    max: Any


@dataclass(frozen=True)
class ParquetFooter:
    """The footer of a Parquet file; `serialized_size` is its length in bytes. `row_groups` and `columns` are made on demand.

    `key_values` holds the file's own metadata: text where it is UTF-8, bytes elsewhere.
    """

    num_rows: int
    num_row_groups: int
    num_columns: int
    created_by: str | None
    format_version: str
    serialized_size: int
    key_values: Mapping[str, str | bytes]
    metadata: Any = field(repr=False, compare=False)
    path: str | None = field(default=None, compare=False)
    format: str = "parquet"

    @cached_property
    def row_groups(self) -> tuple[RowGroup, ...]:
        """Every row group with its column chunks."""
        with _naming_the_place(self.path):
            return tuple(_row_group(i, self.metadata.row_group(i)) for i in range(self.num_row_groups))

    @cached_property
    def columns(self) -> tuple[ParquetColumn, ...]:
        """Every leaf column in schema order, its chunks added up."""
        with _naming_the_place(self.path):
            ids = _field_ids(self.metadata, self.num_columns)
            return tuple(self._column(i, ids[i]) for i in range(self.num_columns))

    @cached_property
    def schema_arrow(self) -> pa.Schema:
        """The schema as Arrow reads it; fields carry `PARQUET:field_id` where the file has ids."""
        with _naming_the_place(self.path):
            return self.metadata.schema.to_arrow_schema()

    def _column(self, index: int, field_id: int | None) -> ParquetColumn:
        described = self.metadata.schema.column(index)
        chunks = [group.columns[index] for group in self.row_groups]
        logical = str(described.logical_type)
        nulls = [chunk.null_count for chunk in chunks]
        low, high = _bounds([c for c in chunks if c.null_count is None or c.null_count < c.num_values])
        return ParquetColumn(
            path=described.path,
            physical_type=described.physical_type,
            logical_type=None if logical == "None" else logical,
            field_id=field_id,
            max_definition_level=described.max_definition_level,
            max_repetition_level=described.max_repetition_level,
            compression=_distinct(chunk.compression for chunk in chunks),
            encodings=_distinct(encoding for chunk in chunks for encoding in chunk.encodings),
            num_values=sum(chunk.num_values for chunk in chunks),
            compressed_size=sum(chunk.compressed_size for chunk in chunks),
            uncompressed_size=sum(chunk.uncompressed_size for chunk in chunks),
            null_count=None if None in nulls else sum(count or 0 for count in nulls),
            min=low,
            max=high,
        )


def decode_footer(file: IO[bytes], path: str | None = None) -> ParquetFooter:
    """The footer of the Parquet file that a seekable binary file object holds; reads the head's magic and the end.

    `path` only names the file in errors. Follows the Parquet format's "Metadata". Raises `Corrupt` with the offset for
    what is not Parquet or is cut, `Unsupported` for an encrypted footer.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"id": [1, 2, 3]}), sink)
    >>> footer = decode_footer(sink)
    >>> footer.num_rows, footer.columns[0].path, footer.columns[0].max
    (3, 'id', 3)
    """
    import pyarrow.parquet as pq

    start = _check_frame(file, path)
    with _naming_the_place(path, start):
        file.seek(0)
        metadata = pq.ParquetFile(file).metadata
        return ParquetFooter(
            num_rows=metadata.num_rows,
            num_row_groups=metadata.num_row_groups,
            num_columns=metadata.num_columns,
            created_by=metadata.created_by or None,
            format_version=metadata.format_version,
            serialized_size=metadata.serialized_size,
            key_values=_key_values(metadata.metadata),
            metadata=metadata,
            path=path,
        )


def read_rows(file: IO[bytes], count: int, path: str | None = None) -> pa.Table:
    """The first `count` rows of a Parquet file as an Arrow table; reads no more row groups than it takes.

    Raises as `decode_footer` does.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"id": [1, 2, 3]}), sink)
    >>> read_rows(sink, 2).to_pylist()
    [{'id': 1}, {'id': 2}]
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    start = _check_frame(file, path)
    with _naming_the_place(path, start):
        file.seek(0)
        parquet = pq.ParquetFile(file)
        batches, missing = [], count
        for batch in parquet.iter_batches(batch_size=max(1, min(count, 65_536))) if count > 0 else ():
            batches.append(batch.slice(0, missing))
            missing -= len(batches[-1])
            if missing <= 0:
                break
        return pa.Table.from_batches(batches, parquet.schema_arrow)


def _check_frame(file: IO[bytes], path: str | None) -> int:
    """Magics and footer length; gives the offset at which the footer begins."""
    size = file.seek(0, 2)
    if size == 0:
        raise Corrupt(
            "an empty file, not Parquet", path=path, offset=0, expected=f"{MIN_SIZE} bytes", seen="0 bytes"
        )
    file.seek(0)
    head = file.read(4)
    if head not in (MAGIC, ENCRYPTED_MAGIC):
        raise Corrupt("not a Parquet file", path=path, offset=0, expected="PAR1", seen=head)
    file.seek(max(0, size - 8))
    tail = file.read(8)
    if head == ENCRYPTED_MAGIC or tail[-4:] == ENCRYPTED_MAGIC:
        raise Unsupported("a Parquet file with an encrypted footer", path=path)
    if size < MIN_SIZE or tail[-4:] != MAGIC:
        raise Corrupt(
            "a Parquet file that is cut: its end is missing",
            path=path,
            offset=max(0, size - 4),
            expected="PAR1",
            seen=tail[-4:],
        )
    length = struct.unpack_from("<I", tail)[0]
    if length > size - MIN_SIZE:
        raise Corrupt(
            "a footer length that does not fit the file",
            path=path,
            offset=size - 8,
            expected=f"at most {size - MIN_SIZE}",
            seen=length,
        )
    return int(size - 8 - length)


class _naming_the_place:  # noqa: N801 - reads as a statement: with _naming_the_place(path)
    """Turns what pyarrow raises over a file's contents into our errors; mistakes in our own calls stay what they are."""

    def __init__(self, path: str | None, offset: int | None = None) -> None:
        self.path, self.offset = path, offset

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        import pyarrow as pa

        if isinstance(error, pa.ArrowNotImplementedError):
            raise Unsupported(f"pyarrow does not read this file: {error}", path=self.path) from error
        if isinstance(error, pa.ArrowException | OSError | UnicodeDecodeError) and not isinstance(
            error, Corrupt
        ):
            raise Corrupt("a damaged Parquet file", path=self.path, offset=self.offset, seen=error) from error


def _key_values(metadata: Mapping[bytes, bytes] | None) -> dict[str, str | bytes]:
    def text(value: bytes) -> str | bytes:
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value

    return {key.decode(errors="replace"): text(value) for key, value in (metadata or {}).items()}


def _row_group(index: int, group: Any) -> RowGroup:
    chunks = tuple(_chunk(group.column(i)) for i in range(group.num_columns))
    return RowGroup(
        index=index,
        num_rows=group.num_rows,
        start=min((chunk.start for chunk in chunks), default=0),
        compressed_size=sum(chunk.compressed_size for chunk in chunks),
        uncompressed_size=group.total_byte_size,
        sorting_columns=tuple(
            _sorting(chunks, column) for column in getattr(group, "sorting_columns", None) or ()
        ),
        columns=chunks,
    )


def _sorting(chunks: tuple[ColumnChunk, ...], column: Any) -> str:
    index = column.column_index
    name = chunks[index].path if 0 <= index < len(chunks) else f"column {index}"
    return (
        f"{name} {'desc' if column.descending else 'asc'} nulls {'first' if column.nulls_first else 'last'}"
    )


def _chunk(column: Any) -> ColumnChunk:
    statistics = column.statistics if column.is_stats_set else None
    low = high = None
    if statistics is not None and statistics.has_min_max:
        low, high = statistics.min, statistics.max
    dictionary = column.dictionary_page_offset if column.has_dictionary_page else None
    return ColumnChunk(
        path=column.path_in_schema,
        physical_type=column.physical_type,
        compression=column.compression,
        encodings=tuple(column.encodings),
        num_values=column.num_values,
        compressed_size=column.total_compressed_size,
        uncompressed_size=column.total_uncompressed_size,
        start=dictionary or column.data_page_offset,  # some writers store 0 for "no dictionary page"
        min=low,
        max=high,
        null_count=statistics.null_count if statistics is not None and statistics.has_null_count else None,
        distinct_count=statistics.distinct_count
        if statistics is not None and statistics.has_distinct_count
        else None,
        dictionary_page_offset=dictionary,
        data_page_offset=column.data_page_offset,
        bloom_filter_offset=getattr(column, "bloom_filter_offset", None),
        has_column_index=column.has_column_index,
        has_offset_index=column.has_offset_index,
    )


def _bounds(chunks: list[ColumnChunk]) -> tuple[Any, Any]:
    """The bounds over all chunks, or None when one of them has none."""
    if not chunks or any(chunk.min is None or chunk.max is None for chunk in chunks):
        return None, None
    return min(chunk.min for chunk in chunks), max(chunk.max for chunk in chunks)


def _distinct(values: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _field_ids(metadata: Any, count: int) -> list[int | None]:
    """The field id of every leaf, taken from the Arrow schema: pyarrow's own column schema does not tell them."""
    import pyarrow as pa

    try:
        schema = metadata.schema.to_arrow_schema()
    except (pa.ArrowException, OSError):
        return [None] * count
    ids = [_id(leaf) for top in schema for leaf in _leaves(top)]
    return ids if len(ids) == count else [None] * count


def _leaves(column: pa.Field) -> Iterator[pa.Field]:
    import pyarrow.types as kinds

    kind = column.type.storage_type if hasattr(column.type, "storage_type") else column.type
    if kinds.is_struct(kind):
        for i in range(kind.num_fields):
            yield from _leaves(kind.field(i))
    elif kinds.is_map(kind):
        yield from _leaves(kind.key_field)
        yield from _leaves(kind.item_field)
    elif kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind):
        yield from _leaves(kind.value_field)
    else:
        yield column


def _id(column: pa.Field) -> int | None:
    text = (column.metadata or {}).get(b"PARQUET:field_id", b"")
    return int(text) if text.lstrip(b"-").isdigit() else None
