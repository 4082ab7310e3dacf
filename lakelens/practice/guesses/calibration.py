"""How often guesses were right, and how sure their reader was of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from lakelens.display import Displayable
from lakelens.errors import LakeError, visible_line
from lakelens.practice.answers import format_answer
from lakelens.practice.guesses.journal import add_note

#: How sure one can be, in per cent, with a word for each.
LEVELS = ((25, "a hunch"), (50, "as likely as not"), (75, "rather sure"), (95, "certain"))
_ENOUGH = 5  # guesses, before anything is said of the reader
_NEAR = 15  # per cent between how sure and how often right that mean nothing
_LONGEST = 300  # characters of an answer that are shown


def name_level(sure: float) -> str:
    """Name how sure somebody is, by the nearest word, with the share.

    >>> name_level(75), name_level(90)
    ('rather sure (75 %)', 'certain (90 %)')
    """
    return f"{_find_word(sure)} ({sure:g} %)"


def _find_word(sure: float) -> str:
    return min(LEVELS, key=lambda level: abs(level[0] - sure))[1]


@dataclass(frozen=True, slots=True)
class Guessed:
    """A guess that was written down, how sure its reader was, and whether it is right: None until somebody looked."""

    notebook: str
    question: str
    answer: Any
    sure: float
    truth: str = ""
    is_right: bool | None = None

    @property
    def shown(self) -> str:
        """The answer as text."""
        text = self.answer if isinstance(self.answer, str) else format_answer(self.answer)
        return visible_line(text)[:_LONGEST]


class Band(NamedTuple):
    """The guesses of which a reader was about equally sure: how many, and how many were right."""

    word: str
    total: int
    right: int


@dataclass(frozen=True, slots=True, repr=False)
class Calibration(Displayable):
    """How often guesses were right, and how sure their reader was: of one notebook, or of all.

    Guesses count that were compared with the truth.
    """

    notebook: str | None
    guesses: tuple[Guessed, ...]

    @property
    def compared(self) -> tuple[Guessed, ...]:
        """The guesses that were compared with the truth."""
        return tuple(guess for guess in self.guesses if guess.is_right is not None)

    @property
    def right(self) -> int:
        """How many of them were right."""
        return sum(guess.is_right is True for guess in self.guesses)

    @property
    def sure(self) -> float | None:
        """How sure the reader was of them on average, in per cent; None where there are none."""
        compared = self.compared
        return sum(guess.sure for guess in compared) / len(compared) if compared else None

    @property
    def bands(self) -> tuple[Band, ...]:
        """How many were right of those that were a hunch, of those that were certain, and between; without empty ones."""
        alike = {
            word: [guess for guess in self.compared if _find_word(guess.sure) == word] for _, word in LEVELS
        }
        return tuple(
            Band(word, len(guesses), sum(guess.is_right is True for guess in guesses))
            for word, guesses in alike.items()
            if guesses
        )

    @property
    def sentence(self) -> str:
        """How often the reader was right and how sure, in a sentence; with five guesses also whether that fits."""
        compared, sure = self.compared, self.sure
        if sure is None:
            return "no guess was compared with the truth yet" if self.guesses else "no guess was written down"
        said = f"{self.right} of {len(compared)} right, {sure:.0f} % sure on average"
        if len(compared) < _ENOUGH:
            return said
        surer = sure - 100 * self.right / len(compared)
        if abs(surer) <= _NEAR:
            return f"{said}: as sure as you may be"
        return f"{said}: {'surer than you were right' if surer > 0 else 'right more often than you thought'}"

    def forget(self) -> Calibration:
        """Begin with the notebook again: its guesses count no more, and can be written down once more.

        Raises
        ------
        LakeError
            These are the guesses of all notebooks.
        NotWritten
            The file cannot be written.
        """
        if self.notebook is None:
            hint = 'll.guess("01-hive").forget() forgets those of one notebook'
            raise LakeError("guesses are forgotten by notebook", hint=hint)
        add_note({"kind": "forget", "notebook": self.notebook})
        return Calibration(self.notebook, ())

    def __repr__(self) -> str:
        return f"<Calibration of {self.notebook or 'all notebooks'}: {self.sentence}>"
