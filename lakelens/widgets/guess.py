"""A form to write a guess down in, and the guess beside the truth, which changes when another one is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakelens.errors import LakeError
from lakelens.practice.guesses.calibration import LEVELS, name_level
from lakelens.practice.guesses.guess import Guess, Look
from lakelens.views.card.wording import clean, visible
from lakelens.views.render.html import common_style, render_card
from lakelens.widgets.base import StillWidget, read_module, read_style

_LONGEST = 300  # characters of a guess


class _AskingWidget(StillWidget):
    """What is drawn of a guess; it is drawn again when the guess is written elsewhere."""

    _esm = read_module("guess.js")

    def __init__(self, thing: Guess | Look, guess: Guess) -> None:
        self._guess = guess
        self._error = ""
        super().__init__(thing, read_style(str(common_style()), "guess.css"), view=self._write_view())
        guess.watchers.add(self)

    def redraw(self) -> None:
        """Draw what is known of the guess now."""
        self._draw(view=self._write_view())

    def _write_view(self) -> dict[str, Any]:
        raise NotImplementedError

    def _try(self, act: Callable[[], object]) -> None:
        """Do what the browser asks for, and draw what came of it; an error is said in place."""
        try:
            act()
            self._error = ""
        except LakeError as error:
            self._error = clean(error, 300)
        self._draw(view=self._write_view())

    def _render_still(self) -> str:
        return render_card(self._thing)


class GuessWidget(_AskingWidget):
    """A guess to type, with how sure one is; Enter writes it down.

    >>> import lakelens as ll
    >>> ll.guess("an example", "files of one row").widget().view["question"]
    'files of one row'
    """

    def __init__(self, guess: Guess) -> None:
        super().__init__(guess, guess)

    def _answer(self, content: dict[str, Any]) -> None:
        answer, sure = content.get("answer"), content.get("sure")
        if content.get("type") == "write" and isinstance(answer, str) and isinstance(sure, int):
            self._try(lambda: self._guess.write(answer[:_LONGEST], sure))

    def _write_view(self) -> dict[str, Any]:
        written = self._guess.written
        return {
            "kind": "guess",
            "question": visible(self._guess.question),
            "answer": "" if written is None else written.shown,
            "sure": 50 if written is None else written.sure,
            "said": "" if written is None else name_level(written.sure),
            "isWritten": written is not None,
            "isOpen": written is None or written.is_right is None,
            "levels": LEVELS,
            "error": self._error,
        }


class LookWidget(_AskingWidget):
    """A guess beside the truth; of a guess in words the reader says whether it was right."""

    def __init__(self, look: Look) -> None:
        self._look = look
        super().__init__(look, look.guess)

    def _answer(self, content: dict[str, Any]) -> None:
        if content.get("type") == "judge" and isinstance(content.get("right"), bool):
            self._try(lambda: self._look.judge(content["right"]))

    def redraw(self) -> None:
        """Compare the guess that there is now with the truth, and draw both."""
        self._try(self._look.compare)

    def _write_view(self) -> dict[str, Any]:
        written = self._look.guess.written
        return {
            "kind": "look",
            "question": visible(self._look.guess.question),
            "answer": "" if written is None else written.shown,
            "said": "" if written is None else name_level(written.sure),
            "isWritten": written is not None,
            "truth": clean(self._look.shown),
            "right": self._look.is_right,
            "error": self._error,
        }
