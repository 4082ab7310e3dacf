"""ClickHouse recorded no bounds for partition fields of most transforms, and said that there are no nulls either.

Shows in manifest lists: a partition range with neither bounds nor nulls, over files that are there. A reader that
follows the specification concludes that the field has no value at all, and skips the manifest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Manifests with a partition range that no value can be in."""
    found: dict[str, tuple[str, list[int]]] = {}
    for snapshot in table.walk_snapshots():
        for listed in snapshot.manifest_lists:
            for manifest in listed.walk()[0]:
                live = (manifest.added_files_count, manifest.existing_files_count)
                if manifest.path in found:
                    found[manifest.path][1].append(snapshot.id)
                elif any(count is None or count > 0 for count in live):
                    names = [
                        str(place)
                        for place, field in enumerate(manifest.partitions or ())
                        if field.get("contains_null") is False
                        and not field.get("contains_nan")
                        and field.get("lower_bound") is None
                        and field.get("upper_bound") is None
                    ]
                    if names:
                        found[manifest.path] = (", ".join(names), [snapshot.id])
    for path, (places, snapshots) in found.items():
        message = f"partition field {places}: neither bounds nor nulls; readers skip the manifest"
        yield RULE.report(shorten(table, path), message, snapshots)


RULE = Rule(
    "range-without-bounds",
    "partition ranges with neither bounds nor nulls",
    (Product("clickhouse"),),
    ("ClickHouse/ClickHouse#118905", "ClickHouse/ClickHouse#118930"),
    "contains_null is false and both bounds are absent",
    "error",
    find,
)
