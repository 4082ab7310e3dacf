"""Views of Iceberg: as the engine says them, damaged ones, and what opens them."""

from __future__ import annotations

import gzip
import json
import pickle
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import Corrupt, Missing, Unsupported
from lakelens.model.view import View
from lakelens.opening import open_table
from tests.support import LAKES
from tests.support.documents import invoke, read_document

HOME = LAKES / "views"
PLACE = HOME / "shop/orders_by_day"
ANSWERS = json.loads((HOME / "answers.json").read_text())
# an engine that reads the view's name of a column as HTML would be told so by these
POISON = "<script>alert(1)</script>\x1b[31m\u202e"


def change(tmp_path: Path, edit: Any) -> Path:
    """A copy of the view whose document was edited."""
    place = tmp_path / "view"
    shutil.copytree(PLACE, place)
    newest = sorted((place / "metadata").iterdir())[-1]
    document = json.loads(gzip.decompress(newest.read_bytes()))
    edited = edit(document)
    newest.write_bytes(gzip.compress(json.dumps(document if edited is None else edited).encode()))
    return place


def test_a_view_says_what_the_engine_says() -> None:
    view, said = ll.open(PLACE), ANSWERS["java"]
    assert isinstance(view, View) and not len(view.findings)
    assert (view.name, view.uuid, view.version_id) == ("orders_by_day", said["uuid"], said["current"])
    assert view.metadata["location"] == said["location"] and view.properties == said["properties"]
    for version, expected in zip(view.versions, said["versions"], strict=True):
        assert version.created_at is not None
        found = {
            "id": version.id,
            "schema": version.schema_id,
            "at": round(version.created_at.timestamp() * 1000),
            "operation": expected["operation"],  # the library works it out, no document has it
            "catalog": version.default_catalog,
            "namespace": ".".join(version.default_namespace),
            "summary": version.summary,
            "sql": version.sql,
        }
        assert found == expected
    for schema in view.schemas:
        columns = [[f.id, f.name, str(f.type), f.nullable, f.doc] for f in schema.fields]
        assert [[*c[:2], str(c[2]).replace(" ", ""), *c[3:]] for c in columns] == [
            [*c[:2], c[2].replace(" ", ""), *c[3:]] for c in said["schemas"][str(schema.id)]
        ]
    assert [[round(line.at.timestamp() * 1000), line.version_id] for line in view.log if line.at] == said[
        "history"
    ]
    assert view.log[-1].version_id == 1 and len(view.log) == 4  # it was rolled back
    assert view.versions[-1].dialects == ("spark", "trino") and view.versions[0].engine == "spark 3.5.9"


def test_older_metadata_files_are_older_states() -> None:
    assert [ll.open(PLACE, version=number).version_id for number in range(4)] == [1, 2, 3, 3]
    first = sorted((PLACE / "metadata").iterdir())[0]
    assert len(ll.open(first).versions) == 1
    with pytest.raises(Missing):
        ll.open(PLACE, version=9)
    with pytest.raises(Unsupported, match="no branches"):
        ll.open(PLACE, branch="main")


def test_a_view_is_no_table() -> None:
    with pytest.raises(Unsupported, match=r"an Iceberg view, not a table: orders_by_day") as caught:
        open_table(PLACE)
    assert "lakelens.open" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.opener().version_id == 1


def test_views_are_listed_apart_from_tables() -> None:
    catalog = ll.find(HOME)
    assert [one.name for one in catalog] == ["orders"] and not catalog.problems
    assert catalog.views["orders_by_day"].open().version_id == 1
    (row,) = catalog.views.to_arrow().to_pylist()
    assert (row["version_id"], row["versions"], row["dialects"], row["error"]) == (1, 3, ["spark"], None)
    assert "1 table: 1 Iceberg; 1 view" in str(catalog)
    assert [one.name for one in pickle.loads(pickle.dumps(catalog)).views] == ["orders_by_day"]
    assert [one.name for one in catalog[:0].views] == ["orders_by_day"]


def test_the_card_shows_queries_as_they_are() -> None:
    view = ll.open(PLACE)
    text, page = view.to_text(2), view._repr_html_()
    for version in view.versions:
        for sql in version.sql.values():
            assert sql in text
    assert "how many: <b>all</b> of them" in text and "<b>all</b>" not in page
    assert len(page.encode()) < 15_000


def test_a_hostile_view_acts_on_nothing(tmp_path: Path) -> None:
    def poison(document: dict[str, Any]) -> None:
        for version in document["versions"]:
            version["default-namespace"] = [POISON]
            version["default-catalog"] = POISON
            version["storage-table"] = {"namespace": [POISON], "name": POISON}
            version["summary"]["engine-name"] = POISON
            for shape in version["representations"]:
                shape["sql"] += f"\n{POISON}" * 3_000
                shape["dialect"] += POISON
        document["properties"][POISON] = POISON
        document["schemas"][0]["fields"][0]["doc"] = POISON

    view = ll.open(change(tmp_path, poison))
    for detail in (1, 2):
        page = view._repr_html_() if detail == 1 else view.to_text(detail)
        assert "\x1b" not in page and "\u202e" not in page
    view.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<script>alert" not in page and len(page) < 300_000
    assert view.current is not None and view.current.storage_table is not None
    assert (
        "\x1b" not in str(ll.find(tmp_path)) and "\x1b" not in invoke("show", str(tmp_path / "view")).output
    )


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda d: d.pop("versions"), r"\$\.versions"),
        (lambda d: d.update(versions={}), "expected list"),
        (lambda d: d["versions"].__setitem__(0, 7), r"\$\.versions\[0\]"),
        (lambda d: d["versions"][0].pop("representations"), r"\$\.versions\[0\]\.representations"),
        (lambda d: d["versions"][0]["representations"][0].pop("sql"), r"representations\[0\]\.sql"),
        (lambda d: d["versions"][0]["representations"].append({"type": "plan"}), "'plan' is not known"),
        (
            lambda d: d["versions"][2]["representations"].append(d["versions"][2]["representations"][0]),
            "comes twice",
        ),
        (lambda d: d["versions"][1].update({"schema-id": 9}), "schema 9"),
        (lambda d: d.update({"current-version-id": 9}), "version 9"),
        (
            lambda d: d["schemas"].__setitem__(1, {"schema-id": 1, "fields": [{"id": "x"}]}),
            r"\$\.schemas\[1\]",
        ),
        (lambda d: d.update({"format-version": 2}), "version 2 of the view format"),
        (lambda d: d["version-log"].append({"version-id": True}), r"\$\.version-log\[4\]"),
        (lambda d: d.update(properties=[]), r"\$\.properties"),
        (lambda d: d.pop("location"), r"\$\.location"),
    ],
)
def test_damage_is_a_finding_beside_what_can_be_read(tmp_path: Path, edit: Any, words: str) -> None:
    view = ll.open(change(tmp_path, lambda document: edit(document) and None))
    assert any(re.search(words, found.message) for found in view.findings), list(view.findings)
    assert view.uuid == ANSWERS["java"]["uuid"] and str(view) and view.to_text(2)


def test_a_document_that_is_cut(tmp_path: Path) -> None:
    place = change(tmp_path, lambda document: None)
    newest = sorted((place / "metadata").iterdir())[-1]
    newest.write_bytes(gzip.compress(b'{"view-uuid": "x", "current-version-id": 1, "versions": ['))
    with pytest.raises(Corrupt, match="not JSON"):
        ll.open(place)


def test_the_command_line_shows_views(tmp_path: Path) -> None:
    document = read_document("show", str(PLACE))
    assert document["view"]["version_id"] == 1
    assert [version["sql"] for version in document["versions"]] == [
        one["sql"] for one in ANSWERS["java"]["versions"]
    ]
    assert read_document("show", str(PLACE), "--version", "1")["view"]["version_id"] == 2
    assert "SELECT day, count(*)" in invoke("show", str(PLACE)).output
    (view,) = read_document("find", str(HOME))["views"]
    assert view["path"] == str(PLACE)
    for verb in ("files", "check", "schema"):
        result = invoke(verb, str(PLACE))
        assert result.exit_code == 2 and "an Iceberg view, not a table" in result.stderr
    assert invoke("show", str(PLACE), "-s", "1").exit_code == 2


def test_what_is_nested_too_deeply_is_left_out(tmp_path: Path) -> None:
    """It is a finding with its place; the rest is there, is shown, and can be copied to another process."""
    deep = json.loads("[" * 900 + "]" * 900)

    def nest(document: Any) -> None:
        for version in document["versions"]:
            version["default-namespace"] = ["shop", deep]
            version["summary"]["deep"] = deep
        document["deep"] = {"a": deep}

    view = ll.open(change(tmp_path, nest))
    assert isinstance(view, View) and view.current is not None
    assert view.current.default_namespace == ("shop",)
    said = [finding.message for finding in view.findings]
    deepest = sum("nested deeper than 100 levels" in message for message in said)
    assert deepest == 2 * len(view.versions) + 1
    assert any(
        "default-namespace[1]" in message and "expected a text; seen list" in message for message in said
    )
    for thing in (view, view.current):
        assert thing.to_text(3) and thing._repr_html_()
        assert pickle.loads(pickle.dumps(thing)).to_text(0) == thing.to_text(0)
