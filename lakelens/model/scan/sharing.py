"""Work over the cores of the machine, from any thread: whoever is free takes the next piece, who asked works along."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from lakelens.threads import start_pool

if TYPE_CHECKING:
    from concurrent.futures import Executor

Result = TypeVar("Result")
#: Threads beside the one that asks.
SPARE = max(0, min(4, os.cpu_count() or 1) - 1)


def share_work(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Say what each task gives, in their order. Where the other threads are busy, this one does them all.

    >>> share_work([lambda: 1, lambda: 2, lambda: 3])
    [1, 2, 3]
    """
    results: dict[int, Result] = {}
    numbers = iter(range(len(tasks)))

    def work() -> None:
        for number in numbers:  # an iterator of numbers gives each of them to one thread alone
            results[number] = tasks[number]()

    helpers = [_start_pool().submit(work) for _ in range(min(SPARE, len(tasks) - 1))]
    try:
        work()
    finally:
        list(numbers)  # after an error, or an interrupt, nobody goes on
        started = [helper for helper in helpers if not helper.cancel()]
        errors = [helper.exception() for helper in started]
    for error in errors:
        if error is not None:
            raise error
    return [results[number] for number in range(len(tasks))]


@cache
def _start_pool() -> Executor:
    return start_pool(SPARE, "share")


if hasattr(
    os, "register_at_fork"
):  # not on Windows, which does not fork; the child of a fork has none of the threads
    os.register_at_fork(after_in_child=_start_pool.cache_clear)
