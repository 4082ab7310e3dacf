"""Parquet footers as plain facts: the rows, row groups and columns of a file.

    PAR1 | column chunks … | page indexes, bloom filters | FileMetaData (Thrift compact) | its length i32 LE | PAR1

Follows the Apache Parquet format ("File format", "Metadata"). The footer is decoded here and not by pyarrow, whose
accessors end the whole process on some damaged footers; rows and the Arrow schema are pyarrow's. Refused: encrypted
footers and columns with `Unsupported`, everything else that is not the layout above with `Corrupt`.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from decimal import Decimal
from operator import itemgetter
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from lakelens.caching import cached_property
from lakelens.codecs.compression import check_decoded
from lakelens.codecs.parquet.structure import (
    RowGroup,
    SchemaLeaf,
    StructReader,
    decode_key_values,
    decode_leaves,
    decode_row_groups,
)
from lakelens.codecs.parquet.thrift import decode_struct
from lakelens.codecs.parquet.thrift_schema import FILE
from lakelens.codecs.span.reader import in_file
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.lazy import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"PAR1"
ENCRYPTED_MAGIC = b"PARE"
#: Head magic, footer length, tail magic.
MIN_SIZE = 12
MAX_FOOTER = 256 << 20  # no engine comes near; what claims more is not read into memory
_BATCH_ROWS = 16_384


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

    `key_values` holds the file's own metadata: text where it is UTF-8, bytes elsewhere. `structure` is the footer as it is
    stored: the `FileMetaData` of the format by field id, every unknown field kept.
    """

    num_rows: int
    num_row_groups: int
    num_columns: int
    created_by: str | None
    format_version: str
    serialized_size: int
    key_values: Mapping[str, str | bytes]
    structure: Mapping[int, Any] = field(repr=False, compare=False)
    leaves: tuple[SchemaLeaf, ...] = field(repr=False)
    path: str | None = field(default=None, compare=False)
    stored: bytes = field(default=b"", repr=False, compare=False)
    format: str = "parquet"

    @cached_property
    def row_groups(self) -> tuple[RowGroup, ...]:
        """Every row group with its column chunks."""
        return decode_row_groups(self.structure, self.leaves, self.path)

    @cached_property
    def columns(self) -> tuple[ParquetColumn, ...]:
        """Every leaf column in schema order, its chunks added up."""
        return tuple(self._column(i, leaf) for i, leaf in enumerate(self.leaves))

    @cached_property
    def schema_arrow(self) -> pa.Schema:
        """The schema as Arrow reads it; fields carry `PARQUET:field_id` where the file has ids."""
        import pyarrow.parquet as pq

        framed = MAGIC + self.stored + struct.pack("<I", len(self.stored)) + MAGIC  # a file of a footer alone
        with pyarrow_errors(self.path):
            return pq.ParquetFile(io.BytesIO(framed)).schema_arrow

    def _column(self, index: int, leaf: SchemaLeaf) -> ParquetColumn:
        chunks = [group.columns[index] for group in self.row_groups]
        nulls = [chunk.null_count for chunk in chunks]
        # a side is None when a chunk that holds values does not have it
        filled = [c for c in chunks if c.null_count is None or c.null_count < c.num_values]
        lows = [(_order(chunk.min, chunk.min_raw), chunk.min) for chunk in filled]
        highs = [(_order(chunk.max, chunk.max_raw), chunk.max) for chunk in filled]
        has_low = bool(lows) and all(value is not None for _, value in lows)
        has_high = bool(highs) and all(value is not None for _, value in highs)
        return ParquetColumn(
            path=leaf.path,
            physical_type=leaf.physical_type,
            logical_type=leaf.logical_type,
            field_id=leaf.field_id,
            max_definition_level=leaf.max_definition_level,
            max_repetition_level=leaf.max_repetition_level,
            compression=_distinct(chunk.compression for chunk in chunks),
            encodings=_distinct(encoding for chunk in chunks for encoding in chunk.encodings),
            num_values=sum(chunk.num_values for chunk in chunks),
            compressed_size=sum(chunk.compressed_size for chunk in chunks),
            uncompressed_size=sum(chunk.uncompressed_size for chunk in chunks),
            null_count=None if None in nulls else sum(count or 0 for count in nulls),
            min=min(lows, key=itemgetter(0))[1] if has_low else None,
            max=max(highs, key=itemgetter(0))[1] if has_high else None,
        )


def decode_footer(file: IO[bytes], path: str | None = None) -> ParquetFooter:
    """Decode the footer of the Parquet file that a seekable binary file object holds; reads the head's magic and the end.

    `path` only names the file in errors. Follows the Parquet format's "Metadata". Raises `Corrupt` with the offset for
    what is not Parquet or is cut, `Unsupported` for an encrypted footer.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"id": [1, 2, 3]}), sink)
    >>> footer = decode_footer(sink)
    >>> footer.num_rows, footer.columns[0].path, footer.columns[0].max
    (3, 'id', 3)
    """
    with in_file(path):
        start, end = _check_frame(file)
        file.seek(start)
        stored = file.read(end - start)
        structure = decode_struct(stored, base=start)
        reader = StructReader(structure, FILE, start)
        leaves = decode_leaves(reader)
        created_by = reader.get("created_by")
        return ParquetFooter(
            num_rows=reader.integer("num_rows"),
            num_row_groups=len(reader.sequence("row_groups")),
            num_columns=len(leaves),
            created_by=created_by.decode(errors="replace") if isinstance(created_by, bytes) else None,
            format_version=str(reader.integer("version")),
            serialized_size=len(stored),
            key_values=decode_key_values(reader),
            structure=structure,
            leaves=leaves,
            path=path,
            stored=stored,
        )


def read_rows(file: IO[bytes], count: int, path: str | None = None) -> pa.Table:
    """Read the first `count` rows of a Parquet file as an Arrow table; reads no more row groups than it takes.

    Raises as `decode_footer` does.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"id": [1, 2, 3]}), sink)
    >>> read_rows(sink, 2).to_pylist()
    [{'id': 1}, {'id': 2}]
    """
    import pyarrow as pa

    with _open(file, path) as parquet:
        # the first rows may not take too much, by what the footer says of its row groups
        stored = file.seek(0, 2)
        size, missing = 0, count
        for number in range(parquet.metadata.num_row_groups):
            if missing <= 0:
                break
            group = parquet.metadata.row_group(number)
            rows = max(1, group.num_rows)
            size += max(0, group.total_byte_size) * min(missing, rows) // rows
            missing -= rows
        check_decoded(size, path, stored=stored)
        batches, missing = [], count
        for batch in parquet.iter_batches(batch_size=max(1, min(count, 65_536))) if count > 0 else ():
            batches.append(batch.slice(0, missing))
            missing -= len(batches[-1])
            if missing <= 0:
                break
        return pa.Table.from_batches(batches, parquet.schema_arrow)


def read_schema(file: IO[bytes], path: str | None = None) -> pa.Schema:
    """Read the columns of a Parquet file as Arrow types them; ids are in the fields' metadata (`PARQUET:field_id`).

    Raises as `decode_footer` does.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"id": [1, 2, 3]}), sink)
    >>> read_schema(sink).names
    ['id']
    """
    with _open(file, path) as parquet:
        schema: pa.Schema = parquet.schema_arrow
        return schema


def iter_columns(
    file: IO[bytes], names: Collection[str], path: str | None = None
) -> Iterator[pa.RecordBatch]:
    """All rows of some top-level columns in batches; texts and bytes come as dictionaries, so that repeats cost nothing.

    Raises as `decode_footer` does.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"id": [1, 2, 3], "b": [4, 5, 6]}), sink)
    >>> [batch.to_pydict() for batch in iter_columns(sink, ["id"])]
    [{'id': [1, 2, 3]}]
    """
    import pyarrow.parquet as pq

    with _open(file, path) as opened:
        metadata = opened.metadata
        leaves = {metadata.schema.column(index).path for index in range(metadata.num_columns)}
        parquet = pq.ParquetFile(file, metadata=metadata, read_dictionary=sorted(leaves & set(names)))
        for batch in parquet.iter_batches(_BATCH_ROWS, columns=list(names)):
            # a name with a dot also picks what is nested under its first part
            yield batch.select([index for index, name in enumerate(batch.schema.names) if name in names])


def _check_frame(file: IO[bytes]) -> tuple[int, int]:
    """Check where the footer begins and ends. Raises `Corrupt` for another frame, `Unsupported` for an encrypted footer."""
    start, end, is_encrypted = find_footer(file)
    if is_encrypted:
        raise Unsupported("a Parquet file with an encrypted footer")
    if end - start > MAX_FOOTER:
        expected = f"at most {MAX_FOOTER} bytes"
        raise Corrupt("an absurd footer length", offset=end, expected=expected, seen=end - start)
    return start, end


def find_footer(file: IO[bytes]) -> tuple[int, int, bool]:
    """Find where the footer begins and ends, and whether it is encrypted. Raises `Corrupt` for another frame."""
    size = file.seek(0, 2)
    if size == 0:
        raise Corrupt("an empty file, not Parquet", offset=0, expected=f"{MIN_SIZE} bytes", seen="0 bytes")
    file.seek(0)
    head = file.read(4)
    if head not in (MAGIC, ENCRYPTED_MAGIC):
        raise Corrupt("not a Parquet file", offset=0, expected="PAR1", seen=head)
    file.seek(max(0, size - 8))
    tail = file.read(8)
    if size < MIN_SIZE or tail[-4:] not in (MAGIC, ENCRYPTED_MAGIC):
        message = "a Parquet file that is cut: its end is missing"
        raise Corrupt(message, offset=max(0, size - 4), expected="PAR1", seen=tail[-4:])
    length, most = int.from_bytes(tail[:4], "little"), size - MIN_SIZE
    if length > most:
        message = "a footer length that does not fit the file"
        raise Corrupt(message, offset=size - 8, expected=f"at most {most}", seen=length)
    return size - 8 - length, size - 8, ENCRYPTED_MAGIC in (head, tail[-4:])


@contextmanager
def _open(file: IO[bytes], path: str | None) -> Iterator[Any]:
    """Open the file as pyarrow's, its frame checked; what pyarrow raises inside becomes our error."""
    import pyarrow.parquet as pq

    with in_file(path):
        start, _ = _check_frame(file)
    with pyarrow_errors(path, start):
        file.seek(0)
        yield pq.ParquetFile(file)


@contextmanager
def pyarrow_errors(path: str | None, offset: int | None = None) -> Iterator[None]:
    """Turns what pyarrow raises over a file's contents into our errors; mistakes in our own calls stay what they are."""
    import pyarrow as pa

    try:
        yield
    except LakeError:
        raise
    except pa.ArrowNotImplementedError as error:
        raise Unsupported(f"pyarrow does not read this file: {error}", path=path) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise Corrupt("a damaged Parquet file", path=path, offset=offset, seen=error) from error


def _order(value: Any, raw: bytes | None) -> Any:
    """What a bound is compared by: dates beyond Python's range are of another class and do not compare with the others."""
    if raw is None or isinstance(value, bool | int | float | str | bytes | Decimal | UUID):
        return value
    return int.from_bytes(raw, "little", signed=True)


def _distinct(values: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
