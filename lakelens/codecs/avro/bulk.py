"""Many Avro files in bulk, group by group: bounded memory, and each file known by its rows.

    file 0: block block | file 1: block | file 2: block block block ...
    group:  ^^^^^^^^^^^^^^^^^^^^^^^^^^^   one schema, about as many decompressed bytes as asked for

The blocks of a group are read as one (see `avro.arrow`). Damage and what has no Arrow type is no error here: such a file
is handed back from the record on at which it could not be read by column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from lakelens.codecs.avro.arrow import Scratch, arrow_schema, read_blocks
from lakelens.codecs.avro.container import (
    AvroHeader,
    check_total,
    decode_header,
    decompress_block,
    iter_blocks,
)
from lakelens.codecs.avro.records import check_count, iter_records
from lakelens.codecs.avro.schema import find_record
from lakelens.codecs.fast import advise
from lakelens.errors import LakeError, Unsupported

if TYPE_CHECKING:
    import pyarrow as pa

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
class FileGroup:
    """Consecutive records of files of one schema: `table` holds those of all `parts`, end to end.

    Without a table there is one part, up to the end of its file, that cannot be decoded by column: `avro.iter_records` gives
    its records or names the damaged byte.
    """

    parts: tuple[FilePart, ...]
    table: pa.Table | None


def decode_table(data: bytes, path: str | None = None, *, fast: bool | None = None) -> pa.Table:
    """The records of one Avro file as one Arrow table, without logical types; `path` names it in errors.

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
) -> Iterator[FileGroup]:
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
    """An Avro file as two that each have about half of its blocks, or as it is where that cannot be.

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


def _join_parts(found: Iterable[FilePart]) -> list[FilePart]:
    """One part for each file, of those of its blocks."""
    joined = []
    for _, of_file in groupby(found, lambda part: part.file):
        first, *others = of_file
        if others:
            first = replace(first, rows=(first.rows or 0) + sum(part.rows or 0 for part in others))
        joined.append(first)
    return joined


def _decode_blocks(
    found: list[FilePart], contents: list[bytes], columns: Collection[str] | None, scratch: Scratch
) -> Iterator[FileGroup]:
    """The table of a group; where the bulk reader refuses it, of each part alone, to find the one it refuses."""
    if not found:
        return
    parts = _join_parts(found)
    table = None if parts[0].rows is None else _read_group(found, contents, columns, scratch)
    if table is not None:
        yield FileGroup(tuple(parts), table)
    elif len(parts) == 1:
        yield FileGroup((replace(parts[0], rows=None),), None)
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
