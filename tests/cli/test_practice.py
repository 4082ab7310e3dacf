"""Exercises and quizzes on the command line: questions, checks of answers however they are written, JSON."""

from __future__ import annotations

import json

import pytest

import lakelens as ll
from lakelens.cli.practice_command import read_answer
from tests.support.documents import invoke, make_validator, read_document


def test_every_exercise_has_a_document() -> None:
    listed = read_document("exercise")["exercises"]
    assert [(one["subject"], one["number"]) for one in listed] == [
        (one.subject, one.number) for one in ll.exercise()
    ]
    for one in listed[::7]:
        document = read_document("exercise", one["subject"], str(one["number"]), "--hint", "--solution")
        assert document["exercise"] == one and document["hint"] and document["solution"]
        assert "verdict" not in document


def test_a_quiz_is_ten_questions() -> None:
    for part in (1, 2):
        found = read_document("quiz", str(part))
        assert found["title"] == ll.quiz(part).title and len(found["questions"]) == 10
        assert read_document("quiz", str(part), "3")["exercise"] == found["questions"][2]


def test_a_right_answer_ends_with_0_and_a_wrong_one_with_1() -> None:
    right = invoke("exercise", "binary-row", "1", "--check", '[1, "a", 1]')
    assert (right.exit_code, right.stderr) == (0, "") and right.stdout.startswith("Right")
    wrong = invoke("exercise", "binary-row", "1", "--check", "{'id': 1, 'name': 'b', 'n': 1}", "--hint")
    assert (wrong.exit_code, wrong.stderr) == (1, "")
    assert "field 2" in wrong.stdout and "Hint" in wrong.stdout
    asked = invoke("quiz", "1", "2", "--check", "only on main", "--json")
    assert asked.exit_code == 0 and json.loads(asked.stdout)["verdict"]["is_right"] is True
    asked = invoke("quiz", "1", "2", "--check", "elsewhere", "--json")
    document = json.loads(asked.stdout)
    assert asked.exit_code == 1 and document["verdict"]["is_right"] is False
    assert make_validator("quiz").is_valid(document)
    assert not make_validator("quiz").is_valid({**document, "more": 1})


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("[1, null, true]", [1, None, True]),
        ("{3, 5}", {3, 5}),
        ("(1, 'x')", (1, "x")),
        ("12", 12),
        ('"12"', "12"),
        ("b'\\x00'", b"\x00"),
        ("only on main", "only on main"),
        ("__import__('os')", "__import__('os')"),
        ("[" * 5_000, "[" * 5_000),
        ("1" * 200_000, "1" * 200_000),
        ("", ""),
    ],
)
def test_an_answer_is_read_as_it_is_written(text: str, answer: object) -> None:
    assert read_answer(text) == answer


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("exercise", "binary-rwo"), "did you mean binary-row?"),
        (("exercise", "binary-row", "99"), "from 1 to"),
        (("quiz", "3"), "no quiz 3"),
        (("quiz", "1", "11"), "from 1 to 10"),
        (("quiz", "--check", "x"), "needs the number of a question"),
    ],
)
def test_a_mistake_is_one_line(words: tuple[str, ...], said: str) -> None:
    result = invoke(*words)
    assert result.exit_code == 2 and said in result.stderr and result.stderr.count("\n") == 1
