"""Tables that delta-spark and delta-rs wrote, compared with what DuckDB's delta extension reads of every version."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from urllib.parse import unquote

import pytest

import lakelens as ll
from tests.support import LAKES

FOLDER = LAKES / "delta"
SAID: dict[str, dict[str, Any]] = json.loads((FOLDER / "duckdb.json").read_text("utf-8"))["tables"]
#: What DuckDB 1.5 cannot read, and why.
REFUSED = {
    "Unsupported Delta table type: 'void'": {"spark/types"},
    "No files in log segment": {"rs/cleaned"},  # the beginning of the log is gone, these versions with it
    "/file:/": {"spark/cloned"},  # a URI of another place is taken as a path below the table
    "No such file or directory": {"rs/vacuumed", "spark/dml"},  # files that VACUUM deleted
}
#: Of columns that are mapped its list of files has NULL, as it looks for the values by logical names.
UNREAD_PARTITIONS = {"spark/mapped-name", "spark/iceberg-compat"}


def spread(ranges: list[list[int]]) -> list[int]:
    """List the numbers of ranges."""
    return [number for first, last in ranges for number in range(first, last + 1)]


def write_value(value: Any) -> str:
    """Write a value as DuckDB does."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    return (
        value.isoformat(" ").removesuffix(":00")
        if isinstance(value, datetime) and value.tzinfo
        else str(value)
    )


@pytest.mark.parametrize("name", SAID)
def test_files_and_live_rows_as_duckdb_reads_them(name: str) -> None:
    table = ll.open(FOLDER / name / "table")
    for version, said in SAID[name].items():
        if "error" in said:
            continue
        snapshot = table.snapshot(int(version))
        ours = {}
        for file in snapshot.files:
            rows = file.footer.num_rows if file.record_count is None else file.record_count
            deleted = set(file.deleted_positions)
            path = unquote(file.logical_path)
            ours[path] = [row for row in range(rows) if row not in deleted]
        assert ours == {path: spread(ranges) for path, ranges in said["live"].items()}, version


@pytest.mark.parametrize("name", [name for name, held in SAID.items() if "partitions" in str(held)])
def test_partition_values_as_duckdb_lists_them(name: str) -> None:
    """As texts of typed values; DuckDB writes NULL for the value that is missing."""
    table = ll.open(FOLDER / name / "table")
    for version, said in SAID[name].items():
        for file in table.snapshot(int(version)).files if "partitions" in said else ():
            values = said["partitions"][unquote(file.logical_path)]
            if name in UNREAD_PARTITIONS:
                assert set(values.values()) == {"NULL"}
                continue
            assert {key: write_value(value) for key, value in file.partition.items()} == values


def test_what_duckdb_cannot_read_is_known() -> None:
    found: dict[str, set[str]] = {}
    for name, versions in SAID.items():
        for said in versions.values():
            if "error" in said:
                (cause,) = [text for text in REFUSED if text in said["error"]][:1]
                found.setdefault(cause, set()).add(name)
    assert found == REFUSED
