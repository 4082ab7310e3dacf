"""Diffs of every table that an engine wrote, against the engine's own lists of files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from itertools import pairwise, product
from typing import Any

import pytest

from lakelens.formats.iceberg.changes import IcebergComparison
from lakelens.formats.paimon.changes import PaimonComparison
from lakelens.formats.paimon.snapshot import PaimonSnapshot
from lakelens.formats.paimon.table import PaimonTable
from lakelens.model.comparison import WholeComparison
from lakelens.model.datafile import DataFile
from lakelens.model.snapshot import Snapshot
from tests.support.iceberg_lakes import Lake as IcebergLake
from tests.support.iceberg_lakes import find_lakes
from tests.support.paimon_lakes import Lake as PaimonLake
from tests.support.paimon_lakes import list_lakes

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)

ICEBERG = [lake for lake in find_lakes() if not lake.is_view]
PAIMON = list_lakes()
# tables of more snapshots than this have their pairs with the first and the last snapshot compared only
SMALL = 8

each_iceberg = pytest.mark.parametrize("lake", ICEBERG, ids=lambda lake: lake.name)
each_paimon = pytest.mark.parametrize("lake", PAIMON, ids=lambda lake: lake.name)


def tell(files: Iterable[DataFile]) -> list[str]:
    return sorted(repr(found.identity) for found in files)


@each_iceberg
def test_iceberg_neighbours_against_the_engine(lake: IcebergLake) -> None:
    table = lake.open(version=lake.answers["metadata_location"])
    answers = lake.answers.get("files_at", {})
    told = {int(number): rows for number, rows in answers.items() if isinstance(rows, list)}
    neighbours = [(one.parent, one) for one in table.snapshots if one.parent is not None]  # type: ignore[attr-defined]
    for before, after in {*neighbours, *pairwise(table.snapshots)}:
        if before.id in told and after.id in told:
            old, new = ({_key_iceberg(row) for row in told[one.id or 0]} for one in (before, after))
            diff = table.diff(before, after)
            ours = [
                {(f.recorded_path, f.further("content_offset")) for f in s}
                for s in (diff.added, diff.removed)
            ]
            assert ours == [new - old, old - new]
            assert len(diff.kept) == len(old & new) == diff.kept_counts.files


def _key_iceberg(row: dict[str, Any]) -> tuple[str, int | None]:
    return row["file_path"], row["content_offset"]


def test_the_engine_answers_for_most_iceberg_neighbours() -> None:
    pairs = [lake for lake in ICEBERG if len(lake.answers.get("files_at", {})) > 1]
    assert len(pairs) > 40


@each_paimon
def test_paimon_neighbours_against_the_engine(lake: PaimonLake) -> None:
    for table, said in lake.views():
        told = {
            int(number): rows
            for name in ("files_by_snapshot", "files_at")
            for number, rows in said.get(name, {}).items()
            if isinstance(rows, list)
        }
        for before, after in pairwise(table.snapshots):
            if before.id in told and after.id in told:
                diff = table.diff(before, after)
                old, new = ({_key_row(row) for row in told[one.id or 0]} for one in (before, after))
                ours = [_list_shown(lake, table, found) for found in (diff.added, diff.removed, diff.kept)]
                assert ours == [new - old, old - new, old & new]
                assert len(diff.kept) == diff.kept_counts.files


def _list_shown(
    lake: PaimonLake, table: PaimonTable, files: Iterable[DataFile]
) -> set[tuple[str, int | None]]:
    """The files that `$files` shows: not postponed buckets, nor, in Paimon 0.9, level 0 where readers pass over it."""
    options = table.options
    passes = options.get("deletion-vectors.enabled") == "true" or options.get("merge-engine") == "first-row"
    hides = passes and bool(table.primary_keys) and lake.engine < (1, 3)
    return {_key_paimon(f) for f in files if f.bucket != -2 and not (hides and f.level == 0)}


def _key_row(row: dict[str, Any]) -> tuple[str, int]:
    return posixpath.basename(row["file_path"]), row["level"]


def _key_paimon(found: DataFile) -> tuple[str, int | None]:
    return posixpath.basename(found.path), found.level


def list_pairs(snapshots: list[Any]) -> Iterator[tuple[Snapshot, Snapshot]]:
    if len(snapshots) <= SMALL:
        return product(snapshots, repeat=2)
    ends = (snapshots[0], snapshots[-1])
    return ((one, other) for pair in product(snapshots, ends) for one, other in (pair, pair[::-1]))


@each_iceberg
def test_iceberg_any_two_snapshots_against_whole_sets(lake: IcebergLake) -> None:
    for before, after in list_pairs(list(lake.open().snapshots)):
        check_against_whole_sets(before, after, IcebergComparison)


@each_paimon
def test_paimon_any_two_snapshots_tags_and_branches_against_whole_sets(lake: PaimonLake) -> None:
    states = [one for table, _ in lake.views() for one in (*table.snapshots, *table.tags.values())]
    for before, after in list_pairs(states):
        check_against_whole_sets(before, after, PaimonComparison)


def check_against_whole_sets(before: Snapshot, after: Snapshot, kind: type) -> None:
    found, whole = after.compare_files(before), WholeComparison(before.files, after.files)
    assert type(found) is kind
    assert tell(found.added) == tell(whole.added)
    assert tell(found.removed) == tell(whole.removed)
    assert tell(found.kept) == tell(whole.kept)
    counted = found.count_kept()
    assert sum(part.files or 0 for part in counted.values()) == len(whole.kept)


@each_paimon
def test_paimon_deltas_tell_the_same_as_manifests(lake: PaimonLake) -> None:
    """The deltas between two snapshots, where the chain is certain, whatever a rewrite of the manifests left."""
    from lakelens.formats.paimon.changes import fold_manifests, list_deltas, list_own

    snapshots = list(lake.open().snapshots)
    for position, before in enumerate(snapshots):
        for after in snapshots[position + 1 :]:
            assert isinstance(before, PaimonSnapshot) and isinstance(after, PaimonSnapshot)
            deltas = list_deltas(before, after)
            if deltas is None:
                assert before.record_count is None or after.record_count is None
                continue
            old, new = list_own(before), list_own(after)
            own = fold_manifests(
                [m for path, m in new.items() if path not in old],
                [m for path, m in old.items() if path not in new],
            )
            told = fold_manifests(deltas, ())
            for count in (1, -1):
                assert tell(told.list_files(count)) == tell(own.list_files(count))
