"""PARQUET-686: min and max of strings were compared as signed bytes: text beyond ASCII sorts before all else.

Shows in footers: a string or decimal column that has only the old members `min` and `max`, with a byte of 0x80 or
more in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import list_chunks, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.model.finding import Finding
    from lakelens.model.table import Table

_BINARY = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")


def find(table: Table) -> Iterator[Finding]:
    """Binary columns with old bounds alone that the two orders put differently."""
    for file, footer, leaf, statistics in list_chunks(table):
        if leaf.physical_type not in _BINARY:
            continue
        for one in statistics:
            low, high = one.get("min"), one.get("max")
            if one.get("min_value") is not None or not isinstance(low, bytes) or not isinstance(high, bytes):
                continue
            if low != high and max((*low, *high), default=0) >= 0x80:
                message = (
                    f"column {leaf.path}: bounds in the order of signed bytes, {low[:16]!r} to {high[:16]!r}; "
                    f"written by {footer.created_by or 'an unnamed writer'}"
                )
                yield RULE.report(shorten(table, file.path), message)
                break


RULE = Rule(
    "signed-statistics",
    "min and max of strings and decimals follow the order of signed bytes",
    (Product("parquet-mr"),),
    ("apache/parquet-java#367", "apache/parquet-format#46"),
    "only the old members min and max, with bytes beyond ASCII",
    "note",
    find,
    reads_files=True,
)
