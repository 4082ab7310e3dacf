"""How a file system is asked: with one request where one is enough, through what fsspec offers for its kind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from lakelens import options
from lakelens.io.remote.failures import Failed

T = TypeVar("T")
#: What fsspec says about an object: `name`, `size`, `type`, and when it was written under one of several names.
Facts: TypeAlias = Mapping[str, Any]
Listing: TypeAlias = list[Facts]
#: Bytes in a second: a body may take as much longer than `options.timeout`.
_SLOWEST = 16 << 10
#: Bytes that are read in vain rather than asking for the size first.
WASTED = 256 << 10


@dataclass(frozen=True)
class Answer:
    """The bytes of an object, and the `version` of it that they are of; "" where nothing says."""

    data: bytes
    version: str = ""


class Requests(Protocol):
    """The four verbs of a store, on paths as its file system has them; what they raise is anything."""

    @property
    def endpoint(self) -> str:
        """Where the requests go, in words; "" where that is not known."""
        ...

    def info(self, path: str) -> Facts: ...
    def list(self, path: str) -> Listing: ...
    def read(self, path: str) -> Answer: ...
    def read_range(self, path: str, start: int, length: int) -> Answer: ...


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

    def read(self, path: str) -> Answer:
        return Answer(bytes(self._fs.cat_file(path)))

    def read_range(self, path: str, start: int, length: int) -> Answer:
        if start < 0 and self._has_suffixes and -start - length <= WASTED:
            return Answer(bytes(self._fs.cat_file(path, start=start))[: max(0, length)])
        if start < 0:
            start = max(0, int(self._fs.info(path)["size"]) + start)
        if length <= 0:
            return Answer(b"")
        return Answer(bytes(self._fs.cat_file(path, start=start, end=start + length)))


def run(filesystem: Any, ask: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """What a coroutine gives that runs in the loop of a file system; an interrupt of this thread is not held up."""
    from fsspec.asyn import sync

    result: T = sync(filesystem.loop, ask, *arguments)
    return result


async def wait_for(asked: Awaitable[T], size: int | None = None) -> T:
    """An answer, or a body of `size` bytes, within the time limit."""
    limit = options.timeout + (size or 0) / _SLOWEST
    return await asyncio.wait_for(asked, limit)


def format_range(start: int, length: int) -> str:
    """A range as HTTP has it; a negative start counts from the end.

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
    """The bytes that were asked for, of what came: the whole object where a server knows no ranges.

    Raises `Failed` where fewer came than the answer promises, or others than were asked for.

    >>> cut_range(b"0123456789", None, -3, 2), cut_range(b"789", (7, 10, 10), -3, 2)
    (b'78', b'78')
    """
    if place is None:
        begin = max(0, len(data) + start) if start < 0 else start
        return data[begin : begin + length]
    first, after, whole = place
    check_length(data, after - first)
    is_suffix_of_less = start < 0 and whole is not None and first == max(0, whole + start)
    if not is_suffix_of_less and first != start and not (start < 0 and whole is None):
        raise Failed("short", f"bytes from {first:,}, from {start:,} were asked for")
    return data[:length]


def check_length(data: bytes, promised: int | None) -> None:
    """Raises `Failed` where fewer bytes came than were promised."""
    if promised is not None and len(data) != promised:
        raise Failed("short", f"{len(data):,} of {promised:,} bytes")


def check_page(data: bytes, kind: str | None, path: str) -> None:
    """Raises `Failed` for a page of the web where an object was expected: a login, a proxy's regrets."""
    begins = data[:64].lstrip().lower().startswith((b"<!doctype html", b"<html"))
    if begins and "html" in (kind or "") and not is_page(path):
        raise Failed("page")


def is_page(path: str) -> bool:
    """Whether a path has the name of a page, with or without parameters."""
    return path.partition("?")[0].lower().endswith((".html", ".htm"))
