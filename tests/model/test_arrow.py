"""Values to Arrow, exactly."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lakelens.model.arrow import arrow_type, text_array, to_array
from lakelens.model.schema import DataType, Field, Schema


@pytest.mark.parametrize(
    ("value", "kind", "ticks"),
    [
        (date(1969, 12, 31), pa.date32(), -1),
        (np.datetime64("20000-01-01", "D"), pa.date32(), 6585322),
        (datetime(1969, 12, 31, 23, 59, 59, 999999), pa.timestamp("us"), -1),
        (datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), pa.timestamp("us", "UTC"), 0),
        (pd.Timestamp(1_700_000_000_123_456_789), pa.timestamp("ns"), 1_700_000_000_123_456_789),
        (pd.Timestamp(-1), pa.timestamp("ns"), -1),
        (datetime(2024, 1, 1, tzinfo=UTC), pa.timestamp("ms", "UTC"), 1_704_067_200_000),
        (np.datetime64(-(2**62), "us"), pa.timestamp("us"), -(2**62)),
    ],
)
def test_moments_keep_every_tick(value, kind, ticks):
    array = to_array([value, None], kind)
    assert array.type == kind
    width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    assert array.view(width).to_pylist() == [ticks, None]


def test_other_values():
    assert to_array([uuid.UUID(int=5), None], pa.uuid()).storage.to_pylist() == [uuid.UUID(int=5).bytes, None]
    assert to_array([Decimal("-123.45")], pa.decimal128(10, 2)).to_pylist() == [Decimal("-123.45")]
    assert to_array([2**63 - 1, -(2**63)], pa.int64()).to_pylist() == [2**63 - 1, -(2**63)]


def test_a_value_that_does_not_fit_costs_only_itself():
    assert to_array([1, "x", 2**70, 3], pa.int64()).to_pylist() == [1, None, None, 3]


def test_names_that_are_no_text_are_shown_and_not_lost():
    said = ["k=1/é", "k=\\xff/f", "\\ud800"]
    names = ["k=1/é", "k=\udcff/f", "\ud800"]
    assert text_array(names).to_pylist() == to_array(names, pa.string()).to_pylist() == said
    assert text_array([None, "a"]).to_pylist() == [None, "a"]


def test_a_value_of_another_type_is_null():
    assert to_array([7, date(1970, 1, 2), "x"], pa.date32()).to_pylist() == [None, date(1970, 1, 2), None]
    assert to_array([7, "x"], pa.timestamp("us")).null_count == 2


def test_nested_types_of_a_schema():
    leaf = Field(2, "a", DataType("int", "int32"), nullable=False)
    element = Field(5, "element", DataType("string", "string"))
    schema = Schema(
        3,
        (
            Field(1, "st", DataType("struct<a: int>", "struct", children=(leaf,)), doc="nested"),
            Field(4, "arr", DataType("list<string>", "list", children=(element,))),
        ),
    )
    assert [name for name, _ in schema.leaves()] == ["st.a", "arr.element"]
    assert schema.field(2) is leaf and schema.field("st.a") is leaf
    with pytest.raises(KeyError):
        schema.field("nothing")
    made = schema.to_arrow()
    assert made.field("st").type == pa.struct([pa.field("a", pa.int32(), False)])
    assert made.field("arr").type == pa.list_(pa.field("element", pa.string()))
    assert made.field("st").metadata[b"PARQUET:field_id"] == b"1"


def test_every_logical_type_has_an_arrow_type():
    assert arrow_type(DataType("time(3)", "time", precision=3)) == pa.time32("ms")
    assert arrow_type(DataType("fixed[4]", "fixed", length=4)) == pa.binary(4)
    assert arrow_type(DataType("decimal(50, 2)", "decimal", precision=50, scale=2)) == pa.decimal256(50, 2)
    assert arrow_type(DataType("geometry", "geometry")) == pa.binary()
