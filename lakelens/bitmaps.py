"""Sets of row positions: those of `pyroaring` where it is installed, else sets of ranges in plain Python.

A set of ranges takes memory by its runs, as a Roaring bitmap may, so that one of a few bytes that claims four thousand
million rows is no danger here either. It has of the bitmaps what lakelens asks of them.

>>> rows = RangeSet([7, 0, 1, 2])
>>> list(rows), rows.max(), 1 in rows, list(rows & RangeSet([2, 3])), list(rows.shift(-1)), rows[1:3]
([0, 1, 2, 7], 7, True, [2], [0, 1, 6], RangeSet([1, 2]))
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Self, overload

_CONTAINER = 1 << 16
_BITSET = 8192  # its bytes
_MOST_ARRAY = 4096  # numbers in a container that is an array


class RangeSet:
    """A set of numbers of 64 bits as ranges in order, none next to another."""

    __slots__ = ("_firsts", "_kinds", "_lasts", "_places", "_runs")

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._places: list[int] | None = None
        self._kinds: dict[str, int] | None = None
        self._runs: frozenset[int] = frozenset()  # the containers that a Roaring bitmap would have as runs
        if isinstance(numbers, RangeSet):
            self._fill(numbers.pairs())
            self._kinds, self._runs = numbers._kinds, numbers._runs
        else:
            self._fill((number, number) for number in sorted(set(numbers)))

    @classmethod
    def of_ranges(cls, ranges: Iterable[tuple[int, int]], kinds: dict[str, int] | None = None) -> Self:
        """Make a set of ranges, first and last, ordered by their firsts; `kinds` counts containers as they are stored."""
        made = cls()
        made._fill(ranges)
        made._kinds = kinds
        return made

    def _fill(self, ranges: Iterable[tuple[int, int]]) -> None:
        firsts: list[int] = []
        lasts: list[int] = []
        for first, last in ranges:
            if lasts and first <= lasts[-1] + 1:
                lasts[-1] = max(lasts[-1], last)
            else:
                firsts.append(first)
                lasts.append(last)
        self._firsts, self._lasts, self._places = firsts, lasts, None

    def pairs(self) -> Iterator[tuple[int, int]]:
        """List the first and the last number of each range."""
        return zip(self._firsts, self._lasts, strict=True)

    def _count_before(self) -> list[int]:
        """Count the numbers before each range, and at the end all of them."""
        if self._places is None:
            self._places = list(accumulate((last - first + 1 for first, last in self.pairs()), initial=0))
        return self._places

    def __len__(self) -> int:
        return self._count_before()[-1]

    def __bool__(self) -> bool:
        return bool(self._firsts)

    def __iter__(self) -> Iterator[int]:
        for first, last in self.pairs():
            yield from range(first, last + 1)

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        place = bisect_right(self._firsts, number) - 1
        return place >= 0 and number <= self._lasts[place]

    @overload
    def __getitem__(self, key: int) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: int | slice) -> int | Self:
        if isinstance(key, slice):
            return type(self)(self[place] for place in range(*key.indices(len(self))))
        places = self._count_before()
        place = key + places[-1] if key < 0 else key
        if not 0 <= place < places[-1]:
            raise IndexError(key)
        number = bisect_right(places, place) - 1
        return self._firsts[number] + place - places[number]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RangeSet):
            return NotImplemented
        return self._firsts == other._firsts and self._lasts == other._lasts

    def __hash__(self) -> int:
        return hash((*self._firsts, *self._lasts))

    def __or__(self, other: RangeSet) -> Self:
        return self.union(self, other)

    def __and__(self, other: RangeSet) -> Self:
        return type(self).of_ranges(self._meet(other))

    def _meet(self, other: RangeSet) -> Iterator[tuple[int, int]]:
        mine, its = 0, 0
        while mine < len(self._firsts) and its < len(other._firsts):
            first = max(self._firsts[mine], other._firsts[its])
            last = min(self._lasts[mine], other._lasts[its])
            if first <= last:
                yield first, last
            if self._lasts[mine] < other._lasts[its]:
                mine += 1
            else:
                its += 1

    def __sub__(self, other: RangeSet) -> Self:
        return type(self).of_ranges(self._leave(other))

    def _leave(self, other: RangeSet) -> Iterator[tuple[int, int]]:
        for first, last in self.pairs():
            place = max(0, bisect_right(other._firsts, first) - 1)
            while place < len(other._firsts) and other._firsts[place] <= last:
                if other._lasts[place] >= first:
                    if other._firsts[place] > first:
                        yield first, other._firsts[place] - 1
                    first = other._lasts[place] + 1
                place += 1
            if first <= last:
                yield first, last

    @classmethod
    def union(cls, *sets: RangeSet) -> Self:
        """Unite any number of sets."""
        made = cls.of_ranges(sorted(pair for numbers in sets for pair in numbers.pairs()))
        made._runs = frozenset().union(*(numbers._runs for numbers in sets))
        return made

    def intersection_cardinality(self, other: RangeSet) -> int:
        """Count the numbers that are in both."""
        return sum(last - first + 1 for first, last in self._meet(other))

    def shift(self, offset: int) -> Self:
        """Add to each number; what would be below 0 is left out."""
        moved = ((max(0, first + offset), last + offset) for first, last in self.pairs())
        return type(self).of_ranges((first, last) for first, last in moved if last >= 0)

    def min(self) -> int:
        """Give the least number. Raises `ValueError` if there is none."""
        if not self._firsts:
            raise ValueError("no minimum of an empty set")
        return self._firsts[0]

    def max(self) -> int:
        """Give the greatest number. Raises `ValueError` if there is none."""
        if not self._lasts:
            raise ValueError("no maximum of an empty set")
        return self._lasts[-1]

    def add(self, number: int) -> None:
        """Add a number."""
        self.add_range(number, number + 1)

    def add_range(self, start: int, end: int) -> None:
        """Add the numbers from `start` to before `end`."""
        if start >= end:
            return
        self._kinds = self._places = None
        for key in range(start // _CONTAINER, (end - 1) // _CONTAINER + 1):
            first, last = key * _CONTAINER, (key + 1) * _CONTAINER - 1
            place = bisect_right(self._firsts, last) - 1
            is_empty = place < 0 or self._lasts[place] < first
            if is_empty and min(end - 1, last) > max(start, first):
                self._runs |= {key}
        if not self._lasts or start > self._lasts[-1] + 1:  # in order, as most are
            self._firsts.append(start)
            self._lasts.append(end - 1)
        else:
            self._fill(sorted((*self.pairs(), (start, end - 1))))

    def update(self, numbers: Iterable[int]) -> None:
        """Add some numbers."""
        self._kinds = None
        self._fill(sorted((*self.pairs(), *((number, number) for number in numbers))))

    def to_array(self) -> array[int]:
        """Give the numbers as an array of 64 bits each."""
        return array("Q", self)

    def serialize(self) -> bytes:
        """Give bytes that are the same for equal sets; no Roaring bitmap."""
        return array("Q", (*self._firsts, *self._lasts)).tobytes()

    def get_statistics(self) -> dict[str, int]:
        """Count the containers that a Roaring bitmap of these numbers has, by kind."""
        if self._kinds is None:
            counts: dict[int, int] = {}
            ranges: dict[int, int] = {}
            for first, last in self.pairs():
                for key in range(first // _CONTAINER, last // _CONTAINER + 1):
                    start, end = key * _CONTAINER, (key + 1) * _CONTAINER - 1
                    counts[key] = counts.get(key, 0) + min(last, end) - max(first, start) + 1
                    ranges[key] = ranges.get(key, 0) + 1
            self._kinds = {"array": 0, "bitset": 0, "run": 0}
            for key, count in counts.items():
                kind = "array" if count <= _MOST_ARRAY else "bitset"
                is_run = key in self._runs and 2 + 4 * ranges[key] <= min(
                    2 * count, _BITSET
                )  # as a copy keeps it
                self._kinds["run" if is_run else kind] += 1
        return {f"n_{kind}_containers": count for kind, count in self._kinds.items()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)})"


if TYPE_CHECKING:
    from pyroaring import BitMap, BitMap64, FrozenBitMap64
else:
    try:
        from pyroaring import BitMap, BitMap64, FrozenBitMap64
    except ModuleNotFoundError:  # one class for the three: what is frozen there is not changed here either
        BitMap = BitMap64 = FrozenBitMap64 = RangeSet

__all__ = ["BitMap", "BitMap64", "FrozenBitMap64", "RangeSet"]
