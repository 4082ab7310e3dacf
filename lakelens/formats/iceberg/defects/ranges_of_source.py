"""iceberg-rust recorded in manifest lists the range of the column that a partition field is made from, not of the field.

Shows in manifest lists: a bound that is wider than the type of the partition field (a timestamp of eight bytes where
the day has four), or a file whose partition value is outside of the range. ClickHouse did so for `truncate` of an
int.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import find_snapshots, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding

_WIDTHS = {"int": 4, "date": 4, "float": 4}
_MOST_READ = 200


def find(table: IcebergTable) -> Iterator[Finding]:
    """Manifests of the current snapshot whose ranges are not those of their partition fields."""
    manifests = list(dict.fromkeys(table.current.manifests)) if table.current is not None else []
    for number, manifest in enumerate(manifests):
        message = _find_wide(table, manifest)
        if message is None and number < _MOST_READ:
            message = _find_outside(manifest)
        if message is not None:
            path = manifest.path
            yield RULE.report(shorten(table, path), message, find_snapshots(table, [path]))


def _find_wide(table: IcebergTable, manifest: IcebergManifest) -> str | None:
    columns = table.partition_columns(manifest.partition_spec_id)
    for column, stored in zip(columns, manifest.partitions or (), strict=False):
        width = _WIDTHS.get(column.result.name) if column.result is not None else None
        for side in ("lower_bound", "upper_bound"):
            bound = stored.get(side)
            if width is not None and bound is not None and len(bound) > width:
                return f"{column.name}: a bound of {len(bound)} bytes, the field has {width}"
    return None


def _find_outside(manifest: IcebergManifest) -> str | None:
    ranges = {one.name: one for one in manifest.partition_summary}
    if not ranges:
        return None
    for entry in manifest.walk()[0]:
        for name, value in entry.file.partition.items() if entry.is_live else ():
            one = ranges.get(name)
            if one is None or one.lower is None or one.upper is None or value is None:
                continue
            try:
                is_inside = value != value or one.lower <= value <= one.upper
            except TypeError:
                continue
            if not is_inside:
                return f"{name}: a file has {value}, the range is {one.lower} to {one.upper}"
    return None


RULE = Rule(
    "range-of-source",
    "partition ranges of the source column",
    (Product("iceberg-rust"), Product("clickhouse")),
    ("apache/iceberg-rust#794", "ClickHouse/ClickHouse#118905"),
    "a bound wider than the partition field, or a partition value outside of the range",
    "error",
    find,
)
