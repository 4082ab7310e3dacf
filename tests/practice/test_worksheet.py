"""Worksheets: a right answer is right however it is given; a wrong one names its first wrong part, never the right value."""

from __future__ import annotations

from typing import Any

import pytest

from lakelens.errors import LakeError
from lakelens.practice import AnyOf, Worksheet


def find_role() -> str:
    raise LookupError("run the DELETE first")


SHEET = Worksheet(
    {
        1: "old_name",
        2: {"files": 4, "rows": 23},
        3: [1, None, "x"],
        4: {"France", "Japan"},
        5: lambda: 18,
        6: (300).to_bytes(4, "little"),
        7: AnyOf(("nulls", "counts of nulls")),
        8: {"a": 1, "258": "x"},
        9: find_role,
    },
    {1: "look at the schema"},
)


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "old_name"),
        (2, {"rows": 23, "files": 4}),
        (2, [("rows", "23"), ("files", 4.0)]),
        (3, (1, None, "x")),
        (4, ["Japan", "France"]),
        (4, {"Japan", "France"}),
        (5, 18),
        (5, "18"),
        *(
            (6, answer)
            for answer in (
                b",\x01\0\0",
                "2c 01 00 00",
                "2C010000",
                "0x2c010000",
                "2c:01:00:00",
                [44, 1, 0, 0],
            )
        ),
        (7, "nulls"),
        (7, "counts of nulls"),
        (8, {"a": 1, 258: "x"}),
        (8, {"a": 1, "258": "x"}),
    ],
)
def test_what_is_right_is_right(number: int, answer: Any) -> None:
    assert SHEET.check(number, answer)


@pytest.mark.parametrize(
    ("number", "answer", "said"),
    [
        (1, ..., "put your answer in the place of the three dots"),
        (1, "Old_Name", "you said 'Old_Name': capitals, and blanks at the ends, count; look at the schema"),
        (1, "new_name", "you said 'new_name'; look at the schema"),
        (1, 7, "expected a text, not 7; look at the schema"),
        (2, {"files": 4, "rows": 22}, "`rows`: you said 22"),
        (2, {"files": 4}, "a key is missing in your dict: it has ['files']"),
        (2, {"files": 4, "rows": 23, "x": 1}, "`x`: it is not asked for"),
        (2, 4, "expected a dict, not 4"),
        (3, [1, 0, "x"], "part 2: you said 0"),
        (2, [4, 23], "expected a dict, not [4, 23]"),
        (3, {1}, "expected a list, whose order counts, not {1}"),
        (3, [1], "you gave 1 part, and that is not the number of them"),
        (4, "France", "right so far, and 1 missing"),
        (4, ["France", "Spain"], "'Spain' does not belong there"),
        (4, 3, "3 does not belong there"),
        (5, True, "expected a whole number, not True"),
        (5, object(), "expected a whole number, not an object"),
        (5, None, "you said None"),
        (
            6,
            "00 00 01 2c",
            "you said '00 00 01 2c'; byte 0 is where yours begin to differ: the 4 bytes there are in the wrong order",
        ),
        (
            6,
            "2c 01",
            "you said '2c 01'; yours end after 2 bytes: what is there is right, and "
            "zeros up to a multiple of 8 bytes are missing",
        ),
        (6, "300", "expected bytes, or their hexadecimal digits, not '300'"),
        (7, "null", "you said 'null'"),
        (9, "x", "run the DELETE first"),
    ],
)
def test_what_is_wrong_is_named(number: int, answer: Any, said: str) -> None:
    verdict = SHEET.check(number, answer)
    assert not verdict and verdict.sentence == said


def test_an_exercise_that_is_not_there() -> None:
    with pytest.raises(LakeError, match=r"no exercise 10.*one of 1, 2, 3, 4, 5, 6, 7, 8, 9"):
        SHEET.check(10, 1)
