"""The local disk as a store, and from what a user gives (`path`, `PathLike`, URL) to its store."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lakelens.errors import AccessDenied, LakeError, Missing
from lakelens.io.relocation import split_location
from lakelens.io.store import ObjectInfo, Store


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
                found = [_describe_entry(child) for child in children]
        except (OSError, ValueError) as error:
            raise _translate(error, path) from error
        return sorted(found, key=lambda info: info.path)

    def read(self, path: str) -> bytes:
        try:
            return Path(path).read_bytes()
        except (OSError, ValueError) as error:
            raise _translate(error, path) from error

    def read_range(self, path: str, start: int, length: int) -> bytes:
        try:
            with Path(path).open("rb") as file:
                if start < 0:
                    start = max(0, os.fstat(file.fileno()).st_size + start)
                file.seek(start)
                return file.read(max(0, length))
        except (OSError, ValueError) as error:
            raise _translate(error, path) from error


def _describe(path: str, status: os.stat_result) -> ObjectInfo:
    is_dir = stat.S_ISDIR(status.st_mode)
    modified = datetime.fromtimestamp(status.st_mtime, UTC)
    return ObjectInfo(path, 0 if is_dir else status.st_size, modified, is_dir)


def _describe_entry(entry: os.DirEntry[str]) -> ObjectInfo:
    try:
        found = _describe(entry.path, entry.stat())
    except OSError:  # a link that leads nowhere is still an entry of the directory
        return ObjectInfo(entry.path, 0)
    return replace(found, target=_resolve(entry.path)) if found.is_dir and entry.is_symlink() else found


def _resolve(path: str) -> str:
    """Where a link to a directory leads; "" where it leads to a directory that holds it."""
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


def open_source(
    source: str | os.PathLike[str], storage_options: Mapping[str, Any] | None = None
) -> tuple[Store, str]:
    """The store that holds `source`, and its absolute path there without a trailing slash.

    >>> store, path = open_source("/warehouse/t/")
    >>> store.scheme, path
    ('file', '/warehouse/t')
    """
    text = os.fspath(source)
    scheme, path = split_location(text)
    if scheme not in ("", "file") or text.startswith("memory:"):
        from lakelens.io.remote import open_filesystem

        return open_filesystem(text, storage_options)
    # a bare path is taken to the letter; a file: URL has lost its scheme and host
    chosen = text if scheme == "" else path
    return LocalStore(), str(Path(os.path.abspath(os.path.expanduser(chosen))))  # noqa: PTH100, PTH111
