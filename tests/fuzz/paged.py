"""A course: all kinds of pages of the explorer about a damaged table, then what they link to; sometimes a site of them."""

from __future__ import annotations

import html
import random
import re
from collections import Counter, deque
from functools import partial
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from lakelens.explorer.explorer import Explorer, _load_pages
from lakelens.explorer.page import Page
from lakelens.explorer.place import Place
from lakelens.explorer.render import MOST_BYTES, render_page
from lakelens.options import display
from tests.fuzz.courses import Course, Settings
from tests.fuzz.walk import Walk

_HREF = re.compile(r'href="([^"#]*)"')
_MOST_OF_A_KIND = 2
_MOST_PAGES = 60


def run(walk: Walk, root: Path, settings: Settings) -> None:
    """Every page by its name, then those that are linked, a few of each kind; `site` writes them all."""
    import lakelens as ll

    explorer = Explorer(root)
    pending = deque([Place(), *(Place((), "", name) for name in sorted(_load_pages()))])
    seen: Counter[str] = Counter()
    known: set[str] = set()
    with display.using(strict_views=True):  # what goes wrong is raised, not shown as a page
        while pending and seen.total() < settings["most"]:
            place = pending.popleft()
            if place.url in known or seen[place.page] > _MOST_OF_A_KIND:
                continue
            known.add(place.url)
            seen[place.page] += 1
            made = walk.step(f"page({place.url})", partial(_make, explorer, place))
            if made is not None:
                known.add(made[0].url)
                pending.extend(_list_links(*made))
        if settings["site"]:
            # each page is an answer, and the limit of a step is that of one
            site = walk.scratch / "site"
            walk.step("site", lambda: ll.open(root).to_html(site=site, most_pages=_MOST_PAGES))


def _make(explorer: Explorer, place: Place) -> tuple[Place, str]:
    """Where an address leads, and the markup of its page."""
    for _ in range(4):
        found = explorer.answer(place)
        if isinstance(found, Page):
            markup = render_page(found)
            # the server says instead that it is too large: it may not be so by much
            assert len(markup) < 10 * MOST_BYTES, f"a page of {len(markup):,} characters"
            return found.place, markup
        place = found.place
    raise AssertionError(f"{place.url} leads on and on")


def _list_links(place: Place, markup: str) -> list[Place]:
    """The pages that one leads to. Each link is an address of ours."""
    links = (
        urlsplit(urljoin(f"http://x/{place.url}", html.unescape(href))) for href in _HREF.findall(markup)
    )
    ours = (link for link in links if link.netloc == "x" and not link.path.startswith("/-/"))
    return [Place.parse(link.path, link.query) for link in ours]


def choose(rng: random.Random) -> Settings:
    """How many pages, and whether a site is written too."""
    return {"most": rng.choice((20, 40, 80)), "site": rng.random() < 0.2}


COURSE = Course("paged", run, choose)
