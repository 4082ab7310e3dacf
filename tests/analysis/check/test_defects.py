"""The rule book: each rule finds its defect where it was planted, and not in the engine's own table."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.check.check import Defects, try_rules
from lakelens.formats.registry import get_format
from lakelens.io.local import LocalStore
from lakelens.model.check.defect import Product, Rule, Writer
from lakelens.opening import open_in_store
from tests.analysis.check.defects import iceberg, paimon
from tests.formats.delta import test_book as delta
from tests.support import LAKES
from tests.support.rewriting import hide_origin

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)

THREAD = re.compile(r"^[\w.-]+/[\w.-]+#\d+$")
# deletes that reach nothing, in tables that engines wrote
DANGLING = ("v2-rewrite-data-files", "v2-position-deletes-untidy")
ALL = sorted(path.parent for path in LAKES.glob("*/*/*/answers.json")) + sorted(
    path.parent for path in LAKES.glob("paimon-java/*/answers.json")
)


@pytest.fixture(autouse=True)
def gone_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The place where the tables were written is gone, also while someone makes them again: readers look there too."""
    hide_origin(monkeypatch)


def list_codes(defects: Defects) -> set[str]:
    return {one.rule.code for one in defects.showing}


def list_facts(defects: Defects) -> set[tuple[str, ...]]:
    return {(one.severity, one.code, one.path, one.message) for one in defects.findings}


def list_rules() -> list[Rule]:
    books = [get_format(name).part("defects") for name in ("iceberg", "paimon", "hive", "delta")]
    found = {rule.code: rule for book in books for rule in book.rules}
    return list(found.values())


@pytest.mark.parametrize(
    ("code", "name", "plant", "clean"),
    iceberg.PLANTED,
    ids=[f"{c}-{p.__name__}" for c, _, p, _ in iceberg.PLANTED],
)
def test_a_planted_defect_of_iceberg_writers_shows(
    code: str, name: str, plant: iceberg.Plant, clean: str, tmp_path: Path
) -> None:
    place = iceberg.copy(name, tmp_path / "table")
    plant(place)
    tried = try_rules(ll.open(place))
    assert code in list_codes(tried)
    (one,) = [one for one in tried.tried if one.rule.code == code]
    assert all(finding.code == code and finding.path and finding.message for finding in one.findings)
    assert all(finding.severity == one.rule.severity for finding in one.findings)
    assert code not in list_codes(try_rules(ll.open(LAKES / "spark/iceberg" / clean / "table")))


@pytest.mark.parametrize(
    ("code", "name", "plant", "clean"),
    paimon.PLANTED,
    ids=[f"{c}-{p.__name__}" for c, _, p, _ in paimon.PLANTED],
)
def test_a_planted_defect_of_paimon_writers_shows(
    code: str, name: str, plant: iceberg.Plant, clean: str, tmp_path: Path
) -> None:
    place = tmp_path / "table"
    shutil.copytree(LAKES / name / "table", place)
    plant(place)
    assert code in list_codes(try_rules(ll.open(place)))
    assert code not in list_codes(try_rules(ll.open(LAKES / clean / "table")))


BY_COLUMN = [
    *(case for case in iceberg.PLANTED if case[0] in ("range-of-source", "figures-of-insert")),
    *(("file-added-twice", f"paimon {name}", plant, clean) for code, name, plant, clean in paimon.PLANTED
      if code == "file-added-twice"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "name", "plant", "clean"), BY_COLUMN, ids=[case[2].__name__ for case in BY_COLUMN]
)
def test_rules_find_the_same_where_files_are_many(
    code: str, name: str, plant: iceberg.Plant, clean: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a table that is read by column, however small it is, the rules say what they say of it entry by entry."""
    place = tmp_path / "table"
    lake = name.removeprefix("paimon ")
    shutil.copytree(LAKES / lake / "table", place) if lake != name else iceberg.copy(name, place)
    plant(place)
    few = list_facts(try_rules(ll.open(place)))
    monkeypatch.setattr("lakelens.model.scan.scan_to_arrow.is_worthwhile", lambda tasks: True)
    table = ll.open(place)
    assert (table.files.rows is None) == (code == "file-added-twice")  # only entry by entry these are merged
    assert list_facts(try_rules(table)) == few
    assert any(code in facts for facts in few)


def open_hive(name: str, rows: int | None) -> Any:
    facts = {"properties": {} if rows is None else {"numRows": str(rows), "totalSize": "1000"}}
    path = str(LAKES / "spark/hive" / name / "table")
    return open_in_store(LocalStore(), path, format="hive", catalog=facts)


def test_a_count_of_no_rows_shows() -> None:
    assert "zero-rows" in list_codes(try_rules(open_hive("parquet", 0)))
    assert "zero-rows" not in list_codes(try_rules(open_hive("parquet", 3)))
    assert "zero-rows" not in list_codes(try_rules(open_hive("parquet", None)))


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("lake", [path for path in ALL if path.name != "view"], ids=lambda path: path.name)
def test_engine_written_tables_show_none(lake: Path) -> None:
    tried = try_rules(ll.open(lake / "table"))
    assert list_codes(tried) == ({"dangling-deletes"} if lake.name in DANGLING else set())
    assert not any(one.error for one in tried.tried)


def test_every_rule_has_a_thread_and_a_planted_table() -> None:
    rules = list_rules()
    assert len(rules) >= 25
    planted = {code for code, *_ in (*iceberg.PLANTED, *paimon.PLANTED, *delta.PLANTED)} | {"zero-rows"}
    assert {rule.code for rule in rules} == planted
    for rule in rules:
        assert rule.threads and all(THREAD.match(thread) for thread in rule.threads), rule.code
        assert rule.title and rule.shows and rule.writers
        assert rule.severity in ("error", "warning", "note")


def test_writers_are_those_that_the_table_names() -> None:
    tried = try_rules(ll.open(LAKES / "spark/iceberg/v2-basic/table"))
    answers = json.loads((LAKES / "spark/iceberg/v2-basic/answers.json").read_text())
    named = {str(writer) for writer in tried.writers}
    summary = answers["snapshots"][0]["summary"]
    assert f"spark {summary['engine-version']}" in named
    assert any(f"Apache Iceberg {one.version}" in summary["iceberg-version"] for one in tried.writers)
    concerned = {one.rule.code for one in tried.concerning}
    assert "split-offsets-past-end" not in concerned and "dangling-deletes" in concerned
    columns = tried.to_arrow().to_pydict()
    assert len(columns["code"]) == len(tried)
    assert set(columns["here"]) <= {"does not show", "does not apply"}


def test_versions_decide_whom_a_rule_concerns() -> None:
    product = Product("iceberg", "1.4.0", "1.4.1")
    writers = {"1.4.0": True, "1.4.1": False, "1.3.1": False, "1.10.0": False, "": True}
    assert {version: product.matches(Writer("iceberg", version)) for version in writers} == writers
    assert not product.matches(Writer("spark", "1.4.0"))


BOOK = Path(__file__).parents[3] / "docs/known-defects.md"


def write_book() -> str:
    """The rule book as a page."""
    lines = [
        "# Known defects of writers",
        "",
        "Rules that `lakelens.check` tries on a table. Each looks at what the bytes show; the writers only say whether",
        "it may concern the table. The first thread is about the defect, the others are about the same.",
        "",
        "| rule | what | writers | how it shows | threads | severity |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for rule in sorted(list_rules(), key=lambda rule: rule.code):
        threads = ", ".join(
            f"[{thread}](https://github.com/{thread.replace('#', '/issues/')})" for thread in rule.threads
        )
        cells = (f"`{rule.code}`", rule.title, rule.writers, rule.shows, threads, rule.severity)
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "This page is written by `python -m tests.analysis.check.test_defects`.", ""]
    return "\n".join(lines)


def test_the_page_of_the_rule_book_is_that_of_the_rules() -> None:
    assert BOOK.read_text() == write_book()


@pytest.mark.parametrize("how", ["gone", "garbled"])
@pytest.mark.parametrize("part", ["manifest", "list", "data"])
@pytest.mark.parametrize("name", ["spark/iceberg/v2-merge-on-read", "spark/paimon/pk-compacted"])
def test_rules_go_past_damage(name: str, part: str, how: str, tmp_path: Path) -> None:
    place = tmp_path / "table"
    shutil.copytree(LAKES / name / "table", place)
    table = ll.open(place)
    snapshot = table.current
    assert snapshot is not None
    path = Path(
        snapshot.manifests[0].path
        if part == "manifest"
        else str(snapshot.manifest_lists[0].path)
        if part == "list"
        else snapshot.files[0].path
    )
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(b"\x00" * 100)
    tried = try_rules(ll.open(place))
    assert len(tried) == len(table.driver.part("defects").rules) and repr(tried)


if __name__ == "__main__":
    BOOK.write_text(write_book())
