"""Worksheets: a right answer is right however it is given; a wrong one names its first wrong part, never the right value."""

from __future__ import annotations

from typing import Any

import pytest

from lakelens.errors import LakeError
from lakelens.practice import Worksheet

SHEET = Worksheet(
    {
        1: "old_name",
        2: {"files": 4, "rows": 23},
        3: [1, None, "x"],
        4: {"France", "Japan"},
        5: lambda: 18,
    },
    {1: "look at the schema"},
)


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "old_name"),
        (1, " Old_Name "),
        (2, {"rows": 23, "files": 4}),
        (3, (1, None, "X")),
        (4, ["Japan", "France"]),
        (4, {"Japan", "France"}),
        (5, 18),
    ],
)
def test_what_is_right_is_right(number: int, answer: Any) -> None:
    assert SHEET.check(number, answer)


@pytest.mark.parametrize(
    ("number", "answer", "said"),
    [
        (1, ..., "put your answer in the place of the three dots"),
        (1, "new_name", "you said 'new_name'; look at the schema"),
        (1, 7, "expected a text, not 7; look at the schema"),
        (2, {"files": 4, "rows": 22}, "`rows`: you said 22"),
        (2, {"files": 4}, "`rows`: your dict has no such key"),
        (2, {"files": 4, "rows": 23, "x": 1}, "`x`: it is not asked for"),
        (2, 4, "expected a dict, not 4"),
        (3, [1, 0, "x"], "part 2: you said 0"),
        (3, [1], "you gave 1 parts, and that is not the number of them"),
        (4, "France", "right so far, and 1 missing"),
        (4, ["France", "Spain"], "'Spain' does not belong there"),
        (4, 3, "3 does not belong there"),
        (5, True, "expected a whole number, not True"),
        (5, object(), "expected a whole number, not an object"),
        (5, None, "you said None"),
    ],
)
def test_what_is_wrong_is_named(number: int, answer: Any, said: str) -> None:
    verdict = SHEET.check(number, answer)
    assert not verdict and verdict.sentence == said


def test_an_exercise_that_is_not_there() -> None:
    with pytest.raises(LakeError, match=r"no exercise 9.*one of 1, 2, 3, 4, 5"):
        SHEET.check(9, 1)
