"""Variants with a name for every byte: what an encoder wrote, random bytes against the fast decoder, and damage."""

from __future__ import annotations

import datetime as dt
import struct
import uuid
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.span.span import Span
from lakelens.codecs.variant import (
    Variant,
    explain_variant,
    explain_variant_metadata,
    explain_variant_pair,
    explain_variant_value,
)
from lakelens.errors import Corrupt
from tests.support.span_checks import assert_survives, assert_tiles, find_error

EPOCH = dt.datetime(1970, 1, 1)


# -- a small writer, for these tests only


def encode_variant(value: Any, width: int = 1) -> Variant:
    """A value with offsets and field ids of `width` bytes."""
    names = sorted(set(list_keys(value)))
    return Variant(encode_value(value, names, width), encode_metadata(names, width))


def list_keys(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for item in value.values() for key in list_keys(item))]
    return [key for item in value for key in list_keys(item)] if isinstance(value, list) else []


def encode_metadata(names: list[str], width: int) -> bytes:
    texts = [name.encode() for name in names]
    header = bytes([1 | 0x10 | width - 1 << 6])
    return header + len(texts).to_bytes(width, "little") + encode_offsets(texts, width) + b"".join(texts)


def encode_offsets(parts: list[bytes], width: int) -> bytes:
    ends = [sum(map(len, parts[:i])) for i in range(len(parts) + 1)]
    return b"".join(end.to_bytes(width, "little") for end in ends)


def encode_value(value: Any, names: list[str], width: int) -> bytes:
    if isinstance(value, dict):
        keys = sorted(value)
        parts = [encode_value(value[key], names, width) for key in keys]
        ids = b"".join(names.index(key).to_bytes(width, "little") for key in keys)
        header = 2 | (width - 1 | width - 1 << 2) << 2
        return bytes([header, len(keys)]) + ids + encode_offsets(parts, width) + b"".join(parts)
    if isinstance(value, list):
        parts = [encode_value(item, names, width) for item in value]
        count = struct.pack("<I", len(parts))  # is_large: 4 bytes of count
        return bytes([3 | (width - 1 | 4) << 2]) + count + encode_offsets(parts, width) + b"".join(parts)
    return encode_primitive(value)


def encode_primitive(value: Any) -> bytes:
    match value:
        case None | True | False:
            return bytes([(0 if value is None else 1 if value else 2) << 2])
        case int():
            for kind, size in ((3, 1), (4, 2), (5, 4), (6, 8)):
                if -(1 << 8 * size - 1) <= value < 1 << 8 * size - 1:
                    return bytes([kind << 2]) + value.to_bytes(size, "little", signed=True)
        case float():
            return bytes([7 << 2]) + struct.pack("<d", value)
        case Decimal():
            scale = -value.as_tuple().exponent
            return bytes([10 << 2, scale]) + int(value.scaleb(scale)).to_bytes(16, "little", signed=True)
        case dt.datetime():
            return bytes([13 << 2]) + struct.pack("<q", (value - EPOCH) // dt.timedelta(microseconds=1))
        case dt.date():
            return bytes([11 << 2]) + struct.pack("<i", (value - EPOCH.date()).days)
        case uuid.UUID():
            return bytes([20 << 2]) + value.bytes
        case bytes():
            return bytes([15 << 2]) + struct.pack("<I", len(value)) + value
        case str() if len(value.encode()) < 64:
            return bytes([1 | len(value.encode()) << 2]) + value.encode()
        case str():
            return bytes([16 << 2]) + struct.pack("<I", len(value.encode())) + value.encode()
    raise AssertionError(value)


PRIMITIVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.decimals(-(10**6), 10**6, places=3),
    st.text(max_size=80),
    st.binary(max_size=10),
    st.dates(),
    st.datetimes(),
    st.uuids(),
)
VALUES = st.recursive(
    PRIMITIVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("abcä", max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


def pack(variant: Variant) -> bytes:
    """As Paimon keeps it in a row."""
    return struct.pack("<i", len(variant.value)) + variant.value + variant.metadata


# -- what was written is told


@given(VALUES, st.integers(2, 4), st.binary(max_size=5))
@settings(max_examples=200)
def test_the_explanation_says_what_was_written(value: Any, width: int, before: bytes) -> None:
    variant = encode_variant(value, width)
    packed = pack(variant)
    root = explain_variant(before + packed, len(before))
    assert_tiles(root, len(before), len(before) + len(packed))
    root.check()
    assert root.value == variant and root.value.to_python() == value
    assert root.children[1].value == value
    assert root.children[2].value == tuple(sorted(set(list_keys(value))))
    assert all(leaf.role == "" for leaf in root.leaves())
    pair = explain_variant_pair(variant.metadata + variant.value)
    pair.check()
    assert_tiles(pair, 0, len(packed) - 4)
    assert pair.value == variant and pair.children[1].value == value


def test_an_object_is_told_part_by_part() -> None:
    variant = encode_variant({"id": 300, "tags": ["x", None]})
    root = explain_variant_value(variant.value, metadata=variant.metadata)
    assert root.note == f"object: {len(variant.value)} bytes"
    told = [(part.label, part.note, part.value) for part in root.children]
    assert told == [
        ("header", "object, offsets of 1 byte, field ids of 1 byte", None),
        ("num_elements", "2 fields", 2),
        ("field id", "key 0: id", 0),
        ("field id", "key 1: tags", 1),
        ("offset", "+0", 0),
        ("offset", "+3", 3),
        ("offset", "+14", 14),
        ("id", "int16: 2 bytes after the header", 300),
        ("tags", "array: 11 bytes", ["x", None]),
    ]
    assert [part.number for part in root.children] == [None, None, 0, 1, 0, 1, None, 0, 1]
    metadata = explain_variant_metadata(variant.metadata)
    assert [(part.label, part.note) for part in metadata.children[:2]] == [
        ("header", "version 1, sorted, offsets of 1 byte"),
        ("dictionary size", "2 keys"),
    ]
    assert [part.value for part in metadata.children[-2:]] == ["id", "tags"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0cff", ("int8: 1 byte after the header", -1)),
        ("2002cfc7ffff", ("decimal4: 5 bytes after the header", Decimal("-143.85"))),
        ("2402cfc7ffffffffffff", ("decimal8: 9 bytes after the header", Decimal("-143.85"))),
        ("380000c03f", ("float: 4 bytes after the header", 1.5)),
        (
            "300100000000000000",
            ("timestamp: 8 bytes after the header", dt.datetime(1970, 1, 1, 0, 0, 0, 1, dt.UTC)),
        ),
        ("440100000000000000", ("time: 8 bytes after the header", dt.time(0, 0, 0, 1))),
        (
            "48e803000000000000",
            (
                "timestamp of nanoseconds: 8 bytes after the header",
                dt.datetime(1970, 1, 1, 0, 0, 0, 1, dt.UTC),
            ),
        ),
        ("4000000000", ("string: 0 bytes", "")),
        ("01", ("short string: 0 bytes, UTF-8", "")),
    ],
)
def test_primitive_is_told_by_its_type(value: str, expected: tuple[str, Any]) -> None:
    root = explain_variant_value(bytes.fromhex(value))
    root.check()
    assert_tiles(root, 0, len(value) // 2)
    assert (root.note, root.value) == expected


def test_bytes_after_a_value_are_told() -> None:
    root = explain_variant_value(bytes.fromhex("0c01ffff"))
    root.check()
    assert root.value == 1
    assert [(leaf.label, leaf.start) for leaf in root.leaves()] == [
        ("header", 0),
        ("content", 1),
        ("unexplained", 2),
    ]


# -- damage


@given(VALUES, st.integers(2, 4))
@settings(max_examples=15)
def test_variants_cut_or_with_flipped_bits_are_told_with_their_damage(value: Any, width: int) -> None:
    variant = encode_variant(value, width)
    assert_survives(explain_variant, pack(variant), flips=48)
    assert_survives(explain_variant_pair, variant.metadata + variant.value, flips=48)


@given(VALUES, st.integers(2, 3), st.data())
@settings(max_examples=200)
def test_what_the_decoder_refuses_is_damage(value: Any, width: int, draw: st.DataObject) -> None:
    variant = encode_variant(value, width)
    for part in ("value", "metadata"):
        data = bytearray(getattr(variant, part))
        for _ in range(draw.draw(st.integers(1, 3))):
            bit = draw.draw(st.integers(0, len(data) * 8 - 1))
            data[bit // 8] ^= 1 << bit % 8
        data = data[: draw.draw(st.integers(0, len(data)))] if draw.draw(st.booleans()) else data
        flipped = bytes(data)
        damaged = Variant(*((flipped, variant.metadata) if part == "value" else (variant.value, flipped)))
        compare_with_decoder(damaged)


@given(st.binary(max_size=60), st.binary(max_size=30))
@settings(max_examples=300)
def test_any_bytes_are_told_or_damage(value: bytes, metadata: bytes) -> None:
    compare_with_decoder(Variant(value, b"\1" + metadata))


def compare_with_decoder(variant: Variant) -> None:
    root = explain_variant(pack(variant))
    assert_tiles(root, 0, 4 + len(variant.value) + len(variant.metadata))
    error = find_error(root)
    try:
        value = variant.to_python()
    except Corrupt:
        assert error is not None
    else:
        assert repr(root.value.to_python()) == repr(value)
    assert error is None or (isinstance(error, Corrupt) and error.offset is not None)


def test_values_that_share_bytes_are_damage_and_told_once() -> None:
    # two elements at +0, and an end that both fit
    root = explain_variant_value(bytes.fromhex("0302 000002 0c07"))
    assert_tiles(root, 0, 7)
    with pytest.raises(Corrupt, match="overlap"):
        root.check()
    assert [span.value for span in root.children if span.label == "[1]"] == [7]


def test_values_that_refer_to_each_other_many_times_stay_small() -> None:
    level = bytes.fromhex("0c01")
    for _ in range(40):  # each level holds the level below twice, in the same bytes
        level = bytes([3 | 1 << 2, 2]) + struct.pack("<HHH", 0, 0, len(level)) + level
    root = explain_variant_value(level)
    assert_tiles(root, 0, len(level))
    assert count_spans(root) < 400
    assert find_error(root) is not None


def test_values_nested_deeper_than_any_reader_goes_end_in_damage() -> None:
    level = bytes.fromhex("0c01")
    for _ in range(80):
        level = bytes([3 | 1 << 2, 1]) + struct.pack("<HH", 0, len(level)) + level
    root = explain_variant_value(level)
    assert_tiles(root, 0, len(level))
    with pytest.raises(Corrupt, match="nested too deeply"):
        root.check()


def test_a_key_that_the_metadata_does_not_have_is_damage_at_its_id() -> None:
    variant = encode_variant({"a": 1})
    packed = pack(Variant(variant.value, encode_metadata([], 1)))
    root = explain_variant(packed)
    assert root.find(4 + 2).role == "damage" and "key not in the metadata" in root.find(4 + 2).note
    assert root.find(4 + 6).value == 1


def count_spans(root: Span) -> int:
    return sum(1 for _ in root.walk())
