"""Columns that are generated from others by an expression of SQL, and what their values say of the other column.

In which zone a writer made days of timestamps is recorded nowhere: ranges are as much wider as zones can differ.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

_COLUMN = r"\(?\s*(?:`(?P<quoted>[^`]+)`|(?P<plain>\w+))\s*\)?"
_DAY = rf"(?:CAST\(\s*{_COLUMN}\s+AS\s+DATE\s*\)|(?:TO_)?DATE\(\s*{_COLUMN.replace('<', '<day_')}\s*\))"
#: expressions of generated columns that can be turned around, each with the unit that it cuts time to
_EXPRESSIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), unit)
    for pattern, unit in (
        (_COLUMN, "identity"),
        (_DAY, "day"),
        (rf"YEAR\(\s*(?:{_COLUMN}|{_DAY.replace('<', '<in_')})\s*\)", "year"),
        (rf"DATE_TRUNC\(\s*'(?P<unit>\w+)'\s*,\s*{_COLUMN}\s*\)", ""),
        (rf"TRUNC\(\s*{_COLUMN}\s*,\s*'(?P<unit>\w+)'\s*\)", ""),
        (rf"DATE_FORMAT\(\s*{_COLUMN}\s*,\s*'(?P<format>[^']+)'\s*\)", ""),
        (rf"SUBSTR(?:ING)?\(\s*{_COLUMN}\s*,\s*[01]\s*,\s*(?P<width>\d+)\s*\)", "prefix"),
    )
)
_FORMATS = {"yyyy": "year", "yyyy-MM": "month", "yyyy-MM-dd": "day", "yyyy-MM-dd-HH": "hour"}
_UNITS = {"yyyy": "year", "yy": "year", "mon": "month", "mm": "month", "dd": "day"}
SPANS = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "quarter": timedelta(days=92),
    "year": timedelta(days=366),
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_PARSED = {4: "%Y", 7: "%Y-%m", 10: "%Y-%m-%d", 13: "%Y-%m-%d-%H"}  # by the length of the text
_ZONES = timedelta(hours=18)  # no zone is further from UTC
_TICK = timedelta(microseconds=1)


def parse_generation(expression: str) -> tuple[str, str] | None:
    """Parse how a column is generated: from which one, and the unit that it is cut to; None where nothing follows from it.

    >>> parse_generation("CAST(at AS DATE)"), parse_generation("date_format(`a t`, 'yyyy-MM')")
    (('at', 'day'), ('a t', 'month'))
    >>> parse_generation("substring(name, 1, 3)"), parse_generation("MONTH(at)")
    (('name', 'prefix 3'), None)
    """
    for pattern, unit in _EXPRESSIONS:
        matched = pattern.fullmatch(expression.strip())
        if matched is None:
            continue
        said = matched.groupdict()
        named, form, width = (said.pop(name, None) for name in ("unit", "format", "width"))
        column = next(name for name in said.values() if name)
        if width is not None:
            return column, f"prefix {int(width)}"
        if form is not None:
            unit = _FORMATS.get(form, "")
        elif named is not None:
            unit = _UNITS.get(named.lower(), named.lower())
        return (column, unit) if unit in SPANS or unit == "identity" else None
    return None


def find_range(value: Any, unit: str, source: str) -> tuple[Any, Any]:
    """Find the least and the greatest value that a partition value can have been cut from; twice None where nobody knows.

    >>> find_range(date(2024, 2, 1), "month", "date")
    (datetime.date(2024, 2, 1), datetime.date(2024, 2, 29))
    >>> find_range("2024-01-31", "day", "timestamptz")[1]
    datetime.datetime(2024, 2, 1, 17, 59, 59, 999999, tzinfo=datetime.timezone.utc)
    """
    try:
        if isinstance(value, datetime):
            start = value.replace(tzinfo=None)
        elif isinstance(value, date):
            start = datetime(value.year, value.month, value.day)
        elif type(value) is int:
            start = datetime(value, 1, 1)
        elif isinstance(value, str):
            start = datetime.strptime(value, _PARSED[len(value)])
        else:
            return None, None
        months = _MONTHS.get(unit)
        if months is not None and start.day == 1 and start.time() == datetime.min.time():
            total = start.month - 1 + months
            end = start.replace(year=start.year + total // 12, month=total % 12 + 1) - _TICK
        else:
            end = start + SPANS[unit] - _TICK
        if source == "date":
            return start.date(), end.date()
        if source == "timestamptz":
            return (start - _ZONES).replace(tzinfo=UTC), (end + _ZONES).replace(tzinfo=UTC)
    except (ValueError, OverflowError, KeyError):
        return None, None
    return start, end
