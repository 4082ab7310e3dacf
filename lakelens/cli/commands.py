"""The verbs of the command line. A user's mistake ends with status 2 and one line; nothing is written to a table.

A verb is a click command in a module of its own, which imports what is heavy where it is needed; `VERBS` names it. The
verb of a question is made from its declaration, and so is that of a question that another package adds.
"""

from __future__ import annotations

from pathlib import Path

import rich_click as click

import lakelens as ll
from lakelens.answers.own import QUESTIONS
from lakelens.cli.completing import completion
from lakelens.cli.exits import Verbs
from lakelens.cli.file_command import files, show_bytes
from lakelens.cli.map_command import bug, draw_map, lifetimes, skeleton
from lakelens.cli.place_commands import find, inventory, samples, watch
from lakelens.cli.practice_command import exercise, quiz
from lakelens.cli.questions import make_verb
from lakelens.cli.serve_command import mcp, serve, tab
from lakelens.cli.table_commands import (
    diff,
    findings,
    history,
    html,
    manifests,
    refs,
    schema,
    show,
    snapshots,
    tree,
)

# how `lakelens --help` arranges the verbs; one that is missing here stands at the end
_GROUPS = [
    {
        "name": "A table",
        "commands": [
            *(
                "show",
                "map",
                "schema",
                "refs",
                "findings",
                "check",
                "health",
                "explain",
                "space",
                "dry-run",
                "sql",
                "html",
            )
        ],
    },
    {
        "name": "Its files and their bytes",
        "commands": ["manifests", "files", "tree", "bytes", "skeleton", "bug"],
    },
    {"name": "Its history", "commands": ["snapshots", "history", "diff", "biography", "row", "watch"]},
    {"name": "Many tables", "commands": ["serve", "tab", "mcp", "find", "inventory", "samples", "demo"]},
    {"name": "To learn with", "commands": ["lifetimes", "exercise", "quiz"]},
]


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "rich_help_config": {"command_groups": {"lakelens": _GROUPS}},
    },
    epilog="lakelens show sample:iceberg  ·  lakelens files sample:paimon --json  ·  lakelens demo",
)
@click.version_option(ll.__version__, prog_name="lakelens")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """Open a data lake table from nothing but its files and see what it is made of.

    PATH is a directory or a URL, an Iceberg *.metadata.json file, or sample:NAME, one of the tables that ship with lakelens.
    Exit status: 0; 1 when the table is damaged in what was read, check found a difference, or an answer is wrong; 2 for a
    mistake, with one line that says what to do.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@click.command(epilog="lakelens demo playground")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), default=Path("demo"))
def demo(directory: Path) -> None:
    """Insert one line into a Hive, an Iceberg, a Paimon and a Delta table on local Spark, and show what each wrote."""
    from lakelens.cli.demo import run_demo

    run_demo(directory)


VERBS = (
    *(show, snapshots, history, diff),
    *map(make_verb, QUESTIONS.values()),
    *(manifests, files, schema, refs),
    *(tree, findings, show_bytes, html),
    *(serve, tab, mcp, find, inventory, watch, samples, demo, completion),
    *(skeleton, bug, draw_map, lifetimes, exercise, quiz),
)
for _verb in VERBS:
    commands.add_command(_verb)


def main() -> None:
    """Run the command line."""
    commands(prog_name="lakelens")
