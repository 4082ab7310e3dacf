"""The verbs about places: find a warehouse's tables, list the samples, watch what a command does to storage."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from lakelens.cli.asked import (
    catalog_option,
    enclosed_option,
    find_sample,
    normalise,
    output_options,
    storage_option,
    unpack,
)
from lakelens.cli.completing import complete_path
from lakelens.cli.exits import DAMAGED, end_with, format_error, remember_place, write_error
from lakelens.cli.output import Output
from lakelens.errors import LakeError

_STANDARD_ERROR = 2

if TYPE_CHECKING:
    pass


@click.command(
    epilog="""lakelens find warehouse  ·  lakelens find warehouse --where "columns LIKE '%email%'" --json"""
)
@click.argument("root", required=False)
@click.option(
    "--depth", type=click.IntRange(0), default=4, show_default=True, help="how many levels to look at"
)
@click.option("--sizes", is_flag=True, help="count files and bytes where the newest metadata does not")
@click.option(
    "--where",
    metavar="CONDITION",
    help="only the tables of which a condition in SQL holds: name, format, path, live_rows, files, size_bytes, snapshots, "
    "committed_at, operation, columns, properties, errors, warnings, error",
)
@storage_option
@catalog_option
@enclosed_option
@output_options
def find(
    root: str | None,
    depth: int,
    sizes: bool,
    where: str | None,
    storage: tuple[tuple[str, str], ...],
    catalog: str | None,
    enclosed: bool,
    output: Output,
) -> None:
    """List the tables below a directory, or those of a catalog. What cannot be read ends with status 1.

    With --catalog ROOT is a namespace of it; without ROOT all are listed.
    """
    import lakelens as ll

    if root is None and catalog is None:
        raise click.UsageError("no directory and no catalog to look in")
    root = None if root is None else unpack(root)
    remember_place(root if root is None or catalog is not None else normalise(root))
    options = dict(storage) or None
    found = ll.find(root, depth=depth, storage_options=options, catalog=catalog, enclosed=enclosed)
    if not len(found) and len(found.problems) == 1 and found.problems[0].path == found.root:
        raise found.problems[0]
    if sizes:
        found = found.measure()
    if where is not None:
        found = found.where(where)
    with output:
        if output.as_json:
            from lakelens.cli.facts import describe_catalog

            output.write_json(describe_catalog(found))
        else:
            output.show_view(found, 2)
    if found.problems:
        end_with(format_error(found.problems[0]), DAMAGED)


@click.command(epilog="lakelens samples  ·  lakelens samples iceberg playground")
@click.argument("name", required=False)
@click.argument("directory", required=False, type=click.Path(file_okay=False, path_type=Path))
@output_options
def samples(name: str | None, directory: Path | None, output: Output) -> None:
    """List the small tables that ship with lakelens, or copy the one called NAME into DIRECTORY.

    Wherever a verb takes a PATH, sample:NAME is one.
    """
    import lakelens as ll

    if name is not None:
        place = find_sample(name).unpack(Path() if directory is None else directory)
        with output:
            if output.as_json:
                output.write_json({"samples": iter([{"name": name, "path": str(place)}])})
            else:
                output.write_line(str(place))
        return
    known = ll.sample()
    with output:
        if output.as_json:
            listed = (
                {"name": sample.name, "format": sample.format, "story": sample.story} for sample in known
            )
            output.write_json({"samples": listed})
            return
        from lakelens.views.card.model import Cell, Column

        columns = (Column("sample", is_short=True), Column("format", is_short=True), Column("story"))
        output.write_rows(
            columns, ((Cell(sample.name), Cell(sample.format), Cell(sample.story)) for sample in known)
        )


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="lakelens watch warehouse -- spark-sql -e 'INSERT INTO t VALUES (1)'",
)
@storage_option
@click.option(
    "-d", "--detail", type=click.IntRange(0, 3), default=1, show_default=True, help="how much to show"
)
@output_options
@click.argument("path", shell_complete=complete_path)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def watch(
    path: str, command: tuple[str, ...], storage: tuple[tuple[str, str], ...], detail: int, output: Output
) -> None:
    """Run a command and show what it did to a table, or to a warehouse, which need not exist before.

    What the command writes to standard output goes to standard error. Ends with the command's own status.
    """
    import lakelens as ll

    command = command[1:] if command[0] == "--" else command
    if not command:
        raise click.UsageError("no command after --")
    path = unpack(path)
    remember_place(normalise(path))
    with ll.watch(path, storage_options=dict(storage) or None) as change:
        status = _run(command)
    with output:
        if output.as_json:
            from lakelens.cli.facts import describe_trace

            output.write_json({"command": command, "status": status, **describe_trace(change)})
        else:
            output.show_view(change, detail)
    if status:
        write_error(f"{command[0]}: ended with status {status}; try: what it says above")
        sys.exit(status if status > 0 else 128 - status)


def _run(command: tuple[str, ...]) -> int:
    try:
        return subprocess.run(command, stdout=_STANDARD_ERROR, check=False).returncode
    except (FileNotFoundError, PermissionError) as error:
        raise LakeError(f"cannot run {command[0]!r}: {error.strerror}", hint="a command after --") from None
