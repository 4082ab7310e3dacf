"""How a file system is asked: with one request where one is enough, through what fsspec offers for its kind."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from lakelens import options
from lakelens.io.remote.failures import Failed, recognise

T = TypeVar("T")
#: What fsspec says about an object: `name`, `size`, `type`, and when it was written under one of several names.
Facts: TypeAlias = Mapping[str, Any]
Listing: TypeAlias = list[Facts]
#: Bytes in a second, and names of a listing: what came so far may have taken as much longer than `options.timeout`.
_SLOWEST, _SLOWEST_NAMES = 16 << 10, 1_000
_LONGEST = 3_600.0  # seconds for one body, however much of it comes
_BLOCK = 1 << 20
#: Names of one listing; pages of it that may have fewer than ten names each, and those without any, one after the other.
_MOST_NAMES, _MOST_PAGES, _MOST_EMPTY = 2_000_000, 100, 16
_LARGEST_OBJECT = 1 << 50  # bytes: a thousand times what any storage takes
#: What a listing may take: a page of a bucket has 1,000 names, a page of links has all of them.
LARGEST_PAGE = 64 << 20
#: Bytes that are read in vain rather than asking for the size first.
WASTED = 256 << 10


@dataclass(frozen=True)
class Answer:
    """The bytes of an object, and the `version` of it that they are of; "" where nothing says."""

    data: bytes
    version: str = ""


class Requests(Protocol):
    """The four verbs of a store, on paths as its file system has them; what they raise is anything.

    Of an object at most `most` bytes are read: `Failed` is raised where more come.
    """

    @property
    def endpoint(self) -> str:
        """Where the requests go, in words; "" where that is not known."""
        ...

    def info(self, path: str) -> Facts: ...
    def list(self, path: str) -> Listing: ...
    def read(self, path: str, most: int) -> Answer: ...
    def read_range(self, path: str, start: int, length: int, most: int) -> Answer: ...


class PlainRequests:
    """Any file system, by what fsspec promises of all of them."""

    endpoint = ""

    def __init__(self, filesystem: Any, *, has_suffixes: bool) -> None:
        self._fs, self._has_suffixes = filesystem, has_suffixes

    def info(self, path: str) -> Facts:
        facts: Facts = self._fs.info(path)
        return facts

    def list(self, path: str) -> Listing:
        children: Listing = self._fs.ls(path, detail=True)
        names = [child["name"].strip("/") for child in children]
        if names == [path.strip("/")] and children[0].get("type") != "directory":
            raise FileNotFoundError(path)
        return children

    def read(self, path: str, most: int) -> Answer:
        try:
            data = bytes(self._fs.cat_file(path, start=0, end=most + 1))
        except Exception as error:
            # some know no range of an empty object
            if recognise(error).kind != "other" or self._fs.info(path).get("size") != 0:
                raise
            return Answer(b"")
        check_size(len(data), most)
        return Answer(data)

    def read_range(self, path: str, start: int, length: int, most: int) -> Answer:
        if start < 0 and self._has_suffixes and -start - length <= WASTED:
            return Answer(bytes(self._fs.cat_file(path, start=start))[: max(0, length)])
        if start < 0:
            start = max(0, int(self._fs.info(path)["size"]) + start)
        if length <= 0:
            return Answer(b"")
        return Answer(bytes(self._fs.cat_file(path, start=start, end=start + length)))


def run(filesystem: Any, ask: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Say what a coroutine gives that runs in the loop of a file system; an interrupt of this thread is not held up."""
    from fsspec.asyn import sync

    result: T = sync(filesystem.loop, ask, *arguments)
    return result


async def wait_for(asked: Awaitable[T]) -> T:
    """An answer within the time limit."""
    return await asyncio.wait_for(asked, options.timeout)


async def _take_parts(
    read: Callable[[int], Awaitable[bytes]], most: int, promised: int | None
) -> AsyncIterator[bytes]:
    """At most `most` bytes of a body, as they come.

    Time is allowed for what came, not for what is promised: a body that drips ends with `TimeoutError`. Raises `Failed`
    where fewer bytes came than were promised.
    """
    begun, held = time.monotonic(), 0
    while held < most:
        limit = min(options.timeout + held / _SLOWEST, _LONGEST) - (time.monotonic() - begun)
        part = await asyncio.wait_for(read(min(most - held, _BLOCK)), max(limit, 0))
        if not part:
            check_length(held, promised)
            return
        held += len(part)
        yield part


async def receive(
    read: Callable[[int], Awaitable[bytes]], most: int, promised: int | None = None, *, skip: int = 0
) -> bytes:
    """At most `most` bytes of a body after the first `skip`, as `read` gives its next ones; the rest is not waited for.

    Raises `TimeoutError` and `Failed`, as `_take_parts` says.
    """
    held, parts = 0, []
    async for part in _take_parts(read, skip + most, promised):
        held += len(part)
        if held > skip:
            parts.append(part[-(held - skip) :])
    return b"".join(parts)


async def measure_body(read: Callable[[int], Awaitable[bytes]], most: int) -> int:
    """Measure how many bytes a body has, none of which is kept. Raises `Failed` where it does not end within `most`."""
    size = 0
    async for part in _take_parts(read, most + 1, None):
        size += len(part)
    check_size(size, most)
    return size


async def receive_whole(
    read: Callable[[int], Awaitable[bytes]], most: int, promised: int | None = None
) -> bytes:
    """A body that has to end within `most` bytes. Raises `Failed` where it does not, or says so."""
    check_size(promised or 0, most)
    data = await receive(read, most + 1, promised)
    check_size(len(data), most)
    return data


class ListingLimit:
    """When a listing that comes in pages has gone on for too long, in names, in pages or in seconds.

    >>> limit = ListingLimit()
    >>> limit.turn(1_000, "a")
    >>> limit.turn(1_000, "a")
    Traceback (most recent call last):
    lakelens.io.remote.failures.Failed: ('endless', 'the same page comes again, after 2,000 names')
    """

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._names = self._pages = self._empty = 0
        self._seen: set[str] = set()

    def turn(self, count: int, token: str | None) -> None:
        """A page of `count` names came, and another one is said to follow under a token. Raises `Failed`."""
        self._names, self._pages = self._names + count, self._pages + 1
        self._empty = 0 if count else self._empty + 1
        after = f"after {self._names:,} names"
        if not token or token in self._seen:
            raise Failed("endless", f"the same page comes again, {after}")
        self._seen.add(token)
        if self._empty > _MOST_EMPTY:
            raise Failed("endless", f"{self._empty} pages without a name, {after}")
        if self._names > _MOST_NAMES or self._pages > _MOST_PAGES + self._names / 10:
            raise Failed("endless", f"{self._pages:,} pages, {after}")
        if time.monotonic() - self._begun > options.timeout + self._names / _SLOWEST_NAMES:
            raise Failed("endless", f"no end within the time limit, {after}")


def format_range(start: int, length: int) -> str:
    """Format a range as HTTP has it; a negative start counts from the end.

    >>> format_range(4, 10), format_range(-16, 16)
    ('bytes=4-13', 'bytes=-16')
    """
    return f"bytes={start}" if start < 0 else f"bytes={start}-{start + length - 1}"


def parse_content_range(text: str | None) -> tuple[int, int, int | None] | None:
    """First byte, the byte after the last one, and the size of the whole, which may not be known.

    >>> parse_content_range("bytes 0-3/10"), parse_content_range("bytes 4-9/*"), parse_content_range("?")
    ((0, 4, 10), (4, 10, None), None)
    """
    unit, _, rest = (text or "").partition(" ")
    places, _, whole = rest.partition("/")
    first, _, last = places.partition("-")
    if unit != "bytes" or not first.isdecimal() or not last.isdecimal():
        return None
    return int(first), int(last) + 1, int(whole) if whole.isdecimal() else None


def cut_range(data: bytes, place: tuple[int, int, int | None] | None, start: int, length: int) -> bytes:
    """Cut the bytes that were asked for, of what came: the whole object where a server knows no ranges.

    Raises `Failed` where fewer came than the answer promises, or others than were asked for.

    >>> cut_range(b"0123456789", None, -3, 2), cut_range(b"789", (7, 10, 10), -3, 2)
    (b'78', b'78')
    """
    if place is None:
        begin = max(0, len(data) + start) if start < 0 else start
        return data[begin : begin + length]
    first, after, whole = place
    check_length(len(data), min(after - first, max(length, -start)))
    is_suffix_of_less = start < 0 and whole is not None and first == max(0, whole + start)
    if not is_suffix_of_less and first != start and not (start < 0 and whole is None):
        raise Failed("short", f"bytes from {first:,}, from {start:,} were asked for")
    return data[:length]


def check_length(size: int, promised: int | None) -> None:
    """Raises `Failed` where fewer bytes came than were promised."""
    if promised is not None and size != promised:
        raise Failed("short", f"{size:,} of {promised:,} bytes")


def check_size(size: int, most: int) -> None:
    """Raises `Failed` where an object has more bytes than are read of it."""
    if size > most:
        seen = f"{size:,} bytes" if size > most + 1 else "more bytes come"
        raise Failed("large", f"{seen}, at most {most:,} are read")


def parse_size(given: object) -> int:
    """Parse the bytes of an object as a storage says them. Raises `Failed` for what no storage holds.

    >>> parse_size("12")
    12
    """
    text = str(given)
    if not re.fullmatch(r"[0-9]{1,16}", text) or int(text) > _LARGEST_OBJECT:
        raise Failed("size", text[:40])
    return int(text)


def check_page(data: bytes, kind: str | None, path: str) -> None:
    """Raises `Failed` for a page of the web where an object was expected: a login, a proxy's regrets."""
    begins = data[:64].lstrip().lower().startswith((b"<!doctype html", b"<html"))
    if begins and "html" in (kind or "") and not is_page(path):
        raise Failed("page")


def is_page(path: str) -> bool:
    """Check whether a path has the name of a page, with or without parameters."""
    return path.partition("?")[0].lower().endswith((".html", ".htm"))
