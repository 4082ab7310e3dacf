"""Paimon 0.6 wrote timestamps into Parquet files as bare numbers: other readers show integers, or refuse them.

Shows in footers: a TIMESTAMP column that is INT64 without a logical type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import sample_footers, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.finding import Finding


def find(table: PaimonTable) -> Iterator[Finding]:
    """Parquet files with timestamps that are plain numbers."""
    times = {
        field.id: field.name for field in table.schema.fields if field.type.logical.startswith("timestamp")
    }
    for file, footer in sample_footers(table) if times else ():
        for leaf in footer.leaves:
            is_time = leaf.field_id in times or (leaf.field_id is None and leaf.path in times.values())
            if is_time and leaf.physical_type == "INT64" and leaf.logical_type is None:
                message = f"column {leaf.path}: INT64 without a logical type"
                yield RULE.report(shorten(table, file.path), message)
                break


RULE = Rule(
    "timestamp-without-type",
    "timestamps in Parquet without their logical type",
    (Product("paimon"),),
    ("apache/paimon#2557",),
    "a TIMESTAMP column is INT64 without a logical type",
    "note",
    find,
    reads_files=True,
)
