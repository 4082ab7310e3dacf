"""Partition transforms: what their texts mean, and the strings of the Java library."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.iceberg.transforms import (
    Transform,
    epoch_count,
    partition_path,
    render_value,
)
from lakelens.codecs.iceberg.types import parse_type
from lakelens.codecs.iceberg.value import decode_value
from lakelens.codecs.moments import civil_date


@pytest.mark.parametrize(
    ("text", "type_text", "value", "string"),
    [
        ("identity", "date", date(2024, 1, 1), "2024-01-01"),
        ("identity", "date", -1, "1969-12-31"),
        ("identity", "date", -719529, "-001-12-31"),
        ("identity", "time", time(22, 31, 8), "22:31:08"),
        ("identity", "time", time(22, 31), "22:31"),
        ("identity", "time", time(10, 12, 55, 38194), "10:12:55.038194"),
        ("identity", "time", time(0, 0, 0, 500000), "00:00:00.500"),
        ("identity", "timestamp", datetime(2017, 12, 1, 10, 12, 55, 38194), "2017-12-01T10:12:55.038194"),
        ("identity", "timestamp", datetime(2017, 12, 1), "2017-12-01T00:00:00"),
        (
            "identity",
            "timestamptz",
            datetime(2017, 12, 1, 18, 12, 55, 38194, UTC),
            "2017-12-01T18:12:55.038194+00:00",
        ),
        ("identity", "timestamptz", -1, "1969-12-31T23:59:59.999999+00:00"),
        ("identity", "timestamp_ns", -1, "1969-12-31T23:59:59.999999999"),
        ("identity", "timestamp", 400_000_000_000_000_000, "+14645-06-30T15:06:40"),
        ("identity", "binary", b"\x01\x02\x03", "AQID"),
        ("truncate[2]", "binary", b"\x01\x02", "AQI="),
        ("identity", "fixed[3]", b"foo", "Zm9v"),
        ("identity", "boolean", True, "true"),
        ("identity", "long", -1234567890000, "-1234567890000"),
        ("identity", "decimal(9, 2)", Decimal("-1.50"), "-1.50"),
        ("identity", "decimal(9, 9)", Decimal("1E-9"), "1E-9"),
        ("identity", "double", 1.0, "1.0"),
        ("identity", "double", 1e10, "1.0E10"),
        ("identity", "double", 1.5e-5, "1.5E-5"),
        ("identity", "float", 0.10000000149011612, "0.1"),
        ("identity", "double", -0.0, "-0.0"),
        ("identity", "double", float("-inf"), "-Infinity"),
        ("identity", "string", "a/b c", "a/b c"),
        ("identity", "uuid", uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        ("identity", "string", None, "null"),
        ("void", "string", None, "null"),
        ("void", "int", 5, "5"),
        ("bucket[16]", "string", 3, "3"),
        ("truncate[3]", "string", "abc", "abc"),
        ("year", "date", 47, "2017"),
        ("year", "date", -1, "1969"),
        ("year", "timestamp", -1971, "-001"),
        ("month", "date", 575, "2017-12"),
        ("month", "date", -1, "1969-12"),
        ("month", "date", -13, "1968-12"),
        ("day", "timestamp", 17501, "2017-12-01"),
        ("day", "timestamptz", date(1969, 12, 31), "1969-12-31"),
        ("hour", "timestamp", 420034, "2017-12-01-10"),
        ("hour", "timestamp", -1, "1969-12-31-23"),
        ("zorder", "int", 5, "5"),
        # seen from Iceberg 1.12's own Transform.toHumanString
        ("identity", "timestamptz", -63_000_000_000_000_000, "-0027-08-11T08:00:00+00:00"),
        ("identity", "timestamptz_ns", 1_512_151_975_038_194, "1970-01-18T12:02:31.975038194+00:00"),
        ("identity", "timestamptz", 86_400_120_000, "1970-01-02T00:00:00.12+00:00"),
        ("truncate[3]", "timestamptz", 86_400_500_000, "1970-01-02T00:00:00.5+00:00"),
        ("identity", "time", 81_068_120_000, "22:31:08.120"),
        ("void", "time", 36_000_000_000, "10:00"),
        ("identity", "date", 2147483647, "5881580-07-11"),
        ("day", "date", -2147483648, "-5877641-06-23"),
        ("month", "date", -2147483648, "-178955001-05"),
        ("hour", "timestamp", 2147483647, "246953-10-09-07"),
        ("hour", "timestamp", -2147483648, "-243014-03-24-16"),
    ],
)
def test_strings_of_the_java_library(text: str, type_text: str, value: Any, string: str) -> None:
    assert Transform.parse(text).render(value, parse_type(type_text)) == string


@pytest.mark.parametrize(
    "text", ["zorder", "bucket", "bucket[0]", "bucket[x]", "truncate[99999999999]", "", "day[3]"]
)
def test_unknown_transforms_are_kept_raw(text: str) -> None:
    transform = Transform.parse(text)
    assert (transform.is_known, str(transform), transform.render("v", parse_type("string"))) == (
        False,
        text,
        "v",
    )
    assert transform.result_type(parse_type("uuid")).is_known is False


def test_result_types() -> None:
    source = parse_type("timestamptz")
    names = [
        str(Transform.parse(text).result_type(source))
        for text in ["identity", "bucket[4]", "truncate[4]", "year", "month", "day", "hour", "void"]
    ]
    assert names == ["timestamptz", "int", "timestamptz", "int", "int", "date", "int", "timestamptz"]


@given(st.dates())
def test_civil_dates_are_those_of_the_calendar(day: date) -> None:
    assert civil_date(epoch_count(day, "date")) == (day.year, day.month, day.day)


@given(
    st.integers(-(2**63) + 1, 2**63 - 1),  # numpy and pandas have no word for the lowest count
    st.sampled_from(["timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"]),
)
def test_decoded_timestamps_render_as_their_counts(count: int, name: str) -> None:
    """Whatever class a decoded timestamp has (datetime, pandas, numpy), it means the count it came from."""
    type_ = parse_type(name)
    value = decode_value(count.to_bytes(8, "little", signed=True), type_)
    assert epoch_count(value, name) == count
    assert render_value(value, type_) == render_value(count, type_)


@given(st.datetimes(), st.sampled_from(["year", "month", "day", "hour"]))
def test_calendar_strings_are_prefixes_of_the_timestamp(moment: datetime, text: str) -> None:
    hours = (moment - datetime(1970, 1, 1)) // timedelta(hours=1)
    years = moment.year - 1970
    ordinals = {"year": years, "month": 12 * years + moment.month - 1, "day": hours // 24, "hour": hours}
    string = Transform.parse(text).render(ordinals[text], parse_type("timestamp"))
    formats = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d", "hour": "%Y-%m-%d-%H"}
    expected = moment.strftime(formats[text]).zfill(len(string))
    assert string == expected


@given(st.integers(-(2**31), 2**31 - 1))
def test_any_ordinal_has_a_string(ordinal: int) -> None:
    for text in ("year", "month", "day", "hour"):
        assert Transform.parse(text).render(ordinal, parse_type("int"))


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=3))
def test_partition_paths_decode_back(parts: list[tuple[str, str]]) -> None:
    from urllib.parse import unquote_plus

    parts = [(n.encode(errors="replace").decode(), v.encode(errors="replace").decode()) for n, v in parts]
    path = partition_path([name for name, _ in parts], [value for _, value in parts])
    decoded = [tuple(map(unquote_plus, part.split("="))) for part in path.split("/")] if parts else []
    assert decoded == parts


def test_partition_path_encodes_as_java_does() -> None:
    assert (
        partition_path(["ts", "f"], ["2017-12-01T18:12:55Z", "null"]) == "ts=2017-12-01T18%3A12%3A55Z/f=null"
    )
    assert partition_path(["a b"], ["x~y*-_.Z+%/é"]) == "a+b=x%7Ey*-_.Z%2B%25%2F%C3%A9"


def test_counts_of_times_outside_a_day() -> None:
    assert epoch_count(np.timedelta64(-5, "us"), "time") == -5
    assert epoch_count(datetime(1970, 1, 2) - timedelta(microseconds=1), "date") == 0


def test_directories_that_iceberg_1_12_made() -> None:
    """PARTITIONED BY (tz, bucket(4, ti), truncate(5, ti), de, b), as Spark 3.5 with Iceberg 1.12 wrote it."""
    names = ["tz", "ti_bucket", "ti_trunc", "de", "b"]
    transforms = [
        Transform.parse(text) for text in ("identity", "bucket[4]", "truncate[5]", "identity", "identity")
    ]
    types = [parse_type(text) for text in ("timestamptz", "string", "string", "decimal(9, 2)", "binary")]
    rows = {
        (datetime(2024, 1, 1, 10, 11, 12, 500000, UTC), 3, "a b/~", Decimal("1.50"), b"\x01\x02"): (
            "tz=2024-01-01T10%3A11%3A12.5%2B00%3A00/ti_bucket=3/ti_trunc=a+b%2F%7E/de=1.50/b=AQI%3D"
        ),
        (datetime(2024, 1, 1, 10, tzinfo=UTC), 3, "x", Decimal("-0.05"), b"\xff"): (
            "tz=2024-01-01T10%3A00%3A00%2B00%3A00/ti_bucket=3/ti_trunc=x/de=-0.05/b=%2Fw%3D%3D"
        ),
        (None, None, None, None, None): "tz=null/ti_bucket=null/ti_trunc=null/de=null/b=null",
    }
    for values, directory in rows.items():
        parts = zip(transforms, values, types, strict=True)
        strings = [t.render(value, t.result_type(type_)) for t, value, type_ in parts]
        assert partition_path(names, strings) == directory
