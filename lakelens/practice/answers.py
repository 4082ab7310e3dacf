"""Answers of readers: whatever they are, they are read as far as they go, and compared with what the bytes say."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any

from lakelens.practice.exercise import Wrong

_MOST = 10_000  # parts of an answer that are looked at
_LONGEST = 60  # digits of a number
_PLAIN = (bool, int, float, str, bytes, Decimal, date, time)
_WHOLE = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)")
_HEX_MARKS = re.compile(r"0x|\\x|[\s:,_-]", re.IGNORECASE)


class Record(dict[str, Any]):
    """The values of a nested row by their names, which an answer may give as a list in their order too."""


def unwrap(answer: Any) -> Any:
    """A value of NumPy, pandas or Arrow, or a decoded row, as Python's own; all else as it is.

    >>> unwrap(bytearray(b"a")), unwrap(range(2))
    (b'a', [0, 1])
    """
    if isinstance(answer, bytearray | memoryview):
        return bytes(answer)
    if isinstance(answer, range):
        return list(answer[:_MOST])
    home = type(answer).__module__.partition(".")[0]
    if home == "lakelens" and hasattr(answer, "to_dict"):
        return answer.to_dict()  # a row that was decoded
    if home == "pyarrow":
        return answer.to_pylist() if hasattr(answer, "to_pylist") else _call(answer, "as_py")
    if home in ("numpy", "pandas", "polars"):
        return _unwrap_foreign(answer)
    return answer


def _unwrap_foreign(answer: Any) -> Any:
    """A value, a column or a frame of NumPy, pandas or polars as Python's own."""
    if type(answer).__name__ in ("NaTType", "NAType"):
        return None
    if type(answer).__name__ == "datetime64":  # days are a date, and nanoseconds would be a number
        is_day = "D" in str(answer.dtype)
        return answer.tolist() if is_day else answer.astype("datetime64[us]").tolist()
    if hasattr(answer, "columns") and hasattr(answer, "to_dict"):  # a frame: its rows
        return answer.to_dicts() if hasattr(answer, "to_dicts") else answer.to_dict(orient="records")
    if hasattr(answer, "index") and hasattr(answer, "to_dict"):  # a row of a frame has the names of columns
        named = answer.to_dict()
        return named if named and all(isinstance(name, str) for name in named) else answer.tolist()
    if hasattr(answer, "to_list"):
        return answer.to_list()
    return _call(answer, "tolist")


def _call(answer: Any, method: str) -> Any:
    return getattr(answer, method)() if hasattr(answer, method) else answer


def quote(answer: Any) -> str:
    """Quote an answer in a few characters; what is not one of Python's own values only by its type.

    >>> quote("ab"), quote([1, None]), quote({2}), quote(object())
    ("'ab'", '[1, None]', '{2}', 'an object')
    """
    answer = unwrap(answer)
    if answer is None or type(answer) in _PLAIN:
        text = str(answer) if isinstance(answer, Decimal | date | time) else repr(answer)
        return text if len(text) <= 60 else f"{text[:57]}…"
    if isinstance(answer, datetime):
        return str(answer)
    if type(answer) in (list, tuple) or (type(answer) in (set, frozenset) and answer):
        shown = ", ".join(quote(part) for part in islice(answer, 5)) + (", …" if len(answer) > 5 else "")
        return f"{{{shown}}}" if isinstance(answer, Set) else f"[{shown}]"
    noun = type(answer).__name__
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def name_kind(expected: Any) -> str:
    """Name what kind of value is expected, without which one it is.

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
        (Record, "a dict by name, or a list in order"),
        (Mapping, "a dict"),
        (Sequence, "a list, whose order counts"),
    )
    return next((noun for kind, noun in kinds if isinstance(expected, kind)), "None")


def is_kind(expected: Any, answer: Any) -> bool:
    """Check whether an answer is of the kind that is expected; None is of every kind."""
    return unwrap(answer) is None or expected is None or convert(expected, answer) is not None


def convert(expected: Any, answer: Any) -> Any:
    """Convert an answer to the kind of the value that is expected; None where it is of another kind.

    Numbers, dates and times may be texts, bytes hexadecimal digits in any of their notations; a dict may be pairs. An
    instant is one in UTC, whatever zone it is written in.

    >>> convert(5, "1,024"), convert(b"", "0x2c01"), convert(date(2024, 1, 1), "2024-01-31T00:00"), convert(5, True)
    (1024, b',\\x01', datetime.date(2024, 1, 31), None)
    """
    answer = unwrap(answer)
    try:
        if isinstance(expected, bool):
            flag = (
                {"true": True, "false": False}.get(answer.strip().lower())
                if isinstance(answer, str)
                else answer
            )
            return flag if isinstance(flag, bool) else None
        if isinstance(answer, bool):
            return None
        if isinstance(expected, int | float | Decimal):
            return _convert_number(expected, answer)
        if isinstance(expected, datetime | date | time):
            return _convert_time(expected, answer)
        if isinstance(expected, bytes):
            return _convert_bytes(answer)
        if isinstance(expected, Mapping):
            return _convert_mapping(expected, answer)
        kind = str if isinstance(expected, str) else (list, tuple)
        return answer if isinstance(answer, kind) else None
    except (ValueError, OverflowError, InvalidOperation, TypeError):
        return None


def _convert_number(expected: float | Decimal, answer: Any) -> float | Decimal | None:
    if isinstance(answer, str):
        text = answer.strip().replace("\u2212", "-").replace("_", "")
        if len(text) > _LONGEST:
            return None
        if text.lower().lstrip("+-").startswith("0x"):
            answer = int(text, 16)
        else:
            answer = Decimal(text.replace(",", "") if _WHOLE.fullmatch(text) else text)
    if not isinstance(answer, int | float | Decimal):
        return None
    if isinstance(expected, int):
        is_short = not isinstance(answer, Decimal) or answer.adjusted() < _LONGEST
        return int(answer) if is_short and answer == int(answer) else None
    return float(answer) if isinstance(expected, float) else Decimal(str(answer))


def _convert_time(expected: date | time, answer: Any) -> date | time | None:
    if isinstance(expected, time):
        read = time.fromisoformat(answer.strip()) if isinstance(answer, str) else answer
        return read if isinstance(read, time) else None
    read = datetime.fromisoformat(answer.strip()) if isinstance(answer, str) else answer
    if isinstance(read, datetime):
        read = datetime.combine(read.date(), read.time(), read.tzinfo)  # pandas has a kind of its own
        read = read.astimezone(UTC).replace(tzinfo=None) if read.tzinfo is not None else read
        if isinstance(expected, datetime):
            return read
        return read.date() if read.time() == time() else None
    return read if isinstance(read, date) and not isinstance(expected, datetime) else None


def _convert_bytes(answer: Any) -> bytes | None:
    if isinstance(answer, list | tuple) and all(isinstance(part, str) for part in answer):
        answer = " ".join(answer)
    if isinstance(answer, str):
        return bytes.fromhex(_HEX_MARKS.sub("", answer))
    if isinstance(answer, list | tuple) and all(type(part) is int for part in answer):
        return bytes(answer)
    return answer if isinstance(answer, bytes) else None


def _convert_mapping(expected: Mapping[Any, Any], answer: Any) -> Mapping[Any, Any] | None:
    if isinstance(answer, Mapping):
        return answer
    if not isinstance(answer, list | tuple):
        return None
    if isinstance(expected, Record):
        return dict(zip(expected, answer, strict=True))
    if all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in answer):
        pairs = dict(answer)
        return pairs if len(pairs) == len(answer) else None
    return None


def find_key(mapping: Mapping[Any, Any], wanted: Any) -> Any:
    """Find the key of an answer that is the expected one, or the same as a text; None where it is not there.

    >>> find_key({258: 1}, "258")
    258
    """
    return next((key for key in mapping if key == wanted or str(key) == str(wanted)), None)


def is_same(expected: Any, answer: Any) -> bool:
    """Check whether an answer is the value that is expected; a time without a zone is one in UTC.

    >>> is_same(Decimal("1.50"), 1.5), is_same(date(2024, 1, 31), "2024-01-31"), is_same(1, True)
    (True, True, False)
    """
    if expected is None or unwrap(answer) is None:
        return unwrap(answer) is None and expected is None
    given = convert(expected, answer)
    if given is None:
        return False
    if isinstance(expected, float):
        return is_same_float(expected, given)
    if isinstance(expected, datetime):
        expected = expected.astimezone(UTC) if expected.tzinfo is not None else expected
        return bool(expected.replace(tzinfo=None) == given)
    if isinstance(expected, Mapping):
        keys = [find_key(given, key) for key in expected]
        return len(given) == len(expected) and all(
            key is not None and is_same(value, given[key])
            for key, value in zip(keys, expected.values(), strict=True)
        )
    if isinstance(expected, list | tuple):
        return len(expected) == len(given) and all(map(is_same, expected, given))
    return bool(expected == given)


def is_same_float(expected: float, given: float) -> bool:
    """Check whether a number is the one expected; of one that four bytes hold, the digits by which these differ.

    >>> is_same_float(0.10000000149011612, 0.1), is_same_float(0.1, 0.1000001)
    (True, False)
    """
    if expected == given or math.isnan(expected) or math.isnan(given):
        return expected == given or (math.isnan(expected) and math.isnan(given))
    try:
        held = struct.pack("<f", expected)
        return struct.unpack("<f", held)[0] == expected and struct.pack("<f", given) == held
    except OverflowError:
        return False


def read_fields(answer: Any, names: Sequence[str]) -> list[Any] | Wrong:
    """Read the values of an answer in the order of some fields, or what keeps it from being one.

    >>> read_fields({"name": "a", "id": 1}, ["id", "name"]), read_fields([1], ["id", "name"])
    ([1, 'a'], Wrong(field='field 2, `name`', reason='no value for it: 2 are expected, you gave 1'))
    """
    answer = unwrap(answer)
    if isinstance(answer, list | tuple) and len(answer) == 1 and isinstance(answer[0], Mapping):
        answer = answer[0]  # a table of one row
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
    """Whole numbers in any collection of them, as texts too; one alone, or a text of several.

    >>> read_numbers({3, 1}, "positions"), read_numbers(7, "positions"), read_numbers("1, 3", "positions")
    ([1, 3], [7], [1, 3])
    """
    answer = unwrap(answer)
    if isinstance(answer, str) and (parts := re.findall(r"[^\s,;\[\](){}]+", answer)):
        answer = parts
    elif isinstance(answer, int) and not isinstance(answer, bool):
        answer = [answer]
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        return Wrong("", f"expected {what} as a list of whole numbers, not {quote(answer)}")
    numbers = []
    for part in islice(answer, _MOST):
        number = convert(0, part)
        if number is None:
            return Wrong("", f"expected {what} as a list of whole numbers; {quote(part)} is none")
        numbers.append(number)
    return sorted(numbers)


def format_answer(value: Any) -> str:
    """Format a value as a reader would type it: what a solution shows."""
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{format_answer(key)}: {format_answer(held)}" for key, held in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(format_answer, value)) + "]"
    return str(value) if isinstance(value, Decimal | date | datetime | time) else repr(value)
