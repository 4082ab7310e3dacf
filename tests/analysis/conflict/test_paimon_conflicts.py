"""Pairs of concurrent statements that Spark ran on Paimon: the verdict is the engine's, its files are those that collide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from tests.support import LAKES
from tests.support.unpacked import unpack_archive

PLACE = LAKES / "conflicts"
# by Spark with Paimon 0.9, and by Paimon's core 1.4.2
PAIRS = {
    name: [json.loads(line) for line in (PLACE / f"{name}.jsonl").read_text("utf-8").splitlines()]
    for name in ("paimon", "core")
}
BY_NAME = {pair["pair"]: pair for pair in PAIRS["paimon"]}
KINDS = sorted({(name, pair["pair"].partition(" / ")[0]) for name, pairs in PAIRS.items() for pair in pairs})
OPERATIONS = {"overwrite": "overwrite partitions", "drop": "drop partition"}
ROWS = {
    "append there": "p = 0 AND (id = 3 OR id = 4)",
    **dict.fromkeys(("delete there", "update there", "merge there"), "p = 0 AND id = 3"),
    "truncate": None,
}


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("conflicts")
    for name, pairs in PAIRS.items():
        unpack_archive(PLACE / f"{name}.tar.xz", folder / name)
        for pair in pairs:
            pair["place"] = f"{name}/{pair['folder']}"
    return folder


def open_pair(lakes: Path, pair: dict[str, Any]) -> ll.Table:
    return ll.open(str(lakes / pair["place"]), enclosed=True)


def ask(lakes: Path, pair: dict[str, Any], error: str | None = None, **asked: Any) -> Any:
    """Ask of the second statement, on what came between: the snapshots of other users than its own."""
    table = open_pair(lakes, pair)
    second = pair["pair"].split(" / ")[1]
    later = [(number, user) for number, _, user in pair["snapshots"] if number > pair["base"]]
    failed = table.conflict(pair["error"]).failure.writer if pair["error"] else later[-1][1]
    others = [number for number, user in later if user != failed]
    word = second.split()[0]
    return table.conflict(
        error,
        base=pair["base"],
        theirs=others[-1] if others else pair["base"],
        operation=OPERATIONS.get(word, word),
        where=ROWS.get(second, "p = 0"),
        **asked,
    )


def list_names(paths: Any) -> set[str]:
    return {path.rpartition("/")[2] for path in paths}


def test_there_are_sixty_pairs_and_more_of_six_kinds_of_tables() -> None:
    assert (len(PAIRS["paimon"]), len(PAIRS["core"])) == (139, 107)
    assert len(KINDS) == 11
    assert sum(bool(pair["error"]) for pair in PAIRS["paimon"]) == 14
    assert sum(bool(pair["error"]) for pair in PAIRS["core"]) >= 30


@pytest.mark.parametrize(("engine", "kind"), KINDS)
def test_the_verdict_is_the_engines_and_its_files_collide(lakes: Path, engine: str, kind: str) -> None:
    for pair in (pair for pair in PAIRS[engine] if pair["pair"].partition(" / ")[0] == kind):
        conflict = ask(lakes, pair)
        assert (conflict.outcome == "collides") == bool(pair["error"]), pair["pair"]
        if pair["error"]:
            failure = ask(lakes, pair, pair["error"]).failure
            assert failure.check in [ruling.check for ruling in conflict.rulings if not ruling.passes]
            if failure.check == "the deletion vectors that it replaces are as it read them":
                continue  # of which it names the file of vectors, and we those data files that have another
            assert failure.files or failure.check == "a partition has one number of buckets", pair["pair"]
            assert set(failure.files) <= list_names(collision.path for collision in conflict.collisions), (
                pair["pair"]
            )


def test_an_exception_alone_leads_to_the_commit_that_removed_its_file(lakes: Path) -> None:
    for pair in (pair for pairs in PAIRS.values() for pair in pairs if pair["error"]):
        conflict = open_pair(lakes, pair).conflict(pair["error"])
        if "bucket" in conflict.failure.check:
            continue  # no file is named
        later = [number for number, _, _ in pair["snapshots"] if number > pair["base"]]
        assert conflict.outcome == "collides", pair["pair"]
        assert {collision.snapshot_id for collision in conflict.collisions} <= set(later), pair["pair"]
        assert conflict.retry is False


def test_rows_of_a_writer_that_failed_half_way_are_said_to_be_in_the_table(lakes: Path) -> None:
    pair = BY_NAME["keys vectors / append there / append there"]
    number, kind, _ = pair["snapshots"][-1]
    conflict = open_pair(lakes, pair).conflict(pair["error"])
    assert kind == "APPEND"
    assert any(f"snapshot {number} (APPEND)" in note for note in conflict.notes)
    assert all(way.passes == "yes" for way in ask(lakes, pair).ways if "write-only" in way.change)


def test_what_0_9_commits_unchecked_is_said(lakes: Path) -> None:
    twice = BY_NAME["append / delete there / delete there"]
    assert (twice["error"], twice["rows"]) == (None, 43)  # 40 rows, of which both deleted the same one
    conflict = ask(lakes, twice)
    assert conflict.outcome == "passes"
    assert any("rows stand twice" in note for note in conflict.notes)
    lost = BY_NAME["append vectors / compaction there / delete there"]
    assert (lost["error"], lost["rows"]) == (None, 40)  # the row that was deleted is there again
    assert any("may be there again" in note for note in ask(lakes, lost).notes)
    assert ask(lakes, BY_NAME["append / delete there / delete beside"]).notes == ()


def test_strict_mode_lets_no_compaction_come_between(lakes: Path) -> None:
    pair = BY_NAME["append / append there / compaction there"]
    assert ask(lakes, pair).outcome == "passes"
    strict = ask(lakes, pair, isolation="strict")
    assert strict.outcome == "collides"
    assert [way.passes for way in strict.ways if "strict" in way.change] == ["yes"]


def test_words_that_no_table_of_paimon_knows_are_refused() -> None:
    table = ll.sample("paimon")
    first = table.snapshots[0].id
    with pytest.raises(LakeError, match="no isolation 'serializable'"):
        table.conflict(base=first, operation="append", isolation="serializable")
    with pytest.raises(LakeError, match="no operation 'drop'"):
        table.conflict(base=first, operation="drop")
