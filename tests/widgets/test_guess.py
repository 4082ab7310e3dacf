"""The form for a guess and the review, on the side of Python: what the browser asks for, and what it is given to draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.practice.guesses.guess import Guess
from lakelens.practice.guesses.reviewing import load_prompts
from lakelens.widgets import make_widget, show_widget
from tests.browser.host import ask
from tests.practice.test_guesses import block_journal


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state directory of its own."""
    monkeypatch.setenv("LAKELENS_STATE", str(tmp_path / "state"))


def test_a_guess_that_is_written_is_seen_by_every_look() -> None:
    """Also by one that was shown before: a reader runs all cells, and begins to read then."""
    guess = ll.guess("01-hive", "files of one row")
    form, look = make_widget(guess), make_widget(guess.look(4))
    assert not form.view["isWritten"] and form.view["isOpen"] and look.view["right"] is None
    assert look.view["truth"] == "4" and "4" not in str(form.view["answer"])
    ask(form, {"type": "write", "answer": "4", "sure": 75})
    assert form.view["answer"] == "4" and form.view["said"] == "rather sure (75 %)"
    assert look.view["right"] is True and look.view["answer"] == "4" and not form.view["isOpen"]
    ask(form, {"type": "write", "answer": "5", "sure": 95})
    assert "looked already" in form.view["error"] and look.view["answer"] == "4"
    assert ll.guess("01-hive").right == 1


def test_words_are_judged_with_a_button() -> None:
    guess = ll.guess("15-crash-lab", "who sees it").write("nobody")
    look = make_widget(guess.look("no reader"))
    assert look.view["right"] is None and look.view["isWritten"]
    ask(look, {"type": "judge", "right": False})
    assert look.view["right"] is False and ll.guess("15-crash-lab").compared[0].truth == "no reader"


@pytest.mark.parametrize(
    "content",
    [
        {"type": "write"},
        {"type": "write", "answer": 3, "sure": 75},
        {"type": "write", "answer": "3", "sure": "75"},
        {"type": "judge", "right": 1},
        {"type": "choose", "choice": ["a"]},
        {"type": "choose", "choice": "no such choice"},
        {},
    ],
)
def test_what_no_form_sends_changes_nothing(content: dict[str, Any]) -> None:
    guess, review = ll.guess("01-hive", "files of one row"), ll.review("01-hive")
    for widget in (make_widget(guess), make_widget(guess.look(4)), make_widget(review)):
        ask(widget, content)
    assert guess.written is None and review.replies == ()


def test_an_error_is_said_in_the_form() -> None:
    block_journal()
    form, review = make_widget(ll.guess("01-hive", "files of one row")), make_widget(ll.review("01-hive"))
    ask(form, {"type": "write", "answer": "4", "sure": 75})
    ask(review, {"type": "choose", "choice": review.view["choices"][0]})
    for widget in (form, review):
        assert "cannot be written down" in widget.view["error"] and "LAKELENS_STATE" in widget.view["error"]
    assert review.view["reply"] is None and review.view["question"]


def test_a_review_goes_from_question_to_question() -> None:
    review = ll.review("01-hive", most=2)
    widget = make_widget(review)
    prompts = {prompt.text: prompt for prompt in load_prompts()}
    first = prompts[widget.view["question"]]
    sent = str(widget.view)
    assert first.because not in sent and not any(idea.name in sent for _, idea in first.wrong)
    wrong, idea = first.wrong[0]
    ask(widget, {"type": "choose", "choice": wrong})
    reply = widget.view["reply"]
    assert (
        widget.view["question"] == first.text and reply["chosen"] == wrong and reply["right"] == first.right
    )
    assert not reply["isRight"] and reply["idea"] == idea.name and reply["sentence"] == idea.sentence
    ask(widget, {"type": "next"})
    second = prompts[widget.view["question"]]
    assert second is not first and widget.view["reply"] is None
    ask(widget, {"type": "skip"})
    assert widget.view["question"] == second.text, "the only one that is left"
    ask(widget, {"type": "choose", "choice": second.right})
    assert widget.view["reply"]["isRight"] and widget.view["reply"]["sentence"] == second.because
    ask(widget, {"type": "next"})
    assert widget.view["question"] == "" and widget.view["ideas"] == [[idea.name, idea.sentence]]


def test_without_a_kernel_a_card_is_shown() -> None:
    guess = ll.guess("01-hive", "files of one row")
    assert show_widget(guess) is False
    with pytest.raises(NotImplementedError):
        guess._ipython_display_()


def test_in_a_notebook_the_form_is_shown_and_the_card_for_those_without_a_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("lakelens.views.render.text.is_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.publish_display_data", lambda data, *_: shown.append(data))
    assert Guess("01-hive", "another")._ipython_display_() is None  # type: ignore[func-returns-value]
    living, still = shown
    assert "application/vnd.jupyter.widget-view+json" in living and living["text/html"] == ""
    assert ".write(answer, sure=75)" in still["text/plain"] and "ll-still" in still["text/html"]
