"""The time that a partition stands for, read from its values as the engine does.

    pattern     `$dt $hour:00:00`: values in place of names; without one the first value alone
    formatter   a pattern of Java's `DateTimeFormatter`; without one `2024-1-2`, or `2024-1-2 3:4:5.6`, months and
                days beyond their ends carried over

A value is as the engine has it inside: a DATE is a number of days, which reads as no time. Of Java's pattern letters y, u,
M, d, H, m, s, S and texts in quotes are known; others raise `LakeError`. Follows `PartitionTimeExtractor` of Paimon.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from lakelens.errors import Corrupt

_PLAIN = re.compile(r"(\d{1,10})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?")
_LETTERS = {"y": "year", "u": "year", "M": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}


def extract_time(values: Mapping[str, str], pattern: str | None, formatter: str | None) -> datetime | None:
    """The time of a partition by its values as text, in order; None where they are no time.

    >>> extract_time({"dt": "20240102", "h": "7"}, "$dt $h", "yyyyMMdd H")
    datetime.datetime(2024, 1, 2, 7, 0)
    >>> extract_time({"dt": "2024-01-32"}, None, None), extract_time({"dt": "19723"}, None, None)
    (datetime.datetime(2024, 2, 1, 0, 0), None)
    """
    if not values:
        return None
    text = next(iter(values.values())) if pattern is None else pattern
    if pattern is not None:
        for name, value in values.items():
            text = text.replace(f"${name}", value)
    try:
        return _parse_plain(text) if formatter is None else _parse_by(text, formatter)
    except (ValueError, OverflowError):
        return None
    except re.error as error:
        message = "partition.timestamp-formatter: it names a part of the time twice, or is too long"
        raise Corrupt(message, seen=str(formatter)[:80]) from error


def _parse_plain(text: str) -> datetime | None:
    found = _PLAIN.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    micros = int((found[7] or "0").ljust(9, "0")) // 1000
    rest = timedelta(days=day - 1, hours=hour, minutes=minute, seconds=second, microseconds=micros)
    return datetime(year, month, 1) + rest


def _parse_by(text: str, formatter: str) -> datetime | None:
    found = re.fullmatch(_compile(formatter), text)
    if found is None:
        return None
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    if "short" in parts:
        parts["year"] = f"20{parts.pop('short')}"
    if not {"year", "month", "day"} <= parts.keys():
        return None
    micros = int(parts.pop("fraction", "0").ljust(9, "0")) // 1000
    numbers = {name: int(value) for name, value in parts.items()}
    return datetime(**numbers, microsecond=micros)  # type: ignore[arg-type]


def _compile(formatter: str) -> str:
    """A formatter as a regular expression. Raises `LakeError` for letters that are not known."""
    made = []
    for found in re.finditer(r"'((?:[^']|'')*)'|([A-Za-z])\2*|.", formatter, re.DOTALL):
        whole, letter = found[0], found[2]
        if letter is None:
            made.append(re.escape("'" if whole == "''" else (found[1] or whole).replace("''", "'")))
        elif letter == "S":
            made.append(rf"(?P<fraction>\d{{{len(whole)}}})")
        elif letter in _LETTERS and not (letter == "M" and len(whole) > 2):
            made.append(_match_number(_LETTERS[letter], letter, len(whole)))
        else:
            message = f"partition.timestamp-formatter: {whole} of {formatter!r} is not known here"
            raise Corrupt(message, expected="y, u, M, d, H, m, s, S and quoted text", seen=whole)
    return "".join(made)


def _match_number(name: str, letter: str, length: int) -> str:
    if name == "year":
        return (
            r"(?P<short>\d{2})"
            if length == 2
            else rf"(?P<year>\d{{{max(length, 4) if length > 1 else '1,9'}}})"
        )
    return rf"(?P<{name}>\d{{{length}}})" if length > 1 else rf"(?P<{name}>\d{{1,2}})"
