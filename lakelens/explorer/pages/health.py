"""Whether the table is well at the snapshot."""

from __future__ import annotations

from lakelens.explorer.answers import ask_health
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.page import Page
from lakelens.views.present import present


@page("health")
def make_health(visit: Visit) -> Page:
    """Every figure beside its limit, and the calls that would help."""
    return Page(visit.place, "Health", [present(ask_health(visit.table, visit.snapshot))])
