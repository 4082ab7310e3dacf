"""What changed between two snapshots of one table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from lakelens.analysis.diff.columns import diff_schemas
from lakelens.analysis.diff.diff import Diff, JsonChange, ManifestChanges, PartitionChange, PartitioningChange
from lakelens.analysis.diff.diff_summary import word_action, word_sentence
from lakelens.analysis.diff.documents import diff_json
from lakelens.analysis.diff.partitioning import diff_partitioning
from lakelens.analysis.diff.relation import Relation, relate_snapshots
from lakelens.errors import LakeError, Missing
from lakelens.model.comparison import FileComparison, WholeComparison
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table

__all__ = ["diff_json", "diff_schemas", "diff_snapshots"]


def pick_snapshot(table: Table, wanted: Any) -> Snapshot:
    """The snapshot that is meant: of a table its current one. Raises `Missing` where there is none."""
    if not isinstance(wanted, Table):
        return table.snapshot(wanted)
    if wanted.current is None:
        raise Missing("the table has no snapshot yet", path=wanted.location)
    return wanted.current


def diff_snapshots(before: Snapshot | None, after: Snapshot) -> Diff:
    """The diff of two snapshots; from nothing where `before` is None. Nothing is read until a part is asked for.

    The two may belong to two tables of one format: then files are the same where their places below the tables are.
    Raises `LakeError` for snapshots of two formats.
    """
    if before is not None and type(before) is not type(after):
        raise LakeError("snapshots of two formats cannot be compared", path=after.path)
    nothing = FileSet(lambda: (), FileColumns)
    files = WholeComparison(nothing, after.files) if before is None else after.compare_files(before)
    parts = _Parts(before, after, files)
    return Diff(
        before,
        after,
        added=files.added,
        removed=files.removed,
        kept=files.kept,
        manifests=lambda: diff_manifests(before, after),
        metadata=parts.diff_metadata,
        schema=lambda: diff_schemas(before.schema if before is not None else None, after.schema),
        by_partition=lambda: count_by_partition(files.added, files.removed),
        partitioning=parts.diff_partitioning,
        index_files=lambda: after.compare_index_files(before, files),
        count_kept=files.count_kept,
        documents=lambda: parts.paths,
        action=lambda diff: word_action(diff, parts.relation),
        sentence=lambda diff: word_sentence(diff, parts.relation),
    )


class _Parts:
    """What several parts of a diff need: the whole documents, and how the two snapshots stand to each other."""

    def __init__(self, before: Snapshot | None, after: Snapshot, files: FileComparison) -> None:
        self.before, self.after, self.files = before, after, files

    @cached_property
    def relation(self) -> Relation:
        return relate_snapshots(self.before, self.after)

    @cached_property
    def documents(self) -> tuple[tuple[str, Any], tuple[str, Any]] | None:
        """Both whole documents with their paths; None unless both are still there."""
        new = self.after.find_document() if self.before is not None else None
        old = self.before.find_document() if self.before is not None and new is not None else None
        return None if old is None or new is None else (old, new)

    @property
    def paths(self) -> tuple[str | None, str | None]:
        found = self.documents
        return (None, None) if found is None else (found[0][0], found[1][0])

    def diff_metadata(self) -> tuple[JsonChange, ...]:
        if self.documents is not None:
            (_, old), (_, new) = self.documents
            return diff_json(old, new)
        return diff_json((self.before.raw or {}) if self.before is not None else {}, self.after.raw or {})

    def diff_partitioning(self) -> tuple[PartitioningChange, ...]:
        before, after = self.before, self.after
        if before is None:
            return diff_partitioning(None, after.partitioning)
        options = (getattr(before.schema, "options", None), getattr(after.schema, "options", None))
        return diff_partitioning(before.partitioning, after.partitioning, *options)


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
            row[4 + offset] += file.own_size_bytes or 0
    return tuple(PartitionChange(partition, *row) for partition, row in sorted(counts.items()))
