"""The verbs of questions: each made from its declaration, with its options, its `--json` and its exit status."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.answers.question import Option, Question, load
from lakelens.cli.asked import detail_option, output_options, table_options, unpack
from lakelens.cli.exits import DAMAGED, end_with
from lakelens.errors import LakeError, NotATable

if TYPE_CHECKING:
    from lakelens.cli.output import Output
    from lakelens.model.table import Table


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
            if not load("lakelens.cli.survey_command:ask_many")(question, **options):
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
