"""The view in a terminal: within its width, the same facts as the text, nothing of a lake obeyed, plain when piped."""

from __future__ import annotations

import io
import itertools
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from lakelens.options import display
from lakelens.views.present import present
from lakelens.views.render.terminal import print_on
from tests.support.fakes import FakeTable, list_objects
from tests.views.test_cards import count_words, list_texts
from tests.views.test_hostile import HOSTILE

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def write(thing: object, detail: int, width: int) -> str:
    console = Console(
        file=io.StringIO(), force_terminal=True, width=width, highlight=False, markup=False, emoji=False
    )
    with display.using(strict_views=True):
        print_on(console, thing, detail)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def squeeze(text: str) -> str:
    return re.sub(r"[\s│├└─]+", "", _STYLE.sub("", text))


OBJECTS = list_objects(FakeTable(lambda: "word"))


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_the_same_facts_as_in_the_text(thing: object) -> None:
    told = squeeze(write(thing, 3, 400))
    for text in list_texts(present(thing, 3)):
        assert squeeze(text) in told


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_no_line_is_wider_than_the_terminal(thing: object, width: int) -> None:
    lines = _STYLE.sub("", write(thing, 2, width)).splitlines()
    assert lines
    assert max(cell_len(line) for line in lines) <= width


def test_roles_are_colours_and_words() -> None:
    table = FakeTable(count_words())
    told = write(table, 2, 120)
    assert re.search(r"\x1b\[1;33m1 ERROR, 1 WARNING\x1b\[0m", told)
    assert re.search(r"\x1b\[32m *\+9", told)
    assert re.search(r"\x1b\[31m *\u22124", told)


@pytest.mark.parametrize("detail", [1, 3])
def test_no_control_character_of_a_lake_reaches_the_terminal(detail: int) -> None:
    words = itertools.cycle([*HOSTILE, "[bold]markup[/bold]", ":smile:"])
    for thing in list_objects(FakeTable(lambda: next(words))):
        told = _STYLE.sub("", write(thing, detail, 100))
        assert all(character == "\n" or character.isprintable() for character in told)


def test_markup_of_rich_is_text() -> None:
    told = squeeze(write(FakeTable(lambda: "[bold]a[/bold]:smile:").schema, 2, 100))
    assert "[bold]a[/bold]:smile:" in told
