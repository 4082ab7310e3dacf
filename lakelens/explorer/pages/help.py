"""The keys of the explorer, and the life of every file, reached from a table."""

from __future__ import annotations

from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.keys import describe_keys
from lakelens.explorer.page import Page


@page("help")
def make_help(visit: Visit) -> Page:
    """The keys."""
    return describe_keys(visit.place)
