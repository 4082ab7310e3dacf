"""The plan to read an Iceberg table's files, or its entries, by column: one task for each manifest of the list.

Made from the manifest list alone. A pickled scan takes along what its other end needs: the store, where recorded locations
are now, schemas, specs and properties of the metadata document, but none of its snapshots. Manifests are decoded in groups
of one Avro schema (`codecs.avro.bulk`), Parquet manifests one by one, and built in runs of one schema and partition spec.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from lakelens.errors import LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.manifests.containers import ParquetHeader, iterate_tables, read_head
from lakelens.formats.iceberg.manifests.header import learn_from_header
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.formats.iceberg.metadata.document import decode_document
from lakelens.formats.iceberg.metadata.wire import WireMetadata
from lakelens.formats.iceberg.scan.batch import build_batch, encode_files
from lakelens.formats.iceberg.scan.entries import OpenManifest
from lakelens.io.ahead import fetch_along
from lakelens.io.tracing import TracingStore
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileColumns
from lakelens.model.scan.columnar import ColumnarScan, Part
from lakelens.model.scan.files_to_arrow import batch_entries
from lakelens.model.scan.plan import FileBatch, ScanRequest, ScanTask

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.avro.bulk import BulkGroup

#: Decompressed bytes of manifests that are decoded at once.
GROUP_BYTES = 4 * 1024 * 1024
FEW_ROWS = 256  # of many columns: then a batch costs more than its rows
RUN_ROWS = 16_384  # of Parquet manifests that are built together
#: What decoding manifests needs of the metadata document.
_NEEDED = (
    *("format_version", "table_uuid", "location", "schema", "schemas", "current_schema_id", "partition_spec"),
    *("partition_specs", "default_spec_id", "properties"),
)


class IcebergScan(ColumnarScan):
    """Reads the files of some manifests. Nothing is removed from elsewhere: an entry that deletes a file stands for it."""

    totals = ("content", "record_count", "size_bytes", "content_size_in_bytes")
    facts = (
        *(
            "content",
            "path",
            "recorded_path",
            "file_format",
            "record_count",
            "size_bytes",
            "spec_id",
            "manifest",
        ),
        *("snapshot_id", "sequence_number", "file_sequence_number", "first_row_id", "content_offset"),
        "content_size_in_bytes",
    )
    absent = ("bucket", "level", "schema_id")

    context: TableContext

    def __init__(
        self,
        context: TableContext,
        tasks: Sequence[ScanTask],
        snapshots: Sequence[int] = (),
        *,
        fast: bool | None = None,
    ) -> None:
        self.context = context
        self.snapshots = tuple(snapshots)
        self.tasks = tuple(tasks)
        self.fast = fast

    @property
    def columns(self) -> FileColumns:  # type: ignore[override]
        """As far as is known by now: manifests that are read may add some."""
        return self.context.describe_columns()

    def load(self, tasks: Sequence[ScanTask]) -> Iterator[list[Part]]:
        """See `ColumnarScan.load`."""
        from lakelens.codecs.avro.bulk import decode_files

        opened: list[OpenManifest] = []
        waiting: list[Part] = []
        for group in decode_files(self._open_all(tasks, opened), limit=GROUP_BYTES, few_rows=FEW_ROWS):
            if opened[group.parts[0].file].stored:
                for part in _read_parquet(opened[group.parts[0].file]):
                    if waiting and not _go_together(waiting, part):
                        yield waiting
                        waiting = []
                    waiting.append(part)
            else:
                if waiting:
                    yield waiting
                    waiting = []
                yield from _cut_runs(group, opened)
            del group  # or it would be there beside the next one
        if waiting:
            yield waiting

    def build(self, parts: Sequence[Part], request: ScanRequest, removals: pa.Table | None) -> FileBatch:
        """See `ColumnarScan.build`."""
        return build_batch(self.context, parts, request)

    def records(
        self, task: ScanTask, start: int, request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """See `ColumnarScan.records`."""
        entries, error = IcebergManifest(self.context, task.line, None).walk()
        if error is not None:
            self.refuse(task, error)
        numbered = list(enumerate(entries))[start:]
        if numbered:
            chosen = [one for one in numbered if request.entries or one[1].is_live]
            encode = encode_files if request.identity else None
            yield batch_entries(chosen, self.columns, request, task.position, encode)

    def encode(self, files: Sequence[DataFile]) -> pa.Array:
        """See `FileScan.encode`."""
        return encode_files(files)

    def with_tasks(self, tasks: Sequence[ScanTask]) -> IcebergScan:
        """The same scan over other tasks."""
        return IcebergScan(self.context, tasks, self.snapshots, fast=self.fast)

    def _open_all(self, tasks: Sequence[ScanTask], opened: list[OpenManifest]) -> Iterator[bytes]:
        """Open the bytes of each Avro file that has a header; of a Parquet manifest, which is read elsewhere, none."""
        for task in tasks:
            manifest = IcebergManifest(self.context, task.line, None)
            try:
                data = manifest.open()
            except LakeError as error:
                self.refuse(task, error)
                continue
            one = OpenManifest(task, manifest)
            opened.append(one)
            if isinstance(manifest.stored_header, ParquetHeader):
                one.header, one.stored, data = manifest.stored_header, data, b""
            yield data

    def __getstate__(self) -> dict[str, Any]:
        return {
            "context": _pack_context(self.context),
            "snapshots": self.snapshots,
            "tasks": self.tasks,
            "fast": self.fast,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        store, locator, path, text, columns = state["context"]
        access = TableAccess(TracingStore(store), locator)
        context = TableContext(access, decode_document(text, path), columns=columns)
        self.__init__(context, state["tasks"], state["snapshots"], fast=state["fast"])  # type: ignore[misc]


def _cut_runs(group: BulkGroup, opened: Sequence[OpenManifest]) -> Iterator[list[Part]]:
    """Runs of manifests of one partition spec; a part that cannot be decoded stands alone in its group."""
    first, parts = 0, []
    for found in group.parts:
        manifest, rows = opened[found.file], found.rows or 0
        manifest.header = found.header
        if rows or group.table is None:
            parts.append(Part(manifest.task, group.table, found.start, rows, first, manifest))
        first += rows
    for _, run in groupby(parts, lambda part: part.manifest.spec_id):
        yield list(run)


def _read_parquet(manifest: OpenManifest) -> Iterator[Part]:
    """Read the parts of a Parquet manifest; the last has no table where the rest cannot be decoded."""
    data, header, start = manifest.stored, manifest.header, 0
    manifest.stored = b""
    assert isinstance(header, ParquetHeader)
    try:
        for table in iterate_tables(data, manifest.task.path, header):
            yield Part(manifest.task, table, start, table.num_rows, 0, manifest)
            start += table.num_rows
    except LakeError:  # the record path names it
        yield Part(manifest.task, None, start, 0, 0, manifest)


def _go_together(parts: Sequence[Part], part: Part) -> bool:
    """Check whether a part of a Parquet manifest can be built with those before it."""
    one, other = parts[0].manifest, part.manifest
    if parts[-1].table is None or part.table is None or sum(known.rows for known in parts) >= RUN_ROWS:
        return False
    if parts[-1].manifest is other:  # its row ids count on from what is built before
        return False
    is_same = one.spec_id == other.spec_id and one.header.schema == other.header.schema
    return is_same and bool(parts[0].table is not None and parts[0].table.schema == part.table.schema)


def plan_scan(
    context: TableContext, manifests: Iterable[IcebergManifest], snapshots: Sequence[int] = ()
) -> IcebergScan:
    """Plan a scan of these manifests, each once."""
    tasks = plan_tasks(manifests)
    has_deletes = any(task.line.get("content") for task in tasks)
    context.columns.expect_reserved(context.typed.format_version or 1, has_deletes)
    known, store = context.schemas.structs, context.access.store
    # an older schema may be missing from the document: version 1 keeps none, and tools take them out
    if context.typed.schemas is None or len(known) <= max(known):
        for task in fetch_along(store, tasks, lambda task: (task.path, task.size_bytes)):
            with suppress(LakeError):  # whatever is wrong is found when the manifest is read
                header = read_head(store, task.path)
                learn_from_header(context, header, task.line.get("partition_spec_id"), task.path)
    return IcebergScan(context, tasks, snapshots)


def plan_tasks(manifests: Iterable[IcebergManifest]) -> list[ScanTask]:
    """Plan one task for each manifest, each once; no manifest is read."""
    return [_plan_task(position, manifest) for position, manifest in enumerate(dict.fromkeys(manifests))]


def _plan_task(position: int, manifest: IcebergManifest) -> ScanTask:
    line = {**manifest.raw, "added_snapshot_id": manifest.added_snapshot_id}
    length = manifest.manifest_length
    size = length if isinstance(length, int) and length > 0 else 0
    counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
    known = [count for count in counts if isinstance(count, int)]
    return ScanTask(
        position, manifest.path, size, sum(known) if len(known) == len(counts) else None, line=line
    )


def _pack_context(context: TableContext) -> tuple[Any, ...]:
    needed = WireMetadata(**{name: getattr(context.typed, name) for name in _NEEDED})
    access = context.access
    text = msgspec.json.encode(needed)
    return access.store.inner, access.locator, context.document.path, text, context.columns
