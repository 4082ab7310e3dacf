"""The sorted runs of a primary-key table: what a reader merges, and what starts a compaction.

    level 0            each file is a run of its own, the newest first
    level 1, 2, …      all files of a level are one run: their keys do not overlap

A bucket is compacted once it has `num-sorted-run.compaction-trigger` runs (5), and its writers wait while it has more than
`num-sorted-run.stop-trigger` (3 more). See `Levels` and `MergeTreeCompactManager` of Paimon, and "Compaction" of its
documentation on primary-key tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakelens.formats.paimon.maintenance.settings import Settings

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
    from lakelens.model.fileset import FileSet


@dataclass(frozen=True, slots=True)
class Triggers:
    """How many sorted runs of a bucket start a compaction, and more than how many stop its writers."""

    compaction: int
    stop: int


@dataclass(frozen=True, slots=True)
class BucketRuns:
    """The sorted runs of one bucket: `partition` as text ("" where there are none), and how many files are at level 0."""

    partition: str
    bucket: int
    level_0: int
    runs: int
    files: int
    size_bytes: int


def read_triggers(options: Mapping[str, str]) -> Triggers:
    """The limits by a table's options.

    >>> read_triggers({}), read_triggers({"num-sorted-run.compaction-trigger": "3"})
    (Triggers(compaction=5, stop=8), Triggers(compaction=3, stop=6))
    """
    settings = Settings(options, has_keys=True)
    return Triggers(settings.trigger, settings.stop_trigger)


def count_runs(files: FileSet) -> tuple[BucketRuns, ...]:
    """The sorted runs of each bucket, in the order of partitions and buckets; read by column.

    >>> import lakelens as ll
    >>> [(one.bucket, one.level_0, one.runs) for one in count_runs(ll.sample("paimon").files)]
    [(0, 1, 2)]
    """
    found: dict[tuple[str, int], dict[int, list[int]]] = {}
    for content, partition, bucket, level, size in files.pick(
        "content", "partition", "bucket", "level", "size_bytes"
    ):
        if content == "data":
            levels = found.setdefault((partition or "", bucket or 0), {})
            levels.setdefault(level or 0, []).append(size or 0)
    return tuple(_count_bucket(*key, found[key]) for key in sorted(found))


def _count_bucket(partition: str, bucket: int, levels: Mapping[int, list[int]]) -> BucketRuns:
    level_0 = len(levels.get(0, ()))
    runs = level_0 + sum(level != 0 for level in levels)
    sizes = [size for held in levels.values() for size in held]
    return BucketRuns(partition, bucket, level_0, runs, len(sizes), sum(sizes))


@dataclass(frozen=True, slots=True)
class SortedRun:
    """Files of one level whose keys do not overlap."""

    level: int
    files: tuple[PaimonDataFile, ...]

    @property
    def size_bytes(self) -> int:
        """All their bytes."""
        return sum(file.size_bytes or 0 for file in self.files)


def list_runs(files: Iterable[PaimonDataFile]) -> list[SortedRun]:
    """The runs of one bucket, the newest first: level 0 by the newest record in a file, then level by level."""
    levels: dict[int, list[PaimonDataFile]] = {}
    for file in files:
        levels.setdefault(file.level or 0, []).append(file)
    newest = sorted(levels.pop(0, ()), key=lambda file: (-(file.max_sequence_number or 0), file.file_name))
    runs = [SortedRun(0, (file,)) for file in newest]
    return runs + [SortedRun(level, tuple(levels[level])) for level in sorted(levels)]
