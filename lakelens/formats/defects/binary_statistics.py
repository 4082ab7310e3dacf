"""PARQUET-251: parquet-mr before 1.8.0 reused a buffer, so that every row group has the bounds of the last one.

Shows in footers: a binary column of several row groups, in all of which the stored bounds are the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.codecs.parquet.statistics import has_wrong_binary_bounds
from lakelens.formats.defects.evidence import list_chunks, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.model.finding import Finding
    from lakelens.model.table import Table

_BINARY = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")


def find(table: Table) -> Iterator[Finding]:
    """Binary columns whose row groups all have the same bounds, in files of a writer that is not trusted with them."""
    for file, footer, leaf, statistics in list_chunks(table):
        if leaf.physical_type not in _BINARY or not has_wrong_binary_bounds(footer.created_by):
            continue
        bounds = [(one.get("min"), one.get("max")) for one in statistics]
        if len(bounds) > 1 and bounds[0][0] is not None and len(set(bounds)) == 1:
            message = (
                f"column {leaf.path}: {len(bounds)} row groups have the same bounds; "
                f"written by {footer.created_by or 'an unnamed writer'}"
            )
            yield RULE.report(shorten(table, file.path), message)


RULE = Rule(
    "binary-statistics",
    "min and max of binary columns are those of the last row group",
    (Product("parquet-mr", before="1.8.0"),),
    ("apache/parquet-java#197", "trinodb/trino#1798"),
    "the same bounds in every row group of a binary column",
    "warning",
    find,
    reads_files=True,
)
