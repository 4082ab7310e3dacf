"""Files that a compaction only raised to a higher level: the same file, removed and added under one name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lakelens.errors import LakeError
from lakelens.model.datafile import DataFile
from lakelens.model.diff import Diff, PartitionChange
from lakelens.model.manifest import Entry
from lakelens.model.snapshot import Snapshot

_MOST_READ = 1_000  # files of a commit that are looked at to tell that they were only raised


@dataclass(frozen=True)
class Raised:
    """The files as they are now, and the level of each before, by path."""

    files: Sequence[DataFile]
    levels: Mapping[str, int | None]

    @cached_property
    def paths(self) -> frozenset[str]:
        """Where they lie."""
        return frozenset(self.levels)

    @property
    def words(self) -> str:
        """From which level to which, in words."""
        before = sorted({level for level in self.levels.values() if level is not None})
        after = sorted({found.level for found in self.files if found.level is not None})
        return f"raised from level {_word(before)} to {_word(after)}"

    def leave_out(self, change: PartitionChange) -> PartitionChange | None:
        """What changed in a partition besides; None when that is nothing."""
        mine = [found for found in self.files if str(found.partition) == change.partition]
        if not mine:
            return change
        rows = sum(found.record_count or 0 for found in mine)
        size = sum(found.size_bytes or 0 for found in mine)
        left = replace(
            change,
            added_files=change.added_files - len(mine),
            removed_files=change.removed_files - len(mine),
            added_rows=change.added_rows - rows,
            removed_rows=change.removed_rows - rows,
            added_bytes=change.added_bytes - size,
            removed_bytes=change.removed_bytes - size,
        )
        return left if left.added_files or left.removed_files else None


def _word(levels: Sequence[int]) -> str:
    return " and ".join(str(level) for level in levels) if levels else "unknown"


def find_raised(diff: Diff) -> Raised:
    """The data files that were removed and added again at another level, their bytes as they were."""
    before = {f.path: f.level for f in diff.removed if f.level is not None and f.content == "data"}
    files = [f for f in diff.added if f.path in before and f.level != before[f.path]] if before else []
    return Raised(files, {f.path: before[f.path] for f in files})


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
