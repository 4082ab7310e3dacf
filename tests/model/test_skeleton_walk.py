"""One walk writes documents and records again, by a table from paths to pens."""

from __future__ import annotations

from typing import Any

from lakelens.model.skeleton.walk import LEFT_OUT, Walk, Within, fill_location, keep, keep_number, one_of

_TABLES = {
    "document": {
        "id": keep_number,
        "parts[].id": keep_number,
        "parts[].numbers[]": keep_number,
        "inner.kind": one_of(("a", "b"), "other"),
        "type": lambda value: "text",
        "type{}": "document",
        "place": Within(lambda value, spot: (value, spot.key, spot.holder["id"], spot.depth)),
        "gone": lambda value: LEFT_OUT,
    },
    "open": {"*": keep, "gone": lambda value: LEFT_OUT},
}


def write(value: Any, table: str = "document") -> Any:
    return Walk(_TABLES).write(value, table)


def test_what_no_path_names_is_left_out() -> None:
    assert write({"secret": 1, "id": 7, "parts": [{"id": 1, "secret": 2}], "inner": {"secret": 3}}) == {
        "id": 7,
        "parts": [{"id": 1}],
        "inner": {},
    }
    assert write({"secret": 1, "gone": 2}, "open") == {"secret": 1}


def test_what_has_another_shape_holds_nothing() -> None:
    assert write({"id": "hush", "parts": "hush", "inner": ["hush"], "gone": "hush"}) == {
        "id": None,
        "parts": [],
        "inner": {},
    }
    assert write({"parts": ["hush", None, {"numbers": [1, "2", "hush"]}], "inner": {"kind": ["hush"]}}) == {
        "parts": [{}, None, {"numbers": [1, "2", None]}],
        "inner": {"kind": "other"},
    }


def test_a_null_stays_but_for_a_pen_that_looks_around() -> None:
    assert write({"id": None, "parts": None, "type": None, "inner": None}) == dict.fromkeys(
        ("id", "parts", "type", "inner")
    )
    assert write({"id": 3, "place": None}) == {"id": 3, "place": (None, "", 3, 0)}


def test_a_table_may_be_inside_of_itself_and_ends_somewhere() -> None:
    assert write({"type": {"id": 1, "type": "hush", "place": 9}}) == {
        "type": {"id": 1, "type": "text", "place": (9, "type", 1, 1)}
    }
    deep: dict[str, Any] = {"id": 1}
    for _ in range(500):
        deep = {"type": deep}
    found, count = write(deep), 0
    while found is not None:
        found, count = found["type"], count + 1
    assert count == 101


def test_a_file_may_have_other_names() -> None:
    walk = Walk({"open": {"*": keep, "id": lambda value: value + 1}}, {"open": {"a": "id", "b": "other"}})
    assert walk.write({"a": 1, "b": 2, "id": 3}, "open") == {"a": 2, "b": 2}


def test_the_location_is_filled_in_wherever_its_mark_is() -> None:
    mark = "\ue000lakelens\ue001"
    record = {"a": [f"{mark}/x", {"b": f"{mark}/y".encode()}], "c": 1}
    assert fill_location(record, "/é") == {"a": ["/é/x", {"b": "/é/y".encode()}], "c": 1}
