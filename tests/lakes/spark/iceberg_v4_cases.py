"""Iceberg tables of format version 4, whose manifests are Parquet files, as Iceberg 1.12 writes them."""

from __future__ import annotations

from typing import Any

from iceberg_cases import MERGE_ON_READ, TYPES, VALUES, case, properties, run
from iceberg_maintenance_cases import call

SHORT_LOG = "'write.metadata.delete-after-commit.enabled'='true', 'write.metadata.previous-versions-max'='2'"


def place(t: str) -> str:
    """Where a table is, with a scheme: Iceberg 1.12 refuses version 4 without one."""
    return f"LOCATION 'file:/tmp/lakes/warehouse/iceberg/lakes/{t.rpartition('.')[2]}'"


@case("types", 4)
def types(spark: Any, t: str, version: int) -> str:
    """Every type as a column, and most of them as a partition value too."""
    parts = "b, f, dec9, dec38, da, tn, bin, truncate(5, s), bucket(3, dec18), hours(ts)"
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} ({TYPES}) PARTITIONED BY ({parts}) {place(t)} {properties(version)}",
        f"INSERT INTO {{t}} VALUES {VALUES}",
    )


@case("evolution", 4)
def evolution(spark: Any, t: str, version: int) -> str:
    """One table that lives through what a format has to keep: schema, partitions, vectors, a branch, a tag, rewrites.

    The engine's `rewrite_manifests` writes Avro: the table has manifests of both kinds side by side.
    """
    run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING, d DOUBLE, st STRUCT<a: INT, b: STRING>) PARTITIONED BY (bucket(2, id)) "
        f"{place(t)} {properties(version, f'{MERGE_ON_READ}, {SHORT_LOG}')}",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), concat('n', id), CAST('NaN' AS DOUBLE), "
        "named_struct('a', CAST(id AS INT), 'b', 'x') FROM range(10)",
        "DELETE FROM {t} WHERE id = 3",
        "ALTER TABLE {t} CREATE TAG first",
        "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
        "ALTER TABLE {t} RENAME COLUMN name TO label",
        "ALTER TABLE {t} DROP COLUMN d",
        "ALTER TABLE {t} ADD COLUMNS (day DATE, li ARRAY<STRUCT<x: INT>>)",
        "ALTER TABLE {t} ADD PARTITION FIELD day",
        "ALTER TABLE {t} DROP PARTITION FIELD bucket(2, id)",
        "INSERT INTO {t} VALUES (9007199254740993, NULL, named_struct('a', NULL, 'b', 'y'), DATE'2024-01-01', "
        "array(named_struct('x', 1)))",
        "INSERT INTO {t} VALUES (20, 'late', NULL, NULL, NULL)",
    )
    call(spark, "rewrite_manifests", t)
    return run(
        spark,
        t,
        "DELETE FROM {t} WHERE id IN (4, 20)",
        "ALTER TABLE {t} CREATE BRANCH audit",
        "INSERT INTO {t}.branch_audit VALUES (30, 'only here', NULL, DATE'2024-01-02', NULL)",
    )
