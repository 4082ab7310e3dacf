"""The still picture: the shapes of a timeline as a document of its own, for an image that any page may hold.

It has no ground and follows the `color-scheme` of the page; nothing in it can run, nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from lakelens.analysis.timeline.timeline import Timeline
from lakelens.views.card.model import Target
from lakelens.views.card.wording import MINUS, clean, visible
from lakelens.views.timeline.layout import WIDTH, Layout, Spot, lay_out
from lakelens.views.timeline.legend import Entry, list_entries, place_entries
from lakelens.views.timeline.shapes import Shape, draw_timeline
from lakelens.views.timeline.wording import brief, describe_item

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
#: The sign of what a commit did, as a character.
SIGNS = {"append": "●", "overwrite": "■", "delete": "▼", "compact": "○", "other": "◇"}
_PLACE = ("item", "lane")
_CHARACTER = 7.0  # pixels
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


def draw_linked(layout: Layout, words: str, link: Callable[[Target], str], pinned: str = "") -> str:
    """A window of a history for a page with links: each snapshot leads to its own, a fold to the window that it is.

    The sheet of the page has its colours. `pinned` is the key of the snapshot that is marked.
    """
    drawn: dict[int | None, list[str]] = {}
    for shape in draw_timeline(layout):
        item = shape[1].get("item")
        drawn.setdefault(item if isinstance(item, int) else None, []).append(_write(shape))
    for number, shape in _name_deletes(layout):
        drawn.setdefault(number, []).append(_write(shape))
    height = round(layout.height + 4)
    marks = "".join(
        _link_spot(layout, number, drawn.get(number, []), link, pinned) for number in range(len(layout.spots))
    )
    below = "".join(drawn.get(None, []))
    return (
        f'<svg width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="group" '
        f'aria-label="{escape(visible(words))}"><g aria-hidden="true">{below}</g>{marks}</svg>'
    )


def _name_deletes(layout: Layout) -> Iterator[tuple[int, Shape]]:
    """The word and the number of each commit that deletes, where there is room: what adds no file is an event too."""
    last = float("-inf")
    poles = [layout.spots[banner.spot].x for banner in layout.banners if banner.row is not None]
    for number, spot in enumerate(layout.spots):
        mark = spot.item.marks[0]
        if spot.item.count > 1 or mark.kind != "delete" or layout.is_roomy:
            continue
        word = clean(mark.snapshot.statement or "delete", 12)
        half = _CHARACTER * len(word) / 2
        if spot.x - half > last and all(abs(pole - spot.x) > half for pole in poles):
            last = spot.x + half
            name = {"x": round(spot.x, 1), "y": round(layout.lanes[mark.lane] - 8, 1), "class": "ll-gone"}
            yield number, ("text", {**name, "text-anchor": "middle"}, word)
        deleted, beside = spot.item.deleted, layout.spots[number + 1 : number + 2]
        said = f"{MINUS}{brief(deleted.exact)}" if deleted.exact else ""
        if said and all(after.x - spot.x > 8 + _CHARACTER * len(said) for after in beside):
            place = {"x": round(spot.x + 8, 1), "y": round(layout.zero + 13, 1), "class": "ll-gone"}
            yield number, ("text", place, said)


def _link_spot(
    layout: Layout, number: int, drawn: Sequence[str], link: Callable[[Target], str], pinned: str
) -> str:
    """What is drawn at a place, as a link to what it stands for, with all its height to point at."""
    spot = layout.spots[number]
    flags = [banner.full for banner in layout.banners if banner.spot == number]
    words = escape(
        visible(describe_item(layout.timeline, spot.item, flags).removesuffix(". Enter opens them"))
    )
    width = spot.right - spot.left
    top, bottom = min(layout.lanes.values()) - 14, layout.ground
    hit = f'<rect class="ll-hit" x="{spot.left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{bottom - top:.1f}" rx="2"/>'
    href = link(_find_target(spot))
    if not href:
        return f"<g><title>{words}</title>{''.join(drawn)}</g>"
    here = (
        ' class="ll-here" aria-current="true"'
        if pinned and any(m.key == pinned for m in spot.item.marks)
        else ""
    )
    return (
        f'<a href="{escape(href)}"{here} aria-label="{words}"><title>{words}</title>{hit}{"".join(drawn)}</a>'
    )


def _find_target(spot: Spot) -> Target:
    """The snapshot of a single mark; the part of the history that a fold stands for."""
    if spot.item.count == 1:
        return Target("snapshot", spot.item.marks[0].key)
    return Target("page", "timeline", (("first", str(spot.item.first)), ("last", str(spot.item.last))))


def list_legend(layout: Layout) -> Iterator[str]:
    """The legend in words: the sign of each operation, its name and how many there are."""
    for entry in list_entries(layout):
        yield f"{SIGNS[entry.kind]} {entry.text}"


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
