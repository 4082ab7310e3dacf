"""The figures of a snapshot with those that only its manifest lists tell. No manifest is read for them."""

from __future__ import annotations

from dataclasses import replace

from lakelens.analysis.figures import Figures, read_figures
from lakelens.errors import LakeError
from lakelens.model.snapshot import Snapshot


def read_changes(snapshot: Snapshot) -> Figures:
    """The figures of a snapshot, with the files that it changed as its delta list counts them where it does not itself.

    That list is read; the manifests themselves stay unread.
    """
    figures = read_figures(snapshot)
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
    """The live data files by what the manifest lists count; None when a list does not tell or cannot be read.

    A list that is read names manifests; the manifests themselves stay unread.
    """
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
