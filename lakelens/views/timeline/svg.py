"""The still picture: the shapes of a timeline as a document of its own, for an image that any page may hold.

It has no ground and follows the `color-scheme` of the page; nothing in it can run, nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lakelens.analysis.timeline.timeline import Timeline
from lakelens.views.card.wording import visible
from lakelens.views.timeline.layout import WIDTH, Layout, lay_out
from lakelens.views.timeline.legend import Entry, list_entries, place_entries
from lakelens.views.timeline.shapes import Shape, draw_timeline

_STYLE = (
    ":root{color-scheme:light dark;--f:light-dark(#1b1b1b,#e6e6e6);--m:light-dark(#5f5f5f,#a5a5a5);"
    "--g:light-dark(#fff,#111)}"
    "text{font:12px system-ui,'Liberation Sans',Helvetica,Arial,sans-serif;fill:var(--m)}.ll-name{fill:var(--f)}"
    "path{fill:none}.ll-full{fill:var(--f)}.ll-open{fill:var(--g);stroke:var(--f);stroke-width:1.6}"
    ".ll-lane{stroke:var(--f);stroke-opacity:.45;stroke-width:1.2}.ll-base{stroke:var(--m)}"
    ".ll-cut,.ll-gap,.ll-back{stroke:var(--m);stroke-dasharray:2 3}.ll-flag{stroke:var(--m);fill:var(--g)}"
    ".ll-fold{fill:var(--g);stroke:var(--f)}.ll-over{stroke:var(--g);stroke-width:2}"
    ".ll-add{fill:light-dark(#17753a,#5cbb74);opacity:.8}.ll-del{fill:light-dark(#b3261e,#f28b82);opacity:.8}"
    ".ll-most{stroke:light-dark(#b3261e,#f28b82);stroke-dasharray:2 1.5}"
)
_PLACE = ("item", "lane")
_LEGEND = 24  # pixels of a line of the legend


def render_picture(timeline: Timeline) -> str:
    """The whole history as SVG."""
    layout = lay_out(timeline)
    entries = place_entries(list_entries(layout), WIDTH - 8)
    lines = max((y for _, _, y in entries), default=0) + 1
    height = round(layout.height + 4 + _LEGEND * lines)
    shapes = [*draw_timeline(layout), *_draw_legend(layout, entries)]
    drawn = "".join(_write(shape) for shape in shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
        f"<style>{_STYLE}</style>{drawn}</svg>"
    )


def _draw_legend(layout: Layout, entries: Sequence[tuple[Entry, float, int]]) -> list[Shape]:
    shapes: list[Shape] = []
    for entry, x, line in entries:
        y = layout.height + 12 + _LEGEND * line
        shapes.append(entry.sign(x + 7, y))
        shapes.append(("text", {"x": round(x + 18, 1), "y": round(y + 4, 1), "class": "ll-name"}, entry.text))
    return shapes


def _write(shape: Shape) -> str:
    tag, attributes, text = shape
    written = "".join(
        f' {name}="{escape(str(held))}"' for name, held in attributes.items() if name not in _PLACE
    )
    # a document in XML has no place for most control characters: they are shown instead
    return f"<{tag}{written}>{escape(visible(text))}</{tag}>" if text else f"<{tag}{written}/>"
