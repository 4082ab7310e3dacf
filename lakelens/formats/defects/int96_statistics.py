"""PARQUET-1065: old writers compared INT96 timestamps as bytes, so that their min and max are no bounds.

Shows in footers: an INT96 column with bounds that differ. Where both are the same value no order matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import list_chunks, shorten
from lakelens.model.check.defect import Rule

if TYPE_CHECKING:
    from lakelens.model.finding import Finding
    from lakelens.model.table import Table


def find(table: Table) -> Iterator[Finding]:
    """INT96 columns with bounds of two values, without a column order that says how they were compared."""
    from lakelens.codecs.parquet.statistics import find_order

    for file, footer, leaf, statistics in list_chunks(table):
        if leaf.physical_type != "INT96":
            continue
        if find_order(footer, footer.leaves.index(leaf)) == "INT96_TIMESTAMP_ORDER":
            continue
        for one in statistics:
            pairs = ((one.get("min"), one.get("max")), (one.get("min_value"), one.get("max_value")))
            if any(low is not None and high is not None and low != high for low, high in pairs):
                message = f"column {leaf.path}: bounds of INT96 timestamps, which had no order when they were written"
                yield RULE.report(shorten(table, file.path), message)
                break


RULE = Rule(
    "int96-statistics",
    "min and max of INT96 timestamps were compared as bytes",
    (),
    ("apache/doris#35041",),
    "an INT96 column with a min and another max",
    "note",
    find,
    reads_files=True,
)
