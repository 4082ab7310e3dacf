"""A list as a widget: page by page, sorted by any column, filtered, with the card of the row that is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import traitlets

from lakelens.errors import LakeError
from lakelens.model.collections import Items, Rows
from lakelens.model.fileset import FileSet
from lakelens.options import display
from lakelens.views.card.model import Bar, Cell
from lakelens.views.card.wording import clean, count, format_failure, plural, split_ids
from lakelens.views.listing import Source, make_source
from lakelens.views.render.html import common_style, render_card
from lakelens.widgets.base import StillWidget, read_module, read_style

_LONGEST = 2_000  # characters of a filter
_SIZES = (20, 50, 100, 200)  # rows of a page
_MOST_CHOSEN = 10_000


class ListWidget(StillWidget):
    """A list to look around in: files, snapshots, manifests, entries, the rows of a query.

    `selected` are the positions of the chosen rows in the list that the widget was made of, in the order in which they were
    chosen; `chosen` is a list of those rows. `order` is the column by which the list is sorted, with "-" before it when the
    greatest comes first ("" for the list's own order); `filter` is a condition in SQL for files (as `FileSet.where` has it),
    words that a row has for all others; `start` is the place of the first row shown, `page_size` how many are shown.
    A filter that cannot be understood is said in the widget, and changes nothing.

    >>> import lakelens as ll
    >>> widget = ll.sample("iceberg").files.widget()
    >>> widget.order, widget.filter = "-bytes", "record_count > 1"
    >>> widget.selected = [widget.positions[0]]
    >>> widget.view["said"], widget.chosen[0].record_count
    ('1 to 4 of 4, filtered from 7 files', 10)
    """

    _esm = read_module("list.js")
    _keys = (
        ("↓ ↑", "row by row, and on to the next page"),
        ("PgDn PgUp", "the next page, the one before"),
        ("Home End", "the first row of all, the last"),
        ("Enter", "chooses the row, and shows its card"),
        ("Space", "chooses one more row, or takes it back"),
        ("Escape", "chooses nothing"),
        ("/", "to the filter; ↓ leads back"),
        ("S", "sorts by the next column; R turns the order round"),
        ("↑ at the top", "to the titles: ← → between them, Enter sorts"),
        ("?", "these keys, or no more"),
    )

    selected = traitlets.List(traitlets.Int()).tag(sync=True)
    order = traitlets.Unicode("").tag(sync=True)
    filter = traitlets.Unicode("").tag(sync=True)
    start = traitlets.Int(0).tag(sync=True)
    page_size = traitlets.Int(_SIZES[0]).tag(sync=True)

    def __init__(self, thing: FileSet | Items[Any] | Rows) -> None:
        self._source: Source = make_source(thing)
        self._kept: Sequence[int] = self._source.natural  # what the filter leaves, in the list's own order
        self._sorted: Sequence[int] = self._kept
        self._trouble = {"words": "", "before": "", "wrong": "", "after": ""}
        self._titles: list[dict[str, Any]] = []
        view = self._write_view()
        super().__init__(
            thing, read_style(str(common_style()), "list.css"), view=view, detail=self._describe_choice()
        )
        self.observe(self._follow_filter, "filter")
        self.observe(self._follow_order, "order")
        self.observe(self._follow_page, ["start", "page_size"])
        self.observe(self._follow_choice, "selected")

    @property
    def positions(self) -> Sequence[int]:
        """The positions of all rows that the filter leaves, in the order that is shown."""
        return self._sorted

    @property
    def chosen(self) -> Any:
        """The chosen rows, as a list of the same kind."""
        return self._source.choose(self.selected)

    def select(self, wanted: int | Iterable[int] | None) -> None:
        """Choose rows by their positions; None chooses none. Raises `TraitError` where there is no such row."""
        self.selected = [] if wanted is None else [wanted] if isinstance(wanted, int) else [*wanted]

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> list[int]:
        positions: list[int] = list(dict.fromkeys(proposal["value"]))
        wrong = next((place for place in positions if not 0 <= place < len(self._source)), None)
        if wrong is not None or len(positions) > _MOST_CHOSEN:
            said = f"no row {wrong}" if wrong is not None else f"more than {_MOST_CHOSEN:,} rows"
            raise traitlets.TraitError(f"{said} in {self._thing!r}")
        return positions

    @traitlets.validate("order")
    def _check_order(self, proposal: Any) -> str:
        order: str = proposal["value"]
        known = [title["key"] for title in self._titles if title["name"]]
        if order and order.removeprefix("-") not in known:
            raise traitlets.TraitError(f"no column {clean(order, 60)!r}; there are {', '.join(known)}")
        return order

    @traitlets.validate("filter")
    def _check_filter(self, proposal: Any) -> str:
        wanted: str = proposal["value"]
        if len(wanted) > _LONGEST:
            raise traitlets.TraitError(f"a filter has at most {_LONGEST:,} characters")
        return wanted

    @traitlets.validate("start")
    def _check_start(self, proposal: Any) -> int:
        wanted: int = proposal["value"]
        return max(0, min(wanted, len(self._sorted) - 1))

    @traitlets.validate("page_size")
    def _check_page_size(self, proposal: Any) -> int:
        wanted: int = proposal["value"]
        if not 1 <= wanted <= _SIZES[-1]:
            raise traitlets.TraitError(f"page_size is from 1 to {_SIZES[-1]}, not {wanted}")
        return wanted

    def _follow_filter(self, _: Any) -> None:
        """Filter the rows; a filter that cannot be understood leaves them as they are."""
        self._trouble = dict.fromkeys(self._trouble, "")
        try:
            self._kept = self._source.keep(self.filter)
        except LakeError as error:
            self._trouble = locate(self.filter.strip(), error)
        self._follow_order(None)

    def _follow_order(self, _: Any) -> None:
        self._sorted = self._source.sort(self.order, self._kept)
        self._turn(0)

    def _turn(self, start: int) -> None:
        """Show a page, even where it begins at the place of the one before."""
        if self.start != start:
            self.start = start
        else:
            self._draw(view=self._write_view())

    def _follow_page(self, _: Any) -> None:
        self._draw(view=self._write_view())

    def _follow_choice(self, _: Any) -> None:
        self._draw(detail=self._describe_choice())

    def _write_view(self) -> dict[str, Any]:
        total, found = len(self._source), len(self._sorted)
        noun, one, many = self._source.nouns
        shown = list(self._sorted[self.start : self.start + self.page_size])
        page = self._source.draw(shown)
        if shown:  # where a filter leaves nothing, the titles stay
            self._titles = []
            for name, column in zip(page.names, page.columns, strict=True):
                kind = "number" if column.is_number else "short" if column.is_short else ""
                title = {"key": name, "name": column.name, "kind": kind, "title": column.title}
                self._titles.append(title)
        last = self.start + len(shown)
        said = f"{count(self.start + 1)} to {count(last)} of {count(found)}" if shown else "none"
        rest = (
            f", filtered from {plural(total, one, many)}"
            if found < total
            else f" {one if total == 1 else many}"
        )
        asks, example = self._source.filters
        return {
            "noun": noun,
            "sentence": plural(total, one, many),
            "said": said + (rest if shown or total else ""),
            "trouble": self._trouble,
            "asks": asks,
            "example": example,
            "first": self.start,
            "found": found,
            "sizes": sorted({*_SIZES, self.page_size}),
            "columns": self._titles,
            "rows": [
                {"position": position, "cells": [write_cell(cell) for cell in row]}
                for position, row in zip(shown, page.rows, strict=True)
            ],
        }

    def _describe_choice(self) -> dict[str, Any]:
        """Describe what is said of the chosen rows: how many, the card of the last one, and the code that leads to it."""
        if not self.selected:
            return {"html": "", "code": "", "words": ""}
        last = self.selected[-1]
        _, one, many = self._source.nouns
        choice = {"html": "", "code": self._source.write_code(last)}
        chosen = f"{plural(len(self.selected), one, many)} chosen"
        choice["words"] = chosen if len(self.selected) == 1 else f"{chosen}; below is the last"
        try:
            return choice | {"html": self._source.render(last)}
        except Exception as error:  # the reader sees why, and can go on
            if display.strict_views:
                raise
            return choice | {"words": format_failure(self._thing, error)}

    def _render_still(self) -> str:
        return render_card(self._thing, 1)

    def __repr__(self) -> str:
        return f"<ListWidget of {plural(len(self._source), *self._source.nouns[1:])}>"


def locate(text: str, error: LakeError) -> dict[str, str]:
    """Locate what is wrong with a filter, and the filter in three parts, of which the middle one is wrong."""
    start, end = error.span if error.span and error.sql == text else (0, 0)
    parts = (text[:start], text[start:end], text[end:]) if end > start else ("", "", "")
    before, wrong, after = (clean(part, 300) for part in parts)
    message = error.message.replace(f": {text!r}", "") if wrong else error.message
    hint = f"; {error.hint}" if error.hint else ""
    return {"words": clean(f"{message}{hint}", 600), "before": before, "wrong": wrong, "after": after}


def write_cell(cell: Cell) -> dict[str, Any]:
    """Write a cell as plain data: pieces of [text, whether it is an id, role], the bar, what hovering says."""
    parts = cell.parts or (cell,)
    pieces = [[text, is_id, part.role] for part in parts for text, is_id in split_ids(part.text)]
    written: dict[str, Any] = {"pieces": pieces, "role": cell.role, "title": cell.title}
    if isinstance(cell.bar, Bar):
        written["bar"] = [cell.bar.gone, cell.bar.came, "share" if cell.bar.is_share else ""]
    return written
