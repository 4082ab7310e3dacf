"""The rule book of Delta: each rule finds its defect where it was planted, and none in a table of the engines."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import lakelens as ll
from lakelens.analysis.check.check import try_rules
from lakelens.formats.defects import STATISTICS
from lakelens.formats.delta.book import BOOK
from tests.formats.delta.test_check import checkpoint, commit, edit_lines, find_newest
from tests.support import LAKES

DELTA = LAKES / "delta"
_THREAD = re.compile(r"[\w.-]+/[\w.-]+#\d+")


def change_stats(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], None]:
    def edit(add: dict[str, Any]) -> None:
        held = json.loads(add["stats"])
        change(held)
        add["stats"] = json.dumps(held)

    return edit


def plant_zone(place: Path) -> None:
    at = {"at": "1850-01-01T01:01:01.000+00:53"}
    commit("add", change_stats(lambda held: held.update(minValues=at)))(place)


def plant_encoding(place: Path) -> None:
    """The path of a file with a blank in its name is encoded once more than it should be."""

    def edit(add: dict[str, Any]) -> None:
        found = place / add["path"]
        found.rename(found.with_name("a b.parquet"))
        add["path"] = quote(quote("a b.parquet"))

    commit("add", edit)(place)


def plant_logical_names(place: Path) -> None:
    commit("add", change_stats(lambda held: held.update(minValues={"id": 1}, maxValues={"id": 3})))(place)


def plant_logical_rows(place: Path) -> None:
    def edit(add: dict[str, Any]) -> None:
        held = json.loads(add["stats"])
        add["stats"] = json.dumps(
            {**held, "numRecords": held["numRecords"] - add["deletionVector"]["cardinality"]}
        )

    commit("add", edit)(place)


def plant_bare_infinity(place: Path) -> None:
    commit("add", lambda add: add.update(stats='{"numRecords": 1, "maxValues": {"id": Infinity}}'))(place)


def plant_duplicates(place: Path) -> None:
    def edit(actions: list[dict[str, Any]]) -> None:
        actions.extend([action for action in actions if "add" in action])

    commit("*", edit)(place)


def plant_lost_domains(place: Path) -> None:
    """A domain is set by the first commit, and the checkpoint, which has no column of it, is kept as it is."""

    def edit(actions: list[dict[str, Any]]) -> None:
        actions.append({"domainMetadata": {"domain": "mine", "configuration": "{}", "removed": False}})

    commit("*", edit, f"{0:020}.json")(place)


def plant_lost_tombstones(place: Path) -> None:
    checkpoint(lambda rows: rows.__setitem__(slice(None), [row for row in rows if row["remove"] is None]))(
        place
    )


def plant_two_checkpoints(place: Path) -> None:
    part = find_newest(place, "*.checkpoint.*.parquet")
    shutil.copy(part, part.with_name(part.name[:20] + ".checkpoint.parquet"))


PLANTED: list[tuple[str, str, Callable[[Path], Any]]] = [
    (
        "modification-time-in-seconds",
        "rs/appends",
        commit("add", lambda add: add.update(modificationTime=1_675_743_351)),
    ),
    ("time-zone-cut-to-minutes", "spark/generated", plant_zone),
    ("path-encoding", "rs/appends", plant_encoding),
    ("logical-names", "spark/mapped-id", plant_logical_names),
    (
        "stale-hint",
        "rs/checkpointed",
        lambda place: (place / "_delta_log/_last_checkpoint").write_text('{"version":77}'),
    ),
    (
        "stale-hint",
        "rs/checkpointed",
        lambda place: (place / "_delta_log/_last_checkpoint").write_text('{"version":4}{'),
    ),
    ("logical-row-count", "spark/vectors-prefixed", plant_logical_rows),
    ("bare-infinity", "rs/appends", plant_bare_infinity),
    ("empty-log-file", "spark/appends", lambda place: find_newest(place, "*.crc").write_bytes(b"")),
    ("empty-data-file", "rs/appends", commit("add", lambda add: add.update(size=0))),
    ("duplicate-actions", "rs/appends", plant_duplicates),
    ("checkpoint-without-domains", "rs/checkpointed", plant_lost_domains),
    ("checkpoint-without-tombstones", "spark/change-feed", plant_lost_tombstones),
    ("two-checkpoints", "spark/multi-part", plant_two_checkpoints),
    (
        "null-counts-name",
        "rs/appends",
        commit("add", change_stats(lambda held: held.update(nullCounts=held.pop("nullCount")))),
    ),
]


@pytest.mark.parametrize(
    ("code", "name", "plant"), PLANTED, ids=[f"{c}-{n}" for n, (c, *_) in enumerate(PLANTED)]
)
def test_a_planted_defect_shows(code: str, name: str, plant: Callable[[Path], Any], tmp_path: Path) -> None:
    place = tmp_path / "table"
    shutil.copytree(DELTA / name / "table", place)
    plant(place)
    tried = try_rules(ll.open(place))
    (one,) = [one for one in tried.tried if one.rule.code == code]
    assert one.shows, [(other.rule.code, other.findings) for other in tried.showing]
    assert all(found.severity == one.rule.severity and found.path and found.message for found in one.findings)


@pytest.mark.parametrize(
    "place", sorted(DELTA.glob("*/*/table")), ids=lambda path: "-".join(path.parts[-3:-1])
)
def test_tables_of_engines_show_none(place: Path) -> None:
    tried = try_rules(ll.open(place))
    assert [one.rule.code for one in tried.showing] == []
    assert not any(one.error for one in tried.tried)
    product = {"spark": "delta-spark", "rs": "delta-rs"}[place.parts[-3]]
    assert product in {writer.product for writer in tried.writers}


def test_every_rule_has_a_thread_and_a_planted_table() -> None:
    own = [rule for rule in BOOK.rules if rule not in STATISTICS]
    assert {rule.code for rule in own} == {code for code, *_ in PLANTED}
    for rule in own:
        assert rule.threads and all(_THREAD.fullmatch(thread) for thread in rule.threads), rule.code
        assert rule.title and rule.shows and rule.writers


def test_lines_of_any_kind_can_be_edited(tmp_path: Path) -> None:
    path = tmp_path / "c"
    path.write_text('{"txn":{"appId":"a"}}')
    edit_lines(path, "txn", lambda txn: txn.update(version=1))
    assert json.loads(path.read_text()) == {"txn": {"appId": "a", "version": 1}}
