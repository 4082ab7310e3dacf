"""The health of Delta tables: figures that can be reckoned by hand, their limits, and the statements that help."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import lakelens as ll
from tests.formats.delta.test_check import commit
from tests.support import LAKES

DELTA = LAKES / "delta"


@pytest.mark.parametrize(
    ("name", "measure", "value", "limit", "source"),
    [
        ("spark/vectors-prefixed", "deleted rows, worst file", 0.1, 0.05, "default"),
        ("spark/vectors-prefixed", "commits since the last checkpoint", 1, 3, "property"),
        ("spark/vectors-prefixed", "tombstones for a live file", 1.5, 1, "lakelens"),
        ("spark/appends", "commits since the last checkpoint", 4, 10, "default"),
        ("spark/clustered", "clustered bytes", 1, 0.8, "lakelens"),
        ("spark/clustered", "files with statistics", 1, 1, "lakelens"),
        ("spark/appends", "small files in a partition, worst", 3, 50, "default"),
        ("rs/checkpointed", "checkpoint, size", 15_198, 100 << 20, "lakelens"),
    ],
)
def test_figures(name: str, measure: str, value: float, limit: float, source: str) -> None:
    found = ll.open(DELTA / name / "table").health().measures[measure]
    assert found.value == pytest.approx(value)
    assert (found.limit, found.source) == (limit, source)


def test_what_helps_can_be_tried() -> None:
    table = ll.open(DELTA / "spark/vectors-prefixed/table")
    calls = {call.procedure: call.statement for call in table.health().calls}
    assert calls["reorg"].startswith("REORG TABLE delta.`") and calls["reorg"].endswith("APPLY (PURGE)")
    for procedure in calls:
        assert table.dry_run(procedure).refusal is None


def test_files_without_statistics_are_counted(tmp_path: Path) -> None:
    place = tmp_path / "table"
    shutil.copytree(DELTA / "rs/appends/table", place)
    commit("add", lambda add: add.pop("stats"))(place)
    found = ll.open(place).health().measures["files with statistics"]
    assert found.value == pytest.approx(2 / 3) and found.verdict == "act"


def test_a_clustered_table_says_its_column_and_damage_says_none(tmp_path: Path) -> None:
    place = tmp_path / "table"
    shutil.copytree(DELTA / "spark/clustered/table", place)
    assert "id" in str(
        ll.open(place).health().measures["files that a look-up by the clustering columns opens, mean"].place
    )
    for path in place.glob("_delta_log/*.json"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for action in lines:
            if "domainMetadata" in action:
                action["domainMetadata"]["configuration"] = "{"
        path.write_text("\n".join(map(json.dumps, lines)))
    names = [measure.name for measure in ll.open(place).health().measures]
    assert "commits since the last checkpoint" in names and "clustered bytes" not in names


@pytest.mark.parametrize(
    "place", sorted(DELTA.glob("*/*/table")), ids=lambda path: "-".join(path.parts[-3:-1])
)
def test_every_table_has_its_health(place: Path) -> None:
    table = ll.open(place)
    health = table.health()
    assert health.measures and health.who_can_read[0].feature.startswith("reader version")
    log = sum(path.stat().st_size for path in place.glob("_delta_log/[0-9]*") if path.is_file())
    parts = [part for part in health.parts.documents if part.document == "_delta_log"]
    assert sum(part.size_bytes for part in parts) == log
