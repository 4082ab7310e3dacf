"""A view-model as HTML: static, escaped, bounded.

Markup is made by the templates alone (`card/markup.py`); nothing from a lake is ever marked safe.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, TypeAlias

from lakelens.model.bytes_view import BytesView
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.card.markup import read_style, template_environment
from lakelens.views.card.model import Body, Card, Fold, Note, Target
from lakelens.views.card.wording import format_failure, visible
from lakelens.views.present import present

#: The address of what a cell names; empty where there is no page of it.
Link: TypeAlias = Callable[[Target], str]

_KIB = 1024
_HARD_STOP = 256 * _KIB
_MOST_PAGE = 1_000_000
_TABLE_CARD = 15_360
_MOST_ROWS = 200  # of a list at the highest detail, if the view has room for them
_FEWEST_ROWS = 7  # before whole folds are left out
_LEFT = ' style="text-align:left"'
_LEFT_OUT = (Note("left out: this view has reached its size; use .to_pandas(), .show(2) or .to_html()"),)


def render_card(thing: object, detail: int = 1, *, style: bool = True) -> str:
    """Render an object as an HTML card, with its style unless the page around it has it (`common_style`).

    Never longer than `display.max_bytes`, nor a table's default card than 15 KiB: lists are cut, then the longest folds are
    emptied until it fits, and say so.
    """
    is_table_card = isinstance(thing, Table) and detail <= 1 and not display.meanings
    most = min(display.max_bytes, _TABLE_CARD) if is_table_card else display.max_bytes
    try:
        if isinstance(thing, BytesView):
            from lakelens.views.hexdump.html import render_bytes

            return render_bytes(thing, detail, display.max_bytes)
        for rows in (*((_MOST_ROWS,) if detail >= 3 else ()), display.max_rows):
            with display.using(max_rows=max(display.max_rows, rows)):
                markup = _drop_left(draw(present(thing, detail), detail, style=style), most)
            if len(markup.encode()) <= most:
                return markup
        with display.using(max_rows=min(display.max_rows, _FEWEST_ROWS)):
            return _fit(present(thing, detail), detail, most, style=style)
    except Exception as error:
        if display.strict_views:
            raise
        # What stands where a view failed: the object's one line and why, in the frame of every card.
        line, _, reason = format_failure(thing, error).partition("\n")
        return draw(Card(type(thing).__name__, line, body=(Note(reason, "warn"),)), 1)


def render_page(thing: object, detail: int = 2) -> str:
    """Render a self-contained page of an object, a whole report for a table: light and dark, printable, without any script.

    Never longer than 1,000,000 bytes: each section has a size of its own, and says what it leaves out.
    """
    if isinstance(thing, BytesView):
        return _render_bytes_page(thing, detail)
    from markupsafe import Markup

    from lakelens.views.report import present_page

    sections = present_page(thing, detail)
    shown = []
    left = _MOST_PAGE - 3 * _KIB
    for section in sections:
        # what stands below a title: the card without its head line, its folds closed but the one asked for most
        card = replace(section.card, noun="", sentence="", alert="")
        how = detail if detail >= 3 else 1
        shown.append(
            _fit(card, how, section.most, style=False, name=section.noun, link=section.lead, types=True)
        )
        # its titles and links take at most: in the contents, above the card, and where it is named
        words = len(section.noun.encode()) + len(section.answer.encode()) + len(section.alert.encode())
        left -= 1_000 + 12 * words
    for index in sorted(range(len(shown)), key=lambda index: -len(shown[index])):
        if sum(len(markup.encode()) for markup in shown) <= left:
            break
        shown[index] = draw(Card("", "", body=_LEFT_OUT), 1, style=False)
    page = template_environment().get_template("page.html")
    # made by our own autoescaping template
    drawn = [(section, Markup(markup)) for section, markup in zip(sections, shown, strict=True)]
    heading = sections[0].noun
    return page.render(heading=heading, sections=drawn, only=None, style=read_style("lakelens.css"))


def _render_bytes_page(explanation: BytesView, detail: int) -> str:
    from markupsafe import Markup

    from lakelens.views.hexdump.html import bytes_style, render_bytes

    markup = render_bytes(explanation, detail, _HARD_STOP, style=False, level=1)
    page = template_environment().get_template("page.html")
    heading = visible(explanation.what)
    return page.render(heading=heading, sections=[], only=Markup(markup), style=bytes_style())


def write_page(
    thing: object, path: str | os.PathLike[str], detail: int = 2, *, meanings: bool | None = None
) -> None:
    """Write `render_page` to a file, with a column of meanings or without; None for as the options say."""
    from lakelens.whole import write_whole

    if meanings is not None:
        with display.using(meanings=meanings):
            write_page(thing, path, detail)
        return
    write_whole(path, render_page(thing, detail).encode())


def _fit(card: Card, detail: int, most: int, **how: Any) -> str:
    """Fit the markup of a card; where it is too long its longest folds are emptied, closed ones first, until it fits.

    `how` it is drawn is said as to `draw`.
    """
    markup = _drop_left(draw(card, detail, **how), most)
    over = len(markup.encode()) - most
    if over <= 0:
        return markup
    folds = list(card.folds)
    link = how.get("link")
    sizes = [_measure(fold, detail, link) if fold.body() else 0 for fold in folds]
    left_out = _measure(Fold("", "", lambda: _LEFT_OUT), detail)
    for index in sorted(range(len(folds)), key=lambda index: (folds[index].opened, -sizes[index])):
        if over > 0 and sizes[index] > left_out:
            folds[index] = replace(folds[index], make=lambda: _LEFT_OUT)
            over -= sizes[index] - left_out
    markup = _drop_left(draw(replace(card, folds=tuple(folds)), detail, **how), most)
    if len(markup.encode()) <= _HARD_STOP:
        return markup
    from html import escape

    return f"<pre>{escape(card.noun[:1000])}</pre>"


def _drop_left(markup: str, most: int) -> str:
    """Markup that fits, if that is enough: tables do without what keeps text left where our sheet is taken away.

    First those of closed folds, the last one first; then the figures; last the open fold, of which most is text.
    """
    over = len(markup.encode()) - most
    if over <= 0:
        return markup
    tables = markup.split("<table")
    above = [markup.rfind("<details", 0, end) for end in accumulate(len(part) + 6 for part in tables[:-1])]
    ranks = [1 if at < 0 else 2 * markup.startswith("<details open", at) for at in above]
    for _, index in sorted((rank, -index) for index, rank in enumerate(ranks, 1)):
        if over <= 0:
            break
        bare = tables[-index].replace(_LEFT, "")
        over -= len(tables[-index]) - len(bare)
        tables[-index] = bare
    return "<table".join(tables)


def _measure(fold: Fold, detail: int, link: Link | None = None) -> int:
    """Measure the bytes of what a fold holds."""
    alone = Card("", "", folds=(replace(fold, label="", answer="", alert=""),))
    return len(draw(alone, detail, style=False, link=link, types=True).encode())


def draw(
    card: Card,
    detail: int,
    *,
    style: bool = True,
    name: str = "",
    link: Link | None = None,
    level: int = 0,
    types: bool | None = None,
) -> str:
    """Draw a view-model as markup, however long it is.

    Below a title of its own, as in the section of a page, the card has no head: `name` is then what its tables are called.
    With `link` what cells name are links, and there is nothing to type unless the view `types`. `level` is that of the
    card's heading.
    """
    sheet = read_style("lakelens.css") if style else None
    template = template_environment().get_template("card.html")
    _, folds = _embed(card, detail)
    level = level or (2 if name else 4)  # the title of a section is a heading of the second level
    context = template.new_context(
        {
            "card": card,
            "folds": folds,
            "detail": detail,
            "style": sheet,
            "embed": _embed,
            "level": level,
            "name": name,
            "link": link,
            "types": link is None if types is None else types,
        }
    )
    markup = "".join(template.root_render_func(context))
    # macros and their context hold each other: what a card shows may be large, and is not left to the garbage collector
    context.parent = {}
    return markup


def _embed(card: Card, detail: int) -> tuple[Card, list[tuple[Fold, Sequence[Body]]]]:
    return card, [(fold, fold.body()) for fold in card.folds]


def common_style() -> str:
    """The sheet that all cards share."""
    return str(read_style("lakelens.css"))
