"""Pairs of concurrent statements that Spark ran on Delta: the verdict is the engine's, its commit and its files collide."""

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
PAIRS = [json.loads(line) for line in (PLACE / "delta.jsonl").read_text("utf-8").splitlines()]
BY_NAME = {pair["pair"]: pair for pair in PAIRS}
KINDS = sorted({pair["pair"].partition(" / ")[0] for pair in PAIRS})
POINT = "p = 0 AND id = 3"
#: what each second statement is called, and the part of its filter that is about the table
ASKED: dict[str, tuple[str, str | None]] = {
    "append there": ("append", None),
    "append as job": ("append", None),
    "delete there": ("delete", POINT),
    "delete partition": ("delete", "p = 0"),
    "delete either": ("delete", "(p = 0 AND id = 3) OR (p = 0 AND id = 4)"),
    "update there": ("update", POINT),
    "merge there": ("merge", "p = 0"),
    "merge all": ("merge", None),
    "truncate": ("delete", None),
    "compaction there": ("compaction", "p = 0"),
    "compaction all": ("compaction", None),
    "alter": ("alter", None),
    "upgrade": ("upgrade", None),
    "overwrite there": ("overwrite", "p = 0"),
    "overwrite all": ("overwrite", None),
    "overwrite partitions": ("overwrite partitions", "p = 0"),
}


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_archive(PLACE / "delta.tar.xz", tmp_path_factory.mktemp("races"))


def open_pair(lakes: Path, pair: dict[str, Any]) -> ll.Table:
    return ll.open(str(lakes / pair["folder"]), enclosed=True)


def ask(lakes: Path, pair: dict[str, Any], error: str | None = None, **asked: Any) -> Any:
    """Ask of the second statement, on the version that came between."""
    second = pair["pair"].split(" / ")[1]
    operation, where = ASKED[second]
    words = {"operation": operation, "where": where, "mode": "job" if second == "append as job" else None}
    return open_pair(lakes, pair).conflict(
        error, base=pair["base"], theirs=pair["base"] + 1, **{**words, **asked}
    )


def test_there_are_sixty_pairs_and_more_of_both_levels() -> None:
    assert len(PAIRS) >= 170
    assert {name.partition(",")[0] for name in KINDS} == {"partitions", "plain", "vectors"}
    assert sum(bool(pair["error"]) for pair in PAIRS) >= 80
    assert {pair["pair"].split(" / ")[1] for pair in PAIRS} <= set(ASKED)


@pytest.mark.parametrize("kind", KINDS)
def test_the_verdict_is_the_engines(lakes: Path, kind: str) -> None:
    for pair in (pair for pair in PAIRS if pair["pair"].partition(" / ")[0] == kind):
        conflict = ask(lakes, pair)
        assert (conflict.outcome == "collides") == bool(pair["error"]), pair["pair"]
        assert conflict.retry is not bool(pair["error"])
        if not pair["error"]:
            continue
        failure = ask(lakes, pair, pair["error"]).failure
        assert failure.check in [ruling.check for ruling in conflict.rulings if not ruling.passes], pair[
            "pair"
        ]
        assert {collision.snapshot_id for collision in conflict.collisions} == {pair["base"] + 1}
        ours = {collision.path.rpartition("/")[2] for collision in conflict.collisions}
        assert {path.rpartition("/")[2] for path in failure.files} <= ours, pair["pair"]


def test_the_level_that_a_commit_says_is_the_one_that_it_is_judged_by(lakes: Path) -> None:
    for pair in PAIRS:
        own = [level for version, _, level, _ in pair["versions"] if version == pair["base"] + 2]
        conflict = ask(lakes, pair)
        if own and conflict.operation in ("delete", "update", "merge", "overwrite", "overwrite partitions"):
            assert conflict.isolation == own[0], pair["pair"]


def test_an_exception_alone_leads_to_the_commit_and_its_files(lakes: Path) -> None:
    for pair in (pair for pair in PAIRS if pair["error"]):
        conflict = open_pair(lakes, pair).conflict(RuntimeError(pair["error"]))
        assert conflict.outcome == "collides", pair["pair"]
        assert [commit.snapshot_id for commit in conflict.between] == [pair["base"] + 1]
        whole = {collision.path for collision in ask(lakes, pair).collisions}
        assert {collision.path for collision in conflict.collisions} <= whole, pair["pair"]
        assert conflict.retry is False


def test_the_level_below_is_said_to_pass_where_the_engine_lets_it(lakes: Path) -> None:
    checked = 0
    for name, pair in BY_NAME.items():
        kind, statements = name.split(" / ", 1)
        other = BY_NAME.get(f"{kind}, WriteSerializable / {statements}")
        if pair["error"] and other is not None:
            ways = [
                way.passes for way in ask(lakes, pair).ways if way.change == "isolation WriteSerializable"
            ]
            if ways:
                assert ways == ["no" if other["error"] else "yes"], name
                checked += 1
    assert checked


@pytest.mark.parametrize("second", ["delete there", "update there", "merge there", "overwrite there"])
@pytest.mark.parametrize("between", ["append elsewhere", "delete elsewhere"])
def test_a_narrower_filter_is_one_that_the_engine_lets_pass(lakes: Path, second: str, between: str) -> None:
    """A filter of two partitions collides where only p = 1 was changed; that of p = 0 alone passed on Spark."""
    pair = BY_NAME[f"partitions / {second} / {between}"]
    conflict = ask(lakes, pair, where="p < 2")
    assert (conflict.outcome, pair["error"]) == ("collides", None)
    ways = [(way.change, way.passes) for way in conflict.ways if way.change.startswith("where")]
    assert ways == [("where (p < 2) AND p NOT IN (1)", "yes")]


def test_what_the_failed_writer_wrote_is_left(lakes: Path) -> None:
    pair = next(pair for pair in PAIRS if pair["error"] and pair["left"])
    for path in pair["left"]:
        place = lakes / pair["folder"] / path
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"PAR1")
    conflict = ask(lakes, pair, pair["error"])
    assert {file.relative_path for file in conflict.left} == set(pair["left"])
    assert conflict.left.size_bytes == 4 * len(pair["left"])


def test_words_that_no_table_of_delta_knows_are_refused() -> None:
    table = ll.sample("delta")
    with pytest.raises(LakeError, match="no isolation 'serializable'"):
        table.conflict(base=0, operation="delete", isolation="serializable")
    with pytest.raises(LakeError, match="no operation 'drop'"):
        table.conflict(base=0, operation="drop")
