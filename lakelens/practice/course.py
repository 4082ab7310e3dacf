"""Which exercises there are, by subject and number: `ll.exercise`, and the ten questions of a quiz: `ll.quiz`.

>>> exercise().subjects
('binary-row', 'bounds', 'deletion-vector', 'manifest-list', 'current-version', 'files-read')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import overload

from lakelens.errors import LakeError, UnknownName, list_nearest
from lakelens.practice import binary_row, bounds, choices, counts, self_tests, vectors, versions
from lakelens.practice.exercise import Exercise, Exercises, Question
from lakelens.practice.quiz import Quiz

Make = Callable[[], Question]


def _list_makers() -> Mapping[str, tuple[Make, ...]]:
    """By subject, in the order of the course."""
    return {
        "binary-row": binary_row.list_questions(),
        "bounds": bounds.list_questions(),
        "deletion-vector": vectors.list_questions(),
        "manifest-list": (*counts.list_questions(), *choices.list_manifest_questions()),
        "current-version": versions.list_questions(),
        "files-read": choices.list_file_questions(),
    }


@overload
def exercise(subject: None = None, n: int = 1) -> Exercises: ...
@overload
def exercise(subject: str, n: int = 1) -> Exercise: ...
def exercise(subject: str | None = None, n: int = 1) -> Exercises | Exercise:
    """One exercise on real bytes, with a check that names the first wrong part of an answer.

    Parameters
    ----------
    subject
        "binary-row", "bounds", "deletion-vector", "manifest-list", "current-version" or "files-read"; None lists them all.
    n
        Which one of the subject, 1 is the easiest.

    Returns
    -------
    Exercise or Exercises
        Its card shows the question; `check(answer)`, `hint()` and `solution()` go on from there.

    Raises
    ------
    UnknownName
        There is no such subject; the hint has the nearest names.
    LakeError
        The subject has no exercise of that number.

    Examples
    --------
    >>> row = exercise("binary-row", 3)
    >>> row.check([1, "one", 4294967276, 100, "x"])
    <Not yet: field 3, `n`: you said 4294967276, but the highest bit of `ec ff ff ff` is set, in ff: the number is negative \
(two's complement)>
    >>> exercise("binary-rwo")
    Traceback (most recent call last):
    lakelens.errors.UnknownName: no exercises on 'binary-rwo'; try: did you mean binary-row?
    """
    makers = _list_makers()
    if subject is None:
        pairs = [(name, number) for name, held in makers.items() for number in range(1, len(held) + 1)]
        return Exercises(
            tuple(Exercise(name, number, makers[name][number - 1](), exercise) for name, number in pairs)
        )
    found = {**makers, **self_tests.list_questions()}.get(str(subject))
    if found is None:
        raise UnknownName(f"no exercises on {subject!r}", hint=list_nearest(str(subject), makers))
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= len(found):
        raise LakeError(f"{subject} has no exercise {n!r}", expected=f"a number from 1 to {len(found)}")
    return Exercise(subject, n, found[n - 1](), exercise)


def quiz(part: int = 1) -> Quiz:
    """A self-test of ten questions, checked like exercises and scored.

    Parameters
    ----------
    part
        1 is about BinaryRows, 2 about all of the course.

    Returns
    -------
    Quiz
        `quiz.question(3)` shows a question, `quiz.check(3, answer)` checks an answer, `quiz.score` counts the right ones.

    Raises
    ------
    LakeError
        There is no such part.

    Examples
    --------
    >>> test = quiz(1)
    >>> test.check(1, None), test.score
    (<Right: that is right>, 1)
    """
    makers = self_tests.list_questions()
    subject = f"{self_tests.NAME}-{part}"
    if subject not in makers:
        raise LakeError(f"no quiz {part!r}", expected="1 (BinaryRows) or 2 (all of the course)")
    questions = (Exercise(subject, i, make(), exercise) for i, make in enumerate(makers[subject], 1))
    return Quiz(part, self_tests.TITLES[subject], tuple(questions), quiz)
