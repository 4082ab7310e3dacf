"""A second opinion: what pyiceberg's `plan_files` skips we skip too, but for causes that are listed.

Runs where pyiceberg is installed beside lakelens. The kept tables are put where they were recorded, because pyiceberg knows
of no tables that were moved.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest

import lakelens as ll
from lakelens.model.stats import list_terms
from tests.support import LAKES
from tests.support.pyiceberg_plans import Unsaid, list_planned
from tests.support.refereed import State

static = pytest.importorskip("pyiceberg.table", reason="pyiceberg is not installed: its pins may clash")
_PER_LAKE = 25
_REAL = ("float32", "float64")


def find_cause(explanation: Any, fits: int) -> str | None:
    """Why pyiceberg skips a file that we keep; `fits` is how many of its rows fit by DuckDB."""
    terms = list(list_terms(explanation.condition))
    if any(
        one.type.logical in _REAL and one.test in (">", ">=", "!=", "not in", "=", "in", "is nan")
        for one in terms
    ):
        return "NaN and zeros of both signs"
    if any(
        one.type.logical == "float32" and any(abs(value) > 3.5e38 for value in one.values) for one in terms
    ):
        return "a double beyond all floats but infinity"
    if any(one.test == "is null" and _is_required(explanation, one) for one in terms):
        return "no nulls by the schema"
    if fits:
        return "pyiceberg loses rows"
    return None


def _is_required(explanation: Any, term: Any) -> bool:
    return term.field_id is not None and not explanation.table.schema.field(term.field_id).nullable


@pytest.mark.exhaustive
def test_pyiceberg_skips_nothing_that_we_keep(capsys: Any) -> None:
    counted: Counter[str] = Counter()
    wrong: list[str] = []
    for folder in sorted((LAKES / "spark/iceberg").iterdir()):
        answers = json.loads((folder / "answers.json").read_text("utf-8"))
        place = Path(unquote(urlparse(answers.get("location") or "").path))
        if not place.as_posix().startswith("/tmp/lakes/") or place.exists() or answers.get("view"):
            continue
        shutil.copytree(folder / "table", place)
        try:
            wrong += compare_plans(folder, answers["metadata_location"], counted)
        finally:
            shutil.rmtree(place)
    with capsys.disabled():
        print(f"\n{dict(sorted(counted.items()))}")
    assert not wrong, "\n".join(wrong)
    assert counted["predicates"] > 1_000 and counted["read by pyiceberg"] < counted["files"] * 3 // 4


def compare_plans(folder: Path, recorded: str, counted: Counter[str]) -> list[str]:
    """Ask some predicates of pyiceberg and of us: the files that are kept without a cause."""
    try:
        theirs = static.StaticTable.from_metadata(recorded)
        list(theirs.scan().plan_files())
    except Exception as error:
        counted[f"not opened: {type(error).__name__}"] += 1
        return []
    table = ll.open(folder / "table")
    if table.current is None:
        return []
    state, wrong = State(table, table.current, table.schema), []
    if not state.rows or not state.columns:
        return []
    for predicate in state.make_predicates(f"pyiceberg {folder.name}", _PER_LAKE):
        explanation = table.explain(predicate.text)
        try:
            planned = list_planned(theirs, explanation.condition)
        except Unsaid:
            continue
        except Exception as error:
            counted[f"refused: {type(error).__name__}"] += 1
            continue
        kept = {Path(file.path).name for file in explanation.kept}
        counted["predicates"] += 1
        counted["files"] += len(state.files)
        counted["read by pyiceberg"] += len(planned)
        counted["kept by us"] += len(kept)
        counted["only pyiceberg reads"] += len(planned - kept)
        fits = state.ask([predicate.duck])[0] if kept - planned else {}
        for number, file in enumerate(state.files):
            if Path(file.path).name in kept - planned:
                cause = find_cause(explanation, fits.get(number, (0, 0))[0])
                counted[f"only we keep: {cause}"] += 1
                if cause is None:
                    wrong.append(f"{folder.name}: {predicate.text}: {Path(file.path).name}")
    return wrong
