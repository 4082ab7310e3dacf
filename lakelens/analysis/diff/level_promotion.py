"""Files that a compaction only raised to a higher level: the same file, removed and added under one name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lakelens.analysis.diff.diff import Diff, PartitionChange
from lakelens.model.datafile import DataFile


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
        """What happened to them: `raised from level 0 to 5`."""
        is_raised = all((f.level or 0) > (self.levels[f.path] or 0) for f in self.files)
        return f"{'raised' if is_raised else 'moved'} {self.span}"

    @property
    def span(self) -> str:
        """From which level to which, in words."""
        before = sorted({level for level in self.levels.values() if level is not None})
        after = sorted({found.level for found in self.files if found.level is not None})
        return f"from level {_word(before)} to {_word(after)}"

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
