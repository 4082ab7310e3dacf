"""The store protocol: four reading verbs over absolute paths.

A path is a plain string in the store's own name space: `/warehouse/t/data/f.parquet` on a local disk, `bucket/key` or
`/key` elsewhere. Directories carry no trailing slash. A store never writes.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from lakelens.errors import LakeError, Missing


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What a listing says about one object: `path`, `size` in bytes (0 for a directory), `modified` (UTC), `is_dir`."""

    path: str
    size: int
    modified: datetime | None = None
    is_dir: bool = False

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

    stack = list_children(path, 1)
    while stack:
        found, level = stack.pop()
        yield found
        if found.is_dir and (depth is None or level < depth):
            stack += list_children(found.path, level + 1)
