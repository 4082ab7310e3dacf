"""Iceberg single values with a name for every byte: in words, at random against the fast decoder, and damaged."""

from __future__ import annotations

import datetime as dt
import struct
import uuid
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lakelens.codecs.iceberg.types import parse_type
from lakelens.codecs.iceberg.value import Point, decode_value, explain_iceberg_value
from lakelens.errors import Corrupt
from tests.support.span_checks import assert_survives, assert_tiles, find_error

NESTED = {"type": "list", "element-id": 1, "element": "int", "element-required": False}

# (type, bytes, value, note): a type of each kind, and each width that a promoted column may still hold
TOLD: list[tuple[Any, str, Any, str]] = [
    ("boolean", "01", True, "boolean: 1 byte, 0 is false"),
    ("int", "22000000", 34, "int: 4 bytes, little-endian"),
    ("long", "feffffffffffffff", -2, "long: 8 bytes, little-endian"),
    ("long", "22000000", 34, "long, written when the column was int: 4 bytes, little-endian"),
    ("float", "000080bf", -1.0, "float: 4 bytes, IEEE 754, little-endian"),
    ("double", "000000000000f0bf", -1.0, "double: 8 bytes, IEEE 754, little-endian"),
    (
        "double",
        "000080bf",
        -1.0,
        "double, written when the column was float: 4 bytes, IEEE 754, little-endian",
    ),
    (
        "decimal(14, 2)",
        "f7cf",
        Decimal("-20.97"),
        "decimal(14, 2): 2 bytes, big-endian, unscaled −2,097",
    ),
    (
        "date",
        "cb4b0000",
        dt.date(2023, 2, 15),
        "date: 4 bytes, little-endian, day 19,403 since 1970-01-01",
    ),
    (
        "time",
        "406509e012000000",
        dt.time(22, 31, 8, 123456),
        "time: 8 bytes, little-endian, 81,068,123,456 µs of the day",
    ),
    (
        "timestamp",
        "0100000000000000",
        dt.datetime(1970, 1, 1, 0, 0, 0, 1),
        "timestamp: 8 bytes, little-endian, 1 µs since 1970",
    ),
    (
        "timestamptz",
        "ffffffffffffffff",
        dt.datetime(1969, 12, 31, 23, 59, 59, 999999, dt.UTC),
        "timestamptz: 8 bytes, little-endian, −1 µs since 1970, UTC",
    ),
    (
        "timestamp_ns",
        "e803000000000000",
        dt.datetime(1970, 1, 1, 0, 0, 0, 1),
        "timestamp_ns: 8 bytes, little-endian, 1,000 ns since 1970",
    ),
    (
        "timestamp",
        "01000000",
        dt.datetime(1970, 1, 2),
        "timestamp, written when the column was date: 4 bytes, little-endian, day 1 since 1970-01-01",
    ),
    ("string", b"iceberg".hex(), "iceberg", "string: 7 bytes, UTF-8"),
    (
        "uuid",
        "f79c3e0967754bbda479ccf2f2c3a8e1",
        uuid.UUID("f79c3e09-6775-4bbd-a479-ccf2f2c3a8e1"),
        "uuid: 16 bytes, big-endian",
    ),
    ("fixed[3]", "000102", b"\0\1\2", "fixed[3]: 3 bytes as they are"),
    ("binary", "00ff", b"\0\xff", "binary: 2 bytes as they are"),
    ("unknown", "aa", None, "unknown: a type without values, so that these bytes say nothing"),
    (NESTED, "aa", b"\xaa", "list<int>: 1 byte, no single value is specified for this type"),
    ("interval day", "aa", b"\xaa", "interval day: 1 byte, no single value is specified for this type"),
]


@pytest.mark.parametrize(("type_", "hexadecimal", "value", "note"), TOLD, ids=[str(case[0]) for case in TOLD])
def test_value_is_told_in_words(type_: Any, hexadecimal: str, value: Any, note: str) -> None:
    data = bytes.fromhex(hexadecimal)
    root = explain_iceberg_value(b"**" + data + b"*", 2, 2 + len(data), type=type_)
    assert_tiles(root, 2, 2 + len(data))
    root.check()
    assert (root.value, root.note) == (value, note)
    assert [(leaf.label, leaf.value) for leaf in root.leaves()] == [("value", value)]


def test_corner_of_a_bounding_box_is_told_by_its_coordinates() -> None:
    for names, expected in (
        ("xy", Point(1.0, 2.0)),
        ("xyz", Point(1.0, 2.0, 3.0)),
        ("xyzm", Point(1, 2, 3, 4)),
    ):
        data = struct.pack(f"<{len(names)}d", *(1.0, 2.0, 3.0, 4.0)[: len(names)])
        root = explain_iceberg_value(data, type="geography(OGC:CRS84, spherical)")
        assert root.value == expected
        assert "".join(leaf.label for leaf in root.leaves()) == names
        assert [leaf.value for leaf in root.leaves()] == list(expected)[: len(names)]
        assert f"{len(names)} doubles" in root.note


def test_variant_bound_is_told_down_to_its_keys() -> None:
    metadata, value = bytes.fromhex("0101000161"), bytes.fromhex("02010000020c01")
    root = explain_iceberg_value(metadata + value, type="variant")
    assert_tiles(root, 0, 12)
    root.check()
    assert root.value == metadata + value
    assert [(half.label, half.value) for half in root.children] == [("Metadata", ("a",)), ("Value", {"a": 1})]
    assert root.find(11).value == 1
    assert_survives(lambda data: explain_iceberg_value(data, type="variant"), metadata + value)


def test_a_string_of_no_characters_has_no_bytes_to_tell() -> None:
    root = explain_iceberg_value(b"", type="string")
    assert (root.value, list(root.children), len(root)) == ("", [], 0)


def test_damage_is_told_at_its_byte() -> None:
    for data, type_, offset in ((b"ab", "int", 3), (b"a\xff", "string", 4), (b"\x7f" * 8, "time", 3)):
        root = explain_iceberg_value(b"---" + data, 3, type=type_)
        assert [leaf.role for leaf in root.leaves()] == ["damage"]
        with pytest.raises(Corrupt) as caught:
            root.check()
        assert caught.value.offset == offset


TYPES = st.sampled_from(
    [
        *("boolean", "int", "long", "float", "double", "decimal(9, 2)", "decimal(38, 10)", "date", "time"),
        *(
            "timestamp",
            "timestamptz",
            "timestamp_ns",
            "timestamptz_ns",
            "string",
            "uuid",
            "fixed[4]",
            "binary",
        ),
        *("geometry", "geography", "unknown", "interval day"),
    ]
)
SIZES = st.sampled_from([0, 1, 2, 4, 8, 12, 16, 24, 32])


@given(TYPES, SIZES.flatmap(lambda size: st.binary(min_size=size, max_size=size)), st.binary(max_size=3))
@example("time", struct.pack("<q", 86_399_999_999), b"")
@settings(max_examples=600)
def test_the_explanation_says_what_the_decoder_says(type_: str, data: bytes, before: bytes) -> None:
    root = explain_iceberg_value(before + data + b"x", len(before), len(before) + len(data), type=type_)
    assert_tiles(root, len(before), len(before) + len(data))
    error = find_error(root)
    try:
        value = decode_value(data, parse_type(type_))
    except Corrupt as refused:
        assert isinstance(error, Corrupt) and error.message == refused.message
        assert error.offset == len(before) + (refused.offset or 0)
    else:
        assert error is None and repr(root.value) == repr(value)
