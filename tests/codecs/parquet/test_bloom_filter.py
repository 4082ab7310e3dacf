"""Bloom filters of Parquet: those of pyarrow, and the ways in which one is refused."""

from __future__ import annotations

import io
import struct
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.parquet.footer import decode_footer
from lakelens.codecs.parquet.statistics import ParquetBloomFilter, decode_bloom_filter
from lakelens.errors import Corrupt, LakeError, Unsupported


def open_filter(data: bytes, column: int = 0) -> ParquetBloomFilter:
    offset = decode_footer(io.BytesIO(data)).row_groups[0].columns[column].bloom_filter_offset
    assert offset is not None
    return decode_bloom_filter(offset, len(data), lambda start, length: data[start : start + length])


def write(values: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"x": values}), sink, bloom_filter_options={"x": options or True})
    return sink.getvalue()


def test_every_value_is_held_and_few_others() -> None:
    found = open_filter(write(pa.array([f"v{i}" for i in range(1000)]), ndv=1000, fpp=0.01))
    assert all(found.may_contain(f"v{i}".encode()) for i in range(1000))
    assert sum(found.may_contain(f"w{i}".encode()) for i in range(2000)) < 60


def test_numbers_are_hashed_as_plain_bytes() -> None:
    found = open_filter(write(pa.array([-7, 2**40]), ndv=100))
    assert found.may_contain(struct.pack("<q", -7)) and found.may_contain(struct.pack("<q", 2**40))
    assert not found.may_contain(struct.pack("<q", 8))


HEADER = bytes.fromhex("15401c1c00001c1c00001c1c000000")


def refuse(stored: bytes) -> LakeError:
    with pytest.raises(LakeError) as caught:
        decode_bloom_filter(0, len(stored), lambda start, length: stored[start : start + length])
    return caught.value


def test_what_is_refused() -> None:
    whole = HEADER + bytes(32)
    assert decode_bloom_filter(0, len(whole), lambda start, length: whole[start : start + length]).size == 32
    assert isinstance(refuse(whole.replace(b"\x15\x40", b"\x15\x3e")), Corrupt)  # 31 bytes
    assert isinstance(refuse(whole[:-1]), Corrupt)
    other_algorithm = bytes.fromhex("15402c1c1c000000") + bytes(40)
    assert isinstance(refuse(other_algorithm), LakeError)
    other_hash = bytes.fromhex("15401c1c00001c2c00001c1c000000") + bytes(32)
    assert isinstance(refuse(other_hash), Unsupported)
    assert isinstance(refuse(b"\xff" * 64), Corrupt)


def test_a_filter_outside_of_its_file() -> None:
    for offset in (-1, 10):
        with pytest.raises(Corrupt):
            decode_bloom_filter(offset, 10, lambda start, length: b"")


def test_a_filter_that_is_cut_while_it_is_asked() -> None:
    with pytest.raises(Corrupt):
        ParquetBloomFilter(0, 64, lambda start, length: b"abc").may_contain(b"x")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_filter_or_an_error(stored: bytes) -> None:
    try:
        found = decode_bloom_filter(0, len(stored), lambda start, length: stored[start : start + length])
    except LakeError:
        return
    assert found.may_contain(b"x") in (True, False)
