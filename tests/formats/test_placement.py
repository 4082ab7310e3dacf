"""Where rows are put: every value is in the range of its partition value, and every row of a file in the file's bucket."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import lakelens as ll
from lakelens.formats.iceberg.scan.placement import IcebergPlacement
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.placement import open_placement
from lakelens.model.scan.ranges import Ranges, judge
from lakelens.model.schema import DataType, PartitionField
from lakelens.model.stats import Term, Test
from tests.support import LAKES
from tests.support.planned import list_lakes
from tests.support.stored_rows import list_columns, read_rows

PLACEMENT = IcebergPlacement(None)  # type: ignore[arg-type]  # transforms need nothing of a table
INT, LONG = DataType("int", "int32"), DataType("long", "int64")
DECIMAL = DataType("decimal(9, 2)", "decimal", precision=9, scale=2)
WIDE = DataType("decimal(38, 4)", "decimal", precision=38, scale=4)
DATE = DataType("date", "date")
TIME = DataType("timestamp", "timestamp", precision=6)
ZONED = DataType("timestamptz", "timestamptz", precision=6)
TEXT, BYTES = DataType("string", "string"), DataType("binary", "binary")
_EPOCH = datetime(1970, 1, 1)
VALUES: dict[DataType, st.SearchStrategy[Any]] = {
    INT: st.integers(-50, 50) | st.integers(-(2**31), 2**31 - 1),
    LONG: st.integers(-50, 50) | st.integers(-(2**63), 2**63 - 1),
    DECIMAL: st.decimals(-20, 20, places=2) | st.decimals(-9999999, 9999999, places=2),
    WIDE: st.decimals(-(10**33), 10**33, places=4),
    DATE: st.dates(date(1968, 1, 1), date(1972, 1, 1)) | st.dates(),
    TIME: st.datetimes(datetime(1969, 12, 30), datetime(1970, 1, 3)) | st.datetimes(),
    ZONED: st.datetimes(timezones=st.just(UTC)),
    TEXT: st.text("aé\uffff\U0001f600b", max_size=5) | st.text(max_size=8),
    BYTES: st.binary(max_size=5) | st.text("\xff\x00a", max_size=4).map(lambda text: text.encode("latin-1")),
}
TIMES = ("year", "month", "day", "hour")
DEEDS: dict[DataType, tuple[str, ...]] = {
    **dict.fromkeys((INT, LONG), ("identity", "truncate[1]", "truncate[7]", "truncate[2147483647]")),
    **dict.fromkeys((DECIMAL, WIDE), ("identity", "truncate[1]", "truncate[50]", "truncate[99999]")),
    DATE: ("identity", "year", "month", "day"),
    **dict.fromkeys((TIME, ZONED), ("identity", *TIMES)),
    **dict.fromkeys((TEXT, BYTES), ("identity", "truncate[1]", "truncate[3]", "truncate[100]")),
}


def transform_value(name: str, value: Any) -> Any:
    """The partition value as the specification words it, in plain Python."""
    if name == "identity":
        return value
    if name.startswith("truncate"):
        width = int(name[9:-1])
        if isinstance(value, Decimal):
            unscaled = int(value.scaleb(-int(value.as_tuple().exponent), _context()))
            return Decimal(unscaled - unscaled % width).scaleb(int(value.as_tuple().exponent), _context())
        return value - value % width if isinstance(value, int) else value[:width]
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    value = value.replace(tzinfo=None)
    counts: dict[str, Callable[[], int]] = {
        "year": lambda: value.year - 1970,
        "month": lambda: (value.year - 1970) * 12 + value.month - 1,
        "day": lambda: (value - _EPOCH) // timedelta(days=1),
        "hour": lambda: (value - _EPOCH) // timedelta(hours=1),
    }
    return counts[name]()


def _context() -> Any:
    from decimal import Context

    return Context(prec=60)


def find_ranges(kind: DataType, name: str, partition: Any) -> Ranges:
    """What a partition value says of the source column."""
    stored = pa.array([partition], pa.int32()) if name in TIMES else to_array([partition], arrow_type(kind))
    if name == "day":
        stored = stored.view(pa.date32())
    found = PLACEMENT.find_sources(PartitionField("p", 1, "x", name), kind, stored)
    assert found is not None and [len(one) for one in found] == [1, 1]
    none, one = pa.array([0], pa.int64()), pa.array([1], pa.int64())
    return Ranges(*found, none, one, none)


def is_excluded(kind: DataType, test: Test, value: Any, ranges: Ranges) -> bool:
    return bool(judge(Term(test, "x", kind, test, (value,)), ranges).none[0])


@st.composite
def make_cases(draw: st.DrawFn) -> tuple[DataType, str, Any, Any]:
    kind = draw(st.sampled_from(list(VALUES)))
    return kind, draw(st.sampled_from(DEEDS[kind])), draw(VALUES[kind]), draw(VALUES[kind])


@settings(max_examples=600)
@given(make_cases())
@example((DATE, "year", date(1, 1, 1), date(9999, 12, 31)))
@example((TIME, "hour", datetime.min, datetime.max))
@example((INT, "truncate[7]", -(2**31), 2**31 - 1))
@example((LONG, "truncate[2147483647]", 2**63 - 1, -(2**63)))
@example((TEXT, "truncate[1]", "\U0010ffff\U0010ffff", "\uffff"))
@example((BYTES, "truncate[1]", b"\xff\xff", b"\xff"))
@example((BYTES, "truncate[3]", b"a\xff\xff", b"b"))
def test_a_value_is_in_the_range_of_its_partition_value(case: tuple[DataType, str, Any, Any]) -> None:
    kind, name, value, other = case
    partition = transform_value(name, value)
    assume(kind is not INT or partition >= -(2**31))
    assume(kind is not LONG or partition >= -(2**63))
    assume(kind is not WIDE or abs(partition) < Decimal(10) ** 34)
    assume(kind is not DECIMAL or abs(partition) < Decimal(10) ** 7)
    ranges = find_ranges(kind, name, partition)
    for test in ("=", ">=", "<="):
        assert not is_excluded(kind, test, value, ranges), (name, partition, ranges)  # type: ignore[arg-type]
    # and not much more is in it: another value is, if it has this partition value
    elsewhere = transform_value(name, other)
    is_end = other == ranges.upper[0].as_py()  # of bytes the end is above all that begin so
    if elsewhere != partition and not is_end and (name not in TIMES or partition > 0):
        assert is_excluded(kind, "=", other, ranges), (name, partition, ranges)
    assert PLACEMENT.transform(PartitionField("p", 1, "x", name), kind, value) in (partition, None)
    if name not in TIMES:
        assert PLACEMENT.transform(PartitionField("p", 1, "x", name), kind, value) is not None


@given(VALUES[TIME], st.sampled_from(TIMES))
def test_times_before_1970_may_have_been_counted_towards_zero(value: datetime, name: str) -> None:
    """Releases before 0.13 did: the range of such a partition value holds those values too."""
    partition = transform_value(name, value)
    begins = transform_value(name, value - timedelta(microseconds=1)) != partition
    towards_zero = partition + 1 if partition < 0 and not begins else partition
    assert not is_excluded(TIME, "=", value, find_ranges(TIME, name, towards_zero))


@given(make_cases().filter(lambda case: case[0] not in (WIDE,)), st.integers(1, 20))
def test_buckets_say_which_they_are_and_no_order(case: tuple[DataType, str, Any, Any], width: int) -> None:
    kind, _, value, _ = case
    field = PartitionField("p", 1, "x", f"bucket[{width}]")
    bucket = PLACEMENT.transform(field, kind, value)
    assert 0 <= bucket < width and bucket == PLACEMENT.transform(field, kind, value)
    assert PLACEMENT.find_sources(field, kind, pa.array([bucket], pa.int32())) is None


# --- Paimon --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", [*list_lakes("paimon-java"), *list_lakes("spark/paimon")], ids=lambda path: path.parent.name
)
def test_rows_hash_to_the_bucket_they_are_in(path: Any) -> None:
    table: Any = ll.open(path)
    names = open_placement(table).bucket_columns
    if table.current is None or not names:
        pytest.skip("no bucket key")
    columns = [column for column in list_columns(table.schema) if column.name in names]
    kinds = [table.schema.field(name).type for name in names]
    checked = 0
    for file in table.current.files:
        total = getattr(file, "total_buckets", None)
        rows = read_rows(table, file, columns)
        if total is None or total < 1 or rows is None or any(one is None for one in rows.values()):
            continue
        lists = [_take_values(rows[name], kind) for name, kind in zip(names, kinds, strict=True)]
        for values in zip(*lists, strict=True):
            found = open_placement(table).find_bucket(dict(zip(names, values, strict=True)), total)
            assert found == file.bucket, (file.path, values)
            checked += 1
    if not checked:
        pytest.skip("buckets are not fixed, or there is no reader for the rows")


def _take_values(array: Any, kind: DataType) -> list[Any]:
    """Values as a predicate's literals are."""
    if pa.types.is_timestamp(array.type) and array.type.unit == "ns":
        import numpy as np

        return [
            None if tick is None else np.datetime64(tick, "ns") for tick in array.view(pa.int64()).to_pylist()
        ]
    return list(array.to_pylist())


def test_bucketed_tables_are_among_them() -> None:
    """So that the test above is not passed by skipping."""
    for name in (
        "paimon-java/2.0.0-pk-fixed-bucket",
        "paimon-java/2.0.0-pk-mod-buckets",
        "spark/paimon/append-buckets",
    ):
        table: Any = ll.open(LAKES / name / "table")
        assert open_placement(table).bucket_columns and all(file.total_buckets > 0 for file in table.files)
