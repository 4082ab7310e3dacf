"""Iceberg single values: the specification's examples, round trips, damage, and the column path against the single one."""

from __future__ import annotations

import math
import struct
import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.iceberg.types import IcebergType, parse_type
from lakelens.codecs.iceberg.value import Point, arrow_type, decode_value
from lakelens.codecs.iceberg.value_columns import decode_values
from lakelens.errors import Corrupt


def encode_value(value: Any, type_: IcebergType) -> bytes:
    """A value as the specification words its bytes (written here without the decoder's help)."""
    match type_.name:
        case "boolean":
            return b"\x01" if value else b"\0"
        case "int":
            return struct.pack("<i", value)
        case "long":
            return struct.pack("<q", value)
        case "float":
            return struct.pack("<f", value)
        case "double":
            return struct.pack("<d", value)
        case "date":
            return struct.pack("<i", (value - date(1970, 1, 1)).days)
        case "time":
            micros = ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
            return struct.pack("<q", micros)
        case "timestamp" | "timestamptz":
            return struct.pack(
                "<q", (value - datetime(1970, 1, 1, tzinfo=value.tzinfo)) // timedelta(microseconds=1)
            )
        case "timestamp_ns" | "timestamptz_ns":
            epoch = datetime(1970, 1, 1, tzinfo=value.tzinfo)
            return struct.pack("<q", (value - epoch) // timedelta(microseconds=1) * 1000)
        case "decimal":
            sign, digits, _ = value.as_tuple()  # scaleb would round to 28 digits
            unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
            size = 1
            while not -(1 << (8 * size - 1)) <= unscaled < 1 << (8 * size - 1):
                size += 1
            return unscaled.to_bytes(size, "big", signed=True)
        case "string":
            return value.encode()
        case "uuid":
            return value.bytes
        case _:
            return bytes(value)


def values_of(type_: IcebergType) -> st.SearchStrategy[Any]:
    """Values of a type within the range of both Python's and Arrow's classes."""
    recent = st.datetimes(datetime(1680, 1, 1), datetime(2260, 1, 1))
    match type_.name:
        case "boolean":
            return st.booleans()
        case "int":
            return st.integers(-(2**31), 2**31 - 1)
        case "long":
            return st.integers(-(2**63), 2**63 - 1)
        case "float":
            return st.floats(width=32, allow_nan=False)
        case "double":
            return st.floats(allow_nan=False)
        case "date":
            return st.dates()
        case "time":
            return st.times()
        case "timestamp":
            return st.datetimes()
        case "timestamptz":
            return st.datetimes(timezones=st.just(UTC))
        case "timestamp_ns":
            return recent
        case "timestamptz_ns":
            return recent.map(lambda value: value.replace(tzinfo=UTC))
        case "decimal":
            assert type_.precision is not None and type_.scale is not None
            limit, scale = 10**type_.precision - 1, type_.scale
            return st.integers(-limit, limit).map(lambda n: Decimal(f"{n}E-{scale}"))
        case "string":
            return st.text(st.characters(exclude_categories=["Cs"]))
        case "uuid":
            return st.uuids()
        case "fixed":
            return st.binary(min_size=type_.length or 0, max_size=type_.length)
        case _:
            return st.binary()


TYPES = [
    *map(parse_type, ["boolean", "int", "long", "float", "double", "string", "uuid", "binary", "variant"]),
    *map(parse_type, ["date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"]),
    *map(parse_type, ["fixed[16]", "fixed[3]", "fixed[0]"]),
    *map(parse_type, ["decimal(1,0)", "decimal(9,2)", "decimal(18,18)", "decimal(19,4)", "decimal(38,10)"]),
]
any_type = st.sampled_from(TYPES)
typed_values = any_type.flatmap(lambda type_: st.tuples(st.just(type_), values_of(type_)))
typed_columns = any_type.flatmap(
    lambda type_: st.tuples(st.just(type_), st.lists(st.none() | values_of(type_)))
)
widths = st.sampled_from([0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 32])
any_bytes = st.one_of(st.binary(max_size=33), widths.flatmap(lambda n: st.binary(min_size=n, max_size=n)))


@pytest.mark.parametrize(
    ("type_text", "hexadecimal", "value"),
    [
        ("int", "01000000", 1),
        ("date", "0b4d0000", date(2024, 1, 1)),
        ("date", "ffffffff", date(1969, 12, 31)),
        ("decimal(9, 2)", "cfc7", Decimal("-123.45")),
        ("decimal(19, 2)", "112210f47de98115", Decimal("12345678901234567.89")),
        ("timestamptz", "4052f599df0d0600", datetime(2024, 1, 1, 10, 11, 12, 123456, UTC)),
        ("timestamp", "4052f599df0d0600", datetime(2024, 1, 1, 10, 11, 12, 123456)),
        ("double", "000000000000f83f", 1.5),
        ("string", "616c7068613a2f78", "alpha:/x"),
        ("long", "0100000000000000", 1),
        ("long", "feffffff", -2),  # promoted from int
        ("double", "0000c03f", 1.5),  # promoted from float
        ("timestamp", "0b4d0000", datetime(2024, 1, 1)),  # promoted from date
        ("timestamp_ns", "0b4d0000", datetime(2024, 1, 1)),
        ("decimal(38, 2)", "cfc7", Decimal("-123.45")),  # precision grown
        ("boolean", "00", False),
        ("boolean", "7f", True),
        ("time", "00" * 8, time(0)),
        ("uuid", "f79c3e09677c4bbda4793f349cb785e7", uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")),
        ("geometry(srid:4326)", "000000000000f03f0000000000000040", Point(1.0, 2.0)),
        ("geography", "000000000000f03f00000000000000400000000000000840", Point(1.0, 2.0, 3.0)),
        ("variant", "010000", b"\1\0\0"),
        ("interval", "0102", b"\1\2"),
        ("unknown", "00", None),
    ],
)
def test_examples(type_text: str, hexadecimal: str, value: Any) -> None:
    decoded = decode_value(bytes.fromhex(hexadecimal), parse_type(type_text))
    assert decoded == value
    assert type(decoded) is type(value)


def test_a_point_with_only_m_has_no_z() -> None:
    data = struct.pack("<4d", 1, 2, math.nan, 4)
    assert decode_value(data, parse_type("geometry")) == Point(1, 2, None, 4)
    assert decode_value(struct.pack("<4d", 1, 2, 3, 4), parse_type("geometry")) == Point(1, 2, 3, 4)


def test_nanoseconds_keep_their_last_digit() -> None:
    value = decode_value(struct.pack("<q", 1_704_103_872_123_456_789), parse_type("timestamptz_ns"))
    assert value.isoformat() == "2024-01-01T10:11:12.123456789+00:00"
    assert isinstance(value, datetime)


@given(typed_values)
def test_every_value_survives_its_bytes(typed: tuple[IcebergType, Any]) -> None:
    type_, value = typed
    decoded = decode_value(encode_value(value, type_), type_)
    assert decoded == value
    assert str(decoded) == str(value)  # -0.0 and the digits of a decimal too


@given(typed_columns, st.integers(0, 3))
def test_a_column_of_values_survives_its_bytes(typed: tuple[IcebergType, list[Any]], skipped: int) -> None:
    type_, values = typed
    encoded = [None if value is None else encode_value(value, type_) for value in values]
    column = decode_values(pa.array(encoded, pa.binary())[skipped:], type_)
    column.validate(full=True)
    expected = pa.array([v if v is None or type_.name != "uuid" else v.bytes for v in values[skipped:]])
    if type_.name == "uuid":
        assert column.storage.equals(expected.cast(pa.binary(16)))
    else:
        assert column.equals(pa.array(values[skipped:], arrow_type(type_)))


def raw_words(array: pa.Array) -> list[Any]:
    """An Arrow column in a form that compares exactly and never overflows Python's dates."""
    if isinstance(array, pa.ExtensionArray):
        return array.storage.to_pylist()
    if pa.types.is_temporal(array.type):
        return array.view(pa.int32() if pa.types.is_date32(array.type) else pa.int64()).to_pylist()
    if pa.types.is_floating(array.type):
        return [None if value is None else struct.pack("<d", value) for value in array.to_pylist()]
    return array.to_pylist()


def raw_word(value: Any, type_: IcebergType) -> Any:
    """What `decode_value` gives, in the same form."""
    if type_.name == "uuid":
        return value.bytes
    if type_.name in ("float", "double"):
        return struct.pack("<d", value)
    if type_.name == "time":
        return struct.unpack("<q", encode_value(value, type_))[0]
    if type_.name == "date" or type_.name.startswith("timestamp"):
        unit = "D" if type_.name == "date" else "ns" if type_.name.endswith("_ns") else "us"
        if isinstance(value, datetime) and hasattr(value, "nanosecond"):
            return value.value
        plain = value.replace(tzinfo=None) if isinstance(value, datetime) else value
        return int(np.datetime64(plain, unit).astype(np.int64))
    return value


@given(any_type, st.lists(st.none() | any_bytes, max_size=8))
def test_columns_agree_with_single_values_on_any_bytes(
    type_: IcebergType, values: list[bytes | None]
) -> None:
    """Good values, promoted widths and damage in one column: each row is what the single path says of it."""
    expected: list[Any] = []
    bad: list[int] = []
    for row, data in enumerate(values):
        try:
            expected.append(None if data is None else raw_word(decode_value(data, type_), type_))
        except Corrupt:
            bad.append(row)
            expected.append(None)
    reported: dict[int, Corrupt] = {}
    column = pa.array(values, pa.binary())
    decoded = decode_values(column, type_, report=reported.__setitem__, path="m0.avro")
    decoded.validate(full=True)
    assert decoded.type == arrow_type(type_)
    assert raw_words(decoded) == expected
    assert sorted(reported) == bad
    assert all(error.path == "m0.avro" for error in reported.values())
    if bad:
        with pytest.raises(Corrupt):
            decode_values(column, type_)


@given(any_type, any_bytes)
def test_any_bytes_give_a_value_or_corrupt_with_a_place(type_: IcebergType, data: bytes) -> None:
    try:
        decode_value(data, type_)
    except Corrupt as error:
        assert error.offset is not None


def test_chunks_slices_and_other_binary_layouts() -> None:
    long = parse_type("long")
    rows = [struct.pack("<q", n) for n in range(10)]
    chunked = pa.chunked_array([pa.array(rows[:4], pa.binary()), pa.array(rows[4:], pa.binary())])
    assert decode_values(chunked, long).to_pylist() == list(range(10))
    assert decode_values(pa.array(rows, pa.large_binary())[3:7], long).to_pylist() == [3, 4, 5, 6]
    assert decode_values(pa.array(rows, pa.binary(8)), long).to_pylist() == list(range(10))
    assert decode_values(pa.array([], pa.binary()), long).to_pylist() == []
    assert decode_values(pa.array([None, b"x"], pa.binary()), parse_type("unknown")).to_pylist() == [
        None,
        None,
    ]


def test_nan_is_a_value_not_a_null() -> None:
    column = decode_values(pa.array([struct.pack("<d", math.nan), None]), parse_type("double"))
    assert column.null_count == 1 and math.isnan(column[0].as_py())


def test_arrow_types_of_nested_columns() -> None:
    type_ = parse_type(
        {
            "type": "map",
            "key-id": 1,
            "key": "string",
            "value-id": 2,
            "value": {"type": "list", "element-id": 3, "element": "decimal(9,2)", "element-required": True},
            "value-required": False,
        }
    )
    element = pa.field("element", pa.decimal128(9, 2), nullable=False)
    assert arrow_type(type_) == pa.map_(pa.string(), pa.field("value", pa.list_(element)))
    struct_type = parse_type(
        {"type": "struct", "fields": [{"id": 1, "name": "g", "required": True, "type": "geometry"}]}
    )
    assert arrow_type(struct_type) == pa.struct([pa.field("g", pa.binary(), nullable=False)])
