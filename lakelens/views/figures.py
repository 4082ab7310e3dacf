"""The figures a snapshot gives of itself, whatever the format words them. No manifest is read for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lakelens.errors import LakeError
from lakelens.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Figures:
    """What one snapshot records: changes and totals, None where it records nothing."""

    added_files: int | None = None
    removed_files: int | None = None
    added_rows: int | None = None
    removed_rows: int | None = None
    net_rows: int | None = None
    added_bytes: int | None = None
    removed_bytes: int | None = None
    rows: int | None = None
    files: int | None = None
    delete_files: int | None = None
    size: int | None = None
    position_deletes: int | None = None
    equality_deletes: int | None = None

    @property
    def net_bytes(self) -> int | None:
        """Bytes that came less bytes that went."""
        if self.added_bytes is None and self.removed_bytes is None:
            return None
        return (self.added_bytes or 0) - (self.removed_bytes or 0)


def read_figures(snapshot: Snapshot) -> Figures:
    """The figures of a snapshot's own document: the summary keys of Iceberg, the counters of Paimon."""
    summary = snapshot.summary
    return Figures(
        added_files=_parse(summary, "added-data-files"),
        removed_files=_parse(summary, "deleted-data-files"),
        added_rows=_parse(summary, "added-records"),
        removed_rows=_parse(summary, "deleted-records"),
        net_rows=_parse(summary, "deltaRecordCount"),
        added_bytes=_parse(summary, "added-files-size"),
        removed_bytes=_parse(summary, "removed-files-size"),
        rows=snapshot.record_count,
        files=_parse(summary, "total-data-files"),
        delete_files=_parse(summary, "total-delete-files"),
        size=_parse(summary, "total-files-size"),
        position_deletes=_parse(summary, "total-position-deletes"),
        equality_deletes=_parse(summary, "total-equality-deletes"),
    )


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


def _parse(summary: Mapping[str, str], key: str) -> int | None:
    try:
        return int(summary[key])
    except (KeyError, ValueError, TypeError):
        return None
