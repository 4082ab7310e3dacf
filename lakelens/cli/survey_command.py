"""The verb of a question where PATH holds many tables: each is asked, and the worst are shown first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import normalise, unpack
from lakelens.cli.exits import DAMAGED, end_with, format_error, remember_place
from lakelens.cli.output import Output
from lakelens.model.facts.json_values import make_plain

if TYPE_CHECKING:
    from lakelens.answers.question import Question
    from lakelens.model.warehouse.survey import TableSurvey

_OF_ONE = ("format", "branch", "version", "catalog")


def ask_many(
    question: Question,
    path: str,
    *,
    storage: tuple[tuple[str, str], ...],
    enclosed: bool,
    detail: int,
    as_json: bool,
    pages: bool,
    **options: Any,
) -> bool:
    """Ask the tables below a directory; False where none is there. With `--json` each table is one line.

    Ends with status 1 where a table is damaged or cannot be answered for.
    """
    import lakelens as ll

    root = unpack(path)
    remember_place(normalise(root))
    tables = ll.find(root, storage_options=dict(storage) or None, enclosed=enclosed)
    if not len(tables):
        return False
    asked = {**dict.fromkeys(_OF_ONE), **{option.name: option.default for option in question.options}}
    for name, given in options.items():
        if given not in (asked.get(name), None, (), False):
            raise click.UsageError(f"{name} is asked of one table, and {path} holds {len(tables):,}")
    survey = tables.ask(question.name)
    with Output(as_json=as_json, pages=pages) as output:
        if as_json:
            write_lines(survey, output)
        else:
            output.show_view(survey, detail)
    damaged = survey.damaged
    if len(damaged):
        more = f" and {len(damaged) - 1:,} more" if len(damaged) > 1 else ""
        first = damaged[0]
        why = first.error or first.figures.get("verdict") or "damaged"
        end_with(f"{first.path}: {why}{more}; try: lakelens check '{first.path}'", DAMAGED)
    if survey.problems:
        end_with(format_error(survey.problems[0]), DAMAGED)
    return True


def write_lines(survey: TableSurvey, output: Output) -> None:
    """Write one JSON document a line, each a table, in path order; everything beyond ASCII is escaped."""
    for row in survey.to_arrow().to_pylist():
        output.write_pieces([json.dumps(make_plain(row)), "\n"])
