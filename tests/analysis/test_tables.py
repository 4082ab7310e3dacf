"""Answers as tables and documents: what `to_pandas()` and `to_json()` give."""

from __future__ import annotations

import json

import lakelens as ll
from tests.support import LAKES


def test_space_history_diff_and_biography_are_tables() -> None:
    table = ll.sample("iceberg")
    space = table.space()
    assert space.to_pandas()["size_bytes"].sum() == space.size_bytes
    history = table.history.to_pandas()
    assert list(history["key"]) == [str(snapshot.id) for snapshot in table.snapshots]
    assert list(history["committed_at"].dt.to_pydatetime()) == [one.committed_at for one in table.snapshots]
    assert (
        set(history["lane"]) == {"main"} and history["added_rows"][0] == table.snapshots[0].figures.added_rows
    )
    diff = table.diff(table.snapshots[1], table.snapshots[-1])
    frame = diff.to_pandas()
    assert list(frame.columns[:3]) == ["state", "content", "path"]
    assert (frame["state"] == "ADDED").sum() == len(diff.added)
    assert (frame["state"] == "REMOVED").sum() == len(diff.removed)
    life = table.biography(table.files[0])
    assert list(life.to_pandas()["what"]) == [event.what for event in life.events]


def test_a_check_is_a_document() -> None:
    for name in ("iceberg", "paimon", "hive"):
        check = ll.sample(name).check()
        said = json.loads(check.to_json())
        assert (said["ok"], said["verdict"], said["compared"]) == (check.ok, check.verdict, check.compared)
        assert len(said["findings"]) == len(check.findings) and len(said["counted"]) == len(check.counted)


def test_a_vector_takes_rows_away_in_a_diff() -> None:
    table = ll.open(LAKES / "spark" / "iceberg" / "v3-deletion-vectors" / "table")
    diff = table.diff(table.snapshots[-2], table.snapshots[-1])
    lines = [line.split() for line in str(diff).splitlines()]
    assert ["ADDED", "deletion", "vector", "+1", "−1,002", "+47", "B"] in lines
    widget = diff.widget()
    [file] = [file for row in widget.view["rows"] for file in row.get("files", ()) if file]
    assert file["rows"][:2] == ["−1,002", "del"]
    assert widget.view["total"][3][:2] == ["−1,002", "del"]


def test_a_compaction_makes_visible_what_another_commit_wrote() -> None:
    """With deletion vectors readers see a row once it is out of level 0; who wrote it is the commit before."""
    table = ll.open(LAKES / "paimon-java" / "2.0.0-pk-deletion-vectors" / "table")
    [life] = table.row("id = 4").lives
    assert [version.by for version in life.versions] == [
        "APPEND 1, visible since COMPACT 2",
        "APPEND 5, visible since COMPACT 6",
    ]
    assert (
        life.versions[0]
        .ends[0]
        .how.startswith("a record with sequence number 2 of APPEND 5, visible since COMPACT 6")
    )


def test_times_that_share_a_second_have_milliseconds() -> None:
    table = ll.open(LAKES / "paimon-java" / "2.0.0-pk-deletion-vectors" / "table")
    assert "2026-11-21 13:43:45.574" in str(table.row("id = 4"))
    life = table.biography(next(file for file in table.files if file.level))
    times = [event.at for event in life.events]
    assert len({time.replace(microsecond=0) for time in times if time}) < len(times)
    assert str(life).count("13:43:45.") >= len(times)
