"""A built site as a reader's browser takes it: its pages, what each leads to, and what can be led to in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

#: The attributes that lead somewhere, by tag; what is fetched by itself, and what a reader follows.
_FETCHED = {
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "script": ("src",),
    "iframe": ("src",),
    "link": ("href",),
}
_FOLLOWED = {"a": ("href",), "area": ("href",), "form": ("action",)}
_IN_SHEET = re.compile(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)")
TAB, LAB = "tab/", "lab/"


class _Leads(HTMLParser):
    """What a page leads to, what it fetches, and the anchors that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.followed: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Take what a tag leads to."""
        known = {name: held or "" for name, held in attributes}
        self.ids += [known[name] for name in ("id", "name") if name in known and (name == "id" or tag == "a")]
        for kinds, kept in ((_FETCHED, self.fetched), (_FOLLOWED, self.followed)):
            kept += [known[name].split(" ")[0] for name in kinds.get(tag, ()) if known.get(name)]
        if "style" in known:
            self.fetched += _list_in_sheet(known["style"])


def _list_in_sheet(sheet: str) -> list[str]:
    return [first or second for first, second in _IN_SHEET.findall(sheet)]


@dataclass
class Built:
    """A site in a folder; what is wrong with a link is said in a line."""

    folder: Path

    @cached_property
    def pages(self) -> dict[str, _Leads]:
        """The pages by their paths; those of the tab and of notebooks, which others build, are not among them."""
        found = {}
        for path in sorted(self.folder.rglob("*.html")):
            named = path.relative_to(self.folder).as_posix()
            if not named.startswith((TAB, LAB)):
                leads = _Leads()
                leads.feed(path.read_text("utf-8"))
                found[named] = leads
        return found

    def list_tab_links(self) -> set[str]:
        """List the fragments with which pages lead into the tab."""
        found = set()
        for page, leads in self.pages.items():
            for target in leads.followed:
                path, fragment = urldefrag(urljoin(f"/{page}", target))
                if path == f"/{TAB}":
                    found.add(fragment)
        return found

    def list_notebook_links(self) -> set[str]:
        """List the notebooks that pages offer to run."""
        targets = (
            urlsplit(urljoin(f"/{page}", target))
            for page, leads in self.pages.items()
            for target in leads.followed
        )
        return {
            target.query.removeprefix("path=")
            for target in targets
            if target.path == f"/{LAB}notebooks/index.html"
        }

    def find_faults(self) -> Iterator[str]:
        """Find every link, anchor and picture that leads nowhere, and what is fetched from another origin."""
        for page, leads in self.pages.items():
            for target in leads.fetched:
                if (said := self._find_fault(page, target, fetched=True)) is not None:
                    yield f"{page} fetches {target}: {said}"
            for target in leads.followed:
                if (said := self._find_fault(page, target, fetched=False)) is not None:
                    yield f"{page} leads to {target}: {said}"
        for path in sorted(self.folder.rglob("*.css")):
            sheet = path.relative_to(self.folder).as_posix()
            for target in _list_in_sheet(path.read_text("utf-8")):
                if (
                    not sheet.startswith((TAB, LAB))
                    and (said := self._find_fault(sheet, target, fetched=True)) is not None
                ):
                    yield f"{sheet} fetches {target}: {said}"

    def _find_fault(self, page: str, target: str, *, fetched: bool) -> str | None:
        parts = urlsplit(target)
        if parts.scheme == "data" and fetched:
            return None
        if parts.scheme or parts.netloc:
            if fetched:
                return "another origin"
            is_formed = parts.scheme == "https" and "." in parts.netloc and " " not in target
            return None if is_formed else "no address of the web"
        if parts.path.startswith("/"):
            return "the site may be below any path"
        path, fragment = urldefrag(urljoin(f"/{page}", target))
        named = unquote(urlsplit(path).path).removeprefix("/")
        if named.startswith((TAB, LAB)):
            return None  # made by themselves; where links into them lead is asked of what answers there
        if named == "" or named.endswith("/"):
            named += "index.html"
        if not (self.folder / named).is_file():
            return "no such file"
        if (
            fragment
            and named in self.pages
            and not fetched
            and unquote(fragment) not in self.pages[named].ids
        ):
            return "no such anchor"
        return None
