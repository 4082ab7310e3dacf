"""The cards of practice: a question with what to look at, a verdict, a hint, a worked answer, a self-test and its score."""

from __future__ import annotations

from lakelens.options import display
from lakelens.practice.exercise import Exercise, Exercises, Hint, Solution, Verdict
from lakelens.practice.quiz import Quiz
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Block, Body, Card, Cell, Note, Role
from lakelens.views.describe import describe
from lakelens.views.hexdump.text import render_bytes_text

_CALLS = ".check(answer), .hint(), .solution()"


@describe.register
def card_of_exercise(exercise: Exercise, detail: int = 1) -> Card:
    """The question, what to look at, and what kind of answer is expected; never the answer."""
    body: list[Body] = [Note(exercise.question)]
    for exhibit in exercise.exhibits:
        rows = [
            tuple(
                Cell(wording.clean(text), "exact" if text[:1].isdigit() or "." in text else "code")
                for text in row
            )
            for row in exhibit.rows
        ]
        with display.using(max_rows=max(display.max_rows, len(rows), 1)):  # half a listing has no answer
            grid = cells.grid(exhibit.columns, rows, is_open=True)
        body += [Note(f"{exhibit.title}:", "mute"), grid]
    body += [
        Note(f"Answer with {exercise.expects}."),
        Note(f"From {exercise.origin}.", "mute"),
        cells.hint("then", _CALLS),
    ]
    return Card("Exercise", f"{exercise.name}: {exercise.title}", body=tuple(body))


@describe.register
def card_of_exercises(exercises: Exercises, detail: int = 1) -> Card:
    """The subjects and what each exercise practises."""
    rows = [
        (cells.code(one.subject), cells.number(one.number), cells.text(one.title), cells.text(one.question))
        for one in exercises
    ]
    with display.using(max_rows=max(display.max_rows, len(rows), 1)):
        grid = cells.grid(("subject!", "n#", "practises", "question"), rows, is_open=True)
    many = wording.plural(len(exercises), "exercise")
    sentence = f"{many} on {wording.plural(len(exercises.subjects), 'subject')}, each from easy to hard"
    return Card("Exercises", sentence, body=(grid, cells.hint("one of them", 'll.exercise("binary-row", 1)')))


@describe.register
def card_of_verdict(verdict: Verdict, detail: int = 1) -> Card:
    """Right, or the first wrong part and why."""
    noun = "Right" if verdict else "Not yet"
    said = f"{verdict.exercise}: {verdict.sentence}"
    return Card(noun, wording.clean(said), role="add" if verdict else "warn")


@describe.register
def card_of_hint(hint: Hint, detail: int = 1) -> Card:
    """One hint."""
    return Card("Hint", f"{hint.number} of {hint.total}: {hint.text}")


@describe.register
def card_of_solution(solution: Solution, detail: int = 1) -> Card:
    """Each part of the answer and how the bytes say so, then every byte with its name."""
    rows = [
        (cells.code(one.field), Cell(one.value, "exact"), Cell(one.why, "code")) for one in solution.steps
    ]
    body: list[Body] = [cells.grid(("part", "value", "because"), rows, is_open=True)]
    if solution.has_bytes:
        body.append(Block(render_bytes_text(solution.bytes_view(), 1)))
    return Card("Solution", f"of {solution.exercise}", body=tuple(body))


@describe.register
def card_of_quiz(quiz: Quiz, detail: int = 1) -> Card:
    """The questions, and which of them are answered right."""
    rows = []
    for n, one in enumerate(quiz, 1):
        state = quiz.state(n)
        role: Role = "add" if state == "right" else "warn" if state == "not yet" else "mute"
        rows.append((cells.number(n), Cell(one.question), Cell(state, role)))
    grid = cells.grid(("n#", "question", "state!"), rows, is_open=True)
    body = (grid, cells.hint("a question, then its answer", ".question(1), .check(1, answer)"))
    return Card("Quiz", f"{quiz.title}: {quiz.score} of {len(quiz)} right", body=body)
