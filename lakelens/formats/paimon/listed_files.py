"""The files that some lists of a snapshot name, where they are many: read by column, and made one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.manifest import ADDED, LIVE, PaimonManifest
from lakelens.model.comparison import FileCounts, sum_known
from lakelens.model.datafile import DataFile
from lakelens.model.scan.file_table import FileReader, FileRow
from lakelens.model.scan.plan import ScanTask

if TYPE_CHECKING:
    from lakelens.formats.paimon.context import TableContext
    from lakelens.formats.paimon.scan.plan import PaimonScan
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.model.fileset import FileSet


class ListedFiles(FileReader):
    """Reads the files of manifests that are `kept` (see `PaimonScan`); the live ones as the snapshot sees them."""

    def __init__(
        self, snapshot: PaimonSnapshot, manifests: Sequence[PaimonManifest], kept: str = LIVE
    ) -> None:
        self._snapshot = snapshot
        self.manifests = manifests
        self._kept = kept

    @cached_property
    def _scan(self) -> PaimonScan:
        check = self._snapshot.check_total if self._kept == LIVE else None
        snapshot = self._snapshot
        return plan_scan(snapshot.context, self.manifests, self._kept, (snapshot.id,), check)

    @cached_property
    def tasks(self) -> Sequence[ScanTask]:
        """See `FileReader.tasks`."""
        return plan_tasks(self.manifests, self._kept)

    def measure(self) -> tuple[ScanTask, ...]:
        """See `FileReader.measure`."""
        return self._snapshot.context.access.measure(self.tasks)

    def plan(self) -> PaimonScan:
        """See `FileReader.plan`."""
        return self._scan

    def view(self, row: FileRow) -> PaimonDataFile:
        """See `FileReader.view`."""
        snapshot = self._snapshot
        has_deletes = self._kept == LIVE and snapshot.index_manifest is not None
        shared = {
            "context": snapshot.context,
            "_find_deletes": snapshot.find_deletes if has_deletes else None,
        }
        return PaimonDataFile.of_row(row, self.manifests[row.task], **shared)

    def see(self, found: DataFile) -> DataFile:
        """See `FileReader.see`."""
        is_seen = self._kept == LIVE and isinstance(found, PaimonDataFile)
        return self._snapshot.see(found) if is_seen and isinstance(found, PaimonDataFile) else found

    def first(self) -> Iterator[DataFile]:
        """See `FileReader.first`: where some entries delete, all must be read to know which files are left."""
        for manifest in () if self._scan.removes else self.manifests:
            try:
                for entry in manifest.iterate_entries():
                    if entry.is_live == (self._kept in (LIVE, ADDED)):
                        yield self.see(entry.file)
            except LakeError:
                continue

    def count(self) -> FileCounts | None:
        """See `FileReader.count`. A list does not record rows."""
        added = sum_known(*(manifest.num_added_files for manifest in self.manifests))
        deleted = sum_known(*(manifest.num_deleted_files for manifest in self.manifests))
        if self._kept == LIVE:
            return FileCounts(None if added is None or deleted is None else added - deleted, None, None)
        return FileCounts(added if self._kept == ADDED else deleted, None, None)

    def conclude(self, files: FileSet) -> None:
        """See `FileReader.conclude`."""
        if not self._scan.is_whole:
            self._snapshot.is_incomplete = True
        if self._kept == LIVE and not len(files):
            self.note_absence()

    def check_merged(self, files: Sequence[DataFile]) -> None:
        """Compare the live files, which were read one by one, with what the snapshot records."""
        self._snapshot.check_total(sum(file.record_count or 0 for file in files))
        if not files:
            self.note_absence()

    def note_absence(self) -> None:
        """Keep as an error that a snapshot shows no file which should have some: by its document, or its lists."""
        snapshot, listed = self._snapshot, self.count()
        message = snapshot.figures.explain_emptiness(
            None if listed is None else listed.files, "manifest lists"
        )
        if message is not None:
            text = f"snapshot {snapshot.id}: {message}"
            snapshot.context.findings.add("error", "no-files", snapshot.path or "", text, (snapshot.id,))


def plan_tasks(manifests: Sequence[PaimonManifest], kept: str = LIVE) -> tuple[ScanTask, ...]:
    """Plan one task for each manifest, in order. Only in a set of live files does a DELETE entry remove anything."""
    tasks = []
    for position, manifest in enumerate(manifests):
        added, deleted = manifest.num_added_files, manifest.num_deleted_files
        task = ScanTask(
            position,
            manifest.path,
            manifest.file_size or 0,
            None if added is None or deleted is None else added + deleted,
            kept == LIVE and deleted != 0,
            (manifest.content, dict(manifest.raw)),
        )
        tasks.append(task)
    return tuple(tasks)


def plan_scan(
    context: TableContext,
    manifests: Iterable[Any],
    kept: str = LIVE,
    snapshots: tuple[int, ...] = (),
    check_total: Callable[[int], None] | None = None,
) -> PaimonScan:
    """Plan to read the entries of some manifests, of one snapshot or of several; they are folded in this order."""
    from lakelens.formats.paimon.scan.plan import PaimonScan

    tasks, columns = plan_tasks(tuple(manifests), kept), context.describe_columns()
    return PaimonScan(context, columns, tasks, kept, snapshots, check_total=check_total)
