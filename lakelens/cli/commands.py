"""The verbs of the command line. A user's mistake ends with status 2 and one line; nothing is written to a table."""

from __future__ import annotations

import sys
from pathlib import Path

import rich_click as click

import lakelens as ll
from lakelens.cli.bytes_command import show_bytes
from lakelens.errors import LakeError
from lakelens.views.terminal import print_view


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(ll.__version__, prog_name="lakelens")
def commands() -> None:
    """Open a data lake table from nothing but its files and see what it is made of."""


@commands.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), default=Path("demo"))
def demo(directory: Path) -> None:
    """Insert one line into a Hive, an Iceberg and a Paimon table on local Spark, and show what each wrote."""
    from lakelens.cli.demo import run_demo

    run_demo(directory)


@commands.command()
@click.argument("path")
@click.option("-s", "--snapshot", help="id, branch, tag or time: show this snapshot instead of the table")
@click.option(
    "-d", "--detail", type=click.IntRange(0, 3), default=1, show_default=True, help="how much to show"
)
def show(path: str, snapshot: str | None, detail: int) -> None:
    """Show what a table is made of."""
    table = ll.open(path)
    print_view(table if snapshot is None else table.snapshot(snapshot), detail)


@commands.command()
@click.argument("path")
def tree(path: str) -> None:
    """Show every file in a table's directory with its role."""
    print_view(ll.open(path).tree(), 2)


@commands.command()
@click.argument("root")
@click.option("--depth", default=4, show_default=True, help="how many levels to look at")
def find(root: str, depth: int) -> None:
    """List the tables below a directory."""
    print_view(ll.find(root, depth=depth), 2)


@commands.command()
@click.argument("path")
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
def html(path: str, target: Path) -> None:
    """Write a self-contained HTML page about a table."""
    ll.open(path).to_html(target)
    click.echo(str(target))


commands.add_command(show_bytes)


def main() -> None:
    """Run the command line; errors of a lake become one line on standard error."""
    try:
        commands(standalone_mode=True)
    except LakeError as error:
        click.echo(f"lakelens: {_neutralise(str(error))}", err=True)
        sys.exit(2)


def _neutralise(text: str) -> str:
    """Control characters shown, not obeyed: the text may quote what lies in a lake."""
    return "".join(c if c.isprintable() or c == " " else f"\\x{ord(c):02x}" for c in text)
