"""What writers of Iceberg get wrong in partitions by time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import shorten
from lakelens.formats.iceberg.time_partitions import HOUR, TimePartition, list_time_partitions
from lakelens.model.check.defect import Product, rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding

_LIMIT = 2**31
_QUARTER = HOUR // 4
_OFFSETS = [quarters * _QUARTER for quarters in range(-12 * 4, 14 * 4 + 1)]


@rule(
    "epoch-partitions",
    "times before 1970 in the partition after theirs",
    writers=(Product("iceberg", before="0.11.0"), Product("iceberg-go")),
    threads=("apache/iceberg#1680", "apache/iceberg#1981", "apache/iceberg-go#924"),
    shows="a year, month, day or hour before 1970 is one too high",
    severity="warning",
)
def epoch_partitions(table: IcebergTable) -> Iterator[Finding]:
    """Times before 1970 in the partition after theirs: Iceberg up to 0.10.0 and iceberg-go rounded towards 1970, not down.

    Shows in entries: the value of a year, month, day or hour is one more than the bounds of its column give, and they are
    before 1970.
    """
    for one in list_time_partitions(table):
        due = one.count(one.lower)
        if one.lower < 0 and one.stored == due + 1 and one.stored <= 0:
            message = f"{one.name} is {one.stored}, the smallest value of the file is in {due}"
            yield epoch_partitions.report(
                shorten(table, one.file.path), message, [table.current.id] if table.current else []
            )


@rule(
    "hour-overflow",
    "hours that do not fit 32 bits",
    writers=(Product("iceberg"),),
    threads=("apache/iceberg#9713",),
    shows="the value of an hour is the true one modulo 2^32",
    severity="error",
)
def hour_overflow(table: IcebergTable) -> Iterator[Finding]:
    """The hour of a time more than 2^31 hours from 1970 does not fit an int: Iceberg stores what is left of it.

    Shows in entries: an hour that is the true one modulo 2^32. A reader then takes the far future for the far past, and
    skips it.
    """
    for one in list_time_partitions(table):
        due = one.count(one.lower)
        if one.transform == "hour" and not -_LIMIT <= due < _LIMIT:
            wrapped = (due + _LIMIT) % (2 * _LIMIT) - _LIMIT
            if one.stored == wrapped:
                message = f"{one.name} is {one.stored}: hour {due} does not fit 32 bits"
                snapshots = [table.current.id] if table.current else []
                yield hour_overflow.report(shorten(table, one.file.path), message, snapshots)


@rule(
    "local-time-partitions",
    "partition values of local time",
    writers=(Product("clickhouse"),),
    threads=("ClickHouse/ClickHouse#118583",),
    shows="a partition value is that of the file's times in another time zone, or 0 before 1970",
    severity="error",
)
def local_time_partitions(table: IcebergTable) -> Iterator[Finding]:
    """ClickHouse took years, months, days and hours in the time zone of the column or server, and 0 for what is before 1970.

    Shows in entries: the partition value is that of the file's times moved by an offset of a time zone, or 0 for a time
    before 1970. Readers that take the specification's value skip the file.
    """
    for one in list_time_partitions(table):
        lowest, highest = one.count(one.lower), one.count(one.upper)
        if lowest <= one.stored <= highest:
            continue
        message = _explain(one, lowest)
        if message is not None:
            yield local_time_partitions.report(
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
