"""What expiring snapshots before a time frees: those of history that are older go, unless a ref or a consumer keeps them.

A file goes with the last state that needs it. So what each state lets go of last is found once, and every time is a sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.analysis.space.holders import Holders
from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact
from lakelens.model.maintenance.procedure import read_time

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Rows of the table of times.
MOST_TIMES = 6


@dataclass(frozen=True, slots=True, repr=False)
class Expiry(Displayable):
    """What expiring snapshots before a time frees: `states` that go, by number of `Holdings.keepers`, files and bytes."""

    before: datetime
    snapshots: int
    files: int
    size_bytes: int
    states: Sequence[int]

    def __repr__(self) -> str:
        many = f"{self.snapshots:,} snapshot{'s' * (self.snapshots != 1)}"
        files = f"{self.files:,} file{'s' * (self.files != 1)}"
        return f"<Expiry before {format_time(self.before)}: {many}, {files}, {self.size_bytes:,} bytes>"


class Expiries(Items[Expiry]):
    """What expiring before some times frees, the earliest first."""

    __slots__ = ()
    facts = (
        Fact("before", "time"),
        Fact("snapshots", "int64"),
        Fact("files", "int64"),
        Fact("size_bytes", "int64"),
    )


class Expiring:
    """What each state that may expire lets go of last: `sizes` and `files` by state, as `Holders` numbers them."""

    def __init__(self, holders: Holders, sizes: NDArray[np.int64], files: NDArray[np.int64]) -> None:
        self.holders, self.sizes, self.files = holders, sizes, files

    @cached_property
    def _times(self) -> list[datetime]:
        times = self.holders.times
        return [moment for number in self.holders.expirable if (moment := times[number]) is not None]

    def expire(self, before: datetime) -> Expiry:
        """What goes when snapshots before a time expire."""
        from bisect import bisect_left

        going = self.holders.expirable[: bisect_left(self._times, before)]
        size, files = int(self.sizes[going].sum()), int(self.files[going].sum())
        return Expiry(before, len(going), files, size, going)

    @cached_property
    def boundary(self) -> datetime | None:
        """The time that divides history in two: the month, day or hour of the newest commit, else that commit.

        None where nothing can expire.
        """
        newest = self.holders.newest
        if newest is None or not self._times:
            return None
        starts = (_start(newest, unit) for unit in ("month", "day", "hour"))
        return next((start for start in starts if start > self._times[0]), newest)

    @cached_property
    def table(self) -> Expiries:
        """The last times at which more goes than at the one before: months, days or hours, and all but the current state."""
        newest = self.holders.newest
        if newest is None or not self._times:
            return Expiries()
        rows: list[Expiry] = []
        for before in _step_back(newest, self._times[0]):
            found = self.expire(before)
            if rows and rows[-1].snapshots == found.snapshots:
                rows[-1] = found  # the earlier time says the same
            elif found.snapshots:
                rows.append(found)
            if len(rows) > MOST_TIMES or not found.snapshots:
                break
        whole = self.expire(newest)
        rows = rows[:MOST_TIMES][::-1]
        if whole.snapshots and (not rows or rows[-1].snapshots < whole.snapshots):
            rows.append(whole)
        return Expiries(rows)


def parse_before(before: Any) -> datetime:
    """A time before which snapshots expire: a `datetime` or a date (UTC without a zone), or ISO text.

    Raises `LakeError` for anything else.

    >>> parse_before("2024-03-01")
    datetime.datetime(2024, 3, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    try:
        return read_time(before)
    except (ValueError, TypeError, OverflowError):
        hint = "a datetime, a date or ISO text as 2024-03-01 or 2024-03-01T12:00, UTC without a zone"
        raise LakeError(f"{before!r} is not a time", hint=hint) from None


def format_time(moment: datetime) -> str:
    """A time as short as it is exact.

    >>> from datetime import UTC
    >>> format_time(datetime(2024, 3, 1, tzinfo=UTC)), format_time(datetime(2024, 3, 1, 7, 30, tzinfo=UTC))
    ('2024-03-01', '2024-03-01 07:30')
    """
    if moment.time() == time():
        return f"{moment:%Y-%m-%d}"
    if moment.microsecond:
        return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment.second else f"{moment:%Y-%m-%d %H:%M}"


def _start(moment: datetime, unit: str) -> datetime:
    """The beginning of a time's month, day or hour."""
    if unit == "month":
        return moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    if unit == "day":
        return moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return moment.replace(minute=0, second=0, microsecond=0)


def _step_back(newest: datetime, oldest: datetime) -> Iterator[datetime]:
    """The beginnings of months, days or hours from the newest commit back, at most 120 of them."""
    for unit in ("month", "day", "hour"):
        if _start(newest, unit) > oldest:
            break
    else:
        return
    at = _start(newest, unit)
    for _ in range(120):
        if at <= oldest:
            return
        yield at
        at = _start(at - timedelta(hours=1), unit)
