"""Requests that are under way together, and how often one waited for some: what latency costs."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, TypeVar

from lakelens.io.store import Store
from lakelens.threads import start_pool

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
#: The kinds of store that answer without a network: nothing is gained by asking for many things at once.
NEAR = ("file", "memory", "zip", "tar")
_AHEAD = 4  # jobs that are begun before the first result is taken, for each connection


def is_far(store: Store) -> bool:
    """Check whether each request to a store waits for a network.

    >>> from lakelens.io.memory import MemoryStore
    >>> is_far(MemoryStore({}))
    False
    """
    return store.scheme not in NEAR


class Waves:
    """How often one waited: requests that were asked for together (`run_together`) count once, all others one by one.

    Of more jobs than connections the count is what it takes when each request takes the same time.

    >>> waves = Waves()
    >>> results = waves.run_together([waves.add, waves.add, waves.add], connections=2)
    >>> [result() for result in results], waves.count
    ([None, None, None], 2)
    """

    def __init__(self) -> None:
        self.count = 0
        #: done once, while the next requests are under way
        self.meanwhile: Callable[[], object] | None = None
        self._lock = threading.Lock()
        self._local = threading.local()  # of a job: how often it waited itself

    def add(self, count: int = 1) -> None:
        """Note that somebody waits, in this thread."""
        own = getattr(self._local, "count", None)
        if own is not None:
            self._local.count = own + count
            return
        with self._lock:
            self.count += count

    def run_together(self, jobs: Iterable[Callable[[], T]], connections: int) -> Iterator[Callable[[], T]]:
        """For each job in order a function that gives its result, or raises what it raised.

        As many threads as there are connections work on a bounded number of jobs ahead of the one whose result is next.
        """
        costs: list[int] = []

        def run(job: Callable[[], T], place: int) -> T:
            self._local.count = 0
            try:
                return job()
            finally:
                costs[place] = self._local.count
                self._local.count = None

        waiting: deque[Future[T]] = deque()
        pool, is_done = start_pool(connections, "read"), False
        try:
            for place, job in enumerate(jobs):
                costs.append(0)
                waiting.append(pool.submit(run, job, place))
                if len(waiting) >= _AHEAD * connections:
                    yield waiting.popleft().result
            if waiting and self.meanwhile is not None:
                work, self.meanwhile = self.meanwhile, None
                work()
            while waiting:
                wait_for = waiting.popleft()
                wait_for.exception()
                yield wait_for.result
            is_done = True
        finally:
            # an interrupt does not wait for the requests that are under way
            pool.shutdown(wait=is_done, cancel_futures=True)
            self.add(count_rounds(costs, connections))


def count_rounds(costs: Sequence[int], connections: int) -> int:
    """Count how long jobs take, each on the first connection that is free.

    >>> count_rounds([1, 1, 1], 2), count_rounds([1, 3, 1, 1], 2), count_rounds([], 2)
    (2, 3, 0)
    """
    free = [0] * connections
    heapify(free)
    for cost in costs:
        heappush(free, heappop(free) + cost)
    return max(free)
