"""The columnar path of Paimon gives what the record path gives, for every table that an engine wrote."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from lakelens.formats.paimon.scan import PaimonScan
from lakelens.formats.paimon.snapshot import PaimonSnapshot
from lakelens.model.filetable import build_table, list_columns
from lakelens.model.scan import FileScan
from lakelens.model.scanread import iterate_batches, make_request, read_table
from tests.formats.paimon_lakes import Lake, list_lakes
from tests.scans import assert_same_files, build_recorded, read_columnar, stream_columnar

LAKES = list_lakes()
each_lake = pytest.mark.parametrize("lake", LAKES, ids=lambda lake: lake.name)
SOME = ("path", "record_count", "lower_bounds")


def force(scan: FileScan) -> PaimonScan:
    """The scan, which reads by column whatever the size."""
    assert isinstance(scan, PaimonScan)
    return scan


def iterate_snapshots(lake: Lake, most: int = 4) -> Iterator[PaimonSnapshot]:
    for table, _ in lake.views():
        yield from [*table.snapshots][-most:]


def word_findings(snapshot: PaimonSnapshot) -> set[tuple[Any, ...]]:
    return {(f.severity, f.code, f.path, f.message, f.snapshots) for f in snapshot.context.findings}


@pytest.fixture(autouse=True)
def _no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """What engines write never needs the record path."""

    def refuse(*arguments: Any) -> None:
        raise AssertionError("read record by record")

    monkeypatch.setattr(PaimonScan, "_read_records", refuse)


@each_lake
def test_files_by_column_equal_the_recorded(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake):
        scan = force(snapshot.scan_files())
        recorded = build_recorded(snapshot)
        columnar = read_columnar(scan)
        assert columnar is not None
        assert_same_files(columnar, recorded)
        pickled = pickle.loads(pickle.dumps(scan))
        again = read_columnar(pickled)
        assert again is not None
        assert_same_files(again, recorded)


@each_lake
def test_parts_of_the_columns_equal_the_recorded(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake, most=1):
        scan = force(snapshot.scan_files())
        for request in ({"stats": False}, {"columns": SOME}, {"columns": ("partition", "null_counts")}):
            columnar = read_columnar(scan, **request)
            assert columnar is not None
            assert_same_files(columnar, build_recorded(snapshot, **request))


@pytest.mark.parametrize("name", ["paimon-pk-schema-evolution", "paimon-java-2.0.0-external-paths"])
def test_each_column_alone_equals_the_recorded(name: str) -> None:
    (lake,) = (lake for lake in LAKES if lake.name == name)
    snapshot = lake.open().current
    assert snapshot is not None
    scan = force(snapshot.scan_files())
    for column in list_columns(scan.columns, stats=True):
        columnar = read_columnar(scan, columns=[column])
        assert columnar is not None
        assert_same_files(columnar, build_recorded(snapshot, columns=[column]))


@each_lake
def test_streamed_files_equal_the_recorded(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake, most=1):
        files = list(snapshot.files)
        if files:
            recorded = build_table(files, snapshot.files.columns, keep_dropped=True)
            assert_same_files(stream_columnar(force(snapshot.scan_files())), recorded)


@each_lake
def test_sets_of_a_commit_equal_the_recorded(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake):
        for files in (snapshot.delta_files, snapshot.removed_files, snapshot.changelog_files):
            assert files._plan_scan is not None
            scan = files._plan_scan()
            assert scan is not None
            columnar = read_table(force(scan))
            assert columnar is not None
            assert_same_files(columnar, build_table(list(files), files.columns))


@each_lake
def test_entries_by_column_equal_those_of_the_manifests(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake, most=1):
        scan = force(snapshot.scan_entries())
        request = make_request(scan, entries=True)
        batches = list(iterate_batches(scan, request))
        entries = [entry for manifest in snapshot.manifests for entry in manifest.entries]
        assert [word for batch in batches for word in batch.plain["status"].to_pylist()] == [
            entry.status for entry in entries
        ]
        paths = [path for batch in batches for path in batch.plain["path"].to_pylist()]
        assert paths == [entry.file.path for entry in entries]
        content = [word for batch in batches for word in batch.plain["content"].to_pylist()]
        assert content == [entry.file.content for entry in entries]
