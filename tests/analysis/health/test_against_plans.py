"""What health says cheaply of a call is what `Table.dry_run`, which is compared with the engines' own runs, plans."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import lakelens as ll
from lakelens.analysis.health.health import find_small
from lakelens.formats.iceberg.health.deletes import count_joined
from lakelens.formats.iceberg.health.rules import IcebergHealth, find_expiry
from lakelens.formats.paimon.health.metadata import count_expired
from lakelens.model.table import Table
from tests.support import LAKES
from tests.support.iceberg_builder import Builder
from tests.support.iceberg_lakes import Lake, find_lakes
from tests.support.paimon_lakes import Lake as PaimonLake
from tests.support.paimon_lakes import list_lakes

_LAKES = [lake for lake in find_lakes() if not lake.is_view and lake.answers.get("snapshots")]


def _count_plan(table: Table, procedure: str) -> tuple[int, int]:
    """How many files a rewrite would take, and make."""
    plan = table.dry_run(procedure)
    made = sum(
        one.files or 0 for one in plan.writes if one.role in ("data", "position delete", "position deletes")
    )
    return len(plan.reads), made


@pytest.mark.parametrize("lake", _LAKES[::3], ids=lambda lake: lake.name)
def test_the_same_snapshots_would_go(lake: Lake) -> None:
    table = lake.open()
    moments = [one.committed_at for one in table.snapshots if one.committed_at is not None]
    document, newest = IcebergHealth(table, table.current).context.document, max(moments)
    for moment in moments:
        found = find_expiry(document, table.refs, round((newest - moment).total_seconds() * 1000), 1)
        assert found is not None
        assert found.gone == len(table.dry_run("expire_snapshots", older_than=moment).snapshots_lost)


@pytest.mark.parametrize("lake", _LAKES[::2], ids=lambda lake: lake.name)
def test_the_same_small_files_would_be_joined(lake: Lake) -> None:
    table = lake.open()
    health = table.health()
    if not len(health.figures.data):
        return
    small = find_small(health.figures, health.rules)
    if health.reach is None or not (health.reach.known > 0).any():  # a file may be taken for its deleted rows
        found = int(small.taken.sum()), int(small.made.sum())
        assert found == _count_plan(table, "rewrite_data_files")
    if (table.format_version or 1) == 2:
        assert count_joined(IcebergHealth(table, table.current), health.figures) == _count_plan(
            table, "rewrite_position_delete_files"
        )


@pytest.mark.parametrize("seed", range(16))
def test_files_of_any_sizes_would_be_joined(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    table = Builder(tmp_path)
    sizes = [
        chance.choice([chance.randint(1, 999), chance.randint(700, 1_300), 100])
        for _ in range(chance.randint(1, 14))
    ]
    table.snapshot([table.manifest([table.data_file(file_size_in_bytes=1_000 * size) for size in sizes])])
    table.write_metadata(properties={"write.target-file-size-bytes": "1000000"})
    opened = ll.open(tmp_path)
    health = opened.health()
    small = find_small(health.figures, health.rules)
    taken, made = _count_plan(opened, "rewrite_data_files")
    assert int(small.taken.sum()) == taken
    # of more than one file health says "about": how the engine packs its tasks decides
    assert abs(int(small.made.sum()) - made) <= (made > 1)


@pytest.mark.parametrize("lake", list_lakes()[::4], ids=lambda lake: lake.name)
def test_paimon_would_do_the_same(lake: PaimonLake) -> None:
    table = lake.open()
    if table.current is None:
        return
    for moment in {one.committed_at.replace(microsecond=0) for one in table.snapshots if one.committed_at}:
        plan = table.dry_run("expire_snapshots", older_than=moment, retain_min=2)
        assert count_expired(table, moment, 2) == len(plan.snapshots_lost)
    health = table.health()
    plan = table.dry_run("compact")
    if table.bucket == -2 or table.context.is_on("deletion-vectors.enabled"):
        return  # files are taken for other reasons than their size
    calls = [call for call in health.calls if call.name == "compact"]
    if calls:
        assert plan.refusal is None
        assert len(plan.reads)
    if len(health.figures.data):
        small = find_small(health.figures, health.rules)
        assert plan.refusal is not None or int(small.taken.sum()) == len(plan.reads)


def test_a_compaction_that_the_engine_refuses_is_not_advised() -> None:
    table = ll.open(LAKES / "paimon-java" / "2.0.0-pk-rescale-bucket" / "table")
    health = table.health()
    assert table.dry_run("compact").refusal is not None
    assert not any(call.name == "compact" for call in health.calls)
    assert health.rules.explain_no_call(health.figures).endswith("INSERT OVERWRITE first")
