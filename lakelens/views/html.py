"""A view-model as HTML: static, escaped, bounded.

Markup is made by the templates alone, with autoescape on and undefined names refused. This is the one module that knows
of markup; nothing from a lake is ever marked safe.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.card import Block, Card, Grid, Note, Pairs
from lakelens.views.present import present, present_page
from lakelens.views.wording import split_ids, visible, word_failure

if TYPE_CHECKING:
    from jinja2 import Environment

_HARD_STOP = 262_144
_TABLE_CARD = 15_360
_LEFT_OUT = [Note("left out: this view has reached its size; use .to_pandas(), .show(2) or .to_html()")]


def render_card(thing: object, detail: int = 1) -> str:
    """An object as an HTML card with its style.

    Never longer than `display.max_bytes`, nor a table's default card than 15 KiB: the longest folds are emptied until it
    fits, and say so.
    """
    is_table_card = isinstance(thing, Table) and detail <= 1
    try:
        return _fit(
            present(thing, detail),
            detail,
            min(display.max_bytes, _TABLE_CARD) if is_table_card else display.max_bytes,
        )
    except Exception as error:
        if display.strict_views:
            raise
        return f"<pre>{escape(word_failure(thing, error))}</pre>"


def render_page(thing: object, detail: int = 2) -> str:
    """A self-contained page about an object: light and dark, printable, without any script."""
    cards = present_page(thing, detail)
    from markupsafe import Markup

    shown, total = [], 0
    for card in cards:
        markup = _fit(card, detail, _HARD_STOP // 4, style=False)
        total += len(markup.encode())
        if total > 4 * _HARD_STOP:
            break
        shown.append((_name_section(card, cards), Markup(markup)))  # made by our own autoescaping template

    page = _environment().get_template("page.html")
    return page.render(title=cards[0].noun, sections=shown, left_out=len(cards) - len(shown), style=_style())


def _name_section(card: Card, cards: Sequence[Card]) -> str:
    """What the link to a section says: its noun, with its sentence where several have the same noun."""
    is_alone = sum(other.noun == card.noun for other in cards) == 1
    return card.noun if is_alone else f"{card.noun} {card.sentence[:120]}"


def write_page(thing: object, path: str | os.PathLike[str], detail: int = 2) -> None:
    """Write `render_page` to a file."""
    Path(path).write_text(render_page(thing, detail), encoding="utf-8")


def _fit(card: Card, detail: int, most: int, *, style: bool = True) -> str:
    """The markup of a card; the longest folds are emptied, one after another, until it fits."""
    bodies: list[Sequence[Any]] = [list(fold.body()) for fold in card.folds]
    longest_first = sorted(range(len(bodies)), key=lambda i: (card.folds[i].opened, -len(repr(bodies[i]))))
    template = _environment().get_template("card.html")
    for index in (None, *longest_first):
        if index is not None:
            if not bodies[index]:
                continue
            bodies[index] = _LEFT_OUT
        folds = list(zip(card.folds, bodies, strict=True))
        sheet = _style() if style else None
        markup: str = template.render(card=card, folds=folds, detail=detail, style=sheet, embed=_embed)
        if len(markup.encode()) <= most:
            return markup
    return markup if len(markup.encode()) <= _HARD_STOP else f"<pre>{escape(card.noun[:1000])}</pre>"


def _embed(card: Card, detail: int) -> tuple[Card, list[tuple[Any, Any]]]:
    return card, [(fold, list(fold.body())) for fold in card.folds]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("lakelens.views"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_guard,
    )
    made.filters["split_ids"] = split_ids
    kinds = {"grid": Grid, "pairs": Pairs, "block": Block, "note": Note, "card": Card}
    for name, kind in kinds.items():
        made.tests[name] = lambda body, kind=kind: isinstance(body, kind)
    return made


def _guard(held: Any) -> Any:
    """What every expression of a template passes: whatever a card forgot to make visible is made so here."""
    return visible(held) if type(held) is str else held


@cache
def _style() -> Any:
    """The packaged sheet, the one text that is marked as markup here: it is ours, not a lake's."""
    from markupsafe import Markup

    return Markup(files("lakelens.views").joinpath("static/lakelens.css").read_text("utf-8"))
