"""A long list, written as it is read: column widths are those of its first rows, and nothing of it is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from lakelens.views.card import Cell, Column
from lakelens.views.terminal import make_cell, make_table, make_text
from lakelens.views.wording import split_ids, visible

if TYPE_CHECKING:
    from rich.console import Console

_MEASURED = 500  # rows whose widths are those of the columns
_PRINTED = 100  # rows in one piece
_GAP = 2
_NARROWEST = 12  # of a column that is folded


def write_rows(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Aligned lines below a line of names; a longer cell further down pushes what follows it."""
    remaining = iter(rows)
    first = list(islice(remaining, _MEASURED))
    widths = [
        max([len(column.name), *(len(row[index].text) for row in first)])
        for index, column in enumerate(columns)
    ]
    for texts in chain(
        [[column.name for column in columns]], ([c.text for c in row] for row in chain(first, remaining))
    ):
        cells = (
            text.rjust(width) if column.is_number else text.ljust(width)
            for text, width, column in zip(texts, widths, columns, strict=True)
        )
        yield visible("  ".join(cells).rstrip()).replace("\n", "⟨U+000A⟩")


def print_rows(console: Console, columns: Sequence[Column], rows: Iterable[tuple[Cell, ...]]) -> int:
    """Rows within a terminal's width, as they come; how many there were.

    Where they do not fit, long ids are cut to eight characters, then the widest texts are folded.
    """
    remaining = iter(rows)
    first = list(islice(remaining, _MEASURED))
    natural = _measure(columns, first, is_cut=False)
    is_cut = sum(natural) + _GAP * len(natural) > console.width
    widths = _fit(columns, _measure(columns, first, is_cut=True) if is_cut else natural, console.width)
    told = 0
    stream = chain(first, remaining)
    while chunk := list(islice(stream, _PRINTED)):
        table = make_table(show_header=told == 0)
        for column, width in zip(columns, widths, strict=True):
            justify = "right" if column.is_number else "left"
            name = make_text(column.name, "dim")
            table.add_column(name, justify=justify, width=width, overflow="fold")  # type: ignore[arg-type]
        for row in chunk:
            table.add_row(*(make_cell(cell, is_cut=is_cut) for cell in row))
        console.print(table)
        told += len(chunk)
    return told


def _measure(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, is_cut: bool) -> list[int]:
    """The width that each column would like to have."""
    from rich.cells import cell_len

    def measure(text: str) -> int:
        if is_cut:
            text = "".join(f"{part[:8]}…" if is_id else part for part, is_id in split_ids(text))
        return cell_len(visible(text))

    return [
        max([measure(column.name), *(measure(row[index].text) for row in rows)])
        for index, column in enumerate(columns)
    ]


def _fit(columns: Sequence[Column], widths: Sequence[int], width: int) -> list[int]:
    """Widths that fit: the widest texts give way first, numbers and short words never."""
    fitted = list(widths)
    spare = width - _GAP * (len(fitted) - 1) - sum(fitted)
    while spare < 0:
        soft = [
            i for i, c in enumerate(columns) if not (c.is_number or c.is_short) and fitted[i] > _NARROWEST
        ]
        if not soft:
            break
        widest = max(soft, key=lambda i: fitted[i])
        others = max((fitted[i] for i in soft if i != widest), default=_NARROWEST)
        step = min(-spare, max(1, fitted[widest] - max(others, _NARROWEST)))
        fitted[widest] -= step
        spare += step
    return fitted
