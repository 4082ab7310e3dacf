"""Epoch counts: no 64-bit integer may fail, whatever the unit."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from lakelens.codecs import temporal

int64 = st.integers(-(2**63), 2**63 - 1)


@given(int64, st.integers(-(2**31), 2**31 - 1), st.booleans())
@example(-(2**63), 999_999, True)
@example(-(2**63), 1, False)
@example(2**63 - 1, 2**31 - 1, True)
def test_any_count_has_a_value(count: int, nanos: int, utc: bool) -> None:
    assert isinstance(temporal.date_from_days(count), date | np.datetime64)
    assert isinstance(temporal.time_from_micros(count), time | np.timedelta64)
    assert isinstance(temporal.time_from_millis(count), time | np.timedelta64)
    for value in (
        temporal.timestamp_from_micros(count, utc),
        temporal.timestamp_from_nanos(count, utc),
        temporal.timestamp_from_millis_nanos(count, nanos, utc),
    ):
        assert isinstance(value, datetime | np.datetime64)
        assert not (isinstance(value, np.datetime64) and np.isnat(value))


@given(st.datetimes(), st.booleans())
def test_timestamps_survive_their_count(moment: datetime, utc: bool) -> None:
    micros = int(np.datetime64(moment, "us").astype(np.int64))
    expected = moment.replace(tzinfo=UTC) if utc else moment
    assert temporal.timestamp_from_micros(micros, utc) == expected
    assert temporal.timestamp_from_nanos(micros * 1000, utc) == expected
    assert temporal.timestamp_from_millis_nanos(micros // 1000, micros % 1000 * 1000, utc) == expected
