"""The report: a whole table in one page whose links lead somewhere, bounded, with damage said where it is."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import pytest

import lakelens as ll
from lakelens.model.manifest import ManifestList
from lakelens.model.snapshot import History, Snapshot, Snapshots
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.card.model import Grid, Picture
from lakelens.views.render.html import render_page
from lakelens.views.report import SIZES, Section, list_parts, present_page
from tests.support import LAKES

MOST = 1_000_000
SAMPLES = ("iceberg", "iceberg-evolution", "paimon", "paimon-branches", "hive")
LAKE_PATHS = (
    "spark/iceberg/v2-merge-on-read",
    "spark/iceberg/v1-partition-void",
    "spark/iceberg/v2-statistics",
    "spark/iceberg/v2-no-snapshot",
    "spark/paimon/pk-deletion-vectors",
    "spark/paimon/changelog-kept",
    "spark/paimon/schema-only",
)


@pytest.fixture(autouse=True)
def _strict() -> Any:
    with display.using(strict_views=True):
        yield


def open_lake(name: str) -> Table:
    return ll.open(LAKES / name / "table")


def parse(markup: str) -> Element:
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree: Element = parser.parse(markup)
    return tree


def list_links(tree: Element) -> list[str]:
    return [element.attrib["href"] for element in tree.iter("a")]


def find_section(sections: Sequence[Section], noun: str) -> Section:
    return next(section for section in sections if section.noun.startswith(noun))


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("name", [*SAMPLES, *LAKE_PATHS])
def test_every_link_leads_to_one_section(name: str) -> None:
    table = ll.sample(name) if name in SAMPLES else open_lake(name)
    markup = render_page(table)
    tree = parse(markup)
    ids = [element.attrib["id"] for element in tree.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"contents|s\d+", made) for made in ids)
    links = list_links(tree)
    assert {link.removeprefix("#") for link in links} <= set(ids)
    # the contents name every section, the first one too: a list's own numbers are then those of the sections
    toc = next(element for element in tree.iter("ol"))
    assert [link.attrib["href"] for link in toc.iter("a")] == [f"#{i}" for i in ids if i != "contents"]
    assert [*tree.iter("script")] == []
    assert len(markup.encode()) <= MOST


@pytest.mark.parametrize("name", [*SAMPLES, *LAKE_PATHS])
def test_titles_are_answers(name: str) -> None:
    table = ll.sample(name) if name in SAMPLES else open_lake(name)
    for section in present_page(table, 2):
        assert section.noun
        assert section.answer or section.alert, section.noun


def test_a_snapshot_leads_to_its_list_that_to_its_manifests_those_to_files() -> None:
    table = open_lake("spark/iceberg/v2-merge-on-read")
    sections = present_page(table, 2)
    snapshot = find_section(sections, "Snapshot 8")
    found = find_section(sections, "Manifest list")
    manifests = [section for section in sections if section.noun == "Manifest"]
    files = [section for section in sections if section.noun == "Data file"]
    assert found.above == snapshot.number
    assert found.number in snapshot.below
    assert found.below == tuple(section.number for section in manifests)
    assert {file.above for file in files} <= {manifest.number for manifest in manifests}
    tree = parse(render_page(table))
    parts = {element.attrib["id"]: element for element in tree.iter("section")}
    listed = {
        "".join(link.itertext()): link.attrib["href"]
        for grid in parts[f"s{found.number}"].iter("table")
        for link in grid.iter("a")
    }
    assert listed == {
        manifest.path.rsplit("/", 1)[-1]: f"#s{section.number}"
        for manifest, section in zip(table.current.manifests, manifests, strict=True)  # type: ignore[union-attr]
    }
    for manifest in manifests:
        if manifest.below:
            hrefs = [
                link.attrib["href"]
                for grid in parts[f"s{manifest.number}"].iter("table")
                for link in grid.iter("a")
            ]
            assert {f"#s{number}" for number in manifest.below} <= set(hrefs)


def test_an_id_is_linked_only_where_a_snapshot_is_meant() -> None:
    """Paimon's snapshot 1 and its field 1 are the same text."""
    table = open_lake("spark/paimon/pk-deletion-vectors")
    sections = present_page(table, 2)
    bodies = [body for section in sections for fold in section.card.folds for body in fold.body()]
    linked = [
        (column.name, part.target.kind)
        for grid in bodies
        if isinstance(grid, Grid)
        for row in grid.rows
        for column, cell in zip(grid.columns, row, strict=True)
        for part in (cell, *cell.parts)
        if part.target is not None and sections[0].lead(part.target)
    ]
    assert {kind for _, kind in linked} == {"snapshot", "manifest_list", "manifest", "file", "index"}
    assert {name for name, kind in linked if kind == "snapshot"} == {"snapshot"}


def test_damage_is_said_in_its_place(tmp_path: Path) -> None:
    root = tmp_path / "table"
    shutil.copytree(LAKES / "spark/iceberg/v2-merge-on-read/table", root)
    table = ll.open(root)
    assert table.current is not None
    lists = table.current.manifest_lists[0].path
    assert lists is not None
    manifests = [manifest.path for manifest in table.current.manifests]
    Path(manifests[0]).write_bytes(b"Obj\x01 this is no manifest")
    markup = render_page(ll.open(root))
    sections = present_page(ll.open(root), 2)
    damaged = next(s for s in sections if s.noun == "Manifest")
    told = " ".join(str(body) for fold in damaged.card.folds for body in fold.body())
    assert "ERROR, cannot be read" in told
    assert "cannot be read" in markup
    assert find_section(sections, "Findings").alert
    # the first section is told last: what was met on the way is on the table's own card
    assert sections[0].alert
    Path(lists).write_bytes(b"")
    broken = present_page(ll.open(root), 2)
    found = find_section(broken, "Manifests")
    assert found.alert == "ERROR"
    assert found.answer.startswith("cannot be read")
    assert broken[found.above - 1].noun == "Manifest list"


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["iceberg", "paimon"])
def test_pages_of_parts_are_small(name: str, tmp_path: Path) -> None:
    table = ll.sample(name)
    snapshot = table.current
    assert snapshot is not None
    manifest_list: ManifestList = snapshot.manifest_lists[0]
    for thing in (snapshot, manifest_list, snapshot.manifests[0], snapshot.files, table.schema, table.refs):
        thing.to_html(tmp_path / "page.html")
        markup = (tmp_path / "page.html").read_text("utf-8")
        tree = parse(markup)
        assert len([*tree.iter("h1")]) == 1
        assert len(markup.encode()) <= MOST // 2
        assert markup.startswith("<!DOCTYPE html>")


def test_sizes_of_sections_add_up_to_less_than_a_page() -> None:
    """Of the largest report: as many parts of each kind as `list_parts` gives at most."""
    most = {"table": 2, "": 6, "list": 3, "manifest": 8, "file": 5, "deletes": 7, "index": 3, "statistics": 3}
    most |= {"refs": 1, "findings": 1, "map": 1}
    assert set(most) == set(SIZES)
    assert sum(SIZES[kind] * number for kind, number in most.items()) <= MOST
    for name in (*LAKE_PATHS[:2], *LAKE_PATHS[4:6]):
        kinds = [part.kind for part in list_parts(open_lake(name))]
        assert all(kinds.count(kind) <= number for kind, number in most.items()), name


def test_the_page_says_what_it_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakelens.views.render.html._MOST_PAGE", 150_000)
    markup = render_page(open_lake("spark/iceberg/v2-merge-on-read"))
    assert len(markup.encode()) <= 150_000
    assert "left out" in markup
    tree = parse(markup)
    ids = {element.attrib["id"] for element in tree.iter() if "id" in element.attrib}
    assert {link.removeprefix("#") for link in list_links(tree)} <= ids


def test_a_long_history_is_not_walked_for_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakelens.views.report._MOST_WALKED", 2)
    sections = present_page(open_lake("spark/iceberg/v2-merge-on-read"), 2)
    tree = find_section(sections, "Storage tree")
    assert tree.answer.startswith("left out")
    assert "table.tree().to_html(path)" in str(tree.card.body)


def test_history_in_outline_as_a_card() -> None:
    history = open_lake("spark/iceberg/v2-merge-on-read").outline_history(2)
    assert isinstance(history, History)
    assert isinstance(history.newest, Snapshots)
    assert isinstance(history.first, Snapshot)
    assert history.to_text().startswith("Snapshots: last 2 of 5") or "5 snapshots" in history.to_text()
    assert "3 older" in history.to_text()


def test_the_history_is_drawn_first() -> None:
    table = open_lake("spark/iceberg/v2-merge-on-read")
    sections = present_page(table, 2)
    assert isinstance(sections[0].card.body[0], Picture)
    assert "Changes" not in [fold.label for fold in sections[0].card.folds]
    assert sections[1].noun == "History"
    assert not sections[1].card.body
    assert sections[1].card.folds[0].label == "Snapshots"
    markup = render_page(table)
    assert markup.index("<h1") < markup.index("<img") < markup.index('id="s2"')


def test_contents_read_well_without_any_style() -> None:
    toc = next(
        element for element in parse(render_page(open_lake("spark/iceberg/v2-merge-on-read"))).iter("ol")
    )
    words = [" ".join("".join(item.itertext()).split()) for item in toc.iter("li")]
    assert words[1] == "History"
    assert not any(word[:1].isdigit() for word in words), "the list itself counts"
    assert len(set(words)) == len(words), "each is told from the others"


def test_checksums_are_one_line_and_the_tree_leads_to_sections(tmp_path: Path) -> None:
    root = tmp_path / "table"
    shutil.copytree(LAKES / "spark/iceberg/v2-merge-on-read/table", root)
    for file in sorted(root.rglob("*.parquet")):
        file.with_name(f".{file.name}.crc").write_bytes(b"crc\0\0\0\x02\0\0\0\0\0")
    table = ll.open(root)
    checksums = [file for file in table.tree().files if file.role == "checksum"]
    assert len(checksums) > 5
    sections = present_page(table, 2)
    tree = find_section(sections, "Storage tree")
    (grid,) = (body for body in tree.card.body if isinstance(body, Grid))
    rows = [row for row in grid.rows if row[1].text == "checksum"]
    assert [row[0].text for row in rows] == [f"{len(checksums)} checksums, each beside its file"]
    linked = {
        row[0].text.strip(): int(tree.lead(row[0].target).removeprefix("#s"))
        for row in grid.rows
        if row[0].target is not None and tree.lead(row[0].target)
    }
    assert {section.number for section in sections if section.noun in ("Manifest", "Data file")} <= set(
        linked.values()
    )
    assert all(sections[number - 1].name == name for name, number in linked.items())
