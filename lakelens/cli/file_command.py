"""`lakelens files PATH`: every live file of a snapshot; `lakelens bytes FILE`: every byte of one file with its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import (
    detail_option,
    find_snapshot,
    normalise,
    output_options,
    snapshot_option,
    storage_option,
    table_options,
    unpack,
)
from lakelens.cli.completing import complete_columns
from lakelens.cli.exits import DAMAGED, end_with, remember_place
from lakelens.cli.file_rows import (
    STATS,
    Condition,
    Row,
    find_columns,
    list_names,
    parse_conditions,
    read_rows,
)
from lakelens.cli.output import Output
from lakelens.errors import LakeError

if TYPE_CHECKING:
    from lakelens.model.fileset import FileColumns
    from lakelens.model.table import Table
    from lakelens.views.card.model import Cell

_ALWAYS = ("content", "path", "record_count", "size_bytes", "sequence_number")
_SIZES = ("size_bytes", "content_size_in_bytes")
_SHORT = ("content", "file_format")
# on a terminal the columns that are shown unasked have short names, as on the cards
_BRIEF = {"path": "file", "record_count": "rows", "size_bytes": "bytes", "sequence_number": "sequence"}


@click.command(epilog="lakelens files sample:iceberg --where p=1 --columns path,record_count,upper_bounds")
@table_options
@snapshot_option
@click.option(
    "-w",
    "--where",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    callback=parse_conditions,
    help="COLUMN=VALUE, also != < <= > >=: a column or a partition field; partition=day=2024-01-01 for a whole "
    "partition. All of several must hold",
)
@click.option("-n", "--limit", type=click.IntRange(0), metavar="N", help="at most N files")
@click.option(
    "-c",
    "--columns",
    metavar="NAMES",
    shell_complete=complete_columns,
    help="these columns, separated by commas; `all` for every one",
)
@output_options
def files(
    table: Table,
    ref: str | None,
    conditions: Sequence[Condition],
    limit: int | None,
    columns: str | None,
    output: Output,
) -> None:
    """List the live files of a table: data files, and Iceberg's delete files."""
    snapshot = find_snapshot(table, ref)
    found = table.files if snapshot is None else snapshot.files
    known = find_columns(snapshot, found)
    wanted = _choose_columns(table, known, columns, output)
    rows = read_rows(found, known, wanted, conditions, limit)
    if output.as_json:
        output.write_answer(table, snapshot_id=None if snapshot is None else snapshot.id, files=rows)
        return
    written = _write_rows(table, wanted, rows, output)
    if not written and not output.is_plain:
        output.write_line("no file" + (" satisfies this" if conditions else ""), "dim")


def _choose_columns(table: Table, known: FileColumns, columns: str | None, output: Output) -> list[str]:
    names = list_names(known)
    if columns == "all" or (columns is None and output.as_json):
        return names
    if columns is not None:
        return [name.strip() for name in columns.split(",") if name.strip()]
    chosen = list(_ALWAYS)
    if known.partition:
        chosen.insert(2, "partition")
    if table.traits.has_levels:
        chosen[-3:-3] = ["bucket", "level"]
    if not (table.traits.has_sequence_numbers and output.is_plain):
        chosen.remove("sequence_number")
    return chosen


def _write_rows(table: Table, names: Sequence[str], rows: Iterator[Row], output: Output) -> int:
    from lakelens.views.card.model import Column

    columns = [
        Column(
            name if output.is_plain else _BRIEF.get(name, name),
            is_number=name not in STATS and _is_number(name),
            is_short=name in _SHORT,
        )
        for name in names
    ]
    inside = f"{table.location.rstrip('/')}/"

    def make() -> Iterator[tuple[Cell, ...]]:
        for row in rows:
            yield tuple(_make_cell(name, row[name], inside, output.is_plain) for name in names)

    return output.write_rows(columns, make())


def _is_number(name: str) -> bool:
    return name.endswith(("_count", "_bytes", "_number", "_offset")) or name in ("bucket", "level")


def _make_cell(name: str, value: Any, inside: str, is_plain: bool) -> Cell:
    """A value for a reader: a pipe gets it exactly, a terminal sizes in units and paths below the table."""
    from lakelens.views.card import cells, wording
    from lakelens.views.card.model import Cell

    if value is None:
        return Cell("null", "mute")
    if isinstance(value, str):
        if not is_plain and name.endswith("path"):
            value = value.removeprefix(inside)
        if name == "partition" and not value:
            return Cell("-", "mute")
        return Cell(wording.clean(value, 100_000), "code")
    if is_plain or name not in _SIZES:
        if isinstance(value, dict | list):
            import json

            from lakelens.cli.json_values import make_plain

            return Cell(wording.clean(json.dumps(make_plain(value), ensure_ascii=False), 100_000))
        return Cell(wording.value(value))
    return cells.size(value)


def parse_offset(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A byte offset: decimal, or hexadecimal after 0x."""
    try:
        return None if value is None else int(value, 0)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a byte offset, for example 4096 or 0x1000") from None


@click.command("bytes", epilog="lakelens bytes FILE --at 0x1000  ·  lakelens bytes FILE --json -d 3")
@click.argument("file", type=click.Path())
@click.option("--at", "offset", callback=parse_offset, metavar="OFFSET", help="show what is around this byte")
@click.option("--kind", help="what the file is, where its bytes do not say it: hash_index, roaring64, …")
@storage_option
@detail_option
@output_options
def show_bytes(
    file: str,
    offset: int | None,
    kind: str | None,
    storage: tuple[tuple[str, str], ...],
    detail: int,
    output: Output,
) -> None:
    """Show every byte of a file with its name: manifests, indexes, deletion vectors, footers.

    With --json the spans are written DETAIL levels deep, all of them for 3. Damage is shown in its place and ends with
    status 1.
    """
    import lakelens as ll

    file = unpack(file)
    remember_place(normalise(file))
    try:
        explanation = ll.explain_file(file, kind, storage_options=dict(storage) or None)
        shown = explanation if offset is None else explanation.at(offset)
    except ValueError as error:
        raise LakeError(str(error), path=file, hint="lakelens bytes --help") from error
    with output:
        if output.as_json:
            from lakelens.views.hexdump.text import write_json

            output.write_pieces(write_json(shown, None if detail >= 3 else detail))
        else:
            from lakelens.views.hexdump.text import print_bytes

            if output.is_plain or detail <= 0:
                output.write_lines(shown.to_text(detail).split("\n"))
            else:
                print_bytes(output.console, shown, detail)
    from lakelens.views.hexdump.model import present_bytes

    if alert := present_bytes(shown, detail).alert:
        advice = f"lakelens bytes '{file}' -d 3, which shows in its place what is wrong"
        end_with(f"{file}: damaged: {alert}; try: {advice}", DAMAGED)
