"""Where the bytes of the table are, and what would free them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakelens.analysis.space.space import Space
from lakelens.errors import Corrupt, LakeError, Missing
from lakelens.explorer.answers import ask_space
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import make_listing
from lakelens.explorer.page import Field, Form, Page, Part, widen
from lakelens.views.card import named
from lakelens.views.card.model import Card, Note
from lakelens.views.listing import make_source
from lakelens.views.present import present

_LISTS: dict[str, tuple[str, Callable[[Space], Any]]] = {
    "slices": ("every row of the division", lambda space: space.slices),
    "by_ref": ("what each ref keeps", lambda space: space.by_ref),
    "by_snapshot": ("what each state keeps", lambda space: space.by_snapshot),
}


@page("space")
def make_space(visit: Visit) -> Page:
    """Every byte in one row, what expiring frees, and what refs keep; the lists in pages."""
    before, chosen = visit.place.get("before").strip(), visit.place.get("part")
    parts: list[Part] = []
    if visit.table.traits.has_snapshots:
        field = Field("before", "divide history at", before, placeholder="a day or a time, in UTC")
        parts.append(Form(visit.place.with_page("space"), (field,), "show"))
    try:
        space = ask_space(visit.table, before)
    except Corrupt:
        raise
    except LakeError as error:
        if not before:
            raise
        return Page(visit.place, "Space", [*parts, present(error.without_frames())])
    if not chosen:
        return Page(visit.place, "Space", [*widen(present(space)), *parts])
    if chosen not in _LISTS:
        raise Missing(f"no part {chosen!r} of a space", hint=", ".join(_LISTS))
    words, find = _LISTS[chosen]
    back = Note("The whole space", "mute", target=named.page("space", before=before or None))
    head = Card("Space", words, body=(back,))
    return Page(visit.place, f"Space, {words}", [head, make_listing(make_source(find(space)), visit.place)])
