"""The card of an encoding: a paragraph, a picture of boxes, and the same in words; light and dark in one picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from lakelens.practice.encodings import Encoding, Row
from lakelens.views.card import cells
from lakelens.views.card.model import Card, Cell, Note, Picture
from lakelens.views.card.wording import plural
from lakelens.views.describe import describe

_STYLE = (
    ":root{color-scheme:light dark;--f:light-dark(#1b1b1b,#e6e6e6);--m:light-dark(#5f5f5f,#a5a5a5);"
    "--a:light-dark(#0b62c4,#6cb6ff)}"
    "text{font:12px system-ui,'Liberation Sans',Helvetica,Arial,sans-serif;fill:var(--m)}"
    ".ll-in{font:13px ui-monospace,'Liberation Mono',monospace;fill:var(--f);text-anchor:middle}"
    ".ll-on{fill:var(--a);font-weight:700}"
    "rect{fill:none;stroke:var(--m);stroke-opacity:.6}.ll-mark{stroke:var(--a);stroke-opacity:1;stroke-width:2}"
)
_CHARACTER = 8.0  # pixels, in a box
_LEFT = 172  # pixels of the labels
_HIGH, _GAP = 26, 14  # pixels of a row, and between rows
_LEAST = 24  # pixels of a box


@describe.register
def card_of_encoding(encoding: Encoding, detail: int = 1) -> Card:
    """How a number becomes bytes."""
    shown = (
        f"{encoding.name}: {encoding.value} is {encoding.data.hex(' ')}, {plural(len(encoding.data), 'byte')}"
    )
    rows = [
        (
            cells.text(row.label),
            Cell(" ".join(f"[{box.text}]" if box.is_marked else box.text for box in row.boxes), "exact"),
        )
        for row in encoding.rows
    ]
    grid = cells.grid(("step", "boxes, marked ones in brackets"), rows, is_open=True)
    return Card(
        "Encoding", shown, body=(Note(encoding.paragraph), Picture(draw_boxes(encoding), shown), grid)
    )


def draw_boxes(encoding: Encoding) -> str:
    """The rows of boxes as SVG; rows of equally many boxes stand in columns."""
    widths = [_measure_boxes(row, encoding.rows) for row in encoding.rows]
    width = round(max(sum(boxes) + 4 * len(boxes) for boxes in widths) + _LEFT + 4)
    height = len(encoding.rows) * (_HIGH + _GAP)
    tops = range(4, height, _HIGH + _GAP)
    drawn = "".join(
        part
        for row, boxes, top in zip(encoding.rows, widths, tops, strict=True)
        for part in _draw_row(row, boxes, top)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f"<style>{_STYLE}</style>{drawn}</svg>"
    )


def _measure_boxes(row: Row, rows: Sequence[Row]) -> list[float]:
    """The widths of the boxes of a row: as wide as the widest of those above and below."""
    alike = [one.boxes for one in rows if len(one.boxes) == len(row.boxes)]
    return [
        max(_LEAST, *(len(box.text) * _CHARACTER + 10 for box in column))
        for column in zip(*alike, strict=True)
    ]


def _draw_row(row: Row, widths: Sequence[float], top: int) -> Iterator[str]:
    yield f'<text x="0" y="{top + 17}">{escape(row.label)}</text>'
    left = float(_LEFT)
    for box, wide in zip(row.boxes, widths, strict=True):
        mark, on = (' class="ll-mark"', " ll-on") if box.is_marked else ("", "")
        yield f'<rect{mark} x="{left:.1f}" y="{top}" width="{wide:.1f}" height="{_HIGH - 2}" rx="3"/>'
        yield f'<text class="ll-in{on}" x="{left + wide / 2:.1f}" y="{top + 17}">{escape(box.text)}</text>'
        left += wide + 4
