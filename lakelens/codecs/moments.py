"""Times that Python has no type for, without any package: nanoseconds, far years, times outside a day.

They print as pandas and numpy print them, are ordered among those of Python, and become values of pandas and numpy when they
are asked to.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_DAY_NANOS = 86_400_000_000_000

Unit = Literal["D", "s", "ms", "us", "ns"]
_NANOS: dict[str, int] = {"D": _DAY_NANOS, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_WORDS = {"ms": "milliseconds", "us": "microseconds"}


class NanoTimestamp(datetime):
    """A `datetime` with digits below the microsecond: `nanosecond`, 0 to 999.

    It is ordered among plain ones and prints nine digits; `to_pandas` makes it a `pandas.Timestamp`.

    >>> moment = NanoTimestamp(2024, 1, 31, nanosecond=1)
    >>> moment, str(moment), moment > datetime(2024, 1, 31)
    (NanoTimestamp('2024-01-31T00:00:00.000000001'), '2024-01-31 00:00:00.000000001', True)
    """

    __slots__ = ("nanosecond",)

    nanosecond: int

    def __new__(cls, *parts: Any, nanosecond: int = 0, **named: Any) -> NanoTimestamp:
        moment = super().__new__(cls, *parts, **named)
        moment.nanosecond = nanosecond
        return moment

    @classmethod
    def extend(cls, moment: datetime, nanosecond: int) -> NanoTimestamp:
        """Extend a `datetime` by the digits that it does not hold.

        >>> NanoTimestamp.extend(datetime(2024, 1, 31), 5).nanosecond
        5
        """
        date_parts = moment.year, moment.month, moment.day
        clock = moment.hour, moment.minute, moment.second, moment.microsecond
        return cls(*date_parts, *clock, moment.tzinfo, fold=moment.fold, nanosecond=nanosecond)

    def to_datetime(self) -> datetime:
        """Make it a plain `datetime`, without the last three digits."""
        return datetime.combine(self.date(), self.timetz())

    def to_pandas(self) -> pd.Timestamp:
        """Make it a `pandas.Timestamp`, which holds the years 1677 to 2262."""
        import pandas as pd

        return pd.Timestamp(self.isoformat())

    def replace(self, *parts: Any, **named: Any) -> NanoTimestamp:
        """Replace parts as those of a `datetime`; `nanosecond` stays unless it is named."""
        nanosecond = named.pop("nanosecond", self.nanosecond)
        return NanoTimestamp.extend(self.to_datetime().replace(*parts, **named), nanosecond)

    def astimezone(self, tz: tzinfo | None = None) -> NanoTimestamp:
        """Move to another zone."""
        return NanoTimestamp.extend(self.to_datetime().astimezone(tz), self.nanosecond)

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """Write as ISO 8601, with nine digits unless fewer are asked for."""
        if timespec not in ("auto", "nanoseconds"):
            return super().isoformat(sep, timespec)
        text = super().isoformat(sep, "microseconds")
        return f"{text[:26]}{self.nanosecond:03d}{text[26:]}"

    def __str__(self) -> str:
        return self.isoformat(" ")

    def __repr__(self) -> str:
        return f"NanoTimestamp({self.isoformat()!r})"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return NanoTimestamp.extend, (self.to_datetime(), self.nanosecond)

    def __hash__(self) -> int:
        return hash((self.to_datetime(), self.nanosecond)) if self.nanosecond else super().__hash__()

    def __add__(self, other: Any) -> Any:
        moved = self.to_datetime().__add__(other)
        return moved if moved is NotImplemented else NanoTimestamp.extend(moved, self.nanosecond)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, timedelta):
            return self + -other
        return self.to_datetime().__sub__(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, datetime) and _split(self) == _split(other)

    def __ne__(self, other: object) -> bool:  # that of `datetime` would be found before the opposite of `==`
        return not self == other

    def __lt__(self, other: object) -> bool:
        return _split(self) < _split(other) if isinstance(other, datetime) else NotImplemented

    def __le__(self, other: object) -> bool:
        return _split(self) <= _split(other) if isinstance(other, datetime) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return _split(self) > _split(other) if isinstance(other, datetime) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return _split(self) >= _split(other) if isinstance(other, datetime) else NotImplemented


def _split(moment: datetime) -> tuple[datetime, int]:
    """Split into what a plain `datetime` holds, and the nanoseconds of ours or of a `pandas.Timestamp`."""
    nanosecond = getattr(moment, "nanosecond", None)
    if nanosecond is None:
        return moment, 0
    return datetime.combine(moment.date(), moment.timetz()), int(nanosecond)


class FarTime:
    """A date or timestamp outside the years 1 to 9999, or a time of day outside one day: a `count` of a `unit`.

    A date or timestamp is counted since 1970 in the proleptic Gregorian calendar, a time of day since midnight. Dates and
    timestamps are ordered among those of Python, times of day among its times; `to_numpy` makes it a value of numpy.

    >>> day = FarTime(3_000_000, "D")
    >>> day, str(day), day > date(2024, 1, 31), FarTime(-1, "ms", is_clock=True)
    (FarTime('10183-09-21'), '10183-09-21', True, FarTime('-1 milliseconds'))
    """

    __slots__ = ("_key", "count", "is_clock", "unit")

    count: int
    unit: Unit
    is_clock: bool
    _key: tuple[bool, int, int]

    def __init__(self, count: int, unit: Unit, is_clock: bool = False) -> None:
        set_once = super().__setattr__
        set_once("count", count)
        set_once("unit", unit)
        set_once("is_clock", is_clock)
        set_once("_key", (is_clock, count * _NANOS[unit], 0))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to {name!r}: a FarTime does not change")

    def count_in(self, unit: Unit) -> int:
        """Count it in another unit, rounded down.

        >>> FarTime(3_000_000, "D").count_in("s")
        259200000000
        """
        return self.count * _NANOS[self.unit] // _NANOS[unit]

    def isoformat(self, sep: str = "T") -> str:
        """Write a date or timestamp as ISO 8601; a time of day, which has no such form, as its count."""
        if self.is_clock:
            return f"{self.count} {_WORDS[self.unit]}"
        days, rest = divmod(self.count * _NANOS[self.unit], _DAY_NANOS)
        year, month, day = civil_date(days)
        text = f"{year:04d}-{month:02d}-{day:02d}"
        if self.unit == "D":
            return text
        seconds, nanos = divmod(rest, 10**9)
        text += f"{sep}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        digits = _DIGITS[self.unit]
        return f"{text}.{nanos:09d}"[: len(text) + 1 + digits] if digits else text

    def to_numpy(self) -> np.datetime64 | np.timedelta64:
        """Make it a `numpy.datetime64`, or a `numpy.timedelta64` of a time of day."""
        import numpy as np

        return (np.timedelta64 if self.is_clock else np.datetime64)(self.count, self.unit)

    def __str__(self) -> str:
        return self.isoformat()

    def __repr__(self) -> str:
        return f"FarTime({self.isoformat()!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return FarTime, (self.count, self.unit, self.is_clock)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FarTime) and self._key == other._key

    def __lt__(self, other: object) -> bool:
        key = _rank(other, self.is_clock)
        return NotImplemented if key is None else self._key < key

    def __le__(self, other: object) -> bool:
        key = _rank(other, self.is_clock)
        return NotImplemented if key is None else self._key <= key

    def __gt__(self, other: object) -> bool:
        key = _rank(other, self.is_clock)
        return NotImplemented if key is None else self._key > key

    def __ge__(self, other: object) -> bool:
        key = _rank(other, self.is_clock)
        return NotImplemented if key is None else self._key >= key


def _rank(other: object, is_clock: bool) -> tuple[bool, int, int] | None:
    """Rank what a `FarTime` is compared with; None for what it has no order with."""
    if isinstance(other, FarTime):
        return other._key if other.is_clock == is_clock else None
    if is_clock:
        if not isinstance(other, time):
            return None
        seconds = (other.hour * 60 + other.minute) * 60 + other.second
        return True, seconds * 10**9 + other.microsecond * 1000, 0
    if not isinstance(other, date):
        return None
    return False, (other.toordinal() - _EPOCH_ORDINAL) * _DAY_NANOS, 1  # no day of Python's is one of ours


def civil_date(days: int) -> tuple[int, int, int]:
    """Year, month and day of a count of days since 1970-01-01 in the proleptic Gregorian calendar, of any size.

    >>> civil_date(19723), civil_date(-719529)
    ((2024, 1, 1), (-1, 12, 31))
    """
    era, day_of_era = divmod(days + 719_468, 146_097)  # eras of 400 years that begin on 1 March
    year = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * day_of_year + 2) // 153  # months counted from March
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def count_days(years: int, months: int) -> int:
    """Count the days from 1970 to the first day of a month, by the years since then and its place in its year from 0.

    >>> count_days(0, 1), count_days(54, 0), civil_date(count_days(8_213, 8))
    (31, 19723, (10183, 9, 1))
    """
    year = 1970 + years - (months < 2)
    days = year * 365 + year // 4 - year // 100 + year // 400  # of years that begin on 1 March
    return days + (153 * ((months + 10) % 12) + 2) // 5 - 719_468
