"""From a `FileScan` to Arrow tables and batches, over threads, in order.

Tasks are cut into consecutive portions of a few megabytes; each is read in a thread (decompression, Avro and Arrow's
kernels run outside of Python's lock), and at most `WORKERS + 1` of them are in memory at once.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from lakelens.model.scan.files_to_arrow import assemble_batch, assemble_table, lay_out, make_request
from lakelens.model.scan.plan import FileBatch, FileScan, ScanRequest, ScanTask
from lakelens.progress import Progress
from lakelens.threads import start_pool

if TYPE_CHECKING:
    from concurrent.futures import Future

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


Portion = Sequence[ScanTask]
Given = TypeVar("Given")
Read = TypeVar("Read")

#: The portions that were read for a request which was not read to its end.
Begun = dict[ScanRequest, list[deque[FileBatch]]]

WORKERS = max(1, min(4, os.cpu_count() or 1))
PORTION_BYTES = 2 * 1024 * 1024
#: Bytes of manifests that are read together where each request waits for a network.
FETCHED_BYTES = 24 * 1024 * 1024
#: Bytes that an entry counts for at least.
ENTRY_BYTES = 50
#: Compressed bytes of an entry with statistics of some three hundred columns.
WIDE_BYTES = 4 * 1024
#: Manifests of fewer bytes are decoded one by one before the bulk reader is even imported.
WORTH_BYTES = 64 * 1024
WORTH_BYTES_WARM = 48 * 1024


def is_worthwhile(tasks: Iterable[ScanTask]) -> bool:
    """Check whether reading by column takes less time than reading record by record, its imports included."""
    return sum(map(weigh, tasks)) >= (WORTH_BYTES_WARM if is_warm() else WORTH_BYTES)


def is_warm() -> bool:
    """Check whether the bulk reader was loaded before, so that using it again imports nothing."""
    return "datafusion._internal" in sys.modules


def read_table(
    scan: FileScan, stats: bool = True, columns: Iterable[str] | None = None, begun: Begun | None = None
) -> pa.Table | None:
    """Read all files of a scan as one table; None when the same file stands in it twice, which only the record path merges.

    Raises KeyError for an unknown column.
    """
    request = make_request(scan.columns, stats=stats, wanted=columns, identity=True)
    batches = read_batches(scan, request, {} if begun is None else begun)
    if has_repeats([batch.identity for batch in batches]) or not scan.conclude():
        return None
    return assemble_table(batches, scan.columns, request)  # manifests may have added columns by now


def read_batches(
    scan: FileScan,
    request: ScanRequest,
    begun: Begun,
    settle: Callable[[FileBatch], FileBatch] | None = None,
) -> list[FileBatch]:
    """Read all batches of a scan. What an interrupt leaves is kept in `begun`, and the next try goes on from there.

    `settle` gives what to keep of each, once and in their order.
    """
    request = replace(request, keeps_all=True)
    portions = begun.setdefault(request, [])
    for batches in iterate_portions(scan, request, skip=len(portions)):
        portions.append(batches if settle is None else deque(map(settle, batches)))
    return [batch for batches in begun.pop(request) for batch in batches]


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
    for batch in iterate_batches(scan, replace(request, sparing=True), workers=1):
        assert batch.identity is not None
        new = repeats.find_new(batch.identity)
        record_batch = assemble_batch(batch if new.all() else batch.filter(pa.array(new)), layout)
        for start in range(0, record_batch.num_rows, size):
            yield record_batch.slice(start, size)


def iterate_batches(scan: FileScan, request: ScanRequest, workers: int | None = None) -> Iterator[FileBatch]:
    """The batches of a scan in order, read by `workers` threads (None: as many as pay); what is removed is left out."""
    if _choose_workers(scan, request, workers)[0] > 1:
        for batches in iterate_portions(scan, request, workers=workers):
            while batches:  # each is forgotten once it was taken
                yield batches.popleft()
        return
    _, request = _choose_workers(scan, request, workers)
    removals = _find_removals(scan, request)
    with Progress("manifests", len(scan.tasks)) as progress:
        for portion in _fetch_along(scan, cut_portions(scan.tasks)):
            yield from scan.read(portion, request, removals)
            progress.advance(len(portion), _measure(portion))


def iterate_portions(
    scan: FileScan, request: ScanRequest, *, skip: int = 0, workers: int | None = None
) -> Iterator[deque[FileBatch]]:
    """Iterate the batches of each portion of a scan, but of the first `skip`; see `iterate_batches`.

    An interrupt does not wait for the portions that are being read: each stops after its next batch.
    """
    portions = cut_portions(scan.tasks)
    with Progress("manifests", len(scan.tasks)) as progress:
        for portion in portions[:skip]:
            progress.advance(len(portion), _measure(portion))
        chosen, request = _choose_workers(scan, request, workers)
        removals = _find_removals(scan, request)
        read = partial(_read_portion, scan, request, removals, stop := Event())
        loaded = read_along(read, _fetch_along(scan, portions[skip:]), chosen, stop)
        for portion, batches in zip(portions[skip:], loaded, strict=True):
            progress.advance(len(portion), _measure(portion))
            yield batches


def read_along(
    read: Callable[[Given], Read], portions: Iterable[Given], workers: int, stop: Event | None = None
) -> Iterator[Read]:
    """Say what is read of each portion, in order; `workers` threads read ahead. `stop` is set at the end."""
    if workers < 2:
        yield from map(read, portions)
        return
    pool = start_pool(workers, "scan")
    waiting: deque[Future[Read]] = deque()
    try:
        for portion in portions:
            waiting.append(pool.submit(read, portion))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        if stop is not None:
            stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _fetch_along(scan: FileScan, portions: Iterable[Portion]) -> Iterator[Portion]:
    """Fetch the portions; the manifests of those that come next are read together, as many as are kept."""
    waiting: list[Portion] = []
    size = 0
    for portion in portions:
        waiting.append(portion)
        size += _measure(portion)
        if size >= FETCHED_BYTES:
            scan.fetch([task for one in waiting for task in one])
            yield from waiting
            waiting, size = [], 0
    scan.fetch([task for one in waiting for task in one])
    yield from waiting


def _measure(portion: Portion) -> int:
    return sum(task.size_bytes for task in portion)


def _find_removals(scan: FileScan, request: ScanRequest) -> pa.Table | None:
    return scan.removals() if scan.removes and not request.entries else None


def _choose_workers(scan: FileScan, request: ScanRequest, workers: int | None) -> tuple[int, ScanRequest]:
    """Choose how many threads pay, and the request with what those that are left over may do."""
    portions = len(cut_portions(scan.tasks))
    if workers is not None:
        return min(workers, portions), request
    # of wide entries most of the work is Python's, which threads only take from each other
    entries = sum(task.entries or 0 for task in scan.tasks)
    is_wide = entries > 0 and scan.size_bytes >= WIDE_BYTES * entries
    workers = 1 if is_wide else min(WORKERS, portions)
    return workers, replace(request, ahead=workers < WORKERS)


def cut_portions(tasks: Sequence[ScanTask], limit: int = PORTION_BYTES) -> list[list[ScanTask]]:
    """Consecutive tasks in portions of about `limit` bytes, or of as many entries as take that much at least.

    >>> [len(portion) for portion in cut_portions([ScanTask(n, "m", 400) for n in range(5)], 1000)]
    [2, 2, 1]
    """
    portions: list[list[ScanTask]] = []
    size = 0
    for task in tasks:
        weight = weigh(task)
        if not portions or (size + weight > limit and size > limit // 8):
            portions.append([])
            size = 0
        portions[-1].append(task)
        size += weight
    return portions


def weigh(task: ScanTask) -> int:
    """The bytes of a manifest; at least `ENTRY_BYTES` for each entry, because like entries compress to next to nothing."""
    return max(task.size_bytes, ENTRY_BYTES * (task.entries or 0))


def _read_portion(
    scan: FileScan, request: ScanRequest, removals: pa.Table | None, stop: Event, portion: Portion
) -> deque[FileBatch]:
    batches: deque[FileBatch] = deque()
    for batch in scan.read(portion, request, removals):
        if stop.is_set():
            break
        batches.append(batch)
    return batches


def has_repeats(identities: Sequence[Any]) -> bool:
    """Check whether one of the binary identities of some batches stands there twice."""
    import pyarrow as pa

    if not identities:
        return False
    joined = pa.chunked_array(identities, pa.binary())
    return len(joined.unique()) != len(joined)


_BITS = 27


class Repeats:
    """Finds the files that did not come before, over millions of them, in little memory.

    flags    2^27 bits, two of them set by each file's hash (64 bits of SipHash, whose key no file knows)
    hashes   8 bytes for each file: asked where both bits of a new one are set already, once in 20,000 over a million

    >>> import pyarrow as pa
    >>> repeats = Repeats()
    >>> repeats.find_new(pa.array([b"a", b"b", b"a"])).tolist(), repeats.find_new(pa.array([b"b", b"c"])).tolist()
    ([True, True, False], [False, True])
    """

    def __init__(self) -> None:
        import numpy as np

        self._flags: NDArray[np.uint8] = np.zeros(1 << (_BITS - 3), np.uint8)
        self._hashes: list[NDArray[np.int64]] = []

    def find_new(self, identities: pa.Array) -> NDArray[np.bool_]:
        """Find which of these binary identities come for the first time; from now on none of them is new."""
        import numpy as np

        values = np.fromiter(map(hash, identities.to_pylist()), np.int64, len(identities))
        new: NDArray[np.bool_] = np.zeros(len(values), np.bool_)
        new[np.unique(values, return_index=True)[1]] = True
        places = [self._place(values, shift) for shift in (0, _BITS)]
        perhaps = np.logical_and.reduce([(self._flags[byte] & bit) != 0 for byte, bit in places])
        for candidate in np.flatnonzero(perhaps & new).tolist():
            new[candidate] = not any((known == values[candidate]).any() for known in self._hashes)
        for byte, bit in places:
            np.bitwise_or.at(self._flags, byte, bit)
        self._hashes.append(values[new])
        return new

    @staticmethod
    def _place(values: NDArray[np.int64], shift: int) -> tuple[Any, Any]:
        """Place the byte and the bit of a flag for each hash."""
        import numpy as np

        flag = (values >> shift) & ((1 << _BITS) - 1)
        return flag >> 3, (1 << (flag & 7)).astype(np.uint8)
