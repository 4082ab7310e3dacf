"""The Iceberg tables that engines wrote, with their answers, and what lakelens reads in the answers' words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.formats.iceberg.table import IcebergTable
from lakelens.opening import open_table
from tests.support import LAKES
from tests.support.engine_lake import EngineLake

CONTENT = {"data": 0, "position_deletes": 1, "deletion_vector": 1, "equality_deletes": 2}
STATUS = {"EXISTING": 0, "ADDED": 1, "DELETED": 2}
FILE_FIELDS = (
    *("file_path", "record_count", "file_size_in_bytes", "spec_id", "sort_order_id", "first_row_id"),
    *("referenced_data_file", "content_offset", "content_size_in_bytes", "split_offsets", "equality_ids"),
    *(
        "column_sizes",
        "value_counts",
        "null_value_counts",
        "nan_value_counts",
        "lower_bounds",
        "upper_bounds",
    ),
    "key_metadata",
)
METRICS = {
    "column_size": "size",
    "value_count": "values",
    "null_value_count": "nulls",
    "nan_value_count": "nans",
    "lower_bound": "lower",
    "upper_bound": "upper",
}


class Lake(EngineLake):
    """One table that Iceberg wrote."""

    @property
    def is_view(self) -> bool:
        return bool(self.answers.get("view"))

    def open(self, **options: Any) -> IcebergTable:
        table = open_table(self.table_path, **options)
        assert isinstance(table, IcebergTable)
        return table


def find_lakes() -> list[Lake]:
    """Every Iceberg table below tests/lakes; views too."""
    answers = sorted(LAKES.glob("*/iceberg/*/answers.json"))
    return [Lake(path.parent.name, path.parent) for path in answers if (path.parent / "table").is_dir()]


def plain(value: Any) -> Any:
    """A value in the words of answers.json (see tests/lakes/README.md)."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def plain_bound(value: Any) -> Any:
    """A bound; decimals by value, for the engine gives them with zeros of its own."""
    return f"decimal {value.normalize()}" if isinstance(value, Decimal) else plain(value)


def same_decimals(table: IcebergTable, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The engine's rows with the bounds of decimal columns by value."""
    decimals = [name for name, kind in table.files.columns.stats if kind.logical == "decimal"]
    for row in rows:
        for name in decimals:
            metrics = row["readable_metrics"][name]
            for bound in ("lower_bound", "upper_bound"):
                text = metrics[bound]
                if text is not None and not text.startswith("decimal"):
                    metrics[bound] = f"decimal {Decimal(text).normalize()}"
    return rows


def sort_rows(rows: Iterable[Any]) -> list[str]:
    """Rows in an order of their own, for engines that give them in none."""
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def file_row(table: IcebergTable, file: IcebergDataFile, *, metrics: bool) -> dict[str, Any]:
    """One row of `files`, or of the `data_file` struct of `entries`."""
    row = {name: plain(getattr(file, name)) for name in FILE_FIELDS}
    row |= {"content": CONTENT[file.content], "file_format": file.file_format.upper()}
    unified = active_partition(table)
    if unified:
        row["partition"] = {name: plain(file.partition.get(name)) for name, _ in unified}
    return row | ({"readable_metrics": metrics_row(table, file)} if metrics else {})


def active_partition(table: IcebergTable) -> list[tuple[str, Any]]:
    """The unified partition type without the fields whose column is gone: the engine leaves those out, we do not."""
    kept = {
        column.shown
        for spec in table.specs
        for column in table._context.specs.columns(spec.id) or []
        for field in spec.fields
        if field.field_id == column.field_id and any(field.source_id == f.id for _, f in table.schema.walk())
    }
    return [(name, kind) for name, kind in table.files.columns.partition if name in kept]


def metrics_row(table: IcebergTable, file: IcebergDataFile) -> dict[str, Any]:
    """One `readable_metrics` struct."""
    bounds = file.bounds
    return {
        name: {
            theirs: plain_bound(getattr(bounds[name], ours)) if name in bounds else None
            for theirs, ours in METRICS.items()
        }
        for name, _ in table.files.columns.stats
    }


def manifest_row(table: IcebergTable, manifest: IcebergManifest) -> dict[str, Any]:
    """One row of `manifests`."""
    counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
    words = ("added", "existing", "deleted")
    row: dict[str, Any] = {}
    for kind, content in (("data", "data"), ("delete", "deletes")):
        for word, count in zip(words, counts, strict=True):
            row[f"{word}_{kind}_files_count"] = count if manifest.content == content else 0
    columns = table._context.specs.columns(manifest.spec_id) or []
    active = {name for name, _ in active_partition(table)}
    return row | {
        "content": 0 if manifest.content == "data" else 1,
        "path": manifest.recorded_path,
        "length": manifest.manifest_length,
        "partition_spec_id": manifest.partition_spec_id,
        "added_snapshot_id": manifest.added_snapshot_id,
        "partition_summaries": [
            {
                "contains_null": summary.contains_null,
                "contains_nan": summary.contains_nan,
                "lower_bound": column.render(summary.lower) if column.shown in active else "null",
                "upper_bound": column.render(summary.upper) if column.shown in active else "null",
            }
            for summary, column in zip(manifest.partition_summary, columns, strict=True)
        ],
    }


def entry_rows(table: IcebergTable, manifests: Iterable[IcebergManifest]) -> Iterator[dict[str, Any]]:
    """Rows of `entries` over some manifests."""
    for manifest in manifests:
        for entry in manifest.entries:
            file = entry.file
            assert isinstance(file, IcebergDataFile)
            yield {
                "status": STATUS[entry.status],
                "snapshot_id": entry.snapshot_id,
                "sequence_number": entry.sequence_number,
                "file_sequence_number": entry.file_sequence_number,
                "data_file": file_row(table, file, metrics=False),
            }


def reachable_manifests(table: IcebergTable) -> list[IcebergManifest]:
    """Every manifest of every snapshot once, as the first list that names it describes it."""
    found: dict[str, Any] = {}
    for snapshot in table.snapshots:
        for manifest in snapshot.manifests:
            found.setdefault(manifest.recorded_path, manifest)
    return list(found.values())


def partition_rows(table: IcebergTable) -> list[dict[str, Any]]:
    """Rows of `partitions`, added up from the live files."""
    rows: dict[str, dict[str, Any]] = {}
    unified = active_partition(table)
    for entry in live_entries(table):
        file = entry.file
        values = {name: plain(file.partition.get(name)) for name, _ in unified}
        row = rows.setdefault(json.dumps(values), _empty_partition(values))
        if file.content == "data":
            row["record_count"] += file.record_count
            row["file_count"] += 1
            row["total_data_file_size_in_bytes"] += file.file_size_in_bytes
        else:
            kind = "equality" if file.content == "equality_deletes" else "position"
            row[f"{kind}_delete_record_count"] += file.record_count
            row[f"{kind}_delete_file_count"] += 1
        committed = table.find_by_id(entry.snapshot_id)
        if committed is not None and (row["last"] is None or committed.committed_at > row["last"]):
            row["last"] = committed.committed_at
            row["last_updated_snapshot_id"], row["spec_id"] = committed.id, file.spec_id
    for row in rows.values():
        row["last_updated_at"] = plain(row.pop("last"))
        if not unified:
            del row["partition"], row["spec_id"]
    return list(rows.values())


def live_entries(table: IcebergTable) -> list[Any]:
    """The live entries of the current snapshot."""
    current = table.current
    return [] if current is None else [entry for _, entry in current.walk_entries() if entry.is_live]


def _empty_partition(values: dict[str, Any]) -> dict[str, Any]:
    counts = ("record_count", "file_count", "total_data_file_size_in_bytes")
    deletes = tuple(
        f"{kind}_delete_{unit}_count" for kind in ("position", "equality") for unit in ("record", "file")
    )
    row: dict[str, Any] = dict.fromkeys((*counts, *deletes), 0)
    return row | {"partition": values, "last": None, "last_updated_snapshot_id": None, "spec_id": None}
