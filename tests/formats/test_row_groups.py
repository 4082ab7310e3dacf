"""Row groups of tables that engines wrote, against their rows as pyarrow reads them; and of files written here."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakelens.codecs.parquet.footer import decode_footer
from lakelens.errors import LakeError
from lakelens.formats.row_groups.opening import ParquetRowGroups
from lakelens.formats.row_groups.values import TableColumn
from lakelens.formats.stored import StoredOctets
from lakelens.io.memory import MemoryStore
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.datafile import DataFile
from lakelens.model.scan.ranges import judge
from lakelens.model.scan.row_groups import RowGroups
from lakelens.model.schema import DataType
from lakelens.model.stats import Term
from lakelens.opening import open_table
from tests.support import LAKES

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)

TABLES = sorted(
    path.parent / "table"
    for path in LAKES.glob("*/**/answers.json")
    if (path.parent / "table").is_dir() and "/view/" not in str(path)
)
MOST_FILES = 4


def read_groups(file: DataFile) -> list[pa.Table]:
    """The rows of each row group or stripe."""
    if file.file_format == "orc":
        orc = pyarrow.orc.ORCFile(file.path)
        return [read_stripe(orc, i) for i in range(orc.nstripes)]
    parquet = pq.ParquetFile(file.path)
    return [parquet.read_row_group(i) for i in range(parquet.num_row_groups)]


def read_stripe(orc: Any, number: int) -> pa.Table:
    """The rows of a stripe, without the columns whose timestamps pyarrow does not hold."""
    columns = {}
    for name in orc.schema.names:
        try:
            columns[name] = orc.read_stripe(number, columns=[name]).column(name)
        except pa.ArrowInvalid as error:
            assert "out of range" in str(error)
    return pa.table(columns)


def find_values(rows: pa.Table, names: tuple[str, ...], kind: pa.DataType) -> pa.Array | None:
    """The values of one column, of today's type; None where the file has no such column or pyarrow no such cast."""
    if names[0] not in rows.column_names:
        return None
    array: Any = rows.column(names[0]).combine_chunks()
    for name in names[1:]:
        if not pa.types.is_struct(array.type) or array.type.get_field_index(name) < 0:
            return None
        array = pc.struct_field(array, name)
    array = getattr(array, "storage", array)
    try:
        return array.cast(getattr(kind, "storage_type", kind))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def list_cases(table: Any) -> Iterator[tuple[DataFile, RowGroups]]:
    """Some files of a table with their row groups."""
    if table.current is None:
        return
    found = 0
    for file in table.current.files:
        if file.content != "data" or found == MOST_FILES or file.size_bytes == 0:
            continue
        try:
            groups = file.row_groups
        except LakeError:
            continue
        if groups is not None:
            found += 1
            yield file, groups


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("path", TABLES, ids=lambda path: "-".join(path.parts[-4:-1]))
def test_what_is_proved_holds_of_the_rows(path: Any) -> None:
    table = open_table(str(path))
    for file, groups in list_cases(table):
        rows = read_groups(file)
        assert list(groups.record_counts) == [len(group) for group in rows]
        for name, field in table.schema.leaves():
            ranges = groups.ranges(name)
            if ranges is None:
                continue
            kind = arrow_type(field.type)
            assert ranges.lower.type == ranges.upper.type == kind
            column = groups._find(name)  # type: ignore[attr-defined]
            for number, group in enumerate(rows):
                check_group(groups, Term(name, name, field.type, "="), ranges, number, group, column)
    assert not [one for one in table.findings if one.code == "corrupt"]


def check_group(
    groups: Any, term: Term, ranges: Any, number: int, rows: pa.Table, column: TableColumn
) -> None:
    """One column of one row group: counts are the rows', values are between the bounds and never excluded."""
    kind = arrow_type(term.type)
    assert ranges.values[number].as_py() in (None, len(rows))
    if column.place is None:
        assert ranges.nulls[number].as_py() == len(rows) or column.default is not None
        return
    values = find_values(rows, groups.leaf_names[column.place], kind)
    if values is None:
        return
    assert ranges.nulls[number].as_py() in (None, values.null_count)
    present = values.drop_null()
    lower, upper = (getattr(array, "storage", array)[number] for array in (ranges.lower, ranges.upper))
    plain = getattr(present, "storage", present)
    if pa.types.is_floating(kind):
        plain = plain.filter(pc.invert(pc.is_nan(plain)))
    if len(plain) and lower.is_valid:
        plain, lower, upper = compare_as(plain), compare_as(lower), compare_as(upper)
        assert pc.all(pc.and_(pc.greater_equal(plain, lower), pc.less_equal(plain, upper))).as_py()
    for value in present.to_pylist()[:3]:
        if value != value:
            continue
        probe = Term(term.text, term.column, term.type, "=", (value,))
        assert not judge(probe, ranges).none[number]
        assert not any(mask[number] for _, mask in groups.exclude(probe))


def compare_as(values: Any) -> Any:
    """Values in a type that Arrow compares."""
    if pa.types.is_fixed_size_binary(values.type):
        return values.cast(pa.binary())
    return values.cast(pa.int8()) if pa.types.is_boolean(values.type) else values


class Written:
    """A file that pyarrow wrote, with row groups of a few rows, as the row groups of a table."""

    def __init__(
        self, columns: Mapping[str, pa.Array], kinds: Mapping[str, DataType], **options: Any
    ) -> None:
        sink = io.BytesIO()
        pq.write_table(pa.table(dict(columns)), sink, **options)
        self.data = sink.getvalue()
        self.columns, self.kinds = columns, kinds
        self.errors: list[LakeError] = []
        self.groups = self.open(self.data)

    def open(self, data: bytes) -> ParquetRowGroups:
        footer = decode_footer(io.BytesIO(data), "/t/a.parquet")
        places = {name: TableColumn(kind, place) for place, (name, kind) in enumerate(self.kinds.items())}
        store = MemoryStore({"/t/a.parquet": data})
        return ParquetRowGroups(store, "/t/a.parquet", footer, places.get, self.errors.append)

    def term(self, name: str, test: Any, *values: Any) -> Term:
        return Term(f"{name} {test}", name, self.kinds[name], test, values)


KINDS = {
    "boolean": (DataType("boolean", "boolean"), pa.bool_(), st.booleans()),
    "int": (DataType("int", "int32"), pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "tiny": (DataType("tinyint", "int8"), pa.int8(), st.integers(-128, 127)),
    "unsigned": (DataType("bigint", "int64"), pa.uint32(), st.integers(0, 2**32 - 1)),
    "long": (DataType("long", "int64"), pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "widened": (DataType("long", "int64"), pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "float": (DataType("float", "float32"), pa.float32(), st.floats(width=32, allow_nan=True)),
    "double": (DataType("double", "float64"), pa.float64(), st.floats(allow_nan=True)),
    "promoted": (DataType("double", "float64"), pa.float32(), st.floats(width=32, allow_nan=False)),
    "decimal": (
        DataType("decimal(9, 2)", "decimal", precision=9, scale=2),
        pa.decimal128(9, 2),
        st.decimals(-9999999, 9999999, places=2),
    ),
    "wide": (
        DataType("decimal(38, 10)", "decimal", precision=38, scale=10),
        pa.decimal128(38, 10),
        st.integers(-(10**37), 10**37).map(lambda n: Decimal(n).scaleb(-10)),
    ),
    "date": (DataType("date", "date"), pa.date32(), st.dates()),
    "time": (DataType("time", "time", precision=6), pa.time64("us"), st.times()),
    "millis": (
        DataType("timestamp", "timestamp", precision=6),
        pa.timestamp("ms"),
        st.datetimes().map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000)),
    ),
    "micros": (
        DataType("timestamptz", "timestamptz", precision=6),
        pa.timestamp("us", "UTC"),
        st.datetimes(timezones=st.just(UTC)),
    ),
    "nanos": (
        DataType("timestamp_ns", "timestamp", precision=9),
        pa.timestamp("ns"),
        st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    ),
    "text": (DataType("string", "string"), pa.string(), st.text(max_size=12)),
    "bytes": (DataType("binary", "binary"), pa.binary(), st.binary(max_size=12)),
    "fixed": (DataType("fixed[4]", "fixed", length=4), pa.binary(4), st.binary(min_size=4, max_size=4)),
    "uuid": (DataType("uuid", "uuid"), pa.uuid(), st.uuids()),
}
#: No bloom filters: booleans have none.
HASHED = [name for name in KINDS if name != "boolean"]


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[Any], int, bool, str]:
    """A kind of column with values, the rows of a group, whether there are dictionaries, and the version of the pages."""
    name = draw(st.sampled_from(sorted(KINDS)))
    values = draw(st.lists(st.none() | KINDS[name][2], min_size=1, max_size=24))
    return name, values, draw(st.integers(1, 8)), draw(st.booleans()), draw(st.sampled_from(["1.0", "2.0"]))


def make_array(values: list[Any], kind: pa.DataType) -> pa.Array:
    if isinstance(kind, pa.UuidType):
        stored = [None if value is None else value.bytes for value in values]
        return pa.ExtensionArray.from_storage(kind, pa.array(stored, pa.binary(16)))
    return pa.array(values, kind)


@pytest.mark.exhaustive
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files(), st.data())
def test_a_group_that_holds_a_value_is_never_excluded(
    file: tuple[str, list[Any], int, bool, str], data: st.DataObject
) -> None:
    name, values, size, has_dictionary, pages = file
    kind, stored, strategy = KINDS[name]
    options: dict[str, Any] = {"bloom_filter_options": {name: True}} if name in HASHED else {}
    written = Written(
        {name: make_array(values, stored)},
        {name: kind},
        row_group_size=size,
        use_dictionary=has_dictionary,
        data_page_version=pages,
        **options,
    )
    groups = [values[at : at + size] for at in range(0, len(values), size)]
    ranges = written.groups.ranges(name)
    assert ranges is not None
    assert ranges.nulls.to_pylist() == [sum(value is None for value in group) for group in groups]
    literals = data.draw(st.lists(strategy, min_size=1, max_size=3))
    held = [value for value in values if value is not None]
    literals += data.draw(st.lists(st.sampled_from(held), max_size=2)) if held else []
    literals = [value for value in literals if value == value] or held[:0]
    for literal in literals:
        for test, fits in TESTS.items():
            term = written.term(name, test, literal)
            wanted = [any(fits(value, literal) for value in group) for group in groups]
            verdict = judge(term, ranges).none
            assert not any(none and is_wanted for none, is_wanted in zip(verdict, wanted, strict=True))
            for _, mask in written.groups.exclude(term):
                assert not any(a and b for a, b in zip(mask, wanted, strict=True)), (test, literal)
    term = written.term(name, "in", *literals)
    for _, mask in written.groups.exclude(term):
        assert not any(a and set(literals) & set(group) for a, group in zip(mask, groups, strict=True))
    assert written.errors == []


def above(value: Any, literal: Any) -> bool:
    """SQL's order: NaN is above every number."""
    if value is None:
        return False
    return bool(value > literal) or value != value


TESTS: dict[str, Any] = {
    "=": lambda value, literal: value == literal,
    "!=": lambda value, literal: value is not None and value != literal,
    "<": lambda value, literal: value is not None and value < literal,
    ">": above,
    ">=": lambda value, literal: above(value, literal) or value == literal,
}


def test_dictionaries_exclude_every_value_that_is_not_there() -> None:
    kinds = {"s": DataType("string", "string"), "n": DataType("int", "int32")}
    texts = pa.array([f"v{i % 5 * 2}-{i // 100}" for i in range(400)])
    numbers = pa.array([i % 7 * 10 for i in range(400)], pa.int32())
    written = Written({"s": texts, "n": numbers}, kinds, row_group_size=100)
    masks = dict(written.groups.exclude(written.term("s", "=", "v4-2")))
    assert list(masks["dictionary"]) == [True, True, False, True]
    assert all(dict(written.groups.exclude(written.term("s", "in", "v1-1", "v3-2")))["dictionary"])
    assert all(dict(written.groups.exclude(written.term("n", "=", 35)))["dictionary"])
    assert not any(dict(written.groups.exclude(written.term("n", ">", 50)))["dictionary"])
    assert all(dict(written.groups.exclude(written.term("s", "starts with", "v3")))["dictionary"])
    chosen = dict(written.groups.exclude(written.term("n", "=", 35), [True, False, True, False]))
    assert list(chosen["dictionary"]) == [True, False, True, False]


def test_a_dictionary_that_does_not_hold_every_value_proves_nothing() -> None:
    texts = pa.array([f"{i:06}" * 4 for i in range(4000)])
    kinds = {"s": DataType("string", "string")}
    written = Written({"s": texts}, kinds, dictionary_pagesize_limit=1000)
    metadata = pq.ParquetFile(io.BytesIO(written.data)).metadata.row_group(0).column(0)
    assert "PLAIN" in metadata.encodings and "RLE_DICTIONARY" in metadata.encodings
    assert not any(dict(written.groups.exclude(written.term("s", "=", "absent")))["dictionary"])


def test_bloom_filters_exclude_at_the_rate_that_they_promise() -> None:
    kinds = {"n": DataType("long", "int64")}
    numbers = pa.array(range(0, 40_000, 2), pa.int64())
    options = {"bloom_filter_options": {"n": {"ndv": 5000, "fpp": 0.01}}}
    written = Written({"n": numbers}, kinds, row_group_size=5000, use_dictionary=False, **options)
    absent = range(1, 4001, 4)
    passed = 0
    for value in absent:
        masks = dict(written.groups.exclude(written.term("n", "=", value)))
        passed += list(masks["bloom"]).count(False)
    assert passed / (len(absent) * written.groups.count) < 0.02


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


def test_damage_behind_the_footer_proves_nothing_and_is_reported() -> None:
    kinds = {"n": DataType("long", "int64")}
    numbers = pa.array([i % 50 for i in range(1000)], pa.int64())
    options: dict[str, Any] = {"bloom_filter_options": {"n": True}, "use_dictionary": False}
    written = Written({"n": numbers}, kinds, **options)
    chunk = written.groups._footer.row_groups[0].columns[0]
    assert chunk.bloom_filter_offset is not None
    bloom = written.open(flip(written.data, chunk.bloom_filter_offset))
    assert dict(bloom.exclude(written.term("n", "=", 77)))["bloom"] == [False]
    assert [error.path for error in written.errors] == ["/t/a.parquet"]
    written = Written({"n": numbers}, kinds, write_page_checksum=True)
    chunk = written.groups._footer.row_groups[0].columns[0]
    dictionary = written.open(flip(written.data, chunk.start + 40))
    assert dict(dictionary.exclude(written.term("n", "=", 77)))["dictionary"] == [False]
    assert [error.path for error in written.errors] == ["/t/a.parquet"]


@pytest.mark.parametrize("seed", range(3))
def test_any_flipped_byte_is_an_answer_or_a_finding(seed: int) -> None:
    kinds = {"n": DataType("long", "int64"), "s": DataType("string", "string")}
    columns = {"n": pa.array([1, 2, None, 2]), "s": pa.array(["a", "b", "a", None])}
    written = Written(
        columns, kinds, row_group_size=2, bloom_filter_options={"n": {"ndv": 8}, "s": {"ndv": 8}}
    )
    for at in range(4 + seed, len(written.data) - 8, 3):
        try:
            groups = written.open(flip(written.data, at))
            for name, value in (("n", 2), ("s", "b")):
                groups.ranges(name)
                for _, mask in groups.exclude(written.term(name, "=", value)):
                    assert len(mask) == groups.count
        except LakeError:
            pass


def test_ordered_as_it_should_be() -> None:
    kind = DataType("double", "float64")
    written = Written({"x": pa.array([math.nan, 1.0, -0.0])}, {"x": kind}, use_dictionary=True)
    ranges = written.groups.ranges("x")
    assert ranges is not None and ranges.nans.to_pylist() in ([None], [1])
    for value, test in ((0.0, "="), (-0.0, "="), (5.0, ">")):
        term = written.term("x", test, value)
        assert not judge(term, ranges).none[0]
        assert not any(mask[0] for _, mask in written.groups.exclude(term))


def test_times_are_values_of_the_type() -> None:
    kinds = {"t": DataType("time", "time", precision=6), "d": DataType("date", "date")}
    columns = {
        "t": pa.array([time(1), time(2, 3, 4, 5)], pa.time64("us")),
        "d": pa.array([date(1, 1, 1), date(9999, 12, 31)]),
    }
    written = Written(columns, kinds)
    ranges = written.groups.ranges("t")
    assert ranges is not None and ranges.upper.to_pylist() == [time(2, 3, 4, 5)]
    assert to_array([date(1, 1, 1)], pa.date32()) == written.groups.ranges("d").lower  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("table", "unbounded"),
    [
        ("iceberg/v2-types", set()),
        ("iceberg/v2-types-orc", {"bin"}),  # ORC keeps no bounds of bytes
        ("paimon/types-parquet", {"c"}),  # a CHAR: readers do not agree on its padding
        ("paimon/types-orc", {"bin", "c"}),
        ("hive/parquet-types", {"ts", "f"}),  # INT96, and a NaN
        ("hive/orc", set()),
    ],
)
def test_every_type_with_an_order_is_bounded(table: str, unbounded: set[str]) -> None:
    opened = open_table(str(LAKES / "spark" / table / "table"))
    (file,) = list(opened.current.files)[:1]
    groups = file.row_groups
    assert groups is not None and groups.count == 1
    found = {name: groups.ranges(name) for name, _ in opened.schema.leaves()}
    known = {name: ranges for name, ranges in found.items() if ranges is not None}
    assert {name for name in found if name not in known} == {
        name for name, _ in opened.schema.leaves() if name.split(".")[0] in ("li", "ma", "ls")
    }
    assert {name for name, ranges in known.items() if not ranges.lower[0].is_valid} == unbounded


def test_what_was_read_for_a_comparison_is_let_go() -> None:
    """The row groups of thousands of files may be held at once: none of them keeps blocks of its file."""
    kinds = {"s": DataType("string", "string")}
    written = Written({"s": pa.array([f"{i % 90:05}" for i in range(50_000)])}, kinds)
    assert all(dict(written.groups.exclude(written.term("s", "=", "absent")))["dictionary"])
    assert not [held for held in vars(written.groups).values() if isinstance(held, StoredOctets)]
