"""A row as a strip of its bytes: 24 a line, a box for each slot and each item, and arrows from slots to their items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lakelens.model.charts import MOST_BYTES, count_noun
from lakelens.views.card import wording
from lakelens.views.map.drawing import write_drawing
from lakelens.views.map.marks import (
    LINE,
    draw_frame,
    draw_label,
    draw_path,
    draw_text,
    fit,
    fit_name,
    measure,
    wrap,
)

if TYPE_CHECKING:
    from lakelens.model.charts import RowBox, RowMap, RowPart

_LEFT, _COLUMN, _GAP, _COLUMNS = 98, 181, 8, 3
_PAD = 9
_BETWEEN, _AROUND = 20, 30  # pixels between lines of boxes, and between parts
_LANES = (662, 667, 672, 677, 682)  # where arrows go down, beside the boxes
_BYTES = 8  # of a column
_NOTES = {
    "arity": ("before the row",),
    "header": ("offsets count", "from here"),
    "slots": ("8 bytes each",),
    "variable part": ("items, filled", "up to 8 bytes"),
}
_LEGEND = (
    "Grey bytes are not used: padding, the rest of a slot, the room of a null. A dashed box holds no value. Green is a tag, "
    "or the offset of an item, to which the arrow leads."
)


class GridArea(NamedTuple):
    """Where a box is: its line among all, its column, and its edges."""

    line: int
    column: int
    left: float
    top: float
    right: float
    bottom: float


def render_row(drawn: RowMap) -> str:
    """Render the map of a row as SVG."""
    marks: list[str] = []
    slots: list[tuple[RowBox, GridArea]] = []
    items: dict[int, GridArea] = {}
    y, line = 0.0, 0
    for part in drawn.parts:
        marks += draw_label(y + 18, part.noun, _NOTES.get(part.noun, ()))
        least = y + 26 + LINE * len(_NOTES.get(part.noun, ()))
        placed = list(_place(part.boxes, y, line))
        for box, place in placed:
            marks += _draw_box(box, place)
            if part.noun == "variable part":
                items[box.start] = place
            elif box.far is not None:
                slots.append((box, place))
        y = max([least, *(place.bottom for _, place in placed)])
        line = placed[-1][1].line + 1 if placed else line
        if part.left:
            y += LINE + 4
            marks.append(draw_text(_LEFT, y, f"… {part.left}", "m"))
        y += _AROUND
    marks += _draw_arrows(slots, items)
    for words in wrap(_LEGEND, _LANES[-1], 3):
        marks.append(draw_text(0, y, words, "m"))
        y += LINE
    return write_drawing(marks, y, describe_row(drawn))


def _count_columns(box: RowBox) -> int:
    size = len(box.data) + (1 if box.left else 0)
    return min(max(-(-size // _BYTES), 1), _COLUMNS)


def _place(boxes: Sequence[RowBox], y: float, line: int) -> Iterator[tuple[RowBox, GridArea]]:
    """Boxes side by side in three columns, those of a line equally high."""
    lines: list[list[tuple[RowBox, int]]] = [[]]
    column = 0
    for box in boxes:
        wide = _count_columns(box)
        if column + wide > _COLUMNS:
            lines.append([])
            column = 0
        lines[-1].append((box, column))
        column += wide
    for some in lines:
        height = max((_measure_height(box) for box, _ in some), default=0)
        for box, column in some:
            left = _LEFT + column * (_COLUMN + _GAP)
            right = left + _measure_width(box)
            yield box, GridArea(line, column, left, y, right, y + height)
        y += height + _BETWEEN
        line += 1


def _measure_width(box: RowBox) -> int:
    columns = _count_columns(box)
    return columns * _COLUMN + (columns - 1) * _GAP


def _list_notes(box: RowBox, width: float) -> list[str]:
    """List what is below the bytes: how they are encoded."""
    more = [f"… {count_noun(box.left, 'more byte')}"] if box.left else []
    return [*more, *wrap(box.note, width - 2 * _PAD, 3)]


def _list_values(box: RowBox, width: float) -> list[str]:
    """List the value, in two lines at most."""
    return [] if box.value is None else wrap(wording.value(box.value, "NULL"), width - 2 * _PAD, 2)


def _count_lines(box: RowBox) -> int:
    """Lines of its bytes."""
    return -(-len(box.data) // (_BYTES * _count_columns(box)))


def _measure_height(box: RowBox) -> float:
    width = _measure_width(box)
    return 25 + LINE * (_count_lines(box) + len(_list_notes(box, width)) + len(_list_values(box, width)))


def _draw_box(box: RowBox, place: GridArea) -> Iterator[str]:
    width = place.right - place.left
    is_empty = box.is_null or any(piece.role in ("damage", "unexplained") for piece in box.pieces)
    yield from draw_frame(
        place.left, place.top, width, place.bottom - place.top, "gone" if is_empty else "kept"
    )
    at = _format_place(box.start)
    yield draw_text(place.right - 7, place.top + 18, at, "m", "end")
    room = width - _PAD - 14 - measure(at)
    name = fit_name(box.name, room, bold=True) if box.is_field else fit(box.name, room, bold=True)
    x, y = place.left + _PAD, place.top + 18
    yield draw_text(x, y, name, "c b" if box.is_field else "b")
    for words, kind, column, row in _list_bytes(box):
        yield draw_text(x + column * measure("00 ", code=True), y + LINE * (row + 1), words, kind)
    y += LINE * (1 + _count_lines(box))
    notes = _list_notes(box, width)
    for number, words in enumerate((*notes, *_list_values(box, width))):
        yield draw_text(x, y + LINE * number, words, "m" if number < len(notes) else "")


def _list_bytes(box: RowBox) -> Iterator[tuple[str, str, int, int]]:
    """Bytes that are drawn alike and stand side by side: hex, kind, and the column and the line of the first."""
    across = _BYTES * _count_columns(box)
    at = 0
    for piece in box.pieces:
        kind = "c m" if piece.role else "c new" if piece.name in ("tag", "offset") else "c"
        rest = piece.data
        while rest:
            taken = rest[: across - at % across]
            yield taken.hex(" "), kind, at % across, at // across
            at += len(taken)
            rest = rest[len(taken) :]


def _draw_arrows(slots: Sequence[tuple[RowBox, GridArea]], items: Mapping[int, GridArea]) -> Iterator[str]:
    """From slots to their items: straight to a neighbouring line, else down a lane at the right; of many the first ones."""
    free = list(_LANES)
    for box, place in slots:
        to = None if box.far is None else items.get(box.far)
        if to is None:
            continue
        x, track = place.right - 24, place.bottom + 4 + 4 * place.column
        end = to.left + 24 + 6 * place.column
        if to.line == place.line + 1:
            way = f"M{x:g} {place.bottom:g}V{track:g}H{end:g}V{to.top:g}"
        elif free:
            above = to.top - 10 - 3 * to.column
            way = f"M{x:g} {place.bottom:g}V{track:g}H{free.pop(0)}V{above:g}H{end:g}V{to.top:g}"
        else:
            continue
        yield draw_path(way, "w-new" if not box.is_null else "w-ref")
        yield draw_path(f"M{end - 4:g} {to.top - 6:g}l4 6l4-6", "w-new" if not box.is_null else "w-tip")


def describe_row(drawn: RowMap) -> str:
    """Describe what the drawing shows, in words."""
    parts = [f"{part.noun}: {describe_part(part)}" for part in drawn.parts]
    fields = count_noun(len(drawn.row.names), "field")
    return f"BinaryRow, {fields}, {count_noun(drawn.size, 'byte')}. {'. '.join(parts)}"


def describe_part(part: RowPart) -> str:
    """Describe the boxes of a part in words."""
    return "; ".join([*map(_describe_box, part.boxes), *([f"… {part.left}"] if part.left else [])])


def _describe_box(box: RowBox) -> str:
    bytes_ = wording.octets(box.data, MOST_BYTES) + (
        f" … {count_noun(box.left, 'more byte')}" if box.left else ""
    )
    value = "" if box.value is None else f" = {wording.clean(wording.value(box.value, 'NULL'), 200)}"
    note = f" ({wording.clean(box.note, 200)})" if box.note else ""
    return f"{wording.clean(box.name, 80)} {_format_place(box.start)}: {bytes_}{note}{value}"


def _format_place(start: int) -> str:
    return f"{start:+}".replace("-", wording.MINUS)
