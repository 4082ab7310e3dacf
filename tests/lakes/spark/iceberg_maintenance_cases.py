"""Iceberg tables with a history: branches, tags, rollback, rewriting, expiry, statistics, and ways to keep metadata."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iceberg_cases import CASES, MERGE_ON_READ, case, jtable, properties, run, snapshot_ids

NOW = "TIMESTAMP '2100-01-01 00:00:00'"


def call(spark: Any, procedure: str, table: str, arguments: str = "") -> None:
    name = table.split(".", 1)[1]
    spark.sql(f"CALL iceberg.system.{procedure}(table => '{name}'{', ' + arguments if arguments else ''})")


@case("branches-and-tags", 1, 2, 3)
def branches(spark: Any, t: str, version: int) -> str:
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, name STRING) {properties(version)}",
        "INSERT INTO {t} VALUES (1, 'a')",
        "ALTER TABLE {t} CREATE TAG first RETAIN 365 DAYS",
        "ALTER TABLE {t} CREATE BRANCH audit RETAIN 30 DAYS WITH SNAPSHOT RETENTION 3 SNAPSHOTS 7 DAYS",
        "INSERT INTO {t}.branch_audit VALUES (2, 'only on audit')",
        "INSERT INTO {t} VALUES (3, 'only on main')",
        "ALTER TABLE {t} CREATE BRANCH `empty-handed`",
        "ALTER TABLE {t} CREATE TAG `v1/with slash`",
        "INSERT INTO {t} VALUES (4, 'd')",
        "ALTER TABLE {t} CREATE OR REPLACE TAG first",
        "ALTER TABLE {t} CREATE TAG dropped",
        "ALTER TABLE {t} DROP TAG dropped",
    )
    return t


@case("fast-forward", 2)
def fast_forward(spark: Any, t: str, version: int) -> str:
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT) {properties(version)}",
        "INSERT INTO {t} VALUES (1)",
        "ALTER TABLE {t} CREATE BRANCH audit",
        "INSERT INTO {t}.branch_audit VALUES (2)",
    )
    call(spark, "fast_forward", t, "branch => 'main', to => 'audit'")
    return t


@case("cherry-pick", 2)
def cherry_pick(spark: Any, t: str, version: int) -> str:
    run(
        spark,
        t,
        "CREATE TABLE {t} (id INT) " + properties(version, "'write.wap.enabled'='true'"),
        "INSERT INTO {t} VALUES (1)",
    )
    spark.conf.set("spark.wap.id", "staged-7")
    run(spark, t, "INSERT INTO {t} VALUES (2)")
    spark.conf.unset("spark.wap.id")
    run(spark, t, "INSERT INTO {t} VALUES (3)")
    staged = [
        row["snapshot_id"]
        for row in spark.sql(f"SELECT * FROM {t}.snapshots").collect()
        if "wap.id" in row["summary"]
    ]
    call(spark, "cherrypick_snapshot", t, f"snapshot_id => {staged[0]}")
    return t


@case("rollback", 2)
def rollback(spark: Any, t: str, version: int) -> str:
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT) {properties(version)}",
        "INSERT INTO {t} VALUES (1)",
        "INSERT INTO {t} VALUES (2)",
        "INSERT INTO {t} VALUES (3)",
    )
    call(spark, "rollback_to_snapshot", t, f"snapshot_id => {snapshot_ids(spark, t)[0]}")
    return run(spark, t, "INSERT INTO {t} VALUES (4)")


@case("rewrite-data-files", 2, 3)
def rewrite_data(spark: Any, t: str, version: int) -> str:
    run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, p INT) PARTITIONED BY (p) " + properties(version, MERGE_ON_READ),
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), 0 FROM range(5)",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), 0 FROM range(5, 10)",
        "INSERT INTO {t} VALUES (100, 1)",
        "DELETE FROM {t} WHERE id IN (1, 6)",
    )
    call(spark, "rewrite_data_files", t, "options => map('min-input-files', '2')")
    return t


@case("rewrite-position-deletes", 2)
def rewrite_position_deletes(spark: Any, t: str, version: int) -> str:
    run(
        spark,
        t,
        "CREATE TABLE {t} (id INT) " + properties(version, MERGE_ON_READ),
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT) FROM range(10)",
        "DELETE FROM {t} WHERE id = 1",
        "DELETE FROM {t} WHERE id = 2",
        "DELETE FROM {t} WHERE id = 3",
    )
    call(spark, "rewrite_position_delete_files", t, "options => map('rewrite-all', 'true')")
    return t


@case("rewrite-manifests", 1, 2, 3)
def rewrite_manifests(spark: Any, t: str, version: int) -> str:
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, p INT) PARTITIONED BY (p) {properties(version)}",
        *(f"INSERT INTO {{t}} VALUES ({number}, {number % 2})" for number in range(4)),
    )
    call(spark, "rewrite_manifests", t)
    return run(spark, t, "INSERT INTO {t} VALUES (9, 0)")


@case("manifest-merge", 2, 3)
def manifest_merge(spark: Any, t: str, version: int) -> str:
    """Small manifests merged while committing: ADDED, EXISTING and DELETED entries side by side."""
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, p INT) PARTITIONED BY (p) "
        + properties(version, "'commit.manifest.min-count-to-merge'='2'"),
        *(f"INSERT INTO {{t}} VALUES ({number}, {number % 2})" for number in range(4)),
        "DELETE FROM {t} WHERE p = 1",
        "INSERT INTO {t} VALUES (9, 0)",
    )


@case("emptied", 1, 2, 3)
def emptied(spark: Any, t: str, version: int) -> str:
    """Manifests that hold nothing but DELETED entries, and a snapshot with no files."""
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT) {properties(version)}",
        "INSERT INTO {t} VALUES (1), (2)",
        "DELETE FROM {t}",
        "INSERT INTO {t} SELECT 1 WHERE false",
    )


@case("expired", 2)
def expired(spark: Any, t: str, version: int) -> str:
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT) {properties(version)}",
        "INSERT INTO {t} VALUES (1)",
        "INSERT INTO {t} VALUES (2)",
        "INSERT OVERWRITE {t} VALUES (3)",
        "INSERT INTO {t} VALUES (4)",
    )
    call(spark, "expire_snapshots", t, f"older_than => {NOW}, retain_last => 2")
    return t


@case("statistics", 2, 3)
def statistics(spark: Any, t: str, version: int) -> str:
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, p STRING) PARTITIONED BY (p) {properties(version, MERGE_ON_READ)}",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), if(id < 5, 'a', NULL) FROM range(10)",
        "DELETE FROM {t} WHERE id = 1",
    )
    call(spark, "compute_table_stats", t)
    call(spark, "compute_partition_stats", t)
    return t


@case("gzip-metadata", 1, 2, 3)
def gzip(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT) " + properties(version, "'write.metadata.compression-codec'='gzip'"),
        "INSERT INTO {t} VALUES (1)",
        "INSERT INTO {t} VALUES (2)",
    )


@case("short-log", 2)
def short_log(spark: Any, t: str, version: int) -> str:
    limit = "'write.metadata.previous-versions-max'='2', 'write.metadata.delete-after-commit.enabled'='true'"
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT) " + properties(version, limit),
        *(f"INSERT INTO {{t}} VALUES ({number})" for number in range(5)),
    )


@case("replaced", 2)
def replaced(spark: Any, t: str, version: int) -> str:
    """CREATE OR REPLACE keeps the history and starts new columns under new ids."""
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, p STRING) PARTITIONED BY (p) {properties(version)}",
        "INSERT INTO {t} VALUES (1, 'a')",
        f"CREATE OR REPLACE TABLE {{t}} (id STRING, q INT) {properties(version)}",
        "INSERT INTO {t} VALUES ('x', 1)",
    )


@case("imported", 2)
def imported(spark: Any, t: str, version: int) -> str:
    """Parquet files without field ids, taken over as they were: columns are found by name mapping."""
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, st STRUCT<x: INT>, p INT) PARTITIONED BY (p) {properties(version)}",
    )
    place = Path(jtable(spark, t).location()) / "data" / "imported"
    frame = spark.sql(
        "SELECT /*+ COALESCE(1) */ CAST(id AS INT), named_struct('x', 5) AS st, 7 AS p FROM range(3)"
    )
    frame.write.partitionBy("p").parquet(str(place))
    call(spark, "add_files", t, f"source_table => '`parquet`.`{place}`'")
    return t


def hadoop(name: str, version: int, extra: str = "") -> None:
    """A table found by its path alone: vN.metadata.json and version-hint.text."""

    def make(spark: Any, table: str) -> str:
        return run(
            spark,
            f"hadoop.lakes.{table}",
            f"CREATE TABLE {{t}} (id INT, p STRING) PARTITIONED BY (p) {properties(version, extra)}",
            "INSERT INTO {t} VALUES (1, 'a')",
            "INSERT INTO {t} VALUES (2, 'x/y z')",
            "DELETE FROM {t} WHERE id = 1",
        )

    CASES[name] = make


hadoop("v1-hadoop", 1)
hadoop("v2-hadoop", 2, MERGE_ON_READ)
hadoop("v2-hadoop-gzip", 2, "'write.metadata.compression-codec'='gzip'")
hadoop("v3-hadoop", 3, MERGE_ON_READ)
