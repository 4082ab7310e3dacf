"""Stores held in memory: for tests, for tables that came as bytes, and a directory as it was at one moment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from lakelens.errors import LakeError, Missing
from lakelens.io.store import Links, ObjectInfo, Store


class MemoryStore:
    """Objects by absolute path; directories are whatever the paths imply.

    >>> MemoryStore({"/t/data/a": b"1"}).list("/t")[0].is_dir
    True
    """

    scheme = "memory"

    def __init__(self, objects: Mapping[str, bytes]) -> None:
        self._objects = {"/" + path.strip("/"): bytes(data) for path, data in objects.items()}
        self._children: dict[str, set[str]] = {"/": set()}
        for path in self._objects:
            while path != "/":
                parent = path.rsplit("/", 1)[0] or "/"
                self._children.setdefault(parent, set()).add(path)
                path = parent

    def info(self, path: str) -> ObjectInfo:
        key = _normalise(path)
        if key in self._objects:
            return ObjectInfo(key, len(self._objects[key]))
        if key in self._children:
            return ObjectInfo(key, 0, is_dir=True)
        raise Missing("no such object", path=path)

    def list(self, path: str) -> list[ObjectInfo]:
        key = _normalise(path)
        if key not in self._children:
            raise Missing("no such directory", path=path)
        return [self.info(child) for child in sorted(self._children[key])]

    def read(self, path: str) -> bytes:
        key = _normalise(path)
        if key in self._children:
            raise LakeError("is a directory, a file was expected", path=path)
        if key not in self._objects:
            raise Missing("no such object", path=path)
        return self._objects[key]

    def read_range(self, path: str, start: int, length: int) -> bytes:
        data = self.read(path)
        if start < 0:
            start = max(0, len(data) + start)
        return data[start : start + max(0, length)]


def _normalise(path: str) -> str:
    return "/" + path.strip("/")


# A directory as it was at one moment: its listing is taken once, documents that were read from it are kept.

T = TypeVar("T")
_KEPT_OBJECT = 16 << 20
_KEPT_BYTES = 128 << 20


class SnapshotStore:
    """Wraps a store. What is below `root` is listed now, and never again; `files` has it by path.

    Documents of up to 16 MiB that are read once are kept (128 MiB in all), so that they can still be read when they are
    gone. After `close` what was rewritten or removed since and was not kept raises `Missing`. A directory that is not there
    is empty. `ignore` are children of `root` that are left out. A listing stops at `limit` objects: then `is_cut`, and
    what it does not hold is asked of the store.

    >>> from lakelens.io.memory import MemoryStore
    >>> frozen = SnapshotStore(MemoryStore({"/t/a": b"12345", "/u": b""}), "/t")
    >>> list(frozen.files), frozen.read("/t/a")
    (['/t/a'], b'12345')
    >>> SnapshotStore(MemoryStore({}), "/t").files
    {}
    """

    def __init__(
        self, inner: Store, root: str, *, ignore: Collection[str] = (), limit: int = 200_000
    ) -> None:
        self.inner, self.root, self.scheme = inner, root, inner.scheme
        self.files: dict[str, ObjectInfo] = {}
        self.problems: list[LakeError] = []
        self.is_cut = False
        self._folders: dict[str, list[ObjectInfo]] = {}
        self._kept: dict[tuple[str, int, int], bytes] = {}
        self._unknown: set[str] = set()
        self._room = _KEPT_BYTES
        self._is_past = False
        self._take(ignore, limit)

    def _take(self, ignore: Collection[str], limit: int) -> None:
        refresh = getattr(self.inner, "refresh", None)
        if refresh is not None:  # some file systems answer from listings that they made before
            refresh()
        pending, links = [self.root], Links.below(self.inner, self.root)
        while pending:
            folder = pending.pop()
            try:
                children = self.inner.list(folder)
            except Missing:
                continue
            except LakeError as error:
                self.problems.append(error)
                self._unknown.add(folder)
                continue
            if folder == self.root:
                self._unknown.update(child.path for child in children if child.name in ignore)
                children = [child for child in children if child.name not in ignore]
            if len(self.files) + len(self._folders) + len(children) > limit:
                self.is_cut = True
                return
            self._folders[folder] = children
            self.files.update((child.path, child) for child in children if not child.is_dir)
            pending.extend(
                child.path for child in reversed(children) if child.is_dir and links.may_enter(child)
            )

    def close(self) -> None:
        """The moment has passed: from now on the store may hold other things."""
        self._is_past = True

    def has_folder(self, path: str) -> bool:
        """Check whether there was a directory."""
        return path in self._folders

    def info(self, path: str) -> ObjectInfo:
        if path in self.files:
            return self.files[path]
        if path in self._folders:
            return ObjectInfo(path, 0, is_dir=True)
        self._check(path)
        return self.inner.info(path)

    def list(self, path: str) -> list[ObjectInfo]:
        if path in self._folders:
            return list(self._folders[path])
        self._check(path)
        return self.inner.list(path)

    def read(self, path: str) -> bytes:
        return self._keep((path, 0, -1), lambda: self.inner.read(path))

    def read_range(self, path: str, start: int, length: int) -> bytes:
        whole = self._kept.get((path, 0, -1))
        if whole is not None:
            begin = max(0, len(whole) + start) if start < 0 else start
            return whole[begin : begin + max(0, length)]
        return self._keep((path, start, max(0, length)), lambda: self.inner.read_range(path, start, length))

    def _keep(self, key: tuple[str, int, int], read: Callable[[], bytes]) -> bytes:
        if key in self._kept:
            return self._kept[key]
        self._check(key[0])
        if self._is_past:
            self._check_unchanged(key[0])
        data = read()
        if not self._is_past and len(data) <= min(_KEPT_OBJECT, self._room):
            self._kept[key] = data
            self._room -= len(data)
        return data

    def _check(self, path: str) -> None:
        if self._is_known(path) and path not in self.files and path not in self._folders:
            raise Missing("was not there when it was looked at", path=path)

    def _is_known(self, path: str) -> bool:
        """Check whether the listing would hold it: below the root, and in nothing that was passed over or not listed."""
        if self.is_cut or not (path == self.root or path.startswith(self.root + "/")):
            return False
        while len(path) >= len(self.root):
            if path in self._unknown:
                return False
            path = path.rpartition("/")[0]
        return True

    def _check_unchanged(self, path: str) -> None:
        then = self.files.get(path)
        if then is None:
            return
        now = self.inner.info(path)
        if (now.size, now.modified) != (then.size, then.modified):
            raise Missing("was rewritten since it was looked at", path=path)
