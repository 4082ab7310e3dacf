"""Sorted runs of engine-written tables, against the levels in the engine's own list of files."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from lakelens.formats.paimon.maintenance.picks import Triggers, count_runs, list_runs, read_triggers
from tests.support.paimon_lakes import Lake, list_lakes

LAKES = [lake for lake in list_lakes("2.0.0-pk-*") if not lake.answers.get("engine_errors")]


def list_levels(lake: Lake) -> dict[int, Counter[int]]:
    """The levels of each bucket's files in the engine's entries of the latest snapshot, all partitions together."""
    snapshot = max(lake.answers["entries_by_snapshot"], key=int)
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for entry in lake.answers["entries_by_snapshot"][snapshot]:
        found[entry["bucket"]][entry["level"]] += 1
    return found


@pytest.mark.parametrize("lake", LAKES, ids=lambda lake: str(lake.name))
def test_runs_equal_the_levels_that_the_engine_lists(lake: Lake) -> None:
    table = lake.open()
    counted = count_runs(table.files)
    expected = list_levels(lake)
    level_0: Counter[int] = Counter()
    for one in counted:
        level_0[one.bucket] += one.level_0
    assert {bucket: number for bucket, number in level_0.items() if number} == {
        bucket: levels[0] for bucket, levels in expected.items() if levels[0]
    }
    assert sum(one.files for one in counted) == sum(sum(levels.values()) for levels in expected.values())
    for one in counted:
        held = [
            file
            for file in table.files
            if (file.bucket or 0) == one.bucket and str(file.partition) == one.partition
        ]
        runs = list_runs(held)  # type: ignore[arg-type]
        assert (len(runs), sum(run.size_bytes for run in runs)) == (one.runs, one.size_bytes)
        newest = [run.files[0].max_sequence_number or 0 for run in runs if run.level == 0]
        assert newest == sorted(newest, reverse=True)


def test_there_are_tables_with_levels_and_with_a_backlog() -> None:
    runs = [one for lake in LAKES for one in count_runs(lake.open().files)]
    assert any(one.level_0 > 1 for one in runs) and any(one.runs > one.level_0 > 0 for one in runs)


def test_triggers_follow_the_options_and_survive_nonsense() -> None:
    assert read_triggers({"num-sorted-run.stop-trigger": "2"}) == Triggers(5, 5)
    assert read_triggers({"num-sorted-run.compaction-trigger": "many"}) == Triggers(5, 8)
