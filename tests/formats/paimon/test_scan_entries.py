"""What one commit added and removed, and every entry of its manifests, by column as record by record."""

from __future__ import annotations

import pytest

from lakelens.model.scan.files_to_arrow import build_table, make_request
from lakelens.model.scan.scan_to_arrow import iterate_batches, read_table
from tests.formats.paimon.test_scan import each_lake, force, iterate_snapshots
from tests.support.paimon_lakes import Lake
from tests.support.scans import assert_same_files

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)


@pytest.mark.exhaustive(keep=3)
@each_lake
def test_sets_of_a_commit_equal_the_recorded(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake):
        for files in (snapshot.delta_files, snapshot.removed_files, snapshot.changelog_files):
            assert files._reader is not None
            scan = files._reader.plan()
            columnar = read_table(force(scan))
            assert columnar is not None
            assert_same_files(columnar, build_table(list(files), files.columns))


@each_lake
def test_entries_by_column_equal_those_of_the_manifests(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake, most=1):
        scan = force(snapshot.scan_entries())
        request = make_request(scan.columns, entries=True)
        batches = list(iterate_batches(scan, request))
        entries = [entry for manifest in snapshot.manifests for entry in manifest.entries]
        assert [word for batch in batches for word in batch.plain["status"].to_pylist()] == [
            entry.status for entry in entries
        ]
        paths = [path for batch in batches for path in batch.plain["path"].to_pylist()]
        assert paths == [entry.file.path for entry in entries]
        content = [word for batch in batches for word in batch.plain["content"].to_pylist()]
        assert content == [entry.file.content for entry in entries]
