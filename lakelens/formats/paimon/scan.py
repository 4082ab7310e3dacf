"""Reading the files of a Paimon table by column, manifest by manifest.

The plan is made of manifest lists alone: one task for each manifest, in the order in which the engine folds them (base, then
delta). Its line says how many DELETE entries a manifest has; only those that have any can remove files of others. See
"Manifest" of the Paimon table specification.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.manifest import PaimonManifest
from lakelens.formats.paimon.scan_records import LIVE, batch_entries, choose_entries
from lakelens.io.store import Store
from lakelens.io.tracing import TracingStore
from lakelens.model.fileset import FileColumns
from lakelens.model.manifest import Entry
from lakelens.model.scan import FileBatch, FileScan, ScanRequest, ScanTask, drop_removed

if TYPE_CHECKING:
    import pyarrow as pa

_IDENTITIES = ScanRequest(stats=False, columns=(), entries=True, identity=True)


class PaimonScan(FileScan):
    """The manifests of some lists as a plan. `kept` says which of their entries are files of the set.

    "live" are the ADD entries that no later DELETE takes away, "added" the ADD entries, "removed" the DELETE entries.
    `snapshots` are named in findings; `fast` sends few records through the bulk reader too, or none at all.
    """

    def __init__(
        self,
        context: TableContext,
        columns: FileColumns,
        tasks: Sequence[ScanTask],
        kept: str = LIVE,
        snapshots: tuple[int, ...] = (),
        fast: bool | None = None,
    ) -> None:
        self.context = context
        self.columns = columns
        self.tasks = tuple(tasks)
        self.kept = kept
        self.snapshots = snapshots
        self.fast = fast
        self._lock = threading.RLock()

    def read(
        self, tasks: Sequence[ScanTask], request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """See `FileScan.read`."""
        for task in tasks:
            batch = self._read_records(task, request, removals is not None)
            if batch is not None:
                yield drop_removed(batch, removals)

    def removals(self, tasks: Sequence[ScanTask] | None = None) -> pa.Table:
        """See `FileScan.removals`. Reads the manifests whose lines count DELETE entries."""
        import pyarrow as pa

        tables = [super().removals()]
        for task in self.tasks if tasks is None else tasks:
            if task.removes:
                tables += [self._find_removals(task)]
        found = pa.concat_tables(tables).group_by("identity").aggregate([("order", "max")])
        return found.select(["identity", "order_max"]).rename_columns(["identity", "order"])

    def with_tasks(self, tasks: Sequence[ScanTask]) -> PaimonScan:
        """See `FileScan.with_tasks`."""
        return PaimonScan(self.context, self.columns, tasks, self.kept, self.snapshots, self.fast)

    def _find_removals(self, task: ScanTask) -> pa.Table:
        import pyarrow as pa

        entries = [(n, e) for n, e in enumerate(self._read_entries(task)) if not e.is_live]
        batch = batch_entries(entries, self.columns, _IDENTITIES, task.position)
        return pa.table({"identity": batch.identity, "order": batch.order})

    def _read_records(self, task: ScanTask, request: ScanRequest, ordered: bool) -> FileBatch | None:
        """A manifest by the record path; None where nothing of it is in the set, or it cannot be read."""
        with self._lock:  # what decodes partitions, finds directories and reads schemas is shared
            chosen = choose_entries(self._read_entries(task), None if request.entries else self.kept)
            return batch_entries(chosen, self.columns, request, task.position, ordered) if chosen else None

    def _read_entries(self, task: ScanTask) -> Sequence[Entry]:
        content, record = task.line
        manifest = PaimonManifest(record, content, self.context)
        try:
            return manifest.entries
        except LakeError as error:
            self.context.findings.add_error(error, task.path, self.snapshots)
            return ()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "store": self.context.store.inner,
            "place": (self.context.layout.root, self.context.layout.branch),
            "schemas": self.context.schemas.list_documents(),
            "external": dict(self.context.external),
            "plan": (self.columns, self.tasks, self.kept, self.snapshots, self.fast),
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        context = restore_context(state["store"], state["place"], state["schemas"], state["external"])
        self.__init__(context, *state["plan"])  # type: ignore[misc]


def restore_context(
    store: Store, place: tuple[str, str], schemas: Sequence[tuple[str, Any]], external: Mapping[str, str]
) -> TableContext:
    """A context as another process needs it: no schema file is read, no external location looked for again."""
    context = TableContext(TracingStore(store), *place)
    context.schemas.restore(schemas)
    context.external.update(external)
    return context


def plan_tasks(manifests: Sequence[PaimonManifest], kept: str = LIVE) -> tuple[ScanTask, ...]:
    """One task for each manifest, in order. Only in a set of live files does a DELETE entry remove anything."""
    tasks = (_plan_task(position, manifest) for position, manifest in enumerate(manifests))
    return tuple(task if kept == LIVE else replace(task, removes=False) for task in tasks)


def _plan_task(position: int, manifest: PaimonManifest) -> ScanTask:
    added, deleted = manifest.num_added_files, manifest.num_deleted_files
    return ScanTask(
        position,
        manifest.path,
        manifest.file_size or 0,
        None if added is None or deleted is None else added + deleted,
        deleted is None or deleted != 0,
        (manifest.content, dict(manifest.raw)),
    )
