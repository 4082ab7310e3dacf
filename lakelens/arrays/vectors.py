"""What is used of numpy where the core works without it: one-dimensional arrays of numbers and masks, as lists.

Names, arguments and results are numpy's, so that what is written for columns works on these; no more of it is here than the
core needs. A vector of other lengths or types than its neighbour is a mistake of ours, and is raised.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

bool_, int8, int16, int32, int64 = bool, int, int, int, int


class Vector:
    """Numbers, truths or objects in a row.

    >>> numbers = array([3, 1, 2])
    >>> numbers[numbers > 1].tolist(), (~(numbers > 1)).any(), numbers.sum()
    ([3, 2], True, 6)
    """

    __slots__ = ("items",)

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = list(items)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __repr__(self) -> str:
        return f"Vector({self.items})"

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int | slice):
            found = self.items[key]
            return Vector(found) if isinstance(key, slice) else found
        return Vector(self.items[place] for place in _list_places(key, len(self.items)))

    def __setitem__(self, key: Any, value: Any) -> None:
        places = [key] if isinstance(key, int) else _list_places(key, len(self.items))
        given = value if isinstance(value, Vector) else [value] * len(places)
        for place, item in zip(places, given, strict=True):
            self.items[place] = item

    def _combine(self, function: Callable[[Any, Any], Any], other: Any) -> Vector:
        if isinstance(other, Vector):
            return Vector(map(function, self.items, _check_length(other, len(self.items))))
        return Vector(function(item, other) for item in self.items)

    def __and__(self, other: Any) -> Vector:
        return self._combine(operator.and_, other)

    def __or__(self, other: Any) -> Vector:
        return self._combine(operator.or_, other)

    __ror__, __rand__ = __or__, __and__

    def __add__(self, other: Any) -> Vector:
        return self._combine(operator.add, other)

    def __sub__(self, other: Any) -> Vector:
        return self._combine(operator.sub, other)

    def __mul__(self, other: Any) -> Vector:
        return self._combine(operator.mul, other)

    def __eq__(self, other: object) -> Vector:  # type: ignore[override]
        return self._combine(operator.eq, other)

    def __ne__(self, other: object) -> Vector:  # type: ignore[override]
        return self._combine(operator.ne, other)

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Any) -> Vector:
        return self._combine(operator.lt, other)

    def __le__(self, other: Any) -> Vector:
        return self._combine(operator.le, other)

    def __gt__(self, other: Any) -> Vector:
        return self._combine(operator.gt, other)

    def __ge__(self, other: Any) -> Vector:
        return self._combine(operator.ge, other)

    def __invert__(self) -> Vector:
        return Vector(not item for item in self.items)

    def __neg__(self) -> Vector:
        return Vector(-item for item in self.items)

    def __abs__(self) -> Vector:
        return Vector(map(abs, self.items))

    def any(self) -> bool:
        """Whether one holds."""
        return any(self.items)

    def all(self) -> bool:
        """Whether all hold."""
        return all(self.items)

    def sum(self) -> Any:
        """The sum, of a mask how many hold."""
        return sum(self.items)

    def tolist(self) -> list[Any]:
        """The items."""
        return list(self.items)

    def copy(self) -> Vector:
        """The same items."""
        return Vector(self.items)

    def astype(self, kind: Callable[[Any], Any]) -> Vector:
        """The items as another type."""
        return Vector(map(kind, self.items))


def _list_places(key: Any, count: int) -> Sequence[int]:
    """List the places that a mask or numbers choose."""
    items = key.items if isinstance(key, Vector) else list(key)
    if items and isinstance(items[0], bool):
        _check_length(items, count)
        return [place for place, chosen in enumerate(items) if chosen]
    return items


def _check_length(items: Any, count: int) -> Any:
    if len(items) != count:
        raise ValueError(f"{len(items)} items beside {count}")
    return items


def array(items: Iterable[Any], dtype: Any = None) -> Vector:
    """See `numpy.array`."""
    return Vector(items)


asarray = fromiter = array


def full(count: int, value: Any, dtype: Any = None) -> Vector:
    """See `numpy.full`."""
    return Vector([value] * count)


def zeros(count: int, dtype: Any = float) -> Vector:
    """See `numpy.zeros`."""
    return Vector([dtype(0)] * count)


def ones(count: int) -> Vector:
    """See `numpy.ones`."""
    return Vector([1.0] * count)


def arange(count: int) -> Vector:
    """See `numpy.arange`."""
    return Vector(range(count))


def flatnonzero(mask: Iterable[Any]) -> Vector:
    """See `numpy.flatnonzero`."""
    return Vector(place for place, item in enumerate(mask) if item)


def unique(items: Iterable[Any]) -> Vector:
    """See `numpy.unique`."""
    return Vector(sorted(set(items)))


def sort(items: Iterable[Any]) -> Vector:
    """See `numpy.sort`."""
    return Vector(sorted(items))


def isin(items: Iterable[Any], wanted: Iterable[Any]) -> Vector:
    """See `numpy.isin`."""
    known = set(wanted)
    return Vector(item in known for item in items)


def where(mask: Iterable[Any], yes: Any, no: Any) -> Vector:
    """See `numpy.where`."""
    chosen = list(mask)
    left, right = (side.items if isinstance(side, Vector) else [side] * len(chosen) for side in (yes, no))
    return Vector(one if is_so else other for is_so, one, other in zip(chosen, left, right, strict=True))


def argsort(items: Vector, kind: str = "stable") -> Vector:
    """See `numpy.argsort`."""
    return Vector(sorted(range(len(items)), key=items.items.__getitem__))


def diff(items: Iterable[Any]) -> Vector:
    """See `numpy.diff`."""
    return Vector(later - earlier for earlier, later in pairwise(items))


def split(items: Vector, places: Vector) -> list[Vector]:
    """See `numpy.split`."""
    return [items[start:end] for start, end in pairwise([0, *places, len(items)])]


def searchsorted(ordered: Vector, items: Iterable[Any]) -> Vector:
    """See `numpy.searchsorted`."""
    return Vector(bisect_left(ordered.items, item) for item in items)
