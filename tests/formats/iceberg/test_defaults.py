"""Default values of Iceberg columns: decoded as their type says, kept as stored where they are malformed."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import lakelens as ll
from lakelens.views.render.text import render_text
from tests import support
from tests.support.iceberg_builder import Builder

LAKES = support.LAKES / "spark/iceberg"


def make_field(number: int, type_: Any, default: Any) -> dict[str, Any]:
    return {
        "id": number,
        "name": f"c{number}",
        "required": False,
        "type": type_,
        "initial-default": default,
        "write-default": default,
    }


def open_with(path: Path, *fields: dict[str, Any]) -> ll.Table:
    schema = {"type": "struct", "schema-id": 0, "fields": list(fields)}
    return ll.open(Builder(path).write_metadata(format_version=3, schemas=[schema], last_column_id=100))


def test_an_engines_defaults_are_read() -> None:
    schema = ll.open(LAKES / "v3-default-values/table").schema
    told = {field.name: (field.initial_default, field.write_default) for field in schema}
    assert told == {"id": (None, None), "n": (5, 5), "s": ("unset", "unset")}


def test_defaults_are_values_of_their_types(tmp_path: Path) -> None:
    inner = {"type": "struct", "fields": [make_field(11, "date", "2017-11-16")]}
    listed = {"type": "list", "element-id": 12, "element": inner, "element-required": False}
    table = open_with(
        tmp_path / "t",
        make_field(1, "decimal(9, 2)", "14.20"),
        make_field(2, "binary", "00ff"),
        make_field(3, listed, [{"11": "2017-11-17"}]),
    )
    decimal, binary, nested = table.schema.fields
    assert (decimal.initial_default, binary.write_default) == (Decimal("14.20"), b"\0\xff")
    assert nested.initial_default == [{"c11": date(2017, 11, 17)}]
    assert table.schema.field(11).initial_default == date(2017, 11, 16)
    assert not list(table.findings)
    assert "c2" in render_text(table.schema, 3)


def test_a_malformed_default_is_a_finding_and_stays_as_stored(tmp_path: Path) -> None:
    inner = {"type": "struct", "fields": [make_field(11, "uuid", "not-a-uuid")]}
    table = open_with(
        tmp_path / "t",
        make_field(1, "date", "soon"),
        make_field(2, {"type": "list", "element-id": 3, "element": inner, "element-required": False}, None),
    )
    assert table.schema.fields[0].initial_default == "soon"
    assert table.schema.field(11).write_default == "not-a-uuid"
    messages = " ".join(finding.message for finding in table.findings)
    for place in (
        "$.schemas[0].fields[0].initial-default",
        "$.schemas[0].fields[0].write-default",
        "$.schemas[0].fields[1].type.element.fields[0].initial-default",
    ):
        assert place in messages, messages
