"""A view-model for a terminal, through rich: tables that fit the width, roles as colours, no wrapping of numbers.

Text from a lake is never markup and never a control sequence here: every string becomes a `Text` of visible characters.
Where the output is no terminal, the plain text twin is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from lakelens.options import display
from lakelens.views.card.model import Block, Body, Card, Fact, Fold, Grid, Note, Pairs, Picture
from lakelens.views.card.wording import format_failure, visible
from lakelens.views.present import present
from lakelens.views.render.terminal_table import STYLES, fit, make_cell, make_rows, make_table, make_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

_INDENT = 4  # of a branch


def print_on(console: Console, thing: object, detail: int) -> None:
    """Write the view of an object on a console."""
    try:
        console.print(make_card(present(thing, detail), detail, console.width))
    except Exception as error:
        if display.strict_views:
            raise
        console.print(make_text(format_failure(thing, error)))


def make_card(card: Card, detail: int, width: int = 100) -> RenderableType:
    """A card as a tree: its head, its facts in a row, a branch for each fold. `width` is that of the terminal."""
    from rich.console import Group
    from rich.tree import Tree

    pieces = [(card.noun, f"bold {STYLES[card.role]}".rstrip()), (f"  {card.sentence}", "")]
    if card.alert:
        pieces += [("  — ", ""), (card.alert, STYLES["warn"])]
    head = _join(pieces)
    parts: list[RenderableType] = [head]
    if card.place:
        parts.append(make_text(card.place, "dim"))
    if card.facts:
        parts.append(_make_facts(card.facts))
    parts += [make_body(body, detail, width) for body in card.body]
    if card.folds:
        tree = Tree(Group(*parts), guide_style="dim")
        for fold in card.folds:
            _add_fold(tree, fold, detail, width - _INDENT)
        return tree
    return Group(*parts)


def _add_fold(tree: object, fold: Fold, detail: int, width: int) -> None:
    from rich.tree import Tree

    assert isinstance(tree, Tree)
    alert = [(fold.alert, STYLES["warn"]), (": " if fold.answer else "", "")] if fold.alert else []
    branch = tree.add(_join([(f"{fold.label}  ", "bold"), *alert, (fold.answer, "")]))
    if fold.is_open(detail):
        for body in fold.body():
            branch.add(make_body(body, detail, width - _INDENT))


def make_body(body: Body, detail: int, width: int) -> RenderableType:
    """What a fold holds."""
    if isinstance(body, Grid):
        return _make_grid(body, width)
    if isinstance(body, Pairs):
        return _make_pairs(body, width)
    if isinstance(body, Block):
        return make_text(body.text)
    if isinstance(body, Note):
        return make_text(": ".join(filter(None, (body.text, body.code))), STYLES[body.role])
    if isinstance(body, Picture):  # the same stands beside it in words
        return make_text("")
    return make_card(body, detail, width)


def _make_facts(facts: Sequence[Fact]) -> RenderableType:
    """Label, value and small print of each, side by side as far as the width goes."""
    from rich.columns import Columns

    made = [
        _join(
            [
                (f"{fact.label}\n", "dim"),
                (fact.value.text, f"bold {STYLES[fact.value.role]}".strip()),
                (f"\n{fact.small}", "dim"),
            ]
        )
        for fact in facts
    ]
    return Columns(made, padding=(0, 3))


def _make_grid(grid: Grid, width: int) -> RenderableType:
    """A table with its headings between the rows; bars repeat the numbers beside them."""
    from rich.console import Group

    kept = [i for i in range(len(grid.columns)) if not any(row[i].bar for row in grid.rows)]
    columns = [grid.columns[i] for i in kept]
    rows = [[row[i] for i in kept] for row in (*grid.rows, *grid.totals)]
    layout = fit(columns, rows, width)
    headings = dict(grid.groups)
    starts = sorted({0, *headings})
    parts: list[RenderableType] = []
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        if start in headings:
            parts.append(make_text(headings[start], "dim"))
        parts += make_rows(columns, rows[start:end], layout, show_header=start == 0)
    if grid.more:
        parts.append(make_text(f"{grid.more}: a pipe has them all, as --json does", "dim"))
    return Group(*parts)


def _make_pairs(pairs: Pairs, width: int) -> Table:
    table = make_table(show_header=False)
    longest = max((cell_len(name) for name, _ in pairs.items), default=0)
    table.add_column(no_wrap=longest <= width // 2, max_width=max(width // 2, 1), overflow="fold")
    table.add_column(overflow="fold")
    for name, cell in pairs.items:
        table.add_row(make_text(name, "dim"), make_cell(cell))
    return table


def _join(parts: Sequence[tuple[str, str]]) -> Text:
    """Pieces with a style each, in one line."""
    from rich.text import Text

    joined = Text(overflow="fold")
    for text, style in parts:
        joined.append(visible(text), style)
    return joined
