"""`Explorer`: the pages of a warehouse or of one table, each made when it is asked for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pkgutil import iter_modules
from threading import Lock
from typing import Any, TypeAlias, TypeVar

from lakelens.answers.question import load_questions
from lakelens.errors import Ambiguous, LakeError, Missing, list_nearest
from lakelens.explorer.failures import make_failure, make_gone
from lakelens.explorer.frame import add_frame, list_crumbs
from lakelens.explorer.inside import Inside
from lakelens.explorer.locating import OPEN, locate
from lakelens.explorer.page import Page, Redirect
from lakelens.explorer.place import NO_SNAPSHOT, Place
from lakelens.explorer.shelf import OpenTable, Outlines, SearchIndex, SearchIndexes, Shelf
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.model.warehouse.catalog import Catalog, FoundTable, FoundView
from lakelens.options import display
from lakelens.views.present import present
from lakelens.warehouse import find_tables

T = TypeVar("T")
#: Seconds after which the warehouse is walked again.
LOOKED_FOR = 10.0
_MOST_LEADS = 3
_MOST_REMEMBERED = (
    10_000  # tables of which it is known what was their newest snapshot when they were first asked for
)


class Visit:
    """One request for a page of a table: the explorer, the place, the open table, and the snapshot that it is pinned to."""

    def __init__(
        self, explorer: Explorer, place: Place, opened: OpenTable, snapshot: Snapshot | None
    ) -> None:
        self.explorer, self.place, self.table, self.snapshot = explorer, place, opened.table, snapshot
        self.inside = Inside(explorer.catalog.root, opened.table)
        #: What opening the table read, whatever was read since.
        self.opening_reads = opened.reads
        self._opened = opened

    def keep(self, key: object, make: Callable[[], T]) -> T:
        """What is made once for as long as the table stays as it is, whichever page of it asks: see `OpenTable.keep`."""
        return self._opened.keep(key, make)

    @property
    def pages(self) -> frozenset[str]:
        """The names of all pages that there are of a table."""
        return frozenset(_load_pages())


PageMaker: TypeAlias = Callable[[Visit], Page]
_MAKERS: dict[str, PageMaker] = {}


def page(name: str) -> Callable[[PageMaker], PageMaker]:
    """Registers what makes the page of a table that is called `name` in addresses."""

    def register(make: PageMaker) -> PageMaker:
        _MAKERS[name] = make
        return make

    return register


class Explorer:
    """The pages of what is below a root: a warehouse, or a table.

    Nothing outside of the root is read. Tables stay open, as many as are looked at; each is opened again when it has
    another newest state. Any number of threads may ask: those that ask for different tables never wait for each other.
    """

    def __init__(
        self, root: str | os.PathLike[str], *, storage_options: Mapping[str, Any] | None = None
    ) -> None:
        self.root = os.fspath(root)
        self.outlines, self.indexes = Outlines(), SearchIndexes()
        self._options = storage_options
        self._lock = Lock()
        self._known: tuple[Catalog, dict[str, FoundTable]] | None = None
        self._looked = self._took = 0.0
        self._shelf = Shelf()
        self._first: dict[str, str] = {}

    @property
    def catalog(self) -> Catalog:
        """The tables that were found; what is below the root is walked again after some seconds."""
        return self._look()[0]

    def _look(self, *, again: bool = False) -> tuple[Catalog, dict[str, FoundTable]]:
        """Say what is below the root, and by path. One thread walks it again; the others take what was found before."""
        known, now = self._known, time.monotonic()
        if known is not None:
            # what is asked for and not there is looked for at once, but no walk begins right after another
            patience = self._took if again else LOOKED_FOR
            if now - self._looked <= patience or not self._lock.acquire(blocking=again):
                return known
        else:
            self._lock.acquire()
        try:
            if self._known is None or self._looked < now:
                with display.using(progress=False):  # who waits for a page does not look at this terminal
                    catalog = find_tables(self.root, storage_options=self._options, enclosed=True)
                self._known = catalog, {table.path.rstrip("/"): table for table in catalog}
                self._looked = time.monotonic()
                self._took = self._looked - now
            return self._known
        finally:
            self._lock.release()

    def follow(self, place: Place) -> Page | Redirect:
        """Give what `answer` does; never where it leads to by the same address.

        >>> import lakelens as ll
        >>> explorer = Explorer(ll.sample("hive").location)
        >>> type(explorer.answer(Place())).__name__, type(explorer.follow(Place())).__name__
        ('Redirect', 'Redirect')
        """
        found = self.answer(place)
        for _ in range(_MOST_LEADS):  # a table that is the root itself has the address of all tables
            if isinstance(found, Redirect) and found.place.url == place.url:
                found = self.answer(found.place)
        return found

    def answer(self, place: Place) -> Page | Redirect:
        """Give the page of a place, or where it leads to today; of what cannot be shown a page that says why."""
        try:
            return self._answer(place)
        except LakeError as error:
            return make_failure(place, error)
        except Exception as error:  # a reader never sees a traceback
            if display.strict_views:
                raise
            return make_failure(place, LakeError(f"this page failed: {type(error).__name__}: {error}"))

    def _answer(self, place: Place) -> Page | Redirect:
        if place.table is None and place.page == "help":
            from lakelens.explorer.keys import describe_keys

            return describe_keys(place)
        if place.table is None and place.page == OPEN:
            return Redirect(locate(self, place.get("path")))
        is_search = place.table is None and place.page == "search"
        if place.page and not place.snapshot and not is_search:
            place = self._complete(place)
        if place.table is None:
            from lakelens.explorer.pages.warehouse import make_search, make_warehouse

            if is_search:

                def read(is_deep: bool) -> SearchIndex:
                    return self.indexes.read(self.outlines.read(self.catalog), self.name, is_deep=is_deep)

                made: Page | Redirect = make_search(place, len(self.catalog), read)
            else:
                made = make_warehouse(self, place)
            if isinstance(made, Redirect):
                return made
            return replace(add_frame(made, None, frozenset(_load_pages())), inside=Inside(self.catalog.root))
        view = self.find_view(place.table)
        if view is not None:
            return self._show_view(place, view)
        found = self.find(place.table)
        opened = self._shelf.open(found)
        try:
            return self._show(place, opened)
        except LakeError:
            # it may have been rewritten since it was opened: if so, what was to be read is no longer there
            if opened.is_fresh():
                raise
            self._shelf.drop(found)
            return self._show(place, self._shelf.open(found))

    def _show_view(self, place: Place, found: FoundView) -> Page | Redirect:
        """Show the page of a view: it has no rows, no snapshots and no other page, and is opened each time."""
        here = Place(place.table)
        if place != here:
            return Redirect(here)
        view = replace(present(found.open()), target=None)
        crumbs = list_crumbs(here)
        return Page(here, view.noun, [view], crumbs, inside=Inside(self.catalog.root))

    def _complete(self, place: Place) -> Place:
        """What is meant by an address as one types it: `TABLE/files` without a snapshot, `TABLE` without a slash."""
        names = place.table or ()
        is_known = self._locate(names).rstrip("/") in self._look()[1]
        return replace(place, table=names) if is_known and place.page in _load_pages() else place.as_table

    def _show(self, place: Place, opened: OpenTable) -> Page | Redirect:
        table = opened.table
        newest = NO_SNAPSHOT if table.current is None or table.current.id is None else str(table.current.id)
        if not place.snapshot:
            return Redirect(replace(place, snapshot=newest))
        path = opened.found.path
        if path not in self._first and len(self._first) < _MOST_REMEMBERED:
            self._first[path] = newest
        snapshot = find_snapshot(table, place.snapshot)
        if snapshot is None and place.snapshot != NO_SNAPSHOT:
            return make_gone(place, table, newest)
        if snapshot is not None and "/" not in place.snapshot and snapshot.id is not None:
            exact = str(snapshot.id)  # the address of a branch or a tag: what it names today
            if exact != place.snapshot:
                return Redirect(replace(place, snapshot=exact))
        make = _load_pages().get(place.page)
        if make is None:
            names = sorted(filter(None, _MAKERS))
            raise Missing(f"no page {place.page!r}", hint=list_nearest(place.page, names))
        visit = Visit(self, place, opened, snapshot)
        return replace(add_frame(make(visit), visit), inside=visit.inside)

    def open(self, names: tuple[str, ...]) -> Table:
        """The table at a path below the root, open and fresh. Raises `Missing`, or `LakeError` where it does not open."""
        return self._shelf.open(self.find(names)).table

    def find_first(self, place: Place) -> str:
        """Find the newest snapshot of a table when it was first asked for; empty where that is not known."""
        return self._first.get(self._locate(place.table or ()), "")

    def _locate(self, names: tuple[str, ...]) -> str:
        root = self._look()[0].root.rstrip("/")
        return "/".join((root, *names)) if names else root or "/"

    def find(self, names: tuple[str, ...]) -> FoundTable:
        """Find the table at a path below the root, also one that is new there. Raises `Missing`."""
        wanted = self._locate(names)
        for again in (False, True):
            found = self._look(again=again)[1].get(wanted.rstrip("/"))
            if found is not None:
                return found
        known = ["/".join(self.name(table)) for table in self.catalog]
        raise Missing(
            "no such table below the root",
            path="/".join(names) or self.root,
            hint=list_nearest("/".join(names), known),
        )

    def find_view(self, names: tuple[str, ...]) -> FoundView | None:
        """Find the view at a path below the root; None where there is none."""
        return next((view for view in self.catalog.views if self.name(view) == names), None)

    def name(self, found: FoundTable | FoundView) -> tuple[str, ...]:
        """Name the path of a table or view below the root, as names."""
        return tuple(filter(None, found.path[len(self.catalog.root.rstrip("/")) :].split("/")))


def find_snapshot(table: Table, wanted: str) -> Snapshot | None:
    """Find the snapshot of an address: what `Table.snapshot` takes, or `BRANCH/ID` where branches number their own.

    Raises `Ambiguous` for digits that begin several ids.
    """
    if wanted == NO_SNAPSHOT:
        return table.current
    branch, _, number = wanted.rpartition("/")
    if branch in table.separate_branches:
        return next(
            (snapshot for snapshot in table.separate_branches[branch] if str(snapshot.id) == number), None
        )
    try:
        return table.snapshot(wanted)
    except Ambiguous:
        raise
    except Missing:
        return None


@cache
def _load_pages() -> Mapping[str, PageMaker]:
    """Load what makes each page: every file of `pages` registers its own, and each question has one."""
    from lakelens.explorer import pages
    from lakelens.explorer.questions import make_page

    for module in iter_modules(pages.__path__):
        import_module(f"{pages.__name__}.{module.name}")
    for question in load_questions().values():
        if question.page is not None:
            _MAKERS.setdefault(question.name, partial(make_page, question, question.page))
    return _MAKERS
