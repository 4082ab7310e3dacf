"""A review to answer on: choices as buttons, what was behind a wrong one, and the next question."""

from __future__ import annotations

from typing import Any

from lakelens.errors import LakeError
from lakelens.practice.guesses.review import Reply, Review
from lakelens.views.card.wording import clean
from lakelens.views.render.html import common_style, render_card
from lakelens.widgets.base import StillWidget, read_module, read_style


class ReviewWidget(StillWidget):
    """The questions of a review, one after the other.

    >>> import lakelens as ll
    >>> widget = ll.review("02-iceberg", most=1).widget()
    >>> len(widget.view["choices"]) in (0, 3, 4)
    True
    """

    _esm = read_module("review.js")
    _keys = (("A B C D", "a choice"), ("Enter", "the next question"), ("?", "these keys, or no more"))

    def __init__(self, review: Review) -> None:
        self._review = review
        self._shown_choices: tuple[str, ...] = ()
        self._error = ""
        super().__init__(review, read_style(str(common_style()), "guess.css"), view=self._write_view(None))

    def _answer(self, content: dict[str, Any]) -> None:
        choice, reply = content.get("choice"), None
        self._error = ""
        try:
            if content.get("type") == "choose" and choice in self._review.choices:
                asked = self._write_view(None)
                reply = self._review.answer(choice)
                self._draw(view={**asked, **self._write_reply(reply, choice)})
                return
            if content.get("type") == "skip":
                self._review.skip()
        except LakeError as error:
            self._error = clean(error, 300)
        self._draw(view=self._write_view(reply))

    def _write_view(self, reply: Reply | None) -> dict[str, Any]:
        """Write what is asked now, or how it went where nothing is left."""
        review = self._review
        ideas = [] if review.left else [[idea.name, idea.sentence] for idea in review.misconceptions]
        return {
            "sentence": review.sentence,
            "question": review.question,
            "isAgain": review.is_again,
            "choices": review.choices,
            "letters": review.letters,
            "ideas": ideas,
            "reply": None,
            "error": self._error,
        }

    def _write_reply(self, reply: Reply, choice: str) -> dict[str, Any]:
        """Write what was said of a choice, beside the question that it answers."""
        due = "it is not asked again" if reply.due is None else f"again on {reply.due.isoformat()}"
        idea = reply.misconception
        said = {
            "chosen": choice,
            "right": reply.right,
            "isRight": reply.is_right,
            "idea": "" if idea is None else idea.name,
            "sentence": reply.because if idea is None else idea.sentence,
            "because": "" if idea is None else reply.because,
            "place": f"{reply.notebook}, “{reply.heading}”",
            "due": due,
        }
        return {"reply": said}

    def _render_still(self) -> str:
        return render_card(self._review)
