"""The numbers that plots draw."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import lakelens as ll
from lakelens.analysis.shape import MOST_GROUPS, FileGroup, fold_groups, measure_files, measure_growth


def make_file(**told: Any) -> Any:
    standard = {
        "content": "data",
        "size_bytes": 10,
        "record_count": 2,
        "partition": "",
        "bucket": None,
        "level": None,
    }
    return SimpleNamespace(
        **{"own_size_bytes": told.get("size_bytes", standard["size_bytes"]), **standard, **told}
    )


def test_groups_add_up_to_the_files() -> None:
    files = [
        make_file(partition="d=1", bucket=1, level=0),
        make_file(partition="d=2", bucket=0, level=5, size_bytes=None),
        make_file(partition="d=1", bucket=1, level=5, content="position_deletes", record_count=9),
    ]
    shape = measure_files(files)
    assert shape.sizes == {"data": [10, 0], "position_deletes": [10]}
    assert [(g.name, g.files, g.rows, g.bytes) for g in shape.partitions] == [
        ("d=1", 2, 2, 20),
        ("d=2", 1, 2, 0),
    ]
    assert [(g.name, g.levels) for g in shape.buckets] == [("0", {5: 0}), ("1", {0: 10, 5: 10})]


def test_a_vector_counts_its_own_bytes() -> None:
    vector = make_file(content="deletion_vector", size_bytes=4_000, own_size_bytes=44)
    assert measure_files([vector]).sizes == {"deletion_vector": [44]}


def test_more_than_fifty_groups_are_folded_and_lose_nothing() -> None:
    groups = [FileGroup(str(i), 1, i, i, {0: i}) for i in range(1_000)]
    folded = fold_groups(groups, "partitions")
    assert len(folded) == MOST_GROUPS
    assert folded[-1].name == "951 other partitions"
    assert folded[0].name == "951"
    assert sum(g.rows for g in folded) == sum(g.bytes for g in folded) == sum(range(1_000))
    assert sum(g.levels[0] for g in folded) == sum(range(1_000))


def test_growth_is_what_the_snapshots_record() -> None:
    table = ll.sample("iceberg")
    moments = measure_growth(table.snapshots)
    assert [m.rows for m in moments] == [int(s.summary["total-records"]) for s in table.snapshots]
    assert [m.bytes for m in moments] == [int(s.summary["total-files-size"]) for s in table.snapshots]
    assert [m.committed_at for m in moments] == sorted(m.committed_at for m in moments)
