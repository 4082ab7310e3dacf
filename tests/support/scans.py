"""The two ways to a table of files, side by side: by column (`read_table`, `stream_batches`) and record by record."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from lakelens.model.scan.files_to_arrow import build_table
from lakelens.model.scan.plan import FileScan
from lakelens.model.scan.scan_to_arrow import read_table, stream_batches


def build_recorded(snapshot: Any, **request: Any) -> pa.Table:
    """What the record path gives for the files of a snapshot."""
    files = snapshot.files
    return build_table(
        list(files), files.columns, stats=request.get("stats", True), wanted=request.get("columns")
    )


def read_columnar(scan: FileScan, **request: Any) -> pa.Table | None:
    """What the columnar path gives; None where it declines (a file that stands twice)."""
    return read_table(scan, **request)


def stream_columnar(scan: FileScan, size: int = 3, **request: Any) -> pa.Table:
    """The batches of the columnar path, joined."""
    batches = list(stream_batches(scan, size, **request))
    assert all(batch.num_rows <= size for batch in batches)
    assert batches, "no batch at all"
    return pa.Table.from_batches(batches)


def assert_same_files(columnar: pa.Table, recorded: pa.Table) -> None:
    """Equal schema and equal values, null for null and NaN for NaN; the first difference is named."""
    assert columnar.column_names == recorded.column_names
    assert columnar.num_rows == recorded.num_rows
    for name in recorded.column_names:
        ours, theirs = columnar[name], recorded[name]
        assert ours.type == theirs.type, f"{name}: {ours.type} for {theirs.type}"
        if not ours.equals(theirs):
            for row, (one, other) in enumerate(zip(ours.to_pylist(), theirs.to_pylist(), strict=True)):
                assert repr(one) == repr(other), f"{name}, row {row}"
