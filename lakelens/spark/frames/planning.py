"""Planning on the driver: which manifests, in which bins, with what columns. Only manifest lists are read.

A `ReadPlan` is what travels: the scan without its tasks, pickled once, and the tasks bin by bin, so that an executor
unpickles its own bins only. Formats without manifests (Hive) are listed on the driver; their rows travel as Arrow instead.
"""

from __future__ import annotations

import heapq
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lakelens.errors import Unsupported
from lakelens.model.scan.files_to_arrow import Layout, lay_out, make_request
from lakelens.model.scan.plan import FileScan, ScanRequest, ScanTask
from lakelens.model.scan.pruning import Selection, select_files
from lakelens.options import export_limits

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import FileColumns, FileSet
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

#: About this many bytes of manifests make a bin.
BIN_BYTES = 4 * 1024 * 1024
#: Below this a bin is not worth a task of its own, however many cores are idle.
SMALL_BIN_BYTES = 256 * 1024
_ROWS_OF_A_BIN = 20_000


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """What executors need to read files or entries. `bins` are pickled tasks (or rows in Arrow's stream format, with
    `scan` None), `removing` those of the manifests that may remove files of others.

    `request` has the columns that are read, `layout` those that are given, `selection` the files that are meant. `limits`
    are the driver's: what a manifest may cost to read.
    """

    layout: Layout
    request: ScanRequest
    selection: Selection = field(default_factory=Selection)
    scan: FileScan | None = None
    bins: tuple[bytes, ...] = ()
    removing: tuple[bytes, ...] = ()
    strict: bool = True
    limits: Mapping[str, Any] = field(default_factory=export_limits)

    def pickle_head(self) -> bytes:
        """Everything but the bins, pickled."""
        return pickle.dumps(replace(self, bins=(), removing=()), pickle.HIGHEST_PROTOCOL)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user asks for: columns and statistics, the files that are meant, and what a damaged manifest does."""

    stats: bool = True
    columns: tuple[str, ...] | None = None
    select: Callable[[FileColumns], Selection] = select_files
    strict: bool = True


def plan_files(table: Table, snapshot: Snapshot | None, wanted: Wanted, parallelism: int) -> ReadPlan:
    """Give the plan of the files of a snapshot (None: of a table before its first commit)."""
    if snapshot is None:
        return _plan_nothing(table, wanted)
    scan = snapshot.scan_files()
    if scan is None:
        return _plan_listing(snapshot.files, wanted)
    return _plan_scan(scan, table, [snapshot], wanted, parallelism)


def plan_entries(table: Table, all_snapshots: bool, wanted: Wanted, parallelism: int) -> ReadPlan:
    """Give the plan of the entries of the current snapshot's manifests, or of every manifest that a snapshot names.

    Raises `Unsupported` where the format has no manifests.
    """
    scan = table.scan_entries(all_snapshots=all_snapshots)
    snapshots = list(table.snapshots) if all_snapshots else [table.current] if table.current else []
    if scan is None and (snapshots or table.current):
        raise Unsupported(f"{table.format} tables have no manifests, so no entries", path=table.location)
    if scan is None:
        return _plan_nothing(table, wanted, entries=True)
    return _plan_scan(scan, table, snapshots, wanted, parallelism, entries=True)


def fill_bins(tasks: Sequence[ScanTask], count: int) -> list[list[ScanTask]]:
    """Tasks in at most `count` bins of about the same size: the largest first, each into the emptiest bin.

    >>> tasks = [ScanTask(n, "m", size) for n, size in enumerate([5, 9, 4, 1])]
    >>> [[task.size_bytes for task in one] for one in fill_bins(tasks, 2)]
    [[9, 1], [5, 4]]
    """
    bins: list[list[ScanTask]] = [[] for _ in range(min(count, len(tasks)))]
    emptiest = [(0, number) for number in range(len(bins))]
    for task in sorted(tasks, key=lambda task: (-task.size_bytes, task.position)):
        size, number = heapq.heappop(emptiest)
        bins[number].append(task)
        heapq.heappush(emptiest, (size + max(task.size_bytes, 1), number))
    for one in bins:
        one.sort(key=lambda task: task.position)
    return bins


def count_bins(size_bytes: int, parallelism: int) -> int:
    """How many bins manifests of `size_bytes` together make: one for a few megabytes, and one for each core where that pays.

    >>> count_bins(0, 8), count_bins(1_000_000, 8), count_bins(10_000_000, 8), count_bins(1_000_000_000, 8)
    (1, 3, 8, 239)
    """
    by_size = -(-size_bytes // BIN_BYTES)
    return max(1, by_size, min(parallelism, size_bytes // SMALL_BIN_BYTES))


def find_parallelism(spark: Any) -> int:
    """Find how many tasks a cluster runs at once; a small guess if the session does not know (Spark Connect)."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context, and says so by errors of its own
        configured = spark.conf.get("spark.default.parallelism", None)
        return int(configured) if configured and configured.isdigit() else 8


def _plan_scan(
    scan: FileScan,
    table: Table,
    snapshots: Sequence[Snapshot],
    wanted: Wanted,
    parallelism: int,
    entries: bool = False,
) -> ReadPlan:
    selection = wanted.select(scan.columns)
    tasks: Sequence[ScanTask] = scan.tasks
    if selection.partition:
        specs = {spec.id: spec for spec in (*table.specs, table.partitioning)}
        manifests = {manifest.path: manifest for snapshot in snapshots for manifest in snapshot.manifests}
        tasks = selection.prune_tasks(tasks, manifests, specs)
    request = _request(scan.columns, wanted, entries)
    layout = lay_out(scan.columns, request)
    removing = [] if entries else [task for task in tasks if task.removes]
    scan.note_reads(tasks)
    return ReadPlan(
        layout,
        _add_columns(request, selection.columns, identity=bool(removing)),
        selection,
        scan.with_tasks(()),
        _pack(tasks, parallelism),
        _pack(removing, parallelism),
        wanted.strict,
    )


def _pack(tasks: Sequence[ScanTask], parallelism: int) -> tuple[bytes, ...]:
    bins = fill_bins(tasks, count_bins(sum(task.size_bytes for task in tasks), parallelism))
    return tuple(pickle.dumps(tuple(one), pickle.HIGHEST_PROTOCOL) for one in bins)


def _request(columns: FileColumns, wanted: Wanted, entries: bool) -> ScanRequest:
    return make_request(columns, stats=wanted.stats, wanted=wanted.columns, entries=entries)


def _add_columns(request: ScanRequest, further: Sequence[str], identity: bool) -> ScanRequest:
    """Add the request with the columns that a selection needs as well."""
    assert request.columns is not None
    missing = tuple(name for name in further if name not in request.columns)
    return replace(request, columns=request.columns + missing, identity=identity)


def _plan_nothing(table: Table, wanted: Wanted, entries: bool = False) -> ReadPlan:
    """Give the plan of a table before its first commit."""
    columns = table.files.columns
    request = _request(columns, wanted, entries)
    return ReadPlan(lay_out(columns, request), request)


def _plan_listing(files: FileSet, wanted: Wanted) -> ReadPlan:
    """Plan files that no manifest names, listed here: their rows travel in portions."""
    columns = files.columns
    selection = wanted.select(columns)
    request = _request(columns, wanted, entries=False)
    layout = lay_out(columns, request)
    read = _add_columns(request, selection.columns, identity=False)
    assert read.columns is not None
    batches = files.batches(_ROWS_OF_A_BIN, wanted.stats, read.columns)
    bins = []
    for batch in batches:
        chosen = selection.choose(batch.column)
        kept = batch if chosen is None else batch.filter(chosen)
        if kept.num_rows:
            bins.append(pack_rows(kept.select(layout.schema.names)))
    return ReadPlan(layout, request, bins=tuple(bins))


def plan_rows(table: pa.Table) -> ReadPlan:
    """Give the plan of rows that the driver has made of manifest lists and metadata documents."""
    bins = (pack_rows(batch) for batch in table.to_batches(_ROWS_OF_A_BIN))
    return ReadPlan(Layout(table.schema, ()), ScanRequest(), bins=tuple(bins))


def pack_rows(rows: pa.RecordBatch | pa.Table) -> bytes:
    """Rows in Arrow's stream format."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write(rows)
    return bytes(sink.getvalue())
