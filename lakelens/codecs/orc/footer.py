"""ORC tails as plain facts: the rows, stripes and columns of a file.

    "ORC" | stripes … | metadata | footer | postscript | postscript length (1 byte)

Follows the ORC specification (v1, "File Tail"). The protobuf structures are read by pyarrow, which gives no column
statistics and no stripe offsets. Refused with `Corrupt`: a file that does not end as ORC, or whose tail pyarrow cannot
read; `Unsupported`: what pyarrow says it does not implement.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import IO, TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.numbers import parse_whole
from lakelens.codecs.orc.chunk_spans import Compression, decode_section
from lakelens.codecs.orc.protobuf import FOOTER, METADATA, POSTSCRIPT, explain_message
from lakelens.codecs.span.reader import in_file, shift_errors
from lakelens.codecs.span.span import EmbeddedFile, Span
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.lazy import dataclass

if TYPE_CHECKING:
    import pyarrow as pa


MAGIC = b"ORC"
#: Type attributes in which writers keep the table's field ids.
FIELD_ID_KEYS = (b"iceberg.id", b"paimon.id")


@dataclass(frozen=True, slots=True)
class OrcColumn:
    """One leaf column: its path as in the schema, Arrow's name of its type, the table's field id when written."""

    path: str
    type: str
    field_id: int | None


@dataclass(frozen=True)
class OrcFooter:
    """The tail of an ORC file. Lengths are bytes; `row_index_stride` is rows between index entries (0: no index).

    `key_values` holds the file's own metadata: text where it is UTF-8, bytes elsewhere.
    """

    num_rows: int
    num_stripes: int
    columns: tuple[OrcColumn, ...]
    compression: str
    compression_size: int
    file_version: str
    writer: str
    writer_version: str
    software_version: str
    row_index_stride: int
    content_length: int
    footer_length: int
    postscript_length: int
    stripe_statistics_length: int
    file_length: int
    key_values: Mapping[str, str | bytes]
    schema_arrow: pa.Schema = field(repr=False, compare=False)
    format: str = "orc"

    @property
    def num_columns(self) -> int:
        """How many leaf columns there are."""
        return len(self.columns)

    @property
    def created_by(self) -> str:
        """The software that wrote the file, as Parquet's footers call it."""
        return self.software_version


def decode_footer(file: IO[bytes], path: str | None = None) -> OrcFooter:
    """Decode the tail of the ORC file that a seekable binary file object holds.

    `path` only names the file in errors. Follows the ORC specification's "File Tail". Raises `Corrupt` with the offset.

    >>> import io, pyarrow as pa, pyarrow.orc
    >>> sink = io.BytesIO()
    >>> pyarrow.orc.write_table(pa.table({"id": [1, 2, 3]}), sink)
    >>> footer = decode_footer(sink)
    >>> footer.num_rows, footer.columns[0].path, footer.columns[0].type
    (3, 'id', 'int64')
    """
    with _open(file, path) as orc:
        schema = orc.schema

        def decode_text(value: bytes) -> str | bytes:
            try:
                return value.decode()
            except UnicodeDecodeError:
                return value

        return OrcFooter(
            num_rows=orc.nrows,
            num_stripes=orc.nstripes,
            columns=tuple(leaf for top in schema for leaf in _leaves(top, top.name)),
            compression=orc.compression,
            compression_size=orc.compression_size,
            file_version=str(orc.file_version),
            writer=_name_of(orc, "writer"),
            writer_version=_name_of(orc, "writer_version"),
            software_version=orc.software_version,
            row_index_stride=orc.row_index_stride,
            content_length=orc.content_length,
            footer_length=orc.file_footer_length,
            postscript_length=orc.file_postscript_length,
            stripe_statistics_length=orc.stripe_statistics_length,
            file_length=orc.file_length,
            key_values={
                key.decode(errors="replace"): decode_text(value)
                for key, value in (schema.metadata or {}).items()
            },
            schema_arrow=schema,
        )


def read_rows(file: IO[bytes], count: int, path: str | None = None) -> pa.Table:
    """Read the first `count` rows of an ORC file as an Arrow table; reads no more stripes than it takes.

    Raises as `decode_footer` does, and `Unsupported` for timestamps beyond pyarrow's nanoseconds (years 1677 to 2262).
    ORC has no checksums: on rare damage inside a stripe pyarrow itself crashes, which nothing here can catch.

    >>> import io, pyarrow as pa, pyarrow.orc
    >>> sink = io.BytesIO()
    >>> pyarrow.orc.write_table(pa.table({"id": [1, 2, 3]}), sink)
    >>> read_rows(sink, 2).to_pylist()
    [{'id': 1}, {'id': 2}]
    """
    import pyarrow as pa

    with _open(file, path) as orc:
        batches, missing = [], count
        for stripe in range(orc.nstripes if count > 0 else 0):
            batches.append(orc.read_stripe(stripe).slice(0, missing))
            missing -= len(batches[-1])
            if missing <= 0:
                break
        return pa.Table.from_batches(batches, batches[0].schema if batches else orc.schema)


def read_schema(file: IO[bytes], path: str | None = None) -> pa.Schema:
    """Read the columns of an ORC file as Arrow types them; ids are in the fields' metadata (`FIELD_ID_KEYS`).

    Raises as `decode_footer` does.

    >>> import io, pyarrow as pa, pyarrow.orc
    >>> sink = io.BytesIO()
    >>> pyarrow.orc.write_table(pa.table({"id": [1, 2, 3]}), sink)
    >>> read_schema(sink).names
    ['id']
    """
    with _open(file, path) as orc:
        schema: pa.Schema = orc.schema
        return schema


def iter_columns(
    file: IO[bytes], names: Collection[str], path: str | None = None
) -> Iterator[pa.RecordBatch]:
    """All rows of some top-level columns, a batch for each stripe. Raises as `read_rows` does.

    >>> import io, pyarrow as pa, pyarrow.orc
    >>> sink = io.BytesIO()
    >>> pyarrow.orc.write_table(pa.table({"id": [1, 2, 3], "b": [4, 5, 6]}), sink)
    >>> [batch.to_pydict() for batch in iter_columns(sink, ["id"])]
    [{'id': [1, 2, 3]}]
    """
    with _open(file, path) as orc:
        chosen = [name for name in orc.schema.names if name in names]
        for stripe in range(orc.nstripes):
            batch = orc.read_stripe(stripe, columns=chosen)
            yield batch.select([index for index, name in enumerate(batch.schema.names) if name in names])


def find_postscript(file: IO[bytes]) -> tuple[int, int]:
    """Find where the postscript begins and ends. Raises `Corrupt` when the file does not end as ORC does."""
    size = file.seek(0, 2)
    if size == 0:
        raise Corrupt("an empty file, not ORC", offset=0, expected="magic ORC", seen="0 bytes")
    file.seek(0)
    head = file.read(3)
    file.seek(max(0, size - 4))
    tail = file.read(4)
    if tail[-4:-1] != MAGIC:
        message = "an ORC file that is cut: its end is missing" if head == MAGIC else "not an ORC file"
        expected = "ORC before the last byte"
        raise Corrupt(message, offset=max(0, size - 4), expected=expected, seen=tail.hex())
    if tail[-1] > size - 1:
        message, expected = "a postscript longer than the file", f"at most {size - 1}"
        raise Corrupt(message, offset=size - 1, expected=expected, seen=tail[-1])
    return size - 1 - tail[-1], size - 1


@contextmanager
def _open(file: IO[bytes], path: str | None) -> Iterator[Any]:
    """Open the file as pyarrow's, its frame checked; what pyarrow raises inside over its contents becomes our error."""
    import pyarrow as pa
    import pyarrow.orc

    with in_file(path):
        _, end = find_postscript(file)
    file.seek(0)
    try:
        yield pyarrow.orc.ORCFile(file)
    except LakeError:
        raise
    except pa.ArrowNotImplementedError as error:
        raise Unsupported(f"pyarrow does not read this file: {error}", path=path) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, pa.ArrowInvalid) and "out of range for nanosecond" in str(error):
            message = f"pyarrow reads ORC timestamps in nanoseconds only: {error}"
            raise Unsupported(message, path=path) from error
        raise Corrupt("a damaged ORC file", path=path, offset=end, seen=error) from error


def _name_of(orc: Any, name: str) -> str:
    """Give a property that pyarrow refuses to name when its number is newer than pyarrow."""
    try:
        return str(getattr(orc, name))
    except ValueError:
        return "unknown"


def _leaves(column: pa.Field, path: str) -> Iterator[OrcColumn]:
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_struct(kind) and kind.num_fields:
        for i in range(kind.num_fields):
            child = kind.field(i)
            yield from _leaves(child, f"{path}.{child.name}")
    elif kinds.is_map(kind):
        yield from _leaves(kind.key_field, f"{path}.key")
        yield from _leaves(kind.item_field, f"{path}.value")
    elif kinds.is_list(kind) or kinds.is_large_list(kind):
        yield from _leaves(kind.value_field, f"{path}.element")
    else:
        yield OrcColumn(path, str(kind), _field_id(column))


def _field_id(column: pa.Field) -> int | None:
    for key in FIELD_ID_KEYS:
        text = (column.metadata or {}).get(key, b"")
        number = parse_whole(text)
        if number is not None:
            return number
    return None


# The tail of an ORC file, decoded: the messages at its end, and where stripes are.
#
#     stripe … | [stripe statistics] | Metadata | Footer | PostScript | its length, 1 byte
#
# Follows the ORC specification, v1 ("File Tail"). Refused with `Corrupt`: a tail that does not fit the file, messages that
# are none, and stripes that are where they cannot be.


class OrcTail(EmbeddedFile):
    """The bytes of a file and what its tail says, decoded once, when first needed."""

    @cached_property
    def postscript_start(self) -> int:
        """Where the postscript begins. Raises `Corrupt` when the file does not end as ORC does."""
        with shift_errors(self.start):
            return self.start + find_postscript(self.view)[0]

    @cached_property
    def postscript(self) -> Span:
        stored = bytes(self.data[self.postscript_start : self.end - 1])
        return explain_message(stored, POSTSCRIPT, "postscript", base=self.postscript_start)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        facts: Mapping[str, Any] = self.postscript.value
        return facts

    @cached_property
    def compression(self) -> Compression:
        size = self.facts.get("compressionBlockSize", 1 << 18)
        return Compression(self.facts.get("compression", "NONE"), size)

    @cached_property
    def footer(self) -> Mapping[str, Any]:
        start, end = self.sections["footer"]
        return decode_section(self.data, start, end, FOOTER, self.compression)

    @cached_property
    def sections(self) -> dict[str, tuple[int, int]]:
        """Where stripe statistics, metadata and footer are. Raises `Corrupt` when they do not fit the file."""
        places = {}
        at = self.postscript_start
        for name in ("footer", "metadata", "stripeStatistics"):
            length = self.facts.get(f"{name}Length", 0)
            if length > at - self.start:
                message, expected = f"a {name} longer than the file", f"at most {at - self.start}"
                raise Corrupt(message, offset=self.postscript_start, expected=expected, seen=length)
            places[name] = (at - length, at)
            at -= length
        return places

    @cached_property
    def metadata(self) -> Mapping[str, Any]:
        """The statistics of the stripes; empty where the file has none."""
        start, end = self.sections["metadata"]
        return decode_section(self.data, start, end, METADATA, self.compression)
