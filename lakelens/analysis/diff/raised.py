"""Files that a compaction only raised to a higher level: the same file, removed and added under one name."""

from __future__ import annotations

from collections.abc import Sequence

from lakelens.analysis.diff.level_promotion import Raised, find_raised
from lakelens.errors import LakeError
from lakelens.model.manifest import Entry
from lakelens.model.snapshot import Snapshot

_MOST_READ = 1_000  # files of a commit that are looked at to tell that they were only raised


def find_raised_by(snapshot: Snapshot) -> Raised | None:
    """The files of a commit that did nothing but raise files to another level; None for any other commit.

    Only the commit's own manifests are read, and only where their list counts as many files added as removed.
    """
    entries = _read_balanced(snapshot)
    before = {e.file.path: e.file.level for e in entries if not e.is_live}
    files = [e.file for e in entries if e.is_live]
    is_raised = all(f.path in before and f.level != before[f.path] for f in files)
    if not files or len(files) != len(before) or not is_raised:
        return None
    return Raised(files, before)


def _read_balanced(snapshot: Snapshot) -> Sequence[Entry]:
    entries: list[Entry] = []
    try:
        deltas = [one for one in snapshot.manifest_lists if one.role == "delta"]
        manifests = [manifest for one in deltas for manifest in one.manifests]
        added = sum(manifest.added_files_count or 0 for manifest in manifests)
        removed = sum(manifest.deleted_files_count or 0 for manifest in manifests)
        if added != removed or not 0 < added <= _MOST_READ:
            return ()
        for manifest in manifests:
            entries += manifest.entries
    except LakeError:
        return ()
    return entries


__all__ = ["Raised", "find_raised", "find_raised_by"]
