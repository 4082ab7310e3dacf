"""`lakelens inventory`: what a whole warehouse is made of, gathered by a local Spark session of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import normalise, output_options, storage_option, unpack
from lakelens.cli.exits import DAMAGED, end_with, remember_place
from lakelens.cli.output import Output

if TYPE_CHECKING:
    from lakelens.spark.warehouse.views import Inventory

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
