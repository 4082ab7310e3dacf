"""What stands for numpy and Arrow in the core answers as they do, name by name, on any items."""

from __future__ import annotations

import math
import operator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.arrays import arrow, functions, vectors

#: Types that both have, by the name and arguments that make them, with values of Python for each.
TYPES: list[tuple[str, tuple[Any, ...], st.SearchStrategy[Any]]] = [
    ("bool_", (), st.booleans()),
    ("int32", (), st.integers(-(2**31), 2**31 - 1)),
    ("int64", (), st.integers(-(2**40), 2**40)),
    ("float32", (), st.floats(width=32)),
    ("float64", (), st.floats()),
    ("string", (), st.text(max_size=6)),
    ("binary", (), st.binary(max_size=6)),
    ("binary", (4,), st.binary(min_size=4, max_size=4)),
    ("decimal128", (9, 2), st.integers(-(10**6), 10**6).map(lambda number: Decimal(number).scaleb(-2))),
    ("date32", (), st.dates()),
    ("time64", ("us",), st.times()),
    ("timestamp", ("us",), st.datetimes()),
    ("timestamp", ("ms", "UTC"), st.integers(-(10**12), 10**12)),
]
CASTS = [
    *(("int64", ()), ("int32", ()), ("int8", ()), ("float64", ()), ("float32", ()), ("string", ())),
    *(("binary", ()), ("decimal128", (12, 2)), ("timestamp", ("us",)), ("date32", ()), ("bool_", ())),
]
COMPARISONS = ("equal", "less", "less_equal", "greater", "greater_equal")


@st.composite
def make_columns(draw: st.DrawFn, count: int = 2) -> tuple[str, list[Any], list[Any]]:
    """Make columns of one type and length, theirs and ours, with nulls and values that repeat."""
    name, arguments, values = draw(st.sampled_from(TYPES))
    few = draw(st.lists(st.none() | values, min_size=1, max_size=5))
    rows = draw(st.integers(0, 12))
    given_ = [draw(st.lists(st.sampled_from(few), min_size=rows, max_size=rows)) for _ in range(count)]
    theirs = [pa.array(items, getattr(pa, name)(*arguments)) for items in given_]
    ours = [arrow.array(items, getattr(arrow, name)(*arguments)) for items in given_]
    return name, theirs, ours


def same(theirs: Any, ours: Any) -> bool:
    """Whether both hold the same; NaN equals itself."""
    return bool(repr(theirs.to_pylist()) == repr(ours.to_pylist())) or all(
        left == right or (left != left and right != right)
        for left, right in zip(theirs.to_pylist(), ours.to_pylist(), strict=True)
    )


@settings(max_examples=150, deadline=None)
@given(make_columns(), st.data())
def test_columns_answer_as_those_of_arrow(columns: Any, data: st.DataObject) -> None:
    """Nulls, choosing, sets, comparisons, distinct values and ends."""
    _, (left, right), (ours, other) = columns
    assert left.null_count == ours.null_count and same(left, ours)
    assert same(left.is_valid(), ours.is_valid()) and same(left.is_null(), ours.is_null())
    places = data.draw(st.lists(st.none() | st.integers(0, len(left) - 1), max_size=6)) if len(left) else []
    assert same(left.take(pa.array(places, pa.int64())), ours.take(places))
    mask = data.draw(st.lists(st.booleans(), min_size=len(left), max_size=len(left)))
    assert same(left.filter(pa.array(mask, pa.bool_())), ours.filter(mask))
    assert same(left.drop_null(), ours.drop_null())
    coded, own = left.dictionary_encode(), ours.dictionary_encode()
    assert same(coded.dictionary, own.dictionary) and same(coded.indices, own.indices)
    chosen = pc.if_else(pa.array(mask, pa.bool_()), left, right)
    assert same(chosen, functions.if_else(arrow.array(mask, arrow.bool_()), ours, other))
    assert same(pa.concat_arrays([left, right]), arrow.concat_arrays([ours, other]))
    if not pa.types.is_boolean(left.type):
        for name in COMPARISONS:
            assert same(getattr(pc, name)(left, right), getattr(functions, name)(ours, other)), name
    if not pa.types.is_floating(left.type):  # a NaN is in no set of ours: none is asked for
        assert same(pc.is_in(left, value_set=right), functions.is_in(ours, value_set=other))
        assert same(pc.unique(left), functions.unique(ours))
    ends, own_ends = pc.min_max(left), functions.min_max(ours)
    if not pa.types.is_floating(left.type):  # of the two zeros either is the least
        assert [ends[end].as_py() for end in ("min", "max")] == [
            own_ends[end].as_py() for end in ("min", "max")
        ]


@settings(max_examples=200, deadline=None)
@given(make_columns(1), st.sampled_from(CASTS))
def test_casts_are_those_of_arrow_or_refused(columns: Any, wanted: Any) -> None:
    """A cast gives the same, or what it cannot do is an error: never another value."""
    _, (theirs,), (ours,) = columns
    name, arguments = wanted
    try:
        own = ours.cast(getattr(arrow, name)(*arguments))
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
        return
    if name == "string" and pa.types.is_floating(theirs.type):
        return
    assert same(theirs.cast(getattr(pa, name)(*arguments)), own)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-9, 9), max_size=12), st.data())
def test_vectors_answer_as_those_of_numpy(items: list[int], data: st.DataObject) -> None:
    """Arithmetic, comparisons, choosing by masks and places, and the functions of the module."""
    theirs, ours = np.array(items, np.int64), vectors.array(items)
    for function in (operator.add, operator.sub, operator.mul, operator.lt, operator.ge, operator.eq):
        assert function(theirs, 3).tolist() == function(ours, 3).tolist()
        assert function(theirs, theirs).tolist() == function(ours, ours).tolist()
    mask, own = theirs > 0, ours > 0
    assert (mask & ~(theirs > 3) | (theirs < -5)).tolist() == (own & ~(ours > 3) | (ours < -5)).tolist()
    assert theirs[mask].tolist() == ours[own].tolist() and bool(mask.any()) == own.any()
    assert (
        int(mask.sum()) == own.sum()
        and bool(mask.all()) == own.all()
        and abs(ours).tolist() == abs(theirs).tolist()
    )
    changed, own_changed = theirs.copy(), ours.copy()
    changed[mask], own_changed[own] = 7, 7
    assert changed.tolist() == own_changed.tolist() and ours.tolist() == items
    places = data.draw(st.lists(st.integers(0, len(items) - 1), unique=True, max_size=4)) if items else []
    changed[np.array(places, np.int64)] = theirs[np.array(places, np.int64)]
    own_changed[places] = ours[places]
    assert changed.tolist() == own_changed.tolist()
    for name in ("unique", "sort", "diff", "flatnonzero"):
        assert getattr(np, name)(theirs).tolist() == getattr(vectors, name)(ours).tolist(), name
    assert np.isin(theirs, [1, 2]).tolist() == vectors.isin(ours, [1, 2]).tolist()
    assert np.where(mask, theirs, 0).tolist() == vectors.where(own, ours, 0).tolist()
    order = np.argsort(theirs, kind="stable")
    assert order.tolist() == vectors.argsort(ours, kind="stable").tolist()
    cuts = np.flatnonzero(np.diff(theirs[order])) + 1
    split = vectors.split(vectors.array(order.tolist()), vectors.array(cuts.tolist()))
    assert [part.tolist() for part in np.split(order, cuts)] == [part.tolist() for part in split]
    ordered = sorted(items)
    found = vectors.searchsorted(vectors.array(ordered), items).tolist()
    assert np.searchsorted(np.array(ordered, np.int64), theirs).tolist() == found


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int32", 2**31),
        ("int64", "1"),
        ("bool_", 1),
        ("float64", "x"),
        ("string", 5),
        ("string", "\ud800"),
        ("date32", "2024-01-01"),
        ("binary", 5),
    ],
)
def test_what_a_type_cannot_hold_is_refused_alike(kind: str, value: Any) -> None:
    """A value of another type is no item: a bound that is none proves nothing."""
    kinds = (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError, ValueError)
    with pytest.raises(kinds):
        pa.array([value], getattr(pa, kind)())
    with pytest.raises((arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError, TypeError, ValueError)):
        arrow.array([value], getattr(arrow, kind)())


def test_what_is_cut_and_joined() -> None:
    """The beginnings of bytes, lists one after the other, fields of structs, sums of decimals, NaN."""
    theirs, ours = pa.array([b"abc", None, b""]), arrow.array([b"abc", None, b""], arrow.binary())
    assert same(pc.binary_slice(theirs, 0, 2), functions.binary_slice(ours, 0, 2))
    joined = pc.binary_join_element_wise(theirs, b"\xff", b"")
    assert same(joined, functions.binary_join_element_wise(ours, b"\xff", b""))
    lists = [["a.index", None], None, [], ["b"]]
    left, right = pa.array(lists, pa.list_(pa.string())), arrow.array(lists, arrow.list_(arrow.string()))
    assert same(left.flatten(), right.flatten())
    assert same(pc.list_parent_indices(left), functions.list_parent_indices(right))
    assert same(pc.ends_with(left.flatten(), ".index"), functions.ends_with(right.flatten(), ".index"))
    numbers = [Decimal("1.50"), None, Decimal("-2.25")]
    sums = pc.add(pa.array(numbers, pa.decimal128(9, 2)), pa.scalar(Decimal("0.25"), pa.decimal128(9, 2)))
    own = functions.add(
        arrow.array(numbers, arrow.decimal128(9, 2)), arrow.scalar(Decimal("0.25"), arrow.decimal128(9, 2))
    )
    assert same(sums, own)
    floats = [1.0, math.nan, None]
    assert same(pc.is_nan(pa.array(floats)), functions.is_nan(arrow.array(floats)))
    days = [date(2024, 1, 31), None]
    assert arrow.array(days, arrow.date32()).to_pylist() == days
    moments = pa.array([datetime(1969, 12, 31, 23, 59, 59, 5)], pa.timestamp("us"))
    own_moments = arrow.array(moments.to_pylist(), arrow.timestamp("us"))
    assert same(moments.cast(pa.string()), own_moments.cast(arrow.string()))
