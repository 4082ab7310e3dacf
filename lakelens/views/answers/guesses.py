"""The cards of guesses and reviews: a guess, a guess beside the truth, how often one was right; a question, a reply."""

from __future__ import annotations

from lakelens.options import display
from lakelens.practice.guesses.calibration import Calibration, Guessed, name_level
from lakelens.practice.guesses.guess import Guess, Look
from lakelens.practice.guesses.review import Reply, Review
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Body, Card, Cell, Fact, Note
from lakelens.views.describe import describe


@describe.register
def card_of_guess(guess: Guess, detail: int = 1) -> Card:
    """Show what is asked, and what was written down."""
    written = guess.written
    if written is None:
        body = (cells.hint("write it down before you look", ".write(answer, sure=75)"),)
        return Card("Guess", wording.clean(guess.question), body=body)
    return Card("Guess", wording.clean(guess.question), facts=_list_written(written))


@describe.register
def card_of_look(look: Look, detail: int = 1) -> Card:
    """Show a guess beside the truth."""
    written, outcome = look.guess.written, look.is_right
    facts = [Fact("your guess", Cell("none"))] if written is None else list(_list_written(written))
    facts.append(Fact("it is", Cell(wording.clean(look.shown))))
    if outcome is not None:
        cell = Cell("right", "add") if outcome else Cell("not what you guessed", "warn")
        facts.append(Fact("so it was", cell))
    body = [cells.hint("did you have it?", ".judge(True), .judge(False)")] if look.is_to_judge else []
    return Card("Look", wording.clean(look.guess.question), facts=tuple(facts), body=tuple(body))


def _list_written(written: Guessed) -> tuple[Fact, ...]:
    return (
        Fact("your guess", Cell(wording.clean(written.shown))),
        Fact("how sure", Cell(name_level(written.sure))),
    )


@describe.register
def card_of_calibration(calibration: Calibration, detail: int = 1) -> Card:
    """Show how often guesses were right and how sure one was, then each guess beside the truth."""
    said = f"{calibration.notebook or 'all notebooks'}: {calibration.sentence}"
    bands = [
        (Cell(band.word), cells.number(band.right), cells.number(band.total)) for band in calibration.bands
    ]
    states = {True: Cell("right", "add"), False: Cell("not so", "warn"), None: Cell("not looked yet", "mute")}
    rows = [
        (
            Cell(wording.clean(guess.question)),
            Cell(wording.clean(guess.shown)),
            Cell(f"{guess.sure:g} %"),
            Cell(wording.clean(guess.truth)),
            states[guess.is_right],
        )
        for guess in calibration.guesses
    ]
    body: list[Body] = []
    if bands:
        body.append(cells.grid(("when you were", "right#", "guesses#"), bands, is_open=True))
    if rows:
        with display.using(max_rows=max(display.max_rows, len(rows))):
            body.append(cells.grid(("guess", "yours", "sure", "it was", "so"), rows, is_open=True))
    else:
        body.append(
            Note("What you guess is kept in a file of your own, and counts here once you looked.", "mute")
        )
    body.append(cells.hint("ideas of the course, asked again after a day, a week and a month", "ll.review()"))
    return Card("Calibration", wording.clean(said), body=tuple(body))


@describe.register
def card_of_reply(reply: Reply, detail: int = 1) -> Card:
    """Show what was said of an answer, what is right, and when the question comes again."""
    due = "not asked again" if reply.due is None else f"again on {reply.due.isoformat()}"
    place = Note(f"{reply.notebook}, “{reply.heading}”; {due}.", "mute")
    if reply.misconception is None:
        return Card("Right", reply.because, body=(Note(reply.question), place), role="add")
    body = (Note(reply.misconception.sentence), Note(f"{reply.right}: {reply.because}"), place)
    return Card("A misconception", f"“{reply.misconception.name}”", body=body, role="warn")


@describe.register
def card_of_review(review: Review, detail: int = 1) -> Card:
    """Show the question that is asked with its choices; at the end the ideas to think about once more."""
    if not review.left:
        ideas = [(Cell(idea.name), Cell(idea.sentence)) for idea in review.misconceptions]
        grid = cells.grid(("to think about once more", "what is so"), ideas, is_open=True)
        return Card("Review", review.sentence, body=(grid,) if ideas else ())
    rows = [
        (cells.code(letter), Cell(text)) for letter, text in zip(review.letters, review.choices, strict=True)
    ]
    body: list[Body] = [Note(review.question)]
    if review.is_again:
        body.append(Note("You have answered it on another day.", "mute"))
    body += [
        cells.grid(("answer!", "choice"), rows, is_open=True),
        cells.hint("answer", '.answer("a"), .skip()'),
    ]
    return Card("Review", review.sentence, body=tuple(body))
