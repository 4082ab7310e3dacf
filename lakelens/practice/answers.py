"""Answers of readers: whatever they are, they are read as far as they go, and compared with what the bytes say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any

from lakelens.practice.exercise import Wrong

_MOST = 10_000  # parts of an answer that are looked at
_PLAIN = (bool, int, float, str, bytes, Decimal, date, time)


def unwrap(answer: Any) -> Any:
    """A value of NumPy, pandas or Arrow, or a decoded row, as Python's own; all else as it is."""
    if isinstance(answer, bytearray | memoryview):
        return bytes(answer)
    home = type(answer).__module__.partition(".")[0]
    if home == "lakelens" and hasattr(answer, "to_dict"):
        return answer.to_dict()  # a row that was decoded
    if home == "pyarrow" and hasattr(answer, "to_pylist"):
        return answer.to_pylist()
    if home == "pyarrow" and hasattr(answer, "as_py"):
        return answer.as_py()
    if home in ("numpy", "pandas", "polars") and hasattr(answer, "tolist"):
        return answer.tolist()
    return answer


def quote(answer: Any) -> str:
    """An answer in a few characters; what is not one of Python's own values only by its type.

    >>> quote("ab"), quote([1, None]), quote(object())
    ("'ab'", '[1, None]', 'an object')
    """
    answer = unwrap(answer)
    if answer is None or type(answer) in _PLAIN:
        text = str(answer) if isinstance(answer, Decimal | date | time) else repr(answer)
        return text if len(text) <= 60 else f"{text[:57]}…"
    if isinstance(answer, datetime):
        return str(answer)
    if type(answer) in (list, tuple):
        shown = ", ".join(quote(one) for one in answer[:5])
        return f"[{shown}{', …' if len(answer) > 5 else ''}]"
    noun = type(answer).__name__
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def name_kind(expected: Any) -> str:
    """What kind of value is expected, without which one it is.

    >>> name_kind(True), name_kind(5), name_kind("a")
    ('True or False', 'a whole number', 'a text')
    """
    kinds: tuple[tuple[Any, str], ...] = (
        (bool, "True or False"),
        (int, "a whole number"),
        (float, "a number"),
        (str, "a text"),
        (bytes, "bytes, or their hexadecimal digits"),
        (Decimal, "a decimal number, as Decimal('1.50') or '1.50'"),
        (datetime, "a datetime, or '2024-01-31 12:00:00.000'"),
        (date, "a date, or '2024-01-31'"),
        (time, "a time of day, or '12:00:00'"),
        (Mapping, "a dict"),
        (Sequence, "a list"),
    )
    return next((noun for kind, noun in kinds if isinstance(expected, kind)), "None")


def is_kind(expected: Any, answer: Any) -> bool:
    """Whether an answer is of the kind that is expected; None is of every kind."""
    answer = unwrap(answer)
    if answer is None or expected is None:
        return True
    return _convert(expected, answer) is not None


def _convert(expected: Any, answer: Any) -> Any:
    """An answer as a value that can be compared; None where it is of another kind."""
    try:
        if isinstance(expected, bool):
            return answer if isinstance(answer, bool) else None
        if isinstance(answer, bool):
            return None
        if isinstance(expected, int):
            return answer if isinstance(answer, int) else None
        if isinstance(expected, float):
            return float(answer) if isinstance(answer, int | float | Decimal) else None
        if isinstance(expected, Decimal):
            return Decimal(str(answer)) if isinstance(answer, int | float | str | Decimal) else None
        return _convert_text(expected, answer)
    except (ValueError, OverflowError, InvalidOperation):
        return None


def _convert_text(expected: Any, answer: Any) -> Any:
    if isinstance(expected, str):
        return answer if isinstance(answer, str) else None
    if isinstance(expected, bytes):
        return bytes.fromhex(answer.removeprefix("0x")) if isinstance(answer, str) else _keep(answer, bytes)
    for kind in (datetime, date, time):
        if isinstance(expected, kind):
            read = kind.fromisoformat(answer) if isinstance(answer, str) else answer
            return _keep(read, kind)
    if isinstance(expected, Mapping):
        return answer if isinstance(answer, Mapping | tuple | list) else None
    return _keep(answer, (list, tuple))


def _keep(answer: Any, kinds: Any) -> Any:
    return answer if isinstance(answer, kinds) else None


def is_same(expected: Any, answer: Any) -> bool:
    """Whether an answer is the value that is expected; a time without a zone is one in UTC.

    >>> is_same(Decimal("1.50"), 1.5), is_same(date(2024, 1, 31), "2024-01-31"), is_same(1, True)
    (True, True, False)
    """
    answer = unwrap(answer)
    if expected is None or answer is None:
        return answer is None and expected is None
    given = _convert(expected, answer)
    if given is None:
        return False
    if isinstance(expected, float):
        return math.isclose(expected, given, rel_tol=1e-6) or (math.isnan(expected) and math.isnan(given))
    if isinstance(expected, datetime):
        return bool(expected.replace(tzinfo=None) == given.replace(tzinfo=None))
    if isinstance(expected, Mapping):
        given = given if isinstance(given, Mapping) else dict(zip(expected, given, strict=False))
        return given.keys() == expected.keys() and all(is_same(expected[key], given[key]) for key in expected)
    if isinstance(expected, list | tuple):
        return len(expected) == len(given) and all(map(is_same, expected, given))
    return bool(expected == given)


def read_fields(answer: Any, names: Sequence[str]) -> list[Any] | Wrong:
    """The values of an answer in the order of some fields, or what keeps it from being one.

    >>> read_fields({"name": "a", "id": 1}, ["id", "name"]), read_fields([1], ["id", "name"])
    ([1, 'a'], Wrong(field='field 2, `name`', reason='no value for it: 2 are expected, you gave 1'))
    """
    answer = unwrap(answer)
    if isinstance(answer, Mapping):
        for number, name in enumerate(names, 1):
            if name not in answer:
                return Wrong(f"field {number}, `{name}`", "your dict has no such key")
        extra = [str(key) for key in islice(answer, _MOST) if key not in names]
        if extra:
            return Wrong("", f"there is no field {extra[0]!r}: the fields are {', '.join(names)}")
        return [answer[name] for name in names]
    if isinstance(answer, list | tuple):
        if len(answer) < len(names):
            name = f"field {len(answer) + 1}, `{names[len(answer)]}`"
            return Wrong(name, f"no value for it: {len(names)} are expected, you gave {len(answer)}")
        if len(answer) > len(names):
            return Wrong("", f"{len(names)} values are expected, you gave {len(answer)}")
        return list(answer)
    if len(names) == 1 and (answer is None or isinstance(answer, _PLAIN)):
        return [answer]
    return Wrong("", f"expected the values in order, as a list or a dict by name, not {quote(answer)}")


def read_numbers(answer: Any, what: str) -> list[int] | Wrong:
    """Whole numbers in any collection of them; one alone too.

    >>> read_numbers({3, 1}, "positions"), read_numbers(7, "positions")
    ([1, 3], [7])
    """
    answer = unwrap(answer)
    if isinstance(answer, int) and not isinstance(answer, bool):
        return [answer]
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        return Wrong("", f"expected {what} as a list of whole numbers, not {quote(answer)}")
    found = []
    for one in islice(answer, _MOST):
        plain = unwrap(one)
        if isinstance(plain, bool) or not isinstance(plain, int):
            return Wrong("", f"expected {what} as a list of whole numbers; {quote(plain)} is none")
        found.append(plain)
    return sorted(found)
