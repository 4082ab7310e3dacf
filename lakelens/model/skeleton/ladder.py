"""Keys in order, and numbers for them in the same order.

    keys            a     c     f          n known keys
    steps        0  1  2  3  4  5  6       2n + 1: one for each key, one before, after and between them
    numbers      |..|..|..|..|..|..|       spread over all that there is room for

A key that is not known, as a literal of a predicate, gets the step between its neighbours, so that it compares with all
known ones as before.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any


class Ladder:
    """A growing set of keys, and where each stands once all are known.

    >>> ladder = Ladder()
    >>> for key in ("f", "a", "c"):
    ...     ladder.add(key)
    >>> [ladder.find(key) for key in ("a", "b", "c", "zz")], ladder.steps
    ([1, 2, 3, 6], 7)
    """

    __slots__ = ("_found", "_keys")

    def __init__(self) -> None:
        self._found: set[Any] = set()
        self._keys: list[Any] | None = None

    def add(self, key: Any) -> None:
        """One more key."""
        self._found.add(key)
        self._keys = None

    @property
    def keys(self) -> list[Any]:
        """The known keys in order."""
        if self._keys is None:
            self._keys = sorted(self._found)
        return self._keys

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return 2 * len(self._found) + 1

    def find(self, key: Any) -> int:
        """The step of a key: odd for one that is known, even for one between two."""
        keys = self.keys
        place = bisect_left(keys, key)
        return 2 * place + (place < len(keys) and keys[place] == key)


def place_step(step: int, steps: int, size: int) -> int:
    """The number of a step among `size` numbers; of two steps the higher has the higher number where there is room.

    >>> [place_step(step, 7, 100) for step in range(7)]
    [0, 14, 28, 42, 57, 71, 85]
    """
    return step * size // steps
