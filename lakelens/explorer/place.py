"""Addresses: a table, the snapshot that it is pinned to, a page and what is asked of it, and the URL of all that.

The names of the directories from the root to the table come first, then `@` and the snapshot, then the page; what is asked
of the page is the query: `shop.db/orders/@81/files?from=50`. Links are relative, so that they are right below any base.

>>> here = Place(("shop.db", "orders"), "81", "files", (("from", "50"),))
>>> here.url
'shop.db/orders/@81/files?from=50'
>>> Place.parse(*here.url.split("?")) == here
True
>>> here.with_page("file", path="day=1/a b.parquet").link_from(here)
'file?path=day%3D1/a%20b.parquet'
>>> Place().link_from(here), Place(("web", "clicks"), "7").link_from(here)
('../../../', '../../../web/clicks/@7/')
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, quote, unquote

from lakelens.errors import Missing

#: What is pinned of a table that keeps no snapshots, or has none yet.
NO_SNAPSHOT = "-"
#: What is asked of the warehouse: the directory below the root whose tables alone are listed.
BELOW = "below"
_PIN, _ESCAPE = "@", "~"
_ENDS = frozenset("?#")
_SPELLED = {"~": "~~", "?": "~q", "#": "~h"}
_LETTERS = {spelled: letter for letter, spelled in _SPELLED.items()}
# names of files and columns that are not in UTF-8 are read with such halves
_NAMES = "surrogatepass"
_LONGEST = 16_384  # characters of an address
_MOST_ASKED = 40


@dataclass(frozen=True, slots=True)
class Place:
    """An address: of the warehouse without a `table`, of its newest state without a `snapshot`, of its overview without a
    `page`; the table that is the root itself has the empty tuple.

    >>> Place.parse("/shop.db/orders/files").as_table.url, Place.parse("/orders").as_table.url
    ('shop.db/orders/files/', 'orders/')
    """

    table: tuple[str, ...] | None = None
    snapshot: str = ""
    page: str = ""
    asked: tuple[tuple[str, str], ...] = ()

    def get(self, name: str, default: str = "") -> str:
        """Say what is asked under a name, the last one where there are several."""
        return dict(self.asked).get(name, default)

    def get_number(self, name: str, default: int = 0) -> int:
        """Give a count that is asked under a name. Raises `Missing` for one that is no count."""
        text = self.get(name)
        if not text:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise Missing(f"{name}={text!r} is no number", path=self.url)
        return int(text)

    def ask(self, **asked: object) -> Place:
        """This page with other things asked; None or nothing leaves one out, the others stay.

        >>> Place(("t",), "1", "files", (("q", "x"), ("from", "50"))).ask(sort="rows", **{"from": None}).url
        't/@1/files?q=x&sort=rows'
        """
        merged = {**dict(self.asked), **asked}
        return replace(self, asked=tuple((n, str(v)) for n, v in merged.items() if v is not None and v != ""))

    def with_page(self, page: str, **asked: object) -> Place:
        """Another page of the same table at the same snapshot."""
        return replace(self, page=page, asked=()).ask(**asked)

    @property
    def steps(self) -> tuple[str, ...]:
        """The parts of the path, each encoded; the last one is empty where the path ends with a slash."""
        if self.table is None:
            return (_quote(self.page),)
        shown = [_quote(_mark(name), "=,") for name in self.table]
        if not self.snapshot:
            return (*shown, _quote(self.page))
        return (*shown, _PIN + _quote(self.snapshot), _quote(self.page))

    @property
    def as_table(self) -> Place:
        """What is asked for where the last part of the path is the name of a table too, without the slash behind it."""
        names = (*(self.table or ()), *_unmark_all([self.page], self.page))
        return Place(names, "", "", self.asked)

    @property
    def query(self) -> str:
        """What is asked, encoded."""
        return "&".join(f"{_quote(name)}={_quote(held, '/,:')}" for name, held in self.asked)

    @property
    def url(self) -> str:
        """The path from the root, with the query."""
        return "/".join(self.steps) + (f"?{self.query}" if self.asked else "")

    def link_from(self, here: Place) -> str:
        """The relative link from another page to this one."""
        own, other = self.steps, here.steps
        shared = 0
        while shared < min(len(own), len(other)) - 1 and own[shared] == other[shared]:
            shared += 1
        path = "../" * (len(other) - 1 - shared) + "/".join(own[shared:])
        return (path or "./") + (f"?{self.query}" if self.asked else "")

    @staticmethod
    def parse(path: str, query: str = "") -> Place:
        """The address of a URL's path, still encoded, and query. Raises `Missing` for what is no address of an explorer."""
        if len(path) + len(query) > _LONGEST:
            raise Missing("an address longer than 16,384 characters")
        try:
            steps = [unquote(step, errors=_NAMES) for step in path.removeprefix("/").split("/")]
            asked = tuple(parse_qsl(query, max_num_fields=_MOST_ASKED, errors=_NAMES))
        except ValueError:
            raise Missing("no address: not in UTF-8, or too much is asked", path=path) from None
        pins = [at for at, step in enumerate(steps) if step.startswith(_PIN)]
        if not pins:
            if len(steps) == 1:
                return Place(None, "", steps[0], asked)
            return Place(_unmark_all(steps[:-1], path), "", steps[-1], asked)
        if len(pins) > 1 or len(steps) - pins[0] != 2 or len(steps[pins[0]]) < 2:
            raise Missing("no such page", path=path)
        return Place(_unmark_all(steps[: pins[0]], path), steps[pins[0]][1:], steps[-1], asked)


def _quote(text: str, safe: str = "") -> str:
    """Text as a part of an address; also what no text should hold, half of a pair of UTF-16.

    >>> _quote("a b/\\ud800"), Place.parse("t/@1/file", "path=%ED%A0%80").get("path") == "\\ud800"
    ('a%20b%2F%ED%A0%80', True)
    """
    return quote(text, safe=safe, errors=_NAMES)


def _mark(name: str) -> str:
    """The name of a directory as it stands in a path: never like what is pinned, nor with what ends a path.

    A proxy may decode a path and pass it on as it is then (jupyter-server-proxy does): `?` and `#` are spelled in letters.

    >>> _mark("@81"), _mark("a#1?"), _unmark(_mark("~@a#1?~q")), _unmark("plain~q")
    ('~@81', '~a~h1~q', '~@a#1?~q', 'plain~q')
    """
    if not name.startswith((_PIN, _ESCAPE)) and not _ENDS.intersection(name):
        return name
    return _ESCAPE + "".join(_SPELLED.get(letter, letter) for letter in name)


def _unmark(step: str) -> str:
    """The name of a directory from a path."""
    if not step.startswith(_ESCAPE):
        return step
    return re.sub(r"~[~qh]", lambda found: _LETTERS[found[0]], step.removeprefix(_ESCAPE))


def _unmark_all(steps: list[str], path: str) -> tuple[str, ...]:
    names = tuple(_unmark(step) for step in steps)
    if any(name in ("", ".", "..") or "/" in name or "\0" in name for name in names):
        raise Missing("no such table", path=path)
    return names
