"""Parquet footers: every fact against what was written, and damage that names the place."""

from __future__ import annotations

import io
import math
import re
import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.parquet.footer import decode_footer, read_rows
from lakelens.errors import Corrupt, Unsupported
from tests.support import LAKES


def ided(name: str, kind: pa.DataType, field_id: int) -> pa.Field:
    return pa.field(name, kind, metadata={"PARQUET:field_id": str(field_id)})


SCHEMA = pa.schema(
    [
        ided("id", pa.int64(), 1),
        ided("name", pa.string(), 2),
        ided("tags", pa.list_(ided("element", pa.int32(), 4)), 3),
        ided("st", pa.struct([ided("x", pa.float64(), 6), ided("d", pa.date32(), 7)]), 5),
        ided(
            "m",
            pa.map_(ided("key", pa.string(), 9).with_nullable(False), ided("value", pa.decimal128(9, 2), 10)),
            8,
        ),
        ided("ts", pa.timestamp("us", "UTC"), 11),
    ]
)
ROWS = [
    {
        "id": i,
        "name": None if i % 3 == 0 else f"n{i}",
        "tags": [i, i + 1],
        "st": {"x": i / 2, "d": date(2024, 1, 1 + i)},
        "m": [("k", Decimal("1.50"))],
        "ts": datetime(2024, 1, 1, i, tzinfo=UTC),
    }
    for i in range(10)
]


def written(table: pa.Table | None = None, **options: object) -> bytes:
    sink = io.BytesIO()
    table = pa.Table.from_pylist(ROWS, SCHEMA) if table is None else table
    pq.write_table(table, sink, **options)
    return sink.getvalue()


WHOLE = written(row_group_size=4, compression="zstd")


def test_every_fact_of_a_footer() -> None:
    table = pa.Table.from_pylist(ROWS, SCHEMA).replace_schema_metadata({"writer": "a test", "raw": b"\xff"})
    data = written(table, row_group_size=4, compression="zstd")
    footer = decode_footer(io.BytesIO(data), "a.parquet")
    assert (footer.format, footer.num_rows, footer.num_row_groups, footer.num_columns) == (
        "parquet",
        10,
        3,
        8,
    )
    assert footer.created_by and footer.created_by.startswith("parquet-cpp-arrow")
    assert footer.key_values["writer"] == "a test" and footer.key_values["raw"] == b"\xff"
    assert footer.serialized_size == int.from_bytes(data[-8:-4], "little")
    columns = {column.path: column for column in footer.columns}
    assert {path: column.field_id for path, column in columns.items()} == {
        "id": 1,
        "name": 2,
        "tags.list.element": 4,
        "st.x": 6,
        "st.d": 7,
        "m.key_value.key": 9,
        "m.key_value.value": 10,
        "ts": 11,
    }
    assert (columns["id"].min, columns["id"].max, columns["id"].null_count) == (0, 9, 0)
    assert (columns["name"].min, columns["name"].max, columns["name"].null_count) == ("n1", "n8", 4)
    assert columns["tags.list.element"].num_values == 20
    assert columns["st.d"].max == date(2024, 1, 10)
    assert columns["ts"].max == datetime(2024, 1, 1, 9, tzinfo=UTC)
    assert columns["m.key_value.value"].max == Decimal("1.50")
    assert columns["name"].logical_type == "String" and columns["id"].logical_type is None
    assert columns["id"].compression == ("ZSTD",) and "PLAIN" in columns["id"].encodings
    assert (
        columns["tags.list.element"].max_definition_level,
        columns["tags.list.element"].max_repetition_level,
    ) == (3, 1)
    groups = footer.row_groups
    assert [group.num_rows for group in groups] == [4, 4, 2] and groups[0].start == 4
    for column in footer.columns:
        chunks = [chunk for group in groups for chunk in group.columns if chunk.path == column.path]
        assert column.compressed_size == sum(chunk.compressed_size for chunk in chunks)
    assert footer.schema_arrow.names == SCHEMA.names


def test_sorting_columns_are_words() -> None:
    data = written(
        sorting_columns=[pq.SortingColumn(0), pq.SortingColumn(1, descending=True, nulls_first=True)]
    )
    (group,) = decode_footer(io.BytesIO(data)).row_groups
    assert group.sorting_columns == ("id asc nulls last", "name desc nulls first")


def test_bounds_are_only_given_when_every_group_has_them() -> None:
    table = pa.table(
        {"a": pa.array([None, None, 3, 4], pa.int64()), "f": [1.0, math.nan, math.nan, math.nan]}
    )
    a, f = decode_footer(io.BytesIO(written(table, row_group_size=2))).columns
    assert (a.min, a.max, a.null_count) == (3, 4, 2)  # a group of nulls has no say
    assert (f.min, f.max) == (None, None)  # a group of NaN has values that no bound tells of
    (a,) = decode_footer(io.BytesIO(written(table.select(["a"]), write_statistics=False))).columns
    assert (a.min, a.max, a.null_count) == (None, None, None)


def test_bounds_beyond_pythons_years_compare_with_the_others() -> None:
    table = pa.table({"t": pa.array([2**62, 0], pa.timestamp("us"))})
    (column,) = decode_footer(io.BytesIO(written(table, row_group_size=1))).columns
    assert (column.min, str(column.max)) == (datetime(1970, 1, 1), "148108-07-06T14:00:27.387904")


def test_a_file_without_rows_or_columns() -> None:
    footer = decode_footer(io.BytesIO(written(pa.table({"a": pa.array([], pa.int32())}))))
    assert (footer.num_rows, footer.columns[0].min) == (0, None)
    assert decode_footer(io.BytesIO(written(pa.table({})))).columns == ()


@pytest.mark.parametrize("count", [0, 1, 5, 10, 100])
def test_the_first_rows(count: int) -> None:
    assert read_rows(io.BytesIO(WHOLE), count).to_pylist() == ROWS[:count]


@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        (b"", "empty", 0),
        (b"ORC", "not a Parquet", 0),
        (b"PAR1", "cut", 0),
        (WHOLE[:-1], "cut", len(WHOLE) - 5),
        (WHOLE[: len(WHOLE) // 2], "cut", len(WHOLE) // 2 - 4),
        (WHOLE[:-8] + b"\xff\xff\xff\x7fPAR1", "does not fit", len(WHOLE) - 8),
        (b"PAR1" + b"\x15" * 200 + b"\x64\0\0\0PAR1", "ends inside a value|damaged", 104),
    ],
)
def test_damage_names_the_place(data: bytes, message: str, offset: int) -> None:
    for decode in (decode_footer, lambda file, path: read_rows(file, 1, path)):
        with pytest.raises(Corrupt, match=message) as caught:
            decode(io.BytesIO(data), "x.parquet")
        assert caught.value.path == "x.parquet"
        assert caught.value.offset in (
            offset,
            offset + 100,
        )  # where the footer begins, or where in it reading stopped


@pytest.mark.parametrize("data", [WHOLE[:-4] + b"PARE", b"PARE" + WHOLE[4:]])
def test_an_encrypted_footer_is_unsupported(data: bytes) -> None:
    with pytest.raises(Unsupported, match="encrypted"):
        decode_footer(io.BytesIO(data))


def pyarrow_facts(data: bytes) -> list[tuple[object, ...]]:
    """The same facts, told by pyarrow."""
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    facts: list[tuple[object, ...]] = []
    for g in range(metadata.num_row_groups):
        for c in range(metadata.num_columns):
            chunk, leaf = metadata.row_group(g).column(c), metadata.schema.column(c)
            stats = chunk.statistics
            facts.append(
                (
                    chunk.path_in_schema,
                    chunk.physical_type,
                    chunk.compression,
                    set(chunk.encodings),
                    chunk.num_values,
                    chunk.total_compressed_size,
                    chunk.total_uncompressed_size,
                    chunk.data_page_offset,
                    stats.min if stats is not None and stats.has_min_max else None,
                    stats.max if stats is not None and stats.has_min_max else None,
                    stats.null_count if stats is not None and stats.has_null_count else None,
                    leaf.max_definition_level,
                    leaf.max_repetition_level,
                    pyarrow_logical_type(str(leaf.logical_type)),
                )
            )
    return facts


def pyarrow_logical_type(text: str) -> str | None:
    """pyarrow adds to timestamps which of its own classes made them."""
    return None if text == "None" else re.sub(", is_from_converted_type.*", ")", text)


def our_facts(data: bytes) -> list[tuple[object, ...]]:
    footer = decode_footer(io.BytesIO(data))
    return [
        (
            chunk.path,
            chunk.physical_type,
            chunk.compression.removesuffix("_RAW"),  # pyarrow does not tell the two kinds of LZ4 apart
            set(chunk.encodings),
            chunk.num_values,
            chunk.compressed_size,
            chunk.uncompressed_size,
            chunk.data_page_offset,
            chunk.min,
            chunk.max,
            chunk.null_count,
            leaf.max_definition_level,
            leaf.max_repetition_level,
            leaf.logical_type,
        )
        for group in footer.row_groups
        for chunk, leaf in zip(group.columns, footer.leaves, strict=True)
    ]


EVERY_TYPE = pa.table(
    {
        "bool": [True, False, None],
        "i8": pa.array([-1, 0, 1], pa.int8()),
        "u8": pa.array([0, 200, 255], pa.uint8()),
        "u32": pa.array([0, 1, 2**32 - 1], pa.uint32()),
        "u64": pa.array([0, 1, 2**64 - 1], pa.uint64()),
        "i64": pa.array([-(2**63), 0, 2**63 - 1], pa.int64()),
        "f32": pa.array([1.5, -2.5, None], pa.float32()),
        "f64": [1.5, -2.5, 1e300],
        "text": ["a", "ü", "😀"],
        "bin": [b"\x00", b"\xff", None],
        "fix": pa.array([b"abc", b"abd", b"abe"], pa.binary(3)),
        "dec5": pa.array([Decimal("1.50"), Decimal("-1.50"), None], pa.decimal128(5, 2)),
        "dec38": pa.array([Decimal("1.5"), Decimal("-1.5"), None], pa.decimal128(38, 10)),
        "day": [date(1969, 12, 31), date(2024, 1, 1), None],
        "t32": pa.array([0, 1, 86_399_999], pa.time32("ms")),
        "t64": pa.array([0, 1, 86_399_999_999], pa.time64("us")),
        "tms": pa.array([-1, 0, 1], pa.timestamp("ms")),
        "tus": pa.array([-1, 0, 1], pa.timestamp("us", "UTC")),
        "tns": pa.array([-1000, 0, 1], pa.timestamp("ns")),
        "nothing": pa.nulls(3),
        "nested": [[{"a": 1}], [], None],
    }
)


@pytest.mark.parametrize("version", ["1.0", "2.4", "2.6"])
@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
def test_facts_are_those_that_pyarrow_tells(version: str, codec: str) -> None:
    table = EVERY_TYPE if version == "2.6" else EVERY_TYPE.drop(["tns"])
    for options in ({}, {"row_group_size": 1}, {"use_dictionary": False, "store_decimal_as_integer": True}):
        data = written(table, version=version, compression=codec, write_page_index=True, **options)
        assert our_facts(data) == pyarrow_facts(data)
    assert our_facts(WHOLE) == pyarrow_facts(WHOLE)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_damage_gives_facts_or_an_error_of_ours(data: st.DataObject) -> None:
    damaged = bytearray(WHOLE)
    footer_start = len(WHOLE) - 8 - int.from_bytes(WHOLE[-8:-4], "little")
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(footer_start, len(WHOLE) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        footer = decode_footer(io.BytesIO(bytes(damaged)), "x.parquet")
        assert len(footer.columns) == footer.num_columns
        assert len(footer.row_groups) == footer.num_row_groups
    except (Corrupt, Unsupported) as error:
        assert error.path == "x.parquet"


ENGINE_WRITTEN = sorted(LAKES.rglob("*.parquet"), key=str)[
    ::7
]  # a spread over all tables: the whole takes a minute


@pytest.mark.parametrize(
    "path", ENGINE_WRITTEN, ids=lambda path: path.relative_to(LAKES).parts[2] + "/" + path.name[:14]
)
def test_facts_of_engine_written_files_are_those_that_pyarrow_tells(path: Path) -> None:
    data = path.read_bytes()
    if data[:4] != b"PAR1":
        pytest.skip("kept in the lake on purpose as a damaged file")
    for ours, theirs in zip(our_facts(data), pyarrow_facts(data), strict=True):
        # A NaN tells nothing of the values, so here it is no bound; pyarrow leaves uuids as bytes.
        assert tuple(fact.bytes if isinstance(fact, uuid.UUID) else fact for fact in ours) == tuple(
            None if isinstance(fact, float) and fact != fact else fact for fact in theirs
        )
