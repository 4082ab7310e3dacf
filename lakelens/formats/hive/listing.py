"""The one state of a Hive-style table: a listing taken now. And the facts that it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from lakelens.formats.access import run_ahead
from lakelens.formats.hive.datafile import HiveFile, fetch_facts
from lakelens.formats.hive.read import Found
from lakelens.model.collections import Document
from lakelens.model.comparison import FileComparison, FileCounts, WholeComparison, identify_copy
from lakelens.model.datafile import DataFile
from lakelens.model.facts.traits import Figures, parse_figure
from lakelens.model.fileset import FileSet
from lakelens.model.snapshot import Snapshot, SnapshotAnswers

if TYPE_CHECKING:
    from lakelens.model.table import Table


_THREADS = 8
_FEW = 4  # no thread is started for these


class ListedFiles(FileSet):
    """The files of a listing. Its one line does not count rows: that would open every file."""

    @property
    def record_count(self) -> int:
        """Rows of the data files by their footers; those of unknown counts are not added."""
        waiting = [
            file for file in self if isinstance(file, HiveFile) and file.size_bytes and not file.is_counted
        ]
        if len(waiting) > _FEW:
            jobs = (partial(file.read_facts, file.file_format) for file in waiting)
            for file, load in zip(waiting, run_ahead(jobs, _THREADS, waiting[0]._access.store), strict=True):
                file.count_rows(load)
        else:
            fetch_facts(waiting)
        return super().record_count

    def __repr__(self) -> str:
        return f"<FileSet {len(self)} files, {self.size_bytes} bytes>"


class ListingComparison(WholeComparison):
    """Two listings. Rows that were kept are not counted: that would open every file."""

    def count_kept(self) -> Mapping[str, FileCounts]:
        """Files and bytes that were kept, by content; rows where every file was opened before."""
        counts: dict[str, FileCounts] = {}
        for found in self.kept:
            rows = found.record_count if getattr(found, "is_counted", True) else None
            one = FileCounts(1, rows, found.own_size_bytes)
            counts[found.content] = counts.get(found.content, FileCounts()) + one
        return counts


def _identify_stored(found: DataFile) -> Hashable:
    return (found.path, found.size_bytes, getattr(found, "modified", None))


def _compare_listings(before: Snapshot, after: HiveListing) -> FileComparison:
    """Compare with another listing. A file of the same name with another size or time is another file."""
    is_copy = isinstance(before, HiveListing) and before._table.location != after._table.location
    return ListingComparison(before.files, after.files, identify_copy if is_copy else _identify_stored)


class HiveListing(Snapshot):
    """A listing of the visible files: it has no id, no parent, and no name; `committed_at` is the newest file's time."""

    answers = SnapshotAnswers(files=lambda listing: listing._files, compare_files=_compare_listings)
    id = None
    _without_bytes = "a listing is stored nowhere: table.files[0].bytes_view() shows a data file"

    def __init__(
        self,
        table: Table,
        found: Sequence[Found],
        files: ListedFiles,
    ) -> None:
        self._table = table
        self._files = files
        self.path = table.location
        self.summary = _summarise(found)
        count, size, partitions = (
            parse_figure(self.summary, f"total-{noun}") for noun in ("data-files", "files-size", "partitions")
        )
        self.figures = Figures(files=count, size_bytes=size, partitions=partitions)
        times = [one.info.modified for one in found if one.is_data and one.info.modified is not None]
        self.committed_at: datetime | None = max(times, default=None)

    def __repr__(self) -> str:
        return f"<Snapshot listing of {self.summary['total-data-files']} files>"


def _summarise(found: Sequence[Found]) -> Document:
    """Count a listing, which is recorded nowhere: files, bytes, partitions, jobs, and files by role."""
    data = [listed for listed in found if listed.is_data]
    counted = {
        "total-data-files": len(data),
        "total-files-size": sum(listed.info.size for listed in data),
        "total-partitions": len({listed.pairs for listed in data if listed.pairs}),
        "write-jobs": len({listed.name.job for listed in data if listed.name.job}),
    }
    roles = Counter(listed.role for listed in found if not listed.is_data)
    return Document({key: str(value) for key, value in (*counted.items(), *sorted(roles.items()))}, "summary")
