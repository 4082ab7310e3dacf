"""Hive tables, one function each, written by Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CASES: dict[str, Callable[[Any, str], str]] = {}


def case(name: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        CASES[name] = lambda spark, table: function(spark, f"spark_catalog.lakes.{table}")
        return function

    return register


def run(spark: Any, table: str, *statements: str) -> str:
    for statement in statements:
        spark.sql(statement.replace("{t}", table))
    return table


@case("parquet")
def parquet(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT COMMENT 'the id', name STRING) USING parquet COMMENT 'plain' TBLPROPERTIES ('k'='v')",
        "INSERT INTO {t} VALUES (1, 'a')",
        "INSERT INTO {t} VALUES (2, 'b'), (3, NULL)",
        "ANALYZE TABLE {t} COMPUTE STATISTICS FOR ALL COLUMNS",
    )


@case("text")
def text(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING, li ARRAY<INT>, ma MAP<STRING, INT>) STORED AS TEXTFILE",
        "INSERT INTO {t} VALUES (1, 'a', array(1, 2), map('k', 1)), (2, NULL, NULL, NULL)",
        "INSERT INTO {t} VALUES (3, 'c', array(), map())",
    )


@case("orc")
def orc(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING) STORED AS ORC",
        "INSERT INTO {t} VALUES (1, 'a'), (2, NULL)",
    )


@case("avro")
def avro(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING) STORED AS AVRO",
        "INSERT INTO {t} VALUES (1, 'a'), (2, NULL)",
    )


@case("csv")
def csv(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING) USING csv OPTIONS ('header'='true')",
        "INSERT INTO {t} VALUES (1, 'a,b'), (2, NULL)",
    )


@case("json")
def json(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING) USING json",
        "INSERT INTO {t} VALUES (1, 'a'), (2, NULL)",
    )


@case("parquet-types")
def parquet_types(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        """CREATE TABLE {t} (b BOOLEAN, ti TINYINT, sm SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, dec9 DECIMAL(9,2),
        dec38 DECIMAL(38,10), da DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, s STRING, bin BINARY, li ARRAY<STRING>,
        ma MAP<STRING, INT>, st STRUCT<x: INT, y: STRUCT<z: STRING>>) USING parquet""",
        """INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (true, 1Y, 2S, 3, 9007199254740993,
        CAST('NaN' AS FLOAT), 2.5D, 1234567.89BD, 1234567890123456789012345678.0123456789BD,
        DATE'1969-12-31', TIMESTAMP'2024-01-01 10:11:12.123456',
        TIMESTAMP_NTZ'2024-01-01 10:11:12.123456', 'ünï', X'00FF', array('x', NULL), map('k', NULL),
        named_struct('x', 7, 'y', named_struct('z', 'deep')))""",
        f"INSERT INTO {{t}} VALUES ({', '.join(['NULL'] * 17)})",
    )


ODD_VALUES = ["x/y z:=%", "", " ", "null", "é+&#*?\\\\{}[]^", "a%2Fb", 'it\\\'s \\"quoted\\"', "01"]


@case("partitioned")
def partitioned(spark: Any, t: str) -> str:
    rows = ", ".join(f"({number}, '{value}', {number % 2})" for number, value in enumerate(ODD_VALUES))
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, Key STRING, n INT) USING parquet PARTITIONED BY (Key, n)",
        f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}, (99, NULL, NULL)",
    )


@case("partitioned-by-types")
def partitioned_by_types(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, b BOOLEAN, l BIGINT, dec DECIMAL(9,2), da DATE, ts TIMESTAMP) USING parquet "
        "PARTITIONED BY (b, l, dec, da, ts)",
        "INSERT INTO {t} VALUES (1, true, 9007199254740993, 1.50, DATE'2024-01-01', TIMESTAMP'2024-01-01 10:11:12.5'), "
        "(2, NULL, NULL, NULL, NULL, NULL)",
    )


@case("partitioned-hive-format")
def partitioned_hive_format(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT) PARTITIONED BY (dt STRING, n INT) STORED AS PARQUET",
        "INSERT INTO {t} PARTITION (dt = '2024-01-01', n = 1) VALUES (1)",
        "INSERT INTO {t} PARTITION (dt, n) VALUES (2, 'x/y', 2), (3, NULL, 3)",
        "ANALYZE TABLE {t} PARTITION (dt = '2024-01-01', n = 1) COMPUTE STATISTICS",
    )


@case("static-insert")
def static_insert(spark: Any, t: str) -> str:
    """A static partition insert leaves _SUCCESS inside the partition."""
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, p INT) USING parquet PARTITIONED BY (p)",
        "INSERT INTO {t} PARTITION (p = 1) VALUES (1)",
        "INSERT OVERWRITE {t} PARTITION (p = 1) VALUES (2)",
    )


@case("dynamic-overwrite")
def dynamic_overwrite(spark: Any, t: str) -> str:
    run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, p INT) USING parquet PARTITIONED BY (p)",
        "INSERT INTO {t} VALUES (1, 1), (2, 2)",
    )
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    run(spark, t, "INSERT OVERWRITE {t} VALUES (20, 2)")
    spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    return t


@case("bucketed")
def bucketed(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING) USING parquet CLUSTERED BY (id) SORTED BY (name) INTO 4 BUCKETS",
        "INSERT INTO {t} SELECT CAST(id AS INT), concat('n', id) FROM range(6)",
        "INSERT INTO {t} VALUES (7, 'b')",
    )


@case("bucketed-hive-format")
def bucketed_hive_format(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING) CLUSTERED BY (id) INTO 4 BUCKETS STORED AS PARQUET",
        "INSERT INTO {t} SELECT CAST(id AS INT), concat('n', id) FROM range(6)",
    )


@case("codecs")
def codecs(spark: Any, t: str) -> str:
    """One table, files of four codecs."""
    run(spark, t, "CREATE TABLE {t} (id INT, name STRING) USING parquet")
    for number, codec in enumerate(("none", "snappy", "gzip", "zstd")):
        spark.conf.set("spark.sql.parquet.compression.codec", codec)
        run(spark, t, f"INSERT INTO {{t}} VALUES ({number}, '{codec}')")
    spark.conf.unset("spark.sql.parquet.compression.codec")
    return t


@case("columns-added")
def columns_added(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT) USING parquet",
        "INSERT INTO {t} VALUES (1)",
        "ALTER TABLE {t} ADD COLUMNS (name STRING COMMENT 'came later')",
        "INSERT INTO {t} VALUES (2, 'b')",
    )


@case("partition-elsewhere")
def partition_elsewhere(spark: Any, t: str) -> str:
    """The metastore places one partition outside the table's directory: only the other one is in `table/`."""
    elsewhere = "/tmp/lakes/warehouse/elsewhere"
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, p INT) USING parquet PARTITIONED BY (p)",
        "INSERT INTO {t} VALUES (1, 1)",
        f"ALTER TABLE {{t}} ADD PARTITION (p = 2) LOCATION '{elsewhere}'",
        "INSERT INTO {t} PARTITION (p = 2) VALUES (2)",
    )


@case("key-in-file")
def key_in_file(spark: Any, t: str) -> str:
    """The partition column is also a column of the files, with another value in one of them: the directory wins."""
    run(spark, t, "CREATE TABLE {t} (id INT, p INT) USING parquet PARTITIONED BY (p)")
    location = next(row[1] for row in spark.sql(f"DESCRIBE FORMATTED {t}").collect() if row[0] == "Location")
    for key, stored in ((1, 1), (2, 7)):
        spark.sql(f"SELECT {key} AS id, {stored} AS p").coalesce(1).write.parquet(f"{location}/p={key}")
    return run(spark, t, "MSCK REPAIR TABLE {t}")


@case("day-numbers")
def day_numbers(spark: Any, t: str) -> str:
    """Directories named by a day number, not registered as partitions: the metastore does not know them."""
    run(spark, t, "CREATE TABLE {t} (id INT, d DATE) USING parquet PARTITIONED BY (d)")
    location = next(row[1] for row in spark.sql(f"DESCRIBE FORMATTED {t}").collect() if row[0] == "Location")
    spark.sql("SELECT 1 AS id").coalesce(1).write.parquet(f"{location}/d=19723")
    return run(spark, t, "INSERT INTO {t} VALUES (2, DATE'2024-01-02')")
