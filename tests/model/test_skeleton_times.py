"""Times in place of times that several transforms divide: groups stay groups, and nothing else of a time is left."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import combinations, pairwise
from random import Random

import pytest

from lakelens.model.skeleton.scales import NumberScale, group_times

UNITS = ("year", "month", "day", "hour")
_DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1)
_MICRO = timedelta(microseconds=1)
BORN = datetime(1987, 7, 19, 13, 37, 11, 424_242)
GROUPS = {
    "year": lambda time: time.year,
    "month": lambda time: (time.year, time.month),
    "day": lambda time: time.date(),
    "hour": lambda time: (time.date(), time.hour),
}


def replace_times(units: tuple[str, ...], times: list[datetime]) -> tuple[list[datetime], NumberScale]:
    scale = NumberScale(-(2**63), 2**63 - 1, group_times(units[0], _DAY, units[1:]))
    counts = [(time - _EPOCH) // _MICRO for time in times]
    for count in counts:
        scale.add(count)
    scale.settle(Random(1))
    return [_EPOCH + scale.map(count) * _MICRO for count in counts], scale


@pytest.mark.parametrize("units", [units for many in (1, 2, 3, 4) for units in combinations(UNITS, many)])
@pytest.mark.parametrize("many", [0, 5, 200])
def test_order_and_groups_stay(units: tuple[str, ...], many: int) -> None:
    rng = Random(3)
    years = [datetime(year, 1, 1) for year in (1987, 1988, 2000)]
    times = sorted([BORN, *(rng.choice(years) + rng.randrange(365 * _DAY) * _MICRO for _ in range(many))])
    new, _ = replace_times(units, times)
    for (before, after), (left, right) in zip(pairwise(times), pairwise(new), strict=True):
        assert before == after or left < right
        for unit in units:
            group = GROUPS[unit]
            assert (group(before) == group(after)) == (group(left) == group(right)), unit


@pytest.mark.parametrize("units", [units for many in (1, 2, 3, 4) for units in combinations(UNITS, many)])
def test_nothing_finer_than_the_finest_group_is_left(units: tuple[str, ...]) -> None:
    (new,), scale = replace_times(units, [BORN])
    assert (new.minute, new.second, new.microsecond) != (BORN.minute, BORN.second, BORN.microsecond)
    if len(units) < 3:
        assert not scale.keeps_rest
        assert (new.month, new.day, new.hour) != (BORN.month, BORN.day, BORN.hour)
    else:  # a month of a year that is cut into days has to stay one: it is said
        assert scale.keeps_rest


def test_what_has_no_room_is_said() -> None:
    """Twelve months of one year: each has only its own place."""
    times = [datetime(1987, month, 19, 13, 37, 11, 424_242) for month in range(1, 13)]
    new, scale = replace_times(("year", "month"), times)
    assert scale.keeps_rest and [time.month for time in new] == list(range(1, 13))
    assert all((time.day, time.minute) != (19, 37) for time in new)


def test_the_beginning_of_a_partition_is_the_beginning_of_a_new_one() -> None:
    scale = NumberScale(-(2**63), 2**63 - 1, group_times("year", _DAY, ("month",)))
    july = (datetime(1987, 7, 1) - _EPOCH) // _MICRO
    year = (datetime(1987, 1, 1) - _EPOCH) // _MICRO
    scale.add((BORN - _EPOCH) // _MICRO)
    scale.add_start(july)
    scale.add_start(year)
    scale.settle(Random(1))
    new, start, first = (
        _EPOCH + found * _MICRO
        for found in (scale.map((BORN - _EPOCH) // _MICRO), scale.map_start(july), scale.map_start(year))
    )
    assert start == datetime(new.year, new.month, 1)
    assert first == datetime(new.year, 1, 1)
