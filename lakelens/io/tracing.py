"""A store that counts what is asked of another one: the figures behind `table.reads`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from functools import partial
from typing import Any, TypeVar

from lakelens import options
from lakelens.errors import LakeError
from lakelens.io.ahead import PAGE, AheadStore, Answers, Question
from lakelens.io.border import Border
from lakelens.io.cache import CacheStore, Rule, find_identity, open_folder
from lakelens.io.store import ObjectInfo, Store
from lakelens.io.waves import Waves, is_far
from lakelens.lazy import dataclass

T = TypeVar("T")


@dataclass
class ReadCounts:
    """What was read so far: `requests`, `listings`, `bytes`, `seconds`, the `files` that were opened, and the `waves`."""

    requests: int = 0
    listings: int = 0
    bytes: int = 0
    seconds: float = 0.0
    files: set[str] = field(default_factory=set)
    waves: Waves = field(default_factory=Waves)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)


class CountingStore:
    """Wraps a store and counts each request, also where several threads read."""

    def __init__(self, inner: Store, counts: ReadCounts) -> None:
        self.inner, self.scheme, self.counts = inner, inner.scheme, counts

    def info(self, path: str) -> ObjectInfo:
        return self._timed(lambda: self.inner.info(path))

    def list(self, path: str) -> list[ObjectInfo]:
        with self.counts.lock:
            self.counts.listings += 1
        return self._timed(lambda: self.inner.list(path))

    def read(self, path: str) -> bytes:
        return self._counted(path, self._timed(lambda: self.inner.read(path)))

    def read_range(self, path: str, start: int, length: int) -> bytes:
        return self._counted(path, self._timed(lambda: self.inner.read_range(path, start, length)))

    def list_below(self, path: str, limit: int) -> Sequence[ObjectInfo] | None:
        """List the files below a directory, where the store lists a whole prefix; a page of 1,000 is a request."""
        ask = getattr(self.inner, "list_below", None)
        if ask is None or not getattr(self.inner, "lists_prefixes", True):
            return None
        found: Sequence[ObjectInfo] = self._timed(lambda: ask(path, limit))
        pages = max(1, -(-len(found) // PAGE))
        with self.counts.lock:
            self.counts.listings += pages
            self.counts.requests += pages - 1
        self.counts.waves.add(pages - 1)
        return found

    def _timed(self, call: Callable[[], T]) -> T:
        started = time.perf_counter()
        try:
            return call()
        finally:
            with self.counts.lock:
                self.counts.requests += 1
                self.counts.seconds += time.perf_counter() - started
            self.counts.waves.add()

    def _counted(self, path: str, data: bytes) -> bytes:
        with self.counts.lock:
            self.counts.files.add(path)
            self.counts.bytes += len(data)
        return data


class TracingStore:
    """Wraps a store and counts; what is behind a network is asked for ahead, and kept (see `AheadStore`).

    Without `ahead` everything is asked for when it is needed: for somebody who waits for many tables at once.

    >>> from lakelens.io.memory import MemoryStore
    >>> store = TracingStore(MemoryStore({"/t/a": b"12345"}))
    >>> _ = store.read("/t/a"), store.read_range("/t/a", 0, 2)
    >>> store.counts.requests, store.counts.bytes, sorted(store.counts.files)
    (2, 7, ['/t/a'])
    """

    def __init__(self, inner: Store, counts: ReadCounts | None = None, *, ahead: bool = True) -> None:
        self.inner = inner
        self.scheme = inner.scheme
        self.counts = ReadCounts() if counts is None else counts
        counted = CountingStore(inner, self.counts)
        self._cache = self._open_cache(counted) if is_far(inner) else None
        self._ahead = AheadStore(self._cache or counted, self.counts.waves) if is_far(inner) else None
        self._reader: Store = self._ahead or counted
        self._border: Border | None = None
        self._fetches = ahead

    def within(self, border: Border) -> TracingStore:
        """The same store for one table: what it reads elsewhere is noted, and both count together."""
        store = TracingStore(self.inner)
        store.counts, store._ahead, store._reader = self.counts, self._ahead, self._reader
        store._cache, store._fetches = self._cache, self._fetches
        store._border = border
        return store

    @property
    def is_far(self) -> bool:
        """Whether each request waits for a network."""
        return self._ahead is not None

    def moment(self, answers: Answers | None = None) -> AbstractContextManager[None]:
        """While it lasts nothing is asked for twice, where each request waits for a network: see `AheadStore.moment`."""
        return nullcontext() if self._ahead is None else self._ahead.moment(answers)

    def fetch(self, questions: Iterable[Question]) -> None:
        """Read what is going to be asked for, all together: see `lakelens.io.ahead.fetch`."""
        if self._ahead is None:
            return
        asked = [question for question in questions if self._may_ask(question[1])]
        if len(asked) > 1 and not self._fetches:
            return
        if self._cache is not None:
            self._cache.expect_ends(asked)
        later = [] if self._cache is None else _find_unlisted(asked, self._cache)
        self._ahead.fetch([question for question in asked if question not in later])
        if self._cache is not None:  # what a listing has said is there, which often needs no request
            self._ahead.fetch([question for question in later if self._cache.knows(question[1])])

    def keep_by(self, rule: Rule) -> None:
        """Keep what of the table may be kept for the next session (`options.cache_dir`): see `lakelens.io.cache`."""
        if self._cache is not None:
            self._cache.rule = rule

    def expect(self, sizes: Iterable[tuple[str, int]]) -> None:
        """Files of which a document of the table records the sizes.

        Of others behind a network `options.budgets.max_document` bytes are read, and nothing is kept for the next session.
        """
        expected = list(sizes)
        inner: Any = self.inner
        if hasattr(inner, "expect"):
            inner.expect(expected)
        if self._cache is not None:
            self._cache.expect(expected)

    def _open_cache(self, counted: CountingStore) -> CacheStore | None:
        identity = None if options.cache_dir is None else find_identity(self.inner)
        if options.cache_dir is None or identity is None:
            return None
        folder = open_folder(options.cache_dir, options.cache_bytes)
        return CacheStore(counted, identity, folder, lambda path: None, self._note_hit)

    def _note_hit(self, path: str) -> None:
        with self.counts.lock:
            self.counts.files.add(path)

    def fetch_below(self, path: str, most: int) -> bool:
        """Read the listings of all directories below one: see `lakelens.io.ahead.fetch_below`."""
        is_asked = self._ahead is not None and self._fetches and self._may_ask(path)
        return is_asked and self._ahead is not None and self._ahead.fetch_below(path, most)

    def list_few(self, path: str) -> list[ObjectInfo]:
        """List the few files of a directory that was fetched: see `lakelens.io.ahead.list_few`."""
        return self._ahead.list_few(path) if self._ahead is not None and self._may_ask(path) else []

    def find_document(self, path: str) -> bytes | None:
        """Find a document that was read and is kept, of a store each request to which waits for a network."""
        return self._ahead.find_document(path) if self._ahead is not None and self._may_ask(path) else None

    def run_together(self, jobs: Iterable[Callable[[], T]]) -> Iterator[Callable[[], T]]:
        """For each job in order a function that gives its result; of a far store many are worked on together."""
        if self._ahead is None:
            return iter(jobs)
        return self.counts.waves.run_together(jobs, options.max_connections)

    def read_together(self, paths: Iterable[str]) -> Iterator[Callable[[], bytes]]:
        """For each path in order a function that gives its bytes."""
        return self.run_together(partial(self.read, path) for path in paths)

    def info(self, path: str) -> ObjectInfo:
        self._refuse(path)
        return self._reader.info(path)

    def list(self, path: str) -> list[ObjectInfo]:
        self._refuse(path)
        return self._reader.list(path)

    def read(self, path: str) -> bytes:
        self._refuse(path)
        return self._note(path, self._reader.read(path))

    def read_range(self, path: str, start: int, length: int) -> bytes:
        self._refuse(path)
        return self._note(path, self._reader.read_range(path, start, length))

    def _refuse(self, path: str) -> None:
        if self._border is not None:
            self._border.refuse(path)

    def _may_ask(self, path: str) -> bool:
        """Check whether the border lets a path through; who asks for another one gets the error then."""
        try:
            self._refuse(path)
        except LakeError:
            return False
        return True

    def _note(self, path: str, data: bytes) -> bytes:
        if self._border is not None:
            self._border.note(path)
        return data

    def __reduce__(self) -> tuple[type[TracingStore], tuple[Store]]:
        return TracingStore, (self.inner,)  # another process counts its own


def _find_unlisted(asked: Iterable[Question], cache: CacheStore) -> list[Question]:
    """Files that may be kept, of which a listing among the questions will say the size."""
    listed = {question[1] for question in asked if question[0] == "list"}
    files = [question for question in asked if question[0] in ("read", "read_range")]
    return [file for file in files if cache.is_expected(file[1]) and file[1].rpartition("/")[0] in listed]
