"""What a mistake of the asker is answered with: a few lines, the nearest names, the call that was meant; Tab before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import lakelens as ll
from lakelens.completion import find_names
from lakelens.errors import LakeError
from lakelens.options import display
from lakelens.views.render.raised import render_raised
from tests.support.documents import invoke

TABLE = ll.sample("iceberg")

MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "an attribute of files": (lambda: TABLE.files.where(partion="x"), "did you mean partition?"),
    "a column of rows": (lambda: TABLE.files.where("id = 1"), "table.explain('id = 1')"),
    "a keyword": (lambda: TABLE.sql("SELEC 1"), "did you mean SELECT?"),
    "double quotes": (lambda: TABLE.explain('id = "x"'), "text stands in single quotes: 'x'"),
    "a sample": (lambda: ll.sample("icbrg"), "did you mean iceberg? ll.sample() lists all of them"),
    "a procedure": (lambda: TABLE.dry_run("expir"), "did you mean expire_snapshots? There are"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_a_short_block_with_what_was_meant(name: str) -> None:
    call, meant = MISTAKES[name]
    with pytest.raises(LakeError) as raised:
        call()
    assert meant in (raised.value.hint or "")
    lines = render_raised(raised.value)
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 80
    assert "?;" not in str(raised.value)


def test_a_wrong_attribute_is_a_type_error_as_python_has_it() -> None:
    with pytest.raises(TypeError, match="files have no attribute 'partion'"):
        TABLE.files.where(partion="x")


def test_samples_is_the_verb_of_the_terminal() -> None:
    assert ll.samples() == ll.sample()
    assert ll.samples("hive").format == "hive"


@pytest.mark.parametrize(
    ("text", "begun", "names"),
    [
        ('t.explain("', "", ["id", "name", "p", "NOT"]),
        ('t.explain("id > 3 AND n', "n", ["name", "NOT"]),
        ("t.row('i", "i", ["id"]),
        ('t.files.where("rec', "rec", ["recorded_path", "record_count"]),
        ('t.sql("SELECT path FROM file', "file", ["file_format", "file_sequence_number", "files"]),
    ],
)
def test_tab_inside_a_predicate_completes_columns(text: str, begun: str, names: list[str]) -> None:
    assert find_names(text, {"t": TABLE}) == (begun, names)


def test_a_pipe_gets_lists_as_long_as_they_are() -> None:
    table = ll.sample("iceberg")
    with display.using(max_rows=1):
        told = invoke("schema", table.location).stdout
    assert all(field.name in told for field in table.schema.fields)
    assert "schema.fields" not in told


@pytest.mark.parametrize("view", ["files", "snapshots"])
def test_a_column_like_none_does_not_list_them_all(view: str) -> None:
    table = ll.sample("iceberg")
    with pytest.raises(LakeError) as raised:
        table.sql(f"SELECT qqqqzz FROM {view}")
    columns = table.sql(f"SELECT * FROM {view} LIMIT 1").columns  # what it says to run
    words = f"SELECT * FROM {view} LIMIT 1 shows all {len(columns)} columns. The views are "
    assert (raised.value.hint or "").startswith(words)


@pytest.mark.parametrize("text", ["a{x{: 1}", "id = {'a': 1} {x{: 1}", "c.f(a{x{: 1}"])
def test_what_a_parser_stumbles_over_is_no_sql(text: str) -> None:
    """Of such texts sqlglot raises an `AttributeError` of its own."""
    for ask in (TABLE.explain, TABLE.files.where, lambda call: TABLE.dry_run(f"CALL {call}")):
        with pytest.raises(LakeError, match=r"not a|cannot be read"):
            ask(text)
