"""Many documents that are read one after the other: those that come next are asked for together, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from lakelens.errors import LakeError
from lakelens.io.ahead import fetch
from lakelens.io.ends import list_ends
from lakelens.io.store import ObjectInfo, Store

T = TypeVar("T")
#: Bytes of documents that are asked for together; as many again may still be kept (see `AheadStore`).
PIECE_BYTES = 24 << 20
_UNKNOWN = 192 << 10  # of a document of which no size is recorded
_LEAST = 16 << 10  # whatever is recorded
# of data files: what is read of the ends of one, what is read whole, and the ends that are read together
_END, _WHOLE, _ENDS_BYTES = 64 << 10, 1 << 20, 8 << 20
#: Where a document is, and its size where that is recorded; None for what is not going to be read.
Place = Callable[[T], tuple[str, int | None] | None]


def fetch_along(store: Store, things: Iterable[T], place: Place[T], limit: int = PIECE_BYTES) -> Iterator[T]:
    """The things in order; before the first of a piece comes, the documents of the whole piece are read together.

    Where a store answers without a network nothing is asked ahead.

    >>> from lakelens.io.memory import MemoryStore
    >>> list(fetch_along(MemoryStore({}), ["/a", "/b"], lambda path: (path, 10)))
    ['/a', '/b']
    """
    if not getattr(store, "is_far", False):
        yield from things
        return
    for piece in cut_pieces(things, place, limit):
        fetch(store, documents=[where[0] for where in map(place, piece) if where is not None])
        yield from piece


def fetch_files_along(
    store: Store, things: Iterable[T], place: Place[T], *, whole: bool = False
) -> Iterator[T]:
    """The things in order; before the first of a piece comes, the ends of the piece's data files are read: their footers.

    With `whole` files of at most a megabyte are read whole: their rows are going to be read.

    >>> from lakelens.io.memory import MemoryStore
    >>> list(fetch_files_along(MemoryStore({}), ["/a", "/b"], lambda path: (path, 10)))
    ['/a', '/b']
    """
    if not getattr(store, "is_far", False):
        yield from things
        return

    def weigh(thing: T) -> tuple[str, int | None] | None:
        where = place(thing)
        size = _END if where is None or not isinstance(where[1], int) else where[1]
        return None if where is None else (where[0], size if whole and size <= _WHOLE else min(size, _END))

    for piece in cut_pieces(things, weigh, _ENDS_BYTES):
        fetch_files(store, [where for where in map(place, piece) if where is not None], whole=whole)
        yield from piece


def fetch_files(store: Store, places: Iterable[tuple[str, int | None]], *, whole: bool = False) -> None:
    """Read the ends of some data files together, or small ones `whole`; of those without a size that is asked for first."""
    if not getattr(store, "is_far", False):
        return
    known = {path: size for path, size in places if path}
    unknown = [path for path, size in known.items() if not isinstance(size, int)]
    fetch(store, infos=unknown)
    questions: list[tuple[Any, ...]] = []
    for path, size in known.items():
        info = None if isinstance(size, int) else _look(store, path)
        length = size if isinstance(size, int) else 0 if info is None else info.size
        is_short = whole and 0 < length <= _WHOLE
        questions += [("info", path)] if isinstance(size, int) else []
        questions += [("end", path, 0, length, length, info)] if is_short else list_ends(path, length, info)
    store.fetch(questions)  # type: ignore[attr-defined]


def _look(store: Store, path: str) -> ObjectInfo | None:
    try:
        return store.info(path)
    except LakeError:
        return None


def fetch_first(store: Store, things: Iterable[T], place: Place[T]) -> None:
    """Read the documents of the first piece of some things together; the others are read when they are asked for."""
    if getattr(store, "is_far", False):
        for piece in islice(cut_pieces(things, place), 1):
            fetch(store, documents=[where[0] for where in map(place, piece) if where is not None])


def cut_pieces(things: Iterable[T], place: Place[T], limit: int = PIECE_BYTES) -> Iterator[list[T]]:
    """Things that follow each other, of which the documents have at most `limit` bytes together, or are one.

    >>> list(cut_pieces([300, 300, 500, 900], lambda size: ("/a", size << 10), limit=640 << 10))
    [[300, 300], [500], [900]]
    """
    piece: list[T] = []
    size = 0
    for thing in things:
        where = place(thing)
        recorded = 0 if where is None else where[1] if isinstance(where[1], int) else _UNKNOWN
        weight = 0 if where is None else max(recorded, _LEAST)
        if piece and size + weight > limit:
            yield piece
            piece, size = [], 0
        piece.append(thing)
        size += weight
    if piece:
        yield piece
