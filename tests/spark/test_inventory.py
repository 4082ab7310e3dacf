"""An inventory of a warehouse on Spark: its totals, what a second run reads, and what is left of runs that were killed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.options import budgets
from lakelens.spark.warehouse.store import ParquetStore
from tests import support
from tests.support.documents import invoke, read_document
from tests.support.growth import grow_iceberg, grow_paimon

pytestmark = pytest.mark.spark

LAKES = support.LAKES / "spark"
MIX = (
    ("iceberg", "v2-merge-on-read"),
    ("iceberg", "v3-merge-on-read"),
    ("iceberg", "v1-basic"),
    ("paimon", "pk-compacted"),
    ("paimon", "append"),
    ("paimon", "changelog-lookup"),
    ("hive", "partitioned"),
)
NAMES = ("tables", "snapshots", "manifests", "files", "entries", "findings")
#: What differs between two runs over the same tables.
VARYING = {"looked_at"}


def make_warehouse(place: Path, lakes: tuple[tuple[str, str], ...] = MIX) -> Path:
    for kind, lake in lakes:
        shutil.copytree(LAKES / kind / lake / "table", place / f"{kind}.db" / lake)
    return place


def break_table(place: Path) -> None:
    for document in (place / "metadata").glob("*.metadata.json"):
        document.write_text("{ not json")


def expire_first(place: Path) -> None:
    """Take the oldest snapshot out of an Iceberg table's document, as its expiry does."""
    newest = max((place / "metadata").glob("*.metadata.json"))
    document = json.loads(newest.read_text())
    del document["snapshots"][0]
    newest.write_text(json.dumps(document))


def gather(inventory: Any) -> dict[str, list[str]]:
    """Every row of every DataFrame as text, in order."""
    gathered = {}
    for name in NAMES:
        frame = getattr(inventory, name)
        kept = frame.select(*(f"`{one}`" for one in frame.columns if one not in VARYING))
        gathered[name] = sorted(
            json.dumps(row.asDict(True), default=str, sort_keys=True) for row in kept.collect()
        )
    return gathered


def assert_totals(inventory: Any) -> None:
    """The files of each table, their bytes and rows, are those that opening it shows."""
    rows = inventory.sizes().collect()
    assert rows
    for row in rows:
        if row["error"] is not None:
            with pytest.raises(ll.errors.LakeError):
                ll.open(row["location"])
            continue
        opened = ll.open(row["location"])
        told = None if opened.format == "hive" else opened.files.record_count
        assert (row["files"], row["bytes"], row["rows"]) == (len(opened.files), opened.files.size_bytes, told)
        assert row["snapshots"] == len(opened.snapshots)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mix of formats, one table broken, one manifest of another cut in half."""
    place = make_warehouse(tmp_path_factory.mktemp("mix"))
    shutil.copytree(LAKES / "iceberg" / "v2-basic" / "table", place / "iceberg.db" / "broken")
    break_table(place / "iceberg.db" / "broken")
    shutil.copytree(LAKES / "iceberg" / "v2-basic" / "table", place / "iceberg.db" / "torn")
    torn = Path(ll.open(place / "iceberg.db" / "torn").current.manifests[0].path)
    torn.write_bytes(torn.read_bytes()[:-40])
    return place


@pytest.fixture(scope="module")
def undisturbed(
    warehouse: Path, spark: Any, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """What one run that nothing disturbs finds."""
    target = tmp_path_factory.mktemp("undisturbed") / "inventory"
    taken = ll.spark.inventory(warehouse, spark, target, progress=False)
    summary = taken.summary
    assert (summary.tables, summary.new, summary.broken, summary.unread) == (9, 9, 1, 1)
    assert_totals(taken)
    (error,) = (row["error"] for row in taken.tables.where("error is not null").collect())
    assert "not JSON" in error
    assert {Path(row["location"]).name for row in taken.findings.where("severity = 'error'").collect()} == {
        "broken",
        "torn",
    }
    return gather(taken)


@pytest.mark.exhaustive
def test_a_run_that_is_killed_goes_on_where_it_stopped(
    warehouse: Path, undisturbed: dict[str, list[str]], spark: Any, tmp_path: Path
) -> None:
    target = tmp_path / "inventory"

    def stop(commit: Any) -> None:
        if commit.number >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ll.spark.inventory(warehouse, spark, target, batch_size=3, progress=False, on_batch=stop)
    half = ll.spark.read_inventory(target, spark)
    assert 0 < half.tables.count() < 9
    leftover = target / "entries" / "batch=0000000099-killed"
    shutil.copytree(next((target / "entries").glob("batch=*")), leftover)  # written, and never committed
    assert ll.spark.read_inventory(target, spark).entries.count() == half.entries.count()
    again = ll.spark.inventory(warehouse, spark, target, batch_size=3, progress=False)
    assert gather(again) == undisturbed
    assert not leftover.exists()
    assert again.summary.new == 9 - half.tables.count()


def test_the_drivers_budgets_hold_on_the_executors(spark: Any, tmp_path: Path) -> None:
    grow_iceberg(tmp_path / "warehouse" / "t", files=20_000, manifests=1)
    with budgets.using(max_file=1 << 10):
        bound = ll.spark.inventory(tmp_path / "warehouse", spark, tmp_path / "bound", progress=False)
    (found,) = [row for row in bound.findings.collect() if row.severity == "error"]
    assert "compressed content is too large" in found.message
    free = ll.spark.inventory(tmp_path / "warehouse", spark, tmp_path / "free", progress=False)
    assert not [row for row in free.findings.collect() if row.severity == "error"]


KILLED = """
import os, signal, sys
import lakelens as ll
from lakelens.spark.warehouse.store import ParquetStore

add = ParquetStore.add_record

def add_and_die(self, commit):
    if commit.kind == "batch" and commit.number == 3:
        os.kill(os.getpid(), signal.SIGKILL)  # all rows of the batch are written, its record is not
    return add(self, commit)

ParquetStore.add_record = add_and_die
spark = ll.spark.session(sys.argv[3], formats=())
ll.spark.inventory(sys.argv[1], spark, sys.argv[2], batch_size=4, progress=False)
"""


@pytest.mark.exhaustive
def test_a_process_that_is_killed_between_rows_and_record_loses_and_doubles_nothing(
    warehouse: Path, undisturbed: dict[str, list[str]], spark: Any, tmp_path: Path
) -> None:
    target = tmp_path / "inventory"
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(warehouse), str(target), str(tmp_path / "spark")],
        timeout=300,
        check=False,
        capture_output=True,
    )
    assert ended.returncode == -9, ended.stderr.decode()[-2000:]
    written = {path.name for path in (target / "entries").iterdir()}
    assert len(written) > len(list((target / "_commits").glob("*.json"))) - 1
    again = ll.spark.inventory(warehouse, spark, target, progress=False)
    assert gather(again) == undisturbed


def test_a_second_run_reads_no_manifest_no_list_and_no_data_file(spark: Any, tmp_path: Path) -> None:
    place = make_warehouse(tmp_path / "warehouse")
    stored = {*place.rglob("*.avro"), *place.rglob("manifest/*"), *place.rglob("*.parquet")}
    target = place / "inventory"  # a target in the warehouse is no part of it
    first = ll.spark.inventory(place, spark, target, progress=False)
    before = gather(first)
    assert first.summary.tables == len(MIX)
    assert first.summary.manifests == first.manifests.count() > 0
    for path in stored:
        if "hive.db" not in path.parts:
            path.unlink()  # what is not there cannot be read
        elif path.suffix == ".parquet":
            times = path.stat()
            path.write_bytes(b"\0" * times.st_size)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = ll.spark.inventory(place, spark, target, progress=False)
    summary = second.summary
    assert (summary.unchanged, summary.manifests, summary.manifest_lists) == (len(MIX), 0, 0)
    assert (summary.broken, summary.unread, summary.changed) == (0, 0, 0)
    assert gather(second) == before
    assert [row["kind"] for row in second.runs.orderBy("number").collect()] == [
        "begin",
        "batch",
        "end",
        "begin",
        "end",
    ]


@pytest.mark.exhaustive
def test_commits_in_between_repairs_and_dropped_tables_are_followed(spark: Any, tmp_path: Path) -> None:
    place, target = tmp_path / "warehouse", tmp_path / "inventory"
    grow_iceberg(place / "a", files=40, manifests=4, snapshots=1, lake="v2-basic")
    grow_paimon(place / "b", files=40, manifests=4)
    make_warehouse(place, (("iceberg", "v1-basic"), ("hive", "partitioned")))
    torn = Path(ll.open(place / "a").current.manifests[1].path)
    whole = torn.read_bytes()
    torn.write_bytes(whole[:100])
    first = ll.spark.inventory(place, spark, target, progress=False)
    assert first.summary.unread == 1
    expire_first(place / "a")
    shutil.rmtree(place / "b")
    grow_paimon(place / "b", files=40, manifests=4, snapshots=2, appended=7)
    torn.write_bytes(whole)
    shutil.rmtree(place / "iceberg.db" / "v1-basic")
    next((place / "hive.db" / "partitioned").rglob("*.parquet")).unlink()
    second = ll.spark.inventory(place, spark, target, progress=False)
    summary = second.summary
    assert (summary.tables, summary.changed, summary.gone, summary.manifests) == (3, 3, 1, 2)
    assert summary.unread == summary.broken == 0
    assert_totals(second)
    expired = second.snapshots.where("expired").collect()
    assert [(Path(row["location"]).name, row["is_ancestor"], row["is_current"]) for row in expired] == [
        ("a", True, False)
    ]
    fresh = gather(ll.spark.inventory(place, spark, progress=False))
    found = gather(second)
    assert {name: found[name] for name in ("tables", "files", "findings")} == {
        name: fresh[name] for name in ("tables", "files", "findings")
    }


@pytest.mark.exhaustive
def test_of_two_runs_at_once_the_later_goes_on(spark: Any, tmp_path: Path) -> None:
    place, target = make_warehouse(tmp_path / "warehouse", MIX[2:5]), tmp_path / "inventory"
    taken: list[Any] = []

    def take_over(commit: Any) -> None:
        if not taken:
            taken.append(ll.spark.inventory(place, spark, target, progress=False))

    with pytest.raises(ll.errors.LakeError, match="another run has taken over"):
        ll.spark.inventory(place, spark, target, batch_size=1, progress=False, on_batch=take_over)
    after = ll.spark.inventory(place, spark, target, progress=False)
    assert after.summary.unchanged == 3
    assert gather(after) == gather(taken[0])
    assert_totals(after)


@pytest.mark.exhaustive
def test_an_iceberg_database_keeps_an_inventory_of_a_catalog(spark: Any, tmp_path: Path) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS paimon.stock")
    for name in ("one", "two"):
        spark.sql(f"CREATE TABLE paimon.stock.{name} (id INT, day STRING) PARTITIONED BY (day)")
        spark.sql(f"INSERT INTO paimon.stock.{name} VALUES (1, 'a'), (2, 'b')")
    names = ["paimon.stock.one", "paimon.stock.two"]
    first = ll.spark.inventory(names, spark, "iceberg.kept", progress=False)
    assert (first.summary.new, first.summary.manifests) == (2, 2)
    spark.sql("INSERT INTO paimon.stock.two VALUES (3, 'a')")
    second = ll.spark.inventory(names, spark, "iceberg.kept", progress=False)
    assert (second.summary.changed, second.summary.unchanged, second.summary.manifests) == (1, 1, 1)
    third = ll.spark.inventory(names, spark, "iceberg.kept", progress=False)
    assert (third.summary.unchanged, third.summary.manifests) == (2, 0)
    assert_totals(third)
    churn = {row["table"]: row.asDict() for row in third.churn().collect()}
    assert {name: (row["added_files"], row["commits"]) for name, row in churn.items()} == {
        "paimon.stock.one": (2, 1),
        "paimon.stock.two": (3, 2),
    }
    growth = {row["table"]: row.asDict() for row in third.growth().collect()}
    assert (growth["paimon.stock.two"]["files"], growth["paimon.stock.two"]["rows"]) == (3, 3)
    small = {(row["table"], row["partition"]): row["small_files"] for row in third.small_files().collect()}
    assert small["paimon.stock.two", "day=a"] == 2
    assert third.create_views("stock_")[0] == "stock_tables"
    assert spark.sql("SELECT count(*) FROM stock_files").first()[0] == 5
    by_catalog = ll.spark.inventory("paimon", spark, progress=False)
    assert {row["table"] for row in by_catalog.tables.collect()} >= set(names)


def test_a_log_in_any_file_system_of_spark_is_as_strict(spark: Any, tmp_path: Path) -> None:
    from lakelens.spark.warehouse.store import HadoopFolder

    folder = HadoopFolder(spark, f"file://{tmp_path / 'inventory'}")
    assert folder.create("_commits/1.json", "{}") and not folder.create("_commits/1.json", "other")
    assert folder.read_texts("_commits") == {"1.json": "{}"}
    assert folder.list_names("nothing") == []
    folder.remove("_commits")
    assert folder.read_texts("_commits") == {}
    assert ParquetStore(spark, f"file://{tmp_path / 'inventory'}").read_log() == []


def test_where_no_inventory_is_none_is_read(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(ll.errors.Missing):
        ll.spark.read_inventory(tmp_path / "none", spark)
    with pytest.raises(ll.errors.Unsupported):
        ll.spark.inventory([], spark, "nocatalog.database", progress=False)
    with pytest.raises(ll.errors.Missing):
        ll.spark.inventory(tmp_path / "none", spark, tmp_path / "inventory", progress=False)
    assert not (tmp_path / "inventory").exists()
    empty = ll.spark.inventory([], spark, progress=False)
    assert (empty.summary.tables, empty.files.count(), empty.growth().count()) == (0, 0, 0)


@pytest.mark.exhaustive
def test_the_command_line_tells_a_warehouse_and_ends_with_one_where_a_table_is_broken(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_warehouse(tmp_path / "warehouse", MIX[2:3])
    shutil.copytree(LAKES / "iceberg" / "v2-basic" / "table", place / "broken")
    break_table(place / "broken")
    monkeypatch.setattr(spark, "stop", lambda: None)
    monkeypatch.setattr(ll.spark, "session", lambda *_, **__: spark, raising=False)
    arguments = ["inventory", str(place), "--target", str(tmp_path / "kept")]
    told = read_document(*arguments, status=1)
    assert (told["summary"]["tables"], told["summary"]["broken"]) == (2, 1)
    assert [row["snapshots"] for row in told["tables"] if row["error"] is None] == [3]
    for document in (place / "broken" / "metadata").glob("*.metadata.json"):
        shutil.copy(LAKES / "iceberg" / "v2-basic" / "table" / "metadata" / document.name, document)
    again = invoke(*arguments)
    assert again.exit_code == 0, again.output
    assert "2 tables: 0 new, 1 changed, 1 unchanged" in again.stdout
