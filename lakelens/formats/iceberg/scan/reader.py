"""Reads manifests by column: from the tasks of a scan to `FileBatch`es, in order.

Manifests are decoded in groups of one Avro schema (`codecs.avro_arrow`). Whatever cannot be read by column goes by the
record path, from the first entry concerned to the end of its manifest: damage, entries that describe no file, fields
of other types than the specification's, partitions of a spec that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from lakelens.codecs.avro.bulk import FileGroup, FilePart, decode_files
from lakelens.errors import LakeError
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.formats.iceberg.manifests.records import EntryReader
from lakelens.formats.iceberg.scan.batch import build_batch
from lakelens.formats.iceberg.scan.entries import (
    Declined,
    EntryColumns,
    Inherited,
    ManifestRows,
    check_types,
    inherit,
)
from lakelens.formats.iceberg.scan.records import batch_records
from lakelens.formats.iceberg.scan.stats import check_lists
from lakelens.model.scan.plan import FileBatch, ScanRequest, ScanTask

if TYPE_CHECKING:
    import pyarrow as pa

#: Decompressed bytes of manifests that are decoded at once.
GROUP_BYTES = 4 * 1024 * 1024
FEW_ROWS = 256  # of many columns: then a batch costs more than its rows


def read_records(
    context: TableContext, tasks: Sequence[ScanTask], request: ScanRequest, snapshots: Sequence[int]
) -> Iterator[FileBatch]:
    """The files of some manifests, record by record."""
    for task in tasks:
        yield from _read_manifest(context, task, 0, request, snapshots)


def _read_manifest(
    context: TableContext, task: ScanTask, start: int, request: ScanRequest, snapshots: Sequence[int]
) -> Iterator[FileBatch]:
    manifest = IcebergManifest(context, task.line, None)
    entries, error = manifest.walk()
    if error is not None:
        context.findings.add_error(error, manifest.path, snapshots)
    if len(entries) > start:
        yield batch_records(context, entries[start:], task.position, start, request)


class ColumnarReader:
    """One reading of some tasks."""

    def __init__(
        self, context: TableContext, tasks: Sequence[ScanTask], request: ScanRequest, snapshots: Sequence[int]
    ) -> None:
        self.context = context
        self.tasks = tasks
        self.request = request
        self.snapshots = snapshots
        self._opened: list[tuple[ScanTask, IcebergManifest]] = []
        self._given_up = -1
        self._next_row_ids: dict[int, int] = {}

    def read(self) -> Iterator[FileBatch]:
        """The batches, in order."""
        for group in decode_files(self._load(), limit=GROUP_BYTES, few_rows=FEW_ROWS):
            if group.table is None:
                yield from self._give_up(group.parts[0].file, group.parts[0].start)
            else:
                yield from self._read_group(group)
            del group  # or it would be there beside the next one

    def _load(self) -> Iterator[bytes]:
        """The bytes of each manifest that has a header; damage becomes a finding."""
        for task in self.tasks:
            manifest = IcebergManifest(self.context, task.line, None)
            try:
                data = manifest.open()
            except LakeError as error:
                self.context.findings.add_error(error, manifest.path, self.snapshots)
                continue
            self._opened.append((task, manifest))
            yield data

    def _give_up(self, file: int, start: int) -> Iterator[FileBatch]:
        if file != self._given_up:
            self._given_up = file
            task = self._opened[file][0]
            yield from _read_manifest(self.context, task, start, self.request, self.snapshots)

    def _read_group(self, group: FileGroup) -> Iterator[FileBatch]:
        """Runs of manifests of one spec; where one is declined, each manifest of it by itself."""
        assert group.table is not None
        begin = 0
        located = []
        for part in group.parts:
            located.append((part, begin))
            begin += part.rows or 0

        def tell_spec(place: tuple[FilePart, int]) -> int:
            return self._opened[place[0].file][1].partition_spec_id

        for _, run in groupby(located, tell_spec):
            yield from self._read_run(list(run), group.table)

    def _read_run(self, run: Sequence[tuple[FilePart, int]], table: pa.Table) -> Iterator[FileBatch]:
        run = [(part, begin) for part, begin in run if part.rows and part.file != self._given_up]
        if not run:
            return
        rows = sum(part.rows or 0 for part, _ in run)
        try:
            batch = self._build([part for part, _ in run], table.slice(run[0][1], rows))
        except Declined:
            if len(run) == 1:
                part, _ = run[0]
                yield from self._give_up(part.file, part.start)
                return
            for one in run:
                yield from self._read_run([one], table)
            return
        yield batch

    def _build(self, parts: Sequence[FilePart], table: pa.Table) -> FileBatch:
        header = parts[0].header
        assert header is not None
        manifests = [
            ManifestRows(
                self._opened[part.file][1], self._opened[part.file][0].position, part.start, part.rows or 0
            )
            for part in parts
        ]
        try:
            reader = EntryReader(header.record, manifests[0].manifest.path)
        except LakeError as error:
            raise Declined(str(error)) from error
        entries = EntryColumns(table, reader, header.record)
        check_types(entries)
        check_lists(entries)
        inherited: Inherited = inherit(entries, manifests, self._next_row_ids)
        if inherited.bad.any():
            raise Declined("an entry that the record path refuses")
        batch = build_batch(self.context, entries, inherited, manifests, self.request)
        self._next_row_ids.update(inherited.next_row_ids)
        return batch
