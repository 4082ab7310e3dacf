"""Folding a long history by the calendar: the newest marks stay single, older ones share one item for each unit of time.

The unit is the finest whose items fit. A run of marks that no unit divides, all of one second, is cut into equal parts, so
that opening folds always comes to single marks.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lakelens.analysis.timeline.timeline import Mark
from lakelens.model.facts.amounts import NO_ROWS, Amount

_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000
_MONDAY = 3 * _DAY  # 1970 began on a Thursday
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SPANS = (
    (_SECOND, "a second"),
    (10 * _SECOND, "10 seconds"),
    (_MINUTE, "a minute"),
    (10 * _MINUTE, "10 minutes"),
    (_HOUR, "an hour"),
    (3 * _HOUR, "3 hours"),
    (12 * _HOUR, "12 hours"),
    (_DAY, "a day"),
    (2 * _DAY, "2 days"),
    (7 * _DAY, "a week"),
    (14 * _DAY, "2 weeks"),
)
_MONTHS = ((1, "a month"), (3, "a quarter"), (12, "a year"), (120, "a decade"), (1200, "a century"))


@dataclass(frozen=True, slots=True)
class Item:
    """One mark, or a fold of several that follow each other. `first` and `last` are their places among all marks."""

    first: int
    last: int
    marks: tuple[Mark, ...]

    @property
    def count(self) -> int:
        """How many snapshots it stands for."""
        return len(self.marks)

    @property
    def start(self) -> int:
        """When the first of them was committed, in milliseconds since 1970."""
        return self.marks[0].time

    @property
    def end(self) -> int:
        """When the last of them was committed, in milliseconds since 1970."""
        return self.marks[-1].time

    @property
    def added(self) -> int:
        """Rows that came, as far as they are recorded; those that a rewrite copied did not."""
        return sum(mark.rows.came for mark in self.marks)

    @property
    def removed(self) -> int:
        """Rows that went, as far as they are recorded; those that a rewrite copied did not."""
        return sum(mark.rows.went for mark in self.marks)

    @property
    def deleted(self) -> Amount:
        """Rows that were deleted in files that stayed, as far as that is known."""
        return sum((mark.amounts.deleted or NO_ROWS for mark in self.marks), NO_ROWS)

    @property
    def deleted_values(self) -> int:
        """Values that rows were deleted by: how many rows have them is not known."""
        return sum(mark.amounts.added_equality_deletes or 0 for mark in self.marks)

    @property
    def gone(self) -> tuple[int, int]:
        """Rows that went, with their files or deleted in them: those that certainly did, and as many as may have.

        Of deleted values, as many as there are of these.
        """
        deleted = self.deleted
        most = deleted.least + (self.deleted_values or 1) if deleted.most is None else deleted.most
        return self.removed + deleted.least, self.removed + most

    def count_operations(self) -> Counter[str]:
        """How often each operation is among them."""
        return Counter(mark.operation for mark in self.marks)

    def count_lanes(self) -> Counter[int]:
        """How many of them are on each lane."""
        return Counter(mark.lane for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Folding:
    """Items, oldest first; the first `folded` of them are units of time of the length `unit`."""

    items: tuple[Item, ...]
    folded: int = 0
    unit: str = ""


def fold_marks(
    marks: Sequence[Mark], first: int, end: int, *, singles: int, newest: int, folds: int
) -> Folding:
    """The marks from `first` up to, not with, `end` as items.

    All stay single where there are at most `singles`; else the `newest` stay so, and the others are at most `folds` items.
    """
    if end - first <= singles:
        return Folding(tuple(_make_items(marks, list(range(first, end + 1)))))
    edge = end - newest
    starts, unit = _divide(marks, first, edge, folds)
    older = _make_items(marks, [*starts, edge])
    return Folding((*older, *_make_items(marks, list(range(edge, end + 1)))), len(older), unit)


def _make_items(marks: Sequence[Mark], edges: Sequence[int]) -> list[Item]:
    pairs = itertools.pairwise(edges)
    return [Item(first, end - 1, tuple(marks[first:end])) for first, end in pairs]


def _divide(marks: Sequence[Mark], first: int, end: int, most: int) -> tuple[list[int], str]:
    """Where the finest unit with at most `most` items begins each of them, and the unit's name."""
    for number_of, name in _list_units():
        starts: list[int] = []
        before: int | None = None
        for index in range(first, end):
            number = number_of(marks[index].time)
            if number != before:
                starts.append(index)
                before = number
            if len(starts) > most:
                break
        if len(starts) == 1 and end - first > 1:
            break
        if len(starts) <= most:
            return starts, name
    step = -(-(end - first) // most)
    return list(range(first, end, step)), f"{step:,} snapshots"


def _list_units() -> list[tuple[Callable[[int], int], str]]:
    spans = [(_count_spans(length), name) for length, name in _SPANS]
    return spans + [(_count_months(length), name) for length, name in _MONTHS]


def _count_spans(length: int) -> Callable[[int], int]:
    return lambda time: (time + _MONDAY) // length


def _count_months(length: int) -> Callable[[int], int]:
    def count(time: int) -> int:
        moment = _EPOCH + timedelta(milliseconds=time)
        return (moment.year * 12 + moment.month - 1) // length

    return count
