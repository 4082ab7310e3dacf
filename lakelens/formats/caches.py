"""Caches of what was made or loaded last."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
T = TypeVar("T")

# how many made items are kept when nobody else holds them: their own caches are kept with them
_MOST_KEPT = 1024


class WeakLruCache(Generic[T]):
    """Makes each item once while anyone holds it, and keeps those that were asked for last. Threads may share it.

    >>> class Item:
    ...     def __init__(self, position: int) -> None:
    ...         self.position = position
    >>> items = WeakLruCache(Item)
    >>> items(7) is items(7)
    True
    """

    def __init__(self, make: Callable[[int], T], most: int = _MOST_KEPT) -> None:
        self._make = make
        self._most = most
        self._alive: weakref.WeakValueDictionary[int, T] = weakref.WeakValueDictionary()
        self._kept: dict[int, T] = {}
        self._lock = threading.RLock()

    def __call__(self, position: int) -> T:
        """The item of a position."""
        with self._lock:
            found = self._kept.pop(position, None)
            if found is None:
                found = self._alive.get(position)
            if found is None:
                found = self._alive[position] = self._make(position)
            self._kept[position] = found
            if len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
            return found


class LruCache(Generic[K, T]):
    """What was loaded last, by key, up to a total weight; the newest is kept however heavy it is.

    >>> cache = LruCache[str, str](most=2)
    >>> cache.get("a", lambda: "loaded"), cache.get("a", lambda: "loaded again")
    ('loaded', 'loaded')
    """

    def __init__(self, most: int, weigh: Callable[[T], int] = lambda item: 1) -> None:
        self._most = most
        self._weigh = weigh
        self._kept: dict[K, T] = {}

    def get(self, key: K, load: Callable[[], T]) -> T:
        """The item of a key, loaded when it is not kept; what `load` raises is raised, and nothing is kept."""
        item = self._kept.pop(key) if key in self._kept else load()
        self._kept[key] = item  # the last one is the newest
        while len(self._kept) > 1 and sum(map(self._weigh, self._kept.values())) > self._most:
            del self._kept[next(iter(self._kept))]
        return item
