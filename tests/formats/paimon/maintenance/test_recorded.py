"""What the procedures of Paimon are said to do, against what the engine has done to copies of the same tables.

`tests/lakes/maintenance/paimon/record.json` is the record; `record.py` beside it made it, with Spark and Paimon 0.9.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lakelens.errors import Missing
from lakelens.formats.paimon.maintenance.procedures import PROCEDURES
from lakelens.formats.paimon.table import PaimonTable
from lakelens.model.check.references import Referring
from lakelens.model.maintenance import Proposal
from lakelens.opening import open_table
from tests.lakes.maintenance.paimon.cases import Case, list_cases, list_java_cases
from tests.support import LAKES

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)


def read_record(name: str) -> dict[str, Any]:
    return json.loads((LAKES / "maintenance/paimon" / name).read_text("utf-8"))["cases"]  # type: ignore[no-any-return]


RECORDS = {"0.9": read_record("record.json"), "2.0": read_record("record-2.0.json")}
CASES = [
    (engine, case)
    for engine, cases in (("0.9", list_cases()), ("2.0", list_java_cases()))
    for case in cases
    if case.name in RECORDS[engine]
]
_UUID = re.compile(r"([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def cut(path: str) -> str:
    """A path with its identifiers cut, as the record has it."""
    return _UUID.sub(r"\1", path)


def propose(engine: str, case: Case, tmp_path: Path) -> tuple[Proposal, Path, PaimonTable]:
    """What the procedure would do, on the stored table or on a copy with the planted files."""
    place = LAKES / case.lake / "table"
    if case.planted:
        place = Path(shutil.copytree(place, tmp_path / "table"))
        for path, text in case.planted.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text, "utf-8")
    table = open_table(place)
    assert isinstance(table, PaimonTable)
    procedure = PROCEDURES[case.procedure]
    return procedure.plan(table, procedure.read_options({**case.options, "engine": engine})), place, table


def list_deleted(proposal: Proposal, place: Path) -> set[str]:
    """The files that would go, of those that are there."""
    paths = (Path(piece.path) for piece in proposal.deletes)
    return {cut(str(path.relative_to(place))) for path in paths if path.exists()}


@pytest.mark.parametrize(
    ("engine", "case"), CASES, ids=lambda value: value if isinstance(value, str) else value.name
)
def test_the_plan_is_what_the_engine_has_done(engine: str, case: Case, tmp_path: Path) -> None:
    done = RECORDS[engine][case.name]
    if done["error"] is not None and any(word in done["error"] for word in ("doesn't exist", "No such file")):
        with pytest.raises(Missing):
            propose(engine, case, tmp_path)
        return
    proposal, place, table = propose(engine, case, tmp_path)
    if any("own expiry" in note for note in proposal.notes):
        assert done["deleted"] and len(done["snapshots"]) < len(table.snapshots) + bool(proposal.writes)
        check_files(proposal, done)
        return
    if done["error"] is not None and "EndOfScan" in done["error"]:  # there is nothing to look through
        assert not proposal.replaces and proposal.notes == ["There is no snapshot."]
        return
    if done["error"] is not None:
        assert proposal.refusal is not None or any("the engine fails" in note for note in proposal.notes)
        return
    assert list_deleted(proposal, place) == set(done["deleted"])
    lost = {fate.keeper for fate in proposal.lost}
    kept = {fate.keeper for fate in proposal.kept}
    keepers = [keeper.name for keeper in Referring.of(table).list_keepers()]
    assert lost | kept == set(keepers) and not lost & kept
    for kind, numbers in (
        ("snapshot", done["snapshots"]),
        ("tag", done["tags"]),
        ("changelog", done["changelogs"]),
    ):
        still = {name.removeprefix(f"{kind} ") for name in kept if name.startswith(f"{kind} ")}
        added = {str(done["current"])} if kind == "snapshot" and proposal.writes else set()
        assert still | added == set(numbers) | added
    if case.procedure in ("compact", "expire_partitions"):
        check_files(proposal, done)


def check_files(proposal: Proposal, done: dict[str, Any]) -> None:
    """Files that leave the current state, those that only rise, and those that are written."""
    before, after = done["before"], done["after"]
    gone = {cut(piece.path).rpartition("/")[2] for piece in proposal.replaces if piece.role == "data"}
    assert gone == before.keys() - after.keys()
    raised = {name for name in before.keys() & after.keys() if before[name][0] != after[name][0]}
    assert sum("only its level changes" in group.why for group in proposal.groups) == len(raised)
    made = [after[name] for name in after.keys() - before.keys()]
    (data,) = [line for line in proposal.writes if line.role == "data"] or [None]
    assert (data is None) == (
        not any(group.outputs and "only its" not in group.why for group in proposal.groups)
    )
    if data is None:
        assert not made
    else:
        size = sum(found[2] for found in made)
        assert (data.least_files or 0) <= len(made) <= (data.most_files or 0)
        assert (data.least or 0) <= size <= (data.most or 0)
        numbers = [
            int(number.replace(",", "")) for number in re.findall(r"[\d,]+", data.note.split(" row")[0])
        ]
        assert numbers[0] <= sum(found[1] for found in made) <= numbers[-1]
    check_metadata(proposal, done["written"])


def check_metadata(proposal: Proposal, written: list[str]) -> None:
    """As many documents, lists and manifests are written as was said."""
    counted = Counter(name_kind(path) for path in written)
    said = {line.role: line for line in proposal.writes}
    for role in ("manifest", "manifest list", "snapshot", "index manifest"):
        line = said.get(role)
        least = 0 if line is None else line.files if line.least_files is None else line.least_files
        assert least <= counted[role] <= (line.files if line else 0), role
    log = said.get("changelog data")
    assert counted["changelog data"] <= (log.files if log else 0)


def name_kind(path: str) -> str:
    name = path.rpartition("/")[2]
    if path.startswith("changelog/"):
        return "other"
    for start, kind in (
        ("manifest-list", "manifest list"),
        ("index-manifest", "index manifest"),
        ("manifest-", "manifest"),
        ("snapshot-", "snapshot"),
        ("changelog-", "changelog data"),
    ):
        if name.startswith(start):
            return kind
    return "other"


def test_the_record_has_many_tables_and_each_procedure() -> None:
    for engine, fewest in (("0.9", 120), ("2.0", 100)):
        cases = [case for one, case in CASES if one == engine]
        assert len(cases) >= fewest and len({case.lake for case in cases}) >= 35
        counted = Counter(case.procedure for case in cases)
        assert counted.keys() == PROCEDURES.keys() - ({"expire_partitions"} if engine == "2.0" else set())
        found = RECORDS[engine].values()
        assert sum(bool(one["deleted"] or one["before"] != one.get("after")) for one in found) >= 80


def test_estimates_of_bytes_are_near(tmp_path: Path) -> None:
    """Half of the estimates are within 15 % of what the engine wrote, although each file has some rows only."""
    ratios = []
    for number, (engine, case) in enumerate(CASES):
        done = RECORDS[engine][case.name]
        if case.procedure != "compact" or done["error"] is not None:
            continue
        proposal, _, _ = propose(engine, case, tmp_path / str(number))
        said = sum(line.size_bytes or 0 for line in proposal.writes if line.role == "data")
        written = sum(done["after"][name][2] for name in done["after"].keys() - done["before"].keys())
        if written:
            ratios.append(said / written)
    errors = sorted(abs(ratio - 1) for ratio in ratios)
    assert len(errors) >= 25 and errors[len(errors) // 2] < 0.15 and errors[-1] < 1.5
