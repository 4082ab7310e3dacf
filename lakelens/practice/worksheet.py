"""Exercises of a notebook: questions asked in prose, whose answers the notebook itself works out from its tables."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from lakelens.errors import LakeError, visible_line
from lakelens.practice.answers import is_kind, is_same, name_kind, quote, unwrap
from lakelens.practice.exercise import UNANSWERED, Verdict, Wrong


class Worksheet:
    """Checks the answers to numbered exercises: `check(1, answer)` names the first wrong part, and never the right one.

    Parameters
    ----------
    answers
        By number what is right, or a function without arguments that works it out when an answer is checked. A set is
        right in any order, a dict and a list part by part, a text whatever its capitals.
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
    >>> sheet.check(1, {"files": 3, "format": "parquet"})
    <Not yet: `files`: you said 3; count the roles in table.tree()>
    >>> bool(sheet.check(1, {"files": 4, "format": "parquet"}))
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
            known = ", ".join(str(one) for one in sorted(self._answers))
            raise LakeError(f"there is no exercise {number!r}", expected=f"one of {known}")
        name = f"exercise {number}"
        if answer is ...:
            return Verdict(name, False, "", UNANSWERED)
        right = self._answers[number]
        wrong = _find_wrong(right() if callable(right) else right, answer, "")
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
    if isinstance(right, Set):
        return _find_wrong_member(right, answer, field)
    if isinstance(right, Mapping) and isinstance(answer, Mapping):
        for key, value in right.items():
            if key not in answer:
                return Wrong(f"`{key}`", "your dict has no such key")
            if wrong := _find_wrong(value, answer[key], f"`{key}`"):
                return wrong
        extra = [key for key in answer if key not in right]
        return Wrong(f"`{extra[0]}`", "it is not asked for") if extra else None
    if isinstance(right, list | tuple) and isinstance(answer, list | tuple):
        if len(right) != len(answer):
            return Wrong(field, f"you gave {len(answer):,} parts, and that is not the number of them")
        parts = enumerate(zip(right, answer, strict=True), 1)
        return next((wrong for n, pair in parts if (wrong := _find_wrong(*pair, f"part {n}"))), None)
    if isinstance(right, str) and isinstance(answer, str):
        same = right.strip().casefold() == answer.strip().casefold()
    else:
        same = is_same(right, answer)
    if same:
        return None
    if not is_kind(right, answer):
        return Wrong(field, f"expected {name_kind(right)}, not {quote(answer)}")
    return Wrong(field, f"you said {quote(answer)}")


def _find_wrong_member(right: Set[Any], answer: Any, field: str) -> Wrong | None:
    if isinstance(answer, str | bytes | Mapping) or not hasattr(answer, "__iter__"):
        answer = [answer]
    given = list(answer)
    for one in given:
        if not any(is_same(other, one) for other in right):
            return Wrong(field, f"{quote(one)} does not belong there")
    missing = sum(not any(is_same(other, one) for one in given) for other in right)
    return Wrong(field, f"right so far, and {missing:,} missing") if missing else None
