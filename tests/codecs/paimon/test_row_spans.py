"""BinaryRows with a name for every byte: the picture of a row, what engines wrote, random rows, and damage."""

from __future__ import annotations

import datetime as dt
import json
import struct
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.paimon.binary_row import decode_binary_row
from lakelens.codecs.paimon.row_spans import (
    explain_binary_array,
    explain_binary_map,
    explain_binary_row,
    explain_nested_row,
)
from lakelens.codecs.paimon.types import PaimonType, parse_field, parse_type
from lakelens.codecs.span.span import Span
from lakelens.codecs.variant import Variant
from lakelens.errors import Corrupt, LakeError
from tests.support import LAKES
from tests.support.binary_row_encoder import encode_array, encode_nested_row, encode_row, rows
from tests.support.span_checks import assert_survives, assert_tiles, find_error

ENGINE_ROWS = LAKES / "paimon-java" / "binary_rows.json"
CASES = json.loads(ENGINE_ROWS.read_text())["rows"]
VARIANTS = [
    Variant(bytes.fromhex(value), bytes.fromhex(metadata))
    for value, metadata in (
        ("02010000020c01", "0101000161"),
        ("0303000206070c010d74776f00", "010000"),
        ("200123000000", "010000"),
        ("00", "010000"),
    )
]


def name_types(types: list[PaimonType]) -> list[tuple[str, PaimonType]]:
    return [(f"f{i}", type_) for i, type_ in enumerate(types)]


def settle_variants(value: Any) -> Any:
    """The same value with each variant a valid one: random bytes are none."""
    if isinstance(value, Variant):
        return VARIANTS[len(value.value) % len(VARIANTS)]
    if isinstance(value, list):
        return [settle_variants(item) for item in value]
    if isinstance(value, dict):
        return {key: settle_variants(item) for key, item in value.items()}
    return value


def good_rows(max_size: int = 6) -> st.SearchStrategy[tuple[list[PaimonType], list[Any]]]:
    return rows(max_size=max_size).map(lambda row: (row[0], [settle_variants(value) for value in row[1]]))


def list_lines(span: Span) -> Iterator[tuple[int, Span]]:
    """The sections of a row, and the lines in each."""
    for section in span.children:
        yield 0, section
        yield from ((1, line) for line in section.children)


# -- the picture

PICTURE = """
Arity: 4 bytes before the row
  -4 int32, big-endian: 19 fields
Header: 8 bytes
  +0 RowKind 0: +I, INSERT
  +1 null bits 0 to 7: 0 0 0 0 0 0 0 0
  +2 null bits 8 to 15: 0 0 0 0 0 0 0 0
  +3 null bits 16 to 18: 0 1 0, 17 is null
  +4 null bits not used
Slots: 19 of 8 bytes, little-endian
  +8 0 dt STRING: 10 bytes at +160
  +16 1 k1 BIGINT, 8 bytes
  +24 2 k2 DECIMAL(25,5): 11 bytes at +176
  +32 3 b BOOLEAN, 1 byte
  +40 4 ti TINYINT, 1 byte
  +48 5 si SMALLINT, 2 bytes
  +56 6 i INT, 4 bytes
  +64 7 f FLOAT, 4 bytes
  +72 8 d DOUBLE, 8 bytes
  +80 9 dec DECIMAL(9,2): unscaled −123,452
  +88 10 s STRING, inline: tag 86 = 6 bytes
  +96 11 c CHAR(4), inline: tag 84 = 4 bytes
  +104 12 bin BYTES, inline: tag 83 = 3 bytes
  +112 13 da DATE, 4 bytes: day 20,000
  +120 14 tm TIME(0), 4 bytes: 0 ms of day
  +128 15 ts3 TIMESTAMP(3): ms since 1970
  +136 16 ts6 TIMESTAMP(6): 456,000 ns, ms at +192
  +144 17 ts9 TIMESTAMP(9): null, room at +200
  +152 18 tz TIMESTAMP_LTZ(6): 1,000 ns, ms at +208
Variable part: 56 bytes
  +160 0 dt UTF-8
  +176 2 k2 unscaled, big-endian
  +192 16 ts6 ms since 1970: 1,700,000,000,123
  +200 17 ts9 room kept for the null, all zero
  +208 18 tz ms since 1970: 1,700,000,000,000
"""
PICTURE_FIELDS = [
    ("dt", "STRING", "2026-01-01"),
    ("k1", "BIGINT", 0),
    ("k2", "DECIMAL(25,5)", Decimal("12345678901234567890.12345")),
    ("b", "BOOLEAN", True),
    ("ti", "TINYINT", -2),
    ("si", "SMALLINT", 0),
    ("i", "INT", -140000),
    ("f", "FLOAT", 0.0),
    ("d", "DOUBLE", -4.5),
    ("dec", "DECIMAL(9,2)", Decimal("-1234.52")),
    ("s", "STRING", "short0"),
    ("c", "CHAR(4)", "ab0 "),
    ("bin", "BYTES", b"\xff\0\0"),
    ("da", "DATE", dt.date(2024, 10, 4)),
    ("tm", "TIME(0)", dt.time(0)),
    ("ts3", "TIMESTAMP(3)", dt.datetime(2023, 11, 14, 22, 13, 20, 123000)),
    ("ts6", "TIMESTAMP(6)", dt.datetime(2023, 11, 14, 22, 13, 20, 123456)),
    ("ts9", "TIMESTAMP(9)", None),
    ("tz", "TIMESTAMP_LTZ(6)", dt.datetime(2023, 11, 14, 22, 13, 20, 1, dt.UTC)),
]


def explain_picture() -> tuple[Span, bytes]:
    data = encode_row([parse_type(t) for _, t, _ in PICTURE_FIELDS], [value for *_, value in PICTURE_FIELDS])
    return explain_binary_row(data, fields=[(name, type_) for name, type_, _ in PICTURE_FIELDS]), data


def test_the_picture_of_a_row_with_every_kind_of_slot() -> None:
    root, _ = explain_picture()
    assert (root.note, root.origin) == ("19 fields, 220 bytes, kind +I, 1 null", 4)
    lines = [""]
    for depth, span in list_lines(root):
        at = f"{span.start - 4:+d} " + (f"{span.number} {span.label} " if span.number is not None else "")
        lines.append(f"{span.label}: {span.note}" if depth == 0 else f"  {at}{span.note}")
    assert "\n".join(lines) + "\n" == PICTURE


def test_leaves_of_the_picture_tell_value_unused_bytes_and_tag() -> None:
    root, data = explain_picture()
    leaves = [
        (leaf.label, leaf.role, leaf.number, data[leaf.start : leaf.end].hex()) for leaf in root.leaves()
    ]
    slots = [leaf for leaf in leaves if leaf[2] in (3, 10)]
    assert slots == [
        ("value", "", 3, "01"),
        ("value", "", 10, b"short0".hex()),
        ("tag", "", 10, "86"),
    ]
    assert leaves[5:8] == [
        ("null bits", "unused", None, "00000000"),
        ("length", "", 0, "0a000000"),
        ("offset", "", 0, "a0000000"),
    ]
    assert [leaf for leaf in leaves if leaf[1] == "padding"] == [
        ("padding", "padding", None, "00" * 6),
        ("padding", "padding", None, "00" * 5),
    ]
    assert [(root.find(4 + at).label, root.find(4 + at).number) for at in (160, 192)] == [
        ("value", 0),
        ("milliseconds", 16),
    ]
    assert [root.find(4 + at).role for at in (144, 148, 200)] == ["null"] * 3
    assert [line.value for line in root.children[2].children] == [value for *_, value in PICTURE_FIELDS]


# -- what engines wrote, and random rows


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_row_that_the_java_engine_wrote(case: dict) -> None:
    fields, data = [parse_field(field) for field in case["fields"]], bytes.fromhex(case["hex"])
    root = explain_binary_row(data, fields=fields)
    assert_tiles(root, 0, len(data))
    root.check()
    assert repr(root.value) == repr(decode_binary_row(data, fields))
    assert [leaf for leaf in root.leaves() if leaf.role == "unexplained"] == []
    slots = root.children[2].children if fields else ()
    assert [repr(slot.value) for slot in slots] == [repr(value) for value in root.value]


@given(good_rows(), st.integers(0, 3), st.binary(max_size=9))
@settings(max_examples=100)
def test_the_explanation_says_what_the_decoder_says(
    row: tuple[list[PaimonType], list], kind: int, before: bytes
) -> None:
    types, values = row
    data = encode_row(types, values, kind)
    root = explain_binary_row(
        before + data + b"after", len(before), len(before) + len(data), fields=name_types(types)
    )
    assert_tiles(root, len(before), len(before) + len(data))
    root.check()
    assert root.value == decode_binary_row(data, name_types(types))
    assert all(leaf.role != "unexplained" for leaf in root.leaves())
    for section in root.children[2:]:
        for line in section.children:
            if line.number is not None and section.label == "Slots":
                assert line.value == values[line.number]


@given(good_rows(max_size=3))
@settings(max_examples=15)
def test_rows_cut_or_with_flipped_bits_are_told_with_their_damage(row: tuple[list[PaimonType], list]) -> None:
    types, values = row
    assert_survives(
        lambda data: explain_binary_row(data, fields=name_types(types)), encode_row(types, values), flips=48
    )


@given(good_rows(max_size=5), st.data())
@settings(max_examples=150)
def test_what_the_decoder_refuses_is_damage(row: tuple[list[PaimonType], list], draw: st.DataObject) -> None:
    types, values = row
    data = bytearray(encode_row(types, values))
    for _ in range(draw.draw(st.integers(1, 4))):
        bit = draw.draw(st.integers(0, len(data) * 8 - 1))
        data[bit // 8] ^= 1 << bit % 8
    compare_with_decoder(bytes(data[: draw.draw(st.integers(0, len(data)))]), types)
    compare_with_decoder(bytes(data), types)


@given(st.binary(max_size=200), rows(max_size=4))
@settings(max_examples=100)
def test_any_bytes_are_told_or_damage(noise: bytes, row: tuple[list[PaimonType], list]) -> None:
    types, _ = row
    compare_with_decoder(struct.pack(">i", len(types)) + noise, types)


def compare_with_decoder(data: bytes, types: list[PaimonType]) -> None:
    root = explain_binary_row(data, fields=name_types(types))
    assert_tiles(root, 0, len(data))
    error = find_error(root)
    try:
        row = decode_binary_row(data, name_types(types))
    except LakeError as refused:
        assert error is not None, refused
    else:
        assert repr(root.value) == repr(row)
    if error is not None:
        assert isinstance(error, Corrupt) and error.offset is not None and 0 <= error.offset <= len(data)


# -- nested structures on their own


def test_array_map_and_row_on_their_own() -> None:
    array = b"--" + encode_array(parse_type("STRING"), ["a", None, "a longer text"]) + b"--"
    root = explain_binary_array(array, 2, len(array) - 2, element="STRING")
    assert root.value == ["a", None, "a longer text"]
    assert [section.label for section in root.children] == ["Header", "Elements", "Variable part"]
    assert [(line.label, line.note) for line in root.children[1].children] == [
        ("[0]", "STRING, inline: tag 81 = 1 byte"),
        ("[1]", "STRING: null"),
        ("[2]", "STRING: 13 bytes at +32"),
    ]
    assert root.origin == 2 and root.find(2 + 32).number == 2
    assert root.children[1].children[2].value == "a longer text"
    assert_tiles(root, 2, len(array) - 2)
    keys, values = encode_array(parse_type("INT"), [1, 2]), encode_array(parse_type("DATE"), [None, None])
    mapped = struct.pack("<i", len(keys)) + keys + values
    root = explain_binary_map(mapped, key="INT", value="DATE")
    assert root.value == {1: None, 2: None}
    assert [section.label for section in root.children] == ["Key length", "Keys", "Values"]
    assert_tiles(root, 0, len(mapped))
    nested = encode_nested_row([parse_type("INT"), parse_type("STRING")], [7, "x" * 9], kind=9)
    root = explain_nested_row(nested, fields=[("a", "INT"), ("b", "STRING")])
    root.check()
    assert root.value == {"a": 7, "b": "x" * 9}
    assert [section.label for section in root.children] == ["Header", "Slots", "Variable part"]
    assert root.find(0).note == "RowKind 9: not a kind"


def test_nested_structures_survive_damage() -> None:
    keys, values = (
        encode_array(parse_type("INT"), [1, 2]),
        encode_array(parse_type("BYTES"), [b"x" * 20, None]),
    )
    mapped = struct.pack("<i", len(keys)) + keys + values
    assert_survives(lambda data: explain_binary_map(data, key="INT", value="BYTES"), mapped)
    assert_survives(lambda data: explain_binary_array(data, element="BYTES"), values)
    rowed = encode_nested_row([parse_type("ARRAY<TIMESTAMP(9)>")], [[dt.datetime(2024, 1, 1), None]])
    assert_survives(lambda data: explain_nested_row(data, fields=[("a", "ARRAY<TIMESTAMP(9)>")]), rowed)


def test_map_with_unequal_keys_and_values_is_damage() -> None:
    keys, values = encode_array(parse_type("INT"), [1, 2]), encode_array(parse_type("INT"), [1])
    root = explain_binary_map(struct.pack("<i", len(keys)) + keys + values, key="INT", value="INT")
    with pytest.raises(Corrupt, match="unequal keys and values"):
        root.check()
    assert [child.label for child in root.children] == ["Key length", "Keys", "damaged"]
    with pytest.raises(Corrupt, match="unequal"):
        assert root.value


def test_a_long_array_is_told_in_groups() -> None:
    count = 3000
    array = encode_array(parse_type("STRING"), [f"element {i:06}" for i in range(count)])
    root = explain_binary_array(array, element="STRING")
    header, elements, variable = root.children
    assert [len(section.children) for section in (header, elements, variable)] == [375 + 1 + 1, 3 + 1, 3]
    assert elements.children[1].label == "slots 1024 to 2047"
    assert elements.children[2].children[-1].value == "element 002999"
    assert_tiles(root, 0, len(array))
    root.check()


# -- rows without types, of another arity, of another kind


def test_row_without_types_is_told_as_far_as_it_tells_itself() -> None:
    data = encode_row([parse_type("STRING"), parse_type("INT")], ["longer than seven", None])
    root = explain_binary_row(data)
    root.check()
    assert root.value is None and root.note == f"2 fields, {len(data)} bytes, kind +I, 1 null"
    first, second = root.children[2].children
    assert (first.label, first.note) == ("field 0", "8 bytes; their type is unknown")
    assert first.is_leaf and first.value == bytes.fromhex("1100000018000000")
    assert (second.role, second.note) == ("null", "null")
    (variable,) = root.children[3].children
    assert (variable.role, variable.note) == (
        "unexplained",
        "which slots refer to it is unknown without types",
    )
    assert_survives(explain_binary_row, data)


def test_row_of_another_arity_is_damage_at_its_arity_and_told_without_types() -> None:
    data = encode_row([parse_type("INT"), parse_type("INT")], [1, 2])
    root = explain_binary_row(b"....." + data, 5, fields=[("a", "INT")])
    with pytest.raises(Corrupt, match="row of another arity") as caught:
        root.check()
    assert caught.value.offset == 5
    assert [slot.note for slot in root.children[2].children] == ["8 bytes; their type is unknown"] * 2
    with pytest.raises(Corrupt, match="at byte 5"):
        assert root.value


def test_hostile_arity_makes_nothing() -> None:
    for arity in (2**31 - 1, -1, -(2**31)):
        root = explain_binary_row(struct.pack(">i", arity) + bytes(64))
        assert_tiles(root, 0, 68)
        assert find_error(root) is not None


def test_unknown_kind_is_damage_of_one_byte() -> None:
    data = bytearray(encode_row([parse_type("INT")], [1], kind=3))
    assert explain_binary_row(bytes(data), fields=[("a", "INT")]).find(4).note == "RowKind 3: -D, DELETE"
    data[4] = 4
    root = explain_binary_row(bytes(data), fields=[("a", "INT")])
    assert (root.find(4).role, len(root.find(4))) == ("damage", 1)
    assert root.children[2].children[0].value == 1
    with pytest.raises(Corrupt, match="unknown row kind"):
        root.check()


# -- files


class Recorded:
    """Octets that are not bytes: a file that is read slice by slice."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.read = 0

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, key: Any) -> Any:
        found = self.data[key]
        self.read += len(found)
        return found


def test_only_the_row_is_read_of_a_file() -> None:
    row = encode_row([parse_type("STRING")], ["in the middle of a file"])
    file = Recorded(bytes(10_000) + row + bytes(10_000))
    root = explain_binary_row(file, 10_000, 10_000 + len(row), fields=[("a", "STRING")])
    root.check()
    assert root.value["a"] == "in the middle of a file" and file.read == len(row)
