"""What a diff reads: manifests that changed, in tables whose other manifests would be much to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lakelens.analysis.diff.diff import Diff
from lakelens.model.comparison import FileCounts
from lakelens.model.table import Table
from lakelens.opening import open_table
from tests.support.growth import LAKES, _write_avro, grow_iceberg, grow_paimon, read_avro

FILES, MANIFESTS, CHANGED = 100_000, 100, 10


@pytest.fixture(scope="module")
def iceberg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lake") / "table"
    return grow_iceberg(place, files=FILES, manifests=MANIFESTS, snapshots=3, appended=CHANGED)


@pytest.fixture(scope="module")
def paimon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lake") / "table"
    return grow_paimon(place, files=FILES, manifests=MANIFESTS, snapshots=3, appended=CHANGED)


def list_manifests(table: Table) -> list[str]:
    """The manifests that were read, which is not: their lists, snapshots and schemas."""
    names = [path.rsplit("/", 1)[-1] for path in table.reads.paths]
    lists = ("snap-", "manifest-list-", "index-manifest-")
    return [
        n for n in names if (n.endswith(".avro") or n.startswith("manifest-")) and not n.startswith(lists)
    ]


def look_at(diff: Diff) -> None:
    """Everything that a reader sees at first, and the parts by name."""
    assert diff._repr_html_() and str(diff) and diff.sentence and repr(diff)
    assert diff.by_partition and diff.summary and diff.kept_by_content
    assert diff.added.to_arrow().num_rows == CHANGED
    assert not diff.index_files.added and not diff.deletes.added and not diff.partitioning
    assert len(diff.manifests.new) == 1


def test_iceberg_reads_the_manifests_that_changed(iceberg: Path) -> None:
    table = open_table(iceberg)
    before, after = table.snapshots[-2:]
    diff = table.diff(before, after)
    assert not list_manifests(table)
    look_at(diff)
    assert list_manifests(table) == ["appended-m0.avro"]
    assert (len(diff.added), len(diff.removed)) == (CHANGED, 0)
    assert diff.kept_counts.files == int(before.summary["total-data-files"]) >= FILES
    assert diff.kept_counts.rows == before.record_count
    assert diff.kept_counts.bytes == int(before.summary["total-files-size"])
    assert diff.summary["kept_files"] == diff.kept_counts.files


def test_iceberg_the_other_way_round_reads_the_same(iceberg: Path) -> None:
    table = open_table(iceberg)
    diff = table.diff(table.snapshots[-1], table.snapshots[0])
    assert (len(diff.added), len(diff.removed)) == (0, CHANGED)
    assert diff._repr_html_()
    assert list_manifests(table) == ["appended-m0.avro"]


def test_paimon_reads_the_manifests_that_changed(paimon: Path) -> None:
    table = open_table(paimon)
    before, after = table.snapshots[-2:]
    diff = table.diff(before, after)
    assert not list_manifests(table)
    look_at(diff)
    assert list_manifests(table) == ["manifest-appended"]
    assert (len(diff.added), len(diff.removed)) == (CHANGED, 0)
    assert diff.kept_counts.rows == (after.record_count or 0) - diff.added.record_count
    assert diff.kept_counts.files is not None and diff.kept_counts.files >= FILES
    assert diff.kept_counts.bytes is None and diff.summary["kept_bytes"] is None


def test_paimon_any_two_snapshots_read_the_manifests_between(paimon: Path) -> None:
    table = open_table(paimon)
    forth = table.diff(table.snapshots[-4], table.snapshots[-1])
    back = table.diff(table.snapshots[-1], table.snapshots[-4])
    for diff in (forth, back):
        assert diff._repr_html_() and diff.sentence
    assert not any("grown" in name for name in list_manifests(table))
    assert [f.path for f in forth.added] == [f.path for f in back.removed]
    assert len(forth.added) >= CHANGED and not forth.removed


def rewrite_base(place: Path) -> None:
    """Let the last commit also have rewritten its base manifests, under other names, as a merge of manifests does."""
    newest = max((place / "snapshot").glob("snapshot-*"), key=lambda path: int(path.name.split("-")[1]))
    document: dict[str, Any] = json.loads(newest.read_text())
    before = json.loads(newest.with_name(f"snapshot-{document['id'] - 1}").read_text())
    folder = place / "manifest"
    header, lines = read_avro(folder / document["baseManifestList"])
    for number, line in enumerate(lines):
        merged = folder / f"manifest-merged-{number}"
        merged.write_bytes((folder / line["_FILE_NAME"]).read_bytes())
        line["_FILE_NAME"] = merged.name
    document["baseManifestList"] = "manifest-list-merged-0"
    document["deltaRecordCount"] = document["totalRecordCount"] - before["totalRecordCount"]
    size = _write_avro(folder / document["baseManifestList"], header, lines)
    document.pop("baseManifestListSize", None)
    assert size
    newest.write_text(json.dumps(document))


def test_paimon_after_a_rewrite_of_the_manifests_reads_the_deltas(tmp_path: Path) -> None:
    place = grow_paimon(tmp_path / "table", files=5_000, manifests=10, snapshots=2, appended=CHANGED)
    rewrite_base(place)
    table = open_table(place)
    diff = table.diff(table.snapshots[-2], table.snapshots[-1])
    assert (len(diff.added), len(diff.removed)) == (CHANGED, 0)
    assert list_manifests(table) == ["manifest-appended"]
    assert len(diff.manifests.dropped) == len(diff.manifests.new) - 1 == 10 + len(table.snapshots) - 2
    back = table.diff(table.snapshots[-1], table.snapshots[-2])
    assert (len(back.added), len(back.removed)) == (0, CHANGED)
    assert list_manifests(table) == ["manifest-appended"]


def test_paimon_deltas_whose_rows_do_not_add_up_are_not_trusted(tmp_path: Path) -> None:
    place = grow_paimon(tmp_path / "table", files=500, manifests=2, snapshots=2, appended=CHANGED)
    rewrite_base(place)
    newest = max((place / "snapshot").glob("snapshot-*"), key=lambda path: int(path.name.split("-")[1]))
    newest.write_text(json.dumps(json.loads(newest.read_text()) | {"deltaRecordCount": 1}))
    table = open_table(place)
    diff = table.diff(table.snapshots[-2], table.snapshots[-1])
    assert (len(diff.added), len(diff.removed)) == (CHANGED, 0)
    assert any(name.startswith("manifest-merged") for name in list_manifests(table))


def test_paimon_files_that_do_not_add_up_are_not_told_by_deltas(tmp_path: Path) -> None:
    """A commit that put other files in place: its delta does not tell them, its manifests do."""
    place = grow_paimon(tmp_path / "table", files=500, manifests=2, snapshots=2, appended=CHANGED)
    rewrite_base(place)
    newest = max((place / "snapshot").glob("snapshot-*"), key=lambda path: int(path.name.split("-")[1]))
    document = json.loads(newest.read_text())
    folder = place / "manifest"
    header, lines = read_avro(folder / document["baseManifestList"])
    lost = next(line for line in lines if line["_NUM_ADDED_FILES"] == 250)
    _write_avro(folder / document["baseManifestList"], header, [line for line in lines if line is not lost])
    table = open_table(place)
    diff = table.diff(table.snapshots[-2], table.snapshots[-1])
    assert (len(diff.added), len(diff.removed)) == (CHANGED, 250)


@pytest.mark.parametrize("totals", [True, False])
def test_lists_without_counts_leave_the_totals_of_the_snapshot(totals: bool, iceberg: Path) -> None:
    """Version 1 need not count: then the snapshot's totals tell, and without them nothing does."""
    table: Any = open_table(iceberg)
    before, after = table.snapshots[-2:]
    for manifest in after.manifests:
        manifest.added_files_count = manifest.existing_rows_count = None
    if not totals:
        after.summary = {}
    diff = table.diff(before, after)
    rows, size = before.record_count, int(before.summary["total-files-size"])
    expected = FileCounts(int(before.summary["total-data-files"]), rows, size)
    assert diff.kept_counts == (expected if totals else FileCounts(None, None, None))
    assert diff._repr_html_() and list_manifests(table) == ["appended-m0.avro"]


def test_small_tables_are_counted_exactly() -> None:
    table = open_table(LAKES / "iceberg" / "v2-merge-on-read" / "table")
    for one in table.snapshots:
        diff = one.changes
        assert sum(part.files or 0 for part in diff.kept_by_content.values()) == len(diff.kept)
        assert diff.kept_counts.bytes == diff.kept.size_bytes
        assert set(diff.kept_by_content) == {found.content for found in diff.kept}


def test_of_many_commits_between_only_their_number_is_told(tmp_path: Path) -> None:
    """Each commit of Paimon is a document of its own: a far range does not read them all."""
    table = open_table(grow_paimon(tmp_path / "t", files=10, manifests=1, snapshots=150, appended=CHANGED))
    last = table.current
    assert last is not None and last.id is not None
    first = last.id - 140
    assert (
        table.diff(first, last).sentence == f"140 snapshots later: {CHANGED} files added; {CHANGED} more rows"
    )
    assert table.diff(last, first).action == "140 snapshots earlier"
    read = [path for path in table.reads.paths if "/snapshot/snapshot-" in path]
    assert len(read) < 10
