"""Reading the files of a Paimon table by column, manifest by manifest.

The plan is made of manifest lists alone: one task for each manifest, in the order in which the engine folds them (base, then
delta). Its line says how many DELETE entries a manifest has; only those that have any can remove files of others. See
"Manifest" of the Paimon table specification.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.manifests.containers import decode_tables
from lakelens.formats.paimon.manifests.manifest import PaimonManifest, read_metadata
from lakelens.formats.paimon.scan.columns import PlainColumns
from lakelens.formats.paimon.scan.entries import EntryRows, Part, count_kinds, cut_parts, make_part
from lakelens.formats.paimon.scan.groups import group_rows
from lakelens.formats.paimon.scan.identity import encode_rows, find_kept
from lakelens.formats.paimon.scan.records import (
    LIVE,
    REMOVED,
    STATS,
    batch_entries,
    choose_entries,
    list_wanted,
)
from lakelens.formats.paimon.scan.stats import StatsColumns
from lakelens.formats.paimon.scan.tally import FoldTally, Span, sum_records
from lakelens.io.store import Store
from lakelens.io.tracing import TracingStore
from lakelens.model.fileset import FileColumns
from lakelens.model.finding import Findings
from lakelens.model.manifest import Entry
from lakelens.model.scan.plan import ORDER_BITS, FileBatch, FileScan, ScanRequest, ScanTask

if TYPE_CHECKING:
    import pyarrow as pa

#: Entries that are built at once.
BATCH_ROWS = 16_384
KEYS = ("min_key", "max_key")
# what Arrow and the checks raise where only the record path can tell what is wrong, or can go on
_UNFIT = (LakeError, ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError)
_IDENTITIES = ScanRequest(stats=False, columns=(), entries=True, identity=True)


class PaimonScan(FileScan):
    """The manifests of some lists as a plan. `kept` says which of their entries are files of the set.

    "live" are the ADD entries that no later DELETE takes away, "added" the ADD entries, "removed" the DELETE entries.
    `snapshots` are named in findings, and `check_total` hears how many rows the live files have, where all could be read.
    """

    def __init__(
        self,
        context: TableContext,
        columns: FileColumns,
        tasks: Sequence[ScanTask],
        kept: str = LIVE,
        snapshots: tuple[int, ...] = (),
        check_total: Callable[[int], None] | None = None,
    ) -> None:
        self.context = context
        self.columns = columns
        self.tasks = tuple(tasks)
        self.kept = kept
        self.snapshots = snapshots
        self._check_total = check_total
        self._lock = threading.RLock()
        self._tally = FoldTally()

    @property
    def findings(self) -> Findings:
        """See `FileScan.findings`."""
        return self.context.findings

    def read(
        self, tasks: Sequence[ScanTask], request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """See `FileScan.read`."""
        waiting: list[Part] = []
        for task, loaded in self._load(tasks):
            if loaded is None:
                yield from self._build_all(waiting, request, removals)
                waiting = []
                yield from self._read_records(task, request, removals)
            elif loaded.rows:
                waiting.append(loaded)
                if sum(part.rows for part in waiting) >= BATCH_ROWS:
                    loaded = None  # what was built is not held beside the next manifest
                    yield from self._build_all(waiting, request, removals)
                    waiting = []
        yield from self._build_all(waiting, request, removals)

    def removals(self, tasks: Sequence[ScanTask] | None = None) -> pa.Table:
        """See `FileScan.removals`. Reads the manifests whose lines count DELETE entries."""
        import pyarrow as pa

        asked = [task for task in (self.tasks if tasks is None else tasks) if task.removes]
        tables = [super().removals(), *(self._find_removals(*loaded) for loaded in self._load(asked))]
        deletes = pa.concat_tables(tables)
        last = deletes.group_by("identity").aggregate([("order", "max")])
        removals = last.select(["identity", "order_max"]).rename_columns(["identity", "order"])
        self._tally.note_removals(removals, deletes)
        return removals

    def conclude(self) -> bool:
        """See `FileScan.conclude`: totals that differ are a finding; a file added twice asks for the record path."""
        if self._tally.is_misled or not self._tally.is_clean():
            return False
        if self._check_total is not None and self._tally.is_complete(self.tasks):
            self._check_total(self._tally.count_records())
        return True

    def with_tasks(self, tasks: Sequence[ScanTask]) -> PaimonScan:
        """See `FileScan.with_tasks`."""
        chosen = PaimonScan(self.context, self.columns, tasks, self.kept, self.snapshots)
        chosen._lock = self._lock  # they share what the lock is for
        return chosen

    def _load(self, tasks: Sequence[ScanTask]) -> Iterator[tuple[ScanTask, Part | None]]:
        """The entries of each manifest by column; None: ask the record path. Of one that is not there it has none."""
        lost: set[int] = set()
        for number, table in enumerate(decode_tables(self._read_all(tasks, lost))):
            task = tasks[number]
            if number in lost:
                yield task, make_part(task)
            else:
                part = None if table is None else self._check(Part(task, table))
                del table  # or it would be there beside the next one
                yield task, part
                del part

    def _read_all(self, tasks: Sequence[ScanTask], lost: set[int]) -> Iterator[tuple[bytes, str]]:
        for number, task in enumerate(tasks):
            manifest = self._make_manifest(task)
            try:
                yield read_metadata(self.context, task.path, manifest.file_size, "manifest list"), task.path
            except LakeError as error:
                self.context.findings.add_error(error, task.path, self.snapshots)
                self._tally.is_whole = False
                lost.add(number)
                yield b"", task.path

    def _check(self, part: Part) -> Part | None:
        """The part when it holds entries, as many as its list counts or with a finding; else None."""
        try:
            added, deleted = count_kinds(EntryRows([part]))
        except _UNFIT:
            return None
        self._make_manifest(part.task).check_counts(added, deleted)
        self._tally.note_manifest(part.task, part.rows, deleted if self.kept == LIVE else 0)
        return part

    def _make_manifest(self, task: ScanTask) -> PaimonManifest:
        content, record = task.line
        return PaimonManifest(record, content, self.context)

    def _build_all(
        self, parts: Sequence[Part], request: ScanRequest, removals: pa.Table | None
    ) -> Iterator[FileBatch]:
        """The batches of some parts, in pieces of bounded size; a piece that does not decode goes by the record path."""
        for piece in cut_parts(parts, BATCH_ROWS):
            try:
                batch = self._build(EntryRows(piece), request, removals)
            except _UNFIT:
                for part in piece:
                    if len(piece) > 1:
                        yield from self._build_all([part], request, removals)
                    else:
                        yield from self._read_records(part.task, request, removals, part)
            else:
                if batch is not None:
                    yield batch

    def _build(self, rows: EntryRows, request: ScanRequest, removals: pa.Table | None) -> FileBatch | None:
        """The batch of some entries; None where none of them is in the set."""
        import numpy as np

        if not request.entries:
            kinds = rows.find("_KIND", "integer").to_numpy(zero_copy_only=False)
            chosen = np.flatnonzero((kinds == 1) == (self.kept == REMOVED))
            rows = rows if len(chosen) == len(rows) else rows.choose(chosen)
        identity, order = None, None
        if request.identity or removals is not None:
            identity, order = encode_rows(rows), self._find_order(rows)
            kept = find_kept(identity, order, removals)
            if kept is not None and removals is not None:
                self._tally.note_taken(rows.parts[0].span, removals, identity, order, kept)
                rows, identity, order = rows.choose(kept), identity.take(kept), order.take(kept)
        if not request.entries:
            self._tally.note_live([part.span for part in rows.parts], sum_records(rows))
        if not len(rows):
            return None
        wanted = list_wanted(self.columns, request)
        names = [*wanted, *(["status"] if request.entries and request.wants("status") else [])]
        with self._lock:  # what decodes partitions, finds directories and reads schemas is shared
            plain = PlainColumns(self.context, self.columns, rows).build(names)
            grouped = [name for name in wanted if name in STATS or name in KEYS]
            groups = group_rows(self.context, rows) if grouped else None
        stats: dict[str, dict[str, pa.Array]] = {}
        if groups is not None:
            columns = StatsColumns(self.context, self.columns, groups)
            plain |= {name: columns.build_keys(name) for name in grouped if name in KEYS}
            stats = columns.build([name for name in grouped if name in STATS])
        return FileBatch(len(rows), plain, stats, identity, order)

    def _find_order(self, rows: EntryRows) -> pa.Array:
        import pyarrow as pa

        positions = rows.spread([part.task.position for part in rows.parts])
        return pa.array(positions << ORDER_BITS | rows.find_numbers(), pa.int64())

    def _find_removals(self, task: ScanTask, part: Part | None) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        if part is not None and not part.rows:
            return super().removals()
        if part is not None:
            rows = EntryRows([part])
            kinds = rows.find("_KIND", "integer").to_numpy(zero_copy_only=False)
            rows = rows.choose(np.flatnonzero(kinds == 1))
            return pa.table({"identity": encode_rows(rows), "order": self._find_order(rows)})
        entries = [(n, e) for n, e in enumerate(self._read_entries(task)) if not e.is_live]
        batch = batch_entries(entries, self.columns, _IDENTITIES, task.position)
        return pa.table({"identity": batch.identity, "order": batch.order})

    def _read_records(
        self, task: ScanTask, request: ScanRequest, removals: pa.Table | None, part: Part | None = None
    ) -> Iterator[FileBatch]:
        """A manifest, or a part of it, by the record path; nothing, with a finding, where it cannot be read."""
        with self._lock:
            entries = self._read_entries(task)
            span = (task.position, 0, len(entries)) if part is None else part.span
            if part is None:
                deleted = sum(not entry.is_live for entry in entries)
                self._tally.note_manifest(task, len(entries), deleted if self.kept == LIVE else 0)
            numbered = list(enumerate(entries))[span[1] : span[1] + span[2]]
            chosen = choose_entries(numbered, None if request.entries else self.kept)
            if chosen and removals is not None:
                chosen = self._drop_removed(chosen, span, removals)
            if not request.entries:
                self._tally.note_live([span], sum(entry.file.record_count or 0 for _, entry in chosen))
            if chosen:
                yield batch_entries(chosen, self.columns, request, task.position, removals is not None)

    def _drop_removed(
        self, chosen: list[tuple[int, Entry]], span: Span, removals: pa.Table
    ) -> list[tuple[int, Entry]]:
        light = batch_entries(chosen, self.columns, _IDENTITIES, span[0])
        assert light.identity is not None and light.order is not None
        kept = find_kept(light.identity, light.order, removals)
        if kept is None:
            return chosen
        self._tally.note_taken(span, removals, light.identity, light.order, kept)
        return [chosen[number] for number in kept.to_pylist()]

    def _read_entries(self, task: ScanTask) -> Sequence[Entry]:
        try:
            return self._make_manifest(task).entries
        except LakeError as error:
            self._tally.is_whole = False
            self.context.findings.add_error(error, task.path, self.snapshots)
            return ()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "store": self.context.store.inner,
            "place": (self.context.layout.root, self.context.layout.branch),
            "schemas": self.context.schemas.list_documents(),
            "external": dict(self.context.external),
            "plan": (self.columns, self.tasks, self.kept, self.snapshots),
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
