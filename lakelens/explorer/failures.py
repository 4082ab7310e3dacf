"""Pages that say why there is nothing to show, and what leads on from there."""

from __future__ import annotations

from dataclasses import replace

from lakelens.errors import AccessDenied, LakeError, Missing, NotATable
from lakelens.explorer.frame import list_crumbs
from lakelens.explorer.page import Link, Links, Page
from lakelens.explorer.place import NO_SNAPSHOT, Place
from lakelens.model.table import Table
from lakelens.views.card import wording
from lakelens.views.present import present


class TookTooLong(LakeError):
    """A page that was not ready in time."""


_STATUS: tuple[tuple[type[LakeError], int], ...] = (
    (TookTooLong, 504),
    (AccessDenied, 403),
    (Missing, 404),
    (NotATable, 404),
)


def make_failure(place: Place, error: LakeError) -> Page:
    """Make the page of an error: its card, and the ways back."""
    status = next((number for kind, number in _STATUS if isinstance(error, kind)), 500)
    ways = [Link("all tables", Place())]
    if place.table is not None and place.snapshot:  # else it is the newest state that failed
        name = place.table[-1] if place.table else "the table"
        ways.insert(0, Link(f"newest state of {name}", Place(place.table)))
        if place.page:
            ways.insert(0, Link("overview", replace(place, page="", asked=())))
    return Page(
        place,
        type(error).__name__,
        [present(error.without_frames()), Links(tuple(ways), "Go to:")],
        list_crumbs(place),
        status=status,
    )


def make_gone(place: Place, table: Table, newest: str) -> Page:
    """Make the page of a snapshot that is no longer kept, or never was."""
    kept = table.outline_history(1)
    first = kept.first
    expected = (
        f"one of {wording.plural(kept.count, 'snapshot')} that are kept, {first.id} to {newest}"
        if first is not None and kept.count > 1
        else f"snapshot {newest}"
        if newest != NO_SNAPSHOT
        else "no snapshot at all: nothing has been committed yet"
    )
    error = Missing(
        f"snapshot {place.snapshot} is not kept: it has expired, was rolled back, or never was",
        path=table.location,
        expected=expected,
    )
    page = make_failure(place, error)
    ways = Links(
        (
            Link(f"show the newest, {newest}", replace(place, snapshot=newest)),
            Link("all snapshots", Place(place.table, newest, "snapshots")),
            Link("all tables", Place()),
        ),
        "Go to:",
    )
    return replace(page, title="Snapshot not kept", parts=[page.parts[0], ways])
