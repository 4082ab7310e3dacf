"""The rows that lakelens says are deleted, against the rows that Iceberg itself no longer reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
from lakelens.formats.iceberg.snapshot import IcebergSnapshot
from tests.support.iceberg_lakes import Lake, find_lakes

LAKES = [lake for lake in find_lakes() if (lake.path / "positions.json").exists()]

each_lake = pytest.mark.parametrize("lake", LAKES, ids=lambda lake: lake.name)


def read_live(lake: Lake) -> dict[str, Any]:
    """{snapshot id: {file: positions that the engine reads}}, without snapshots that the engine refuses to read."""
    answers = json.loads((lake.path / "positions.json").read_text("utf-8"))["live"]
    return {
        key: {path: spell_out(positions) for path, positions in files.items()}
        for key, files in answers.items()
        if "error" not in files
    }


def spell_out(positions: list[Any]) -> list[int]:
    """Positions of which runs are kept as [first, last]."""
    return [
        p for item in positions for p in (range(item[0], item[1] + 1) if isinstance(item, list) else [item])
    ]


def data_files(snapshot: IcebergSnapshot) -> list[IcebergDataFile]:
    return [f for f in snapshot.files if isinstance(f, IcebergDataFile) and f.content == "data"]


def open_lake(lake: Lake) -> Any:
    return lake.open(version=lake.answers["metadata_location"])


def test_every_way_to_delete_is_there() -> None:
    kinds = {
        (match.kind, match.file.file_format)
        for lake in LAKES
        for key in read_live(lake)
        for file in data_files(open_lake(lake).snapshot(int(key)))
        for match in file.deletes
    }
    assert kinds == {
        *(("position_deletes", name) for name in ("parquet", "orc", "avro")),
        *(("equality_deletes", name) for name in ("parquet", "orc", "avro")),
        ("deletion_vector", "puffin"),
    }


@each_lake
def test_live_rows_of_every_file_are_those_that_the_engine_reads(lake: Lake) -> None:
    table = open_lake(lake)
    for key, theirs in read_live(lake).items():
        ours = {}
        for file in data_files(table.snapshot(int(key))):
            live = sorted(set(range(file.record_count or 0)) - set(file.deleted_positions))
            assert file.live_record_count == len(live)
            if live:
                ours[file.file_path] = live
        assert ours == theirs


@each_lake
def test_live_rows_of_every_snapshot(lake: Lake) -> None:
    table = open_lake(lake)
    for key, theirs in read_live(lake).items():
        snapshot = table.snapshot(int(key))
        counted = snapshot.count_live_rows()
        assert counted.count == snapshot.live_record_count == sum(map(len, theirs.values()))
        assert counted.at_least <= counted.count <= counted.at_most <= counted.recorded
