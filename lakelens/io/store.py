"""The store protocol: four reading verbs over absolute paths.

A path is a plain string in the store's own name space: `/warehouse/t/data/f.parquet` on a local disk, `bucket/key` or
`/key` elsewhere. Directories carry no trailing slash. A store never writes.
"""

from __future__ import annotations

import io
import os
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from lakelens.errors import LakeError, Missing
from lakelens.lazy import dataclass

#: Bytes. No document, manifest or footer is as large; a whole read of more is refused, ranges of any file are not.
MOST_BYTES = 1 << 31
# objects that a walk holds of directories that it has not come to, and those that a store lists at once
_MOST_HELD, _PAGE = 50_000, 1_000


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What a listing says about one object: `path`, `size` in bytes (0 for a directory), `modified` (UTC), `is_dir`.

    `target` is where a link to a directory leads; "" where that directory holds the link. `mark` is another one as soon as
    the object is (ETag), where a storage has such.
    """

    path: str
    size: int
    modified: datetime | None = None
    is_dir: bool = False
    target: str | None = field(default=None, compare=False)
    mark: str | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The last component of the path."""
        return posixpath.basename(self.path)


@runtime_checkable
class Store(Protocol):
    """Four verbs. Each raises `Missing` for what is not there and `AccessDenied` for what may not be read."""

    scheme: str

    def info(self, path: str) -> ObjectInfo:
        """Size and kind of one object."""
        ...

    def list(self, path: str) -> list[ObjectInfo]:
        """List the direct children of a directory, sorted by path."""
        ...

    def read(self, path: str) -> bytes:
        """Read all bytes of one object."""
        ...

    def read_range(self, path: str, start: int, length: int) -> bytes:
        """`length` bytes from `start`, fewer at the end; a negative `start` counts from the end."""
        ...


def find_info(store: Store, path: str) -> ObjectInfo | None:
    """`store.info`, or None where nothing is.

    >>> from lakelens.io.memory import MemoryStore
    >>> find_info(MemoryStore({"/t/a": b"x"}), "/t/b") is None
    True
    """
    try:
        return store.info(path)
    except Missing:
        return None


def list_names(store: Store, path: str) -> dict[str, ObjectInfo]:
    """Children of a directory by name; empty where the directory is missing.

    >>> from lakelens.io.memory import MemoryStore
    >>> sorted(list_names(MemoryStore({"/t/a": b"x", "/t/b/c": b""}), "/t"))
    ['a', 'b']
    """
    try:
        return {child.name: child for child in store.list(path)}
    except Missing:
        return {}


class Links:
    """Which directories a walk enters: of links only those that lead out of what is walked, and each place once.

    What a link leads to inside of it is reached by its own path: of two paths, one would be nobody's. Links that lead
    in a circle would be followed without end.

    >>> links = Links("/t")
    >>> targets = (None, "", "/t/data", "/u", "/u")
    >>> [links.may_enter(ObjectInfo("/t/l", 0, is_dir=True, target=target)) for target in targets]
    [True, False, False, True, False]
    """

    def __init__(self, home: str | None = None) -> None:
        self._seen: set[str] = set()
        self._home = home

    @classmethod
    def below(cls, store: Store, path: str) -> Links:
        """The links of a walk that begins at a path; only a local disk has any."""
        return cls(os.path.realpath(path) if store.scheme == "file" else None)

    def may_enter(self, info: ObjectInfo) -> bool:
        """Check whether a directory is entered."""
        target, home = info.target, self._home
        if target is None:
            return True
        is_inside = home is not None and f"{target}/".startswith(f"{home.rstrip('/')}/")
        if not target or is_inside or target in self._seen:
            return False
        self._seen.add(target)
        return True


class _Listings:
    """The listings of a walk: where each request waits for a network those of many directories are asked for together.

    A level of directories comes after the other, while at most `_MOST_HELD` objects wait for the walk.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        is_far = getattr(store, "is_far", False)
        self._fetch: Any = getattr(store, "fetch", None) if is_far else None
        self._fetch_below: Any = getattr(store, "fetch_below", None) if is_far else None
        self._held: dict[str, list[ObjectInfo] | LakeError] = {}

    def find(self, folder: str, levels: int | None) -> list[ObjectInfo]:
        """Find what `Store.list` gives; `levels` is how many levels below are going to be asked for (None: all)."""
        if self._fetch is None:
            return self._store.list(folder)
        if folder not in self._held:
            self._list_levels(folder, levels)
        found = self._held.pop(folder)
        if isinstance(found, LakeError):
            raise found
        return found

    def _list_levels(self, folder: str, levels: int | None) -> None:
        if self._fetch_below is not None and levels is None:
            self._fetch_below(folder, _PAGE)  # all that there is, usually
        level, count = [folder], 0
        while level and levels != 0 and (len(level) == 1 or count + len(level) <= _MOST_HELD):
            self._fetch([("list", one) for one in level])
            below = [child for one in level for child in self._take(one)]
            level = [child.path for child in below if child.is_dir]
            count += len(below)
            levels = None if levels is None else levels - 1

    def _take(self, folder: str) -> list[ObjectInfo]:
        try:
            found = self._held[folder] = self._store.list(folder)
        except LakeError as error:
            self._held[folder] = error
            return []
        return found


def walk(
    store: Store,
    path: str,
    depth: int | None = None,
    refuse: Callable[[LakeError], None] | None = None,
) -> Iterator[ObjectInfo]:
    """Walk every object below a directory, directories before what they hold, in path order.

    A directory that cannot be listed is given to `refuse` and passed over; without it, its error is raised.

    >>> from lakelens.io.memory import MemoryStore
    >>> [found.path for found in walk(MemoryStore({"/t/b/c": b"", "/t/a": b"x"}), "/t")]
    ['/t/a', '/t/b', '/t/b/c']
    """

    ahead = _Listings(store)

    def list_children(folder: str, level: int) -> list[tuple[ObjectInfo, int]]:
        left = None if depth is None else depth - level + 1
        try:
            return [(child, level) for child in reversed(ahead.find(folder, left))]
        except LakeError as error:
            if refuse is None:
                raise
            refuse(error)
            return []

    stack, links = list_children(path, 1), Links.below(store, path)
    while stack:
        found, level = stack.pop()
        yield found
        if found.is_dir and (depth is None or level < depth) and links.may_enter(found):
            stack += list_children(found.path, level + 1)


# An object of a store as a seekable file, for libraries that want one (Parquet and ORC footers).


class StoreFile(io.RawIOBase):
    """Reads only the ranges that are asked for.

    >>> from lakelens.io.memory import MemoryStore
    >>> file = StoreFile(MemoryStore({"/a": b"hello"}), "/a")
    >>> _ = file.seek(-2, 2)
    >>> file.read()
    b'lo'
    """

    def __init__(self, store: Store, path: str) -> None:
        super().__init__()
        self._store = store
        self._path = path
        self._size = store.info(path).size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:  # lakelens: kept word
        return self._position

    def size(self) -> int:
        """Bytes in the object."""
        return self._size

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:  # lakelens: kept word
        bases = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}
        base = bases[whence]  # lakelens: kept word
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._size - self._position)
        wanted = left if size is None or size < 0 else min(size, left)
        data = self._store.read_range(self._path, self._position, wanted) if wanted else b""
        self._position += len(data)
        return data

    def readall(self) -> bytes:
        return self.read()

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
