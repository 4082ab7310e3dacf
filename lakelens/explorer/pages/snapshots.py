"""The snapshots of a table, each with what changed since the one before it, and its branches and tags, in pages."""

from __future__ import annotations

from collections.abc import Sequence

from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import make_listing
from lakelens.explorer.page import Page, Part
from lakelens.model.snapshot import Snapshots
from lakelens.views.card import wording
from lakelens.views.card.model import Card, Cell, Column, Target
from lakelens.views.listing import Drawn, ItemSource, make_source


@page("snapshots")
def make_snapshots(visit: Visit) -> Page:
    """List every snapshot that is kept, the newest first; the pinned one is marked."""
    snapshots = visit.table.snapshots
    source = visit.keep("snapshots", lambda: SnapshotSource(snapshots, has_diff="diff" in visit.pages))
    pinned = visit.keep("places", lambda: {str(one.id): place for place, one in enumerate(snapshots)})
    kept = wording.plural(len(snapshots), "snapshot")
    parts: list[Part] = [
        Card("Snapshots", f"{kept} kept" if len(snapshots) else "none: nothing has been committed yet")
    ]
    if len(snapshots):
        parts.append(make_listing(source, visit.place, chosen=pinned.get(visit.place.snapshot)))
    return Page(visit.place, "Snapshots", parts)


class SnapshotSource(ItemSource):
    """Snapshots, each with a link to the diff from the one that it was made from."""

    def __init__(self, snapshots: Snapshots, *, has_diff: bool) -> None:
        super().__init__(snapshots)
        self._has_diff = has_diff

    def draw(self, positions: Sequence[int]) -> Drawn:
        """Draw a page of them, and a column of diffs behind it."""
        drawn = super().draw(positions)
        if not self._has_diff:
            return drawn
        rows = []
        for row, place in zip(drawn.rows, positions, strict=True):
            snapshot, link = self._items[place], Cell("")
            if snapshot.parent_id is not None:
                asked = (("before", str(snapshot.parent_id)), ("after", str(snapshot.id)))
                link = Cell("diff", target=Target("page", "diff", asked))
            rows.append([*row, link])
        return Drawn([*drawn.names, "diff|"], [*drawn.columns, Column("")], rows)


@page("refs")
def make_refs(visit: Visit) -> Page:
    """List every branch and tag, with the snapshot that it names, in pages."""
    refs = visit.table.refs
    if not len(refs):
        why = "none" if visit.table.traits.has_snapshots else "none: this table keeps no snapshots"
        return Page(visit.place, "Refs", [Card("Refs", why)])
    branches = wording.plural(len(refs.branches), "branch", "branches")
    words = f"{branches}, {wording.plural(len(refs.tags), 'tag')}; as they are now, not as they were at the snapshot"
    parts: list[Part] = [Card("Refs", words), make_listing(make_source(refs), visit.place)]
    return Page(visit.place, "Refs", parts)
