"""Many small reads started ahead of the code that uses them: over a network each one mostly waits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from lakelens.io.store import Store

T = TypeVar("T")
_NEAR = ("file", "memory")
_READERS = 16
_AHEAD = 64


def run_ahead(jobs: Iterable[Callable[[], T]], threads: int = _READERS) -> Iterator[Callable[[], T]]:
    """For each job in order a function that gives its result, or raises what it raised.

    Several threads work on a bounded number of jobs ahead of the one whose result is next.

    >>> [result() for result in run_ahead([lambda: 1, lambda: 2], threads=2)]
    [1, 2]
    """
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="lakelens-read") as pool:
        try:
            for job in jobs:
                waiting.append(pool.submit(job))
                if len(waiting) >= _AHEAD:
                    yield waiting.popleft().result
            while waiting:
                yield waiting.popleft().result
        finally:
            for future in waiting:
                future.cancel()


def read_ahead(store: Store, paths: Sequence[str]) -> Iterator[Callable[[], bytes]]:
    """For each path in order a function that gives its bytes; files of a remote store are read by several threads.

    >>> from lakelens.io.memory import MemoryStore
    >>> [read() for read in read_ahead(MemoryStore({"/t/a": b"1", "/t/b": b"2"}), ["/t/b", "/t/a"])]
    [b'2', b'1']
    """
    jobs = (partial(store.read, path) for path in paths)
    return iter(jobs) if store.scheme in _NEAR or len(paths) < 2 else run_ahead(jobs)
