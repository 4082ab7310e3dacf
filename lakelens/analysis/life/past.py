"""The states of a table as lines of time: of the branch that was opened, of other branches, and what no branch leads to.

states    each state that keeps files once, in the order of commits, with the manifests that it names
aliases   under which names it is kept: snapshots, tags, branches, changelogs
lines     places of states, the oldest first; `before` is the state that a branch was made from
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.model.check.ledger import Ledger
from lakelens.model.check.references import Keeper, Referring
from lakelens.model.check.survey import State, Survey
from lakelens.model.snapshot import Snapshot

if TYPE_CHECKING:
    from lakelens.model.table import Table

_MAIN = "main"
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass
class Line:
    """One line of time: the name of its branch, its states by place, and the state that it began from."""

    name: str
    places: list[int]
    before: int | None = None
    is_loose: bool = False

    def walk(self) -> Iterator[tuple[int | None, int]]:
        """Each state with the one before it."""
        previous = self.before
        for place in self.places:
            yield previous, place
            previous = place


@dataclass
class Kept:
    """Under which names a state is kept."""

    snapshots: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    changelogs: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        """Add a keeper's name."""
        noun = name.rpartition(": ")[2].partition(" ")[0]
        {"tag": self.tags, "changelog": self.changelogs}.get(noun, self.snapshots).append(name)


class Past:
    """The states of a table, and the lines that lead from one to the next."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.unread: list[Keeper] = []
        self.kept: list[Kept] = []
        self._homes: list[str] = []
        self._places: dict[tuple[str, int | None], int] = {}
        states = list(self._list_states())
        order = sorted(range(len(states)), key=lambda place: _order(states[place].snapshot))
        ranks = {place: rank for rank, place in enumerate(order)}
        self._places = {key: ranks[place] for key, place in self._places.items()}
        self.kept = [self.kept[place] for place in order]
        self._homes = [self._homes[place] for place in order]
        self.survey = Survey(table, [states[place] for place in order], Ledger())
        for tag in table.refs.tags:  # where a tag is no document of its own
            place = self.find(tag.snapshot_id)
            if place is not None and not any(f"tag {tag.name}" in kept.tags for kept in self.kept):
                self.kept[place].tags.append(f"tag {tag.name}")

    def _list_states(self) -> Iterator[State]:
        seen: dict[tuple[object, ...], int] = {}
        for keeper in Referring.of(self.table).list_keepers():
            if keeper.snapshot is None:
                self.unread.append(keeper)
                continue
            if keeper.roles == ():
                continue
            identity = _identify(keeper)
            place = seen.setdefault(identity, len(seen))
            if place == len(self.kept):
                self.kept.append(Kept())
                self._homes.append(keeper.branch)
                yield State(keeper.name, keeper.snapshot, keeper.roles)
            self.kept[place].add(keeper.name)
            if not keeper.roles or "delta" in keeper.roles:  # of a changelog the data has expired
                self._places.setdefault((keeper.branch, keeper.id), place)
        if not seen and self.table.current is not None:
            self.kept.append(Kept(["the listing"]))
            self._homes.append("")
            self._places["", self.table.current.id] = 0
            yield State("the listing", self.table.current)

    @property
    def states(self) -> list[State]:
        """The states, in the order of commits."""
        return self.survey.states

    def snapshot(self, place: int) -> Snapshot:
        """The snapshot of a state."""
        return self.states[place].snapshot

    def find(self, number: int | None, branch: str = "") -> int | None:
        """The place of a snapshot's state; None where there is none."""
        return self._places.get((branch, number))

    def is_changelog(self, place: int) -> bool:
        """Whether only a changelog is left of a state."""
        return self.states[place].roles == ("changelog",)

    def is_next(self, before: int | None, place: int) -> bool:
        """Whether a state was made from another one, with none between."""
        return before is not None and self.snapshot(place).parent_id == self.snapshot(before).id

    @cached_property
    def lines(self) -> list[Line]:
        """The line of what was opened, those of other branches, and those that no branch leads to."""
        taken: set[int] = set()
        lines = [
            line for name, home, head in self._list_heads() if (line := self._follow(name, home, head, taken))
        ]
        if lines:
            self._put_before(lines[0], taken)
        lines += self._list_loose(taken)
        return lines

    @cached_property
    def opened(self) -> str:
        """The branch that was opened."""
        table = self.table
        named = getattr(table, "branch_name", None) or getattr(table, "branch", None)
        return named if isinstance(named, str) else _MAIN

    def _list_heads(self) -> Iterator[tuple[str, str, int | None]]:
        """The name, the numbering and the newest state of each branch, that of the opened one first."""
        if not self.table.traits.has_snapshots:
            yield self.opened, "", self.find(None)
            return
        current = self.table.current
        numbers = bool(getattr(self.table, "branch_name", None))
        names = sorted(self.table.refs.branches.keys(), key=lambda name: (name != self.opened, name))
        for name in names or [self.opened]:
            home = name if numbers and name != _MAIN else ""
            ref = self.table.refs.get(name)
            head = None if ref is None else ref.snapshot_id
            if name == self.opened and current is not None:
                head = current.id
            yield name, home, self.find(head, home)

    def _find_parent(self, place: int, home: str) -> int | None:
        parent = self.snapshot(place).parent_id
        return None if parent is None else self.find(parent, home)

    def _follow(self, name: str, home: str, head: int | None, taken: set[int]) -> Line | None:
        places: list[int] = []
        place = head
        while place is not None and place not in taken:
            taken.add(place)
            places.append(place)
            place = self._find_parent(place, home)
        return Line(name, places[::-1], place) if places else None

    def _put_before(self, line: Line, taken: set[int]) -> None:
        """Put states in front of a line of which the states between have expired: tags keep them."""
        if len(self.table.refs.branches) > 1 and not getattr(self.table, "branch_name", None):
            return
        home = self._homes[line.places[0]]
        first = _order(self.snapshot(line.places[0]))
        older = [
            place
            for place, known in enumerate(self._homes)
            if known == home
            and place not in taken
            and not self.is_changelog(place)
            and _order(self.snapshot(place)) < first
            and self._find_parent(place, home) not in line.places
        ]
        taken.update(older)
        line.places[:0] = older

    def _list_loose(self, taken: set[int]) -> Iterator[Line]:
        left = [
            place for place in range(len(self.states)) if place not in taken and not self.is_changelog(place)
        ]
        parents = {self._find_parent(place, self._homes[place]) for place in left}
        for place in left:
            if place in parents:
                continue
            name = next(iter(self.kept[place].tags), "")
            line = self._follow(name, self._homes[place], place, taken)
            if line is not None:
                line.is_loose = True
                yield line


def _identify(keeper: Keeper) -> tuple[object, ...]:
    """What two names of one state have in common: a tag names the lists of its snapshot, but perhaps the changelog's."""
    assert keeper.snapshot is not None
    is_changelog = keeper.roles == ("changelog",)
    lists = [one.path for one in keeper.snapshot.manifest_lists if (one.role == "changelog") == is_changelog]
    return (keeper.snapshot.id, is_changelog, *lists)


def _order(snapshot: Snapshot) -> tuple[datetime, int, int]:
    at = snapshot.committed_at or _NEVER
    return (at, snapshot.sequence_number or 0, snapshot.id or 0)
