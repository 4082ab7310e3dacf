"""BinaryRows that are not what they must be: which bytes are damage, and what can still be told of the others."""

from __future__ import annotations

import struct

import pytest

from lakelens.codecs.paimon.binary_row import decode_binary_row
from lakelens.codecs.paimon.row_spans import explain_binary_row, explain_nested_row
from lakelens.codecs.paimon.types import PaimonField, PaimonType, parse_type
from lakelens.errors import Corrupt, Unsupported
from tests.support.binary_row_encoder import encode_nested_row, encode_row
from tests.support.span_checks import assert_tiles

TWO = [("a", "STRING"), ("b", "STRING")]


def row_of(*slots: tuple[int, int], variable: bytes = b"") -> bytes:
    """A row of strings that point to (length, offset)."""
    return (
        struct.pack(">i", len(slots))
        + bytes(8)
        + b"".join(struct.pack("<ii", *slot) for slot in slots)
        + variable
    )


def test_items_that_share_bytes_are_damage_and_told_once() -> None:
    data = row_of((16, 24), (8, 32), variable=b"0123456789abcdef")
    root = explain_binary_row(data, fields=TWO)
    assert_tiles(root, 0, len(data))
    first, second = root.children[2].children
    assert first.value == "0123456789abcdef" and second.role == "damage"
    assert "items overlap" in second.note and "bytes 32 to 40" in second.note
    with pytest.raises(Corrupt, match="items overlap") as caught:
        root.check()
    assert caught.value.offset == 4 + 16
    assert [item.label for item in root.children[3].children] == ["a"]


@pytest.mark.parametrize(
    ("slot", "message"), [((9, 20), "overlap"), ((9, 24), "outside"), ((-1, 24), "outside")]
)
def test_item_in_the_fixed_part_or_outside_is_damage(slot: tuple[int, int], message: str) -> None:
    data = row_of((8, 24), slot, variable=b"01234567")
    root = explain_binary_row(data, fields=[("a", "STRING"), ("b", "ARRAY<INT>")])
    assert_tiles(root, 0, len(data))
    first, second = root.children[2].children
    assert first.value == "01234567" and second.role == "damage" and message in second.note


def test_bytes_that_no_slot_refers_to_are_told() -> None:
    data = row_of((8, 32), (3, 48), variable=b"01234567ABCDEFGHabcdefghxyz")
    root = explain_binary_row(data, fields=TWO)
    root.check()
    items = [(item.label, item.role, item.start - 4, len(item)) for item in root.children[3].children]
    assert items == [
        ("unexplained", "unexplained", 24, 8),
        ("a", "", 32, 8),
        ("unexplained", "unexplained", 40, 8),
        ("b", "", 48, 3),
    ]
    assert root.find(4 + 24).note == "no slot refers to these bytes"


def test_padding_and_unused_bits_that_are_not_zero_are_told() -> None:
    data = bytearray(row_of((9, 16), variable=b"012345678......."))
    data[4 + 3] = 1
    root = explain_binary_row(bytes(data), fields=[("a", "STRING")])
    root.check()
    assert root.find(4 + 3).note == "null bits not used, not zero"
    assert root.find(4 + 31).note == "7 bytes of padding, not zero"


def test_text_that_is_not_utf8_is_damage_where_it_lies() -> None:
    data = row_of((9, 16), variable=b"01234\xff678" + bytes(7))
    root = explain_binary_row(data, fields=[("a", "STRING")])
    slot, item = root.children[2].children[0], root.children[3].children[0]
    assert slot.value is None and slot.note == "STRING: 9 bytes at +16" and slot.role == ""
    assert item.role == "damage" and item.children[0].error.offset == 4 + 16 + 5
    inline = explain_binary_row(
        bytes.fromhex("00000001 0000000000000000 ff00000000000081"), fields=[("a", "STRING")]
    )
    assert inline.children[2].children[0].role == "damage"


SLOT = struct.Struct("<ii").pack


@pytest.mark.parametrize(
    ("type_", "slot", "variable", "message", "offset"),
    [
        ("TIME(3)", struct.pack("<q", 86_400_000), b"", "time outside the day", 12),
        ("TIMESTAMP(6)", SLOT(1_000_000, 16), bytes(8), "bad nanoseconds", 12),
        ("TIMESTAMP(6)", SLOT(0, 17), bytes(8), "timestamp outside its row", 16),
        ("DECIMAL(2, 0)", struct.pack("<q", 100), b"", "number too long", 12),
        ("DECIMAL(19, 0)", SLOT(17, 16), bytes(24), "bad length of a decimal", 12),
        ("DECIMAL(19, 0)", SLOT(0, 16), bytes(16), "bad length of a decimal", 12),
        ("DECIMAL(19, 0)", SLOT(16, 16), b"\x7f" * 16, "number too long", 12),
        ("STRING", bytes(7) + b"\x88", b"", "bad length of short bytes", 19),
        ("ARRAY<INT>", SLOT(8, 16), struct.pack("<ii", 2, 0), "array cut short", 20),
        ("ARRAY<INT>", SLOT(4, 16), struct.pack("<i", -1), "negative count", 20),
        ("ARRAY<INT>", SLOT(0, 16), b"", "no count of the array", 20),
        ("MAP<INT, INT>", SLOT(8, 16), struct.pack("<ii", 5, 0), "keys longer than their map", 20),
        ("VARIANT", SLOT(8, 16), struct.pack("<ii", 5, 0), "variant value too long", 20),
        ("VECTOR<FLOAT, 3>", SLOT(12, 16), struct.pack("<iii", 2, 0, 0), "vector of another length", 20),
        ("VECTOR<FLOAT, 3>", SLOT(12, 16), struct.pack("<iii", 3, 0, 0), "vector cut short", 20),
        ("ROW<a INT>", SLOT(8, 16), bytes(8), "row cut short", 20),
    ],
)
def test_what_a_slot_must_not_hold_is_damage_at_its_byte(
    type_: str, slot: bytes, variable: bytes, message: str, offset: int
) -> None:
    data = struct.pack(">i", 1) + bytes(8) + slot + variable
    root = explain_binary_row(data, fields=[("a", type_)])
    assert_tiles(root, 0, len(data))
    with pytest.raises(Corrupt, match=message) as caught:
        root.check()
    assert caught.value.offset == offset
    with pytest.raises(Corrupt, match=message):
        decode_binary_row(data, [("a", type_)])


def test_a_type_that_is_not_decoded_is_told_in_its_slot() -> None:
    root = explain_binary_row(encode_row([parse_type("INT")], [1]), fields=[("a", PaimonType("HOLOGRAM"))])
    with pytest.raises(Unsupported, match="HOLOGRAM"):
        root.check()
    assert root.children[2].children[0].role == "damage"


def test_a_null_that_points_elsewhere_keeps_no_room() -> None:
    for offset in (0, 8, 24, 2**31 - 1, -8):
        row = struct.pack(">i", 2) + b"\0\2" + bytes(6) + struct.pack("<qii", 1, 0, offset) + b"\xff" * 8
        root = explain_binary_row(row, fields=[("a", "BIGINT"), ("b", "TIMESTAMP(9)")])
        root.check()
        told = root.children[2].children[1].note
        assert told.startswith("TIMESTAMP(9): null") and ("room" in told) == (offset == 24)
    assert root.find(4 + 24).role == "unexplained"


def test_references_that_multiply_are_told_in_linear_time() -> None:
    inner = struct.pack("<i", 4000) + bytes(500) + bytes(4000)
    count = 1000
    head = struct.pack("<i", count) + bytes(128)
    array = head + struct.pack("<ii", len(inner), len(head) + 8 * count) * count + inner
    data = struct.pack(">i", 1) + bytes(8) + struct.pack("<ii", len(array), 16) + array
    root = explain_binary_row(data, fields=[("a", "ARRAY<ARRAY<TINYINT>>")])
    assert sum(1 for _ in root.walk()) < 4 * count + 4000 + 1000
    assert_tiles(root, 0, len(data))
    with pytest.raises(Corrupt, match="overlap"):
        root.check()


def test_types_nested_deeper_than_any_reader_goes_end_in_damage() -> None:
    type_ = PaimonType("INT")
    data = encode_nested_row([type_], [1])
    for _ in range(80):
        type_ = PaimonType("ROW", fields=(PaimonField(0, "a", type_),))
        data = bytes(8) + struct.pack("<ii", len(data), 16) + data
    root = explain_nested_row(data, fields=[("a", type_)])
    assert_tiles(root, 0, len(data))
    with pytest.raises(Corrupt, match="nested too deeply"):
        root.check()
