"""BinaryRows by column give what the row path gives, value by value and error by error."""

from __future__ import annotations

import datetime as dt
import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.paimon.binary_row import decode_binary_row
from lakelens.codecs.paimon.row_columns import arrow_type, arrow_value, decode_binary_rows
from lakelens.codecs.paimon.types import PaimonType, parse_field, parse_type
from lakelens.errors import Corrupt, Unsupported
from tests.codecs.paimon.test_row import EXAMPLES, name_fields, name_types, read_engine_rows
from tests.support.binary_row_encoder import encode_row, types, values


@st.composite
def tables(draw: st.DrawFn, nested: bool) -> tuple[list[PaimonType], list[bytes | None]]:
    drawn = draw(st.lists(types(nested), min_size=1, max_size=4))
    rows = draw(st.lists(st.one_of(st.none(), st.tuples(*[values(t) for t in drawn])), max_size=5))
    return drawn, [None if row is None else encode_row(drawn, list(row)) for row in rows]


def assert_same(column: pa.Array, rows: list[bytes | None], drawn: list[PaimonType]) -> None:
    decoded = decode_binary_rows(column, name_types(drawn))
    assert len(decoded) == len(rows)
    decoded.validate(full=True)
    for i, type_ in enumerate(drawn):
        array = decoded.field(i)
        expected = [None if row is None else decode_binary_row(row, name_types(drawn))[i] for row in rows]
        if pa.types.is_timestamp(array.type):
            assert array.cast(pa.int64()).to_pylist() == [
                count_since_epoch(v, array.type.unit) for v in expected
            ]
        else:
            assert array.type == arrow_type(type_)
            assert array.equals(pa.array([arrow_value(type_, value) for value in expected], array.type))
    assert decoded.is_null().to_pylist() == [row is None for row in rows]


def count_since_epoch(value: Any, unit: str) -> int | None:
    if value is None:
        return None
    per_second = {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    micros = (value.replace(tzinfo=None) - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    nanos = micros * 1000 + getattr(value, "nanosecond", 0)
    return nanos * per_second // 10**9


@given(tables(nested=False))
@settings(max_examples=300, deadline=None)
def test_columns_equal_rows(table: tuple[list[PaimonType], list[bytes | None]]) -> None:
    drawn, rows = table
    assert_same(pa.array(rows, pa.binary()), rows, drawn)


@given(tables(nested=True))
@settings(max_examples=150, deadline=None)
def test_nested_columns_equal_rows(table: tuple[list[PaimonType], list[bytes | None]]) -> None:
    drawn, rows = table
    try:
        assert_same(pa.array(rows, pa.binary()), rows, drawn)
    except Unsupported as error:
        assert "does not fit into Arrow" in str(error)  # years beyond nanoseconds inside nested values


@given(tables(nested=False), st.data())
@settings(max_examples=300, deadline=None)
def test_damage_is_refused_exactly_where_the_row_path_does(
    table: tuple[list[PaimonType], list[bytes | None]], data: st.DataObject
) -> None:
    drawn, rows = table
    present = [i for i, row in enumerate(rows) if row is not None]
    if not present:
        return
    damaged = bytearray(rows[data.draw(st.sampled_from(present))] or b"")
    for _ in range(data.draw(st.integers(1, 4))):
        bit = data.draw(st.integers(0, len(damaged) * 8 - 1))
        damaged[bit // 8] ^= 1 << bit % 8
    cut = (
        bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
        if data.draw(st.booleans())
        else bytes(damaged)
    )
    good = rows[present[0]]
    try:
        decode_binary_row(cut, name_types(drawn))
    except Corrupt as error:
        with pytest.raises(Corrupt, match="row 1: ") as caught:
            decode_binary_rows(pa.array([good, cut, good], pa.binary()), name_types(drawn))
        assert (caught.value.offset, caught.value.seen) == (error.offset, error.seen)
    else:
        assert len(decode_binary_rows(pa.array([good, cut, good], pa.binary()), name_types(drawn))) == 3


@pytest.mark.parametrize(("types", "values", "hexadecimal"), EXAMPLES, ids=range(1, 18))
def test_worked_examples_by_column(types: str, values: tuple, hexadecimal: str) -> None:
    fields = name_fields(types)
    decoded = decode_binary_rows(pa.array([bytes.fromhex(hexadecimal)] * 2, pa.binary()), fields)
    row = decode_binary_row(bytes.fromhex(hexadecimal), fields)
    for i in range(len(fields)):
        array = decoded.field(i)
        expected = decode_binary_row(row.data, fields)[i]
        assert (
            array.to_pylist()
            == pa.array([arrow_value_of(fields[i][1], expected)] * 2, array.type).to_pylist()
        )


def arrow_value_of(text: str, value: Any) -> Any:
    return arrow_value(parse_type(text), value)


@pytest.mark.parametrize("case", read_engine_rows(), ids=lambda case: case["name"])
def test_rows_of_the_java_engine_by_column(case: dict) -> None:
    rows = [bytes.fromhex(case["hex"]), None, bytes.fromhex(case["hex"])]
    assert_same(pa.array(rows, pa.binary()), rows, [parse_field(field).type for field in case["fields"]])


def test_sliced_chunked_large_and_dictionary_columns() -> None:
    fields = [("id", "INT"), ("name", "STRING")]
    types_ = [PaimonType("INT"), PaimonType("VARCHAR", length=9)]
    rows = [encode_row(types_, [i, "x" * i]) for i in range(12)]
    expected = [{"id": i, "name": "x" * i} for i in range(12)]
    column = pa.array(rows, pa.binary())
    assert decode_binary_rows(column.slice(3, 4), fields).to_pylist() == expected[3:7]
    assert decode_binary_rows(column.cast(pa.large_binary()).slice(2), fields).to_pylist() == expected[2:]
    assert decode_binary_rows(column.dictionary_encode(), fields).to_pylist() == expected
    assert decode_binary_rows(pa.chunked_array([column[:5], column[5:]]), fields).to_pylist() == expected
    assert decode_binary_rows(pa.chunked_array([], pa.binary()), fields).to_pylist() == []
    assert decode_binary_rows(pa.array([None, None], pa.binary()), fields).to_pylist() == [None, None]
    empty = bytes(12)
    assert decode_binary_rows(pa.array([empty, None], pa.binary()), []).to_pylist() == [{}, None]


def test_timestamp_units_follow_precision_and_reach() -> None:
    def decode(millis: int, nanos: int, type_: str) -> pa.Array:
        row = struct.pack(">i", 1) + bytes(8) + struct.pack("<ii", nanos, 16) + struct.pack("<q", millis)
        return decode_binary_rows(pa.array([row], pa.binary()), [("t", type_)]).field(0)

    assert decode(1, 2000, "TIMESTAMP(6)").type == pa.timestamp("us")
    assert decode(1, 2, "TIMESTAMP(9)").type == pa.timestamp("ns")
    assert decode(1, 2, "TIMESTAMP_LTZ(6)").type == pa.timestamp("ns", "UTC")
    year_one = decode(-62135596800000, 0, "TIMESTAMP(9)")
    assert year_one.type == pa.timestamp("us") and year_one[0].as_py() == dt.datetime(1, 1, 1)
    assert decode(2**62, 0, "TIMESTAMP(9)").type == pa.timestamp("ms")
