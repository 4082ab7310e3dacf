"""Files that a compaction only raised to a higher level: the same file, removed and added under one name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.model.datafile import DataFile
from lakelens.model.manifest import Entry
from lakelens.model.snapshot import Snapshot

if TYPE_CHECKING:
    from lakelens.analysis.diff.diff import PartitionChange
    from lakelens.model.fileset import FileSet

_MOST_READ = 1_000  # files of a commit that are read to see whether they were only raised


@dataclass(frozen=True)
class Raised:
    """The files as they are now, and the level of each before, by path."""

    files: Sequence[DataFile]
    levels: Mapping[str, int | None]

    @cached_property
    def paths(self) -> frozenset[str]:
        """Their paths."""
        return frozenset(self.levels)

    @property
    def words(self) -> str:
        """What happened to them: `raised from level 0 to 5`."""
        is_raised = all((f.level or 0) > (self.levels[f.path] or 0) for f in self.files)
        return f"{'raised' if is_raised else 'moved'} {self.span}"

    @property
    def span(self) -> str:
        """From which level to which: `from level 0 to 5`."""
        before = sorted({level for level in self.levels.values() if level is not None})
        after = sorted({found.level for found in self.files if found.level is not None})
        return f"from level {_join(before)} to {_join(after)}"

    def leave_out_of(self, files: FileSet) -> FileSet:
        """The files that are not among these."""
        return files.choose(lambda path: path not in self.paths, "path") if self.files else files

    def leave_out(self, change: PartitionChange) -> PartitionChange | None:
        """What else changed in a partition; None when nothing else did."""
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


def _join(levels: Sequence[int]) -> str:
    return " and ".join(str(level) for level in levels) if levels else "unknown"


def find_raised(added: FileSet, removed: FileSet) -> Raised:
    """The data files that were removed and added again at another level, their bytes as they were."""
    gone = removed.pick("path", "level", "content")
    before = {path: level for path, level, content in gone if level is not None and content == "data"}
    if not before:
        return Raised((), {})
    files = list(added.choose(lambda path, level: path in before and level != before[path], "path", "level"))
    return Raised(files, {f.path: before[f.path] for f in files})


def find_raised_by(snapshot: Snapshot) -> Raised | None:
    """The files of a commit that did nothing but raise files to another level; None for any other commit.

    Only the commit's own manifests are read, and only where their list counts equally many files added and removed.
    """
    entries = _read_balanced(snapshot)
    before = {e.file.path: e.file.level for e in entries if not e.is_live}
    files = [e.file for e in entries if e.is_live]
    is_raised = all(f.path in before and f.level != before[f.path] for f in files)
    return Raised(files, before) if files and len(files) == len(before) and is_raised else None


def _read_balanced(snapshot: Snapshot) -> Sequence[Entry]:
    """The entries of a commit that adds as many files as it removes; none of any other, or of one that is damaged."""
    try:
        deltas = [one for one in snapshot.manifest_lists if one.role == "delta"]
        manifests = [manifest for one in deltas for manifest in one.manifests]
        added = sum(manifest.added_files_count or 0 for manifest in manifests)
        removed = sum(manifest.deleted_files_count or 0 for manifest in manifests)
        if added != removed or not 0 < added <= _MOST_READ:
            return ()
        return [entry for manifest in manifests for entry in manifest.entries]
    except LakeError:
        return ()
