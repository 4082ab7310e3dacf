"""Who keeps a file last: the order in which a table's states let go of what they need.

    unseen      documents that engines pass over: files are theirs by name alone, and nothing expires them
    history     states that no ref names: they go when snapshots expire, the oldest first
    consumer    those of history that a reader of the table has still to read
    changelogs  documents that outlived their snapshots
    branch      the newest state of another branch, and as many before a branch's newest as it keeps at least; where branches
                number their own, all states of another one
    tag         a state that a tag names
    current     the current state: what it needs is live

A file that several states need is the last one's: that of the highest rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Literal

from lakelens.caching import cached_property
from lakelens.model.check.references import Keeper, Referring
from lakelens.model.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["unseen", "history", "consumer", "changelogs", "branch", "tag", "current"]
_ORDER: tuple[Kind, ...] = ("unseen", "history", "consumer", "changelogs", "branch", "tag", "current")
_EARLIEST = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Holder:
    """What holds states: the current snapshot, a tag, a branch, a branch's history (`ref` None: that of no branch)."""

    kind: Kind
    ref: str | None

    @property
    def name(self) -> str:
        """The holder in words."""
        if self.kind == "current":
            return "the current snapshot"
        if self.kind == "unseen":
            return "snapshots that no engine sees"
        if self.kind == "changelogs":
            return "changelogs" if self.ref in (None, "main") else f"changelogs of {self.ref}"
        if self.kind == "history":
            return "snapshots of no branch" if self.ref is None else f"history of {self.ref}"
        return f"{self.kind} {self.ref}"


class Holders:
    """For each state its holder, and its rank among all: the state of the highest rank lets go last.

    `of` has for each state, by the numbers of `Holdings.keepers`, the number of its holder in `holders`; `times` when it was
    committed, None where nothing says so; `refs` all the refs that name it.
    """

    def __init__(self, table: Table, keepers: Sequence[Keeper]) -> None:
        self.table = table
        self.keepers = keepers
        self.branch = name_branch(table)
        self.times = [None if one.snapshot is None else one.snapshot.committed_at for one in keepers]
        self.holders: list[Holder] = []
        self.refs: list[tuple[str, ...]] = [()] * len(keepers)
        numbers: dict[Holder, int] = {}
        self.of: list[int] = []
        self.current: int | None = None
        for number, keeper in enumerate(keepers):
            holder = self._find(number, keeper)
            if holder.kind == "current":
                self.current = number
            place = numbers.setdefault(holder, len(self.holders))
            if place == len(self.holders):
                self.holders.append(holder)
            self.of.append(place)

    def _find(self, number: int, keeper: Keeper) -> Holder:
        """The holder of a state."""
        if keeper.roles == ():
            return Holder("unseen", keeper.ref)
        if keeper.kind == "changelog":
            return Holder("changelogs", keeper.ref)
        if keeper.kind in ("tag", "branch"):
            self.refs[number] = (keeper.name.partition("tag ")[0] + (keeper.ref or ""),)
            return Holder("tag" if keeper.kind == "tag" else "branch", self.refs[number][0])
        if keeper.ref is not None:  # branches number their own
            if keeper.ref != self.branch:
                return Holder("branch", keeper.ref)
            if self._is_current(keeper):
                return Holder("current", keeper.ref)
            return self._find_consumer(keeper) or Holder("history", keeper.ref)
        self.refs[number] = tuple(name for name, _ in self._named.get(keeper.id, ()))
        if self._is_current(keeper):
            return Holder("current", self.branch)
        for name, kind in self._named.get(keeper.id, ()):
            return Holder("tag" if kind == "tag" else "branch", name)
        return Holder("history", self._lines.get(keeper.id))

    def _find_consumer(self, keeper: Keeper) -> Holder | None:
        """The consumer that is furthest behind, of states that it has still to read."""
        following, name = self._consumer
        if keeper.id is None or following is None or keeper.id < following:
            return None
        return Holder("consumer", name)

    @cached_property
    def _consumer(self) -> tuple[int | None, str]:
        return min(
            ((number, name) for name, number in Referring.of(self.table).list_consumers()), default=(None, "")
        )

    def _is_current(self, keeper: Keeper) -> bool:
        current = self.table.current
        return current is not None and keeper.snapshot is not None and keeper.id == current.id

    @cached_property
    def _named(self) -> Mapping[int | None, list[tuple[str, str]]]:
        """By id of a snapshot the refs that name it, and the branches that keep that many before theirs."""
        named: dict[int | None, list[tuple[str, str]]] = {}
        for ref in sorted(self.table.refs, key=lambda ref: ref.type):
            least = ref.min_snapshots_to_keep or 1 if ref.type == "branch" else 1
            line = _walk(ref.snapshot_id, self._parents)
            for number in islice(line, max(1, min(least, len(self.keepers)))):
                named.setdefault(number, []).append((ref.name, ref.type))
        return named

    @cached_property
    def _parents(self) -> Mapping[int | None, int | None]:
        return {
            keeper.id: keeper.snapshot.parent_id for keeper in self.keepers if keeper.snapshot is not None
        }

    @cached_property
    def _lines(self) -> dict[int | None, str]:
        """By id of a snapshot the branch that it is history of: the opened one before the others."""
        lines: dict[int | None, str] = {}
        branches = sorted(self.table.refs.branches, key=lambda ref: ref.name != self.branch)
        for ref in branches:
            for number in _walk(ref.snapshot_id, self._parents):
                if number in lines:
                    break
                lines[number] = ref.name
        return lines

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """For each state its rank: by what holds it, then by time."""
        import numpy as np

        def weigh(number: int) -> tuple[int, bool, datetime, int]:
            time = self.times[number]
            return _ORDER.index(self.holders[self.of[number]].kind), time is None, time or _EARLIEST, number

        ranks = np.zeros(len(self.keepers), np.int64)
        ranks[np.array(sorted(range(len(self.keepers)), key=weigh), np.int64)] = np.arange(len(self.keepers))
        return ranks

    def find(self, state: int) -> Holder:
        """The holder of a state."""
        return self.holders[self.of[state]]

    @cached_property
    def expirable(self) -> list[int]:
        """The states that expire when they are old enough, the oldest first: of history, with a time."""
        found = [
            number
            for number in range(len(self.keepers))
            if self.find(number).kind == "history" and self.times[number] is not None
        ]
        return sorted(found, key=lambda number: int(self.ranks[number]))

    @cached_property
    def ages(self) -> Mapping[tuple[str, str], int | None]:
        """By type and name of a ref how long it is kept, in milliseconds."""
        return {(ref.type, ref.name): ref.max_ref_age_ms for ref in self.table.refs}

    @property
    def newest(self) -> datetime | None:
        """When the current state was committed, else the newest one."""
        if self.current is not None and self.times[self.current] is not None:
            return self.times[self.current]
        return max((time for time in self.times if time is not None), default=None)


def name_branch(table: Table) -> str:
    """The name of the branch that a table was opened on."""
    name = getattr(table, "branch_name", None) or getattr(table, "branch", None)
    return name if isinstance(name, str) else "main"


def _walk(start: int | None, parents: Mapping[int | None, int | None]) -> Iterator[int]:
    """A snapshot and those before it that are known; a circle ends."""
    seen: set[int] = set()
    while start is not None and start in parents and start not in seen:
        seen.add(start)
        yield start
        start = parents[start]
