"""Integers that some JSON tool wrote as text or floats made integers again, and errors of typed JSON put into words."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from lakelens.errors import Corrupt

WRONG = "a wrong value in the table metadata"
# what is below these keys is not the specification's
_OPEN_KEYS = frozenset({"properties", "summary", "blob-metadata", "schema", "schemas", "encryption-keys"})


def repair_numbers(raw: Any, integer_keys: frozenset[str], root: str = "$") -> tuple[Any, list[str]]:
    """A copy in which integers that were written as text or floats are integers again, and the places of those.

    >>> repair_numbers({"a": 7.0, "b": "8", "c": "9"}, frozenset("ab"))
    ({'a': 7, 'b': 8, 'c': '9'}, ['$.a', '$.b'])
    """
    places: list[str] = []

    def repair(value: Any, key: str, place: str) -> Any:
        if isinstance(value, dict):
            return {
                k: v if k in _OPEN_KEYS and place != "$.refs" else repair(v, k, f"{place}.{k}")
                for k, v in value.items()
            }
        if isinstance(value, list):
            return [repair(item, key, f"{place}[{i}]") for i, item in enumerate(value)]
        if key in integer_keys and isinstance(value, float | str):
            number = _to_integer(value)
            if number is not None:
                places.append(place)
                return number
        return value

    return repair(raw, "", root), places


def describe_repairs(places: list[str]) -> list[tuple[str, str]]:
    """The note (code and sentence) about repaired places; none where there are none."""
    if not places:
        return []
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    message = (
        f"integers were written as text or floats by some JSON tool, digits may be lost: "
        f"{', '.join(places[:3])}{more}"
    )
    return [("rounded-number", message)]


def _to_integer(value: float | str) -> int | None:
    try:
        return int(value) if isinstance(value, str) or value.is_integer() else None
    except ValueError:
        try:
            number = float(value)
        except ValueError:
            return None
        return int(number) if number.is_integer() else None


def move_error(error: msgspec.ValidationError, root: str) -> msgspec.ValidationError:
    """The error of a part of a document, with its place counted from the document's root.

    >>> str(move_error(msgspec.ValidationError("Expected `int`, got `str` - at `$.a`"), "$.list[7]"))
    'Expected `int`, got `str` - at `$.list[7].a`'
    """
    text, _, place = str(error).partition(" - at `")
    return msgspec.ValidationError(f"{text} - at `{root}{place.rstrip('`').removeprefix('$')}`")


def describe_number(text: bytes, path: str | None) -> Corrupt:
    """The error that says which number of a document is beyond every double.

    >>> print(describe_number(b'{"a": [1, {"b": 1e999}]}', None))
    a number beyond the range of numbers (at $.a[1].b; expected at most 1.8e308; seen 1e999)
    """
    place, stored = "$", text
    while (inner := _find_unreadable(stored)) is not None:
        step, stored = inner
        place += step
    seen = stored.decode("utf-8", "replace").strip()
    message = "a number beyond the range of numbers"
    return Corrupt(message, path=path, json_path=place, expected="at most 1.8e308", seen=seen)


def _find_unreadable(text: bytes) -> tuple[str, bytes] | None:
    """The step to the first member or item that does not decode, and its text; None for what has none."""
    children: dict[str, msgspec.Raw] | list[msgspec.Raw]
    try:
        children = msgspec.json.decode(text, type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    except msgspec.ValidationError:
        return None
    steps = (
        ((f".{key}", value) for key, value in children.items())
        if isinstance(children, dict)
        else ((f"[{number}]", value) for number, value in enumerate(children))
    )
    for step, value in steps:
        try:
            msgspec.json.decode(value)
        except msgspec.ValidationError:
            return step, bytes(value)
    return None


def describe_error(error: msgspec.ValidationError, path: str | None) -> Corrupt:
    """The error that says what is wrong at which place of the document."""
    text, _, place = str(error).partition(" - at `")
    place = place.rstrip("`") or "$"
    matched = re.fullmatch(r"Expected `(.+?)`, got `(.+)`", text)
    if matched:
        expected, seen = matched.groups()
        return Corrupt(WRONG, path=path, json_path=place, expected=expected, seen=seen)
    matched = re.fullmatch(r"Object missing required field `(.+)`", text)
    if matched:
        place = f"{place}.{matched[1]}"
        return Corrupt("a key is missing from the table metadata", path=path, json_path=place)
    return Corrupt(WRONG, path=path, json_path=place, seen=text)
