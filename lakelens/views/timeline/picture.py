"""The picture of a timeline as a list of shapes: the still picture writes them, the widget draws them, both the same.

A shape is a tag, its attributes and its text. Nothing from a lake is in any attribute. A mark also has the attributes
`item` and `lane`, numbers that identify it; a document leaves them out.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lakelens.analysis.timeline.timeline import Kind, Mark, Timeline
from lakelens.views.card import wording
from lakelens.views.card.model import Target
from lakelens.views.card.wording import MINUS, clean, plural
from lakelens.views.svg import FONT, INKS, write_document, write_element
from lakelens.views.timeline.layout import (
    FLAG,
    LEFT,
    RIGHT,
    WIDTH,
    Layout,
    Scale,
    Spot,
    is_named,
    is_wide,
    lay_out,
)
from lakelens.views.timeline.wording import brief, describe_item, format_time, join_names

Shape: TypeAlias = tuple[str, dict[str, Any], str]

_SECOND, _DAY = 1_000, 86_400_000
_MOST_LABELS = 12
_HALF = 4.0  # pixels of half a character
_DIGIT = 6.5  # pixels of a digit
_RIM = 54
_LANE_NAME = 10  # characters before it is cut
_FOR_KIND: dict[Kind, str] = {
    "append": "dot",
    "overwrite": "square",
    "delete": "triangle",
    "compact": "ring",
    "other": "diamond",
}


def draw_timeline(layout: Layout) -> list[Shape]:
    """Draw every shape of the picture, those behind first."""
    return [
        *_draw_bars(layout),
        *_draw_lanes(layout),
        *_draw_parents(layout),
        *_draw_rollbacks(layout),
        *_draw_flags(layout),
        *_draw_marks(layout),
        *_draw_axis(layout),
    ]


def draw_kind(kind: Kind, x: float, y: float) -> Shape:
    """Draw the sign of what a commit did."""
    name = _FOR_KIND[kind]
    if name == "dot":
        return "circle", {"cx": _n(x), "cy": _n(y), "r": 4.5, "class": "ll-full"}, ""
    if name == "ring":
        return "circle", {"cx": _n(x), "cy": _n(y), "r": 4, "class": "ll-open"}, ""
    if name == "square":
        return _path(f"M{_n(x - 4.5)} {_n(y - 4.5)}h9v9h-9z", "ll-full")
    if name == "triangle":
        return _path(f"M{_n(x - 5.5)} {_n(y - 4.5)}h11l-5.5 10z", "ll-full")
    return _path(f"M{_n(x)} {_n(y - 5)}l5 5l-5 5l-5 -5z", "ll-open")


def _n(number: float) -> float | int:
    rounded = round(number, 1)
    return int(rounded) if rounded == int(rounded) else rounded


def _path(d: str, name: str) -> Shape:
    return "path", {"d": d, "class": name}, ""


def _line(x1: float, y1: float, x2: float, y2: float, name: str) -> Shape:
    return _path(f"M{_n(x1)} {_n(y1)}L{_n(x2)} {_n(y2)}", name)


def _text(x: float, y: float, text: str, anchor: str = "start", name: str = "ll-mute") -> Shape:
    attributes = {"x": _n(x), "y": _n(y), "class": name}
    if anchor != "start":
        attributes["text-anchor"] = anchor
    return "text", attributes, text


def _draw_bars(layout: Layout) -> Iterator[Shape]:
    folded = layout.folding.folded
    end = WIDTH - RIGHT - 32 if folded else layout.reach
    yield _line(LEFT, layout.zero, end, layout.zero, "ll-base")
    halves = (layout.spots[:folded], layout.spots[folded:]) if folded else (layout.spots,)
    for number, (spots, scale) in enumerate(zip(halves, layout.scales, strict=True)):
        for index, spot in enumerate(spots, folded * number):
            shapes = [*_draw_bar(spot, scale, layout.zero), *_number_bar(spot, scale, layout, index)]
            if spot.item.count > 1:
                yield from shapes
            else:
                yield from (_mark_place(shape, index, spot.item.marks[0].lane) for shape in shapes)
        x = float(WIDTH - RIGHT - 28 if number else LEFT - 8)
        anchor = "start" if number else "end"
        if scale.up:
            yield _text(x, layout.zero - max(scale.up / scale.pixel - 8, 14), f"+{brief(scale.up)}", anchor)
        if scale.down:
            height = layout.zero + max(scale.down / scale.pixel, 20)
            yield _text(x, height, f"{MINUS}{brief(scale.down)}", anchor)
    yield _text(LEFT - 8, layout.zero + 4, "rows", "end")
    if folded:
        x = (layout.spots[folded - 1].x + layout.spots[folded].x) / 2 + 6
        yield _line(x, 6, x, layout.zero + layout.down, "ll-cut")


def _draw_bar(spot: Spot, scale: Scale, zero: float) -> Iterator[Shape]:
    width = 12 if spot.item.count > 1 else 7
    left = spot.x - width / 2
    sure, most = spot.item.gone
    for amount, longest, sign, name in (
        (spot.item.added, scale.up, -1, "ll-add"),
        (most if most > sure else 0, scale.down, 1, "ll-most"),
        (sure, scale.down, 1, "ll-del"),
    ):
        if amount <= 0:
            continue
        length = max(1.5, min(amount, longest) / scale.pixel)
        yield _path(f"M{_n(left)} {_n(zero)}v{_n(sign * length)}h{width}V{_n(zero)}z", name)
        if amount > longest:  # drawn cut: it goes beyond the scale
            y = zero + sign * (length - 6) + 1
            yield _path(f"M{_n(left - 2)} {_n(y)}l{width + 4} -3", "ll-over")


def _number_bar(spot: Spot, scale: Scale, layout: Layout, index: int) -> Iterator[Shape]:
    """Write how many rows a bar stands for, right of it, where the next one leaves room."""
    right = layout.spots[index + 1].x if index + 1 < len(layout.spots) else float(WIDTH)
    if layout.folding.folded and index + 1 in (layout.folding.folded, len(layout.spots)):
        right -= _RIM  # for the cut, and for the second scale
    room = (right - spot.x - 12) / _DIGIT
    item = spot.item
    words = f"+{brief(item.added)}"
    if item.added > 0 and len(words) <= room:
        height = max(min(item.added, scale.up) / scale.pixel - 10, 3)
        yield _text(spot.x + 8, layout.zero - height, words)
    words = _format_gone(spot)
    if item.gone[1] and (layout.is_roomy or len(words) <= room):
        yield _text(spot.x + 8, layout.zero + 13, words)


def _format_gone(spot: Spot) -> str:
    """Format the rows that went; of deletes whose rows are not known as many as may have gone, or their values."""
    deleted, (sure, most) = spot.item.deleted, spot.item.gone
    if sure == most:
        return f"{MINUS}{brief(sure)}"
    if deleted.most is not None:
        return f"≤ {brief(deleted.most)}"
    return plural(spot.item.deleted_values, "value") if spot.item.deleted_values else "some"


def list_cut_bars(layout: Layout) -> int:
    """List how many bars go beyond their scale."""
    folded = layout.folding.folded
    halves = (layout.spots[:folded], layout.spots[folded:]) if folded else (layout.spots,)
    return sum(
        (spot.item.added > scale.up) + (spot.item.gone[1] > scale.down)
        for spots, scale in zip(halves, layout.scales, strict=True)
        for spot in spots
    )


def _draw_lanes(layout: Layout) -> Iterator[Shape]:
    gapped = {gap.before for gap in layout.timeline.gaps}
    for lane, y in layout.lanes.items():
        spots = [spot for spot in layout.spots if spot.item.count_lanes()[lane]]
        shown = clean(layout.timeline.lanes[lane].name, 80)
        most = _LANE_NAME // 2 if any(map(is_wide, shown)) else _LANE_NAME
        yield _text(
            LEFT - 8, y + 4, shown if len(shown) <= most + 1 else f"{shown[:most]}…", "end", "ll-name"
        )
        yield _line(spots[0].x, y, spots[-1].x, y, "ll-lane")
        for spot in spots:
            if any(mark.key in gapped and mark.lane == lane for mark in spot.item.marks):
                yield _line(spot.x - 17, y, spot.x - 5, y, "ll-gap")


def _draw_parents(layout: Layout) -> Iterator[Shape]:
    """Draw a tie from a snapshot to the first one of another lane that was made from it."""
    drawn: set[tuple[int, int, int, int]] = set()
    for index, spot in enumerate(layout.spots):
        for mark in spot.item.marks:
            parent = _find_mark(layout, mark.parent)
            where = layout.find_spot(mark.parent) if parent is not None and parent.lane != mark.lane else None
            if parent is None or where is None:
                continue
            tie = (where, parent.lane, index, mark.lane)
            if tie in drawn or where == index:
                continue
            drawn.add(tie)
            x1, y1 = layout.spots[where].x, layout.lanes[parent.lane]
            x2, y2 = spot.x, layout.lanes[mark.lane]
            curve = f"C{_n(x1 + 10)} {_n(y2)} {_n(x1 + 4)} {_n(y2)} {_n(min(x2, x1 + 22))} {_n(y2)}"
            yield _path(f"M{_n(x1)} {_n(y1)}{curve}H{_n(x2)}", "ll-lane")


def _find_mark(layout: Layout, key: str | None) -> Mark | None:
    index = None if key is None else layout.timeline.find(key)
    return None if index is None else layout.timeline.marks[index]


def _draw_rollbacks(layout: Layout) -> Iterator[Shape]:
    """From the last snapshot that was undone, broken, back to the line that the table went on from."""
    for rollback in layout.timeline.rollbacks:
        start, end = layout.find_spot(rollback.start), _find_mark(layout, rollback.end)
        given_up = _find_mark(layout, rollback.start)
        if start is None or end is None or given_up is None or end.lane not in layout.lanes:
            continue
        x, y, top = layout.spots[start].x, layout.lanes[given_up.lane], layout.lanes[end.lane]
        later = [s.x for s in layout.spots[start + 1 :] if s.item.count_lanes()[end.lane]]
        target = min([*later, x + 28])
        yield _path(
            f"M{_n(x)} {_n(y)}C{_n(target)} {_n(y)} {_n(target)} {_n(y)} {_n(target)} {_n(top + 7)}",
            "ll-back",
        )


def _draw_flags(layout: Layout) -> Iterator[Shape]:
    for banner in layout.banners:
        if banner.row is None:
            continue
        spot = layout.spots[banner.spot]
        y, sign = 6 + FLAG * banner.row, -1 if banner.is_left else 1
        foot = layout.lanes[banner.lane] - (10 if spot.item.count > 1 else 7)
        yield _path(
            f"M{_n(spot.x)} {_n(foot)}V{y}h{_n(sign * banner.width)}l{-4 * sign} 7l{4 * sign} 7H{_n(spot.x)}",
            "ll-flag",
        )
        anchor = "end" if banner.is_left else "start"
        yield _text(spot.x + 5 * sign, y + 11, banner.name, anchor, "ll-name")


def _draw_marks(layout: Layout) -> Iterator[Shape]:
    for number, spot in enumerate(layout.spots):
        for lane, count in spot.item.count_lanes().items():
            y = layout.lanes[lane]
            if spot.item.count > 1:
                yield from (_mark_place(shape, number, lane) for shape in _draw_fold(spot.x, y, count))
                continue
            mark = spot.item.marks[0]
            yield _mark_place(draw_kind(mark.kind, spot.x, y), number, lane)
            if layout.is_roomy:
                yield _text(spot.x, y + 19, spot.word, "middle")


def _mark_place(shape: Shape, item: int, lane: int) -> Shape:
    tag, attributes, text = shape
    return tag, {**attributes, "item": item, "lane": lane}, text


def _draw_fold(x: float, y: float, count: int) -> Iterator[Shape]:
    words = f"{count:,}"
    width = max(22.0, 6 + 6.6 * len(words))
    box = {"y": _n(y - 10), "width": _n(width), "height": 16, "rx": 2, "class": "ll-fold"}
    yield "rect", {"x": _n(x - width / 2 + 2), **box}, ""
    yield "rect", {"x": _n(x - width / 2), **box, "y": _n(y - 8)}, ""
    yield _text(x, y + 4, words, "middle", "ll-name")


def _draw_axis(layout: Layout) -> Iterator[Shape]:
    y, spots = layout.ground, layout.spots
    yield _line(LEFT, y, layout.reach, y, "ll-base")
    day = ""
    span = spots[-1].item.end - spots[0].item.start if spots else 0
    chosen = _choose_labels(spots, 88 if span < 3_000 else 64)
    starts = [spots[index].item.start for index in chosen]
    if any(later - sooner < _SECOND for sooner, later in itertools.pairwise(starts)):
        chosen = _choose_labels(spots, 88)
    for number, index in enumerate(chosen):
        spot = spots[index]
        time = spot.item.start
        beside = [chosen[n] for n in (number - 1, number + 1) if 0 <= n < len(chosen)]
        near = min((abs(spots[other].item.start - time) for other in beside), default=_DAY // 2)
        words, below = _format_label(time, near, span)
        yield _line(spot.x, y, spot.x, y + 4, "ll-base")
        x = min(spot.x, WIDTH - _HALF * len(words))
        yield _text(x, y + 16, words, "middle")
        if below != day:
            yield _text(x, y + 29, below if number else f"{below} UTC", "middle")
        day = below
    for before, spot in itertools.pairwise(spots):
        if spot.is_cut:
            x = (before.x + spot.x) / 2
            yield _path(f"M{_n(x - 4)} {_n(y + 4)}l4 -8m2 8l4 -8", "ll-base")


def _choose_labels(spots: Sequence[Spot], width: float) -> list[int]:
    """Choose where the longest pauses end, as many as have room."""
    pauses = {i: spots[i].item.start - spots[i - 1].item.end for i in range(1, len(spots))}
    chosen: list[int] = []
    for index in [0, *sorted(pauses, key=lambda i: -pauses[i])][: len(spots)]:
        if all(abs(spots[other].x - spots[index].x) >= width for other in chosen):
            chosen.append(index)
        if len(chosen) == _MOST_LABELS:
            break
    return sorted(chosen)


def _format_label(time: int, near: int, span: int) -> tuple[str, str]:
    """Format the words of a label, as exact as its neighbours ask for, and what stands below them: the day, or the year."""
    moment = format_time(time, exact=True)
    is_day = near >= 1.5 * _DAY
    if span < 3_000 or near < _SECOND:
        return moment[11:], moment[:10]
    if is_day:
        return moment[5:10], moment[:4]
    return (moment[11:19] if near < 600_000 else moment[11:16]), moment[:10]


# The legend of a timeline: each operation with its sign and its count, then what the picture did to fit.

_MOST = 8
_CHARACTER = 7.0


@dataclass(frozen=True, slots=True)
class Entry:
    """An operation: its words and its sign."""

    text: str
    kind: Kind

    def sign(self, x: float, y: float) -> Shape:
        """The sign, around a point."""
        return draw_kind(self.kind, x, y)

    @property
    def width(self) -> float:
        """About how many pixels it takes."""
        return 30 + _CHARACTER * len(self.text)


def list_entries(layout: Layout) -> list[Entry]:
    """List the operations of what is laid out, the most frequent first."""
    marks = layout.timeline.marks[layout.first : layout.end]
    counts = Counter(
        (f"{wording.clean(mark.operation, 40)}{'' if is_named(mark) else ' that deletes'}", mark.kind)
        for mark in marks
    )
    ordered = counts.most_common(_MOST)
    return [Entry(f"{name} {wording.count(number)}", kind) for (name, kind), number in ordered]


def place_entries(entries: Sequence[Entry], width: float) -> list[tuple[Entry, float, int]]:
    """Give each entry with its place from the left and its line."""
    placed = []
    x, line = 2.0, 0
    for entry in entries:
        if x + entry.width > width and x > 2:
            x, line = 2.0, line + 1
        placed.append((entry, x, line))
        x += entry.width
    return placed


def describe_cuts(layout: Layout) -> str:
    """Describe what the picture did to fit, in words."""
    notes = []
    if layout.folding.folded:
        notes.append(f"left of the line one mark stands for {layout.folding.unit}, on a scale of its own")
    if any(spot.is_cut for spot in layout.spots):
        notes.append("// a pause is shortened")
    if list_cut_bars(layout):
        notes.append("a cut bar goes beyond the scale")
    if any(spot.item.gone[0] < spot.item.gone[1] for spot in layout.spots):
        notes.append("an outlined bar: rows that may be deleted, only reading the files would show how many")
    left = [banner.full for banner in layout.banners if banner.row is None]
    if left:
        verb = "is" if len(left) == 1 else "are"
        notes.append(f"{wording.plural(len(left), 'name')} without room {verb} {join_names(left)}")
    return "; ".join(notes)


# The still picture: the shapes of a timeline as a document of its own.

_STYLE = (
    f":root{{{INKS};--g:light-dark(#fff,#111)}}text{{{FONT};fill:var(--m)}}.ll-name{{fill:var(--f)}}"
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
_LEGEND = 24  # pixels of a line of the legend


def render_picture(timeline: Timeline) -> str:
    """Render the whole history as SVG."""
    layout = lay_out(timeline)
    entries = place_entries(list_entries(layout), WIDTH - 8)
    lines = max((y for _, _, y in entries), default=0) + 1
    height = round(layout.height + 4 + _LEGEND * lines)
    shapes = [*draw_timeline(layout), *_draw_legend(layout, entries)]
    return write_document((WIDTH, height), _STYLE, *map(_write, shapes))


def draw_linked(layout: Layout, words: str, link: Callable[[Target], str], pinned: str = "") -> str:
    """Draw a window of a history for a page with links: each snapshot leads to its own, a fold to the window that it is.

    The sheet of the page has its colours. `pinned` is the key of the snapshot that is marked.
    """
    drawn: dict[int | None, list[str]] = {}
    for shape in draw_timeline(layout):
        item = shape[1].get("item")
        drawn.setdefault(item if isinstance(item, int) else None, []).append(_write(shape))
    for number, shape in _name_deletes(layout):
        drawn.setdefault(number, []).append(_write(shape))
    height = round(layout.height + 4)
    marks = [
        _link_spot(layout, number, drawn.get(number, []), link, pinned) for number in range(len(layout.spots))
    ]
    below = write_element("g", {"aria-hidden": "true"}, *drawn.get(None, []))
    size = {"width": WIDTH, "height": height, "viewBox": f"0 0 {WIDTH} {height}"}
    return write_element("svg", {**size, "role": "group", "aria-label": words}, below, *marks)


def _name_deletes(layout: Layout) -> Iterator[tuple[int, Shape]]:
    """Name the word and the number of each commit that deletes, where there is room: what adds no file is an event too."""
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
    """Say what is drawn at a place, as a link to what it stands for, with all its height to point at."""
    spot = layout.spots[number]
    flags = [banner.full for banner in layout.banners if banner.spot == number]
    words = describe_item(layout.timeline, spot.item, flags).removesuffix(". Enter opens them")
    title = write_element("title", {}, text=words)
    width = spot.right - spot.left
    top, bottom = min(layout.lanes.values()) - 14, layout.ground
    place = {
        "x": f"{spot.left:.1f}",
        "y": f"{top:.1f}",
        "width": f"{width:.1f}",
        "height": f"{bottom - top:.1f}",
    }
    hit = write_element("rect", {"class": "ll-hit", **place, "rx": 2})
    # the snapshot of a single mark; the part of the history that a fold stands for
    href = link(
        Target("snapshot", spot.item.marks[0].key)
        if spot.item.count == 1
        else Target("page", "timeline", (("first", str(spot.item.first)), ("last", str(spot.item.last))))
    )
    if not href:
        return write_element("g", {}, title, *drawn)
    is_here = pinned and any(mark.key == pinned for mark in spot.item.marks)
    here = {"class": "ll-here", "aria-current": "true"} if is_here else {}
    return write_element("a", {"href": href, **here, "aria-label": words}, title, hit, *drawn)


def list_legend(layout: Layout) -> Iterator[str]:
    """List the legend in words: the sign of each operation, its name and how many there are."""
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
    shown = {name: said for name, said in attributes.items() if name not in _PLACE}
    return write_element(tag, shown, text=text)
