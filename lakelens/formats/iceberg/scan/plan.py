"""The plan to read an Iceberg table's files, or its entries, by column: one task for each manifest of the list.

Made from the manifest list alone. A pickled scan takes along what its other end needs: the store, where recorded locations
are now, schemas, specs and properties of the metadata document, but none of its snapshots. Manifests are decoded in groups
of one Avro schema (`codecs.avro.bulk`) and built in runs of one partition spec.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from lakelens.errors import LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.manifests.header import learn_from_header
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest, decode_head
from lakelens.formats.iceberg.metadata.document import decode_document
from lakelens.formats.iceberg.metadata.wire import WireMetadata
from lakelens.formats.iceberg.scan.batch import build_batch, encode_files
from lakelens.formats.iceberg.scan.entries import OpenManifest
from lakelens.io.tracing import TracingStore
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileColumns
from lakelens.model.finding import Findings
from lakelens.model.scan.columnar import ColumnarScan, Part
from lakelens.model.scan.files_to_arrow import batch_entries
from lakelens.model.scan.plan import FileBatch, ScanRequest, ScanTask

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.avro.bulk import FileGroup

#: Decompressed bytes of manifests that are decoded at once.
GROUP_BYTES = 4 * 1024 * 1024
FEW_ROWS = 256  # of many columns: then a batch costs more than its rows
#: Headers are rarely longer: they hold a table schema and the Avro schema of an entry.
HEADER_BYTES = 64 * 1024
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

    def __init__(
        self,
        context: TableContext,
        tasks: Sequence[ScanTask],
        snapshots: Sequence[int] = (),
        *,
        fast: bool | None = None,
    ) -> None:
        self._context = context
        self.snapshots = tuple(snapshots)
        self.tasks = tuple(tasks)
        self.fast = fast

    @property
    def findings(self) -> Findings:
        """See `FileScan.findings`."""
        return self._context.findings

    @property
    def columns(self) -> FileColumns:  # type: ignore[override]
        """As far as is known by now: manifests that are read may add some."""
        return self._context.describe_columns()

    def load(self, tasks: Sequence[ScanTask]) -> Iterator[list[Part]]:
        """See `ColumnarScan.load`."""
        from lakelens.codecs.avro.bulk import decode_files

        opened: list[OpenManifest] = []
        for group in decode_files(self._open_all(tasks, opened), limit=GROUP_BYTES, few_rows=FEW_ROWS):
            yield from _cut_runs(group, opened)
            del group  # or it would be there beside the next one

    def build(self, parts: Sequence[Part], request: ScanRequest, removals: pa.Table | None) -> FileBatch:
        """See `ColumnarScan.build`."""
        return build_batch(self._context, parts, request)

    def records(
        self, task: ScanTask, start: int, request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """See `ColumnarScan.records`."""
        entries, error = IcebergManifest(self._context, task.line, None).walk()
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
        return IcebergScan(self._context, tasks, self.snapshots, fast=self.fast)

    def _open_all(self, tasks: Sequence[ScanTask], opened: list[OpenManifest]) -> Iterator[bytes]:
        """The bytes of each manifest that has a header."""
        for task in tasks:
            manifest = IcebergManifest(self._context, task.line, None)
            try:
                data = manifest.open()
            except LakeError as error:
                self.refuse(task, error)
                continue
            opened.append(OpenManifest(task, manifest))
            yield data

    def __getstate__(self) -> dict[str, Any]:
        return {
            "context": _pack_context(self._context),
            "snapshots": self.snapshots,
            "tasks": self.tasks,
            "fast": self.fast,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        context = _unpack_context(state["context"])
        self.__init__(context, state["tasks"], state["snapshots"], fast=state["fast"])  # type: ignore[misc]


def _cut_runs(group: FileGroup, opened: Sequence[OpenManifest]) -> Iterator[list[Part]]:
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


def plan_scan(
    context: TableContext, manifests: Iterable[IcebergManifest], snapshots: Sequence[int] = ()
) -> IcebergScan:
    """A scan of these manifests, each once."""
    tasks = plan_tasks(manifests)
    has_deletes = any(task.line.get("content") for task in tasks)
    context.columns.expect_reserved(context.typed.format_version or 1, has_deletes)
    if _has_lost_schemas(context):
        for task in tasks:
            _learn_columns(context, task)
    return IcebergScan(context, tasks, snapshots)


def plan_tasks(manifests: Iterable[IcebergManifest]) -> list[ScanTask]:
    """One task for each manifest, each once; no manifest is read."""
    return [_plan_task(position, manifest) for position, manifest in enumerate(dict.fromkeys(manifests))]


def _has_lost_schemas(context: TableContext) -> bool:
    """Whether an older schema may be missing from the document: version 1 keeps none, and tools take them out."""
    known = context.schemas.structs
    return context.typed.schemas is None or len(known) <= max(known)


def _learn_columns(context: TableContext, task: ScanTask) -> None:
    """Take in the schema of a manifest's header; whatever is wrong is found when the manifest is read."""
    store = context.access.store
    try:
        data = store.read_range(task.path, 0, HEADER_BYTES)
        try:
            header = decode_head(data, task.path)
        except LakeError:
            if len(data) < HEADER_BYTES or task.size_bytes <= HEADER_BYTES:
                raise
            header = decode_head(store.read(task.path), task.path)  # longer than what was read of it
        learn_from_header(context, header, task.line.get("partition_spec_id"), task.path)
    except LakeError:
        return


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


def _unpack_context(packed: tuple[Any, ...]) -> TableContext:
    store, locator, path, text, columns = packed
    access = TableAccess(TracingStore(store), locator)
    return TableContext(access, decode_document(text, path), columns=columns)
