"""Whole numbers in place of others: what is a count (integers, days, ticks of a clock, digits of a decimal) keeps its order.

Where a transform of the format cuts a column into groups (a day, a month, `truncate[10]`), the groups are replaced in order
and stay groups: the new value of a row is in the new group of its partition. Within a group values are replaced in order
too, or keep their distance from its beginning where another transform divides the same column more finely, and where there
is no room for values between two others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from lakelens.model.skeleton.ladder import Ladder, place_step

Fits = Callable[[int, int], bool]
_WIDE = 4_096  # numbers for each step, where there are that many: enough to find one of the same bucket
_TRIES = 4_000


@dataclass(frozen=True, slots=True)
class Grid:
    """How a column is cut into groups of values that follow one another.

    `split` gives a value's group and its distance from the group's beginning; `join` the beginning of a new group from its
    number and the number of the old one. An old group has `measure(group)[0]` values, the new one `measure(group)[1]`. New
    groups have numbers from `low` to `high`.
    """

    split: Callable[[int], tuple[int, int]]
    join: Callable[[int, int], int]
    measure: Callable[[int], tuple[int, int]]
    low: int
    high: int
    keeps_rest: bool = False


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
        self.is_kept = False
        self._grid, self._fits = grid, fits
        self._groups = Ladder()
        self._rests: dict[int, Ladder] = {}
        self._base = self._span = 0

    def narrow(self, low: int, high: int) -> None:
        """New numbers are to be within these too."""
        self.low, self.high = max(self.low, low), min(self.high, high)

    def add(self, value: int) -> None:
        """A value of a row."""
        if self._grid is None:
            self._groups.add(value)
            return
        group, rest = self._grid.split(value)
        self._groups.add(group)
        self._rests.setdefault(group, Ladder()).add(rest)

    def add_start(self, value: int) -> None:
        """A value that stands for its group: the beginning of a partition."""
        self._groups.add(value if self._grid is None else self._grid.split(value)[0])

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

    def map(self, value: int) -> int:
        """The number in place of a value."""
        if self.is_kept:
            return value
        if self._grid is None:
            return self._map_group(value)
        group, rest = self._grid.split(value)
        return self._grid.join(self._map_group(group), group) + self._map_rest(group, rest)

    def map_start(self, value: int) -> int:
        """The number in place of the beginning of a partition: the beginning of the new one."""
        if self.is_kept or self._grid is None:
            return self.map(value)
        group, rest = self._grid.split(value)
        start = self._grid.join(self._map_group(group), group)
        return start + rest if self._grid.keeps_rest else start

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

    def _map_rest(self, group: int, rest: int) -> int:
        grid = self._grid
        assert grid is not None
        ladder, (old, new) = self._rests.get(group, _NONE), grid.measure(group)
        if grid.keeps_rest or ladder.steps + 2 > new:
            return rest
        if rest in (0, old - 1):  # the first and the last stay so: what is beyond is in another group
            return rest and new - 1
        return 1 + place_step(ladder.find(rest), ladder.steps, new - 2)


_NONE = Ladder()


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
