"""How two snapshots of a table are related: which commits lead from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from lakelens.model.snapshot import Snapshot

# where commits are documents of their own, at most this many are read to describe what they did
_FAR = 100

Kind = Literal["nothing", "same", "forward", "back", "sideways", "listing", "elsewhere", "far", "unknown"]


@dataclass(frozen=True)
class Relation:
    """From `before` to `after`: the commits that are undone, newest first, back to `common`, then those that follow.

    `kind` is "forward" where nothing is undone, "back" where nothing follows, "sideways" where both come from a common
    snapshot; "far" where `count` commits of one branch are between, too many to read; "elsewhere" for tables in two
    places, "listing" for states without commits, "unknown" where no common snapshot exists any more.
    """

    kind: Kind
    undone: Sequence[Snapshot] = ()
    steps: Sequence[Snapshot] = ()
    common: Snapshot | None = None
    count: int = 0

    @cached_property
    def is_rollback(self) -> bool:
        """Whether the table's own log says that the commits were undone by going back to the common snapshot."""
        return self.common is not None and any(one.was_undone_by(self.common) for one in self.undone)


def relate_snapshots(before: Snapshot | None, after: Snapshot) -> Relation:
    """How `after` follows from `before`. Reads no manifest."""
    if before is None:
        return Relation("nothing", steps=(after,))
    if before.table_location != after.table_location:
        return Relation("elsewhere")
    if before.id is None or after.id is None:
        return Relation("listing")
    if before.is_same(after):
        return Relation("same", common=after)
    count = after.count_from(before)
    if count is not None and abs(count) > _FAR:
        return Relation("far", count=count)
    steps = [after]
    for one in after.walk_ancestors():
        if one.is_same(before):
            return Relation("forward", steps=steps[::-1], common=one)
        steps.append(one)
    undone = [before]
    known = {step.id: position for position, step in enumerate(steps)}
    for one in before.walk_ancestors():
        position = known.get(one.id)
        if position is not None and one.is_same(steps[position]):
            newer = steps[:position][::-1]
            return Relation("sideways" if newer else "back", undone, newer, one)
        undone.append(one)
    return Relation("unknown")
