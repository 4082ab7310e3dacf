"""Damaged and odd manifests give by column what they give record by record: the same files, the same findings."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pytest

from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.table import PaimonTable
from lakelens.io.memory import MemoryStore
from lakelens.io.tracing import TracingStore
from lakelens.model.scan.files_to_arrow import build_table
from lakelens.model.scan.scan_to_arrow import read_table
from lakelens.model.storage import Evidence
from tests.support.paimon_lakes import get_lake
from tests.support.scans import assert_same_files

Files = dict[str, bytes]


def load(name: str) -> Files:
    root = Path(get_lake(name).table_path)
    return {f"/t/{path.relative_to(root)}": path.read_bytes() for path in root.rglob("*") if path.is_file()}


def open_files(files: Files) -> PaimonTable:
    return PaimonTable(TableContext(TracingStore(MemoryStore(files)), "/t"), Evidence("paimon", ()), "t")


def list_manifests(files: Files) -> list[str]:
    """The manifests of the current state."""
    current = open_files(files).current
    assert current is not None
    return [task.path for task in current.scan_files().tasks]


def word_findings(table: PaimonTable) -> set[tuple[Any, ...]]:
    return {(f.severity, f.code, f.path, f.message, f.snapshots) for f in table.findings}


def compare(files: Files, *, declines: bool | None = False) -> set[str]:
    """Read the table both ways; the codes of the findings, which are the same. None of `declines`: either will do."""
    recorded, columnar = open_files(files), open_files(files)
    assert recorded.current is not None and columnar.current is not None
    expected = build_table(list(recorded.current.files), recorded.current.files.columns)
    scan = columnar.current.scan_files()
    scan.fast = True
    found = read_table(scan)
    if declines is not None:
        assert (found is None) == declines
    if found is None:
        _ = list(columnar.current.files)
    else:
        assert_same_files(found, expected)
    assert word_findings(columnar) == word_findings(recorded)
    return {finding.code for finding in columnar.findings}


def rewrite(files: Files, path: str, change: Callable[[list[Any]], list[Any]]) -> Files:
    """The table with the records of one Avro manifest changed."""
    reader = fastavro.reader(io.BytesIO(files[path]))
    schema, records = reader.writer_schema, change(list(reader))
    out = io.BytesIO()
    assert schema is not None
    fastavro.writer(out, schema, records)
    return {**files, path: out.getvalue()}


LAKES = (
    "pk-compacted",
    "partition-types",
    "2.0.0-manifest-orc",
    "2.0.0-manifest-parquet",
    "pk-schema-evolution",
)


@pytest.mark.parametrize("name", LAKES)
def test_cut_manifests(name: str) -> None:
    files = load(name)
    for path in list_manifests(files)[:2]:
        data = files[path]
        for length in (3, len(data) // 2, len(data) - 1):
            assert {"corrupt", "unsupported"} & compare({**files, path: data[:length]})


@pytest.mark.parametrize("name", LAKES)
def test_a_manifest_that_is_not_there(name: str) -> None:
    files = load(name)
    path = list_manifests(files)[0]
    assert "missing" in compare({key: data for key, data in files.items() if key != path})


@pytest.mark.parametrize("name", ["pk-compacted", "partition-types", "2.0.0-manifest-parquet"])
def test_flipped_bytes(name: str) -> None:
    files = load(name)
    for path in list_manifests(files)[:2]:
        data = files[path]
        for place in range(0, len(data), max(1, len(data) // 12)):
            flipped = data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]
            compare({**files, path: flipped}, declines=None)


def _each_file(change: Callable[[Any], None]) -> Callable[[list[Any]], list[Any]]:
    def apply(records: list[Any]) -> list[Any]:
        for record in records:
            change(record)
        return records

    return apply


def _cut_stats(record: Any) -> None:
    record["_FILE"]["_VALUE_STATS"]["_MAX_VALUES"] = record["_FILE"]["_VALUE_STATS"]["_MAX_VALUES"][:-3]


def _other_schema(record: Any) -> None:
    record["_FILE"]["_SCHEMA_ID"] = 77


def _short_counts(record: Any) -> None:
    stats = record["_FILE"]["_VALUE_STATS"]
    stats["_NULL_COUNTS"] = [None, *stats["_NULL_COUNTS"][1:-1]]


def _no_stats(record: Any) -> None:
    empty = bytes(12)
    record["_FILE"]["_VALUE_STATS"] = {"_MIN_VALUES": empty, "_MAX_VALUES": empty, "_NULL_COUNTS": []}


def _cut_keys(record: Any) -> None:
    record["_FILE"]["_MIN_KEY"] = b"\x00\x00\x00\x09"


def _odd_partition(record: Any) -> None:
    record["_PARTITION"] = b"\x00\x00\x00\x09none"


def _unknown_stats_column(record: Any) -> None:
    record["_FILE"]["_VALUE_STATS_COLS"] = ["nobody"]


def _far_times(record: Any) -> None:
    record["_FILE"]["_CREATION_TIME"] = 2**62


def _other_kind(record: Any) -> None:
    record["_KIND"] = 5


CHANGES = (
    _cut_stats,
    _other_schema,
    _short_counts,
    _no_stats,
    _cut_keys,
    _odd_partition,
    _unknown_stats_column,
    _far_times,
    _other_kind,
)


@pytest.mark.parametrize("name", ["pk-types", "partition-types", "2.0.0-pk-schema-evolution"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
def test_changed_entries(name: str, change: Callable[[Any], None]) -> None:
    files = load(name)
    path = list_manifests(files)[0]
    reader = fastavro.reader(io.BytesIO(files[path]))
    fields = {field["name"]: field for field in reader.writer_schema["fields"]}
    names = {field["name"] for field in fields["_FILE"]["type"]["fields"]}
    if change is _unknown_stats_column and "_VALUE_STATS_COLS" not in names:
        files = load("2.0.0-stats-not-dense")
        path = list_manifests(files)[0]
    compare(rewrite(files, path, _each_file(change)), declines=None)


@pytest.mark.parametrize(
    "name", ["_EXTRA_FILES", "_VALUE_STATS_COLS", "_WRITE_COLS", "_WRITE_COLS_SEQUENCES"]
)
def test_a_text_where_a_list_is_due_is_no_manifest_entry(name: str) -> None:
    files = load("2.0.0-data-evolution")
    path = list_manifests(files)[0]
    reader = fastavro.reader(io.BytesIO(files[path]))
    schema, records = reader.writer_schema, list(reader)
    fields = next(field for field in schema["fields"] if field["name"] == "_FILE")["type"]["fields"]  # type: ignore[index,call-overload]
    fields[:] = [*(field for field in fields if field["name"] != name), {"name": name, "type": "string"}]
    for record in records:
        record["_FILE"][name] = "7"  # type: ignore[index,call-overload]
    out = io.BytesIO()
    fastavro.writer(out, schema, records)  # type: ignore[arg-type]
    damaged = {**files, path: out.getvalue()}
    assert "corrupt" in compare(damaged, declines=None)
    table = open_files(damaged)
    assert table.current is not None and list(table.current.files) is not None
    (message,) = {finding.message for finding in table.findings if finding.code == "corrupt"}
    kind = "numbers" if name.endswith("SEQUENCES") else "names"
    assert f"a list of {kind} in _FILE.{name}" in message and "7" in message


def test_some_damaged_entries_among_others() -> None:
    files = load("pk-compacted")

    def change(records: list[Any]) -> list[Any]:
        _cut_stats(records[0])
        return records

    for path in list_manifests(files):
        compare(rewrite(files, path, change), declines=None)


def test_a_file_that_is_added_twice_is_for_the_record_path() -> None:
    files = load("append")
    path = list_manifests(files)[0]
    codes = compare(rewrite(files, path, lambda records: [*records, *records]), declines=True)
    assert {"repeated-add", "manifest-counts"} <= codes


def test_a_delete_of_an_unknown_file_is_for_the_record_path() -> None:
    files = load("append")
    path = list_manifests(files)[0]
    gone = _each_file(lambda record: record.update(_KIND=1))
    assert {"dangling-delete", "manifest-counts"} <= compare(rewrite(files, path, gone), declines=True)


def test_entries_that_their_list_does_not_count() -> None:
    files = load("append")
    path = list_manifests(files)[0]

    def delete(records: list[Any]) -> list[Any]:
        return [*records, *({**record, "_KIND": 1} for record in records)]

    assert {"manifest-counts", "record-count"} <= compare(rewrite(files, path, delete), declines=True)


def test_files_left_out_make_another_total() -> None:
    files = load("append")
    path = list_manifests(files)[0]
    assert {"manifest-counts", "record-count"} <= compare(rewrite(files, path, lambda records: []))
