"""Make the tables of `spark/` with delta-spark, each with the engine's own answers: 3.3.2 on Spark 3.5, 4.0.0 on Spark 4.0.

    python tests/lakes/delta/make_spark.py [CASE …]              make them
    python tests/lakes/delta/make_spark.py --again [CASE …]      only ask about the versions of those that are there

With PySpark 4 installed the cases are those of `NEWER`. A case is a list of SQL statements in which `{t}` is the table;
one that begins with `!` is a function of `delta_builder`. `spark/CASE/engine.json` is what the engine says: `history`,
`detail`, and of each version its live files as actions (`files`), the rows that it reads of each of them by their
positions (`live`), and `rows`.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import delta_builder
from delta_values import to_json

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/delta")
os.environ |= {"HADOOP_USER_NAME": "lakes", "TZ": "UTC"}
time.tzset()

IS_NEWER = version("pyspark").startswith("4.")
PACKAGE = "io.delta:delta-spark_2.13:4.0.0" if IS_NEWER else "io.delta:delta-spark_2.12:3.3.2"
CONFIG = {
    "spark.jars.packages": PACKAGE,
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    "spark.databricks.delta.vacuum.parallelDelete.enabled": "false",
    "spark.databricks.delta.properties.defaults.enableDeletionVectors": "false",
}


def create(columns: str, further: str = "", **properties: str) -> str:
    listed = ", ".join(f"'delta.{name.replace('__', '.')}' = '{held}'" for name, held in properties.items())
    return f"CREATE TABLE {{t}} ({columns}) USING delta {further} " + (
        f"TBLPROPERTIES ({listed})" if listed else ""
    )


def numbers(start: int, count: int, columns: str = "id, concat('row ', id)") -> str:
    return f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ {columns} FROM range({start}, {start + count})"


PLAIN = "id BIGINT, name STRING"
CASES: dict[str, list[str]] = {
    "appends": [create(PLAIN), *(numbers(n, 5) for n in range(0, 15, 5))],
    "dml": [
        create(PLAIN),
        numbers(0, 10),
        numbers(10, 10),
        "DELETE FROM {t} WHERE id < 3",
        "UPDATE {t} SET name = 'changed' WHERE id = 12",
        "MERGE INTO {t} t USING (SELECT id, 'merged' AS name FROM range(15, 25)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        "OPTIMIZE {t}",
        "VACUUM {t} RETAIN 0 HOURS",
    ],
    "types": [
        create(
            "i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f32 FLOAT, f64 DOUBLE, nan DOUBLE, dec DECIMAL(19,2), "
            "b BOOLEAN, s STRING, emoji STRING, bin BINARY, d DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, "
            "st STRUCT<x: INT, inner: STRUCT<y: STRING>>, li ARRAY<BIGINT>, mp MAP<STRING, BIGINT>, "
            "c CHAR(3), v VARCHAR(5), n VOID"
        ),
        "INSERT INTO {t} SELECT * FROM VALUES "
        "(-128Y, -32768S, -2147483648, -9223372036854775808L, -1.5F, -1e300D, DOUBLE('NaN'), 12345678901234567.89BD, "
        "true, 'a', repeat('\U0001f642', 40), X'00FF', DATE'1969-12-31', TIMESTAMP'2024-01-31 10:11:12.123456', "
        "TIMESTAMP_NTZ'2024-01-31 10:11:12.123456', named_struct('x', 1, 'inner', named_struct('y', 'q')), "
        "array(1L, 2L), map('k', 1L), 'ab', 'xyz', NULL), "
        "(127Y, 32767S, 2147483647, 9223372036854775807L, 2.25F, 1e300D, DOUBLE('Infinity'), 3.10BD, "
        "false, repeat('z', 40), 'é', X'', DATE'2024-02-29', TIMESTAMP'1960-01-31 10:11:12.123456', "
        "NULL, NULL, array(), map(), NULL, NULL, NULL)",
    ],
    "partitioned": [
        create("id BIGINT, part STRING, day DATE", "PARTITIONED BY (part, day)"),
        "INSERT INTO {t} VALUES (1, 'a b', DATE'2024-01-01'), (2, 'c=d', NULL), (3, 'é/ü', DATE'2024-01-03'), "
        "(4, '100%', DATE'2024-01-03'), (5, NULL, NULL), (6, 'x:y', DATE'2024-01-03'), (7, 'q?#&+', NULL), (8, '', NULL)",
        "DELETE FROM {t} WHERE part = '100%'",
    ],
    "typed-partitions": [
        create(
            "id BIGINT, i INT, dec DECIMAL(9,2), b BOOLEAN, ts TIMESTAMP, ntz TIMESTAMP_NTZ, f DOUBLE",
            "PARTITIONED BY (i, dec, b, ts, ntz, f)",
        ),
        "INSERT INTO {t} VALUES (1, -5, 12.30, true, TIMESTAMP'2024-01-31 10:11:12.123456', "
        "TIMESTAMP_NTZ'2024-01-31 10:11:12', 1.5), (2, NULL, NULL, NULL, NULL, NULL, NULL)",
    ],
    "vectors": [
        create(PLAIN, enableDeletionVectors="true"),
        numbers(0, 100),
        numbers(100, 100),
        "DELETE FROM {t} WHERE id % 10 = 3",
        "DELETE FROM {t} WHERE id = 44",
        "UPDATE {t} SET name = 'new' WHERE id = 150",
        "DELETE FROM {t} WHERE id >= 100",
        "REORG TABLE {t} APPLY (PURGE)",
    ],
    "vectors-prefixed": [
        create(PLAIN, enableDeletionVectors="true", randomizeFilePrefixes="true", checkpointInterval="3"),
        numbers(0, 20),
        "DELETE FROM {t} WHERE id = 7",
        numbers(20, 20),
        "DELETE FROM {t} WHERE id IN (8, 30)",
    ],
    "mapped-name": [
        create(
            "id BIGINT, st STRUCT<a: INT, b: STRING>, p STRING",
            "PARTITIONED BY (p)",
            columnMapping__mode="name",
        ),
        "INSERT INTO {t} VALUES (1, named_struct('a', 1, 'b', 'x'), 'u'), (2, named_struct('a', NULL, 'b', 'y'), 'v')",
        "ALTER TABLE {t} RENAME COLUMN st TO renamed",
        "ALTER TABLE {t} RENAME COLUMN p TO `part of it`",
        "ALTER TABLE {t} ADD COLUMN (more STRING)",
        "INSERT INTO {t} VALUES (3, named_struct('a', 3, 'b', 'z'), 'u', 'm')",
        "ALTER TABLE {t} DROP COLUMN more",
    ],
    "mapped-id": [
        create(PLAIN, columnMapping__mode="id", checkpointInterval="2"),
        numbers(0, 3),
        "ALTER TABLE {t} RENAME COLUMN name TO title",
        numbers(3, 3),
    ],
    "mapped-later": [
        create(PLAIN),
        numbers(0, 3),
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', "
        "'delta.minWriterVersion' = '5')",
        "ALTER TABLE {t} DROP COLUMN name",
        numbers(3, 3, "id"),
    ],
    "row-tracking": [
        create(PLAIN, enableRowTracking="true"),
        numbers(0, 3),
        numbers(3, 3),
        "UPDATE {t} SET name = 'u' WHERE id = 4",
        "OPTIMIZE {t}",
    ],
    "v2-checkpoints": [
        create(PLAIN, checkpointPolicy="v2", checkpointInterval="3"),
        *(numbers(n * 2, 2) for n in range(7)),
        "DELETE FROM {t} WHERE id = 1",
    ],
    "v2-checkpoint-json": [
        "SET spark.databricks.delta.checkpointV2.topLevelFileFormat = json",
        create(PLAIN, checkpointPolicy="v2", checkpointInterval="3"),
        *(numbers(n * 2, 2) for n in range(4)),
        "SET spark.databricks.delta.checkpointV2.topLevelFileFormat = parquet",
    ],
    "multi-part": [
        "SET spark.databricks.delta.checkpoint.partSize = 2",
        create(PLAIN, checkpointInterval="4"),
        *(numbers(n * 2, 2) for n in range(5)),
        "SET spark.databricks.delta.checkpoint.partSize = 1000000",
    ],
    "commit-timestamps": [
        create(PLAIN),
        numbers(0, 2),
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')",
        numbers(2, 2),
    ],
    "change-feed": [
        create(
            "id BIGINT, p STRING", "PARTITIONED BY (p)", enableChangeDataFeed="true", checkpointInterval="4"
        ),
        "INSERT INTO {t} VALUES (1, 'a'), (2, 'a'), (3, 'b')",
        "UPDATE {t} SET id = 20 WHERE id = 2",
        "DELETE FROM {t} WHERE id = 1",
        "DELETE FROM {t} WHERE p = 'b'",
    ],
    "generated": [
        "!create_generated",
        "INSERT INTO {t} (at) VALUES (TIMESTAMP'2024-01-31 10:11:12'), (TIMESTAMP'2024-02-01 00:00:00')",
        "INSERT INTO {t} (at) VALUES (TIMESTAMP'2025-01-31 10:11:12')",
    ],
    "constrained": [
        create("id BIGINT NOT NULL, n INT", appendOnly="true"),
        "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (n > 0)",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
        "ALTER TABLE {t} ALTER COLUMN n SET DEFAULT 7",
        "INSERT INTO {t} VALUES (1, 1)",
        "INSERT INTO {t} (id) VALUES (2)",
    ],
    "clustered": [
        create("id BIGINT, a INT, st STRUCT<b: INT>", "CLUSTER BY (a, st.b)"),
        *(
            f"INSERT INTO {{t}} SELECT id, CAST(id % 3 AS INT), named_struct('b', CAST(id AS INT)) FROM range({n}, {n + 5})"
            for n in (0, 5)
        ),
        "OPTIMIZE {t}",
        "ALTER TABLE {t} CLUSTER BY (id)",
    ],
    "zordered": [
        create("a INT, b INT"),
        *(
            f"INSERT INTO {{t}} SELECT CAST(id AS INT), CAST(100 - id AS INT) FROM range({n}, {n + 10})"
            for n in (0, 10)
        ),
        "OPTIMIZE {t} ZORDER BY (a, b)",
    ],
    "struct-stats": [
        create(
            "id BIGINT, d DATE, p INT",
            "PARTITIONED BY (p)",
            checkpoint__writeStatsAsJson="false",
            checkpoint__writeStatsAsStruct="true",
            checkpointInterval="3",
        ),
        *(
            f"INSERT INTO {{t}} SELECT id, date_add(DATE'2024-01-01', CAST(id AS INT)), 1 FROM range({n}, {n + 3})"
            for n in (0, 3, 6)
        ),
    ],
    "restored": [
        create(PLAIN),
        numbers(0, 3),
        numbers(3, 3),
        "DELETE FROM {t} WHERE id > 3",
        "RESTORE TABLE {t} TO VERSION AS OF 2",
    ],
    "cloned": [
        "CREATE TABLE delta.`/tmp/lakes/delta/source` USING delta AS SELECT id, concat('row ', id) AS name FROM range(5)",
        "CREATE TABLE {t} SHALLOW CLONE delta.`/tmp/lakes/delta/source`",
        numbers(5, 2),
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "DELETE FROM {t} WHERE id = 2",
    ],
    "nested-wide": [
        create(
            "id BIGINT, a STRUCT<x: STRUCT<y: STRUCT<z: TIMESTAMP>>>, text STRING, w1 INT, w2 INT",
            dataSkippingNumIndexedCols="3",
        ),
        "INSERT INTO {t} SELECT id, named_struct('x', named_struct('y', named_struct('z', "
        "TIMESTAMP'2024-01-01 00:00:00.123456'))), repeat('ab', 30), 1, 2 FROM range(3)",
    ],
    **{
        f"generated-{name}": [
            f"!create_parts {count}",
            """INSERT INTO {t} (id, at) SELECT * FROM VALUES (1, TIMESTAMP'2023-12-31 23:59:59.999999'),
            (2, TIMESTAMP'2024-01-01 00:00:00'), (3, TIMESTAMP'2024-01-31 10:11:12'), (4, TIMESTAMP'2024-02-01 00:00:00'),
            (5, TIMESTAMP'2024-02-29 23:30:00'), (6, TIMESTAMP'2024-03-01 10:00:00'), (7, TIMESTAMP'2025-02-01 00:00:00'),
            (8, NULL)""",
        ]
        for name, count in (("months", 2), ("days", 3), ("hours", 4))
    },
    "widened": [
        create(
            "id BIGINT, b TINYINT, s SMALLINT, st STRUCT<x: TINYINT>, li ARRAY<SMALLINT>, p TINYINT",
            "PARTITIONED BY (p)",
            enableTypeWidening="true",
            checkpointInterval="4",
        ),
        "INSERT INTO {t} VALUES (1, 1Y, 10S, named_struct('x', 1Y), array(1S), 5Y), "
        "(2, -128Y, 32767S, named_struct('x', 127Y), array(2S, 3S), 6Y)",
        "ALTER TABLE {t} ALTER COLUMN b TYPE SMALLINT",
        "ALTER TABLE {t} ALTER COLUMN b TYPE INT",
        "ALTER TABLE {t} ALTER COLUMN s TYPE INT",
        "ALTER TABLE {t} ALTER COLUMN st.x TYPE INT",
        "ALTER TABLE {t} ALTER COLUMN li.element TYPE INT",
        "ALTER TABLE {t} ALTER COLUMN p TYPE INT",
        "INSERT INTO {t} VALUES (3, 1000000, 70000, named_struct('x', 70000), array(70000), 300), "
        "(4, NULL, NULL, NULL, NULL, 5)",
        "DELETE FROM {t} WHERE id = 1",
    ],
    "compacted": [
        create(PLAIN, enableDeletionVectors="true"),
        *(numbers(n * 4, 4) for n in range(4)),
        "DELETE FROM {t} WHERE id < 4",
        "DELETE FROM {t} WHERE id IN (5, 9)",
        "ALTER TABLE {t} SET TBLPROPERTIES ('note' = 'tests')",
        numbers(20, 2),
        "!compact_commits 1 4",
        "!compact_commits 5 7",
    ],
    "vectors-inline": [
        create(PLAIN, enableDeletionVectors="true"),
        numbers(0, 40),
        "DELETE FROM {t} WHERE id % 7 = 2",
        "!move_vectors_inline",
        numbers(40, 3),
    ],
    "iceberg-compat": [
        create(
            "id BIGINT, li ARRAY<INT>, mp MAP<STRING, INT>, p STRING",
            "PARTITIONED BY (p)",
            columnMapping__mode="name",
            enableIcebergCompatV2="true",
            feature__vacuumProtocolCheck="supported",
        ),
        "INSERT INTO {t} VALUES (1, array(1, NULL), map('k', 1), 'a'), (2, NULL, NULL, NULL)",
        "ALTER TABLE {t} RENAME COLUMN li TO listed",
    ],
    "change-feed-vectors": [
        create(PLAIN, enableChangeDataFeed="true", enableDeletionVectors="true"),
        numbers(0, 6),
        "DELETE FROM {t} WHERE id = 2",
        "UPDATE {t} SET name = 'new' WHERE id = 4",
        "MERGE INTO {t} t USING (SELECT id, 'merged' AS name FROM range(5, 8)) s ON t.id = s.id "
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
    ],
    "row-tracking-vectors": [
        create(PLAIN, enableRowTracking="true", enableDeletionVectors="true"),
        numbers(0, 4),
        "UPDATE {t} SET name = 'u' WHERE id = 1",
        "DELETE FROM {t} WHERE id = 3",
        "OPTIMIZE {t}",
    ],
}
#: What Spark 3.5 does not know.
NEWER: dict[str, list[str]] = {
    "variant": [
        create("id BIGINT, v VARIANT", checkpointInterval="2"),
        """INSERT INTO {t} SELECT id, parse_json(concat('{"n": ', id, ', "t": ["a", null, 1.5]}')) FROM range(2)""",
        "INSERT INTO {t} VALUES (2, parse_json('7')), (3, NULL)",
        "DELETE FROM {t} WHERE id = 0",
    ],
    "widened-further": [
        create(
            "id BIGINT, y_d TINYINT, h_d SMALLINT, i_d INT, i_l INT, i_c INT, y_c TINYINT, l_c BIGINT, f FLOAT, "
            "c DECIMAL(5,2), t DATE, st STRUCT<x: INT, t: DATE>, li ARRAY<INT>, mp MAP<INT, DATE>, p INT, q DATE, "
            "r DECIMAL(4,1)",
            "PARTITIONED BY (p, q, r)",
            enableTypeWidening="true",
            checkpointInterval="20",
            feature__timestampNtz="supported",
        ),
        """INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES
        (1L, -128Y, -32768S, -2147483648, 2147483647, 2147483647, 127Y, 9223372036854775807L, 1.1F, 999.99BD,
         DATE'2024-02-29', named_struct('x', 7, 't', DATE'1969-12-31'), array(1), map(1, DATE'2024-01-01'), 5,
         DATE'2024-01-31', 12.3BD),
        (2L, 7Y, 7S, 7, 7, 7, 7Y, 7L, 0.1F, 0.01BD, DATE'1500-01-01', named_struct('x', -7, 't', DATE'2024-01-01'),
         array(2, NULL), map(2, NULL), 5, DATE'2024-01-31', 12.3BD),
        (3L, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)""",
        *(
            f"ALTER TABLE {{t}} ALTER COLUMN {name} TYPE {kind}"
            for name, kind in (
                *((name, "DOUBLE") for name in ("y_d", "h_d", "i_d", "f", "st.x")),
                *((name, "BIGINT") for name in ("i_l", "li.element", "mp.key", "p")),
                *(("i_c", "DECIMAL(12,2)"), ("y_c", "DECIMAL(10,0)"), ("l_c", "DECIMAL(22,2)")),
                *(("c", "DECIMAL(9,4)"), ("r", "DECIMAL(6,2)")),
                *((name, "TIMESTAMP_NTZ") for name in ("t", "st.t", "mp.value", "q")),
            )
        ),
        """INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES
        (4L, 0.5D, 1e300D, 0.25D, 9223372036854775807L, 1234567890.12BD, 1234567890BD, 12345678901234567890.12BD, 1e300D,
         12345.6789BD, TIMESTAMP_NTZ'2024-02-29 10:11:12.123456',
         named_struct('x', 0.5D, 't', TIMESTAMP_NTZ'2024-01-01 01:02:03'),
         array(9223372036854775807L), map(9223372036854775807L, TIMESTAMP_NTZ'2024-01-01 01:02:03'), 9223372036854775807L,
         TIMESTAMP_NTZ'2024-01-31 10:11:12', 1234.56BD)""",
        "DELETE FROM {t} WHERE id = 2",
    ],
}


def collect(frame: Any) -> list[dict[str, Any]]:
    return [to_json(row.asDict(recursive=True)) for row in frame.collect()]


def run(spark: Any, statement: str, path: Path) -> None:
    if statement.startswith("!"):
        name, *arguments = statement[1:].split()
        getattr(delta_builder, name)(spark, path, *map(int, arguments))
    else:
        spark.sql(statement.replace("{t}", f"delta.`{path}`"))


def find_live(spark: Any, state: str) -> dict[str, list[int]]:
    """Find the positions of the rows that Spark reads of each file of a version."""
    path = "SELECT _metadata.file_path AS path,"
    try:
        found = spark.sql(
            f"{path} sort_array(collect_list(_metadata.row_index)) AS rows FROM {state} GROUP BY 1"
        )
        return {row["path"]: list(row["rows"]) for row in found.collect()}
    except Exception as error:
        if "row_index" not in str(error):
            raise
    # Delta has no positions of rows in tables without vectors: there every row of a file is live
    found = spark.sql(f"{path} count(*) AS rows FROM {state} GROUP BY 1")
    return {row["path"]: list(range(row["rows"])) for row in found.collect()}


def answer(spark: Any, path: Path) -> dict[str, Any]:
    log = spark._jvm.org.apache.spark.sql.delta.DeltaLog
    log.clearCache()
    name = f"delta.`{path}`"
    history = collect(spark.sql(f"DESCRIBE HISTORY {name}"))
    detail = collect(spark.sql(f"DESCRIBE DETAIL {name}"))
    versions: dict[str, Any] = {}
    table = log.forTable(spark._jsparkSession, str(path))
    get_at = next(m for m in table.getClass().getMethods() if m.getName() == "getSnapshotAt")
    none = getattr(getattr(spark._jvm, "scala.None$"), "MODULE$")
    further = [none if "Option" in kind.getName() else False for kind in list(get_at.getParameterTypes())[1:]]
    for number in range(table.update(False, none, none).version() + 1):
        try:
            snapshot = table.getSnapshotAt(number, *further)
            lines = snapshot.allFiles().toDF().toJSON().collectAsList()
            said: dict[str, Any] = {"files": sorted((json.loads(s) for s in lines), key=lambda f: f["path"])}
            said["protocol"] = json.loads(snapshot.protocol().json())
            said["metadata"] = json.loads(snapshot.metadata().json())
            state = f"{name} VERSION AS OF {number}"
            said["live"] = dict(sorted(find_live(spark, state).items()))
            said["row_count"] = sum(map(len, said["live"].values()))
            if said["row_count"] <= 20:
                try:
                    said["rows"] = collect(spark.sql(f"SELECT * FROM {state}"))
                except Exception as error:  # Python has no such dates and times
                    said["rows_error"] = str(error).splitlines()[0][:200]
        except Exception as error:
            said = {"error": str(error).splitlines()[0][:200]}
        versions[str(number)] = said
    return {
        "engine": f"{PACKAGE}, Spark {spark.version}",
        "location": str(path),
        "history": history,
        "detail": detail,
        "versions": versions,
    }


def ask_again(spark: Any, wanted: list[str]) -> None:
    """Ask about the versions of tables that are there; their times are gone, so that the history stays as it was."""
    for name in wanted or CASES:
        folder = HERE / "spark" / name
        shutil.copytree(folder / "table", ROOT / name)
        if (folder / "source").exists():
            shutil.copytree(folder / "source", ROOT / "source", dirs_exist_ok=True)
        said = json.loads((folder / "engine.json").read_text("utf-8"))
        said["versions"] = answer(spark, ROOT / name)["versions"]
        (folder / "engine.json").write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(name, sum("error" in held for held in said["versions"].values()), "errors")


def main(wanted: list[str], again: bool = False) -> None:
    sys.path[:0] = [str(HERE.parents[2])]
    from lakelens.spark import session

    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir(parents=True)
    spark = session(ROOT / "warehouse", formats=("hive",), config=CONFIG, progress=print)
    if again:
        ask_again(spark, wanted)
        spark.stop()
        return
    cases = NEWER if IS_NEWER else CASES
    for name in wanted or cases:
        path = ROOT / name
        try:
            for statement in cases[name]:
                run(spark, statement, path)
            answers = answer(spark, path)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:400]}")
            continue
        folder = HERE / "spark" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        # the local file system keeps checksums of its own beside each file, as hidden ones
        shutil.copytree(path, folder / "table", ignore=shutil.ignore_patterns(".*.crc"))
        text = json.dumps(answers, indent=1, ensure_ascii=False)
        (folder / "engine.json").write_text(text + "\n", "utf-8")
        print(name, len(answers["versions"]))
    if (ROOT / "source").exists():
        source, hidden = HERE / "spark/cloned/source", shutil.ignore_patterns(".*.crc")
        shutil.copytree(ROOT / "source", source, ignore=hidden, dirs_exist_ok=True)
    spark.stop()


if __name__ == "__main__":
    main([name for name in sys.argv[1:] if name != "--again"], "--again" in sys.argv)
