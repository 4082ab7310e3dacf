"""The map on pages: at a snapshot what its commit made new, in a diff what is new between two, and never by reading much."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.map import is_quick
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.page import Figures, Links, Page, Redirect, Section, Wide
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_page
from lakelens.views.card.model import Card
from tests.explorer.reading import Reader, read_text
from tests.support.growth import grow_iceberg

SAMPLES = [one.name for one in ll.sample()]


def find_map(page: Page) -> Section:
    """The section of the map."""
    (section,) = [part for part in page.parts if isinstance(part, Section) and part.heading == "Map"]
    return section


def find_answers(section: Section) -> dict[str, str]:
    """What the map says in words, behind one fold."""
    (words,) = [fold for part in section.parts if isinstance(part, Card) for fold in part.folds]
    assert words.label == "in words" and not words.opened
    return {fold.label: fold.answer for card in words.body() if isinstance(card, Card) for fold in card.folds}


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_overview_shows_the_map_of_its_snapshot(name: str) -> None:
    reader = Reader.of_sample(name)
    page, markup = reader.get("")
    section = find_map(page)
    assert isinstance(section.parts[0], Wide) and section.parts[0].words
    assert f"new: {find_answers(section)['new files']}" == reader.table.map().news
    growth = [part for part in page.parts if isinstance(part, Section) and part.heading == "Over time"]
    assert markup.count('<img src="data:image/svg+xml;base64,') == 1 + len(growth)
    assert not re.search(r"<svg[^>]*>.*<script|javascript:", markup)


@pytest.mark.parametrize("name", ["iceberg", "paimon-deletion-vectors"])
def test_another_snapshot_and_a_diff_have_their_own(name: str) -> None:
    reader = Reader.of_sample(name)
    first, last = reader.table.snapshots[0], reader.table.snapshots[-1]
    page, _ = reader.ask(Place((), str(first.id), ""))
    assert find_map(page).words.endswith(f"after snapshot {first.id} ({first.operation})")
    page, _ = reader.get("diff", before=first.id, after=last.id)
    section = find_map(page)
    assert f"compared with snapshot {first.id}" in section.words
    drawn = reader.table.map(reader.table.diff(first, last))
    assert f"new: {find_answers(section)['new files']}" == drawn.news
    page, _ = reader.get("diff", before="nothing", after=first.id)
    assert "compared with" not in find_map(page).words


def test_rows_are_not_counted_for_it() -> None:
    """The map says what the figures above it say, before and after it was drawn; no data file is read."""
    told = {
        "hive": "not known",
        "paimon-deletion-vectors": "4 = 8 stored − 3 deleted − 1 that wait in level 0",
    }
    for name, words in told.items():
        reader = Reader.of_sample(name)
        first, _ = reader.get("")
        again, _ = reader.get("")
        assert [part for part in first.parts if isinstance(part, Figures)] == [
            part for part in again.parts if isinstance(part, Figures)
        ]
        for page in (first, again):
            assert find_answers(find_map(page))["live rows"].startswith(words)
        assert not [path for path in reader.table.reads.paths if path.endswith((".parquet", ".orc"))]


def test_of_many_files_it_is_drawn_when_asked_for(tmp_path: Path) -> None:
    path = grow_iceberg(tmp_path / "t", files=2_000, manifests=4)
    assert not is_quick(ll.open(path).current)
    reader = Reader(path)
    page, markup = reader.get("")
    (links,) = find_map(page).parts
    assert isinstance(links, Links) and "data:image" not in markup
    (link,) = links.links
    assert link.place is not None
    page, markup = reader.ask(link.place)
    assert isinstance(find_map(page).parts[0], Wide) and "data:image" in markup


@pytest.mark.parametrize("said", ["3", "-1", "x", None])
def test_a_summary_that_says_of_few_files_is_not_believed(tmp_path: Path, said: str | None) -> None:
    path = grow_iceberg(tmp_path / "t", files=2_000, manifests=4)
    for document in Path(path).glob("metadata/*.metadata.json"):
        content = json.loads(document.read_text())
        for snapshot in content["snapshots"]:
            snapshot["summary"].pop("total-data-files", None)
            if said is not None:
                snapshot["summary"]["total-data-files"] = said
        document.write_text(json.dumps(content))
    assert not is_quick(ll.open(path).current)


def test_few_files_in_large_manifests_are_not_drawn_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a thousand columns a manifest is large: what a map costs is its bytes."""
    path = grow_iceberg(tmp_path / "t", files=50, manifests=2)
    assert is_quick(ll.open(path).current)
    monkeypatch.setattr("lakelens.analysis.map._FEW_BYTES", 1_000)
    assert not is_quick(ll.open(path).current)


def test_damage_leaves_the_page(tmp_path: Path) -> None:
    import shutil

    path = shutil.copytree(ll.sample("iceberg").location, tmp_path / "t")
    for one in Path(path).glob("metadata/snap-*"):
        one.write_bytes(b"damage")
    page, markup = Reader(path).get("")
    assert find_map(page).heading == "Map" and "Findings" in markup


def test_the_life_of_every_file_is_below_the_keys() -> None:
    reader = Reader.of_sample("iceberg")
    for place in (reader.place("help"), Place(None, "", "help")):
        page, markup = reader.ask(place)
        text = read_text(markup)
        assert page.status == 200 and "Every file" in text
        for line in ll.lifetimes():
            assert line.goes in text and line.written_by in text


def test_the_report_has_it(tmp_path: Path) -> None:
    ll.sample("paimon").to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert re.search(r">Map<", text) and "<img src=" in text and "<script" not in text
    assert len(text) < 1_000_000
    big: Any = ll.open(grow_iceberg(tmp_path / "t", files=2_000, manifests=4))
    big.to_html(tmp_path / "big.html")
    assert "table.map().to_html(path)" in (tmp_path / "big.html").read_text("utf-8")


def test_a_place_without_a_table_has_none() -> None:
    answer = Explorer(ll.sample("iceberg").location).answer(Place())
    assert isinstance(answer, Redirect) or "Map" not in render_page(answer)
