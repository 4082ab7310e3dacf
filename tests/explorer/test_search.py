"""The page that searches all tables: it finds what they say, its words are in the address, damage stops nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.analysis.check.check import try_rules
from lakelens.explorer.download import Export, find_export
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.page import Page
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_page
from tests.explorer.reading import list_links, read_column, read_text

SAMPLES = ("iceberg", "iceberg-types", "paimon", "delta", "hive")


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Explorer:
    """A warehouse of every format, in which one table is broken."""
    root: Path = tmp_path_factory.mktemp("searched")
    for name in SAMPLES:
        shutil.copytree(ll.sample(name).location, root / "db" / name)
    shutil.copytree(ll.sample("iceberg").location, root / "db" / "broken")
    for path in (root / "db" / "broken" / "metadata").glob("*.metadata.json"):
        path.write_text("{", "utf-8")
    return Explorer(root)


def search(explorer: Explorer, **asked: object) -> Page:
    """The page that is found by some words."""
    page = explorer.answer(Place.parse("search", Place(None, "", "search").ask(**asked).query))
    assert isinstance(page, Page)
    assert page.status == 200, page.title
    return page


def list_rows(page: Page) -> list[tuple[str, ...]]:
    """The table, the kind and the words of each row."""
    return list(
        zip(
            *([cell.text for cell in read_column(page, name)] for name in ("table", "what", "found")),
            strict=True,
        )
    )


def test_columns_and_properties_are_those_of_the_tables(explorer: Explorer) -> None:
    """By a column as `find` with a condition says it; by a property with its value."""
    wanted = {"/".join(explorer.name(found)) for found in explorer.catalog.where("columns LIKE '%name%'")}
    rows = list_rows(search(explorer, q="NAME", what="column"))
    assert {table for table, _, _ in rows} == wanted
    assert {kind for _, kind, _ in rows} == {"column"}
    table = ll.open(next(found.path for found in explorer.catalog if found.name == "iceberg-types"))
    name, value = next(iter(table.properties.items()))
    assert ("db/iceberg-types", "property", f"{name}={value}") in list_rows(search(explorer, q=name))
    assert list_rows(search(explorer, q="types", what="table")) == [
        ("db/iceberg-types", "table", "db/iceberg-types")
    ]


def test_writers_defects_and_files_where_they_are_asked_for(explorer: Explorer) -> None:
    """They take manifests and footers, so that a box asks for them; they are what the check and the files say."""
    table = ll.open(next(found.path for found in explorer.catalog if found.name == "iceberg"))
    tried = try_rules(table)
    writer = str(tried.writers[0])
    assert "writer" not in {kind for _, kind, _ in list_rows(search(explorer, q="iceberg"))}
    assert ("db/iceberg", "writer", writer) in list_rows(search(explorer, q=writer, deep="yes"))
    defect = next(one.rule for one in tried.concerning if one.rule.products)
    found = list_rows(search(explorer, q=defect.code, deep="yes", what="known defect"))
    assert "db/iceberg" in {name for name, _, _ in found}
    file = table.files[0].path.rpartition("/")[2]
    assert ("db/iceberg", "file", file) in list_rows(search(explorer, q=file, deep="yes"))


def test_what_is_known_is_not_read_again(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second search opens no table; a kind is a link in the list; all rows leave as a file; damage is counted."""
    first = search(explorer, q="id")
    opened: list[str] = []
    monkeypatch.setattr("lakelens.explorer.shelf._ask", lambda found, deep: opened.append(found.path))
    second = search(explorer, q="name")
    assert opened == []
    assert "1 table" in read_text(render_page(second)).partition("cannot be read:")[2][:12]
    (target,) = {cell.target for cell in read_column(first, "what") if cell.text == "column"}
    assert target is not None
    few = search(explorer, **dict(target.asked))
    assert {kind for _, kind, _ in list_rows(few)} == {"column"}
    assert any(link.text == "anything, not only column" for link in list_links(few))
    export = find_export(explorer, second.place.ask(**{"as": "csv"}))
    assert isinstance(export, Export)
    lines = b"".join(export.chunks).decode().splitlines()
    assert len(lines) == 1 + len(list_rows(second))


def test_hostile_words_are_text(explorer: Explorer) -> None:
    """What is asked for is said again, escaped; without words there is a form."""
    markup = render_page(search(explorer, q="<script>x</script>"))
    assert "<script>x" not in markup
    assert "<form" in render_page(search(explorer))
