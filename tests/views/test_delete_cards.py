"""The cards of deletes: what they say of engine-written tables, what they read for it, and that nothing of a lake acts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyroaring import FrozenBitMap64

import lakelens as ll
from lakelens.errors import Corrupt
from lakelens.model.deletes import DanglingDelete, DeleteMatch, LiveRows
from lakelens.options import display
from lakelens.views.card.model import Card
from lakelens.views.cards.delete import list_delete_folds
from lakelens.views.present import present
from lakelens.views.render.html import draw, render_card
from lakelens.views.render.text import render_text, write_card
from tests.support import LAKES
from tests.support.fakes import FakeFile
from tests.views.test_cards import list_texts, read_markup
from tests.views.test_hostile import HOSTILE, check_markup, cycle
from tests.views.test_lakes import list_unexplained, squeeze


def find_reached(place: str) -> Any:
    """A table, and the first data file of it that a delete reaches."""
    table = ll.open(LAKES / place / "table")
    return table, next(file for file in table.files if file.deletes)


def get_answer(thing: Any, label: str, detail: int = 1) -> str:
    card = present(thing, detail)
    (answer,) = [fold.answer for fold in card.folds if fold.label == label]
    return answer


def test_a_vector_is_told_without_reading_it() -> None:
    table, file = find_reached("spark/iceberg/v3-merge-on-read")
    before = table.reads.requests
    with display.using(strict_views=True):
        assert get_answer(file, "Deletes") == "4 of 10 rows deleted by 1 deletion vector"
    assert table.reads.requests == before
    assert get_answer(file.deletes[0], "Rows") == "4 rows: 1, 2, 3, 4"
    assert get_answer(file, "Deletes") == "4 of 10 rows deleted by 1 deletion vector"


def test_deletes_that_only_reading_tells_are_bounded_first() -> None:
    table, file = find_reached("spark/iceberg/v2-equality-deletes")
    before = table.reads.requests
    with display.using(strict_views=True):
        assert get_answer(file, "Deletes") == "at most 2 of 2 rows deleted by 1 equality delete file"
        assert table.reads.requests == before
        assert get_answer(file, "Deletes", 2) == "1 of 2 rows deleted by 1 equality delete file"
    (match,) = file.deletes
    assert get_answer(match, "Values") == "rows whose id are one of 1 key"
    assert match.values == ((1,),) and match.columns == ("id",) and match.equality_ids == (1,)


def test_rows_of_a_primary_key_table_are_told_in_words() -> None:
    table = ll.open(LAKES / "paimon-java/2.0.0-pk-fixed-bucket/table")
    file = table.files[0]
    assert get_answer(file, "Deletes") == "rows of a primary-key table are merged by key when they are read"
    assert file.live_record_count is None and len(file.deleted_positions) == 0


def test_live_rows_stand_on_the_card_of_a_snapshot_once_they_were_counted() -> None:
    table, _ = find_reached("spark/iceberg/v2-equality-deletes")
    snapshot = table.current
    assert "Live rows" not in [fold.label for fold in present(snapshot, 1).folds]
    assert get_answer(snapshot, "Live rows", 2) == "1 to 5: the deletes of 2 data files were not decoded"
    assert snapshot.live_record_count == 3
    assert get_answer(snapshot, "Live rows") == "3 of 5: 2 delete files and 2 data files decoded"


def list_things() -> list[Any]:
    things: list[Any] = []
    for place in (
        "spark/iceberg/v3-merge-on-read",
        "spark/iceberg/v2-equality-deletes",
        "spark/iceberg/v2-position-deletes-untidy",
        "paimon-java/2.0.0-pk-deletion-vectors",
        "paimon-java/2.0.0-append-deletion-vectors-bitmap64",
    ):
        table, file = find_reached(place)
        things += [
            file,
            *file.deletes,
            table.current.live_rows,
            table.current,
            *table.current.dangling_deletes,
        ]
    return things


@pytest.mark.parametrize("detail", [1, 2, 3])
def test_text_and_html_say_the_same_and_every_label_has_a_meaning(detail: int) -> None:
    with display.using(strict_views=True):
        for thing in list_things():
            card = present(thing, detail)
            shown, told = read_markup(draw(card, detail)), squeeze("\n".join(write_card(card, detail)))
            for text in list_texts(card):
                assert squeeze(text) in told or detail < 3, (thing, text)
                assert squeeze(text) in squeeze(shown), (thing, text)
            assert not list(list_unexplained(card)), thing


def fail(path: str) -> Any:
    raise Corrupt(path, path=path)


def make_hostile(word: Any) -> list[Any]:
    file = FakeFile(word)
    made: list[Any] = [
        DeleteMatch(
            FakeFile(word, content),
            word(),
            kind,
            word(),
            lambda: FrozenBitMap64(range(2**40, 2**40 + 50)),
            columns=[word(), word()],
            load_values=lambda: ((word(), b"<b>"), (None, {word(): word()})),
            cardinality=cardinality,
            at_most=3,
        )
        for kind, content, cardinality in (
            ("deletion_vector", "deletion_vector", 3),
            ("equality_deletes", "equality_deletes", None),
            ("position_deletes", "position_deletes", 2**62),
        )
    ]
    broken = DeleteMatch(
        FakeFile(word), word(), "deletion_vector", word(), lambda: fail(word()), cardinality=-(2**60)
    )
    return [
        *made,
        broken,
        DanglingDelete(file, word(), 2**60, tuple(word() for _ in range(40))),
        LiveRows(None, word(), None, None, None),
        LiveRows(-1, word(), 2**70, 0, 1),
    ]


@pytest.mark.parametrize("shift", range(0, len(HOSTILE), 4))
def test_nothing_of_a_lake_becomes_markup(shift: int) -> None:
    word = cycle()
    for _ in range(shift):
        word()
    with display.using(strict_views=True):
        for thing in make_hostile(word):
            for detail in (0, 1, 2, 3):
                markup, text = render_card(thing, detail), render_text(thing, detail=detail)
                check_markup(markup)
                assert len(markup) < 65_536 and len(text) < 65_536
                assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)


def test_deletes_that_cannot_be_read_are_told_in_place(tmp_path: Path) -> None:
    class Damaged(FakeFile):
        @property
        def deletes(self) -> tuple[DeleteMatch, ...]:
            return (DeleteMatch(self, "rule", "position_deletes", "f", lambda: fail("f"), at_most=1),)

    file = Damaged(lambda: "word")
    (fold,) = list_delete_folds(file, 1)
    assert (fold.answer, fold.alert) == ("at most 1 of 3 rows deleted by 1 position delete file", "")
    (fold,) = list_delete_folds(file, 2)
    assert fold.alert == "cannot be read"
    assert isinstance(present(file.deletes[0], 1), Card)
