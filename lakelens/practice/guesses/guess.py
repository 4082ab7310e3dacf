"""A guess that is written down before one looks, and what it looks like beside the truth.

A guess stays as it is once it was compared with the truth. The truth is not known here: whoever looks has worked it out.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, overload
from weakref import WeakSet

from lakelens.display import Living
from lakelens.errors import LakeError, WrongArgument, visible_line
from lakelens.model.facts.json_values import make_plain
from lakelens.practice.answers import convert, format_answer, is_same, unwrap
from lakelens.practice.exercise import UNANSWERED
from lakelens.practice.guesses.calibration import Calibration, Guessed, name_level
from lakelens.practice.guesses.journal import add_note, read_notes

_LONGEST = 300  # characters of an answer or a truth that are shown
_YES_NO = {"yes": True, "no": False}


def read_guesses() -> dict[tuple[str, str], Guessed]:
    """Read what was guessed, by notebook and question; of each question the guess that counts."""
    guesses: dict[tuple[str, str], Guessed] = {}
    for note in read_notes():
        key = str(note.get("notebook", "")), str(note.get("question", ""))
        written = guesses.get(key)
        is_open = written is None or written.is_right is None
        if note.get("kind") == "guess" and is_open and "answer" in note and _is_share(note.get("sure")):
            guesses[key] = Guessed(*key, note["answer"], note["sure"])
        elif note.get("kind") == "look" and written and is_open and isinstance(note.get("right"), bool):
            guesses[key] = replace(written, truth=str(note.get("truth", "")), is_right=note["right"])
        elif note.get("kind") == "forget":
            guesses = {key: guess for key, guess in guesses.items() if key[0] != note.get("notebook")}
    return guesses


def _is_share(sure: Any) -> bool:
    return isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 100


def compare_answer(truth: Any, answer: Any) -> bool | None:
    """Compare an answer with the truth; None where only the reader can say whether it is meant the same.

    Numbers, lists and dicts are compared as `check` of an exercise compares them, also when they were typed as a text. Of
    a text in words nobody but its writer knows what it means, unless it is the truth to the letter.

    >>> compare_answer(4, "4"), compare_answer([1, 3], "1, 3"), compare_answer(True, "no"), compare_answer(4, "a few")
    (True, True, False, None)
    """
    truth, answer = unwrap(truth), unwrap(answer)
    if isinstance(truth, str):
        is_equal = isinstance(answer, str) and answer.strip().casefold() == truth.strip().casefold()
        return True if is_equal else None
    if isinstance(answer, str):
        answer = _YES_NO.get(answer.strip().casefold(), answer)
    if isinstance(truth, list | tuple | Mapping | Set):
        if isinstance(answer, str):
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):  # else they are words
                answer = ast.literal_eval(answer if answer[:1] in "[({" else f"[{answer}]")
        answer = [answer] if isinstance(answer, int) else answer
    if isinstance(truth, Set) and isinstance(answer, list | tuple | Set):
        truth, answer = sorted(truth, key=str), sorted(answer, key=str)
    if answer is None or convert(truth, answer) is None:
        return None
    return is_same(truth, answer)


class Guess(Living):
    """A place for one guess: `write(answer, sure=75)` keeps it, `look(truth)` shows it beside the truth.

    In a notebook it is a form. What is written goes into a file of the reader's own, and nowhere else: see
    [Practice](practice.md).
    """

    __slots__ = ("__weakref__", "notebook", "question", "watchers")

    def __init__(self, notebook: str, question: str) -> None:
        self.notebook = notebook
        self.question = question
        self.watchers: WeakSet[Any] = WeakSet()

    def __reduce__(self) -> tuple[Any, ...]:
        return _find_guess, (self.notebook, self.question)

    @property
    def written(self) -> Guessed | None:
        """What was written down, with how sure one was; None where nothing was."""
        return read_guesses().get((self.notebook, self.question))

    def write(self, answer: Any, sure: float = 50) -> Guess:
        """Write a guess down; one that was there is replaced, unless it was compared with the truth.

        Parameters
        ----------
        answer
            A number, a list, a text in your own words; `...` is no answer yet.
        sure
            How sure you are, in per cent: 25 is a hunch, 95 certain.

        Raises
        ------
        NotWritten
            The file cannot be written.
        LakeError
            There is no answer, or it was compared with the truth.
        WrongArgument
            `sure` is no number from 0 to 100.
        """
        if answer is ... or (isinstance(answer, str) and not answer.strip()):
            raise LakeError(UNANSWERED)
        if not _is_share(sure):
            raise WrongArgument("`sure` is in per cent", expected="a number from 0 to 100", seen=sure)
        written = self.written
        if written is not None and written.is_right is not None:
            hint = f"ll.guess({self.notebook!r}).forget() begins with this notebook again"
            raise LakeError("you have looked already: this guess stays", hint=hint)
        self._note("guess", answer=make_plain(unwrap(answer)), sure=sure)
        return self

    def look(self, truth: Any) -> Look:
        """Show the guess beside the truth.

        Parameters
        ----------
        truth
            What it is, worked out from the table. A number, a list or a dict is compared with the guess; of a text you say
            yourself whether you had it: `judge(True)`.

        Raises
        ------
        NotWritten
            The file cannot be written.
        """
        look = Look(self, truth)
        look.compare()
        return look

    def note_look(self, truth: str, is_right: bool) -> None:
        """Note how a guess compares with the truth, once."""
        written = self.written
        if written is not None and written.is_right is None:
            self._note("look", truth=truth, right=is_right)

    def _note(self, kind: str, **said: Any) -> None:
        add_note({"kind": kind, "notebook": self.notebook, "question": self.question, **said})
        for watcher in list(self.watchers):
            watcher.redraw()

    def __repr__(self) -> str:
        written = self.written
        said = "not written down yet" if written is None else f"{written.shown}, {name_level(written.sure)}"
        return f"<Guess {self.notebook}, {self.question}: {said}>"


@dataclass(frozen=True, repr=False, eq=False)
class Look(Living):
    """A guess beside the truth. Where the truth is in words the reader says whether it was right: `judge(True)`."""

    guess: Guess
    truth: Any

    @property
    def shown(self) -> str:
        """The truth as text."""
        truth = unwrap(self.truth)
        truth = sorted(truth) if isinstance(truth, Set) else truth
        text = truth if isinstance(truth, str) else format_answer(truth)
        return visible_line(text)[:_LONGEST]

    @property
    def is_right(self) -> bool | None:
        """Whether the guess is right; None without a guess, or until the reader has said so of one in words."""
        written = self.guess.written
        if written is None:
            return None
        compared = compare_answer(self.truth, written.answer)
        return written.is_right if compared is None else compared

    @property
    def is_to_judge(self) -> bool:
        """Whether the reader is to say if the guess is right."""
        return self.guess.written is not None and self.is_right is None

    def compare(self) -> None:
        """Compare the guess with the truth where that can be done, and note the outcome the first time."""
        written = self.guess.written
        if written is not None and written.is_right is None:
            compared = compare_answer(self.truth, written.answer)
            if compared is not None:
                self.guess.note_look(self.shown, compared)

    def judge(self, is_right: bool) -> Look:
        """Say whether a guess in words is right; what was said or compared before stays.

        Parameters
        ----------
        is_right
            True where you had it.

        Raises
        ------
        NotWritten
            The file cannot be written.
        """
        self.guess.note_look(self.shown, bool(is_right))
        return self

    @property
    def sentence(self) -> str:
        """The guess and the truth in a sentence."""
        written = self.guess.written
        if written is None:
            return f"no guess was written down; it is {self.shown}"
        end = {True: "right", False: "not what you guessed", None: "did you have it?"}[self.is_right]
        return f"you guessed {written.shown}, {name_level(written.sure)}; it is {self.shown}: {end}"

    def __repr__(self) -> str:
        return f"<Look at {self.guess.question}: {self.sentence}>"


@overload
def guess(notebook: str | None = None) -> Calibration: ...
@overload
def guess(notebook: str, question: str) -> Guess: ...
def guess(notebook: str | None = None, question: str | None = None) -> Guess | Calibration:
    """A place to write a guess down before you look; or, without a question, how often you were right and how sure.

    Parameters
    ----------
    notebook
        The notebook, as "01-hive"; all of them when it is left out.
    question
        What is guessed, in a few words. The same words are the same guess.

    Returns
    -------
    Guess or Calibration
        The guess: a form in a notebook, `.write(answer, sure=75)` elsewhere, and `.look(truth)`. Without a question all
        guesses of the notebook, with how many were right.

    Raises
    ------
    WrongArgument
        A name is no text, or an empty one.

    Examples
    --------
    >>> import lakelens as ll
    >>> files = ll.guess("an example", "files of one row")
    >>> files
    <Guess an example, files of one row: not written down yet>
    >>> files.look(4).sentence
    'no guess was written down; it is 4'
    """
    for name in (notebook, question):
        if name is not None and not (isinstance(name, str) and name.strip()):
            raise WrongArgument("a guess has the name of its notebook, and a question", seen=name)
    if notebook is None or question is None:
        if question is not None:
            raise WrongArgument("a guess has the name of its notebook, and a question", seen=notebook)
        chosen = (guess for guess in read_guesses().values() if notebook in (None, guess.notebook))
        return Calibration(notebook, tuple(chosen))
    return _find_guess(notebook, question)


@cache
def _find_guess(notebook: str, question: str) -> Guess:
    """Find the one place for a guess, so that what shows it hears of what is written elsewhere."""
    return Guess(notebook, question)
