"""What the objects of every format share: recorded locations found where they are now, many documents read at once, what was
read last kept, damage as findings, stored keys as attributes, and bytes explained by modules that load late."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from lakelens.caching import cached_property
from lakelens.errors import AccessDenied, LakeError, Missing
from lakelens.io.ahead import fetch_along
from lakelens.io.border import Border
from lakelens.io.relocation import Locator, split_location
from lakelens.io.store import ObjectInfo, find_info, walk
from lakelens.io.tracing import ReadCounts, TracingStore
from lakelens.model.bytes_view import Bound
from lakelens.model.finding import Findings
from lakelens.model.storage import Reads, Relocation
from lakelens.threads import start_pool

if TYPE_CHECKING:
    from concurrent.futures import Future

    from lakelens.model.bytes_view import BytesView
    from lakelens.model.scan.plan import ScanTask
    from lakelens.model.storage import Storage

T = TypeVar("T")
#: Directories outside of a table's own that are listed to look for its files.
_MOST_FOLDERS = 1_000
_MOST_NAMED = 100  # missing files with a finding each


class TableAccess(Bound):
    """The storage side of one open table: `store`, `locator`, `findings`."""

    def __init__(self, store: TracingStore, locator: Locator, findings: Findings | None = None) -> None:
        self.locator = locator
        self.findings = findings if findings is not None else Findings()
        #: files that are not in the table's directory, and where they were recorded and still are
        self.elsewhere: dict[str, str] = {}
        self._reported: set[str] = set()
        self._substitutes: dict[str, str] = {}
        self._border = Border(locator.root, store.scheme, self._report_foreign)
        self.store = store.within(self._border)

    def find_recorded(self, recorded: str) -> tuple[str, int]:
        """Find where a recorded file is now, and its size; the recorded place itself is tried second. Raises `Missing`."""
        path = self.locator.locate(recorded)
        for place in (path, self._find_original(recorded, path)):
            info = None if place is None else self._find_info(place, path)
            if place is not None and info is not None and not info.is_dir:
                if place != path:
                    self._report_substitute(recorded, place, path)
                return place, info.size
        raise Missing("no such file", path=path, hint=_name_recorded(recorded, path))

    def read_recorded(self, recorded: str, *, here: bool = False) -> tuple[str, bytes]:
        """Read where a recorded file is now, and its bytes; the recorded place itself is tried second. Raises `Missing`.

        With `here` a file that belongs into the table's directory is read there and nowhere else.
        """
        path = self.locator.locate(recorded)
        try:
            return path, self.store.read(path)
        except Missing as missing:
            original = self._find_original(recorded, path)
            if original is None or self._find_info(original, path) is None:
                raise Missing(missing.message, path=path, hint=_name_recorded(recorded, path)) from missing
            if here and self.locator.was_at_home(recorded):
                message = f"not in this copy; {original} still has it"
                self.findings.add("error", "missing", path, message)
                raise Missing(message, path=path) from missing
            self._report_substitute(recorded, original, path)
            return original, self.store.read(original)

    def _find_info(self, place: str, path: str) -> ObjectInfo | None:
        """What is at a place; a recorded one that may not be read is as good as empty: the table may have been copied."""
        try:
            return find_info(self.store, place)
        except AccessDenied:
            if place == path:
                raise
            return None

    @cached_property
    def _own_scheme(self) -> str:
        return split_location(self.locator.root)[0] or "file"

    def _find_original(self, recorded: str, path: str) -> str | None:
        """The recorded place itself, where that is another one of the same kind of storage; a relative location has none."""
        scheme, original = split_location(recorded)
        is_own = (scheme or "file") == self._own_scheme and original.startswith("/")
        place = self.locator.in_store(original) if is_own else path
        return None if place == path else place

    def note_read(self, path: str | None) -> None:
        """Note a file was read before there was this object: where it is counts all the same."""
        if path is not None:
            self._border.note(path)

    def _report_substitute(self, recorded: str, place: str, missing: str) -> None:
        """Report a file that is not in the table was read from where it was recorded: it may have changed since."""
        self.locator.keep_unmapped(recorded)
        folder = place.rpartition("/")[0]
        if self._border.is_new(folder):
            message = f"files are missing in {missing.rpartition('/')[0]}, and were read from here, where they were recorded"
            self.findings.add("warning", "foreign-file", folder, message)
        if not self.locator.was_at_home(recorded) or missing in self._reported:
            return
        self.elsewhere[missing] = place
        self._reported.add(missing)
        if len(self._reported) <= _MOST_NAMED:
            self.findings.add("error", "missing", missing, f"not in this copy; read from {place} instead")
        else:
            more = f"{len(self._reported) - _MOST_NAMED:,} more files are not in this copy, and were read elsewhere"
            self.findings.add("error", "missing", self.locator.root, more, counts_on=True)

    def expect(self, folder: str) -> None:
        """A folder outside of the table's directory that is known to hold files of it, and is reported elsewhere."""
        self._border.is_new(folder)

    def _report_foreign(self, folder: str) -> None:
        message = f"files were read from here, outside of the table's directory {self.locator.root}"
        self.findings.add("note", "foreign-file", folder, message)

    def list_objects(self, path: str, refuse: Callable[[LakeError], None]) -> Iterator[ObjectInfo]:
        """List every object below a directory. What cannot be listed is given to `refuse`."""
        return (info for info in walk(self.store, path, refuse=refuse) if not info.is_dir)

    def find_sizes(self, recorded: Iterable[tuple[str, str | None]]) -> Iterator[int | None]:
        """The sizes of files that are not below the table's directory, or that were recorded elsewhere before it was moved.

        Each file is where it is expected and where it was recorded. None for one that is nowhere, or that is missing in this
        copy of the table and still where it was recorded (`elsewhere` has it then), -1 for one that was not
        looked for: of other directories at most 1,000 are listed, each once.
        """
        folders: dict[str, dict[str, int] | None] = {}
        root = self.locator.root.rstrip("/") + "/"
        origins: dict[str, str | None] = {}  # where a file called x of a recorded directory is
        for path, location in recorded:
            directory, _, name = (location or path).rpartition("/")
            if directory not in origins:
                origins[directory] = self._find_original(f"{directory}/x", "")
            origin = None if location is None else origins[directory]
            places = (path, path if origin is None or not name else f"{origin[:-1]}{name}")
            if path.startswith(root) and places[1].startswith(root):
                yield None  # below the table, whose listing has it not
                continue
            outside = [place for place in dict.fromkeys(places) if not self._is_below_root(place)]
            sizes = [self._find_size(place, folders) for place in outside]
            known = next((size for size in sizes if size is not None and size >= 0), None)
            if known is not None and location is not None and path != places[-1]:
                self._substitutes[path] = places[-1]
                # Whether a file that is not at its path belongs below the table's directory.
                if self._is_below_root(path) and self.locator.was_at_home(location):
                    self.elsewhere[path] = places[-1]
                    known = None
            is_unknown = known is None and -1 in sizes and path in outside
            yield -1 if is_unknown else known

    def measure(self, tasks: Iterable[ScanTask]) -> tuple[ScanTask, ...]:
        """Manifests that are going to be read, with the bytes that they have; as recorded where that is not to be known."""
        measured = []
        for task in fetch_along(self.store, tasks, lambda task: (task.path, task.size_bytes)):
            if self.store.is_far:  # what was just read is kept, and nobody is asked again
                kept = self.store.find_document(task.path)
                size = None if kept is None else len(kept)
            else:
                try:
                    size = self.store.info(task.path).size
                except LakeError:  # whoever reads it says so
                    size = None
            measured.append(task if size is None else replace(task, size_bytes=size))
        return tuple(measured)

    def find_place(self, path: str) -> str:
        """Where a file is that was never in the table's directory, as far as `find_sizes` has looked; else its path."""
        return path if path in self.elsewhere else self._substitutes.get(path, path)

    def _is_below_root(self, path: str) -> bool:
        return path.startswith(self.locator.root.rstrip("/") + "/")

    def _find_size(self, path: str, folders: dict[str, dict[str, int] | None]) -> int | None:
        """Find the size of a file by a listing of its directory; -1 where that may not or could not be listed."""
        folder = path.rpartition("/")[0]
        if folder not in folders:
            if len(folders) >= _MOST_FOLDERS:
                return -1
            try:
                children = self.store.list(folder)
            except Missing:
                folders[folder] = {}
            except LakeError:
                folders[folder] = None
            else:
                folders[folder] = {child.path: child.size for child in children if not child.is_dir}
        found = folders[folder]
        return -1 if found is None else found.get(path)

    def attempt(self, action: Callable[[], T], path: str, default: T, snapshots: Sequence[int] = ()) -> T:
        """The action's result; what it raises becomes a finding, and `default` is the result."""
        try:
            return action()
        except LakeError as error:
            self.findings.add_error(error, path, snapshots)
            return default

    def count_reads(self) -> Reads:
        """Count what was read so far."""
        return describe_reads(self.store.counts)

    def describe_relocation(self, recorded_location: str | None) -> Relocation:
        """Describe the mapping of locations that was used so far."""
        return Relocation(
            recorded_location,
            self.locator.root,
            tuple(self.locator.mapping),
            tuple(self.locator.unmapped),
            tuple(self.locator.homes),
            tuple(self.elsewhere.items()),
        )

    def open_storage(self) -> Storage:
        """Open what the table's data files say of themselves."""
        # by its name: what reads contents stands on this module
        storage: Storage = import_module("lakelens.formats.contents").TableStorage(self)
        return storage


def describe_reads(counts: ReadCounts) -> Reads:
    """Describe what a store has counted."""
    paths = tuple(sorted(counts.files))
    return Reads(counts.requests, len(paths), counts.bytes, counts.seconds, paths, counts.waves.count)


class StoredKey(Generic[T]):
    """A stored key as an attribute under its own name in snake case, read by the object's `_find_stored`.

    `show` makes what a reader of the attribute is given, of the object, the name and what is stored.
    """

    def __init__(self, doc: str, show: Callable[[Any, str, Any], T] | None = None) -> None:
        self.__doc__ = doc
        self._show = show

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, made: None, owner: type) -> StoredKey[T]: ...
    @overload
    def __get__(self, made: Any, owner: type) -> T: ...
    def __get__(self, made: Any, owner: type) -> StoredKey[T] | T:
        if made is None:
            return self
        held: T = made._find_stored(self._name)
        return held if self._show is None else self._show(made, self._name, held)


def explain_late(module: str, thing: Any, *needs: Any) -> BytesView:
    """The bytes of an object of a table by the `explain_object` of a module, which is loaded when it is first asked for."""
    explanation: BytesView = import_module(module).explain_object(thing, *needs)
    return explanation


def _name_recorded(recorded: str, path: str) -> str | None:
    return f"it is recorded as {recorded}" if recorded != path else None


_READERS = 16


_AHEAD = 64


def run_ahead(
    jobs: Iterable[Callable[[], T]], threads: int = _READERS, store: TracingStore | None = None
) -> Iterator[Callable[[], T]]:
    """For each job in order a function that gives its result, or raises what it raised.

    Several threads work on a bounded number of jobs ahead of the one whose result is next; where they ask a far `store`,
    as many as it may have connections.

    >>> [result() for result in run_ahead([lambda: 1, lambda: 2], threads=2)]
    [1, 2]
    """
    if store is not None and store.is_far:
        yield from store.run_together(jobs)
        return
    waiting: deque[Future[T]] = deque()
    with start_pool(threads, "read") as pool:
        try:
            for job in jobs:
                waiting.append(pool.submit(job))
                if len(waiting) >= _AHEAD:
                    yield waiting.popleft().result
            while waiting:
                yield waiting.popleft().result
        finally:
            for future in waiting:
                future.cancel()


K = TypeVar("K")


# how many made items are kept when nobody else holds them: their own caches are kept with them
_MOST_KEPT = 1024


class WeakLruCache(Generic[T]):
    """Makes each item once while anyone holds it, and keeps those that were asked for last. Threads may share it.

    >>> class Item:
    ...     def __init__(self, position: int) -> None:
    ...         self.position = position
    >>> items = WeakLruCache(Item)
    >>> items(7) is items(7)
    True
    """

    def __init__(self, make: Callable[[int], T], most: int = _MOST_KEPT) -> None:
        self._make = make
        self._most = most
        self._alive: weakref.WeakValueDictionary[int, T] = weakref.WeakValueDictionary()
        self._kept: dict[int, T] = {}
        self._lock = threading.RLock()

    def __call__(self, position: int) -> T:
        """The item of a position."""
        with self._lock:
            found = self._kept.pop(position, None)
            if found is None:
                found = self._alive.get(position)
            if found is None:
                found = self._alive[position] = self._make(position)
            self._kept[position] = found
            if len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
            return found


class LruCache(Generic[K, T]):
    """What was loaded last, by key, up to a total weight; the newest is kept however heavy it is. Threads may share it.

    >>> cache = LruCache[str, str](most=2)
    >>> cache.get("a", lambda: "loaded"), cache.get("a", lambda: "loaded again")
    ('loaded', 'loaded')
    """

    def __init__(self, most: int, weigh: Callable[[T], int] = lambda item: 1) -> None:
        self._most = most
        self._weigh = weigh
        self._kept: dict[K, tuple[int, T]] = {}  # each with its weight
        self._total = 0
        self._lock = threading.Lock()

    def get(self, key: K, load: Callable[[], T]) -> T:
        """Give the item of a key, loaded when it is not kept; what `load` raises is raised, and nothing is kept."""
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            item = load()  # nobody waits for it: two that ask at once load it twice
            found = self._weigh(item), item
        with self._lock:
            before = self._kept.pop(key, None)
            self._total += found[0] - (0 if before is None else before[0])
            self._kept[key] = found  # the last one is the newest
            while len(self._kept) > 1 and self._total > self._most:
                self._total -= self._kept.pop(next(iter(self._kept)))[0]
        return found[1]
