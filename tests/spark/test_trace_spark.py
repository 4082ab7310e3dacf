"""`%%laketrace` around real statements lists exactly what a plain comparison of directories lists, and says why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import lakelens as ll
from lakelens.analysis.trace import Trace
from lakelens.io.relocation import split_location
from lakelens.spark import locate
from lakelens.views.cards.trace import format_sentence
from tests.support.stages import check_plainly, list_plainly

pytestmark = pytest.mark.spark

CREATE = {
    "hive": "CREATE TABLE {name} (id BIGINT, name STRING) STORED AS PARQUET",
    "iceberg": "CREATE TABLE {name} (id BIGINT, name STRING) USING iceberg TBLPROPERTIES ('format-version' = '2')",
    "paimon": "CREATE TABLE {name} (id BIGINT NOT NULL, name STRING) TBLPROPERTIES ('primary-key' = 'id')",
    "delta": "CREATE TABLE {name} (id BIGINT, name STRING) USING delta",
}
CATALOGS = {"hive": "spark_catalog", "iceberg": "iceberg", "paimon": "paimon", "delta": "spark_catalog"}


@pytest.fixture(scope="module")
def shell(spark: Any) -> Iterator[InteractiveShell]:
    """An IPython with the magics; databases named `traced` in each catalog."""
    for catalog in CATALOGS.values():
        spark.sql(f"CREATE DATABASE IF NOT EXISTS {catalog}.traced")
    made = InteractiveShell()
    made.run_line_magic("load_ext", "lakelens")
    yield made


def make(spark: Any, format: str, table: str) -> tuple[str, Path]:
    name = f"{CATALOGS[format]}.traced.{table}"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(CREATE[format].format(name=name))
    return name, Path(split_location(locate(spark, name).location)[1])


def trace(shell: InteractiveShell, target: object, sql: str, place: Path) -> Trace:
    """Run SQL under the magic; the trace is held against a plain comparison of the directory."""
    before = list_plainly(place)
    shell.run_cell_magic("laketrace", f"'{target}' -o change", sql)
    change = shell.user_ns["change"]
    check_plainly(before, list_plainly(place), change)
    assert all(file.reason for file in change.files)
    return change  # type: ignore[no-any-return]


def told(change: Trace, *, without: str = "checksum") -> list[str]:
    return sorted(file.reason for file in change.created if file.role != without)


@pytest.mark.parametrize("by", ["name", "path"])
@pytest.mark.parametrize("format", CREATE)
def test_a_one_line_insert(
    spark: Any, shell: InteractiveShell, format: str, by: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, place = make(spark, format, f"one_{by}")
    target = name if by == "name" else place
    change = trace(shell, target, f"INSERT INTO {name} VALUES (1, 'a')", place)
    shown = capsys.readouterr().out
    own = [file for file in change.created if file.role != "checksum"]
    assert shown.startswith(f"Trace: INSERT wrote {len(own)} files, ")
    beside = len(change.created) - len(own)
    assert (f"(and {beside} checksum files)" in shown.splitlines()[0]) is (beside > 1)
    if format == "hive":
        assert change.diff is None and change.snapshots == ()
        assert told(change) == [
            "data file: readers find it by listing the directory",
            *(["marker: a write job has finished here"] if (place / "_SUCCESS").exists() else []),
        ]
        return
    (commit,) = change.snapshots
    if format == "delta":
        assert change.diff is not None and change.diff.added.record_count == 1
        assert told(change) == [
            "data file added by version 1",
            "version 1 itself: what it adds and removes",
            "version checksum, found by its name",
        ]
        return
    new = f"snapshot {commit.snapshot.id}"
    assert f"data file added by {new}" in told(change) and f"manifest of {new}" in " ".join(told(change))
    assert change.diff is not None and change.diff.added.record_count == 1
    if format == "iceberg":
        assert told(change) == [
            f"data file added by {new}",
            f"manifest list of {new}",
            f"manifest of {new}",
            f"table metadata, committed with {new}",
        ]
    else:
        assert told(change)[:2] == ["data file added by snapshot 1", "hint: earliest snapshot"]
        assert {f"manifest list of {new} ({role})" for role in ("base", "delta")} <= set(told(change))
        assert "index manifest of snapshot 1" in told(change)
        spark.sql(f"INSERT INTO {name} VALUES (2, 'b')")


def test_iceberg_statements_each_leave_their_mark(
    spark: Any, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    name, place = make(spark, "iceberg", "life")
    spark.sql(f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    change = trace(shell, name, f"UPDATE {name} SET name = 'x' WHERE id = 1", place)
    assert len(change.snapshots) == 1 and change.diff is not None
    assert len(change.diff.added) == len([f for f in change.created if f.role == "data"]) > 0
    change = trace(shell, name, f"DELETE FROM {name} WHERE id = 2", place)
    assert change.diff is not None and len(change.diff.removed) > 0 and not change.removed
    assert format_sentence(change).endswith(": 1 row deleted")

    change = trace(shell, name, f"ALTER TABLE {name} ADD COLUMN n INT", place)
    assert [f.role for f in change.created if f.role != "checksum"] == ["table metadata"]
    assert [(c.name, c.kind) for c in change.tables[0].schema] == [("n", "added")]
    assert change.snapshots == () and change.tables[0].document

    change = trace(
        shell,
        name,
        f"INSERT INTO {name} VALUES (7, ';', 1); -- two statements; at once\nINSERT INTO {name} VALUES (8, 'b', 2);",
        place,
    )
    assert len(change.snapshots) == 2 and all(len(c.created) >= 4 for c in change.snapshots)
    capsys.readouterr()
    change = trace(
        shell,
        name,
        "CALL iceberg.system.rewrite_data_files(table => 'traced.life', options => map('rewrite-all', 'true'));"
        f"SELECT id, named_struct('a', TIMESTAMP '2024-01-02 03:04:05', 'b', map('k', id)) AS s, n, INTERVAL '1' YEAR AS id"
        f" FROM {name} ORDER BY id DESC",
        place,
    )
    assert change.diff is not None and len(change.diff.added) == 1
    said = capsys.readouterr().out
    assert said.startswith("CALL: 1 row, ") and "rewritten_data_files_count" in said
    rows = said[said.index("SELECT: 4 rows, 4 columns") :].splitlines()
    assert (
        rows[1].split() == ["id", "s", "n", "id"]
        and rows[2].split()[:2] == ["8", "{a:"]
        and "'k', 8" in rows[2]
    )
    assert "2024-01-02 03:04:05+00:00" in rows[2] and "INTERVAL '1' YEAR" in rows[2]
    call = "CALL iceberg.system.expire_snapshots(table => 'traced.life', older_than => TIMESTAMP '2100-01-01 00:00:00')"
    change = trace(shell, place, call, place)
    assert len(change.tables[0].gone) >= 4 and len(change.removed) > 4
    assert all("gone" in f.reason for f in change.removed if f.role != "checksum"), told(change)
    change = trace(shell, name, f"DROP TABLE {name} PURGE", place)
    assert change.tables[0].kind == "dropped" and change.tables[0].after is None


def test_paimon_statements_each_leave_their_mark(spark: Any, shell: InteractiveShell) -> None:
    name, place = make(spark, "paimon", "life")
    for number in range(3):
        spark.sql(f"INSERT INTO {name} VALUES ({number}, 'a')")
    change = trace(shell, place, f"DELETE FROM {name} WHERE id = 1", place)
    assert len(change.snapshots) == 1
    change = trace(shell, name, "CALL paimon.sys.compact(table => 'traced.life')", place)
    assert change.snapshots[-1].snapshot.operation == "COMPACT" and change.diff is not None
    assert len(change.diff.removed) > 0 and not [f for f in change.removed if f.role == "data"]
    change = trace(
        shell, name, "CALL paimon.sys.expire_snapshots(table => 'traced.life', retain_max => 1)", place
    )
    assert change.tables[0].gone and [f for f in change.removed if f.role == "data"]
    assert not [f.reason for f in change.removed if "still named" in f.reason and f.role == "data"]
    change = trace(shell, name, f"ALTER TABLE {name} ADD COLUMN n INT", place)
    assert "schema-1: columns, keys and options of the table" in told(change)
    change = trace(shell, name, f"DROP TABLE {name}", place)
    assert change.tables[0].kind == "dropped"


def test_hive_statements_and_what_the_metastore_says(spark: Any, shell: InteractiveShell) -> None:
    name, place = make(spark, "hive", "life")
    spark.sql(f"INSERT INTO {name} VALUES (1, 'a')")
    change = trace(shell, name, f"INSERT OVERWRITE {name} VALUES (2, 'b')", place)
    assert [f.role for f in change.removed if f.role == "data file"] == ["data file"]
    change = trace(shell, place, f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR COLUMNS id", place)
    assert change.is_empty and any(p.path.startswith("$.statistics") for p in change.metastore)
    change = trace(shell, name, f"ALTER TABLE {name} ADD COLUMNS (n INT)", place)
    assert change.is_empty and any("columns" in p.path for p in change.metastore)
    change = trace(shell, name, f"DROP TABLE {name}", place)
    assert change.tables[0].kind == "dropped" and change.removed
    assert all(p.kind == "removed" for p in change.metastore)


def test_a_new_partition_is_told_by_the_metastore(spark: Any, shell: InteractiveShell) -> None:
    name = "spark_catalog.traced.parts"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} (id BIGINT) PARTITIONED BY (p STRING) STORED AS PARQUET")
    place = Path(split_location(locate(spark, name).location)[1])
    change = trace(shell, name, f"INSERT INTO {name} PARTITION (p = 'x') VALUES (1)", place)
    assert "data file: readers find it by listing p=x" in told(change)
    assert {p.path for p in change.metastore} >= {"$.partition_count", '$.partitions["p=x"]'}


def test_a_name_that_the_session_does_not_know(spark: Any, shell: InteractiveShell) -> None:
    name, _ = make(spark, "iceberg", "spelled")
    shell.run_cell_magic("laketrace", f"'{name}t' -o change", f"INSERT INTO {name} VALUES (1, 'a')")
    assert (
        format_sentence(shell.user_ns["change"])
        == f"nothing is at {name}t, before or after; did you mean {name}?"
    )


@pytest.mark.parametrize("format", CREATE)
def test_a_table_that_is_not_there_yet(spark: Any, shell: InteractiveShell, format: str) -> None:
    name, place = make(spark, format, "later")
    spark.sql(f"DROP TABLE {name}" + (" PURGE" if format == "iceberg" else ""))
    statement = CREATE[format].format(name=name) + f"; INSERT INTO {name} VALUES (1, 'a')"
    change = trace(shell, name, statement, place)
    (one,) = change.tables
    assert one.kind == "created" and Path(change.root) == place
    if format != "hive":
        assert change.diff is not None and change.diff.before is None


def test_a_whole_warehouse(spark: Any, shell: InteractiveShell, tmp_path: Path) -> None:
    names = {format: make(spark, format, "wide")[0] for format in ("iceberg", "paimon")}
    root = Path(spark.conf.get("spark.lakelens.warehouse"))
    sql = "; ".join(f"INSERT INTO {name} VALUES (1, 'a')" for name in names.values())
    shell.run_cell_magic("laketrace", f"{root} -o change", sql)
    change = shell.user_ns["change"]
    assert {told.format for told in change.tables} == {"iceberg", "paimon"}
    assert all(len(one.snapshots) == 1 and one.diff is not None for one in change.tables)
    outside = [f.relative_path for f in change.files if f.reason == "in no table"]
    assert outside and all(path.startswith("iceberg-catalog.db") for path in outside), outside


def test_a_statement_that_fails_is_told_and_raised(
    spark: Any, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    name, place = make(spark, "iceberg", "fails")
    with pytest.raises(Exception, match="nothing_of_that_name"):
        trace(shell, name, f"INSERT INTO {name} VALUES (1, 'a'); SELECT * FROM nothing_of_that_name", place)
    change = shell.user_ns["change"]
    assert len(change.snapshots) == 1 and change.error is not None
    assert "it raised AnalysisException" in capsys.readouterr().out


def test_a_table_of_a_session_is_watched_and_shown(
    spark: Any, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    name, _ = make(spark, "iceberg", "shown")
    table = ll.open(name, spark=spark)
    with table.watch(spark=spark) as change:
        spark.sql(f"INSERT INTO {name} VALUES (1, 'a')")
    assert len(change.snapshots) == 1
    assert [p.path for p in change.metastore] == ["$.metadata_location"], "the catalog's pointer moved"
    shell.run_line_magic("lakelens", f"{name} -d 0")
    assert capsys.readouterr().out.strip() == f"<Table {name} (iceberg v2)>"
