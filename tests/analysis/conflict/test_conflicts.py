"""Pairs of concurrent operations that Spark ran: the verdict is the engine's, and the files are those that it names."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError, Unsupported
from tests.support import LAKES
from tests.support.unpacked import unpack_archive

PLACE = LAKES / "conflicts"
PAIRS = [json.loads(line) for line in (PLACE / "iceberg.jsonl").read_text("utf-8").splitlines()]
WHERE = {
    "overwrite": "p = 0",
    "delete": "p = 0 AND id = 3",
    "merge": "p = 0 AND id = 3",
    "compaction": "p = 0",
}
_SAID = re.compile(r"(?:Found |Cannot commit, |Missing required)[^\n]*")


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_archive(PLACE / "iceberg.tar.xz", tmp_path_factory.mktemp("conflicts"))


def ask(lakes: Path, pair: dict[str, Any], error: str | None = None, where: str | None = None) -> Any:
    return ask_in(lakes / pair["folder"], pair, error, where)


def ask_in(lake: Path, pair: dict[str, Any], error: str | None = None, where: str | None = None) -> Any:
    isolation, mode, second, _ = pair["pair"].split(" / ")
    is_overwrite = second == "overwrite"
    operation = "overwrite partitions" if is_overwrite and mode == "copy-on-write" else second
    later = pair["snapshots"][pair["snapshots"].index(pair["base"]) + 1 :]
    return ll.open(str(lake), enclosed=True).conflict(
        error,
        base=pair["base"],
        theirs=later[0],
        operation=operation,
        where=where or WHERE.get(second),
        isolation=isolation if is_overwrite else None,  # that of the others is the table's
    )


def list_names(text: str) -> set[str]:
    return {path.rpartition("/")[2] for path in re.findall(r"[^\s\[\],'\"=]+\.parquet", text)}


def test_there_are_two_hundred_pairs_and_both_verdicts() -> None:
    assert len(PAIRS) >= 200
    assert {bool(pair["error"]) for pair in PAIRS} == {True, False}


@pytest.mark.parametrize("second", ["append", "overwrite", "delete", "merge", "compaction"])
def test_the_verdict_is_the_engines_and_its_files_collide(lakes: Path, second: str) -> None:
    pairs = [pair for pair in PAIRS if pair["pair"].split(" / ")[2] == second]
    assert len(pairs) >= 40
    for pair in pairs:
        conflict = ask(lakes, pair)
        assert (conflict.outcome == "collides") == bool(pair["error"]), pair["pair"]
        assert conflict.retry == (not pair["error"])
        if pair["error"]:
            said = _SAID.search(pair["error"])
            assert said is not None, pair["pair"]
            failure = ask(lakes, pair, pair["error"]).failure
            failed = [ruling.check for ruling in conflict.rulings if not ruling.passes]
            assert failure.check in failed, pair["pair"]
            ours = {collision.path.rpartition("/")[2] for collision in conflict.collisions}
            if (
                "for replaced data file" not in said.group()
            ):  # it names the file that is reached, not what reaches it
                assert list_names(said.group()) <= ours, pair["pair"]


def test_an_exception_alone_leads_to_the_commit(lakes: Path) -> None:
    pair = next(
        pair
        for pair in PAIRS
        if pair["pair"].startswith("serializable / copy-on-write / delete / append there")
    )
    conflict = ll.open(str(lakes / pair["folder"]), enclosed=True).conflict(RuntimeError(pair["error"]))
    came = pair["snapshots"][pair["snapshots"].index(pair["base"]) + 1]
    assert conflict.outcome == "collides"
    assert [commit.snapshot_id for commit in conflict.between] == [came]
    assert conflict.retry is False
    assert "p" in conflict.failure.filter


def test_the_other_isolation_is_said_to_pass_where_the_engine_lets_it(lakes: Path) -> None:
    known = {pair["pair"]: pair for pair in PAIRS}
    for name, pair in known.items():
        if name.startswith("serializable / ") and pair["error"]:
            way = (
                next(way for way in ask(lakes, pair).ways if way.change == "isolation snapshot")
                if ("compaction" not in name.split(" / ")[2])
                else None
            )
            if way is not None:
                other = known[name.replace("serializable", "snapshot")]
                assert (way.passes == "yes") == (not other["error"]), name


def test_a_lost_race_would_pass_again() -> None:
    conflict = ll.sample("iceberg").conflict(
        "org.apache.iceberg.exceptions.CommitFailedException: Version 7 already exists"
    )
    assert (conflict.outcome, conflict.retry) == ("passes", True)


def test_what_cannot_be_asked_is_said() -> None:
    table = ll.sample("iceberg")
    with pytest.raises(LakeError, match="no conflict of commits"):
        table.conflict("java.lang.NullPointerException")
    with pytest.raises(LakeError, match="no operation"):
        table.conflict(base=table.snapshots[0].id, operation="mrege")
    with pytest.raises(LakeError, match="is no ancestor"):
        table.conflict(base=table.snapshots[-1].id, theirs=table.snapshots[0].id, operation="merge")
    with pytest.raises(LakeError, match="by an exception"):
        table.conflict()
    with pytest.raises(Unsupported, match="no known rules of conflicts"):
        ll.sample("hive").conflict("File deletion conflicts detected! Give up committing.")


def test_a_narrower_filter_is_said_that_the_engine_lets_pass(lakes: Path) -> None:
    """A filter of two partitions collides where only p = 1 was changed; that of p = 0 alone passed on Spark."""
    narrowed = 0
    for pair in (pair for pair in PAIRS if pair["pair"].endswith("elsewhere")):
        conflict = ask(lakes, pair, where="p < 2")
        if conflict.outcome == "collides":
            ways = [(way.change, way.passes) for way in conflict.ways if way.change.startswith("where")]
            assert ways == [("where (p < 2) AND p NOT IN (1)", "yes")], pair["pair"]
            assert pair["error"] is None, pair["pair"]
            narrowed += 1
    assert narrowed >= 36


def test_a_narrower_filter_goes_by_bounds_where_partitions_do_not_tell(lakes: Path) -> None:
    pairs = {pair["pair"]: pair for pair in PAIRS}
    beside = ask(
        lakes, pairs["serializable / copy-on-write / delete / append beside"], where="p = 0 AND id >= 3"
    )
    assert beside.outcome == "collides"
    assert [way.change for way in beside.ways if way.change.startswith("where")] == [
        "where (p = 0 AND id >= 3) AND (id < 500 OR id > 500)"
    ]
    # nothing is left of a filter that is about the row that came
    there = ask(lakes, pairs["serializable / copy-on-write / delete / append there"])
    assert not [way for way in there.ways if way.change.startswith("where")]


def test_what_is_left_is_tied_to_its_writer_by_its_name(lakes: Path, tmp_path: Path) -> None:
    pair = next(pair for pair in PAIRS if pair["pair"].endswith("/ delete / append there") and pair["error"])
    lake = tmp_path / "lake"
    shutil.copytree(lakes / pair["folder"], lake)
    manifests = ll.open(str(lake), enclosed=True).snapshot(pair["snapshots"][-1]).manifests
    known = re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", manifests[0].path.rpartition("/")[2])[0]
    other = "11111111-2222-3333-4444-555555555555"
    for name in (f"data/p=0/00000-1-{other}-00001.parquet", f"metadata/{other}-m0.avro"):
        (lake / name).parent.mkdir(parents=True, exist_ok=True)
        (lake / name).write_bytes(b"PAR1")
    (lake / f"data/p=0/00009-9-{known}-00001.parquet").write_bytes(b"PAR1")
    (lake / "data/p=0/odd.parquet").write_bytes(b"PAR1")
    left = {file.relative_path.rpartition("/")[2]: file for file in ask_in(lake, pair).left}
    assert left[f"00000-1-{other}-00001.parquet"].writer == other
    assert "nothing of its writer was committed" in left[f"{other}-m0.avro"].why
    assert "did commit other files" in left[f"00009-9-{known}-00001.parquet"].why
    assert left["odd.parquet"].writer == ""
