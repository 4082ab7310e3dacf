"""A history as a graph of lines, the newest snapshot first: a column for each branch, forks, rollbacks and gaps in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from lakelens.analysis.timeline.timeline import Mark, Timeline
from lakelens.views.card import wording
from lakelens.views.timeline.wording import describe_history, describe_rewrite, format_time

#: pieces of one line, each with its style
Line: TypeAlias = list[tuple[str, str]]

_LANES = ("cyan", "magenta", "yellow", "blue", "green", "red")
_KINDS = {"append": "green", "delete": "red", "overwrite": "yellow", "compact": "blue"}
_DRAWN = {
    "mark": "●",
    "loose": "○",
    "line": "│",
    "fork": "├",
    "end": "╯",
    "across": "─",
    "cross": "┼",
    "gap": "┊",
}
_PLAIN = {
    "mark": "*",
    "loose": "o",
    "line": "|",
    "fork": "|",
    "end": "'",
    "across": "-",
    "cross": "+",
    "gap": ":",
}


@dataclass
class _Graph:
    """Which lanes are open at the line that is drawn now."""

    signs: Mapping[str, str]
    open: set[int] = field(default_factory=set)

    def draw(self, lane: int | None = None, sign: str = "") -> Line:
        """Draw the open lanes, one of them with a sign of its own."""
        last = max([*self.open, -1 if lane is None else lane], default=-1)
        signs = dict.fromkeys(self.open, f"{self.signs['line']} ")
        if lane is not None:
            signs[lane] = f"{sign} "
        return [(signs.get(index, "  "), _style(index)) for index in range(last + 1)]

    def draw_fork(self, lane: int, parent: int) -> Line:
        """Draw the line on which a lane leaves the one that it was made from."""
        low, high = sorted((lane, parent))
        pieces: Line = []
        for index in range(max([*self.open, high]) + 1):
            across = self.signs["across"] if low <= index < high else " "
            if index == parent:
                sign = self.signs["fork"]
            elif index == lane:
                sign = self.signs["end"]
            elif low < index < high:
                sign = self.signs["cross"] if index in self.open else self.signs["across"]
            else:
                sign = self.signs["line"] if index in self.open else " "
            pieces.append((sign + across, _style(lane if low <= index <= high else index)))
        return pieces


def draw_history(timeline: Timeline, limit: int | None = None, *, is_plain: bool = False) -> Iterator[Line]:
    """Draw the lines of a history. Plain ones have a line for each snapshot, for grep."""
    graph = _Graph(_PLAIN if is_plain else _DRAWN)
    names = _list_names(timeline)
    gaps = {gap.before: gap.count for gap in timeline.gaps}
    shown = timeline.marks if limit is None else timeline.marks[max(len(timeline.marks) - limit, 0) :]
    oldest = {mark.lane: mark.key for mark in reversed(timeline.marks)}
    yield [(describe_history(timeline), "dim" if not is_plain else "")]
    for mark in reversed(shown):
        graph.open.add(mark.lane)
        is_root = mark.parent is None and oldest[mark.lane] == mark.key and mark.key not in gaps
        yield from _draw_mark(graph, timeline, mark, names.get(mark.key, []), is_plain, is_root)
        if mark.key in gaps:
            details = (
                "expired"
                if gaps[mark.key] is None
                else f"{wording.plural(gaps[mark.key] or 0, 'snapshot')} expired"
            )
            yield [*graph.draw(mark.lane, graph.signs["gap"]), (details, "dim")]
        if oldest[mark.lane] == mark.key:
            yield from _close_lane(graph, timeline, mark)
    left = len(timeline.marks) - len(shown)
    if left:
        yield [(f"… {wording.count(left)} older: --limit", "dim")]


def _close_lane(graph: _Graph, timeline: Timeline, mark: Mark) -> Iterator[Line]:
    """Below its oldest snapshot a lane ends, or goes over into the one that it was made from."""
    place = None if mark.parent is None else timeline.find(mark.parent)
    parent = None if place is None else timeline.marks[place].lane
    if parent is not None and parent != mark.lane:
        graph.open.add(parent)
        yield graph.draw_fork(mark.lane, parent)
    graph.open.discard(mark.lane)


def _draw_mark(
    graph: _Graph, timeline: Timeline, mark: Mark, names: list[str], is_plain: bool, is_root: bool
) -> Iterator[Line]:
    lane = timeline.lanes[mark.lane]
    sign = graph.signs["mark" if lane.is_branch else "loose"]
    named = f"  [{', '.join(names)}]" if names else ""
    # what was added, removed and deleted, and how many rows there were after, deleted ones left out where it is
    # known
    words, rows = wording.list_changes(mark.amounts), mark.amounts.rows
    if mark.rows.is_rewrite:
        files = replace(mark.amounts, added_rows=None, removed_rows=None)
        words = [*wording.list_changes(files), describe_rewrite([mark.rows])]
    if mark.amounts.position_deletes or mark.amounts.equality_deletes:
        words.append(f"{wording.live(mark.snapshot.stated_live_rows)} live rows after")
    elif rows is not None:
        words.append(f"{wording.plural(rows, 'row')} after")
    details = ", ".join(filter(None, (", ".join(words), *(wording.clean(n, 80) for n in mark.notes))))
    time = format_time(mark.time, exact=True)
    key, operation = wording.clean(mark.key, 80), wording.clean(mark.operation, 40)
    head: Line = [
        *graph.draw(mark.lane, sign),
        (key, "bold"),
        (f"  {operation}", _KINDS.get(mark.kind, "")),
    ]
    if is_plain:
        yield [*head, (f"  {time}  {details}{named}", "")]
        return
    yield [*head, (named, "bold cyan")]
    below = graph.draw(mark.lane, " ") if is_root else graph.draw()
    yield [*below, (f"{time}  {details}", "dim")]


def _list_names(timeline: Timeline) -> dict[str, list[str]]:
    """List what stands at each mark: branches at their newest snapshot, tags, and rollbacks that led there."""
    names: dict[str, list[str]] = {}
    heads = {mark.lane: mark.key for mark in timeline.marks}
    for index, lane in enumerate(timeline.lanes):
        if index in heads and lane.name:
            names.setdefault(heads[index], []).append(wording.clean(lane.name, 60))
    for flag in timeline.flags:
        if flag.key is not None:
            names.setdefault(flag.key, []).append(f"{flag.type} {wording.clean(flag.name, 60)}")
    for rollback in timeline.rollbacks:
        undone = wording.plural(len(rollback.undone), "snapshot")
        names.setdefault(rollback.end, []).append(f"rolled back to here, {undone} undone")
    return names


def _style(lane: int) -> str:
    return _LANES[lane % len(_LANES)]
