"""The verbs of questions: each made from its declaration, with its options, its `--json` and its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.answers.question import Option, Question, load
from lakelens.cli.asked import detail_option, normalise, output_options, table_options, unpack
from lakelens.cli.exits import DAMAGED, end_with, format_error, remember_place
from lakelens.cli.output import Output
from lakelens.errors import LakeError, NotATable
from lakelens.model.facts.json_values import make_plain

if TYPE_CHECKING:
    from lakelens.answers.question import Question
    from lakelens.cli.output import Output
    from lakelens.model.table import Table
    from lakelens.model.warehouse.survey import TableSurvey


def make_verb(question: Question) -> click.Command:
    """Make the verb of a question."""

    def answer(table: Table, detail: int, output: Output, cites: bool = False, **given: Any) -> None:
        if question.menu and given[question.options[0].name] is None:
            described, lines = load(question.menu)(table)
            if output.as_json:
                output.write_answer(table, **described)
            else:
                output.write_pieces(f"{line}\n" for line in lines)
            return
        found = table.ask(question.name, **{o.name: _read(o, given[o.name]) for o in question.options})
        evidence = (
            load("lakelens.evidence.gathering:gather_answer")(table, question, found) if cites else None
        )
        if output.as_json:
            from lakelens.answers.parts import describe

            described = describe(found, question.parts)
            if evidence is not None:
                described["evidence"] = load("lakelens.evidence.gathering:describe_evidence")(evidence)
            output.write_answer(table, **described)
        else:
            shown = found if evidence is None else load("lakelens.evidence.claims:Answered")(found, evidence)
            output.show_view(shown, detail)
        if question.damage and (line := load(question.damage)(table, found)):
            end_with(line, DAMAGED)

    answer.__doc__ = question.summary
    verb: Callable[..., Any] = detail_option(output_options(answer))
    if question.claims:
        words = "say where each claim stands as well: file, place, bytes, value, clause of the specification"
        verb = click.option("--evidence", "cites", is_flag=True, help=words)(verb)
    for option in reversed(question.options):
        verb = _add_option(option)(verb)
    chosen = table_options(verb)
    if not question.figures:
        return click.command(question.verb, epilog=question.epilog or None)(chosen)

    @wraps(chosen)
    def ask(**options: Any) -> None:
        try:
            chosen(**options)
        except NotATable:  # a directory of tables, perhaps
            if not load("lakelens.cli.questions:ask_many")(question, **options):
                raise

    return click.command(question.verb, epilog=question.epilog or None)(ask)


def _add_option(option: Option) -> Callable[..., Any]:
    more: dict[str, Any] = {}
    if option.complete:
        more["shell_complete"] = lambda ctx, param, begun: load(option.complete)(ctx, param, begun)
    if not option.flags:
        metavar = option.metavar or option.name.upper()
        return click.argument(option.name, metavar=metavar, required=option.is_required, **more)
    if option.kind == "flag":
        more["is_flag"] = True
    elif option.kind in ("texts", "pairs"):
        more["multiple"] = True
    else:
        more |= {"default": option.default, "show_default": option.default is not None}
        more |= {"required": option.is_required}
    if option.kind == "number":
        more["type"] = click.IntRange(min=1)
    return click.option(*option.flags, option.name, metavar=option.metavar, help=option.help, **more)


def _read(option: Option, given: Any) -> Any:
    """Read what was given for an option as its answer takes it."""
    if option.kind == "pairs":
        return dict(map(_split, given))
    if option.kind == "place":
        return unpack(given)
    return given or option.default if option.kind == "texts" else given


def _split(text: str) -> tuple[str, str]:
    name, is_set, value = text.partition("=")
    if not is_set or not name.strip():
        raise LakeError(f"{text!r} is no option with its value", hint="-o retain_last=5")
    return name.strip(), value


# The verb of a question where PATH holds many tables: each is asked, and the worst are shown first.

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
