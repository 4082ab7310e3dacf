"""A sequence whose items are made when they are asked for."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")

# how many items are kept though nobody else holds them: their own caches are kept with them
_MOST_KEPT = 1024


class LazySequence(Sequence[T], Generic[T]):
    """Items made from their positions. A slice is lazy too, and nothing is kept.

    >>> squares = LazySequence(range(1_000_000), lambda position: position**2)
    >>> len(squares), squares[-1], list(squares[2:4])
    (1000000, 999998000001, [4, 9])
    """

    def __init__(self, positions: range, make: Callable[[int], T]) -> None:
        self._positions = positions
        self._make = make

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, key: int) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> LazySequence[T]: ...
    def __getitem__(self, key: int | slice) -> T | LazySequence[T]:
        if isinstance(key, slice):
            return LazySequence(self._positions[key], self._make)
        return self._make(self._positions[key])

    def __iter__(self) -> Iterator[T]:
        return map(self._make, self._positions)

    def __repr__(self) -> str:
        return f"<LazySequence of {len(self):,}>"


class Keeper(Generic[T]):
    """Makes each item once while anyone holds it, and keeps those that were asked for last. Threads may share it.

    >>> class Item:
    ...     def __init__(self, position: int) -> None:
    ...         self.position = position
    >>> items = Keeper(Item)
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


__all__ = ["Keeper", "LazySequence"]
