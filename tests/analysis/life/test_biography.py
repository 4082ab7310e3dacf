"""Biographies compared with what the engines say of every snapshot: which files it has, which rows of them it reads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.life.biography import Biography
from lakelens.errors import LakeError, Missing
from tests.support import LAKES
from tests.support.engine_lake import EngineLake

ICEBERG = [
    EngineLake(path.parent.name, path.parent)
    for path in sorted(LAKES.glob("spark/iceberg/*/answers.json"))
    if path.parent.name != "view"
]
PAIMON = [
    EngineLake(path.parent.name, path.parent) for path in sorted(LAKES.glob("spark/paimon/*/answers.json"))
]
JAVA = [
    EngineLake(path.parent.name, path.parent)
    for path in sorted(LAKES.glob("paimon-java/2.0.0-*/answers.json"))
]
DELETED = [one for one in ICEBERG if (one.path / "positions.json").exists()][::2]
# a good third of them: every state of each is read
ICEBERG, PAIMON, JAVA = ICEBERG[::2], PAIMON[::2], JAVA[::5]
_MOST_FILES = 3


def name_of(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def list_held(lake: EngineLake) -> dict[int, set[tuple[str, int | None]]]:
    """For each snapshot the files that the engine says it has: names, with the offset of a vector."""
    asked = lake.answers.get("files_at") or {}
    return {
        int(number): {(name_of(row["file_path"]), row.get("content_offset")) for row in rows}
        for number, rows in asked.items()
        if isinstance(rows, list)
    }


def choose(files: set[tuple[str, int | None]]) -> list[tuple[str, int | None]]:
    ordered = sorted(files, key=str)
    return ordered[:: max(1, len(ordered) // _MOST_FILES)][:_MOST_FILES]


def tell(life: Biography, number: int) -> int | None:
    """How many rows of the file are left at a snapshot of the branch that was opened, by the events until then."""
    at = next(one.at for one in life.kept_by if one.snapshot_id == number)
    left = None
    for event in life.events:
        if event.left is not None and not event.branch and event.at is not None and event.at <= at:
            assert event.is_exact
            left = event.left
    return left


@pytest.mark.parametrize("lake", ICEBERG, ids=lambda lake: str(lake.name))
def test_iceberg_files_are_kept_by_the_snapshots_that_the_engine_finds_them_in(lake: EngineLake) -> None:
    held = list_held(lake)
    table = ll.open(lake.table_path)
    known = {one.id for one in table.snapshots}
    for name, offset in choose(set().union(*held.values())):
        expected = {number for number, files in held.items() if (name, offset) in files and number in known}
        file = next(
            one
            for number in expected
            for one in table.snapshot(number).files
            if name_of(one.path) == name and getattr(one, "content_offset", None) == offset
        )
        life = table.biography(file)
        assert {one.snapshot_id for one in life.kept_by} & set(held) == expected, name
        assert life.is_live == (table.current is not None and table.current.id in expected)
        check_events(life, table)


def check_events(life: Biography, table: Any) -> None:
    """A life begins once on each line, and ends where the file is not live."""
    begins = [one for one in life.events if one.what in ("added", "there before")]
    assert begins
    assert life.events[0].what in ("added", "there before")
    if begins[0].what == "added":
        assert begins[0].snapshot_id in {one.snapshot_id for one in life.kept_by}
    carried = sum(one.count for one in life.events if one.what == "carried")
    changed = len(
        {one.snapshot_id for one in life.events if one.what not in ("carried", "removed", "left behind")}
    )
    assert carried + changed == len(life.kept_by)
    assert life.freed_by.startswith("no expiring") == bool(life.heads)


@pytest.mark.parametrize("lake", DELETED, ids=lambda lake: str(lake.name))
def test_rows_left_are_those_that_iceberg_reads(lake: EngineLake) -> None:
    asked = lake.path / "positions.json"
    live = json.loads(asked.read_text("utf-8"))["live"]
    table = ll.open(lake.table_path)
    line = [table.current, *table.current.walk_ancestors()] if table.current else []  # type: ignore[attr-defined]
    numbers = {one.id for one in line}
    lives: dict[str, Biography] = {}
    for number, files in live.items():
        if int(number) not in numbers or "error" in files:
            continue
        for file in list(table.snapshot(int(number)).files.where(content="data"))[:6]:
            life = lives.setdefault(file.path, table.biography(file))
            positions = files.get(file.recorded_path, [])
            count = sum(one[1] - one[0] + 1 if isinstance(one, list) else 1 for one in positions)
            assert tell(life, int(number)) == count, (number, file.path)


@pytest.mark.parametrize("lake", [*PAIMON, *JAVA], ids=lambda lake: str(lake.name))
def test_paimon_files_are_kept_by_the_snapshots_that_the_engine_finds_them_in(lake: EngineLake) -> None:
    held = list_paimon(lake)
    table = ll.open(lake.table_path)
    known = {
        one.id for one in table.snapshots
    }  # a fast-forward leaves files of snapshots that the engine does not see
    held = {number: files for number, files in held.items() if number in known}
    for name in sorted(set().union(*held.values()))[:_MOST_FILES]:
        life = table.biography(name)
        expected = {number for number, files in held.items() if name in files}
        main = {
            one.snapshot_id for one in life.kept_by if not one.branch and one.names[0].startswith("snapshot")
        }
        if table.context.skips_level_0:  # the engine leaves level 0 out
            assert expected <= main, name
        else:
            assert main & set(held) == expected, name
        levels = [one for one in life.events if one.what == "raised"]
        assert all(one.why.endswith("not rewritten") for one in levels)


def list_paimon(lake: EngineLake) -> dict[int, set[str]]:
    asked = lake.answers.get("files_at") or lake.answers.get("files_by_snapshot") or {}
    return {
        int(number): {name_of(row.get("file_path") or row["file_name"]) for row in rows}
        for number, rows in asked.items()
        if isinstance(rows, list)
    }


def test_a_file_that_only_climbs_keeps_its_name() -> None:
    table = ll.open(LAKES / "paimon-java" / "2.0.0-pk-level-upgrade" / "table")
    files = {file.path: file for snapshot in table.snapshots for file in snapshot.files}
    raised = [one for path in files for one in table.biography(path).events if one.what == "raised"]
    assert raised
    assert "from level 0 to" in raised[0].why


def test_a_changelog_file_is_of_one_snapshot() -> None:
    table = ll.open(LAKES / "spark" / "paimon" / "changelog-kept" / "table")
    life = table.biography(table.changelogs[0].changelog_files[0].path)  # type: ignore[attr-defined]
    assert [event.what for event in life.events] == ["added"]
    assert life.kept_by[0].names == ("changelog 1",)


def test_nearest_names_are_offered() -> None:
    table = ll.sample("iceberg")
    name = name_of(table.files[0].path)
    with pytest.raises(Missing) as caught:
        table.biography(name.replace(".parquet", ".orc"))
    assert name in str(caught.value.hint)
    with pytest.raises(Missing):
        table.biography("")
    with pytest.raises(TypeError):
        table.biography(7)  # type: ignore[arg-type]


def test_a_name_of_several_files_is_refused(tmp_path: Path) -> None:
    table = ll.sample("hive")
    path = Path(table.files[0].path)
    other = path.parent / "p=1"
    other.mkdir()
    shutil.copy(path, other / path.name)
    with pytest.raises(LakeError, match="the name of 2 files"):
        ll.open(table.location).biography(path.name)


def test_what_cannot_be_read_is_said() -> None:
    table = ll.sample("iceberg")
    snapshot = table.snapshots[1]
    Path(snapshot.manifests[-1].path).unlink()
    again = ll.open(table.location)
    life = again.biography(again.snapshots[0].files[0])
    assert life.doubts
    assert "may be missing" in str(life)


def test_expired_history_is_said() -> None:
    table = ll.open(LAKES / "paimon-java" / "2.0.0-expiry" / "table")
    events = [one for file in table.snapshots[0].files for one in table.biography(file).events]
    why = [one.why for one in events if one.what == "there before"]
    assert why
    assert f"added before snapshot {table.snapshots[0].id}, the oldest that is left" in why[0]


def test_branches_are_named() -> None:
    table = ll.sample("iceberg-branches")
    lives = [table.biography(path) for path in {f.path for s in table.snapshots for f in s.files}]
    assert any(one.branch for life in lives for one in life.events)
    assert any(life.tags for life in lives)
