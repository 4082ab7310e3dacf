"""Iceberg tables, one function each, written by Spark with Iceberg 1.12."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CASES: dict[str, Callable[[Any, str], str]] = {}

AVRO, ORC = "'write.format.default'='avro'", "'write.format.default'='orc'"
MERGE_ON_READ = ", ".join(f"'write.{kind}.mode'='merge-on-read'" for kind in ("delete", "update", "merge"))


def case(name: str, *versions: int) -> Callable[[Any], Any]:
    """Register a function(spark, table, version) once for each format version."""

    def register(function: Any) -> Any:
        for version in versions:
            CASES[f"v{version}-{name}"] = lambda spark, table, version=version: function(
                spark, f"iceberg.lakes.{table}", version
            )
        return function

    return register


def run(spark: Any, table: str, *statements: str) -> str:
    for statement in statements:
        spark.sql(statement.replace("{t}", table).replace("{name}", table.split(".", 1)[1]))
    return table


def properties(version: int, extra: str = "") -> str:
    return f"TBLPROPERTIES ('format-version'='{version}'{', ' + extra if extra else ''})"


def jtable(spark: Any, table: str) -> Any:
    """The engine's own Java object, for what SQL cannot say."""
    return spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)


def snapshot_ids(spark: Any, table: str) -> list[int]:
    return [
        row[0]
        for row in spark.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at").collect()
    ]


# -- the basics ----------------------------------------------------------------------------------------------------


@case("basic", 1, 2, 3)
def basic(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT COMMENT 'the id', name STRING) {properties(version)}",
        "INSERT INTO {t} VALUES (1, 'a')",
        "INSERT INTO {t} VALUES (2, 'b'), (3, NULL)",
        "INSERT INTO {t} VALUES (4, 'd')",
    )


@case("no-snapshot", 1, 2, 3)
def no_snapshot(spark: Any, t: str, version: int) -> str:
    return run(spark, t, f"CREATE TABLE {{t}} (id INT) {properties(version)}")


# -- types ---------------------------------------------------------------------------------------------------------

TYPES = """
  b BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, dec9 DECIMAL(9,2), dec18 DECIMAL(18,4), dec38 DECIMAL(38,10),
  da DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, s STRING NOT NULL, bin BINARY,
  st STRUCT<x: INT, y: STRUCT<z: STRING, `a.b`: DOUBLE>>, li ARRAY<STRING>, ma MAP<STRING, INT>, ls ARRAY<STRUCT<k: BIGINT>>
"""
VALUES = """
  (true, 1, 9007199254740993, CAST(1.5 AS FLOAT), 2.5D,
   1234567.89, 12345678901234.5678, 1234567890123456789012345678.0123456789,
   DATE'2024-01-01', TIMESTAMP'2024-01-01 10:11:12.123456', TIMESTAMP_NTZ'2024-01-01 10:11:12.123456',
   'alpha', X'00FF10', named_struct('x', 7, 'y', named_struct('z', 'deep', 'a.b', 0.25D)),
   array('x', NULL, 'y'), map('k', 1, 'n', NULL), array(named_struct('k', 5L))),
  (false, -2147483648, -9223372036854775808, CAST('-Infinity' AS FLOAT), -0.0D,
   -0.01, -0.0001, -0.0000000001,
   DATE'1969-12-31', TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP_NTZ'0001-01-01 00:00:00',
   'a long string that is cut at sixteen', X'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF',
   named_struct('x', -7, 'y', NULL), array(), map(), array()),
  (NULL, NULL, NULL, CAST('NaN' AS FLOAT), CAST('NaN' AS DOUBLE), NULL, NULL, NULL,
   NULL, NULL, NULL, 'ünïcödé 🎈🎈🎈🎈🎈🎈🎈🎈🎈🎈', NULL, NULL, NULL, NULL, NULL)
"""


@case("types", 1, 2, 3)
def types(spark: Any, t: str, version: int) -> str:
    run(spark, t, f"CREATE TABLE {{t}} ({TYPES}) {properties(version)}")
    return run(
        spark,
        t,
        f"INSERT INTO {{t}} VALUES {VALUES}",
        f"INSERT INTO {{t}} SELECT * FROM VALUES {VALUES} LIMIT 1",
    )


@case("types-avro", 2)
def types_avro(spark: Any, t: str, version: int) -> str:
    run(spark, t, f"CREATE TABLE {{t}} ({TYPES}) {properties(version, AVRO)}")
    return run(spark, t, f"INSERT INTO {{t}} VALUES {VALUES}")


@case("types-orc", 2)
def types_orc(spark: Any, t: str, version: int) -> str:
    run(spark, t, f"CREATE TABLE {{t}} ({TYPES}) {properties(version, ORC)}")
    return run(spark, t, f"INSERT INTO {{t}} VALUES {VALUES}")


# -- row-level deletes ----------------------------------------------------------------------------------------------


@case("merge-on-read", 2, 3)
def merge_on_read(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, name STRING, p INT) PARTITIONED BY (p) {properties(version, MERGE_ON_READ)}",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), concat('n', id), CAST(id % 2 AS INT) FROM range(20)",
        "DELETE FROM {t} WHERE id IN (2, 3, 4)",
        "DELETE FROM {t} WHERE id = 6",
        "UPDATE {t} SET name = 'changed' WHERE id = 8",
        "MERGE INTO {t} USING (SELECT 9 AS id, 'merged' AS name UNION ALL SELECT 100, 'new') s ON {t}.id = s.id"
        " WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT (id, name, p) VALUES (s.id, s.name, 0)",
    )


@case("copy-on-write", 1, 2, 3)
def copy_on_write(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, name STRING, p INT) PARTITIONED BY (p) {properties(version)}",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), concat('n', id), CAST(id % 2 AS INT) FROM range(20)",
        "DELETE FROM {t} WHERE id = 2",
        "UPDATE {t} SET name = 'changed' WHERE id = 3",
        "DELETE FROM {t} WHERE p = 1",
        "INSERT OVERWRITE {t} VALUES (50, 'over', 0)",
    )
