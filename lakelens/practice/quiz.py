"""A self-test: ten questions, each an exercise, and a score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.practice.exercise import Exercise, Verdict


class Quiz(Displayable):
    """Ten questions with a score: `question(3)` shows one, `check(3, answer)` checks an answer.

    The last answer to a question counts; a question may be answered again.

    >>> import lakelens as ll
    >>> quiz = ll.quiz(1)
    >>> quiz
    <Quiz 1: 0 of 10 right, 10 unanswered>
    >>> bool(quiz.check(2, "only on main")), quiz.score
    (True, 1)
    """

    __slots__ = ("_find", "_verdicts", "part", "questions", "title")

    def __init__(
        self, part: int, title: str, questions: tuple[Exercise, ...], find: Callable[[int], Quiz]
    ) -> None:
        self.part = part
        self.title = title
        self.questions = questions
        self._find = find
        self._verdicts: dict[int, Verdict] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return self._find, (self.part,)

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Exercise]:
        return iter(self.questions)

    def question(self, n: int) -> Exercise:
        """One of the questions.

        Parameters
        ----------
        n
            Its number, from 1.

        Raises
        ------
        LakeError
            There is no question of that number.
        """
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= len(self):
            raise LakeError(f"the quiz has no question {n!r}", expected=f"a number from 1 to {len(self)}")
        return self.questions[n - 1]

    def check(self, n: int, answer: Any) -> Verdict:
        """Check the answer to a question, and count it; `...` is no answer yet and counts nothing.

        Parameters
        ----------
        n
            The number of the question, from 1.
        answer
            As the question says.

        Raises
        ------
        LakeError
            There is no question of that number.
        """
        verdict = self.question(n).check(answer)
        if answer is not ...:
            self._verdicts[n] = verdict
        return verdict

    def state(self, n: int) -> str:
        """What is known of a question: right, not yet, or unanswered.

        Parameters
        ----------
        n
            The number of the question, from 1.
        """
        verdict = self._verdicts.get(n)
        return "unanswered" if verdict is None else "right" if verdict else "not yet"

    @property
    def score(self) -> int:
        """How many questions were answered right."""
        return sum(map(bool, self._verdicts.values()))

    def __repr__(self) -> str:
        left = len(self) - len(self._verdicts)
        return f"<Quiz {self.part}: {self.score} of {len(self)} right, {left} unanswered>"
