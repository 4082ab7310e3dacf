"""Partition values of year, month, day and hour, compared with the bounds of the column that they are made from.

Follows "Partition Transforms" of the Iceberg table specification: units since 1970, rounded down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from lakelens.codecs.iceberg.transforms import Transform
from lakelens.codecs.iceberg.types import IcebergType
from lakelens.formats.defects import sample_recorded

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.datafile import DataFile

_TIME = IcebergType("timestamp")
_MICROS = {"timestamp": 1, "timestamptz": 1, "timestamp_ns": 1000, "timestamptz_ns": 1000}
HOUR = 3_600_000_000
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True)
class TimePartition:
    """One partition value of one file: its field, transform and stored value, and the column's bounds in microseconds."""

    file: DataFile
    name: str
    transform: str
    stored: int
    lower: int
    upper: int

    def count(self, micros: int) -> int:
        """The value that the transform gives a time: units since 1970, rounded down.

        >>> TimePartition(None, "at_hour", "hour", 0, 0, 0).count(-1)
        -1
        """
        counted: int = Transform.parse(self.transform).apply(micros, _TIME)
        return counted


def list_time_partitions(table: IcebergTable) -> Iterator[TimePartition]:
    """The values of time transforms of the sampled data files whose bounds are known."""
    fields = {
        number: [
            column
            for column in (table._context.specs.columns(number) or ())
            if column.transform.name in ("year", "month", "day", "hour") and column.source is not None
        ]
        for number in (spec.id for spec in table.specs)
    }
    if not any(fields.values()):
        return
    sources = {(spec.id, field.field_id): field.source_id for spec in table.specs for field in spec.fields}
    for file in sample_recorded(table):
        columns = fields.get(file.spec_id if file.spec_id is not None else -1)
        if not columns:
            continue
        bounds = {one.field_id: one for one in file.bounds.values()}
        for column in columns:
            stored = file.partition.get(column.shown)
            if isinstance(stored, date):
                stored = (stored - date(1970, 1, 1)).days
            if not isinstance(stored, int) or isinstance(stored, bool):
                continue
            one = bounds.get(sources.get((file.spec_id, column.field_id)))
            kind = column.source.name if column.source is not None else ""
            if one is None or one.lower_raw is None or one.upper_raw is None:
                continue
            scale = DAY if kind == "date" else _MICROS.get(kind)
            if scale is None:
                continue
            low, high = (
                int.from_bytes(data, "little", signed=True) for data in (one.lower_raw, one.upper_raw)
            )
            low, high = (low // scale, high // scale) if kind.endswith("_ns") else (low * scale, high * scale)
            yield TimePartition(file, column.shown, column.transform.name, stored, low, high)
