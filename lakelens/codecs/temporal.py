"""Counts since the epoch as Python dates and times: never an error, whatever the 64 bits are.

    days | milliseconds or microseconds of a day | microseconds, nanoseconds, or milliseconds + nanoseconds since 1970

Values are `date`, `time` and `datetime` (naive, or UTC-aware when the type is anchored to UTC). Digits below the
microsecond make a timestamp a `pandas.Timestamp` (a `datetime` too); what is outside Python's years 1 to 9999 is a
`numpy.datetime64`; a time of day outside one day is a `numpy.timedelta64`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_EPOCH = datetime(1970, 1, 1)
_DAY_MICROS = 86_400_000_000
_INT64 = range(-(2**63) + 1, 2**63)  # the lowest count is numpy's NaT


def date_from_days(days: int) -> Any:
    """The date this many days after 1970-01-01; `numpy.datetime64` outside the years 1 to 9999.

    >>> date_from_days(19723), str(date_from_days(3_000_000))
    (datetime.date(2024, 1, 1), '10183-09-21')
    """
    if 1 <= days + _EPOCH_ORDINAL <= date.max.toordinal():
        return date.fromordinal(days + _EPOCH_ORDINAL)
    return _datetime64(days, "D")


def time_from_micros(micros: int) -> Any:
    """The time of day this many microseconds after midnight; `numpy.timedelta64` outside one day.

    >>> time_from_micros(81_068_123_456)
    datetime.time(22, 31, 8, 123456)
    """
    if 0 <= micros < _DAY_MICROS:
        return (_EPOCH + timedelta(microseconds=micros)).time()
    import numpy as np

    return np.timedelta64(micros, "us")


def time_from_millis(millis: int) -> Any:
    """The time of day this many milliseconds after midnight; `numpy.timedelta64` outside one day.

    >>> time_from_millis(1001)
    datetime.time(0, 0, 1, 1000)
    """
    if 0 <= millis < _DAY_MICROS // 1000:
        return time_from_micros(millis * 1000)
    import numpy as np

    return np.timedelta64(millis, "ms")


def timestamp_from_micros(micros: int, utc: bool) -> Any:
    """The instant this many microseconds after the epoch, UTC-aware when `utc`.

    >>> timestamp_from_micros(-1, utc=False)
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)
    """
    try:
        value = _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return _datetime64(micros, "us")
    return value.replace(tzinfo=UTC) if utc else value


def timestamp_from_nanos(nanos: int, utc: bool) -> Any:
    """The instant this many nanoseconds after the epoch; `pandas.Timestamp` when it has digits below a microsecond.

    >>> timestamp_from_nanos(1000, utc=True)
    datetime.datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=datetime.timezone.utc)
    >>> timestamp_from_nanos(1, utc=False)
    Timestamp('1970-01-01 00:00:00.000000001')
    """
    micros, rest = divmod(nanos, 1000)
    if rest == 0:
        return timestamp_from_micros(micros, utc)
    import pandas as pd

    if (
        nanos not in _INT64
    ):  # the one count that pandas and numpy take for "not a time": its last digits are lost
        return timestamp_from_micros(micros, utc)
    return pd.Timestamp(nanos, unit="ns", tz="UTC" if utc else None)


def timestamp_from_millis_nanos(millis: int, nanos: int, utc: bool) -> Any:
    """The instant this many milliseconds, and nanoseconds of that millisecond, after the epoch.

    >>> timestamp_from_millis_nanos(1, 500_000, utc=False)
    datetime.datetime(1970, 1, 1, 0, 0, 0, 1500)
    """
    total = millis * 1_000_000 + nanos
    if total in _INT64 or nanos % 1000 == 0:
        return timestamp_from_nanos(total, utc)
    return timestamp_from_micros(total // 1000, utc)  # outside 1677..2262 no type keeps the last digits


def _datetime64(value: int, unit: Literal["D", "us"]) -> Any:
    import numpy as np

    if value in _INT64:
        return np.datetime64(value, unit)
    return np.datetime64(
        value // 1_000_000, "s"
    )  # beyond any count of µs, or the one that numpy takes for NaT
