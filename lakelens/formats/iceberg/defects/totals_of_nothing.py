"""iceberg-rust summed up a commit after its list of added files had been taken away: its summaries count nothing.

Shows in summaries: an append with no files added, whose manifest list has manifests of this snapshot with added files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.model.check.defect import Product, Rule
from lakelens.model.facts.traits import parse_figure

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Appends that say they added nothing and did."""
    for snapshot in table.walk_snapshots():
        summary = snapshot.summary
        if snapshot.operation != "append" or (parse_figure(summary, "added-data-files") or 0) > 0:
            continue
        if not any(key.startswith(("added-", "total-")) for key in summary):
            continue  # it records no figures at all, which is allowed
        added = sum(
            manifest.added_files_count or 0
            for listed in snapshot.manifest_lists
            for manifest in listed.walk()[0]
            if manifest.added_snapshot_id == snapshot.id and manifest.content == "data"
        )
        if added:
            message = f"the summary says that no file was added, its manifests add {added:,}"
            yield RULE.report(table.metadata_path, message, [snapshot.id])


RULE = Rule(
    "totals-of-nothing",
    "summaries that count nothing",
    (Product("iceberg-rust", "0.6.0", "0.8.0"),),
    ("apache/iceberg-rust#1767", "ArroyoSystems/arroyo#1038"),
    "added-data-files is 0 or absent, and manifests of the commit add files",
    "warning",
    find,
)
