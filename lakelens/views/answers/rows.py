"""The card of rows that a reader brings: one table, bounded."""

from __future__ import annotations

from typing import Any

from lakelens.showing import ShownRows
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Cell, Column
from lakelens.views.describe import describe

_MOST_COLUMNS = 60


@describe.register
def card_of_shown_rows(shown: ShownRows, detail: int = 1) -> Card:
    """The rows, texts as they are."""
    names = shown.columns[:_MOST_COLUMNS]
    columns = [Column(wording.clean(name, 80), is_number=_is_number(shown, name)) for name in names]
    rows = [[_show(row.get(name, "")) for name in names] for row in shown.rows]
    grid = cells.grid(columns, rows, is_open=True, noun="row")
    left = len(shown.columns) - len(names)
    sentence = wording.count(len(shown)) + (f"; {wording.count(left)} more columns" if left else "")
    return Card("Rows", sentence, body=(grid,) if rows else ())


def _is_number(shown: ShownRows, name: str) -> bool:
    held = [row[name] for row in shown.rows if row.get(name) is not None]
    return bool(held) and all(isinstance(one, int | float) and not isinstance(one, bool) for one in held)


def _show(held: Any) -> Cell:
    """A value: a text as it is, bytes in hexadecimal, anything else as it is formatted elsewhere."""
    if held is None:
        return cells.NULL
    if isinstance(held, str):
        return cells.text(held)
    if isinstance(held, bytes | bytearray | memoryview):
        return Cell(wording.clean(bytes(held).hex(" ")), "exact")
    if isinstance(held, bool):
        return cells.text(held)
    return cells.value(held) if isinstance(held, int | float | dict | list | tuple) else cells.text(held)
