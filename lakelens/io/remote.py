"""Any fsspec file system as a store: `s3:`, `gs:`, `memory:` and what else is installed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from lakelens.errors import AccessDenied, LakeError, Missing, Unsupported
from lakelens.io.redaction import find_secrets, redact
from lakelens.io.store import ObjectInfo


class FsspecStore:
    """Objects of an fsspec file system, by the paths that fsspec uses with a `prefix`: the scheme, as in the URL.

    It is the border: whatever a client library raises becomes a `LakeError` here, without secrets. Of an address with a user
    or parameters (`https://user:password@host/t?sig=…`) paths have neither: they are put back for each request.

    >>> import fsspec
    >>> memory = fsspec.filesystem("memory")
    >>> memory.pipe("/doctest/t/a", b"12345")
    >>> FsspecStore(memory, "memory").read_range("/doctest/t/a", -2, 2)
    b'45'
    """

    def __init__(
        self,
        filesystem: Any,
        scheme: str,
        *,
        prefix: str = "",
        secrets: Collection[str] = (),
        user: str = "",
        query: str = "",
    ) -> None:
        self._fs = filesystem
        self.scheme = scheme
        self._prefix = prefix
        self._secrets, self._user, self._query = secrets, user, query

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
        return bytes(self._call(self._fs.cat_file, path, again=True))

    def read_range(self, path: str, start: int, length: int) -> bytes:
        if start < 0:
            start = max(0, self.info(path).size + start)
        end = start + max(0, length)
        return bytes(self._call(self._fs.cat_file, path, again=True, start=start, end=end))

    def _describe(self, facts: Mapping[str, Any]) -> ObjectInfo:
        is_dir = facts.get("type") == "directory"
        modified = (
            facts.get("LastModified") or facts.get("mtime") or facts.get("updated") or facts.get("created")
        )
        if isinstance(modified, int | float):
            with suppress(ValueError, OverflowError, OSError):
                modified = datetime.fromtimestamp(modified, UTC)
        if isinstance(modified, datetime) and modified.tzinfo is None:
            modified = modified.replace(tzinfo=UTC)
        path = str(facts["name"]).rstrip("/")
        if self._user or self._query:
            path = path.replace(f"://{self._user}", "://", 1).removesuffix(self._query).rstrip("/")
        if self._prefix:  # some begin names with a slash, some do not, some do both
            slash = "" if self._prefix.endswith("://") else "/"
            path = f"{self._prefix}{slash}{path.lstrip('/')}"
        known = modified if isinstance(modified, datetime) else None
        return ObjectInfo(path, 0 if is_dir else int(facts.get("size") or 0), known, is_dir)

    def _call(self, verb: Any, path: str, *, again: bool = False, **options: Any) -> Any:
        """What a verb of the file system gives; a reading is tried once `again`: bodies of answers are cut off."""
        try:
            return verb(self._reach(path), **options)
        except FileNotFoundError:
            raise Missing("no such object", path=self._name(path)) from None
        except PermissionError:
            raise AccessDenied("the storage refused to read this", path=self._name(path)) from None
        except MemoryError:
            raise LakeError("cannot be read: there is not enough memory", path=self._name(path)) from None
        except Exception as error:
            if again:
                return self._call(verb, path, **options)
            raise LakeError(f"cannot be read: {_word(error, self._secrets)}", path=self._name(path)) from None

    def _reach(self, path: str) -> str:
        """A path as the file system knows it."""
        path = path.removeprefix(self._prefix)
        return path.replace("://", f"://{self._user}", 1) + self._query if self._user or self._query else path

    def _name(self, path: str) -> str:
        """A path as an error names it."""
        return redact(path if "://" in path else f"{self.scheme}://{path.lstrip('/')}", self._secrets)


def _word(error: Exception, secrets: Collection[str]) -> str:
    """An error of another library: its class, and what it says without secrets."""
    said = redact(str(error), secrets)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def open_filesystem(url: str, storage_options: Mapping[str, Any] | None) -> tuple[FsspecStore, str]:
    """The store behind a URL and the URL's path in it.

    Raises `Unsupported` when no installed fsspec implementation knows the scheme, `LakeError` when it refuses the options.
    """
    import fsspec

    scheme = url.split(":", 1)[0]
    secrets = find_secrets(storage_options)
    try:
        filesystem, path = fsspec.core.url_to_fs(url, **dict(storage_options or {}))
    except (ImportError, ValueError) as error:
        hint = f"install the fsspec implementation for {scheme}: (s3fs, gcsfs, adlfs, …)"
        said = redact(str(error), secrets)
        message = f"no reader for {scheme}: locations ({said})"
        raise Unsupported(message, path=redact(url, secrets), hint=hint) from None
    except Exception as error:
        message = f"the file system for {scheme}: cannot be opened: {_word(error, secrets)}"
        raise LakeError(message, path=redact(url, secrets), hint="look at storage_options") from None
    path, user, query = _split_secrets(str(path))
    path = path.rstrip("/") or "/"
    prefix = _find_prefix(url, path, scheme)
    store = FsspecStore(filesystem, scheme, prefix=prefix, secrets=secrets, user=user, query=query)
    return store, prefix + path


def _find_prefix(url: str, path: str, scheme: str) -> str:
    """What a URL has before the path that fsspec makes of it; nothing where that is a URL, or of a chain of them.

    >>> _find_prefix("s3://b/t/", "b/t", "s3"), _find_prefix("hdfs://host/t", "/t", "hdfs")
    ('s3://', 'hdfs://host')
    """
    if "://" in path or "::" in url:
        return ""
    whole = url.rstrip("/")
    return whole.removesuffix(path) if whole.endswith(path) and whole != path else f"{scheme}://"


def _split_secrets(path: str) -> tuple[str, str, str]:
    """A path that is an address: without its user and its parameters, which follow.

    >>> _split_secrets("https://me:hunter2@host/t?sig=ab"), _split_secrets("bucket/a?b")
    (('https://host/t', 'me:hunter2@', '?sig=ab'), ('bucket/a?b', '', ''))
    """
    head, mark, rest = path.partition("://")
    if not mark:
        return path, "", ""
    host, slash, tail = rest.partition("/")
    user, at, bare = host.rpartition("@")
    tail, question, query = tail.partition("?")
    return f"{head}://{bare}{slash}{tail}", user + at, question + query
