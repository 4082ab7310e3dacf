"""From a `FileScan` to Arrow tables and batches, over threads, in order.

Tasks are cut into consecutive portions of a few megabytes; each is read in a thread (decompression, Avro and Arrow's
kernels run outside of Python's lock), and at most `WORKERS + 1` of them are in memory at once.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.model.arrow import arrow_type
from lakelens.model.scan.files_to_arrow import BOUNDS, COUNTS, choose_columns, list_columns, type_column
from lakelens.model.scan.plan import FileBatch, FileScan, ScanRequest, ScanTask, drop_removed
from lakelens.model.scan.seen_files import Repeats

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import Columns, FileColumns

WORKERS = max(1, min(4, os.cpu_count() or 1))
PORTION_BYTES = 2 * 1024 * 1024
#: Bytes that an entry counts for at least.
ENTRY_BYTES = 50
#: Compressed bytes of an entry with statistics of some three hundred columns.
WIDE_BYTES = 4 * 1024
#: Manifests of fewer bytes are decoded one by one sooner than the bulk reader is imported.
WORTH_BYTES = 64 * 1024
WORTH_BYTES_WARM = 48 * 1024


def is_worthwhile(scan: FileScan) -> bool:
    """Whether reading by column takes less time than reading record by record, its imports included."""
    is_warm = "datafusion._internal" in sys.modules
    return sum(map(_weigh, scan.tasks)) >= (WORTH_BYTES_WARM if is_warm else WORTH_BYTES)


def read_table(scan: FileScan, stats: bool = True, columns: Iterable[str] | None = None) -> pa.Table | None:
    """All files of a scan as one table; None when the same file stands in it twice, which only the record path merges.

    Raises KeyError for an unknown column.
    """
    import pyarrow as pa

    request = make_request(scan, stats=stats, columns=columns, identity=True)
    batches = list(iterate_batches(scan, request))
    if _has_repeats([batch.identity for batch in batches]) or not scan.conclude():
        return None
    seen = {leaf for batch in batches for leaves in batch.stats.values() for leaf in leaves}
    layout = lay_out(scan.columns, request, seen)  # manifests may have told of more columns by now
    return pa.Table.from_batches([assemble_batch(batch, layout) for batch in batches], layout.schema)


def stream_batches(
    scan: FileScan, size: int, stats: bool = True, columns: Iterable[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The files of a scan in record batches of at most `size`, all of one schema; nothing is kept.

    The schema has every column that schemas tell of. A file that stands twice in the manifests comes once, as at first.
    Read by one thread: each further one would hold a manifest of its own.
    """
    import pyarrow as pa

    request = make_request(scan, stats=stats, columns=columns, identity=True)
    layout = lay_out(scan.columns, request)
    repeats = Repeats()
    for batch in iterate_batches(scan, request, workers=1):
        assert batch.identity is not None
        new = repeats.find_new(batch.identity)
        record_batch = assemble_batch(batch if new.all() else batch.filter(pa.array(new)), layout)
        for start in range(0, record_batch.num_rows, size):
            yield record_batch.slice(start, size)


def make_request(
    scan: FileScan,
    *,
    stats: bool = True,
    columns: Iterable[str] | None = None,
    entries: bool = False,
    identity: bool = False,
) -> ScanRequest:
    """A request for these columns, in this order. Raises KeyError for an unknown one."""
    chosen = choose_columns(scan.columns, stats=stats, wanted=columns, entries=entries)
    return ScanRequest(stats, tuple(chosen), entries, identity)


@dataclass(frozen=True, slots=True)
class Layout:
    """The Arrow schema of a request; `leaves` are the leaf columns of bounds and counts. Can be pickled.

    `structs` has the fields of bounds and counts by column, since taking a struct type apart costs more than its arrays.
    """

    schema: pa.Schema
    leaves: Columns
    structs: dict[str, tuple[pa.Field, ...]] = field(default_factory=dict)


def lay_out(columns: FileColumns, request: ScanRequest, seen: Collection[str] | None = None) -> Layout:
    """The layout of a request; of dropped columns those that were `seen` (None: all that are known)."""
    import pyarrow as pa

    leaves = (*columns.stats, *(one for one in columns.dropped if seen is None or one[0] in seen))
    bounds = tuple(pa.field(leaf, arrow_type(of_leaf)) for leaf, of_leaf in leaves)
    counts = tuple(pa.field(leaf, pa.int64()) for leaf, _ in leaves)
    of_stats = {**{name: bounds for name, _ in BOUNDS}, **{name: counts for name, _ in COUNTS}}
    names = request.columns if request.columns is not None else list_columns(columns, stats=request.stats)
    structs = {name: of_stats[name] for name in names if name in of_stats}
    kinds = {id(fields): pa.struct(fields) for fields in structs.values()}
    fields = []
    for name in names:
        if name in structs:
            kind = kinds[id(structs[name])]
        else:
            kind = pa.string() if name == "status" else type_column(name, columns)
        fields.append(pa.field(name, kind))
    return Layout(pa.schema(fields), leaves, structs)


def assemble_batch(batch: FileBatch, layout: Layout) -> pa.RecordBatch:
    """The record batch of a `FileBatch`: what it does not have is null."""
    import pyarrow as pa

    arrays = []
    for column in layout.schema:
        fields = layout.structs.get(column.name)
        if fields is not None:
            arrays.append(_assemble_struct(batch.stats.get(column.name, {}), fields, batch.rows))
        else:
            found = batch.plain.get(column.name)
            arrays.append(pa.nulls(batch.rows, column.type) if found is None else found)
    return pa.RecordBatch.from_arrays(arrays, schema=layout.schema)


def iterate_batches(scan: FileScan, request: ScanRequest, workers: int | None = None) -> Iterator[FileBatch]:
    """The batches of a scan in order, read by so many threads (None: as many as pay); what is removed is left out."""
    if workers is None:
        workers = 1 if _is_wide(scan) else WORKERS
    removals = scan.removals() if scan.removes and not request.entries else None
    portions = cut_portions(scan.tasks)
    if len(portions) < 2 or workers < 2:
        for portion in portions:
            for batch in scan.read(portion, request, removals):
                yield drop_removed(batch, removals)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="lakelens-scan") as pool:
        waiting: deque[Future[deque[FileBatch]]] = deque()
        try:
            for portion in portions:
                waiting.append(pool.submit(partial(_read_portion, scan, portion, request, removals)))
                if len(waiting) > workers:
                    yield from _drain(waiting.popleft())
            while waiting:
                yield from _drain(waiting.popleft())
        finally:
            for future in waiting:
                future.cancel()


def cut_portions(tasks: Sequence[ScanTask], limit: int = PORTION_BYTES) -> list[list[ScanTask]]:
    """Consecutive tasks in portions of about `limit` bytes, or of as many entries as take that much at least.

    >>> [len(portion) for portion in cut_portions([ScanTask(n, "m", 400) for n in range(5)], 1000)]
    [2, 2, 1]
    """
    portions: list[list[ScanTask]] = []
    size = 0
    for task in tasks:
        weight = _weigh(task)
        if not portions or (size + weight > limit and size > limit // 8):
            portions.append([])
            size = 0
        portions[-1].append(task)
        size += weight
    return portions


def _is_wide(scan: FileScan) -> bool:
    """Whether entries have so many columns that most of the work is Python's, which threads only take from each other."""
    entries = sum(task.entries or 0 for task in scan.tasks)
    return bool(entries) and scan.size_bytes >= WIDE_BYTES * entries


def _weigh(task: ScanTask) -> int:
    """The bytes of a manifest; at least so many for each entry, since like entries compress to next to nothing."""
    return max(task.size_bytes, ENTRY_BYTES * (task.entries or 0))


def _assemble_struct(leaves: dict[str, Any], fields: Sequence[pa.Field], rows: int) -> pa.Array:
    import pyarrow as pa

    if not fields:
        return pa.array([{}] * rows, pa.struct([]))
    children = [leaves.get(leaf.name) for leaf in fields]
    # one array of nulls for all leaves of a type: a struct shares its children's buffers
    nulls: dict[pa.DataType, pa.Array] = {}
    for place, found in enumerate(children):
        if found is None:
            kind = fields[place].type
            if kind not in nulls:
                nulls[kind] = pa.nulls(rows, kind)
            children[place] = nulls[kind]
    return pa.StructArray.from_arrays(children, fields=fields)


def _read_portion(
    scan: FileScan, portion: Sequence[ScanTask], request: ScanRequest, removals: pa.Table | None
) -> deque[FileBatch]:
    return deque(drop_removed(batch, removals) for batch in scan.read(portion, request, removals))


def _drain(portion: Future[deque[FileBatch]]) -> Iterator[FileBatch]:
    """The batches of a portion, each forgotten once it was taken."""
    batches = portion.result()
    while batches:
        yield batches.popleft()


def _has_repeats(identities: Sequence[Any]) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not identities:
        return False
    joined = pa.chunked_array(identities, pa.binary())
    return bool(pc.count_distinct(joined).as_py() != len(joined))
