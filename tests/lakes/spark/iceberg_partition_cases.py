"""Iceberg tables that show partitioning: every transform, and values that are awkward in directory names."""

from __future__ import annotations

from typing import Any

from iceberg_cases import MERGE_ON_READ, case, properties, run

ONE_WRITER = "'write.distribution-mode'='none', 'write.spark.fanout.enabled'='true'"


@case("partition-identity", 1, 2, 3)
def identity(spark: Any, t: str, version: int) -> str:
    columns = (
        "b BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, dec DECIMAL(18,4), da DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, "
        "s STRING, bin BINARY"
    )
    names = ", ".join(column.split()[0] for column in columns.split(", "))
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, {columns}) PARTITIONED BY ({names}) {properties(version, ONE_WRITER)}",
        """INSERT INTO {t} VALUES
        (1, true, 7, 9007199254740993, CAST(1.5 AS FLOAT), 2.5D, 12.5000, DATE'2024-01-01', TIMESTAMP'2024-01-01 10:11:12.5',
         TIMESTAMP_NTZ'2024-01-01 10:11:12.000001', 'plain', X'00FF'),
        (2, false, -7, -1, CAST('NaN' AS FLOAT), CAST('-Infinity' AS DOUBLE), -0.0001, DATE'1969-12-31',
         TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP_NTZ'1900-01-01 00:00:00', 'x/y z:=%é+&#', X''),
        (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)""",
    )


@case("partition-text", 2)
def text(spark: Any, t: str, version: int) -> str:
    values = [
        "x/y z:=%",
        "",
        " ",
        "null",
        "__HIVE_DEFAULT_PARTITION__",
        'é+&#*?\\\\{}[]^"',
        "a%2Fb",
        "..",
        "\\n",
    ]
    rows = ", ".join(f"({number}, '{value}')" for number, value in enumerate(values))
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, `the key` STRING) PARTITIONED BY (`the key`) {properties(version, ONE_WRITER)}",
        f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}, (99, NULL)",
    )


@case("partition-bucket", 2)
def bucket(spark: Any, t: str, version: int) -> str:
    columns = (
        "i INT, l BIGINT, dec DECIMAL(18,4), da DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, s STRING, bin BINARY"
    )
    fields = ", ".join(f"bucket(16, {column.split()[0]})" for column in columns.split(", "))
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} ({columns}) PARTITIONED BY ({fields}) {properties(version, ONE_WRITER)}",
        """INSERT INTO {t} VALUES
        (34, 34, 14.2000, DATE'2017-11-16', TIMESTAMP'2017-11-16 22:31:08', TIMESTAMP_NTZ'2017-11-16 22:31:08',
         'iceberg', X'00010203'),
        (-1, -1, -0.0001, DATE'1969-12-31', TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP_NTZ'0001-01-01 00:00:00',
         '', X''),
        (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)""",
    )


@case("partition-truncate", 2)
def truncate(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (i INT, l BIGINT, dec DECIMAL(9,2), s STRING, bin BINARY) PARTITIONED BY (truncate(10, i), "
        f"truncate(100, l), truncate(50, dec), truncate(3, s), truncate(2, bin)) {properties(version, ONE_WRITER)}",
        "INSERT INTO {t} VALUES (17, 1234, 10.65, 'iceberg', X'00010203'), (-1, -1, -0.01, 'é🎈ïx', X'FF'), "
        "(0, 0, 0, '', X''), (NULL, NULL, NULL, NULL, NULL)",
    )


@case("partition-time", 1, 2)
def times(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (y DATE, m DATE, d DATE, ty TIMESTAMP, tm TIMESTAMP, td TIMESTAMP, th TIMESTAMP, "
        "nh TIMESTAMP_NTZ) "
        "PARTITIONED BY (years(y), months(m), days(d), years(ty), months(tm), days(td), hours(th), hours(nh)) "
        + properties(version, ONE_WRITER),
        *(
            f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ DATE'{day}', DATE'{day}', DATE'{day}', "
            f"{ts}, {ts}, {ts}, {ts}, {ntz}"
            for day, ts, ntz in (
                (day, f"TIMESTAMP'{day} {clock}'", f"TIMESTAMP_NTZ'{day} {clock}'")
                for day, clock in (
                    ("2024-02-29", "10:11:12"),
                    ("1969-12-31", "23:59:59.999999"),
                    ("1970-01-01", "00:00:00"),
                    ("1583-10-15", "00:30:00"),
                )
            )
        ),
        "INSERT INTO {t} VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    )


@case("partition-void", 1)
def void(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, p STRING, q INT) PARTITIONED BY (p, q) {properties(version, ONE_WRITER)}",
        "INSERT INTO {t} VALUES (1, 'a', 1), (2, 'b', 2)",
        "ALTER TABLE {t} DROP PARTITION FIELD p",
        "INSERT INTO {t} VALUES (3, 'c', 3)",
        "ALTER TABLE {t} DROP PARTITION FIELD q",
        "INSERT INTO {t} VALUES (4, 'd', 4)",
    )


@case("partition-evolution", 2, 3)
def evolution(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, p STRING, ts TIMESTAMP) PARTITIONED BY (p) "
        + properties(version, f"{ONE_WRITER}, {MERGE_ON_READ}"),
        "INSERT INTO {t} VALUES (1, 'a', TIMESTAMP'2024-01-01 00:00:00'), (2, 'b', TIMESTAMP'2024-01-02 00:00:00')",
        "ALTER TABLE {t} ADD PARTITION FIELD bucket(4, id) AS shard",
        "INSERT INTO {t} VALUES (3, 'a', TIMESTAMP'2024-01-03 00:00:00')",
        "ALTER TABLE {t} REPLACE PARTITION FIELD p WITH truncate(1, p)",
        "INSERT INTO {t} VALUES (4, 'bb', TIMESTAMP'2024-01-04 00:00:00')",
        "ALTER TABLE {t} ADD PARTITION FIELD days(ts)",
        "ALTER TABLE {t} REPLACE PARTITION FIELD days(ts) WITH hours(ts)",
        "ALTER TABLE {t} DROP PARTITION FIELD shard",
        "INSERT INTO {t} VALUES (5, NULL, NULL), (6, 'c', TIMESTAMP'2024-01-05 05:00:00')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (7, 'c', TIMESTAMP'2024-01-05 05:10:00'), "
        "(8, 'c', TIMESTAMP'2024-01-05 05:20:00')",
        "DELETE FROM {t} WHERE id = 7",
        "ALTER TABLE {t} RENAME COLUMN p TO part",
    )
