"""Numbers, texts and bytes in place of others, in the same order.

What is a count (integers, days, ticks of a clock, digits of a decimal) keeps its order. Where a transform of the format cuts
a column into groups (a day, a month, `truncate[10]`), the groups are replaced in order and stay groups: the new value of a
row is in the new group of its partition. Within a group values are replaced in order too, or keep their distance from its
beginning where another transform divides the same column more finely, and where there is no room for values between two
others. Texts and bytes keep the same beginnings where `truncate[W]` cuts them:

    text, truncated to 3     "abc" "de"              known beginnings and ends are ladders of their own
    in its place             "JQX" "XJJZ.."          a beginning has as many signs as before; dots keep the length of the
    rest

Of the signs J, Q, X and Z few words are made, so a search for an original text does not find one by chance.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from itertools import product
from random import Random
from typing import Any

# Keys in order, and numbers for them in the same order.
#
#     keys            a     c     f          n known keys
#     steps        0  1  2  3  4  5  6       2n + 1: one for each key, one before, after and between them
#     numbers      |..|..|..|..|..|..|       spread over all that there is room for
#
# A key that is not known, as a literal of a predicate, gets the step between its neighbours, so that it compares with all
# known ones as before.


class Ladder:
    """A growing set of keys, and where each stands once all are known.

    >>> ladder = Ladder()
    >>> for key in ("f", "a", "c"):
    ...     ladder.add(key)
    >>> [ladder.find(key) for key in ("a", "b", "c", "zz")], ladder.steps
    ([1, 2, 3, 6], 7)
    """

    __slots__ = ("_found", "_keys")

    def __init__(self) -> None:
        self._found: set[Any] = set()
        self._keys: list[Any] | None = None

    def add(self, key: Any) -> None:
        """Add one more key."""
        self._found.add(key)
        self._keys = None

    @property
    def keys(self) -> list[Any]:
        """The known keys in order."""
        if self._keys is None:
            self._keys = sorted(self._found)
        return self._keys

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return 2 * len(self._found) + 1

    def find(self, key: Any) -> int:
        """Find the step of a key: odd for one that is known, even for one between two."""
        keys = self.keys
        place = bisect_left(keys, key)
        return 2 * place + (place < len(keys) and keys[place] == key)


def place_step(step: int, steps: int, size: int) -> int:
    """Place the number of a step among `size` numbers; of two steps the higher has the higher number where there is room.

    >>> [place_step(step, 7, 100) for step in range(7)]
    [0, 14, 28, 42, 57, 71, 85]
    """
    return step * size // steps


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
        """Add a value of a row."""
        if self._grid is None:
            self._groups.add(value)
            return
        group, part, rest = self._split(value)
        self._add_part(group, part)
        self._rests.setdefault((group, part), Ladder()).add(rest)

    def add_start(self, value: int) -> None:
        """Add a value that stands for its group: the beginning of a partition."""
        if self._grid is None:
            self._groups.add(value)
            return
        group, part, _ = self._split(value)
        self._add_part(group, part)

    def _add_part(self, group: int, part: int) -> None:
        self._groups.add(group)
        self._parts.setdefault(group, Ladder()).add(part)

    def _split(self, value: int) -> tuple[int, int, int]:
        """Split a value's group, the number of the part of it, and its distance from where that begins."""
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
        """Check whether some values keep their places in their groups: where there is no room for others."""
        for group, parts in self._parts.items():
            size = len(grid.parts(grid.measure(group)[1]))
            if size > 1 and (grid.keeps_rest or not _has_room(parts, size)):
                return True
        rests = ((rests, self._size_part(group, part)) for (group, part), rests in self._rests.items())
        return any(len(rests.keys) > 1 and not _has_room(rests, new) for rests, (_, new) in rests) or (
            grid.keeps_rest and grid.parts is _cut_nowhere
        )

    def _size_part(self, group: int, part: int) -> tuple[int, int]:
        """Say how many values a part of a group has, and the new one in its place."""
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
        """Find where the new one of a part of a group begins."""
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
    """Give a place among `new` ones for one among `old`; where there is no room for another, the same.

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


# Times in place of times: months stay months and years stay years.
#
# A new month is a January: it has room for the days of any month. A new year has a leap day where the old one has.

_EPOCH = date(1970, 1, 1).toordinal()
#: The years that new times are in; of nanoseconds 64 bits hold fewer.
YEARS, NANO_YEARS = (1800, 9000), (1700, 2240)


def count_days(year: int, month: int = 1) -> int:
    """Days from 1970-01-01 to the first of a month, in any year of the proleptic Gregorian calendar.

    >>> count_days(2024), count_days(1969, 12)
    (19723, -31)
    """
    cycles, within = divmod(year - 1, 400)
    return date(within + 1, month, 1).toordinal() + cycles * 146_097 - _EPOCH


def split_month(days: int) -> tuple[int, int]:
    """Split the months since 1970-01 of a day, and the days of that month before it.

    >>> split_month(19723 + 40), split_month(-1)
    ((649, 9), (-1, 30))
    """
    cycles, within = divmod(days + _EPOCH - 1, 146_097)
    day = date.fromordinal(within + 1)
    months = (day.year + cycles * 400 - 1970) * 12 + day.month - 1
    return months, day.day - 1


@cache
def is_leap(year: int) -> bool:
    """Check whether a year has a leap day."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def group_times(unit: str, day: int, finer: Sequence[str] = ()) -> Grid:
    """Groups of a column of times by year, month, day or hour; `day` is how many of its counts are a day.

    With `finer` units, the finest last, its groups are moved inside of those of `unit`; of several they keep their
    places, since what is a month of one year has to stay a month of another.
    """
    grid = _group_by(unit, day)
    if not finer:
        return grid
    return replace(grid, parts=partial(_cut_group, finer[-1], day), keeps_rest=len(finer) > 1)


def _cut_group(unit: str, day: int, size: int) -> Sequence[int]:
    """Cut where in a year, month or day of `size` counts the groups of a finer unit begin."""
    if unit == "month":
        year = 2000 if size == 366 * day else 2001
        return [(count_days(year, month) - count_days(year)) * day for month in range(1, 13)]
    return range(0, size, day if unit == "day" else day // 24)


def _group_by(unit: str, day: int) -> Grid:
    first, last = NANO_YEARS if day > 10**12 else YEARS
    if unit in ("day", "hour"):
        width = day if unit == "day" else day // 24
        return cut_by(width, count_days(first) * day, count_days(last) * day)

    def start_month(months: int) -> int:
        return count_days(1970 + months // 12, months % 12 + 1)

    def split_by_month(value: int) -> tuple[int, int]:
        days, rest = divmod(value, day)
        months, before = split_month(days)
        return months, before * day + rest

    if unit == "month":
        return Grid(
            split_by_month,
            lambda code, group: count_days(code) * day,
            lambda group: ((start_month(group + 1) - start_month(group)) * day, 31 * day),
            first,
            last,
        )

    def split_by_year(value: int) -> tuple[int, int]:
        year = 1970 + split_month(value // day)[0] // 12
        return year, value - count_days(year) * day

    def start_year(code: int, group: int) -> int:
        year = next(year for year in range(8 * code, 8 * code + 8) if is_leap(year) == is_leap(group))
        return count_days(year) * day

    def measure_year(group: int) -> tuple[int, int]:
        days = (366 if is_leap(group) else 365) * day
        return days, days

    return Grid(split_by_year, start_year, measure_year, first // 8 + 1, last // 8 - 1)


_SIGNS = "JQXZ"
_MORE_SIGNS = "BCDFGHJKLMNPQRSTVWXZ"
_BYTES = "".join(map(chr, range(0x21, 0x7F)))
_MOST_DOTS = 64
_CODES = 64  # for each step
TextFits = Callable[[str, str], bool]


class TextScale:
    """Texts in place of texts, in the same order.

    `cuts` are the lengths to which the column is truncated; a value of a type with a fixed `length` keeps it. `fits(old,
    new)` says whether a new text may stand for an old one where that matters (its hash bucket).

    >>> scale = TextScale(cuts=(1,))
    >>> for text in ("apple", "avocado", "banana"):
    ...     scale.add(text)
    >>> scale.settle(Random(1))
    >>> new = [scale.map(text) for text in ("apple", "avocado", "b", "banana")]
    >>> new == sorted(new), new[0][:1] == new[1][:1] != new[2]
    (True, True)
    """

    def __init__(self, cuts: Sequence[int] = (), length: int = 0, fits: TextFits | None = None) -> None:
        self._cuts = sorted({cut for cut in cuts if cut > 0 and (not length or cut < length)})
        self._length = length
        self._fits = None if self._cuts else fits
        self._ladders: dict[tuple[str, ...], Ladder] = {}
        self._width = 0
        self.is_kept = self.keeps_rest = False

    def add(self, text: str) -> None:
        """Add a value of a row, or its beginning."""
        path: tuple[str, ...] = ()
        for part in self._split(text):
            self._ladders.setdefault(path, Ladder()).add(part)
            path += (part,)

    def add_start(self, text: str) -> None:
        """Add a value of a partition."""
        self.add(text)

    def settle(self, random: Random) -> None:
        """All values are known: how long the new ones are."""
        most = max((ladder.steps for ladder in self._ladders.values()), default=1)
        self._width = max(5, _count_signs(most * _CODES, len(_SIGNS)))

    def map(self, text: str) -> str:
        """The text in place of one."""
        if self.is_kept or not text:
            return text
        new = ""
        path: tuple[str, ...] = ()
        for level, part in enumerate(self._split(text)):
            ladder = self._ladders.get(path, _EMPTY)
            step = ladder.find(part)
            new += self._write(level, step, ladder.steps, len(part))
            path += (part,)
            if step % 2 == 0:  # between two known ones: there is nothing further to compare with
                break
        if self._fits is None:
            return new.ljust(self._length, _SIGNS[0])
        # a text that begins with the new one and may stand for the old one
        if self._length:
            room = self._length - len(new)
            tails = product(_BYTES, repeat=min(room, 2))
            found = (new.ljust(self._length - min(room, 2), _SIGNS[0]) + "".join(tail) for tail in tails)
        else:
            found = (new + "".join(tail) for count in range(8) for tail in product(_SIGNS, repeat=count))
        return next((one for one in found if self._fits(text, one)), new.ljust(self._length, _SIGNS[0]))

    def map_start(self, text: str) -> str:
        """The text in place of a value of a partition."""
        return self.map(text)

    def _split(self, text: str) -> Iterator[str]:
        begin = 0
        for cut in self._cuts:
            if begin < len(text):
                yield text[begin:cut]
            begin = cut
        if begin < len(text):
            yield text[begin:]

    def _write(self, level: int, step: int, steps: int, length: int) -> str:
        begin = self._cuts[level - 1] if level else 0
        if level < len(self._cuts):
            return write_digits(step, steps, self._cuts[level] - begin)
        if self._length:
            width = min(_count_signs(steps, len(_SIGNS)), self._length - begin)
            return write_digits(step, steps, width)
        return write_digits(step, steps, self._width).ljust(min(length, _MOST_DOTS), ".")


_EMPTY = Ladder()


def write_digits(step: int, steps: int, width: int) -> str:
    """Write the code of a step: `width` signs, of as few kinds as it takes; a higher step has a higher code.

    >>> write_digits(1, 3, 4), write_digits(2, 3, 4)
    ('QQQQ', 'XXXX')
    """
    for signs in (_SIGNS, _MORE_SIGNS):
        if len(signs) ** width >= steps:
            break
    else:
        signs = "".join(map(chr, range(0x4E00, 0x9FA0)))
    size = len(signs) ** width
    number, digits = step * size // steps, ""
    for _ in range(width):
        number, digit = divmod(number, len(signs))
        digits = signs[digit] + digits
    return digits


def _count_signs(count: int, kinds: int) -> int:
    width = 1
    while kinds**width < count:
        width += 1
    return width
