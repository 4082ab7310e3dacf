"""Limits of the HTTP client that PyIceberg asks a REST catalog with, whose own waits, reads and turns pages without end.

An answer has at most 64 MiB once it is unpacked, and a deadline for the whole of it; a redirect stays at the catalog; a
listing comes to an end. A server that is busy is asked again.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from urllib.parse import urljoin, urlsplit

from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.exceptions import ReadTimeout
from urllib3.util.retry import Retry

from lakelens import options
from lakelens.catalogs.entry import CatalogSource
from lakelens.errors import LakeError
from lakelens.io.redaction import redact
from lakelens.io.remote.failures import Failed
from lakelens.io.remote.requests import LARGEST_PAGE, ListingLimit

_BUSY = (429, 503)
_PART = 64 << 10  # bytes that are received at once
# what is asked for, and what zlib takes by itself of that
_ENCODINGS, _ANY_HEADER = ("gzip", "deflate"), 32 + 15
_SLOWEST = 16 << 10  # bytes in a second: an answer may take as much longer
_NAME = 64  # bytes of a page that stand for a name
_listing: ContextVar[ListingLimit | None] = ContextVar("_listing", default=None)


@contextmanager
def limit_listing() -> Iterator[None]:
    """Around the question for one list of names, whose pages have to come to an end."""
    before = _listing.set(ListingLimit())
    try:
        yield
    finally:
        _listing.reset(before)


def limit_session(session: Session, source: CatalogSource) -> Session:
    """The same session, with limits."""
    again = Retry(
        total=options.retries,
        connect=0,
        status_forcelist=_BUSY,
        backoff_factor=0.1,
        backoff_jitter=0.1,
        raise_on_status=False,
    )
    adapters: OrderedDict[str, BaseAdapter] = OrderedDict()
    for prefix, adapter in session.adapters.items():
        if type(adapter) is HTTPAdapter:  # one that signs is kept
            adapter = HTTPAdapter(max_retries=again, pool_maxsize=options.max_connections)
        inner = adapter.inner if isinstance(adapter, LimitedAdapter) else adapter
        adapters[prefix] = LimitedAdapter(inner, source)
    session.adapters = adapters
    ask, find_target = type(session).request, type(session).get_redirect_target

    def request(method: str, url: str, **named: Any) -> Response:
        limits = (options.connect_timeout, options.timeout)
        response = ask(session, method, url, **{"timeout": limits, **named})
        limit = _listing.get()
        if limit is not None:
            _turn_page(limit, response, source)
        return response

    def get_redirect_target(response: Response) -> str | None:
        target = find_target(session, response)
        if target is not None and _find_origin(urljoin(response.url, target)) != _find_origin(response.url):
            raise LakeError(
                f"{source} leads to {redact(target)}, and is not followed there", hint="its address"
            )
        return target

    session.request = request  # type: ignore[method-assign, assignment]
    session.get_redirect_target = get_redirect_target  # type: ignore[method-assign, assignment]
    return session


def stay_at(source: CatalogSource, given: str, named: str) -> str:
    """The address that a catalog's configuration names for itself, where that is the same server.

    >>> stay_at(CatalogSource("prod", "REST catalog"), "http://h:8181", "http://h:8181/catalog")
    'http://h:8181/catalog'
    """
    if _find_origin(given) != _find_origin(named):
        raise LakeError(
            f"{source} leads to {redact(named)}: what you gave for it is not sent there",
            hint="uri, if that is meant",
        )
    return named


def _find_origin(address: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(address)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port


def _turn_page(limit: ListingLimit, response: Response, source: CatalogSource) -> None:
    """Look whether a page is one too many. What it is beside a page PyIceberg finds out."""
    if not response.ok or b"next-page-token" not in response.content:
        return
    try:
        page = response.json()
        token = page.get("next-page-token") if isinstance(page, dict) else None
        if token:
            limit.turn(len(response.content) // _NAME, str(token))
    except ValueError:
        return
    except Failed as failed:
        raise LakeError(f"{source} lists names without an end ({failed.said})") from None


class LimitedAdapter(BaseAdapter):
    """Another adapter, whose answers are whole when they are given, and within the limits."""

    def __init__(self, inner: BaseAdapter, source: CatalogSource) -> None:
        super().__init__()
        self.inner, self._source = inner, source

    def send(self, request: PreparedRequest, *given: Any, **named: Any) -> Response:
        """See `requests`. Raises `LakeError` for too much, `ReadTimeout` for what does not come to an end."""
        request.headers["Accept-Encoding"] = ", ".join(_ENCODINGS)
        reading = _Reading(self.inner, request, given, {**named, "stream": True}, self._source)
        return reading.wait()

    def close(self) -> None:
        self.inner.close()


class _Reading:
    """One answer on its way. A thread receives it, and is left alone where the answer takes too long."""

    def __init__(self, inner: BaseAdapter, *asked: Any) -> None:
        self._inner = inner
        self._request, self._given, self._named, self._source = asked
        self._done = threading.Event()
        self._response: Response | None = None
        self._error: BaseException | None = None
        self._size = self._received = 0

    def wait(self) -> Response:
        begun = time.monotonic()
        # a busy server is asked again within the first answer
        first = (options.connect_timeout + options.timeout) * (options.retries + 1)
        threading.Thread(target=self._run, name="lakelens-catalog", daemon=True).start()
        while not self._done.is_set():
            limit = first if self._response is None else options.timeout + self._received / _SLOWEST
            begun = begun if self._response is None else self._answered
            if not self._done.wait(max(0.0, min(1.0, begun + limit - time.monotonic()))) and (
                time.monotonic() >= begun + limit
            ):
                if self._response is not None:
                    with suppress(Exception):  # closing would wait for the thread that reads
                        self._response.raw.shutdown()
                raise ReadTimeout(f"no whole answer within {options.timeout:g} s", request=self._request)
        if self._error is not None:
            raise self._error
        assert self._response is not None
        return self._response

    def _run(self) -> None:
        try:
            response = self._inner.send(self._request, *self._given, **self._named)
            self._answered = time.monotonic()
            self._response = response
            response._content = self._receive(response)
            response._content_consumed = True
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def _receive(self, response: Response) -> bytes:
        """The body, unpacked. What unpacks whole bodies makes gigabytes of a few megabytes before anybody can look."""
        encoding = response.headers.get("Content-Encoding", "identity").lower()
        if encoding not in ("identity", "", *_ENCODINGS):
            raise LakeError(f"{self._source} answers in an encoding that was not asked for", seen=encoding)
        unpacker = zlib.decompressobj(_ANY_HEADER) if encoding in _ENCODINGS else None
        parts: list[bytes] = []
        while packed := response.raw.read(_PART, decode_content=False):
            self._received += len(packed)
            part = packed if unpacker is None else unpacker.decompress(packed, LARGEST_PAGE + 1)
            parts.append(part)
            self._size += len(part)
            if self._size > LARGEST_PAGE:
                most = f"{LARGEST_PAGE >> 20} MiB"
                raise LakeError(f"{self._source} answers with more than {most}, which is not read")
        return b"".join(parts)
