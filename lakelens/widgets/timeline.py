"""The timeline as a widget: choose a snapshot for its card, two of them or a range for the diff, open what is folded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.timeline.timeline import Mark, Timeline
from lakelens.model.snapshot import Snapshot
from lakelens.options import display
from lakelens.views.card.wording import format_failure
from lakelens.views.render.html import common_style, render_card
from lakelens.views.render.text import render_text
from lakelens.views.timeline.json import write_view
from lakelens.views.timeline.layout import Layout, lay_out
from lakelens.views.timeline.selection import (
    describe_choice,
    describe_mark,
    find_path,
    format_code,
    list_dimmed,
)
from lakelens.widgets.base import StillWidget, read_module, read_static

_HINT = "Choose a snapshot with the arrow keys or the mouse; with Shift, or by dragging, a range of them."


class TimelineWidget(StillWidget):
    """A `Timeline` to look around in.

    `selected` is the key of the chosen snapshot, its id as text (or ""), `range` the keys of two of them, the older first
    (or []); both can be set. `snapshot` and `diff` are what they stand for. Keyboard: arrows move and choose, Shift makes a
    range, Home and End, Enter opens a fold and Escape closes it, S spaces evenly or by time.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> widget = table.timeline()
    >>> widget.selected = str(table.current.id)
    >>> widget.snapshot is table.current, widget.diff
    (True, None)
    """

    _esm = read_module("timeline.js")

    view = traitlets.Dict().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    range = traitlets.List(traitlets.Unicode()).tag(sync=True)
    detail = traitlets.Dict().tag(sync=True)
    spacing = traitlets.Enum(("time", "even"), "time").tag(sync=True)

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._trail: list[
            tuple[int, int, int]
        ] = []  # windows that were left, and the fold that was opened there
        self._window = (0, len(timeline.marks))
        self._diff: tuple[tuple[str, ...], Diff] | None = None
        self._layout = lay_out(timeline)
        style = f"{common_style()}\n{read_static('timeline.css')}"
        super().__init__(view=write_view(self._layout), detail=self._describe_choice(), _css=style)
        self.on_msg(self._receive)
        self.observe(self._follow, ["selected", "range"])
        self.observe(self._draw, "spacing")

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

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> str:
        key: str = proposal["value"]
        if key and self._timeline.find(key) is None:
            raise traitlets.TraitError(f"no snapshot {key!r} in {self._timeline!r}")
        return key

    @traitlets.validate("range")
    def _check_range(self, proposal: Any) -> list[str]:
        keys: list[str] = proposal["value"]
        places = [self._timeline.find(key) for key in keys]
        if len(keys) not in (0, 2) or None in places:
            raise traitlets.TraitError(
                f"range is [] or the keys of two snapshots of {self._timeline!r}, not {keys!r}"
            )
        return sorted(keys, key=lambda key: self._timeline.find(key) or 0)

    def _follow(self, change: Any) -> None:
        """One choice takes the other's place."""
        if change["new"]:
            if change["name"] == "selected":
                self.range = []
            else:
                self.selected = ""
        self.detail = self._describe_choice()

    def _draw(self, _: Any = None, focus: int = -1) -> None:
        self._layout = lay_out(
            self._timeline, *self._window, spacing="even" if self.spacing == "even" else "time"
        )
        with self.hold_sync():
            self.view = write_view(self._layout, is_window=bool(self._trail), focus=focus)
            self.detail = self._describe_choice()

    def _receive(self, _: Any, content: Any, buffers: Any) -> None:
        """A browser opens a fold, or goes back."""
        kind = content.get("type") if isinstance(content, dict) else None
        if kind == "close" and self._trail:
            first, end, focus = self._trail.pop()
            self._window = (first, end)
            self._draw(focus=focus)
        index = content.get("item") if kind == "open" else None
        if type(index) is int and 0 <= index < len(self._layout.spots):
            item = self._layout.spots[index].item
            if item.count > 1:
                self._trail.append((*self._window, index))
                self._window = (item.first, item.last + 1)
                self._draw()

    def _describe_choice(self) -> dict[str, Any]:
        """What is said of the choice: words, the card, the code that goes on from it."""
        chosen = [key for key in (self.selected, *self.range) if key]
        choice: dict[str, Any] = {
            "of": chosen,
            "from": -1,
            "to": -1,
            "words": _HINT,
            "html": "",
            "code": "",
            "dim": [],
        }
        if not self._timeline.marks:
            return {**choice, "words": "", "html": render_card(self._timeline, style=False)}
        if not chosen:
            return choice
        marks = [mark for mark in map(self._find, chosen) if mark is not None]
        spots = _find_spots(self._layout, chosen)
        choice |= {"from": spots[0], "to": spots[-1], "code": format_code(self._timeline, marks)}
        try:
            if len(marks) == 1:
                return choice | {
                    "words": describe_mark(self._timeline, marks[0]),
                    "html": render_card(marks[0].snapshot, style=False),
                }
            path = find_path(self._timeline, *chosen)
            return choice | {
                "words": describe_choice(self._timeline, marks, path),
                "html": render_card(self.diff, style=False),
                "dim": list_dimmed(self._layout, path, spots),
            }
        except Exception as error:  # the reader sees why, and can go on
            if display.strict_views:
                raise
            return choice | {"words": format_failure(self._timeline, error)}

    def _render_still(self) -> str:
        return render_card(self._timeline, 1)

    def _ipython_display_(self, **_: Any) -> None:
        """Show the widget, then the still picture, which the living widget hides.

        Two outputs: where a notebook is opened again without its kernel a host that knows of widgets shows nothing but an
        error in place of the first, whatever else is in its bundle.
        """
        from IPython.display import publish_display_data

        bundle = self._repr_mimebundle_()
        data = dict(bundle[0] if isinstance(bundle, tuple) else bundle or {})
        still = data.pop("text/html", "")
        publish_display_data(data)  # type: ignore[no-untyped-call]
        choice = {
            "text/html": f'<div class="ll-still">{still}</div>',
            "text/plain": render_text(self._timeline),
        }
        publish_display_data(choice)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        return f"<TimelineWidget of {self._timeline.table.name}: {len(self._timeline):,} snapshots>"


def _find_spots(layout: Layout, keys: Sequence[str]) -> list[int]:
    """The spots of the chosen snapshots; of one outside of the window the edge of it, -1 when none is inside."""
    places = [layout.timeline.find(key) or 0 for key in keys]
    if places[-1] < layout.first or places[0] >= layout.end:
        return [-1]
    found = [min(max(place, layout.first), layout.end - 1) for place in places]
    return [next(i for i, spot in enumerate(layout.spots) if spot.item.last >= place) for place in found]
