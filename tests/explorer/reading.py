"""Pages of a table as a reader has them: asked for by name, followed by their links."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import lakelens as ll
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.inside import Inside
from lakelens.explorer.page import Link, Listing, Page, Part, Section, Split
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_page
from lakelens.model.bytes_view import BytesView
from lakelens.model.table import Table
from lakelens.views.card.model import Card, Cell, Grid

MOST_BYTES = 300_000
_HREF = re.compile(r'href="([^"]*)"')
_TAG = re.compile(r"<[^>]*>")


class Reader:
    """A reader of one table, which is the root."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.explorer = Explorer(self.path)
        for found in self.explorer.catalog:  # opened once, as an explorer that is served keeps it
            object.__setattr__(found, "opener", cache(found.opener))

    @classmethod
    def of_sample(cls, name: str) -> Reader:
        """Of a sample, in a directory of its own."""
        return cls(ll.sample(name).location)

    @cached_property
    def table(self) -> Table:
        """The table, opened beside the explorer."""
        table: Table = ll.open(self.path)
        return table

    @property
    def pinned(self) -> str:
        """The current snapshot in addresses."""
        current = self.table.current
        return "-" if current is None or current.id is None else str(current.id)

    def place(self, page: str, **asked: Any) -> Place:
        """The address of a page at the current snapshot."""
        return Place((), self.pinned, page, ()).ask(**asked)

    def ask(self, place: Place) -> tuple[Page, str]:
        """A page and its markup, which is never too large."""
        answer = self.explorer.answer(place)
        assert isinstance(answer, Page), place
        markup = render_page(answer)
        assert len(markup.encode()) <= MOST_BYTES, (place, len(markup))
        return answer, markup

    def get(self, page: str, **asked: Any) -> tuple[Page, str]:
        """A page that is there."""
        answer, markup = self.ask(self.place(page, **asked))
        assert answer.status == 200, (answer.title, read_text(markup)[:400])
        return answer, markup

    def follow(self, place: Place, markup: str) -> Iterator[Place]:
        """The places that a page leads to; paths in them are whole, where addresses begin below the table's directory."""
        inside = Inside("", self.table)
        for address in _HREF.findall(markup.partition("<body")[2]):
            parts = urlsplit(urljoin(f"http://x/{place.url}", html.unescape(address)))
            assert parts.netloc == "x", address
            found = Place.parse(parts.path, parts.query)
            yield found.ask(
                **{n: inside.expand(held) for n, held in found.asked if n in ("path", "manifest")}
            )


def read_text(markup: str) -> str:
    """What a page says."""
    text = html.unescape(_TAG.sub("", markup.partition("<body")[2]))
    return re.sub(r"[\u200b\s]+", " ", text)


def list_parts(parts: Any) -> Iterator[Part]:
    """Every part of a page, those beside others too."""
    for part in parts:
        yield part
        if isinstance(part, Split):
            yield from list_parts((*part.main, *part.side))
        elif isinstance(part, Section):
            yield from list_parts(part.parts)


def list_listings(page: Page) -> list[Listing]:
    """The lists of a page."""
    return [part for part in list_parts(page.parts) if isinstance(part, Listing)]


def find_grid(page: Page, column: str) -> Grid:
    """The table of a page that has a column."""
    for part in list_parts(page.parts):
        card = part.card if isinstance(part, Listing) else part
        for body in card.body if isinstance(card, Card) else ():
            if isinstance(body, Grid) and column in [one.name for one in body.columns]:
                return body
    raise AssertionError(f"no column {column}")


def read_column(page: Page, column: str) -> list[Cell]:
    """The cells of a column."""
    grid = find_grid(page, column)
    at = [one.name for one in grid.columns].index(column)
    return [row[at] for row in grid.rows]


def find_bytes(page: Page) -> BytesView:
    """The bytes that a page shows."""
    (view,) = [part for part in page.parts if isinstance(part, BytesView)]
    return view


def list_links(page: Page) -> list[Link]:
    """The links beside the lists of a page."""
    return [link for listing in list_listings(page) for link in listing.pager]
