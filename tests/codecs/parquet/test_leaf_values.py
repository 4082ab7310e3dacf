"""Stored values of Parquet columns, read without pyarrow, are those that pyarrow wrote."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakelens.codecs.parquet.encodings import decode_runs
from lakelens.codecs.parquet.footer import decode_footer
from lakelens.codecs.parquet.leaf_values import iterate_values
from lakelens.errors import Corrupt, LakeError, Unsupported

NUMBERS = [None if number % 7 == 3 else number * number for number in range(3_000)]
TABLE = pa.table(
    {
        "path": [f"s3://b/t/data/{number // 400}.parquet" for number in range(3_000)],
        "pos": pa.array(range(3_000), pa.int64()),
        "few": pa.array([None if number % 3 else f"x{number % 5}" for number in range(3_000)]),
        "one": ["same"] * 3_000,
        "number": pa.array(NUMBERS, pa.int64()),
        "none": pa.array([None] * 3_000, pa.int64()),
    },
    schema=pa.schema(
        [
            pa.field("path", pa.string(), nullable=False),
            pa.field("pos", pa.int64(), nullable=False),
            *(pa.field(name, kind) for name, kind in (("few", pa.string()), ("one", pa.string()))),
            *(pa.field(name, pa.int64()) for name in ("number", "none")),
        ]
    ),
)


def write(table: pa.Table, **options: Any) -> bytes:
    """Write a table as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def read(data: bytes, number: int) -> list[Any]:
    """Read a column whole."""
    footer = decode_footer(io.BytesIO(data), "f.parquet")
    return [value for page in iterate_values(data, footer, number) for value in page]


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("has_dictionary", [False, True])
def test_values_are_those_that_were_written(codec: str, version: str, has_dictionary: bool) -> None:
    """Any codec, pages of either version, one or many of them, in several row groups."""
    data = write(
        TABLE,
        compression=codec,
        data_page_version=version,
        use_dictionary=has_dictionary,
        data_page_size=700,
        row_group_size=1_100,
        write_batch_size=100,
    )
    for number, name in enumerate(TABLE.column_names):
        expected = [value.encode() if isinstance(value, str) else value for value in TABLE[name].to_pylist()]
        assert read(data, number) == expected, name


def test_a_column_in_a_list_is_refused() -> None:
    """Its values are not those of rows."""
    with pytest.raises(Unsupported, match="a column in a list"):
        read(write(pa.table({"a": [[1], [2, 3]]})), 0)


def test_any_flipped_byte_is_an_error_of_ours_or_a_value() -> None:
    """Damage never raises anything but a `LakeError`, and never makes more values than the footer has rows."""
    data = write(TABLE.select(["path", "few"]).slice(0, 40), compression="none")
    for place in range(4, len(data) - 8):
        damaged = bytearray(data)
        damaged[place] ^= 0x41
        for number in (0, 1):
            try:
                footer = decode_footer(io.BytesIO(bytes(damaged)))
                assert sum(map(len, iterate_values(bytes(damaged), footer, number))) == footer.num_rows
            except LakeError:
                continue


def test_runs_that_end_too_soon_are_refused() -> None:
    """What is counted has to be there."""
    assert decode_runs(bytes([6, 1]), 0, 2, 1, 3) == [1, 1, 1]
    with pytest.raises(Corrupt, match="fewer values"):
        decode_runs(bytes([6, 1]), 0, 2, 1, 4)
