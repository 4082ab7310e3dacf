"""From a `FileScan` to Arrow tables and batches, over threads, in order.

Tasks are cut into consecutive portions of a few megabytes; each is read in a thread (decompression, Avro and Arrow's
kernels run outside of Python's lock), and at most `WORKERS + 1` of them are in memory at once.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.model.scan.files_to_arrow import assemble_batch, assemble_table, lay_out, make_request
from lakelens.model.scan.plan import FileBatch, FileScan, ScanRequest, ScanTask
from lakelens.model.scan.seen_files import Repeats

if TYPE_CHECKING:
    import pyarrow as pa


WORKERS = max(1, min(4, os.cpu_count() or 1))
PORTION_BYTES = 2 * 1024 * 1024
#: Bytes that an entry counts for at least.
ENTRY_BYTES = 50
#: Compressed bytes of an entry with statistics of some three hundred columns.
WIDE_BYTES = 4 * 1024
#: Manifests of fewer bytes are decoded one by one before the bulk reader is even imported.
WORTH_BYTES = 64 * 1024
WORTH_BYTES_WARM = 48 * 1024


def is_worthwhile(scan: FileScan) -> bool:
    """Whether reading by column takes less time than reading record by record, its imports included."""
    return sum(map(_weigh, scan.tasks)) >= (WORTH_BYTES_WARM if is_warm() else WORTH_BYTES)


def is_warm() -> bool:
    """Whether the bulk reader was loaded before, so that using it again imports nothing."""
    return "datafusion._internal" in sys.modules


def read_table(scan: FileScan, stats: bool = True, columns: Iterable[str] | None = None) -> pa.Table | None:
    """All files of a scan as one table; None when the same file stands in it twice, which only the record path merges.

    Raises KeyError for an unknown column.
    """
    request = make_request(scan.columns, stats=stats, wanted=columns, identity=True)
    batches = list(iterate_batches(scan, request))
    if _has_repeats([batch.identity for batch in batches]) or not scan.conclude():
        return None
    return assemble_table(batches, scan.columns, request)  # manifests may have added columns by now


def stream_batches(
    scan: FileScan, size: int, stats: bool = True, columns: Iterable[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The files of a scan in record batches of at most `size`, all of one schema; nothing is kept.

    The schema has every known column. A file that stands twice in the manifests comes once, as at first.
    Read by one thread: each further one would hold a manifest of its own.
    """
    import pyarrow as pa

    request = make_request(scan.columns, stats=stats, wanted=columns, identity=True)
    layout = lay_out(scan.columns, request)
    repeats = Repeats()
    for batch in iterate_batches(scan, request, workers=1):
        assert batch.identity is not None
        new = repeats.find_new(batch.identity)
        record_batch = assemble_batch(batch if new.all() else batch.filter(pa.array(new)), layout)
        for start in range(0, record_batch.num_rows, size):
            yield record_batch.slice(start, size)


def iterate_batches(scan: FileScan, request: ScanRequest, workers: int | None = None) -> Iterator[FileBatch]:
    """The batches of a scan in order, read by `workers` threads (None: as many as pay); what is removed is left out."""
    if workers is None:
        workers = 1 if _is_wide(scan) else WORKERS
    removals = scan.removals() if scan.removes and not request.entries else None
    portions = cut_portions(scan.tasks)
    if len(portions) < 2 or workers < 2:
        for portion in portions:
            yield from scan.read(portion, request, removals)
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
    """Whether entries are wide enough that most of the work is Python's, which threads only take from each other."""
    entries = sum(task.entries or 0 for task in scan.tasks)
    return bool(entries) and scan.size_bytes >= WIDE_BYTES * entries


def _weigh(task: ScanTask) -> int:
    """The bytes of a manifest; at least `ENTRY_BYTES` for each entry, because like entries compress to next to nothing."""
    return max(task.size_bytes, ENTRY_BYTES * (task.entries or 0))


def _read_portion(
    scan: FileScan, portion: Sequence[ScanTask], request: ScanRequest, removals: pa.Table | None
) -> deque[FileBatch]:
    return deque(scan.read(portion, request, removals))


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
