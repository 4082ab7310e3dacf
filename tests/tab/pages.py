"""Pages of tables as `lakelens serve` sends them where the core alone is installed, to compare with those of a tab.

    python -m tests.tab.pages ROOT…

Prints one JSON object: for each root its pages by address, from the overview on what links lead to, at most 60. No table
is listed again meanwhile, however long it takes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from math import inf

from lakelens.explorer import shelf
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.page import Redirect
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_fitting
from tests.support.light import take_away

_MOST = 60


def walk_pages(root: str) -> dict[str, str]:
    """Render pages, in the order in which links lead to them; what is known of a table on one depends on those before."""
    explorer, pages, waiting = Explorer(root), {}, ["@"]
    seen = set(waiting)
    while waiting and len(pages) < _MOST:
        address = waiting.pop(0).removesuffix("@")
        found = explorer.follow(Place.parse(*address.partition("?")[::2]))
        if isinstance(found, Redirect):
            found = explorer.follow(found.place)
        if isinstance(found, Redirect):
            continue
        links: list[str] = []

        def link(place: Place, links: list[str] = links) -> str:
            links.append(place.url)
            return place.url or "."

        pages[address] = render_fitting(found, link=link)[0]
        waiting += [url for url in dict.fromkeys(links) if url.startswith("@") and url not in seen]
        seen.update(waiting)
    return pages


def main(roots: Sequence[str]) -> None:
    """Print the pages of some tables."""
    take_away()
    shelf.LISTED_FOR = inf
    print(json.dumps({root: walk_pages(root) for root in roots}))


if __name__ == "__main__":
    main(sys.argv[1:])
