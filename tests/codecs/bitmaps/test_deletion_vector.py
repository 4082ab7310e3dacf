"""Deletion vectors and the Roaring bitmaps in them: engine-written bytes, round trips, and every kind of damage."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pyroaring
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.bitmaps.deletion_vector import (
    MAGIC_32,
    MAGIC_64,
    decode_hash_index,
    decode_iceberg_dv,
    decode_paimon_dv,
    explain_paimon_dv_index,
)
from lakelens.codecs.bitmaps.roaring import decode_roaring32, decode_roaring64
from lakelens.errors import Corrupt, Unsupported

ICEBERG = bytes.fromhex(
    "00000024d1d339640100000000000000000000003a300000010000000000010010000000020003007a813847"
)
PAIMON_V1 = bytes.fromhex(
    "000000225e43f2d03a300000020000000000010001000000180000001c00000000000500701127825e10"
)
PAIMON_V2 = bytes.fromhex(
    "0000003ad1d339640200000000000000000000003a30000001000000000001001000000000000500010000003a3000000100000000000000"
    "100000000700cc962b22"
)
PAIMON_RUNS = bytes.fromhex("0000001fd1d339640100000000000000000000003b300000010000e70301000000e703a8434861")


def decode_vectors(data: bytes, ranges: list[tuple[str, int, int]]) -> dict[str, pyroaring.BitMap64]:
    """The vectors of an index file, each decoded on its own."""
    ends = {name: at + int.from_bytes(data[at : at + 4], "big") + 8 for name, at, _ in ranges}
    return {name: decode_paimon_dv(data[at : ends[name]], base=at) for name, at, _ in ranges}


def frame(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload + struct.pack(">I", zlib.crc32(payload))


# Sets that serialize to all three kinds of containers, in few and in many of them.
pieces = st.one_of(
    st.lists(st.integers(0, 2**20), max_size=20).map(set),
    st.builds(lambda a, n: set(range(a, a + n)), st.integers(0, 2**18), st.integers(0, 9000)),
    st.builds(lambda a, n: set(range(a, a + 2 * n, 2)), st.integers(0, 2**18), st.integers(0, 9000)),
)
sets32 = st.lists(pieces, max_size=4).map(lambda parts: set().union(*parts))
sets64 = st.lists(st.tuples(st.integers(0, 2**31 - 2), pieces), max_size=3).map(
    lambda parts: set().union(*({key << 32 | low for low in piece} for key, piece in parts))
)


def test_engine_written_examples() -> None:
    assert list(decode_iceberg_dv(ICEBERG)) == [2, 3]
    assert list(decode_paimon_dv(PAIMON_V1)) == [0, 5, 70000]
    assert list(decode_paimon_dv(PAIMON_V2)) == [0, 5, 4294967303]
    assert list(decode_paimon_dv(PAIMON_RUNS)) == list(range(1000))
    assert decode_hash_index(bytes.fromhex("5759f99e")).tolist() == [0x5759F99E]


@settings(max_examples=60, deadline=None)
@given(sets32, st.booleans())
def test_32_bit_sets_survive(values: set[int], optimize: bool) -> None:
    bitmap = pyroaring.BitMap(values)
    if optimize:
        bitmap.run_optimize()
    assert set(decode_roaring32(bitmap.serialize())) == values
    assert set(decode_paimon_dv(frame(MAGIC_32 + bitmap.serialize()))) == values


@settings(max_examples=60, deadline=None)
@given(sets64, st.booleans())
def test_64_bit_sets_survive(values: set[int], optimize: bool) -> None:
    bitmap = pyroaring.BitMap64(values)
    if optimize:
        bitmap.run_optimize()
    blob = frame(MAGIC_64 + bitmap.serialize())
    assert set(decode_roaring64(bitmap.serialize())) == values
    assert set(decode_iceberg_dv(blob)) == values
    assert set(decode_paimon_dv(blob)) == values


@settings(max_examples=300, deadline=None)
@given(sets64, st.booleans(), st.data())
def test_damage_under_a_right_crc_is_corrupt_or_a_set(
    values: set[int], optimize: bool, data: st.DataObject
) -> None:
    """The CRC does not protect from a wrong writer: containers are checked before the library reads them."""
    bitmap = pyroaring.BitMap64(values)
    if optimize:
        bitmap.run_optimize()
    payload = bytearray(bitmap.serialize())
    for _ in range(data.draw(st.integers(1, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    payload = payload[: len(payload) - data.draw(st.sampled_from([0, 0, 0, 1, 7]))]
    try:
        positions = decode_iceberg_dv(frame(MAGIC_64 + bytes(payload)), base=100, path="x.puffin")
    except Corrupt as error:
        assert error.offset is not None and 100 <= error.offset <= 108 + len(payload) + 4
        assert error.path == "x.puffin"
    else:
        assert list(positions) == sorted(set(positions))
        assert decode_roaring64(positions.serialize()) == positions


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=80),
    st.sampled_from([b"", struct.pack("<I", 12346), struct.pack("<I", 12347), bytes(8)]),
)
def test_any_bytes_are_corrupt_or_a_set(tail: bytes, head: bytes) -> None:
    data = head + tail
    for decode in (decode_roaring32, decode_roaring64, decode_iceberg_dv, decode_paimon_dv):
        for candidate in (data, frame(MAGIC_32 + data), frame(MAGIC_64 + data)):
            try:
                decode(candidate)
            except Corrupt as error:
                assert error.offset is not None


@pytest.mark.parametrize("blob", [ICEBERG, PAIMON_V1, PAIMON_V2, PAIMON_RUNS])
def test_every_cut_and_every_flipped_bit_is_noticed(blob: bytes) -> None:
    for size in range(len(blob)):
        with pytest.raises(Corrupt):
            decode_paimon_dv(blob[:size])
    for bit in range(8 * len(blob)):
        damaged = bytearray(blob)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(Corrupt):
            decode_paimon_dv(bytes(damaged))


def test_each_part_has_its_own_message() -> None:
    for start, message in ((0, "length word"), (4, "not an Iceberg"), (20, "CRC"), (len(ICEBERG) - 1, "CRC")):
        damaged = bytearray(ICEBERG)
        damaged[start] ^= 0xFF
        with pytest.raises(Corrupt, match=message):
            decode_iceberg_dv(bytes(damaged))
    with pytest.raises(Corrupt, match="too short"):
        decode_iceberg_dv(b"")
    with pytest.raises(Corrupt, match="after the end") as caught:
        decode_iceberg_dv(frame(ICEBERG[4:-4] + b"\0"), base=4)
    assert caught.value.offset == 4 + len(ICEBERG) - 4


def test_a_huge_count_allocates_nothing() -> None:
    with pytest.raises(Corrupt, match="impossible count of bitmaps"):
        decode_iceberg_dv(frame(MAGIC_64 + struct.pack("<q", 2**62)))
    with pytest.raises(Corrupt, match="impossible count of containers"):
        decode_roaring32(struct.pack("<II", 12346, 2**31))


def test_paimon_index_files() -> None:
    data = b"\x01" + PAIMON_V1 + PAIMON_V2
    second = 1 + len(PAIMON_V1)
    ranges = [("a", 1, 34), ("b", second, 66)]
    assert {k: list(v) for k, v in explain_paimon_dv_index(data, ranges=ranges).value.items()} == {
        "a": [0, 5, 70000],
        "b": [0, 5, 4294967303],
    }
    with pytest.raises(Unsupported, match="version 2"):
        _ = explain_paimon_dv_index(b"\x02", ranges=[]).value
    for bad in [("a", 1, 33), ("a", 2, 34), ("a", 10**9, 34), ("a", -1, 34), ("a", len(data) - 2, 4)]:
        with pytest.raises(Corrupt) as caught:
            _ = explain_paimon_dv_index(data, ranges=[bad]).value
        assert caught.value.offset is not None
    with pytest.raises(Corrupt):
        _ = explain_paimon_dv_index(b"", ranges=[]).value
    with pytest.raises(Corrupt):
        _ = explain_paimon_dv_index(data[:-1], ranges=ranges).value


@given(st.lists(st.integers(-(2**31), 2**31 - 1)), st.binary(max_size=3))
def test_hash_indexes(hashes: list[int], rest: bytes) -> None:
    data = struct.pack(f">{len(hashes)}i", *hashes)
    decoded = decode_hash_index(data)
    assert decoded.dtype == np.int32 and decoded.tolist() == hashes
    if rest:
        with pytest.raises(Corrupt) as caught:
            decode_hash_index(data + rest)
        assert caught.value.offset == len(data)
