"""Many small documents, read ahead of whoever parses them: over a network each waits for its answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from lakelens.io.store import Store

_NEAR = ("file", "memory")
_READERS = 16
_AHEAD = 64


def read_ahead(store: Store, paths: Sequence[str]) -> Iterator[Callable[[], bytes]]:
    """For each path in order a function that gives its bytes, or raises what reading raised.

    Files of a remote store are read by several threads, a bounded number of them ahead.

    >>> from lakelens.io.memory import MemoryStore
    >>> [read() for read in read_ahead(MemoryStore({"/t/a": b"1", "/t/b": b"2"}), ["/t/b", "/t/a"])]
    [b'2', b'1']
    """
    if store.scheme in _NEAR or len(paths) < 2:
        yield from (partial(store.read, path) for path in paths)
        return
    waiting: deque[Future[bytes]] = deque()
    with ThreadPoolExecutor(_READERS, thread_name_prefix="lakelens-read") as pool:
        try:
            for path in paths:
                waiting.append(pool.submit(store.read, path))
                if len(waiting) >= _AHEAD:
                    yield waiting.popleft().result
            while waiting:
                yield waiting.popleft().result
        finally:
            for future in waiting:
                future.cancel()
