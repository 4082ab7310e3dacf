"""From an object to its view-model: its card, with what each label means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from lakelens.analysis.check.check import Check
from lakelens.model.table import Table
from lakelens.views import answers, cards
from lakelens.views.card.meanings import add_meanings
from lakelens.views.card.model import Card
from lakelens.views.cards.finding import note_elsewhere, note_newer
from lakelens.views.describe import describe

if TYPE_CHECKING:
    from lakelens.views.report import Section


def present(thing: Any, detail: int = 1) -> Card:
    """The view-model of an object; what an answer about a table took from elsewhere, or could not have, is on it."""
    _load_cards()
    card = describe(thing, detail)
    table = getattr(thing, "table", None)
    if isinstance(table, Table) and not isinstance(thing, Check):
        card = replace(card, body=(*card.body, *note_elsewhere(table), *note_newer(table)))
    return add_meanings(card, detail)


def present_page(thing: Any, detail: int) -> Sequence[Section]:
    """The sections of a page: the object itself and, for a table, what it is made of."""
    from lakelens.views.report import make_report

    _load_cards()
    # one list of meanings stands at the end of the page, instead of one in each section
    return make_report(thing, lambda part: add_meanings(describe(part, detail), 1))


@cache
def _load_cards() -> None:
    """Import every file of `cards` and `answers`: each registers its cards with `describe`."""
    for room in (cards, answers):
        for module in iter_modules(room.__path__):
            import_module(f"{room.__name__}.{module.name}")
