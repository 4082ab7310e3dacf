"""The life of one file: who added it, what happened to it, and who still keeps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakelens.analysis.life.biography import Biography
from lakelens.errors import Missing
from lakelens.explorer.answers import ask
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import make_listing
from lakelens.explorer.page import Field, Form, Page
from lakelens.views.card import named
from lakelens.views.card.model import Card, Note
from lakelens.views.listing import make_source
from lakelens.views.present import present

_LISTS: dict[str, tuple[str, Callable[[Biography], Any]]] = {
    "events": ("all that happened to it", lambda life: life.events),
    "kept_by": ("the states that keep it", lambda life: life.kept_by),
}


@page("biography")
def make_biography(visit: Visit) -> Page:
    """What happened to a file; its events and keepers in pages."""
    path, chosen = visit.place.get("path"), visit.place.get("part")
    if "/" in path:  # anything else may be the name of a file
        path = visit.inside.expand(path)
    if not path:
        field = Field("path", "file", "", "search", "the path or the name of a file")
        words = "What happened to a file: who added it, carried it, deleted from it, removed it, and who still keeps it."
        form = Form(visit.place.with_page("biography"), (field,), "show")
        return Page(visit.place, "Biography", [Card("Biography", words), form])
    life = ask(visit.table, ("biography", path), lambda: visit.table.biography(path))
    if not chosen:
        return Page(visit.place, "Biography", [present(life)])
    if chosen not in _LISTS:
        raise Missing(f"no part {chosen!r} of a biography", hint=", ".join(_LISTS))
    words, find = _LISTS[chosen]
    back = Note("The whole biography", "mute", target=named.page("biography", path=path))
    whole = present(life)
    head = Card("Biography", words, whole.place, body=(back,), target=whole.target)
    listing = make_listing(make_source(find(life)), visit.place)
    return Page(visit.place, f"Biography, {words}", [head, listing])
