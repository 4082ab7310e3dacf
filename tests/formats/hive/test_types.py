"""Types as Hive and Spark word them, from the metastore's text, Spark's JSON, Arrow and Avro."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.errors import Corrupt
from lakelens.formats.hive.contents import SPARK_SCHEMA
from lakelens.formats.hive.type_texts import (
    from_arrow,
    merge_fields,
    number_fields,
    parse_avro_fields,
    parse_json_fields,
    parse_json_type,
    parse_type,
    widen,
)
from lakelens.model.schema import Field


@pytest.mark.parametrize(
    ("text", "logical"),
    [
        ("boolean", "boolean"),
        ("tinyint", "int8"),
        ("smallint", "int16"),
        ("int", "int32"),
        ("bigint", "int64"),
        ("float", "float32"),
        ("double", "float64"),
        ("decimal(38,10)", "decimal"),
        ("string", "string"),
        ("char(3)", "string"),
        ("varchar(10)", "string"),
        ("binary", "binary"),
        ("date", "date"),
        ("timestamp", "timestamptz"),
        ("timestamp_ntz", "timestamp"),
        ("void", "unknown"),
        ("array<int>", "list"),
        ("map<string,array<decimal(5,2)>>", "map"),
        ("struct<a:int,b:struct<c:map<int,string>>>", "struct"),
    ],
)
def test_a_metastores_type_reads_and_prints_the_same(text: str, logical: str) -> None:
    parsed = parse_type(text)
    assert (str(parsed), parsed.logical) == (text, logical)


def test_members_of_a_struct_may_have_odd_names() -> None:
    parsed = parse_type("struct<`a:b`:int,c d:string, e : bigint>")
    assert [(child.name, str(child.type)) for child in parsed.children] == [
        ("a:b", "int"),
        ("c d", "string"),
        ("e", "bigint"),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "array<", "array<int", "map<int>", "struct<a>", "decimal(x)", "int>", "uniontype<int,string>", "<>"],
)
def test_what_is_no_type_stays_text(text: str) -> None:
    parsed = parse_type(text)
    assert (str(parsed), parsed.logical, parsed.children) == (text, "unknown", ())


def test_sparks_json_keeps_nullability_comments_and_declared_lengths() -> None:
    document = {
        "type": "struct",
        "fields": [
            {
                "name": "v",
                "type": "string",
                "nullable": False,
                "metadata": {"__CHAR_VARCHAR_TYPE_STRING": "varchar(5)", "comment": "short"},
            },
            {
                "name": "m",
                "type": {"type": "map", "keyType": "string", "valueType": "long", "valueContainsNull": False},
                "nullable": True,
                "metadata": {},
            },
            {"name": "u", "type": {"type": "udt", "sqlType": "double"}, "nullable": True},
        ],
    }
    value, mapped, udt = parse_json_fields(document)
    assert (str(value.type), value.nullable, value.doc) == ("varchar(5)", False, "short")
    assert [child.nullable for child in mapped.type.children] == [False, False]
    assert udt.type == "double"


@pytest.mark.parametrize("document", [None, [], {}, {"type": "struct"}, {"type": "array"}, {"type": 5}])
def test_what_is_no_spark_type_names_its_place(document: Any) -> None:
    outer = {"type": "struct", "fields": [{"name": "a", "type": document}]}
    with pytest.raises(Corrupt, match=r"\$\.fields\[0\]\.type"):
        parse_json_type(outer)


def test_arrow_types() -> None:
    wide = pa.schema(
        [
            ("u8", pa.uint8()),
            ("u64", pa.uint64()),
            ("s", pa.large_string()),
            ("f", pa.binary(4)),
            ("d", pa.dictionary(pa.int32(), pa.string())),
            ("t", pa.timestamp("ns")),
            ("l", pa.large_list(pa.int8())),
            ("h", pa.float16()),
            ("n", pa.null()),
            ("dur", pa.duration("s")),
        ]
    )
    assert [str(from_arrow(column.type)) for column in wide] == [
        "smallint",
        "decimal(20,0)",
        "string",
        "binary",
        "string",
        "timestamp_ntz",
        "array<tinyint>",
        "float",
        "void",
        "duration[s]",
    ]
    assert from_arrow(pa.timestamp("ns")).precision == 9


def test_avro_types() -> None:
    def kind(schema: Any) -> str:
        return str(parse_avro_fields({"fields": [{"name": "x", "type": schema}]})[0].type)

    assert kind({"type": "array", "items": ["null", "string"]}) == "array<string>"
    assert kind({"type": "map", "values": "long"}) == "map<string,bigint>"
    assert kind({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}) == "decimal(9,2)"
    assert kind({"type": "long", "logicalType": "timestamp-micros"}) == "timestamp"
    assert (
        kind({"type": "record", "name": "r", "fields": [{"name": "a", "type": "bytes"}]})
        == "struct<a:binary>"
    )
    assert kind({"type": "enum", "name": "e", "symbols": ["A"]}) == "string"
    assert kind(["int", "string"]) == "uniontype<int,string>"


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("int", "bigint", "bigint"),
        ("tinyint", "double", "double"),
        ("bigint", "double", None),
        ("int", "float", None),
        ("float", "double", "double"),
        ("decimal(5,2)", "decimal(4,3)", "decimal(6,3)"),
        ("decimal(38,0)", "decimal(38,10)", None),
        ("varchar(5)", "string", "string"),
        ("void", "date", "date"),
        ("date", "timestamp", None),
        ("struct<a:int>", "struct<a:bigint,b:int>", "struct<a:bigint,b:int>"),
    ],
)
def test_two_types_are_widened_only_without_loss(first: str, second: str, both: str | None) -> None:
    assert widen(parse_type(first), parse_type(second)) == both
    other = widen(parse_type(second), parse_type(first))
    assert (other is None) == (both is None)


def test_columns_are_merged_by_name_whatever_their_case() -> None:
    def column(name: str, kind: str, nullable: bool = False) -> Field:
        return Field(0, name, parse_type(kind), nullable)

    merged, disagreeing = merge_fields(
        [column("A", "int"), column("gone", "int")], [column("a", "bigint"), column("new", "int")]
    )
    assert [(f.name, str(f.type), f.nullable) for f in merged] == [
        ("A", "bigint", False),
        ("gone", "int", True),
        ("new", "int", True),
    ]
    assert disagreeing == []
    assert [f.id for f in number_fields(merged)] == [1, 2, 3]


def test_a_damaged_spark_schema_falls_back_to_the_files_own(tmp_path: Path) -> None:
    table = pa.table({"id": [1]})
    pq.write_table(table.replace_schema_metadata({SPARK_SCHEMA: "{"}), tmp_path / "a.parquet")
    document = {"type": "struct", "fields": [{"name": "id", "type": "byte"}]}
    pq.write_table(
        table.replace_schema_metadata({SPARK_SCHEMA: json.dumps(document)}), tmp_path / "b.parquet"
    )
    first, second = ll.open(tmp_path).files
    assert [str(f.type) for f in first.columns] == ["bigint"]
    assert [str(f.type) for f in second.columns] == ["tinyint"]


@pytest.mark.parametrize("suffix", ["orc", "avro"])
def test_damaged_orc_and_avro_are_findings(tmp_path: Path, suffix: str) -> None:
    good, bad = tmp_path / f"good.{suffix}", tmp_path / f"bad.{suffix}"
    if suffix == "orc":
        orc.write_table(pa.table({"id": list(range(100))}), good)
    else:
        import fastavro

        schema = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "long"}]}
        with good.open("wb") as file:
            fastavro.writer(file, schema, [{"id": n} for n in range(100)])
    bad.write_bytes(good.read_bytes()[:-10])
    table = ll.open(tmp_path)
    assert table.files.record_count == 100
    assert [(f.severity, f.path) for f in table.findings] == [("error", str(bad))]
    for ask in (lambda: table.files[str(bad)].footer, lambda: table.files[str(bad)].preview()):
        with pytest.raises(Corrupt) as caught:
            ask()
        assert caught.value.path == str(bad)


@pytest.mark.parametrize(
    ("precision", "scale"),
    [(1000, 5), (-1, 0), ("x", 0), (10, 99), (10, -5), (None, None), ([], {}), (2**70, 0)],
)
def test_decimals_that_are_none_are_what_they_are_stored_as(precision: object, scale: object) -> None:
    kind = {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
    (field,) = parse_avro_fields({"fields": [{"name": "a", "type": kind}]})
    assert field.type == "binary"


def test_a_decimal_of_a_thousand_digits_is_unknown() -> None:
    assert parse_type("decimal(1000,5)").logical == "unknown"
