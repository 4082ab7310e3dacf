"""Paimon's Iceberg metadata took NaN for the smallest or largest value of a partition field.

Shows in manifest lists: a bound of a float or double field that is NaN, which the specification forbids.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import find_snapshots, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Manifests of the current snapshot with NaN as a bound of a partition field."""
    for manifest in dict.fromkeys(table.current.manifests) if table.current is not None else ():
        for one in manifest.partition_summary:
            if any(isinstance(bound, float) and bound != bound for bound in (one.lower, one.upper)):
                message = f"{one.name}: the range is {one.lower} to {one.upper}"
                path = manifest.path
                yield RULE.report(shorten(table, path), message, find_snapshots(table, [path]))


RULE = Rule(
    "range-with-nan",
    "partition ranges with NaN as a bound",
    (Product("paimon"),),
    ("apache/paimon#9188",),
    "a bound of a partition field is NaN",
    "warning",
    find,
)
