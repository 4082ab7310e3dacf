"""What planning a query reads, beside pyiceberg's own choice of manifests, and what a recorded rewrite made of them."""

from __future__ import annotations

import itertools
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.analysis.explain.levels import sort_manifests
from lakelens.model.measures.measure import Call
from lakelens.model.measures.rules import Rewriting

pa = pytest.importorskip("pyarrow")
pytest.importorskip("sqlalchemy")

_COMMITS = 8
_DAYS = [date(2026, 3, 1) + timedelta(days=number) for number in range(6)]
_REWRITTEN = Path("tests/lakes/spark/iceberg/v2-rewrite-manifests/table")


def write_table(root: Path, commits: list[list[date]]) -> Path:
    """Write a table by day, one manifest a commit."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import DateType, LongType, NestedField

    catalog = SqlCatalog("c", uri=f"sqlite:///{root}/c.db", warehouse=root.as_uri())
    catalog.create_namespace("db")
    schema = Schema(NestedField(1, "day", DateType()), NestedField(2, "v", LongType()))
    spec = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "day"))
    table = catalog.create_table("db.days", schema, partition_spec=spec)
    for days in commits:
        numbers = pa.array(range(len(days)), pa.int64())
        table.append(pa.table({"day": pa.array(days, pa.date32()), "v": numbers}))
    catalog.close()
    return root / "db" / "days"


@pytest.fixture(scope="module")
def by_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every commit writes a file for every day: each day is in all manifests."""
    return write_table(tmp_path_factory.mktemp("by_commit"), [_DAYS] * _COMMITS)


def count_planned(place: Path, day: str) -> int:
    """Count the manifests that pyiceberg opens for a day."""
    from pyiceberg.expressions import EqualTo
    from pyiceberg.expressions.visitors import inclusive_projection, manifest_evaluator
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(str(max((place / "metadata").glob("*.json"))))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    projected = inclusive_projection(table.schema(), table.spec())(EqualTo("day", day))
    chosen = manifest_evaluator(table.spec(), table.schema(), projected, True)
    return sum(map(chosen, snapshot.manifests(table.io)))


def test_a_query_reads_what_pyiceberg_opens(by_commit: Path) -> None:
    planning = ll.open(by_commit).explain("day = DATE '2026-03-02'").planning
    assert planning is not None
    assert planning.read == count_planned(by_commit, "2026-03-02") == _COMMITS
    assert planning.total == _COMMITS
    assert planning.size_bytes == sum(
        one.stat().st_size for one in (by_commit / "metadata").glob("*-m0.avro")
    )
    assert planning.after == 1
    assert planning.call.statement == "CALL <catalog>.system.rewrite_manifests(table => 'db.days')"


def test_health_names_a_day_and_both_cards_have_the_call(by_commit: Path) -> None:
    table = ll.open(by_commit)
    health = table.health()
    assert health.planning is not None
    assert (health.planning.query, health.planning.read) == ("day=2026-03-01", _COMMITS)
    for answer in (health, table.explain("v > 3")):
        assert "reads 8 of 8 manifests" in " ".join(str(answer).split())
        assert "after rewrite_manifests 1: CALL <catalog>" in " ".join(str(answer).split())


def test_the_dry_run_has_as_many_manifests_afterwards(by_commit: Path) -> None:
    planning = ll.open(by_commit).health().planning
    assert planning is not None
    written = [
        one for one in ll.open(by_commit).dry_run("rewrite_manifests").writes if one.role == "manifest"
    ]
    assert sum(one.files for one in written) == planning.after


def test_nothing_is_said_where_days_are_apart(tmp_path: Path) -> None:
    place = write_table(tmp_path, [[day] for day in _DAYS])
    table = ll.open(place)
    assert table.health().planning is None
    assert table.explain("day = DATE '2026-03-02'").planning is None


@pytest.mark.parametrize("name", ["iceberg", "paimon", "hive", "delta"])
def test_nothing_is_said_of_a_few_manifests(name: str) -> None:
    table = ll.sample(name)
    assert table.health().planning is None
    assert table.explain("id = 3").planning is None


def test_a_recorded_rewrite_made_what_is_worked_out() -> None:
    """Its four manifests of a file each became one, whose list says the same of the partitions."""
    table = ll.open(_REWRITTEN)
    before, after = next(
        pair for pair in itertools.pairwise(table.snapshots) if pair[1].operation == "replace"
    )
    partitions = Counter((file.partition["p"],) for file in before.files)
    rewriting = Rewriting(
        tuple(before.manifests), len(before.files), len(after.manifests), table.partitioning, Call("", "")
    )
    made = sort_manifests(rewriting, partitions)
    assert made is not None
    assert [
        [(one.name, one.lower, one.upper, one.contains_null) for one in manifest.partition_summary]
        for manifest in made
    ] == [
        [(one.name, one.lower, one.upper, one.contains_null) for one in manifest.partition_summary]
        for manifest in after.manifests
    ]
