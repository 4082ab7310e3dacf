"""A table's history as data: every snapshot once, as it records itself, with lanes, rollbacks, gaps; and how it folds."""

from __future__ import annotations

import gc
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lakelens as ll
from lakelens.analysis.timeline.marks import Item, fold_marks, trace_history
from lakelens.analysis.timeline.timeline import Commit, Mark, RowCount, Timeline, count_rows, group_statements
from lakelens.errors import Unsupported
from lakelens.model.facts.traits import Amount, Figures
from lakelens.model.snapshot import Snapshot
from lakelens.opening import open_table
from tests.support import LAKES, growth

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)

EVERY = sorted(path for path in LAKES.glob("*/**/table") if path.is_dir())


def name_lake(path: Path) -> str:
    return str(path.parent.relative_to(LAKES))


def trace(name: str) -> Timeline:
    return ll.open(LAKES / name / "table").history


def find_lanes(history: Timeline) -> dict[str, list[int]]:
    """The numbers of the snapshots on each lane, counted from the oldest."""
    lanes: dict[str, list[int]] = {lane.name: [] for lane in history.lanes}
    for index, mark in enumerate(history.marks):
        lanes[history.lanes[mark.lane].name].append(index)
    return lanes


@pytest.mark.parametrize("path", EVERY, ids=name_lake)
def test_every_snapshot_once_as_it_records_itself(path: Path) -> None:
    try:
        table = open_table(path)
    except Unsupported:
        pytest.skip("a view, not a table")
    history = table.history
    keys = [mark.key for mark in history.marks]
    assert len(keys) == len(set(keys))
    own = {str(snapshot.id) for snapshot in table.snapshots}
    assert own <= set(keys)
    tagged = {str(ref.snapshot_id) for ref in table.refs.tags}
    assert {key for key in keys if "/" not in key} <= own | tagged
    assert [mark.time for mark in history.marks] == sorted(mark.time for mark in history.marks)
    assert {mark.lane for mark in history.marks} <= set(range(len(history.lanes)))
    for mark in history.marks:
        if table.format != "delta":  # its metrics are compared in tests/formats/delta
            check_amounts(mark)
        assert mark.parent is None or mark.parent in keys
    assert all(flag.key is None or flag.key in keys for flag in history.flags)
    assert (history.listing is not None) == (table.format == "hive")
    assert not any("manifest-" in path for path in table.reads.paths if path.endswith(".avro"))


def check_amounts(mark: Mark) -> None:
    """Against the raw document, read here with other words."""
    raw: Any = mark.snapshot.raw
    amounts = mark.amounts
    if "summary" in raw or "commitKind" not in raw:
        summary = raw.get("summary") or {}
        recorded = [
            ("added-records", amounts.added_rows),
            ("deleted-records", amounts.removed_rows),
            ("added-data-files", amounts.added_files),
            ("deleted-data-files", amounts.removed_files),
            ("added-files-size", amounts.added_bytes),
            ("removed-files-size", amounts.removed_bytes),
            ("total-records", amounts.rows),
            ("total-data-files", amounts.files),
            ("total-files-size", amounts.size_bytes),
        ]
        for key, amount in recorded:
            assert amount == (int(summary[key]) if key in summary else None), key
        return
    assert amounts.rows == raw.get("totalRecordCount")
    if raw.get("deltaRecordCount") is not None:
        assert (amounts.added_rows or 0) - (amounts.removed_rows or 0) == raw["deltaRecordCount"]


@pytest.mark.parametrize("path", EVERY, ids=name_lake)
def test_a_statement_changed_what_its_marks_changed(path: Path) -> None:
    """The last changes of a table and its timeline say the same rows of the same commits, by one rule."""
    try:
        table = open_table(path)
    except Unsupported:
        pytest.skip("a view, not a table")
    history = table.history
    own = {mark.key: mark for mark in history.marks}
    for statement in group_statements(table.snapshots[::-1]):
        marks = [own[str(snapshot.id)] for snapshot in statement.snapshots]
        assert [mark.rows for mark in marks] == list(statement.counts)
        item = Item(0, len(marks) - 1, tuple(marks))
        assert (item.added, item.removed) == (
            statement.changes.added_rows,
            statement.changes.removed_rows,
        )
        assert item.gone[1] == statement.rows_gone[0]
        for mark in marks:  # a rewrite changes no row; every other commit has what it records of itself
            recorded = (mark.amounts.added_rows or 0, mark.amounts.removed_rows or 0)
            assert (mark.rows.came, mark.rows.went) == ((0, 0) if mark.rows.is_rewrite else recorded)
            assert not mark.rows.is_rewrite or mark.operation in ("replace", "COMPACT")


def test_an_upsert_is_as_many_rows_that_went_as_came() -> None:
    job = ("writer", 1)
    upsert = [
        Commit("APPEND", None, job, Figures(net_rows=25)),
        Commit("COMPACT", None, job, Figures(net_rows=-25)),
    ]
    assert [(count.came, count.went) for count in count_rows(upsert)] == [(25, 0), (0, 25)]
    # the same compaction by itself changes no row: what it leaves out was written over before
    alone = count_rows([upsert[1]._replace(job=None)])
    assert alone == [RowCount(dropped=25, is_rewrite=True)]


def test_the_keys_that_a_delete_appends_did_not_come() -> None:
    job = ("writer", 1)
    keys = Commit("APPEND", "DELETE", job, Figures(net_rows=3))
    merged = Commit("COMPACT", "DELETE", job, Figures(net_rows=-6))
    assert [(count.came, count.went) for count in count_rows([keys, merged])] == [(0, 0), (0, 3)]
    assert [(count.came, count.went) for count in count_rows([keys])] == [(0, 3)]


def test_what_deletes_rows_is_no_rewrite_whatever_its_word() -> None:
    """Paimon commits a DELETE of an append table with deletion vectors as COMPACT."""
    marked = Commit("COMPACT", None, None, Figures(net_rows=0, deleted=Amount(3, 3)))
    assert not count_rows([marked])[0].is_rewrite
    # nothing but rows of its own accounts for more rows after a rewrite than before it
    assert count_rows([Commit("replace", None, None, Figures(added_rows=9, removed_rows=4))]) == [RowCount(5)]


def test_branches_follow_parents_and_tags_are_flags() -> None:
    history = trace("spark/iceberg/v2-branches-and-tags")
    assert find_lanes(history) == {"main": [0, 2, 3], "audit": [1]}
    keys = [mark.key for mark in history.marks]
    assert {(flag.name, flag.type, flag.key) for flag in history.flags} == {
        ("empty-handed", "branch", keys[2]),
        ("v1/with slash", "tag", keys[2]),
        ("first", "tag", keys[3]),
    }
    assert history.marks[1].parent == keys[0]


def test_a_rollback_is_told_from_the_log() -> None:
    history = trace("spark/iceberg/v2-rollback")
    first, second, third, last = (mark.key for mark in history.marks)
    (rollback,) = history.rollbacks
    assert (rollback.start, rollback.end, rollback.undone) == (third, first, (third, second))
    assert find_lanes(history) == {"main": [0, 3], "rolled back": [1, 2]}
    assert not history.lanes[1].is_branch
    assert history.marks[1].notes == ("rolled back",)
    assert history.marks[3].parent == first
    assert history.find(last) == 3


def test_what_was_replaced_was_not_rolled_back() -> None:
    history = trace("spark/iceberg/v2-replaced")
    assert history.rollbacks == ()
    assert find_lanes(history) == {"main": [1], "replaced": [0]}


def test_a_cherry_pick_is_told() -> None:
    history = trace("spark/iceberg/v2-cherry-pick")
    assert find_lanes(history) == {"main": [0, 2, 3], "staged": [1]}
    assert history.marks[1].notes == ("staged as staged-7",)
    assert history.marks[3].notes[0] == f"cherry-picked from {history.marks[1].key}"
    assert history.rollbacks == ()


def test_a_fast_forward_leaves_one_line() -> None:
    history = trace("spark/iceberg/v2-fast-forward")
    assert find_lanes(history) == {"main": [0, 1]}
    assert [(flag.name, flag.key) for flag in history.flags] == [("audit", history.marks[1].key)]
    assert history.rollbacks == ()


def test_expired_snapshots_leave_a_gap() -> None:
    history = trace("spark/iceberg/v2-expired")
    assert [(gap.before, gap.count) for gap in history.gaps] == [(history.marks[0].key, None)]
    history = trace("spark/paimon/expired")
    assert [(gap.before, gap.count) for gap in history.gaps] == [("5", 4)]
    assert history.marks[0].notes == ("what came before has expired",)
    assert [mark.kind for mark in history.marks] == ["append", "compact"]


def test_a_paimon_branch_begins_where_it_was_made() -> None:
    history = trace("paimon-java/2.0.0-branches")
    keys = [mark.key for mark in history.marks]
    assert keys == ["1", "2", "3", "worked/3", "worked/4", "empty/1", "4"]
    assert [lane.name for lane in history.lanes] == ["main", "empty", "worked"]
    assert history.marks[3].parent == "2"
    assert [(flag.name, flag.type, flag.key) for flag in history.flags] == [
        ("from_tag", "branch", "2"),
        ("base", "tag", "2"),
    ]


def test_a_paimon_branch_can_be_opened_itself() -> None:
    history = ll.open(LAKES / "paimon-java/2.0.0-branches/table", branch="worked").history
    assert history.lanes[0].name == "worked"
    assert {"2", "3", "4", "main/3", "main/4"} <= {mark.key for mark in history.marks}


def test_a_tag_keeps_what_expired() -> None:
    history = trace("paimon-java/2.0.0-tags")
    assert [(mark.key, mark.parent, mark.lane) for mark in history.marks] == [("2", None, 0), ("3", "2", 0)]
    assert "expired, kept by a tag" in history.marks[0].notes
    assert [(gap.before, gap.count) for gap in history.gaps] == [("2", 1)]


def test_hive_has_no_snapshots_but_a_listing() -> None:
    history = trace("spark/hive/parquet")
    assert len(history) == 0
    assert history.listing is not None
    assert len(history.listing.files) == 3


def test_a_log_and_parents_that_lie_end(tmp_path: Path) -> None:
    """Parents in a circle, refs and log entries of nothing: the history is told all the same."""
    root = tmp_path / "table"
    shutil.copytree(LAKES / "spark/iceberg/v2-rollback/table", root)
    path = sorted((root / "metadata").glob("*.metadata.json"))[-1]
    document = json.loads(path.read_text())
    ids = [snapshot["snapshot-id"] for snapshot in document["snapshots"]]
    document["snapshots"][0]["parent-snapshot-id"] = ids[-1]
    document["snapshots"][1]["parent-snapshot-id"] = ids[1]
    document["snapshot-log"] += [
        {"timestamp-ms": 1, "snapshot-id": number} for number in (5, ids[0], ids[1], 5)
    ]
    document["refs"]["nowhere"] = {"snapshot-id": 5, "type": "tag"}
    path.write_text(json.dumps(document))
    history = ll.open(root).history
    assert {mark.key for mark in history.marks} == {str(number) for number in ids}
    assert next(flag for flag in history.flags if flag.name == "nowhere").key is None


def test_no_manifest_is_read_for_a_long_history(tmp_path: Path) -> None:
    table = ll.open(growth.grow_iceberg(tmp_path / "table", snapshots=10_000))
    before = table.reads.files
    assert len(table.history) == len(table.snapshots) > 10_000
    assert table.reads.files == before


def make_marks(times: list[int]) -> list[Mark]:
    fake: Any = None
    return [
        Mark(str(n), fake, "append", "append", n % 3, time, None, Figures(added_rows=n))
        for n, time in enumerate(sorted(times))
    ]


@given(
    st.lists(st.integers(0, 4_000_000_000_000), max_size=300),
    st.integers(1, 60),
    st.integers(1, 20),
)
@settings(max_examples=60)
def test_folds_hold_every_mark_once_and_open_to_single_ones(
    times: list[int], newest: int, folds: int
) -> None:
    marks = make_marks(times)
    singles = newest + folds
    windows = [(0, len(marks))]
    opened = []
    while windows:
        first, end = windows.pop()
        folding = fold_marks(marks, first, end, singles=singles, newest=newest, folds=folds)
        assert len(folding.items) <= singles
        assert [mark for item in folding.items for mark in item.marks] == marks[first:end]
        assert all(item.marks == tuple(marks[item.first : item.last + 1]) for item in folding.items)
        assert all(item.count == 1 for item in folding.items[folding.folded :])
        for item in folding.items:
            if item.count == 1:
                opened.append(item.first)
            else:
                assert item.count < end - first, "opening a fold shows less than before"
                windows.append((item.first, item.last + 1))
    assert sorted(opened) == list(range(len(marks)))


def test_the_newest_stay_single_and_the_unit_is_the_finest_that_fits() -> None:
    day = 86_400_000
    marks = make_marks([20_000 * day + n * day // 4 for n in range(200)])
    folding = fold_marks(marks, 0, 200, singles=50, newest=20, folds=12)
    assert folding.unit == "a week"
    assert sum(item.count for item in folding.items[: folding.folded]) == 180
    assert all(item.count <= 28 for item in folding.items)
    assert fold_marks(marks, 0, 50, singles=50, newest=20, folds=12).folded == 0


def test_the_verb_is_the_analysis() -> None:
    table = ll.open(LAKES / "spark/iceberg/v2-basic/table")
    assert trace_history(table).marks == table.history.marks


def test_a_long_history_keeps_no_snapshot_that_nobody_looks_at(tmp_path: Path) -> None:
    table = ll.open(growth.grow_iceberg(tmp_path / "long", snapshots=3_000))
    history = table.history
    gc.collect()
    alive = sum(
        isinstance(one, Snapshot) and one.table_location == table.location for one in gc.get_objects()
    )
    assert len(history) == len(table.snapshots) > 3_000
    assert alive < 2_000
    assert [mark.snapshot.id for mark in history.marks] == [snapshot.id for snapshot in table.snapshots]
    assert table.snapshots.to_arrow()["id"].to_pylist() == [snapshot.id for snapshot in table.snapshots]
