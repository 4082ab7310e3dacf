"""How a table came to be what it is: its snapshots as marks on lanes, with refs, rollbacks and gaps. Plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from lakelens.analysis.timeline.row_counts import NO_CHANGE, RowCount
from lakelens.caching import cached_property
from lakelens.display import Interactive, Named
from lakelens.model.collections import Tabular
from lakelens.model.explainable import Bound
from lakelens.model.facts.facts import Fact, build_rows
from lakelens.model.facts.traits import Figures

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

# what a commit did to the rows; "compact" kept them and rewrote them (Iceberg `replace`, Paimon COMPACT)
_AMOUNTS = ("added_rows", "removed_rows", "net_rows", "added_files", "removed_files", "net_bytes")
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
    of the snapshot it was made from, where that one is still there. `notes` say what is unusual about it. `amounts` are
    what the commit records; `rows` are the rows that came and went by it, as every view says it: a rewrite changes none.
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
    rows: RowCount = NO_CHANGE

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


def _find_amount(name: str, mark: Mark) -> int | None:
    found: int | None = getattr(mark.amounts, name)
    return found


@dataclass(frozen=True, repr=False)
class Timeline(Bound, Tabular, Interactive):
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

    def to_arrow(self) -> pa.Table:
        """One row a snapshot, oldest first.

        Columns: `key`, `committed_at`, `operation`, `kind`, `lane` (the branch), `parent`, `added_rows`, `removed_rows`,
        `net_rows`, `added_files`, `removed_files`, `net_bytes` (as the commits record them) and `notes`.
        """
        names = [lane.name for lane in self.lanes]
        facts = (
            Fact("key"),
            Fact("committed_at", "time", lambda mark: datetime.fromtimestamp(mark.time / 1000, UTC)),
            Fact("operation"),
            Fact("kind"),
            Fact("lane", "string", lambda mark: names[mark.lane]),
            Fact("parent"),
            *(Fact(name, "int64", partial(_find_amount, name)) for name in _AMOUNTS),
            Fact("notes", "strings"),
        )
        return build_rows(self.marks, facts)

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
