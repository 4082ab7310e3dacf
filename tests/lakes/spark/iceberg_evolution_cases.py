"""Iceberg tables whose schema, sort order or format version changed, or that measure columns differently."""

from __future__ import annotations

from typing import Any

from iceberg_cases import MERGE_ON_READ, case, properties, run


@case("schema-evolution", 1, 2, 3)
def schema(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, f FLOAT, dec DECIMAL(9,2), gone STRING, old_name STRING, st STRUCT<a: INT, b: STRING>, "
        f"li ARRAY<STRUCT<x: INT>>, ma MAP<STRING, STRUCT<y: INT>>) {properties(version)}",
        "INSERT INTO {t} VALUES (1, CAST(1.5 AS FLOAT), 12.34, 'kept in its file', 'old', named_struct('a', 7, 'b', 'x'), "
        "array(named_struct('x', 1)), map('k', named_struct('y', 2)))",
        "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
        "ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE",
        "ALTER TABLE {t} ALTER COLUMN dec TYPE DECIMAL(18,2)",
        "ALTER TABLE {t} ALTER COLUMN st.a TYPE BIGINT",
        "ALTER TABLE {t} DROP COLUMN gone",
        "ALTER TABLE {t} RENAME COLUMN old_name TO new_name",
        "ALTER TABLE {t} ADD COLUMN extra INT COMMENT 'came later' AFTER id",
        "INSERT INTO {t} VALUES (9007199254740993, 2, 2.5D, 1234567890123456.78, 'new', "
        "named_struct('a', 8, 'b', 'y'), NULL, NULL)",
        "ALTER TABLE {t} ALTER COLUMN extra FIRST",
        "ALTER TABLE {t} ADD COLUMNS (st.c DOUBLE, li.element.z STRING, ma.value.w STRING)",
        "ALTER TABLE {t} RENAME COLUMN st.b TO bb",
        "ALTER TABLE {t} ADD COLUMN gone INT COMMENT 'an old name, a new column'",
        "INSERT INTO {t} VALUES (3, 3, 3.5D, 3.00, 'third', named_struct('a', 9, 'bb', 'z', 'c', 0.5D), "
        "array(named_struct('x', 3, 'z', 'q')), map('k', named_struct('y', 3, 'w', 'r')), 33)",
        "ALTER TABLE {t} DROP COLUMN st.a",
    )


@case("sort-order", 2)
def sort_order(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT NOT NULL, name STRING, p INT) {properties(version)}",
        "ALTER TABLE {t} SET IDENTIFIER FIELDS id",
        "ALTER TABLE {t} WRITE ORDERED BY name DESC NULLS LAST, bucket(4, id)",
        "INSERT INTO {t} VALUES (1, 'a', 1), (2, 'c', 1), (3, NULL, 2)",
        "ALTER TABLE {t} WRITE LOCALLY ORDERED BY p ASC NULLS FIRST",
        "INSERT INTO {t} VALUES (4, 'd', 3)",
        "ALTER TABLE {t} WRITE UNORDERED",
        "INSERT INTO {t} VALUES (5, 'e', 4)",
    )


@case("metrics-modes", 2)
def metrics(spark: Any, t: str, version: int) -> str:
    modes = {"none_": "none", "counts_": "counts", "short_": "truncate(4)", "full_": "full", "st.x": "counts"}
    extra = ", ".join(f"'write.metadata.metrics.column.{column}'='{mode}'" for column, mode in modes.items())
    return run(
        spark,
        t,
        "CREATE TABLE {t} (none_ STRING, counts_ STRING, short_ STRING, full_ STRING, st STRUCT<x: INT, y: INT>) "
        + properties(version, extra),
        "INSERT INTO {t} VALUES (repeat('n', 30), repeat('c', 30), repeat('s', 30), repeat('f', 30), "
        "named_struct('x', 1, 'y', 2)),"
        " (NULL, NULL, NULL, NULL, NULL), ('a', 'b', '🎈🎈🎈🎈🎈🎈', 'd', named_struct('x', 3, 'y', NULL))",
    )


@case("wide-metrics", 2)
def wide(spark: Any, t: str, version: int) -> str:
    columns = ", ".join(f"c{number} INT" for number in range(12))
    values = ", ".join(str(number) for number in range(12))
    limit = "'write.metadata.metrics.max-inferred-column-defaults'='5'"
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} ({columns}) {properties(version, limit)}",
        f"INSERT INTO {{t}} VALUES ({values})",
    )


@case("from-v1", 2, 3)
def from_v1(spark: Any, t: str, version: int) -> str:
    """Manifests and lists of format 1 under metadata of a later format; deletes come after the upgrade."""
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, p STRING) PARTITIONED BY (p) " + properties(1, MERGE_ON_READ),
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), 'a' FROM range(5)",
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ('format-version'='{version}')",
        "INSERT INTO {t} VALUES (10, 'b')",
        "DELETE FROM {t} WHERE id = 3",
    )


@case("from-v2", 3)
def from_v2(spark: Any, t: str, version: int) -> str:
    """Position delete files of format 2 that deletion vectors of format 3 take over."""
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, p STRING) PARTITIONED BY (p) " + properties(2, MERGE_ON_READ),
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), if(id < 5, 'a', 'b') FROM range(10)",
        "DELETE FROM {t} WHERE id IN (1, 7)",
        "ALTER TABLE {t} SET TBLPROPERTIES ('format-version'='3')",
        "DELETE FROM {t} WHERE id = 2",
        "INSERT INTO {t} VALUES (20, 'c')",
    )


@case("position-deletes-by-partition", 2)
def by_partition(spark: Any, t: str, version: int) -> str:
    """One delete file that reaches several data files."""
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT) "
        + properties(version, MERGE_ON_READ + ", 'write.delete.granularity'='partition'"),
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT) FROM range(5)",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT) FROM range(5, 10)",
        "DELETE FROM {t} WHERE id IN (1, 2, 6)",
    )


@case("object-storage", 2)
def object_storage(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, p STRING) PARTITIONED BY (p) "
        + properties(version, "'write.object-storage.enabled'='true'"),
        "INSERT INTO {t} VALUES (1, 'a'), (2, 'b')",
    )
