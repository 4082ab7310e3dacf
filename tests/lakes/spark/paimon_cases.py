"""Paimon tables, one function each, written by Spark with Paimon 0.9."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CASES: dict[str, Callable[[Any, str], str]] = {}


def case(name: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        CASES[name] = lambda spark, table: function(spark, f"paimon.lakes.{table}")
        return function

    return register


def run(spark: Any, table: str, *statements: str) -> str:
    for statement in statements:
        spark.sql(statement.replace("{t}", table).replace("{name}", table.split(".", 1)[1]))
    return table


def properties(*options: str) -> str:
    """`properties("bucket=1")` as a clause of CREATE TABLE."""
    pairs = (option.split("=", 1) for option in options)
    return "TBLPROPERTIES (" + ", ".join(f"'{key}'='{value}'" for key, value in pairs) + ")"


@case("pk-dynamic-bucket")
def pk_dynamic_bucket(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT NOT NULL, name STRING) {properties('primary-key=id')}",
        "INSERT INTO {t} VALUES (1, 'a')",
        "INSERT INTO {t} VALUES (2, 'b')",
        "INSERT INTO {t} VALUES (1, 'changed'), (3, NULL)",
    )


@case("pk-fixed-bucket")
def pk_fixed_bucket(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT NOT NULL, name STRING) {properties('primary-key=id', 'bucket=2')}",
        "INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "INSERT INTO {t} VALUES (2, 'changed')",
        "INSERT INTO {t} VALUES (4, NULL)",
    )


@case("append")
def append(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING)",
        "INSERT INTO {t} VALUES (1, 'a')",
        "INSERT INTO {t} VALUES (2, 'b'), (3, NULL)",
    )


@case("append-buckets")
def append_buckets(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, name STRING) {properties('bucket=2', 'bucket-key=id')}",
        "INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "INSERT INTO {t} VALUES (4, NULL)",
    )


@case("schema-only")
def schema_only(spark: Any, t: str) -> str:
    return run(spark, t, "CREATE TABLE {t} (id INT COMMENT 'the id') COMMENT 'no snapshot yet'")


# -- partitions -----------------------------------------------------------------------------------------------------


@case("pk-partitioned")
def pk_partitioned(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT NOT NULL, dt DATE NOT NULL, n INT NOT NULL, name STRING) PARTITIONED BY (dt, n) "
        + properties("primary-key=dt,n,id", "bucket=1"),
        "INSERT INTO {t} VALUES (1, DATE'2024-01-01', 1, 'a'), (2, DATE'1969-12-31', -1, 'b')",
        "INSERT INTO {t} VALUES (1, DATE'2024-01-01', 1, 'changed'), (1, DATE'2024-01-02', 1, 'c')",
    )


@case("partition-text")
def partition_text(spark: Any, t: str) -> str:
    values = ["x/y z:=%", "", " ", "null", "é+&#*?\\\\{}[]^", "a%2Fb", "a long one that is no short string"]
    rows = ", ".join(f"({number}, '{value}')" for number, value in enumerate(values))
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, p STRING) PARTITIONED BY (p)",
        f"INSERT INTO {{t}} VALUES {rows}, (99, NULL)",
        "INSERT INTO {t} VALUES (100, ''), (101, NULL), (102, ' ')",
    )


PARTITION_TYPES = (
    "b BOOLEAN, t TINYINT, sm SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, dec9 DECIMAL(9,2), dec38 DECIMAL(38,10), "
    "da DATE, ts TIMESTAMP, s STRING"
)
PARTITION_VALUES = """
  (1, true, CAST(1 AS TINYINT), CAST(2 AS SMALLINT), 3, 9007199254740993, CAST(1.5 AS FLOAT), 2.5D, 1234567.89,
   1234567890123456789012345678.0123456789, DATE'2024-01-01', TIMESTAMP'2024-01-01 10:11:12.123456', 'short'),
  (2, false, CAST(-128 AS TINYINT), CAST(-32768 AS SMALLINT), -2147483648, -9223372036854775808, CAST(-0.5 AS FLOAT), -0.25D,
   -0.01, -0.0000000001, DATE'1969-12-31', TIMESTAMP'1969-12-31 23:59:59.999', 'longer than seven bytes')
"""


@case("partition-types")
def partition_types(spark: Any, t: str) -> str:
    names = ", ".join(column.split()[0] for column in PARTITION_TYPES.split(", "))
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, {PARTITION_TYPES}) PARTITIONED BY ({names})",
        f"INSERT INTO {{t}} VALUES {PARTITION_VALUES}",
        f"INSERT INTO {{t}} VALUES (3, {', '.join(['NULL'] * 12)})",
    )


@case("pk-types")
def pk_types(spark: Any, t: str) -> str:
    columns = (
        PARTITION_TYPES.replace(",2)", ";2)")
        .replace(",10)", ";10)")
        .replace(", ", " NOT NULL, ")
        .replace(";", ",")
    )
    names = ",".join(column.split()[0] for column in PARTITION_TYPES.split(", "))
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, {columns} NOT NULL) {properties(f'primary-key={names}', 'bucket=1')}",
        f"INSERT INTO {{t}} VALUES {PARTITION_VALUES}",
        "INSERT INTO {t} SELECT 10 AS id, b, t, sm, i, l, f, d, dec9, dec38, da, ts, s FROM {t} WHERE id = 1",
    )


# -- values ---------------------------------------------------------------------------------------------------------

TYPES = PARTITION_TYPES + (
    ", dec18 DECIMAL(18,4), c CHAR(5), v VARCHAR(10), bin BINARY, li ARRAY<STRING>, ma MAP<STRING, INT>, "
    "st STRUCT<x: INT, y: STRUCT<z: STRING>>"
)


def all_types(file_format: str) -> None:
    def make(spark: Any, t: str) -> str:
        return run(
            spark,
            t,
            f"CREATE TABLE {{t}} (id INT, {TYPES}) {properties(f'file.format={file_format}')}",
            f"""INSERT INTO {{t}} SELECT *, 12345678901234.5678BD, 'ab', 'cd', X'00FF10', array('x', NULL),
            map('k', 1, 'n', NULL),
            named_struct('x', 7, 'y', named_struct('z', 'deep')) FROM VALUES {PARTITION_VALUES}""",
            f"INSERT INTO {{t}} VALUES (3, {', '.join(['NULL'] * 19)})",
            """INSERT INTO {t} SELECT 4, NULL, NULL, NULL, NULL, NULL, CAST('NaN' AS FLOAT), CAST('NaN' AS DOUBLE), NULL,
            NULL, NULL, NULL, 'a long string that is cut at sixteen', NULL, NULL, NULL, NULL, array(), map(), NULL""",
        )

    case(f"types-{file_format}")(make)


for name in ("parquet", "orc", "avro"):
    all_types(name)


# -- statements -----------------------------------------------------------------------------------------------------


@case("schema-evolution")
def schema_evolution(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, f FLOAT, gone STRING, old_name STRING, st STRUCT<a: INT>)",
        "INSERT INTO {t} VALUES (1, CAST(1.5 AS FLOAT), 'kept', 'old', named_struct('a', 1))",
        "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
        "ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE",
        "ALTER TABLE {t} DROP COLUMN gone",
        "ALTER TABLE {t} RENAME COLUMN old_name TO new_name",
        "ALTER TABLE {t} ADD COLUMN extra INT COMMENT 'came later' AFTER id",
        "INSERT INTO {t} VALUES (9007199254740993, 2, 2.5D, 'new', named_struct('a', 2))",
        "ALTER TABLE {t} ALTER COLUMN extra FIRST",
        "ALTER TABLE {t} ADD COLUMN gone INT COMMENT 'an old name, a new column'",
        "ALTER TABLE {t} SET TBLPROPERTIES ('snapshot.num-retained.max'='20')",
        "INSERT INTO {t} VALUES (3, 3, 3.5D, 'third', named_struct('a', 3), 33)",
    )


@case("schema-evolution-widened")
def schema_evolution_widened(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, f FLOAT, gone STRING, old_name STRING)",
        "INSERT INTO {t} VALUES (1, CAST(1.5 AS FLOAT), 'kept', 'old')",
        "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
        "ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE",
        "ALTER TABLE {t} DROP COLUMN gone",
        "ALTER TABLE {t} RENAME COLUMN old_name TO new_name",
        "INSERT INTO {t} VALUES (9007199254740993, 2.5D, 'new')",
    )


@case("schema-evolution-added")
def schema_evolution_added(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, gone STRING)",
        "INSERT INTO {t} VALUES (1, 'kept')",
        "ALTER TABLE {t} DROP COLUMN gone",
        "ALTER TABLE {t} ADD COLUMN extra STRING COMMENT 'came later' FIRST",
        "ALTER TABLE {t} ADD COLUMN gone INT COMMENT 'an old name, a new column'",
        "INSERT INTO {t} VALUES ('x', 2, 22)",
    )


@case("pk-schema-evolution")
def pk_schema_evolution(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT NOT NULL, n INT, gone STRING) {properties('primary-key=id', 'bucket=1')}",
        "INSERT INTO {t} VALUES (1, 1, 'x'), (2, 2, 'y')",
        "ALTER TABLE {t} ALTER COLUMN n TYPE BIGINT",
        "ALTER TABLE {t} DROP COLUMN gone",
        "ALTER TABLE {t} ADD COLUMN extra STRING",
        "INSERT INTO {t} VALUES (1, 9007199254740993, 'later'), (3, 3, NULL)",
    )


@case("pk-row-changes")
def pk_row_changes(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT NOT NULL, name STRING) {properties('primary-key=id', 'bucket=1')}",
        "INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "DELETE FROM {t} WHERE id = 1",
        "UPDATE {t} SET name = 'updated' WHERE id = 2",
        "MERGE INTO {t} USING (SELECT 3 AS id, 'merged' AS name UNION ALL SELECT 4, 'new') s ON {t}.id = s.id "
        "WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT *",
    )


@case("append-row-changes")
def append_row_changes(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING)",
        "INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "DELETE FROM {t} WHERE id = 1",
        "UPDATE {t} SET name = 'updated' WHERE id = 2",
        "MERGE INTO {t} USING (SELECT 3 AS id, 'merged' AS name UNION ALL SELECT 4, 'new') s ON {t}.id = s.id "
        "WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT *",
    )


@case("overwrite")
def overwrite(spark: Any, t: str) -> str:
    run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, p STRING) PARTITIONED BY (p)",
        "INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "INSERT OVERWRITE {t} PARTITION (p = 'a') VALUES (10)",
    )
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    run(spark, t, "INSERT OVERWRITE {t} VALUES (20, 'b')")
    spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    return run(
        spark,
        t,
        "INSERT OVERWRITE {t} VALUES (30, 'd')",
        "TRUNCATE TABLE {t}",
        "INSERT INTO {t} VALUES (40, 'e')",
    )
