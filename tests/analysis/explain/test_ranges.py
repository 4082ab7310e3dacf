"""What ranges prove of a comparison holds of every row in them, whatever is known of the rows."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, get_args
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.ranges import Ranges, Verdict, judge
from lakelens.model.schema import DataType
from lakelens.model.stats import Term, Test
from tests.support.evaluation import evaluate

_FLOATS = st.sampled_from([0.0, -0.0, 1.5, -1.5, 1e30, math.inf, -math.inf, math.nan]) | st.floats(width=32)
_VALUES: dict[DataType, st.SearchStrategy[Any]] = {
    DataType("boolean", "boolean"): st.booleans(),
    DataType("int", "int32"): st.integers(-3, 3) | st.integers(-(2**31), 2**31 - 1),
    DataType("long", "int64"): st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1),
    DataType("float", "float32"): _FLOATS,
    DataType("double", "float64"): _FLOATS | st.floats(),
    DataType("decimal(9, 2)", "decimal", precision=9, scale=2): st.decimals(-9999999, 9999999, places=2),
    DataType("decimal(38, 10)", "decimal", precision=38, scale=10): st.decimals(-(10**27), 10**27, places=10),
    DataType("date", "date"): st.dates(),
    DataType("timestamp", "timestamp", precision=6): st.datetimes(),
    DataType("timestamptz", "timestamptz", precision=6): st.datetimes(timezones=st.just(UTC)),
    DataType("string", "string"): st.text("ab\uffff\U00010000", max_size=3) | st.text(max_size=5),
    DataType("binary", "binary"): st.binary(max_size=3),
    DataType("fixed[2]", "fixed", length=2): st.binary(min_size=2, max_size=2),
    DataType("uuid", "uuid"): st.uuids(),
}
_MANY = ("in", "not in")
_TEXT = ("starts with", "not starts with")
_NAN = ("is nan", "is not nan")
_PLAIN = ("is null", "is not null")


def _choose_tests(kind: DataType) -> list[Any]:
    tests = [one for one in get_args(Test) if one not in (*_TEXT, *_NAN)]
    tests += _TEXT if kind.logical == "string" else ()
    return [*tests, *(_NAN if kind.logical.startswith("float") else ())]


@st.composite
def make_cases(draw: st.DrawFn, kind: DataType) -> tuple[Term, list[list[Any]], Ranges]:
    """A comparison, the rows of some items, and what is known of them: all of it, some, or bounds that are wider."""
    test = draw(st.sampled_from(_choose_tests(kind)))
    value = _VALUES[kind]
    items = draw(st.lists(st.lists(st.none() | value, max_size=4), min_size=1, max_size=4))
    count = 0 if test in (*_PLAIN, *_NAN) else draw(st.integers(1, 4)) if test in _MANY else 1
    near = [one for rows in items for one in rows if one is not None and one == one]
    literals = (st.sampled_from(near) if near else value) | value.filter(lambda one: one == one)
    values = tuple(draw(literals) for _ in range(count))
    term = Term(test, "x", kind, test, values, None, draw(st.booleans()) or test in _PLAIN)
    return term, items, draw(make_ranges(kind, items))


@st.composite
def make_ranges(draw: st.DrawFn, kind: DataType, items: list[list[Any]]) -> Ranges:
    """Bounds and counts as writers record them: without NaN, perhaps cut short, perhaps not at all."""
    ends: list[tuple[Any, Any]] = []
    counts: list[tuple[int | None, ...]] = []
    for rows in items:
        plain = sorted((one for one in rows if one is not None and one == one), key=_order)
        low, high = (plain[0], plain[-1]) if plain else (None, None)
        if kind.logical in ("string", "binary") and low is not None and draw(st.booleans()):
            low, high = _cut(low, high, draw(st.integers(0, 3)))
        ends.append((low if draw(st.integers(0, 9)) else None, high if draw(st.integers(0, 9)) else None))
        known = (sum(one is None for one in rows), len(rows), sum(one != one for one in rows))
        counts.append(tuple(one if draw(st.integers(0, 4)) else None for one in known))
    nulls, values, nans = (pa.array(one, pa.int64()) for one in zip(*counts, strict=True))
    return Ranges(*(_make_array(list(one), kind) for one in zip(*ends, strict=True)), nulls, values, nans)


def _order(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value.bytes if isinstance(value, UUID) else value


def _cut(low: Any, high: Any, length: int) -> tuple[Any, Any]:
    """Bounds of text and bytes cut short: the upper one is then above all that begins so."""
    end = high.encode() if isinstance(high, str) else high
    if len(high) <= length:
        return low[:length], high
    begin = (high[:length].encode() if isinstance(high, str) else end[:length]).rstrip(b"\xff")
    return low[:length], begin[:-1] + bytes([begin[-1] + 1]) if begin else None


def _make_array(values: list[Any], kind: DataType) -> pa.Array:
    """Bounds as an array; as bytes where one of them is no text."""
    if kind.logical == "string" and any(isinstance(one, bytes) for one in values):
        return pa.array([one.encode() if isinstance(one, str) else one for one in values], pa.binary())
    return to_array(values, arrow_type(kind))


def fits(term: Term, value: Any) -> bool:
    return evaluate(term, {"x": value})


@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize("kind", _VALUES, ids=str)
@settings(max_examples=200)
@given(data=st.data())
def test_what_is_proved_of_a_range_holds_of_its_rows(kind: DataType, data: st.DataObject) -> None:
    term, items, ranges = data.draw(make_cases(kind))
    verdict = judge(term, ranges)
    assert len(verdict.none) == len(verdict.all) == len(items)
    for number, rows in enumerate(items):
        if verdict.none[number]:
            assert not any(fits(term, one) for one in rows), (term, rows)
        if verdict.all[number]:
            assert all(fits(term, one) for one in rows), (term, rows)
        assert not (verdict.none_by_nulls[number] and not verdict.none[number])


def judge_one(kind: DataType, test: Test, value: Any, rows: list[Any]) -> Verdict:
    """What is proved where everything is known."""
    plain = sorted((one for one in rows if one is not None and one == one), key=_order)
    ends = [to_array([one], arrow_type(kind)) for one in ((plain[0], plain[-1]) if plain else (None, None))]
    nulls, nans = sum(one is None for one in rows), sum(one != one for one in rows)
    counts = (pa.array([one], pa.int64()) for one in (nulls, len(rows), nans))
    return judge(Term(test, "x", kind, test, (value,)), Ranges(*ends, *counts))


@st.composite
def make_single(draw: st.DrawFn) -> tuple[DataType, Any, Any]:
    kind = draw(st.sampled_from([one for one in _VALUES if one.logical != "float32"]))
    value = _VALUES[kind].filter(lambda one: one == one)
    return kind, draw(value), draw(value)


@given(make_single(), st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
@example((DataType("date", "date"), date(1, 1, 1), date(9999, 12, 31)), "<")
@example((DataType("timestamp", "timestamp", precision=6), datetime.min, datetime.max), ">")
@example(
    (DataType("decimal(9, 2)", "decimal", precision=9, scale=2), Decimal("-1.05"), Decimal("-1.05")), "="
)
def test_all_is_known_of_a_single_value(case: tuple[DataType, Any, Any], test: Test) -> None:
    """Not only sound: of an item with one value, of which everything is known, each comparison is decided."""
    kind, value, literal = case
    verdict = judge_one(kind, test, literal, [value])
    held = fits(Term(test, "x", kind, test, (literal,)), value)
    assert bool(verdict.all[0]) == held and bool(verdict.none[0]) == (not held)
    with_null = judge_one(kind, test, literal, [value, None])
    assert not with_null.all[0] and bool(with_null.none[0]) == (not held)
    assert judge_one(kind, test, literal, [None]).none_by_nulls[0]


def test_a_literal_that_a_column_cannot_hold_proves_nothing() -> None:
    kind = DataType("fixed[2]", "fixed", length=2)
    for test in ("!=", "not in", "<", ">"):
        assert not judge_one(kind, test, b"too long", [b"ab", b"cd"]).none[0]  # type: ignore[arg-type]
