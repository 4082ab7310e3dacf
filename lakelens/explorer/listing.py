"""A page of a long list: filtered, sorted, fifty rows at a time; never the whole list.

What a list was sorted and filtered by is kept, for the few lists that were asked for last: whoever turns the page waits for
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TypeAlias
from urllib.parse import quote

from lakelens.errors import LakeError, Missing, NotInstalled
from lakelens.explorer.page import EXPORTS, Exports, Field, Form, Link, Listing, Part
from lakelens.explorer.place import Place
from lakelens.installed import has_arrays
from lakelens.options import display
from lakelens.views.card import wording
from lakelens.views.card.model import Card, Cell, Column, Grid, Note, Order, Target
from lakelens.views.listing import Drawn, Source

#: Rows on a page of a list.
SIZE = 50
#: What is asked of every list: the row that the page begins with, the column that it is sorted by, and a filter.
FROM, SORT, FILTER = "from", "sort", "q"
#: What is asked of a list too: the form in which all of it is wanted.
AS = "as"
#: In what form the report of a fault leaves its page.
ZIP = "zip"
#: What a list may be asked to show only, by the value of a column: its name in addresses is the column's.
ONLY = ("content", "partition", "partitions", "what")
#: What a list of files is asked: only those `with=deletes`.
WITH = "with"
#: Changes a page of a list: gives cells of some rows what they lead to, adds columns.
Adorn: TypeAlias = Callable[[Drawn, Sequence[int]], Drawn]
_MOST_LISTS, _MOST_ORDERS = 8, 8
_MOST_TEXT = 60_000  # characters of the cells of a page, beyond which long ones are cut
_CUT = 120  # characters of such a cell
_LONGEST_CHOICE, _SHORT_CHOICE = 200, 40  # characters of a value that is chosen by, and of it in a link
_LONGEST_LINK, _MOST_LINKS = (
    4_000,
    80_000,
)  # characters of what a cell names, and of all that those of a page name


_Only: TypeAlias = tuple[tuple[str, str], ...]
_Asked: TypeAlias = tuple[str, str, _Only]


class _Orders:
    """One list and what it was sorted and filtered by lately."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lock = Lock()
        self._kept: dict[_Asked, tuple[Sequence[int], tuple[str, ...]]] = {}

    def find(self, text: str, sort: str, only: _Only = ()) -> tuple[Sequence[int], tuple[str, ...]]:
        """Find the positions in order, and what was asked and cannot be done; `only` are columns with what they must say."""
        with self._lock:
            found = self._kept.pop((text, sort, only), None) or self._order(text, sort, only)
            self._kept[text, sort, only] = found
            while len(self._kept) > _MOST_ORDERS:
                del self._kept[next(iter(self._kept))]
            return found

    def _order(self, text: str, sort: str, only: _Only) -> tuple[Sequence[int], tuple[str, ...]]:
        wrong: list[str] = []
        try:
            positions = self.source.keep(text)
        except LakeError as error:
            positions = self.source.natural
            what = "needs more than is here" if isinstance(error, NotInstalled) else "is not understood"
            wrong.append(f"the filter {what}: {wording.clean(error)}")
        for name, wanted in only:
            try:
                keys = self.source.list_keys(name)
            except KeyError:
                wrong.append(f"there is no column {name!r} to choose by")
                continue
            # what a cell says: in a content an underscore is a space
            shown = [None if key is None else wording.clean(key) for key in keys]
            positions = [
                at for at in positions if (held := shown[at]) and wanted in (held, held.replace("_", " "))
            ]
        try:
            positions = self.source.sort(sort, positions)
        except KeyError:
            wrong.append(f"there is no column {wording.clean(sort.removeprefix('-'), 60)!r} to sort by")
        return positions, tuple(wrong)


class _Lists:
    """The lists that were asked for last, by the object that each is made from."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[int, _Orders] = {}

    def find(self, source: Source) -> _Orders:
        """Find what is known of the list of a source."""
        key = id(source.subject)
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None or found.source.subject is not source.subject:
                found = _Orders(source)
            self._kept[key] = found
            while len(self._kept) > _MOST_LISTS:
                del self._kept[next(iter(self._kept))]
            return found


_LISTS = _Lists()


def make_listing(
    source: Source,
    place: Place,
    *,
    size: int = SIZE,
    chosen: int | None = None,
    adorn: Adorn | None = None,
    chooses: bool = False,
    more: tuple[Link, ...] = (),
) -> Listing:
    """Make the page of a list that a place asks for.

    `?q=` filters, `?sort=NAME` sorts by a column, largest first with `-NAME`, `?from=50` begins with the 51st row. A filter,
    a column or a row that there is not is said, and the list is shown without. `chosen` is the position of an item that is
    marked, `adorn` changes what is drawn of the rows of a page. Of a list that `chooses`, contents and partitions of rows
    are links to those rows alone (`?partition=day%3D1`); `more` are further links beside the pager.
    """
    orders = _LISTS.find(source)
    source = orders.source
    asked = place.get(SORT)
    only = tuple((name, place.get(name)) for name in ONLY if chooses and place.get(name))
    ordered, wrong = orders.find(place.get(FILTER).strip(), asked, only)
    begin, doubt = _read_start(place, len(ordered))
    start = begin // size * size
    shown = ordered[start : start + size]
    sortable, drawn = _draw(source, shown, adorn)
    columns = tuple(
        _add_sort(column, place, name, asked, from_largest=column.is_number or name in source.largest_first)
        if name in sortable
        else column
        for name, column in zip(drawn.names, drawn.columns, strict=True)
    )
    if chooses:
        _link_choices(drawn, place)
    mark = shown.index(chosen) if chosen in shown else None
    grid = Grid(columns, tuple(tuple(row) for row in drawn.rows), chosen=mark)
    notes = tuple(Note(text, "warn") for text in (*wrong, *doubt))
    return Listing(
        Card("", "", body=(*notes, *((grid,) if shown else ()))),
        _word(start, len(shown), len(ordered), source),
        (
            *make_pager(place, start, len(ordered), size),
            *(
                Link(
                    f"{'anything' if name == 'what' else 'every ' + name.rstrip('s')}, not only {held[:_SHORT_CHOICE]}",
                    place.ask(**{name: None, FROM: None}),
                )
                for name, held in only
            ),
            *more,
        ),
        _make_form(source, place, len(ordered)) if len(source) > 1 else None,
        lead_out(place) if shown else None,
        partial(source.to_arrow, ordered),
    )


def _link_choices(drawn: Drawn, place: Place) -> None:
    """Let the cells by which a list may be chosen lead to the rows that say the same."""
    for name in ONLY:
        if name not in drawn.names or place.get(name):
            continue
        at = drawn.names.index(name)
        for row in drawn.rows:
            cell = row[at]
            if (
                cell.target is None
                and cell.text
                and (cell.role != "mute" or name == "partitions")
                and len(cell.text) <= _LONGEST_CHOICE
            ):
                target = Target("page", place.page, place.ask(**{name: cell.text, FROM: None}).asked)
                row[at] = replace(cell, target=target, title=cell.title or f"only {cell.text}")


def lead_out(place: Place) -> Exports | None:
    """Lead to all of a list as files, where there is what writes them."""
    if not has_arrays():
        return None
    whole = place.ask(**{FROM: None})
    return Exports(tuple(Link(name, whole.ask(**{AS: form})) for form, name in EXPORTS.items()))


def lead_on(card: Card, links: Sequence[Link], words: str = "") -> tuple[Part, ...]:
    """A card whose title is followed by links to what belongs to it, and then by all else that it says."""
    title = Card(card.noun, card.sentence, card.place, card.alert, role=card.role)
    rest = replace(card, noun="", sentence="", place="", alert="")
    return title, Listing(rest, words, tuple(links))


def link_rows(name: str, find: Callable[[int], Target | None]) -> Adorn:
    """Gives the cells of a column what they lead to, by the position of the row; what a cell names stays."""

    def adorn(drawn: Drawn, positions: Sequence[int]) -> Drawn:
        if name not in drawn.names:
            return drawn
        at = drawn.names.index(name)
        for row, position in zip(drawn.rows, positions, strict=True):
            if row[at].target is None:
                row[at] = replace(row[at], target=find(position))
        return drawn

    return adorn


def _draw(source: Source, shown: Sequence[int], adorn: Adorn | None) -> tuple[set[str], Drawn]:
    """Draw the columns that a list is sorted by, and a page of it; of texts without end only their beginnings."""
    sortable, drawn = _draw_whole(source, shown, adorn)
    if sum(len(cell.text) + len(cell.title) for row in drawn.rows for cell in row) > _MOST_TEXT:
        with display.using(max_text=min(display.max_text, _CUT)):
            sortable, drawn = _draw_whole(source, shown, adorn)
    links = sum(_measure_link(cell) for row in drawn.rows for cell in row)
    longest = _LONGEST_LINK if links <= _MOST_LINKS else _MOST_LINKS // (len(shown) * len(drawn.names))
    rows = [
        [replace(cell, target=None) if _measure_link(cell) > longest else cell for cell in row]
        for row in drawn.rows
    ]
    return sortable, drawn._replace(rows=rows)


def _measure_link(cell: Cell) -> int:
    """Measure the characters of the address of what a cell names."""
    if cell.target is None:
        return 0
    return sum(len(quote(text)) for text in (cell.target.key, *(held for _, held in cell.target.asked)))


def _draw_whole(source: Source, shown: Sequence[int], adorn: Adorn | None) -> tuple[set[str], Drawn]:
    drawn = source.draw(shown)
    sortable = {name for name, column in zip(drawn.names, drawn.columns, strict=True) if column.name}
    return sortable, drawn if adorn is None else adorn(drawn, shown)


def _read_start(place: Place, count: int) -> tuple[int, tuple[str, ...]]:
    """Read the row that a page begins with, and what is wrong with what was asked."""
    try:
        asked = place.get_number(FROM)
    except Missing:
        return 0, (f"{FROM}={wording.clean(place.get(FROM), 60)} is no number: this is the first page",)
    if asked and asked >= count:
        last = max(count - 1, 0)
        return last, (f"there is no row {wording.count(asked)}: this is the last page",)
    return asked, ()


def _add_sort(column: Column, place: Place, name: str, asked: str, *, from_largest: bool) -> Column:
    is_sorted, descending = name == asked.removeprefix("-"), asked.startswith("-")
    # numbers are looked at from the largest, names from the first; a second click turns the order round
    wanted = f"-{name}" if (not descending if is_sorted else from_largest) else name
    leads = place.ask(**{SORT: wanted, FROM: None})
    order: Order = ("descending" if descending else "ascending") if is_sorted else ""
    return replace(column, target=Target("page", place.page, leads.asked), order=order)


def make_pager(place: Place, start: int, count: int, size: int, name: str = FROM) -> tuple[Link, ...]:
    """Links to the other pages of a list, of which `name` asks for the first row.

    >>> here = Place(("t",), "7", "manifest", (("from", "50"),))
    >>> [link.text for link in make_pager(here, 50, 128, 50)]
    ['first 50', 'next 28']
    """
    links = []
    if start:
        links.append(Link(f"first {size}", place.ask(**{name: None})))
    if start > size:
        links.append(Link(f"previous {size}", place.ask(**{name: start - size})))
    after = min(size, count - start - size)
    if after > 0:
        links.append(Link(f"next {after}", place.ask(**{name: start + size})))
        if start + 2 * size < count:
            links.append(Link("last", place.ask(**{name: (count - 1) // size * size})))
    return tuple(links)


def _make_form(source: Source, place: Place, count: int) -> Form:
    _, example = source.filters
    small = f"{wording.count(count)} of {wording.count(len(source))}"
    field = Field(FILTER, "filter", place.get(FILTER), "search", example.removeprefix("filter: "))
    return Form(place.ask(**{FROM: None}), (field,), small=small)


def _word(start: int, shown: int, count: int, source: Source) -> str:
    if not count:
        return f"no {source.nouns[1]}"
    whole = wording.plural(count, *source.nouns[1:])
    if shown == count:
        return whole
    return f"{wording.count(start)} to {wording.count(start + shown - 1)} of {whole}"
