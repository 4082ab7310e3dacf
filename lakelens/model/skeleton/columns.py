"""The columns of a table by their paths, and what replaces their values: for formats whose values have the model's types.

A walk over the documents of a table gives every value away twice: first all are noted, then each is replaced.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from lakelens.model.skeleton.ordinals import NUMBERS, TEXTS, find_limits, from_ordinal, to_ordinal
from lakelens.model.skeleton.redaction import RedactedColumn, Redaction
from lakelens.model.skeleton.scales import NumberScale, TextScale

if TYPE_CHECKING:
    from lakelens.model.schema import DataType

Path = tuple[str, ...]
_MOST_STEPS = 1_000
_ORDERED = NUMBERS | TEXTS


class _Stepped:
    """A scale whose new values are not what readers take for another one: such a value goes on to the next that is not."""

    keeps_rest = False

    def __init__(
        self, scale: NumberScale | TextScale, kind: DataType, misleads: Callable[[Any, DataType], bool]
    ) -> None:
        self._scale, self._kind, self._misleads = scale, kind, misleads

    @property
    def is_kept(self) -> bool:
        """See `NumberScale.is_kept`."""
        return self._scale.is_kept

    def map(self, ordinal: Any) -> Any:
        """See `NumberScale.map`."""
        new: Any = self._scale.map(ordinal)
        if self._scale.is_kept or not new:
            return new
        for _ in range(_MOST_STEPS):
            if not self._misleads(from_ordinal(new, self._kind), self._kind):
                break
            new += "." if isinstance(new, str) else 1
        return new


class ValueBook:
    """Every column by its path, and its scale. `misleads(value, type)` says that readers take a value for another one.

    >>> from lakelens.model.schema import DataType
    >>> book, whole = ValueBook(Redaction(seed=1)), DataType("long", "int64")
    >>> book.learn(("id",), whole)
    >>> [book.give(("id",), number) for number in (3, 1, 2)]
    [3, 1, 2]
    >>> book.settle()
    >>> one, two, three = (book.give(("id",), number) for number in (1, 2, 3))
    >>> one < two < three and three != 3
    True
    """

    def __init__(
        self, redaction: Redaction, misleads: Callable[[Any, DataType], bool] = lambda value, kind: False
    ) -> None:
        self.redaction = redaction
        self.is_noting = True
        self._misleads = misleads
        self._types: dict[Path, DataType] = {}
        self._narrow: dict[Path, tuple[int, int]] = {}  # what values of an older type have room for
        self._names: dict[Path, set[str]] = {}
        self._scales: dict[Path, _Stepped | None] = {}
        self._own: list[tuple[Path, NumberScale | TextScale]] = []

    def learn(self, path: Path, kind: DataType, names: Iterable[str] = ()) -> None:
        """Learn a column, by all the names that it has; its newest type comes first."""
        self._types.setdefault(path, kind)
        if (limits := find_limits(kind)) is not None and kind.logical.startswith("int"):
            self._narrow[path] = min(limits, self._narrow.get(path, limits), key=lambda ends: ends[1])
        self._names.setdefault(path, set(path)).update(names)

    def find_type(self, path: Path) -> DataType | None:
        """Find the type of a column; None where no schema has it."""
        return self._types.get(path)

    def find_scale(self, path: Path) -> _Stepped | None:
        """Find what replaces the values of a column; None where they stay, or have no order."""
        if path not in self._scales:
            kind, made = self._types.get(path), None
            if kind is not None and kind.logical in _ORDERED and not self._keeps(path):
                limits = self._narrow[path] if kind.logical.startswith("int") else find_limits(kind)
                scale = TextScale() if limits is None else NumberScale(*limits)
                self._own.append((path, scale))
                made = _Stepped(scale, kind, self._misleads)
            self._scales[path] = made
        return self._scales[path]

    def _keeps(self, path: Path) -> bool:
        return self.redaction.keeps_values(self._names.get(path, path))

    def give(self, path: Path, value: Any) -> Any:
        """Give what stands for a value; while values are noted the value itself, of one without an order None.

        A truth value stays, since two values have no other order, and so do NaN and infinities.
        """
        scale, kind = self.find_scale(path), self._types.get(path)
        if kind is None or kind.logical not in _ORDERED:
            return value if isinstance(value, bool) or (kind is not None and self._keeps(path)) else None
        if scale is None or (isinstance(value, float) and not math.isfinite(value)):
            return value
        ordinal: Any = to_ordinal(value, kind)
        if self.is_noting:
            scale._scale.add(ordinal)
            return value
        return from_ordinal(scale.map(ordinal), kind)

    def settle(self) -> None:
        """All values are known: from now on each is replaced."""
        self.is_noting = False
        for path, scale in self._own:
            scale.settle(self.redaction.random)
            if scale.is_kept:
                name = ".".join(map(self.redaction.names.refer, path))
                self.redaction.note(f"the values of {name} stay: its type has no room for others in order")

    def publish(self, name: str, path: Path, kind: DataType, new: str) -> None:
        """Say what a column is called, so that a predicate can be translated."""
        scale: Any = self.find_scale(path)
        self.redaction.columns.setdefault(name, RedactedColumn(new, kind, scale))
