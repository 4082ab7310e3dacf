"""The verbs `exercise` and `quiz`: questions on bytes that engines wrote, and a check that names the first wrong part."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import rich_click as click
from click import get_current_context

from lakelens.cli.asked import output_options
from lakelens.cli.exits import DAMAGED
from lakelens.cli.output import Output

if TYPE_CHECKING:
    from lakelens.practice.exercise import Exercise

_ANSWER = "an answer, as JSON or as Python writes it: [1, 'one'], {'id': 1}, {3, 5}; anything else is a text"
_MOST = 100_000  # characters of an answer


def read_answer(text: str) -> Any:
    """Read what was answered: JSON, a literal of Python, else the text itself.

    >>> read_answer("[1, null]"), read_answer("{3, 5} "), read_answer("v2.metadata.json")
    ([1, None], {3, 5}, 'v2.metadata.json')
    """
    if len(text) > _MOST:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


@click.command(
    epilog="lakelens exercise  ·  lakelens exercise binary-row 3 --hint  ·  "
    "lakelens exercise binary-row 1 --check '[1, \"a\", 1]'"
)
@click.argument("subject", required=False)
@click.argument("n", type=int, default=1)
@click.option("--check", "answer", metavar="ANSWER", help=_ANSWER)
@click.option("--hint", "has_hint", is_flag=True, help="show the first hint as well")
@click.option("--solution", "has_solution", is_flag=True, help="show the worked answer as well")
@output_options
def exercise(
    subject: str | None, n: int, answer: str | None, has_hint: bool, has_solution: bool, output: Output
) -> None:
    """Show an exercise on real bytes, or check an answer to it; without a SUBJECT list them all.

    The subjects are binary-row, bounds, deletion-vector, manifest-list, current-version and files-read, each from easy to
    hard. A wrong answer ends with status 1.
    """
    from lakelens.practice.course import exercise as find

    if subject is not None:
        _answer(find(subject, n), answer, has_hint, has_solution, output)
    elif output.as_json:
        output.write_json({"exercises": [_describe(exercise) for exercise in find()]})
    else:
        output.show_view(find(), 1)


@click.command(epilog="lakelens quiz  ·  lakelens quiz 1 2 --check 'only on main'")
@click.argument("part", type=int, default=1)
@click.argument("n", type=int, required=False)
@click.option("--check", "answer", metavar="ANSWER", help=_ANSWER)
@output_options
def quiz(part: int, n: int | None, answer: str | None, output: Output) -> None:
    """Show the questions of a self-test, one of them, or check an answer to it: part 1 is BinaryRows, 2 the whole course.

    A wrong answer ends with status 1.
    """
    from lakelens.practice.course import quiz as find

    found = find(part)
    if n is not None:
        _answer(found.question(n), answer, False, False, output)
    elif answer is not None:
        raise click.UsageError(
            "--check needs the number of a question, as in lakelens quiz 1 3 --check ANSWER"
        )
    elif output.as_json:
        questions = [_describe(question) for question in found]
        output.write_json({"part": found.part, "title": found.title, "questions": questions})
    else:
        output.show_view(found, 1)


def _answer(found: Exercise, answer: str | None, has_hint: bool, has_solution: bool, output: Output) -> None:
    """Give the exercise, or what is said of an answer; then what was asked for beside it."""
    verdict = None if answer is None else found.check(read_answer(answer))
    if output.as_json:
        document: dict[str, Any] = {"exercise": _describe(found)}
        if verdict is not None:
            said = {"is_right": verdict.is_right, "field": verdict.field, "reason": verdict.reason}
            document["verdict"] = said
        document |= _describe_more(found, has_hint, has_solution)
        output.write_json(document)
    else:
        output.show_view(found if verdict is None else verdict, 1)
        if has_hint:
            output.show_view(found.hint(), 1)
        if has_solution:
            output.show_view(found.solution(), 1)
    if verdict is not None and not verdict:
        get_current_context().exit(DAMAGED)


def _describe(found: Exercise) -> dict[str, Any]:
    exhibits = [
        {
            "title": exhibit.title,
            "columns": list(exhibit.columns),
            "rows": [list(row) for row in exhibit.rows],
        }
        for exhibit in found.exhibits
    ]
    return {
        "subject": found.subject,
        "number": found.number,
        "title": found.title,
        "question": found.question,
        "expects": found.expects,
        "origin": found.origin,
        "exhibits": exhibits,
        "hints": found.hints,
    }


def _describe_more(found: Exercise, has_hint: bool, has_solution: bool) -> Mapping[str, Any]:
    more: dict[str, Any] = {}
    if has_hint:
        more["hint"] = found.hint().text
    if has_solution:
        solution = found.solution()
        more["solution"] = [
            {"field": step.field, "value": step.value, "why": step.why} for step in solution.steps
        ]
    return more
