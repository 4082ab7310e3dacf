"""Every exercise and every question: the right answer is right, wrong ones are, and the first wrong part is named."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import lakelens as ll
from lakelens.errors import LakeError, UnknownName
from lakelens.practice.exercise import Exercise
from lakelens.views.render.html import render_card

SUBJECTS = ("binary-row", "bounds", "deletion-vector", "manifest-list", "current-version", "files-read")


def list_all() -> list[tuple[str, int]]:
    listed = [(one.subject, one.number) for one in ll.exercise()]
    return [*listed, *((f"self-test-{part}", n) for part in (1, 2) for n in range(1, 11))]


class Hostile:
    """An object that fails at whatever is done with it."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        raise RuntimeError("no")

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("no")


def spoil(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case None:
            return 1
        case bool():
            return not value
        case int() | float() | Decimal():
            return value + 1
        case str():
            return value + "x"
        case bytes():
            return value + b"x"
        case datetime():
            return value.replace(year=value.year - 1)
        case date():
            return value.replace(year=value.year - 1)
        case dict():
            return {key: spoil(held) for key, held in value.items()}
        case list():
            return [*value, 99]
    return value.replace(hour=(value.hour + 1) % 24)


@pytest.mark.parametrize(("subject", "n"), list_all(), ids=str)
def test_the_right_answer_is_right_and_a_wrong_one_is_not(subject: str, n: int) -> None:
    exercise = ll.exercise(subject, n)
    solution = exercise.solution()
    right = solution.answer
    assert exercise.check(right)
    if isinstance(right, dict):
        assert exercise.check(list(right.values())) and exercise.check(tuple(right.values()))
        for place, (name, value) in enumerate(right.items()):
            verdict = exercise.check({**right, name: spoil(value)})
            assert not verdict and f"`{name}`" in verdict.field and verdict.reason, name
            both = {**right, **{one: spoil(right[one]) for one in list(right)[place:]}}
            assert f"`{name}`" in exercise.check(both).field, "the first wrong one is named"
    else:
        assert not exercise.check(spoil(right))
    for foreign in (
        None,
        "x",
        b"\xff",
        3.5,
        object(),
        Hostile(),
        [Hostile()] * 5,
        {"x": Hostile()},
        type,
        {},
    ):
        verdict = exercise.check(foreign)
        is_null = foreign is None and right in ({"name": None},)
        assert is_null or (not verdict and len(verdict.reason) > 15 and "\n" not in repr(verdict)), foreign
    assert solution.steps and all(step.field and step.value for step in solution.steps)


@pytest.mark.parametrize(("subject", "n"), list_all(), ids=str)
def test_no_card_shows_the_answer_before_it_is_asked_for(subject: str, n: int) -> None:
    exercise = ll.exercise(subject, n)
    shown = exercise.to_text(3)
    html = render_card(exercise, 3)
    assert exercise.question in shown and exercise.expects.split(",")[0] in shown and exercise.origin in shown
    if subject in ("binary-row", "bounds", "self-test-1"):
        for step in exercise.solution().steps:
            if len(step.value) > 4 and "[" not in step.value and "{" not in step.value:
                assert step.value not in shown + html, step
    for place in range(exercise.hints + 1):
        hint = exercise.hint()
        assert hint.number == min(place + 1, exercise.hints) and hint.text in hint.to_text()
    if exercise.solution().has_bytes:
        view = exercise.solution().bytes_view()
        assert sum(len(leaf) for leaf in view.leaves()) == len(view)
        assert view.what in exercise.solution().to_text()
    else:
        with pytest.raises(LookupError, match="listing"):
            exercise.solution().bytes_view()


def test_mistakes_that_everybody_makes_are_named() -> None:
    for subject, n, answer, said in (
        ("binary-row", 1, [1, "b", 1], "field 2, `name`: you said 'b', but byte 0 of the text is 0x61"),
        ("binary-row", 2, [3, "", 30], "bit 1 of byte 1 in the header is set"),
        ("binary-row", 3, [1, "on", -20, 100, "x"], "you said 'on', but the length byte 0x83 says 3 bytes"),
        ("binary-row", 3, [1, "one", 4294967276, 100, "x"], "the number is negative (two's complement)"),
        ("binary-row", 4, ["a", 1 << 56, "", 0], "the least significant one (little-endian)"),
        ("binary-row", 4, ["a", 1, "uno", 0], "has no high bit, so the text is far: 16 bytes at offset 40"),
        ("binary-row", 4, ["a", 1, "uno, not yet com", 125], "125 is the unscaled number"),
        ("binary-row", 6, [19723, 0, 0, 0, 0], "expected a date, or '2024-01-31', not 19723"),
        ("binary-row", 6, ["2024-01-01", "01:01:01.001", "2024-01-01 00:00:00.123", "2024-01-01 00:00:00.123", None],
         "the slot's first four bytes add 456,000 nanoseconds"),
        ("binary-row", 7, ["123.45", 0, None], "the number is negative"),
        ("binary-row", 7, ["-123.45", 1, None], "9 bytes at offset 32"),
        ("binary-row", 8, [{"floor": 6, "code": "x"}, 9], "`floor` differs"),
        ("binary-row", 9, [[1, 2, 3], {"k": 9}], "differs: bit 1 of the null bits, `02 00 00 00`, is set"),
        ("binary-row", 9, [[1, None], {"k": 9}], "says how many elements the array has, and you gave 2"),
        ("bounds", 4, [123456789, 0, 0, 0], "123456789 is the unscaled number"),
        ("deletion-vector", 3, [2, 3, 4, 5], "positions count from 0"),
        ("deletion-vector", 3, [1, 2], "those are deleted, and others too"),
        ("manifest-list", 2, 7, "content 1 is deletes"),
        ("manifest-list", 4, [3], "those are right, and not all"),
        ("current-version", 3, 2, "that is what LATEST says: it is trusted only where"),
        ("files-read", 1, [1, 3], "file 1: it is not opened: id is 4 to 4"),
        ("files-read", 1, [9], "there is no file 9: they are 1 to 4"),
    ):  # fmt: skip
        assert said in ll.exercise(subject, n).check(answer).sentence, (subject, n)


def test_answers_of_other_libraries_are_read() -> None:
    vector = ll.exercise("deletion-vector", 2)
    assert vector.check(np.array([1, 4])) and vector.check({4, 1}) and vector.check(range(1, 5, 3))
    row = ll.exercise("binary-row", 3)
    assert row.check([np.int32(1), "one", np.int64(-20), 100, "x"]) and row.check(
        row.solution().bytes_view().value
    )
    assert not row.check([True, "one", -20, 100, "x"]), "True is no number"
    bounds = ll.exercise("bounds", 3)
    when = datetime(2024, 1, 1, 10, 11, 12, 123456)
    assert bounds.check(["2024-01-01", "2024-01-01", when, when.replace(tzinfo=UTC), True, True])


def test_exercises_are_found_listed_and_kept() -> None:
    listed = ll.exercise()
    assert listed.subjects == SUBJECTS and listed.to_arrow().num_rows == len(listed) >= 30
    rows = [one for one in listed if one.subject == "binary-row"]
    assert len(rows) >= 6
    for subject in SUBJECTS:
        assert subject in str(listed)
    with pytest.raises(UnknownName, match="did you mean deletion-vector"):
        ll.exercise("deletion-vectors")
    for n in (0, 99, True, "1", None):
        with pytest.raises(LakeError, match="from 1 to"):
            ll.exercise("bounds", n)  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(rows[0]))
    assert isinstance(again, Exercise) and again.name == "binary-row 1"


@pytest.mark.parametrize("part", [1, 2])
def test_a_quiz_counts_the_last_answer_to_each_of_ten_questions(part: int) -> None:
    quiz = ll.quiz(part)
    assert len(quiz) == 10 and quiz.score == 0 and str(quiz).count("unanswered") == 10
    for n, question in enumerate(quiz, 1):
        assert quiz.question(n) is question
        assert "three dots" in quiz.check(n, ...).reason and quiz.state(n) == "unanswered"
        assert not quiz.check(n, object()) and quiz.state(n) == "not yet"
        assert quiz.check(n, question.solution().answer) and quiz.state(n) == "right" and quiz.score == n
    assert "10 of 10 right" in str(quiz) and "10 of 10" in repr(quiz)
    for n in (0, 11, "1", True):
        with pytest.raises(LakeError, match="from 1 to 10"):
            quiz.check(n, 1)  # type: ignore[arg-type]
    with pytest.raises(LakeError, match="no quiz 3"):
        ll.quiz(3)
    assert pickle.loads(pickle.dumps(quiz)).score == 0


def test_what_a_reader_typed_is_text_in_a_verdict() -> None:
    verdict = ll.exercise("binary-row", 1).check([1, "<b>\x1b[31m\u202e", 1])
    html = verdict._repr_html_()
    assert "<b>\x1b" not in html and "\x1b" not in str(verdict) + repr(verdict) + html and "&lt;b&gt;" in html
