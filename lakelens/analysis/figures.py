"""Figures of a snapshot that its manifest lists count where it does not record them. No manifest is read for them."""

from __future__ import annotations

from dataclasses import replace

from lakelens.errors import LakeError
from lakelens.model.snapshot import Snapshot
from lakelens.model.traits import Figures


def read_changes(snapshot: Snapshot) -> Figures:
    """The figures of a snapshot; the files that it changed are counted by its delta list where it records none."""
    figures = snapshot.figures
    if figures.added_files is not None or figures.removed_files is not None:
        return figures
    added = removed = 0
    try:
        deltas = [one for one in snapshot.manifest_lists if one.role == "delta"]
        for manifest in (manifest for one in deltas for manifest in one.manifests):
            if manifest.added_files_count is None or manifest.deleted_files_count is None:
                return figures
            added += manifest.added_files_count
            removed += manifest.deleted_files_count
    except LakeError:
        return figures
    return replace(figures, added_files=added, removed_files=removed) if deltas else figures


def count_by_lists(snapshot: Snapshot) -> int | None:
    """The live data files as the manifest lists count them; None when a list counts none or cannot be read."""
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
