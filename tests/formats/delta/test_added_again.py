"""A file that a log adds twice, or removes twice, is there once: the newest action of a path and its vector counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from tests.formats.delta.test_log import METADATA, PROTOCOL, add, remove, write_checkpoint, write_commit

#: What each version does to file `a`, and whether the version has it; the second remove and the second add change nothing.
COMMITS = (("add", True), ("add", True), ("", True), ("remove", False), ("remove", False), ("add", True))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A table of two files, of which one is added again while it is there, and removed again when it is gone."""
    for name, ids in (("a", [1, 2]), ("b", [3])):
        pq.write_table(pa.table({"id": ids}), tmp_path / f"{name}.parquet")
    for version, (does, _) in enumerate(COMMITS):
        actions: list[Any] = [] if version else [PROTOCOL, METADATA, describe(tmp_path, "b")]
        if does:
            actions.append(describe(tmp_path, "a") if does == "add" else remove("a.parquet"))
        write_commit(tmp_path, version, *actions, {"commitInfo": {"timestamp": 1_000_000 * (9 - version)}})
    return tmp_path


def describe(root: Path, name: str) -> dict[str, Any]:
    """The action that adds a file."""
    size, rows = (root / f"{name}.parquet").stat().st_size, 2 if name == "a" else 1
    return add(f"{name}.parquet", size=size, stats=f'{{"numRecords":{rows}}}')


def test_rows_are_those_of_each_version(root: Path) -> None:
    """Each row has one version for each time that its file was there, whatever the clocks of the writers said."""
    versions = ll.open(root).row("id < 3").versions
    lives = [
        (version.values["id"], version.since_id, version.end and version.end.snapshot_id)
        for version in versions
    ]
    assert sorted(lives, key=str) == [(1, 0, 3), (1, 5, None), (2, 0, 3), (2, 5, None)]


def test_a_biography_follows_the_file(root: Path) -> None:
    """It is removed once, by the first commit that does so, and comes back."""
    biography = ll.open(root).biography("a.parquet")
    events = [
        (event.what, event.snapshot_id) for event in biography.events if event.what in ("added", "removed")
    ]
    assert sorted(events, key=lambda pair: pair[1] or 0) == [("added", 0), ("removed", 3), ("added", 5)]
    held = {holder.snapshot_id for holder in biography.kept_by}
    assert held == {version for version, (_, is_there) in enumerate(COMMITS) if is_there}


def test_a_check_needs_no_file_that_was_added_twice_and_is_gone(root: Path) -> None:
    """VACUUM may delete it; the rows of the file are compared with what its newest action says."""
    write_commit(root, len(COMMITS), add("b.parquet", size=1, stats='{"numRecords":7}'))
    write_commit(root, len(COMMITS) + 1, describe(root, "b"), remove("a.parquet"))
    (root / "a.parquet").unlink()
    report = ll.open(root).check(data=True)
    assert not [finding for finding in report.findings if finding.severity in ("error", "warning")]


def test_a_history_counts_what_a_commit_changes(root: Path) -> None:
    """A file that is there already is not added, and one that is gone is not removed, whichever version is asked first."""
    expected = [(2, 0), (0, 0), (0, 0), (0, 1), (0, 0), (1, 0)]
    rows = ll.open(root).history.to_arrow().to_pylist()
    assert [(row["added_files"], row["removed_files"]) for row in rows] == expected
    assert [row["added_rows"] for row in rows] == [3, 0, 0, 0, 0, 2]
    later = [snapshot.answers.effects(snapshot) for snapshot in reversed(ll.open(root).snapshots)]
    assert [(figures.added_files, figures.removed_files) for figures in later] == expected[::-1]


def test_a_history_goes_on_from_a_checkpoint_where_commits_are_gone(root: Path) -> None:
    """What the checkpoint has is there already."""
    write_checkpoint(root, 2, [PROTOCOL, METADATA, describe(root, "a"), describe(root, "b")])
    for version in range(3):
        (root / "_delta_log" / f"{version:020}.json").unlink()
    write_commit(root, 6, describe(root, "b"))
    rows = ll.open(root).history.to_arrow().to_pylist()
    assert [(row["added_files"], row["removed_files"]) for row in rows][-4:] == [
        (0, 1),
        (0, 0),
        (1, 0),
        (0, 0),
    ]
