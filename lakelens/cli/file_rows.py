"""The files of a snapshot, row by row from Arrow batches: filtered, exact, never all in memory."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.errors import LakeError, list_nearest

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import FileColumns, FileSet
    from lakelens.model.snapshot import Snapshot

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
        """A condition from the command line. Raises ValueError."""
        matched = _CONDITION.fullmatch(text)
        if matched is None:
            raise ValueError(
                f"{text!r} is not a condition, for example partition=day=2024-01-01 or size_bytes>1000000"
            )
        return cls(matched["name"].strip(), matched["sign"], matched["wanted"].strip())

    def holds(self, row: Row) -> bool:
        """Whether a row satisfies it: numbers are compared as numbers, all else as text; null satisfies only `= null`."""
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
    """`--where` of the command line."""
    try:
        return [Condition.parse(text) for text in value]
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def find_columns(snapshot: Snapshot | None, files: FileSet) -> FileColumns:
    """The columns that a snapshot's files have: of many files by the plan to read them, which opens no manifest."""
    from lakelens.model.scan.scan_to_arrow import is_worthwhile

    try:
        scan = None if snapshot is None else snapshot.scan_files()
    except LakeError:
        scan = None
    return scan.columns if scan is not None and is_worthwhile(scan.tasks) else files.columns


def list_names(columns: FileColumns) -> list[str]:
    """The names of the columns that a table's files have."""
    from lakelens.model.scan.files_to_arrow import list_columns

    return list_columns(columns, stats=True)


def read_rows(
    files: FileSet,
    known: FileColumns,
    columns: Sequence[str],
    conditions: Sequence[Condition],
    limit: int | None,
) -> Iterator[Row]:
    """The rows that satisfy all conditions, with the columns wanted; the values are exact, see `list_values`.

    Raises `LakeError` for a name that there is not; the nearest ones are in it.
    """
    names = list_names(known)
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
    """The rows of a batch as plain data."""
    lists = [list_values(batch.column(index)) for index in range(batch.num_columns)]
    for values in zip(*lists, strict=True):
        yield dict(zip(batch.schema.names, values, strict=True))


def list_values(array: pa.Array) -> list[Any]:
    """The values of an array, exactly: dates, times and decimals as text, also those that Python has no type for.

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
        return [None if held.values is None else list_values(held.values) for held in array]
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return [_format_temporal(text) for text in _cast_to_text(array)]
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
    for held in array:
        pairs = None if held.values is None else list_values(held.values)
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


def _format_temporal(text: str | None) -> str | None:
    """`2024-01-01 00:00:00Z` as ISO 8601 words it, with a T."""
    if text is None or text.endswith(")"):
        return text
    return text.replace(" ", "T", 1)
