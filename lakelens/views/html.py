"""A view-model as HTML: static, escaped, bounded.

Markup is made by the templates alone, with autoescape on and undefined names refused. This is the one module that knows
of markup; nothing from a lake is ever marked safe.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakelens.model.explanation import Explanation
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.bytes_html import bytes_style, render_bytes
from lakelens.views.card import Block, Body, Card, Fold, Grid, Note, Pairs
from lakelens.views.present import present, present_page
from lakelens.views.wording import split_ids, visible, word_failure

if TYPE_CHECKING:
    from jinja2 import Environment

_HARD_STOP = 262_144
_TABLE_CARD = 15_360
_MOST_ROWS = 200  # of a list at the highest detail, if the view has room for them
_FEWEST_ROWS = 7  # before whole folds are left out
_LEFT_OUT = (Note("left out: this view has reached its size; use .to_pandas(), .show(2) or .to_html()"),)


def render_card(thing: object, detail: int = 1) -> str:
    """An object as an HTML card with its style.

    Never longer than `display.max_bytes`, nor a table's default card than 15 KiB: lists are cut, then the longest folds are
    emptied until it fits, and say so.
    """
    is_table_card = isinstance(thing, Table) and detail <= 1
    most = min(display.max_bytes, _TABLE_CARD) if is_table_card else display.max_bytes
    try:
        if isinstance(thing, Explanation):
            return render_bytes(thing, detail, display.max_bytes)
        for rows in (*((_MOST_ROWS,) if detail >= 3 else ()), display.max_rows):
            with display.using(max_rows=max(display.max_rows, rows)):
                markup = draw(present(thing, detail), detail)
            if len(markup.encode()) <= most:
                return markup
        with display.using(max_rows=min(display.max_rows, _FEWEST_ROWS)):
            return _fit(present(thing, detail), detail, most)
    except Exception as error:
        if display.strict_views:
            raise
        return _draw_failure(thing, error)


def _draw_failure(thing: object, error: Exception) -> str:
    """What stands where a view failed: the object's one line and why, in the frame of every card."""
    line, _, reason = word_failure(thing, error).partition("\n")
    return draw(Card(type(thing).__name__, line, body=(Note(reason, "warn"),)), 1)


def render_page(thing: object, detail: int = 2) -> str:
    """A self-contained page about an object: light and dark, printable, without any script."""
    if isinstance(thing, Explanation):
        return _render_bytes_page(thing, detail)
    cards = present_page(thing, detail)
    from markupsafe import Markup

    shown, total = [], 0
    for card in cards:
        markup = _fit(card, detail, _HARD_STOP // 4, style=False)
        total += len(markup.encode())
        if total > 4 * _HARD_STOP:
            break
        shown.append((_name_section(card, cards), Markup(markup)))  # made by our own autoescaping template

    page = template_environment().get_template("page.html")
    return page.render(title=cards[0].noun, sections=shown, left_out=len(cards) - len(shown), style=_style())


def _render_bytes_page(explanation: Explanation, detail: int) -> str:
    from markupsafe import Markup

    markup = render_bytes(explanation, detail, _HARD_STOP, style=False)
    page = template_environment().get_template("page.html")
    title = visible(explanation.what)
    return page.render(title=title, sections=[(title, Markup(markup))], left_out=0, style=bytes_style())


def _name_section(card: Card, cards: Sequence[Card]) -> str:
    """What the link to a section says: its noun, with its sentence where several have the same noun."""
    is_alone = sum(other.noun == card.noun for other in cards) == 1
    return card.noun if is_alone else f"{card.noun} {card.sentence[:120]}"


def write_page(thing: object, path: str | os.PathLike[str], detail: int = 2) -> None:
    """Write `render_page` to a file."""
    Path(path).write_text(render_page(thing, detail), encoding="utf-8")


def _fit(card: Card, detail: int, most: int, *, style: bool = True) -> str:
    """The markup of a card; the longest folds are emptied, one after another, until it fits."""
    folds = list(card.folds)
    markup = draw(card, detail, style=style)
    sizes = [(fold.opened, -len(repr(fold.body()))) for fold in folds]
    for index in sorted(range(len(folds)), key=sizes.__getitem__):
        if len(markup.encode()) <= most:
            return markup
        if folds[index].body():
            folds[index] = replace(folds[index], make=lambda: _LEFT_OUT)
            markup = draw(replace(card, folds=tuple(folds)), detail, style=style)
    return markup if len(markup.encode()) <= _HARD_STOP else f"<pre>{escape(card.noun[:1000])}</pre>"


def draw(card: Card, detail: int, *, style: bool = True) -> str:
    """A view-model as markup, however long it is."""
    sheet = _style() if style else None
    template = template_environment().get_template("card.html")
    _, folds = _embed(card, detail)
    markup: str = template.render(card=card, folds=folds, detail=detail, style=sheet, embed=_embed)
    return markup


def _embed(card: Card, detail: int) -> tuple[Card, list[tuple[Fold, Sequence[Body]]]]:
    return card, [(fold, fold.body()) for fold in card.folds]


def _keep_indent(text: str) -> str:
    """Leading spaces that are shown without any style too."""
    bare = text.lstrip(" ")
    return "\u00a0" * (len(text) - len(bare)) + bare


@cache
def template_environment() -> Environment:
    """The templates of all views: autoescaping, and undefined names are refused."""
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
    made.filters["keep_indent"] = _keep_indent
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
