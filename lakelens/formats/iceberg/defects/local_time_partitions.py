"""ClickHouse took years, months, days and hours in the time zone of the column or server, and 0 for what is before 1970.

Shows in entries: the partition value is that of the file's times moved by an offset of a time zone, or 0 for a time
before 1970. Readers that take the specification's value skip the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import shorten
from lakelens.formats.iceberg.time_partitions import HOUR, TimePartition, list_time_partitions
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding

_QUARTER = HOUR // 4
_OFFSETS = [quarters * _QUARTER for quarters in range(-12 * 4, 14 * 4 + 1)]


def find(table: IcebergTable) -> Iterator[Finding]:
    """Data files whose partition value is that of another time zone."""
    for one in list_time_partitions(table):
        lowest, highest = one.count(one.lower), one.count(one.upper)
        if lowest <= one.stored <= highest:
            continue
        message = _explain(one, lowest)
        if message is not None:
            yield RULE.report(
                shorten(table, one.file.path), message, [table.current.id] if table.current else []
            )


def _explain(one: TimePartition, lowest: int) -> str | None:
    if one.lower < 0:
        is_clamped = one.stored == 0 and lowest < -1
        return f"{one.name} is 0, the file's times are before 1970, in {lowest}" if is_clamped else None
    for offset in sorted(_OFFSETS, key=abs):
        if one.count(one.lower + offset) == one.stored == one.count(one.upper + offset):
            hours = offset / HOUR
            return f"{one.name} is {one.stored}, which is {lowest} moved by {hours:+g} hours"
    return None


RULE = Rule(
    "local-time-partitions",
    "partition values of local time",
    (Product("clickhouse"),),
    ("ClickHouse/ClickHouse#118583",),
    "a partition value is that of the file's times in another time zone, or 0 before 1970",
    "error",
    find,
)
