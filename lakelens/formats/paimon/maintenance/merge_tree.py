"""What a compaction does with the files of some sorted runs: merge them, or only raise their level.

    sections    files by their keys; those whose keys overlap are merged
    small       a file without overlap below 7/10 of `target-file-size` is rewritten with its neighbours
    large       one that is larger only changes its level, unless it holds deletes and goes to the highest level

A changelog producer that looks rows up may have to rewrite a file all the same. Follows `MergeTreeCompactTask`,
`IntervalPartition`, `LookupMergeTreeCompactRewriter` and `FullChangelogMergeTreeCompactRewriter` of Paimon 0.9 and 2.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.formats.paimon.maintenance.settings import Settings
from lakelens.formats.paimon.maintenance.sorted_runs import SortedRun
from lakelens.formats.paimon.splits import list_sections

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile


@dataclass
class MergeTask:
    """One compaction of a bucket: files that are merged together, those that only change their level, those left alone.

    `changelogs` are the groups whose merge makes a changelog too.
    """

    level: int
    drops_deletes: bool
    merged: list[list[PaimonDataFile]] = field(default_factory=list)
    raised: list[PaimonDataFile] = field(default_factory=list)
    left: list[PaimonDataFile] = field(default_factory=list)
    changelogs: list[list[PaimonDataFile]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not self.merged and not self.raised


class MergePlanner:
    """Plans compactions of the buckets of one table. `vectors` are the names of data files with a deletion vector."""

    def __init__(self, settings: Settings, vectors: frozenset[str], is_new: bool) -> None:
        self.settings = settings
        self._vectors = vectors
        self._is_new = is_new
        self._has_sequence = settings.read("sequence.field", "", str).strip() != ""

    def plan(self, runs: Sequence[SortedRun], taken: int, level: int, levels: int) -> MergeTask:
        """The compaction of the newest `taken` runs to a level."""
        highest = max(run.level for run in runs)
        drops = level != 0 and (level >= highest or self.settings.has_vectors)
        task = MergeTask(level, drops)
        files = [file for run in runs[:taken] for file in run.files]
        waiting: list[list[PaimonDataFile]] = []
        for section in list_sections(files):
            if _overlaps(section):
                waiting.append(section)
                continue
            for file in section:
                if (file.size_bytes or 0) < self.settings.small_size:
                    waiting.append([file])
                    continue
                self._merge(task, waiting, levels)
                self._raise(task, file, levels)
        self._merge(task, waiting, levels)
        return task

    def plan_alone(self, files: Sequence[PaimonDataFile], level: int) -> MergeTask:
        """Each file rewritten for itself: those of the highest level that have deletion vectors (2.0)."""
        return MergeTask(level, True, merged=[[file] for file in files])

    def _merge(self, task: MergeTask, waiting: list[list[PaimonDataFile]], levels: int) -> None:
        """Merge what waits; a single file without overlap is raised instead."""
        if len(waiting) == 1 and not _overlaps(waiting[0]):
            for file in waiting[0]:
                self._raise(task, file, levels)
        elif waiting:
            self._rewrite(task, [file for section in waiting for file in section], levels)
        waiting.clear()

    def _rewrite(self, task: MergeTask, files: list[PaimonDataFile], levels: int) -> None:
        task.merged.append(files)
        producer = self.settings.producer
        is_full = producer == "full-compaction" and task.level == self.settings.levels - 1
        looks_up = producer == "lookup" and any((file.level or 0) == 0 for file in files)
        if is_full or (looks_up and task.level):
            task.changelogs.append(files)

    def _raise(self, task: MergeTask, file: PaimonDataFile, levels: int) -> None:
        if file.level == task.level:
            if self._is_new and file.file_name in self._vectors:
                self._rewrite(task, [file], levels)
            else:
                task.left.append(file)
        elif task.level == levels - 1 and file.delete_row_count != 0:
            self._rewrite(task, [file], levels)  # deletes must not reach the highest level
        elif self._must_rewrite(file, task.level):
            self._rewrite(task, [file], levels)
        else:
            task.raised.append(file)
            if self._makes_changelog(file, task.level):
                task.changelogs.append([file])

    def _looks_up(self) -> bool:
        return self.settings.producer != "full-compaction" and self.settings.needs_lookup

    def _must_rewrite(self, file: PaimonDataFile, level: int) -> bool:
        """Whether a file of level 0 is rewritten, since older rows must be looked up for its rows."""
        if not self._looks_up() or file.level != 0:
            return False
        if self.settings.has_vectors and file.delete_row_count != 0:
            return True
        if level == self.settings.levels - 1:
            return False
        return self.settings.engine != "deduplicate" or self._has_sequence

    def _makes_changelog(self, file: PaimonDataFile, level: int) -> bool:
        producer = self.settings.producer
        if producer == "full-compaction":
            return level == self.settings.levels - 1
        return producer == "lookup" and file.level == 0


def _overlaps(section: Sequence[Any]) -> bool:
    """Whether files of a section share keys: a section of one file does not."""
    return len(section) > 1
