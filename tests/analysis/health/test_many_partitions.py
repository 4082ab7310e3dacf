"""Health of a table of many partitions whose manifest list records next to nothing: its files are read by column."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
from lakelens.formats.iceberg.metadata.partitions import PartitionColumn, SpecBook
from lakelens.samples import unpack_table
from tests.support.rewriting import rewrite_avro

_FILES = 1_500


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """The packaged table with a manifest of 1,500 files in as many partitions, whose list has its old length."""
    root = unpack_table("iceberg", tmp_path)
    manifest = next(one for one in ll.open(root).current.manifests if one.content == "data")

    def grow(records: list[dict[str, Any]]) -> None:
        first = records[0]
        records.clear()
        for number in range(_FILES):
            entry = copy.deepcopy(first)
            file = entry["data_file"]
            file["file_path"] = file["file_path"].replace(".parquet", f"-{number}.parquet")
            file["partition"] = dict.fromkeys(file["partition"], number)
            records.append(entry)

    rewrite_avro(Path(manifest.path), grow)
    return root


def test_what_a_list_records_too_small_is_read_by_column(crowded: Path) -> None:
    table = ll.open(crowded)
    assert sum(one.manifest_length or 0 for one in table.current.manifests) < 64 * 1024
    files = table.current.files
    assert len(files) >= _FILES
    assert files.rows is not None


def test_each_value_of_a_partition_is_formatted_once_and_no_file_is_made(
    crowded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    formatted: list[Any] = []
    real_build, real_render, real_init = SpecBook.build, PartitionColumn.render, IcebergDataFile.__init__

    def build(*given: Any) -> Any:
        made.append("a partition")
        return real_build(*given)

    def render(column: PartitionColumn, value: Any) -> str:
        formatted.append(value)
        return real_render(column, value)

    def init(*given: Any, **named: Any) -> None:
        made.append("a file")
        real_init(*given, **named)

    monkeypatch.setattr(SpecBook, "build", build)
    monkeypatch.setattr(PartitionColumn, "render", render)
    monkeypatch.setattr(IcebergDataFile, "__init__", init)
    table = ll.open(crowded)
    health = table.health()
    fields = len(table.current.files.columns.partition)
    assert len(health.parts.partitions) >= _FILES
    assert len(made) < 100
    assert len(formatted) < (_FILES + 100) * fields
