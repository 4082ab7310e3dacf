"""A long list, written as it is read: column widths are those of its first rows, and nothing of it is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from lakelens.views.card.model import Cell, Column
from lakelens.views.card.wording import visible
from lakelens.views.render.terminal_table import fit, make_records, make_rows
from lakelens.views.render.text import align_row

if TYPE_CHECKING:
    from rich.console import Console

_MEASURED = 500  # rows whose widths are those of the columns
_PRINTED = 100  # rows in one piece


def write_rows(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Aligned lines below a line of names; a longer cell further down pushes what follows it."""
    remaining = iter(rows)
    first = list(islice(remaining, _MEASURED))
    widths = [
        max([len(column.name), *(len(row[index].text) for row in first)])
        for index, column in enumerate(columns)
    ]
    names = [column.name for column in columns]
    for texts in chain([names], ([cell.text for cell in row] for row in chain(first, remaining))):
        yield visible(align_row(texts, widths, columns)).replace("\n", "⟨U+000A⟩")


def print_rows(console: Console, columns: Sequence[Column], rows: Iterable[tuple[Cell, ...]]) -> int:
    """Rows within a terminal's width, as they come; how many there were."""
    remaining = iter(rows)
    first = list(islice(remaining, _MEASURED))
    # bars repeat the numbers beside them
    kept = [index for index in range(len(columns)) if not any(row[index].bar for row in first)]
    columns = [columns[index] for index in kept]
    remaining = (tuple(row[index] for index in kept) for row in remaining)
    first = [tuple(row[index] for index in kept) for row in first]
    layout = fit(columns, first, console.width)
    stream = chain(first, remaining)
    printed = 0
    while chunk := list(islice(stream, _PRINTED)):
        pieces = (
            make_records(columns, chunk, printed + 1)
            if layout.is_records
            else make_rows(columns, chunk, layout, show_header=printed == 0)
        )
        for piece in pieces:
            console.print(piece)
        printed += len(chunk)
    return printed
