"""The verb `dry-run`: what a maintenance procedure would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import detail_option, output_options, table_options
from lakelens.cli.completing import complete_procedure
from lakelens.cli.output import Output
from lakelens.errors import LakeError

if TYPE_CHECKING:
    from lakelens.analysis.dry_run import Plan
    from lakelens.model.table import Table

_FILE = ("action", "role", "path", "relative_path", "size_bytes", "why")
_OPTION = ("name", "kind", "meaning", "default", "is_required")


@click.command(
    "dry-run",
    epilog="lakelens dry-run sample:iceberg expire_snapshots -o older_than=2030-01-01 -o retain_last=2",
)
@table_options
@click.argument("procedure", metavar="[PROCEDURE]", required=False, shell_complete=complete_procedure)
@click.option(
    "-o",
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="an option of the procedure, as the engine calls it; may be given more than once",
)
@detail_option
@output_options
def dry_run(
    table: Table, procedure: str | None, options: tuple[str, ...], detail: int, output: Output
) -> None:
    """Show what a maintenance procedure would do, before anyone runs it. Nothing is written.

    Without PROCEDURE the procedures of the table's format are listed, with their options.
    """
    if procedure is None:
        _list_procedures(table, output)
        return
    plan = table.dry_run(procedure, **dict(map(_split, options)))
    if output.as_json:
        output.write_answer(table, **_describe(plan))
    else:
        output.show_view(plan, detail)


def _split(text: str) -> tuple[str, str]:
    name, is_set, value = text.partition("=")
    if not is_set or not name.strip():
        raise LakeError(f"{text!r} is no option with its value", hint="-o retain_last=5")
    return name.strip(), value


def _list_procedures(table: Table, output: Output) -> None:
    if output.as_json:
        output.write_answer(table, procedures=[_describe_procedure(one) for one in table.procedures.values()])
        return
    output.write_pieces(f"{line}\n" for line in _list_lines(table))


def _list_lines(table: Table) -> Iterator[str]:
    """The procedures and their options, one a line."""
    if not table.procedures:
        yield f"a {table.traits.title} table has no maintenance procedures"
    for procedure in table.procedures.values():
        yield f"{procedure.name}  {procedure.meaning}"
        for option in procedure.options:
            default = (
                "required" if option.is_required else f"default: {option.default}" if option.default else ""
            )
            yield f"  {option.name}={option.kind}  {option.meaning}{f' ({default})' if default else ''}"


def _describe_procedure(procedure: Any) -> dict[str, Any]:
    from lakelens.cli.facts import pick

    return {
        **pick(procedure, "name", "title", "meaning"),
        "options": [pick(option, *_OPTION) for option in procedure.options],
    }


def _describe(plan: Plan) -> dict[str, Any]:
    from lakelens.cli.facts import pick
    from lakelens.model.facts.facts import FINDING, list_facts

    return {
        "procedure": plan.procedure.name,
        "call": plan.call,
        **pick(plan, "changes", "refusal", "becomes", "freed_bytes", "is_certain"),
        "deleted": [pick(one, "role", "files", "size_bytes") for one in plan.deleted],
        "replaced": [pick(one, "role", "files", "size_bytes") for one in plan.replaced_counts],
        "writes": [list_facts(plan.writes.facts, one) for one in plan.writes],
        "snapshots_lost": [list_facts(plan.snapshots_lost.facts, one) for one in plan.snapshots_lost],
        "kept": [list_facts(plan.kept.facts, one) for one in plan.kept],
        "groups": [list_facts(plan.groups.facts, one) for one in plan.groups],
        "files": ({name: row[name] for name in _FILE} for row in plan.to_arrow().to_pylist()),
        "assumptions": [pick(one, "text", "is_known") for one in plan.assumptions],
        "notes": list(plan.notes),
        "problems": [list_facts(FINDING, one) for one in plan.findings],
    }
