"""Plans for Delta tables against what delta-spark's own run of the same command did to the same table."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lakelens.analysis.check.strays import find_strays
from lakelens.errors import LakeError
from lakelens.formats.delta.discovery import guess_role
from lakelens.model.check.references import Referring
from lakelens.opening import open_table
from tests.support.delta_runs import RECORDS, STRAYS, Run, age_and_plant, load_runs, unpack_tables

RUNS = load_runs()


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_tables(tmp_path_factory.mktemp("tables"))


def list_lost(record: dict[str, Any]) -> list[str]:
    """List the files that the engine restored where it ran, and that are not on this machine."""
    if record["procedure"] != "restore":
        return []
    added = (name.partition("#")[0] for commit in record["commits"] for name in commit["add"])
    return [name for name in added if name.startswith("file:") and not Path(name[len("file:") :]).exists()]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_plan_equals_the_engines_run(run: Run, tables: Path, tmp_path: Path) -> None:
    record, procedure = run.record, run.record["procedure"]
    table = run.open(tables, tmp_path)
    try:
        plan = table.dry_run(procedure, **run.options)
    except LakeError as error:
        assert "error" in record, f"{error}, but the engine ran it"
        return
    if lost := list_lost(record):  # of a clone's source, which is no part of the archive
        assert lost[0] in str(plan.refusal)
        return
    assert (plan.refusal is not None) == ("error" in record), (plan.refusal, record.get("error"))
    assert {one.relative_path for one in plan.deletes} == set(record["deleted"])
    place = Path(table.location)
    assert plan.freed_bytes == sum((place / name).stat().st_size for name in record["deleted"])
    assert plan.is_certain
    written = procedure in ("optimize", "reorg", "restore") and record["commits"]
    commit = record["commits"][0] if written else {"add": {}, "remove": []}
    assert Counter(name_files(plan.replaced)) == Counter(
        name.partition("#")[0].removeprefix("file:") for name in commit["remove"]
    )
    if procedure == "restore":
        files = [name + (f"#{vector}" if vector else "") for name, vector in list_read(plan)]
        assert sorted(files) == sorted(name.removeprefix("file:") for name in commit["add"])
    elif procedure == "vacuum":
        check_vacuum(plan, table, record)
    elif written:
        check_groups(plan, commit)
    check_outputs(plan, record)
    if procedure != "checkpoint":
        call = re.sub(r"delta\.`[^`]*`", "{t}", plan.call)
        assert " ".join(call.split()) == " ".join(record["statement"].split())


def name_files(files: Any) -> list[str]:
    return [file.relative_path for file in files]


def list_read(plan: Any) -> list[tuple[str, str | None]]:
    return [(file.logical_path, file.vector_id) for file in plan.reads]


def check_vacuum(plan: Any, table: Any, record: dict[str, Any]) -> None:
    """The dry run of the engine lists the same files; versions are lost that name one of them; empty directories go."""
    place = Path(table.location)
    gone = {one.relative_path for one in plan.deletes if not one.relative_path.startswith("_delta_log/")}
    assert {name for name in record.get("dry", ()) if (place / name).is_file()} == gone
    needing = {
        snapshot.id
        for snapshot in table.snapshots
        if any(
            path.removeprefix(f"{table.location}/") in gone
            for file in snapshot.files
            for path in (file.path, *(match.file.path for match in file.deletes))
        )
    }
    restored = {fate.id for fate in plan.snapshots_lost if fate.why.startswith("its commit")}
    assert {fate.id for fate in plan.snapshots_lost} - restored == needing - restored
    said = " ".join(note for note in plan.notes if "empty director" in note)
    assert set(said.partition(": ")[2].split(", ")) - {""} == set(record["removed_dirs"])


def check_groups(plan: Any, commit: dict[str, Any]) -> None:
    """As many files as the engine counts are rewritten, and as many come out as it says."""
    assert sum(group.files for group in plan.groups) == int(commit["metrics"]["numRemovedFiles"])
    assert sum(group.size_bytes for group in plan.groups) == int(commit["metrics"]["numRemovedBytes"])
    assert sum(group.outputs for group in plan.groups) >= len(commit["add"])


def check_outputs(plan: Any, record: dict[str, Any]) -> None:
    """As many files of each role came out as the plan says at least and at most; the hint is written again."""
    count = Counter(guess_role(path) for path in record["added"])
    lines: dict[str, list[Any]] = {}
    for output in plan.writes:
        lines.setdefault(output.role, []).append(output)
    assert set(count) <= set(lines), (count, lines)
    for role, outputs in lines.items():
        least, most = sum(one.least_files or 0 for one in outputs), [one.most_files for one in outputs]
        assert least <= count[role], (role, outputs)
        assert None in most or count[role] <= sum(most), (role, count[role], outputs)


def test_enough_was_recorded() -> None:
    assert len(RUNS) >= 80
    assert len({run.record["table"] for run in RUNS}) >= 30
    kinds = Counter(run.record["procedure"] for run in RUNS)
    assert set(kinds) == {"vacuum", "optimize", "reorg", "restore", "checkpoint"}
    assert sum(bool(run.record["deleted"]) for run in RUNS) >= 40


# delta-rs: the same tables with the same planted files, kept for 0 hours

RS = json.loads((RECORDS / "rs.json").read_text("utf-8"))


@pytest.mark.parametrize("name", RS["tables"])
def test_what_delta_rs_would_delete(name: str, tables: Path, tmp_path: Path) -> None:
    """A full run: the same, what is hidden below the first directory, what is gone already, and what it should not touch.

    That are files of vectors that live files need, and files of the table that a shallow clone was made from.
    """
    at = RS["at"] / 1000
    copy = tmp_path / name
    shutil.copytree(tables / name, copy)
    age_and_plant(copy, STRAYS, None, at)
    table = open_table(str(copy))
    plan = table.dry_run("vacuum", retain_hours=0, at=datetime.fromtimestamp(at, UTC))
    ours = {one.relative_path for one in plan.deletes if not one.relative_path.startswith("_delta_log/")}
    strays = find_strays(table, now=datetime.fromtimestamp(at, UTC), age=timedelta(0))
    named = {
        reference.path.removeprefix(f"{table.location}/")
        for reference in Referring.of(table).list_documents()
    }
    # beside what tombstones and change data name these are the orphans of `check`
    assert {one.relative_path for one in strays.orphans} == {
        path for path in ours - named if not path.startswith("_change_data/")
    }
    theirs = set(RS["tables"][name]["full"])
    assert not ours - theirs
    vectors = {
        match.file.path.removeprefix(f"{table.location}/") for file in table.files for match in file.deletes
    }
    hidden = {path for path in theirs if any(part.startswith(("_", ".")) for part in path.split("/")[1:])}
    others = {path for path in theirs if path.startswith("file:")}
    absent = {path for path in theirs - others if not (copy / path).exists()}
    assert theirs - ours <= vectors | hidden | others | absent
    assert absent <= {file.logical_path for file in table.newest.tombstones}
    assert bool(others) == (name == "cloned")
    assert vectors <= theirs  # what delta-rs 1.6 deletes although rows need it


@pytest.mark.parametrize("name", RS["tables"])
def test_what_delta_rs_would_delete_by_the_log(name: str, tables: Path) -> None:
    """A lite run: data files with a tombstone that are not live. Spark looks at commits: at change data and vectors too."""
    table = open_table(str(tables / name))
    live = {file.logical_path for file in table.files}
    gone = {file.logical_path for file in table.newest.tombstones} - live
    assert {path.removeprefix("file:") for path in RS["tables"][name]["lite"]} == gone
