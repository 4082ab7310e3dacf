"""Paimon types: every spelling of the schema page, and damage named by its place."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.paimon.types import (
    MAX_LENGTH,
    PaimonField,
    PaimonType,
    make_nullable,
    parse_field,
    parse_type,
)
from lakelens.errors import Corrupt, LakeError, Unsupported
from tests.support.binary_row_encoder import types

SPELLINGS = [
    ("INT", "INT"),
    ("integer", "INT"),
    ("INT NOT NULL", "INT NOT NULL"),
    ("INT NULL", "INT"),
    ("STRING", "STRING"),
    ("VARCHAR(2147483647)", "STRING"),
    ("BYTES NOT NULL", "BYTES NOT NULL"),
    ("VARBINARY(2147483647)", "BYTES"),
    ("VARCHAR", "VARCHAR(1)"),
    ("CHAR(10)", "CHAR(10)"),
    ("BINARY", "BINARY(1)"),
    ("DECIMAL", "DECIMAL(10, 0)"),
    ("DEC(5)", "DECIMAL(5, 0)"),
    ("NUMERIC(10,2) NOT NULL", "DECIMAL(10, 2) NOT NULL"),
    ("DOUBLE PRECISION", "DOUBLE"),
    ("TIME", "TIME(0)"),
    ("TIME(3) WITHOUT TIME ZONE", "TIME(3)"),
    ("TIMESTAMP", "TIMESTAMP(6)"),
    ("TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL", "TIMESTAMP(3) NOT NULL"),
    ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
    ("TIMESTAMP_LTZ(9)", "TIMESTAMP(9) WITH LOCAL TIME ZONE"),
    ("VARIANT", "VARIANT"),
    ("BLOB", "BLOB"),
    ("GEOMETRY", "GEOMETRY(OGC:CRS84)"),
    ("GEOMETRY('EPSG:3857')", "GEOMETRY(EPSG:3857)"),
    ("GEOGRAPHY(OGC:CRS84, VINCENTY)", "GEOGRAPHY(OGC:CRS84, VINCENTY)"),
    ("INT NOT NULL ARRAY NOT NULL", "ARRAY<INT NOT NULL> NOT NULL"),
    ("STRING MULTISET ARRAY", "ARRAY<MULTISET<STRING>>"),
    ("ARRAY<INT NOT NULL>", "ARRAY<INT NOT NULL>"),
    ("MAP<STRING,ARRAY<INT>> NOT NULL", "MAP<STRING, ARRAY<INT>> NOT NULL"),
    ("MULTISET<STRING>", "MULTISET<STRING>"),
    ("VECTOR<FLOAT, 3>", "VECTOR<FLOAT, 3>"),
    ("ROW<a INT, `b c``d` STRING NOT NULL>", "ROW<`a` INT, `b c``d` STRING NOT NULL>"),
    ("ROW(a INT 'it''s', b INT COMMENT 'x')", "ROW<`a` INT COMMENT 'it''s', `b` INT COMMENT 'x'>"),
    ("ROW<>", "ROW<>"),
]


@pytest.mark.parametrize(("text", "spelled"), SPELLINGS)
def test_spelling(text: str, spelled: str) -> None:
    type_ = parse_type(text)
    assert str(type_) == spelled
    assert parse_type(spelled) == type_


@given(types())
@settings(max_examples=200, deadline=None)
def test_a_type_is_read_back_from_its_own_text(type_: PaimonType) -> None:
    assert parse_type(str(type_)) == type_


def test_json_objects() -> None:
    type_ = parse_type(
        {
            "type": "ROW NOT NULL",
            "fields": [
                {
                    "id": 4,
                    "name": "tags",
                    "type": {"type": "ARRAY", "element": "STRING NOT NULL"},
                    "description": "d",
                },
                {
                    "id": 9,
                    "name": "m",
                    "type": {
                        "type": "MAP NOT NULL",
                        "key": "INT",
                        "value": {"type": "MULTISET", "element": "INT"},
                    },
                },
                {
                    "id": 2,
                    "name": "v",
                    "type": {"type": "VECTOR", "element": "FLOAT", "length": 3},
                    "defaultValue": "x",
                },
            ],
        }
    )
    assert not type_.nullable
    assert [(f.id, f.name, str(f.type), f.description, f.default) for f in type_.fields] == [
        (4, "tags", "ARRAY<STRING NOT NULL>", "d", None),
        (9, "m", "MAP<INT, MULTISET<INT>> NOT NULL", None, None),
        (2, "v", "VECTOR<FLOAT, 3>", None, "x"),
    ]
    assert parse_type('{"type": "ARRAY", "element": "INT"}') == parse_type("ARRAY<INT>")
    assert parse_type('"INT NOT NULL"') == parse_type("INT NOT NULL")
    assert parse_type({"type": "INT NOT NULL"}) == parse_type("INT NOT NULL")


def test_canonical_roots() -> None:
    assert parse_type("STRING") == PaimonType("VARCHAR", length=MAX_LENGTH)
    assert parse_type("BYTES") == PaimonType("VARBINARY", length=MAX_LENGTH)
    assert parse_type("TIMESTAMP(3) WITH LOCAL TIME ZONE").name == "TIMESTAMP_LTZ"
    assert make_nullable(parse_type("INT NOT NULL"), True) == parse_type("INT")
    assert parse_type(parse_type("INT")) == parse_type("INT")


def test_field() -> None:
    assert parse_field({"name": "a", "type": "INT"}, position=3) == PaimonField(3, "a", PaimonType("INT"))
    with pytest.raises(Corrupt, match=r"at \$\.fields\[2\]"):
        parse_field({"name": "a"}, json_path="$.fields[2]")


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("", 0),
        ("DECIMAL(10 2)", 11),
        ("DECIMAL(39, 2)", 8),
        ("DECIMAL(10, 11)", 12),
        ("CHAR(0)", 5),
        ("TIMESTAMP(10)", 10),
        ("ARRAY<INT", 9),
        ("ARRAY<INT>>", 10),
        ("INT NOT", 4),
        ("MAP<INT>", 7),
        ("ROW<a>", 5),
        ("ROW<a INT,>", 10),
        ("INT 'x", 3),
        ("VECTOR<FLOAT, x>", 14),
        ("GEOMETRY(a, b)", 14),
    ],
)
def test_wrong_text_names_the_character(text: str, offset: int) -> None:
    with pytest.raises(Corrupt) as caught:
        parse_type(text)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("json", "json_path"),
    [
        ({"type": "ARRAY"}, "$"),
        ({"type": "ARRAY", "element": 3}, "$.element"),
        ({"type": "MAP", "key": "INT", "value": "DECIMAL(99)"}, "$.value"),
        ({"type": "ROW", "fields": [{"id": 1, "name": "a"}]}, "$.fields[0]"),
        ({"type": "ROW", "fields": [{"id": 1, "name": "a", "type": {"type": "ROW"}}]}, "$.fields[0].type"),
        ({"type": "VECTOR", "element": "INT"}, "$.length"),
        ({"type": "ARRAY MAYBE", "element": "INT"}, "$.type"),
        ({}, "$.type"),
    ],
)
def test_wrong_json_names_the_place(json: dict, json_path: str) -> None:
    with pytest.raises(Corrupt) as caught:
        parse_type(json)
    assert caught.value.json_path == json_path


def test_unknown_name_and_deep_nesting() -> None:
    with pytest.raises(Unsupported, match="HOLOGRAM at character 6"):
        parse_type("ARRAY<HOLOGRAM>")
    for bomb in (
        "ARRAY<" * 5000 + "INT" + ">" * 5000,
        "INT" + " ARRAY" * 5000,
        '{"type":"ARRAY","element":' * 100_000,
    ):
        with pytest.raises(Corrupt):
            parse_type(bomb)
    nested: object = "INT"
    for _ in range(500):
        nested = {"type": "ARRAY", "element": nested}
    with pytest.raises(Corrupt, match="too deeply"):
        parse_type(nested)  # type: ignore[arg-type]


@given(st.text(alphabet="ARYINTMAPOW<>(), `'0123NULaé", max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text_gives_a_type_or_our_error(text: str) -> None:
    with contextlib.suppress(LakeError):
        assert isinstance(parse_type(text), PaimonType)
