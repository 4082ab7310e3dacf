"""How many files overlap a value equals a count of them one by one: random bounds of every type, and tables of engines."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest

import lakelens as ll
from lakelens.analysis.health.clustering import (
    _UNORDERED,
    ColumnDepth,
    count_depths,
    list_quantiles,
    measure_column,
)
from lakelens.errors import LakeError
from lakelens.model.schema import DataType
from tests.support import LAKES

_EPOCH = datetime(2024, 1, 1)
_Draw = Callable[[random.Random], Any]
_TYPES: dict[str, tuple[DataType, pa.DataType, _Draw]] = {
    "int": (DataType("int", "int32"), pa.int32(), lambda r: r.randint(-40, 40)),
    "long": (DataType("long", "int64"), pa.int64(), lambda r: r.choice([-(2**63), 2**63 - 1, 0, 5, -5])),
    "boolean": (DataType("boolean", "boolean"), pa.bool_(), lambda r: r.random() < 0.5),
    "float": (
        DataType("float", "float32"),
        pa.float32(),
        lambda r: r.choice([0.0, -0.0, 1.5, -1.5, math.inf, -math.inf]),
    ),
    "double": (
        DataType("double", "float64"),
        pa.float64(),
        lambda r: r.choice([-0.0, 0.0, r.gauss(0, 2), 1e300]),
    ),
    "decimal": (
        DataType("decimal(12, 2)", "decimal", precision=12, scale=2),
        pa.decimal128(12, 2),
        lambda r: Decimal(r.randint(-9_999, 9_999)).scaleb(-2),
    ),
    "wide decimal": (
        DataType("decimal(50, 3)", "decimal", precision=50, scale=3),
        pa.decimal256(50, 3),
        lambda r: Decimal(r.randint(-(10**40), 10**40)).scaleb(-3),
    ),
    "date": (
        DataType("date", "date"),
        pa.date32(),
        lambda r: date(2024, 1, 1) + timedelta(r.randint(-60, 60)),
    ),
    "timestamp": (
        DataType("timestamp", "timestamp", precision=6),
        pa.timestamp("us"),
        lambda r: _EPOCH + timedelta(microseconds=r.randint(0, 50)),
    ),
    "timestamptz": (
        DataType("timestamptz_ns", "timestamptz", precision=9),
        pa.timestamp("ns", "UTC"),
        lambda r: r.randint(0, 10**18),
    ),
    "time": (DataType("time", "time", precision=6), pa.time64("us"), lambda r: r.randint(0, 86_399_999_999)),
    "string": (
        DataType("string", "string"),
        pa.string(),
        lambda r: "".join(r.choice("abzé\U0001f600") for _ in range(r.randint(0, 3))),
    ),
    "binary": (DataType("binary", "binary"), pa.binary(), lambda r: r.randbytes(r.randint(0, 2))),
    "fixed": (DataType("fixed[2]", "fixed", length=2), pa.binary(2), lambda r: r.randbytes(2)),
    "uuid": (DataType("uuid", "uuid"), pa.uuid(), lambda r: UUID(int=r.randint(0, 30) << 120)),
}


def _key(value: Any) -> Any:
    """A value in the order of its type: text by its bytes."""
    if isinstance(value, str):
        return value.encode()
    return value.bytes if isinstance(value, UUID) else value


def _make_figures(lower: list[Any], upper: list[Any], kind: pa.DataType, groups: list[int]) -> Any:
    stored = {"lower_bounds": lower, "upper_bounds": upper}

    def make(values: list[Any]) -> pa.Array:
        if isinstance(kind, pa.UuidType):
            plain = [None if value is None else value.bytes for value in values]
            return pa.ExtensionArray.from_storage(kind, pa.array(plain, pa.binary(16)))
        return pa.array(values, kind)

    arrays = {name: make(values) for name, values in stored.items()}
    return SimpleNamespace(
        stat=lambda name, leaf: arrays.get(name),
        data=np.arange(len(lower)),
        rows=np.ones(len(lower), np.int64),
        partition=np.array(groups),
        partitions=sorted(set(groups)),
    )


def _count_one_by_one(lower: list[Any], upper: list[Any], groups: list[int]) -> list[int]:
    """The depth at each bound by comparing every file with it."""
    return sorted(
        sum(low <= point <= high and of == group for low, high, of in zip(lower, upper, groups, strict=True))
        for bounds in (lower, upper)
        for point, group in zip(bounds, groups, strict=True)
    )


def _check(found: ColumnDepth, lower: list[Any], upper: list[Any], groups: list[int]) -> None:
    whole = _count_one_by_one(lower, upper, [0] * len(lower))
    inside = _count_one_by_one(lower, upper, groups)
    assert found.files == len(lower)
    assert (found.worst, found.inside_worst) == (whole[-1], inside[-1])
    assert found.mean == pytest.approx(sum(whole) / len(whole))
    assert found.inside_mean == pytest.approx(sum(inside) / len(inside))
    assert found.quantiles == tuple(whole[math.ceil(len(whole) * n / 20) - 1] for n in range(1, 21))


@pytest.mark.parametrize("name", _TYPES)
@pytest.mark.parametrize("count", [1, 2, 37])
def test_depth_equals_a_count_of_files_one_by_one(name: str, count: int) -> None:
    kind, arrow, draw = _TYPES[name]
    chance = random.Random(f"{name} {count}")
    pairs = [sorted((draw(chance), draw(chance)), key=_key) for _ in range(count)]
    lower, upper = [low for low, _ in pairs], [high for _, high in pairs]
    groups = [chance.randint(0, 3) for _ in pairs]
    found = measure_column(_make_figures(lower, upper, arrow, groups), "x", kind)
    assert found is not None
    _check(found, [_key(one) for one in lower], [_key(one) for one in upper], groups)


def test_files_without_an_order_are_counted_apart() -> None:
    lower = [1.0, math.nan, None, 9.0, 2.0, None]
    upper = [3.0, 5.0, 4.0, 8.0, 2.0, None]
    figures = _make_figures(lower, upper, pa.float64(), [0] * 6)
    found = measure_column(figures, "x", DataType("double", "float64"))
    assert found is not None
    assert (found.files, found.unbounded, found.reversed, found.worst) == (2, 3, 1, 2)
    figures.stat = {
        ("lower_bounds", "x"): pa.array([1, None, None]),
        ("upper_bounds", "x"): pa.array([1, None, None]),
        ("null_counts", "x"): pa.array([0, 4, 1]),
        ("value_counts", "x"): pa.array([4, 4, 4]),
    }.get
    figures.stat = lambda name, leaf, known=figures.stat: known((name, leaf))
    figures.data, figures.partition = np.arange(3), np.zeros(3, int)
    found = measure_column(figures, "x", DataType("long", "int64"))
    assert found is not None
    assert (found.files, found.unbounded, found.empty) == (1, 1, 1)


def test_the_value_that_most_files_hold_is_one_of_theirs() -> None:
    figures = _make_figures(["a", "k", "m", "z"], ["b", "p", "n", "zz"], pa.string(), [0] * 4)
    found = measure_column(figures, "x", DataType("string", "string"))
    assert found is not None
    assert (found.worst, found.worst_at) == (2, "m")


def test_types_without_an_order_and_columns_without_bounds_have_no_depth() -> None:
    figures = _make_figures([b"a"], [b"b"], pa.binary(), [0])
    assert measure_column(figures, "x", DataType("geometry", "geometry")) is None
    figures = _make_figures([None], [None], pa.int32(), [0])
    assert measure_column(figures, "x", DataType("int", "int32")) is None


def test_groups_so_far_apart_that_numbers_would_overflow_are_ranked() -> None:
    low, high = np.array([-(2**63), 0, 5]), np.array([2**63 - 1, 9, 5])
    depths, _ = count_depths(low, high, np.array([0, 1_000, 1_000]))
    assert sorted(depths.tolist()) == _count_one_by_one(low.tolist(), high.tolist(), [0, 1, 1])


def test_quantiles_are_values_that_are_there() -> None:
    depths = np.random.default_rng(3).integers(1, 50, 333)
    ordered = sorted(depths.tolist())
    assert list_quantiles(depths) == tuple(ordered[math.ceil(333 * n / 20) - 1] for n in range(1, 21))


_LAKES = sorted(path for path in LAKES.glob("*/**/table") if path.is_dir())[::9]


@pytest.mark.parametrize("path", _LAKES, ids=lambda path: str(path.parent.relative_to(LAKES)))
def test_depth_of_a_table_equals_a_count_over_its_bounds(path: Any) -> None:
    try:
        table = ll.open(path)
    except LakeError:
        pytest.skip("a view")
    if table.traits.files_are_listed or not len(table.files):
        pytest.skip("no bounds are recorded")
    files = table.files.to_arrow()
    files = files.filter(pa.compute.equal(files["content"], "data"))
    partitions = files["partition"].to_pylist()
    columns = table.health().parts.columns
    for name, field in table.schema.leaves():
        if field.type.logical in _UNORDERED or name not in _list_names(files["lower_bounds"].type):
            continue
        ends = [[_as_stored(row[name]) for row in files[side]] for side in ("lower_bounds", "upper_bounds")]
        known = [
            (low, high, partition)
            for low, high, partition in zip(*ends, partitions, strict=True)
            if low is not None and high is not None and low <= high
        ]
        found = columns.get(name)
        if not known:
            assert found is None, name
            continue
        codes = {one: number for number, one in enumerate(sorted({one for _, _, one in known}))}
        assert found is not None, name
        _check(found, [k[0] for k in known], [k[1] for k in known], [codes[k[2]] for k in known])


def _list_names(kind: pa.StructType) -> list[str]:
    return [kind[place].name for place in range(kind.num_fields)]


def _as_stored(value: Any) -> Any:
    """A bound as it is ordered: times as counts, text as bytes, what has no order as nothing."""
    kind = value.type
    if not value.is_valid:
        return None
    if isinstance(kind, pa.UuidType):
        return value.as_py().bytes
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return value.value
    return _key(value.as_py())
