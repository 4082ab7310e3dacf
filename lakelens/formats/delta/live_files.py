"""The live files of a version where they are many: read by column, and made one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.delta.action_file import DeltaFile, find_deletes
from lakelens.formats.delta.manifests import make_entry
from lakelens.model.comparison import FileCounts
from lakelens.model.scan.file_table import FileReader, FileRow
from lakelens.model.scan.plan import ScanRequest, ScanTask
from lakelens.model.scan.scan_to_arrow import is_worthwhile, iterate_batches

if TYPE_CHECKING:
    from lakelens.formats.delta.scan.log_scan import LogScan
    from lakelens.formats.delta.version import DeltaSnapshot
    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import FileSet
    from lakelens.model.manifest import Entry


class _Home:
    """A file of the log, whose adds are read one by one."""

    folded = ()

    def __init__(self, scan: LogScan, task: ScanTask) -> None:
        self._scan, self._task = scan, task

    def read_entry(self, number: int) -> Entry:
        """Read the entry of an add. Raises `LakeError`."""
        context = self._scan.context
        return make_entry(self._scan.read_action(self._task, number), context, self._task.line[1])


class LiveFiles(FileReader):
    """Reads the live files of a version."""

    def __init__(self, snapshot: DeltaSnapshot) -> None:
        self._snapshot = snapshot

    @cached_property
    def tasks(self) -> tuple[ScanTask, ...]:
        """See `FileReader.tasks`. None where the log is damaged: then the files are reconciled one by one."""
        if not self._snapshot.state.is_whole:
            return ()
        return tuple(
            ScanTask(place, one.path, one.size_bytes or 0, removes=True, line=(one.version, one.kind))
            for place, one in enumerate(self._snapshot.manifests)
        )

    @cached_property
    def _scan(self) -> LogScan:
        """The plan: checkpoints are opened for it, to know how many rows they have."""
        from lakelens.formats.delta.scan.log_scan import LogScan

        context, tasks = self._snapshot.context, []
        for task in self.tasks:
            try:
                opened = context.open_columns(task.path) if task.path.endswith(".parquet") else None
            except LakeError:  # refused when it is read
                opened = None
            if opened is not None:
                task = replace(task, entries=opened.row_count, removes="remove" in opened.structs)
            tasks.append(task)
        return LogScan(context, context.file_columns, tasks, self._snapshot.id)

    def measure(self) -> tuple[ScanTask, ...]:
        """See `FileReader.measure`. Sizes are those of the listing already."""
        return self.tasks

    def plan(self) -> LogScan:
        """See `FileReader.plan`."""
        return self._scan

    def view(self, row: FileRow) -> DeltaFile:
        """See `FileReader.view`."""
        context = self._snapshot.context
        home = _Home(self._scan, self._scan.tasks[row.task])
        shared = {"_context": context, "_source": context.source(), "_find_deletes": find_deletes}
        return DeltaFile.of_row(row, home, **shared)

    def first(self) -> Iterator[DataFile]:
        """See `FileReader.first`: all must be read to know which files are left, but for those of one checkpoint."""
        return iter(())

    def count(self) -> FileCounts | None:
        """See `FileReader.count`: by what identifies the files alone. Their statistics are not read for it."""
        if not is_worthwhile(self.tasks):
            return None
        request = ScanRequest(False, ())
        files = sum(batch.rows for batch in iterate_batches(self._scan, request))
        return FileCounts(files, None, None) if self._scan.is_whole else None

    def conclude(self, files: FileSet) -> None:
        """See `FileReader.conclude`."""
        self._snapshot.note_doubles(path for (path,) in files.pick("recorded_path"))
