"""A site's folder: made beside its place and moved there when it is whole; what is not ours is never written over."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from heapq import heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lakelens.display import Named
from lakelens.errors import LakeError
from lakelens.explorer.assets import read_assets
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
from lakelens.whole import writing

if TYPE_CHECKING:
    from lakelens.model.table import Table

# `table.to_html(site=DIR)`: the pages of one table as a folder of files, for a share or a ticket; no server, no script.
#
# The walk begins at the overview and goes by what pages link to, the nearest first, so that a bound leaves out what is
# furthest away. A list is written in its own order: what sorts or filters one asks a server, as forms do, and is no link
# here. Every file has a plain name: the name of its page, and the digest of its address.

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


#: What says that a folder is an earlier site, and which files are its own.
MARKER = "lakelens-site.json"


def write_site(
    table: Table,
    target: str | os.PathLike[str],
    *,
    most_pages: int = MOST_PAGES,
    most_bytes: int = MOST_BYTES,
) -> Site:
    """Write the pages of a table into a folder, in place of an earlier site there.

    Raises `LakeError` for a folder that holds anything else, for one inside of the table, and where it cannot be written:
    nothing of it is there then.

    >>> import lakelens as ll
    >>> with tempfile.TemporaryDirectory() as place:
    ...     site = write_site(ll.sample("iceberg"), Path(place, "site"), most_pages=1)
    ...     sorted(path.name for path in Path(place, "site").iterdir())
    ['assets', 'index.html', 'lakelens-site.json']
    """
    place = Path(target).resolve()
    _refuse_foreign(place)
    if "://" not in table.location and place.is_relative_to(Path(table.location).resolve()):
        raise LakeError("is inside of the table, in which nothing is written", path=str(place))
    site = make_site(table, most_pages=most_pages, most_bytes=most_bytes)
    with writing(place), _beside(place) as made:
        _write_all(site, made)
        _refuse_foreign(place)  # once more: it took a while
        _move(made, place)
    return replace(site, path=str(place))


def _write_all(site: Site, folder: Path) -> None:
    written = {name: text.encode() for name, text in site.pages.items()}
    written.update((f"{ASSETS}/{name}", held) for name, held in read_assets().items())
    marker = {"is": "the pages of a table, written by lakelens", "begin": INDEX, "files": sorted(written)}
    written[MARKER] = json.dumps(marker, indent=1).encode()
    folder.joinpath(ASSETS).mkdir()
    for name, held in written.items():
        folder.joinpath(name).write_bytes(held)


@contextmanager
def _beside(place: Path) -> Iterator[Path]:
    """An empty folder on the same file system, which is gone afterwards unless it was moved."""
    place.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".lakelens-site-", dir=place.parent))
    try:
        made = work / "new"
        made.mkdir()
        yield made
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _move(made: Path, place: Path) -> None:
    old = made.with_name("old")
    is_there = place.exists()
    if is_there:
        place.rename(old)
    try:
        made.rename(place)
    except OSError:
        if is_there:
            old.rename(place)
        raise


def _refuse_foreign(place: Path) -> None:
    """Raises `LakeError` for what is neither free, nor empty, nor an earlier site and nothing else."""
    if not os.path.lexists(place):
        return
    if not place.is_dir():
        raise LakeError("is a file, and a site is a folder", path=str(place))
    known = _read_marker(place)
    for folder, folders, names in os.walk(place):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in (*names, *links):
            inner = Path(folder, name).relative_to(place).as_posix()
            if inner not in known:
                raise LakeError(
                    f"holds {inner!r}, which is no file of an earlier site",
                    path=str(place),
                    hint="a new or empty folder, or one that a site was written into before",
                )


def _read_marker(place: Path) -> frozenset[str]:
    """Read the files of an earlier site; none where the folder is no site."""
    try:
        found = json.loads(place.joinpath(MARKER).read_text("utf-8"))
        names = found["files"]
    except (OSError, ValueError, LookupError, TypeError):
        return frozenset()
    return frozenset((MARKER, *map(str, names))) if isinstance(names, list) else frozenset()
