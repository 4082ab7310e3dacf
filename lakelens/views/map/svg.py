"""The drawing of a map as a document of its own, for an image that any page may hold.

It has no ground and follows the `color-scheme` of the page; nothing in it can run, nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from lakelens.model.map.boxes import count_noun
from lakelens.views.card.wording import clean
from lakelens.views.map.bucket import draw_bucket
from lakelens.views.map.chain import draw_chain
from lakelens.views.map.marks import LEFT, RIGHT, draw_text
from lakelens.views.map.metrics import LINE, wrap
from lakelens.views.map.tree import draw_tree

if TYPE_CHECKING:
    from lakelens.analysis.map import Map

#: Units of the drawing, and pixels that it is shown in at most and at least: letters are never smaller than 11.5 pixels.
_UNITS, _MOST, LEAST = 688, 820, 660
_LEGEND = (
    "A bar and the word new or changed: by this change. A thin line and kept: as it was. Dashed: gone from this state, or "
    "not looked at. A line means that a file names another, its word is the field; a dotted one refers to it."
)
_STYLE = (
    ":root{color-scheme:light dark;--f:light-dark(#1b1b1b,#e6e6e6);--m:light-dark(#5f5f5f,#a5a5a5);"
    "--a:light-dark(#17753a,#5cbb74)}"
    "text{font:13px Helvetica,Arial,'Liberation Sans','Nimbus Sans',sans-serif;fill:var(--f)}"
    ".c{font-family:Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;font-size:12px}"
    ".m{fill:var(--m)}.b{font-weight:600}.new{fill:var(--a);font-weight:700}"
    "path{fill:none}.e-kept,.w{stroke:var(--f);stroke-opacity:.38}.e-new{stroke:var(--a)}"
    ".e-gone{stroke:var(--m);stroke-dasharray:4 3}.f-new{fill:var(--a)}.w-new{stroke:var(--a);stroke-width:2}"
    ".w-ref{stroke:var(--m);stroke-dasharray:2 3}.w-tip{stroke:var(--m)}"
)


def render_map(drawn: Map) -> str:
    """A map as SVG."""
    chart = drawn.chart
    marks: list[str] = []
    y = 0.0
    if chart.tiers:
        marks, y, above = draw_chain(chart.tiers)
        if chart.bucket is not None:
            more, y = draw_bucket(chart.bucket, y, above)
            marks += more
    else:
        marks, y = draw_tree(chart.tree, chart.beside)
    y += 36
    marks.append(draw_text(0, y, "live rows", "b"))
    for line in wrap(drawn.total, RIGHT - LEFT, 4, bold=True):
        marks.append(draw_text(LEFT, y, line, "b"))
        y += LINE + 1
    for sentence in (drawn.news, *chart.advice):
        for line in wrap(sentence, RIGHT - LEFT, 4):
            marks.append(draw_text(LEFT, y, line, "m"))
            y += LINE
    y += 10
    for line in wrap(_LEGEND, RIGHT, 3):
        marks.append(draw_text(0, y, line, "m"))
        y += LINE
    return write_document(marks, y, describe_map(drawn))


def write_document(marks: Iterable[str], height: float, words: str) -> str:
    """Marks as a document: so high, in the style of all maps, with what they show in words."""
    high = round(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_MOST}" height="{round(high * _MOST / _UNITS)}" '
        f'viewBox="-1 -2 {_UNITS} {high}" role="img" aria-label="{escape(words)}">'
        f"<style>{_STYLE}</style>{''.join(marks)}</svg>"
    )


def describe_map(drawn: Map) -> str:
    """What the drawing shows, in a sentence."""
    chart = drawn.chart
    title = drawn.table.traits.title
    parts = []
    for tier in chart.tiers:
        boxes = ", ".join(f"{clean(box.name, 200)} {box.word}" for box in tier.boxes)
        parts.append(f"{tier.noun}: {boxes}")
    if chart.bucket is not None:
        parts.append(
            f"bucket {clean(chart.bucket.name, 200)} with {count_noun(len(chart.bucket.levels), 'level')}"
        )
    if chart.tree:
        parts.append(", ".join(f"{clean(one.name, 200)} {one.word}" for one in chart.tree))
    if chart.beside is not None:
        parts.append(f"{chart.beside.noun}: {chart.beside.note}")
    words = "; ".join(parts)
    return f"{title} table {clean(drawn.table.name, 80)}: {words}; live rows {clean(drawn.total, 300)}; {drawn.news}"
