"""The Delta tables that maintenance is recorded on, and which procedures are run on each of them.

A table is a list of SQL statements in which `{t}` is the table. `Table.hours` says how many hours before the recording each
version was committed: its commit, and what the commit says of times, are moved back by so much. A run's `planted` are files
that nobody refers to, each with its age in days (a name that ends with `/` is an empty directory); with `aged` all files of
the table are as old as that many days.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Table:
    """How a table is made."""

    statements: tuple[str, ...]
    hours: tuple[float, ...] = ()


@dataclass(frozen=True)
class Run:
    """One procedure on a copy of a table: the options of `dry_run`, the statement, and the settings of the session."""

    table: str
    procedure: str
    statement: str
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    planted: Mapping[str, float] = field(default_factory=dict)
    aged: float | None = None


def create(columns: str, further: str = "", **properties: str) -> str:
    listed = ", ".join(f"'delta.{name.replace('__', '.')}' = '{held}'" for name, held in properties.items())
    return f"CREATE TABLE {{t}} ({columns}) USING delta {further} " + (
        f"TBLPROPERTIES ({listed})" if listed else ""
    )


def fill(start: int, count: int, columns: str = "id, sha2(CAST(id AS STRING), 256)") -> str:
    return f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ {columns} FROM range({start}, {start + count})"


def split(start: int, count: int, parts: int = 3) -> str:
    return fill(start, count, f"id, sha2(CAST(id AS STRING), 256), CAST(id % {parts} AS INT)")


PLAIN = "id BIGINT, name STRING"
PARTED = "id BIGINT, name STRING, p INT"
BY_P = "PARTITIONED BY (p)"
VECTORS = {"enableDeletionVectors": "true"}
MERGE = (
    "MERGE INTO {t} t USING (SELECT id, 'merged' AS name FROM range(8, 30)) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
)
SIZES = (3, 90, 14, 41, 7, 150, 25, 60, 11, 33, 5, 19)
NOW = 0.0


def lines(*statements: str, hours: tuple[float, ...] = ()) -> Table:
    return Table(statements, hours)


TABLES: dict[str, Table] = {
    "appends": lines(create(PLAIN), fill(0, 3), fill(3, 11), fill(14, 40)),
    "single": lines(create(PLAIN), fill(0, 5)),
    "empty": lines(create(PLAIN)),
    "dml": lines(
        create(PLAIN),
        fill(0, 10),
        fill(10, 12),
        "DELETE FROM {t} WHERE id < 3",
        "UPDATE {t} SET name = 'changed' WHERE id = 12",
        MERGE,
    ),
    "overwritten": lines(
        create(PLAIN), fill(0, 10), fill(10, 4), "INSERT OVERWRITE {t} SELECT id, 'new' FROM range(2)"
    ),
    "truncated": lines(create(PLAIN), fill(0, 10), fill(10, 4), "DELETE FROM {t}"),
    "partitioned": lines(
        create(PARTED, BY_P), split(0, 9), split(9, 15), split(30, 24), "DELETE FROM {t} WHERE id = 4"
    ),
    "partition-gone": lines(
        create(PARTED, BY_P), split(0, 9), split(9, 15), "DELETE FROM {t} WHERE p = 1", split(31, 5, 2)
    ),
    "partition-names": lines(
        create("id BIGINT, part STRING, day DATE", "PARTITIONED BY (part, day)"),
        "INSERT INTO {t} VALUES (1, 'a b', DATE'2024-01-01'), (2, 'c=d', NULL), (3, 'é/ü', DATE'2024-01-03'), "
        "(4, '100%', DATE'2024-01-03'), (5, NULL, NULL), (6, 'x:y', DATE'2024-01-03'), (7, 'q?#&+', NULL)",
        "INSERT INTO {t} VALUES (11, 'a b', DATE'2024-01-01'), (12, 'c=d', NULL), (13, 'é/ü', DATE'2024-01-03'), "
        "(15, NULL, NULL)",
        "DELETE FROM {t} WHERE part = '100%'",
    ),
    "partition-hidden": lines(
        create("id BIGINT, name STRING, _p INT", "PARTITIONED BY (_p)"),
        split(0, 9),
        split(9, 15),
        "DELETE FROM {t} WHERE _p = 2",
    ),
    "partition-types": lines(
        create("id BIGINT, b BOOLEAN, ts TIMESTAMP, dec DECIMAL(9,2)", "PARTITIONED BY (b, ts, dec)"),
        *(
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, id % 2 = 0, TIMESTAMP'2024-01-31 10:11:12', "
            f"CAST(1.5 AS DECIMAL(9,2)) FROM range({n}, {n + 4 + n})"
            for n in (0, 4)
        ),
    ),
    "bins": lines(create(PLAIN), *(fill(n * 1000, SIZES[n]) for n in range(12))),
    "bins-partitioned": lines(
        create(PARTED, BY_P), *(split(n * 1000, 3 * SIZES[n] + n, 2) for n in range(8))
    ),
    "vectors-few": lines(
        create(PLAIN, **VECTORS), fill(0, 100), fill(100, 60), "DELETE FROM {t} WHERE id IN (3, 44)"
    ),
    "vectors-many": lines(
        create(PLAIN, **VECTORS),
        fill(0, 100),
        fill(100, 60),
        "DELETE FROM {t} WHERE id % 10 = 3",
        "DELETE FROM {t} WHERE id = 44",
        "UPDATE {t} SET name = 'new' WHERE id = 150",
    ),
    "vectors-one": lines(create(PLAIN, **VECTORS), fill(0, 50), "DELETE FROM {t} WHERE id < 20"),
    "vectors-all": lines(
        create(PLAIN, **VECTORS),
        fill(0, 30),
        fill(30, 20),
        "DELETE FROM {t} WHERE id = 31",
        "DELETE FROM {t} WHERE id >= 30",
    ),
    "vectors-partitioned": lines(
        create(PARTED, BY_P, **VECTORS),
        split(0, 60),
        split(60, 90),
        "DELETE FROM {t} WHERE id IN (1, 4, 61)",
        "DELETE FROM {t} WHERE id = 7",
    ),
    "vectors-prefixed": lines(
        create(PLAIN, randomizeFilePrefixes="true", **VECTORS),
        fill(0, 20),
        "DELETE FROM {t} WHERE id = 7",
        fill(20, 25),
        "DELETE FROM {t} WHERE id IN (8, 30)",
    ),
    "vectors-feed": lines(
        create(PLAIN, enableChangeDataFeed="true", **VECTORS),
        fill(0, 40),
        fill(40, 20),
        "DELETE FROM {t} WHERE id = 7",
        "UPDATE {t} SET name = 'u' WHERE id = 41",
    ),
    "vectors-purged": lines(
        create(PLAIN, **VECTORS),
        fill(0, 40),
        "DELETE FROM {t} WHERE id = 7",
        "REORG TABLE {t} APPLY (PURGE)",
        "DELETE FROM {t} WHERE id = 8",
    ),
    "feed": lines(
        create(PARTED, BY_P, enableChangeDataFeed="true"),
        split(0, 9),
        split(9, 12),
        "UPDATE {t} SET name = 'u' WHERE id = 2",
        "DELETE FROM {t} WHERE id = 1",
        "DELETE FROM {t} WHERE p = 0",
    ),
    "mapped-name": lines(
        create("id BIGINT, st STRUCT<a: INT, b: STRING>, p STRING", BY_P, columnMapping__mode="name"),
        "INSERT INTO {t} VALUES (1, named_struct('a', 1, 'b', 'x'), 'u'), (2, named_struct('a', 2, 'b', 'y'), 'v')",
        "ALTER TABLE {t} RENAME COLUMN p TO `part of it`",
        "INSERT INTO {t} VALUES (3, named_struct('a', 3, 'b', 'zz'), 'u'), (4, NULL, 'v'), (5, NULL, 'v')",
        "DELETE FROM {t} WHERE id = 2",
    ),
    "mapped-dropped": lines(
        create("id BIGINT, name STRING, more STRING", columnMapping__mode="name"),
        fill(0, 5, "id, 'n', 'm'"),
        "ALTER TABLE {t} DROP COLUMN more",
        fill(5, 9),
        fill(20, 4),
    ),
    "mapped-nested": lines(
        create(
            "id BIGINT, st STRUCT<a: INT, b: STRING>, li ARRAY<STRUCT<x: INT, y: INT>>, mp MAP<STRING, INT>",
            columnMapping__mode="id",
        ),
        "INSERT INTO {t} VALUES (1, named_struct('a', 1, 'b', 'x'), array(named_struct('x', 1, 'y', 2)), map('k', 1))",
        "ALTER TABLE {t} DROP COLUMN st.b",
        "INSERT INTO {t} VALUES (2, named_struct('a', 2), array(named_struct('x', 1, 'y', 2)), map('k', 1))",
        "ALTER TABLE {t} ADD COLUMN (more INT)",
        "INSERT INTO {t} VALUES (3, NULL, NULL, NULL, 7)",
    ),
    "cloned": lines(
        "CREATE TABLE delta.`/tmp/lakes/delta-runs/source` USING delta AS SELECT /*+ COALESCE(1) */ id, "
        "concat('row ', id) AS name FROM range(5)",
        "CREATE TABLE {t} SHALLOW CLONE delta.`/tmp/lakes/delta-runs/source`",
        fill(5, 4),
        "DELETE FROM {t} WHERE id = 2",
        fill(20, 9),
    ),
    "clustered": lines(
        create("id BIGINT, a INT", "CLUSTER BY (a)"),
        *(fill(n, 5 + n, "id, CAST(id % 3 AS INT)") for n in (0, 20)),
    ),
    "clustered-again": lines(
        create("id BIGINT, a INT", "CLUSTER BY (a)"),
        *(fill(n, 5 + n, "id, CAST(id % 3 AS INT)") for n in (0, 20)),
        "OPTIMIZE {t}",
        fill(90, 7, "id, CAST(id % 3 AS INT)"),
        fill(99, 2, "id, CAST(id % 3 AS INT)"),
    ),
    "clustered-done": lines(
        create("id BIGINT, a INT", "CLUSTER BY (a)"),
        *(fill(n, 5 + n, "id, CAST(id % 3 AS INT)") for n in (0, 20)),
        "OPTIMIZE {t}",
    ),
    "clustered-other": lines(
        create("id BIGINT, a INT", "CLUSTER BY (a)"),
        *(fill(n, 5 + n, "id, CAST(id % 3 AS INT)") for n in (0, 20)),
        "OPTIMIZE {t}",
        "ALTER TABLE {t} CLUSTER BY (id)",
        fill(90, 7, "id, CAST(id % 3 AS INT)"),
    ),
    "row-tracking": lines(
        create(PLAIN, enableRowTracking="true", columnMapping__mode="name"),
        fill(0, 4),
        fill(4, 7),
        "UPDATE {t} SET name = 'u' WHERE id = 4",
        "OPTIMIZE {t}",
        fill(20, 9),
    ),
    "append-only": lines(create(PLAIN, appendOnly="true"), fill(0, 5), fill(5, 9)),
    "types": lines(
        create(
            "i32 INT, f64 DOUBLE, dec DECIMAL(19,2), b BOOLEAN, bin BINARY, d DATE, ts TIMESTAMP, c CHAR(3)"
        ),
        *(
            f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ CAST(id AS INT), id * 1.5D, CAST(id AS DECIMAL(19,2)), true, "
            f"X'00FF', DATE'2024-01-01', TIMESTAMP'2024-01-31 10:11:12.123456', 'abc' FROM range({n})"
            for n in (3, 30)
        ),
    ),
    "vacuumed": lines(
        create(PLAIN),
        fill(0, 10),
        "DELETE FROM {t} WHERE id < 3",
        "VACUUM {t} RETAIN 0 HOURS",
        fill(20, 6),
        "DELETE FROM {t} WHERE id = 21",
    ),
    "lite-before": lines(
        create(PLAIN),
        fill(0, 10),
        "DELETE FROM {t} WHERE id < 3",
        "VACUUM {t} LITE RETAIN 0 HOURS",
        fill(20, 6),
        "DELETE FROM {t} WHERE id = 21",
    ),
    "checkpointed": lines(create(PLAIN, checkpointInterval="3"), *(fill(n * 10, 2 + n) for n in range(7))),
    "checkpoint-v2": lines(
        create(PLAIN, checkpointPolicy="v2", checkpointInterval="3"),
        *(fill(n * 10, 2 + n) for n in range(7)),
        "DELETE FROM {t} WHERE id = 1",
    ),
    # each version was committed at another time; the last ones may be minutes old
    "aged": lines(
        create(PLAIN),
        fill(0, 10),
        fill(10, 12),
        "DELETE FROM {t} WHERE id < 3",
        "DELETE FROM {t} WHERE id = 5",
        "DELETE FROM {t} WHERE id = 12",
        "DELETE FROM {t} WHERE id = 13",
        hours=(900, 800, 700, 600, 250, 100, 1),
    ),
    "aged-vectors": lines(
        create(PLAIN, **VECTORS),
        fill(0, 100),
        "DELETE FROM {t} WHERE id = 3",
        "DELETE FROM {t} WHERE id = 4",
        "DELETE FROM {t} WHERE id = 5",
        "REORG TABLE {t} APPLY (PURGE)",
        hours=(900, 800, 300, 200, 50, 1),
    ),
    "aged-feed": lines(
        create(PARTED, BY_P, enableChangeDataFeed="true"),
        split(0, 9),
        "UPDATE {t} SET name = 'u' WHERE id = 2",
        "DELETE FROM {t} WHERE id = 1",
        "UPDATE {t} SET name = 'v' WHERE id = 3",
        hours=(900, 800, 300, 200, 5),
    ),
    "aged-retention": lines(
        create(PLAIN, deletedFileRetentionDuration="interval 2 days"),
        fill(0, 10),
        fill(10, 12),
        "DELETE FROM {t} WHERE id < 3",
        "DELETE FROM {t} WHERE id = 5",
        "DELETE FROM {t} WHERE id = 12",
        hours=(900, 800, 700, 72, 30, 2),
    ),
    "aged-log": lines(
        create(PLAIN, logRetentionDuration="interval 3 days", checkpointInterval="100"),
        *(fill(n * 10, 2 + n) for n in range(9)),
        hours=(400, 300, 200, 150, 125, 110, 90, 60, 40, 2),
    ),
    "aged-log-disordered": lines(
        create(PLAIN, logRetentionDuration="interval 2 days", checkpointInterval="100"),
        *(fill(n * 10, 2 + n) for n in range(7)),
        hours=(400, 300, 350, 360, 125, 100, 20, 2),
    ),
    "aged-log-late": lines(
        create(PLAIN, logRetentionDuration="interval 2 days", checkpointInterval="100"),
        *(fill(n * 10, 2 + n) for n in range(5)),
        hours=(400, 300, 10, 360, 350, 2),
    ),
    "aged-log-kept": lines(
        create(PLAIN, enableExpiredLogCleanup="false", checkpointInterval="100"),
        *(fill(n * 10, 2 + n) for n in range(3)),
        hours=(4000, 3000, 2000, 1000),
    ),
    "aged-log-checkpoints": lines(
        create(PLAIN, logRetentionDuration="interval 3 days", checkpointInterval="3"),
        *(fill(n * 10, 2 + n) for n in range(8)),
        hours=(400, 300, 200, 150, 125, 110, 90, 60, 40),
    ),
    "aged-log-sidecars": lines(
        create(PLAIN, logRetentionDuration="interval 3 days", checkpointInterval="3", checkpointPolicy="v2"),
        *(fill(n * 10, 2 + n) for n in range(8)),
        hours=(400, 300, 200, 150, 125, 110, 90, 60, 40),
    ),
}

STRAYS = {
    "stray.parquet": 10,
    "young.parquet": NOW,
    "_hidden.parquet": 10,
    ".hidden.parquet": 10,
    "_temporary/0/part.parquet": 10,
    "sub/dir/stray.txt": 10,
    "sub/_inner/stray.txt": 10,
    "sub/.inner": 10,
    "_change_data/stray.parquet": 10,
    "_change_data_too/stray.parquet": 10,
    "_delta_index/stray": 10,
    "_p=9/stray.parquet": 10,
    "p=9/stray.parquet": 10,
    "metadata/v1.metadata.json": 10,
    "deletion_vector_11111111-1111-1111-1111-111111111111.bin": 10,
    "name with space%20/a b%25.parquet": 10,
    "hollow/": 10,
}
#: The tables whose rows are recorded version by version.
READ = [
    name
    for name in TABLES
    if name.startswith(
        ("dml", "over", "part", "vectors", "feed", "mapped", "row", "clustered-again", "aged-f", "aged-v")
    )
    or name in ("aged", "vacuumed", "checkpoint-v2", "truncated")
]
LITE = (
    "dml",
    "partitioned",
    "partition-gone",
    "partition-names",
    "partition-hidden",
    "vectors-many",
    "vectors-prefixed",
    "feed",
    "mapped-name",
    "cloned",
    "vacuumed",
    "lite-before",
    "appends",
    "aged-log",
    "checkpointed",
)
LOGS = [name for name in TABLES if name.startswith(("aged-log", "checkpoint"))]
_SIZE = "spark.databricks.delta.optimize."


def vacuum(
    table: str, hours: float | None = 0, kind: str = "", *, planted: Any = (), aged: float | None = None
) -> Run:
    statement = f"VACUUM {{t}} {kind}" + ("" if hours is None else f" RETAIN {hours:g} HOURS")
    options: dict[str, Any] = {} if hours is None else {"retain_hours": hours}
    if kind:
        options["type"] = kind
    return Run(table, "vacuum", statement, options, planted=dict(planted), aged=aged)


def optimize(
    table: str,
    *,
    where: str = "",
    by: str = "",
    full: bool = False,
    least: int | None = None,
    most: int | None = None,
    ratio: float | None = None,
) -> Run:
    options: dict[str, Any] = {}
    settings = {}
    if where:
        options["where"] = where
    if by:
        options["zorder_by"] = by
    if full:
        options["full"] = True
    for name, option, value in (
        ("minFileSize", "min_file_size", least),
        ("maxFileSize", "max_file_size", most),
        ("maxDeletedRowsRatio", "max_deleted_rows_ratio", ratio),
    ):
        if value is not None:
            options[option], settings[f"{_SIZE}{name}"] = value, str(value)
    statement = "OPTIMIZE {t}" + (f" WHERE {where}" if where else "")
    statement += (" FULL" if full else "") + (f" ZORDER BY ({by})" if by else "")
    return Run(table, "optimize", statement, options, settings)


def reorg(table: str, where: str = "") -> Run:
    statement = "REORG TABLE {t}" + (f" WHERE {where}" if where else "") + " APPLY (PURGE)"
    return Run(table, "reorg", statement, {"where": where} if where else {})


def restore(table: str, version: int) -> Run:
    statement = f"RESTORE TABLE {{t}} TO VERSION AS OF {version}"
    return Run(table, "restore", statement, {"version": version})


def restore_at(table: str, hours: float) -> Run:
    """Restore to what was current so many hours before the recording; the recorder writes the time in."""
    return Run(table, "restore", "RESTORE TABLE {t} TO TIMESTAMP AS OF '{ago}'", {"timestamp": hours})


RUNS: list[Run] = [
    *(vacuum(name, planted=STRAYS) for name in list(TABLES)[::2]),
    *(vacuum(name) for name in list(TABLES)[1::4]),
    *(vacuum(name, None, planted=STRAYS, aged=30) for name in ("dml", "partitioned", "vectors-many", "feed")),
    *(vacuum(name, 1, planted=STRAYS, aged=30) for name in ("dml", "partition-hidden", "cloned")),
    *(vacuum(name, None) for name in TABLES if name.startswith("aged")),
    *(vacuum(name, 150) for name in ("aged", "aged-vectors", "aged-feed", "aged-retention")),
    *(vacuum(name, 2000, aged=300) for name in ("aged", "aged-vectors", "aged-retention")),
    *(vacuum(name, kind="LITE") for name in LITE),
    *(vacuum(name, None, "LITE") for name in ("dml", "aged", "aged-vectors", "aged-feed", "aged-retention")),
    vacuum("aged", 90, "LITE"),
    vacuum("aged", 2000, "LITE"),
    vacuum("dml", kind="FULL"),
    *(optimize(name) for name in list(TABLES)[:36]),
    *(
        optimize("bins", most=most, least=least)
        for most, least in ((4000, 4000), (8000, 4000), (2500, 1 << 30))
    ),
    *(optimize("bins-partitioned", most=most, least=6000) for most in (6000, 9000)),
    optimize("bins-partitioned", where="p = 1"),
    optimize("partitioned", where="p > 0"),
    optimize("partitioned", where="p IN (0, 2)", by="id"),
    optimize("partitioned", where="id > 3"),
    optimize("partition-names", where="part = 'a b'"),
    optimize("partition-names", where="day >= '2024-01-02' AND part IS NOT NULL"),
    optimize("partition-types", where="b = true"),
    optimize("mapped-name", where="`part of it` = 'u'"),
    optimize("bins", by="id"),
    optimize("bins", by="id, name", most=9000),
    optimize("single", by="id"),
    optimize("partitioned", by="p"),
    optimize("appends", by="nothing"),
    optimize("vectors-many", by="name"),
    optimize("clustered", where="a = 1"),
    optimize("clustered", by="id"),
    optimize("clustered", full=True),
    optimize("clustered-done", full=True),
    optimize("clustered-other", full=True),
    optimize("appends", full=True),
    *(
        optimize(name, least=0)
        for name in ("vectors-few", "vectors-many", "vectors-one", "vectors-partitioned")
    ),
    optimize("vectors-few", least=0, ratio=0.0),
    optimize("vectors-partitioned", least=0, ratio=0.0),
    *(reorg(name) for name in TABLES if name.startswith(("vectors", "mapped", "row", "appends", "empty"))),
    reorg("vectors-partitioned", "p = 1"),
    reorg("vectors-partitioned", "id = 1"),
    *(restore(name, 1) for name in list(TABLES)[3::2]),
    *(
        restore(name, 2)
        for name in ("dml", "vectors-many", "feed", "cloned", "partition-gone", "mapped-dropped")
    ),
    restore("vacuumed", 6),
    restore("dml", 5),
    restore("dml", 40),
    restore_at("aged", 650),
    restore_at("aged", 50),
    restore_at("aged-log-disordered", 330),
    restore_at("aged", 5000),
    *(
        Run(name, "checkpoint", "")
        for name in [*LOGS, "dml", "aged", "vectors-many", "row-tracking", "vacuumed", "aged-vectors"]
    ),
]
