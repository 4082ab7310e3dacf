"""Every question of lakelens is declared so that all that it names is there, and the docs have the row that it declares."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.answers.own import QUESTIONS
from lakelens.answers.question import load
from lakelens.model.table import Table

ROOT = Path(__file__).parent.parent
_PLACE = re.compile(r"lakelens(\.\w+)+:\w+")


def list_places(thing: Any) -> Iterator[str]:
    """List what a declaration names as `module:name`."""
    if isinstance(thing, str) and _PLACE.fullmatch(thing):
        yield thing
    elif isinstance(thing, tuple):
        for item in thing:
            yield from list_places(item)
    elif is_dataclass(thing):
        for field in fields(thing):
            yield from list_places(getattr(thing, field.name))


@pytest.mark.parametrize("name", QUESTIONS)
def test_all_that_a_question_names_is_there(name: str) -> None:
    places = list(list_places(QUESTIONS[name]))
    assert places and all(callable(load(place)) for place in places)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_asks_for_what_its_method_takes(name: str) -> None:
    question = QUESTIONS[name]
    declared = {option.name for option in question.options}
    assert set(inspect.signature(getattr(Table, name)).parameters) - {"self"} == declared
    assert set(inspect.signature(load(question.ask)).parameters) - {"table"} == declared


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_docs_have_its_row(name: str) -> None:
    assert QUESTIONS[name].row in (ROOT / "docs/cli.md").read_text().splitlines()


def test_what_is_called_through_the_bridge_is_there() -> None:
    called = []
    for path in (ROOT / "lakelens").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) in ("call", "display.call")
                and node.args
            ):
                called.append(ast.literal_eval(node.args[0]))
    assert len(called) > 10
    assert all(callable(load(f"{ll.__name__}.{place}")) for place in called)
