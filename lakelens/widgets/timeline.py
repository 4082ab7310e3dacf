"""The timeline as a widget: choose a snapshot for its card, two of them or a range for the diff, open what is folded.

What is shown of a choice (five facts of a snapshot with what it changed, or of two with the difference) is recorded in the
snapshots: an arrow key goes on to the next one without reading what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import traitlets

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.timeline.timeline import Mark, Timeline
from lakelens.errors import list_nearest, visible_line
from lakelens.model.snapshot import Snapshot
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Cell, Fact
from lakelens.views.card.wording import clean, format_failure
from lakelens.views.cards.snapshot import list_facts
from lakelens.views.render.html import common_style, draw, render_card
from lakelens.views.timeline.json import (
    describe_choice,
    describe_mark,
    describe_pause,
    find_path,
    format_code,
    list_dimmed,
    write_view,
)
from lakelens.views.timeline.layout import Layout, lay_out
from lakelens.views.timeline.wording import describe_rewrite
from lakelens.widgets.base import StillWidget, read_module, read_style

_SAME = "unchanged"


def present_mark(timeline: Timeline, mark: Mark) -> Card:
    """Present when a snapshot was committed, its rows, files, bytes and schema, and what it changed of them."""
    snapshot = mark.snapshot
    # what a commit changed of each figure, as it records it
    figures = mark.amounts
    net = figures.net_bytes
    rows = _pair(figures.added_rows, figures.removed_rows) or _pair(figures.net_rows, 0)
    marked = wording.deleted(figures.deleted, figures.added_equality_deletes)
    changes = {
        "rows": ", ".join(filter(None, ("" if marked and rows == _SAME else rows, marked))),
        "files": _pair(figures.added_files, figures.removed_files),
        "bytes": "" if net is None else cells.changed_size(net).text if net else _SAME,
    }
    if mark.rows.is_rewrite:
        changes["rows"] = describe_rewrite([mark.rows])
    facts = []
    for fact in list_facts(snapshot):
        if fact.label == "snapshot":  # the line above names it
            continue
        if fact.label.startswith("committed"):
            value = cells.moment(snapshot.committed_at, exact=True)
            facts.append(replace(fact, value=value, small=describe_pause(timeline, mark)))
        elif fact.label == "bytes":
            facts.append(replace(fact, small=changes["bytes"] or fact.small))
        else:
            changed = changes.get(fact.label.removeprefix("live "), "")
            facts.append(replace(fact, small="; ".join(filter(None, (changed, fact.small)))))
    return Card("", "", facts=(*facts, *_describe_schema(timeline, mark, snapshot)))


def _pair(came: int | None, gone: int | None) -> str:
    """`+9,927 −3`; nothing where neither is recorded."""
    if came is None and gone is None:
        return ""
    return " ".join(wording.change(amount) for amount in (came or 0, -(gone or 0)) if amount) or _SAME


def _describe_schema(timeline: Timeline, mark: Mark, snapshot: Snapshot) -> tuple[Fact, ...]:
    if snapshot.schema_id is None:
        return ()
    parent = timeline.find(mark.parent) if mark.parent is not None else None
    before = None if parent is None else timeline.marks[parent].snapshot.schema_id
    changed = "" if before in (None, snapshot.schema_id) else f"{before} before"
    return (Fact("schema", Cell(str(snapshot.schema_id)), changed),)


def present_range(before: Snapshot, after: Snapshot) -> Card:
    """Present how far rows, files, bytes and schema of two snapshots differ, as both record them."""
    one, other = before.figures, after.figures
    live = before.known_live_rows, after.known_live_rows
    is_known = all(rows.count is not None for rows in live)
    label = (
        "rows"
        if all(rows.count == rows.recorded for rows in live)
        else "live rows"
        if is_known
        else "rows stored"
    )
    old_rows, new_rows = (rows.count if is_known else rows.recorded for rows in live)
    figures: tuple[tuple[str, int | None, int | None, Callable[[int], Cell], Callable[[int], str]], ...] = (
        ("files", one.files, other.files, cells.changed, wording.count),
        (label, old_rows, new_rows, cells.changed, wording.count),
        ("bytes", one.size_bytes, other.size_bytes, cells.changed_size, wording.size),
    )
    facts = [
        Fact(name, write(new - old), f"{word(old)} became {word(new)}")
        for name, old, new, write, word in figures
        if old is not None and new is not None
    ]
    if before.schema_id is not None and after.schema_id is not None:
        is_same = before.schema_id == after.schema_id
        words = "same" if is_same else f"{before.schema_id} became {after.schema_id}"
        facts.append(Fact("schema", Cell(words), str(after.schema_id) if is_same else ""))
    return Card("", "", facts=tuple(facts))


_HINT = "Choose a snapshot with the arrow keys or the mouse; with Shift, or by dragging, a range of them."


class _Key(traitlets.Unicode[str, Any]):
    """The key of a snapshot. Whatever stands for one may be set: its id, a `Snapshot`, a ref's name; None is "" (none)."""

    def validate(self, obj: Any, value: Any) -> str:
        return str(super().validate(obj, obj._name_key(value)))


class _Keys(traitlets.List[str]):
    """Keys of snapshots, set by whatever stands for one."""

    def validate(self, obj: Any, value: Any) -> list[str]:
        keys = [obj._name_key(wanted) for wanted in value] if isinstance(value, list | tuple) else value
        return list(super().validate(obj, keys) or [])


class TimelineWidget(StillWidget):
    """A `Timeline` to look around in; it opens with the newest snapshot chosen.

    Attributes
    ----------
    selected : str
        The key of the chosen snapshot: its id as text, after the branch's name and a slash where another Paimon branch
        numbers its own (`"audit/3"`); "" when none or a range is chosen. Takes the id, a `Snapshot`, the name of a branch or
        tag, or None as well. Synced with the browser.
    range : list of str
        The keys of two snapshots, the older one first; [] without a range. Each may be set like `selected`. Synced.
    spacing : str
        "time", or "even" for one step from mark to mark. Synced.
    snapshot : Snapshot or None
        What `selected` stands for.
    diff : Diff or None
        What changed over `range`. Made when it is asked for.

    Raises
    ------
    traitlets.TraitError
        What is set is no snapshot of the table; the message has the nearest names.

    Notes
    -----
    Keys: arrows move and choose, Home and End, PgUp and PgDn (ten); with Shift a range. Enter opens a fold of snapshots and
    Escape leaves it; Escape elsewhere chooses nothing. I shows all that is known of the choice instead of five facts, S
    spaces evenly or by time, ? lists the keys. The mouse: a click chooses, dragging or a click with Shift a range.

    Examples
    --------
    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> widget = table.timeline()
    >>> widget.snapshot is table.current, widget.diff
    (True, None)
    >>> widget.range = [table.snapshots[0], "main"]
    >>> widget.diff.after is table.current, widget.selected
    (True, '')
    """

    _esm = read_module("timeline.js")
    _keys = (
        ("← →", "the snapshot before, the next one"),
        ("Home End", "the first, the last"),
        ("PgUp PgDn", "ten back, ten on"),
        ("Shift + these", "a range, from where it began"),
        ("Enter", "opens what is folded"),
        ("I", "all that is known of the choice, or five facts"),
        ("Escape", "back from a fold; else chooses nothing"),
        ("S", "spaces evenly, or by time"),
        ("?", "these keys, or no more"),
    )

    selected: Any = _Key("").tag(sync=True)
    range: Any = _Keys(traitlets.Unicode()).tag(sync=True)
    spacing = traitlets.Enum(("time", "even"), "time").tag(sync=True)

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._trail: list[
            tuple[int, int, int]
        ] = []  # windows that were left, and the fold that was opened there
        self._window = (0, len(timeline.marks))
        self._diff: tuple[tuple[str, ...], Diff] | None = None
        self._is_whole = False  # whether the card of the choice is shown, or its facts
        self._layout = lay_out(timeline)
        self.selected = timeline.marks[-1].key if timeline.marks else ""
        style = read_style(str(common_style()), "timeline.css")
        super().__init__(timeline, style, view=write_view(self._layout), detail=self._describe_choice())
        self.observe(self._follow, ["selected", "range"])
        self.observe(self._lay_out, "spacing")

    @property
    def snapshot(self) -> Snapshot | None:
        """The chosen snapshot; None when none or a range is chosen."""
        mark = self._find(self.selected)
        return None if mark is None else mark.snapshot

    @property
    def diff(self) -> Diff | None:
        """What changed over the chosen range, from the older snapshot to the newer one; None without a range."""
        if len(self.range) != 2:
            return None
        chosen = tuple(self.range)
        if self._diff is None or self._diff[0] != chosen:
            before, after = (self._find(key) for key in chosen)
            if before is None or after is None:
                return None
            self._diff = (chosen, self._timeline.table.diff(before.snapshot, after.snapshot))
        return self._diff[1]

    def _find(self, key: str) -> Mark | None:
        index = self._timeline.find(key)
        return None if index is None else self._timeline.marks[index]

    def _name_key(self, wanted: Any) -> str:
        """Find the key of what stands for a snapshot. Raises `TraitError` with the nearest names where nothing does."""
        timeline = self._timeline
        heads = {mark.lane: mark.key for mark in timeline.marks}  # the newest snapshot on each lane
        names = {
            lane.name: heads.get(number, "") for number, lane in enumerate(timeline.lanes) if lane.is_branch
        }
        names |= {flag.name: flag.key for flag in timeline.flags if flag.key is not None}
        found: str | None = None
        if wanted is None or wanted == "":
            return ""
        if isinstance(wanted, Snapshot):
            found = _find_key(timeline, wanted)
        elif isinstance(wanted, int) and not isinstance(wanted, bool):
            found = str(wanted)
        elif isinstance(wanted, str):
            found = wanted if timeline.find(wanted) is not None else names.get(wanted)
        if found is not None and timeline.find(found) is not None:
            return found
        takes = "takes an id, a Snapshot, the name of a branch or tag, or None"
        near = list_nearest(clean(wanted, 60), [*names, *(mark.key for mark in timeline.marks[-5:])])
        raise traitlets.TraitError(
            f"no snapshot {clean(repr(wanted), 80)} in {timeline!r}: {near}; it {takes}"
        )

    @traitlets.validate("range")
    def _check_range(self, proposal: Any) -> list[str]:
        keys: list[str] = proposal["value"]
        if len(keys) not in (0, 2) or "" in keys:
            raise traitlets.TraitError(f"range is [] or two snapshots of {self._timeline!r}, not {keys!r}")
        return sorted(keys, key=lambda key: self._timeline.find(key) or 0)

    def _follow(self, change: Any) -> None:
        """One choice takes the other's place."""
        if change["new"]:
            if change["name"] == "selected":
                self.range = []
            else:
                self.selected = ""
        self._draw(detail=self._describe_choice())

    def _lay_out(self, _: Any = None, focus: int = -1) -> None:
        self._layout = lay_out(
            self._timeline, *self._window, spacing="even" if self.spacing == "even" else "time"
        )
        self._draw(
            view=write_view(self._layout, is_window=bool(self._trail), focus=focus),
            detail=self._describe_choice(),
        )

    def _answer(self, content: dict[str, Any]) -> None:
        """Give a browser opens a fold, goes back, or asks for the whole card."""
        kind = content.get("type")
        if kind == "card":
            self._is_whole = not self._is_whole
            self._draw(detail=self._describe_choice())
        if kind == "close" and self._trail:
            first, end, focus = self._trail.pop()
            self._window = (first, end)
            self._lay_out(focus=focus)
        index = content.get("item") if kind == "open" else None
        if type(index) is int and 0 <= index < len(self._layout.spots):
            item = self._layout.spots[index].item
            if item.count > 1:
                self._trail.append((*self._window, index))
                self._window = (item.first, item.last + 1)
                self._lay_out()

    def _describe_choice(self) -> dict[str, Any]:
        """Describe the choice: words, facts or the card, the code that goes on from it."""
        chosen = [key for key in (self.selected, *self.range) if key]
        choice: dict[str, Any] = {"of": chosen, "from": -1, "to": -1, "noun": "", "words": _HINT}
        choice |= {"html": "", "more": "", "code": "", "dim": []}
        if not self._timeline.marks:
            return {**choice, "words": "", "html": render_card(self._timeline, style=False)}
        if not chosen:
            return choice
        marks = [mark for mark in map(self._find, chosen) if mark is not None]
        spots = _find_spots(self._layout, chosen)
        choice |= {"from": spots[0], "to": spots[-1], "code": format_code(self._timeline, marks)}
        choice |= {"more": "I: five facts" if self._is_whole else "I: all that is known"}
        try:
            card: Any
            if len(marks) == 1:
                (mark,) = marks
                card = mark.snapshot if self._is_whole else present_mark(self._timeline, mark)
                words = describe_mark(self._timeline, mark)
                return {**choice, "noun": clean(mark.operation, 40), "words": words, "html": _render(card)}
            path = find_path(self._timeline, marks[0].key, marks[1].key)
            card = self.diff if self._is_whole else present_range(marks[0].snapshot, marks[1].snapshot)
            words = describe_choice(self._timeline, marks, path)
            dim = list_dimmed(self._layout, path, spots)
            return {**choice, "noun": "Diff", "words": words, "html": _render(card), "dim": dim}
        except Exception as error:  # the reader sees why, and can go on
            if display.strict_views:
                raise
            return choice | {"words": format_failure(self._timeline, error)}

    def _render_still(self) -> str:
        return render_card(self._timeline, 1)

    def __repr__(self) -> str:
        name = visible_line(self._timeline.table.name)
        return f"<TimelineWidget of {name}: {len(self._timeline):,} snapshots>"


def _find_spots(layout: Layout, keys: Sequence[str]) -> list[int]:
    """Find the spots of the chosen snapshots; of one outside of the window the edge of it, -1 when none is inside."""
    places = [layout.timeline.find(key) or 0 for key in keys]
    if places[-1] < layout.first or places[0] >= layout.end:
        return [-1]
    found = [min(max(place, layout.first), layout.end - 1) for place in places]
    return [next(i for i, spot in enumerate(layout.spots) if spot.item.last >= place) for place in found]


def _render(thing: Any) -> str:
    """Render the card of an object, or one that is made already."""
    return draw(thing, 1, style=False) if isinstance(thing, Card) else render_card(thing, style=False)


def _find_key(timeline: Timeline, snapshot: Snapshot) -> str | None:
    """Find the key of a snapshot; on another Paimon branch, one of the same number is another snapshot."""
    number = str(snapshot.id)
    for mark in timeline.marks:
        if mark.key.rpartition("/")[2] == number:
            found = mark.snapshot
            if found is snapshot or (found.path, found.id) == (snapshot.path, snapshot.id):
                return mark.key
    return None
