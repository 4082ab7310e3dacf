"""Questions on ideas that come again after a day, a week, a month: what is asked, when, and what a wrong choice shows.

Nothing here reads a file or a clock: whoever makes a review gives it questions, the day, and a function that keeps answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from lakelens.display import Displayable, Living
from lakelens.errors import LakeError

#: Days until a question is asked again: after the first answer, and after each right one that follows.
INTERVALS = (1, 7, 30)
_LETTERS = "abcdefgh"


class Misconception(NamedTuple):
    """An idea that is not so: its name, and a sentence that puts it right."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question on an idea, where it is taught, the right choice and why, and each wrong one with its misconception."""

    id: str
    text: str
    right: str
    because: str
    wrong: tuple[tuple[str, Misconception], ...]
    notebook: str
    heading: str

    def shuffle(self, times: int) -> tuple[str, ...]:
        """Give the choices in an order that is another one each time, and the same on every machine."""
        choices = [self.right, *(text for text, _ in self.wrong)]
        Random(f"{self.id} {times}").shuffle(choices)
        return tuple(choices)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a question is: how often it was answered, which of the `INTERVALS` it waits for, and the day it comes again.

    No day is left for one that was right after each of them.
    """

    times: int = 0
    step: int = 0
    due: date | None = None

    def move(self, is_right: bool, day: date) -> Standing:
        """Say how far it is after one more answer.

        >>> standing = Standing().move(True, date(2026, 1, 1))
        >>> standing.due.isoformat(), standing.move(True, date(2026, 1, 2)).due.isoformat()
        ('2026-01-02', '2026-01-09')
        >>> standing.move(False, date(2026, 1, 2)).due.isoformat()
        '2026-01-03'
        """
        step = self.step + 1 if is_right and self.times else 0
        due = day + timedelta(days=INTERVALS[step]) if step < len(INTERVALS) else None
        return Standing(self.times + 1, step, due)


@dataclass(frozen=True, slots=True, repr=False)
class Reply(Displayable):
    """What was said of an answer: true when it is right; else the misconception behind it, and what is so instead."""

    question: str
    is_right: bool
    right: str
    because: str
    misconception: Misconception | None
    notebook: str
    heading: str
    due: date | None

    def __bool__(self) -> bool:
        return self.is_right

    @property
    def sentence(self) -> str:
        """What was said."""
        if self.misconception is None:
            return f"that is right: {self.because}"
        return f"a misconception, “{self.misconception.name}”: {self.misconception.sentence}"

    def __repr__(self) -> str:
        return f"<{'Right' if self else 'Not so'}: {self.sentence}>"


class Review(Living):
    """Questions on ideas that are due today: `answer("b")` says what is so, and when the question comes again.

    >>> import lakelens as ll
    >>> review = ll.review()
    >>> 0 <= review.left <= 10
    True
    """

    __slots__ = ("_keep", "_later", "_standings", "day", "more", "replies", "waiting")

    def __init__(
        self,
        prompts: Iterable[tuple[Prompt, Standing]],
        day: date,
        more: int,
        next_due: date | None,
        keep: Callable[[str, bool, date], None],
    ) -> None:
        pairs = tuple(prompts)
        self.day = day
        self.more = more
        self._later = next_due
        self.waiting: tuple[Prompt, ...] = tuple(prompt for prompt, _ in pairs)
        self.replies: tuple[Reply, ...] = ()
        self._standings = {prompt.id: standing for prompt, standing in pairs}
        self._keep = keep

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a review is not pickled: what was answered is in the reader's own file")

    @property
    def question(self) -> str:
        """The question that is asked; empty when there is none left."""
        return self.waiting[0].text if self.waiting else ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices of the question that is asked, in the order of their letters."""
        return self.waiting[0].shuffle(self._standings[self.waiting[0].id].times) if self.waiting else ()

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the choices."""
        return tuple(_LETTERS[: len(self.choices)])

    @property
    def left(self) -> int:
        """How many questions are left."""
        return len(self.waiting)

    @property
    def is_again(self) -> bool:
        """Whether the question that is asked was answered on another day."""
        return bool(self.waiting) and self._standings[self.waiting[0].id].times > 0

    @property
    def next_due(self) -> date | None:
        """The day on which a question that was answered comes again; None where there is none."""
        return min(filter(None, (self._later, *(reply.due for reply in self.replies))), default=None)

    @property
    def misconceptions(self) -> Sequence[Misconception]:
        """The misconceptions behind the answers so far, each once."""
        return tuple(dict.fromkeys(reply.misconception for reply in self.replies if reply.misconception))

    def answer(self, choice: str) -> Reply:
        """Answer the question that is asked, and go on to the next one.

        Parameters
        ----------
        choice
            Its letter, or the text of the choice.

        Returns
        -------
        Reply
            True in an `if` when the answer is right.

        Raises
        ------
        LakeError
            There is no such choice, or no question is left.
        NotWritten
            The file cannot be written.
        """
        if not self.waiting:
            raise LakeError("no question is left", hint="ll.review() on another day")
        prompt, choices = self.waiting[0], dict(zip(self.letters, self.choices, strict=True))
        said = str(choice).strip()
        chosen = choices.get(said.lower().rstrip(".)"), said)
        if chosen not in choices.values():
            raise LakeError(f"there is no choice {said!r}", expected=f"one of {', '.join(choices)}")
        is_right = chosen == prompt.right
        standing = self._standings[prompt.id].move(is_right, self.day)
        self._keep(prompt.id, is_right, self.day)
        reply = Reply(
            prompt.text, is_right, prompt.right, prompt.because, dict(prompt.wrong).get(chosen),
            prompt.notebook, prompt.heading, standing.due,
        )  # fmt: skip
        self.waiting = self.waiting[1:]
        self.replies = (*self.replies, reply)
        return reply

    def skip(self) -> Review:
        """Put the question that is asked behind the others."""
        self.waiting = (*self.waiting[1:], *self.waiting[:1])
        return self

    @property
    def sentence(self) -> str:
        """How far it is."""
        right = sum(map(bool, self.replies))
        done = f"{right} of {len(self.replies)} right" if self.replies else ""
        if self.waiting:
            number = len(self.replies) + 1
            place = f"question {number} of {len(self.replies) + self.left}"
            return f"{place}, {done} so far" if done else place
        said = [done] if done else []
        if self.more:
            said.append(f"{self.more} more with another ll.review()")
        if self.next_due is not None:
            said.append(f"the next one comes again on {self.next_due.isoformat()}")
        return "; ".join(said) or "nothing is left to ask"

    def __repr__(self) -> str:
        return f"<Review of {self.day.isoformat()}: {self.sentence}>"
