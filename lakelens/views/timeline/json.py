"""A timeline as JSON for the browser: shapes to draw, items to point at, the words around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lakelens.analysis.timeline.timeline import Mark, Timeline
from lakelens.views.card import wording
from lakelens.views.card.wording import visible
from lakelens.views.timeline.layout import Layout
from lakelens.views.timeline.picture import describe_cuts, draw_timeline, list_entries
from lakelens.views.timeline.wording import describe_item, format_operations, format_time

_TOP = 2


def write_view(layout: Layout, *, is_window: bool = False, focus: int = -1) -> dict[str, Any]:
    """Write what the browser draws. `is_window` says that a fold was opened, `focus` the item that the keyboard is on."""
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
            [
                tag,
                {name: held for name, held in attributes.items() if name not in ("item", "lane")},
                visible(text),
                attributes.get("item"),
                attributes.get("lane"),
            ]
            for tag, attributes, text in (draw_timeline(layout) if items else ())
        ],
        "items": items,
        "legend": [[entry.sign(7, 7), visible(entry.text)] for entry in list_entries(layout)],
        "notes": visible(describe_cuts(layout)),
        "focus": len(items) - 1 if focus < 0 else focus,
    }


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


# What is said of a choice in a timeline: of one snapshot, of two; which marks the diff does not follow.


def describe_mark(timeline: Timeline, mark: Mark) -> str:
    """Describe which snapshot it is, on which lane, what is unusual about it, and what names it."""
    lane = timeline.lanes[mark.lane]
    where = f" on {wording.clean(lane.name, 60)}" if lane.is_branch else ""
    parts = [f"snapshot {wording.clean(mark.key.rpartition('/')[2], 60)}{where}"]
    parts += [wording.clean(note, 80) for note in mark.notes]
    parts += [
        f"{flag.type} {wording.clean(flag.name, 60)}" for flag in timeline.flags if flag.key == mark.key
    ][:8]
    return ", ".join(parts)


def describe_pause(timeline: Timeline, mark: Mark) -> str:
    """Describe how long after its parent a snapshot was committed; nothing where it has none."""
    parent = timeline.find(mark.parent) if mark.parent is not None else None
    if parent is None:
        return ""
    return f"{_format_pause(mark.time - timeline.marks[parent].time)} after its parent"


def find_path(timeline: Timeline, before: str, after: str) -> tuple[Mark, ...] | None:
    """The snapshots that led from one to the other, the newest first; None where the one is no ancestor of the other."""
    path: list[Mark] = []
    index = timeline.find(after)
    for _ in timeline.marks:
        if index is None:
            return None
        mark = timeline.marks[index]
        if mark.key == before:
            return tuple(path)
        path.append(mark)
        index = None if mark.parent is None else timeline.find(mark.parent)
    return None


def describe_choice(timeline: Timeline, marks: Sequence[Mark], path: Sequence[Mark] | None) -> str:
    """Describe what is between two snapshots. A diff is the difference in the end, not the sum of the commits."""
    before, after = marks
    if path is None:
        one, other = (wording.clean(timeline.lanes[mark.lane].name, 60) for mark in marks)
        where = f"They are on {one} and {other}" if one != other else "Neither was made from the other"
        return f"{where}: their files are compared as they are."
    lane = wording.clean(timeline.lanes[after.lane].name, 60)
    number = wording.plural(len(path), "snapshot")
    pause = _format_pause(after.time - before.time)
    where = f" on {lane}" if lane else ""
    return f"{number}{where} in {pause}: {format_operations(Counter(mark.operation for mark in path))}."


def list_dimmed(layout: Layout, path: Sequence[Mark] | None, spots: Sequence[int]) -> list[list[int]]:
    """Items with lanes in the chosen range whose commits are not on the path: the diff does not follow them."""
    if path is None:
        return []
    followed = {mark.key for mark in path}
    dimmed = []
    for index in range(max(spots[0] + 1, 0), spots[-1] + 1):
        marks = layout.spots[index].item.marks
        on_the_path = {mark.lane for mark in marks if mark.key in followed}
        dimmed += [[index, lane] for lane in sorted({mark.lane for mark in marks} - on_the_path)]
    return dimmed


def format_code(timeline: Timeline, marks: Sequence[Mark]) -> str:
    """Say what to type to go on from a choice."""
    codes = [_format_snapshot(mark) for mark in marks]
    if len(codes) == 1:
        return codes[0] if codes[0].startswith("table.") else f"table.snapshot({codes[0]})"
    return f"table.diff({codes[0]}, {codes[1]})"


def _format_snapshot(mark: Mark) -> str:
    """Format a snapshot's number; of a branch that numbers its own, the way to it."""
    branch, is_apart, number = mark.key.rpartition("/")
    return f"table.branch({wording.clean(repr(branch), 80)}).snapshot({number})" if is_apart else mark.key


def _format_pause(milliseconds: int) -> str:
    """Format a length of time in the unit that suits it.

    >>> _format_pause(300), _format_pause(90_000), _format_pause(7_200_000), _format_pause(400_000_000)
    ('0.3 s', '90 s', '2.0 h', '4.6 days')
    """
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 5_400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:,.1f} days"
