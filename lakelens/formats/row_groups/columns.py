"""Which column of a file is a column of the table: what each format finds out in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lakelens.codecs.part_statistics import PartStatistics
from lakelens.formats.row_groups.values import StoredType, is_readable, promote
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.ranges import Ranges
from lakelens.model.schema import DataType, Field


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A leaf of today's schema in one file: its type today, and the place of its column among the file's leaves.

    `place` is None where the file does not have the column: then `default` is in every row. `is_hybrid` says that
    dates and timestamps before 1583 may have been counted in another calendar than readers use.
    """

    type: DataType
    place: int | None = None
    default: Any = None
    is_hybrid: bool = False


#: Finds a column of the table in a file by its full name; None where it is not clear what the file has of it.
FindColumn = Callable[[str], TableColumn | None]


def walk_structs(fields: Sequence[Field], prefix: str = "") -> Iterator[tuple[str, tuple[Field, ...]]]:
    """The leaves that have one value a row, in no list and no map: the full name, and the fields from the top down to it."""
    for field in fields:
        name = f"{prefix}{field.name}"
        if not field.type.is_nested:
            yield name, (field,)
        elif field.type.logical == "struct":
            for below, path in walk_structs(field.type.children, f"{name}."):
                yield below, (field, *path)


def make_ranges(kind: DataType, parts: Sequence[PartStatistics]) -> Ranges:
    """What is proved of some parts of a file, as Arrow arrays; bounds are values of the type already."""
    import pyarrow as pa

    target, count = arrow_type(kind), pa.int64()
    has_nans = pa.types.is_floating(target)
    return Ranges(
        to_array([part.lower for part in parts], target),
        to_array([part.upper for part in parts], target),
        pa.array([part.nulls for part in parts], count),
        pa.array([part.values for part in parts], count),
        pa.array([part.nans if has_nans else 0 for part in parts], count),
    )


def promote_part(part: PartStatistics, stored: StoredType | None, kind: DataType) -> PartStatistics:
    """Statistics as they are stored with bounds as values of a column's type, or without bounds where they are none."""
    lower = upper = None
    if part.lower is not None and stored is not None and is_readable(stored, kind):
        lower, upper = (promote(bound, stored, kind) for bound in (part.lower, part.upper))
        if lower is None or upper is None:
            lower = upper = None
    return replace(part, lower=lower, upper=upper)


def repeat_default(column: TableColumn, record_counts: Sequence[int]) -> Ranges:
    """What is known of a column that a file does not have: every row is null, or has the default."""
    import pyarrow as pa

    value, rows = column.default, list(record_counts)
    target = arrow_type(column.type)
    bounds = to_array([value] * len(rows), target)
    nulls = pa.array(rows if value is None else [0] * len(rows), pa.int64())
    is_nan = isinstance(value, float) and value != value
    nans = pa.array(rows if is_nan else [0] * len(rows), pa.int64())
    return Ranges(bounds, bounds, nulls, pa.array(rows, pa.int64()), nans)
