"""Many Avro files in bulk, group by group: bounded memory, and each file known by its rows.

    file 0: block block | file 1: block | file 2: block block block ...
    group:  ^^^^^^^^^^^^^^^^^^^^^^^^^^^   one schema, about as many decompressed bytes as asked for

Damage and what has no Arrow type is no error here: such a file is handed back from the record on at which it could not be
read by column. The records of a group become Arrow tables by datafusion's reader, on bytes that say the same in a simpler
way: the blocks are checked, decompressed and joined to one (see `avro.container`)::

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
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lakelens.codecs.avro.container import (
    AvroHeader,
    check_total,
    decode_header,
    decompress_block,
    encode_header,
    encode_long,
    iter_blocks,
)
from lakelens.codecs.avro.records import check_count, decode_block, iter_records
from lakelens.codecs.avro.schema import AvroSchema, find_record, is_empty, write_plain
from lakelens.codecs.avro.types import AvroType, FixedType, ItemsType, NullType, RecordType, UnionType
from lakelens.codecs.fast import advise, find_datafusion
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
        """Write the path of the file, which now holds these bytes end to end."""
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
    """Make a file and its path, gone afterwards. Raises `OSError` where there is no room for one.

    It is never in the current directory, which Python falls back to without any other: that may be a table.
    """
    if hasattr(os, "memfd_create") and _OPEN_FILES.is_dir():
        with _closing(os.fdopen(os.memfd_create("records.avro"), "w+b")) as stream:
            yield stream, str(_OPEN_FILES / str(stream.fileno()))
        return
    home = tempfile.gettempdir()
    meant = {os.path.realpath(place) for place in (*map(os.environ.get, _SETTINGS), *_USUAL) if place}
    if os.path.realpath(home) == os.path.realpath(os.curdir) and os.path.realpath(home) not in meant:
        raise FileNotFoundError(errno.ENOENT, "no directory for temporary files")
    with tempfile.TemporaryDirectory(prefix="lakelens-", dir=home) as directory:
        file = Path(directory) / "records.avro"
        with _closing(file.open("w+b")) as stream:
            yield stream, str(file)


@contextmanager
def _closing(stream: BinaryIO) -> Iterator[BinaryIO]:
    """A stream that is closed afterwards, also where there was no room for what is left to write."""
    try:
        yield stream
    finally:
        with suppress(OSError):
            stream.close()


def read_blocks(
    header: AvroHeader,
    blocks: list[bytes],
    counts: Sequence[int],
    columns: Collection[str] | None,
    scratch: Scratch,
) -> pa.Table | None:
    """Read the table of decompressed blocks, or None when they are refused or have other counts of rows than `counts`.

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
    # without logical types and empty records; the branch number comes first where the root is in a union
    written = write_plain(_record_type(header.parsed), with_empty=False)
    if isinstance(header.parsed.kind, UnionType):
        written["fields"].insert(0, {"name": BRANCH, "type": "int"})
    metadata = {"avro.schema": json.dumps(written).encode(), "avro.codec": b"null"}
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
    """Read the same table by way of records, a block at a time: as dicts they take many times their bytes."""
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
        for name, _ in fields:
            if not name.isascii() and name != name.encode("utf-8", "replace").decode():
                raise Unsupported(
                    f"the name {name!r} of a field has half of a character, which Arrow cannot hold"
                )
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


PART_BYTES = 16 * 1024 * 1024  # decompressed
MANY_ROWS = 5000  # fewer are decoded one by one faster than the bulk reader is imported


@dataclass(frozen=True, slots=True)
class FilePart:
    """Records of one file: `file` is its number, `start` the first record, `rows` how many (None: all that follow).

    `header` is the file's own, None where that cannot be read.
    """

    file: int
    start: int
    rows: int | None
    header: AvroHeader | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class BulkGroup:
    """Consecutive records of files of one schema: `table` holds those of all `parts`, end to end.

    Without a table there is one part, up to the end of its file, that cannot be decoded by column: `avro.iter_records` gives
    its records or names the damaged byte.
    """

    parts: tuple[FilePart, ...]
    table: pa.Table | None


def decode_table(data: bytes, path: str | None = None, *, fast: bool | None = None) -> pa.Table:
    """Decode the records of one Avro file as one Arrow table, without logical types; `path` names it in errors.

    Records become structs (those without fields are left out), maps and lists their Arrow counterparts, `bytes` binary.
    `fast=False` keeps to the record path, `True` to the bulk reader where it can; by default the number of records decides.
    Raises as `decode_records` does.

    >>> from lakelens.codecs.avro.container import encode_header
    >>> schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}'
    >>> decode_table(encode_header({"avro.schema": schema}, b"s" * 16) + bytes([4, 4, 2, 1]) + b"s" * 16)["a"].to_pylist()
    [1, -1]
    """
    import pyarrow as pa

    header = decode_header(data, path)
    if fast is None:
        fast = sum(block.count for block in iter_blocks(data, header, path)) >= MANY_ROWS
    tables = [group.table for group in decode_files([data])] if fast else [None]
    whole = [table for table in tables if table is not None]
    if len(whole) == len(tables):
        return pa.concat_tables(whole)
    schema, records = arrow_schema(header.parsed), list(iter_records(data, path, header))
    try:
        return pa.Table.from_pylist(records, schema)
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
        raise Unsupported(f"records do not fit into Arrow: {error}", path=path) from error


def decode_files(
    files: Iterable[bytes],
    *,
    columns: Collection[str] | None = None,
    limit: int = PART_BYTES,
    few_rows: int = 0,
) -> Iterator[BulkGroup]:
    """Decode many Avro files in bulk, in order, in groups of about `limit` decompressed bytes; never raises a `LakeError`.

    Parts follow each other; every file has one, if only of no records, and a file whose blocks are larger together than the
    limit has more; up to `few_rows` records may take four times the limit. `columns` names the top-level fields
    wanted (None: all). Files are taken from the iterable one at a time. What is damaged, and what has no Arrow type,
    comes as a group without a table.

    >>> from lakelens.codecs.avro.container import encode_header
    >>> schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}'
    >>> file = encode_header({"avro.schema": schema}, b"s" * 16) + bytes([4, 4, 2, 1]) + b"s" * 16
    >>> for group in decode_files([file, b"Obj?", file]):
    ...     print(group.parts, None if group.table is None else group.table["a"].to_pylist())
    (FilePart(file=0, start=0, rows=2),) [1, -1]
    (FilePart(file=1, start=0, rows=None),) None
    (FilePart(file=2, start=0, rows=2),) [1, -1]
    """
    given_up = -1
    with Scratch() as scratch:
        for blocks in _cut_groups(files, limit, few_rows):
            parts, contents = [], []
            for part, content in blocks:
                if part.file != given_up:
                    parts.append(part)
                    contents.append(content)
            blocks.clear()  # nothing here holds a group while it is worked on, or while the next one is made
            for group in _decode_blocks(parts, contents, columns, scratch):
                yield group
                if group.table is None:
                    given_up = group.parts[0].file  # its records come one by one, those of later blocks too
                del group


def cut_file(data: bytes) -> list[bytes]:
    """Cut an Avro file as two that each have about half of its blocks, or as it is where that cannot be.

    A sync marker that ends no block leaves a first half whose last block is cut short, which no reader takes.
    """
    try:
        header = decode_header(data)
    except LakeError:
        return [data]
    found = data.find(header.sync_marker, max(header.header_size, len(data) // 2))
    end = found + len(header.sync_marker)
    if found < 0 or end == len(data):
        return [data]
    return [data[:end], data[: header.header_size] + data[end:]]


#: The records of one block, decompressed; the part says which they are.
_Block = tuple[FilePart, bytes]


def _cut_groups(files: Iterable[bytes], limit: int, few_rows: int = 0) -> Iterator[list[_Block]]:
    """Blocks of one schema, about `limit` bytes; a part without end is alone, where a file cannot be read on."""
    group: list[_Block] = []
    size = rows = 0
    for number, data in enumerate(files):
        for block in _iterate_blocks(number, data):
            most = limit * 4 if rows < few_rows else limit
            if group and (size + len(block[1]) > most or not _has_same_schema(group[-1][0], block[0])):
                yield group
                group, size, rows = [], 0, 0
            group.append(block)
            size += len(block[1])
            rows += block[0].rows or 0
    if group:
        yield group


def _has_same_schema(one: FilePart, other: FilePart) -> bool:
    if one.header is None or other.header is None or one.rows is None or other.rows is None:
        return False
    return bool(one.header.schema == other.header.schema)


def _iterate_blocks(number: int, data: bytes) -> Iterator[_Block]:
    header, rows, spent = None, 0, 0
    try:
        header = decode_header(data)
        smallest = header.parsed.smallest
        if find_record(header.schema) is None or not smallest:
            raise Unsupported("no records, or records that take no bytes")
        check_total(data, sum(block.count for block in iter_blocks(data, header)), header.codec)
        yield FilePart(number, 0, 0, header), b""
        for block in iter_blocks(data, header):
            content = decompress_block(data, block, header.codec, spent=spent)
            check_count(block, smallest, len(content))
            spent += len(content)
            yield FilePart(number, rows, block.count, header), content
            rows += block.count
    except LakeError:
        yield FilePart(number, rows, None, header), b""


def _decode_blocks(
    found: list[FilePart], contents: list[bytes], columns: Collection[str] | None, scratch: Scratch
) -> Iterator[BulkGroup]:
    """Decode the table of a group; where the bulk reader refuses it, of each part alone, to find the one it refuses."""
    if not found:
        return
    # one part for each file, of those of its blocks
    parts = []
    for _, own in groupby(found, lambda part: part.file):
        first, *others = own
        if others:
            first = replace(first, rows=(first.rows or 0) + sum(part.rows or 0 for part in others))
        parts.append(first)
    table = None if parts[0].rows is None else _read_group(found, contents, columns, scratch)
    if table is not None:
        yield BulkGroup(tuple(parts), table)
    elif len(parts) == 1:
        yield BulkGroup((replace(parts[0], rows=None),), None)
    else:
        blocks = list(zip(found, contents, strict=True))
        for _, of_file in groupby(blocks, lambda block: block[0].file):
            some, pieces = zip(*of_file, strict=True)
            yield from _decode_blocks(list(some), list(pieces), columns, scratch)


def _read_group(
    found: list[FilePart], contents: list[bytes], columns: Collection[str] | None, scratch: Scratch
) -> pa.Table | None:
    header = found[0].header
    assert header is not None
    counts = [part.rows or 0 for part in found]
    try:
        if not any(counts):
            return arrow_schema(header.parsed).empty_table()
        if sum(counts) >= MANY_ROWS:
            advise()
        return read_blocks(header, contents, counts, columns, scratch)
    except LakeError:
        return None
