"""The snapshots of a table, in pages, each with what changed since the one before it."""

from __future__ import annotations

from collections.abc import Sequence

from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import make_listing
from lakelens.explorer.page import Page, Part
from lakelens.model.snapshot import Snapshots
from lakelens.views.card import wording
from lakelens.views.card.model import Card, Cell, Column, Target
from lakelens.views.listing import Drawn, ItemSource


@page("snapshots")
def make_snapshots(visit: Visit) -> Page:
    """Every snapshot that is kept, the newest first; the pinned one is marked."""
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
        """A page of them, and a column of diffs behind it."""
        drawn = super().draw(positions)
        if not self._has_diff:
            return drawn
        rows = [
            [*row, _link_diff(self._items[place])] for row, place in zip(drawn.rows, positions, strict=True)
        ]
        return Drawn([*drawn.names, "diff|"], [*drawn.columns, Column("")], rows)


def _link_diff(snapshot: object) -> Cell:
    parent, key = getattr(snapshot, "parent_id", None), getattr(snapshot, "id", None)
    if parent is None:
        return Cell("")
    return Cell("diff", target=Target("page", "diff", (("before", str(parent)), ("after", str(key)))))
