"""The verbs about places: find a warehouse's tables, list the samples, watch what a command does to storage."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from lakelens.spark.warehouse.inventory import Inventory

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


# `lakelens inventory`: what a whole warehouse is made of, gathered by a local Spark session of its own.

_ANSWERS = ("check", "health", "space")
_WORTH = ("table", "verdict", "errors", "act", "reclaimable_bytes", "first", "call")
_NUMBERS = ("files", "bytes", "rows", "delete_files", "snapshots", "errors", "act", "reclaimable_bytes")
_COLUMNS = ("table", "format", "files", "bytes", "rows", "delete_files", "snapshots", "location", "error")


@click.command(epilog="lakelens inventory warehouse --target warehouse-inventory")
@click.argument("root")
@click.option("--target", help="a directory that keeps the inventory; the next run reads only what is new")
@click.option(
    "--depth", type=click.IntRange(0), default=4, show_default=True, help="how many levels to look at"
)
@click.option(
    "--answers", is_flag=True, help="check each table, its health and space: what is worth doing first"
)
@storage_option
@output_options
def inventory(
    root: str,
    target: str | None,
    depth: int,
    answers: bool,
    storage: tuple[tuple[str, str], ...],
    output: Output,
) -> None:
    """Gather tables, snapshots, manifests, files and findings of a whole warehouse, and list its tables by size.

    Starts Spark on this machine. With --target it can be interrupted and run again: it goes on where it stopped. Ends with
    status 1 when a table cannot be opened or a manifest not be read.
    """
    import lakelens as ll

    root = unpack(root)
    remember_place(normalise(root))
    # a target without a slash would be a database of a catalog, and this session has no catalogs
    kept = None if target is None else target if "://" in target else str(Path(target).absolute())
    with tempfile.TemporaryDirectory(prefix="lakelens-spark-") as scratch:
        spark = ll.spark.session(scratch, formats=())
        try:
            taken = ll.spark.inventory(
                root if "/" in root or "\\" in root else f"./{root}",
                spark,
                kept,
                depth=depth,
                answers=_ANSWERS if answers else (),
                storage_options=dict(storage) or None,
                progress=not output.as_json,
            )
            with output:
                _write(taken, output, answers=answers)
        finally:
            spark.stop()
    summary = taken.summary
    if summary is not None and (summary.broken or summary.unread):
        failed = [
            (summary.broken, "cannot be opened", "table"),
            (summary.unread, "cannot be read", "manifest"),
        ]
        counts = [f"{count:,} {noun}{'s' * (count != 1)} {what}" for count, what, noun in failed if count]
        end_with(f"{', '.join(counts)}; try: lakelens findings PATH", DAMAGED)


def _write(taken: Inventory, output: Output, *, answers: bool) -> None:
    rows = (row.asDict() for row in taken.sizes().select(*_COLUMNS).toLocalIterator())
    worth = (row.asDict() for row in taken.worth_doing().toLocalIterator()) if answers else None
    if output.as_json:
        summary: dict[str, Any] = {} if taken.summary is None else asdict(taken.summary)
        summary.pop("seconds", None)
        listed = {} if worth is None else {"worth_doing": worth}
        output.write_json({"summary": summary, "target": taken.target, "tables": rows, **listed})
        return
    output.write_line(str(taken.summary))
    _write_rows(_COLUMNS, rows, output)
    if worth is not None:
        output.write_line("worth doing, the first first:")
        _write_rows(_WORTH, worth, output)


def _write_rows(names: Sequence[str], rows: Iterator[dict[str, Any]], output: Output) -> None:
    from lakelens.views.card.model import Cell, Column

    long = ("location", "error", "first", "call")
    columns = tuple(Column(name, is_short=name not in long, is_number=name in _NUMBERS) for name in names)
    output.write_rows(
        columns, (tuple(Cell("" if row[n] is None else _format(row[n])) for n in names) for row in rows)
    )


def _format(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
