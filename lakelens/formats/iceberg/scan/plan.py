"""The plan to read an Iceberg table's files, or its entries, by column: one task for each manifest of the list.

Made from the manifest list alone. A pickled scan takes along what its other end needs: the store, where recorded locations
lie now, schemas, specs and properties of the metadata document, but none of its snapshots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from lakelens.codecs.avro.arrow import is_loaded
from lakelens.errors import LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.manifests.header import learn_from_header
from lakelens.formats.iceberg.manifests.manifest import decode_head
from lakelens.formats.iceberg.metadata.columns import (
    DELETE_FILE_PATH,
    DELETE_POS,
    LAST_UPDATED_SEQUENCE_NUMBER,
    ROW_ID,
)
from lakelens.formats.iceberg.metadata.document import decode_document
from lakelens.formats.iceberg.metadata.wire import WireMetadata
from lakelens.formats.iceberg.scan.reader import ColumnarReader, read_records
from lakelens.io.tracing import TracingStore
from lakelens.model.fileset import FileColumns
from lakelens.model.finding import Findings
from lakelens.model.scan.plan import FileBatch, FileScan, ScanRequest, ScanTask

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest

#: Headers are rarely longer: they hold a table schema and the Avro schema of an entry.
HEADER_BYTES = 64 * 1024
#: What decoding manifests needs of the metadata document.
_NEEDED = (
    *("format_version", "table_uuid", "location", "schema", "schemas", "current_schema_id", "partition_spec"),
    *("partition_specs", "default_spec_id", "properties"),
)


class IcebergScan(FileScan):
    """Reads manifests by column where they are big enough, else record by record; `fast` decides for all."""

    def __init__(
        self,
        context: TableContext,
        tasks: Sequence[ScanTask],
        snapshots: Sequence[int] = (),
        *,
        fast: bool | None = None,
    ) -> None:
        self._context = context
        self._snapshots = tuple(snapshots)
        self.tasks = tuple(tasks)
        self.fast = fast

    @property
    def findings(self) -> Findings:
        """See `FileScan.findings`."""
        return self._context.findings

    @property
    def columns(self) -> FileColumns:  # type: ignore[override]
        """As far as is known by now: manifests that are read may tell of more."""
        return self._context.describe_columns()

    def read(
        self, tasks: Sequence[ScanTask], request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """See `FileScan.read`. Nothing is removed from elsewhere: an entry that deletes a file stands for it."""
        if self._is_fast(tasks):
            return ColumnarReader(self._context, tasks, request, self._snapshots).read()
        return read_records(self._context, tasks, request, self._snapshots)

    def with_tasks(self, tasks: Sequence[ScanTask]) -> IcebergScan:
        """The same scan over other tasks."""
        return IcebergScan(self._context, tasks, self._snapshots, fast=self.fast)

    def _is_fast(self, tasks: Sequence[ScanTask]) -> bool:
        if self.fast is not None:
            return self.fast
        from lakelens.model.scan.scan_to_arrow import is_worthwhile

        return is_loaded() or is_worthwhile(self.with_tasks(tasks))

    def __getstate__(self) -> dict[str, Any]:
        return {
            "context": _pack_context(self._context),
            "snapshots": self._snapshots,
            "tasks": self.tasks,
            "fast": self.fast,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        context = _unpack_context(state["context"])
        self.__init__(context, state["tasks"], state["snapshots"], fast=state["fast"])  # type: ignore[misc]


def plan_scan(
    context: TableContext, manifests: Iterable[IcebergManifest], snapshots: Sequence[int] = ()
) -> IcebergScan:
    """A scan of these manifests, each once."""
    tasks = [_plan_task(position, manifest) for position, manifest in enumerate(dict.fromkeys(manifests))]
    if any(task.line.get("content") for task in tasks):  # their statistics are of columns that no schema has
        context.columns.find(DELETE_FILE_PATH)
        context.columns.find(DELETE_POS)
    if (context.typed.format_version or 1) >= 3:  # files that were rewritten keep the lineage of their rows
        context.columns.find(ROW_ID)
        context.columns.find(LAST_UPDATED_SEQUENCE_NUMBER)
    if _has_lost_schemas(context):
        for task in tasks:
            _learn_columns(context, task)
    return IcebergScan(context, tasks, snapshots)


def _has_lost_schemas(context: TableContext) -> bool:
    """Whether an older schema may be missing from the document: version 1 keeps none, and tools take them out."""
    known = context.schemas.structs
    return context.typed.schemas is None or len(known) <= max(known)


def _learn_columns(context: TableContext, task: ScanTask) -> None:
    """Take in the schema that a manifest's header has; whatever is wrong is found when the manifest is read."""
    try:
        data = context.access.store.read_range(task.path, 0, HEADER_BYTES)
        if len(data) == HEADER_BYTES and task.size_bytes > HEADER_BYTES:
            data = _read_whole_header(context, task, data)
        learn_from_header(
            context, decode_head(data, task.path), task.line.get("partition_spec_id"), task.path
        )
    except LakeError:
        return


def _read_whole_header(context: TableContext, task: ScanTask, data: bytes) -> bytes:
    """All of the file where its header is longer than what was read of it."""
    try:
        decode_head(data, task.path)
    except LakeError:
        return context.access.store.read(task.path)
    return data


def _plan_task(position: int, manifest: IcebergManifest) -> ScanTask:
    line = {**manifest.raw, "added_snapshot_id": manifest.added_snapshot_id}
    length = manifest.manifest_length
    size = length if isinstance(length, int) and length > 0 else 0
    counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
    told = [count for count in counts if isinstance(count, int)]
    return ScanTask(position, manifest.path, size, sum(told) if len(told) == len(counts) else None, line=line)


def _pack_context(context: TableContext) -> tuple[Any, ...]:
    needed = WireMetadata(**{name: getattr(context.typed, name) for name in _NEEDED})
    access = context.access
    text = msgspec.json.encode(needed)
    return access.store.inner, access.locator, context.document.path, text, context.columns


def _unpack_context(packed: tuple[Any, ...]) -> TableContext:
    store, locator, path, text, columns = packed
    access = TableAccess(TracingStore(store), locator)
    return TableContext(access, decode_document(text, path), columns=columns)
