"""Conditions as pyiceberg's expressions, and which files pyiceberg plans to read for them."""

from __future__ import annotations

from datetime import date, datetime
from functools import reduce
from typing import Any
from uuid import UUID

from lakelens.model.stats import Condition, Constant, Group, Term


class Unsaid(Exception):
    """A comparison that pyiceberg's expressions do not have."""


def build_expression(condition: Condition) -> Any:
    """A condition as an expression of pyiceberg. What is not exact says less than the predicate, for both."""
    from pyiceberg import expressions as px

    if isinstance(condition, Constant):
        return px.AlwaysTrue() if condition.value else px.AlwaysFalse()
    if isinstance(condition, Group):
        join = px.And if condition.kind == "and" else px.Or
        return reduce(lambda one, other: join(one, other), map(build_expression, condition.parts))
    return _build_term(condition)


def _build_term(term: Term) -> Any:
    from pyiceberg import expressions as px

    plain = {"is null": px.IsNull, "is not null": px.NotNull, "is nan": px.IsNaN, "is not nan": px.NotNaN}
    if term.test in plain:
        return plain[term.test](term.column)
    values = [_plain(value) for value in term.values]
    if term.test in ("in", "not in"):
        return (px.In if term.test == "in" else px.NotIn)(term.column, set(values))
    single = {
        "=": px.EqualTo,
        "!=": px.NotEqualTo,
        "<": px.LessThan,
        "<=": px.LessThanOrEqual,
        ">": px.GreaterThan,
        ">=": px.GreaterThanOrEqual,
        "starts with": px.StartsWith,
        "not starts with": px.NotStartsWith,
    }
    return single[term.test](term.column, values[0])


def _plain(value: Any) -> Any:
    """A literal as pyiceberg takes it: times and dates as text."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID | str | bool | int | float | bytes):
        return value
    if type(value).__name__ == "Decimal":
        return value
    raise Unsaid(type(value).__name__)


def list_planned(table: Any, condition: Condition) -> set[str]:
    """The names of the data files that pyiceberg plans to read."""
    scan = table.scan(row_filter=build_expression(condition))
    return {task.file.file_path.rsplit("/", 1)[-1] for task in scan.plan_files()}
