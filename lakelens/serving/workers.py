"""Threads that make pages: a bounded number, of which one table has some at most, so that no table waits for a slow one.

Who asks for a page that is being made already waits for that one. A page that takes too long is still made: whoever
reloads it waits on, or gets it.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
# what is worked out, and what is done for it, by the modules that do it
_ANSWERS = {
    "analysis.check": "checking the table",
    "analysis.diff": "comparing two states",
    "analysis.explain": "finding which files a query opens",
    "analysis.health": "measuring the table's health",
    "analysis.life": "following a row or a file through the history",
    "analysis.map": "drawing the map",
    "explorer.maps": "drawing the map",
    "analysis.space": "counting the bytes below the table's directory",
    "analysis.timeline": "laying out the timeline",
    "warehouse": "looking for tables",
}
_STEPS = {
    "codecs.avro": "reading manifests and their lists",
    "codecs.parquet": "reading the ends of data files",
    "codecs.orc": "reading the ends of data files",
    "codecs": "decoding what is stored",
    "io": "waiting for the storage",
    "progress": "reading files of the table",
    "formats": "reading the table's metadata",
    "model": "reading the table's metadata",
    "views": "writing the page",
    "explorer": "writing the page",
}
_KEPT_SECONDS = 120.0


class TooSlow(Exception):
    """A page was not made in time. `doing` says what its thread is about, empty where it waits for a thread."""

    def __init__(self, seconds: float, doing: str, is_waiting: bool) -> None:
        super().__init__(doing)
        self.seconds, self.doing, self.is_waiting = seconds, doing, is_waiting


class TooMany(Exception):
    """More pages are asked for than wait at once."""


class Stopping(Exception):
    """The server stops."""


@dataclass(eq=False)
class _Job:
    key: str
    make: Callable[[], Any]
    done: asyncio.Future[Any]
    asked: float
    waiters: int = 0
    thread: threading.Thread | None = field(default=None)


class Workers:
    """Runs what makes pages, in at most `threads` threads, `each` for one table; `timeout` in seconds.

    Everything but the making is done in the event loop's own thread.

    >>> Workers(threads=4, each=2).is_busy
    False
    """

    def __init__(
        self, *, threads: int = 16, each: int = 3, timeout: float = 20.0, most_waiting: int = 1_000
    ) -> None:
        self.threads, self.each, self.timeout, self.most_waiting = threads, each, timeout, most_waiting
        self._jobs: dict[Hashable, _Job] = {}
        self._waiting: deque[tuple[Hashable, _Job]] = deque()
        self._running: Counter[str] = Counter()
        self._is_stopping = False

    @property
    def is_busy(self) -> bool:
        """Whether a page is being made."""
        return any(self._running.values())

    async def run(self, key: str, name: Hashable, make: Callable[[], T]) -> T:
        """Say what `make` gives, for the table `key`; `name` is the same for what is the same page."""
        if self._is_stopping:
            raise Stopping
        now = time.monotonic()
        too_late = [
            old
            for old, job in self._jobs.items()
            if job.done.done() and now - job.asked > _KEPT_SECONDS and not job.waiters
        ]
        for old in too_late:  # nobody has asked for it since
            del self._jobs[old]
        job = self._jobs.get(name)
        if job is None:
            if len(self._waiting) >= self.most_waiting:
                raise TooMany
            job = _Job(key, make, asyncio.get_running_loop().create_future(), time.monotonic())
            self._jobs[name] = job
            self._waiting.append((name, job))
            self._start_next()
        job.waiters += 1
        try:
            await asyncio.wait([job.done], timeout=self.timeout)
        finally:
            job.waiters -= 1
            self._drop(name, job)
        if not job.done.done():
            raise TooSlow(time.monotonic() - job.asked, _describe(job.thread), job.thread is None)
        result: T = job.done.result()
        return result

    def stop(self) -> None:
        """Answer those that wait, at once; threads that still make something are left to themselves."""
        self._is_stopping = True
        for job in self._jobs.values():
            if not job.done.done():
                job.done.set_exception(Stopping())
                job.done.exception()  # nobody may be left who asks for it

    def _start_next(self) -> None:
        for _ in range(len(self._waiting)):
            if self._running.total() >= self.threads:
                return
            name, job = self._waiting.popleft()
            if self._running[job.key] >= self.each:
                self._waiting.append((name, job))
                continue
            self._running[job.key] += 1
            run = self._make_runner(name, job)
            job.thread = threading.Thread(target=run, daemon=True, name=f"lakelens-page-{job.key}"[:60])
            job.thread.start()

    def _make_runner(self, name: Hashable, job: _Job) -> Callable[[], None]:
        loop = job.done.get_loop()

        def run() -> None:
            result, error = None, None
            try:
                result = job.make()
            except BaseException as raised:
                error = raised
            try:
                loop.call_soon_threadsafe(self._finish, name, job, result, error)
            except RuntimeError:  # the loop is closed: the server has stopped
                return

        return run

    def _finish(self, name: Hashable, job: _Job, result: Any, error: BaseException | None) -> None:
        self._running[job.key] -= 1
        if not self._running[job.key]:
            del self._running[job.key]
        if not job.done.done():
            if error is None:
                job.done.set_result(result)
            else:
                job.done.set_exception(error)
                job.done.exception()
            job.asked = time.monotonic()
        self._start_next()

    def _drop(self, name: Hashable, job: _Job) -> None:
        """Forget what was answered, and what nobody waits for and no thread has begun."""
        if job.waiters or self._jobs.get(name) is not job:
            return
        if job.done.done():
            del self._jobs[name]
        elif job.thread is None:
            del self._jobs[name]
            self._waiting = deque(task for task in self._waiting if task[1] is not job)


def _describe(thread: threading.Thread | None) -> str:
    """Describe what a thread is about, in a reader's words: what is worked out, and what is done for that just now."""
    frame = None if thread is None or thread.ident is None else sys._current_frames().get(thread.ident)
    modules: list[str] = []  # the innermost first
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("lakelens."):
            modules.append(name.removeprefix("lakelens."))
        frame = frame.f_back
    doing = next(filter(None, (_find_words(module, _STEPS) for module in modules)), "")
    answer = next(filter(None, (_find_words(module, _ANSWERS) for module in reversed(modules))), "")
    return ": ".join(filter(None, (answer, doing)))


def _find_words(module: str, known: Mapping[str, str]) -> str:
    """Find what a module is for; empty where that says nothing to a reader."""
    return next((words for name, words in known.items() if f"{module}.".startswith(f"{name}.")), "")
