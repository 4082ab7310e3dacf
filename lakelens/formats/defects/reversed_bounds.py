"""Writers that compare decimals as unsigned bytes state a min above the max: readers then drop every row.

Shows in footers: a decimal column whose stored min is above its max.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.codecs.parquet.enums import decode_statistic
from lakelens.formats.defects.evidence import list_chunks, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.model.finding import Finding
    from lakelens.model.table import Table


def find(table: Table) -> Iterator[Finding]:
    """Row groups with a min above the max."""
    for file, footer, leaf, statistics in list_chunks(table):
        if not (leaf.logical_type or "").startswith("Decimal"):
            continue
        for number, one in enumerate(statistics):
            stored = one.get("min_value"), one.get("max_value")
            if not all(isinstance(data, bytes) for data in stored):
                continue
            low, high = (decode_statistic(data, leaf.physical_type, leaf.logical_type) for data in stored)
            if low is not None and high is not None and low > high:
                message = (
                    f"column {leaf.path}, row group {number}: min {low} is above max {high}; "
                    f"written by {footer.created_by or 'an unnamed writer'}"
                )
                yield RULE.report(shorten(table, file.path), message)
                break


RULE = Rule(
    "reversed-bounds",
    "min and max of decimals were compared as unsigned bytes",
    (Product("clickhouse"), Product("polars")),
    ("ClickHouse/ClickHouse#83754", "pola-rs/polars#29347"),
    "the min of a row group is above its max",
    "error",
    find,
    reads_files=True,
)
