"""Nothing that a predicate needs is skipped: explanations against the stored rows of every engine-written table.

The referee is DuckDB, which runs each generated predicate over the rows that pyarrow reads of each file.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.explain.explanation import Explanation
from lakelens.model.scan.placement import open_placement
from lakelens.model.stats import Condition, Constant, Group, Term, list_terms
from tests.support import LAKES
from tests.support.planned import list_lakes
from tests.support.predicates import Predicate, write_condition
from tests.support.refereed import State, duckdb

_EVERY = os.environ.get("LAKELENS_EVERY_LAKE", "") not in ("", "0")
_PER_STATE = 60 if _EVERY else 11
_LEAST = 2_000  # predicates of a whole run
_SAMPLES = [one.name for one in ll.sample()]
# files of this one are in the table that it was made of, which is not here
_READ = [path for path in list_lakes() if path.parts[-4:-1] != ("delta", "spark", "cloned")]
CASES = [*map(str, _READ), *_SAMPLES]
counted: dict[str, int] = defaultdict(int)


def name_case(case: str) -> str:
    path = Path(case)
    return str(path.parent.relative_to(LAKES)) if path.is_absolute() else f"sample/{case}"


def list_states(case: str) -> Iterator[State]:
    """The current state of a table, and the oldest one with another schema."""
    table = ll.open(case) if Path(case).is_absolute() else ll.sample(case)
    if table.current is None:
        return
    yield State(table, table.current, table.schema)
    for snapshot in table.snapshots:
        if snapshot.schema.id != table.schema.id and len(snapshot.files):
            yield State(table, snapshot, snapshot.schema)
            return


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("case", CASES, ids=name_case)
def test_no_file_with_a_row_that_fits_is_skipped(case: str) -> None:
    for number, state in enumerate(list_states(case)):
        if not state.rows or not state.columns:
            continue
        predicates = list(state.make_predicates(f"{name_case(case)} {number}", _PER_STATE))
        try:
            answers = state.ask([one.duck for one in predicates])
        except duckdb.Error:  # a cast of DuckDB's that does not fit: one by one
            answers = [_ask_alone(state, one.duck) for one in predicates]
        for predicate, found in zip(predicates, answers, strict=True):
            if found is not None:
                check_predicate(state, predicate, found)


def _ask_alone(state: State, predicate: str) -> Any:
    try:
        return state.ask([predicate])[0]
    except duckdb.Error:
        counted["refused by the referee"] += 1
        return None


def check_predicate(state: State, predicate: Predicate, found: dict[int, tuple[int, int]]) -> None:
    """One predicate: what is kept, what is skipped, and what is said of both."""
    at = None if state.snapshot is state.table.current else state.snapshot.id
    explanation = state.table.explain(predicate.text, snapshot=at)
    kept, skipped = ({file.path for file in files} for files in (explanation.kept, explanation.skipped))
    every = {file.path for file in state.files}
    assert not kept & skipped and kept | skipped == every, predicate.text
    assert len(explanation.kept) + len(explanation.skipped) == len(state.files)
    fits = {state.files[number].path for number, (hits, _) in found.items() if hits}
    lost = fits - kept
    assert not lost, f"{predicate.text}\nskipped, with rows that fit: {lost}"
    check_items(explanation, kept)
    check_totals(explanation)
    check_answers(state, explanation)
    check_merged(state, explanation)
    counted["predicates"] += 1
    counted["files"] += len(every)
    counted["skipped"] += len(skipped)
    counted["skipped without need"] += len(kept - fits)


def check_items(explanation: Explanation, kept: set[str]) -> None:
    """One row an item, each with its reason."""
    items = explanation.to_arrow().to_pylist()
    manifests = [item for item in items if item["level"] == "manifest"]
    files = [item for item in items if item["level"] == "file"]
    assert len(manifests) == len(explanation.manifests) and len(manifests) + len(files) == len(items)
    assert len({item["path"] for item in files}) == len(files)
    assert {item["path"] for item in files if item["decision"] == "kept"} == kept
    for item in items:
        assert item["decision"] in ("kept", "skipped") and item["reason"] and item["term"], item


def check_totals(explanation: Explanation) -> None:
    """What is summed up is what is there, and every view of it can be made."""
    kept, skipped = len(explanation.kept), len(explanation.skipped)
    assert sum(share.files for share in explanation.groups) == skipped
    assert sum(share.files for share in explanation.answers) == kept
    assert explanation.levels[-1].left == kept
    assert explanation.levels[0].looked_at == (len(explanation.manifests) or kept + skipped)
    if counted["predicates"] % 20 == 0:
        assert str(explanation) and explanation._repr_html_()


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def check_answers(state: State, explanation: Explanation) -> None:
    """Where a part is said to hold for every row of a file, it does."""
    files = {file.path: number for number, file in enumerate(state.files)}
    claims: list[tuple[Condition, int]] = []
    for number, part in enumerate(explanation.parts):
        for file, answer in zip(explanation.kept, explanation.answer(number), strict=True):
            if answer == "all_match" and files[file.path] in state.rows:
                claims.append((part, files[file.path]))
    if not claims:
        return
    parts = list(dict.fromkeys(part for part, _ in claims))
    known = {column.name for column in state.columns}
    assert all(term.column in known for part in parts for term in list_terms(part))
    found = state.ask([write_condition(part, _quote) for part in parts])
    for part, number in claims:
        hits, rows = found[parts.index(part)][number]
        assert hits == rows, (explanation.predicate, part, state.files[number].path)
        counted["all_match"] += 1


# --- rows that a reader merges -------------------------------------------------------------------------------------------


def check_merged(state: State, explanation: Explanation) -> None:
    """Of a key either all files with it are kept, or none is, or the key itself does not fit: no old row comes back."""
    placement: Any = open_placement(state.table)
    merging = placement.merging
    if merging is None or merging.by_rows or not merging.keys:
        return
    relaxed = _relax(explanation.condition, set(merging.keys))
    keys = ", ".join(f'"{name}"' for name in merging.keys)
    kept = {file.path for file in explanation.kept}
    numbers = [number for number, file in enumerate(state.files) if file.path in kept]
    chosen = f'"#file" IN ({", ".join(map(str, numbers)) or "-1"})'
    torn = (
        f"SELECT {keys}, bool_or({chosen}), bool_and({chosen}) FROM stored "
        f'WHERE {write_condition(relaxed, _quote)} GROUP BY {keys}, "#bucket" '
        f"HAVING bool_or({chosen}) AND NOT bool_and({chosen})"
    )
    known = {column.name for column in state.columns}
    if all(term.column in known for term in list_terms(relaxed)) and set(merging.keys) <= known:
        found = state.engine.execute(torn).fetchall()
        assert not found, f"{explanation.predicate}\nonly some files of these keys are kept: {found}"
        counted["merged"] += 1


def _relax(condition: Condition, keys: set[str]) -> Condition:
    """What a condition says of the key columns alone."""
    if isinstance(condition, Group):
        return replace(condition, parts=tuple(_relax(part, keys) for part in condition.parts))
    if isinstance(condition, Term) and condition.column not in keys:
        return Constant(condition.text, True)
    return condition


def test_as_many_predicates_were_tried_as_it_takes(request: pytest.FixtureRequest) -> None:
    """At least 2,000 of them, and not in vain: a good part of the files is skipped, a good part of the rest is needed."""
    ran = [item for item in request.session.items if item.name.startswith("test_no_file_with_a_row")]
    if len(ran) < len(CASES):
        pytest.skip("only some of the tables were asked")
    print(dict(counted))
    assert counted["predicates"] >= _LEAST
    assert counted["skipped"] > counted["files"] // 5
    assert counted["refused by the referee"] < counted["predicates"] // 50
    assert counted["all_match"] > 500 and counted["merged"] > 100
