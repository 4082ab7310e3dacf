"""Manifests in Parquet and ORC: the same records and words from either, and damage that is said, never worse."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.contents import read_rows
from lakelens.formats.paimon.manifests.containers import (
    decode_container,
    decode_container_header,
    decode_tables,
)
from lakelens.io.memory import MemoryStore
from lakelens.options import budgets
from lakelens.samples import unpack_table

ROWS: list[dict[str, Any]] = [
    {"_KIND": 0, "_FILE": {"_FILE_NAME": "a", "_EXTRA": ["x"]}, "_PARTITION": b"\0\1"},
    {"_KIND": 1, "_FILE": {"_FILE_NAME": "b", "_EXTRA": []}, "_PARTITION": None},
]


def write(kind: str, rows: list[dict[str, Any]], **options: Any) -> bytes:
    schema = pa.schema(
        [
            ("_KIND", pa.int32()),
            ("_FILE", pa.struct([("_FILE_NAME", pa.string()), ("_EXTRA", pa.list_(pa.string()))])),
            ("_PARTITION", pa.binary()),
        ]
    )
    sink = io.BytesIO()
    writer: Callable[..., None] = pq.write_table if kind == "parquet" else pyarrow.orc.write_table
    writer(pa.Table.from_pylist(rows, schema), sink, **options)
    return sink.getvalue()


@pytest.mark.parametrize("kind", ["parquet", "orc"])
@pytest.mark.parametrize("rows", [ROWS, ROWS * 3, []])
def test_records_and_header(kind: str, rows: list[dict[str, Any]]) -> None:
    data = write(kind, rows, compression="zstd")
    assert decode_container(data, "m") == rows
    header = decode_container_header(data, "m")
    assert (header["format"], header["records"]) == (kind, len(rows))
    assert [field["name"] for field in header["schema"]["fields"]] == ["_KIND", "_FILE", "_PARTITION"]
    if rows:
        assert header["codec"] == "zstd"


def test_records_of_several_row_groups() -> None:
    assert decode_container(write("parquet", ROWS * 5, row_group_size=3), "m") == ROWS * 5


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_a_cut_manifest_is_corrupt_and_named(kind: str) -> None:
    data = write(kind, ROWS)
    for cut in (4, len(data) // 2, len(data) - 1):
        for decode in (decode_container, decode_container_header):
            with pytest.raises(Corrupt) as caught:
                decode(data[:cut], "manifest-1")
            assert caught.value.path == "manifest-1"


def test_no_damage_of_a_parquet_footer_is_worse_than_an_error() -> None:
    data = write("parquet", ROWS)
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    refused = 0
    for offset in range(start, len(data)):
        for flip in (0xFF, 0x01):
            damaged = bytearray(data)
            damaged[offset] ^= flip
            try:
                decode_container_header(bytes(damaged), "m")
            except LakeError as error:
                assert error.path == "m"
                refused += 1
    assert refused > 50


def write_bombs() -> Iterator[tuple[str, bytes]]:
    """Manifests of a few kilobytes whose records take far more memory than the budget, each by another trick."""
    value = pa.table({"a": pa.array([bytes(20 << 20)])})
    codes = pa.array([0] * 100_000, pa.int32())
    repeated = pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array([b"x" * 100_000]))})
    many = pa.table({"a": pa.array([1] * 3_000_000)})
    for name, table in (("one value", value), ("repeated", repeated), ("many rows", many)):
        for kind in ("parquet", "orc"):
            if kind == "orc" and name == "repeated":
                table = pa.table({"a": ["x" * 1000] * 30_000})
            sink = io.BytesIO()
            if kind == "parquet":
                pq.write_table(table, sink, compression="zstd", use_dictionary=name == "repeated")
            else:
                pyarrow.orc.write_table(table, sink, compression="zstd", dictionary_key_size_threshold=1.0)
            yield f"{kind}: {name}", sink.getvalue()


def test_a_manifest_that_takes_more_memory_than_its_budget_is_refused_by_its_footer() -> None:
    for name, data in write_bombs():
        with budgets.using(max_decoded=16 << 20):
            with pytest.raises(Corrupt, match=r"too much memory.*seen.*max_decoded") as caught:
                decode_container(data, "manifest-1")
            assert caught.value.path == "manifest-1", name
            assert list(decode_tables([(data, "manifest-1")], lambda table: table)) == [None], name
            store = MemoryStore({"/t/a": data})
            if len(data) * 64 < 16 << 20 and "repeated" not in name and name != "parquet: many rows":
                with pytest.raises(Corrupt, match=r"too much memory.*max_decoded"):
                    read_rows(store, "/t/a", name.partition(":")[0], 1)
        assert read_rows(MemoryStore({"/t/a": data}), "/t/a", name.partition(":")[0], 1).num_rows == 1


def test_a_list_without_greatest_values_has_no_summary(tmp_path: Path) -> None:
    """Counts of nulls may stand beside bounds that are not there: nothing is said of the partitions, and nothing fails."""
    root = unpack_table("paimon", tmp_path)
    for path in (root / "manifest").glob("manifest-list-*"):
        rows = list(fastavro.reader(io.BytesIO(path.read_bytes())))
        for row in rows:
            row["_PARTITION_STATS"] = {**row["_PARTITION_STATS"], "_MAX_VALUES": None, "_NULL_COUNTS": [0]}
        pq.write_table(pa.Table.from_pylist(rows), path)
    table = ll.open(root)
    assert table.current is not None and len(table.current.manifests)
    for manifest in table.current.manifests:
        assert not manifest.partition_summary
    assert table.check().to_text(0) and table.explain("TRUE").to_text(0)
