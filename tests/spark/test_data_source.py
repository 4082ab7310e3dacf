"""The Python data source: its options and filters anywhere, what it reads under PySpark 4 (`make spark4`)."""

from __future__ import annotations

import shutil
from collections import Counter
from operator import eq, gt, le
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import Unsupported
from lakelens.model.scan.pruning import Selection
from lakelens.spark import register_data_source
from lakelens.spark.frames.data_source import parse_options, plan_view, select_pushed
from tests.support import LAKES
from tests.support.planned import build_local, collect_rows, unpack_tasks, word_rows


@pytest.fixture(scope="module")
def source(any_spark: Any) -> Any:
    """A session that knows the data source."""
    if not hasattr(any_spark, "dataSource"):
        pytest.skip("needs PySpark 4")
    register_data_source(any_spark)
    return any_spark


def load(spark: Any, lake: str | Path, **options: Any) -> Any:
    read = spark.read.format("lakelens")
    for name, value in options.items():
        read = read.option(name, value)
    return read.load(str(lake if isinstance(lake, Path) else LAKES / lake / "table"))


def test_options_are_checked() -> None:
    asked = parse_options({"path": "/t", "allSnapshots": "TRUE", "STATS": "false", "parallelism": "3"})
    assert (asked.all_snapshots, asked.stats, asked.parallelism, asked.view) == (True, False, 3, "files")
    for options, said in (
        ({"path": "/t", "vew": "files"}, "no option 'vew'"),
        ({"path": "/t", "view": "rows"}, "no view 'rows'; try: one of files, entries, snapshots, manifests"),
        ({"view": "files"}, "no table is named"),
        ({"path": "/t", "stats": "yes"}, "'stats' is 'yes', not true or false"),
        ({"path": "/t", "parallelism": "two"}, "'parallelism' is 'two', not a number"),
        ({"path": "/t", "partition": "day=1"}, "'partition' is 'day=1', not a JSON object"),
        ({"path": "/t", "partition": '{"day": {"from": 1}}'}, "other keys than low and high"),
    ):
        with pytest.raises(Unsupported, match=said):
            parse_options(options)


def test_pushed_filters_leave_out_manifests_and_no_more() -> None:
    path = LAKES / "spark/iceberg/v2-partition-time/table"
    columns = ll.open(path).current.scan_files().columns
    fields = {name: kind.logical for name, kind in columns.partition}
    day = next(name for name, logical in fields.items() if logical == "date")
    every = plan_view(parse_options({"path": str(path)}))
    local = ll.open(path).files
    values = {file.partition.get(day) for file in local} - {None}
    counted = []
    for value in values:
        for word, fits in (
            ("EqualTo", eq),
            ("GreaterThan", gt),
            ("LessThanOrEqual", le),
            ("IsNotNull", None),
        ):
            pushed = ((word, ("partition_values", day), value if fits else None),)
            plan = plan_view(parse_options({"path": str(path)}), pushed)
            counted.append(len(unpack_tasks(plan.bins)))
            kept = plan.selection.partition[0]
            assert plan.selection and kept.name == day
            held = [file for file in local if file.partition.get(day) is not None]
            meant = {file.manifest for file in held if fits is None or fits(file.partition[day], value)}
            assert meant <= {task.path for task in unpack_tasks(plan.bins)}
    assert min(counted) < len(unpack_tasks(every.bins))
    assert select_pushed(columns, [("EqualTo", ("record_count",), 1), ("Not", ("path",), "x")]) == Selection()
    assert select_pushed(columns, [("EqualTo", ("partition_values", day), object())]) == Selection()
    assert select_pushed(columns, [("StringStartsWith", ("path",), "/a")]).path == "/a*"


def test_fractions_and_translated_types_are_left_to_spark() -> None:
    columns = ll.open(LAKES / "spark/iceberg/v2-partition-identity/table").current.scan_files().columns
    told = {name for name, _ in columns.partition}
    pushed = {
        name
        for name in told
        if select_pushed(columns, [("IsNull", ("partition_values", name), None)]).partition
    }
    assert {"f", "d"} <= told - pushed and {"b", "i", "da"} <= pushed


@pytest.mark.spark
def test_older_spark_is_told_what_is_needed(any_spark: Any) -> None:
    if hasattr(any_spark, "dataSource"):
        pytest.skip("needs PySpark 3.5")
    with pytest.raises(Unsupported, match=r"PySpark 4.0 or newer; try: lakelens.spark.files"):
        register_data_source(any_spark)


@pytest.mark.spark
@pytest.mark.parametrize(
    "lake",
    [
        "spark/iceberg/v2-partition-identity",
        "spark/iceberg/v3-deletion-vectors",
        "spark/paimon/pk-compacted",
        "spark/paimon/partition-types",
        "spark/hive/partitioned",
    ],
)
def test_files_equal_the_local_answer(source: Any, lake: str) -> None:
    table = ll.open(LAKES / lake / "table")
    assert word_rows(collect_rows(load(source, lake))) == word_rows(build_local(table))
    narrow = load(source, lake, stats="false", columns="size_bytes, path")
    assert sorted(map(tuple, narrow.collect())) == sorted((f.size_bytes, f.path) for f in table.files)


@pytest.mark.spark
def test_every_view(source: Any) -> None:
    table = ll.open(LAKES / "spark/paimon/pk-compacted/table")
    rows = load(source, "spark/paimon/pk-compacted", view="entries").select("status", "path").collect()
    entries = [entry for manifest in table.current.manifests for entry in manifest.entries]
    assert Counter(map(tuple, rows)) == Counter((entry.status, entry.file.path) for entry in entries)
    rows = load(source, "spark/paimon/pk-compacted", view="snapshots").select("id", "operation").collect()
    assert [tuple(row) for row in rows] == [(snapshot.id, snapshot.operation) for snapshot in table.snapshots]
    first = table.snapshots[0]
    rows = load(source, "spark/paimon/pk-compacted", view="manifests", snapshot=str(first.id)).select("path")
    assert [row.path for row in rows.collect()] == [manifest.path for manifest in first.manifests]


@pytest.fixture
def damaged(tmp_path: Path) -> Any:
    """A table, a partition filter, what it means; manifests that the filter leaves out are damaged."""
    copy = tmp_path / "table"
    shutil.copytree(LAKES / "spark/iceberg/v2-partition-time/table", copy)
    table = ll.open(copy)
    day = next(name for name, kind in table.current.scan_files().columns.partition if kind.logical == "date")
    value = max(file.partition[day] for file in table.files if file.partition.get(day))
    meant = sorted(file.path for file in table.files if file.partition.get(day) == value)
    # where the list tells no bounds, all values being null, a manifest is kept
    kept = {file.manifest for file in table.files if file.partition.get(day) in (None, value)}
    others = {file.manifest for file in table.files} - kept
    assert meant and others
    for path in others:
        Path(path).write_bytes(b"not a manifest")
    whole = sorted(file.path for file in table.files if file.manifest in kept)
    return copy, day, value, meant, whole


@pytest.mark.spark
def test_sql_reads_it_and_options_choose_files(source: Any, damaged: Any) -> None:
    copy, day, value, meant, whole = damaged
    for asked in (f'"{value}"', f'["{value}"]', f'{{"low": "{value}", "high": null}}'):
        options = f"""path '{copy}', partition '{{"{day}": {asked}}}', filePath '{copy}/*', stats 'false'"""
        source.sql(f"CREATE OR REPLACE TEMPORARY VIEW chosen USING lakelens OPTIONS ({options})")
        assert sorted(row.path for row in source.sql("SELECT path FROM chosen").collect()) == meant
    with pytest.raises(Exception, match="strict=False goes past it"):
        load(source, copy).collect()
    rest = load(source, copy, strict="false")
    assert sorted(row.path for row in rest.collect()) == whole


@pytest.mark.spark
def test_a_query_without_filters_sees_everything_after_one_with_them(source: Any) -> None:
    frame = load(source, "spark/iceberg/v2-partition-time", stats="false")
    every = len(ll.open(LAKES / "spark/iceberg/v2-partition-time/table").files)
    assert frame.where("path = 'no such file'").count() == 0 and frame.count() == every


@pytest.mark.spark
def test_filters_are_pushed_where_that_is_asked_for(source: Any, damaged: Any) -> None:
    copy, day, value, meant, _ = damaged
    register_data_source(source, push_filters=True)
    try:
        rows = load(source, copy).where(f"partition_values.{day} = DATE '{value}'").select("path").collect()
        assert sorted(row.path for row in rows) == meant
    finally:
        register_data_source(source)
