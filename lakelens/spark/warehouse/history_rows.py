"""Snapshots and manifests of one table as rows, made from metadata documents and manifest lists alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.manifest import Manifest
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table


def snapshot_schema() -> pa.Schema:
    """The columns of the view "snapshots"."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    return pa.schema(
        [
            ("snapshot_id", number),
            ("parent_id", number),
            ("sequence_number", number),
            ("committed_at", pa.timestamp("us", "UTC")),
            ("operation", text),
            ("schema_id", number),
            ("record_count", number),
            ("path", text),
            ("refs", pa.list_(text)),
            ("summary", pa.map_(text, text)),
        ]
    )


def manifest_schema() -> pa.Schema:
    """The columns of the view "manifests"."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    summary = [("name", text), ("lower", text), ("upper", text), ("contains_null", pa.bool_())]
    return pa.schema(
        [
            ("content", text),
            ("path", text),
            ("recorded_path", text),
            ("size_bytes", number),
            ("sequence_number", number),
            ("added_snapshot_id", number),
            ("added_files_count", number),
            ("existing_files_count", number),
            ("deleted_files_count", number),
            ("partition_summary", pa.list_(pa.struct([*summary, ("contains_nan", pa.bool_())]))),
        ]
    )


def iterate_snapshots(table: Table) -> Iterator[dict[str, Any]]:
    """A row for each snapshot, in commit order."""
    for snapshot in table.snapshots:
        yield _describe_snapshot(snapshot)


def iterate_manifests(snapshot: Snapshot | None) -> Iterator[dict[str, Any]]:
    """A row for each manifest that the lists of a snapshot name, in order. Reads no manifest."""
    for manifest in () if snapshot is None else snapshot.manifests:
        yield _describe_manifest(manifest)


def _describe_snapshot(snapshot: Snapshot) -> dict[str, Any]:
    schema = snapshot.schema
    return {
        "snapshot_id": snapshot.id,
        "parent_id": snapshot.parent_id,
        "sequence_number": snapshot.sequence_number,
        "committed_at": snapshot.committed_at,
        "operation": snapshot.operation,
        "schema_id": schema.id,
        "record_count": snapshot.record_count,
        "path": snapshot.path,
        "refs": list(snapshot.refs),
        "summary": {str(key): str(value) for key, value in snapshot.summary.items()},
    }


def _describe_manifest(manifest: Manifest) -> dict[str, Any]:
    return {
        "content": manifest.content,
        "path": manifest.path,
        "recorded_path": manifest.recorded_path,
        "size_bytes": manifest.size_bytes,
        "sequence_number": manifest.sequence_number,
        "added_snapshot_id": manifest.added_snapshot_id,
        "added_files_count": manifest.added_files_count,
        "existing_files_count": manifest.existing_files_count,
        "deleted_files_count": manifest.deleted_files_count,
        "partition_summary": [
            {
                "name": field.name,
                "lower": None if field.lower is None else str(field.lower),
                "upper": None if field.upper is None else str(field.upper),
                "contains_null": field.contains_null,
                "contains_nan": field.contains_nan,
            }
            for field in manifest.partition_summary
        ],
    }
