"""What the Paimon specification says of a BinaryRow, each statement over rows of engines, of manifests and at random.

"The header and null bits take (8 + arity + 63) / 64 * 8 bytes", "at most 7 bytes are inline", "slots are little-endian",
"offset and length are in one word", "the variable part is padded to 8".
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings

from lakelens.codecs.paimon.row_slot_spans import BYTES_LIKE, NESTED, is_long_decimal, is_long_timestamp
from lakelens.codecs.paimon.row_spans import explain_binary_row
from lakelens.codecs.paimon.types import PaimonField, PaimonType, parse_field
from lakelens.codecs.span.span import Span
from lakelens.opening import open_table
from tests import support
from tests.support.binary_row_encoder import encode_row, rows

LAKES = support.LAKES / "paimon-java"
MANIFESTS = ("2.0.0-pk-types", "2.0.0-append-types", "1.4.2-pk-types", "2.0.0-wide", "2.0.0-partition-types")


class Row:
    """A row with its explanation, cut into the parts that the specification speaks of."""

    def __init__(self, data: bytes, fields: list[tuple[str, PaimonType]]) -> None:
        self.data = data
        self.types = [type_ for _, type_ in fields]
        self.root = explain_binary_row(data, fields=fields)
        self.root.check()
        self.sections = {section.label: section for section in self.root.children}
        self.slots = self.sections["Slots"].children if fields else ()
        self.items = self.sections["Variable part"].children if "Variable part" in self.sections else ()

    def bytes_of(self, span: Span) -> bytes:
        return self.data[span.start : span.end]

    def list_far(self) -> Iterator[tuple[Span, PaimonType]]:
        """Slots that are not null and point into the variable part."""
        for slot, type_ in zip(self.slots, self.types, strict=True):
            if slot.role != "null" and [leaf.label for leaf in slot.children][-1] == "offset":
                yield slot, type_


@cache
def read_engine_rows() -> tuple[Row, ...]:
    cases = json.loads((LAKES / "binary_rows.json").read_text())["rows"]
    return tuple(make_row(case["hex"], [parse_field(field) for field in case["fields"]]) for case in cases)


def make_row(hexadecimal: str, fields: list[PaimonField]) -> Row:
    return Row(bytes.fromhex(hexadecimal), [(field.name, field.type) for field in fields])


@cache
def read_manifest_rows() -> tuple[Row, ...]:
    """The partitions, keys and statistics that manifests of engines hold."""
    found: dict[tuple[bytes, tuple[PaimonType, ...]], Row] = {}
    for name in MANIFESTS:
        table = open_table(LAKES / name / "table")
        for manifest in table.current.manifests:
            for entry in manifest.entries:
                for row in list_rows(entry.file):
                    fields = [(field.name, field.type) for field in row.columns]
                    found[row.stored, tuple(type_ for _, type_ in fields)] = Row(row.stored, fields)
    return tuple(found.values())


def list_rows(file: Any) -> Iterator[Any]:
    """The rows of one entry's data file that are stored with their columns."""
    for stats in (file.value_stats, file.key_stats):
        if stats is not None:
            yield from (row for row in (stats.min_values, stats.max_values) if row is not None)


def check_header(row: Row) -> None:
    """Header and null bits take (8 + arity + 63) / 64 * 8 bytes; field i is null when bit i + 8 is set."""
    arity = struct.unpack(">i", row.data[:4])[0]
    header = row.sections["Header"]
    assert arity == len(row.types)
    assert (header.start, len(header)) == (4, (8 + arity + 63) // 64 * 8)
    bits = int.from_bytes(row.bytes_of(header), "little")
    assert [slot.role == "null" for slot in row.slots] == [bool(bits >> i + 8 & 1) for i in range(arity)]
    assert header.children[0].label == "RowKind" and len(header.children[0]) == 1


def check_fixed_part(row: Row) -> None:
    """One slot of 8 bytes a field, in order, right after the header."""
    start = row.sections["Header"].end
    assert [(slot.start, len(slot)) for slot in row.slots] == [
        (start + 8 * i, 8) for i in range(len(row.types))
    ]


def check_inline(row: Row) -> None:
    """Bytes are inline exactly when there are at most 7: then the last byte is 0x80 + length, else its top bit is 0."""
    for slot, type_ in zip(row.slots, row.types, strict=True):
        if slot.role == "null" or type_.name not in BYTES_LIKE:
            continue
        content = slot.value.encode() if isinstance(slot.value, str) else slot.value
        is_inline = slot.children[-1].label == "tag"
        assert is_inline == (len(content) <= 7)
        tag = row.bytes_of(slot)[7]
        if is_inline:
            assert tag == 0x80 + len(content) and row.bytes_of(slot)[: len(content)] == content
            assert row.bytes_of(slot)[len(content) : 7] == bytes(7 - len(content))
        else:
            assert tag & 0x80 == 0


def check_little_endian(row: Row) -> None:
    """A number in a slot is its little-endian bytes, and what is left of the slot is zero."""
    layouts = {"TINYINT": "<b", "SMALLINT": "<h", "INT": "<i", "BIGINT": "<q", "FLOAT": "<f", "DOUBLE": "<d"}
    for slot, type_ in zip(row.slots, row.types, strict=True):
        if slot.role == "null":
            assert type_.name == "DECIMAL" or "TIMESTAMP" in type_.name or not any(row.bytes_of(slot))
        elif type_.name in layouts:
            assert row.bytes_of(slot) == struct.pack(layouts[type_.name], slot.value).ljust(8, b"\0")
        elif type_.name == "DECIMAL" and not is_long_decimal(type_):
            unscaled = int(slot.value.scaleb(type_.scale))
            assert row.bytes_of(slot) == struct.pack("<q", unscaled)


def check_one_word(row: Row) -> None:
    """Offset and length (or nanoseconds) are the two halves of one word: offset << 32 | length."""
    for slot, type_ in row.list_far():
        word = int.from_bytes(row.bytes_of(slot), "little")
        offset, low = word >> 32, word & 0xFFFFFFFF
        item = next(item for item in row.items if item.number == slot.number)
        assert item.start == row.root.origin + offset
        assert [leaf.value for leaf in slot.children] == [low, offset]
        if is_long_timestamp(type_):
            assert 0 <= low <= 999_999 and len(item) == 8
        elif is_long_decimal(type_):
            assert 1 <= low <= 16 and len(item) == 16
        else:
            padded = -(-low // 8) * 8
            assert len(item) == padded and (low > 7 or type_.name in NESTED)


def check_variable_part(row: Row) -> None:
    """Items begin at multiples of 8 right after the fixed part, are padded with zeros, and leave nothing over."""
    position = row.slots[-1].end if row.slots else row.sections["Header"].end
    for item in row.items:
        assert item.start == position and (item.start - row.root.origin) % 8 == 0 and len(item) % 8 == 0
        assert item.role in ("", "null")
        position = item.end
    assert position == row.root.end == len(row.data)
    for leaf in row.root.leaves():
        if leaf.role in ("padding", "unused", "null") and leaf.label not in (
            "length",
            "nanoseconds",
            "offset",
        ):
            assert not any(row.bytes_of(leaf)), leaf
        assert leaf.role not in ("unexplained", "damage")


def check_null_rooms(row: Row) -> None:
    """A null of DECIMAL(p > 18) or TIMESTAMP(p > 3) keeps its room; all other nulls take none."""
    rooms = {item.number: len(item) for item in row.items if item.role == "null"}
    expected = {
        slot.number: 16 if is_long_decimal(type_) else 8
        for slot, type_ in zip(row.slots, row.types, strict=True)
        if slot.role == "null" and (is_long_decimal(type_) or is_long_timestamp(type_))
    }
    assert rooms == expected


STATEMENTS = [
    check_header,
    check_fixed_part,
    check_inline,
    check_little_endian,
    check_one_word,
    check_variable_part,
    check_null_rooms,
]
NAMES = [statement.__name__ for statement in STATEMENTS]


@pytest.mark.parametrize("statement", STATEMENTS, ids=NAMES)
def test_statement_holds_of_rows_that_the_engine_wrote(statement: Callable[[Row], None]) -> None:
    engine_rows = read_engine_rows()
    assert len(engine_rows) > 100
    for row in engine_rows:
        statement(row)


@pytest.mark.parametrize("statement", STATEMENTS, ids=NAMES)
def test_statement_holds_of_rows_in_manifests(statement: Callable[[Row], None]) -> None:
    manifest_rows = read_manifest_rows()
    assert len(manifest_rows) > 20
    for row in manifest_rows:
        statement(row)


@given(rows(nested=False, max_size=12))
@settings(max_examples=150)
def test_statements_hold_of_random_rows(drawn: tuple[list[PaimonType], list[Any]]) -> None:
    types, values = drawn
    row = Row(encode_row(types, values), [(f"f{i}", type_) for i, type_ in enumerate(types)])
    for statement in STATEMENTS:
        statement(row)


def test_the_rows_at_hand_have_every_case_that_the_statements_speak_of() -> None:
    at_hand = read_engine_rows()
    seen = {label for row in at_hand for leaf in row.root.leaves() for label in (leaf.label, leaf.role)}
    assert {"tag", "offset", "nanoseconds", "milliseconds", "unused", "padding", "null"} <= seen
    assert {len(row.sections["Header"]) for row in at_hand} == {8, 16, 24}
    assert {0, 56, 57, 120, 121} <= {len(row.types) for row in at_hand}
    lengths = {len(slot.value) for row in at_hand for slot in row.slots if isinstance(slot.value, bytes)}
    assert {0, 1, 6, 7, 8, 9, 16} <= lengths
