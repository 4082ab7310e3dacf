"""Figures of a snapshot that its manifest lists count where it does not record them, and the partition values that they
cover. No manifest is read for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lakelens.errors import LakeError
from lakelens.lazy import dataclass
from lakelens.model.facts.traits import Figures
from lakelens.model.manifest import FieldSummary, Manifest
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table


def read_changes(snapshot: Snapshot) -> Figures:
    """Read the figures of a snapshot, the rows that it deleted among them.

    The files that it changed are counted by its delta list where it records none.
    """
    figures = replace(snapshot.figures, deleted=snapshot.newly_deleted)
    if figures.added_files is not None or figures.removed_files is not None:
        return figures
    added = removed = 0
    try:
        deltas = [one for one in snapshot.manifest_lists if one.role == "delta"]
        for manifest in (manifest for delta in deltas for manifest in delta.manifests):
            if manifest.added_files_count is None or manifest.deleted_files_count is None:
                return figures
            added += manifest.added_files_count
            removed += manifest.deleted_files_count
    except LakeError:
        return figures
    return replace(figures, added_files=added, removed_files=removed) if deltas else figures


def count_by_lists(snapshot: Snapshot) -> int | None:
    """Count the live data files as the manifest lists count them; None when a list counts none or cannot be read."""
    total = 0
    try:
        for manifest_list in snapshot.manifest_lists:
            if manifest_list.role == "changelog":
                continue
            for manifest in manifest_list.manifests:
                if manifest.content != "data":
                    continue
                if manifest.added_files_count is None:
                    return None
                total += manifest.added_files_count + (manifest.existing_files_count or 0)
                # a Paimon manifest takes away by DELETE entries; Iceberg's deleted ones are no longer counted
                total -= (manifest.deleted_files_count or 0) if manifest_list.role != "all" else 0
    except LakeError:
        return None
    return total if snapshot.manifest_lists else None


def count_known(table: Table) -> int | None:
    """Count how many files a table has at least: a document, a list for each snapshot, the live files of the current one.

    None where nothing says how many files are live. No manifest is read.
    """
    current = table.current
    figures = Figures() if current is None else current.figures
    files = figures.files
    if files is None and current is not None:
        files = count_by_lists(current)
    if files is None:
        return None
    return files + (figures.delete_files or 0) + table.snapshot_count + (table.metadata_path is not None)


@dataclass(frozen=True, slots=True)
class Range:
    """The values of one partition field over the manifests of one partitioning."""

    spec_id: int | None
    name: str
    lower: Any
    upper: Any
    has_null: bool
    manifests: int


def find_ranges(snapshot: Snapshot) -> list[Range] | None:
    """Find the range of each partition field; None where the lists record none or cannot be read."""
    manifests: list[Manifest] = []
    try:
        for manifest_list in snapshot.manifest_lists:
            if manifest_list.role != "changelog":
                manifests += manifest_list.manifests
    except LakeError:
        return None
    found: dict[tuple[int | None, str], list[FieldSummary]] = {}
    for manifest in manifests:
        for summary in manifest.partition_summary:
            found.setdefault((manifest.spec_id, summary.name), []).append(summary)
    ranges = [_join(spec_id, name, summaries) for (spec_id, name), summaries in found.items()]
    return sorted(ranges, key=lambda one: -(one.spec_id or 0)) or None


def _join(spec_id: int | None, name: str, summaries: Sequence[FieldSummary]) -> Range:
    lowest = _choose(min, [s.lower for s in summaries if s.lower is not None])
    highest = _choose(max, [s.upper for s in summaries if s.upper is not None])
    has_null = any(s.contains_null or bool(s.null_count) for s in summaries)
    return Range(spec_id, name, lowest, highest, has_null, len(summaries))


def _choose(pick: Any, values: list[Any]) -> Any:
    """Choose the smallest or largest of values; None where they cannot be compared."""
    try:
        return pick(values, default=None)
    except TypeError:
        return None
