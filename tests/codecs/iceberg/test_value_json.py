"""JSON single values: what the specification's text says, whatever value it is, and a place for what it does not say."""

from __future__ import annotations

import json
import uuid
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.iceberg.types import IcebergType, parse_type
from lakelens.codecs.iceberg.value_json import parse_json_value
from lakelens.errors import Corrupt
from tests.codecs.iceberg.test_value import typed_values

LIST = {"type": "list", "element-id": 3, "element": "date", "element-required": False}
MAP = {"type": "map", "key-id": 4, "key": "string", "value-id": 5, "value": "int", "value-required": False}
STRUCT = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "a", "required": True, "type": "int"},
        {"id": 2, "name": "b", "required": False, "type": LIST},
    ],
}


def encode(value: Any) -> Any:
    """The JSON single value of a Python value, written from the table of appendix D alone."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value) if isinstance(value, uuid.UUID) else value


@given(typed_values)
def test_every_value_comes_back(typed: tuple[IcebergType, Any]) -> None:
    type_, value = typed
    if type_.name == "variant":
        return  # has no JSON form but null
    text = json.dumps(encode(value))
    assert parse_json_value(json.loads(text), type_) == value


@pytest.mark.parametrize(
    ("type_", "stored", "value"),
    [
        ("date", "2017-11-16", date(2017, 11, 16)),
        ("date", "0001-01-01", date(1, 1, 1)),
        ("time", "22:31:08.123456", time(22, 31, 8, 123456)),
        ("time", "22:31", time(22, 31)),
        ("timestamp", "2017-11-16T22:31:08.123456", datetime(2017, 11, 16, 22, 31, 8, 123456)),
        ("decimal(9, 2)", "14.2", Decimal("14.20")),
        ("decimal(21, 0)", "2E+20", Decimal("200000000000000000000")),
        # more digits than the default context of Python's decimals keeps
        ("decimal(38, 0)", "9" * 38, Decimal("9" * 38)),
        ("decimal(38, 38)", "-0." + "9" * 38, Decimal("-0." + "9" * 38)),
        ("decimal(38, 9)", "9" * 29 + "." + "9" * 9, Decimal("9" * 29 + "." + "9" * 9)),
        ("decimal(2, 2)", "0", Decimal("0.00")),
        ("fixed[2]", "00FF", b"\0\xff"),
        ("binary", "", b""),
        ("double", 1, 1.0),
        ("geometry", "POINT (30 10)", "POINT (30 10)"),
        ("interval year", {"of": "a later version"}, {"of": "a later version"}),
        (LIST, ["2017-11-16", None], [date(2017, 11, 16), None]),
        (MAP, {"keys": ["a", "b"], "values": [1, None]}, [("a", 1), ("b", None)]),
        (STRUCT, {"1": 1, "2": ["2017-11-16"]}, {"a": 1, "b": [date(2017, 11, 16)]}),
        (STRUCT, {}, {}),
    ],
)
def test_examples(type_: Any, stored: Any, value: Any) -> None:
    assert parse_json_value(stored, parse_type(type_)) == value


def test_values_beyond_python_are_kept() -> None:
    assert str(parse_json_value("+10183-09-21", parse_type("date"))) == "10183-09-21"
    assert str(parse_json_value("-0044-03-15", parse_type("date"))) == "-044-03-15"
    fine = parse_json_value("2017-11-16T22:31:08.123456789+00:00", parse_type("timestamptz_ns"))
    assert fine.nanosecond == 789 and fine.utcoffset().total_seconds() == 0


@pytest.mark.parametrize(
    ("type_", "stored", "place"),
    [
        ("boolean", 1, "$"),
        ("int", True, "$"),
        ("int", 2**31, "$"),
        ("long", "1", "$"),
        ("long", 1.0, "$"),
        ("double", "1.0", "$"),
        ("double", 10**400, "$"),
        ("decimal(9, 2)", 14.2, "$"),
        ("decimal(9, 2)", "14.201", "$"),
        ("decimal(4, 2)", "100.00", "$"),
        ("decimal(9, 2)", "1_0", "$"),
        ("decimal(9, 2)", "NaN", "$"),
        ("decimal(9, 2)", "1e9999", "$"),
        ("date", "2017-02-29", "$"),
        ("date", 17000, "$"),
        ("date", "2017-11-16T00:00:00", "$"),
        ("time", "24:00:00", "$"),
        ("time", "22:31:08.1234567", "$"),
        ("timestamp", "2017-11-16", "$"),
        ("timestamp", "2017-11-16T22:31:08+00:00", "$"),
        ("timestamptz", "2017-11-16T22:31:08", "$"),
        ("timestamptz", "2017-11-16T22:31:08+01:00", "$"),
        ("timestamp_ns", "2017-11-16T22:31:08.1234567890", "$"),
        ("uuid", "f79c3e09677c4bbda4793f349cb785e7", "$"),
        ("fixed[2]", "00", "$"),
        ("binary", "0", "$"),
        ("binary", "zz", "$"),
        ("unknown", 1, "$"),
        (LIST, {"0": 1}, "$"),
        (LIST, ["2017-11-16", "x"], "$[1]"),
        (MAP, {"keys": ["a"], "values": []}, "$"),
        (MAP, {"keys": ["a"], "values": ["b"]}, "$.values[0]"),
        (STRUCT, {"a": 1}, "$"),
        (STRUCT, {"2": ["2017-11-16", 3]}, "$.2[1]"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(type_: Any, stored: Any, place: str) -> None:
    with pytest.raises(Corrupt) as caught:
        parse_json_value(stored, parse_type(type_), path="v1.metadata.json")
    assert (caught.value.json_path, caught.value.path) == (place, "v1.metadata.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(
    JSON,
    st.sampled_from([parse_type(t) for t in ("decimal(9, 2)", "timestamptz", "uuid", LIST, MAP, STRUCT)]),
)
def test_any_json_is_a_value_or_corrupt(stored: Any, type_: IcebergType) -> None:
    try:
        parse_json_value(stored, type_)
    except Corrupt as error:
        assert error.json_path is not None
