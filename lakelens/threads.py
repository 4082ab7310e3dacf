"""Pools of threads, and what stands for one where no thread can start, as in a browser."""

from __future__ import annotations

from functools import cache
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Executor


@cache
def can_start() -> bool:
    """Check whether a thread can start here.

    >>> can_start()
    True
    """
    probe = Thread(target=can_start.__name__.strip, name="lakelens-probe", daemon=True)
    try:
        probe.start()
    except RuntimeError:
        return False
    probe.join()
    return True


def start_pool(most: int, name: str) -> Executor:
    """Start a pool of at most this number of threads.

    >>> with start_pool(2, "squares") as pool:
    ...     list(pool.map(abs, [-1, -2]))
    [1, 2]
    """
    # loaded with the first pool: a first card needs none
    from concurrent.futures import Executor, Future, ThreadPoolExecutor

    if can_start():
        return ThreadPoolExecutor(most, thread_name_prefix=f"lakelens-{name}")

    class Here(Executor):
        """Does each piece of work at once, in the thread that asks."""

        def submit(self, work, /, *given, **options):  # type: ignore[no-untyped-def]
            done: Future[object] = Future()
            try:
                done.set_result(work(*given, **options))
            except Exception as error:
                done.set_exception(error)
            return done

    return Here()
