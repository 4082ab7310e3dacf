"""Equality deletes against a naive comparison, row by row, over generated keys and files."""

from __future__ import annotations

import io
import math
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.iceberg.types import parse_type_text
from lakelens.errors import Corrupt, Unsupported
from lakelens.formats.iceberg.deletes.equality import KeyColumn, KeySet, format_keys, make_comparable
from lakelens.formats.iceberg.deletes.plain_keys import PlainDataKeys, format_plain_keys, read_plain_keys
from lakelens.io.memory import MemoryStore

SMALL = st.sampled_from([None, 0, 1, 2])
VALUES: dict[str, tuple[st.SearchStrategy[Any], pa.DataType, pa.DataType]] = {
    # type of the table: values, the file's type before a promotion, the type after it
    "boolean": (st.sampled_from([None, True, False]), pa.bool_(), pa.bool_()),
    "long": (SMALL, pa.int32(), pa.int64()),
    "double": (
        st.sampled_from(
            [None, 0.0, -0.0, 0.5, math.nan, struct.unpack("<f", b"\x01\x00\xc0\x7f")[0], math.inf]
        ),
        pa.float32(),
        pa.float64(),
    ),
    "decimal(12, 2)": (
        st.sampled_from([None, Decimal("0.00"), Decimal("1.10")]),
        pa.decimal128(5, 2),
        pa.decimal128(12, 2),
    ),
    "string": (st.sampled_from([None, "", "a", "b"]), pa.string(), pa.dictionary(pa.int32(), pa.string())),
    "binary": (st.sampled_from([None, b"", b"a"]), pa.large_binary(), pa.binary()),
    "date": (st.sampled_from([None, date(1969, 12, 31), date(2024, 1, 1)]), pa.date32(), pa.date32()),
    "timestamptz": (
        st.sampled_from([None, datetime(1969, 12, 31, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)]),
        pa.timestamp("ns", "UTC"),
        pa.timestamp("us", "UTC"),
    ),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[KeyColumn], list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    names = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4))
    columns = [KeyColumn(i, f"c{i}", parse_type_text(name)) for i, name in enumerate(names)]
    row = st.tuples(*(VALUES[name][0] for name in names))
    return columns, draw(st.lists(row, max_size=6)), draw(st.lists(row, max_size=30))


def same(left: Any, right: Any) -> bool:
    """Equality as the engine has it, written down naively."""
    if left is None or right is None:
        return left is right
    if isinstance(left, float):
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return bool(left == right)


def to_arrays(columns: list[KeyColumn], rows: list[tuple[Any, ...]], *, wide: bool) -> list[pa.Array]:
    arrays = []
    for place, column in enumerate(columns):
        kind = VALUES[str(column.type)][2 if wide else 1]
        values = [row[place] for row in rows]
        plain = pa.array(values, kind.value_type if pa.types.is_dictionary(kind) else kind)
        arrays.append(
            make_comparable(plain.dictionary_encode() if plain.type != kind else plain, column, "f")
        )
    return arrays


@given(tables(), st.booleans(), st.booleans(), st.integers(1, 7))
@settings(max_examples=150, deadline=None)
def test_rows_found_are_those_that_equal_a_key(drawn: Any, wide_keys: bool, wide: bool, size: int) -> None:
    columns, deleted, rows = drawn
    keys = KeySet(to_arrays(columns, deleted, wide=wide_keys))
    found: list[int] = []
    for start in range(0, len(rows), size):
        batch = to_arrays(columns, rows[start : start + size], wide=wide)
        found += (keys.find(batch) + start).tolist()
    naive = [
        place
        for place, row in enumerate(rows)
        if any(all(same(a, b) for a, b in zip(row, key, strict=True)) for key in deleted)
    ]
    assert found == naive


def write_rows(columns: list[KeyColumn], rows: list[tuple[Any, ...]], *, wide: bool) -> bytes:
    """Write rows as a Parquet file with field ids, of the types before or after a promotion."""
    fields, arrays = [], []
    for place, column in enumerate(columns):
        kind = VALUES[str(column.type)][2 if wide else 1]
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        arrays.append(pa.array([row[place] for row in rows], kind))
        fields.append(pa.field(column.name, kind, metadata={"PARQUET:field_id": str(column.id)}))
    sink = io.BytesIO()
    pq.write_table(pa.table(arrays, pa.schema(fields)), sink)
    return sink.getvalue()


@given(tables(), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_rows_read_one_by_one_are_found_alike(drawn: Any, wide_keys: bool, wide: bool) -> None:
    """Without Arrow the same rows equal a key, and the keys are worded as they were written."""
    columns, deleted, rows = drawn
    files = {
        "/t/d": write_rows(columns, deleted, wide=wide_keys),
        "/t/f": write_rows(columns, rows, wide=wide),
    }
    context: Any = SimpleNamespace(access=SimpleNamespace(store=MemoryStore(files)))
    keys = read_plain_keys(context, columns, "/t/d", "parquet")
    data: Any = SimpleNamespace(record_count=len(rows))
    found = PlainDataKeys(context, data, columns, "/t/f", "parquet").find(frozenset(keys))
    naive = [
        place
        for place, row in enumerate(rows)
        if any(all(same(a, b) for a, b in zip(row, key, strict=True)) for key in deleted)
    ]
    assert list(found) == naive
    for ours, theirs in zip(format_plain_keys(columns, keys), deleted, strict=True):
        assert all(same(a, b) for a, b in zip(ours, theirs, strict=True))


@given(tables())
@settings(max_examples=60, deadline=None)
def test_values_are_worded_as_they_were_written(drawn: Any) -> None:
    columns, deleted, _ = drawn
    arrays = [pa.chunked_array([array]) for array in to_arrays(columns, deleted, wide=True)]
    worded = format_keys(columns, arrays)
    assert len(worded) == len(deleted)
    for ours, theirs in zip(worded, deleted, strict=True):
        assert all(same(a, b) for a, b in zip(ours, theirs, strict=True))


def test_keys_of_several_chunks() -> None:
    column = KeyColumn(1, "s", parse_type_text("string"))
    chunks = [
        make_comparable(pa.array(values, pa.string()).dictionary_encode(), column, "f")
        for values in (["a", None], ["b", "a"])
    ]
    keys = KeySet([pa.chunked_array(chunks), pa.chunked_array([pa.array([1, 2]), pa.array([3, 4])])])
    rows = [pa.array(["a", "a", None, "b", "b", None, "c"]), pa.array([1, 4, 2, 3, 1, None, 1])]
    assert keys.find(rows).tolist() == [0, 1, 2, 3]


def test_a_float_that_was_widened_is_not_the_double_that_looks_like_it() -> None:
    column = KeyColumn(1, "f", parse_type_text("double"))
    keys = KeySet([make_comparable(pa.array([0.1, 0.5], pa.float64()), column, "f")])
    rows = make_comparable(pa.array([0.1, 0.5], pa.float32()), column, "f")
    assert keys.find([rows]).tolist() == [1]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(Corrupt, match="does not fit its type"):
        make_comparable(pa.array(["x"]), KeyColumn(1, "n", parse_type_text("long")), "f.parquet")
    with pytest.raises(Unsupported, match="is not compared"):
        make_comparable(pa.array([1]), KeyColumn(1, "v", parse_type_text("variant")), "f.parquet")


def test_a_text_repeated_a_million_times_costs_one(tmp_path: Path) -> None:
    """What a few bytes of a hostile file claim is compared without being spelt out."""
    from lakelens.codecs.parquet.footer import iter_columns

    path = tmp_path / "f.parquet"
    text = "x" * 1_000_000
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), [text])
    pq.write_table(pa.table({"s": repeated}), path)
    column = KeyColumn(1, "s", parse_type_text("string"))
    keys = KeySet([pa.array([text])])
    found = 0
    with path.open("rb") as file:
        for batch in iter_columns(file, ["s"]):
            array = make_comparable(batch.column(0), column, "f")
            assert array.nbytes < 10_000_000
            found += len(keys.find([array]))
    assert found == 20_000
