"""Orphans are those of Iceberg's and Paimon's `remove_orphan_files`, after expiry, rollback and failed commits."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.check.strays import Strays, find_strays
from lakelens.io.relocation import split_location
from lakelens.spark import locate

pytestmark = pytest.mark.spark

OLD = datetime.now(UTC) - timedelta(days=10)
LIMIT = datetime.now(UTC) - timedelta(days=4)


def find_place(spark: Any, name: str) -> Path:
    return Path(split_location(locate(spark, name).location)[1])


def make_old(place: Path) -> None:
    """Make everything ten days old: engines refuse to look at what is younger than a day."""
    for path in place.rglob("*"):
        os.utime(path, (OLD.timestamp(), OLD.timestamp()))


def find(place: Path) -> Strays:
    return find_strays(ll.open(place))


def list_paths(files: Any) -> set[str]:
    return {one.relative_path for one in files}


def ask_iceberg(spark: Any, name: str, place: Path) -> set[str]:
    """What Iceberg would remove, relative to the table."""
    short = name.split(".", 1)[1]
    rows = spark.sql(
        f"CALL iceberg.system.remove_orphan_files(table => '{short}', dry_run => true, "
        f"older_than => TIMESTAMP '{LIMIT:%Y-%m-%d %H:%M:%S}')"
    ).collect()
    return {split_location(row[0])[1].removeprefix(f"{place}/") for row in rows}


@pytest.fixture(scope="module")
def names(spark: Any) -> Callable[[str, str], str]:
    """Tables of a database of their own, made again at each run."""
    for catalog in ("iceberg", "paimon"):
        spark.sql(f"CREATE DATABASE IF NOT EXISTS {catalog}.strays")

    def make(catalog: str, table: str) -> str:
        spark.sql(f"DROP TABLE IF EXISTS {catalog}.strays.{table}")
        return f"{catalog}.strays.{table}"

    return make


def now(spark: Any) -> str:
    return str(spark.sql("SELECT current_timestamp()").collect()[0][0])


def fail_commit(place: Path) -> set[str]:
    """Leave what a commit leaves that wrote all its files and was never made: data, manifest, list and metadata."""
    made = set()
    for pattern, name in (
        ("data/**/*.parquet", "00000-99-failed-00001.parquet"),
        ("metadata/*-m0.avro", "failed-m0.avro"),
        ("metadata/snap-*.avro", "snap-77-1-failed.avro"),
        ("metadata/00000-*.metadata.json", "9c12d441-03fe-4693-9a96-a0705ddf69c1.metadata.json"),
    ):
        found = sorted(place.glob(pattern))[0]
        shutil.copy(found, found.parent / name)
        made.add(str((found.parent / name).relative_to(place)))
    return made


def branch_and_tag(spark: Any, name: str) -> None:
    spark.sql(f"ALTER TABLE {name} CREATE BRANCH b")
    spark.sql(f"INSERT INTO {name}.branch_b VALUES (10, 'b')")
    spark.sql(f"ALTER TABLE {name} CREATE TAG kept RETAIN 90 DAYS")


def expire(spark: Any, name: str) -> None:
    short = name.split(".", 1)[1]
    spark.sql(
        f"CALL iceberg.system.expire_snapshots(table => '{short}', retain_last => 1, "
        f"older_than => TIMESTAMP '{now(spark)}')"
    )


def roll_back(spark: Any, name: str) -> None:
    short, first = name.split(".", 1)[1], spark.sql(f"SELECT snapshot_id FROM {name}.history").collect()[1][0]
    spark.sql(f"CALL iceberg.system.rollback_to_snapshot('{short}', {first})")


def forget(spark: Any, name: str) -> None:
    """Expire the metadata of snapshots and keep all of their files: what some catalogs do."""
    (place,) = {find_place(spark, name)}
    kept = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    expire(spark, name)
    for path, data in kept.items():
        if not path.exists():
            path.write_bytes(data)


def compute_statistics(spark: Any, name: str) -> None:
    short = name.split(".", 1)[1]
    spark.sql(f"CALL iceberg.system.compute_table_stats(table => '{short}')")
    spark.sql(f"CALL iceberg.system.compute_partition_stats(table => '{short}')")


SCENES = {
    "plain": (),
    "branches": (branch_and_tag,),
    "expired": (branch_and_tag, expire),
    "rolled_back": (roll_back,),
    "rolled_back_and_expired": (branch_and_tag, roll_back, expire),
    "forgotten": (branch_and_tag, forget),
    "statistics": (compute_statistics, branch_and_tag, forget),
}


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("scene", SCENES)
def test_orphans_are_those_of_iceberg(
    spark: Any, names: Callable[[str, str], str], scene: str, version: int
) -> None:
    name = names("iceberg", f"{scene}_v{version}")
    properties = f"'format-version'='{version}', 'write.delete.mode'='merge-on-read'"
    properties += ", 'write.metadata.previous-versions-max'='4'"
    parts = "PARTITIONED BY (name) " if compute_statistics in SCENES[scene] else ""
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, name STRING) USING iceberg {parts}TBLPROPERTIES ({properties})"
    )
    for number in range(3):
        spark.sql(f"INSERT INTO {name} SELECT id, 'a' FROM RANGE({number * 10}, {number * 10 + 5})")
    if version > 1:
        spark.sql(f"DELETE FROM {name} WHERE id = 3")
    for step in SCENES[scene]:
        step(spark, name)
    place = find_place(spark, name)
    left = fail_commit(place)
    (place / "data/.hidden").write_bytes(b"x")
    (place / "_SUCCESS").write_bytes(b"")
    (place / "metadata/version-hint.text").write_text("1")
    make_old(place)
    engine, strays = ask_iceberg(spark, name, place), find(place)
    assert list_paths(strays.orphans) == engine
    assert left <= engine
    assert len(strays.missing) == 0 and strays.is_certain and strays.broken == ()
    assert list_paths(strays.hidden) >= {"data/.hidden", "_SUCCESS"}
    assert len(strays.young) == 0


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_orphans_of_a_table_without_a_catalog_are_those_of_iceberg(
    spark: Any, codec: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A Hadoop table: its hint and numbered documents, of which only the log's and the newest are referred to."""
    catalog, root = f"strays_{codec}", tmp_path_factory.mktemp("hadoop")
    key = f"spark.sql.catalog.{catalog}"
    spark.conf.set(key, "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(f"{key}.type", "hadoop")
    spark.conf.set(f"{key}.warehouse", str(root))
    name = f"{catalog}.db.t"
    properties = f"'write.metadata.compression-codec'='{codec}', 'write.metadata.previous-versions-max'='2'"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING iceberg TBLPROPERTIES ({properties})")
    for number in range(5):
        spark.sql(f"INSERT INTO {name} VALUES ({number})")
    place = root / "db/t"
    shutil.copy(sorted(place.glob("data/*.parquet"))[0], place / "data/00000-99-failed-00001.parquet")
    make_old(place)
    rows = spark.sql(
        f"CALL {catalog}.system.remove_orphan_files(table => 'db.t', dry_run => true, "
        f"older_than => TIMESTAMP '{LIMIT:%Y-%m-%d %H:%M:%S}')"
    ).collect()
    engine = {split_location(row[0])[1].removeprefix(f"{place}/") for row in rows}
    strays = find(place)
    assert list_paths(strays.orphans) == engine
    assert "data/00000-99-failed-00001.parquet" in engine
    assert len(strays.missing) == 0 and strays.is_certain
    assert (place / "metadata/version-hint.text").exists()


def remove_paimon(spark: Any, name: str, place: Path) -> set[str]:
    """What Paimon removes from the table: what is gone afterwards."""
    before = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    short = name.split(".", 1)[1]
    spark.sql(
        f"CALL paimon.sys.remove_orphan_files(table => '{short}', older_than => '{LIMIT:%Y-%m-%d %H:%M:%S}')"
    ).collect()
    return before - {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}


def fail_paimon_commit(place: Path) -> set[str]:
    """Leave the files of a commit that was never made, and what an interrupted one leaves beside them."""
    made = set()
    for pattern, name in (
        ("**/bucket-*/*.parquet", "data-failed-0.parquet"),
        ("**/bucket-*/*.parquet", ".data-failed-1.parquet.x.tmp"),
        ("manifest/manifest-list-*", "manifest-list-failed-0"),
        ("manifest/manifest-*-0", "manifest-failed-0"),
        ("manifest/manifest-*-0", "index-manifest-failed-0"),
        ("snapshot/snapshot-*", ".snapshot-99.x.tmp"),
    ):
        found = sorted(place.glob(pattern))[0]
        shutil.copy(found, found.parent / name)
        made.add(str((found.parent / name).relative_to(place)))
    return made


def keep_files(place: Path, change: Callable[[], None]) -> None:
    """Make a change and put the data and manifests back that it removed."""
    kept = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    change()
    for path, data in kept.items():
        if not path.exists() and path.parent.name not in ("snapshot", "tag", "changelog"):
            path.write_bytes(data)


def branch_paimon(spark: Any, name: str) -> None:
    catalog, database, table = name.split(".")
    short = f"{database}.{table}"
    spark.sql(f"CALL paimon.sys.create_tag(table => '{short}', tag => 'kept', snapshot => 2)")
    spark.sql(f"CALL paimon.sys.create_branch(table => '{short}', branch => 'b', tag => 'kept')")
    spark.sql(f"INSERT INTO {catalog}.{database}.`{table}$branch_b` VALUES (70, 'b')")


def expire_paimon(spark: Any, name: str) -> None:
    short = name.split(".", 1)[1]
    spark.sql(f"CALL paimon.sys.expire_snapshots(table => '{short}', retain_max => 1, retain_min => 1)")


def roll_paimon_back(spark: Any, name: str) -> None:
    short = name.split(".", 1)[1]
    spark.sql(f"CALL paimon.sys.rollback(table => '{short}', version => '2')")


PAIMON = {
    "plain": (),
    "branches": (branch_paimon,),
    "expired": (expire_paimon,),
    "branches_expired": (branch_paimon, expire_paimon),
    "rolled_back": (roll_paimon_back,),
}
KINDS = {
    "keyed": "'primary-key'='id', 'bucket'='1', 'changelog-producer'='lookup'",
    "append": "'bucket'='-1'",
    "vectors": "'primary-key'='id', 'bucket'='1', 'deletion-vectors.enabled'='true'",
}


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scene", PAIMON)
def test_orphans_are_those_of_paimon(
    spark: Any, names: Callable[[str, str], str], scene: str, kind: str
) -> None:
    name = names("paimon", f"{scene}_{kind}")
    spark.sql(f"CREATE TABLE {name} (id BIGINT NOT NULL, name STRING) TBLPROPERTIES ({KINDS[kind]})")
    for number in range(3):
        spark.sql(f"INSERT INTO {name} SELECT id, 'a' FROM RANGE({number}, {number + 5})")
    place = find_place(spark, name)
    for step in PAIMON[scene]:
        keep_files(place, lambda step=step: step(spark, name))  # type: ignore[misc]
    left = fail_paimon_commit(place)
    (place / "notes.txt").write_text("x")
    make_old(place)
    strays = find(place)
    assert len(strays.missing) == 0 and strays.is_certain and strays.broken == ()
    removed = {path for path in remove_paimon(spark, name, place) if not path.endswith(".crc")}
    assert list_paths(strays.orphans) == removed
    assert left <= removed
    assert list_paths(strays.foreign) == {"notes.txt"}
    assert len(find(place).orphans) == 0
    spark.sql(f"REFRESH TABLE {name}")
    assert spark.sql(f"SELECT count(*) FROM {name}").collect()[0][0] > 0
