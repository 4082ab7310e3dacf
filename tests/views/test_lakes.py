"""Every view of every engine-written table: text and HTML say the same, every label has a meaning, budgets hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from lakelens.analysis.claims import compare_claims
from lakelens.errors import LakeError
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.samples import sample
from lakelens.views.card.glossary import find_meaning
from lakelens.views.card.model import Card, Grid, Pairs
from lakelens.views.present import present
from lakelens.views.render.html import draw, render_card
from lakelens.views.render.text import render_text, write_card
from tests.support.view_lakes import PATHS, list_objects, name_lake, open_lake
from tests.views.test_cards import list_texts, read_markup

_BUDGET, _TABLE_BUDGET, _STYLE_BUDGET = 65_536, 15_360, 4_096


def squeeze(text: str) -> str:
    """Without the spaces and lines of the text's tree."""
    return re.sub(r"[\s│├└─]+", "", text)


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("path", PATHS, ids=name_lake)
def test_text_and_html_tell_the_same_facts(path: Path) -> None:
    table = open_lake(path)
    if table is None:
        return
    with display.using(strict_views=True):
        for thing in list_objects(table):
            card = present(thing, 3)
            shown = read_markup(draw(card, 3))
            told = squeeze("\n".join(write_card(card, 3)))
            for text in list_texts(card):
                assert squeeze(text) in told, (thing, text)
                assert squeeze(text) in squeeze(shown), (thing, text)


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("path", PATHS, ids=name_lake)
def test_budgets_hold(path: Path) -> None:
    table = open_lake(path)
    if table is None:
        return
    with display.using(strict_views=True):
        for thing in list_objects(table):
            for detail in (1, 2, 3):
                markup = render_card(thing, detail)
                most = _TABLE_BUDGET if isinstance(thing, Table) and detail == 1 else _BUDGET
                assert len(markup.encode()) <= most, (thing, detail)
                style = re.search(r"<style>(.*?)</style>", markup, re.DOTALL)
                assert style is not None
                assert len(style[1].encode()) <= _STYLE_BUDGET
            assert len(render_text(thing, 3)) <= _BUDGET


# names that are no specification's but a user's or an engine's own: they are shown, and cannot be explained
_OWN_NAMES = re.compile(
    r"partitions\..*"  # one summary line for each partition, named by its values
    r"|spark\.(?!app\.id).*|sequence\.generation\..*|custom.*"
)


def list_unexplained(card: Card, above: tuple[str, ...] = ()) -> Iterator[str]:
    about = (*card.about, *above)
    bodies = [*card.body, *(body for fold in card.folds for body in fold.body())]
    for fact in card.facts:
        if not find_meaning(fact.label, about):
            yield f"fact {fact.label}"
    for body in bodies:
        if isinstance(body, Card):
            yield from list_unexplained(body, about)
        elif isinstance(body, Grid) and not body.is_open:
            for column in body.columns:
                if column.name and not column.title and not find_meaning(column.name, (*body.about, *about)):
                    yield f"column {column.name}"
        elif isinstance(body, Pairs) and not body.is_open:
            for name, _ in body.items:
                if not _OWN_NAMES.fullmatch(name) and not find_meaning(name, (*body.about, *about)):
                    yield f"name {name}"


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("path", PATHS, ids=name_lake)
def test_every_label_has_a_meaning(path: Path) -> None:
    table = open_lake(path)
    if table is None:
        return
    missing: dict[str, Any] = {}
    with display.using(strict_views=True):
        for thing in list_objects(table):
            for label in list_unexplained(present(thing, 2)):
                missing.setdefault(label, thing)
    assert not missing


@pytest.mark.parametrize("path", PATHS, ids=name_lake)
def test_what_engines_claim_of_their_files_is_true(path: Path) -> None:
    table = open_lake(path)
    for found in islice(table.files if table is not None else (), 5):
        try:
            claims = compare_claims(found, found.footer)
        except LakeError:  # a format that has no footer, or a file that is gone
            continue
        assert [claim for claim in claims if claim.verdict == "DIFFER"] == []
        assert not claims or claims[0].fact == "rows"


@pytest.mark.parametrize("name", ["paimon", "paimon-deletion-vectors", "iceberg", "hive"])
def test_a_card_says_the_same_twice(name: str) -> None:
    """Also how many files were read for it: the first card reads on while it is drawn."""
    ways = (lambda table: table.to_text(1), lambda table: table.to_text(2), lambda table: table._repr_html_())
    for show in ways:
        table = sample(name)
        assert show(table) == show(table)
