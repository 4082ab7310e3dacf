"""Health of a table of many columns: what is asked of each column does not walk all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.model.schema import Field, Schema
from lakelens.samples import unpack_table

_COLUMNS = 400


def test_columns_are_walked_as_often_whatever_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks: list[int] = []
    real = Schema.leaves

    def leaves(schema: Schema) -> Iterator[tuple[str, Field]]:
        walks.append(len(schema.fields))
        return real(schema)

    monkeypatch.setattr(Schema, "leaves", leaves)
    asked = []
    for number, columns in enumerate((1, _COLUMNS)):
        root = unpack_table("iceberg", tmp_path / str(number))
        path = sorted(root.glob("metadata/*.metadata.json"))[-1]
        document = json.loads(path.read_text())
        for schema in document["schemas"]:
            schema["fields"] += [
                {"id": 1_000 + column, "name": f"c{column}", "required": False, "type": "string"}
                for column in range(columns)
            ]
        document["last-column-id"] = 2_000
        path.write_text(json.dumps(document))
        walks.clear()
        assert ll.open(root).health().to_text(1)
        asked.append(len(walks))
    assert asked[1] < asked[0] + 20
