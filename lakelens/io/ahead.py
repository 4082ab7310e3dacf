"""What is going to be asked for is asked for together: a store of which each request waits for a network."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeAlias, TypeVar, cast

from lakelens import options
from lakelens.errors import LakeError, Missing
from lakelens.io.ends import FileEnds, Part, divide_listing, list_ends
from lakelens.io.store import ObjectInfo, Store, find_info
from lakelens.io.waves import Waves

T = TypeVar("T")
PAGE = 1_000  # objects that a store lists at once
#: A verb and what it is asked.
Question: TypeAlias = tuple[Any, ...]
#: What answers, or raises, the same again.
Answers: TypeAlias = dict[Question, Callable[[], Any]]
_MOST_KEPT = 64 << 20  # bytes of documents
_LARGEST_KEPT = 16 << 20


def fetch(
    store: Store,
    *,
    documents: Iterable[str] = (),
    listings: Iterable[str] = (),
    infos: Iterable[str] = (),
    ranges: Iterable[tuple[str, int, int]] = (),
    ends: Iterable[ObjectInfo] = (),
    small: Iterable[tuple[str, int]] = (),
) -> None:
    """Read what is going to be asked for, all together; does nothing where a store answers without a network.

    What comes of it, an error too, is what the store answers when it is asked: nothing is raised here. Whole documents
    are kept, while there is room; listings, infos, ranges and errors until somebody asked for them. `ends` are files, as a
    listing has them, of which the first and the last bytes are going to be read: footers. `small` are
    documents of unknown size that are wanted if they have no more bytes.
    """
    ahead = getattr(store, "fetch", None)
    if ahead is not None:
        ahead(
            [
                *(("list", path) for path in listings),
                *(("info", path) for path in infos),
                *(("read", path) for path in documents),
                *(("read_range", *place) for place in ranges),
                *(("small", *limit) for limit in small),
                *(part for info in ends for part in list_ends(info.path, info.size, info)),
            ]
        )


def fetch_below(store: Store, path: str, most: int = PAGE) -> bool:
    """Read the listings of all directories below one, as `fetch` does; whether there are no more than `most` objects.

    Of more the listings of some directories are there, and others are not. False where a store answers without a network.
    """
    ahead = getattr(store, "fetch_below", None)
    return ahead is not None and bool(ahead(path, most))


def is_larger(store: Store, path: str, most: int) -> bool:
    """Whether a file has more bytes than `most`; False where there is none. Of one that was fetched nobody is asked."""
    find = getattr(store, "find_document", None)
    kept: bytes | None = None if find is None else find(path)
    if kept is not None:
        return len(kept) > most
    info = find_info(store, path)
    return info is not None and info.size > most


class AheadStore:
    """Wraps a store: answers what was fetched, keeps the documents that were read last (64 MiB), and asks for the rest.

    A table is what it was when it was opened, so that a document which was read is not read again. In a `moment` the same
    is true of listings.

    >>> from lakelens.io.memory import MemoryStore
    >>> from lakelens.io.tracing import CountingStore, ReadCounts
    >>> counts = ReadCounts()
    >>> far = AheadStore(CountingStore(MemoryStore({"/t/a": b"12345", "/t/b": b"67"}), counts), counts.waves)
    >>> far.fetch([("read", "/t/a"), ("read", "/t/b"), ("list", "/t")])
    >>> far.read("/t/a"), far.read_range("/t/b", -1, 1), len(far.list("/t")), counts.requests, counts.waves.count
    (b'12345', b'7', 2, 3, 1)
    """

    def __init__(self, inner: Store, waves: Waves) -> None:
        self.inner, self.scheme = inner, inner.scheme
        self._waves = waves
        self._lock = threading.RLock()
        self._documents: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._fetched: dict[Question, Callable[[], Any]] = {}  # until asked for
        self._moment: dict[Question, Callable[[], Any]] | None = None
        self._ends = FileEnds()

    @contextmanager
    def moment(self, answers: Answers | None = None) -> Iterator[None]:
        """While it lasts nothing is asked for twice. `answers` are known from another one, and get what is asked in it."""
        with self._lock:
            before, self._moment = self._moment, self._moment if self._moment is not None else answers
            if self._moment is None:
                self._moment = {}
        try:
            yield
        finally:
            with self._lock:
                self._moment = before

    def fetch(self, questions: Iterable[Question]) -> None:
        """Ask all of these together, but for those whose answers are kept."""
        wanted = [question for question in dict.fromkeys(questions) if not self._is_known(question)]
        for question in wanted:
            if question[0] == "end":
                self._ends.expect(cast("Part", question))
        if len(wanted) == 1:
            self._load(wanted[0])
            return
        jobs = [partial(self._load, question) for question in wanted]
        for result in self._waves.run_together(jobs, options.max_connections):
            with suppress(LakeError):
                result()

    def fetch_below(self, path: str, most: int) -> bool:
        """See the function of this name. A store that lists a whole prefix is asked once, of others each level together."""
        found, is_whole = self._list_below(path, most)
        if not found:
            return self._fetch_levels(path, most)
        with self._lock:
            for folder, children in divide_listing(path, found, is_whole=is_whole).items():
                self._fetched[("list", folder)] = partial(list, children)
        return is_whole

    def _list_below(self, path: str, most: int) -> tuple[Sequence[ObjectInfo], bool]:
        """At most that many files, and whether these are all; in a moment those that were found before, if they are."""
        key = ("list_below", path)
        with self._lock:
            known = None if self._moment is None else self._moment.get(key)
        if known is not None:
            return known(), True
        try:
            found: Sequence[ObjectInfo] = self._request(("list_below", path, most))() or ()
        except LakeError:
            return (), False
        is_whole = 0 < len(found) < most
        with self._lock:
            if is_whole and self._moment is not None:
                self._moment[key] = lambda: found
        return found, is_whole

    def _fetch_levels(self, path: str, most: int) -> bool:
        level, count = [path], 0
        while level and count + len(level) <= most:
            self.fetch([("list", folder) for folder in level])
            below = [child for folder in level for child in self._look_at(folder)]
            count += len(below)
            level = [child.path for child in below if child.is_dir]
        return not level

    def _look_at(self, folder: str) -> list[ObjectInfo]:
        """The children of a directory that was fetched; whoever asks for it gets the answer still."""
        question = ("list", folder)
        with self._lock:
            answer = self._fetched.get(question) or (self._moment or {}).get(question)
        try:
            return [] if answer is None else list(answer())
        except LakeError:
            return []

    def info(self, path: str) -> ObjectInfo:
        known = self._ends.find_info(path)
        if known is not None:
            return known
        found: ObjectInfo = self._ask(("info", path))
        return found

    def list(self, path: str) -> list[ObjectInfo]:
        children: list[ObjectInfo] = self._ask(("list", path))
        return children[:]

    def read(self, path: str) -> bytes:
        kept = self.find_document(path)
        data: bytes = self._ask(("read", path)) if kept is None else kept
        return data

    def read_range(self, path: str, start: int, length: int) -> bytes:
        kept = self.find_document(path)
        if kept is not None:
            begin = max(0, len(kept) + start) if start < 0 else start
            return kept[begin : begin + max(0, length)]
        part = self._ends.find_range(path, start, length)
        if part is not None:
            return part
        data: bytes = self._ask(("read_range", path, start, length))
        return data

    def _is_known(self, question: Question) -> bool:
        """Whether an answer is kept, or a listing of this moment says that nothing is there."""
        with self._lock:
            if question in self._fetched or (self._moment is not None and question in self._moment):
                return True
            if question[0] == "info" and self._ends.find_info(question[1]) is not None:
                return True
            if question[0] == "end" and self._ends.has(cast("Part", question)):
                return True
            if question[0] in ("read", "read_range", "end", "small") and question[1] in self._documents:
                return True
            listed = (self._moment or {}).get(("list", question[1].rpartition("/")[0]))
        return listed is not None and not _is_listed(listed, question[1])

    def find_document(self, path: str) -> bytes | None:
        """A whole document that is kept."""
        with self._lock:
            kept = self._documents.get(path)
            if kept is not None:
                self._documents.move_to_end(path)
                return kept
        return self._ends.find_whole(path)

    def _ask(self, question: Question) -> Any:
        with self._lock:
            answer = self._fetched.pop(question, None)
            if self._moment is not None:
                if answer is not None:
                    self._moment[question] = answer
                answer = self._moment.get(question)
        return (answer or self._load_now(question))()

    def _load_now(self, question: Question) -> Callable[[], Any]:
        answer = self._request(question)
        if self._moment is not None:
            with self._lock:
                if self._moment is not None and question[0] in ("list", "info"):
                    self._moment[question] = answer
        return answer

    def _load(self, question: Question) -> None:
        if question[0] == "end":
            with suppress(LakeError):  # whoever asks for it asks again
                self._ends.keep(cast("Part", question), self.inner.read_range(*question[1:4]))
            return
        if question[0] == "small":
            with suppress(LakeError):
                _, path, most = question
                data = self.inner.read_range(path, 0, most + 1)
                if len(data) <= most:
                    self._keep(path, data)
            return
        answer = self._request(question)
        if question[0] == "info":
            with suppress(LakeError):
                self._ends.confirm(answer())
        with self._lock:
            if question[0] != "read" or question[1] not in self._documents:
                self._fetched[question] = answer

    def _request(self, question: Question) -> Callable[[], Any]:
        """Asks, and gives what answers the same again."""
        verb, path, *rest = question
        try:
            found = getattr(self.inner, verb)(path, *rest)
        except LakeError as error:
            return partial(_raise, error.with_traceback(None))
        if verb == "read":
            self._keep(path, found)
        return lambda: found

    def _keep(self, path: str, data: bytes) -> None:
        if len(data) > _LARGEST_KEPT:
            return
        with self._lock:
            self._size += len(data) - len(self._documents.pop(path, b""))
            self._documents[path] = data
            while self._size > _MOST_KEPT:
                self._size -= len(self._documents.popitem(last=False)[1])


def _is_listed(answer: Callable[[], Any], path: str) -> bool:
    """Whether a listing has a path; one that was refused says nothing."""
    try:
        return any(child.path == path for child in answer())
    except Missing:
        return False
    except LakeError:
        return True


def _raise(error: LakeError) -> None:
    raise error.with_traceback(None)
