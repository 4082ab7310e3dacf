"""A Hive table in a far store: listed at once, or level by level; footers are read together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import AccessDenied
from lakelens.opening import open_in_store
from tests.remote.test_paimon_waves import describe
from tests.support.far import Bucket
from tests.support.far_memory import ROOT, FarStore, FlatStore, UnlistedStore, open_twins, read_objects, show

LAKES = Path(__file__).parent.parent / "lakes"
SAMPLES = [sample.name for sample in ll.sample() if sample.format == "hive"]
TABLES = sorted(LAKES.glob("spark/hive/*/table"))


@pytest.mark.parametrize("kind", [FarStore, FlatStore])
def test_the_card_takes_at_most_four_waves(kind: type[FarStore]) -> None:
    for path in [*TABLES, *(Path(ll.sample(name).location) for name in SAMPLES)]:
        near, far, _ = open_twins(path, kind)
        assert describe(far) == describe(near), path
        deepest = max(one.count("/") for one in read_objects(path, ""))
        # a store that lists one directory at once is asked level by level
        assert far.reads.waves <= (max(4, deepest + 1) if kind is FarStore else 4), path


def test_nothing_is_listed_twice_and_no_size_is_asked_for() -> None:
    _, far, store = open_twins(ll.sample("hive").location, FarStore)
    show(far)
    listed = [path for verb, path in store.asked if verb == "list" and path != ROOT]
    assert len(listed) == len(set(listed))
    assert [path for verb, path in store.asked if verb == "info"] == [ROOT]


def test_rows_of_many_files_are_counted_together() -> None:
    objects = read_objects(ll.sample("hive").location)
    path, data = next((path, data) for path, data in objects.items() if "/part-" in path)
    folder, _, name = path.rpartition("/")
    many = {f"{folder}/{name.replace('part-00000', f'part-{number:05}')}": data for number in range(300)}
    near = open_in_store(FlatStore({**objects, **many}), ROOT)
    assert near.files.record_count >= 300
    # 100 footers for the columns, then 300 of which some are kept, by 64 connections
    assert near.reads.waves <= 3 + 2 + 5


def test_a_footer_takes_one_wave(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"a": pa.array(range(50_000)), "b": [f"text {n}" for n in range(50_000)]})
    pq.write_table(table, tmp_path / "part-00000-x.c000.snappy.parquet", row_group_size=10_000)
    near, far, _ = open_twins(tmp_path, FarStore)
    assert near.files[0].size_bytes > 100_000  # its ends are not all of it
    waves = far.reads.waves
    assert str(far.files[0].footer) == str(near.files[0].footer)
    assert far.reads.waves - waves == 1


@pytest.mark.parametrize("kind", [FarStore, FlatStore])
def test_a_large_directory_is_listed_whole(kind: type[FarStore]) -> None:
    objects = {f"{ROOT}/d={day:03}/h={hour}/part-{hour}.csv": b"1" for day in range(300) for hour in range(5)}
    table: Any = open_in_store(kind(objects), ROOT)
    assert len(table.files) == 1_500
    assert table.current.summary["total-partitions"] == "1500"


def test_a_table_that_may_not_be_listed_is_refused_once() -> None:
    objects = read_objects(ll.sample("hive").location)
    for format in (None, "hive"):
        with pytest.raises(AccessDenied):
            table = open_in_store(UnlistedStore(objects), ROOT, format=format)
            len(table.files)


def test_a_bucket_lists_a_table_at_once(bucket: Bucket) -> None:
    sample = ll.sample("hive")
    url = bucket.put(sample.location, "hive/events")
    ll.open(url, storage_options=bucket.options)
    bucket.weather.clear()
    bucket.weather.delay = 0.05
    table = ll.open(url, storage_options=bucket.options)
    show(table)
    assert table.reads.waves <= 4
    assert len(bucket.weather.requests) <= table.reads.requests + 4
    assert sorted(file.relative_path for file in table.files) == sorted(
        file.relative_path for file in sample.files
    )
