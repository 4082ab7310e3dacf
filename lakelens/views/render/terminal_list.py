"""A long list, written as it is read: column widths are those of its first rows, and nothing of it is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len

from lakelens.views.card.model import Cell, Column
from lakelens.views.card.wording import split_ids, visible
from lakelens.views.render.terminal import make_cell, make_table, make_text
from lakelens.views.render.text import align_row

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_MEASURED = 500  # rows whose widths are those of the columns
_PRINTED = 100  # rows in one piece
_GAP = 2
_NARROWEST = 14  # of a column whose words are folded
_SILENT = ("null", "absent", "")


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
    """Rows within a terminal's width, as they come; how many there were.

    Where they do not fit, long ids inside of names are cut to eight characters, then the widest texts are folded. Where
    there are more columns than the terminal has room for, each row becomes a record: its names and values, one a line.
    """
    remaining = iter(rows)
    first = list(islice(remaining, _MEASURED))
    # bars repeat the numbers beside them
    kept = [index for index in range(len(columns)) if not any(row[index].bar for row in first)]
    columns = [columns[index] for index in kept]
    remaining = (tuple(row[index] for index in kept) for row in remaining)
    first = [tuple(row[index] for index in kept) for row in first]
    layout = _fit(columns, first, console.width)
    stream = chain(first, remaining)
    if layout.width > console.width:
        return _print_records(console, columns, stream)
    printed = 0
    while chunk := list(islice(stream, _PRINTED)):
        console.print(_make_piece(columns, chunk, layout, show_header=printed == 0))
        printed += len(chunk)
    return printed


@dataclass
class _Layout:
    """The width of each column, and which of them have the ids in their texts cut."""

    widths: list[int]
    is_cut: list[bool]

    @property
    def width(self) -> int:
        """The width of a line."""
        return sum(self.widths) + _GAP * (len(self.widths) - 1)


def _make_piece(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], layout: _Layout, *, show_header: bool
) -> Table:
    table = make_table(show_header=show_header)
    for column, width in zip(columns, layout.widths, strict=True):
        justify: Literal["left", "right"] = "right" if column.is_number else "left"
        table.add_column(make_text(column.name, "dim"), justify=justify, width=width, overflow="fold")
    for row in rows:
        table.add_row(*(make_cell(cell, is_cut=cut) for cell, cut in zip(row, layout.is_cut, strict=True)))
    return table


def _print_records(console: Console, columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> int:
    """Each row as a record; what is null in it is left out."""
    printed = 0
    for row in rows:
        printed += 1
        console.print(make_text(f"{printed}", "bold"))
        table = make_table(show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for column, cell in zip(columns, row, strict=True):
            if cell.text not in _SILENT:
                table.add_row(make_text(f"  {column.name}", "dim"), make_cell(cell))
        console.print(table)
    return printed


def _fit(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> _Layout:
    """Widths that fit: the widest column gives way first, and none below its longest word."""
    texts = [
        [visible(column.name), *(visible(row[i].text) for row in rows)] for i, column in enumerate(columns)
    ]
    layout = _Layout([max(map(cell_len, held)) for held in texts], [False] * len(texts))
    if layout.width <= width:
        return layout
    layout.is_cut = [not all(is_id_alone(text) for text in held[1:]) for held in texts]
    texts = [
        [_cut(text) for text in held] if cut else held for held, cut in zip(texts, layout.is_cut, strict=True)
    ]
    layout.widths = [max(map(cell_len, held)) for held in texts]
    floors = [_find_floor(column, held) for column, held in zip(columns, texts, strict=True)]
    while layout.width > width:
        soft = [i for i, floor in enumerate(floors) if layout.widths[i] > floor]
        if not soft:
            break
        widest = max(soft, key=lambda i: layout.widths[i])
        layout.widths[widest] -= 1
    return layout


def _find_floor(column: Column, texts: Sequence[str]) -> int:
    """How narrow a column may become: numbers and ids stay whole, texts are folded between words, long names anywhere."""
    words = max((cell_len(word) for text in texts for word in text.split()), default=1)
    if column.is_number:
        heading = max((cell_len(word) for word in texts[0].split()), default=1)
        return max([heading, *(cell_len(text) for text in texts[1:])])
    if all(is_id_alone(text) for text in texts[1:]):
        return words
    return min(words, _NARROWEST)


def is_id_alone(text: str) -> bool:
    """Whether a text is an id and nothing else: one that is copied from here to be asked for.

    >>> is_id_alone("5210511640741470556"), is_id_alone("snap-5210511640741470556.avro")
    (True, False)
    """
    parts = split_ids(text)
    return text.isdigit() or (len(parts) == 1 and parts[0][1])


def _cut(text: str) -> str:
    return "".join(f"{part[:8]}…" if is_id else part for part, is_id in split_ids(text))
