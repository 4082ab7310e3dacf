"""Iceberg types: every type of v1 to v3, names of leaves, and damage that says where it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.iceberg.types import (
    MAX_DEPTH,
    PLAIN_TYPES,
    IcebergField,
    IcebergType,
    leaf_fields,
    parse_struct,
    parse_type,
)
from lakelens.errors import Corrupt


def type_to_json(type_: IcebergType) -> Any:
    """The JSON of a type, written independently of the parser."""
    if type_.name == "struct":
        return {"type": "struct", "fields": [field_to_json(field) for field in type_.fields]}
    if type_.name == "list":
        (element,) = type_.fields
        return {
            "type": "list",
            "element-id": element.id,
            "element": type_to_json(element.type),
            "element-required": element.required,
        }
    if type_.name == "map":
        key, value = type_.fields
        return {
            "type": "map",
            "key-id": key.id,
            "key": type_to_json(key.type),
            "value-id": value.id,
            "value": type_to_json(value.type),
            "value-required": value.required,
        }
    return str(type_)


def field_to_json(field: IcebergField) -> dict[str, Any]:
    json = {"id": field.id, "name": field.name, "required": field.required, "type": type_to_json(field.type)}
    return json | ({"doc": field.doc} if field.doc is not None else {})


ids = st.integers(1, 2**31 - 1)
primitives = st.one_of(
    st.sampled_from(sorted(PLAIN_TYPES)).map(IcebergType),
    st.builds(
        lambda p, s: IcebergType("decimal", precision=p, scale=s), st.integers(1, 38), st.integers(0, 38)
    ),
    st.builds(lambda n: IcebergType("fixed", length=n), st.integers(0, 2**31 - 1)),
    st.just(IcebergType("geometry")),
    st.just(IcebergType("geometry", params=("srid:4326",))),
    st.just(IcebergType("geography", params=("OGC:CRS84", "spherical"))),
)


def nested(inner: st.SearchStrategy[IcebergType]) -> st.SearchStrategy[IcebergType]:
    field = st.builds(
        IcebergField, ids, st.text(max_size=5), st.booleans(), inner, st.none() | st.text(max_size=5)
    )
    return st.one_of(
        st.lists(field, max_size=3).map(lambda fields: IcebergType("struct", fields=tuple(fields))),
        st.builds(
            lambda i, r, t: IcebergType("list", fields=(IcebergField(i, "element", r, t),)),
            ids,
            st.booleans(),
            inner,
        ),
        st.builds(
            lambda i, k, j, r, v: IcebergType(
                "map", fields=(IcebergField(i, "key", True, k), IcebergField(j, "value", r, v))
            ),
            ids,
            inner,
            ids,
            st.booleans(),
            inner,
        ),
    )


types = st.recursive(primitives, nested, max_leaves=8)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["struct", "map"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "fields", "id", "name", "element", "element-id", "key", "key-id", "value"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@given(types)
def test_every_type_survives_its_json(type_: IcebergType) -> None:
    assert parse_type(type_to_json(type_)) == type_
    assert type_.is_known


@pytest.mark.parametrize("text", ["decimal(9,2)", "decimal( 9 , 2 )", "DECIMAL(9, 2)", " decimal (9,2) "])
def test_blanks_and_case_do_not_matter(text: str) -> None:
    assert parse_type(text) == IcebergType("decimal", precision=9, scale=2)


@pytest.mark.parametrize(
    "text",
    [
        "interval",
        "decimal(39, 2)",
        "decimal(0,0)",
        "decimal",
        "fixed",
        "fixed[-1]",
        "fixed[99999999999]",
        "long[3]",
        "",
    ],
)
def test_an_unknown_type_is_kept_as_written(text: str) -> None:
    type_ = parse_type(text)
    assert (type_.name, str(type_), type_.is_known) == (text, text, False)


def test_fields_keep_doc_and_defaults() -> None:
    schema = parse_struct(
        {
            "type": "struct",
            "schema-id": 3,
            "fields": [
                {
                    "id": 7,
                    "name": "x",
                    "required": True,
                    "type": "int",
                    "doc": "why",
                    "initial-default": 1,
                    "write-default": 2,
                }
            ],
        }
    )
    (field,) = schema.fields
    assert field == IcebergField(7, "x", True, IcebergType("int"), "why", 1, 2)
    assert str(schema) == "struct<7: x: required int>"


def test_leaves_have_the_names_of_readable_metrics() -> None:
    point = {
        "type": "struct",
        "fields": [
            {"id": 11, "name": "x", "required": True, "type": "double"},
            {"id": 12, "name": "y", "required": True, "type": "double"},
        ],
    }
    schema = parse_struct(
        {
            "type": "struct",
            "fields": [
                {"id": 1, "name": "id", "required": True, "type": "long"},
                {"id": 2, "name": "st", "required": False, "type": point},
                {
                    "id": 3,
                    "name": "arr",
                    "required": False,
                    "type": {"type": "list", "element-id": 4, "element": point, "element-required": True},
                },
                {
                    "id": 5,
                    "name": "m",
                    "required": False,
                    "type": {
                        "type": "map",
                        "key-id": 6,
                        "key": "string",
                        "value-id": 7,
                        "value": {
                            "type": "list",
                            "element-id": 8,
                            "element": "int",
                            "element-required": False,
                        },
                        "value-required": False,
                    },
                },
                {"id": 9, "name": "v", "required": False, "type": "variant"},
            ],
        }
    )
    names = [name for name, _ in leaf_fields(schema)]
    assert names == ["id", "st.x", "st.y", "arr.element.x", "arr.element.y", "m.key", "m.value.element", "v"]
    assert dict(leaf_fields(schema))["m.value.element"].id == 8


@pytest.mark.parametrize(
    ("json", "place"),
    [
        (None, "$"),
        (5, "$"),
        ({}, "$.type"),
        ({"type": 5}, "$.type"),
        ({"type": "struct"}, "$.fields"),
        ({"type": "struct", "fields": {}}, "$.fields"),
        ({"type": "struct", "fields": [1]}, "$.fields[0]"),
        ({"type": "struct", "fields": [{"id": 1, "name": "a"}]}, "$.fields[0].type"),
        ({"type": "struct", "fields": [{"id": "1", "name": "a", "type": "int"}]}, "$.fields[0].id"),
        ({"type": "struct", "fields": [{"id": True, "name": "a", "type": "int"}]}, "$.fields[0].id"),
        ({"type": "list", "element-id": 1}, "$.element"),
        ({"type": "list", "element": "int"}, "$.element-id"),
        ({"type": "map", "key-id": 1, "key": "int", "value-id": 2}, "$.value"),
        ({"type": "list", "element-id": 1, "element": {"type": "list"}}, "$.element.element"),
    ],
)
def test_damage_names_the_place(json: object, place: str) -> None:
    with pytest.raises(Corrupt) as caught:
        parse_type(json, path="v1.metadata.json")
    assert caught.value.json_path == place
    assert caught.value.path == "v1.metadata.json"


def test_deep_nesting_is_refused_not_overflowed() -> None:
    json: object = "int"
    for _ in range(5000):
        json = {"type": "list", "element-id": 1, "element": json}
    with pytest.raises(Corrupt, match="too deeply") as caught:
        parse_type(json)
    assert caught.value.expected == f"at most {MAX_DEPTH} levels"


@given(json_values)
def test_any_json_gives_a_type_or_corrupt(json: Any) -> None:
    for parse in (parse_type, parse_struct):
        try:
            assert isinstance(parse(json), IcebergType)
        except Corrupt as error:
            assert error.json_path is not None
