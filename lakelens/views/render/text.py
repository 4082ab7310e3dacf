"""A view-model as text: a tree for `str()`, terminals and comparisons; plain lines for a pipe.

Plain lines are only indented, nothing is drawn and nothing is cut to a width, so that grep finds it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lakelens.model.bytes_view import BytesView
from lakelens.options import display
from lakelens.views.card.model import Block, Body, Card, Column, Grid, Note, Pairs, Picture
from lakelens.views.card.wording import MINUS, clean, format_failure, visible
from lakelens.views.hexdump.text import render_bytes_text
from lakelens.views.present import present

_WIDEST = 88
_MARKS = {"●": "*", "■": "*", "◇": "|", "▼": "-", "▽": "+", "○": "x", "·": "|"}
_MOST_ROWS = 200  # of a list at the highest detail, if the view has room for them


def render_text(thing: object, detail: int = 1) -> str:
    """Render an object as a text tree. `detail` 0 is its one line, 1 its facts and answers, 2 and 3 open the folds."""
    if detail <= 0:
        return clean(repr(thing), display.max_text * 5)
    try:
        if isinstance(thing, BytesView):
            return render_bytes_text(thing, detail)
        if detail >= 3:
            with display.using(max_rows=max(display.max_rows, _MOST_ROWS)):
                longest = _write(thing, detail)
            if len(longest) <= display.max_bytes:
                return longest
        return _bound(_write(thing, detail))
    except Exception as error:
        if display.strict_views:
            raise
        return format_failure(thing, error)


def _write(thing: object, detail: int) -> str:
    return visible("\n".join(write_card(present(thing, detail), detail)))


def _bound(text: str) -> str:
    """The text within the budget of a view, cut at a line."""
    if len(text) <= display.max_bytes:
        return text
    kept = text[: display.max_bytes].rsplit("\n", 1)[0]
    left = text.count("\n") - kept.count("\n")
    return f"{kept}\n… {left:,} more lines: this view has reached its size"


def render_plain(thing: object, detail: int = 1) -> Iterator[str]:
    """Render the lines of an object's card for a pipe; a view that fails says so in its place."""
    try:
        lines = [visible(line) for line in write_card(present(thing, detail), detail, is_plain=True)]
    except Exception as error:
        if display.strict_views:
            raise
        lines = visible(format_failure(thing, error)).split("\n")
    yield from lines


def write_card(card: Card, detail: int, *, is_plain: bool = False) -> Iterator[str]:
    """Write the lines of a card."""
    yield f"{card.noun}: {card.sentence}" + (f" ({card.alert})" if card.alert else "")
    if card.place:
        yield f"  {card.place}"
    for fact in card.facts:
        small = f"  ({fact.small})" if fact.small else ""
        yield f"  {fact.label}: {fact.value.text}{small}"
    for part in card.body:
        yield from (f"  {line}".rstrip() for line in write_body(part, detail, is_plain=is_plain))
    for index, fold in enumerate(card.folds):
        branch, lead = ("└─ ", "   ") if index == len(card.folds) - 1 else ("├─ ", "│  ")
        if is_plain:
            branch, lead = "  ", "    "
        alert = f"{fold.alert}: " if fold.alert and fold.answer else fold.alert
        yield f"{branch}{fold.label}: {alert}{fold.answer}"
        for body in fold.body() if fold.is_open(detail) else ():
            yield from (f"{lead}{line}".rstrip() for line in write_body(body, detail, is_plain=is_plain))


def write_body(body: Body, detail: int, *, is_plain: bool = False) -> Iterator[str]:
    """Write the lines of what a fold holds."""
    if isinstance(body, Grid):
        # in a pipe no object is at hand that has the rest
        yield from write_grid(replace(_write_marks(body), how="--json has all") if is_plain else body)
    elif isinstance(body, Pairs):
        width = max((len(label) for label, _ in body.items), default=0)
        yield from (f"{label.ljust(width)}  {cell.text}" for label, cell in body.items)
    elif isinstance(body, Block):
        yield from body.text.splitlines()
    elif isinstance(body, Note):
        yield ": ".join(filter(None, (body.text, body.code)))
    elif not isinstance(body, Picture):  # the same is beside it in words
        yield from write_card(body, detail, is_plain=is_plain)


def write_grid(grid: Grid) -> Iterator[str]:
    """A grid with its columns aligned; cells wider than 88 characters do not widen their column. Bars are left out."""
    grid = _drop_bars(grid)
    lines = (*grid.rows, *grid.totals)
    kinds = [column.kind for column in grid.columns]
    heads = [[column.name for column in grid.columns], *([kinds] if any(kinds) else [])]
    texts = [*heads, *([cell.text for cell in row] for row in lines)]
    widths = [
        max(len(text) for text in column if len(text) <= _WIDEST or text is column[0]) if column else 0
        for column in zip(*texts, strict=True)
    ]
    headings = dict(grid.groups)
    for place, row in enumerate(texts, -len(heads)):
        if place in headings:
            yield headings[place]
        yield align_row(row, widths, grid.columns)
    if grid.more:
        yield ": ".join(filter(None, (grid.more, grid.how)))


def _drop_bars(grid: Grid) -> Grid:
    kept = [i for i in range(len(grid.columns)) if not any(row[i].bar for row in grid.rows)]
    rows, totals = (tuple(tuple(row[i] for i in kept) for row in part) for part in (grid.rows, grid.totals))
    # numbers that begin at their bar stand to the right where there is none
    columns = tuple(
        replace(grid.columns[i], is_number=True) if _follows_bar(grid, i) else grid.columns[i] for i in kept
    )
    return replace(grid, columns=columns, rows=rows, totals=totals)


def _follows_bar(grid: Grid, place: int) -> bool:
    is_amount = all(row[place].text.lstrip(f"+{MINUS}")[:1].isdigit() for row in grid.rows)
    return place > 0 and is_amount and any(row[place - 1].bar for row in grid.rows)


def _write_marks(grid: Grid) -> Grid:
    """Write a grid whose lines of life have letters for marks: a pipe gets no drawings."""
    lives = [place for place, column in enumerate(grid.columns) if column.is_life]
    if not lives:
        return grid
    rows = tuple(
        tuple(
            replace(cell, text=_MARKS.get(cell.text, cell.text)) if place in lives else cell
            for place, cell in enumerate(row)
        )
        for row in grid.rows
    )
    return replace(grid, rows=rows)


def align_row(row: Sequence[str], widths: Sequence[int], columns: Sequence[Column]) -> str:
    """Align the texts of a row at the widths of their columns, numbers to the right; longer ones push what follows."""
    cells = (
        text.rjust(width) if column.is_number else text.ljust(width)
        for text, width, column in zip(row, widths, columns, strict=True)
    )
    return "  ".join(cells).rstrip()


def show(thing: object, detail: int = 1, meanings: bool | None = None) -> None:
    """Show an object where the reader is, with a column of meanings or without; None for as the options say."""
    if meanings is not None:
        with display.using(meanings=meanings):
            show(thing, detail)
        return
    if detail > 0 and is_notebook():
        from IPython.display import publish_display_data

        from lakelens.views.render.html import render_card

        publish_display_data(  # type: ignore[no-untyped-call]
            {"text/plain": render_text(thing, detail), "text/html": render_card(thing, detail)}
        )
    else:
        print(render_text(thing, detail))


def is_notebook() -> bool:
    """Check whether a kernel runs this code, so that HTML reaches a reader."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")
