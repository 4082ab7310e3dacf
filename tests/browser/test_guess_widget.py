"""The form for a guess and the review in a real browser, with Python behind them: keys, the mouse, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.practice.guesses.reviewing import load_prompts
from lakelens.widgets import make_widget
from tests.browser.host import host_widget, settle
from tests.browser.looks import find_faults, find_overflow


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state directory of its own."""
    monkeypatch.setenv("LAKELENS_STATE", str(tmp_path / "state"))


def check_looks(page: Any) -> None:
    assert find_overflow(page, "#widget") == []
    assert find_faults(page, "#widget") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_guess_is_typed_changed_and_written_down(page: Any, scheme: str) -> None:
    guess = ll.guess("01-hive", "files of <b>one</b> row")
    errors = host_widget(page, make_widget(guess), scheme)
    check_looks(page)
    page.locator("button", has_text="before").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert guess.written is None, "nothing is no guess"
    page.keyboard.type("1")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    settle(page)
    assert guess.written is not None and (guess.written.answer, guess.written.sure) == ("1", 75)
    assert "rather sure (75 %)" in page.locator("#widget").inner_text()
    page.keyboard.press("Enter")
    assert page.locator("#widget input").count() == 0, "a second Enter opens nothing"
    check_looks(page)
    page.locator("button", has_text="Change it").click()
    page.locator("#widget input[type=text]").fill("<img src=x onerror=alert(1)>")
    page.locator("button", has_text="Write it down").click()
    settle(page)
    assert guess.written.answer == "<img src=x onerror=alert(1)>" and page.locator("#widget img").count() == 0
    assert page.locator("#widget b").count() == 1, "what is asked is text"
    guess.look("files").judge(True)
    settle(page)
    assert errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_guess_in_words_is_judged_beside_the_truth(page: Any, scheme: str) -> None:
    guess = ll.guess("15-crash-lab", "who sees it").write("nobody, I think", sure=95)
    errors = host_widget(page, make_widget(guess.look("no reader, until the pointer moves")), scheme)
    text = page.locator("#widget").inner_text()
    assert all(word in text for word in ("nobody, I think", "certain (95 %)", "until the pointer moves"))
    check_looks(page)
    page.locator("button", has_text="I had it").click()
    settle(page)
    assert "right" in page.locator("#widget .ll-a").inner_text() and ll.guess("15-crash-lab").right == 1
    check_looks(page)
    assert errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_review_is_answered_by_letters_and_by_the_mouse(page: Any, scheme: str) -> None:
    review = ll.review("02-iceberg", most=3)
    errors = host_widget(page, make_widget(review), scheme)
    check_looks(page)
    prompts = {prompt.text: prompt for prompt in load_prompts()}
    first = prompts[review.question]
    letter = review.letters[review.choices.index(first.wrong[0][0])]
    page.locator(".ll-choices button").first.focus()
    page.keyboard.press(letter)
    settle(page)
    said = page.locator("#widget [role=status]").inner_text()
    assert first.wrong[0][1].name in said and first.heading.replace("`", "") in said.replace("`", "")
    assert page.locator("button.ll-yes").count() == page.locator("button.ll-no").count() == 1
    check_looks(page)
    page.keyboard.press("Enter")
    settle(page)
    page.locator("button", has_text="Later").click()
    settle(page)
    for _ in range(2):
        right = review.choices.index(prompts[review.question].right)
        page.locator(".ll-choices button").nth(right).click()
        settle(page)
        assert "Right." in page.locator("#widget [role=status]").inner_text()
        page.locator("button", has_text="Next").click()
        settle(page)
    text = page.locator("#widget").inner_text()
    assert "2 of 3 right" in text and first.wrong[0][1].name in text
    check_looks(page)
    assert errors == []
