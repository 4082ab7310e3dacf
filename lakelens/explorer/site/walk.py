"""`table.to_html(site=DIR)`: the pages of one table as a folder of files, for a share or a ticket; no server, no script.

The walk begins at the overview and goes by what pages link to, the nearest first, so that a bound leaves out what is
furthest away. A list is written in its own order: what sorts or filters one asks a server, as forms do, and is no link
here. Every file has a plain name: the name of its page, and the digest of its address.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from heapq import heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lakelens.display import Named
from lakelens.errors import LakeError
from lakelens.explorer.listing import FILTER, ONLY, SORT, WITH
from lakelens.explorer.locating import pin
from lakelens.explorer.page import Exports, Form, Link, Page, Redirect
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_page
from lakelens.explorer.site.single import TableExplorer
from lakelens.progress import Progress
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Fact, Note, Target
from lakelens.views.render.html import draw

if TYPE_CHECKING:
    from lakelens.model.table import Table

#: At most that many pages, and that many bytes of them.
MOST_PAGES, MOST_BYTES = 400, 40_000_000
INDEX, ASSETS = "index.html", "assets"
# what is asked that only a server answers: another order of a list, a part of one, a question of the reader's own
_PARTS = frozenset((*ONLY, WITH))
_ASKED = _PARTS | {FILTER, SORT, "run", "data", "map"}
_NOT_THERE = 404
_BYTES = "bytes"
# what a reader asks: without a question there is nothing on these pages, and without a server no answer
_QUESTIONS = frozenset(("explain", "row", "check", "sql", "dry_run", "report"))
# pages that say the same of the table, or of one stored object, whichever snapshot they are asked at
_OF_NO_SNAPSHOT = frozenset(
    (
        "help",
        "bytes",
        "metadata",
        "manifest_list",
        "statistics",
        "entry",
        "biography",
        "refs",
        "space",
        "findings",
        "report",
    )
)
_MOST_SNAPSHOTS = 100  # of which an object is looked for at any of them
# anchors are never in one another, and every value of an attribute is escaped
_NOWHERE = re.compile(r'<a\b[^>]*\shref=""[^>]*>(.*?)</a>', re.DOTALL)
_NOTE_BYTES = 2_000  # what the first page says besides, at most


@dataclass(frozen=True, repr=False)
class Site(Named):
    """The pages of a table as files; a cell shows where they are and how many, and not the pages."""

    pages: Mapping[str, str]
    size_bytes: int
    left_out: int
    words: str
    path: str = ""

    def __repr__(self) -> str:
        held = f"{wording.plural(len(self.pages), 'page')}, {wording.size(self.size_bytes)}"
        return f"<Site of {held}: {Path(self.path, INDEX)}>" if self.path else f"<Site of {held}>"

    def _repr_html_(self) -> str:
        facts = (
            Fact("pages", cells.number(len(self.pages)), f"{wording.count(self.left_out)} left out"),
            Fact("bytes", cells.size(self.size_bytes)),
        )
        card = Card("Site", "a table's pages as files", facts=facts, body=(Note(self.words),))
        if not self.path:
            return draw(card, 1)
        index = Path(self.path, INDEX)
        # a notebook takes a path that is relative to it; a browser that shows a file opens any
        is_near = index.is_relative_to(Path.cwd())
        address = quote(index.relative_to(Path.cwd()).as_posix()) if is_near else index.as_uri()
        card = replace(card, place=wording.clean(index), target=Target("page", address))
        return draw(card, 1, link=lambda target: target.key, types=True)


class _Walk:
    """A walk over the pages of a table."""

    def __init__(self, table: Table, most_pages: int, most_bytes: int) -> None:
        self.explorer = TableExplorer(table)
        self.most_pages, self.most_bytes = most_pages, most_bytes
        self.start = pin(table)
        self._is_short = table.snapshot_count <= _MOST_SNAPSHOTS
        self.pages: dict[Place, Page] = {}
        self.markup: dict[Place, str] = {}
        self.links: dict[Place, set[Place]] = {}
        self.aliases: dict[Place, Place] = {}
        self.size = 0
        self.left_out = 0

    def walk(self, progress: Progress) -> None:
        """Make every page that there is room for."""
        pending, seen = [(0, 0, self.start)], {self.start}
        while pending:
            distance, _, place = heappop(pending)
            page = self._make(place)
            if page is None:
                to = self.aliases.get(place)
                if to is not None and to not in seen:
                    seen.add(to)
                    heappush(pending, (distance, len(seen), to))
                continue
            links: set[Place] = set()
            markup = _write(page, _Recorder(links, self.start, self.unpin))
            size = len(markup.encode())
            if len(self.pages) >= self.most_pages or (
                self.pages and self.size + size > self.most_bytes - _NOTE_BYTES
            ):
                self.left_out = len(pending) + 1
                break
            progress.advance(1, size)
            self.size += size
            self.pages[place], self.markup[place], self.links[place] = page, markup, links
            for link in sorted(links - seen, key=lambda one: (one.snapshot != place.snapshot, one.url)):
                seen.add(link)
                far = 2 if link.page == _BYTES else 1  # bytes are many, and large
                heappush(pending, (distance + far, len(seen), link))

    def _make(self, place: Place) -> Page | None:
        """Make a page as it is without a server; None where nothing is left of it, or it cannot be shown."""
        made = self.explorer.answer(place)
        if isinstance(made, Redirect):  # of a tag to the snapshot that it names
            self.aliases[place] = made.place
            return None
        if made.status == _NOT_THERE and place != self.start:
            return None
        # without what asks a server: forms, keys, and news of what came since
        parts = tuple(_without_forms(part) for part in made.parts if not isinstance(part, Form))
        return replace(made, parts=parts, news=None, keys=()) if parts else None

    def unpin(self, place: Place) -> Place:
        """The place at the newest snapshot, where the page says the same at any: it is one file then."""
        if place.table != self.start.table or place.page not in _OF_NO_SNAPSHOT:
            return place
        return replace(place, snapshot=self.start.snapshot) if self._is_short or not place.asked else place

    def finish(self) -> dict[str, str]:
        """The files: links lead to pages that are among them, and are plain text elsewhere."""
        files = {place: name_file(place, self.start) for place in self.pages}
        names = files | {place: files[to] for place, to in self.aliases.items() if to in files}
        written: dict[str, str] = {}
        for place, page in self.pages.items():
            text = self.markup[place]
            if place == self.start or not self.links[place] <= files.keys():
                if place == self.start:
                    note = Card("", "", body=(Note(self.describe()),))
                    page = replace(page, parts=(*page.parts, note))
                text = _write(page, lambda to: names.get(self.unpin(to), ""))
            written[files[place]] = text
        return written

    def describe(self) -> str:
        """Describe what the folder holds and what it does not, in words."""
        said = [
            f"This folder holds {wording.plural(len(self.pages), 'page', 'pages')} of this table, as it was read once."
        ]
        if self.left_out:
            more = wording.plural(self.left_out, "more page", "more pages")
            most = f"{wording.count(self.most_pages)} pages and {wording.count(self.most_bytes)} bytes"
            said.append(f"At least {more}, further away, would not fit: a folder has at most {most}.")
        said.append(
            "Questions, filters and other orders of a list need lakelens serve: what leads there is text here."
        )
        return " ".join(said)


class _Recorder:
    """Gives each place the name of its file, and remembers those that may be files."""

    def __init__(self, links: set[Place], start: Place, unpin: Callable[[Place], Place]) -> None:
        self._links, self._start, self._unpin = links, start, unpin

    def __call__(self, place: Place) -> str:
        if place.table is None or not place.snapshot or _ASKED & {name for name, _ in place.asked}:
            return ""
        if place.page in _QUESTIONS or (place.page == _BYTES and place.get("start")):
            return ""  # a part of bytes is on the page of the whole
        place = self._unpin(place)
        self._links.add(place)
        return name_file(place, self._start)


def make_site(table: Table, *, most_pages: int = MOST_PAGES, most_bytes: int = MOST_BYTES) -> Site:
    """Make the pages of a table, for files of one folder.

    >>> import lakelens as ll
    >>> site = make_site(ll.sample("iceberg"), most_pages=1)
    >>> list(site.pages), site.size_bytes == len(site.pages["index.html"].encode())
    (['index.html'], True)
    """
    if most_pages < 1 or most_bytes < 1:
        raise LakeError("a site has at least one page", hint="most_pages and most_bytes of at least 1")
    walk = _Walk(table, most_pages, most_bytes)
    with Progress("pages") as progress:
        walk.walk(progress)
    pages = walk.finish()
    size = sum(len(text.encode()) for text in pages.values())
    return Site(pages, size, walk.left_out, walk.describe())


def name_file(place: Place, start: Place | None) -> str:
    """Give the name of the file of a place: of letters, digits and one dot, no two of which differ by case alone.

    >>> name_file(Place((), "81", "files", (("from", "50"),)), None)
    'files-....html'
    """
    if place == start:
        return INDEX
    kind = "".join(letter for letter in place.page if letter.isascii() and letter.islower()) or "overview"
    return f"{kind}-{hashlib.sha256(place.url.encode()).hexdigest()[:24]}.html"


def _without_forms(part: Any) -> Any:
    """Leave out what only a server answers: forms, lists as files, and links to a part of a list."""
    changes: dict[str, Any] = {}
    for field in fields(part) if _is_ours(part) else ():
        value = getattr(part, field.name)
        if isinstance(value, Form | Exports):
            changes[field.name] = None
        elif isinstance(value, tuple) and any(map(_is_ours, value)):
            changes[field.name] = tuple(
                _without_forms(item)
                for item in value
                if not isinstance(item, Form)
                and not (isinstance(item, Link) and item.place and _PARTS & dict(item.place.asked).keys())
            )
    return replace(part, **changes) if changes else part


def _write(page: Page, link: Callable[[Place], str]) -> str:
    """Write the markup of a page; what leads nowhere here is the text that it is, and is left out of the navigation."""
    navigation = tuple(one for one in page.navigation if one.place is not None and link(one.place))
    return _NOWHERE.sub(r"\1", render_page(replace(page, navigation=navigation), link=link, assets=ASSETS))


def _is_ours(thing: Any) -> bool:
    """Whether something is of the view-model of pages, and not of cards, whose links are asked for as they are drawn."""
    return is_dataclass(thing) and not isinstance(thing, type) and type(thing).__module__ == Page.__module__
