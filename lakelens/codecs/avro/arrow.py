"""Avro records to Arrow tables, in bulk: datafusion's reader on bytes that say the same in a simpler way.

The blocks of all files of one schema are checked, decompressed and joined to one (see `avro.container`)::

    new header: no codec, no logical types, no records without fields, no union around the record
    one block:  count 2^40 | size | records of file 0, file 1, ... | sync marker

A record without fields takes no bytes, so leaving it out of the schema is exact; the branch number of a root union (Paimon
up to 0.8) becomes a first column, checked and dropped. The count is wrong on purpose: that reader loops for ever on a
block with bytes left after its records, but with rows still to come it ends cleanly only where the bytes end. It is
asked for batches of as many rows as the true counts add up to, so any other number of rows means damage.

Where datafusion is not installed, the records of each block become Arrow one block after the other: the same table, slower.

Seen of that reader (datafusion 55): it takes any branch number but 0 of a union with null for the value, where the record
path refuses it; so a damaged file may pass here that the record path refuses. Whatever it refuses goes through
`avro.records`, which gives the same records or names the damaged byte.
"""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from lakelens.codecs.avro.container import AvroHeader, encode_header, encode_long
from lakelens.codecs.avro.records import decode_block
from lakelens.codecs.avro.schema import AvroSchema, is_empty, write_plain
from lakelens.codecs.avro.types import AvroType, FixedType, ItemsType, NullType, RecordType, UnionType
from lakelens.codecs.fast import find_datafusion
from lakelens.errors import LakeError, Unsupported

if TYPE_CHECKING:
    import pyarrow as pa

BRANCH = "__branch"
_OPEN_FILES = Path("/proc/self/fd")  # Linux: the files of this process as paths
# what Python takes a directory for temporary files from, before the current one
_SETTINGS, _USUAL = ("TMPDIR", "TEMP", "TMP"), ("/tmp", "/var/tmp", "/usr/tmp")
_PLAIN = {
    "null": "null",
    "boolean": "bool_",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "bytes": "binary",
    "string": "string",
    "enum": "string",
}


class Scratch:
    """A file for the bulk reader, written again for each group of blocks: pages that are there cost less than new ones.

    It is there from the first `write` until it is closed, in memory where the system can give such a file a path.
    """

    def __init__(self) -> None:
        self._opened = ExitStack()
        self._file: tuple[BinaryIO, str] | None = None

    def write(self, pieces: Iterable[bytes]) -> str:
        """The path of the file, which now holds these bytes end to end."""
        if self._file is None:
            self._file = self._opened.enter_context(_make_file())
        stream, path = self._file
        stream.seek(0)
        stream.writelines(pieces)
        stream.truncate()
        return path

    def read(self, start: int, sizes: Iterable[int]) -> list[bytes]:
        """Pieces that were written one after the other, by their sizes."""
        assert self._file is not None
        stream, _ = self._file
        stream.seek(start)
        return [stream.read(size) for size in sizes]

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.close()


@contextmanager
def _make_file() -> Iterator[tuple[BinaryIO, str]]:
    """A file and its path, gone afterwards. Raises `OSError` where there is no room for one.

    It is never in the current directory, which Python falls back to without any other: that may be a table.
    """
    if hasattr(os, "memfd_create") and _OPEN_FILES.is_dir():
        with os.fdopen(os.memfd_create("records.avro"), "w+b") as stream:
            yield stream, str(_OPEN_FILES / str(stream.fileno()))
        return
    home = tempfile.gettempdir()
    meant = {os.path.realpath(place) for place in (*map(os.environ.get, _SETTINGS), *_USUAL) if place}
    if os.path.realpath(home) == os.path.realpath(os.curdir) and os.path.realpath(home) not in meant:
        raise FileNotFoundError(errno.ENOENT, "no directory for temporary files")
    with tempfile.TemporaryDirectory(prefix="lakelens-", dir=home) as directory:
        file = Path(directory) / "records.avro"
        with file.open("w+b") as stream:
            yield stream, str(file)


def read_blocks(
    header: AvroHeader,
    blocks: list[bytes],
    counts: Sequence[int],
    columns: Collection[str] | None,
    scratch: Scratch,
) -> pa.Table | None:
    """The table of decompressed blocks, or None when they are refused or have other counts of rows than `counts`.

    The list is empty afterwards, unless there is no table: the blocks are not in memory beside it. Raises `Unsupported` for
    records that have no Arrow type.
    """
    import pyarrow as pa

    schema = arrow_schema(header.parsed)
    if not len(schema):
        return None
    if columns is not None:
        schema = pa.schema([column for column in schema if column.name in columns])
    if find_datafusion() is None:
        return _read_records(header, blocks, counts, schema)
    metadata = {"avro.schema": json.dumps(_write_schema(header.parsed)).encode(), "avro.codec": b"null"}
    sizes = list(map(len, blocks))
    head = encode_header(metadata, header.sync_marker) + encode_long(2**40) + encode_long(sum(sizes))
    try:
        file = scratch.write((head, *blocks, header.sync_marker))
    except OSError:  # no room for it: the record path needs no file
        return None
    blocks.clear()
    table = _convert(_read_with_datafusion(file, sum(counts)), sum(counts), header, schema)
    if table is None:
        blocks += scratch.read(len(head), sizes)
    return table


def _read_records(
    header: AvroHeader, blocks: list[bytes], counts: Sequence[int], schema: pa.Schema
) -> pa.Table | None:
    """The same table by way of records, a block at a time: as dicts they take many times their bytes."""
    import pyarrow as pa

    batches = []
    try:
        for content, count in zip(blocks, counts, strict=True):
            if count or content:
                records = decode_block(header, content, count)
                batches.append(pa.RecordBatch.from_pylist(records, schema))
    except (LakeError, pa.ArrowException, OverflowError, ValueError, TypeError):
        return None
    blocks.clear()
    return pa.Table.from_batches(batches, schema)


def _convert(table: pa.Table | None, rows: int, header: AvroHeader, schema: pa.Schema) -> pa.Table | None:
    import pyarrow as pa

    if table is None or table.num_rows != rows:
        return None
    if isinstance(header.schema, list):
        branch = header.schema.index(header.record)
        if table[BRANCH].unique().to_pylist() != [branch]:
            return None
    try:
        return table.select(schema.names).cast(schema)
    except (pa.ArrowException, KeyError, ValueError):
        return None


def _read_with_datafusion(file: str, rows: int) -> pa.Table | None:
    datafusion = find_datafusion()
    try:
        # one partition keeps the order of records; the size of a batch makes the reader stop after that number of rows
        settings = datafusion.SessionConfig().with_target_partitions(1).with_batch_size(rows)
        return datafusion.SessionContext(settings).read_avro(file, file_extension="").to_arrow_table()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # a panic of the Rust library is no Exception; the record path says what is wrong
        return None


def _write_schema(schema: AvroSchema) -> Any:
    """The record of the root, without logical types and empty records, its branch number first if it was in a union."""
    written = write_plain(_record_type(schema), with_empty=False)
    if isinstance(schema.kind, UnionType):
        written["fields"].insert(0, {"name": BRANCH, "type": "int"})
    return written


def _record_type(schema: AvroSchema) -> RecordType:
    """The type of the records, also of those in a union with null. Raises `Unsupported`."""
    kinds = schema.kind.branches if isinstance(schema.kind, UnionType) else [schema.kind]
    records = [kind for kind in kinds if not isinstance(kind, NullType)]
    if len(records) != 1 or not isinstance(records[0], RecordType):
        raise Unsupported("the Avro file does not hold records")
    return records[0]


def arrow_schema(schema: AvroSchema) -> pa.Schema:
    """The Arrow schema of Avro records: every field nullable, records without fields left out. Raises `Unsupported`.

    >>> from lakelens.codecs.avro.schema import compile_schema
    >>> fields = [{"name": "a", "type": ["null", "long"]}]
    >>> arrow_schema(compile_schema({"type": "record", "name": "r", "fields": fields}))
    a: int64
    """
    import pyarrow as pa

    return pa.schema(list(_arrow_type(_record_type(schema))))


def _arrow_type(kind: AvroType) -> pa.DataType:
    import pyarrow as pa

    if isinstance(kind, RecordType):
        fields = [(name, part) for name, part, _ in kind.fields if not is_empty(part)]
        return pa.struct([pa.field(name, _arrow_type(part)) for name, part in fields])
    if isinstance(kind, UnionType):
        branches = [branch for branch in kind.branches if not isinstance(branch, NullType)]
        if len(branches) > 1:
            raise Unsupported("a union of several types has no Arrow type")
        return _arrow_type(branches[0]) if branches else pa.null()
    if isinstance(kind, ItemsType):
        items = _arrow_type(kind.items)
        return pa.map_(pa.string(), items) if kind.is_map else pa.list_(items)
    if isinstance(kind, FixedType):
        return pa.binary(kind.size)
    return getattr(pa, _PLAIN[kind.name])()
