"""Every byte under a table's directory is in one row, and what is kept and freed is what sets of paths say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.space.division import divide_files
from lakelens.analysis.space.space import Space
from lakelens.errors import LakeError, Unsupported
from lakelens.model.table import Table
from lakelens.opening import open_table
from lakelens.options import display
from lakelens.views.render.html import render_card
from lakelens.views.render.text import render_text
from tests.analysis.check.test_strays import copy, plant
from tests.analysis.space.reckoning import list_iceberg_states, list_paimon_states, list_sizes
from tests.formats.paimon.maintenance.test_recorded import RECORDS, cut
from tests.support import LAKES
from tests.support.unpacked import unpack_samples

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)

TABLES = sorted(path for path in LAKES.glob("*/**/table") if path.is_dir())
SAMPLES = [one.name for one in ll.sample()]
# the engine does not see the first snapshot of this one: it keeps files by their names alone
UNSEEN = "2.0.0-fast-forward"
TIMES = (datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC))


def name(path: Path) -> str:
    return str(path.parent.relative_to(LAKES))


def check_sums(space: Space, sizes: Mapping[str, int]) -> None:
    """The rows are the directory: bytes and files, in all and by group."""
    slices = space.slices
    assert (
        slices.size_bytes == sum(one.size_bytes for one in slices) == space.size_bytes == sum(sizes.values())
    )
    assert space.files == len(sizes)
    groups = dict(slices.iterate_groups())
    assert sum(space.count_files(group) for group in groups) == len(sizes)
    assert sum(space.measure(group) for group in groups) == space.size_bytes
    assert all(one.size_bytes >= 0 for one in slices)
    assert len({one.name for one in slices}) == len(slices)
    for group, members in groups.items():
        assert members.size_bytes == space.measure(group)
        if group != "live data":
            assert sum(one.files or 0 for one in members) == space.count_files(group)
    if space.before is not None:  # what expires has rows of its own
        freed = space.find_freed(space.before)
        when = "" if space.before == space.holders.newest else " before "
        rows = [
            one
            for one in slices.find("old snapshots")
            if one.part.startswith(("history", "snapshots of no"))
            and when in one.part
            and "no older than" not in one.part
        ]
        assert (sum(one.size_bytes for one in rows), sum(one.files or 0 for one in rows)) == (
            freed.size_bytes,
            freed.files,
        )


@pytest.mark.parametrize("sample", SAMPLES)
def test_rows_are_the_directory_of_a_sample(sample: str) -> None:
    place = unpack_samples() / sample
    space = ll.open(place).space()
    check_sums(space, list_sizes(place))
    assert repr(space).startswith(f"<Space of {space.name}: ") and not space.findings


def add_up(paths: set[str], sizes: Mapping[str, int]) -> tuple[int, int]:
    """Bytes and number of those that are there."""
    found = [sizes[path] for path in paths if path in sizes]
    return sum(found), len(found)


def unite(sets: Any) -> set[str]:
    return set().union(*sets)


def check_states(space: Space, states: Mapping[str, set[str]], sizes: Mapping[str, int]) -> None:
    """What a state, and what a holder of states, needs alone and in all."""
    rows = space.by_snapshot
    assert [row.name for row in rows] == list(states)
    for row in rows:
        alone = states[row.name] - unite(held for other, held in states.items() if other != row.name)
        assert (row.size_bytes, row.files) == add_up(alone, sizes), row
    assert sum(row.last_bytes for row in rows) == add_up(unite(states.values()), sizes)[0]
    held_by: dict[str, set[str]] = {}
    for row in rows:
        held_by.setdefault(row.held_by, set()).update(states[row.name])
    assert {row.name for row in space.by_ref} == set(held_by)
    for ref in space.by_ref:
        alone = held_by[ref.name] - unite(held for other, held in held_by.items() if other != ref.name)
        assert (ref.size_bytes, ref.files) == add_up(alone, sizes), ref
        assert ref.total_bytes == add_up(held_by[ref.name], sizes)[0], ref


def check_expiry(
    space: Space, states: Mapping[str, set[str]], going: Mapping[str, datetime], sizes: Any
) -> None:
    """What goes and what it frees, at every time at which a state was committed."""
    for before in (*sorted(set(going.values())), *TIMES):
        gone = {state for state, time in going.items() if time < before}
        stay = unite(held for state, held in states.items() if state not in gone)
        freed = unite(states[state] for state in gone) - stay
        found = space.find_freed(before)
        assert (found.size_bytes, found.files) == add_up(freed, sizes)
        assert found.snapshots == len(gone)


def list_kept_by(table: Table, ref: Any) -> list[int | None]:
    """The snapshots that a ref names or keeps at least."""
    kept = [table.snapshot(ref.snapshot_id)]
    ancestors = {one.id: one for one in table.snapshots}
    while len(kept) < (ref.min_snapshots_to_keep or 1) and kept[-1].parent_id in ancestors:
        kept.append(ancestors[kept[-1].parent_id])
    return [one.id for one in kept]


def check_iceberg(space: Space, table: Table, sizes: Mapping[str, int]) -> None:
    """What states of an Iceberg table keep, and what expiring frees."""
    states = list_iceberg_states(table)
    check_states(space, states, sizes)
    named = {number for ref in table.refs for number in list_kept_by(table, ref)}
    times = {
        f"snapshot {one.id}": one.committed_at
        for one in table.snapshots
        if one.id not in named and one.committed_at is not None
    }
    check_expiry(space, states, times, sizes)


def check_paimon(space: Space, table: Any, sizes: Mapping[str, int]) -> None:
    """What states of a Paimon table keep, and what expiring frees."""
    states = list_paimon_states(table)
    check_states(space, states, sizes)
    first = min(table.consumers.values(), default=10**9)
    times = {
        f"snapshot {one.id}": one.committed_at
        for one in table.snapshots[:-1]
        if one.id < first and one.committed_at is not None
    }
    check_expiry(space, states, times, sizes)


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("path", TABLES, ids=name)
def test_rows_are_the_directory_and_states_keep_what_sets_say(path: Path) -> None:
    try:
        table = open_table(path)
    except Unsupported:
        return  # the view
    space, sizes = table.space(), list_sizes(path)
    check_sums(space, sizes)
    assert not [found for found in space.findings if found.severity == "error"]
    assert space.to_arrow().num_rows == len(space.slices)
    with display.using(strict_views=True):
        assert len(render_card(space, 2).encode()) <= 65_536
        assert render_text(space, 0) == repr(space)
    if table.format == "iceberg":
        check_iceberg(space, table, sizes)
    elif table.format == "paimon" and path.parent.name != UNSEEN:
        check_paimon(space, table, sizes)


@pytest.mark.parametrize(
    "lake",
    ["v2-basic", "v2-types", "v3-merge-on-read", "v2-types-orc", "v2-equality-deletes-orc", "v2-planning"],
)
def test_columns_take_what_the_engine_recorded(lake: str) -> None:
    """Of each column the bytes that footers give are those that Iceberg's own writers recorded (`column_sizes`)."""
    table: Table = ll.open(LAKES / "spark/iceberg" / lake / "table")
    files = table.space().census.list_live()
    footers, recorded = divide_files(table, files), divide_files(table, files, most=0)
    assert recorded.recorded == footers.footers == len(files) > 0 and not recorded.footers
    known, nested = footers.columns, {field.name for field in table.schema.fields if field.type.is_nested}
    assert recorded.columns and recorded.columns.keys() <= known.keys()
    for column, size in recorded.columns.items():  # of what lists and maps hold in ORC nothing is recorded
        assert size == known[column] or (column in nested and lake.endswith("orc") and size < known[column])
    assert recorded.size_bytes == footers.size_bytes == sum(file.size_bytes for file in files)


def test_of_too_many_files_the_largest_footers_are_read() -> None:
    table: Table = ll.sample("paimon")
    files = table.space().census.list_live()
    assert len(files) > 1
    division = divide_files(table, files, most=1)
    largest = max(file.size_bytes for file in files)
    assert division.footers == 1 and division.columns.total() + division.parts.total() == largest
    assert division.undivided == {"footer not read": sum(file.size_bytes for file in files) - largest}
    assert division.undivided_files == {"footer not read": len(files) - 1}


def test_renamed_and_dropped_columns_have_todays_names() -> None:
    table: Table = ll.sample("iceberg-evolution")
    columns = table.space().division.columns
    today = {field.name for field in table.schema.fields}
    others = {one for one in columns if one not in today}
    assert columns.keys() & today
    assert all(one.endswith("(dropped)") or one.startswith("_") for one in others), others


def test_expire_takes_times_in_any_form() -> None:
    space = ll.sample("iceberg").space()
    last = space.expiring[-1]
    assert space.find_freed(last.before) == last == space.find_freed(last.before.isoformat())
    assert space.find_freed("2999-01-01") == space.find_freed(datetime(2999, 1, 1).date())
    with pytest.raises(LakeError, match="is not a time"):
        space.find_freed("soon")
    with pytest.raises(LakeError, match="is not a time"):
        ll.sample("iceberg").space(before=5)


def test_history_is_divided_where_it_is_asked_for() -> None:
    table: Table = ll.sample("iceberg")
    middle = table.snapshots[2].committed_at
    assert middle is not None
    space = table.space(before=middle)
    rows = {one.part.split(" 20")[0]: one for one in space.slices.find("old snapshots")}
    assert set(rows) == {"history of main before", "history of main since"}
    assert rows["history of main before"].size_bytes == space.find_freed(middle).size_bytes
    assert space.find_freed(middle).snapshots == 2
    assert space.slices.size_bytes == space.size_bytes


RUNS = json.loads((LAKES / "maintenance/iceberg/expire_snapshots.json").read_text("utf-8"))["runs"]
AGED = [run for run in RUNS if set(run["options"]) <= {"older_than"} and not run["planted"]]


@pytest.mark.parametrize("run", AGED, ids=lambda run: f"{run['table']} {run['options']['older_than']}")
def test_what_expiring_frees_is_what_spark_deleted(run: dict[str, Any]) -> None:
    """But for documents that any commit removes from the log, which no snapshot keeps."""
    place = LAKES / "spark/iceberg" / run["table"] / "table"
    table, sizes = ll.open(place), list_sizes(place)
    space, before = table.space(), run["options"]["older_than"]
    deleted = {str(place / path) for path in run["deleted"]}
    plan = space.expire(before)
    assert {one.path for one in plan.deletes} == deleted
    assert plan.freed_bytes == add_up(deleted, sizes)[0]
    of_snapshots = {path for path in deleted if not path.endswith(".metadata.json")}
    found = space.find_freed(before)
    assert (found.size_bytes, found.files) == add_up(of_snapshots, sizes)
    left = {f"snapshot {number}" for number in run["snapshots"]}
    assert found.snapshots == len({row.name for row in space.by_snapshot} - left)


ORPHANS = json.loads((LAKES / "maintenance/iceberg/remove_orphan_files.json").read_text("utf-8"))["runs"]


@pytest.mark.parametrize("run", [run for run in ORPHANS if not run["options"]], ids=lambda run: run["table"])
def test_orphans_are_what_spark_removed(run: dict[str, Any], tmp_path: Path) -> None:
    place = copy(f"spark/iceberg/{run['table']}/table", tmp_path)
    table = ll.open(place)  # before there is a document of a higher number
    for number, (relative, days) in enumerate(run["planted"].items()):
        plant(place, {relative: b"x" * (number + 1)}, timedelta(days=days))
    space = table.space()
    check_sums(space, list_sizes(place))
    removed = [(place / relative).stat().st_size for relative in run["deleted"]]
    assert (space.measure("orphans"), space.count_files("orphans")) == (sum(removed), len(removed))


EXPIRED = [
    (name.removesuffix(" expire_snapshots(retain_max=1)"), run)
    for record in RECORDS.values()
    for name, run in record.items()
    if name.endswith("expire_snapshots(retain_max=1)")
]


@pytest.mark.parametrize(("lake", "run"), EXPIRED, ids=lambda value: value if isinstance(value, str) else "")
def test_what_expiring_frees_is_what_paimon_deleted(lake: str, run: dict[str, Any]) -> None:
    """All but the newest snapshot go; identifiers in the record are cut. Hints are no snapshot's."""
    place = LAKES / lake / "table"
    table: Any = ll.open(place)
    sizes = {cut(str(Path(path).relative_to(place))): size for path, size in list_sizes(place).items()}
    deleted = {path for path in run["deleted"] if not path.endswith(("EARLIEST", "LATEST"))}
    space = table.space()
    found = space.find_freed("2100-01-01")
    # of that one Paimon deletes lists that snapshots of a branch need: the plan says so, space calls them kept
    if not lake.endswith(UNSEEN):
        assert (found.size_bytes, found.files) == add_up(deleted, sizes)
    assert found.snapshots == len({str(one.id) for one in table.snapshots} - set(run["snapshots"]))
    plan = {cut(one.relative_path) for one in space.expire("2100-01-01").deletes}
    assert {path for path in plan if not path.endswith(("EARLIEST", "LATEST"))} == deleted


def test_engines_ran_often_enough() -> None:
    assert len(AGED) > 30 and len(EXPIRED) > 70


def test_a_format_without_the_procedure_says_so() -> None:
    space = ll.sample("hive").space()
    assert space.find_freed("2100-01-01").snapshots == 0
    with pytest.raises(Unsupported):
        space.expire("2100-01-01")
