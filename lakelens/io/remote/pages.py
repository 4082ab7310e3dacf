"""Files of a web server: requests of the client that fsspec keeps; directories are pages of links."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlsplit

from lakelens import options
from lakelens.io.remote.failures import Failed, recognise_status
from lakelens.io.remote.links import has_form, read_names
from lakelens.io.remote.requests import (
    LARGEST_PAGE,
    WASTED,
    Answer,
    Facts,
    Listing,
    check_page,
    cut_range,
    format_range,
    is_page,
    measure_body,
    parse_content_range,
    parse_size,
    receive,
    receive_whole,
    run,
    wait_for,
)

_PLAIN = "/!$&'()*+,;=:@~"  # may stand in a path as they are
_BEGINNING = 64  # bytes that show whether it is a page
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 10
# names of one page, each of which is asked for its size, and how many of them a second has at least
_MOST_NAMES, _SLOWEST_NAMES = 100_000, 20


class HttpRequests:
    """An fsspec `HTTPFileSystem`: its options and connections. `base` is the address that was opened, as it was given; the
    `query` of it follows each path.

    Below it names are what they are: each is quoted when it is asked for, and unquoted when a page has it.
    """

    def __init__(self, filesystem: Any, base: str, query: str = "") -> None:
        self._fs, self._base, self._query = filesystem, base, query
        parts = urlsplit(base)
        self.endpoint = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def info(self, path: str) -> Facts:
        return run(self._fs, self._info, path)

    def list(self, path: str) -> Listing:
        return run(self._fs, self._list, path)

    def read(self, path: str, most: int) -> Answer:
        return run(self._fs, self._read, path, most)

    def read_range(self, path: str, start: int, length: int, most: int) -> Answer:
        if length <= 0:
            return Answer(b"")
        if start < 0 and -start - length > WASTED:
            start = max(0, int(self.info(path)["size"]) + start)
        return run(self._fs, self._read_range, path, start, length, most)

    def _quote(self, path: str) -> str:
        """Quote the address of a path: what is below the base is quoted.

        >>> import types
        >>> requests = HttpRequests(types.SimpleNamespace(), "http://h/my%20lake", "?v=1")
        >>> requests._quote("http://h/my%20lake/k=a%2Fb/é?v=1")
        'http://h/my%20lake/k=a%252Fb/%C3%A9?v=1'
        """
        base = self._base.rstrip("/")
        bare = path.removesuffix(self._query) if self._query else path
        if bare.startswith(f"{base}/"):
            bare = base + quote(bare[len(base) :], safe=_PLAIN)
        return bare + self._query

    async def _open(self, verb: str, path: str, **headers: str) -> Any:
        """Open an answer whose status is a success, or that nothing is there to be read in a range."""
        answer = await self._follow(verb, path, headers)
        if answer.status < 300 or (answer.status == 416 and "Range" in headers):
            return answer
        answer.close()
        raise recognise_status(answer.status, answer.reason or "", answer.headers.get("Retry-After"))

    async def _follow(self, verb: str, path: str, headers: Mapping[str, str]) -> Any:
        """An answer, after redirects within the origin: whatever was given is sent to nobody else. Raises `Failed`."""
        import aiohttp
        from yarl import URL

        session = await self._fs.set_session()
        given = dict(self._fs.kwargs)
        wanted = {**given.pop("headers", {}), "Accept-Encoding": "identity", **headers}
        limits = aiohttp.ClientTimeout(
            total=None, sock_connect=options.connect_timeout, sock_read=options.timeout
        )
        given = {"timeout": limits, **given, "headers": wanted, "allow_redirects": False}
        address = self._fs.encode_url(self._quote(path))
        for _ in range(_MOST_REDIRECTS):
            answer = await wait_for(session.request(verb, address, **given))
            leads = answer.headers.get("Location", "") if answer.status in _REDIRECTS else ""
            if not leads:
                return answer
            answer.close()
            try:
                target = address.join(URL(leads, encoded=True))
                is_near = target.origin() == address.origin() or self._is_upgrade(address, target)
            except ValueError:
                is_near = False
            if not is_near:
                raise Failed("elsewhere", leads)
            address = target.with_user(address.user).with_password(address.password)
        raise Failed("elsewhere", f"itself, after {_MOST_REDIRECTS} redirects")

    def _is_upgrade(self, address: Any, target: Any) -> bool:
        """Check whether a redirect only asks for TLS, of a request that nothing was given for."""
        schemes = (address.scheme, target.scheme) == ("http", "https")
        is_same = address.host == target.host and address.is_default_port() and target.is_default_port()
        return schemes and is_same and not (self._fs.kwargs or self._query or address.user)

    async def _info(self, path: str) -> Facts:
        async with await self._open("HEAD", path) as answer:
            kind, size = answer.headers.get("Content-Type", ""), answer.headers.get("Content-Length")
            is_folder = answer.url.path.endswith("/") or ("html" in kind and not is_page(path))
            encoding, modified = answer.headers.get("Content-Encoding"), None
            with suppress(ValueError):
                if text := answer.headers.get("Last-Modified"):
                    modified = parsedate_to_datetime(text)
        if is_folder:
            return {"name": path, "size": 0, "type": "directory"}
        if size is None or encoding not in (None, "", "identity"):
            size = await self._measure(path)
        return {"name": path, "size": parse_size(size), "type": "file", "LastModified": modified}

    async def _measure(self, path: str) -> int:
        """Measure the size of an object, of a server that does not say it without the object."""
        async with await self._open("GET", path, Range="bytes=0-0") as answer:
            place = parse_content_range(answer.headers.get("Content-Range"))
            if place is not None and place[2] is not None:
                return place[2]
            # many are measured at once, in a listing: the bytes are counted, not kept
            return await measure_body(answer.content.read, options.budgets.max_document)

    async def _list(self, path: str) -> Listing:
        folder = (path.removesuffix(self._query) if self._query else path).rstrip("/")
        async with await self._open("GET", f"{folder}/{self._query}") as answer:
            if "html" not in answer.headers.get("Content-Type", ""):
                raise FileNotFoundError(path)
            text = (await _read_whole(answer, LARGEST_PAGE)).decode(errors="replace")
            here = str(answer.url.with_query(None).with_fragment(None))
        names = read_names(text, here)
        if not names and has_form(text):  # a page that wants something, not an empty directory
            raise Failed("page")
        if len(names) > _MOST_NAMES:
            raise Failed(
                "endless", f"{len(names):,} names in a page of links, at most {_MOST_NAMES:,} are read"
            )
        limit = options.timeout + len(names) / _SLOWEST_NAMES
        return await asyncio.wait_for(self._describe(folder, names), limit)

    async def _describe(self, folder: str, names: Iterable[str]) -> Listing:
        """Describe what a page lists; it has no sizes, so that each file is asked for its own."""
        free = asyncio.Semaphore(options.max_connections)

        async def describe(name: str) -> Facts:
            if name.endswith("/"):
                return {"name": f"{folder}/{name[:-1]}", "size": 0, "type": "directory"}
            async with free:
                return {**await self._info(f"{folder}/{name}{self._query}"), "name": f"{folder}/{name}"}

        return list(await asyncio.gather(*map(describe, names)))

    async def _read(self, path: str, most: int) -> Answer:
        async with await self._open("GET", path) as answer:
            data = await _read_whole(answer, most)
            check_page(data, answer.headers.get("Content-Type"), path)
            return Answer(data, _find_version(answer, len(data)))

    async def _read_range(self, path: str, start: int, length: int, most: int) -> Answer:
        async with await self._open("GET", path, Range=format_range(start, length)) as answer:
            if answer.status == 416:
                return Answer(b"")
            place = parse_content_range(answer.headers.get("Content-Range")) if answer.status == 206 else None
            if place is not None:
                data = await receive(answer.content.read, max(length, -start), place[1] - place[0])
            elif start < 0:  # a server without ranges sends the whole
                data = await _read_whole(answer, most)
            elif start > 0:  # what comes before the range is not kept, what comes after it is not waited for
                data = await receive(answer.content.read, length, skip=start)
                return Answer(data, _find_version(answer, answer.headers.get("Content-Length")))
            else:
                data = await receive(answer.content.read, max(length, _BEGINNING))
            if start <= 0:
                check_page(data, answer.headers.get("Content-Type"), path)
            whole = answer.headers.get("Content-Length") if place is None else place[2]
            return Answer(cut_range(data, place, start, length), _find_version(answer, whole))


async def _read_whole(answer: Any, most: int) -> bytes:
    promised = answer.headers.get("Content-Length")
    length = int(promised) if promised and "Content-Encoding" not in answer.headers else None
    return await receive_whole(answer.content.read, most, length)


def _find_version(answer: Any, size: object) -> str:
    # servers behind one name may have marks of their own for one file; its time is the same
    mark = answer.headers.get("Last-Modified") or answer.headers.get("ETag")
    return f"{mark} {size}" if mark and size is not None else ""
