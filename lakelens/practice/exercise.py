"""What an exercise is: a question, what to look at, a check that names the first wrong part, hints, and a solution.

Nothing here reads a table: whoever makes an exercise gives it a function that checks, and one that solves. A quiz is a
self-test: ten questions, each an exercise, and a score; a drill asks one drawn question after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

from lakelens.display import Displayable
from lakelens.errors import LakeError, visible_line
from lakelens.model.bytes_view import BytesView
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact

UNANSWERED = "put your answer in the place of the three dots"
MASTERY = 5  # right answers in a row
_WIDTH = 8  # bytes of a line


class Exhibit(NamedTuple):
    """Something to look at: rows under the names of columns, or bytes as hexadecimal lines."""

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class Wrong(NamedTuple):
    """The first part of an answer that is wrong: what it is called, and why. A `field` may be empty."""

    field: str
    reason: str


class Step(NamedTuple):
    """One part of a worked answer: what it is called, its value, and how the bytes say so."""

    field: str
    value: str
    why: str


class Worked(NamedTuple):
    """What a solution says: the steps to each part, and the bytes with a name for each of them, where there are bytes."""

    answer: Any
    steps: tuple[Step, ...]
    view: BytesView | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """All that an exercise is made of.

    `find_wrong` gives the first wrong part of an answer, None when it is right; `work` gives the worked answer.
    """

    title: str
    text: str
    expects: str
    origin: str
    exhibits: tuple[Exhibit, ...]
    hints: tuple[str, ...]
    find_wrong: Callable[[Any], Wrong | None]
    work: Callable[[], Worked]


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Displayable):
    """What a check says of an answer: true when it is right; else the first wrong part, and why."""

    exercise: str
    is_right: bool
    field: str
    reason: str

    def __bool__(self) -> bool:
        return self.is_right

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        if self.is_right:
            return "that is right"
        return f"{self.field}: {self.reason}" if self.field else self.reason

    def __repr__(self) -> str:
        return f"<{'Right' if self.is_right else 'Not yet'}: {self.sentence}>"


@dataclass(frozen=True, slots=True, repr=False)
class Hint(Displayable):
    """One of the hints of an exercise; each call of `hint()` gives one more."""

    text: str
    number: int
    total: int

    def __repr__(self) -> str:
        return f"<Hint {self.number} of {self.total}: {self.text}>"


@dataclass(frozen=True, slots=True, repr=False)
class Solution(Displayable):
    """The worked answer: each part with how the bytes say so; `bytes_view()` names every byte."""

    exercise: str
    answer: Any
    steps: tuple[Step, ...]
    _view: BytesView | None

    def bytes_view(self) -> BytesView:
        """The bytes of the exercise, each with its name.

        Raises
        ------
        LookupError
            The exercise is about a listing: there are no bytes.
        """
        if self._view is None:
            raise LookupError(f"{self.exercise} is about a listing: there are no bytes to name")
        return self._view

    @property
    def has_bytes(self) -> bool:
        """Whether the exercise is about bytes."""
        return self._view is not None

    def __repr__(self) -> str:
        return f"<Solution of {self.exercise}: {', '.join(f'{step.field} = {step.value}' for step in self.steps)}>"


class Exercise(Displayable):
    """One exercise: read the question, answer with `check(answer)`; ask for a `hint()`, or for the `solution()`.

    The question, the bytes or the listing are on its card; the answer is not, until the solution is asked for.

    >>> import lakelens as ll
    >>> exercise = ll.exercise("binary-row", 1)
    >>> exercise
    <Exercise binary-row 1: numbers and a short text>
    >>> exercise.check([1, "b", 1])
    <Not yet: field 2, `name`: you said 'b', but byte 0 of the text is 0x61>
    >>> bool(exercise.check([1, "a", 1]))
    True
    """

    __slots__ = ("_find", "_given", "_question", "number", "subject")

    def __init__(
        self, subject: str, number: int, question: Question, find: Callable[[str, int], Exercise]
    ) -> None:
        self.subject = subject
        self.number = number
        self._question = question
        self._find = find
        self._given = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return self._find, (self.subject, self.number)

    @property
    def name(self) -> str:
        """The subject and the number, as they are asked for."""
        return f"{self.subject} {self.number}"

    @property
    def title(self) -> str:
        """What it practises, in a few words."""
        return self._question.title

    @property
    def question(self) -> str:
        """The question."""
        return self._question.text

    @property
    def expects(self) -> str:
        """What kind of answer `check` takes."""
        return self._question.expects

    @property
    def origin(self) -> str:
        """Where the bytes or the listing are from."""
        return self._question.origin

    @property
    def exhibits(self) -> tuple[Exhibit, ...]:
        """What to look at: bytes in hexadecimal, types, listings."""
        return self._question.exhibits

    @property
    def hints(self) -> int:
        """How many hints there are."""
        return len(self._question.hints)

    def check(self, answer: Any) -> Verdict:
        """Say whether an answer is right, and else which part of it is the first wrong one, and why.

        Parameters
        ----------
        answer
            As `expects` says; `...` is no answer yet. An answer of another kind is a wrong one: nothing is raised.

        Returns
        -------
        Verdict
            True in an `if` when the answer is right.
        """
        if answer is ...:
            return Verdict(self.name, False, "", UNANSWERED)
        try:
            wrong = self._question.find_wrong(answer)
        except (
            Exception
        ):  # what a foreign object does when it is looked at is no error of the reader's notebook
            wrong = Wrong("", f"expected {self.expects}")
        if wrong is None:
            return Verdict(self.name, True, "", "")
        return Verdict(self.name, False, wrong.field, visible_line(wrong.reason))

    def hint(self) -> Hint:
        """One more hint at each call; after the last one that again."""
        total = self.hints
        self._given = min(self._given + 1, total)
        return Hint(self._question.hints[self._given - 1], self._given, total)

    def solution(self) -> Solution:
        """The worked answer, with the bytes and what each of them means."""
        worked = self._question.work()
        return Solution(self.name, worked.answer, worked.steps, worked.view)

    def __repr__(self) -> str:
        return f"<Exercise {self.name}: {self.title}>"


class Exercises(Items[Exercise]):
    """Every exercise, in the order of the course: each subject from easy to hard."""

    __slots__ = ()
    facts = (Fact("subject"), Fact("number", "int64"), Fact("title"), Fact("question"))

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects, each once."""
        return tuple(dict.fromkeys(one.subject for one in self))

    def __repr__(self) -> str:
        return f"<Exercises {', '.join(self.subjects)}>"


def dump_bytes(title: str, data: bytes, parts: tuple[tuple[str, int, int, int], ...] = ()) -> Exhibit:
    """Bytes as lines of eight, each with the position of its first byte; nothing is decoded.

    `parts` are (name, start, end, what positions count from) of parts that begin lines of their own.

    >>> dump_bytes("a row", bytes(9)).rows
    (('0', '00 00 00 00 00 00 00 00'), ('8', '00'))
    """
    whole = parts or (("", 0, len(data), 0),)
    rows = tuple(
        (name if at == start else "", str(at - base), data[at : min(at + _WIDTH, end)].hex(" "))
        for name, start, end, base in whole
        for at in range(start, end, _WIDTH)
    )
    if not parts:
        return Exhibit(title, ("at", "bytes"), tuple(row[1:] for row in rows))
    return Exhibit(title, ("part", "at", "bytes"), rows)


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
        """Say what is known of a question: right, not yet, or unanswered.

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


@dataclass(frozen=True, slots=True, repr=False)
class Turn(Displayable):
    """What was said of an answer in a drill: true when it is right; and how many were right in a row."""

    verdict: Verdict
    streak: int
    is_mastered: bool

    def __bool__(self) -> bool:
        return self.verdict.is_right

    @property
    def sentence(self) -> str:
        """What was said, and how far it is to mastery."""
        if not self.verdict:
            return self.verdict.sentence
        if self.streak == 0:
            return "that is right, and does not count: it was not the first answer, or the solution was shown"
        if self.streak >= MASTERY:
            return f"that is right, {self.streak} in a row: mastery"
        return f"that is right, {self.streak} in a row of the {MASTERY} that are mastery"

    def __repr__(self) -> str:
        return f"<{'Right' if self else 'Not yet'}: {self.sentence}>"


class Drill(Displayable):
    """Questions without end from a seed: `check(answer)` says what is wrong, or goes on to the next one.

    An answer counts when it is the first one to its question; a wrong one begins the count again. The same seed asks
    the same questions everywhere.

    >>> import lakelens as ll
    >>> drill = ll.drill("bounds", seed=3)
    >>> drill
    <Drill bounds, seed 3: question 1, 0 right in a row>
    >>> drill.check(drill.exercise.solution().answer)
    <Right: that is right, 1 in a row of the 5 that are mastery>
    """

    __slots__ = ("_draw", "_is_spoiled", "exercise", "is_mastered", "seed", "streak", "subject")

    def __init__(
        self,
        subject: str,
        seed: int,
        draw: Callable[[str, int, int], Exercise],
        number: int = 1,
        streak: int = 0,
        is_mastered: bool = False,
    ) -> None:
        self.subject = subject
        self.seed = seed
        self._draw = draw
        self.streak = streak
        self.is_mastered = is_mastered
        self._ask(number)

    def _ask(self, number: int) -> None:
        self.exercise = self._draw(self.subject, number, self.seed)
        self._is_spoiled = False

    def check(self, answer: Any) -> Turn:
        """Check the answer to the question that is asked; a right one leads to the next question.

        Parameters
        ----------
        answer
            As the question says; `...` is no answer yet and changes nothing.

        Returns
        -------
        Turn
            True in an `if` when the answer is right.
        """
        verdict = self.exercise.check(answer)
        if verdict:
            self.streak = 0 if self._is_spoiled else self.streak + 1
            self.is_mastered = self.is_mastered or self.streak >= MASTERY
            self._ask(self.exercise.number + 1)
        elif answer is not ...:
            self.streak = 0
            self._is_spoiled = True
        return Turn(verdict, self.streak, self.is_mastered)

    def hint(self) -> Hint:
        """Give one more hint at each call."""
        return self.exercise.hint()

    def solution(self) -> Solution:
        """Give the worked answer to the question that is asked, which counts no more."""
        self.streak = 0
        self._is_spoiled = True
        return self.exercise.solution()

    def skip(self) -> Exercise:
        """Go on to the next question without an answer, and begin the count again."""
        self.streak = 0
        self._ask(self.exercise.number + 1)
        return self.exercise

    def __iter__(self) -> Iterator[Exercise]:
        """The questions from the first on, without end; what is asked stays as it is."""
        return (self._draw(self.subject, number, self.seed) for number in count(1))

    def __reduce__(self) -> tuple[Any, ...]:
        kept = (self.exercise.number, self.streak, self.is_mastered)
        return Drill, (self.subject, self.seed, self._draw, *kept)

    def __repr__(self) -> str:
        asked = f"question {self.exercise.number}, {self.streak} right in a row"
        return f"<Drill {self.subject}, seed {self.seed}: {asked}{', mastered' if self.is_mastered else ''}>"
