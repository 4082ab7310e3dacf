"""A timeline as JSON for the browser: shapes to draw, items to point at, the words around them."""

from __future__ import annotations

from typing import Any

from lakelens.views.card import wording
from lakelens.views.card.wording import visible
from lakelens.views.timeline.layout import Layout
from lakelens.views.timeline.legend import describe_cuts, list_entries
from lakelens.views.timeline.shapes import draw_timeline
from lakelens.views.timeline.wording import describe_item, format_time

_TOP = 2


def write_view(layout: Layout, *, is_window: bool = False, focus: int = -1) -> dict[str, Any]:
    """What the browser draws. `is_window` says that a fold was opened, `focus` the item that the keyboard is on."""
    items = []
    for index, spot in enumerate(layout.spots):
        item = spot.item
        flags = [banner.full for banner in layout.banners if banner.spot == index]
        items.append(
            {
                "first": item.marks[0].key,
                "last": item.marks[-1].key,
                "count": item.count,
                "x": round(spot.x, 1),
                "left": round(spot.left, 1),
                "right": round(spot.right, 1),
                "label": visible(describe_item(layout.timeline, item, flags)),
            }
        )
    return {
        "title": "Timeline",
        "sentence": visible(_describe_head(layout, is_window)),
        "back": "back" if is_window else "",
        "width": 800,
        "height": round(layout.height, 1) if items else 0,
        "top": _TOP,
        "bottom": round(layout.ground, 1),
        "shapes": [
            [tag, _without_place(attributes), visible(text), attributes.get("item"), attributes.get("lane")]
            for tag, attributes, text in (draw_timeline(layout) if items else ())
        ],
        "items": items,
        "legend": [[entry.sign(7, 7), visible(entry.text)] for entry in list_entries(layout)],
        "notes": visible(describe_cuts(layout)),
        "focus": len(items) - 1 if focus < 0 else focus,
    }


def _without_place(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: held for name, held in attributes.items() if name not in ("item", "lane")}


def _describe_head(layout: Layout, is_window: bool) -> str:
    name = wording.clean(layout.timeline.table.name, 80)
    number = layout.end - layout.first
    if not number:
        return f"of {name}: no snapshots"
    head = f"of {name}, {wording.plural(number, 'snapshot')}"
    if not is_window:
        return head
    marks = layout.timeline.marks
    begin, end = format_time(marks[layout.first].time), format_time(marks[layout.end - 1].time)
    return f"{head} from {begin} to {end} UTC"
