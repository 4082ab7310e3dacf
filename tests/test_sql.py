"""`Table.sql`: five views over a table's metadata, in two engines, against the model and the engines' own answers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakelens as ll
from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.model.collections import QueryResult
from lakelens.model.facts import facts
from lakelens.model.fileset import FileSet
from lakelens.model.scan import engines
from lakelens.model.scan import scan_to_arrow as scanread
from lakelens.model.table import Table
from lakelens.querying import VIEWS, choose_columns
from tests.lakes import make_samples
from tests.support.engines import ENGINE, REASONS

ENGINES = ("datafusion", "duckdb")
NAMES = [one.name for one in ll.sample()]
LAKES = make_samples.LAKES


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param, reason=REASONS[request.param])
    return str(request.param)


def read_answers(name: str) -> dict[str, Any]:
    source = next(choice.source for choice in make_samples.CHOICES if choice.name == name)
    answers: dict[str, Any] = json.loads((LAKES / source / "answers.json").read_text("utf-8"))
    return answers


def build_view(table: Table, view: str) -> pa.Table:
    """A view as the model gives it."""
    if view == "snapshots":
        return table.snapshots.to_arrow()
    if view == "refs":
        return table.refs.to_arrow()
    if view == "manifests":
        return facts.build_manifests(table.current)
    if view == "files":
        return table.files.to_arrow()
    return facts.build_entries(table.current, table.files.columns)


# what the views hold


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("name", NAMES)
def test_every_view_of_every_sample_holds_what_the_model_holds(name: str, engine: str) -> None:
    table = ll.sample(name)
    for view in VIEWS:
        expected = build_view(table, view)
        found = table.sql(f"select * from {view}", engine=engine)  # type: ignore[arg-type]
        assert found.columns == [
            field.name
            for field in expected.schema
            if not (pa.types.is_struct(field.type) and not field.type.fields)
        ]
        assert [repr(row) for row in found] == [
            repr(row) for row in QueryResult(expected.select(found.columns), "")
        ], view
        assert (found.engine, found.views) == (engine, (view,))


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("iceberg")])
def test_iceberg_says_the_same(name: str) -> None:
    table, answers = ll.sample(name), read_answers(name)
    asked = "select id, parent_id, operation, committed_at from snapshots"
    assert [(row[0], row[1], row[2], row[3].isoformat()) for row in table.sql(asked, engine=ENGINE)] == [
        (row["snapshot_id"], row["parent_id"], row["operation"], row["committed_at"])
        for row in answers["snapshots"]
    ]
    refs = table.sql("select name, type, snapshot_id from refs", engine=ENGINE)
    assert Counter(refs) == Counter((r["name"], r["type"].lower(), r["snapshot_id"]) for r in answers["refs"])
    manifests = table.sql("select recorded_path, size_bytes, added_snapshot_id from manifests", engine=ENGINE)
    assert list(manifests) == [
        (row["path"], row["length"], row["added_snapshot_id"]) for row in answers["manifests"]
    ]
    words = {0: "EXISTING", 1: "ADDED", 2: "DELETED"}
    entries = table.sql(
        "select status, snapshot_id, sequence_number, recorded_path, record_count from entries",
        engine=ENGINE,
    )
    assert Counter(entries) == Counter(
        (
            words[row["status"]],
            row["snapshot_id"],
            row["sequence_number"],
            row["data_file"]["file_path"],
            row["data_file"]["record_count"],
        )
        for row in answers["entries"]
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("paimon")])
def test_paimon_says_the_same(name: str) -> None:
    table, answers = ll.sample(name), read_answers(name)
    asked = "select id, schema_id, operation, record_count from snapshots"
    assert list(table.sql(asked, engine=ENGINE)) == [
        (row["snapshot_id"], row["schema_id"], row["commit_kind"], row["total_record_count"])
        for row in answers["snapshots"]
    ]
    manifests = table.sql("select recorded_path from manifests", engine=ENGINE)
    assert {Path(path).name for (path,) in manifests} == {row["file_name"] for row in answers["manifests"]}


def test_entries_are_the_same_by_column_and_record_by_record(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        table = ll.sample(name)
        if table.current is None:
            continue
        by_column = facts.build_entries(table.current, table.files.columns)
        with monkeypatch.context() as patched:
            patched.setattr(type(table.current), "scan_entries", lambda self: None)
            recorded = facts.build_entries(table.current, table.files.columns)
        assert by_column.schema == recorded.schema, name
        assert [repr(row) for row in by_column.to_pylist()] == [repr(row) for row in recorded.to_pylist()], (
            name
        )


def test_another_snapshot_is_asked_by_id_branch_tag_and_time(engine: Any) -> None:
    table = ll.sample("iceberg-branches")
    for ref in ("first", "audit", table.snapshots[0].id, table.snapshots[1].committed_at):
        expected = sorted(file.path for file in table.snapshot(ref).files)
        found = table.sql("select path from files order by path", snapshot=ref, engine=engine)
        assert found["path"] == expected
        entries = table.sql(
            "select count(*) from entries where status <> 'DELETED'", snapshot=ref, engine=engine
        )
        assert entries[0] == (len(expected),)
    with pytest.raises(Missing, match="nowhere"):
        table.sql("select 1", snapshot="nowhere", engine=engine)


def test_structs_are_asked_by_name(engine: Any) -> None:
    table = ll.sample("iceberg")
    asked = """
        select path, lower_bounds['id'] as low, upper_bounds.id as high, partition_values['p'] as p, null_counts['name'] as n
        from files where content = 'data' and lower_bounds['id'] >= 9
    """
    found = table.sql(asked, engine=engine).to_pylist()
    expected = [
        {
            "path": file.path,
            "low": file.bounds["id"].lower,
            "high": file.bounds["id"].upper,
            "p": file.partition["p"],
            "n": file.bounds["name"].nulls,
        }
        for file in table.files
        if file.content == "data" and file.bounds["id"].lower >= 9
    ]
    assert found == expected
    assert len(found) > 1


def test_views_are_joined(engine: Any) -> None:
    table = ll.sample("iceberg-merge-on-read")
    asked = """
        select s.operation, count(*) as files from entries e join snapshots s on e.snapshot_id = s.id
        where e.status = 'ADDED' group by s.operation order by 1
    """
    expected = Counter(
        table.snapshot(entry.snapshot_id).operation
        for manifest in table.current.manifests
        for entry in manifest.entries
        if entry.status == "ADDED"
    )
    assert dict(table.sql(asked, engine=engine)) == expected


@pytest.mark.parametrize("path", ["spark/iceberg/v2-no-snapshot", "spark/paimon/schema-only"])
def test_a_table_without_snapshots_has_empty_views(path: str, engine: Any) -> None:
    table = ll.open(LAKES / path / "table")
    for view in ("snapshots", "manifests", "entries", "files"):
        assert len(table.sql(f"select * from {view}", engine=engine)) == 0
    assert table.sql("select count(*) from files", engine=engine)[0] == (0,)


# what is read


@pytest.mark.parametrize("name", ["iceberg", "paimon-changelog", "paimon-tags", "iceberg-branches"])
def test_a_question_about_snapshots_and_refs_reads_no_manifest(name: str, engine: Any) -> None:
    table = ll.sample(name)
    table.sql("select * from snapshots s left join refs r on r.snapshot_id = s.id", engine=engine)
    read = [Path(path).name for path in table.reads.paths]
    assert not [path for path in read if path.startswith(("manifest", "snap-")) or path.endswith(".avro")]


@pytest.mark.parametrize("name", ["iceberg", "paimon-changelog"])
def test_a_question_about_manifests_reads_none_of_them(name: str, engine: Any) -> None:
    table = ll.sample(name)
    found = table.sql("select path from manifests", engine=engine)
    assert len(found) > 0
    assert not set(found["path"]) & set(table.reads.paths)


def test_only_named_columns_are_made(monkeypatch: pytest.MonkeyPatch, engine: Any) -> None:
    asked: list[Any] = []
    plain = FileSet.to_arrow

    def record(self: FileSet, stats: bool = True, columns: Any = None) -> pa.Table:
        asked.append(columns)
        return plain(self, stats, columns)

    monkeypatch.setattr(FileSet, "to_arrow", record)
    table = ll.sample("iceberg")
    table.sql("SELECT SUM(Size_Bytes) FROM files WHERE content = 'data'", engine=engine)
    table.sql("select count(*) from files", engine=engine)
    table.sql("select * from files", engine=engine)
    assert asked == [["content", "size_bytes"], ["content"], None]


KNOWN = ["content", "path", "size_bytes", "lower_bounds"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select path from files", ["path"]),
        ('select "Path" from "files"', ["path"]),
        ("select f.path, count( * ) from files f where f.size_bytes > 1", ["path", "size_bytes"]),
        ("select f.path from files as f join entries e on e.path = f.path", ["path"]),
        ("with f as (select path from files) select path from f order by path", ["path"]),
        ("select files.path from files", ["path"]),
        ("select * from files", None),
        ("select f.* from files f", None),
        ("select size_bytes * 2 from files", None),
        ("select f from files f", None),
        ("select f from files as f", None),
        ('select "f" from files "f"', None),
        ("select files from files", None),
        ("select path, files from files", None),
        ("select path from entries, files", None),
        ("select path from files -- all\n f", None),
        ("from files", None),
        ("from files select path", None),
        ("select count(*) from (from files)", None),
        ("summarize files", None),
        ("describe files", None),
        ("table files", None),
        ("select columns('p.*') from files", None),
        ("select count(*) from files natural join entries", None),
        ('select U&"\\0070ath" from files', None),
    ],
)
def test_columns_are_never_too_few(query: str, expected: list[str] | None) -> None:
    assert choose_columns(query, "files", KNOWN) == expected


# what cannot be asked


@pytest.mark.parametrize(
    "query", ["selekt 1", "select nope from files", "select * from filez", "", "select ("]
)
def test_a_wrong_query_is_one_clear_error(query: str, engine: Any) -> None:
    if query == "" and engine == "duckdb":
        assert len(ll.sample("hive").sql(query, engine=engine)) == 0
        return
    with pytest.raises(LakeError) as caught:
        ll.sample("hive").sql(query, engine=engine)
    text = str(caught.value)
    assert "\n" not in text
    assert text.isprintable()
    assert engine in text
    assert all(view in text for view in VIEWS)
    if "filez" in query:
        assert "did you mean files?" in text
        return
    if "did you mean SELECT?" in text:  # where the engine names the word
        assert "selekt" in query
        return
    if "nope" in query:  # it resembles no column: how to see them, not all of them
        assert "SELECT * FROM files LIMIT 1 shows all" in text
        assert "recorded_path" not in text
        return
    for column in ("content", "path", "recorded_path", "partition_values", "lower_bounds", "modified"):
        assert column in text


@pytest.mark.parametrize(
    "query",
    [
        "copy (select 1 as a) to '{}/made.parquet'",
        "copy files to '{}/made.csv'",
        "create external table x stored as csv location '{}/kept.csv'",
        "select * from read_csv('{}/kept.csv')",
        "select * from '{}/kept.csv'",
        "attach '{}/made.db' as made",
        "set enable_external_access = true",
        "install httpfs",
        "export database '{}/made'",
    ],
)
def test_a_query_reads_and_writes_no_file(query: str, engine: Any, tmp_path: Path) -> None:
    (tmp_path / "kept.csv").write_text("a\n1\n")
    with pytest.raises(LakeError):
        ll.sample("hive").sql(query.replace("{}", str(tmp_path)), engine=engine)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.csv"]
    assert (tmp_path / "kept.csv").read_text() == "a\n1\n"


def test_a_query_does_not_reach_variables(engine: Any) -> None:
    secret = pa.table({"a": [1]})  # noqa: F841
    for name in ("secret", "views", "view", "query"):
        with pytest.raises(LakeError):
            ll.sample("hive").sql(f"select * from {name}", engine=engine)


def test_an_engine_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    table = ll.sample("hive")
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    with pytest.raises(Unsupported, match="pip install duckdb"):
        table.sql("select 1", engine="duckdb")
    with pytest.raises(Unsupported, match=r"pip install 'lakelens\[fast\]'"):
        table.sql("select 1", engine="datafusion")
    with pytest.raises(Unsupported, match="neither is installed"):
        table.sql("select 1")
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == "duckdb" else name)
    assert engines.choose_engine(None) == "datafusion"
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == "datafusion" else name)
    assert engines.choose_engine(None) == "duckdb"
    with pytest.raises(LakeError, match="sqlite"):
        table.sql("select 1", engine="sqlite")  # type: ignore[arg-type]


def test_duckdb_is_taken_where_it_is() -> None:
    pytest.importorskip(
        "duckdb", reason="DuckDB is not installed: it is no dependency, only used where it is"
    )
    assert ll.sample("hive").sql("select 1 as a").engine == "duckdb"


def test_a_damaged_manifest_costs_only_its_entries(engine: Any) -> None:
    table = ll.sample("iceberg-basic")
    whole = table.sql("select count(*) from entries", engine=engine)[0]
    assert table.current is not None
    manifest = table.current.manifests[0]
    lost = len(manifest.entries)
    damaged = ll.open(table.location)
    Path(manifest.path).write_bytes(b"Obj\x01" + b"\xff" * 50)
    assert damaged.sql("select count(*) from entries", engine=engine)[0] == (whole[0] - lost,)
    assert [found.path for found in damaged.findings if found.severity == "error"] == [manifest.path]


# what a query gives


def test_a_result_is_read_in_every_way() -> None:
    import pandas as pd
    import polars as pl

    result = ll.sample("paimon").sql("select id, operation, summary from snapshots", engine=ENGINE)
    assert (len(result), result.columns) == (5, ["id", "operation", "summary"])
    assert repr(result) == "<QueryResult 5 rows: id, operation, summary>"
    assert result["id"] == [1, 2, 3, 4, 5]
    assert result[0][:2] == (1, "APPEND") == result[-5][:2]
    assert result[0][2]["commitKind"] == "APPEND"
    assert (
        [row[0] for row in result] == result.to_pandas()["id"].tolist() == result.to_polars()["id"].to_list()
    )
    assert (
        pa.table(result).num_rows == pl.DataFrame(result).height == len(pd.DataFrame(result.to_pylist())) == 5
    )
    with pytest.raises(IndexError):
        _ = result[5]
    with pytest.raises(KeyError):
        _ = result["nothing"]


def test_a_result_shows_its_first_rows_and_escapes_what_it_shows() -> None:
    table = ll.sample("hive")
    bad = "<script>alert(1)</script>"
    asked = f"select '{bad}' as \"<img src=x onerror=alert(2)>\", path from files"
    result = table.sql(asked, engine=ENGINE)
    markup = result._repr_html_()
    assert "<script>alert" not in markup
    assert "<img" not in markup
    assert "&lt;script&gt;" in markup
    with ll.options.display.using(max_rows=1):
        assert "2 more rows" in str(result)
    assert "no view" in str(table.sql("select 1 as a", engine=ENGINE))


def test_times_beyond_python_are_shown_as_text() -> None:
    far = pa.table({"t": pa.array([2**62], pa.int64()).view(pa.timestamp("us"))})
    result = QueryResult(far, "datafusion")
    ((cell,),) = list(result)
    assert isinstance(cell, str)
    assert "Query" in str(result)


def test_fields_of_one_name_and_far_times_within_them_are_shown() -> None:
    far = pa.array([2**62], pa.int64()).view(pa.timestamp("us"))
    twice = pa.StructArray.from_arrays([pa.array([1]), far], names=["a", "a"])
    listed = pa.ListArray.from_arrays([0, 1], twice)
    result = QueryResult(pa.table({"s": twice, "l": listed}), "datafusion")
    ((struct, inner),) = list(result)
    assert struct[0] == ("a", 1)
    assert isinstance(struct[1][1], str)
    assert "type" in inner
    assert "Query" in str(result)


def test_scans_are_worth_it_only_where_there_is_much(monkeypatch: pytest.MonkeyPatch, engine: Any) -> None:
    """The files view is the same whichever way the files are read."""
    table = ll.sample("paimon-deletion-vectors")
    few = [repr(row) for row in table.sql("select * from files", engine=engine)]
    monkeypatch.setattr(scanread, "WORTH_BYTES", 0)
    monkeypatch.setattr(scanread, "WORTH_BYTES_WARM", 0)
    again = ll.open(table.location)
    assert [repr(row) for row in again.sql("select * from files", engine=engine)] == few
