"""BinaryRow: the worked examples of the format notes, random rows against a test-only encoder, and damage."""

from __future__ import annotations

import datetime as dt
import json
import struct
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.moments import FarTime, NanoTimestamp
from lakelens.codecs.paimon.binary_row import BinaryRow, SlotDecoder, decode_binary_row
from lakelens.codecs.paimon.types import PaimonType, parse_field, parse_type
from lakelens.codecs.variant import Variant
from lakelens.errors import Corrupt, LakeError, Unsupported
from tests.support import LAKES
from tests.support.binary_row_encoder import encode_row, rows

D = dt.datetime

# (types, values, hex): every one produced by an independent encoder and by the Java writers 1.3.1 and 2.0.0
EXAMPLES = [
    ("INT", (1,), "0000000100000000000000000100000000000000"),
    ("", (), "000000000000000000000000"),
    ("INT|STRING", (1, "a"), "00000002000000000000000001000000000000006100000000000081"),
    (
        "STRING",
        ("2024-01-01",),
        "0000000100000000000000000a00000010000000323032342d30312d3031000000000000",
    ),
    ("STRING|INT", (None, 7), "00000002000100000000000000000000000000000700000000000000"),
    (
        "BOOLEAN|TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE",
        (True, -1, 300, -2, 2**40, 1.5, -2.25),
        "0000000700000000000000000100000000000000ff000000000000002c01000000000000feffffff0000000000000000000100000000c03f"
        "0000000000000000000002c0",
    ),
    (
        "DECIMAL(10,2)|DECIMAL(20,2)|DECIMAL(20,2)",
        (Decimal("-123.45"), Decimal("123456789012345678.90"), None),
        "000000030004000000000000c7cfffffffffffff0900000020000000000000003000000000ab54a98ceb1f0ad20000000000000000000000"
        "000000000000000000000000",
    ),
    (
        "DATE|TIME(3)|TIMESTAMP(3)|TIMESTAMP(6)|TIMESTAMP(6)",
        (
            dt.date(2024, 1, 1),
            dt.time(1, 1, 1, 1000),
            D(2024, 1, 1, 0, 0, 0, 123000),
            D(2024, 1, 1, 0, 0, 0, 123456),
            None,
        ),
        "0000000500100000000000000b4d000000000000c9dc3700000000007bf451c28c01000040f506003000000000000000380000007bf451c2"
        "8c0100000000000000000000",
    ),
    (
        "BYTES|STRING|STRING",
        (bytes.fromhex("cafebabe"), "1234567", "12345678"),
        "000000030000000000000000cafebabe00000084313233343536378708000000200000003132333435363738",
    ),
    (
        "ARRAY<INT>|MAP<STRING,INT>",
        ([1, None, 3], {"k": 9}),
        "0000000200000000000000001800000018000000240000003000000003000000020000000100000000000000030000000000000010000000"
        "01000000000000006b000000000000810100000000000000090000000000000000000000",
    ),
    (
        "ROW<a INT,b STRING>|BIGINT",
        ({"a": 5, "b": "x"}, 9),
        "00000002000000000000000018000000180000000900000000000000000000000000000005000000000000007800000000000081",
    ),
    (
        "MULTISET<STRING>",
        ({"z": 2},),
        "00000001000000000000000024000000100000001000000001000000000000007a0000000000008101000000000000000200000000000000"
        "00000000",
    ),
    (
        "VARIANT",
        (Variant(bytes.fromhex("02010000020c01"), bytes.fromhex("0101000161")),),
        "00000001000000000000000010000000100000000700000002010000020c010101000161",
    ),
    (
        "INT|VECTOR<FLOAT,3>",
        (1, [1.0, 2.0, -0.5]),
        "00000002000000000000000001000000000000001400000018000000030000000000803f00000040000000bf0000000000000000",
    ),
    (
        "|".join(["INT"] * 57),
        (*range(56), None),
        "0000003900000000000000000100000000000000"
        + "".join(struct.pack("<q", i).hex() for i in range(56))
        + "00" * 8,
    ),
    (
        "INT|INT|DATE|TIMESTAMP(9)|DECIMAL(23,5)|BYTES",
        (20, 0, dt.date(1969, 9, 23), None, Decimal("0.00000"), None),
        "000000060028000000000000140000000000000000000000000000009cffffff000000000000000038000000010000004000000000000000"
        "00000000000000000000000000000000000000000000000000000000",
    ),
    ("INT", (10,), "0000000100000000000000000a00000000000000"),
]


def name_fields(types: str) -> list[tuple[str, str]]:
    return [(f"f{i}", text) for i, text in enumerate(types.split("|") if types else [])]


@pytest.mark.parametrize(("types", "values", "hexadecimal"), EXAMPLES, ids=range(1, 18))
def test_worked_example(types: str, values: tuple, hexadecimal: str) -> None:
    row = decode_binary_row(bytes.fromhex(hexadecimal), name_fields(types))
    assert row.values == values
    assert [type(value) for value in row] == [type(value) for value in values]
    assert row.kind == "+I"
    assert row.data.hex() == hexadecimal


def name_types(types: list[PaimonType]) -> list[tuple[str, PaimonType]]:
    return [(f"f{i}", type_) for i, type_ in enumerate(types)]


@given(rows(), st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_what_was_encoded_is_decoded(row: tuple[list[PaimonType], list], kind: int) -> None:
    types, values = row
    data = encode_row(types, values, kind)
    decoded = decode_binary_row(data, name_types(types))
    assert list(decoded.values) == values
    assert decoded.kind == ["+I", "-U", "+U", "-D"][kind]


@given(rows(max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_row_cut_anywhere_gives_a_row_or_corrupt(row: tuple[list[PaimonType], list]) -> None:
    types, values = row
    data = encode_row(types, values)
    for length in range(len(data)):
        decode_or_corrupt(data[:length], types)


@pytest.mark.exhaustive
@given(rows(max_size=5), st.data())
@settings(max_examples=300, deadline=None)
def test_flipped_bits_give_a_row_or_corrupt(row: tuple[list[PaimonType], list], data: st.DataObject) -> None:
    types, values = row
    damaged = bytearray(encode_row(types, values))
    for _ in range(data.draw(st.integers(1, 4))):
        bit = data.draw(st.integers(32, len(damaged) * 8 - 1))
        damaged[bit // 8] ^= 1 << bit % 8
    decode_or_corrupt(bytes(damaged), types)


@given(st.binary(max_size=200), rows(max_size=4))
@settings(max_examples=200, deadline=None)
def test_any_bytes_give_a_row_or_corrupt(noise: bytes, row: tuple[list[PaimonType], list]) -> None:
    types, _ = row
    decode_or_corrupt(struct.pack(">i", len(types)) + noise, types)


def decode_or_corrupt(data: bytes, types: list[PaimonType]) -> None:
    try:
        row = decode_binary_row(data, name_types(types))
    except Corrupt as error:
        assert error.offset is not None and 0 <= error.offset <= len(data)
    else:
        assert len(row) == len(types)
        repr(row)


ENGINE_ROWS = LAKES / "paimon-java" / "binary_rows.json"


def read_engine_rows() -> list[dict]:
    return json.loads(ENGINE_ROWS.read_text())["rows"] if ENGINE_ROWS.exists() else []


@pytest.mark.parametrize("case", read_engine_rows(), ids=lambda case: case["name"])
def test_row_that_the_java_engine_wrote(case: dict) -> None:
    fields = [parse_field(field) for field in case["fields"]]
    row = decode_binary_row(bytes.fromhex(case["hex"]), fields)
    expected = [read_answer(f.type, answer) for f, answer in zip(fields, case["values"], strict=True)]
    assert repr(list(row)) == repr(expected)  # repr: NaN equals itself, and types must agree as well
    assert row.kind == case["kind"]
    encoded = encode_row([f.type for f in fields], expected, ["+I", "-U", "+U", "-D"].index(case["kind"]))
    assert encoded.hex() == case["hex"]  # so that the random rows of these tests are what the engine writes


def read_answer(type_: PaimonType, answer: object) -> object:
    """The value that the JSON answer of the engine stands for."""
    if answer is None:
        return None
    match type_.name:
        case "FLOAT" | "DOUBLE":
            return float(answer)
        case "DECIMAL":
            return Decimal(answer)
        case "DATE":
            return dt.date.fromisoformat(answer)
        case "TIME":
            return dt.time.fromisoformat(answer)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return read_timestamp(answer)
        case "BINARY" | "VARBINARY" | "BLOB" | "GEOMETRY" | "GEOGRAPHY":
            return bytes.fromhex(answer)
        case "ARRAY" | "VECTOR":
            return [read_answer(type_.element, item) for item in answer]
        case "MAP" | "MULTISET":
            key, value = (
                (type_.element, PaimonType("INT")) if type_.name == "MULTISET" else (type_.key, type_.value)
            )
            return {read_answer(key, k): read_answer(value, v) for k, v in answer}
        case "ROW":
            return {field.name: read_answer(field.type, answer[field.name]) for field in type_.fields}
        case "VARIANT":
            variant = Variant(bytes.fromhex(answer["value"]), bytes.fromhex(answer["metadata"]))
            assert variant.to_python() == json.loads(answer["json"])
            return variant
    return answer


def read_timestamp(text: str) -> dt.datetime:
    fraction = text.rstrip("Z").partition(".")[2]
    if fraction[6:].strip("0"):
        whole = dt.datetime.fromisoformat(text.replace(fraction.rstrip("Z"), fraction[:6]))
        return NanoTimestamp.extend(whole, int(fraction.rstrip("Z")[6:].ljust(3, "0")))
    return dt.datetime.fromisoformat(text)


def test_row_behaves_as_a_sequence_with_names() -> None:
    data = bytes.fromhex("00000002000000000000000001000000000000006100000000000081")
    row = decode_binary_row(data, [("id", "INT NOT NULL"), ("name", "STRING")])
    assert (row["id"], row["name"], row[1], len(row), list(row)) == (1, "a", "a", 2, [1, "a"])
    assert row.names == ("id", "name") and row.to_dict() == {"id": 1, "name": "a"}
    assert row == decode_binary_row(data, [("id", parse_type("INT")), ("name", parse_type("STRING"))])
    assert row != BinaryRow(("id", "name"), (1, "b")) and row != (1, "a")
    assert repr(row) == "{id: 1, name: 'a'}"
    with pytest.raises(KeyError, match="the row has id, name"):
        row["city"]


def test_kind_is_told_and_checked() -> None:
    data = bytearray(bytes.fromhex(EXAMPLES[0][2]))
    data[4] = 3
    row = decode_binary_row(bytes(data), [("id", "INT")])
    assert (row.kind, repr(row)) == ("-D", "-D{id: 1}")
    data[4] = 4
    with pytest.raises(Corrupt, match="row kind") as caught:
        decode_binary_row(bytes(data), [("id", "INT")])
    assert caught.value.offset == 4


def test_other_arity_names_both() -> None:
    with pytest.raises(Corrupt, match="expected 2 fields; seen 1 fields") as caught:
        decode_binary_row(bytes.fromhex(EXAMPLES[0][2]), [("a", "INT"), ("b", "INT")])
    assert caught.value.offset == 0
    with pytest.raises(Corrupt, match="expected 4 bytes; seen 2 bytes"):
        decode_binary_row(b"\0\0", [])


def test_text_that_is_not_utf8_is_named_by_its_byte() -> None:
    data = bytearray(bytes.fromhex(EXAMPLES[3][2]))
    data[23] = 0xFF
    with pytest.raises(Corrupt, match="UTF-8") as caught:
        decode_binary_row(bytes(data), [("day", "STRING")])
    assert caught.value.offset == 23


def test_overlapping_items_do_not_multiply() -> None:
    inner = struct.pack("<i", 4000) + bytes(500) + bytes(4000)
    count = 1000
    head = struct.pack("<i", count) + bytes(128)
    slots = struct.pack("<ii", len(inner), len(head) + 8 * count) * count
    array = head + slots + inner
    row = bytes(8) + struct.pack("<ii", len(array), 16) + array
    with pytest.raises(Corrupt, match="overlap"):
        decode_binary_row(struct.pack(">i", 1) + row, [("a", "ARRAY<ARRAY<TINYINT>>")])


def test_count_beyond_the_bytes_is_refused_before_anything_is_made() -> None:
    array = struct.pack("<i", 2**31 - 1)
    row = bytes(8) + struct.pack("<ii", 4, 16) + array
    with pytest.raises(Corrupt, match="array cut short"):
        decode_binary_row(struct.pack(">i", 1) + row, [("a", "ARRAY<INT>")])


def test_timestamps_keep_every_digit() -> None:
    import numpy as np

    def decode(millis: int, nanos: int, type_: str) -> object:
        row = bytes(8) + struct.pack("<ii", nanos, 16) + struct.pack("<q", millis)
        return decode_binary_row(struct.pack(">i", 1) + row, [("t", type_)])["t"]

    assert decode(1, 1, "TIMESTAMP(9)") == NanoTimestamp(1970, 1, 1, microsecond=1000, nanosecond=1)
    assert decode(-1, 500_000, "TIMESTAMP_LTZ(9)") == D(1969, 12, 31, 23, 59, 59, 999500, dt.UTC)
    far = decode(253402300800000, 0, "TIMESTAMP(6)")
    assert isinstance(far, FarTime) and str(far).startswith("10000-01-01T00:00:00")
    assert str(decode(2**62, 0, "TIMESTAMP(6)")) == str(np.datetime64(2**62, "ms"))
    with pytest.raises(Corrupt, match="0 to 999999"):
        decode(1, 1_000_000, "TIMESTAMP(9)")


def test_map_that_repeats_keys_is_a_list_of_pairs() -> None:
    keys = struct.pack("<iiii", 2, 0, 7, 7)
    values = struct.pack("<iiii", 2, 0, 1, 2)
    content = struct.pack("<i", len(keys)) + keys + values
    row = bytes(8) + struct.pack("<ii", len(content), 16) + content
    decoded = decode_binary_row(struct.pack(">i", 1) + row, [("m", "MAP<INT, INT>")])
    assert decoded["m"] == [(7, 1), (7, 2)]


def test_unknown_type_is_told() -> None:
    with pytest.raises(Unsupported, match="HOLOGRAM"):
        decode_binary_row(bytes.fromhex(EXAMPLES[0][2]), [("a", "HOLOGRAM")])
    with pytest.raises(LakeError):
        SlotDecoder(bytes(16)).decode_slot(PaimonType("HOLOGRAM"), 8, 0, 16, 0)


# -- variant


@pytest.mark.parametrize(
    ("value", "metadata", "expected"),
    [
        ("00", "010000", None),
        ("04", "010000", True),
        ("08", "010000", False),
        ("0cff", "010000", -1),
        ("102c01", "010000", 300),
        ("1c000000000000f83f", "010000", 1.5),
        ("20023930" + "0000", "010000", Decimal("123.45")),
        ("2cc94d0000", "010000", dt.date(2024, 7, 9)),
        ("0d616263", "010000", "abc"),
        ("03020002040c010c02", "010000", [1, 2]),
        ("3c02000000cafe", "010000", b"\xca\xfe"),
    ],
)
def test_variant_values(value: str, metadata: str, expected: object) -> None:
    assert Variant(bytes.fromhex(value), bytes.fromhex(metadata)).to_python() == expected


@given(st.binary(max_size=40), st.binary(max_size=20))
@settings(max_examples=300, deadline=None)
def test_any_variant_gives_a_value_or_corrupt(value: bytes, metadata: bytes) -> None:
    for names in (metadata, b"\x01\x01\x00\x01a", b"\x01\x00\x00"):
        try:
            Variant(value, names).to_python()
        except Corrupt as error:
            assert error.offset is not None
