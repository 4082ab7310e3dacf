"""Exercises of a notebook: questions asked in prose, whose answers the notebook itself works out from its tables."""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import islice
from typing import Any, NamedTuple

from lakelens.codecs.span.reader import format_count
from lakelens.errors import LakeError, visible_line
from lakelens.practice.answers import convert, find_key, is_same, quote, unwrap
from lakelens.practice.exercise import UNANSWERED, Verdict, Wrong
from lakelens.practice.reasons import explain_bytes, explain_kind

_MOST = 10_000  # members of a set that are looked at


class AnyOf(NamedTuple):
    """Answers of which each is right: a fact that has two names."""

    answers: tuple[Any, ...]


class Worksheet:
    """Checks the answers to numbered exercises: `check(1, answer)` names the first wrong part, and never the right one.

    Parameters
    ----------
    answers
        By number what is right, or a function without arguments that works it out when an answer is checked; a
        `LookupError` of it says what is to be done first. A set is right in any order, a dict and a list part by part,
        bytes in any notation, one of `AnyOf` like another.
    reasons
        By number what to look at when an answer is wrong.

    Raises
    ------
    LakeError
        From `check`: there is no exercise of that number.

    Examples
    --------
    >>> sheet = Worksheet({1: lambda: {"files": 4, "format": "Parquet"}}, {1: "count the roles in table.tree()"})
    >>> sheet.check(1, ...)
    <Not yet: put your answer in the place of the three dots>
    >>> sheet.check(1, {"files": 3, "format": "Parquet"})
    <Not yet: `files`: you said 3; count the roles in table.tree()>
    >>> bool(sheet.check(1, [("files", "4"), ("format", "Parquet")]))
    True
    """

    def __init__(self, answers: Mapping[int, Any], reasons: Mapping[int, str] | None = None) -> None:
        self._answers = dict(answers)
        self._reasons = dict(reasons or {})

    def check(self, number: int, answer: Any) -> Verdict:
        """Say whether an answer is right, and else which part of it is the first wrong one, and what to look at.

        Parameters
        ----------
        number
            Of the exercise.
        answer
            As the exercise says; `...` is no answer yet.

        Returns
        -------
        Verdict
            True in an `if` when the answer is right.
        """
        if number not in self._answers:
            known = ", ".join(map(str, sorted(self._answers)))
            raise LakeError(f"there is no exercise {number!r}", expected=f"one of {known}")
        name = f"exercise {number}"
        if answer is ...:
            return Verdict(name, False, "", UNANSWERED)
        right = self._answers[number]
        try:
            right = right() if callable(right) else right
        except LookupError as error:
            return Verdict(name, False, "", visible_line(str(error.args[0]) if error.args else "not yet"))
        wrong = _find_wrong(right, answer, "")
        if wrong is None:
            return Verdict(name, True, "", "")
        reason = self._reasons.get(number)
        return Verdict(
            name, False, wrong.field, visible_line(f"{wrong.reason}; {reason}" if reason else wrong.reason)
        )

    def __repr__(self) -> str:
        return f"<Worksheet of {len(self._answers)} exercises>"


def _find_wrong(right: Any, answer: Any, field: str) -> Wrong | None:
    """Find the first part of an answer that is not what is right; `field` is what the part is called."""
    right, answer = unwrap(right), unwrap(answer)
    if isinstance(right, AnyOf):
        wrongs = [_find_wrong(each, answer, field) for each in right.answers]
        return None if None in wrongs else wrongs[0]
    if isinstance(right, Set):
        return _find_wrong_member(right, answer, field)
    if answer is None or right is None:
        return None if answer is right else Wrong(field, f"you said {quote(answer)}")
    given = convert(right, answer)
    if given is None:
        return Wrong(field, explain_kind(right, answer) or "")
    if isinstance(right, Mapping):
        return _find_wrong_key(right, given)
    if isinstance(right, list | tuple):
        if len(right) != len(given):
            return Wrong(
                field, f"you gave {format_count(len(given), 'part')}, and that is not the number of them"
            )
        parts = enumerate(zip(right, given, strict=True), 1)
        return next((wrong for n, pair in parts if (wrong := _find_wrong(*pair, f"part {n}"))), None)
    if is_same(right, answer):
        return None
    said = f"you said {quote(answer)}"
    if isinstance(right, bytes):
        return Wrong(field, f"{said}; {explain_bytes(right, given)}")
    if isinstance(right, str) and right.strip().casefold() == given.strip().casefold():
        return Wrong(field, f"{said}: capitals, and blanks at the ends, count")
    return Wrong(field, said)


def _find_wrong_key(right: Mapping[Any, Any], given: Mapping[Any, Any]) -> Wrong | None:
    known = set()
    for name, value in right.items():
        key = find_key(given, name)
        if key is None:
            return Wrong("", f"a key is missing in your dict: it has {quote(list(given))}")
        known.add(key)
        if wrong := _find_wrong(value, given[key], f"`{key}`"):
            return wrong
    extra = [key for key in given if key not in known]
    return Wrong(f"`{extra[0]}`", "it is not asked for") if extra else None


def _find_wrong_member(right: Set[Any], answer: Any, field: str) -> Wrong | None:
    if isinstance(answer, str | bytes | Mapping) or not hasattr(answer, "__iter__"):
        answer = [answer]
    given = list(islice(answer, _MOST))
    for member in given:
        if not any(is_same(other, member) for other in right):
            return Wrong(field, f"{quote(member)} does not belong there")
    missing = sum(not any(is_same(other, member) for member in given) for other in right)
    return Wrong(field, f"right so far, and {missing:,} missing") if missing else None
