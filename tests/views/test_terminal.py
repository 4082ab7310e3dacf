"""The view in a terminal: within its width, the same facts as the text, nothing of a lake obeyed, plain when piped."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

import lakelens as ll
from lakelens.options import display
from lakelens.views.card.model import Card, Cell, Column, Grid
from lakelens.views.present import present
from lakelens.views.render.terminal import print_on, print_rows
from tests.support.fakes import FakeTable, list_objects
from tests.support.unpacked import unpack_samples
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


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that can show colours, whatever that of who runs the tests can."""
    monkeypatch.setenv("TERM", "xterm")


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


NARROW_VIEWS: dict[str, Callable[[], Any]] = {
    "explain": lambda: ll.sample("iceberg").explain("id = 5"),
    "find": lambda: ll.find(unpack_samples()),
    "snapshots": lambda: ll.sample("iceberg").snapshots,
    "files": lambda: ll.sample("paimon").files,
    "diff": lambda: ll.sample("iceberg").diff(),
}


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", NARROW_VIEWS)
def test_a_narrow_terminal_cuts_no_figure_and_writes_nothing_downwards(name: str, width: int) -> None:
    thing = NARROW_VIEWS[name]()
    console = Console(width=width, record=True, file=io.StringIO())
    print_on(console, thing, 2)
    text = console.export_text()
    lines = [re.sub(r"[│├└─]", " ", line) for line in text.splitlines()]
    assert max(map(cell_len, lines)) <= width
    for card in walk_cards(present(thing, 2)):
        for grid in card.body:
            for row in grid.rows if isinstance(grid, Grid) else ():
                for column, cell in zip(grid.columns, row, strict=True):
                    assert not column.is_number or cell.bar or cell.text in text, (column.name, cell.text)
    longest, run = 0, 0
    for line in lines:  # lines of a word of at most three letters, one below the other
        run = run + 1 if 0 < len(line.strip()) <= 3 else 0
        longest = max(longest, run)
    assert longest < 3, text


def walk_cards(card: Card) -> Iterator[Card]:
    yield card
    for fold in card.folds:
        for body in fold.body():
            if isinstance(body, Card):
                yield from walk_cards(body)
            else:
                yield Card("", "", body=(body,))


def test_what_has_no_room_beside_the_others_is_stacked_below_its_row() -> None:
    columns = (Column("table"), Column("what decided"), Column("rows", is_number=True), Column("state"))
    rows = [
        (Cell("shop.orders"), Cell("the bounds of a column"), Cell("12,345,678"), Cell("compacted")),
    ]
    console = Console(width=30, record=True, file=io.StringIO())
    assert print_rows(console, columns, iter(rows)) == 1
    assert [line.rstrip() for line in console.export_text().splitlines()] == [
        "table              rows",
        "shop.orders  12,345,678",
        "  what decided: the bounds of",
        "  a column · state: compacted",
    ]
