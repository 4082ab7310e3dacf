"""Whole numbers in place of others: what is a count (integers, days, ticks of a clock, digits of a decimal) keeps its order.

Where a transform of the format cuts a column into groups (a day, a month, `truncate[10]`), the groups are replaced in order
and stay groups: the new value of a row is in the new group of its partition. Within a group values are replaced in order
too, or keep their distance from its beginning where another transform divides the same column more finely, and where there
is no room for values between two others.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from lakelens.model.skeleton.ladder import Ladder, place_step

Fits = Callable[[int, int], bool]
_WIDE = 4_096  # numbers for each step, where there are that many: enough to find one of the same bucket
_TRIES = 4_000


def _cut_nowhere(size: int) -> Sequence[int]:
    return (0,)


@dataclass(frozen=True, slots=True)
class Grid:
    """How a column is cut into groups of values that follow one another.

    `split` gives a value's group and its distance from the group's beginning; `join` the beginning of a new group from its
    number and the number of the old one. An old group has `measure(group)[0]` values, the new one `measure(group)[1]`. New
    groups have numbers from `low` to `high`. `parts(size)` says where in a group of that size those of a finer transform
    begin; with `keeps_rest` these keep their places, and so do values where there are none.
    """

    split: Callable[[int], tuple[int, int]]
    join: Callable[[int, int], int]
    measure: Callable[[int], tuple[int, int]]
    low: int
    high: int
    keeps_rest: bool = False
    parts: Callable[[int], Sequence[int]] = _cut_nowhere


class NumberScale:
    """Numbers from `low` to `high` in place of numbers, in the same order.

    `fits(old, new)` says whether a new number may stand for an old one where that matters (its hash bucket); the first that
    does is taken.

    >>> scale = NumberScale(-(2**31), 2**31 - 1)
    >>> for number in (7, 1, 300):
    ...     scale.add(number)
    >>> scale.settle(Random(1))
    >>> one, two, seven, more = (scale.map(number) for number in (1, 2, 7, 300))
    >>> one < two < seven < more, one == scale.map(1)
    (True, True)
    """

    def __init__(self, low: int, high: int, grid: Grid | None = None, fits: Fits | None = None) -> None:
        self.low, self.high = low, high
        self.is_kept = self.keeps_rest = False
        self._grid, self._fits = grid, fits
        self._groups = Ladder()
        self._parts: dict[int, Ladder] = {}
        self._rests: dict[tuple[int, int], Ladder] = {}
        self._base = self._span = 0

    def narrow(self, low: int, high: int) -> None:
        """New numbers are to be within these too."""
        self.low, self.high = max(self.low, low), min(self.high, high)

    def add(self, value: int) -> None:
        """A value of a row."""
        if self._grid is None:
            self._groups.add(value)
            return
        group, part, rest = self._split(value)
        self._add_part(group, part)
        self._rests.setdefault((group, part), Ladder()).add(rest)

    def add_start(self, value: int) -> None:
        """A value that stands for its group: the beginning of a partition."""
        if self._grid is None:
            self._groups.add(value)
            return
        group, part, _ = self._split(value)
        self._add_part(group, part)

    def _add_part(self, group: int, part: int) -> None:
        self._groups.add(group)
        self._parts.setdefault(group, Ladder()).add(part)

    def _split(self, value: int) -> tuple[int, int, int]:
        """A value's group, the number of the part of it, and its distance from where that begins."""
        assert self._grid is not None
        group, rest = self._grid.split(value)
        starts = self._grid.parts(self._grid.measure(group)[0])
        part = bisect_right(starts, rest) - 1
        return group, part, rest - starts[part]

    def settle(self, random: Random) -> None:
        """All values are known: where the new ones are."""
        low, high = (self.low, self.high) if self._grid is None else (self._grid.low, self._grid.high)
        room, steps = high - low + 1, self._groups.steps
        if steps > room:
            self.is_kept = True
            return
        self._span = min(room, max(steps * _WIDE, 1))
        first = min(room * 5 // 8, room - self._span)
        self._base = low + min(first + random.randrange(room // 8 + 1), room - self._span)
        self.keeps_rest = self._grid is not None and self._keeps_any(self._grid)

    def _keeps_any(self, grid: Grid) -> bool:
        """Whether some values keep their places in their groups: where there is no room for others."""
        for group, parts in self._parts.items():
            size = len(grid.parts(grid.measure(group)[1]))
            if size > 1 and (grid.keeps_rest or not _has_room(parts, size)):
                return True
        rests = ((rests, self._size_part(group, part)) for (group, part), rests in self._rests.items())
        return any(len(rests.keys) > 1 and not _has_room(rests, new) for rests, (_, new) in rests) or (
            grid.keeps_rest and grid.parts is _cut_nowhere
        )

    def _size_part(self, group: int, part: int) -> tuple[int, int]:
        """How many values a part of a group has, and the new one in its place."""
        assert self._grid is not None
        sizes = self._grid.measure(group)
        places = (part, self._map_part(group, part))
        old, new = (
            (*self._grid.parts(size), size)[place + 1] - self._grid.parts(size)[place]
            for size, place in zip(sizes, places, strict=True)
        )
        return old, new

    def map(self, value: int) -> int:
        """The number in place of a value."""
        if self.is_kept:
            return value
        if self._grid is None:
            return self._map_group(value)
        group, part, rest = self._split(value)
        return self._find_start(group, part) + self._map_rest(group, part, rest)

    def map_start(self, value: int) -> int:
        """The number in place of the beginning of a partition: the beginning of the new one."""
        if self.is_kept or self._grid is None:
            return self.map(value)
        group, part, rest = self._split(value)
        start = self._find_start(group, part)
        return start + rest if self._grid.keeps_rest and self._grid.parts is _cut_nowhere else start

    def _find_start(self, group: int, part: int) -> int:
        """Where the new one of a part of a group begins."""
        assert self._grid is not None
        starts = self._grid.parts(self._grid.measure(group)[1])
        return self._grid.join(self._map_group(group), group) + starts[self._map_part(group, part)]

    def _map_part(self, group: int, part: int) -> int:
        grid = self._grid
        assert grid is not None
        old, new = (len(grid.parts(size)) for size in grid.measure(group))
        return part if grid.keeps_rest else _place_inside(self._parts.get(group, _NONE), part, old, new)

    def _map_group(self, group: int) -> int:
        step, steps = self._groups.find(group), self._groups.steps
        first = self._base + place_step(step, steps, self._span)
        if self._fits is None:
            return first
        last = self._base + place_step(step + 1, steps, self._span)
        for number in range(first, min(last, first + _TRIES)):
            if self._fits(group, number):
                return number
        return first

    def _map_rest(self, group: int, part: int, rest: int) -> int:
        grid = self._grid
        assert grid is not None
        if grid.keeps_rest and grid.parts is _cut_nowhere:
            return rest
        return _place_inside(self._rests.get((group, part), _NONE), rest, *self._size_part(group, part))


_NONE = Ladder()


def _has_room(ladder: Ladder, new: int) -> bool:
    return ladder.steps + 2 <= new


def _place_inside(ladder: Ladder, place: int, old: int, new: int) -> int:
    """A place among `new` ones for one among `old`; where there is no room for another, the same.

    The first and the last stay so: what is beyond is in another group.
    """
    if not _has_room(ladder, new):
        return place
    if place in (0, old - 1):
        return place and new - 1
    return 1 + place_step(ladder.find(place), ladder.steps, new - 2)


def cut_by(width: int, low: int, high: int, *, keeps_rest: bool = False) -> Grid:
    """Groups of `width` numbers: `truncate[width]`, the days or hours of a time.

    >>> grid = cut_by(10, -100, 100)
    >>> grid.split(-3), grid.join(4, -1)
    ((-1, 7), 40)
    """
    return Grid(
        lambda value: divmod(value, width),
        lambda code, group: code * width,
        lambda group: (width, width),
        -(-low // width) + 1,
        high // width - 2,
        keeps_rest,
    )
