"""Iceberg added up null counts of row groups with -1 for those that record none: a file with nulls is said to have none.

Shows in a footer and its entry: a row group has no null count, and the entry's is the sum of the others less one for
each such group. A reader then skips the file for IS NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import list_chunks, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Data files of the current snapshot whose null count took an unknown one for -1."""
    for file, _, leaf, statistics in list_chunks(table):
        counts = [one.optional("null_count") for one in statistics]
        unknown = counts.count(None)
        if not unknown or unknown == len(counts) or leaf.field_id is None:
            continue
        recorded = next((one.nulls for one in file.bounds.values() if one.field_id == leaf.field_id), None)
        known = sum(count or 0 for count in counts)
        if recorded is not None and recorded == known - unknown:
            message = (
                f"column {leaf.path}: {recorded} nulls are recorded; {known} are in the row groups that count them, "
                f"{unknown} of {len(counts)} row groups do not"
            )
            yield RULE.report(shorten(table, file.path), message, [table.current.id] if table.current else [])


RULE = Rule(
    "null-count-of-unknown",
    "null counts that took an unknown one for -1",
    (Product("iceberg"),),
    ("apache/iceberg#17557", "apache/iceberg#17558"),
    "fewer nulls are recorded than the row groups that count them have",
    "error",
    find,
    reads_files=True,
)
