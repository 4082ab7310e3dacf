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
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakelens.codecs.avro.container import (
    AvroHeader,
    decode_header,
    decompress_block,
    encode_header,
    encode_long,
    iter_blocks,
)
from lakelens.codecs.avro.records import check_count, decode_records
from lakelens.codecs.avro.schema import find_record, measure_schema, strip_logical_types
from lakelens.errors import Unsupported

if TYPE_CHECKING:
    import pyarrow as pa

BRANCH = "__branch"
MANY_ROWS = 5000  # fewer are decoded one by one sooner than the bulk reader is imported
MAX_GROUP = 64 * 1024 * 1024  # decompressed bytes that are read at once
_COMPILED = "datafusion._internal"
_LOADING = threading.Lock()
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

    >>> from lakelens.codecs.avro.container import encode_header
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
    return read_blocks(group.header, group.blocks, group.rows, schema)


def read_blocks(
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
