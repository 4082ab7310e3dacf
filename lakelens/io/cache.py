"""What never changes of tables behind a network, kept in a directory for the next session: `lakelens.options.cache_dir`.

An entry is found by the storage (scheme and endpoint, never who asks), the path, the size of the file, and its ETag or time
where a listing has said one; so a file that is replaced is another one. What is not known to have a size is not kept, nor is
what a format may rewrite (`Format.never_changes`, `Format.is_numbered`): hints, tags, consumers.

Nothing of it has to be believed: an entry that was cut, changed, or is another one's does not have its checksum, and is
written again. A checksum has no key, so it proves nothing against who can write an entry: only a directory and regular files
that belong to this user, and that nobody else may write, are looked at. Where the directory cannot be read or written, or
the disk is full, the storage is asked as if it were not.
Names of entries are digests. Whoever may read the directory may read what is kept in it: it is made for its owner alone.

Why not a package: `diskcache` unpickles what it finds in its files, and is not maintained; fsspec's own caches keep whole
files by their names, ask the storage about each of them first, and know no bound.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from lakelens.io.store import ObjectInfo, Store

#: Whether a file never changes under its name (True), may be followed by another one of its name, which a listing shows
#: (False), or is not kept (None).
Rule: TypeAlias = Callable[[str], bool | None]
_MAGIC = b"lakelens cache 1\n"
_DIGEST = 32
_HEAD = len(_MAGIC) + _DIGEST
_ENDING, _UNFINISHED = ".kept", ".new"
_LARGEST_DOCUMENT, _LARGEST_RANGE = 16 << 20, 1 << 20
_ROOM = 0.9  # of the bound is what remains when something has to go
_OTHERS_MAY_WRITE = 0o022
# a pipe is not waited for, and a link is not followed
_READ = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)


class CacheFolder:
    """Entries in a directory, of a bounded number of bytes; those that were not used for longest go first.

    >>> import tempfile
    >>> folder = CacheFolder(os.path.join(tempfile.mkdtemp(), "kept"), 1_000)
    >>> folder.put("a file", b"12345")
    >>> folder.get("a file"), folder.get("another one")
    (b'12345', None)
    """

    def __init__(self, path: str | os.PathLike[str], most: int) -> None:
        self.path, self.most = Path(path).expanduser(), most
        self._largest = min(most, _HEAD + _LARGEST_DOCUMENT)
        self._lock = threading.Lock()
        self._size: int | None = None

    def get(self, name: str) -> bytes | None:
        """Say what was put under a name; None where nothing is, or nothing that can be trusted."""
        place = self._find(name)
        try:
            held = _read_own(place, self._largest) if self._is_own() else b""
        except (OSError, MemoryError):
            return None
        data = held[_HEAD:]
        if held[:_HEAD] != _MAGIC + _digest(name, data):
            return None
        with suppress(OSError):
            os.utime(place)
        return data

    def put(self, name: str, data: bytes) -> None:
        """Keep something, if that can be; another process never sees a part of it."""
        whole = _HEAD + len(data)
        if whole > self._largest:
            return
        place = self._find(name)
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._is_own():
                return
            number, unfinished = tempfile.mkstemp(dir=self.path, suffix=_UNFINISHED)  # for this user alone
            try:
                with os.fdopen(number, "wb") as file:
                    file.write(_MAGIC + _digest(name, data) + data)
                Path(unfinished).replace(place)
            except BaseException:
                Path(unfinished).unlink(missing_ok=True)
                raise
        except OSError:
            return
        self._make_room(whole)

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            for _, _, entry in self._list():
                with suppress(OSError):
                    entry.unlink()
            self._size = None

    def measure(self) -> int:
        """Measure the bytes of all entries."""
        return sum(size for _, size, _ in self._list())

    def _find(self, name: str) -> Path:
        return self.path / f"{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}{_ENDING}"

    def _is_own(self) -> bool:
        """Check whether it is a directory of this user, no link to one, and nobody else may write there."""
        try:
            status = self.path.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(status.st_mode) and _belongs(status)

    def _make_room(self, added: int) -> None:
        with self._lock:
            self._size = self.measure() if self._size is None else self._size + added
            if self._size <= self.most:
                return
            # others write there too: what counts is what is there now
            entries = sorted(self._list())
            self._size = sum(size for _, size, _ in entries)
            is_over = self._size > self.most
            for _, size, entry in entries if is_over else ():
                if self._size <= _ROOM * self.most:
                    break
                with suppress(OSError):
                    entry.unlink()
                    self._size -= size

    def _list(self) -> list[tuple[float, int, Path]]:
        """List when each entry was used last, its size and its place; also what a process left that was stopped."""
        found = []
        with suppress(OSError), os.scandir(self.path) as children:
            for child in children:
                if child.name.endswith((_ENDING, _UNFINISHED)):
                    with suppress(OSError):
                        status = child.stat(follow_symlinks=False)
                        found.append((status.st_mtime, status.st_size, Path(child.path)))
        return found


def _read_own(place: Path, most: int) -> bytes:
    """Read a regular file of this user that nobody else may write, of at most that many bytes; nothing of any other."""
    with os.fdopen(os.open(place, _READ), "rb") as file:
        status = os.fstat(file.fileno())
        is_own = stat.S_ISREG(status.st_mode) and _belongs(status) and status.st_size <= most
        return file.read(most) if is_own else b""


def _belongs(status: os.stat_result) -> bool:
    """Check whether something is this user's, and no group and nobody else may write it."""
    return os.name != "posix" or (status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_MAY_WRITE)


_folders: dict[tuple[str, int], CacheFolder] = {}


def open_folder(path: str | os.PathLike[str], most: int) -> CacheFolder:
    """Open the directory of that path, the same for all tables of this process."""
    key = os.path.abspath(Path(path).expanduser()), most  # noqa: PTH100
    return _folders.setdefault(key, CacheFolder(key[0], most))


class CacheStore:
    """Wraps a store: what a rule says never changes is asked for once, and then taken from a directory.

    `on_hit` is called with each path of which something was taken.

    >>> import tempfile
    >>> from lakelens.io.memory import MemoryStore
    >>> folder = CacheFolder(tempfile.mkdtemp(), 1_000)
    >>> for held in (b"first", b"other", b"larger"):
    ...     store = CacheStore(MemoryStore({"/t/a": held}), "memory", folder, lambda path: True)
    ...     _ = store.list("/t")
    ...     store.read("/t/a")
    b'first'
    b'first'
    b'larger'
    """

    def __init__(
        self,
        inner: Store,
        identity: str,
        folder: CacheFolder,
        rule: Rule,
        on_hit: Callable[[str], None] = lambda path: None,
    ) -> None:
        self.inner, self.scheme = inner, inner.scheme
        self.rule = rule
        self._identity, self._folder, self._on_hit = identity, folder, on_hit
        self._known: dict[str, ObjectInfo] = {}

    def expect(self, sizes: Iterable[tuple[str, int]]) -> None:
        """Files, with the sizes that a document of the table records: what a listing has said counts more."""
        for path, size in sizes:
            self._known.setdefault(path, ObjectInfo(path, size))

    def expect_ends(self, questions: Iterable[tuple[object, ...]]) -> None:
        """Files whose ends are going to be read, each with its size, and with its line of a listing where there is one."""
        for verb, path, *_, size, info in (question for question in questions if question[0] == "end"):
            if isinstance(info, ObjectInfo):
                self._note(info)
            elif verb and isinstance(path, str) and isinstance(size, int):
                self.expect([(path, size)])

    def is_expected(self, path: str) -> bool:
        """Check whether a file would be kept, had its size been known."""
        return path not in self._known and self.rule(path) is not None

    def knows(self, path: str) -> bool:
        """Check whether a listing or a document has said the size of a file."""
        return path in self._known

    def info(self, path: str) -> ObjectInfo:
        found = self.inner.info(path)
        self._note(found)
        return found

    def list(self, path: str) -> list[ObjectInfo]:
        children = self.inner.list(path)
        for child in children:
            self._note(child)
        return children

    def list_below(self, path: str, limit: int) -> Sequence[ObjectInfo] | None:
        """See `CountingStore.list_below`."""
        ask = getattr(self.inner, "list_below", None)
        found: Sequence[ObjectInfo] | None = None if ask is None else ask(path, limit)
        for one in found or ():
            self._note(one)
        return found

    def read(self, path: str) -> bytes:
        name, size = self._name(path)
        kept = None if name is None or size > _LARGEST_DOCUMENT else self._take(name, path, size)
        if kept is not None:
            return kept
        data = self.inner.read(path)
        if name is not None and len(data) == size <= _LARGEST_DOCUMENT:
            self._folder.put(name, data)
        return data

    def read_range(self, path: str, start: int, length: int) -> bytes:
        name, size = self._name(path)
        if name is None:
            return self.inner.read_range(path, start, length)
        begin = max(0, size + start) if start < 0 else start
        expected = max(0, min(length, size - begin))
        part = f"{name}\n{begin}\n{expected}"
        kept = self._take(part, path, expected)
        if kept is not None:
            return kept
        data = self.inner.read_range(path, start, length)
        if len(data) == expected <= _LARGEST_RANGE:
            self._folder.put(part, data)
        return data

    def _note(self, found: ObjectInfo) -> None:
        if not found.is_dir:  # by which rule it is kept may be known later
            self._known[found.path] = found

    def _name(self, path: str) -> tuple[str | None, int]:
        """Under what a file is kept, and its size; None for one that is not."""
        known, is_unchanging = self._known.get(path), self.rule(path)
        if known is None or is_unchanging is None:
            return None, 0
        time = "" if known.modified is None else known.modified.isoformat()
        if not is_unchanging and not known.mark and not time:
            return None, 0
        return "\n".join((self._identity, path, str(known.size), time, known.mark or "")), known.size

    def _take(self, name: str, path: str, size: int) -> bytes | None:
        kept = self._folder.get(name)
        if kept is None or len(kept) != size:
            return None
        self._on_hit(path)
        return kept


def find_identity(store: object) -> str | None:
    """Find which storage is behind a store and those that wrap it; None where that is not known."""
    while store is not None:
        identity = getattr(store, "identity", None)
        if isinstance(identity, str):
            return identity
        store = getattr(store, "inner", None)
    return None


def _digest(name: str, data: bytes) -> bytes:
    """Of what is kept and what it is kept under: an entry at another one's place is no entry."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass"))
    digest.update(b"\0")
    digest.update(data)
    return digest.digest()
