"""What changed between two snapshots of one table."""

from __future__ import annotations

from collections.abc import Iterable

from lakelens.analysis.columns import diff_schemas
from lakelens.analysis.documents import diff_json
from lakelens.model.datafile import DataFile
from lakelens.model.diff import Diff, ManifestChanges, PartitionChange
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.snapshot import Snapshot

__all__ = ["diff_json", "diff_schemas", "diff_snapshots"]


def diff_snapshots(before: Snapshot | None, after: Snapshot) -> Diff:
    """The diff of two snapshots; from nothing where `before` is None. Nothing is read until a part is asked for."""
    old = before.files if before is not None else FileSet(lambda: (), FileColumns)
    added, removed = after.files - old, old - after.files
    return Diff(
        before,
        after,
        added=added,
        removed=removed,
        kept=after.files & old,
        manifests=lambda: diff_manifests(before, after),
        metadata=lambda: diff_json(before.raw if before is not None else {}, after.raw or {}),
        schema=lambda: diff_schemas(before.schema if before is not None else None, after.schema),
        by_partition=lambda: count_by_partition(added, removed),
    )


def diff_manifests(before: Snapshot | None, after: Snapshot) -> ManifestChanges:
    """Manifests by what happened to them; the same manifest is the one with the same recorded location."""
    old = {m.recorded_path: m for m in before.manifests} if before is not None else {}
    new = {m.recorded_path: m for m in after.manifests}
    return ManifestChanges(
        kept=tuple(manifest for path, manifest in new.items() if path in old),
        new=tuple(manifest for path, manifest in new.items() if path not in old),
        dropped=tuple(manifest for path, manifest in old.items() if path not in new),
    )


def count_by_partition(added: Iterable[DataFile], removed: Iterable[DataFile]) -> tuple[PartitionChange, ...]:
    """Files, rows and bytes added and removed by partition, sorted by its text; rows are those of data files."""
    counts: dict[str, list[int]] = {}
    for offset, files in ((0, added), (1, removed)):
        for file in files:
            row = counts.setdefault(str(file.partition), [0] * 6)
            row[offset] += 1
            row[2 + offset] += (file.record_count or 0) if file.content == "data" else 0
            row[4 + offset] += file.size_bytes or 0
    return tuple(PartitionChange(partition, *row) for partition, row in sorted(counts.items()))
