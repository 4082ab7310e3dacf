"""Small documents of JSON that are one object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lakelens.errors import Corrupt


def parse_object(
    data: bytes | str, path: str | None = None, what: str = "the document", **numbers: Any
) -> dict[str, Any]:
    """Parse a document that is one object; `parse_float` is what makes a number of one with a point. Raises `Corrupt`.

    >>> parse_object(b'{"version": 3}')
    {'version': 3}
    """
    try:
        held = json.loads(data, **numbers)
    except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise Corrupt(f"{what} is no JSON: {error}", path=path, expected="{…}", seen=data) from None
    if not isinstance(held, dict):
        raise Corrupt(f"{what} is no object", path=path, expected="{…}", seen=held)
    return held


def find_object(data: Any) -> dict[str, Any]:
    """Find the object that a value or a text is; an empty one for anything else.

    >>> find_object('{"a": 1}'), find_object({"a": 1}), find_object("[1]"), find_object(None)
    ({'a': 1}, {'a': 1}, {}, {})
    """
    if isinstance(data, dict):
        return data
    try:
        return parse_object(data) if isinstance(data, bytes | str) else {}
    except Corrupt:
        return {}


def read_text(held: Mapping[str, Any], name: str) -> str | None:
    """Read a field that is a text; None where it is none, or nothing.

    >>> read_text({"a": "x", "b": 1}, "a"), read_text({"b": 1}, "b")
    ('x', None)
    """
    found = held.get(name)
    return found if isinstance(found, str) else None
