"""A store that counts what is asked of another one: the figures behind `table.reads`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from lakelens.io.border import Border
from lakelens.io.store import ObjectInfo, Store

T = TypeVar("T")


@dataclass
class ReadCounts:
    """What was read so far: `requests`, `listings`, `bytes`, `seconds`, and the `files` that were opened."""

    requests: int = 0
    listings: int = 0
    bytes: int = 0
    seconds: float = 0.0
    files: set[str] = field(default_factory=set)


class TracingStore:
    """Wraps a store and counts, also where several threads read.

    >>> from lakelens.io.memory import MemoryStore
    >>> store = TracingStore(MemoryStore({"/t/a": b"12345"}))
    >>> _ = store.read("/t/a"), store.read_range("/t/a", 0, 2)
    >>> store.counts.requests, store.counts.bytes, sorted(store.counts.files)
    (2, 7, ['/t/a'])
    """

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.scheme = inner.scheme
        self.counts = ReadCounts()
        self._counting = threading.Lock()
        self._border: Border | None = None

    def within(self, border: Border) -> TracingStore:
        """The same store for one table: what it reads elsewhere is noted, and both count together."""
        store = TracingStore(self.inner)
        store.counts, store._counting, store._border = self.counts, self._counting, border
        return store

    def info(self, path: str) -> ObjectInfo:
        self._refuse(path)
        return self._timed(lambda: self.inner.info(path))

    def list(self, path: str) -> list[ObjectInfo]:
        self._refuse(path)
        with self._counting:
            self.counts.listings += 1
        return self._timed(lambda: self.inner.list(path))

    def read(self, path: str) -> bytes:
        self._refuse(path)
        return self._counted(path, self._timed(lambda: self.inner.read(path)))

    def read_range(self, path: str, start: int, length: int) -> bytes:
        self._refuse(path)
        return self._counted(path, self._timed(lambda: self.inner.read_range(path, start, length)))

    def _timed(self, call: Callable[[], T]) -> T:
        started = time.perf_counter()
        try:
            return call()
        finally:
            with self._counting:
                self.counts.requests += 1
                self.counts.seconds += time.perf_counter() - started

    def _refuse(self, path: str) -> None:
        if self._border is not None:
            self._border.refuse(path)

    def _counted(self, path: str, data: bytes) -> bytes:
        with self._counting:
            self.counts.files.add(path)
            self.counts.bytes += len(data)
        if self._border is not None:
            self._border.note(path)
        return data

    def __reduce__(self) -> tuple[type[TracingStore], tuple[Store]]:
        return TracingStore, (self.inner,)  # another process counts its own
