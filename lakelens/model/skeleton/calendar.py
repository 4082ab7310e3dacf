"""Times in place of times: months stay months and years stay years.

A new month is a January: it has room for the days of any month. A new year has a leap day where the old one has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cache, partial

from lakelens.model.skeleton.numbers import Grid, cut_by

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
    """The months since 1970-01 of a day, and the days of that month before it.

    >>> split_month(19723 + 40), split_month(-1)
    ((649, 9), (-1, 30))
    """
    cycles, within = divmod(days + _EPOCH - 1, 146_097)
    day = date.fromordinal(within + 1)
    months = (day.year + cycles * 400 - 1970) * 12 + day.month - 1
    return months, day.day - 1


@cache
def is_leap(year: int) -> bool:
    """Whether a year has a leap day."""
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
    """Where in a year, month or day of `size` counts the groups of a finer unit begin."""
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
