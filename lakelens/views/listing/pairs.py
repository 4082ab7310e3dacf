"""Names with values for a reader who pages: the keys of a document, the items of a list in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lakelens.caching import cached_property
from lakelens.model.collections import Items
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Cell, Column, Grid
from lakelens.views.listing.sources import Source
from lakelens.views.render.html import draw


class PairSource(Source):
    """Pairs of a name and a value, in two columns of these names; `show` makes the cell of a pair's value.

    >>> source = PairSource("document", [("id", 7), ("name", "a b")])
    >>> source.filter("A"), source.sort("key", [0, 1], descending=True), source.draw([0]).rows[0][1].text
    ([1], [1, 0], '7')
    """

    def __init__(
        self,
        subject: Any,
        pairs: Sequence[tuple[str, Any]],
        names: tuple[str, str] = ("key", "value"),
        nouns: tuple[str, str] = ("key", "keys"),
        show: Callable[[str, Any], Cell] | None = None,
    ) -> None:
        self.subject = subject
        self.nouns = (nouns[1].capitalize(), *nouns)
        self._pairs, self._names = pairs, names
        self._show = show or (lambda name, value: cells.json_item(value))

    def __len__(self) -> int:
        return len(self._pairs)

    def list_keys(self, name: str) -> Sequence[Any]:
        """See `Source.list_keys`."""
        at = self._names.index(name) if name in self._names else None
        if at is None:
            raise KeyError(name)
        return [pair[at] for pair in self._pairs]

    def filter(self, text: str) -> Sequence[int]:
        """See `Source.filter`."""
        words = text.casefold().split()
        return [place for place, held in enumerate(self._words) if all(word in held for word in words)]

    @cached_property
    def _words(self) -> list[str]:
        return [f"{name} {self._show(name, value).text}".casefold() for name, value in self._pairs]

    def choose(self, positions: Sequence[int]) -> Items[tuple[str, Any]]:
        """See `Source.choose`."""
        return Items([self._pairs[position] for position in positions])

    def render(self, position: int) -> str:
        """See `Source.render`."""
        name, value = self._pairs[position]
        return draw(Card(wording.clean(name, 80), "", body=(cells.document(value),)), 1, style=False)

    def write_code(self, position: int) -> str:
        """See `Source.write_code`."""
        return f"[{self._pairs[position][0]!r}]"

    def _grid(self, positions: Sequence[int]) -> Grid:
        rows = [self._pairs[position] for position in positions]
        made = tuple((cells.code(name), self._show(name, value)) for name, value in rows)
        grid = Grid(tuple(Column(name) for name in self._names), made, is_open=True)
        return replace(grid, about=())
