"""Which jobs wrote the files of a table that keeps no history: by the names of the files and their times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from lakelens.model.datafile import DataFile


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
    """The files grouped by the job that wrote them, newest first."""
    grouped: dict[str | None, list[DataFile]] = {}
    for file in files:
        grouped.setdefault(getattr(file, "write_id", None), []).append(file)
    jobs = [WriteJob(job, tuple(members)) for job, members in grouped.items()]
    never = datetime.min.replace(tzinfo=UTC)
    return sorted(jobs, key=lambda job: job.newest or never, reverse=True)
