"""Rows of Parquet files, read without pyarrow, are those that pyarrow wrote and reads."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.parquet.encodings import decode_runs
from lakelens.codecs.parquet.footer import decode_footer
from lakelens.codecs.parquet.records import describe_schema, iter_plain_tables, to_plain
from lakelens.codecs.parquet.rows import iterate_rows
from lakelens.codecs.parquet.schema_tree import decode_tree, describe_tree, name_type
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.options import budgets
from tests.support import LAKES

SAMPLES = Path("lakelens/samples/tables")
LEAVES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.int8(): st.integers(-(2**7), 2**7 - 1),
    pa.uint8(): st.integers(0, 2**8 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.uint32(): st.integers(0, 2**32 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float16(): st.floats(width=16, allow_nan=False),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.float64(): st.floats(allow_nan=False),
    pa.string(): st.text(max_size=12),
    pa.binary(): st.binary(max_size=12),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.date32(): st.dates(),
    pa.time32("ms"): st.times().map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000)),
    pa.time64("us"): st.times(),
    pa.timestamp("us"): st.datetimes(),
    pa.timestamp("ms", "UTC"): st.integers(-(10**12), 10**12),
    pa.timestamp("ns"): st.integers(-(2**62), 2**62),
    pa.decimal128(7, 2): st.integers(-(10**7) + 1, 10**7 - 1).map(lambda number: Decimal(number).scaleb(-2)),
    pa.decimal128(38, 5): st.integers(-(10**38) + 1, 10**38 - 1).map(lambda count: _scale(count, 5)),
}


def _scale(count: int, scale: int) -> Decimal:
    return Decimal((count < 0, tuple(map(int, str(abs(count)))), -scale))


def join(kind: pa.DataType, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Nest a type once: its values in a list, a map or a struct, null or not."""
    texts = st.text(max_size=3)
    field = st.booleans().map(lambda optional: pa.field("element", kind, optional))
    return st.one_of(
        field.map(lambda item: (pa.list_(item), st.lists(_may(item, values), max_size=3))),
        field.map(
            lambda item: (
                pa.map_(pa.string(), item.with_name("value")),
                st.dictionaries(texts, _may(item, values), max_size=3).map(lambda held: list(held.items())),
            )
        ),
        field.map(
            lambda item: (
                pa.struct([item.with_name("x"), pa.field("y", pa.int32())]),
                st.fixed_dictionaries({"x": _may(item, values), "y": st.none() | st.integers(0, 5)}),
            )
        ),
    )


def _may(field: pa.Field, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values if field.nullable else values


@st.composite
def make_columns(draw: st.DrawFn) -> pa.Table:
    """Make tables of a few columns, nested to a depth of four, with nulls and empty lists everywhere."""
    rows, columns, fields = draw(st.integers(0, 40)), [], []
    for number in range(draw(st.integers(1, 3))):
        kind: pa.DataType = draw(st.sampled_from([*LEAVES]))
        values = LEAVES[kind]
        for _ in range(draw(st.integers(0, 4))):
            kind, values = draw(join(kind, values))
        field = pa.field(f"c{number}", kind, draw(st.booleans()), {"PARQUET:field_id": str(number + 1)})
        columns.append(pa.array(draw(st.lists(_may(field, values), min_size=rows, max_size=rows)), kind))
        fields.append(field)
    return pa.table(columns, pa.schema(fields))


ENCODINGS = {
    "INT32": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "INT64": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "FLOAT": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "DOUBLE": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "BOOLEAN": ["PLAIN", "RLE"],
    "BYTE_ARRAY": ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"],
    "FIXED_LEN_BYTE_ARRAY": ["PLAIN", "BYTE_STREAM_SPLIT", "DELTA_BYTE_ARRAY"],
}


def write(table: pa.Table, **options: Any) -> bytes:
    """Write a table as a Parquet file that says nothing of Arrow."""
    sink = io.BytesIO()
    pq.write_table(table, sink, store_schema=False, **options)
    return sink.getvalue()


def read(data: bytes, shape: Any = "python") -> list[dict[str, Any]]:
    """Read all rows."""
    footer = decode_footer(io.BytesIO(data), "f.parquet")
    return [row for rows in iterate_rows(data, footer, shape=shape) for row in rows]


def read_known(data: bytes) -> list[dict[str, Any]]:
    """Read all rows as pyarrow does, in the shape of Avro."""
    footer = decode_footer(io.BytesIO(data), "f.parquet")
    return [row for table in iter_plain_tables(data, footer) for row in table.to_pylist()]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_table_is_read_as_pyarrow_reads_it(data: st.DataObject) -> None:
    """Every type, nested to a depth of four; pages of both versions, of any size; each encoding and codec."""
    table = data.draw(make_columns())
    options: dict[str, Any] = {
        "compression": data.draw(st.sampled_from(["none", "snappy", "gzip", "zstd", "brotli", "lz4"])),
        "data_page_version": data.draw(st.sampled_from(["1.0", "2.0"])),
        "data_page_size": data.draw(st.sampled_from([60, 200, 1 << 20])),
        "row_group_size": data.draw(st.sampled_from([1, 7, 1000])),
        "write_batch_size": data.draw(st.sampled_from([1, 5, 1024])),
        "use_dictionary": data.draw(st.booleans()),
        "write_page_checksum": data.draw(st.booleans()),
    }
    if not options["use_dictionary"]:
        schema = pq.ParquetFile(io.BytesIO(write(table))).schema
        columns = [schema.column(number) for number in range(len(schema))]
        options["column_encoding"] = {
            column.path: data.draw(st.sampled_from(ENCODINGS[column.physical_type])) for column in columns
        }
    stored = write(table, **options)
    footer = decode_footer(io.BytesIO(stored), "f.parquet")
    plain = [to_plain(column.combine_chunks()) for column in table.columns]
    assert read(stored, "stored") == pa.table(plain, table.column_names).to_pylist()
    assert describe_tree(decode_tree(footer)) == describe_schema(footer.schema_arrow)
    names = [(field.name, str(field.type)) for field in footer.schema_arrow]
    assert [(node.name, name_type(node)) for node in decode_tree(footer).children] == names
    if "timestamp[ns]" not in str(table.schema):  # which Python has no type for
        assert read(stored) == table.to_pylist()


FILES = sorted({*SAMPLES.glob("**/*.parquet"), *LAKES.glob("**/*.parquet")})
FILES_OF_A_TEST = 40


@pytest.mark.exhaustive(keep=10)
@pytest.mark.parametrize("first", range(0, len(FILES), FILES_OF_A_TEST))
def test_every_file_of_the_lakes_is_read_as_pyarrow_reads_it(first: int) -> None:
    """Files of all engines: rows and schema, and the same kind of error for the damaged ones."""
    for path in FILES[first : first + FILES_OF_A_TEST]:
        data = path.read_bytes()
        try:
            footer = decode_footer(io.BytesIO(data), path.name)
            known: Any = read_known(data)
        except LakeError as error:
            known = type(error)
        try:
            assert repr(read(data, "stored")) == repr(known), path  # NaN is not equal to itself
            assert describe_tree(decode_tree(footer)) == describe_schema(footer.schema_arrow), path
        except LakeError as error:
            assert type(error) is known, path


SMALL = pa.table(
    {
        "a": pa.array([[{"k": [1, None]}, None], [], None, [{"k": []}]] * 3),
        "b": pa.array(["prefix one", "prefix two", None, "prefix"] * 3),
        "c": pa.array(range(12), pa.int64()),
    }
)
PLAIN = {"use_dictionary": False, "compression": "none"}
WAYS: dict[str, dict[str, Any]] = {
    "dictionary": {"compression": "none"},
    "v2": {"compression": "snappy", "data_page_version": "2.0"},
    "deltas": {**PLAIN, "column_encoding": {"b": "DELTA_BYTE_ARRAY", "c": "DELTA_BINARY_PACKED"}},
    "lengths": {**PLAIN, "column_encoding": {"b": "DELTA_LENGTH_BYTE_ARRAY", "c": "BYTE_STREAM_SPLIT"}},
}


@pytest.mark.parametrize("way", WAYS)
def test_damage_is_an_error_of_ours_or_rows(way: str) -> None:
    """Any cut and any flipped byte: a `LakeError` that names the file, or as many rows as the footer counts."""
    data = write(SMALL, **WAYS[way])
    for end in range(0, len(data), 7):
        with pytest.raises(LakeError) as caught:
            read(data[:end])
        assert caught.value.path == "f.parquet"
    for place in range(4, len(data) - 8):
        for flipped in (0x01, 0x90):
            damaged = data[:place] + bytes([data[place] ^ flipped]) + data[place + 1 :]
            try:
                footer = decode_footer(io.BytesIO(damaged), "f.parquet")
                assert sum(map(len, iterate_rows(damaged, footer))) == footer.num_rows
            except LakeError as error:
                assert error.path == "f.parquet"


def test_what_shares_more_than_it_may_take_is_refused() -> None:
    """A few kilobytes of DELTA_BYTE_ARRAY, of which each value has all of the one before, become gigabytes."""
    table = pa.table({"a": ["x" * 200_000 + str(number) for number in range(400)]})
    data = write(table, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"})
    assert len(data) < 300_000
    with budgets.using(max_decoded=1 << 20), pytest.raises(Corrupt, match="too much"):
        read(data)


def test_rows_of_some_columns_and_groups() -> None:
    """Only what is asked for is decoded."""
    data = write(SMALL, row_group_size=5, compression="none")
    footer = decode_footer(io.BytesIO(data), "f.parquet")
    rows = [row for batch in iterate_rows(data, footer, ["c"], groups=[1]) for row in batch]
    assert rows == [{"c": number} for number in range(5, 10)]
    assert [row for batch in iterate_rows(data, footer, [], groups=[2]) for row in batch] == [{}, {}]


def test_a_codec_that_is_not_there_is_named() -> None:
    """LZO has no decoder here."""
    data = bytearray(write(pa.table({"a": [1, 2]}), compression="snappy", use_dictionary=False))
    chunk = decode_footer(io.BytesIO(data)).row_groups[0].columns[0]
    assert chunk.compression == "SNAPPY"
    place = data.rindex(b"\x19\x18\x01a\x15\x02")  # path_in_schema, then the codec
    data[place + 5] = 6
    with pytest.raises(Unsupported, match="LZO"):
        read(bytes(data))


def test_runs_that_end_too_soon_are_refused() -> None:
    """What is counted has to be there."""
    assert decode_runs(bytes([6, 1]), 0, 2, 1, 3) == [1, 1, 1]
    with pytest.raises(Corrupt, match="fewer values"):
        decode_runs(bytes([6, 1]), 0, 2, 1, 4)
