"""The columnar path of Paimon gives what the record path gives, for every table that an engine wrote."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from lakelens.formats.paimon.scan.plan import PaimonScan
from lakelens.formats.paimon.snapshot import PaimonSnapshot
from lakelens.model.scan.files_to_arrow import build_table, list_columns
from lakelens.model.scan.plan import FileScan
from tests.support.paimon_lakes import Lake, list_lakes
from tests.support.scans import assert_same_files, build_recorded, read_columnar, stream_columnar

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)

LAKES = list_lakes()
each_lake = pytest.mark.parametrize("lake", LAKES, ids=lambda lake: lake.name)
SOME = ("path", "record_count", "lower_bounds")


def force(scan: FileScan) -> PaimonScan:
    """The scan, which reads by column whatever the size."""
    assert isinstance(scan, PaimonScan)
    scan.fast = True
    return scan


def iterate_snapshots(lake: Lake, most: int = 2) -> Iterator[PaimonSnapshot]:
    for table, _ in lake.views():
        yield from [*table.snapshots][-most:]


def word_findings(snapshot: PaimonSnapshot) -> set[tuple[Any, ...]]:
    return {(f.severity, f.code, f.path, f.message, f.snapshots) for f in snapshot.context.findings}


@pytest.fixture(autouse=True)
def _no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """What engines write never needs the record path."""

    def refuse(*arguments: Any) -> None:
        raise AssertionError("read record by record")

    monkeypatch.setattr(PaimonScan, "records", refuse)


@pytest.mark.exhaustive(keep=3)
@each_lake
def test_files_by_column_equal_the_recorded(lake: Lake) -> None:
    snapshots = list(iterate_snapshots(lake))
    if not snapshots:
        return  # a schema alone
    for snapshot in snapshots:
        scan = force(snapshot.scan_files())
        recorded = build_recorded(snapshot)
        columnar = read_columnar(scan)
        assert columnar is not None
        assert_same_files(columnar, recorded)
    again = read_columnar(pickle.loads(pickle.dumps(scan)))
    assert again is not None
    assert_same_files(again, recorded)


@pytest.mark.exhaustive(keep=3)
@each_lake
def test_streamed_files_equal_the_recorded(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake, most=1):
        files = list(snapshot.files)
        if files:
            recorded = build_table(files, snapshot.files.columns, keep_dropped=True)
            assert_same_files(stream_columnar(force(snapshot.scan_files())), recorded)


@pytest.mark.exhaustive(keep=3)
@each_lake
def test_parts_of_the_columns_equal_the_recorded(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake, most=1):
        scan = force(snapshot.scan_files())
        for request in ({"stats": False}, {"columns": SOME}):
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
