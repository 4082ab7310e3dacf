"""Where the bytes of a table may come from: below its directory. What is read elsewhere is reported, `..` is refused.

A recorded location is whatever somebody wrote into the metadata, and a link leads wherever somebody let it lead. Data that
is kept elsewhere is no mistake, so it is read; but nobody should look at bytes of another place without knowing it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from posixpath import normpath
from typing import TypeVar
from urllib.parse import unquote

from lakelens.errors import AccessDenied, LakeError
from lakelens.io.store import ObjectInfo, Store

T = TypeVar("T")
_MOST_FOLDERS = 100
_MOST_ENCODINGS = 8  # how often a part of an address may be encoded before nobody says what it means


class Border:
    """The border of a table's directory. `report` is called with a folder outside of it, once for each of the first 100.

    >>> found = []
    >>> border = Border("/wh/t", "memory", found.append)
    >>> for path in ("/wh/t/data/a", "/etc/passwd", "/etc/group"):
    ...     border.note(path)
    >>> found
    ['/etc']
    """

    def __init__(self, root: str, scheme: str, report: Callable[[str], None]) -> None:
        self._root = root
        self._inside = root.strip("/") + "/"
        self._has_links = scheme == "file"
        self._report = report
        self._reported: set[str] = set()
        self._real: dict[str, str] = {}

    def refuse(self, path: str) -> None:
        """Raises `LakeError` for a path that climbs: no format writes one, and it may lead anywhere."""
        if ".." in path and ".." in (path.removeprefix(self._root) if self._holds(path) else path).split("/"):
            raise LakeError("leads out of the table: a recorded location may not hold '..'", path=path)

    def note(self, path: str) -> None:
        """Report the folder of a file that was read, if that is outside."""
        folder = self._find_outside(path)
        if folder is not None and self.is_new(folder):
            self._report(folder)

    def is_new(self, folder: str) -> bool:
        """Check whether a folder was not reported yet, and still may be; from now on it is."""
        if folder in self._reported or len(self._reported) >= _MOST_FOLDERS:
            return False
        self._reported.add(folder)
        return True

    def _holds(self, path: str) -> bool:
        return (path.strip("/") + "/").startswith(self._inside) or self._inside == "/"

    def _find_outside(self, path: str) -> str | None:
        """Find the folder of a path, behind its links; None where that is inside."""
        folder = path.rpartition("/")[0] or "/"
        if not self._has_links:
            return None if self._holds(path) else folder
        real = self._resolve(folder)
        if os.path.islink(path):  # noqa: PTH114
            real = os.path.dirname(os.path.realpath(path))  # noqa: PTH120
        home = self._resolve(self._root)
        is_inside = real == home or real.startswith(home.rstrip("/") + "/")
        return None if is_inside or (path == self._root and folder == real) else real

    def _resolve(self, folder: str) -> str:
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        return self._real[folder]


class EnclosedStore:
    """A store of which nothing outside of one directory is read: there every verb raises `AccessDenied`.

    On a local disk a path is followed through its links first, and what it leads to is read; elsewhere the path itself is
    compared, as a server may understand it: without `.` and `..`, of an address also decoded. A link that leads out is
    listed as an empty file. Links that a server keeps are the server's to refuse.

    >>> from lakelens.io.memory import MemoryStore
    >>> store = EnclosedStore(MemoryStore({"/wh/t/a": b"1", "/secret": b"2"}), "/wh")
    >>> store.read("/wh/t/a")
    b'1'
    >>> store.read("/wh/t/../../secret")
    Traceback (most recent call last):
    lakelens.errors.AccessDenied: /wh/t/../../secret: is outside of /wh, and nothing outside of it is read
    """

    def __init__(self, inner: Store, root: str) -> None:
        self.inner, self.root, self.scheme = inner, root, inner.scheme
        self._has_links = inner.scheme == "file"

    def refresh(self) -> None:
        """Forget the listings that the file system keeps."""
        forget = getattr(self.inner, "refresh", None)
        if forget is not None:
            forget()

    def expect(self, sizes: Iterable[tuple[str, int]]) -> None:
        """Files of which a document records the sizes: a store behind a network reads no more of them."""
        expect = getattr(self.inner, "expect", None)
        if expect is not None:
            expect(sizes)

    def info(self, path: str) -> ObjectInfo:
        return replace(self._ask(path, self.inner.info), path=path)

    def list(self, path: str) -> list[ObjectInfo]:
        children = self._ask(path, self.inner.list)
        if not self._has_links:
            return [child for child in children if self._holds(child.path)]
        real = self._reach(path)
        links = _list_links(real)
        return [
            self._hide(replace(child, path=_join(path, child.name)), _join(real, child.name))
            if child.name in links
            else replace(child, path=_join(path, child.name))
            for child in children
        ]

    def read(self, path: str) -> bytes:
        return self._ask(path, self.inner.read)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        return self._ask(path, lambda real: self.inner.read_range(real, start, length))

    def _ask(self, path: str, verb: Callable[[str], T]) -> T:
        real = self._reach(path)
        try:
            return verb(real)
        except LakeError as error:
            if error.path == real:
                error.path = path
            raise

    def _reach(self, path: str) -> str:
        """The path that is read: behind all links, so that one that is changed meanwhile leads nowhere else."""
        if "\0" in path:
            raise AccessDenied("no path holds the character U+0000", path=path)
        if not self._has_links:
            if not self._holds(path):
                self._refuse(path)
            return path
        real, home = os.path.realpath(path), os.path.realpath(self.root)
        if not (real == home or real.startswith(home.rstrip("/") + "/")):
            self._refuse(path)
        return real

    def _holds(self, path: str) -> bool:
        home, asked = _read_address(self.root, self.scheme), _read_address(path, self.scheme)
        return asked is not None and home is not None and (asked + "/").startswith(home.rstrip("/") + "/")

    def _refuse(self, path: str) -> None:
        message = f"is outside of {self.root}, and nothing outside of it is read"
        raise AccessDenied(message, path=path)

    def _hide(self, child: ObjectInfo, real: str) -> ObjectInfo:
        """Hide a link; of one that leads out nothing but its name."""
        try:
            self._reach(real)
        except AccessDenied:
            return ObjectInfo(child.path, 0)
        return child


class FixedStore(EnclosedStore):
    """A directory of the local disk that nobody changes and that has no links, as a browser gives one to a page.

    What was listed once is known: nothing is asked for twice, and no path is followed through links.

    >>> import tempfile, pathlib
    >>> from lakelens.io.local import LocalStore
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a").write_bytes(b"1")
    >>> store = FixedStore(LocalStore(), str(folder))
    >>> [child.name for child in store.list(str(folder))], store.read(str(folder / "a"))
    (['a'], b'1')
    """

    def __init__(self, inner: Store, root: str) -> None:
        super().__init__(inner, root)
        self._listed: dict[str, dict[str, ObjectInfo]] = {}

    def info(self, path: str) -> ObjectInfo:
        folder, _, name = path.rstrip("/").rpartition("/")
        known = self._listed.get(folder, {}).get(name)
        return known or self._ask(path, self.inner.info)

    def list(self, path: str) -> list[ObjectInfo]:
        folder = path.rstrip("/")
        if folder not in self._listed:
            self._listed[folder] = {child.name: child for child in self._ask(path, self.inner.list)}
        return [*self._listed[folder].values()]

    def _reach(self, path: str) -> str:
        home = self.root.rstrip("/")
        is_plain = ".." not in path and "\0" not in path
        if not (
            (path == home or path.startswith(f"{home}/"))
            if is_plain
            else f"{normpath(path)}/".startswith(f"{home}/")
        ):
            self._refuse(path)
        return path


def _join(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"


def _list_links(folder: str) -> set[str]:
    try:
        with os.scandir(folder) as children:
            return {child.name for child in children if child.is_symlink()}
    except OSError:
        return set()


def _read_address(path: str, scheme: str) -> str | None:
    """Read a path as whoever keeps the file may understand it; None where that cannot be said."""
    is_web = scheme in ("http", "https")
    for _ in range(_MOST_ENCODINGS if is_web else 0):
        decoded = unquote(path)
        if decoded == path:
            break
        path = decoded
    else:
        if is_web:
            return None
    if is_web and ("?" in path or "#" in path):
        return None
    head, mark, rest = path.partition("://")
    rest = rest.replace("\\", "/") if is_web else rest if mark else head
    own = head if mark else ""
    clean = normpath("/" + rest.lstrip("/"))
    return f"{own}:{clean}"
