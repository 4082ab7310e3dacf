"""The local disk as a store, and from what a user gives (`path`, `PathLike`, URL) to its store."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from lakelens.errors import AccessDenied, LakeError, Missing
from lakelens.io.relocation import split_location
from lakelens.io.store import MOST_BYTES, ObjectInfo, Store

# what a name may lead to that is neither a file nor a directory: reading it may never end
_SPECIAL = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class LocalStore:
    """Files of this machine, by absolute path.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a").write_bytes(b"hello")
    >>> LocalStore().read_range(str(folder / "a"), -3, 3)
    b'llo'
    """

    scheme = "file"

    def info(self, path: str) -> ObjectInfo:
        try:
            return _describe(path, os.stat(path))
        except (OSError, ValueError) as error:
            raise _translate(error, path) from error

    def list(self, path: str) -> list[ObjectInfo]:
        try:
            with os.scandir(path) as children:
                found = [info for child in children if (info := _describe_entry(child)) is not None]
        except (OSError, ValueError) as error:
            raise _translate(error, path) from error
        return sorted(found, key=lambda info: info.path)

    def read(self, path: str) -> bytes:
        return self._read(path, 0, None)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        return self._read(path, start, max(0, length))

    def _read(self, path: str, start: int, length: int | None) -> bytes:
        try:
            file, size = _open_regular(path)
            with file:
                file.seek(max(0, size + start) if start < 0 else start)
                if length is None and size > MOST_BYTES:
                    message = f"is too large to be read whole: {size:,} bytes, at most {MOST_BYTES:,}"
                    raise LakeError(message, path=path)
                return file.read() if length is None else file.read(length)
        except (OSError, ValueError) as error:
            raise _translate(error, path) from error
        except MemoryError:
            raise LakeError("cannot be read: there is not enough memory", path=path) from None


_DIRECT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def _open_regular(path: str) -> tuple[BinaryIO, int]:
    """Open a regular file and say how long it is; whatever else may be read without end, or not at all, is refused."""
    descriptor = os.open(
        path, os.O_RDONLY | _DIRECT
    )  # a pipe is opened without waiting for somebody to write into it
    try:
        status = os.fstat(descriptor)
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(path)
        if not stat.S_ISREG(mode):
            kind = next((name for is_kind, name in _SPECIAL if is_kind(mode)), "something else")
            raise LakeError(f"is {kind}, a file was expected", path=path)
        return os.fdopen(descriptor, "rb"), status.st_size
    except BaseException:
        os.close(descriptor)
        raise


def _describe(path: str, status: os.stat_result) -> ObjectInfo:
    is_dir = stat.S_ISDIR(status.st_mode)
    modified = None
    with suppress(ValueError, OverflowError, OSError):  # some file systems hold times beyond the year 9999
        modified = datetime.fromtimestamp(status.st_mtime, UTC)
    return ObjectInfo(path, 0 if is_dir else status.st_size, modified, is_dir)


def _describe_entry(entry: os.DirEntry[str]) -> ObjectInfo | None:
    """Describe what a directory says of one of its entries; None where a writer has removed it since."""
    try:
        found = _describe(entry.path, entry.stat())
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not entry.is_symlink():
            return None
        return ObjectInfo(entry.path, 0)  # a link that leads nowhere is still an entry of the directory
    return replace(found, target=_resolve(entry.path)) if found.is_dir and entry.is_symlink() else found


def _resolve(path: str) -> str:
    """Resolve where a link to a directory leads; "" where it leads to a directory that holds it."""
    target, holder = os.path.realpath(path), os.path.realpath(Path(path).parent)
    return "" if f"{holder}/".startswith(f"{target.rstrip('/')}/") else target


def _translate(error: OSError | ValueError, path: str) -> LakeError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Missing("no such file or directory", path=path)
    if isinstance(error, PermissionError):
        return AccessDenied("the operating system refused to read this", path=path)
    if isinstance(error, IsADirectoryError):
        return LakeError("is a directory, a file was expected", path=path)
    return LakeError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=path)


def find_neighbours(path: str, most: int = 2_000) -> tuple[str, str, str, list[str]]:
    """Of a path that does not exist: the directory above that does, the name missing there, the rest, and names in it.

    >>> import os
    >>> above, missing, rest, names = find_neighbours(os.path.abspath("/nothing/of/this"))
    >>> missing, os.path.normpath(rest) == os.path.join("of", "this"), "nothing" in names
    ('nothing', True, False)
    """
    here = Path(path)
    while not here.parent.is_dir() and here.parent != here:
        here = here.parent
    try:
        with os.scandir(here.parent) as children:
            names = [child.name for child, _ in zip(children, range(most), strict=False)]
    except OSError:
        names = []
    rest = Path(path).relative_to(here)
    return str(here.parent), here.name, "" if rest == Path() else str(rest), sorted(names)


def open_source(
    source: str | os.PathLike[str], storage_options: Mapping[str, Any] | None = None
) -> tuple[Store, str]:
    """Open the store that holds `source`, and its absolute path there without a trailing slash.

    >>> store, path = open_source("/warehouse/t/")
    >>> store.scheme, path
    ('file', '/warehouse/t')
    """
    text = os.fspath(source)
    scheme, path = split_location(text)
    if scheme not in ("", "file") or text.startswith("memory:"):
        from lakelens.io.remote.store import open_filesystem

        return open_filesystem(text, storage_options)
    # a bare path is taken to the letter; a file: URL has lost its scheme and host
    chosen = text if scheme == "" else path
    return LocalStore(), str(Path(os.path.abspath(os.path.expanduser(chosen))))  # noqa: PTH100, PTH111
