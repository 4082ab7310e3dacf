"""Answers in every notation, of every kind, and near misses: the right ones are taken, the wrong ones are not, and no
verdict holds the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lakelens as ll
from lakelens.practice.answers import format_answer, is_same, quote
from tests.practice.test_exercises import list_all

_EAST = timezone(timedelta(hours=5))


def vary(value: Any) -> Iterator[Any]:
    """A value in other notations and kinds."""
    yield value
    match value:
        case None:
            yield from (pd.NaT, pd.NA)
        case bool():
            yield from (str(value), np.bool_(value))
        case int():
            yield from (
                str(value),
                f"{value:,}",
                f" {value} ",
                hex(value),
                np.int64(value),
                Decimal(value),
                pa.scalar(value),
            )
        case float():
            yield from (
                str(value),
                Decimal(str(value)),
                np.float64(value),
                np.float32(value),
                pa.scalar(value),
            )
        case Decimal():
            yield from (str(value), pa.scalar(value), str(value).replace("-", "\u2212"))
        case str():
            yield from (np.str_(value), pa.scalar(value))
        case bytes():
            digits = value.hex(" ")
            yield from (
                digits,
                digits.upper(),
                value.hex(),
                f"0x{value.hex()}",
                list(value),
                bytearray(value),
                digits.split(),
            )
        case datetime():
            plain = value.replace(tzinfo=None)
            aware = plain.replace(tzinfo=UTC)
            yield from (
                plain,
                aware,
                aware.astimezone(_EAST),
                aware.astimezone(_EAST).isoformat(),
                plain.isoformat(" "),
            )
            yield from (
                aware.isoformat().replace("+00:00", "Z"),
                pd.Timestamp(aware),
                np.datetime64(plain),
                pa.scalar(plain),
            )
        case date():
            noon = datetime(value.year, value.month, value.day)
            yield from (
                str(value),
                noon,
                pd.Timestamp(noon),
                np.datetime64(value),
                pa.scalar(value),
                f"{value}T00:00",
            )
        case time():
            yield from (value.isoformat(), pa.scalar(value))
        case dict():
            yield from (list(value.items()), tuple(value.items()))
        case list():
            yield tuple(value)


def miss(value: Any) -> Iterator[Any]:
    """What is nearly a value, and is not it."""
    match value:
        case None:
            yield from (0, "", "None", "null", float("nan"), False)
        case bool():
            yield from (not value, str(not value), int(value), "x")
        case int():
            turned = int.from_bytes(value.to_bytes(9, "little", signed=True), "big", signed=True)
            yield from (
                value + 1,
                value - 1,
                str(value + 1),
                value + 0.5,
                f"{value}x",
                bytes([value % 256]),
                True,
            )
            if value:
                yield -value
            if turned != value:
                yield turned
        case float():
            yield from (value * 1.0001, -value, value + 1, "x", str(value + 0.001), True)
        case Decimal():
            yield from (
                value.scaleb(1),
                value.scaleb(-2),
                -value,
                value + Decimal("0.01"),
                str(value) + "1",
                "x",
            )
        case str():
            yield from (
                value + " ",
                value[:-1],
                value + "x",
                repr(value),
                value.encode(),
                value.encode().hex(" "),
            )
            if value.upper() != value:
                yield value.upper()
        case bytes():
            yield from (value[:-1], value + b"\0", value[::-1] + b"\1", value.hex()[:-2], "no digits")
        case datetime():
            plain = value.replace(tzinfo=None)
            yield from (
                plain.replace(tzinfo=_EAST),
                f"{plain.isoformat()}+05:00",
                plain + timedelta(microseconds=1),
            )
            yield from (plain + timedelta(hours=1), plain.date(), plain.isoformat()[:-3] + "999")
        case date():
            noon = datetime(value.year, value.month, value.day, 12)
            yield from (
                value + timedelta(1),
                noon,
                pd.Timestamp(noon),
                str(value - timedelta(1)),
                19723,
                value.year,
            )
        case time():
            yield from (value.replace(minute=(value.minute + 1) % 60), "25:00", value.replace(microsecond=1))
        case dict():
            yield from (
                list(value.values()),
                list(value),
                {**value, "more": 1},
                {},
                [*value.items(), ("more", 1)],
            )
            yield {str(key).upper() + "x": held for key, held in value.items()}
        case list():
            yield from (value[:-1], [*value, None], [*value[::-1], 7], {1: value})


def spread(subject: str, n: int) -> Iterator[tuple[Any, bool, Any]]:
    """Answers to an exercise: each with whether it is right, and the part that was varied."""
    right = ll.exercise(subject, n).solution().answer
    if isinstance(right, dict):
        names, values = list(right), list(right.values())
        for place, value in enumerate(values):
            is_record = subject == "binary-row" and n == 8 and isinstance(value, dict)
            for is_right, others in ((True, vary(value)), (False, miss(value))):
                for other in others:
                    if is_record and isinstance(
                        other, list | tuple
                    ):  # a nested row has an order, and no pairs
                        continue
                    given = [*values[:place], other, *values[place + 1 :]]
                    yield given, is_right, value
                    yield dict(zip(names, given, strict=True)), is_right, value
                    if len(names) == 1 and not isinstance(other, list | tuple | dict):
                        yield other, is_right, value
    elif isinstance(right, list):
        for others in (
            right,
            right[::-1],
            set(right),
            tuple(right),
            np.array(right),
            pa.array(right),
            pd.Series(right),
        ):
            yield others, True, right
        yield [str(number) for number in right], True, right
        yield ", ".join(map(str, right)) or [], True, right
        for number in right:
            yield [other for other in right if other != number], False, right
        yield from (
            ([*right, 99], False, right),
            ({str(number): 1 for number in right} or {1: 1}, False, right),
        )
    else:
        for other in vary(right):
            yield from ((other, True, right), ([other], True, right))
        for other in miss(right):
            yield from ((other, False, right), ([other], False, right))


@pytest.mark.parametrize(("subject", "n"), list_all(), ids=str)
def test_answers_in_other_notations_and_near_misses(subject: str, n: int) -> None:
    exercise = ll.exercise(subject, n)
    for answer, is_right, part in spread(subject, n):
        verdict = exercise.check(answer)
        assert verdict.is_right is is_right, (answer, verdict)
        if is_right:
            continue
        said = verdict.sentence.replace(quote(answer), "")
        for given in (
            answer.values() if isinstance(answer, dict) else answer if isinstance(answer, list) else ()
        ):
            said = said.replace(quote(given), "")
        if isinstance(part, list) and subject != "binary-row":
            left = {number for number in part if not isinstance(answer, list) or number not in answer}
            assert not left & {int(digits) for digits in re.findall(r"\d+", verdict.field)}, (answer, verdict)
        elif len(held := format_answer(part)) > 3 and not isinstance(part, bool):
            assert not re.search(rf"(?<!\w){re.escape(held)}(?!\w)", said), (answer, verdict)


def test_there_are_two_thousand_of_them() -> None:
    assert sum(1 for subject, n in list_all() for _ in spread(subject, n)) >= 2_000


@pytest.mark.parametrize(
    "value",
    [b"\x2c\x01\0\0", b"a", bytes(8), 7, Decimal("1.50"), "Ab", date(2024, 1, 31), 1.5, {"k": [1, None]}],
)
def test_values_by_themselves(value: Any) -> None:
    assert all(is_same(value, other) for other in vary(value))
    assert not any(is_same(value, other) for other in miss(value) if other != value)


@pytest.mark.parametrize(
    ("subject", "n", "answer", "said"),
    [
        ("bounds", 3, ["2024-01-01", "2024-01-01", "2024-01-01T10:11:12.123456+05:00", 0, 0, 0], "is another instant"),
        ("binary-row", 9, [[1, None, 3], [9]], "expected a dict, not [9]"),
        ("binary-row", 6, [datetime(2024, 1, 1, 12), 0, 0, 0, 0], "2024-01-01 12:00:00 has a time of day"),
        ("binary-row", 1, ["0x01", "61", 1], "those are its bytes in hexadecimal"),
        ("binary-row", 3, [1, "one", -20, 64, "x"], "are hexadecimal: the first of two counts sixteens"),
        ("binary-row", 7, [Decimal("-1234.5"), 0, None], "the digits are right, and the point is not"),
        ("bounds", 5, [Decimal("5.0"), 0], "the digits are right, and the point is not"),
        ("binary-row", 1, [1, "a\0\0\0\0\0\0", 1], "the zeros after the text are padding"),
        ("binary-row", 1, [1, "A", 1], "capital and small letters have bytes of their own"),
        ("deletion-vector", 2, [256, 1024], "the first of them is the less significant one"),
        ("deletion-vector", 3, [], "and others too"),
        ("current-version", 1, "00003", "give the whole name of one file"),
        ("current-version", 3, 3, "LATEST counts if there is no snapshot of the next number"),
        ("current-version", 4, 9139810181345852535, "that is an id: the number of its line is asked for"),
        ("current-version", 5, "v1.metadata.json", "it may be behind: is there a file of the next number?"),
        ("current-version", 5, "v4.metadata.json", "and no further"),
    ],
)  # fmt: skip
def test_slips_of_beginners_have_reasons_of_their_own(subject: str, n: int, answer: Any, said: str) -> None:
    assert said in ll.exercise(subject, n).check(answer).sentence
