"""Roaring bitmaps with names: the same sets as the fast decoder, every byte in one leaf, damage told where it lies."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pyroaring
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.bitmaps.roaring import decode_roaring32, decode_roaring64
from lakelens.codecs.bitmaps.roaring_spans import explain_roaring32, explain_roaring64, measure_roaring32
from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt
from tests.support.span_checks import assert_survives, assert_tiles, find_error

# sets that serialize to all three kinds of containers, in few and in many of them
pieces = st.one_of(
    st.lists(st.integers(0, 2**20), max_size=20).map(set),
    st.builds(lambda a, n: set(range(a, a + n)), st.integers(0, 2**18), st.integers(0, 9000)),
    st.builds(lambda a, n: set(range(a, a + 2 * n, 2)), st.integers(0, 2**18), st.integers(0, 9000)),
)
sets32 = st.lists(pieces, max_size=4).map(lambda parts: set().union(*parts))
sets64 = st.lists(st.tuples(st.integers(0, 2**31 - 2), pieces), max_size=3).map(
    lambda parts: set().union(*({key << 32 | low for low in piece} for key, piece in parts))
)


def serialize(bitmap: pyroaring.BitMap | pyroaring.BitMap64, optimize: bool) -> bytes:
    if optimize:
        bitmap.run_optimize()
    return bytes(bitmap.serialize())


def told_positions(span: Span) -> set[int]:
    """The positions that the parts of an explanation tell, each read from its own leaf."""
    told: set[int] = set()
    for node in span.walk():
        if node.label == "value":
            told.add(node.value)
        elif node.label.startswith(("word ", "run ")) and node.label[-1].isdigit():
            told.update(node.value)
    return told


@settings(max_examples=40)
@given(sets32, st.booleans(), st.integers(0, 9), st.integers(0, 9))
def test_32_bit_sets_are_told(values: set[int], optimize: bool, before: int, after: int) -> None:
    data = serialize(pyroaring.BitMap(values), optimize)
    span = explain_roaring32(b"x" * before + data + b"y" * after, before, before + len(data))
    span.check()
    assert_tiles(span, before, before + len(data))
    assert span.value == decode_roaring32(data)
    assert told_positions(span) == values == set(span.value)
    assert measure_roaring32(data + b"more", 0, len(data) + 4) == len(data)


@settings(max_examples=40)
@given(sets64, st.booleans())
def test_64_bit_sets_are_told(values: set[int], optimize: bool) -> None:
    data = serialize(pyroaring.BitMap64(values), optimize)
    span = explain_roaring64(data)
    span.check()
    assert_tiles(span, 0, len(data))
    assert span.value == decode_roaring64(data)
    assert told_positions(span) == values


@settings(max_examples=150)
@given(sets64, st.booleans(), st.data())
def test_damage_is_seen_where_the_fast_decoder_sees_it(
    values: set[int], optimize: bool, draw: st.DataObject
) -> None:
    data = bytearray(serialize(pyroaring.BitMap64(values), optimize))
    for _ in range(draw.draw(st.integers(0, 3))):
        data[draw.draw(st.integers(0, len(data) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    damaged = bytes(data[: len(data) - draw.draw(st.sampled_from([0, 0, 0, 1, 7]))])
    assert_same_verdict(explain_roaring64, decode_roaring64, damaged)


@pytest.mark.exhaustive
@settings(max_examples=150)
@given(
    st.binary(max_size=80),
    st.sampled_from([b"", struct.pack("<I", 12346), struct.pack("<I", 12347), struct.pack("<q", 1)]),
)
def test_any_bytes(tail: bytes, head: bytes) -> None:
    assert_same_verdict(explain_roaring32, decode_roaring32, head + tail)
    assert_same_verdict(explain_roaring64, decode_roaring64, head + tail)


def assert_same_verdict(
    explain: Callable[[bytes], Span], decode: Callable[[bytes], pyroaring.BitMap64], data: bytes
) -> None:
    span = explain(data)
    assert_tiles(span, 0, len(data))
    error = find_error(span)
    try:
        decoded = decode(data)
    except Corrupt:
        assert isinstance(error, Corrupt) and error.offset is not None and 0 <= error.offset <= len(data)
    else:
        assert error is None
        assert told_positions(span) == set(decoded)


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize(
    "values",
    [{0, 5, 70000}, set(range(1000)) | {2**20}, set(range(0, 12000, 2)), {i << 16 for i in range(5)}, set()],
)
@pytest.mark.parametrize("optimize", [False, True])
def test_cuts_and_flips(values: set[int], optimize: bool) -> None:
    for explain, kind in ((explain_roaring32, pyroaring.BitMap), (explain_roaring64, pyroaring.BitMap64)):
        assert_survives(explain, serialize(kind(values), optimize))


def test_each_container_names_its_bytes() -> None:
    values = set(range(100)) | {65536, 65540} | set(range(131072, 131072 + 10000, 2))
    span = explain_roaring32(serialize(pyroaring.BitMap(values), True))
    assert [child.label for child in span.children] == [
        "cookie header",
        "run flags",
        "descriptive header",
        "containers",
    ]
    run, array, bitset = span.children[-1].children
    assert [run.label, array.label, bitset.label] == ["run container", "array container", "bitset container"]
    assert run.children[1].value == range(100)
    assert run.children[1].note == "positions 0 to 99"
    assert array.children[0].value == (65536, 65540)
    assert len(bitset.children) == 1024 and bitset.children[0].value == tuple(range(131072, 131136, 2))
    assert {node.number for node in array.walk()} == {1}


def test_a_wrong_offset_and_a_wrong_cardinality_do_not_hide_the_rest() -> None:
    data = bytearray(serialize(pyroaring.BitMap({1, 70000}), False))
    offset = 8 + 4 * 2
    data[offset] ^= 1
    span = explain_roaring32(bytes(data))
    error = find_error(span)
    assert isinstance(error, Corrupt) and error.offset == offset and "offset" in error.message
    assert span.find(offset).role == "damage"
    assert told_positions(span) == {1, 70000}
    words = bytearray(serialize(pyroaring.BitMap(range(0, 20000, 2)), False))
    words[-1] ^= 0x80
    error = find_error(explain_roaring32(bytes(words)))
    assert isinstance(error, Corrupt) and "cardinality" in error.message and error.seen == "10001"


def test_many_buckets_and_containers_come_in_groups() -> None:
    """A list of spans is bounded by groups, whatever count the bytes hold."""
    data = serialize(pyroaring.BitMap64([key << 32 for key in range(2500)]), False)
    span = explain_roaring64(data)
    labels = ["size", "buckets 0 to 1023", "buckets 1024 to 2047", "buckets 2048 to 2499"]
    assert [child.label for child in span.children] == labels
    assert_tiles(span, 0, len(data))
    span.check()
    assert told_positions(span) == {key << 32 for key in range(2500)}
    many = np.arange(0, 2000 << 16, 1 << 16, dtype=np.uint32)
    small = explain_roaring32(serialize(pyroaring.BitMap(many), False))
    assert [child.label for child in small.children[-1].children] == [
        "containers 0 to 1023",
        "containers 1024 to 1999",
    ]
    assert told_positions(small) == set(many.tolist())


def test_a_huge_count_makes_nothing() -> None:
    for data in (struct.pack("<q", 2**62), struct.pack("<II", 12346, 2**31)):
        explain = explain_roaring64 if data[4:] == b"\0\0\0\x40" else explain_roaring32
        span = explain(data)
        assert_tiles(span, 0, 8)
        error = find_error(span)
        assert isinstance(error, Corrupt) and "impossible count" in error.message
