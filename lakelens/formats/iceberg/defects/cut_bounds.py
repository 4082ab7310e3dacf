"""DuckDB cut the bounds of strings at a byte, in the middle of a character: strict readers refuse them.

Shows in entries: a bound of a string column that is no UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import sample_recorded, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Data files of the current snapshot with a string bound that ends inside of a character."""
    if not any(leaf.type.logical == "string" for _, leaf in table.schema.leaves()):
        return
    for file in sample_recorded(table):
        for one in file.bounds.values():
            stored = (one.lower_raw, one.upper_raw) if one.type.logical == "string" else ()
            for bound in stored:
                if bound is not None and not _is_text(bound):
                    message = f"column {one.name}: a bound that is no UTF-8: {bound[:24]!r}"
                    snapshots = [table.current.id] if table.current else []
                    yield RULE.report(shorten(table, file.path), message, snapshots)
                    break


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


RULE = Rule(
    "bounds-cut-in-character",
    "bounds of strings cut inside of a character",
    (Product("duckdb-iceberg"), Product("duckdb")),
    ("duckdb/duckdb-iceberg#1136", "duckdb/duckdb-iceberg#1334"),
    "a bound of a string column is no UTF-8",
    "warning",
    find,
)
