"""Files, snapshots, refs and results in other libraries: by Arrow's C stream, in pandas, polars and DuckDB, by batches."""

from __future__ import annotations

import doctest
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lakelens as ll
from lakelens.model.collections import Document
from lakelens.model.facts import facts
from lakelens.model.fileset import FileSet
from lakelens.model.scan import scan_to_arrow as scanread
from lakelens.model.scan.plan import FileScan
from lakelens.model.schema import Schema
from lakelens.model.snapshot import Ref, Refs
from tests.support.engines import ENGINE
from tests.support.growth import grow_iceberg, grow_paimon
from tests.test_names import list_kinds

NAMES = [one.name for one in ll.sample()]


def word_rows(table: pa.Table) -> list[str]:
    """Rows to compare, for whom a NaN equals a NaN."""
    return [repr(row) for row in table.to_pylist()]


@pytest.fixture
def _by_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read by column however few they are."""
    monkeypatch.setattr(scanread, "WORTH_BYTES", 0)
    monkeypatch.setattr(scanread, "WORTH_BYTES_WARM", 0)


# files


@pytest.fixture
def _by_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read one by one however many bytes their manifests have: a stream of columns has all known ones."""
    monkeypatch.setattr(scanread, "WORTH_BYTES", 1 << 40)
    monkeypatch.setattr(scanread, "WORTH_BYTES_WARM", 1 << 40)


@pytest.mark.usefixtures("_by_record")
@pytest.mark.parametrize("name", NAMES)
def test_files_are_taken_by_pyarrow_polars_and_pandas(name: str) -> None:
    files = ll.sample(name).files
    expected = files.to_arrow()
    assert word_rows(pa.table(files)) == word_rows(expected)
    assert pa.RecordBatchReader.from_stream(files).schema == expected.schema
    assert pl.DataFrame(files).columns == files.to_polars().columns == expected.column_names
    assert pl.DataFrame(files)["path"].to_list() == expected["path"].to_pylist()
    frame = files.to_pandas()
    assert list(frame.columns) == expected.column_names
    assert frame["path"].tolist() == expected["path"].to_pylist()
    if hasattr(pd.DataFrame, "from_arrow"):  # pandas 3
        assert pd.DataFrame.from_arrow(files)["size_bytes"].tolist() == expected["size_bytes"].to_pylist()


@pytest.mark.parametrize("name", NAMES)
def test_files_are_asked_by_name_in_duckdb(name: str) -> None:
    duckdb = pytest.importorskip(
        "duckdb", reason="DuckDB is not installed: it is no dependency, only used where it is"
    )
    files = ll.sample(name).files
    found = duckdb.sql("select path, size_bytes from files where content = 'data' order by path").fetchall()
    assert found == sorted((f.path, f.size_bytes) for f in files if f.content == "data")
    assert duckdb.sql("select count(*) from files").fetchall() == [(len(files),)]


def test_snapshots_refs_and_results_are_asked_by_name_in_duckdb() -> None:
    duckdb = pytest.importorskip(
        "duckdb", reason="DuckDB is not installed: it is no dependency, only used where it is"
    )
    table = ll.sample("iceberg-branches")
    snapshots, refs = table.snapshots, table.refs
    result = table.sql("select path, snapshot_id from entries", engine=ENGINE)
    asked = """
        select r.name, count(*) from refs r join snapshots s on r.snapshot_id = s.id
        left join result e on e.snapshot_id = s.id
        where r.type = 'branch' group by all order by 1
    """
    assert [name for name, _ in duckdb.sql(asked).fetchall()] == ["audit", "empty-handed", "main"]
    assert len(snapshots) + len(refs) + len(result) > 3


@pytest.mark.usefixtures("_by_column")
@pytest.mark.parametrize("name", NAMES)
def test_a_stream_by_column_has_the_same_files(name: str) -> None:
    files = ll.sample(name).files
    streamed = pa.table(files)
    expected = files.to_arrow()
    assert streamed.column_names == expected.column_names
    plain = [field.name for field in expected.schema if not pa.types.is_struct(field.type)]
    assert word_rows(streamed.select(plain)) == word_rows(expected.select(plain))
    # columns that were dropped are always there in a stream, whose schema is fixed before the last batch is read
    for column in ("lower_bounds", "upper_bounds", "null_counts"):
        for ours, theirs in zip(streamed[column].to_pylist(), expected[column].to_pylist(), strict=True):
            assert {leaf: repr(ours[leaf]) for leaf in theirs} == {
                leaf: repr(theirs[leaf]) for leaf in theirs
            }
            assert all(value is None for leaf, value in ours.items() if leaf not in theirs)


@pytest.mark.usefixtures("_by_column")
@pytest.mark.parametrize("name", ["iceberg", "paimon-deletion-vectors", "hive"])
def test_a_reader_gives_batches_of_the_size_and_columns_that_were_asked_for(name: str) -> None:
    files = ll.sample(name).files
    reader = files.to_reader(2, columns=["path", "record_count"])
    assert reader.schema.names == ["path", "record_count"]
    batches = list(reader)
    assert max(batch.num_rows for batch in batches) <= 2 < len(files)
    assert pa.Table.from_batches(batches).equals(files.to_arrow(columns=["path", "record_count"]))
    assert files.to_reader(stats=False).schema == files.to_arrow(stats=False).schema
    with pytest.raises(KeyError, match="nothing"):
        files.to_reader(columns=["nothing"])


def count_reads(monkeypatch: pytest.MonkeyPatch, scan: type[FileScan]) -> list[int]:
    """How many tasks were read, portion by portion."""
    portions: list[int] = []
    plain = scan.read

    def read(self: Any, tasks: Any, *arguments: Any) -> Iterator[Any]:
        portions.append(len(tasks))
        yield from plain(self, tasks, *arguments)

    monkeypatch.setattr(scan, "read", read)
    return portions


@pytest.mark.usefixtures("_by_column")
@pytest.mark.parametrize("grow", [grow_iceberg, grow_paimon])
def test_a_consumer_that_stops_early_leaves_the_rest_unread(
    grow: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = ll.open(grow(tmp_path / "grown", files=200, manifests=10))
    assert table.current is not None
    scan = table.current.scan_files()
    assert scan is not None
    monkeypatch.setattr(scanread, "WORKERS", 1)
    monkeypatch.setattr(scanread.cut_portions, "__defaults__", (1,))  # a manifest at a time
    portions = count_reads(monkeypatch, type(scan))
    reader = table.files.to_reader(columns=["path"])
    assert reader.read_next_batch().num_rows > 0
    assert 0 < len(portions) < len(scan.tasks)
    rest = reader.read_all()
    assert rest.num_rows > 100
    assert len(portions) == len(scan.tasks)


def test_an_empty_set_has_the_schema_of_its_table() -> None:
    files = ll.sample("paimon").files
    none = files - files
    assert pa.table(none).num_rows == 0
    assert pa.table(none).schema == files.to_arrow().schema
    assert pl.DataFrame(none).height == 0
    assert len(none.to_pandas()) == 0


def test_a_diff_streams_too() -> None:
    table = ll.sample("iceberg")
    added = table.diff(None, table.current).added
    assert isinstance(added, FileSet)
    assert pl.DataFrame(added)["path"].to_list() == [file.path for file in added]


# snapshots and refs


@pytest.mark.parametrize("name", NAMES)
def test_snapshots_are_what_the_model_says(name: str) -> None:
    snapshots = ll.sample(name).snapshots
    table = snapshots.to_arrow()
    assert table.column_names == list(facts.list_kinds(facts.SNAPSHOT))
    for row, snapshot in zip(table.to_pylist(maps_as_pydicts="strict"), snapshots, strict=True):
        for column in (
            "id",
            "parent_id",
            "sequence_number",
            "committed_at",
            "operation",
            "record_count",
            "path",
        ):
            assert row[column] == getattr(snapshot, column), column
        assert tuple(row["refs"]) == snapshot.refs
        assert row["summary"] == dict(snapshot.summary)
        assert row["schema_id"] == snapshot.schema.id
    assert (
        snapshots.to_pandas()["id"].tolist()
        == snapshots.to_polars()["id"].to_list()
        == table["id"].to_pylist()
    )
    assert pa.table(snapshots[-2:])["id"].to_pylist() == table["id"].to_pylist()[-2:]


@pytest.mark.parametrize("name", NAMES)
def test_refs_are_what_the_model_says(name: str) -> None:
    refs = ll.sample(name).refs
    table = refs.to_arrow()
    assert table.column_names == list(facts.list_kinds(facts.REF))
    for row, ref in zip(table.to_pylist(), refs, strict=True):
        for column in ("name", "type", "snapshot_id", "max_ref_age_ms", "min_snapshots_to_keep", "path"):
            assert row[column] == getattr(ref, column), column
        if ref.created_at is not None:
            assert row["created_at"] == ref.created_at.astimezone(UTC)
    assert refs.to_pandas()["name"].tolist() == refs.to_polars()["name"].to_list() == refs.keys()


@pytest.mark.parametrize("name", NAMES)
def test_manifests_are_what_the_model_says(name: str) -> None:
    current = ll.sample(name).current
    table = facts.build_manifests(current)
    assert table.column_names == list(facts.list_kinds(facts.MANIFEST))
    manifests = current.manifests if current is not None else ()
    for row, manifest in zip(table.to_pylist(), manifests, strict=True):
        for column in ("path", "size_bytes", "content", "spec_id", "added_snapshot_id", "added_files_count"):
            assert row[column] == getattr(manifest, column), column
        assert [one["name"] for one in row["partition_summary"]] == [
            one.name for one in manifest.partition_summary
        ]
        assert row["role"] in ("all", "base", "delta", "changelog", "checkpoint", "commits")


def test_values_that_do_not_fit_are_null() -> None:
    refs = Refs(
        [Ref("\ud800", "tag", 2**80), Ref("v1", "tag", 3, created_at=datetime(2024, 1, 1, tzinfo=UTC))]
    )
    assert refs.to_arrow().select(["name", "snapshot_id", "created_at"]).to_pylist() == [
        {"name": "\\ud800", "snapshot_id": None, "created_at": None},
        {"name": "v1", "snapshot_id": 3, "created_at": datetime(2024, 1, 1, tzinfo=UTC)},
    ]
    assert Refs([]).to_arrow().schema == refs.to_arrow().schema


@pytest.mark.parametrize("page", ["interop.md", "samples.md"])
def test_the_examples_of_the_documentation_run(page: str) -> None:
    path = Path(__file__).parent.parent / "docs" / page
    done = doctest.testfile(str(path), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert done.attempted > 5
    assert done.failed == 0


# every way out


def test_whatever_is_a_table_leaves_in_every_way() -> None:
    """Found among all classes that are shown; a schema is Arrow's schema, and no table."""
    ways = {"to_arrow", "to_pandas", "to_polars", "to_json", "__arrow_c_stream__"}
    lacking = {
        kind.__name__: sorted(ways.difference(dir(kind)))
        for kind in list_kinds()
        if hasattr(kind, "to_arrow") and not issubclass(kind, Schema) and not ways <= set(dir(kind))
    }
    assert lacking == {}


@pytest.mark.parametrize("name", NAMES)
def test_json_has_the_rows_of_arrow(name: str) -> None:
    table = ll.sample(name)
    answers = (table.files, table.snapshots, table.refs, table.explain("TRUE"), table.row("FALSE"))
    for answer in answers:
        expected = answer.to_arrow()
        rows = json.loads(answer.to_json())
        assert len(rows) == len(expected)
        assert all(list(row) == expected.column_names for row in rows)
        shape = (len(expected), expected.num_columns)
        assert pa.table(answer).shape == answer.to_pandas().shape == answer.to_polars().shape == shape
    paths = [row["path"] for row in json.loads(table.files.to_json(columns=["path"]))]
    assert paths == table.files.to_arrow()["path"].to_pylist()


def test_json_keeps_every_digit_and_byte() -> None:
    document = Document({"id": 2**63 - 1, "share": float("nan"), "key": b"\x00\xff"})
    assert json.loads(document.to_json()) == {"id": 9223372036854775807, "share": "NaN", "key": "00ff"}
