"""Deletion vectors and Paimon's index files with names: engine-written bytes, round trips, and every kind of damage."""

from __future__ import annotations

import struct
import zlib

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
    explain_deletion_vector,
    explain_hash_index,
    explain_paimon_dv_index,
)
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.explaining import explain_bytes
from tests.codecs.bitmaps.test_deletion_vector import (
    ICEBERG,
    PAIMON_RUNS,
    PAIMON_V1,
    PAIMON_V2,
    decode_vectors,
    frame,
    sets32,
    sets64,
)
from tests.support.span_checks import assert_survives, assert_tiles, find_error


@pytest.mark.parametrize(
    ("blob", "positions"),
    [
        (ICEBERG, [2, 3]),
        (PAIMON_V1, [0, 5, 70000]),
        (PAIMON_V2, [0, 5, 4294967303]),
        (PAIMON_RUNS, list(range(1000))),
    ],
)
def test_engine_written_vectors(blob: bytes, positions: list[int]) -> None:
    span = explain_bytes(blob, "deletion_vector")
    assert list(span.value) == positions
    length, magic, bitmap, crc = span.children
    assert (length.value, magic.value) == (len(blob) - 8, blob[4:8])
    assert bitmap.label == ("32-bit bitmap" if blob[4:8] == MAGIC_32 else "64-bit bitmap")
    assert crc.value == zlib.crc32(blob[4:-4])
    assert f"stored {blob[-4:].hex()}, computed {blob[-4:].hex()}, matches" in crc.note


@settings(max_examples=40)
@given(sets32, sets64, st.booleans(), st.integers(0, 9))
def test_vectors_survive(small: set[int], large: set[int], optimize: bool, before: int) -> None:
    for magic, bitmap in ((MAGIC_32, pyroaring.BitMap(small)), (MAGIC_64, pyroaring.BitMap64(large))):
        if optimize:
            bitmap.run_optimize()
        blob = frame(magic + bitmap.serialize())
        span = explain_deletion_vector(b"x" * before + blob + b"y", before, before + len(blob))
        span.check()
        assert_tiles(span, before, before + len(blob))
        assert span.value == decode_paimon_dv(blob)


@settings(max_examples=100)
@given(sets64, st.booleans(), st.booleans(), st.data())
def test_damage_is_seen_where_the_fast_decoder_sees_it(
    values: set[int], optimize: bool, right_crc: bool, draw: st.DataObject
) -> None:
    bitmap = pyroaring.BitMap64(values)
    if optimize:
        bitmap.run_optimize()
    payload = bytearray(MAGIC_64 + bitmap.serialize())
    for _ in range(draw.draw(st.integers(0, 3))):
        payload[draw.draw(st.integers(0, len(payload) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    crc = zlib.crc32(payload) if right_crc else draw.draw(st.integers(0, 2**32 - 1))
    blob = struct.pack(">i", len(payload)) + payload + struct.pack(">I", crc)
    blob = blob[: len(blob) - draw.draw(st.sampled_from([0, 0, 0, 1, 9]))]
    span = explain_deletion_vector(blob, iceberg=True)
    assert_tiles(span, 0, len(blob))
    error = find_error(span)
    try:
        decoded = decode_iceberg_dv(blob)
    except Corrupt:
        assert isinstance(error, Corrupt) and error.offset is not None
    else:
        assert error is None and span.value == decoded


@pytest.mark.parametrize("blob", [ICEBERG, PAIMON_V1, PAIMON_V2, PAIMON_RUNS])
def test_every_cut_and_every_flipped_bit_is_told(blob: bytes) -> None:
    assert_survives(explain_deletion_vector, blob)
    damaged = [blob[:size] for size in range(len(blob))]
    for bit in range(8 * len(blob)):
        flipped = bytearray(blob)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(flipped))
    for piece in damaged:
        error = find_error(explain_deletion_vector(piece))
        assert isinstance(error, Corrupt) and error.offset is not None


def test_what_is_wrong_hides_nothing_else() -> None:
    """A wrong length, magic or CRC is told by its own leaf; the other parts keep their meaning."""
    for at, label, message in ((3, "length", "length word"), (-1, "CRC-32", "does not match")):
        blob = bytearray(ICEBERG)
        blob[at] ^= 0xFF
        span = explain_deletion_vector(bytes(blob))
        leaf = span.find(at % len(blob))
        assert (leaf.label, leaf.role) == (label, "damage")
        assert leaf.error is not None and message in leaf.error.message
        assert list(span.children[2].value) == [2, 3]
    unknown = explain_deletion_vector(frame(b"abcdefgh"))
    assert [(leaf.label, leaf.role) for leaf in unknown.leaves()] == [
        ("length", ""),
        ("magic", "damage"),
        ("bitmap", "unexplained"),
        ("CRC-32", ""),
    ]
    error = find_error(explain_deletion_vector(PAIMON_V1, iceberg=True))
    assert isinstance(error, Corrupt) and error.offset == 4


NAMED = b"\x01" + PAIMON_V1 + PAIMON_V2
RANGES = [("a", 1, 34), ("b", 1 + len(PAIMON_V1), 66)]


def test_index_files_name_each_vector() -> None:
    span = explain_bytes(NAMED, "paimon_dv_index", ranges=RANGES)
    assert span.value == decode_vectors(NAMED, RANGES)
    assert [child.label for child in span.children] == ["version", "a", "b"]
    assert list(span.children[2].value) == [0, 5, 4294967303]
    mappings = [{"data_file": name, "offset": at, "length": length} for name, at, length in reversed(RANGES)]
    again = explain_paimon_dv_index(NAMED, ranges=mappings)
    assert again.value == span.value and [child.label for child in again.children] == ["version", "a", "b"]
    assert_tiles(again, 0, len(NAMED))


def test_index_files_are_walked_without_the_manifest() -> None:
    span = explain_bytes(NAMED, "paimon_dv_index")
    assert {at: list(rows) for at, rows in span.value.items()} == {
        1: [0, 5, 70000],
        1 + len(PAIMON_V1): [0, 5, 4294967303],
    }
    many = b"\x01" + ICEBERG * 1500
    grouped = explain_paimon_dv_index(many)
    assert [child.label for child in grouped.children] == [
        "version",
        "vectors 0 to 1023",
        "vectors 1024 to 1499",
    ]
    assert_tiles(grouped, 0, len(many))
    grouped.check()


def test_bytes_that_no_range_names_are_told() -> None:
    span = explain_paimon_dv_index(NAMED + b"rest", ranges=RANGES[1:])
    roles = [(child.label, child.role) for child in span.children]
    assert roles == [
        ("version", ""),
        ("unreferenced", "unexplained"),
        ("b", ""),
        ("unreferenced", "unexplained"),
    ]
    assert find_error(span) is None
    shared = explain_paimon_dv_index(NAMED, ranges=[RANGES[0], ("c", 1, 34)])
    assert shared.children[1].label == "a, c"


def test_index_file_damage() -> None:
    assert isinstance(find_error(explain_paimon_dv_index(b"\x02abc")), Unsupported)
    assert isinstance(find_error(explain_paimon_dv_index(b"", ranges=[])), Corrupt)
    bad: list[tuple[str, int, int]] = [
        ("a", 1, 33),
        ("a", 2, 34),
        ("a", 10**9, 34),
        ("a", -1, 34),
        ("a", len(NAMED) - 2, 4),
    ]
    for item in bad:
        span = explain_paimon_dv_index(NAMED, ranges=[item])
        assert_tiles(span, 0, len(NAMED))
        error = find_error(span)
        assert isinstance(error, Corrupt) and error.offset is not None and error.offset <= len(NAMED)
    overlapping = struct.pack(">i", len(PAIMON_V1)) + PAIMON_V1
    span = explain_paimon_dv_index(b"\x01" + overlapping, ranges=[("a", 1, len(PAIMON_V1)), ("b", 5, 34)])
    assert_tiles(span, 0, 1 + len(overlapping))
    assert isinstance(find_error(span), Corrupt)
    assert_survives(explain_paimon_dv_index, NAMED)
    assert_survives(lambda data: explain_paimon_dv_index(data, ranges=RANGES), NAMED)


@settings(max_examples=60)
@given(
    st.binary(max_size=60),
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(-2, 99), st.integers(-1, 60))),
)
def test_any_index_file(data: bytes, ranges: list[tuple[str, int, int]]) -> None:
    data = b"\x01" + data
    span = explain_paimon_dv_index(data, ranges=ranges)
    assert_tiles(span, 0, len(data))
    error = find_error(span)
    try:
        _ = span.value
    except LakeError:
        assert error is not None


@given(st.lists(st.integers(-(2**31), 2**31 - 1)), st.binary(max_size=3))
def test_hash_indexes(hashes: list[int], rest: bytes) -> None:
    data = struct.pack(f">{len(hashes)}i", *hashes) + rest
    span = explain_hash_index(data)
    assert_tiles(span, 0, len(data))
    assert [leaf.value for leaf in span.leaves() if leaf.label[-1].isdigit()] == hashes
    error = find_error(span)
    if rest:
        assert isinstance(error, Corrupt) and error.offset == 4 * len(hashes)
    else:
        assert error is None and span.value.tolist() == decode_hash_index(data).tolist() == hashes


def test_large_hash_indexes_come_in_groups() -> None:
    data = struct.pack(">5000i", *range(5000))
    span = explain_hash_index(data)
    assert [child.label for child in span.children][:2] == ["hashes 0 to 1023", "hashes 1024 to 2047"]
    assert span.find(4 * 3000).value == 3000
    assert_tiles(span, 0, len(data))
