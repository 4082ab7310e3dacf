"""Plans of Paimon's procedures as `table.dry_run` gives them: in words, as tables and as cards."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.views.render.text import render_text
from tests.support import LAKES

OWN = LAKES / "maintenance/paimon"
PLANS: list[tuple[str, str, dict[str, Any], str]] = [
    ("pk-levels", "compact", {}, "rewrites 2 files into about 2"),
    ("pk-levels", "compact", {"full": False}, "changes metadata alone"),
    ("pk-levels", "expire_snapshots", {"retain_max": 1}, "5 of 6 snapshots go"),
    ("pk-levels", "rollback", {"version": 2}, "snapshot 2 becomes the current one"),
    (
        "days",
        "expire_partitions",
        {"expire_strategy": "update-time"},
        "takes 6 files out of the current state",
    ),
    ("tags-and-expiry", "delete_tag", {"tag": "at1"}, "1 of 6 snapshots go"),
    ("tags-and-expiry", "expire_tags", {"older_than": "2100-01-01", "engine": "2.0"}, "4 of 6 snapshots go"),
    ("pk-levels", "remove_orphan_files", {"at": "2100-01-01"}, "frees 0 B, 0 files go"),
]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, ["20240101/23", "20240101/3", "20240102/7", "20990101/0", "never/1"]),
        ({"where": "dt = '20240101' OR h = 1"}, ["20240101/23", "20240101/3", "never/1"]),
        ({"partitions": "dt='20240102',h=7;dt=never"}, ["20240102/7", "never/1"]),
        ({"where": "dt = '1999'"}, []),
    ],
)
def test_an_order_takes_all_files_of_the_partitions_that_are_chosen(options: Any, said: list[str]) -> None:
    table = ll.open(OWN / "days/table")
    column = next(field.name for field in table.schema.fields if field.name not in table.partition_keys)
    plan = table.dry_run("compact", order_strategy="zorder", order_by=column, **options)
    assert [group.name for group in plan.groups] == [
        "dt={}/h={}".format(*partition.split("/")) for partition in said
    ]
    assert {group.why for group in plan.groups} <= {f"zorder by {column}"}
    chosen = [file for file in table.files if str(file.partition) in [group.name for group in plan.groups]]
    assert {file.path for file in plan.reads} == {file.path for file in chosen}
    again = table.dry_run(plan.call)
    assert again.call == plan.call and len(again.reads) == len(plan.reads)


def test_an_order_that_the_engine_refuses_is_refused() -> None:
    table = ll.open(OWN / "days/table")
    for options, words in (
        ({"order_strategy": "order"}, "needs order_by"),
        ({"order_by": "h"}, "needs an order_strategy"),
        ({"order_strategy": "order", "order_by": "h"}, "partition column"),
        ({"order_strategy": "order", "order_by": "no_such"}, "no column no_such"),
        ({"order_strategy": "random", "order_by": "dt"}, "no order random"),
    ):
        assert words in table.dry_run("compact", **options).refusal
    keyed = ll.open(OWN / "pk-levels/table")
    assert "append tables" in keyed.dry_run("compact", order_strategy="order", order_by="k").refusal
    name = next(field.name for field in table.schema.fields if field.name not in table.partition_keys)
    for options in ({"where": f"{name} IS NULL"}, {"where": "h = 1", "partitions": "h=1"}):
        with pytest.raises(LakeError, match="partition"):
            table.dry_run("compact", **options)


@pytest.mark.parametrize(("lake", "procedure", "options", "headline"), PLANS)
def test_a_plan_in_words_and_as_a_table(
    lake: str, procedure: str, options: dict[str, Any], headline: str
) -> None:
    table = ll.open(OWN / lake / "table")
    given = {"expiration_time": "1 s", "at": "2100-01-01"} if procedure == "expire_partitions" else {}
    text = {**options, "version": "2"} if "version" in options else options
    plan = table.dry_run(procedure, **given, **text)
    assert headline in repr(plan) and "nothing was written" in repr(plan)
    rows = plan.to_arrow()
    assert rows.num_rows == len({*(one.path for one in plan.replaced), *(one.path for one in plan.deletes)})
    assert plan.freed_bytes == sum(one.size_bytes for one in plan.deletes)
    assert all(one.size_bytes >= 0 and one.why for one in plan.deletes)
    words = render_text(plan)
    assert all(found.message in " ".join(words.split()) for found in plan.findings)
    assert "dry run, nothing was written" in words and f"CALL sys.{procedure}(" in words
    assert bool(plan.findings) == (procedure == "rollback") and plan.is_certain


def test_branches_that_lose_files_are_named() -> None:
    table = ll.open(LAKES / "spark/paimon/branches/table")
    plan = table.dry_run("rollback", version="1", engine="0.9")
    lost = [found for found in plan.findings if "which the engine does not look at" in found.message]
    needed = {file.path for ref in table.refs.branches for file in table.branch(ref.name).files}
    assert bool(lost) == bool(needed & {one.path for one in plan.deletes} - {f.path for f in table.files})


def test_rolling_back_over_a_compaction_that_only_raised_levels_is_warned_of() -> None:
    table = ll.open(OWN / "pk-levels/table")
    old = table.dry_run("rollback", version="2", engine="0.9")
    target = table.snapshot(2)
    assert target is not None
    broken = {file.path for file in target.files} & {one.path for one in old.deletes}
    assert broken and any(
        f"{len(broken)} files that snapshot 2 needs would go" in found.message for found in old.findings
    )
    new = table.dry_run("rollback", version="2", engine="2.0")
    assert {one.role for one in new.deletes} == {"snapshot"}


def test_the_next_pick_and_the_newer_rules_differ_where_the_engines_do() -> None:
    table = ll.open(OWN / "append-bins/table")
    old, new = table.dry_run("compact", engine="0.9"), table.dry_run("compact", engine="2.0")
    assert len(old.groups) == 2 and len(new.groups) >= 1
    assert {one.path for one in old.replaced} != {one.path for one in new.replaced}


def test_a_branch_has_plans_of_its_own() -> None:
    table = ll.open(LAKES / "spark/paimon/branches/table")
    name = next(ref.name for ref in table.refs.branches if ref.name != "main")
    plan = table.branch(name).dry_run("expire_snapshots", retain_max=1)
    assert f"$branch_{name}" in plan.call
    assert all(fate.keeper.startswith(f"{name}: ") for fate in plan.snapshots_lost)


def test_an_unknown_engine_or_procedure_is_refused() -> None:
    table = ll.open(OWN / "pk-levels/table")
    with pytest.raises(LakeError, match="no procedure"):
        table.dry_run("rewrite_data_files")
    with pytest.raises(LakeError, match="no rules of Paimon"):
        table.dry_run("compact", engine="9")


@pytest.mark.parametrize("engine", ["0.9", "2.0"])
@pytest.mark.parametrize(
    ("lake", "procedure", "options"),
    [
        ("maintenance/paimon/append-bins", "compact", {}),
        ("maintenance/paimon/append-in-buckets", "compact", {"full": True}),
        ("maintenance/paimon/append-in-buckets", "compact", {"full": False}),
        ("maintenance/paimon/days", "compact", {"partitions": "day=1"}),
        ("maintenance/paimon/append-bins", "compact", {"order_strategy": "order", "order_by": "id"}),
        ("spark/paimon/append-deletion-vectors", "compact", {}),
        ("maintenance/paimon/tags-and-expiry", "remove_orphan_files", {}),
        ("spark/paimon/branches", "remove_orphan_files", {}),
    ],
)
def test_plans_of_many_files_are_those_of_few(
    lake: str, procedure: str, options: dict[str, Any], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that is read by column, however small it is, has the plans that it has file by file."""
    asked = {**options, "engine": engine, "at": "2100-01-01"}
    if procedure == "compact":
        del asked["at"]
    place = LAKES / lake / "table"
    key = next(iter(ll.open(place).partition_keys), "")
    if "partitions" in asked:
        value = next(iter(ll.open(place).files)).partition[key]
        asked["partitions"] = f"{key}={value}"
    few = describe(ll.open(place).dry_run(procedure, **asked))
    monkeypatch.setattr("lakelens.model.scan.scan_to_arrow.is_worthwhile", lambda tasks: True)
    assert describe(ll.open(place).dry_run(procedure, **asked)) == few
    assert few[0] and few[1]


def describe(plan: Any) -> tuple[Any, ...]:
    """All that a plan says."""
    lists = (plan.to_arrow(), plan.writes.to_arrow(), plan.groups.to_arrow(), plan.kept.to_arrow())
    return (repr(plan), plan.call, [rows.to_pylist() for rows in lists], plan.notes, str(plan.findings[:]))


def test_names_beside_files_and_lost_manifests_count_by_column_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a manifest names that is gone or damaged is judged as it is one by one: by 0.9, and by 2.0."""
    place = tmp_path / "table"
    shutil.copytree(LAKES / "spark/paimon/append/table", place)
    manifests = [one for one in ll.open(place).snapshots[-1].manifests if one.content == "data"]
    monkeypatch.setattr("lakelens.model.scan.scan_to_arrow.is_worthwhile", lambda tasks: False)
    for damage in (lambda path: path.write_bytes(path.read_bytes()[:-40]), Path.unlink):
        damage(Path(manifests[-1].path))
        for engine in ("0.9", "2.0"):
            few = describe(ll.open(place).dry_run("remove_orphan_files", at="2100-01-01", engine=engine))
            with monkeypatch.context() as patch:
                patch.setattr("lakelens.model.scan.scan_to_arrow.is_worthwhile", lambda tasks: True)
                many = describe(ll.open(place).dry_run("remove_orphan_files", at="2100-01-01", engine=engine))
            assert many == few
