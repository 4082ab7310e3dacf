"""What a card names leads somewhere: a link where a view has links, nothing at all in a notebook."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import html5lib
import pytest

import lakelens as ll
from lakelens.explorer import explorer
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.linker import find_place
from lakelens.explorer.page import Redirect
from lakelens.explorer.place import Place
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.card import named
from lakelens.views.card.model import Body, Card, Cell, Grid, Note, Pairs, Target
from lakelens.views.present import present
from lakelens.views.render.html import draw, render_card
from lakelens.views.render.text import render_text
from tests.support import LAKES

SAMPLES = ("iceberg", "iceberg-evolution", "paimon", "paimon-branches", "hive")
LAKE_PATHS = (
    "spark/iceberg/v2-statistics",
    "spark/iceberg/v2-equality-deletes",
    "spark/iceberg/v2-rollback",
    "spark/paimon/pk-deletion-vectors",
    "spark/paimon/changelog-kept",
)
TABLES = (*SAMPLES, *LAKE_PATHS)
FILES = {"file", "index", "statistics"}
#: Columns that name objects, with what those are; a cell of such a column leads there.
NAMED = {
    "file": {*FILES, "bytes", "manifest", "manifest_list", "metadata"},
    "data file": {"file"},
    "manifest": {"manifest"},
    "manifest list": {"manifest_list"},
    "snapshot": {"snapshot", "ref"},
    "snapshot id": {"snapshot"},
    "from snapshot": {"snapshot"},
    "to snapshot": {"snapshot"},
    "ref": {"ref"},
}
#: What has no name of its own: an inline list, a snapshot that is not kept.
NAMELESS = {"inline", "absent", "unknown", "none", ""}


@pytest.fixture(autouse=True)
def _strict() -> Any:
    with display.using(strict_views=True):
        yield


@cache
def open_table(name: str) -> Table:
    return ll.sample(name) if name in SAMPLES else ll.open(LAKES / name / "table")


def list_objects(table: Table) -> Iterator[Any]:
    """One or two objects of every kind that has names in its card."""
    yield from (table, table.tree(), table.check(), table.space(), table.findings, table.schema)
    column = next(leaf for leaf, _ in table.schema.leaves())
    yield table.explain(f"{column} IS NOT NULL")
    yield table.row(f"{column} IS NOT NULL")
    yield from (table.files, *table.files[:2], table.evidence, table.relocation, table.metadata_log)
    if len(table.files):
        yield table.biography(table.files[0])
    yield from (
        table.snapshots,
        table.refs,
        *table.refs[-2:],
        table.schemas,
        table.snapshot_log,
        table.history,
    )
    state = table.current
    if state is None:
        return
    yield from (state, *state.manifest_lists, state.index_files, *state.index_files[:1])
    yield from (state.statistics, *state.statistics[:1])
    if state.id is not None:
        yield from (state.changes, state.changes.manifests, table.diff(None, state))
        yield table.snapshots[0].changes
    for manifest in state.manifests[-2:]:
        yield manifest
        yield from manifest.entries[:1]
    for file in table.files[:20]:
        yield from file.deletes[:1]


@cache
def list_cards(name: str) -> tuple[Card, ...]:
    """The cards of a table's objects, everything in them made."""
    return tuple(present(thing, 2) for thing in list_objects(open_table(name)))


def list_bodies(card: Card) -> Iterator[Body]:
    """What a card holds, that of the cards inside it too."""
    for body in (*card.body, *(body for fold in card.folds for body in fold.body())):
        yield body
        if isinstance(body, Card):
            yield from list_bodies(body)


def list_targets(cell: Cell) -> Iterator[Target]:
    """What a cell names, by itself or in its parts."""
    for part in (cell, *cell.parts, *cell.linked):
        if part.target is not None:
            yield part.target


def list_cells(card: Card) -> Iterator[Cell]:
    """Every cell of a card that a reader sees."""
    yield from (fact.value for fact in card.facts)
    yield from card.linked
    for fact in card.facts:
        yield from fact.linked
    for body in list_bodies(card):
        if isinstance(body, Grid):
            yield from (cell for row in (*body.rows, *body.totals) for cell in row)
            yield Cell("", target=body.target)
        elif isinstance(body, Pairs):
            yield from (cell for _, cell in body.items)
        elif isinstance(body, Note):
            yield from (Cell("", target=body.target), *body.linked)
        elif isinstance(body, Card):
            yield from (*body.linked, Cell("", target=body.target))
            yield from (fact.value for fact in body.facts)
    yield Cell("", target=card.target)


def is_elsewhere(grid: Grid, row: Sequence[Cell]) -> bool:
    """Whether a row is about another branch, whose snapshots have numbers of their own."""
    names = [column.name for column in grid.columns]
    return "branch" in names and row[names.index("branch")].text != ""


def is_empty(name: str, cell: Cell) -> bool:
    """Whether a cell names a branch to which nothing was committed yet."""
    ref = open_table(name).refs.get(cell.text)
    return ref is not None and ref.snapshot_id is None


@pytest.mark.parametrize("name", TABLES)
def test_every_name_in_a_column_names_something(name: str) -> None:
    seen: Counter[str] = Counter()
    for card in list_cards(name):
        for grid in filter(lambda body: isinstance(body, Grid) and not body.is_open, list_bodies(card)):
            assert isinstance(grid, Grid)
            for place, column in enumerate(grid.columns):
                for row in grid.rows if column.name in NAMED else ():
                    cell = row[place]
                    if cell.text in NAMELESS or is_elsewhere(grid, row) or is_empty(name, cell):
                        continue
                    kinds = {target.kind for target in list_targets(cell)}
                    assert kinds, (card.noun, column.name, cell.text)
                    assert kinds <= NAMED[column.name], (card.noun, column.name, cell.text)
                    seen[column.name] += 1
    assert seen["file"] > 0
    assert seen["snapshot"] > 0 or not len(open_table(name).snapshots)


@pytest.mark.parametrize("name", TABLES)
def test_every_figure_and_sentence_that_names_a_snapshot_names_something(name: str) -> None:
    cards = list_cards(name)
    facts = [fact for card in cards for fact in card.facts if fact.label in ("snapshot", "data file")]
    assert all([*list_targets(fact.value)] for fact in facts if fact.value.text not in NAMELESS)
    for card in cards:
        said = "".join(part.text for part in card.linked)
        assert said in ("", card.sentence), "the parts say what the sentence says"
        for fact in card.facts:
            assert "".join(part.text for part in fact.linked) in ("", fact.small)
        for body in list_bodies(card):
            if isinstance(body, Note) and body.linked:
                assert "".join(part.text for part in body.linked) == body.text
        for cell in list_cells(card):
            if cell.linked and cell.text != "space.slices":
                assert "".join(part.text for part in cell.linked) == cell.text


def test_a_parent_an_adder_and_both_sides_of_a_diff_are_named() -> None:
    table = open_table("iceberg")
    state = table.current
    assert state is not None and state.parent_id is not None
    assert [target.key for part in present(state).linked for target in list_targets(part)] == [
        str(state.parent_id)
    ]
    sides = [target.key for part in present(state.changes).linked for target in list_targets(part)]
    assert sides == [str(state.parent_id), str(state.id)]
    file = table.files[0]
    (adder,) = (fact.linked for fact in present(file).facts if fact.label == "sequence")
    assert [target.key for part in adder for target in list_targets(part)] == [str(file.snapshot_id)]
    assert present(file).target == Target("bytes", file.path)


def test_an_entry_is_named_by_its_number_and_a_part_of_a_file_by_its_bytes() -> None:
    table = open_table("iceberg")
    state = table.current
    assert state is not None
    manifest = next(one for one in state.manifests if len(one.entries) > 1)
    targets = {t for cell in list_cells(present(manifest)) for t in list_targets(cell)}
    for number in range(len(manifest.entries)):
        assert Target("entry", str(number), (("manifest", manifest.path),)) in targets
    footer = next(iter(table.files)).footer
    group = footer.row_groups[0]
    asked = (("start", str(group.start)), ("length", str(group.compressed_size)))
    spans = {t for cell in list_cells(present(footer)) for t in list_targets(cell)}
    assert footer.path is not None
    assert Target("bytes", footer.path, asked) in spans


def test_a_file_is_named_by_its_whole_path() -> None:
    for name in TABLES:
        for card in list_cards(name):
            for cell in list_cells(card):
                for target in list_targets(cell):
                    if target.kind in (*FILES, "manifest", "manifest_list", "metadata"):
                        # of a vector's data file an index records the name alone, by which a set finds it too
                        is_found = target.kind == "file" and target.key in open_table(name).files
                        assert "/" in target.key or is_found, (name, card.noun, cell.text, target)


@pytest.mark.parametrize("name", TABLES)
def test_what_is_named_has_a_page_that_answers(name: str) -> None:
    """Up to three of a kind for each page; those whose pages are not there yet are left out."""
    table = open_table(name)
    shown = Explorer(table.location)
    first = shown.answer(Place(()))
    assert isinstance(first, Redirect)
    explorer._load_pages()
    asked: Counter[tuple[str, ...]] = Counter()
    met: set[Place] = set()
    for target in {t: None for card in list_cards(name) for c in list_cells(card) for t in list_targets(c)}:
        place = find_place(target, first.place)
        assert place is not None or target.kind in ("table", "ref", "schema", "entry"), target
        if place is None or place in met or place.page not in explorer._MAKERS:
            continue
        kind = (target.kind, place.page, place.get("part"))
        asked[kind] += 1
        if asked[kind] <= 3:
            met.add(place)
            answer = shown.answer(place)
            assert isinstance(answer, Redirect) or answer.status == 200, (target, place.url)
    assert asked


def list_hrefs(markup: str) -> list[str]:
    tree = html5lib.HTMLParser(namespaceHTMLElements=False).parse(markup)
    return [element.attrib["href"] for element in tree.iter("a")]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_notebook_has_no_links_and_a_view_with_links_nothing_to_type(name: str) -> None:
    for thing in list_objects(open_table(name)):
        assert "<a " not in render_card(thing), thing
        card = present(thing)
        words = [word.strip() for word in re.findall(r"<code>([^<]*)</code>", draw(card, 1))]
        linked = draw(card, 1, style=False, link=lambda target: f"to/{target.kind}")
        typed = {"table.diff(before, after)", "table.check()", ".to_pandas(), .widget()", "table.timeline()"}
        assert not [word for word in typed if f"<code>{word}</code>" in linked], words
        assert {href.partition("/")[0] for href in list_hrefs(linked)} <= {"to"}


def test_links_are_no_part_of_what_a_text_says() -> None:
    table = open_table("iceberg")
    assert "Compare any two" not in render_text(table.snapshots)
    assert "any two states: table.diff(before, after)" in render_text(table.snapshots)


def test_a_view_that_is_walked_says_where_more_is() -> None:
    table = open_table("iceberg")
    with display.using(max_rows=2):
        card = present(table.snapshots)
        markup = draw(card, 1, style=False, link=lambda target: f"{target.kind}:{target.key}")
    hrefs = list_hrefs(markup)
    assert "page:snapshots" in hrefs
    assert "page:diff" in hrefs


def test_parts_of_a_cell_are_links_whatever_they_are() -> None:
    """Small print, what stands out and what changed are linked once, not twice."""
    target = Target("file", 'a"><script>')
    roles = ("small", "strong", "changed", "code", "exact", "tree", "")
    for role in roles:
        for cell in (
            Cell("name", role, target=target),  # type: ignore[arg-type]
            Cell("x name", parts=(Cell("x "), Cell("name", role, target=target))),  # type: ignore[arg-type]
            named.linked(Cell("x name"), "x ", Cell("name", role, target=target)),  # type: ignore[arg-type]
        ):
            card = Card("", "", body=(Pairs((("label", cell),), is_open=True),))
            markup = draw(card, 1, style=False, link=lambda target: f"?path={target.key}")
            assert list_hrefs(markup) == ['?path=a"><script>'], (role, markup)
            assert "<script>" not in markup
            assert "<a " not in draw(card, 1)


def test_a_snapshot_of_another_branch_leads_nowhere_where_branches_number_their_own() -> None:
    table = open_table("paimon-branches")
    assert table.traits.numbers_branches
    refs = present(table.refs)
    targets = {t for cell in list_cells(refs) for t in list_targets(cell)}
    for branch in table.refs.branches:
        assert (Target("ref", branch.name) in targets) is (branch.snapshot_id is not None)
        if branch.name != "main":
            assert Target("snapshot", str(branch.snapshot_id)) not in {
                t for cell in list_cells(present(branch)) for t in list_targets(cell)
            }


def test_pages_of_the_whole_warehouse_name_their_tables(tmp_path: Path) -> None:
    import shutil

    for name in ("iceberg", "paimon"):
        shutil.copytree(ll.sample(name).location, tmp_path / "shop.db" / name)
    catalog = ll.find(tmp_path)
    targets = {
        t.key for cell in list_cells(present(catalog)) for t in list_targets(cell) if t.kind == "table"
    }
    assert targets == {found.path for found in catalog}
