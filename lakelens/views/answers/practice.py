"""The cards of practice: a question, a verdict, a hint, a worked answer, a quiz; how a number becomes bytes, in boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from lakelens.options import display
from lakelens.practice.encodings import Encoding, Row
from lakelens.practice.exercise import (
    MASTERY,
    Drill,
    Exercise,
    Exercises,
    Hint,
    Quiz,
    Solution,
    Turn,
    Verdict,
)
from lakelens.practice.ladder import Climb, Ladder
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Block, Body, Card, Cell, Fact, Note, Picture, Role
from lakelens.views.describe import describe
from lakelens.views.hexdump.text import render_bytes_text
from lakelens.views.svg import FONT, INKS, write_document, write_element

_CALLS = ".check(answer), .hint(), .solution()"

_STYLE = (
    f":root{{{INKS};--a:light-dark(#0b62c4,#6cb6ff)}}text{{{FONT};fill:var(--m)}}"
    ".ll-in{font:13px ui-monospace,'Liberation Mono',monospace;fill:var(--f);text-anchor:middle}"
    ".ll-on{fill:var(--a);font-weight:700}"
    "rect{fill:none;stroke:var(--m);stroke-opacity:.6}.ll-mark{stroke:var(--a);stroke-opacity:1;stroke-width:2}"
)
_CHARACTER = 8.0  # pixels, in a box
_LEFT = 172  # pixels of the labels
_HIGH, _GAP = 26, 14  # pixels of a row, and between rows
_LEAST = 24  # pixels of a box


@describe.register
def card_of_exercise(exercise: Exercise, detail: int = 1) -> Card:
    """Show the question, what to look at, and what kind of answer is expected; never the answer."""
    return Card("Exercise", f"{exercise.name}: {exercise.title}", body=tuple(_list_exhibits(exercise)))


@describe.register
def card_of_drill(drill: Drill, detail: int = 1) -> Card:
    """Show the question that is asked, and how many answers were right in a row."""
    marks = "●" * min(drill.streak, MASTERY) + "○" * max(0, MASTERY - drill.streak)
    facts = [Fact("in a row", Cell(f"{marks} {drill.streak}", "add" if drill.is_mastered else ""))]
    if drill.is_mastered:
        facts.append(Fact("mastery", Cell(f"reached: {MASTERY} right in a row", "add")))
    said = f"{drill.subject} {drill.exercise.number} of seed {drill.seed}: {drill.exercise.title}"
    return Card("Drill", said, facts=tuple(facts), body=tuple(_list_exhibits(drill.exercise)))


@describe.register
def card_of_turn(turn: Turn, detail: int = 1) -> Card:
    """Show what was said of an answer, and how far it is to mastery."""
    return Card(
        "Right" if turn else "Not yet",
        wording.clean(f"{turn.verdict.exercise}: {turn.sentence}"),
        role="add" if turn else "warn",
    )


def _list_exhibits(exercise: Exercise) -> list[Body]:
    """List what an exercise asks, and what there is to look at."""
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
    return body


@describe.register
def card_of_exercises(exercises: Exercises, detail: int = 1) -> Card:
    """The subjects and what each exercise practises."""
    rows = [
        (
            cells.code(exercise.subject),
            cells.number(exercise.number),
            cells.text(exercise.title),
            cells.text(exercise.question),
        )
        for exercise in exercises
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
        (cells.code(step.field), Cell(step.value, "exact"), Cell(step.why, "code")) for step in solution.steps
    ]
    body: list[Body] = [cells.grid(("part", "value", "because"), rows, is_open=True)]
    if solution.has_bytes:
        body.append(Block(render_bytes_text(solution.bytes_view(), 1)))
    return Card("Solution", f"of {solution.exercise}", body=tuple(body))


@describe.register
def card_of_quiz(quiz: Quiz, detail: int = 1) -> Card:
    """The questions, and which of them are answered right."""
    rows = []
    for n, question in enumerate(quiz, 1):
        state = quiz.state(n)
        role: Role = "add" if state == "right" else "warn" if state == "not yet" else "mute"
        rows.append((cells.number(n), Cell(question.question), Cell(state, role)))
    grid = cells.grid(("n#", "question", "state!"), rows, is_open=True)
    body = (grid, cells.hint("a question, then its answer", ".question(1), .check(1, answer)"))
    return Card("Quiz", f"{quiz.title}: {quiz.score} of {len(quiz)} right", body=body)


@describe.register
def card_of_ladder(ladder: Ladder, detail: int = 1) -> Card:
    """Show the steps: what a reader is asked, and on which table it is tried."""
    rows = [
        (
            cells.number(step.number),
            Cell(step.title),
            cells.code(step.call),
            Cell(step.text),
            cells.code(step.sample),
        )
        for step in ladder.steps
    ]
    with display.using(max_rows=max(display.max_rows, len(rows))):
        grid = cells.grid(("n#", "step!", "asks", "gives", "tried on"), rows, is_open=True)
    body = (grid, cells.hint("try a file of yours", '.run("mine.py")'))
    return Card(
        "Ladder", f"{wording.plural(len(rows), 'step')} to a reader of {ladder.format} of your own", body=body
    )


@describe.register
def card_of_climb(climb: Climb, detail: int = 1) -> Card:
    """Show how far a reader came: the first difference, where it is stored, and the rule of the format behind it."""
    share = f"{climb.passed} of {wording.plural(climb.total, 'step')} passed"
    if climb.step is None:
        return Card("Climb", f"{climb.format}: {share}", role="add")
    facts = [
        Fact("step", Cell(f"{climb.step.number}, {climb.step.title}")),
        Fact("call", cells.code(climb.step.call)),
        Fact("table", cells.code(climb.table)),
        Fact("gives", Cell(climb.step.text)),
        Fact("difference", Cell(wording.clean(climb.difference, 400), "warn")),
    ]
    if climb.file:
        facts.append(Fact("stored in", cells.code(wording.clean(climb.file))))
    body = (Note(climb.rule),)
    return Card("Climb", f"{climb.format}: {share}", facts=tuple(facts), body=body, role="warn")


@describe.register
def card_of_encoding(encoding: Encoding, detail: int = 1) -> Card:
    """Show how a number becomes bytes."""
    shown = f"{encoding.name}: {encoding.value} is {encoding.data.hex(' ')}, {wording.plural(len(encoding.data), 'byte')}"
    rows = [
        (
            cells.text(row.label),
            Cell(" ".join(f"[{box.text}]" if box.is_marked else box.text for box in row.boxes), "exact"),
        )
        for row in encoding.rows
    ]
    grid = cells.grid(("step", "boxes, marked ones in brackets"), rows, is_open=True)
    return Card(
        "Encoding", shown, body=(Note(encoding.paragraph), Picture(draw_boxes(encoding), shown), grid)
    )


def draw_boxes(encoding: Encoding) -> str:
    """Draw the rows of boxes as SVG; rows of equally many boxes stand in columns."""
    widths = [_measure_boxes(row, encoding.rows) for row in encoding.rows]
    width = round(max(sum(boxes) + 4 * len(boxes) for boxes in widths) + _LEFT + 4)
    height = len(encoding.rows) * (_HIGH + _GAP)
    tops = range(4, height, _HIGH + _GAP)
    drawn = chain.from_iterable(map(_draw_row, encoding.rows, widths, tops))
    return write_document((width, height), _STYLE, *drawn)


def _measure_boxes(row: Row, rows: Sequence[Row]) -> list[float]:
    """Measure the boxes of a row: each is as wide as the widest of those above and below."""
    alike = [other.boxes for other in rows if len(other.boxes) == len(row.boxes)]
    return [
        max(_LEAST, *(len(box.text) * _CHARACTER + 10 for box in column))
        for column in zip(*alike, strict=True)
    ]


def _draw_row(row: Row, widths: Sequence[float], top: int) -> Iterator[str]:
    yield write_element("text", {"x": 0, "y": top + 17}, text=row.label)
    left = float(_LEFT)
    for box, wide in zip(row.boxes, widths, strict=True):
        mark, kind = ({"class": "ll-mark"}, "ll-in ll-on") if box.is_marked else ({}, "ll-in")
        place = {"x": f"{left:.1f}", "y": top, "width": f"{wide:.1f}", "height": _HIGH - 2, "rx": 3}
        yield write_element("rect", {**mark, **place})
        at = {"class": kind, "x": f"{left + wide / 2:.1f}", "y": top + 17}
        yield write_element("text", at, text=box.text)
        left += wide + 4
