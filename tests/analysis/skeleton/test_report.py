"""Reports of a fault: one zip that says what is in it, with nothing of the table's own names and values."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.answers import bug
from lakelens.answers.bug import write_report
from lakelens.errors import LakeError
from lakelens.samples import unpack_table
from tests.analysis.skeleton import test_delta, test_secrets
from tests.analysis.skeleton.test_secrets import Secrets, assert_nothing


def unpack_report(path: Path, folder: Path) -> dict[str, Any]:
    """Unpack a report: its documents, by name."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
        assert archive.namelist()[0] == "README.md"
        return {
            name: json.loads(archive.read(name))
            for name in archive.namelist()
            if name.endswith(".json") and "/" not in name
        }


@pytest.mark.parametrize("build", [test_secrets.build_table, test_delta.build_table])
def test_no_secret_is_in_a_report(build: Any, tmp_path: Path) -> None:
    hide = Secrets()
    versions = (2,) if build is test_secrets.build_table else ()
    table = ll.open(build(tmp_path / "table", hide, *versions))
    column = table.schema.names[0].replace('"', '""')
    write_report(table, tmp_path / "report.zip", f"explain '\"{column}\" IS NOT NULL'")
    documents = unpack_report(tmp_path / "report.zip", tmp_path / "report")
    assert {"versions.json", "check.json", "call.json", "skeleton-check.json"} <= set(documents)
    assert_nothing(str(tmp_path / "report"))


def test_a_report_says_what_it_contains_before_anything_else(tmp_path: Path) -> None:
    table = ll.sample("iceberg")
    files = write_report(table, tmp_path / "report.zip", 'explain "id > 15 AND p = 1"')
    documents = unpack_report(tmp_path / "report.zip", tmp_path / "report")
    readme = (tmp_path / "report" / "README.md").read_text()
    for name in files:
        assert name == "README.md" or f"`{name.partition('/')[0]}" in readme
    assert documents["check.json"]["verdict"] == "sound"
    call = documents["call.json"]
    kept = call["skeleton"]["answer"]["totals"]["kept"]["files"]
    assert call["table"] == "answered" and kept == len(table.explain("id > 15 AND p = 1").kept)
    copy = ll.open(str(tmp_path / "report" / "skeleton"))
    assert len(copy.files) == len(table.files)
    assert '"c1"' in call["options"]["where"] and "id" not in call["options"]["where"]


def test_an_error_is_a_kind_and_a_place_of_the_table_and_all_of_the_skeleton(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = bug.ask

    def fail(table: Any, name: str, **options: Any) -> Any:
        if name == "explain":
            raise LakeError(f"about {table.location}")
        return asked(table, name, **options)

    monkeypatch.setattr(bug, "ask", fail)
    table = ll.sample("paimon")
    write_report(table, tmp_path / "report.zip", 'explain "id > 1"')
    call = unpack_report(tmp_path / "report.zip", tmp_path / "report")["call.json"]
    assert call["table"]["kind"] == call["skeleton"]["error"]["kind"] == "LakeError"
    assert "about" in call["skeleton"]["error"]["message"]
    assert table.location not in json.dumps(call)


def test_what_may_name_something_is_not_asked_of_the_skeleton(tmp_path: Path) -> None:
    table = ll.sample("iceberg")
    name = table.files[0].path.rpartition("/")[2]
    write_report(table, tmp_path / "report.zip", f"biography {name}")
    call = unpack_report(tmp_path / "report.zip", tmp_path / "report")["call.json"]
    assert "not asked" in call["skeleton"] and name not in json.dumps(call)


def test_a_format_without_skeletons_is_reported_without_one(tmp_path: Path) -> None:
    files = write_report(ll.sample("hive"), tmp_path / "report.zip", "check --data")
    assert list(files) == ["README.md", "versions.json", "check.json", "call.json"]
    unpack_report(tmp_path / "report.zip", tmp_path / "report")
    assert "There is no skeleton" in (tmp_path / "report" / "README.md").read_text()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("nothing", "no question"),
        ("explain 'id", "cannot be read"),
        ("check one", "does not take 'one'"),
        ("row TRUE --most-files many", "takes a whole number"),
    ],
)
def test_a_call_that_is_none_is_refused(call: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(LakeError, match=words):
        write_report(ll.sample("iceberg"), tmp_path / "report.zip", call)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_into_the_table(tmp_path: Path) -> None:
    place = unpack_table("iceberg", tmp_path)
    link = tmp_path / "link"
    link.symlink_to(place)
    for opened, target in [(place, place), (link, place), (place, link), (link, link)]:
        with pytest.raises(LakeError, match="in the table"):
            write_report(ll.open(str(opened)), target / "report.zip")
