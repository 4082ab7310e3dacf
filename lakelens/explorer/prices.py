"""What a check of a table would read, by one listing of its directory; no file is opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakelens.explorer.answers import ask, find_check
from lakelens.explorer.page import Form, Part
from lakelens.model.table import Table
from lakelens.views.card import cells, named, wording
from lakelens.views.card.model import Card, Cell, Note

if TYPE_CHECKING:
    from lakelens.analysis.check.check import Check
    from lakelens.explorer.explorer import Visit

# what the role of a file that holds rows, or deletes them, ends with
_ROWS = frozenset(("data", "delete", "vectors"))


@dataclass(frozen=True, slots=True)
class Price:
    """The files and bytes of the metadata and of what holds rows; `is_cut` where there are more than were listed."""

    metadata_files: int
    metadata: int
    data_files: int
    data: int
    is_cut: bool = False

    @property
    def whole(self) -> int:
        """The bytes of everything."""
        return self.metadata + self.data

    @property
    def metadata_words(self) -> str:
        """The documents, lists and manifests, with their bytes."""
        return self._format(self.metadata_files, self.metadata)

    @property
    def data_words(self) -> str:
        """The data and delete files, with their bytes."""
        return self._format(self.data_files, self.data)

    @property
    def footer_words(self) -> str:
        """How many files have a footer to read."""
        return f"the ends of {self._least}{wording.plural(min(self.data_files, 1_000), 'file')}"

    @property
    def _least(self) -> str:
        return "at least " if self.is_cut else ""

    def _format(self, files: int, size: int) -> str:
        return f"{self._least}{wording.plural(files, 'file')}, {wording.size(size)}"


def find_price(table: Table) -> Price:
    """Find what a check would read.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> price = find_price(table)
    >>> price.whole == sum(file.size_bytes for file in table.tree(references=False).files)
    True
    """
    return ask(table, "price", lambda: _measure(table))


def _measure(table: Table) -> Price:
    tree = table.tree(references=False)
    rows = [f.size_bytes for f in tree.files if f.role.removesuffix(" file").rpartition(" ")[2] in _ROWS]
    size = sum(file.size_bytes for file in tree.files)
    return Price(len(tree.files) - len(rows), size - sum(rows), len(rows), sum(rows), tree.truncated)


def offer_check(visit: Visit) -> list[Part]:
    """Offer a check: what would be looked at, its price, and what starts it."""
    price = find_price(visit.table)
    rows = (
        (
            Cell("totals of snapshots, counts and ranges of manifests, refs, hints"),
            Cell(price.metadata_words),
        ),
        (Cell("that every file is there and as long as recorded"), Cell("one listing")),
        (Cell("footers of data files, of more than a thousand a sample"), Cell(price.footer_words)),
        (Cell("the rows: bounds, counts of values and nulls, keys, order"), Cell(price.data_words)),
    )
    grid = cells.grid(("what is compared with what is there", "what that reads"), rows)
    known = find_check(visit.table)
    notes: list[Note] = []
    if known is not None:
        target = named.page("check", run="yes", data="yes" if known.has_rows else None)
        notes = [Note(f"The check that was run here says: {known.verdict}", "mute", target=target)]
    sentence = (
        "not run. Every figure that the metadata records, compared with what it is about; nothing is written"
    )
    card = Card("Check", sentence, body=(grid, *notes))
    return [card, _make_button(visit, price, data=False), _make_button(visit, price, data=True)]


def offer_rows(visit: Visit, check: Check) -> list[Part]:
    """Offer to read the rows too, below a check that did not."""
    return [] if check.has_rows else [_make_button(visit, find_price(visit.table), data=True)]


def _make_button(visit: Visit, price: Price, *, data: bool) -> Form:
    if data:
        place = visit.place.with_page("check", run="yes", data="yes")
        return Form(place, (), "Check everything", f"reads about {wording.size(price.whole)}")
    place = visit.place.with_page("check", run="yes")
    return Form(place, (), "Check the metadata", f"reads about {wording.size(price.metadata)}, and footers")
