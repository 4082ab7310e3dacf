"""Hive keeps numRows at 0 when statistics are not gathered: a planner that believes it broadcasts a table of any size.

Shows in the metastore's facts: numRows is 0, totalSize is not, and the files have rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import sample_files
from lakelens.model.check.defect import Product, Rule
from lakelens.model.facts.traits import parse_figure

if TYPE_CHECKING:
    from lakelens.formats.hive.table import HiveTable
    from lakelens.model.finding import Finding


def find(table: HiveTable) -> Iterator[Finding]:
    """A count of no rows for files that have some."""
    if parse_figure(table.properties, "numRows") != 0:
        return
    rows = sum(file.record_count or 0 for file in sample_files(table))
    size = sum(file.size_bytes or 0 for file in sample_files(table))
    if rows:
        message = f"numRows is 0; {rows:,} rows are in the {size:,} bytes that were looked at"
        yield RULE.report(table.location, message)


RULE = Rule(
    "zero-rows",
    "a count of no rows that was never made",
    (Product("hive"), Product("spark")),
    ("apache/spark#19831", "apache/spark#19880"),
    "numRows is 0 and the files have rows",
    "warning",
    find,
    reads_files=True,
)
