"""Questions that are asked of many tables at once: `Catalog.ask`, and verbs where PATH holds many tables."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.answers.parts import describe
from lakelens.answers.survey import check_names, find_answerable
from lakelens.errors import LakeError
from lakelens.model.storage import Evidence
from lakelens.model.warehouse.catalog import Catalog, FoundTable
from lakelens.model.warehouse.survey import TableSurvey
from lakelens.options import display
from tests.support.documents import invoke

NAMES = ("iceberg", "iceberg-merge-on-read", "paimon", "paimon-deletion-vectors", "hive", "delta")
ASKED = ("check", "health", "space")


@pytest.fixture(autouse=True)
def without_progress() -> Iterator[None]:
    """No line about how far a reading is: it would come on a slow machine alone."""
    with display.using(progress=False):
        yield


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of a few samples, one of them without a file that its table needs."""
    root = tmp_path_factory.mktemp("warehouse")
    for name in NAMES:
        ll.sample()[name].unpack(root)
    broken = ll.sample()["paimon"].unpack(root / "broken")
    for manifest in broken.glob("manifest/manifest-*"):
        manifest.write_bytes(b"no manifest")
    return root


def ask_one(path: str, name: str) -> dict[str, Any]:
    return describe(ll.open(path).ask(name), find_answerable()[name].figures)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_survey_says_of_each_table_what_the_table_says(warehouse: Path, processes: int) -> None:
    survey = ll.find(warehouse).ask(*ASKED, processes=processes)
    assert len(survey) == len(NAMES) + 1
    for table in survey:
        if "broken" in table.path:
            continue
        expected: dict[str, Any] = {}
        for name in ASKED:
            expected |= ask_one(table.path, name)
        assert table.figures == expected, table.path
        assert table.error is None
    rows = survey.to_arrow().to_pylist()
    assert [row["path"] for row in rows] == [table.path for table in survey]
    assert [row["verdict"] for row in rows] == [table.figures.get("verdict") for table in survey]


def test_the_damaged_table_is_the_worst(warehouse: Path) -> None:
    survey = ll.find(warehouse).ask("check")
    assert [Path(table.path).parent.name for table in survey.damaged] == ["broken"]
    assert survey.worst[0] == survey.damaged[0]
    ranks = [table.rank for table in survey.worst]
    assert ranks == sorted(ranks, reverse=True) and all(map(any, ranks))


def test_one_process_that_ends_stops_nothing(warehouse: Path) -> None:
    tables = list(ll.find(warehouse / "iceberg")) + list(ll.find(warehouse / "hive"))
    ends = FoundTable("/lake/ends", "iceberg", Evidence("iceberg", ()), partial(os._exit, 7))
    raises = FoundTable("/lake/raises", "iceberg", Evidence("iceberg", ()), partial(int, "no number"))
    survey = Catalog("/lake", [ends, tables[0], raises, tables[1]]).ask("check", processes=2)
    assert [table.error for table in survey] == [
        "the process that read it ended with status 7",
        None,
        "ValueError: invalid literal for int() with base 10: 'no number'",
        None,
    ]
    assert survey[1].figures["verdict"] == ll.open(tables[0].path).check().verdict


def test_what_opens_a_table_may_be_unable_to_leave_the_process(warehouse: Path) -> None:
    (found,) = ll.find(warehouse / "iceberg")
    evidence = Evidence("iceberg", ())
    bound = [
        FoundTable(found.path, "iceberg", evidence, lambda **options: found.open(**options)) for _ in range(2)
    ]
    survey = Catalog("/lake", bound).ask("check", processes=2)
    assert [table.figures for table in survey] == [ask_one(found.path, "check")] * 2


def test_a_question_without_figures_is_refused(warehouse: Path) -> None:
    catalog = ll.find(warehouse / "iceberg")
    with pytest.raises(LakeError, match=r"many tables cannot be asked 'explain'"):
        catalog.ask("explain")
    assert check_names(("space", "check")) == ("check", "space")


def test_a_survey_is_pickled_sliced_and_shown(warehouse: Path) -> None:
    survey = ll.find(warehouse).ask("health")
    assert pickle.loads(pickle.dumps(survey)) == survey
    assert isinstance(survey[:2], TableSurvey) and survey[:2].names == survey.names
    text = str(survey)
    assert "health of" in text and all(table.path.rpartition("/")[2] in text for table in survey.worst[:10])
    assert "act" in str(survey[0])


def test_a_verb_asks_all_tables_of_a_directory(warehouse: Path) -> None:
    result = invoke("check", str(warehouse), "--json")
    assert result.exit_code == 1
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    survey = ll.find(warehouse).ask("check")
    assert lines == survey.to_arrow().to_pylist()
    (error,) = result.stderr.splitlines()
    assert survey.damaged[0].path in error and "try: lakelens check" in error


def test_a_directory_of_sound_tables_ends_with_0(warehouse: Path, tmp_path: Path) -> None:
    for name in ("iceberg", "hive"):
        shutil.copytree(warehouse / name, tmp_path / name)
    result = invoke("health", str(tmp_path))
    assert (result.exit_code, result.stderr) == (0, "")
    assert "iceberg" in result.stdout and "2 tables, none damaged" in result.stdout


@pytest.mark.parametrize("more", [["--snapshot", "1"], ["--branch", "b"], ["--format", "iceberg"]])
def test_what_is_asked_of_one_table_is_a_mistake_for_many(warehouse: Path, more: list[str]) -> None:
    result = invoke("health", str(warehouse), *more)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_a_directory_without_tables_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = invoke("health", str(tmp_path))
    assert result.exit_code == 2
    assert "try: lakelens find" in result.stderr


def test_tables_are_found_by_column_and_by_property(warehouse: Path) -> None:
    by_column = ll.find(warehouse).where("columns LIKE '%amount%'")
    assert [Path(table.path).name for table in by_column] == ["paimon-deletion-vectors"]
    vectors = ll.find(warehouse).where("properties LIKE '%deletion-vectors.enabled=true%'")
    assert [Path(table.path).name for table in vectors] == ["paimon-deletion-vectors"]
    result = invoke("find", str(warehouse), "--where", "name = 'hive'", "--json")
    assert [table["name"] for table in json.loads(result.stdout)["tables"]] == ["hive"]
    assert "columns" not in ll.find(warehouse).to_arrow().schema.names
