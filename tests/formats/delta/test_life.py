"""`row` against the rows that delta-spark reads of each version, of the tables that maintenance was recorded on."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lakelens.analysis.life.past import Past
from lakelens.opening import open_table
from tests.support.delta_runs import RECORDS, unpack_tables

#: By names that a column has had before: `row` has today's.
RENAMED = {"mapped-name": {"p": "part of it"}}
#: Row ids follow a row into a file that it was moved to.
TRACKED = "row-tracking"


@cache
def read_answers() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = json.loads(
        lzma.decompress((RECORDS / "rows.json.xz").read_bytes())
    )
    return found


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_tables(tmp_path_factory.mktemp("tables"))


def freeze(row: dict[str, Any], columns: set[str]) -> Any:
    """A row by the columns that the table has now, without those that are null, as JSON leaves them out."""
    kept = {name: str(value) for name, value in row.items() if name in columns and value is not None}
    return tuple(sorted(kept.items()))


@pytest.mark.parametrize("name", read_answers())
def test_rows_are_those_of_time_travel(name: str, tables: Path) -> None:
    """The versions of rows that are alive at a version of the table are the rows that the engine reads there."""
    table = open_table(str(tables / name))
    versions = list(table.row("id >= 0").versions)
    plain = {field.name for field in table.schema.fields if not field.type.is_nested} - {"ts", "dec", "b"}
    for number, lines in read_answers()[name].items():
        said = [
            {RENAMED.get(name, {}).get(column, column): value for column, value in json.loads(line).items()}
            for line in lines
        ]
        alive = [
            version
            for version in versions
            if version.since_id <= int(number)
            and (version.end is None or version.end.snapshot_id > int(number))
        ]
        assert Counter(freeze(dict(version.values), plain) for version in alive) == Counter(
            freeze(row, plain) for row in said
        ), number
    assert len(read_answers()[name]) > 1 or len(table.snapshots) == 1


def test_a_row_keeps_its_id(tables: Path) -> None:
    """With row tracking a version is followed by its row id: through an UPDATE, and into the file that OPTIMIZE wrote."""
    life = open_table(str(tables / TRACKED)).row("id = 4")
    assert life.identity.kind == "row id"
    first, second = life.versions
    assert (first.row, first.row_id) == (second.row, second.row_id) and first.changed == ()
    assert second.changed == ("name",) and first.end.is_followed and len(second.moves) == 1


def test_versions_share_the_files_of_the_log(tables: Path) -> None:
    """A commit is one manifest, however many versions it leads to, and its number is the same in all of them."""
    table = open_table(str(tables / TRACKED))
    survey = Past(table).survey
    assert len(survey.states) > 2 and all(len(lines) == 1 for lines in survey.lines)
    for place, state in enumerate(survey.states):
        named = [
            (listed.role, manifest)
            for listed in state.snapshot.manifest_lists
            for manifest in listed.manifests
        ]
        assert [(role, survey.manifests[number]) for number, role, _ in state.manifests] == named
        assert all(place in survey.holders[number] for number, _, _ in state.manifests)
