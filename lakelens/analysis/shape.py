"""The shape of a set of files and of a table's growth, as plain numbers: what the plots draw.

Sizes are bytes, counts are as recorded. A file whose size or row count is not recorded is counted as 0 there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import field
from datetime import UTC, datetime

from lakelens.lazy import dataclass
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet
from lakelens.model.scan.arrow_files import pick
from lakelens.model.snapshot import Snapshot

# more categories than this are folded into one
MOST_GROUPS = 50


@dataclass(slots=True)
class FileGroup:
    """The files of one partition or bucket: how many, their rows, bytes, and the bytes on each level."""

    name: str
    files: int = 0
    rows: int = 0
    bytes: int = 0
    levels: dict[int | None, int] = field(default_factory=dict)

    def add(self, rows: int, size: int, level: int | None) -> None:
        """Count one file."""
        self.files += 1
        self.rows += rows
        self.bytes += size
        self.levels[level] = self.levels.get(level, 0) + size

    def absorb(self, other: FileGroup) -> None:
        """Count another group in."""
        self.files += other.files
        self.rows += other.rows
        self.bytes += other.bytes
        for level, size in other.levels.items():
            self.levels[level] = self.levels.get(level, 0) + size


@dataclass(frozen=True, slots=True)
class FileShape:
    """Sizes by content, and the groups by partition and by bucket, each at most `MOST_GROUPS` long."""

    sizes: dict[str, list[int]]
    partitions: list[FileGroup]
    buckets: list[FileGroup]


@dataclass(frozen=True, slots=True)
class Moment:
    """The totals after one snapshot, None where the format does not record them.

    `rows` are those that are stored, deleted ones included; `live_rows` those that are left, None where it takes reading.
    """

    committed_at: datetime
    operation: str
    rows: int | None
    files: int | None
    bytes: int | None
    live_rows: int | None = None
    delete_files: int | None = None

    @property
    def mean_size(self) -> int | None:
        """The mean bytes of a data or delete file, which fall as small files come; None where either is not recorded."""
        files = (self.files or 0) + (self.delete_files or 0)
        return None if not self.files or self.bytes is None else self.bytes // files


def measure_files(files: FileSet | Iterable[DataFile]) -> FileShape:
    """Sizes and groups of files; partitions in order of their text, buckets by number.

    >>> import lakelens as ll
    >>> shape = measure_files(ll.sample("paimon").files)
    >>> sum(group.files for group in shape.buckets) == sum(map(len, shape.sizes.values()))
    True
    """
    sizes: dict[str, list[int]] = defaultdict(list)
    partitions: dict[str, FileGroup] = {}
    buckets: dict[int, FileGroup] = {}
    asked = ("content", "record_count", "own_size_bytes", "partition", "bucket", "level")
    for content, recorded, own_size, name, bucket, level in pick(files, *asked):
        rows, size = (recorded or 0) if content == "data" else 0, own_size or 0
        sizes[content].append(size)
        if name:
            partitions.setdefault(name, FileGroup(name)).add(rows, size, level)
        if bucket is not None:
            buckets.setdefault(bucket, FileGroup(str(bucket))).add(rows, size, level)
    by_bucket = [buckets[number] for number in sorted(buckets)]
    return FileShape(
        dict(sizes), fold_groups(partitions.values(), "partitions"), fold_groups(by_bucket, "buckets")
    )


def fold_groups(groups: Iterable[FileGroup], noun: str, most: int = MOST_GROUPS) -> list[FileGroup]:
    """At most `most` groups: the largest by bytes stay, in the order given; the rest become one that says how many.

    >>> groups = [FileGroup("a", bytes=5), FileGroup("b", bytes=1), FileGroup("c", bytes=2)]
    >>> [group.name for group in fold_groups(groups, "days", 2)]
    ['a', '2 other days']
    """
    listed = list(groups)
    if len(listed) <= most:
        return listed
    kept = {id(group) for group in sorted(listed, key=lambda group: -group.bytes)[: most - 1]}
    rest = FileGroup(f"{len(listed) - len(kept):,} other {noun}")
    for group in listed:
        if id(group) not in kept:
            rest.absorb(group)
    return [group for group in listed if id(group) in kept] + [rest]


def measure_growth(snapshots: Iterable[Snapshot]) -> list[Moment]:
    """Measure the totals that snapshots record of themselves, oldest first; no manifest is read."""
    moments = []
    for snapshot in snapshots:
        if snapshot.committed_at is not None:
            figures = snapshot.figures
            operation = snapshot.operation or "unknown"
            live = snapshot.recorded_live_rows.count
            moments.append(
                Moment(
                    snapshot.committed_at,
                    operation,
                    figures.rows,
                    figures.files,
                    figures.size_bytes,
                    live,
                    figures.delete_files,
                )
            )
    return sorted(moments, key=lambda moment: moment.committed_at)


@dataclass(frozen=True, slots=True)
class WriteJob:
    """The files of one job; `id` is None for those whose names name no job."""

    id: str | None
    files: tuple[DataFile, ...]

    @property
    def newest(self) -> datetime | None:
        """When the newest of its files was written, as far as that is known."""
        times = [modified for file in self.files if (modified := getattr(file, "modified", None)) is not None]
        return max(times, default=None)

    @property
    def partition_count(self) -> int:
        """How many partitions it wrote to."""
        return len({str(file.partition) for file in self.files if file.partition})


def find_jobs(files: Iterable[DataFile]) -> list[WriteJob]:
    """Find the files grouped by the job that wrote them, newest first."""
    grouped: dict[str | None, list[DataFile]] = {}
    for file in files:
        grouped.setdefault(getattr(file, "write_id", None), []).append(file)
    jobs = [WriteJob(job, tuple(members)) for job, members in grouped.items()]
    never = datetime.min.replace(tzinfo=UTC)
    return sorted(jobs, key=lambda job: job.newest or never, reverse=True)
