"""Hive tables opened by name through a Spark session: the metastore's facts beside what lies in storage."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll

pytestmark = pytest.mark.spark
DATABASE = "spark_catalog.hive_room"


@pytest.fixture(scope="module")
def database(spark: Any) -> Iterator[str]:
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    yield DATABASE
    spark.sql(f"DROP DATABASE {DATABASE} CASCADE")


def warnings(table: Any) -> dict[str, str]:
    _ = list(table.files)
    return {f.code: f.message for f in table.findings if f.severity == "warning"}


def test_one_insert_and_what_the_metastore_knows(spark: Any, database: str) -> None:
    name = f"{database}.plain"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT COMMENT 'key', name STRING) STORED AS PARQUET TBLPROPERTIES ('k'='v')"
    )
    before = ll.open(name, spark=spark)
    assert before.format == "hive"
    assert len(before.files) == 0
    assert [s.role for s in before.list_files()] == []
    spark.sql(f"INSERT INTO {name} VALUES (1, 'a')")
    spark.sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR ALL COLUMNS")
    table = ll.open(name, spark=spark)
    assert table.name == name
    assert [(f.name, str(f.type), f.doc) for f in table.schema] == [
        ("id", "bigint", "key"),
        ("name", "string", None),
    ]
    assert table.properties["k"] == "v"
    assert table.catalog is not None
    assert "parquet" in table.catalog["storage"]["Serde Library"].lower()
    assert table.catalog["record_count"] == 1
    assert table.catalog["statistics"]["id"]["max"] == "1"
    (file,) = table.files
    assert file.record_count == 1
    assert file.bounds["name"].upper == "a"
    assert file.preview().to_pylist() == [{"id": 1, "name": "a"}]
    assert table.diff(before.current, table.current).summary["added_files"] == 1
    assert table.relocation.recorded_location == table.catalog["storage"]["Location"]
    assert not table.relocation.is_moved


def test_partitions_registered_and_found_are_compared(spark: Any, database: str, tmp_path: Path) -> None:
    name = f"{database}.parts"
    spark.sql(f"CREATE TABLE {name} (id INT, p STRING) USING parquet PARTITIONED BY (p)")
    spark.sql(f"INSERT INTO {name} VALUES (1, 'x/y'), (2, NULL), (3, 'gone'), (4, 'a b%')")
    elsewhere = tmp_path / "else where"
    spark.sql(f"ALTER TABLE {name} ADD PARTITION (p = 'away') LOCATION '{elsewhere}'")
    spark.sql(f"INSERT INTO {name} PARTITION (p = 'away') VALUES (5)")
    root = Path(ll.open(name, spark=spark).location)
    shutil.rmtree(root / "p=gone")
    shutil.copytree(root / "p=x%2Fy", root / "p=new")
    table = ll.open(name, spark=spark)
    assert sorted(str(file.partition) for file in table.files) == [
        "p=__HIVE_DEFAULT_PARTITION__",
        "p=a b%25",
        "p=away",
        "p=x%2Fy",
    ]
    assert {file.partition["p"] for file in table.files} == {None, "a b%", "away", "x/y"}
    found = warnings(table)
    assert set(found) == {"partition-unregistered", "partition-missing"}
    assert "p=new" in found["partition-unregistered"]
    assert "p=gone" in found["partition-missing"]
    assert any(stored.path.startswith(str(elsewhere)) for stored in table.list_files())
    assert [str(f.result_type) for f in table.partitioning] == ["string"]
    assert table.files.record_count == spark.table(name).count() == 4
    # without the metastore the directory tells another story
    alone = ll.open(root)
    assert sorted(str(file.partition) for file in alone.files) == [
        "p=__HIVE_DEFAULT_PARTITION__",
        "p=a b%25",
        "p=new",
        "p=x%2Fy",
    ]


def test_a_partition_registered_at_an_odd_directory_of_the_table(spark: Any, database: str) -> None:
    name = f"{database}.odd"
    spark.sql(f"CREATE TABLE {name} (id INT, p INT) USING parquet PARTITIONED BY (p)")
    root = ll.open(name, spark=spark).location
    spark.sql(f"ALTER TABLE {name} ADD PARTITION (p = 5) LOCATION '{root}/five'")
    spark.sql(f"INSERT INTO {name} PARTITION (p = 5) VALUES (1)")
    table = ll.open(name, spark=spark)
    assert [dict(file.partition) for file in table.files] == [{"p": "5"}]
    assert table.partitioning.fields[0].result_type == "int"
    assert warnings(table) == {}


def test_text_table_knows_its_columns_from_the_metastore_only(spark: Any, database: str) -> None:
    name = f"{database}.lines"
    spark.sql(f"CREATE TABLE {name} (id INT, name STRING) STORED AS TEXTFILE")
    spark.sql(f"INSERT INTO {name} VALUES (1, 'a')")
    table = ll.open(name, spark=spark)
    assert table.schema.names == ("id", "name")
    assert [file.file_format for file in table.files] == ["text"]
    assert table.files[0].preview().to_pylist() == [{"line": "1\x01a"}]
    assert len(ll.open(table.location).schema) == 0
