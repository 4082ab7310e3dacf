"""iceberg-rust recorded in manifest lists the range of the column that a partition field is made from, not of the field.

Shows in manifest lists: a bound that is wider than the type of the partition field (a timestamp of eight bytes where
the day has four), or a file whose partition value is outside of the range. ClickHouse did so for `truncate` of an
int.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from lakelens.formats.defects.evidence import find_snapshots, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding
    from lakelens.model.stats import Partition

_WIDTHS = {"int": 4, "date": 4, "float": 4}


def find(table: IcebergTable) -> Iterator[Finding]:
    """Manifests of the current snapshot whose ranges are not those of their partition fields."""
    manifests = {one.path: one for one in table.current.manifests} if table.current is not None else {}
    found = {path: message for path, one in manifests.items() if (message := _find_wide(table, one))}
    rest = [one for path, one in manifests.items() if path not in found and one.partitions]
    for path, partition in _list_partitions(table, rest):
        if path not in found and path in manifests:
            message = _find_outside(manifests[path], partition)
            if message is not None:
                found[path] = message
    for path, message in found.items():
        yield RULE.report(shorten(table, path), message, find_snapshots(table, [path]))


def _list_partitions(
    table: IcebergTable, manifests: Sequence[IcebergManifest]
) -> Iterator[tuple[str, Partition]]:
    """The partitions of the live files of some manifests by column, each about once for each manifest."""
    import numpy as np
    import pyarrow.compute as pc

    from lakelens.model.scan.plan import ScanRequest
    from lakelens.model.scan.scan_to_arrow import iterate_batches

    if not manifests:
        return
    request = ScanRequest(stats=False, columns=("manifest",), partitions=True)
    for batch in iterate_batches(table.scan_manifests(manifests), request):
        if batch.partitions is None:
            continue
        partitions, places = batch.partitions
        encoded = pc.dictionary_encode(batch.plain["manifest"])
        pairs = encoded.indices.to_numpy().astype(np.int64) * len(partitions) + places.to_numpy()
        names = encoded.dictionary.to_pylist()
        for pair in np.unique(pairs).tolist():
            yield names[pair // len(partitions)], partitions[pair % len(partitions)]


def _find_wide(table: IcebergTable, manifest: IcebergManifest) -> str | None:
    columns = table.partition_columns(manifest.partition_spec_id)
    for column, stored in zip(columns, manifest.partitions or (), strict=False):
        width = _WIDTHS.get(column.result.name) if column.result is not None else None
        for side in ("lower_bound", "upper_bound"):
            bound = stored.get(side)
            if width is not None and bound is not None and len(bound) > width:
                return f"{column.name}: a bound of {len(bound)} bytes, the field has {width}"
    return None


def _find_outside(manifest: IcebergManifest, partition: Partition) -> str | None:
    for one in manifest.partition_summary:
        value = partition.get(one.name)
        if one.lower is None or one.upper is None or value is None or not _has_one_order(value):
            continue
        try:
            is_inside = value != value or one.lower <= value <= one.upper
        except TypeError:
            continue
        if not is_inside:
            return f"{one.name}: a file has {value}, the range is {one.lower} to {one.upper}"
    return None


def _has_one_order(value: object) -> bool:
    """Whether writers agree on the order: of UUIDs and of characters beyond the first plane Java's is another."""
    return not isinstance(value, UUID) and not (isinstance(value, str) and not value.isascii())


RULE = Rule(
    "range-of-source",
    "partition ranges of the source column",
    (Product("iceberg-rust"), Product("clickhouse")),
    ("apache/iceberg-rust#794", "ClickHouse/ClickHouse#118905"),
    "a bound wider than the partition field, or a partition value outside of the range",
    "error",
    find,
)
