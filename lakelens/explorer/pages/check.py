"""Whether the table is sound; nothing is compared until it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakelens.analysis.check.check import Check
from lakelens.errors import Missing
from lakelens.explorer.answers import ask_check, find_check
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import make_listing
from lakelens.explorer.page import Form, Page, Part
from lakelens.explorer.prices import Price, find_price
from lakelens.views.card import cells, named, wording
from lakelens.views.card.model import Card, Cell, Note
from lakelens.views.listing import make_source
from lakelens.views.present import present

#: The lists of a check, each in pages.
_LISTS: dict[str, tuple[str, Callable[[Check], Any]]] = {
    "findings": ("findings", lambda check: check.findings[:]),
    "missing": ("missing files", lambda check: check.missing),
    "orphans": ("files that nobody refers to", lambda check: check.orphans),
    "young": ("young files that nobody refers to", lambda check: check.young),
}


@page("check")
def make_check(visit: Visit) -> Page:
    """What a check looks at and what that costs; once it is asked for, what it found."""
    if visit.place.get("run") != "yes":
        return Page(visit.place, "Check", _offer(visit))
    check = ask_check(visit.table, data=visit.place.get("data") == "yes")
    chosen = visit.place.get("part")
    if not chosen:
        parts: list[Part] = [present(check)]
        if not check.has_rows:
            parts.append(_make_button(visit, find_price(visit.table), data=True))
        return Page(visit.place, "Check", parts)
    if chosen not in _LISTS:
        raise Missing(f"no part {chosen!r} of a check", hint=", ".join(_LISTS))
    words, find = _LISTS[chosen]
    whole = named.page(
        "check", **dict(visit.place.ask(part=None, **{"from": None, "sort": None, "q": None}).asked)
    )
    head = Card("Check", words, body=(Note("The whole check", "mute", target=whole),))
    return Page(visit.place, f"Check, {words}", [head, make_listing(make_source(find(check)), visit.place)])


def _offer(visit: Visit) -> list[Part]:
    """What would be looked at, its price, and what starts it."""
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


def _make_button(visit: Visit, price: Price, *, data: bool) -> Form:
    if data:
        place = visit.place.with_page("check", run="yes", data="yes")
        return Form(place, (), "Check everything", f"reads about {wording.size(price.whole)}")
    place = visit.place.with_page("check", run="yes")
    return Form(place, (), "Check the metadata", f"reads about {wording.size(price.metadata)}, and footers")
