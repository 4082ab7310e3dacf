"""The live files of some manifests of a snapshot, where they are many: read by column, and made one by one.

And what all of them together must agree with: the totals of the summary, and that every delete reaches a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest, count_line
from lakelens.formats.iceberg.scan.plan import plan_scan, plan_tasks
from lakelens.model.comparison import FileCounts, count_by_content, sum_known
from lakelens.model.facts.traits import parse_figure
from lakelens.model.scan.file_table import FileReader, FileRow
from lakelens.model.scan.plan import ScanTask

if TYPE_CHECKING:
    from lakelens.formats.iceberg.scan.plan import IcebergScan
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import FileSet


class LiveFiles(FileReader):
    """Reads the files of manifests as a snapshot sees them; of all its manifests it compares the totals (`is_all`)."""

    def __init__(
        self, snapshot: IcebergSnapshot, manifests: Iterable[IcebergManifest], *, is_all: bool = False
    ) -> None:
        self._snapshot = snapshot
        self.manifests = tuple(dict.fromkeys(manifests))
        self._is_all = is_all

    @cached_property
    def _scan(self) -> IcebergScan:
        return plan_scan(self._snapshot.context, self.manifests, (self._snapshot.id,))

    @cached_property
    def tasks(self) -> Sequence[ScanTask]:
        """See `FileReader.tasks`."""
        return plan_tasks(self.manifests)

    def measure(self) -> tuple[ScanTask, ...]:
        """See `FileReader.measure`."""
        return self._snapshot.context.access.measure(self.tasks)

    def plan(self) -> IcebergScan:
        """See `FileReader.plan`."""
        return self._scan

    def view(self, row: FileRow) -> IcebergDataFile:
        """See `FileReader.view`."""
        snapshot = self._snapshot
        shared = {"_context": snapshot.context, "_find_deletes": snapshot.find_deletes}
        return IcebergDataFile.of_row(row, self.manifests[row.task], **shared)

    def see(self, found: DataFile) -> DataFile:
        """See `FileReader.see`."""
        return found.with_deletes(self._snapshot.find_deletes)

    def first(self) -> Iterator[DataFile]:
        """See `FileReader.first`. What stops a manifest from being read becomes a finding when all are."""
        for manifest in self.manifests:
            try:
                for entry in manifest.iterate_entries():
                    if entry.is_live:
                        yield self.see(entry.file)
            except LakeError:
                continue

    def count(self) -> FileCounts | None:
        """See `FileReader.count`."""
        lines = [(manifest.content == "data", count_line(manifest)) for manifest in self.manifests]
        rows = sum_known(*(line.rows for is_data, line in lines if is_data))
        return FileCounts(sum_known(*(line.files for _, line in lines)), rows, None)

    def conclude(self, files: FileSet) -> None:
        """See `FileReader.conclude`."""
        if self._is_all and self._scan.is_whole:
            check_files(self._snapshot, files)
        if self._is_all and not len(files):
            note_absence(self._snapshot)


def note_absence(snapshot: IcebergSnapshot) -> None:
    """Keep as an error that a snapshot shows no file which should have some: by its summary, or its manifest list.

    Not where something of the table is only not readable here, which is said already: encrypted manifests, for one.
    """
    if any(finding.code == "unsupported" for finding in snapshot.context.findings):
        return
    listed = [count_line(manifest).files or 0 for manifest in dict.fromkeys(snapshot.manifests)]
    message = snapshot.figures.explain_emptiness(sum(listed), "manifest list")
    if message is not None:
        path = snapshot.path or snapshot.context.document.path
        text = f"snapshot {snapshot.id}: {message}"
        snapshot.context.findings.add("error", "no-files", path, text, (snapshot.id,))


def check_files(snapshot: IcebergSnapshot, files: FileSet | Sequence[IcebergDataFile]) -> None:
    """Compare all files with what the summary records, and keep deletes that reach nothing as a finding."""
    found = count_by_content(files)
    data = found.pop("data", FileCounts())
    deletes = sum(found.values(), FileCounts())
    snapshot.counted = (data, deletes)
    counted = {
        "total-records": data.rows,
        "total-data-files": data.files,
        "total-delete-files": deletes.files,
        "total-files-size": (data + deletes).bytes,
    }
    for key, seen in counted.items():
        recorded = parse_figure(snapshot.summary, key)
        if recorded is not None and recorded != seen:
            message = f"snapshot {snapshot.id} records {key} {recorded}, its manifests add up to {seen}"
            snapshot.add_warning(key, snapshot.context.document.path, message)
    if deletes.files:
        _note_dangling(snapshot, files)


def _note_dangling(snapshot: IcebergSnapshot, files: Any) -> None:
    """Keep deletes that reach nothing as a finding, as far as the metadata shows; no delete file is read."""
    from lakelens.formats.iceberg.deletes.dangling import find_dangling
    from lakelens.formats.iceberg.deletes.matching import DeleteIndex

    found = list(find_dangling(DeleteIndex(files, snapshot.delete_reader), files, read=False))
    if found:
        rows = sum(dangling.record_count or 0 for dangling in found)
        counted = "1 delete" if rows == 1 else f"{rows:,} deletes"
        one = len(found) == 1
        some = (
            f"1 delete file ({counted}) reaches" if one else f"{len(found):,} delete files ({counted}) reach"
        )
        path = snapshot.path or snapshot.context.document.path
        snapshot.add_warning("dangling-deletes", path, f"{some} no live data file")
