"""A metadata document names the manifest list of one attempt to commit, and that of another attempt is what was kept.

Shows in the listing: the manifest list of a snapshot is gone, and another one of the same snapshot id is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import list_sizes, shorten
from lakelens.formats.iceberg.metadata.snapshot_index import parse_snapshot_id
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Snapshots whose manifest list is that of a lost attempt."""
    sizes = list_sizes(table)
    lost = {
        snapshot.id: snapshot.path
        for snapshot in table.walk_snapshots()
        if snapshot.path is not None and snapshot.path not in sizes
    }
    if not lost:
        return
    for path in sizes:
        number = parse_snapshot_id(path.rpartition("/")[2])
        if number in lost:
            gone = str(lost[number])
            message = f"it is gone, and {shorten(table, path)} is there: the list of another attempt"
            yield RULE.report(shorten(table, gone), message, [number])


RULE = Rule(
    "manifest-list-of-attempt",
    "a manifest list of another attempt to commit",
    (Product("iceberg"),),
    ("apache/iceberg#14195", "apache/iceberg#9406"),
    "a manifest list is gone, and another one of its snapshot id is there",
    "error",
    find,
)
