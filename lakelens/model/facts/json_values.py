"""Values as JSON, exactly: what JSON has no type for is text that loses nothing.

integers            numbers, all digits (64 bits and more)
NaN and infinities  "NaN", "Infinity", "-Infinity"
decimals            text, "12.50"
dates and times     ISO 8601 text; with a zone they are UTC and end in Z
bytes               lower-case hex text, two digits a byte
UUIDs               text
maps                objects; where a key is not text, arrays of [key, value]

What nests deeper than 200 is no value that a format has: that depth ends with a text that says so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

_DEEPEST = 200


def make_plain(value: Any, depth: int = 0) -> Any:
    """Make a value, which stands so deep in another, one of the types that JSON has.

    >>> make_plain({"a": b"\\x01", "b": Decimal("12.50"), "c": float("nan"), "d": 2**63})
    {'a': '01', 'b': '12.50', 'c': 'NaN', 'd': 9223372036854775808}
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return format_time(value)
    if depth > _DEEPEST:
        return f"… (nested more than {_DEEPEST} deep)"
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {str(key): make_plain(item, depth + 1) for key, item in value.items()}
        return [[make_plain(key, depth + 1), make_plain(item, depth + 1)] for key, item in value.items()]
    if isinstance(value, Sequence | set | frozenset):
        return [make_plain(item, depth + 1) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        shown = (f.name for f in fields(value) if f.name[0] != "_")
        return {name: make_plain(getattr(value, name), depth + 1) for name in shown}
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def format_time(time: datetime) -> str:
    """Format a time as ISO 8601 text; one with a zone in UTC, ending in Z.

    >>> format_time(datetime(2026, 11, 21, 11, 48, 26, 50000, tzinfo=UTC))
    '2026-11-21T11:48:26.050000Z'
    """
    if time.tzinfo is None:
        return time.isoformat()
    return time.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def write_document(facts: Mapping[str, Any]) -> Iterator[str]:
    """Write a JSON document in pieces. A value that is an iterator is an array, one item a line, none of them kept.

    Everything beyond ASCII is escaped, so that nothing in a lake acts on a terminal.
    """
    yield "{"
    for number, (name, value) in enumerate(facts.items()):
        yield f"{',' if number else ''}\n{json.dumps(name)}: "
        if isinstance(value, Iterator):
            yield from write_array(value)
        else:
            yield json.dumps(make_plain(value))
    yield "\n}\n"


def write_array(items: Iterator[Any]) -> Iterator[str]:
    """Write an array in pieces, one for each item, none of which is kept."""
    yield "["
    filled = False
    for item in items:
        yield f"{',' if filled else ''}\n{json.dumps(make_plain(item))}"
        filled = True
    yield "\n]" if filled else "]"
