"""Times before 1970 in the partition after theirs: Iceberg up to 0.10.0 and iceberg-go rounded towards 1970, not down.

Shows in entries: the value of a year, month, day or hour is one more than the bounds of its column give, and they are
before 1970.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import shorten
from lakelens.formats.iceberg.time_partitions import list_time_partitions
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Data files whose partition value is one too high for times before 1970."""
    for one in list_time_partitions(table):
        due = one.count(one.lower)
        if one.lower < 0 and one.stored == due + 1 and one.stored <= 0:
            message = f"{one.name} is {one.stored}, the smallest value of the file is in {due}"
            yield RULE.report(
                shorten(table, one.file.path), message, [table.current.id] if table.current else []
            )


RULE = Rule(
    "epoch-partitions",
    "times before 1970 in the partition after theirs",
    (Product("iceberg", before="0.11.0"), Product("iceberg-go")),
    ("apache/iceberg#1680", "apache/iceberg#1981", "apache/iceberg-go#924"),
    "a year, month, day or hour before 1970 is one too high",
    "warning",
    find,
)
