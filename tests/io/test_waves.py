"""Requests that are under way together: how they are counted, and what an interrupt leaves."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from lakelens.io.waves import Waves


def test_jobs_within_jobs_count_by_the_longest_way() -> None:
    waves = Waves()

    def ask(count: int) -> int:
        for _ in range(count):
            waves.add()
        return count

    def nest() -> int:
        return sum(result() for result in waves.run_together([partial(ask, 2), partial(ask, 1)], 8))

    assert [result() for result in waves.run_together([nest, partial(ask, 1)], 8)] == [3, 1]
    assert waves.count == 2
    waves.add()
    assert waves.count == 3


def test_what_a_job_raises_is_raised_where_its_result_is_taken() -> None:
    waves = Waves()

    def fail() -> None:
        raise ValueError("no")

    first, second = waves.run_together([fail, waves.add], 2)
    with pytest.raises(ValueError, match="no"):
        first()
    second()
    assert waves.count == 1


def test_an_interrupt_does_not_wait_for_requests_that_are_under_way() -> None:
    waves, go = Waves(), threading.Event()
    begun = threading.Semaphore(0)

    def wait() -> None:
        begun.release()
        go.wait(30)

    def jobs():
        yield from [wait] * 2
        begun.acquire()
        raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            list(waves.run_together(jobs(), 2))
        assert not go.is_set(), "it came back while both were waiting"
    finally:
        go.set()


def test_what_is_done_meanwhile_is_done_once_and_while_requests_are_under_way() -> None:
    """The request is answered by what is done meanwhile: whoever waited for it first would wait for ever."""
    waves, answered, times = Waves(), threading.Event(), []

    def meet() -> None:
        times.append("met")
        answered.set()

    waves.meanwhile = meet
    assert [result() for result in waves.run_together([partial(answered.wait, 30)], 2)] == [True]
    assert [result() for result in waves.run_together([lambda: 1, lambda: 2], 2)] == [1, 2]
    assert times == ["met"]
