"""The review: 80 questions that are taught where they say, come again in time, and give nothing away."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import date, timedelta
from html import unescape
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.errors import LakeError, UnknownName, WrongArgument
from lakelens.practice.guesses.journal import find_journal
from lakelens.practice.guesses.review import INTERVALS, Prompt, Review, Standing
from lakelens.practice.guesses.reviewing import load_misconceptions, load_prompts
from lakelens.whole import NotWritten
from tests.practice.test_guesses import block_journal

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
DAY = date(2026, 3, 1)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of its own."""
    monkeypatch.setenv("LAKELENS_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def find_prompt(review: Review) -> Prompt:
    return next(prompt for prompt in load_prompts() if prompt.text == review.question)


def list_headings(notebook: str) -> set[str]:
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text("utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return {heading for text in texts for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def test_there_are_eighty_questions_each_taught_where_it_says() -> None:
    prompts = load_prompts()
    assert len(prompts) == 80
    assert len({prompt.id for prompt in prompts}) == len({prompt.text for prompt in prompts}) == 80
    for prompt in prompts:
        assert prompt.heading in list_headings(prompt.notebook), prompt.id


def test_every_wrong_choice_has_a_misconception_and_every_misconception_a_choice() -> None:
    known, used = load_misconceptions(), set()
    assert len({idea.name for idea in known.values()}) == len(known)
    for prompt in load_prompts():
        ideas = [idea for _, idea in prompt.wrong]
        assert 2 <= len(set(ideas)) == len(ideas) <= 3, prompt.id
        assert set(ideas) <= set(known.values())
        assert len({prompt.right, *dict(prompt.wrong)}) == len(ideas) + 1, "choices differ"
        used |= set(ideas)
    assert used == set(known.values())


@pytest.mark.parametrize("idea", load_misconceptions().values(), ids=load_misconceptions())
def test_a_misconception_is_put_right_in_one_sentence(idea: tuple[str, str]) -> None:
    name, sentence = idea
    assert name[0].islower() and not name.endswith(".")
    assert sentence.endswith(".") and ". " not in sentence


def test_the_form_of_a_choice_gives_nothing_away() -> None:
    """The right one is the longest no more often than by chance and a bit, and has every place among the letters."""
    ranks, places = Counter[int](), Counter[int]()
    for prompt in load_prompts():
        choices = sorted(prompt.shuffle(0), key=len)
        ranks[choices.index(prompt.right)] += 1
        places[prompt.shuffle(0).index(prompt.right)] += 1
    assert max(ranks.values()) <= 40 and min(ranks[0], ranks[1], ranks[2]) >= 15, ranks
    assert max(places.values()) <= 40 and min(places[0], places[1], places[2]) >= 15, places


def read_html(html: str) -> str:
    """The text of a card, as a reader sees it."""
    return unescape(re.sub(r"<style>.*?</style>|<[^>]*>", "", html, flags=re.DOTALL))


@pytest.mark.parametrize("prompt", load_prompts(), ids=lambda prompt: prompt.id)
def test_nothing_that_is_shown_before_has_the_answer(prompt: Prompt) -> None:
    review = Review([(prompt, Standing())], DAY, 0, None, lambda *_: None)
    before = [prompt.text, repr(review), review.to_text(), read_html(review._repr_html_()), review.sentence]
    for choice in ("z", "", "0"):
        with pytest.raises(LakeError) as raised:
            review.answer(choice)
        before.append(f"{raised.value} {raised.value.hint}")
    shown = [text for text in before if all(wrong in text for wrong, _ in prompt.wrong)]
    assert [text for text in before if prompt.right in text] == shown and len(shown) == 2, "the two cards"
    for text in before:
        assert prompt.because not in text and prompt.heading not in text
        assert not any(idea.name in text or idea.sentence in text for _, idea in prompt.wrong)
    assert review.left == 1, "a choice that there is not is no answer"


def test_a_wrong_choice_names_its_misconception_and_a_right_one_its_reason() -> None:
    review = ll.review("02-iceberg", most=2, today=DAY)
    prompt = find_prompt(review)
    wrong, idea = prompt.wrong[0]
    reply = review.answer(review.letters[review.choices.index(wrong)])
    assert not reply and reply.misconception == idea and idea.sentence in reply.sentence
    assert all(text in reply.to_text() for text in (idea.name, prompt.right, prompt.heading, "2026-03-02"))
    prompt = find_prompt(review)
    reply = review.answer(prompt.right)
    assert reply and prompt.because in repr(reply) and reply.misconception is None
    assert review.left == 0 and review.question == "" and review.choices == ()
    assert "1 of 2 right" in review.sentence and "2026-03-02" in review.sentence
    assert idea.name in review.to_text() and idea.sentence in read_html(review._repr_html_())
    with pytest.raises(LakeError, match="no question is left"):
        review.answer("a")


def answer_all(review: Review, *, is_right: bool) -> None:
    while review.left:
        prompt = find_prompt(review)
        review.answer(prompt.right if is_right else prompt.wrong[0][0])


def test_a_question_comes_again_after_a_day_a_week_and_a_month() -> None:
    day = DAY
    first = ll.review("11-health-check", today=day)
    assert first.left == 1 and not first.is_again
    answer_all(first, is_right=True)
    for days in INTERVALS:
        assert ll.review("11-health-check", today=day + timedelta(days=days - 1)).left == 0
        day += timedelta(days=days)
        again = ll.review("11-health-check", today=day)
        assert again.left == 1 and again.is_again and "another day" in again.to_text()
        answer_all(again, is_right=True)
    last = ll.review("11-health-check", today=day + timedelta(days=1000))
    assert last.left == 0 and "nothing is left to ask" in repr(last)


def test_after_a_wrong_answer_it_begins_with_a_day() -> None:
    answer_all(ll.review("11-health-check", today=DAY), is_right=True)
    answer_all(ll.review("11-health-check", today=DAY + timedelta(days=1)), is_right=True)
    answer_all(ll.review("11-health-check", today=DAY + timedelta(days=8)), is_right=False)
    assert ll.review("11-health-check", today=DAY + timedelta(days=8)).left == 0
    assert ll.review("11-health-check", today=DAY + timedelta(days=9)).left == 1


def test_what_is_due_comes_first_and_then_what_is_new() -> None:
    first = ll.review(most=3, today=DAY)
    asked = [prompt.id for prompt in first.waiting]
    assert asked == [prompt.id for prompt in load_prompts()[:3]] and first.more == 77
    answer_all(first, is_right=True)
    second = ll.review(most=5, today=DAY + timedelta(days=1))
    assert [prompt.id for prompt in second.waiting] == [prompt.id for prompt in load_prompts()[:5]]
    assert second.is_again and second.skip().left == 5 and second.waiting[-1].id == asked[0]


def test_the_choices_come_in_another_order_each_time() -> None:
    orders = {prompt.shuffle(times) for prompt in load_prompts()[:10] for times in range(4)}
    assert len(orders) > 20
    assert load_prompts()[0].shuffle(0) == load_prompts()[0].shuffle(0)


def test_answers_of_no_day_or_question_are_left_out() -> None:
    answer_all(ll.review("11-health-check", today=DAY), is_right=True)
    with find_journal().open("a") as file:
        file.write('{"kind": "review", "question": "health-tag", "right": true, "on": "yesterday"}\n')
        file.write('{"kind": "review", "question": "no-such", "right": true, "on": "2026-03-01"}\n')
    assert ll.review("11-health-check", today=DAY + timedelta(days=1)).left == 1
    assert len(ll.review(most=100, today=DAY).waiting) == 79


def test_mistakes_are_said_in_a_sentence() -> None:
    with pytest.raises(UnknownName, match="02-iceberg"):
        ll.review("02-icebreg")
    for most in (0, -1, True, "ten"):
        with pytest.raises(WrongArgument, match="above zero"):
            ll.review(most=most)  # type: ignore[arg-type]
    review = ll.review(today=DAY)
    block_journal()
    with pytest.raises(NotWritten, match="cannot be written down"):
        review.answer("a")
    assert review.left == 10 and review.replies == ()
