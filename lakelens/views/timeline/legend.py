"""The legend of a timeline: each operation with its sign and its count, then what the picture did to fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lakelens.analysis.timeline.timeline import Kind, Mark
from lakelens.views.card import wording
from lakelens.views.timeline.layout import Layout
from lakelens.views.timeline.shapes import Shape, draw_kind, is_named, list_cut_bars
from lakelens.views.timeline.wording import join_names

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
    """The operations of what is laid out, the most frequent first."""
    marks = layout.timeline.marks[layout.first : layout.end]
    counts = Counter((_name(mark), mark.kind) for mark in marks)
    ordered = counts.most_common(_MOST)
    return [Entry(f"{name} {wording.count(number)}", kind) for (name, kind), number in ordered]


def _name(mark: Mark) -> str:
    return f"{wording.clean(mark.operation, 40)}{'' if is_named(mark) else ' that deletes'}"


def place_entries(entries: Sequence[Entry], width: float) -> list[tuple[Entry, float, int]]:
    """Each entry with its place from the left and its line."""
    placed = []
    x, line = 2.0, 0
    for entry in entries:
        if x + entry.width > width and x > 2:
            x, line = 2.0, line + 1
        placed.append((entry, x, line))
        x += entry.width
    return placed


def describe_cuts(layout: Layout) -> str:
    """What the picture did to fit, in words."""
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
