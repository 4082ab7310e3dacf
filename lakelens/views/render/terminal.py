"""A view-model for a terminal, through rich: tables that fit the width, roles as colours, no wrapping of numbers.

Text from a lake is never markup and never a control sequence here: every string becomes a `Text` of visible characters.
Where the output is no terminal, the plain text twin is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakelens.options import display
from lakelens.views.card.model import Block, Body, Card, Cell, Fact, Fold, Grid, Note, Pairs, Picture
from lakelens.views.card.wording import format_failure, split_ids, visible
from lakelens.views.present import present

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

# what a role says in colours; its text says it too
_STYLES = {
    "mute": "dim",
    "add": "green",
    "del": "red",
    "warn": "bold yellow",
    "code": "",
    "exact": "",
    "tree": "",
    "": "",
}
_STYLES |= {"small": "dim", "strong": "bold", "changed": "underline"}

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

    pieces = [(card.noun, f"bold {_STYLES[card.role]}".rstrip()), (f"  {card.sentence}", "")]
    if card.alert:
        pieces += [("  — ", ""), (card.alert, _STYLES["warn"])]
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
    alert = [(fold.alert, _STYLES["warn"]), (": " if fold.answer else "", "")] if fold.alert else []
    branch = tree.add(_join([(f"{fold.label}  ", "bold"), *alert, (fold.answer, "")]))
    if fold.is_open(detail):
        for body in fold.body():
            branch.add(make_body(body, detail, width - _INDENT))


def make_body(body: Body, detail: int, width: int) -> RenderableType:
    """What a fold holds."""
    if isinstance(body, Grid):
        return _make_grid(body, width)
    if isinstance(body, Pairs):
        return _make_pairs(body)
    if isinstance(body, Block):
        return make_text(body.text)
    if isinstance(body, Note):
        return make_text(": ".join(filter(None, (body.text, body.code))), _STYLES[body.role])
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
                (fact.value.text, f"bold {_STYLES[fact.value.role]}".strip()),
                (f"\n{fact.small}", "dim"),
            ]
        )
        for fact in facts
    ]
    return Columns(made, padding=(0, 3))


def _make_grid(grid: Grid, width: int) -> RenderableType:
    """A table; where it is wider than the terminal its long ids are cut to eight characters, as CSS does it."""
    from rich.console import Group

    kept = [i for i in range(len(grid.columns)) if not any(row[i].bar for row in grid.rows)]
    table = make_table(show_header=True)
    for index in kept:
        column = grid.columns[index]
        is_whole = column.is_number or column.is_short
        table.add_column(
            make_text("\n".join(filter(None, (column.name, column.kind))), "dim"),
            justify="right" if column.is_number else "left",
            no_wrap=is_whole,
            overflow="fold",
        )
    natural = sum(2 + max(len(row[index].text) for row in grid.rows) for index in kept) if grid.rows else 0
    headings = dict(grid.groups)
    for place, row in enumerate((*grid.rows, *grid.totals)):
        if place in headings:
            table.add_row(make_text(headings[place], "dim"))
        table.add_row(*(make_cell(row[index], is_cut=natural > width) for index in kept))
    if not grid.more:
        return table
    return Group(table, make_text(": ".join(filter(None, (grid.more, grid.how))), "dim"))


def _make_pairs(pairs: Pairs) -> Table:
    table = make_table(show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, cell in pairs.items:
        table.add_row(make_text(name, "dim"), make_cell(cell))
    return table


def make_table(*, show_header: bool) -> Table:
    from rich.table import Table

    return Table(box=None, show_header=show_header, pad_edge=False, padding=(0, 2, 0, 0), header_style="")


def make_cell(cell: Cell, *, is_cut: bool = False) -> Text:
    return make_text(_cut(cell) if is_cut else cell.text, _STYLES[cell.role])


def _cut(cell: Cell) -> str:
    """The text of a cell with its long ids cut; times and numbers stay whole."""
    if cell.role == "exact":
        return cell.text
    if cell.parts:
        return "".join("; " if part.text == "\n" else _cut(part) for part in cell.parts)
    return "".join(f"{part[:8]}…" if is_id else part for part, is_id in split_ids(cell.text))


def make_text(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(visible(text), style=style, overflow="fold")


def _join(parts: Sequence[tuple[str, str]]) -> Text:
    """Pieces with a style each, in one line."""
    from rich.text import Text

    joined = Text(overflow="fold")
    for text, style in parts:
        joined.append(visible(text), style)
    return joined
