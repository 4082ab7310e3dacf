"""How a table came to be what it is: its snapshots as marks on lanes, with refs, rollbacks and gaps. Plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from lakelens.caching import cached_property
from lakelens.display import Interactive, Named
from lakelens.model.explainable import Bound
from lakelens.model.facts.traits import Figures

if TYPE_CHECKING:
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

# what a commit did to the rows; "compact" kept them and rewrote them (Iceberg `replace`, Paimon COMPACT)
Kind: TypeAlias = Literal["append", "overwrite", "delete", "compact", "other"]


class Place(NamedTuple):
    """A snapshot of a long history by its place: made when it is looked at."""

    snapshots: Sequence[Snapshot]
    position: int


@dataclass(frozen=True, slots=True)
class Mark(Named):
    """One snapshot of a timeline.

    `key` is its id as text, after the branch's name and a slash where another branch than the opened one numbers its own
    snapshots (Paimon). `time` is milliseconds since 1970 and never goes back from one mark to the next; `parent` is the key
    of the snapshot it was made from, where that one is still there. `notes` say what is unusual about it.
    """

    key: str
    source: Snapshot | Place = field(compare=False, repr=False)
    operation: str
    kind: Kind
    lane: int
    time: int
    parent: str | None
    amounts: Figures
    notes: tuple[str, ...] = ()

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot itself."""
        return find_snapshot(self.source)


def find_snapshot(source: Snapshot | Place) -> Snapshot:
    """The snapshot, or the one at the place."""
    return source.snapshots[source.position] if isinstance(source, Place) else source


@dataclass(frozen=True, slots=True)
class Lane(Named):
    """One line of marks: a branch, or snapshots that no branch leads to (`is_branch` is false)."""

    name: str
    is_branch: bool = True


@dataclass(frozen=True, slots=True)
class Flag(Named):
    """A name at a mark: a tag, or a branch that has no snapshot to itself. `key` is None when its snapshot is gone."""

    name: str
    type: Literal["branch", "tag"]
    key: str | None


@dataclass(frozen=True, slots=True)
class Gap(Named):
    """Snapshots that expired right before a mark; `count` where ids show how many."""

    before: str
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Rollback(Named):
    """The table went from one snapshot back to an older one; `undone` are the keys of what it gave up, newest first."""

    at: datetime | None
    start: str
    end: str
    undone: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Timeline(Bound, Interactive):
    """A table's history: every snapshot once, oldest first, with what is known around it. No manifest is read for it.

    Shown as a still picture and the newest snapshots; `.widget()` is the same to look around in. A Hive table has no
    snapshots: then `listing` is its files as they are now.

    >>> import lakelens as ll
    >>> history = ll.sample("iceberg").history
    >>> history.marks[-1].operation, [lane.name for lane in history.lanes]
    ('overwrite', ['main'])
    """

    table: Table = field(compare=False)
    marks: tuple[Mark, ...] = ()
    lanes: tuple[Lane, ...] = ()
    flags: tuple[Flag, ...] = ()
    gaps: tuple[Gap, ...] = ()
    rollbacks: tuple[Rollback, ...] = ()
    listing: Snapshot | None = field(default=None, compare=False)

    @cached_property
    def _by_key(self) -> dict[str, int]:
        return {mark.key: index for index, mark in enumerate(self.marks)}

    def find(self, key: str) -> int | None:
        """The place of a mark among the marks, by its key; None when there is none."""
        return self._by_key.get(key)

    def __len__(self) -> int:
        return len(self.marks)

    def __repr__(self) -> str:
        many = "snapshot" if len(self) == 1 else "snapshots"
        return f"<Timeline of {self.table.name}: {len(self):,} {many}>"
