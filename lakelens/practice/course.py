"""Which exercises there are, by subject and number: `ll.exercise`, and the two self-tests of ten questions: `ll.quiz`.

>>> exercise().subjects
('binary-row', 'bounds', 'deletion-vector', 'manifest-list', 'current-version', 'files-read')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, overload

from lakelens.codecs.paimon.binary_row import count_null_bytes
from lakelens.errors import LakeError, UnknownName, list_nearest
from lakelens.practice import binary_row, bounds, choices, counts, vectors, versions
from lakelens.practice.answers import is_kind, is_same, quote, read_fields
from lakelens.practice.exercise import Exercise, Exercises, Exhibit, Question, Quiz, Step, Worked, Wrong

Make = Callable[[], Question]

NAME = "self-test"
TITLES = {f"{NAME}-1": "ten questions on BinaryRows", f"{NAME}-2": "ten questions on the whole course"}
_ARITY = 57


def ask_header() -> Question:
    """Ask how long a header is."""
    right = count_null_bytes(_ARITY)
    why = f"8 bits of kind and {_ARITY} null bits are {_ARITY + 8} bits, filled up to a multiple of 64"
    return Question(
        "the header",
        f"How many bytes is the header of a BinaryRow of {_ARITY} fields?",
        "a whole number",
        "the rule of the format",
        (Exhibit("A row without its types", ("arity",), ((_ARITY.to_bytes(4, "big").hex(" "),),)),),
        ("One byte of row kind, then one bit for each field.", "It is filled up to a multiple of 8 bytes."),
        partial(_find_wrong, right, why),
        lambda: Worked(right, (Step("header", str(right), why),)),
    )


def _find_wrong(right: int, why: str, answer: Any) -> Wrong | None:
    given = read_fields(answer, ["bytes"])
    if isinstance(given, Wrong) or given[0] is None or not is_kind(right, given[0]):
        return Wrong("", f"expected a whole number, not {quote(answer)}")
    return None if is_same(right, given[0]) else Wrong("header", f"you said {quote(given[0])}, but {why}")


def list_self_tests() -> Mapping[str, tuple[Make, ...]]:
    """List the makers of the questions of each self-test."""
    rows = binary_row.SPARE
    fields = ((0, 1), (1, 1), (2, 0), (3, 3), (4, 1), (4, 2), (4, 6), (5, 1), (5, 0))
    first = [partial(binary_row.ask_row, rows[row], field) for row, field in fields]
    second = [partial(bounds.ask_bounds, source, "lower") for source in bounds.SPARE]
    second += [partial(vectors.ask_vector, source) for source in vectors.SPARE]
    return {
        f"{NAME}-1": (*first, ask_header),
        f"{NAME}-2": (
            *second,
            partial(counts.ask_counts, "a manifest list", "iceberg", -1),
            partial(choices.ask_manifests, "manifests to skip", "iceberg-planning", "ts < '2024-03-03'"),
            partial(choices.ask_files, "files to open", "iceberg", "id = 9"),
            partial(versions.ask_snapshot, "a hint to a snapshot that is not there", "paimon", "9"),
            partial(binary_row.ask_row, rows[4], 5),
        ),
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
    makers: dict[str, tuple[Make, ...]] = {
        "binary-row": binary_row.list_questions(),
        "bounds": bounds.list_questions(),
        "deletion-vector": vectors.list_questions(),
        "manifest-list": (*counts.list_questions(), *choices.list_manifest_questions()),
        "current-version": versions.list_questions(),
        "files-read": choices.list_file_questions(),
    }
    if subject is None:
        return Exercises(
            tuple(
                Exercise(name, number, make(), exercise)
                for name, questions in makers.items()
                for number, make in enumerate(questions, 1)
            )
        )
    questions = {**makers, **list_self_tests()}.get(str(subject))
    if questions is None:
        raise UnknownName(f"no exercises on {subject!r}", hint=list_nearest(str(subject), makers))
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= len(questions):
        raise LakeError(f"{subject} has no exercise {n!r}", expected=f"a number from 1 to {len(questions)}")
    return Exercise(subject, n, questions[n - 1](), exercise)


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
    makers = list_self_tests()
    subject = f"{NAME}-{part}"
    if subject not in makers:
        raise LakeError(f"no quiz {part!r}", expected="1 (BinaryRows) or 2 (all of the course)")
    questions = (Exercise(subject, i, make(), exercise) for i, make in enumerate(makers[subject], 1))
    return Quiz(part, TITLES[subject], tuple(questions), quiz)
