"""Bombs: small files that claim to be large, as functions that write them into a fresh copy of a packaged sample.

Each is one row of `BOMBS`: how a table becomes the bomb, and what is then looked at. Nothing is kept as a file.
`measure` runs one of them: CPU seconds, growth of the process at its peak, and what is still held when all is dropped.
"""

from __future__ import annotations

import gc
import gzip
import io
import json
import resource
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

import lakelens as ll
from lakelens.codecs.avro.container import (
    decode_header,
    decompress_block,
    encode_header,
    encode_long,
    iter_blocks,
)
from lakelens.codecs.bitmaps.deletion_vector import decode_iceberg_dv
from lakelens.codecs.fast import find_inflater
from lakelens.errors import LakeError
from lakelens.formats.hive import contents as hive_contents
from lakelens.io.memory import MemoryStore
from lakelens.samples import unpack_table

MIB = 1 << 20
Walk = Callable[[Path], Iterator[Callable[[], object]]]
#: Rows of the table, by name.
BOMBS: dict[str, Bomb] = {}


@dataclass(frozen=True, slots=True)
class Bomb:
    """One row: `make` writes it, `walk` gives the steps that look at it, each of which may raise a `LakeError`.

    `expected` is a word of the errors, or of the findings, that must be met; none where it is read. A bomb that is not
    `is_quick` is for the long run alone.
    """

    name: str
    make: Callable[[Path], Path]
    walk: Walk
    expected: str = ""
    seconds: float = 3.0
    mib: int = 300
    kept: int = 150
    is_quick: bool = True


@dataclass(slots=True)
class Cost:
    """What one bomb took."""

    seconds: float = 0.0
    mib: float = 0.0
    kept: float = 0.0
    said: list[str] = field(default_factory=list)


def measure(name: str, path: Path) -> Cost:
    """Walk a bomb that was written at `path`. What is no `LakeError` is raised."""
    cost = Cost()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
    before, started = _count_resident(), time.process_time()
    steps = BOMBS[name].walk(path)
    while True:
        try:
            step = next(steps, None)  # opening is a step too
            if step is None:
                break
            step()
        except LakeError as error:
            cost.said.append(str(error))
    cost.seconds = time.process_time() - started
    cost.mib = _read_peak() - before
    del steps, step
    gc.collect()
    pa.default_memory_pool().release_unused()
    cost.kept = _count_resident() - before
    return cost


def _read_peak() -> float:
    """The highest that the process was, as `ru_maxrss` has it, but since it was reset: a child inherits its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _count_resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / MIB


def bomb(walk: Walk, expected: str = "", **settings: Any) -> Callable[[Any], Any]:
    """A row of the table: the decorated function writes the bomb below a directory and gives its path."""

    def add(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
        BOMBS[make.__name__] = Bomb(make.__name__, make, walk, expected, **settings)
        return make

    return add


# -- what is looked at


def walk_table(path: Path) -> Iterator[Callable[[], object]]:
    """All that a first look at a table takes: its text and card, its files by column, its findings."""
    table = ll.open(path)
    yield lambda: str(table) and table.to_text(2)
    yield table._repr_html_
    yield lambda: [repr(manifest) for manifest in table.current.manifests]
    yield lambda: len(table.files) and table.files.to_text()
    yield lambda: table.files.to_arrow()
    yield lambda: [manifest.bytes_view().to_text() for manifest in table.current.manifests[:2]]
    yield table.findings.to_text
    yield lambda: _raise_findings(table)


def _raise_findings(table: ll.Table) -> None:
    found = "; ".join(finding.message for finding in table.findings)
    if found:
        raise LakeError(found)


def walk_files(path: Path) -> Iterator[Callable[[], object]]:
    """The files of a table by column, in batches and as a frame."""
    table = ll.open(path)
    yield lambda: len(table.files)
    yield lambda: sum(batch.num_rows for batch in table.files.batches())
    yield table.files.to_pandas


def walk_tree(path: Path) -> Iterator[Callable[[], object]]:
    """The names and the history of a table, each in a card, and where its files are."""
    table = ll.open(path)
    yield lambda: str(table) and table._repr_html_()
    yield lambda: table.refs.to_text() and table.refs._repr_html_()
    yield lambda: table.snapshots.to_text() and table.snapshots._repr_html_()
    yield lambda: table.tree().to_text()
    yield lambda: table.refs["no such"]


def walk_rows(path: Path) -> Iterator[Callable[[], object]]:
    """How many rows are left, asked for twice: deletes are decoded once."""
    table = ll.open(path)
    for _ in range(2):
        yield lambda: table.current.count_live_rows()
    yield lambda: table.current._repr_html_()
    yield lambda: [file.deletes.to_text() for file in table.files[:3] if file.deletes]
    yield lambda: _raise_findings(table)


def walk_bytes(path: Path) -> Iterator[Callable[[], object]]:
    """A file alone, explained."""
    yield lambda: ll.explain_file(path).to_text()
    yield lambda: ll.explain_file(path)._repr_html_()


def walk_preview(path: Path) -> Iterator[Callable[[], object]]:
    """The first rows of a file."""
    store, kind = MemoryStore({"/t/a": path.read_bytes()}), path.suffix[1:]
    yield lambda: hive_contents.read_rows(store, "/t/a", kind, 5).to_pylist()


# -- builders


def find_newest(table: Path) -> Path:
    return max(table.glob("metadata/*.metadata.json"))


def edit_document(root: Path, change: Callable[[dict[str, Any]], None], sample: str = "iceberg") -> Path:
    """A sample whose newest metadata document is changed."""
    table = Path(unpack_table(sample, root))
    newest = find_newest(table)
    document = json.loads(newest.read_bytes())
    change(document)
    newest.write_text(json.dumps(document))
    return table


def pack_zeros(mib: int) -> bytes:
    from lakelens.codecs.compression import _make_zstd

    module = __import__(type(_make_zstd()).__module__.removeprefix("_"), fromlist=["x"])
    packer = module.ZstdCompressor()
    piece = bytes(MIB)
    return b"".join([*(packer.compress(piece) for _ in range(mib)), packer.flush()])


def replace_manifests(root: Path, body: Callable[[Any], bytes], **metadata: bytes) -> Path:
    """A sample whose manifests have other blocks; `metadata` changes their headers."""
    table = Path(unpack_table("iceberg", root))
    for manifest in ll.open(table).current.manifests:
        path = Path(manifest.path)
        header = decode_header(path.read_bytes())
        changed = {**header.metadata, **{key.replace("_", "."): value for key, value in metadata.items()}}
        path.write_bytes(encode_header(changed, header.sync_marker) + body(header))
    return table


def frame_block(header: Any, count: int, content: bytes) -> bytes:
    return encode_long(count) + encode_long(len(content)) + content + header.sync_marker


# -- decompression


@bomb(walk_table, "too large")
def manifest_of_many_blocks(root: Path) -> Path:
    """Each block is below every limit for a block, all of them together are 4 GiB."""
    block = pack_zeros(100)
    return replace_manifests(root, lambda header: frame_block(header, 1, block) * 40, avro_codec=b"zstandard")


@bomb(walk_table, "too large", kept=50)
def manifests_that_are_damaged(root: Path) -> Path:
    """A kept error must not keep the block it failed on."""
    block = pack_zeros(255)
    return replace_manifests(root, lambda header: frame_block(header, 1, block), avro_codec=b"zstandard")


@bomb(walk_table, "more records than")
def manifest_of_equal_records(root: Path) -> Path:
    """400,000 equal records: 100 MiB in some hundred kilobytes, which no files of a table can be."""

    def repeat(header: Any) -> bytes:
        record = kinds[header.sync_marker]
        return b"".join(
            frame_block(header, 4_000, zlib.compress(record * 4_000, wbits=-15)) for _ in range(100)
        )

    table = Path(unpack_table("iceberg", root))
    kinds = {}
    for manifest in ll.open(table).current.manifests:
        data = Path(manifest.path).read_bytes()
        header = decode_header(data)
        blocks = list(iter_blocks(data, header))
        content = decompress_block(data, blocks[0], header.codec)
        end = header.parsed.kind.skip(content, 0, len(content))
        kinds[header.sync_marker] = content[:end]
        changed = {**header.metadata, "avro.codec": b"deflate"}
        Path(manifest.path).write_bytes(encode_header(changed, header.sync_marker) + repeat(header))
    return table


def _write_document(root: Path, pack: Callable[[bytes], bytes]) -> Path:
    table = Path(unpack_table("iceberg", root))
    newest = find_newest(table)
    newest.write_bytes(pack(newest.read_bytes()))
    return table


@bomb(walk_table, "too large")
def document_of_a_gigabyte(root: Path) -> Path:
    return _write_document(root, lambda content: pack_zeros(1024))


# zlib, which inflates where isal is not installed, holds what it made twice for a moment
@bomb(walk_table, "too large", mib=300 if find_inflater() is not zlib else 400)
def document_of_gzip(root: Path) -> Path:
    return _write_document(root, lambda content: gzip.compress(content[:1] + b" " * (200 * MIB), 1))


@bomb(walk_table)
def document_of_many_members(root: Path) -> Path:
    """100,000 streams of nothing before the one that is the document."""
    return _write_document(root, lambda content: gzip.compress(b"", 1) * 100_000 + gzip.compress(content))


@bomb(walk_preview)
def text_of_newlines(root: Path) -> Path:
    path = root / "part-0.text"
    path.write_bytes(gzip.compress(b"\n" * (200 * MIB), 1))
    return path


@bomb(walk_bytes)
def puffin_footer_of_many_numbers(root: Path) -> Path:
    payload = b'{"blobs":[],"properties":{},"z":[' + b"{}," * (21 << 20) + b"0]}"
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "lz4") as stream:
        stream.write(payload)
    data = packed.getvalue().to_pybytes()
    path = root / "stats.puffin"
    path.write_bytes(b"PFA1PFA1" + data + struct.pack("<i", len(data)) + b"\1\0\0\0PFA1")
    return path


# -- deletes


def make_vector(buckets: int) -> bytes:
    """A deletion vector of full run containers: 2^32 positions in every bucket, in 904 KiB."""
    count = 65536
    pairs = np.zeros((count, 2), "<u2")
    pairs[:, 0], pairs[:, 1] = np.arange(count), 65535
    begin = 4 + count // 8 + 8 * count
    offsets = (begin + 6 * np.arange(count)).astype("<u4")
    head = struct.pack("<I", 12347 | (count - 1) << 16) + b"\xff" * (count // 8) + pairs.tobytes()
    bitmap = head + offsets.tobytes() + struct.pack("<HHH", 1, 0, 65535) * count
    body = b"\xd1\xd3\x39\x64" + struct.pack("<q", buckets)
    body += b"".join(struct.pack("<I", key) + bitmap for key in range(buckets))
    return struct.pack(">i", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def walk_vector(path: Path) -> Iterator[Callable[[], object]]:
    for _ in range(5):
        yield lambda: len(decode_iceberg_dv(path.read_bytes()))


def walk_vector_bytes(path: Path) -> Iterator[Callable[[], object]]:
    """The vector decoded five times, and explained."""
    yield from walk_vector(path)
    yield lambda: ll.explain_file(path, kind="deletion_vector").to_text()


@bomb(walk_vector_bytes)
def vector_of_all_rows(root: Path) -> Path:
    (root / "vector").write_bytes(make_vector(1))
    return root / "vector"


@bomb(walk_vector, "containers or more")
def vector_of_too_many_rows(root: Path) -> Path:
    (root / "vector").write_bytes(make_vector(4))
    return root / "vector"


@bomb(walk_rows, "deletes, the file has", is_quick=False, seconds=8)
def position_deletes_of_100_million_rows(root: Path) -> Path:
    table = Path(unpack_table("iceberg-merge-on-read", root))
    for file in ll.open(table).files:
        if file.content == "position_deletes":
            target = ll.open(table).files.where(content="data")[0].file_path
            paths = pa.DictionaryArray.from_arrays(pa.array(np.zeros(MIB, np.int32)), pa.array([target]))
            schema = pa.schema([("file_path", paths.type), ("pos", pa.int64())])
            encodings = {"pos": "DELTA_BINARY_PACKED"}
            with pq.ParquetWriter(
                file.path, schema, compression="zstd", use_dictionary=["file_path"], column_encoding=encodings
            ) as writer:
                for number in range(100):
                    rows = pa.array(np.arange(MIB) + number * MIB)
                    writer.write_table(pa.table({"file_path": paths, "pos": rows}))
    return table


# -- containers of another kind


def _replace_paimon_manifests(root: Path, data: bytes) -> Path:
    table = Path(unpack_table("paimon", root))
    for path in (table / "manifest").glob("manifest-[0-9a-f]*"):
        if "list" not in path.name:
            path.write_bytes(data)
    return table


def _write_value(kind: str, mib: int = 300) -> bytes:
    sink = io.BytesIO()
    table = pa.table({"_FILE": pa.array([bytes(mib * MIB)])})
    if kind == "parquet":
        pq.write_table(table, sink, compression="zstd", use_dictionary=False, write_statistics=False)
    else:
        orc.write_table(table, sink, compression="zstd")
    return sink.getvalue()


@bomb(walk_table, "too much memory")
def paimon_manifest_of_one_value(root: Path) -> Path:
    return _replace_paimon_manifests(root, _write_value("parquet"))


@bomb(walk_table, "too much memory", is_quick=False)
def paimon_manifest_of_one_value_in_orc(root: Path) -> Path:
    return _replace_paimon_manifests(root, _write_value("orc"))


@bomb(walk_table, "too much memory")
def paimon_manifest_of_a_repeated_value(root: Path) -> Path:
    codes, sink = pa.array([0] * 100_000, pa.int32()), io.BytesIO()
    values = pa.DictionaryArray.from_arrays(codes, pa.array([b"x" * 1_000_000]))
    pq.write_table(pa.table({"_FILE": values}), sink, compression="zstd", dictionary_pagesize_limit=1 << 30)
    return _replace_paimon_manifests(root, sink.getvalue())


@bomb(walk_preview, "too much memory")
def preview_of_one_value(root: Path) -> Path:
    (root / "a.parquet").write_bytes(_write_value("parquet"))
    return root / "a.parquet"


@bomb(walk_preview, "too much memory", is_quick=False)
def preview_of_one_value_in_orc(root: Path) -> Path:
    (root / "a.orc").write_bytes(_write_value("orc"))
    return root / "a.orc"


# -- documents


@bomb(walk_tree, "no ref")
def document_of_100_000_tags(root: Path) -> Path:
    def change(document: dict[str, Any]) -> None:
        ref = {"snapshot-id": document["current-snapshot-id"], "type": "tag"}
        document["refs"] |= {f"tag-{number}": ref for number in range(100_000)}

    return edit_document(root, change)


@bomb(walk_tree, "no ref")
def document_of_60_000_snapshots(root: Path) -> Path:
    def change(document: dict[str, Any]) -> None:
        last = document["snapshots"][-1]
        made = [
            {**last, "snapshot-id": 10**9 + number, "parent-snapshot-id": 10**9 + number - 1}
            for number in range(60_000)
        ]
        document["snapshots"] = [*made, *document["snapshots"]]

    return edit_document(root, change)


@bomb(walk_files)
def document_of_30_000_columns(root: Path) -> Path:
    def change(document: dict[str, Any]) -> None:
        for schema in document["schemas"]:
            schema["fields"] += [
                {"id": 1000 + number, "name": f"c{number}", "required": False, "type": "long"}
                for number in range(30_000)
            ]

    return edit_document(root, change)


@bomb(walk_table, "too long")
def document_of_a_long_path(root: Path) -> Path:
    """The list of the newest snapshot is said to be at 16 MiB of slashes and letters."""

    def change(document: dict[str, Any]) -> None:
        document["snapshots"][-1]["manifest-list"] = "file:/" + "a/" * (8 * MIB)

    return edit_document(root, change)


@bomb(walk_table, "beyond the range of numbers (at $.x;")
def document_with_a_number_out_of_range(root: Path) -> Path:
    return _write_document(
        root, lambda content: content.replace(b'"format-version"', b'"x":1e999,"format-version"')
    )


# -- Avro schemas


def _replace_schema(root: Path, schema: Any) -> Path:
    return replace_manifests(root, lambda header: b"", avro_schema=json.dumps(schema).encode())


def _make_entry(kind: Any) -> dict[str, Any]:
    return {"type": "record", "name": "manifest_entry", "fields": [{"name": "a", "type": kind}]}


@bomb(walk_table, "Avro schema")
def schema_of_200_000_fields(root: Path) -> Path:
    fields = [{"name": f"f{number}", "type": "long"} for number in range(200_000)]
    return _replace_schema(root, {"type": "record", "name": "manifest_entry", "fields": fields})


@bomb(walk_table, "Avro")
def schema_of_100_000_branches(root: Path) -> Path:
    branches = [{"type": "fixed", "name": f"f{number}", "size": 1} for number in range(100_000)]
    return _replace_schema(root, _make_entry(branches))


# 258 MiB, and up to 45 more where a library is touched for the first time by a child on a busy machine
@bomb(walk_table, "Avro", mib=400)
def schema_of_a_million_symbols(root: Path) -> Path:
    symbols = [f"s{number}" for number in range(1_000_000)]
    return _replace_schema(root, _make_entry({"type": "enum", "name": "e", "symbols": symbols}))


@bomb(walk_table, "too many keys")
def header_of_200_000_keys(root: Path) -> Path:
    return replace_manifests(root, lambda header: b"", **{f"k{number}": b"" for number in range(200_000)})


# -- footers


@bomb(walk_bytes, is_quick=False, seconds=10)
def parquet_footer_of_20_000_columns(root: Path) -> Path:
    path = root / "wide.parquet"
    pq.write_table(pa.table({f"c{number}": [1] for number in range(20_000)}), path)
    return path
