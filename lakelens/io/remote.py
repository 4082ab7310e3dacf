"""Any fsspec file system as a store: `s3:`, `gs:`, `memory:` and what else is installed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lakelens.errors import AccessDenied, LakeError, Missing, Unsupported
from lakelens.io.store import ObjectInfo


class FsspecStore:
    """Objects of an fsspec file system, by the paths that fsspec uses (no scheme).

    >>> import fsspec
    >>> memory = fsspec.filesystem("memory")
    >>> memory.pipe("/doctest/t/a", b"12345")
    >>> FsspecStore(memory, "memory").read_range("/doctest/t/a", -2, 2)
    b'45'
    """

    def __init__(self, filesystem: Any, scheme: str) -> None:
        self._fs = filesystem
        self.scheme = scheme

    def refresh(self) -> None:
        """Forget the listings that the file system keeps: others may have written meanwhile."""
        self._fs.invalidate_cache()

    def info(self, path: str) -> ObjectInfo:
        return self._describe(self._call(self._fs.info, path))

    def list(self, path: str) -> list[ObjectInfo]:
        children = self._call(self._fs.ls, path, detail=True)
        found = [self._describe(child) for child in children]
        # object stores may list the directory's own marker
        found = [info for info in found if info.path.strip("/") != path.strip("/")]
        return sorted(found, key=lambda info: info.path)

    def read(self, path: str) -> bytes:
        return bytes(self._call(self._fs.cat_file, path))

    def read_range(self, path: str, start: int, length: int) -> bytes:
        if start < 0:
            start = max(0, self.info(path).size + start)
        return bytes(self._call(self._fs.cat_file, path, start=start, end=start + max(0, length)))

    def _describe(self, facts: Mapping[str, Any]) -> ObjectInfo:
        is_dir = facts.get("type") == "directory"
        modified = (
            facts.get("LastModified") or facts.get("mtime") or facts.get("updated") or facts.get("created")
        )
        if isinstance(modified, int | float):
            modified = datetime.fromtimestamp(modified, UTC)
        if isinstance(modified, datetime) and modified.tzinfo is None:
            modified = modified.replace(tzinfo=UTC)
        path = str(facts["name"]).rstrip("/")
        known = modified if isinstance(modified, datetime) else None
        return ObjectInfo(path, 0 if is_dir else int(facts.get("size") or 0), known, is_dir)

    def _call(self, verb: Any, path: str, **options: Any) -> Any:
        try:
            return verb(path, **options)
        except FileNotFoundError as error:
            raise Missing("no such object", path=f"{self.scheme}://{path.lstrip('/')}") from error
        except PermissionError as error:
            raise AccessDenied("the storage refused to read this", path=path) from error
        except OSError as error:
            raise LakeError(f"cannot be read: {error}", path=path) from error


def open_filesystem(url: str, storage_options: Mapping[str, Any] | None) -> tuple[FsspecStore, str]:
    """The store behind a URL and the URL's path in it.

    Raises `Unsupported` when no installed fsspec implementation knows the scheme.
    """
    import fsspec

    scheme = url.split(":", 1)[0]
    try:
        filesystem, path = fsspec.core.url_to_fs(url, **dict(storage_options or {}))
    except (ImportError, ValueError) as error:
        hint = f"install the fsspec implementation for {scheme}: (s3fs, gcsfs, adlfs, …)"
        raise Unsupported(f"no reader for {scheme}: locations ({error})", path=url, hint=hint) from error
    return FsspecStore(filesystem, scheme), str(path).rstrip("/") or "/"
