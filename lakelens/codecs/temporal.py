"""Counts since the epoch as Python dates and times: never an error, whatever the 64 bits are, and no package needed.

    days | milliseconds or microseconds of a day | microseconds, nanoseconds, or milliseconds + nanoseconds since 1970

Values are `date`, `time` and `datetime` (naive, or UTC-aware when the type is anchored to UTC). Digits below the
microsecond make a timestamp a `NanoTimestamp` (a `datetime` too); what is outside Python's years 1 to 9999, and a time
of day outside one day, is a `FarTime`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from lakelens.codecs.moments import FarTime, NanoTimestamp

_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_EPOCH = datetime(1970, 1, 1)
_DAY_MICROS = 86_400_000_000
_INTERVAL = re.compile(r"(-?\d+(?:\.\d+)?)\s*(week|day|hour|minute|second|millisecond|microsecond)s?")
_INT64 = range(-(2**63) + 1, 2**63)  # the lowest count is numpy's NaT


def date_from_days(days: int) -> Any:
    """The date this many days after 1970-01-01; a `FarTime` outside the years 1 to 9999.

    >>> date_from_days(19723), str(date_from_days(3_000_000))
    (datetime.date(2024, 1, 1), '10183-09-21')
    """
    if 1 <= days + _EPOCH_ORDINAL <= date.max.toordinal():
        return date.fromordinal(days + _EPOCH_ORDINAL)
    return FarTime(days, "D")


def time_from_micros(micros: int) -> Any:
    """The time of day this many microseconds after midnight; a `FarTime` outside one day.

    >>> time_from_micros(81_068_123_456)
    datetime.time(22, 31, 8, 123456)
    """
    if 0 <= micros < _DAY_MICROS:
        return (_EPOCH + timedelta(microseconds=micros)).time()
    return FarTime(micros, "us", is_clock=True)


def time_from_millis(millis: int) -> Any:
    """The time of day this many milliseconds after midnight; a `FarTime` outside one day.

    >>> time_from_millis(1001)
    datetime.time(0, 0, 1, 1000)
    """
    if 0 <= millis < _DAY_MICROS // 1000:
        return time_from_micros(millis * 1000)
    return FarTime(millis, "ms", is_clock=True)


def timestamp_from_micros(micros: int, utc: bool) -> Any:
    """The instant this many microseconds after the epoch, UTC-aware when `utc`.

    >>> timestamp_from_micros(-1, utc=False)
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)
    """
    try:
        value = _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return _make_far(micros)
    return value.replace(tzinfo=UTC) if utc else value


def timestamp_from_nanos(nanos: int, utc: bool) -> Any:
    """The instant this many nanoseconds after the epoch; a `NanoTimestamp` when it has digits below a microsecond.

    >>> timestamp_from_nanos(1000, utc=True)
    datetime.datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=datetime.timezone.utc)
    >>> timestamp_from_nanos(1, utc=False)
    NanoTimestamp('1970-01-01T00:00:00.000000001')
    """
    micros, rest = divmod(nanos, 1000)
    moment = timestamp_from_micros(micros, utc)
    if rest == 0 or nanos not in _INT64:  # of that one count pandas and numpy would make "not a time"
        return moment
    return NanoTimestamp.extend(moment, rest)


def timestamp_from_millis_nanos(millis: int, nanos: int, utc: bool) -> Any:
    """The instant this many milliseconds, and nanoseconds of that millisecond, after the epoch.

    >>> timestamp_from_millis_nanos(1, 500_000, utc=False)
    datetime.datetime(1970, 1, 1, 0, 0, 0, 1500)
    """
    total = millis * 1_000_000 + nanos
    if total in _INT64 or nanos % 1000 == 0:
        return timestamp_from_nanos(total, utc)
    return timestamp_from_micros(total // 1000, utc)  # outside 1677..2262 no column keeps the last digits


def _make_far(micros: int) -> FarTime:
    if micros in _INT64:
        return FarTime(micros, "us")
    return FarTime(micros // 1_000_000, "s")  # beyond any count of µs, or the one that numpy takes for NaT


def read_interval(properties: Mapping[str, Any], name: str, default: timedelta) -> timedelta:
    """Read an interval of SQL among properties; the default where there is none that is understood.

    >>> read_interval({"d": "interval 1 day 12 hours"}, "d", timedelta(0)), read_interval({}, "d", timedelta(7))
    (datetime.timedelta(days=1, seconds=43200), datetime.timedelta(days=7))
    """
    parts = _INTERVAL.findall(str(properties.get(name, "")).lower())
    if not parts:
        return default
    try:
        return sum((timedelta(**{f"{unit}s": float(number)}) for number, unit in parts), timedelta())
    except OverflowError:
        return default
