"""Epoch counts: no 64-bit integer may fail, whatever the unit."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, date, datetime, time, timedelta, timezone

import numpy as np
import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st

from lakelens.codecs import temporal
from lakelens.codecs.moments import FarTime, NanoTimestamp

int64 = st.integers(-(2**63), 2**63 - 1)


@given(int64, st.integers(-(2**31), 2**31 - 1), st.booleans())
@example(-(2**63), 999_999, True)
@example(-(2**63), 1, False)
@example(2**63 - 1, 2**31 - 1, True)
def test_any_count_has_a_value(count: int, nanos: int, utc: bool) -> None:
    assert isinstance(temporal.date_from_days(count), date | FarTime)
    assert isinstance(temporal.time_from_micros(count), time | FarTime)
    assert isinstance(temporal.time_from_millis(count), time | FarTime)
    for value in (
        temporal.timestamp_from_micros(count, utc),
        temporal.timestamp_from_nanos(count, utc),
        temporal.timestamp_from_millis_nanos(count, nanos, utc),
    ):
        assert isinstance(value, datetime | FarTime)
        assert not (isinstance(value, FarTime) and np.isnat(value.to_numpy()))


@given(st.datetimes(), st.booleans())
def test_timestamps_survive_their_count(moment: datetime, utc: bool) -> None:
    micros = int(np.datetime64(moment, "us").astype(np.int64))
    expected = moment.replace(tzinfo=UTC) if utc else moment
    assert temporal.timestamp_from_micros(micros, utc) == expected
    assert temporal.timestamp_from_nanos(micros * 1000, utc) == expected
    assert temporal.timestamp_from_millis_nanos(micros // 1000, micros % 1000 * 1000, utc) == expected


@given(st.integers(-(2**63) + 1, 2**63 - 1), st.booleans())
@example(-1, True)
def test_a_timestamp_with_nanoseconds_is_that_of_pandas(nanos: int, utc: bool) -> None:
    """It prints, is ordered and is moved to a zone as pandas has it."""
    value = temporal.timestamp_from_nanos(nanos, utc)
    known = pd.Timestamp(nanos, unit="ns", tz="UTC" if utc else None)
    if nanos % 1000 == 0:
        assert value == known.to_pydatetime() and type(value) is datetime
        return
    assert isinstance(value, NanoTimestamp) and value.to_pandas() == known
    assert (str(value), value.isoformat(), value.nanosecond) == (
        str(known),
        known.isoformat(),
        known.nanosecond,
    )
    assert value.isoformat(timespec="milliseconds") == known.isoformat(timespec="milliseconds")
    below, above = (
        temporal.timestamp_from_micros(nanos // 1000, utc),
        temporal.timestamp_from_micros(nanos // 1000 + 1, utc),
    )
    assert below < value < above and above > value > below and below <= value <= above and value != below
    assert sorted([above, value, below]) == [below, value, above] and value == known and not value < value
    for same in (
        copy.deepcopy(value),
        pickle.loads(pickle.dumps(value)),
        value.replace(),
        value + timedelta(0),
    ):
        assert same == value and hash(same) == hash(value) and same.nanosecond == value.nanosecond
    if utc:
        moved = value.astimezone(timezone(timedelta(hours=5, minutes=30)))
        assert moved.isoformat() == known.tz_convert("+05:30").isoformat() and moved == value
    assert (
        value - below == timedelta(0) and (value - timedelta(microseconds=1)).nanosecond == value.nanosecond
    )


FAR = st.one_of(
    st.integers(-(2**40), -719163).map(lambda days: FarTime(days, "D")),
    st.integers(2932897, 2**40).map(lambda days: FarTime(days, "D")),
    st.integers(253402300800 * 10**6, 2**63 - 1).map(lambda micros: FarTime(micros, "us")),
    st.integers(-(2**63) + 1, -62135596800 * 10**6 - 1).map(lambda micros: FarTime(micros, "us")),
    st.integers(2**58, 2**63 - 1).map(lambda millis: FarTime(millis, "ms")),
    st.integers(2**45, 2**50).map(lambda seconds: FarTime(seconds, "s")),
)


@given(FAR)
@example(FarTime(-719529, "D"))
def test_a_far_time_is_that_of_numpy(value: FarTime) -> None:
    """It prints and counts as numpy has it, before or after every date of Python."""
    known = value.to_numpy()
    assert str(value) == str(known) and value == FarTime(value.count, value.unit)
    assert value.count_in("D") == int(known.astype("datetime64[D]").astype(np.int64))
    is_after = value.count > 0
    for near in (date.min, date.max, datetime.min, datetime.max, datetime.max.replace(tzinfo=UTC)):
        assert (value > near) == is_after and (near < value) == is_after and (value < near) != is_after
        assert value != near and (value >= near) == (near <= value) == is_after
    assert pickle.loads(pickle.dumps(value)) == value and hash(copy.copy(value)) == hash(value)


@given(st.integers(-(2**63) + 1, 2**63 - 1).filter(lambda micros: not 0 <= micros < 86_400_000_000))
def test_a_time_outside_a_day_is_that_of_numpy(micros: int) -> None:
    """Times of day are ordered among themselves, and not among dates."""
    value = temporal.time_from_micros(micros)
    assert isinstance(value, FarTime) and str(value) == str(value.to_numpy())
    assert (value > time.max) == (micros > 0) and (time.min < value) == (micros > 0)
    try:
        assert value < date.max
    except TypeError:
        return
    raise AssertionError("a time of day has no order among dates")
