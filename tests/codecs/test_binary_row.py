"""BinaryRow: the worked examples of the format notes, random rows against a test-only encoder, and damage."""

from __future__ import annotations

import datetime as dt
import json
import struct
from decimal import Decimal
from pathlib import Path

import pytest

from lakelens.codecs.binary_row import BinaryRow, decode_binary_row
from lakelens.codecs.variant import Variant
from lakelens.errors import Corrupt

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
