"""`lakelens files PATH`: every live file of a snapshot; `lakelens bytes FILE`: every byte of one file with its name."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
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
from lakelens.cli.output import Output
from lakelens.errors import LakeError, list_nearest
from lakelens.lazy import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import FileColumns, FileSet
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table
    from lakelens.views.card.model import Cell

_CONDITION = re.compile(r"(?P<name>[^=!<>]+?)(?P<sign><=|>=|!=|=|<|>)(?P<wanted>.*)", re.DOTALL)
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: columns that only a caller who names them pays for
STATS = ("lower_bounds", "upper_bounds", "null_counts", "value_counts", "nan_counts", "column_sizes")

Row = dict[str, Any]

_ALWAYS = ("content", "path", "record_count", "size_bytes", "sequence_number")
_SIZES = ("size_bytes", "content_size_in_bytes")
_SHORT = ("content", "file_format")
# on a terminal the columns that are shown unasked have short names, as on the cards
_BRIEF = {"path": "file", "record_count": "rows", "size_bytes": "bytes", "sequence_number": "sequence"}


@dataclass(frozen=True)
class Condition:
    """What a row must satisfy: a column, or a partition field, compared with a text.

    >>> condition = Condition.parse("size_bytes>=100")
    >>> condition.holds({"size_bytes": 100}), condition.holds({"size_bytes": 99}), condition.holds({"size_bytes": None})
    (True, False, False)
    """

    name: str
    sign: str
    wanted: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Parse a condition of the command line. Raises ValueError."""
        matched = _CONDITION.fullmatch(text)
        if matched is None:
            raise ValueError(
                f"{text!r} is not a condition, for example partition=day=2024-01-01 or size_bytes>1000000"
            )
        return cls(matched["name"].strip(), matched["sign"], matched["wanted"].strip())

    def holds(self, row: Row) -> bool:
        """Say whether a row satisfies it: numbers compare as numbers, all else as text; null satisfies only `= null`."""
        held = row[self.name]
        if held is None:
            return self.sign == "=" and self.wanted == "null"
        compare = _SIGNS[self.sign]
        if isinstance(held, int | float) and not isinstance(held, bool):
            try:
                return compare(held, type(held)(self.wanted))
            except ValueError:
                return self.sign == "!="
        if isinstance(held, bool):
            held = str(held).lower()
        return compare(str(held), self.wanted)


def parse_conditions(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> list[Condition]:
    """Parse `--where` of the command line."""
    try:
        return [Condition.parse(text) for text in value]
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def find_columns(snapshot: Snapshot | None, files: FileSet) -> FileColumns:
    """Find the columns that a snapshot's files have: of many files by the plan to read them, which opens no manifest."""
    from lakelens.model.scan.scan_to_arrow import is_worthwhile

    try:
        scan = None if snapshot is None else snapshot.scan_files()
    except LakeError:
        scan = None
    return scan.columns if scan is not None and is_worthwhile(scan.tasks) else files.columns


def read_rows(
    files: FileSet,
    known: FileColumns,
    columns: Sequence[str],
    conditions: Sequence[Condition],
    limit: int | None,
) -> Iterator[Row]:
    """Read the rows that satisfy all conditions, with the columns wanted; the values are exact, see `list_values`.

    Raises `LakeError` for a name that there is not; the nearest ones are in it.
    """
    from lakelens.model.scan.files_to_arrow import list_columns

    names = list_columns(known, stats=True)
    fields = [name for name, _ in known.partition]
    for name in (*columns, *(c.name for c in conditions if c.name not in fields)):
        if name not in names:
            raise LakeError(f"no column {name!r}", hint=list_nearest(name, [*fields, *names]))
    asked = [c.name if c.name in names else "partition_values" for c in conditions]
    read = list(dict.fromkeys([*columns, *asked]))
    return _filter_rows(files, read, columns, conditions, limit)


def _filter_rows(
    files: FileSet,
    read: Sequence[str],
    columns: Sequence[str],
    conditions: Sequence[Condition],
    limit: int | None,
) -> Iterator[Row]:
    left = -1 if limit is None else limit
    # a few at first: the beginning of a long list is seen at once
    stats = any(name in STATS for name in read)
    for batch in files.batches(1_024, stats=stats, columns=read):
        for row in list_rows(batch):
            if left == 0:
                return
            facts = {**(row.get("partition_values") or {}), **row}
            if all(condition.holds(facts) for condition in conditions):
                left -= 1
                yield {name: row[name] for name in columns}


def list_rows(batch: pa.RecordBatch) -> Iterator[Row]:
    """List the rows of a batch as plain data."""
    lists = [list_values(batch.column(index)) for index in range(batch.num_columns)]
    for values in zip(*lists, strict=True):
        yield dict(zip(batch.schema.names, values, strict=True))


def list_values(array: pa.Array) -> list[Any]:
    """List the values of an array, exactly: dates, times and decimals as text, also those that Python has no type for.

    >>> import pyarrow as pa
    >>> list_values(pa.array([3_000_000], pa.date32())), list_values(pa.array([1], pa.timestamp("ns", "UTC")))
    (['10183-09-21'], ['1970-01-01T00:00:00.000000001Z'])
    """
    import pyarrow as pa

    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        import uuid

        stored = array.storage.to_pylist()
        is_uuid = kind.extension_name == "arrow.uuid"
        return [str(uuid.UUID(bytes=v)) if v is not None and is_uuid else v for v in stored]
    if pa.types.is_struct(kind):
        return _list_structs(array)
    if pa.types.is_map(kind):
        return _list_maps(array)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        # slices hold only their own items, also where the list is null or has a fixed size
        return [None if scalar.values is None else list_values(scalar.values) for scalar in array]
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        # `2024-01-01 00:00:00Z` as ISO 8601 words it, with a T
        return [
            text if text is None or text.endswith(")") else text.replace(" ", "T", 1)
            for text in _cast_to_text(array)
        ]
    return list(array.to_pylist())


def _list_structs(array: Any) -> list[Any]:
    names = [array.type.field(index).name for index in range(array.type.num_fields)]
    if not names:
        return [{} if valid else None for valid in array.is_valid().to_pylist()]
    children = [list_values(child) for child in array.flatten()]
    rows = zip(*children, strict=True)
    valid = array.is_valid().to_pylist()
    return [
        dict(zip(names, row, strict=True)) if is_there else None
        for row, is_there in zip(rows, valid, strict=True)
    ]


def _list_maps(array: Any) -> list[Any]:
    listed = []
    for scalar in array:
        pairs = None if scalar.values is None else list_values(scalar.values)
        listed.append(None if pairs is None else [[pair["key"], pair["value"]] for pair in pairs])
    return listed


def _cast_to_text(array: Any) -> list[str | None]:
    """Arrow's own wording; where it has none, the number as stored with its unit."""
    import pyarrow as pa

    texts = array.cast(pa.string()).to_pylist()
    if any(text is not None and text.startswith("<") for text in texts):
        wide = pa.types.is_date32(array.type) or pa.types.is_time32(array.type)
        numbers = array.cast(pa.int32() if wide else pa.int64()).to_pylist()
        texts = [
            f"{number} ({array.type})" if text is not None and text.startswith("<") else text
            for text, number in zip(texts, numbers, strict=True)
        ]
    return list(texts)


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
    from lakelens.model.scan.files_to_arrow import list_columns

    names = list_columns(known, stats=True)
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

    columns = []
    for name in names:
        is_number = name.endswith(("_count", "_bytes", "_number", "_offset")) or name in ("bucket", "level")
        columns.append(
            Column(
                name if output.is_plain else _BRIEF.get(name, name),
                is_number=is_number and name not in STATS,
                is_short=name in _SHORT,
            )
        )
    inside = f"{table.location.rstrip('/')}/"

    def make() -> Iterator[tuple[Cell, ...]]:
        for row in rows:
            yield tuple(_make_cell(name, row[name], inside, output.is_plain) for name in names)

    return output.write_rows(columns, make())


def _make_cell(name: str, value: Any, inside: str, is_plain: bool) -> Cell:
    """Make a value for a reader: a pipe gets it exactly, a terminal sizes in units and paths below the table."""
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

            from lakelens.model.facts.json_values import make_plain

            return Cell(wording.clean(json.dumps(make_plain(value), ensure_ascii=False), 100_000))
        return Cell(wording.value(value))
    return cells.size(value)


def parse_offset(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Parse a byte offset: decimal, or hexadecimal after 0x."""
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
