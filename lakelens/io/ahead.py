"""What is going to be asked for is asked for together: a store of which each request waits for a network."""

from __future__ import annotations

import posixpath
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any, TypeAlias, TypeVar, cast

from lakelens import options
from lakelens.errors import LakeError, Missing
from lakelens.io.store import ObjectInfo, Store, find_info
from lakelens.io.waves import Waves, is_far
from lakelens.lazy import dataclass

# What is known of far files before they are read: their first and last bytes, and the listings of a whole directory.

# what is read of a file at its beginning (magics), and at its end (a footer, usually)
_HEAD, _END = 256, 64 << 10
_MOST_KEPT = 32 << 20
#: A part of a file: "end", its path, where it begins and how long it is, the file's size, and its line of a listing.
Part: TypeAlias = tuple[str, str, int, int, int, ObjectInfo | None]


def list_ends(path: str, size: int, info: ObjectInfo | None = None) -> list[Part]:
    """List the parts of a file that are read ahead of its footer; of a small one all of it.

    >>> [part[2:4] for part in list_ends("/t/a", 100)], [part[2:4] for part in list_ends("/t/a", 100_000)]
    ([(0, 100)], [(0, 256), (34464, 65536)])
    """
    if size <= _END:
        return [("end", path, 0, size, size, info)] if size > 0 else []
    return [("end", path, 0, _HEAD, size, info), ("end", path, size - _END, _END, size, info)]


@dataclass(slots=True)
class _Ends:
    size: int
    info: ObjectInfo | None
    parts: dict[int, bytes] = field(default_factory=dict)


class FileEnds:
    """The parts of files that were read last, up to 32 MiB. A file of which no listing said the size is asked for it, too:
    where that is another one, its parts are of no use.

    >>> ends = FileEnds()
    >>> ends.keep(list_ends("/t/a", 5, ObjectInfo("/t/a", 5))[0], b"12345")
    >>> ends.find_range("/t/a", -2, 2), ends.find_range("/t/b", 0, 2)
    (b'45', None)
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Ends] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def expect(self, part: Part) -> None:
        """This part is being asked for."""
        _, path, _, _, size, info = part
        with self._lock:
            known = self._kept.get(path)
            if known is None or known.size != size:
                self._drop(path)
                self._kept[path] = _Ends(size, info)

    def confirm(self, info: ObjectInfo) -> None:
        """Confirm what the store says of a file that was asked for its size."""
        with self._lock:
            known = self._kept.get(info.path)
            if known is not None:
                known.info = info
                if info.size != known.size:
                    self._drop(info.path)

    def keep(self, part: Part, data: bytes) -> None:
        """This part was read."""
        _, path, start, length, size, info = part
        with self._lock:
            known = self._kept.get(path)
            if len(data) != length or (known is not None and known.size != size):
                return
            if known is None:
                known = self._kept[path] = _Ends(size, info)
            self._total += len(data) - len(known.parts.get(start, b""))
            known.parts[start] = data
            self._kept.move_to_end(path)
            while self._total > _MOST_KEPT:
                self._drop(next(iter(self._kept)))

    def has(self, part: Part) -> bool:
        """Check whether this part is known."""
        _, path, start, length, _, _ = part
        return self.find_range(path, start, length) is not None

    def find_info(self, path: str) -> ObjectInfo | None:
        """Find what a listing or the store said of a file with known parts."""
        with self._lock:
            known = self._kept.get(path)
            return None if known is None or not known.parts else known.info

    def find_whole(self, path: str) -> bytes | None:
        """Find all bytes of a file, where it is so small that its ends are all of it."""
        with self._lock:
            known = self._kept.get(path)
            whole = None if known is None or known.info is None else known.parts.get(0)
            return whole if known is not None and whole is not None and len(whole) == known.size else None

    def find_range(self, path: str, start: int, length: int) -> bytes | None:
        """These bytes of a file; None where they are not known."""
        with self._lock:
            known = self._kept.get(path)
            if known is None or known.info is None:
                return None
            self._kept.move_to_end(path)
            begin = max(0, known.size + start) if start < 0 else start
            stop = min(known.size, begin + max(0, length))
            for at, data in known.parts.items():
                if at <= begin and stop <= at + len(data):
                    return data[begin - at : max(begin, stop) - at]
            return None

    def _drop(self, path: str) -> None:
        known = self._kept.pop(path, None)
        if known is not None:
            self._total -= sum(map(len, known.parts.values()))


def divide_listing(path: str, found: Sequence[ObjectInfo], *, is_whole: bool) -> dict[str, list[ObjectInfo]]:
    """Divide what the listing of each directory below `path` gives, by the files below it, which are in order.

    Where these are not all, the directories that the last one is in are left out.

    >>> listed = divide_listing("/t", [ObjectInfo("/t/a/b/c", 1), ObjectInfo("/t/d", 2)], is_whole=True)
    >>> {folder: [child.name for child in children] for folder, children in listed.items()}
    {'/t': ['a', 'd'], '/t/a/b': ['c'], '/t/a': ['b']}
    """
    listings: dict[str, dict[str, ObjectInfo]] = {path: {}}
    for info in found:
        child = info
        if info.is_dir:
            listings.setdefault(info.path, {})
        while child.path.startswith(f"{path}/"):
            folder = posixpath.dirname(child.path)
            children = listings.setdefault(folder, {})
            if child.path in children:
                break
            children[child.path] = child
            child = ObjectInfo(folder, 0, is_dir=True)
    last = found[-1].path if found and not is_whole else ""
    return {
        folder: sorted(children.values(), key=lambda child: child.path)
        for folder, children in listings.items()
        if not last.startswith(f"{folder}/")
    }


T = TypeVar("T")
PAGE = 1_000  # objects that a store lists at once
#: A verb and what it is asked.
Question: TypeAlias = tuple[Any, ...]
#: What answers, or raises, the same again.
Answers: TypeAlias = dict[Question, Callable[[], Any]]
_MOST_DOCUMENTS = 64 << 20  # bytes of documents
_FEW, _MOST_OF_FEW = 32, 1 << 20
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
    few: Iterable[str] = (),
    meanwhile: str | None = None,
) -> None:
    """Read what is going to be asked for, all together; does nothing where a store answers without a network.

    What comes of it, an error too, is what the store answers when it is asked: nothing is raised here. Whole documents
    are kept, while there is room; listings, infos, ranges and errors until somebody asked for them. `ends` are files, as a
    listing has them, of which the first and the last bytes are going to be read: footers. `small` are
    documents of unknown size that are wanted if they have no more bytes; `few` directories that are listed as far as
    `list_few` says. A module that is needed next is loaded `meanwhile`.
    """
    ahead: Any = getattr(store, "fetch", None)
    if ahead is not None:
        if meanwhile is not None and is_far(store):
            cast("Any", store).counts.waves.meanwhile = partial(import_module, meanwhile)
        ahead(
            [
                *(("list", path) for path in listings),
                *(("info", path) for path in infos),
                *(("read", path) for path in documents),
                *(("read_range", *place) for place in ranges),
                *(("small", *limit) for limit in small),
                *(("few", path) for path in few),
                *(part for info in ends for part in list_ends(info.path, info.size, info)),
            ]
        )


def list_few(store: Store, path: str) -> list[ObjectInfo]:
    """List the files of a directory that was fetched, where there are few and small ones: 32, of 1 MiB together.

    They are read with what is read next, whether they are needed or not: that is sooner than to wait for what names them.
    Empty in a store that lists no prefix at once, and after opening.
    """
    ahead = getattr(store, "list_few", None)
    files: list[ObjectInfo] = [] if ahead is None else [info for info in ahead(path) if not info.is_dir]
    return files if sum(info.size for info in files) <= _MOST_OF_FEW else []


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
            level, count = [path], 0
            while level and count + len(level) <= most:
                self.fetch([("list", folder) for folder in level])
                below = [child for folder in level for child in self._look_at(folder)]
                count += len(below)
                level = [child.path for child in below if child.is_dir]
            return not level
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

    def list_few(self, path: str) -> list[ObjectInfo]:
        """See the function of this name."""
        with self._lock:
            known = (self._moment or {}).get(("list_below", path))
        return [] if known is None else list(known())

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
        """Check whether an answer is kept, or a listing of this moment says that nothing is there."""
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
        """Find a whole document that is kept."""
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
        if answer is None:
            answer = self._request(question)
            if self._moment is not None:
                with self._lock:
                    if self._moment is not None and question[0] in ("list", "info"):
                        self._moment[question] = answer
        return answer()

    def _load(self, question: Question) -> None:
        if question[0] == "few":
            self._list_below(question[1], _FEW + 1)
            return
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
            while self._size > _MOST_DOCUMENTS:
                self._size -= len(self._documents.popitem(last=False)[1])


def _is_listed(answer: Callable[[], Any], path: str) -> bool:
    """Check whether a listing has a path; one that was refused says nothing."""
    try:
        return any(child.path == path for child in answer())
    except Missing:
        return False
    except LakeError:
        return True


def _raise(error: LakeError) -> None:
    raise error.with_traceback(None)


# Many documents that are read one after the other: those that come next are asked for together, in bounded memory.

#: Bytes of documents that are asked for together; as many again may still be kept (see `AheadStore`).
PIECE_BYTES = 24 << 20
_UNKNOWN = 192 << 10  # of a document of which no size is recorded
_LEAST = 16 << 10  # whatever is recorded
# of data files: what is read of the ends of one, what is read whole, and the ends that are read together
_END_PIECES, _WHOLE, _ENDS_BYTES = 64 << 10, 1 << 20, 8 << 20
#: Where a document is, and its size where that is recorded; None for what is not going to be read.
Place = Callable[[T], tuple[str, int | None] | None]


def fetch_along(store: Store, things: Iterable[T], place: Place[T], limit: int = PIECE_BYTES) -> Iterator[T]:
    """Fetch the things in order; before the first of a piece comes, the documents of the whole piece are read together.

    Where a store answers without a network nothing is asked ahead.

    >>> from lakelens.io.memory import MemoryStore
    >>> list(fetch_along(MemoryStore({}), ["/a", "/b"], lambda path: (path, 10)))
    ['/a', '/b']
    """
    if not getattr(store, "is_far", False):
        yield from things
        return
    for piece in cut_pieces(things, place, limit):
        fetch(store, documents=[where[0] for where in map(place, piece) if where is not None])
        yield from piece


def fetch_files_along(
    store: Store, things: Iterable[T], place: Place[T], *, whole: bool = False
) -> Iterator[T]:
    """The things in order; before the first of a piece comes, the ends of the piece's data files are read: their footers.

    With `whole` files of at most a megabyte are read whole: their rows are going to be read.

    >>> from lakelens.io.memory import MemoryStore
    >>> list(fetch_files_along(MemoryStore({}), ["/a", "/b"], lambda path: (path, 10)))
    ['/a', '/b']
    """
    if not getattr(store, "is_far", False):
        yield from things
        return

    def weigh(thing: T) -> tuple[str, int | None] | None:
        where = place(thing)
        size = _END_PIECES if where is None or not isinstance(where[1], int) else where[1]
        return (
            None
            if where is None
            else (where[0], size if whole and size <= _WHOLE else min(size, _END_PIECES))
        )

    for piece in cut_pieces(things, weigh, _ENDS_BYTES):
        fetch_files(store, [where for where in map(place, piece) if where is not None], whole=whole)
        yield from piece


def fetch_files(store: Store, places: Iterable[tuple[str, int | None]], *, whole: bool = False) -> None:
    """Read the ends of some data files together, or small ones `whole`; of those without a size that is asked for first."""
    if not getattr(store, "is_far", False):
        return
    known = {path: size for path, size in places if path}
    unknown = [path for path, size in known.items() if not isinstance(size, int)]
    fetch(store, infos=unknown)
    questions: list[tuple[Any, ...]] = []
    for path, size in known.items():
        info = None
        if not isinstance(size, int):
            with suppress(LakeError):
                info = store.info(path)
        length = size if isinstance(size, int) else 0 if info is None else info.size
        is_short = whole and 0 < length <= _WHOLE
        questions += [("info", path)] if isinstance(size, int) else []
        questions += [("end", path, 0, length, length, info)] if is_short else list_ends(path, length, info)
    store.fetch(questions)  # type: ignore[attr-defined]


def fetch_first(store: Store, things: Iterable[T], place: Place[T]) -> None:
    """Read the documents of the first piece of some things together; the others are read when they are asked for."""
    if getattr(store, "is_far", False):
        for piece in islice(cut_pieces(things, place), 1):
            fetch(store, documents=[where[0] for where in map(place, piece) if where is not None])


def cut_pieces(things: Iterable[T], place: Place[T], limit: int = PIECE_BYTES) -> Iterator[list[T]]:
    """Things that follow each other, of which the documents have at most `limit` bytes together, or are one.

    >>> list(cut_pieces([300, 300, 500, 900], lambda size: ("/a", size << 10), limit=640 << 10))
    [[300, 300], [500], [900]]
    """
    piece: list[T] = []
    size = 0
    for thing in things:
        where = place(thing)
        recorded = 0 if where is None else where[1] if isinstance(where[1], int) else _UNKNOWN
        weight = 0 if where is None else max(recorded, _LEAST)
        if piece and size + weight > limit:
            yield piece
            piece, size = [], 0
        piece.append(thing)
        size += weight
    if piece:
        yield piece
