"""ClickHouse recorded, in every entry of an insert into a partitioned table, the rows and bytes of all its files together.

Shows in a manifest: all entries have the same rows and the same bytes, which are those of their files added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import find_snapshots, list_sizes, read_entries, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Manifests whose entries all have the figures of the whole insert."""
    entries, sizes = read_entries(table), list_sizes(table)
    grouped: dict[str, list[tuple[str, int, int]]] = {}
    columns = (entries[name].to_pylist() for name in ("manifest", "path", "record_count", "size_bytes"))
    for manifest, path, rows, size in zip(*columns, strict=True):
        grouped.setdefault(manifest, []).append((path, rows, size))
    for manifest, found in grouped.items():
        figures = {(rows, size) for _, rows, size in found}
        stored = [sizes.get(path) for path, _, _ in found]
        if len(found) < 2 or len(figures) > 1 or None in stored:
            continue
        ((rows, size),) = figures
        total = sum(one or 0 for one in stored)
        if size == total:
            message = (
                f"each of its {len(found)} entries records {rows:,} rows and {size:,} bytes, "
                "which is what all the files have together"
            )
            yield RULE.report(shorten(table, manifest), message, find_snapshots(table, [manifest]))


RULE = Rule(
    "figures-of-insert",
    "each entry has the rows and bytes of the whole insert",
    (Product("clickhouse"),),
    ("ClickHouse/ClickHouse#104321",),
    "entries of one manifest with the same figures, which are the sum of their files",
    "error",
    find,
)
