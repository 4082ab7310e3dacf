"""Files and entries as DataFrames: what executors give equals what is read here, on PySpark 3.5 and on 4."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakelens as ll
from lakelens.options import budgets
from lakelens.spark import entries, files, spark_schema
from lakelens.spark.frames.scanning import make_reader
from tests.support import LAKES
from tests.support.growth import grow_iceberg
from tests.support.planned import build_local, collect_rows, list_lakes, word_rows
from tests.support.spark_plans import list_planned

pytestmark = pytest.mark.spark

# deletes of every kind, evolution of schemas and partitionings, partitions of every type, branches; rows from a listing
SOME = [
    "spark/iceberg/v2-partition-evolution",
    "spark/iceberg/v2-partition-identity",
    "spark/iceberg/v2-schema-evolution",
    "spark/iceberg/v2-uuid-and-fixed",
    "spark/iceberg/v3-deletion-vectors",
    "spark/iceberg/v3-types",
    "spark/iceberg/v4-evolution",
    "spark/paimon/append-deletion-vectors",
    "spark/paimon/partition-types",
    "spark/paimon/pk-compacted",
    "spark/paimon/pk-schema-evolution",
    "spark/hive/partitioned-by-types",
]


@pytest.mark.parametrize("lake", SOME)
def test_files_equal_the_local_answer_row_for_row(any_spark: Any, lake: str) -> None:
    table = ll.open(LAKES / lake / "table")
    frame = files(table, any_spark)
    manifests = {manifest.path for manifest in table.current.manifests}
    rows = collect_rows(frame)
    assert not manifests & set(table.reads.paths), "a manifest was read on the driver"
    local = build_local(table)
    assert word_rows(rows) == word_rows(local) and local.num_rows
    assert frame.schema == spark_schema(local.schema)


def test_a_hundred_thousand_files(any_spark: Any, tmp_path: Path) -> None:
    table = ll.open(grow_iceberg(tmp_path / "t", files=100_000, manifests=24))
    names = ["path", "partition", "record_count", "size_bytes", "snapshot_id", "null_counts"]
    frame = files(table, any_spark, columns=names, parallelism=2)
    rows = collect_rows(frame).sort_by("path")
    local = table.files.to_arrow(columns=names).sort_by("path")
    assert rows.num_rows == local.num_rows > 100_000
    for name in names:
        ours, theirs = rows[name].combine_chunks(), local[name].combine_chunks()
        assert ours.cast(theirs.type).equals(theirs), name


@pytest.fixture(params=["spark/iceberg/v2-position-deletes-untidy", "spark/paimon/pk-compacted"])
def changed(request: pytest.FixtureRequest) -> Any:
    return ll.open(LAKES / request.param / "table")


def test_entries_come_manifest_by_manifest_each_once(any_spark: Any, changed: Any) -> None:
    rows = (
        entries(changed, any_spark, stats=False).select("status", "path", "manifest", "snapshot_id").collect()
    )
    told = Counter(
        (entry.status, entry.file.path, manifest.path, entry.snapshot_id)
        for manifest in changed.current.manifests
        for entry in manifest.entries
    )
    assert Counter(map(tuple, rows)) == told
    every = {manifest.path: manifest for snapshot in changed.snapshots for manifest in snapshot.manifests}
    rows = entries(changed, any_spark, all_snapshots=True, columns=["status", "path", "manifest"]).collect()
    told = Counter(
        (entry.status, entry.file.path, path)
        for path, manifest in every.items()
        for entry in manifest.entries
    )
    assert Counter(map(tuple, rows)) == told and len(every) == len({path for _, _, path in told}) > 1


def test_what_is_deleted_is_joined_away_only_where_something_is(any_spark: Any) -> None:
    removing = files(LAKES / "spark/paimon/pk-compacted/table", any_spark, columns=["path"])
    plain = files(LAKES / "spark/paimon/append/table", any_spark, columns=["path"])
    plans = [frame._jdf.queryExecution().optimizedPlan().toString() for frame in (removing, plain)]
    assert "LeftAnti" in plans[0] and "Join" not in plans[1]
    assert removing.columns == plain.columns == ["path"]


def test_older_states_filters_and_projections(any_spark: Any) -> None:
    table = ll.open(LAKES / "spark/paimon/partition-text/table")
    first = table.snapshots[0]
    rows = files(table, any_spark, first.id, columns=["path"]).collect()
    assert sorted(row.path for row in rows) == sorted(file.path for file in first.files)
    (name, _), *_ = table.files.columns.partition
    value = next(file.partition[name] for file in table.files)
    asked = {"partition": {name: value}, "columns": ["size_bytes", "path"]}
    rows = files(table, any_spark, **asked).collect()
    assert sorted(tuple(row) for row in rows) == sorted(
        (file.size_bytes, file.path) for file in table.files if file.partition[name] == value
    )
    assert files(table, any_spark, path="no such file").count() == 0


def test_a_table_before_its_first_commit(any_spark: Any) -> None:
    table = ll.open(LAKES / "spark/iceberg/v2-no-snapshot/table")
    assert files(table, any_spark).count() == entries(table, any_spark).count() == 0
    assert files(table, any_spark).columns == table.files.to_arrow().column_names


def test_an_executor_without_lakelens_says_so(any_spark: Any) -> None:
    read = make_reader(b"", [b""])

    def read_without(batches: Any) -> Iterator[Any]:
        hidden = {name: sys.modules.pop(name) for name in [*sys.modules] if name.split(".")[0] == "lakelens"}
        sys.modules["lakelens"] = None  # type: ignore[assignment]
        try:
            yield from read(batches)
        finally:
            del sys.modules["lakelens"]
            sys.modules.update(hidden)

    with pytest.raises(
        Exception, match=r"lakelens, or what it needs, cannot be imported on this executor \(.*\): ship"
    ):
        any_spark.range(0, 1, 1, 1).mapInArrow(read_without, "path string").collect()


def test_odd_types_and_names_reach_spark(any_spark: Any) -> None:
    """Every carried type through the JVM and back, beside fields named as SQL would not."""
    from lakelens.model.scan.files_to_arrow import Layout
    from lakelens.model.scan.plan import ScanRequest
    from lakelens.spark.frames.dataframes import build_frame
    from lakelens.spark.frames.planning import ReadPlan, pack_rows

    uuids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"\x00" * 15 + b"\x07", None], pa.binary(16)))
    odd = {
        "a.b": uuids,
        "x#3": pa.nulls(2, pa.timestamp("ns", "UTC")),
        "`": pa.array([b"\x00\xff", None], pa.binary(2)),
        "A": pa.array([-1, 0], pa.int8()),
        "a": pa.array([300, 0], pa.int16()),
    }
    mask = pa.array([False, True])
    batch = pa.record_batch(
        {
            "odd": pa.StructArray.from_arrays(list(odd.values()), names=list(odd), mask=mask),
            "void": pa.nulls(2),
            "nothing": pa.array([{}, {}], pa.struct([])),
            "time": pa.array([1, None], pa.time64("us")),
            "wide": pa.array([1, None], pa.int64()).cast(pa.decimal256(60, 2)),
            "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
            "ntz": pa.array([-1, None], pa.timestamp("ns")),
        }
    )
    plan = ReadPlan(Layout(batch.schema, ()), ScanRequest(), bins=(pack_rows(batch),))
    first, second = collect_rows(build_frame(any_spark, plan)).to_pylist()
    assert first["odd"] == {
        "a.b": "00000000-0000-0000-0000-000000000007",
        "x#3": None,
        "`": b"\x00\xff",
        "A": -1,
        "a": 300,
    }
    assert first["void"] is None and first["time"] == "00:00:00.000001" and first["wide"] == "1.00"
    assert first["map"] == [("k", 1)] and str(first["ntz"]) == "1969-12-31 23:59:59.999999"
    assert {name: value for name, value in second.items() if value} == {}


def test_all_lakes_are_there() -> None:
    assert {LAKES / lake / "table" for lake in SOME} <= set(list_lakes())


SKELETONS = {
    "spark/iceberg/v3-merge-on-read": "id > 15 AND p = 1",
    "spark/iceberg/v2-partition-truncate": "s = 'iceberg' AND i > 5",
    "spark/paimon/partition-types": "s = 'short' AND dec9 > 0",
}


def test_spark_reads_skeletons_and_plans_the_same_files(spark: Any, tmp_path: Path) -> None:
    """Metadata tables have the counts of the original; the files of a plan are those that lakelens keeps."""
    for number, (lake, where) in enumerate(SKELETONS.items()):
        table = ll.open(LAKES / lake / "table")
        path = table.skeleton(tmp_path / f"s{number}.db" / "t", seed=1)
        copy, frame = ll.open(path), spark.read.format(table.format).load(str(path))
        every = {file.path.rpartition("/")[2] for file in copy.files.where(content="data")}
        assert list_planned(frame) == every
        asked = path.translate_predicate(where)
        kept = {file.path.rpartition("/")[2] for file in copy.explain(asked).kept}
        assert list_planned(frame.where(asked.replace('"', "`"))) == kept, (lake, asked)
        assert len(kept) == len(table.explain(where).kept) < len(every)
        if table.format == "iceberg":
            listed = spark.read.format("iceberg").load(f"{path}#snapshots")
            assert listed.count() == len(table.snapshots)


def test_the_drivers_budgets_hold_on_the_executors(any_spark: Any, tmp_path: Path) -> None:
    table = ll.open(grow_iceberg(tmp_path / "t", files=20_000, manifests=1))
    with budgets.using(max_file=1 << 10), pytest.raises(Exception, match="compressed content is too large"):
        files(table, any_spark).count()
    assert files(table, any_spark).count() == len(table.files), "the next plan brings its own"
