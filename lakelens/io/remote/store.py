"""Any fsspec file system as a store: `s3:`, `gs:`, `memory:` and what else is installed."""

from __future__ import annotations

import random
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote

from lakelens import options
from lakelens.errors import LakeError, Unsupported
from lakelens.io.redaction import find_secrets, find_spellings, redact
from lakelens.io.remote.failures import Failed, make_error, recognise
from lakelens.io.remote.objects import S3Requests
from lakelens.io.remote.options import prepare_options
from lakelens.io.remote.pages import HttpRequests
from lakelens.io.remote.requests import Answer, PlainRequests, Requests, parse_size
from lakelens.io.store import MOST_BYTES, ObjectInfo

T = TypeVar("T")
#: Inside of the store `list` is its verb.
Listed: TypeAlias = list[ObjectInfo]
_PASSWORD = re.compile(r"(?<=://)[^/@]*:[^/]*@")
# options that say which storage is meant, where the path does not
_PLACE = re.compile("endpoint|host|port|account_name|project|url|^fo$|^target_protocol$")
_MOST_VERSIONS = 1 << 16  # objects of which a version, or a size, is kept
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds


class FsspecStore:
    """Objects of an fsspec file system, by the paths that fsspec uses with a `prefix`: the scheme, as in the URL.

    It is the border: whatever a client library raises becomes a `LakeError` here, without secrets, and what may pass is
    tried again. Of an address with a user or parameters (`https://user:password@host/t?sig=…`) paths have neither: they
    are put back for each request.

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
        base: str = "",
    ) -> None:
        self._fs = filesystem
        self.scheme = scheme
        self._prefix, self._base = prefix, base
        self._secrets, self._user, self._query = secrets, user, query
        self._requests = _choose_requests(filesystem, scheme, base, query)
        self._versions: OrderedDict[str, str] = OrderedDict()
        self._promised: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        kept = (self._prefix, self._secrets, self._user, self._query, self._base)
        return _restore, (self._fs, self.scheme, *kept)

    def refresh(self) -> None:
        """Forget the listings that the file system keeps, and versions: others may have written meanwhile."""
        self._fs.invalidate_cache()
        with self._lock:
            self._versions.clear()

    @property
    def identity(self) -> str:
        """Which storage this is, whoever asks: what is kept of one is never taken for another one's."""
        held = getattr(self._fs, "storage_options", None) or {}
        named = [f"{key}={held[key]}" for key in sorted(held) if _PLACE.search(key)]
        return "\n".join([self.scheme, self._requests.endpoint, self._user, self._query, *named])

    def connect(self) -> None:
        """Make the client that all requests share; what fails now fails again in the first request, which says it."""
        with suppress(Exception):
            getattr(self._requests, "connect", tuple)()

    def info(self, path: str) -> ObjectInfo:
        return self._call("look at", lambda asked: self._describe([self._requests.info(asked)]), path)[0]

    @property
    def lists_prefixes(self) -> bool:
        """Whether it lists all objects below a directory at once, as S3 does: see `list_below`."""
        return hasattr(self._requests, "list_below")

    def list_below(self, path: str, limit: int) -> Listed:
        """List the first `limit` objects below a directory, in the order of their keys, 1,000 at once.

        For `lists_prefixes` only; see `lakelens.io.ahead.fetch_below`.
        """
        requests: Any = self._requests
        return self._call("list", lambda asked: self._describe(requests.list_below(asked, limit)), path)

    def list(self, path: str) -> Listed:
        found = self._call("list", lambda asked: self._describe(self._requests.list(asked)), path)
        # object stores may list the directory's own marker
        found = [info for info in found if info.path.strip("/") != path.strip("/")]
        return sorted(found, key=lambda info: info.path)

    def read(self, path: str) -> bytes:
        most = self._find_most(path)
        answer = self._call("read", lambda asked: self._requests.read(asked, most), path)
        return answer.data

    def expect(self, sizes: Iterable[tuple[str, int]]) -> None:
        """Files of which a document or a listing promises the sizes: of others, `options.budgets.max_document` are read."""
        with self._lock:
            for path, size in sizes:
                if size > options.budgets.max_document:
                    self._promised[path] = size
            while len(self._promised) > _MOST_VERSIONS:
                self._promised.popitem(last=False)

    def _find_most(self, path: str) -> int:
        """Find how many bytes of an object are read: what was promised, which a damaged one may exceed a little."""
        with self._lock:
            return min(max(self._promised.get(path, 0), options.budgets.max_document), MOST_BYTES)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        most = self._find_most(path)

        def read(asked: str) -> Answer:
            answer = self._requests.read_range(asked, start, length, most)
            self._compare(path, answer.version)
            return answer

        return self._call("read", read, path).data

    def _compare(self, path: str, version: str) -> None:
        """Parts of an object are of one version of it, as long as this store lives. Raises `Failed`."""
        if not version:
            return
        with self._lock:
            before = self._versions.setdefault(path, version)
            if len(self._versions) > _MOST_VERSIONS:
                self._versions.popitem(last=False)
        if before != version:
            raise Failed("replaced", f"was {before}, is {version}")

    def _describe(self, listed: Sequence[Mapping[str, Any]]) -> Listed:
        """Describe what a storage says of objects. Raises `Failed`."""
        found = [self._describe_object(facts) for facts in listed]
        self.expect((info.path, info.size) for info in found)
        return found

    def _describe_object(self, facts: Mapping[str, Any]) -> ObjectInfo:
        is_dir = facts.get("type") == "directory"
        modified = (
            facts.get("LastModified") or facts.get("mtime") or facts.get("updated") or facts.get("created")
        )
        if isinstance(modified, int | float):
            with suppress(ValueError, OverflowError, OSError):
                modified = datetime.fromtimestamp(modified, UTC)
        if isinstance(modified, datetime):
            modified = modified.astimezone(UTC) if modified.tzinfo else modified.replace(tzinfo=UTC)
        path = str(facts["name"]).rstrip("/")
        if self._user or self._query:
            path = path.replace(f"://{self._user}", "://", 1).removesuffix(self._query).rstrip("/")
        if self._prefix:  # some begin names with a slash, some do not, some do both
            slash = "" if self._prefix.endswith("://") else "/"
            path = f"{self._prefix}{slash}{path.lstrip('/')}"
        known = modified if isinstance(modified, datetime) else None
        mark = facts.get("ETag") or facts.get("etag")
        size = 0 if is_dir else parse_size(facts.get("size") or 0)
        return ObjectInfo(path, size, known, is_dir, mark=mark if isinstance(mark, str) else None)

    def _call(self, verb: str, ask: Callable[[str], T], path: str) -> T:
        """Ask a verb of the file system; what may pass is asked again, `options.retries` times."""
        address = path.removeprefix(self._prefix)  # as the file system knows it
        if self._user or self._query:
            address = address.replace("://", f"://{self._user}", 1) + self._query
        patience = Patience()
        while True:
            try:
                return ask(address)
            except Exception as error:
                failed = recognise(error)
            # here nothing is being handled: an error that is raised now has no context, which would have secrets
            if not (failed.may_pass and patience.wait(failed.wait)):
                secrets = find_spellings([*self._secrets, *getattr(self._requests, "find_secrets", tuple)()])
                raise make_error(
                    failed,
                    redact(path if "://" in path else f"{self.scheme}://{path.lstrip('/')}", secrets),
                    scheme=self.scheme,
                    verb=verb,
                    endpoint=redact(self._requests.endpoint, secrets),
                    said=redact(failed.said, secrets),
                    tries=patience.tries,
                )


def _restore(
    filesystem: Any, scheme: str, prefix: str, secrets: Collection[str], user: str, query: str, base: str
) -> FsspecStore:
    """Restore a store that was pickled: it makes its own requests."""
    return FsspecStore(filesystem, scheme, prefix=prefix, secrets=secrets, user=user, query=query, base=base)


def _choose_requests(filesystem: Any, scheme: str, base: str, query: str) -> Requests:
    """Choose how a file system is asked: of its own kind, where that saves requests."""
    names = {cls.__name__ for cls in type(filesystem).__mro__}
    if "S3FileSystem" in names:
        return S3Requests(filesystem)
    if "HTTPFileSystem" in names:
        return HttpRequests(filesystem, base, query)
    # of others fsspec itself finds the end of a file that is opened; some make a wrong range of a negative start
    return PlainRequests(filesystem, has_suffixes=scheme in ("memory", "zip", "tar", "gs", "gcs"))


class Patience:
    """How long one waits for what may pass: a number of tries, and a time after which none begins."""

    def __init__(self) -> None:
        self.tries = 1
        self._end = time.monotonic() + options.timeout

    def wait(self, asked: float | None = None) -> bool:
        """Sleep until the next try, for longer each time and never as long as others; False where there is none."""
        pause = random.uniform(0.5, 1) * min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (self.tries - 1))
        pause = max(pause, asked or 0)
        if self.tries > options.retries or time.monotonic() + pause >= self._end:
            return False
        time.sleep(pause)
        self.tries += 1
        return True


def open_filesystem(url: str, storage_options: Mapping[str, Any] | None) -> tuple[FsspecStore, str]:
    """Open the store behind a URL and the URL's path in it.

    Raises `Unsupported` when no installed fsspec implementation knows the scheme, `LakeError` when it refuses the options.
    """
    import fsspec

    spelled = url.split(":", 1)[0]
    secrets = find_secrets(storage_options) | find_secrets({"auth": list(_split_user(url))})
    address, given, scheme = prepare_options(url, storage_options)
    secrets |= find_secrets(given)
    failure: LakeError | None = None
    try:
        filesystem, path = fsspec.core.url_to_fs(address, **given)
    except (ImportError, ValueError) as error:
        hint = f"install the fsspec implementation for {spelled}: (s3fs, gcsfs, adlfs, …)"
        said = redact(str(error), find_spellings(secrets))
        message = f"no reader for {spelled}: locations ({said})"
        failure = Unsupported(message, path=redact(url, secrets), hint=hint)
    except Exception as error:
        said = redact(f"{type(error).__name__}: {error}", find_spellings(secrets))
        message = f"the file system for {spelled}: cannot be opened: {said}"
        failure = LakeError(message, path=redact(url, secrets), hint="look at storage_options")
    if failure is not None:
        raise failure
    path, user, query = _split_secrets(str(path))
    path = path.rstrip("/") or "/"
    prefix, base = _find_prefix(url, path, spelled), path.replace("://", f"://{user}", 1)
    store = FsspecStore(filesystem, scheme, prefix=prefix, secrets=secrets, user=user, query=query, base=base)
    return store, prefix + path


def _split_user(url: str) -> tuple[str, ...]:
    """User and password of an address, which an error may repeat.

    >>> _split_user("s3://me:hunter2@bucket/t"), _split_user("abfs://container@account/t")
    (('me', 'hunter2'), ())
    """
    user, at, _ = url.partition("://")[2].partition("/")[0].rpartition("@")
    return tuple(unquote(part) for part in user.split(":", 1)) if at and ":" in user else ()


def _find_prefix(url: str, path: str, scheme: str) -> str:
    """Find what a URL has before the path that fsspec makes of it; nothing where that is a URL, or a file of a cache.

    >>> _find_prefix("s3://b/t/", "b/t", "s3"), _find_prefix("hdfs://host/t", "/t", "hdfs")
    ('s3://', 'hdfs://host')
    >>> _find_prefix("zip://w/t::s3://b/x.zip", "w/t", "zip"), _find_prefix("simplecache::s3://b/t", "b/t", "simplecache")
    ('zip://', '')
    >>> _find_prefix("s3://key:hunter2@b/t", "b/t", "s3"), _find_prefix("ftp://me:hunter2@h/t", "/t", "ftp")
    ('s3://', 'ftp://h')
    """
    first = url.partition("::")[0]
    if "://" in path or "://" not in first:
        return ""
    whole = _PASSWORD.sub("", first.rstrip("/"))
    return whole.removesuffix(path) if whole.endswith(path) and whole != path else f"{scheme}://"


def _split_secrets(path: str) -> tuple[str, str, str]:
    """Split a path that is an address: without its user and its parameters, which follow.

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
