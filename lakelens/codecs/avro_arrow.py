"""Avro files to Arrow tables, in bulk: datafusion's reader on bytes that say the same in a simpler way.

The blocks of all files of one schema are checked, decompressed and laid end to end as one (see `avro_container`)::

    new header: no codec, no logical types, no records without fields, no union around the record
    one block:  count 2^40 | size | records of file 0, file 1, ... | sync marker

A record without fields takes no bytes, so leaving it out of the schema is exact; the branch number of a root union (Paimon
up to 0.8) becomes a first column, checked and dropped. The count is a lie on purpose: that reader loops for ever on a
block with bytes left after its records, but with rows still to come it ends cleanly only where the bytes end. It is
asked for batches of as many rows as the true counts add up to, so any other number of rows means damage.

Seen of that reader (datafusion 55): it takes any branch number but 0 of a union with null for the value, where the record
path refuses it; so a damaged file may pass here that `fast=False` refuses. Whatever it refuses, and few records, go
through `avro.decode_records`, which gives the same table or names the damaged byte.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import sys
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakelens.codecs.avro import check_count, decode_records
from lakelens.codecs.avro_container import (
    AvroHeader,
    decode_header,
    decompress_block,
    encode_header,
    encode_long,
    iter_blocks,
)
from lakelens.codecs.avro_schema import find_record, measure_schema, strip_logical_types
from lakelens.errors import LakeError, Unsupported

if TYPE_CHECKING:
    import pyarrow as pa

BRANCH = "__branch"
MANY_ROWS = 5000  # fewer are decoded one by one sooner than the bulk reader is imported
MAX_GROUP = 64 * 1024 * 1024  # decompressed bytes that are read at once
_COMPILED = "datafusion._internal"
_LOADING = threading.Lock()
PART_BYTES = 16 * 1024 * 1024  # of them, where rows of many files are wanted group by group
_PLAIN = {
    "null": "null",
    "boolean": "bool_",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "bytes": "binary",
    "string": "string",
}


def decode_arrow(
    data: bytes | Sequence[bytes], path: str | Sequence[str] | None = None, *, fast: bool | None = None
) -> pa.Table:
    """Decode the records of one Avro file, or of many in order, to one Arrow table without logical types.

    Records become structs (those without fields are left out), maps and lists their Arrow kin, `bytes` binary; files
    of different schemas are unified by name, absent fields null. `fast=False` keeps to the record
    path, `True` to the bulk reader where it can; by default the number of records decides. `path` only
    names the files in errors. Raises `Corrupt` with the byte, as `decode_records` does.

    >>> from lakelens.codecs.avro_container import encode_header
    >>> schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}'
    >>> file = encode_header({"avro.schema": schema}, b"s" * 16) + bytes([4, 4, 2, 1]) + b"s" * 16
    >>> decode_arrow([file, file])["a"].to_pylist()
    [1, -1, 1, -1]
    """
    import pyarrow as pa

    files = [data] if isinstance(data, bytes) else list(data)
    paths: list[str | None] = [path] if path is None or isinstance(path, str) else list(path)
    if path is None:
        paths = [None] * len(files)
    if len(paths) != len(files):
        raise ValueError(f"{len(files)} files and {len(paths)} paths")
    tables = [_decode_group(group, fast) for group in _group_files(files, paths)]
    if not tables:
        return pa.table({})
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="default")


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


def decode_files(
    files: Iterable[bytes],
    *,
    columns: Collection[str] | None = None,
    limit: int = PART_BYTES,
    few_rows: int = 0,
) -> Iterator[FileGroup]:
    """Decode many Avro files in bulk, in order, in groups of about `limit` decompressed bytes; never raises a `LakeError`.

    Parts follow each other; every file has one, if only of no records, and a file whose blocks are larger together than the
    limit has more; so few records as `few_rows` may take four times the limit. `columns` names the top-level fields
    wanted (None: all). Files are taken from the iterable one at a time. What is damaged, and what has no Arrow type,
    comes as a group without a table.

    >>> from lakelens.codecs.avro_container import encode_header
    >>> schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}'
    >>> file = encode_header({"avro.schema": schema}, b"s" * 16) + bytes([4, 4, 2, 1]) + b"s" * 16
    >>> for group in decode_files([file, b"Obj?", file]):
    ...     print(group.parts, None if group.table is None else group.table["a"].to_pylist())
    (FilePart(file=0, start=0, rows=2),) [1, -1]
    (FilePart(file=1, start=0, rows=None),) None
    (FilePart(file=2, start=0, rows=2),) [1, -1]
    """
    given_up = -1
    for blocks in _cut_groups(files, limit, few_rows):
        for group in _decode_blocks([block for block in blocks if block.part.file != given_up], columns):
            yield group
            if group.table is None:
                given_up = group.parts[0].file  # its records come one by one, those of later blocks too


@dataclass(frozen=True, slots=True)
class _Block:
    """The records of one block, decompressed; `part` says which they are."""

    part: FilePart
    content: bytes


def _cut_groups(files: Iterable[bytes], limit: int, few_rows: int = 0) -> Iterator[list[_Block]]:
    """Blocks of one schema, about `limit` bytes; a part without end that stands alone where a file cannot be read on."""
    group: list[_Block] = []
    size = rows = 0
    for number, data in enumerate(files):
        for block in _iterate_blocks(number, data):
            most = limit * 4 if rows < few_rows else limit
            if group and (size + len(block.content) > most or not _is_akin(group[-1].part, block.part)):
                yield group
                group, size, rows = [], 0, 0
            group.append(block)
            size += len(block.content)
            rows += block.part.rows or 0
    if group:
        yield group


def _is_akin(one: FilePart, other: FilePart) -> bool:
    if one.header is None or other.header is None or one.rows is None or other.rows is None:
        return False
    return bool(one.header.schema == other.header.schema)


def _iterate_blocks(number: int, data: bytes) -> Iterator[_Block]:
    header, rows = None, 0
    try:
        header = decode_header(data)
        smallest = measure_schema(header.schema).smallest
        if find_record(header.schema) is None or not smallest:
            raise Unsupported("no records, or such as take no bytes")
        yield _Block(FilePart(number, 0, 0, header), b"")
        for block in iter_blocks(data, header):
            content = decompress_block(data, block, header.codec)
            check_count(block, smallest, len(content), None)
            yield _Block(FilePart(number, rows, block.count, header), content)
            rows += block.count
    except LakeError:
        yield _Block(FilePart(number, rows, None, header), b"")


def _join_parts(blocks: Sequence[_Block]) -> list[FilePart]:
    parts: list[FilePart] = []
    for part in (block.part for block in blocks):
        if parts and parts[-1].file == part.file:
            parts[-1] = replace(parts[-1], rows=(parts[-1].rows or 0) + (part.rows or 0))
        else:
            parts.append(part)
    return parts


def _decode_blocks(blocks: list[_Block], columns: Collection[str] | None) -> Iterator[FileGroup]:
    """The table of a group; where the bulk reader refuses it, of each part alone, to find the one it refuses."""
    if not blocks:
        return
    parts = _join_parts(blocks)
    table = None if parts[0].rows is None else _read_group(parts, blocks, columns)
    if table is not None:
        yield FileGroup(tuple(parts), table)
    elif len(parts) == 1:
        yield FileGroup((replace(parts[0], rows=None),), None)
    else:
        for part in parts:
            yield from _decode_blocks([block for block in blocks if block.part.file == part.file], columns)


def _read_group(
    parts: list[FilePart], blocks: list[_Block], columns: Collection[str] | None
) -> pa.Table | None:
    header = parts[0].header
    assert header is not None
    try:
        schema = arrow_schema(header.record)
    except LakeError:
        return None
    rows = sum(part.rows or 0 for part in parts)
    if not rows:
        return schema.empty_table()
    return (
        _read_blocks(header, [block.content for block in blocks], rows, schema, columns) if schema else None
    )


class _Group:
    """Consecutive files of one schema, their blocks decompressed."""

    def __init__(self, header: AvroHeader) -> None:
        self.header = header
        self.files: list[tuple[bytes, str | None]] = []
        self.blocks: list[bytes] = []
        self.rows = self.size = 0

    def takes(self, header: AvroHeader) -> bool:
        return self.header.schema == header.schema and self.size < MAX_GROUP

    def add(self, data: bytes, path: str | None, header: AvroHeader) -> None:
        self.files.append((data, path))
        smallest = measure_schema(header.schema).smallest
        for block in iter_blocks(data, header, path):
            content = decompress_block(data, block, header.codec, path)
            check_count(block, smallest, len(content), path)
            self.rows += block.count
            self.size += len(content)
            self.blocks.append(content)


def _group_files(files: list[bytes], paths: list[str | None]) -> Iterator[_Group]:
    group: _Group | None = None
    for data, path in zip(files, paths, strict=True):
        header = decode_header(data, path)
        if find_record(header.schema) is None:
            raise Unsupported("the Avro file does not hold records", path=path)
        if group is None or not group.takes(header):
            if group is not None:
                yield group
            group = _Group(header)
        group.add(data, path, header)
    if group is not None:
        yield group


def _decode_group(group: _Group, fast: bool | None) -> pa.Table:
    schema = arrow_schema(group.header.record)
    if fast is None:
        fast = group.rows >= MANY_ROWS
    table = _read_fast(group, schema) if fast and len(schema) and group.rows else None
    return table if table is not None else _read_records(group, schema)


def _read_records(group: _Group, schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    records = [record for data, path in group.files for record in decode_records(data, path)]
    try:
        return pa.Table.from_pylist(records, schema)
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
        raise Unsupported(f"records do not fit into Arrow: {error}", path=group.files[0][1]) from error


def _read_fast(group: _Group, schema: pa.Schema) -> pa.Table | None:
    return _read_blocks(group.header, group.blocks, group.rows, schema)


def _read_blocks(
    header: AvroHeader,
    blocks: Sequence[bytes],
    rows: int,
    schema: pa.Schema,
    columns: Collection[str] | None = None,
) -> pa.Table | None:
    """The table that datafusion reads, or None when it refuses or gives another count of rows."""
    metadata = {"avro.schema": json.dumps(_rewrite_schema(header.schema)).encode(), "avro.codec": b"null"}
    size = sum(map(len, blocks))
    with tempfile.TemporaryDirectory(prefix="lakelens-") as directory:
        file = Path(directory) / "records.avro"
        with file.open("wb") as stream:
            stream.write(encode_header(metadata, header.sync_marker) + encode_long(2**40) + encode_long(size))
            stream.writelines(blocks)
            stream.write(header.sync_marker)
        table = _read_with_datafusion(file, rows)
    if table is None or table.num_rows != rows:
        return None
    if isinstance(header.schema, list):
        branch = header.schema.index(header.record)
        if table[BRANCH].unique().to_pylist() != [branch]:
            return None
    if columns is not None:
        import pyarrow as pa

        schema = pa.schema([column for column in schema if column.name in columns])
    return _fit_schema(table, schema)


def _read_with_datafusion(file: Path, rows: int) -> pa.Table | None:
    datafusion = load_datafusion()
    try:
        # one partition keeps the order of records; the size of a batch makes the reader stop after as many rows
        settings = datafusion.SessionConfig().with_target_partitions(1).with_batch_size(rows)
        return datafusion.SessionContext(settings).read_avro(str(file)).to_arrow_table()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # a panic of the Rust library is no Exception; the record path tells what is wrong
        return None


def is_loaded() -> bool:
    """Whether the bulk reader was used before, so that using it again loads nothing."""
    return _COMPILED in sys.modules


def load_datafusion() -> Any:
    """The compiled part of datafusion, by itself where that can be had: its package imports pandas, which takes a second.

    A later `import datafusion` finds this part in place and works as ever.
    """
    with _LOADING:
        if _COMPILED in sys.modules:
            return sys.modules[_COMPILED]
        try:
            package = importlib.util.find_spec("datafusion")
            places = package.submodule_search_locations if package is not None else None
            spec = importlib.machinery.PathFinder.find_spec(_COMPILED, places)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            assert module.SessionConfig and module.SessionContext.read_avro
        except Exception:  # another layout than that of datafusion 55
            import datafusion

            return datafusion
        sys.modules[_COMPILED] = module
        return module


def _fit_schema(table: pa.Table, schema: pa.Schema) -> pa.Table | None:
    import pyarrow as pa

    try:
        return table.select(schema.names).cast(schema)
    except (pa.ArrowException, KeyError, ValueError):
        return None


def _rewrite_schema(schema: Any) -> Any:
    """The record of the root, without logical types and empty records, its branch number first if it was in a union."""
    if not isinstance(schema, list):
        return drop_empty_records(strip_logical_types(schema))
    record = next(branch for branch in schema if branch != "null")
    rewritten = drop_empty_records(strip_logical_types(record))
    return {**rewritten, "fields": [{"name": BRANCH, "type": "int"}, *rewritten["fields"]]}


def drop_empty_records(schema: Any) -> Any:
    """Give a copy of a record without the fields that are records without fields: they take no bytes.

    >>> empty = {"type": "record", "name": "r102", "fields": []}
    >>> drop_empty_records({"type": "record", "name": "r", "fields": [{"name": "partition", "type": empty}]})["fields"]
    []
    """
    if isinstance(schema, list):
        return [drop_empty_records(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    copy = dict(schema)
    for key in ("type", "items", "values"):
        if key in copy:
            copy[key] = drop_empty_records(copy[key])
    if copy["type"] == "record":
        fields = [{**field, "type": drop_empty_records(field["type"])} for field in copy["fields"]]
        copy["fields"] = [field for field in fields if not _is_empty(field["type"])]
    return copy


def _is_empty(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "record" and not schema["fields"]


def arrow_schema(record: dict[str, Any]) -> pa.Schema:
    """Give the Arrow schema of an Avro record: every field nullable, records without fields left out.

    >>> arrow_schema({"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "long"]}]})
    a: int64
    """
    import pyarrow as pa

    kind = _Arrows().convert(drop_empty_records(strip_logical_types(record)), "")
    return pa.schema(list(kind))


class _Arrows:
    """Avro types to Arrow types; knows the names defined on the way."""

    def __init__(self) -> None:
        self.named: dict[str, Any] = {}

    def convert(self, schema: Any, space: str) -> Any:
        import pyarrow as pa

        if isinstance(schema, str):
            return getattr(pa, _PLAIN[schema])() if schema in _PLAIN else self._find(schema, space)
        if isinstance(schema, list):
            branches = [branch for branch in schema if branch != "null"]
            if len(branches) > 1:
                raise Unsupported("a union of several types has no Arrow type")
            return self.convert(branches[0], space) if branches else pa.null()
        match schema["type"]:
            case "array":
                return pa.list_(self.convert(schema["items"], space))
            case "map":
                return pa.map_(pa.string(), self.convert(schema["values"], space))
            case "record" | "fixed" | "enum":
                return self._define(schema, space)
        return self.convert(schema["type"], space)

    def _find(self, name: str, space: str) -> Any:
        for full in (name, f"{space}.{name}"):
            if full in self.named:
                return self.named[full]
        raise Unsupported(f"no Arrow type for the Avro type {name}")

    def _define(self, schema: dict[str, Any], space: str) -> Any:
        import pyarrow as pa

        own = schema.get("namespace", space)
        full = schema["name"] if "." in schema["name"] or not own else f"{own}.{schema['name']}"
        if schema["type"] == "record":
            inner = full.rpartition(".")[0]
            kind = pa.struct([pa.field(f["name"], self.convert(f["type"], inner)) for f in schema["fields"]])
        else:
            kind = pa.string() if schema["type"] == "enum" else pa.binary(schema["size"])
        self.named[full] = kind
        return kind
