"""Tables that Spark wrote, against Spark's own answers: files, rows, partitions, columns, statistics."""

from __future__ import annotations

import json
import posixpath
from typing import Any
from urllib.parse import unquote

import pytest

import lakelens as ll
from lakelens.formats.hive.names import parse_partition_value
from lakelens.io.local import LocalStore
from lakelens.io.relocation import split_location
from lakelens.opening import open_in_store
from lakelens.spark.local.catalog import parse_description
from tests import support

LAKES = support.LAKES / "spark/hive"
CASES = sorted(path.parent.name for path in LAKES.glob("*/answers.json"))
# what lies outside of the copied directory, or in it without being registered, only the metastore can tell
METASTORE_KNOWS_BETTER = {"partition-elsewhere", "day-numbers"}


def read_answers(case: str) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((LAKES / case / "answers.json").read_text("utf-8"))
    return answers


def list_input_files(answers: dict[str, Any]) -> list[str]:
    """The engine's input files below the table's directory; they are URIs, so `%` is encoded once more.

    Of a table that it reads through a Hive serde Spark names the directory only: there is nothing to compare with.
    """
    root = split_location(answers["location"])[1]
    paths = [unquote(split_location(uri)[1]) for uri in answers["input_files"]]
    if paths == [root]:
        pytest.skip("Spark names only the directory of a table that it reads through a Hive serde")
    return sorted(posixpath.relpath(path, root) for path in paths if path.startswith(root + "/"))


def make_facts(answers: dict[str, Any]) -> dict[str, Any]:
    """What `lakelens.spark.local.catalog` hands over, from the engine's answers; partitions without their locations."""
    rows = [(row["col_name"], row["data_type"] or "", row["comment"] or "") for row in answers["describe"]]
    sections = parse_description(rows)
    keys = sections.get("partition_columns", [])
    names = {column["name"] for column in keys}
    partitions = [row["partition"] for row in answers["partitions"]]
    return {
        "columns": [column for column in sections["columns"] if column["name"] not in names],
        "partition_columns": keys,
        "table": sections["Detailed Table Information"],
        "properties": {row["key"]: row["value"] for row in answers["properties"]},
        "partitions": [{"name": name, "location": None} for name in partitions],
        "partition_count": len(partitions),
    }


def open_with_facts(case: str) -> Any:
    facts = make_facts(read_answers(case))
    return open_in_store(LocalStore(), str(LAKES / case / "table"), format="hive", catalog=facts)


def test_there_are_tables() -> None:
    assert CASES


@pytest.mark.parametrize("case", CASES)
def test_visible_files_are_the_engines_input_files(case: str) -> None:
    answers = read_answers(case)
    files = sorted(file.relative_path for file in open_with_facts(case).files)
    assert files == list_input_files(answers)
    if case not in METASTORE_KNOWS_BETTER:
        assert sorted(file.relative_path for file in ll.open(LAKES / case / "table").files) == files


@pytest.mark.parametrize("case", CASES)
def test_rows_add_up_to_the_engines_count(case: str) -> None:
    answers = read_answers(case)
    files = list(open_with_facts(case).files)
    counts = [file.record_count for file in files]
    if None in counts:
        assert {file.file_format for file in files} <= {"text", "csv", "json"}
        pytest.skip("text files do not record how many rows they hold")
    if case == "partition-elsewhere":
        pytest.skip("one partition lies outside of the copied directory")
    assert sum(count for count in counts if count is not None) == answers["row_count"]


@pytest.mark.parametrize("case", CASES)
def test_partitions_are_the_engines(case: str) -> None:
    answers = read_answers(case)
    table = open_with_facts(case)
    engine = {row["partition"] for row in answers["partitions"]}
    here = {str(file.partition) for file in table.files if len(file.partition)}
    if case == "partition-elsewhere":
        assert here < engine
    else:
        assert here == engine
    for file in table.files:
        assert all(
            file.partition[key] == parse_partition_value(text) for key, text in file.partition.texts.items()
        )


@pytest.mark.parametrize("case", CASES)
def test_columns_are_the_metastores(case: str) -> None:
    facts = make_facts(read_answers(case))
    table = open_with_facts(case)
    told = [*facts["columns"], *facts["partition_columns"]]
    assert [(f.name, str(f.type), f.doc) for f in table.schema] == [
        (column["name"], column["type"], column["comment"]) for column in told
    ]
    assert all(f.type.logical != "unknown" for _, f in table.schema.walk())
    assert [f.name for f in table.partitioning] == [column["name"] for column in facts["partition_columns"]]
    assert [f.result_type for f in table.partitioning] == [c["type"] for c in facts["partition_columns"]]
    assert table.properties == facts["properties"]


@pytest.mark.parametrize("case", CASES)
def test_columns_inferred_from_files_agree_with_the_metastore(case: str) -> None:
    facts = make_facts(read_answers(case))
    table = ll.open(LAKES / case / "table")
    if not any(file.columns for file in table.files):
        pytest.skip("text files do not name their columns")
    keys = {column["name"].lower() for column in facts["partition_columns"]}
    told = {column["name"]: column["type"] for column in facts["columns"]}
    inferred = {f.name: str(f.type) for f in table.schema if f.name.lower() not in keys}
    assert inferred == told


@pytest.mark.parametrize("case", CASES)
def test_rows_previewed_are_the_engines(case: str) -> None:
    answers = read_answers(case)
    files = list(open_with_facts(case).files)
    if case == "partition-elsewhere":
        pytest.skip("one partition lies outside of the copied directory")
    if not all(file.columns for file in files):
        pytest.skip("text files give lines, not rows")
    columns = [c["name"] for c in make_facts(answers)["columns"]]
    if "id" not in columns:
        pytest.skip("rows of this table are compared by their bounds")
    seen = [row["id"] for file in files for row in file.preview(1000).to_pylist()]
    assert sorted(seen) == sorted(row["id"] for row in answers["rows"])


@pytest.mark.parametrize("case", CASES)
def test_bounds_hold_the_engines_rows(case: str) -> None:
    """Lower and upper bounds over all files are the least and greatest value of each column that is easily compared."""
    answers = read_answers(case)
    table = open_with_facts(case)
    files = list(table.files)
    if case == "partition-elsewhere":
        pytest.skip("one partition lies outside of the copied directory")
    if not any(len(file.bounds) for file in files):
        pytest.skip("only Parquet footers have bounds")
    keys = {f.name for f in table.partitioning}
    for column in table.schema:
        if column.name in keys or column.type.logical not in ("int32", "int64", "string", "boolean"):
            continue
        values = [row[column.name] for row in answers["rows"] if row[column.name] is not None]
        bounds = [file.bounds[column.name] for file in files if column.name in file.bounds]
        lower = [b.lower for b in bounds if b.lower is not None]
        upper = [b.upper for b in bounds if b.upper is not None]
        assert (min(lower, default=None), max(upper, default=None)) == (
            min(values, default=None),
            max(values, default=None),
        ), column.name
        absent = sum(file.record_count or 0 for file in files if column.name not in file.bounds)
        nulls = sum(1 for row in answers["rows"] if row[column.name] is None)
        assert sum(b.nulls or 0 for b in bounds) + absent == nulls


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_wrong_with_what_an_engine_wrote(case: str) -> None:
    table = open_with_facts(case)
    for file in table.files:
        _ = file.record_count, file.bounds
        assert file.preview(1).num_rows <= 1
    arrow = table.files.to_arrow()
    assert arrow.num_rows == len(table.files)
    _ = table.current.changes
    assert [f for f in table.findings if f.severity == "error"] == []


def test_every_stored_file_has_a_role() -> None:
    for case in CASES:
        root = LAKES / case / "table"
        on_disk = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
        stored = {one.relative_path: one.role for one in ll.open(root, format="hive").list_files()}
        assert sorted(stored) == on_disk
        assert all(stored.values())


@pytest.mark.skipif("day-numbers" not in CASES, reason="that table was not made yet")
def test_unregistered_partitions_are_findings_and_not_seen() -> None:
    table = open_with_facts("day-numbers")
    assert [file.partition["d"] for file in table.files] == ["2024-01-02"]
    assert [f.code for f in table.findings if f.severity == "warning"] == ["partition-unregistered"]
    unseen = [
        one.role for one in table.list_files() if "d=19723" in one.path and one.path.endswith("parquet")
    ]
    assert unseen == ["data file of an unregistered partition"]
    assert {file.partition["d"] for file in ll.open(LAKES / "day-numbers/table").files} == {
        "19723",
        "2024-01-02",
    }


@pytest.mark.skipif("bucketed" not in CASES, reason="that table was not made yet")
@pytest.mark.parametrize("case", ["bucketed", "bucketed-hive-format"])
def test_buckets_are_in_the_names(case: str) -> None:
    assert {file.bucket for file in ll.open(LAKES / case / "table").files} <= set(range(4))
