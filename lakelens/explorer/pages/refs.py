"""Branches and tags."""

from __future__ import annotations

from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import make_listing
from lakelens.explorer.page import Page, Part
from lakelens.views.card import wording
from lakelens.views.card.model import Card
from lakelens.views.listing import make_source


@page("refs")
def make_refs(visit: Visit) -> Page:
    """Every branch and tag, with the snapshot that it names, in pages."""
    refs = visit.table.refs
    if not len(refs):
        why = "none" if visit.table.traits.has_snapshots else "none: this table keeps no snapshots"
        return Page(visit.place, "Refs", [Card("Refs", why)])
    branches = wording.plural(len(refs.branches), "branch", "branches")
    words = f"{branches}, {wording.plural(len(refs.tags), 'tag')}; as they are now, not as they were at the snapshot"
    parts: list[Part] = [Card("Refs", words), make_listing(make_source(refs), visit.place)]
    return Page(visit.place, "Refs", parts)
