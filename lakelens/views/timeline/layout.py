"""Where everything of a timeline is: items along time, lanes below each other, bars, flags. Pixels, without any markup.

The axis follows time, but marks keep 12 pixels from each other and a long pause is cut; up to 8 items it is true to time.
Bars end at four times the third quartile, so that one huge commit flattens nothing; folds have a scale of their own.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lakelens.analysis.timeline.marks import Folding, Item, fold_marks
from lakelens.analysis.timeline.timeline import Mark, Timeline
from lakelens.views.card.wording import clean

Spacing: TypeAlias = Literal["time", "even"]

WIDTH, LEFT, RIGHT = 800, 76, 22
LANE, UP, DOWN, FLAG, FOLD = 28, 44, 34, 18, 42
_MARK = 12  # pixels that a mark keeps
_ROOMY = 64  # pixels between marks with their words beneath
_TRUE = 8  # items up to which the axis is true to time
_SCALE = 46  # pixels of the second scale, right of the marks
_MOST_ROWS = 3  # of flags
_MOST_NAME = 20  # characters of a flag
_CHARACTER = 7.0  # pixels


def is_named(mark: Mark) -> bool:
    """Check whether the format's word for a commit says what it did: that of one that only deletes rows may be another."""
    return mark.kind != "delete" or "delete" in mark.operation.lower()


@dataclass(frozen=True, slots=True)
class Spot:
    """An item in its place: its middle, and from where to where it is pointed at."""

    item: Item
    x: float
    left: float
    right: float
    is_cut: bool = False  # the pause before it is drawn shorter than it was

    @property
    def word(self) -> str:
        """What a single mark did, which stands beneath it where there is room; a long word of another's is cut."""
        if self.item.count > 1:
            return ""
        mark = self.item.marks[0]
        said = clean(mark.operation if is_named(mark) else "deletes", 80)
        return said if len(said) <= _MOST_NAME else f"{said[:_MOST_NAME]}…"


@dataclass(frozen=True, slots=True)
class Banner:
    """A flag in its place; `row` is None where there was no room: then it is counted."""

    name: str
    full: str
    spot: int
    lane: int
    width: float
    is_left: bool
    row: int | None


@dataclass(frozen=True, slots=True)
class Scale:
    """The longest bars up and down, and how many rows a pixel stands for."""

    up: int
    down: int
    pixel: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A window of a timeline: `first` up to, not with, `end` of its marks."""

    timeline: Timeline
    first: int
    end: int
    folding: Folding
    spots: tuple[Spot, ...]
    banners: tuple[Banner, ...]
    lanes: dict[int, float]  # lane: its height
    scales: tuple[Scale, ...]  # of folds and of single marks; of all where nothing is folded
    is_roomy: bool  # one lane, and marks with room for their words beneath
    zero: float  # height of the line that bars stand on
    down: float  # pixels that the longest bar goes below it
    height: float

    @property
    def ground(self) -> float:
        """The height of the axis of time."""
        return self.zero + self.down + 4

    @property
    def reach(self) -> float:
        """Where the lines of the picture end to the right."""
        return max(self.spots[-1].x + 10, LEFT + 60) if self.spots else LEFT + 60

    def find_spot(self, key: str | None) -> int | None:
        """Find the spot that holds a mark."""
        index = None if key is None else self.timeline.find(key)
        if index is None or not self.first <= index < self.end:
            return None
        return next(i for i, spot in enumerate(self.spots) if spot.item.last >= index)


def lay_out(timeline: Timeline, first: int = 0, end: int | None = None, spacing: Spacing = "time") -> Layout:
    """Place a timeline, or a window of its marks, in its place."""
    end = len(timeline.marks) if end is None else end
    room = WIDTH - LEFT - RIGHT
    folding = fold_marks(
        timeline.marks,
        first,
        end,
        singles=room // _MARK,
        newest=int(room * 0.4 / 13),
        folds=int(room * 0.6 / FOLD),
    )
    spots = _place(folding, room - (_SCALE if folding.folded else 0), spacing)
    layout = Layout(timeline, first, end, folding, spots, (), {}, (), False, 0, 0, 0)
    banners = _hang_flags(layout)
    rows = max((banner.row + 1 for banner in banners if banner.row is not None), default=0)
    top = 8 + FLAG * rows
    used = sorted({lane for spot in spots for lane in spot.item.count_lanes()})
    lanes = {lane: top + LANE * (number + 0.5) for number, lane in enumerate(used)}
    is_roomy = len(used) == 1 and all(
        b.x - a.x >= max(_ROOMY, _CHARACTER * (len(a.word) + len(b.word) + 1) / 2)
        for a, b in itertools.pairwise(spots)
    )
    zero = top + LANE * len(used) + (18 if is_roomy else 4) + UP
    down = DOWN if any(spot.item.gone[1] for spot in spots) else 8
    halves = (spots[: folding.folded], spots[folding.folded :]) if folding.folded else (spots,)
    scales = tuple(_measure([spot.item for spot in half]) for half in halves)
    height = zero + down + 4 + 32
    return Layout(timeline, first, end, folding, spots, banners, lanes, scales, is_roomy, zero, down, height)


def _place(folding: Folding, width: float, spacing: Spacing) -> tuple[Spot, ...]:
    items = folding.items
    if not items:
        return ()
    need = [FOLD if item.count > 1 else _MARK for item in items]
    least = [(a + b) / 2 for a, b in itertools.pairwise(need)]
    pauses = [max(0, b.start - a.end) for a, b in itertools.pairwise(items)]
    begin = LEFT + need[0] / 2 + 10
    if spacing == "even":
        extra = max(0.0, ((width - need[0] - 20) - sum(least)) / max(1, len(least)))
        gaps, cut = [gap + min(extra, 80) for gap in least], [False] * len(least)
    else:
        gaps, cut = _space_by_time(pauses, least, width - need[0] - 20, folding.folded)
    xs = [begin]
    for gap in gaps:
        xs.append(xs[-1] + gap)
    spots = []
    for index, item in enumerate(items):
        half = 18.0 if item.count > 1 else 12.0
        left = max(xs[index] - half, (xs[index - 1] + xs[index]) / 2 if index else 0)
        right = min(xs[index] + half, (xs[index] + xs[index + 1]) / 2 if index + 1 < len(xs) else WIDTH)
        spots.append(Spot(item, xs[index], left, right, index > 0 and cut[index - 1]))
    return tuple(spots)


def _space_by_time(
    pauses: Sequence[int], least: Sequence[float], width: float, folded: int
) -> tuple[list[float], list[bool]]:
    """Gaps as long as the pauses, none narrower than its marks need, nor wider than a few marks; which of them are cut."""
    is_true = len(pauses) < _TRUE
    widest = width if is_true else max(96.0, min(160.0, width / max(1, len(pauses) + 1) * 3))
    target = min(width, 150.0 * len(pauses)) if is_true else width

    def measure(rate: float) -> list[float]:
        # an old unit of time may be empty, but its neighbours are equal: they follow each other evenly
        return [
            low if index + 1 < folded else min(max(pause * rate, low), max(widest, low))
            for index, (pause, low) in enumerate(zip(pauses, least, strict=True))
        ]

    low, high = 0.0, 1_000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(measure(middle)) > target else (middle, high)
    gaps = measure(low)
    cut = [
        index + 1 > folded and pause * low > gap + 1
        for index, (pause, gap) in enumerate(zip(pauses, gaps, strict=True))
    ]
    return gaps, cut


def _hang_flags(layout: Layout) -> tuple[Banner, ...]:
    """Flags from left to right, each in the first row where it has room."""
    taken: list[list[tuple[float, float]]] = [[] for _ in range(_MOST_ROWS)]
    banners = []
    for flag in layout.timeline.flags:
        spot = layout.find_spot(flag.key)
        if spot is None:
            continue
        full = clean(flag.name, 80)
        name = full if len(full) <= _MOST_NAME + 1 else f"{full[:_MOST_NAME]}…"
        if flag.type == "branch":
            name += " (branch)"
        width = 12 + sum(_CHARACTER * (2 if is_wide(letter) else 1) for letter in name)
        x = layout.spots[spot].x
        is_left = x + width > WIDTH - 4
        begin, end = (x - width, x) if is_left else (x, x + width)
        row = next(
            (r for r in range(_MOST_ROWS) if all(b < begin - 4 or a > end + 4 for a, b in taken[r])), None
        )
        if row is not None:
            taken[row].append((begin, end))
        index = layout.timeline.find(flag.key or "") or 0
        lane = layout.timeline.marks[index].lane
        banners.append(Banner(name, full, spot, lane, width, is_left, row))
    return tuple(banners)


def is_wide(letter: str) -> bool:
    """Check whether a character takes the room of two."""
    return unicodedata.east_asian_width(letter) in "WF"


def _measure(items: Sequence[Item]) -> Scale:
    ends = sorted(amount for item in items for amount in (item.added, item.gone[1]) if amount > 0)
    cap = 4 * ends[len(ends) * 3 // 4] if ends else 1
    up = max((min(cap, item.added) for item in items), default=0)
    down = max((min(cap, item.gone[1]) for item in items), default=0)
    return Scale(up, down, max(up / UP, down / DOWN, 1 / UP))
