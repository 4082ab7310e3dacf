"""The store protocol: four reading verbs over absolute paths.

A path is a plain string in the store's own name space: `/warehouse/t/data/f.parquet` on a local disk, `bucket/key` or
`/key` elsewhere. Directories carry no trailing slash. A store never writes.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, runtime_checkable

from lakelens.errors import LakeError, Missing


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What a listing says about one object: `path`, `size` in bytes (0 for a directory), `modified` (UTC), `is_dir`.

    `target` is where a link to a directory leads; "" where that directory holds the link.
    """

    path: str
    size: int
    modified: datetime | None = None
    is_dir: bool = False
    target: str | None = field(default=None, compare=False)

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
        """The direct children of a directory, sorted by path."""
        ...

    def read(self, path: str) -> bytes:
        """All bytes of one object."""
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
        """Whether a directory is entered."""
        target, home = info.target, self._home
        if target is None:
            return True
        is_inside = home is not None and f"{target}/".startswith(f"{home.rstrip('/')}/")
        if not target or is_inside or target in self._seen:
            return False
        self._seen.add(target)
        return True


def walk(
    store: Store,
    path: str,
    depth: int | None = None,
    refuse: Callable[[LakeError], None] | None = None,
) -> Iterator[ObjectInfo]:
    """Every object below a directory, directories before what they hold, in path order.

    A directory that cannot be listed is given to `refuse` and passed over; without it, its error is raised.

    >>> from lakelens.io.memory import MemoryStore
    >>> [found.path for found in walk(MemoryStore({"/t/b/c": b"", "/t/a": b"x"}), "/t")]
    ['/t/a', '/t/b', '/t/b/c']
    """

    def list_children(folder: str, level: int) -> list[tuple[ObjectInfo, int]]:
        try:
            return [(child, level) for child in reversed(store.list(folder))]
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
