"""The columnar path of Iceberg gives what the record path gives, for every table that an engine wrote."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from lakelens.formats.iceberg.scan.batch import encode_files
from lakelens.formats.iceberg.scan.plan import IcebergScan
from lakelens.formats.iceberg.snapshot import IcebergSnapshot
from lakelens.model.scan.files_to_arrow import (
    assemble_table,
    batch_entries,
    build_table,
    list_columns,
    make_request,
)
from lakelens.model.scan.plan import FileScan, ScanRequest
from lakelens.model.scan.scan_to_arrow import iterate_batches, read_table
from tests.support.iceberg_lakes import Lake, find_lakes
from tests.support.scans import assert_same_files, build_recorded, read_columnar, stream_columnar

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)

LAKES = [lake for lake in find_lakes() if not lake.is_view]
each_lake = pytest.mark.parametrize("lake", LAKES, ids=lambda lake: lake.name)
SOME = ("path", "record_count", "lower_bounds")


def force(scan: FileScan) -> IcebergScan:
    """The scan, which reads by column whatever the size."""
    assert isinstance(scan, IcebergScan)
    scan.fast = True
    return scan


def iterate_snapshots(lake: Lake, most: int = 4) -> Iterator[IcebergSnapshot]:
    for snapshot in [*lake.open().snapshots][-most:]:
        assert isinstance(snapshot, IcebergSnapshot)
        yield snapshot


def read_files(scan: FileScan, **request: Any) -> pa.Table:
    table = read_columnar(force(scan), **request)
    assert table is not None
    return table


@pytest.fixture(autouse=True)
def _no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """What engines write never needs the record path."""

    def refuse(*arguments: Any) -> None:
        raise AssertionError("read record by record")

    monkeypatch.setattr(IcebergScan, "records", refuse)


@pytest.mark.exhaustive(keep=2)
@each_lake
def test_files_by_column_equal_the_recorded(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake):
        columnar = read_files(snapshot.scan_files())
        assert_same_files(columnar, build_recorded(snapshot))


@each_lake
def test_a_scan_that_was_sent_elsewhere_reads_the_same(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake, most=1):
        scan = pickle.loads(pickle.dumps(force(snapshot.scan_files())))
        assert_same_files(read_files(scan), build_recorded(snapshot))
        assert not list(scan.findings)


@pytest.mark.exhaustive(keep=3)
@each_lake
def test_parts_of_the_columns_equal_the_recorded(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake, most=1):
        scan = snapshot.scan_files()
        for request in ({"stats": False}, {"columns": SOME}, {"columns": ("partition", "null_counts")}):
            assert_same_files(read_files(scan, **request), build_recorded(snapshot, **request))


@pytest.mark.parametrize("name", ["v3-merge-on-read", "v2-schema-evolution", "v4-evolution"])
def test_each_column_alone_equals_the_recorded(name: str) -> None:
    (lake,) = (lake for lake in LAKES if lake.name == name)
    (snapshot,) = iterate_snapshots(lake, most=1)
    scan = snapshot.scan_files()
    for column in list_columns(scan.columns, stats=True):
        recorded = build_recorded(snapshot, columns=[column])
        assert_same_files(read_files(scan, columns=[column]), recorded)


@each_lake
def test_streamed_files_equal_the_recorded(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake, most=1):
        scan = force(snapshot.scan_files())
        files = list(snapshot.files)
        if files:
            recorded = build_table(files, snapshot.files.columns, keep_dropped=True)
            assert_same_files(stream_columnar(scan), recorded)


@each_lake
def test_entries_by_column_equal_those_of_the_manifests(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake, most=1):
        scan = force(snapshot.scan_entries())
        request = make_request(scan.columns, entries=True, identity=True)
        batches = list(iterate_batches(scan, request))
        recorded = [
            batch_entries(list(enumerate(manifest.entries)), scan.columns, request, position, encode_files)
            for position, manifest in enumerate(dict.fromkeys(snapshot.manifests))
        ]
        ours, theirs = (assemble_table(side, scan.columns, request) for side in (batches, recorded))
        assert_same_files(ours, theirs)
        for name in ("identity", "order"):
            values = (
                [one for b in side for one in getattr(b, name).to_pylist()] for side in (batches, recorded)
            )
            assert next(values) == next(values)


@pytest.mark.parametrize(("name", "reserved"), [("v2-merge-on-read", "pos"), ("v3-merge-on-read", "_row_id")])
def test_batches_have_the_same_columns_by_either_path(name: str, reserved: str) -> None:
    (lake,) = (lake for lake in LAKES if lake.name == name)
    by_record, by_column = (next(iterate_snapshots(lake, most=1)) for _ in range(2))
    schema = next(by_record.files.batches()).schema
    assert stream_columnar(force(by_column.scan_files())).schema == schema
    assert reserved in {field.name for field in schema.field("lower_bounds").type}


def test_tasks_are_planned_from_the_manifest_list_alone() -> None:
    (lake,) = (lake for lake in LAKES if lake.name == "v2-manifest-merge")
    table = lake.open()
    snapshot = table.current
    assert snapshot is not None
    scan = snapshot.scan_files()
    assert isinstance(scan, IcebergScan)
    assert [task.path for task in scan.tasks] == [manifest.path for manifest in snapshot.manifests]
    assert [task.entries for task in scan.tasks] == [len(m.entries) for m in lake.open().current.manifests]  # type: ignore[union-attr]
    assert not set(table.reads.paths) & {task.path for task in scan.tasks}
    assert not scan.removes


def test_some_tasks_read_their_own_files_only() -> None:
    (lake,) = (lake for lake in LAKES if lake.name == "v2-basic")
    snapshot = lake.open().current
    assert snapshot is not None
    scan = snapshot.scan_files()
    assert scan is not None and len(scan.tasks) > 1
    parts = [read_table(force(scan.with_tasks([task]))) for task in scan.tasks]
    whole = read_table(force(scan))
    assert whole is not None and pa.concat_tables([part for part in parts if part is not None]).equals(whole)
    assert list(scan.read([], ScanRequest())) == []
