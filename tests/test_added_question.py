"""A question of another package is as complete as lakelens's own: one declaration is a method, verb, JSON, page and row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.answers.question import find_question, load_questions
from lakelens.errors import LakeError
from lakelens.explorer import explorer
from lakelens.explorer.page import Page
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_page
from tests.support.documents import invoke

# what docs/how-lakelens-is-built.md says under "Add an answer"
TOY = '''
"""How many letters the names of columns have."""

from dataclasses import dataclass

from lakelens.answers.question import Option, Page, Datum, Question, Listed
from lakelens.display import Displayable
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact
from lakelens.views.card.model import Card
from lakelens.views.describe import describe


@dataclass(frozen=True)
class Length:
    column: str
    letters: int


class Lengths(Items):
    facts = (Fact("column"), Fact("letters", "int64"))


class Letters(Displayable):
    def __init__(self, lengths):
        self.lengths = Lengths(lengths)

    def __repr__(self):
        return f"<Letters: {len(self.lengths)}>"

    @property
    def total(self):
        return sum(length.letters for length in self.lengths)


@describe.register
def card_of_letters(letters: Letters, detail: int = 1) -> Card:
    return Card("Letters", f"{letters.total} letters")


def count_letters(table, least):
    known = ((name, len(name)) for name, _ in table.schema.leaves())
    return Letters(tuple(Length(name, count) for name, count in known if count >= int(least)))


LETTERS = Question(
    name="letters",
    ask="toy_letters:count_letters",
    summary="Count the letters of the names of columns.",
    about="how many letters the names of columns have; `--least N` leaves shorter names out",
    epilog="lakelens letters sample:iceberg",
    options=(Option(name="least", kind="number", flags=("--least",), default=1, label="least"),),
    parts=("total", Datum("lengths")),
    page=Page(lists=(Listed("lengths", "the names"),), form="below", back="All letters", beside="names"),
)
'''


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ll.Table]:
    """A table, beside a package on the path that adds a question by its entry point."""
    packages = tmp_path / "site-packages"
    info = packages / "toy_letters-1.0.dist-info"
    info.mkdir(parents=True)
    (packages / "toy_letters.py").write_text(TOY)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-letters\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lakelens.questions]\nletters = toy_letters:LETTERS\n")
    monkeypatch.syspath_prepend(packages)
    makers = dict(explorer._MAKERS)
    load_questions.cache_clear()
    explorer._load_pages.cache_clear()
    yield ll.sample("iceberg")
    load_questions.cache_clear()
    explorer._load_pages.cache_clear()
    explorer._MAKERS.clear()
    explorer._MAKERS.update(makers)


def test_it_is_a_method_of_every_table(table: ll.Table) -> None:
    assert "letters" in dir(table)
    assert (
        table.letters().total == table.ask("letters").total == sum(len(n) for n, _ in table.schema.leaves())
    )
    assert table.letters(least=100).total == 0


def test_it_is_a_verb_with_its_options_and_json(table: ll.Table) -> None:
    assert "Count the letters of the names of columns." in invoke("letters", "--help").stdout
    assert "letters" in invoke("--help").stdout
    total = table.letters().total
    assert f"{total} letters" in invoke("letters", "sample:iceberg").stdout
    document = json.loads(invoke("letters", "sample:iceberg", "--least", "2", "--json").stdout)
    assert document["table"]["format"] == "iceberg" and document["findings"] == []
    named = [(name, len(name)) for name, _ in table.schema.leaves() if len(name) >= 2]
    assert [(row["column"], row["letters"]) for row in document["lengths"]] == named
    assert document["total"] == sum(count for _, count in named)


def test_it_is_a_page_with_a_form_and_its_list_in_pages(table: ll.Table) -> None:
    shown = explorer.Explorer(table.location)
    key = str(table.current.id) if table.current is not None else "-"
    page = shown.answer(Place((), key, "letters"))
    assert isinstance(page, Page) and page.status == 200
    text = render_page(page)
    assert f"{table.letters().total} letters" in text and 'name="least"' in text
    assert any(
        link.text == "Letters" and link.small == "names" and link.is_current for link in page.navigation
    )
    listed = shown.answer(Place((), key, "letters", (("part", "lengths"),)))
    assert isinstance(listed, Page) and listed.title == "Letters, the names"
    assert "All letters" in render_page(listed)


def test_it_has_its_row_in_the_docs(table: ll.Table) -> None:
    about = "how many letters the names of columns have; `--least N` leaves shorter names out"
    assert find_question("letters").row == f"| `letters PATH` | {about} |"


def test_it_is_gone_with_its_package(table: ll.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    load_questions.cache_clear()
    assert "letters" not in dir(table) and not hasattr(table, "letters")
    with pytest.raises(LakeError, match="no question 'letters'"):
        table.ask("letters")


def test_what_is_no_question_is_refused(table: ll.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        name, value = "letters", "json:dumps"

        @staticmethod
        def load() -> object:
            return json.dumps

    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: (Wrong,))
    load_questions.cache_clear()
    with pytest.raises(LakeError, match="names no Question"):
        table.ask("letters")


def test_an_option_that_is_wrong_or_missing_is_named() -> None:
    table = ll.sample("iceberg")
    with pytest.raises(LakeError, match="health has no option 'snapshots'"):
        table.ask("health", snapshots=1)
    with pytest.raises(LakeError, match="explain asks for 'where'"):
        table.ask("explain")
