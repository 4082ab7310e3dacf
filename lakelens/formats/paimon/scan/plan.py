"""Reading the files of a Paimon table by column, manifest by manifest.

The plan is made of manifest lists alone: one task for each manifest, in the order in which the engine folds them (base, then
delta). Its line says how many DELETE entries a manifest has; only those that have any can remove files of others. See
"Manifest" of the Paimon table specification.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.manifests.containers import decode_large_table, decode_pieces, decode_tables
from lakelens.formats.paimon.manifests.manifest import LIVE, REMOVED, PaimonManifest, read_metadata
from lakelens.formats.paimon.scan.columns import KEYS, PlainColumns
from lakelens.formats.paimon.scan.entries import (
    EntryRows,
    count_kinds,
    cut_parts,
    drop_fields,
    join_chunks,
    list_unused,
    sum_records,
)
from lakelens.formats.paimon.scan.identity import encode_files, encode_rows
from lakelens.formats.paimon.scan.stats import StatsColumns, group_rows
from lakelens.io.tracing import TracingStore
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileColumns
from lakelens.model.manifest import Entry
from lakelens.model.scan.columnar import ColumnarScan, NotColumnar, Part, join_parts
from lakelens.model.scan.files_to_arrow import STATS, batch_entries, list_columns
from lakelens.model.scan.plan import FileBatch, ScanRequest, ScanTask, find_live
from lakelens.model.scan.sharing import share_work

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.scan.columnar import Part
    from lakelens.model.scan.plan import ScanTask

#: Entries that are built at once.
BATCH_ROWS = 16_384
SPARING_ROWS = 4_096  # that are enough to be built where nothing is to be kept that is not being built
#: Bytes of a manifest that is worth two threads.
LARGE_BYTES = 512 * 1024
_REFUSED = object()
_NO_COLUMNS = ScanRequest(stats=False, columns=())


class FoldTally:
    """Notes whether a fold by column says what folding entry by entry would: nothing added twice, no unknown file deleted.

    Taking away every ADD before the last DELETE of a file is exact where ADDs and DELETEs of it take turns. What is noted
    here while the manifests are read, a few numbers for each file taken away, shows afterwards whether they did; notes of
    the same part again replace the earlier ones.

    `is_whole` is false once a manifest could not be read,
    `is_misled` true once one has DELETE entries that its list does not count.
    """

    def __init__(self) -> None:
        self.is_whole = True
        self.is_misled = False
        self._lock = threading.Lock()
        self._sizes: dict[int, int] = {}
        self._parts: dict[tuple[int, int], tuple[int, int]] = {}
        self._taken: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._removals: pa.Table | None = None
        self._deletes: tuple[Any, Any] | None = None

    def note_manifest(self, task: ScanTask, entries: int, deleted: int) -> None:
        """Note a manifest that could be read, and what it holds."""
        self._sizes[task.position] = entries
        self.is_misled = self.is_misled or bool(deleted and not task.removes)

    def note_removals(self, removals: pa.Table, deletes: pa.Table) -> None:
        """Note what DELETE entries take away, and every such entry: `identity`, `order`."""
        import pyarrow.compute as pc

        places = pc.index_in(join_chunks(deletes["identity"]), value_set=join_chunks(removals["identity"]))
        self._removals = removals
        self._deletes = places.to_numpy(zero_copy_only=False), join_chunks(deletes["order"]).to_numpy()

    def note_live(self, parts: Sequence[Part], records: int) -> None:
        """Consecutive entries of manifests, and how many rows their live files have together."""
        with self._lock:
            for number, part in enumerate(parts):
                self._parts[part.task.position, part.start] = part.rows, 0 if number else records

    def note_taken(
        self, part: Part, removals: pa.Table, identity: pa.Array, order: pa.Array, live: pa.Array
    ) -> None:
        """Note which files from this part on were taken away: all that are not `live`."""
        import pyarrow.compute as pc

        if self._removals is None or self._removals is not removals:
            return
        gone = pc.indices_nonzero(pc.invert(live))
        places = pc.index_in(identity.take(gone), value_set=join_chunks(removals["identity"]))
        with self._lock:
            self._taken[part.task.position, part.start] = (
                places.to_numpy(zero_copy_only=False),
                order.take(gone).to_numpy(),
            )

    def forget(self, task: ScanTask, start: int) -> None:
        """Nothing noted of a manifest from an entry on counts: it is read again, in another way."""
        with self._lock:
            notes: dict[tuple[int, int], Any]
            for notes in (self._parts, self._taken):
                for key in [key for key in notes if key[0] == task.position and key[1] >= start]:
                    del notes[key]

    def is_complete(self, tasks: Sequence[ScanTask]) -> bool:
        """Check whether every entry of every manifest was seen."""
        seen: dict[int, int] = defaultdict(int)
        for (position, _), (rows, _) in self._parts.items():
            seen[position] += rows
        return self.is_whole and all(
            seen[task.position] == self._sizes.get(task.position, -1) for task in tasks
        )

    def count_records(self) -> int:
        """Count the rows of the live files."""
        return sum(records for _, records in self._parts.values())

    def is_clean(self) -> bool:
        """Check whether ADD and DELETE entries of each file that was taken away take turns, ADD first.

        Where a manifest could not be read only ADDs after ADDs count: it may have held the others.
        """
        import numpy as np

        if self._deletes is None:
            return True
        noted = [*self._taken.values(), self._deletes]
        files, orders = (np.concatenate(columns) for columns in zip(*noted, strict=True))
        adds = np.arange(len(files)) < len(files) - len(self._deletes[0])
        sorting = np.lexsort((orders, files))
        files, adds = files[sorting], adds[sorting]
        first = np.ones(len(files), np.bool_)
        first[1:] = files[1:] != files[:-1]
        after_add = ~first
        after_add[1:] &= adds[:-1]
        if (adds & after_add).any():
            return False
        return not self.is_whole or not (~adds & ~after_add).any()


class PaimonScan(ColumnarScan):
    """The manifests of some lists as a plan. `kept` says which of their entries are files of the set.

    "live" are the ADD entries that no later DELETE takes away, "added" the ADD entries, "removed" the DELETE entries.
    `check_total` is called with the number of rows of the live files, where all could be read.
    """

    facts = (
        *("content", "path", "recorded_path", "file_format", "bucket", "level", "record_count", "size_bytes"),
        *("schema_id", "sequence_number", "manifest", "min_sequence_number", "delete_row_count"),
        *("first_row_id", "write_cols"),
    )
    absent = ("spec_id", "snapshot_id")

    def __init__(
        self,
        context: TableContext,
        columns: FileColumns,
        tasks: Sequence[ScanTask],
        kept: str = LIVE,
        snapshots: tuple[int, ...] = (),
        fast: bool | None = None,
        check_total: Callable[[int], None] | None = None,
    ) -> None:
        self.context = context
        self.columns = columns
        self.tasks = tuple(tasks)
        self.kept = kept
        self.snapshots = snapshots
        self.fast = fast
        self._check_total = check_total
        self._lock = threading.RLock()
        self._tally = FoldTally()

    def load(self, tasks: Sequence[ScanTask]) -> Iterator[list[Part]]:
        """See `ColumnarScan.load`. Parts of one schema, in pieces of bounded size."""
        for runs in _cut_runs(self._load_parts(tasks, ())):
            yield from runs
            del runs  # what was built is not in memory beside the next manifest

    def read(
        self, tasks: Sequence[ScanTask], request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """See `FileScan.read`. With `keeps_all` the pieces of a manifest are shared between threads."""
        self.fetch(tasks)
        if not self.is_fast(tasks):
            yield from super().read(tasks, request, removals)
            return
        from lakelens.model.scan.scan_to_arrow import PORTION_BYTES, weigh

        unused = list_unused(_list_wanted(self.columns, request))
        given_up: set[int] = set()
        parts, enough = self._load_parts(tasks, unused, request.keeps_all), BATCH_ROWS
        if request.sparing and not unused and any(weigh(task) >= PORTION_BYTES for task in tasks):
            parts, enough = chain.from_iterable(map(self._load_pieces, tasks)), SPARING_ROWS
        for runs in _cut_runs(parts, enough):
            built: list[Any] = [_REFUSED] * len(runs)
            if request.keeps_all:
                built = share_work([partial(self._try_build, run, request, removals) for run in runs])
            for run, batch in zip(runs, built, strict=True):
                if batch is _REFUSED or any(part.task.position in given_up for part in run):
                    yield from self._read_run(run, request, removals, given_up)
                elif batch is not None:
                    yield batch
            del runs, built

    def _try_build(self, parts: Sequence[Part], request: ScanRequest, removals: pa.Table | None) -> Any:
        """The batch of a run, or that it is refused."""
        if parts[0].table is None:
            return _REFUSED
        try:
            return self.build(parts, request, removals)
        except NotColumnar:
            return _REFUSED

    def build(
        self, parts: Sequence[Part], request: ScanRequest, removals: pa.Table | None
    ) -> FileBatch | None:
        """See `ColumnarScan.build`."""
        rows = EntryRows(parts, join_parts(parts))
        if not request.entries:
            rows = rows.choose_kind(is_delete=self.kept == REMOVED)
        identity, order = None, None
        if request.identity or removals is not None:
            identity, order = encode_rows(rows), rows.find_order()
            live = self._find_live(parts[0], identity, order, removals)
            if live is not None:
                rows, identity, order = rows.choose(live), identity.take(live), order.take(live)
        if not request.entries:
            self._tally.note_live(parts, sum_records(rows))
        if not len(rows):
            return None
        wanted = _list_wanted(self.columns, request)
        with self._lock:  # what decodes partitions, finds directories and reads schemas is shared
            made = PlainColumns(self.context, self.columns, rows)
            plain = made.build(wanted)
            partitions = made.list_partitions() if request.partitions else None
            grouped = [name for name in wanted if name in STATS or name in KEYS]
            groups = group_rows(self.context, rows) if grouped else None
        stats: dict[str, dict[str, pa.Array]] = {}
        if groups is not None:
            columns = StatsColumns(self.context, self.columns, groups, request.leaves)
            plain |= {name: columns.build_keys(name) for name in grouped if name in KEYS}
            stats = columns.build([name for name in grouped if name in STATS])
        return FileBatch(len(rows), plain, stats, identity, order, partitions)

    def records(
        self, task: ScanTask, start: int, request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """See `ColumnarScan.records`. Nothing of a manifest that cannot be read to its end."""
        self._tally.forget(task, start)
        with self._lock:
            numbered = list(enumerate(self._read_entries(task)))[start:]
            part = Part(task, None, start, len(numbered))
            if not request.entries:
                numbered = [one for one in numbered if one[1].is_live != (self.kept == REMOVED)]
            if removals is not None and numbered:
                light = batch_entries(numbered, self.columns, _NO_COLUMNS, task.position, encode_files)
                live = self._find_live(part, light.identity, light.order, removals)
                numbered = numbered if live is None else [numbered[number] for number in live.to_pylist()]
            if not request.entries:
                self._tally.note_live([part], sum(entry.file.record_count or 0 for _, entry in numbered))
            encode = encode_files if request.identity else None
            batch = (
                batch_entries(numbered, self.columns, request, task.position, encode) if numbered else None
            )
        if batch is not None:
            yield batch

    def encode(self, files: Sequence[DataFile]) -> pa.Array:
        """See `FileScan.encode`."""
        return encode_files(files)

    def refuse(self, task: ScanTask, error: LakeError) -> None:
        """See `ColumnarScan.refuse`."""
        self._tally.is_whole = False
        super().refuse(task, error)

    def removals(self, tasks: Sequence[ScanTask] | None = None) -> pa.Table:
        """See `FileScan.removals`. Reads the manifests whose lines count DELETE entries."""
        import pyarrow as pa

        asked = [task for task in (self.tasks if tasks is None else tasks) if task.removes]
        parts: Iterable[Part] = (Part(task, None) for task in asked)
        if asked and self.is_fast(self.tasks or asked):
            parts = self._load_parts(asked, list_unused(()))
        deletes = pa.concat_tables([super().removals(), *map(self._find_removals, parts)])
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
        chosen = PaimonScan(self.context, self.columns, tasks, self.kept, self.snapshots, self.fast)
        chosen._lock = self._lock  # they share what the lock is for
        return chosen

    def _load_parts(
        self, tasks: Sequence[ScanTask], unused: Collection[str], shared: bool = False
    ) -> Iterator[Part]:
        """Load the entries of each manifest as one part, without a table where only the record path can read them."""
        opened: list[ScanTask] = []
        files = self._read_all(tasks, opened)
        drop = partial(drop_fields, names=unused)
        tables = _decode_shared(files, drop) if shared else decode_tables(files, drop)
        for number, table in enumerate(tables):
            part = self._check(Part(opened[number], table, rows=0 if table is None else table.num_rows))
            del table  # or it would be there beside the next one
            yield part
            del part

    def _load_pieces(self, task: ScanTask) -> Iterator[Part]:
        """Load the entries of a manifest as `_load_parts` does, in many parts of which none is kept.

        Nothing counts of a manifest that cannot be read to its end. So its pieces wait compressed until it was, and only
        what the check needs of them waits as it is.
        """
        import pyarrow as pa

        for data, path in self._read_all([task], []):
            packed, checked = list[pa.Buffer](), list[pa.Table | None]()
            for piece in decode_pieces(data, path):
                checked.append(None if piece is None else drop_fields(piece, list_unused(())))
                packed += [] if piece is None else [_pack(piece)]
            table = None if None in checked else pa.concat_tables(checked)
            part = self._check(Part(task, table, rows=0 if table is None else table.num_rows))
            if part.table is None:
                yield part
                continue
            del table, part, checked  # what was checked is not in memory beside the pieces
            start = 0
            while packed:
                piece = pa.ipc.open_stream(packed.pop(0)).read_all()
                yield Part(task, piece, start, piece.num_rows)
                start += piece.num_rows

    def _read_all(self, tasks: Sequence[ScanTask], opened: list[ScanTask]) -> Iterator[tuple[bytes, str]]:
        for task in tasks:
            size = self._make_manifest(task).file_size
            try:
                data = read_metadata(self.context, task.path, size, "manifest list")
            except LakeError as error:
                self.refuse(task, error)
                continue
            opened.append(task)
            yield data, task.path

    def _check(self, part: Part) -> Part:
        """Check the part where it holds entries, as many as its list counts or with a finding; else one without a table."""
        if part.table is not None:
            try:
                added, deleted = count_kinds(EntryRows([part], part.table))
            except NotColumnar:
                return Part(part.task, None)
            self._make_manifest(part.task).check_counts(added, deleted)
            self._tally.note_manifest(part.task, part.rows, deleted if self.kept == LIVE else 0)
        return part

    def _make_manifest(self, task: ScanTask) -> PaimonManifest:
        content, record = task.line
        return PaimonManifest(record, content, self.context)

    def _find_live(self, part: Part, identity: Any, order: Any, removals: pa.Table | None) -> pa.Array | None:
        """The numbers of the files that no later DELETE entry takes away, None for all; `part` is the first of them."""
        import pyarrow.compute as pc

        live = find_live(identity, order, removals)
        if live is None or removals is None:
            return None
        self._tally.note_taken(part, removals, identity, order, live)
        return pc.indices_nonzero(live)

    def _find_removals(self, part: Part) -> pa.Table:
        import pyarrow as pa

        if part.table is not None:
            try:
                rows = EntryRows([part], part.table).choose_kind(is_delete=True)
                return pa.table({"identity": encode_rows(rows), "order": rows.find_order()})
            except NotColumnar:
                pass
        entries = [(n, e) for n, e in enumerate(self._read_entries(part.task)) if not e.is_live]
        batch = batch_entries(entries, self.columns, _NO_COLUMNS, part.task.position, encode_files)
        return pa.table({"identity": batch.identity, "order": batch.order})

    def _read_entries(self, task: ScanTask) -> Sequence[Entry]:
        try:
            entries: Sequence[Entry] = self._make_manifest(task).entries
        except LakeError as error:
            self.refuse(task, error)
            entries = ()
        deleted = sum(not entry.is_live for entry in entries)
        self._tally.note_manifest(task, len(entries), deleted if self.kept == LIVE else 0)
        return entries

    def __getstate__(self) -> dict[str, Any]:
        return {
            "store": self.context.store.inner,
            "place": (self.context.layout.root, self.context.layout.branch),
            "schemas": self.context.schemas.list_documents(),
            "external": dict(self.context.external),
            "plan": (self.columns, self.tasks, self.kept, self.snapshots, self.fast),
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        context = TableContext(TracingStore(state["store"]), *state["place"])
        context.schemas.restore(
            state["schemas"]
        )  # no schema file is read, no external location looked for again
        context.external.update(state["external"])
        self.__init__(context, *state["plan"])  # type: ignore[misc]


def _pack(table: pa.Table) -> pa.Buffer:
    """Compress a table into its IPC stream, whose columns stay as they are."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    return sink.getvalue()


def _cut_runs(parts: Iterable[Part], enough: int = BATCH_ROWS) -> Iterator[list[list[Part]]]:
    """Runs of parts of one schema, those together that are there at the same time: as soon as there are `enough` rows."""
    waiting: list[Part] = []
    for part in parts:
        if waiting and (part.table is None or part.table.schema != _get_schema(waiting[-1])):
            yield list(cut_parts(waiting, BATCH_ROWS))
            waiting = []
        if part.table is None:
            yield [[part]]
        elif part.rows:
            waiting.append(part)
        del part
        if sum(one.rows for one in waiting) >= enough:
            yield list(cut_parts(waiting, BATCH_ROWS))
            waiting = []
    yield list(cut_parts(waiting, BATCH_ROWS))


def _decode_shared(
    files: Iterable[tuple[bytes, str]], drop: Callable[[pa.Table], pa.Table]
) -> Iterator[pa.Table | None]:
    """As `decode_tables`, large files by several threads."""
    for is_large, some in groupby(files, lambda file: len(file[0]) >= LARGE_BYTES):
        if is_large:
            yield from (decode_large_table(*file, drop) for file in some)
        else:
            yield from decode_tables(some, drop)


def _get_schema(part: Part) -> pa.Schema:
    assert part.table is not None
    return part.table.schema


def _list_wanted(columns: FileColumns, request: ScanRequest) -> list[str]:
    names = list_columns(columns, stats=request.stats) if request.columns is None else list(request.columns)
    with_status = request.entries and request.wants("status")
    return [name for name in names if name != "status"] + (["status"] if with_status else [])
