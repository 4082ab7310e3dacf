"""Conditions evaluated in Python, one row at a time: slow, and without a look at how lakelens judges ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from lakelens.model.stats import Condition, Constant, Group, Term


def evaluate(condition: Condition, row: Mapping[str, Any]) -> bool:
    """Whether a row is one for which a condition is true; values as terms have them."""
    if isinstance(condition, Constant):
        return condition.value
    if isinstance(condition, Group):
        found = (evaluate(part, row) for part in condition.parts)
        return all(found) if condition.kind == "and" else any(found)
    value = row[condition.column]
    if condition.test in ("is null", "is not null"):
        return (value is None) == (condition.test == "is null")
    return value is not None and _compare(condition, value)


def _compare(term: Term, value: Any) -> bool:
    """A comparison with a value; NaN is above every number, and equal to itself."""
    rank = _rank(value)
    wanted = [_rank(one) for one in term.values]
    is_nan = isinstance(value, float) and value != value
    tests: dict[str, Callable[[], bool]] = {
        "=": lambda: rank == wanted[0],
        "!=": lambda: rank != wanted[0],
        "<": lambda: bool(rank < wanted[0]),
        "<=": lambda: bool(rank <= wanted[0]),
        ">": lambda: bool(rank > wanted[0]),
        ">=": lambda: bool(rank >= wanted[0]),
        "in": lambda: rank in wanted,
        "not in": lambda: rank not in wanted,
        "starts with": lambda: value.startswith(term.values[0]),
        "not starts with": lambda: not value.startswith(term.values[0]),
        "is nan": lambda: is_nan,
        "is not nan": lambda: not is_nan,
    }
    return tests[term.test]()


def _rank(value: Any) -> Any:
    if isinstance(value, float):
        return (value != value, 0.0 if value != value else value)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, UUID):
        return value.bytes
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.replace(tzinfo=None)
    return value
