"""The card of the map of a row: the drawing, and every box of it as a line."""

from __future__ import annotations

from lakelens.model.charts import MOST_BYTES, RowMap, RowPart
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Cell, Column, Fold, Grid, Picture
from lakelens.views.describe import describe, one
from lakelens.views.map.drawing import LEAST
from lakelens.views.map.row import describe_part, describe_row, render_row


@describe.register
def card_of_row_map(drawn: RowMap, detail: int = 1) -> Card:
    """The bytes of a row."""
    fields = wording.plural(len(drawn.row.names), "field")
    shown = f"of a row, {fields}, {wording.plural(drawn.size, 'byte')}, kind {drawn.row.kind}"
    picture = Picture(render_row(drawn), describe_row(drawn), LEAST)
    return Card("Map", shown, body=(picture,), folds=tuple(map(_fold_part, drawn.parts)))


def _fold_part(part: RowPart) -> Fold:
    return Fold(wording.clean(part.noun, 80), describe_part(part), lambda: one(_grid(part)))


def _grid(part: RowPart) -> Grid:
    rows = []
    for box in part.boxes:
        name = wording.clean(box.name, 80)
        value = Cell("") if box.value is None else cells.value(box.value, "NULL")
        rows.append(
            (
                cells.code(name) if box.is_field else cells.text(name),
                cells.number(box.start),
                cells.code(wording.octets(box.data, MOST_BYTES)),
                cells.text(wording.clean(box.note, 200)),
                cells.NULL if box.is_null else value,
            )
        )
    columns = (
        Column("field"),
        Column("at", is_number=True, title="its first byte, counted from the header"),
        Column("bytes"),
        Column("meaning", title="how the bytes are encoded"),
        Column("value"),
    )
    return cells.grid(columns, rows, how=".map().parts", noun="box")
