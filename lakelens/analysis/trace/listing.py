"""A table's objects before and after: two listings compared, and the states of the table that go with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from lakelens.analysis.tree import build_tree, list_every_snapshot
from lakelens.model.snapshot import Snapshot
from lakelens.model.storage import StoredFile
from lakelens.model.table import Table

State: TypeAlias = Literal["created", "removed", "rewritten"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """What distinguishes two states of a stored object: size, time, and a mark of its content where it is small.

    >>> Stamp(2, None, "a").is_same(Stamp(2, None, "b")), Stamp(2, None, "a").is_same(Stamp(2, None))
    (False, True)
    """

    size_bytes: int
    modified: datetime | None = None
    mark: str | None = None

    def is_same(self, other: Stamp) -> bool:
        """Whether nothing distinguishes the two."""
        marked = self.mark is not None and other.mark is not None
        return (self.size_bytes, self.modified) == (other.size_bytes, other.modified) and (
            not marked or self.mark == other.mark
        )


@dataclass(frozen=True, slots=True)
class ListingChange:
    """The stamps of the objects on both sides, by path."""

    before: Mapping[str, Stamp]
    after: Mapping[str, Stamp]

    @property
    def states(self) -> dict[str, State]:
        """What happened to each path, in path order; unchanged ones are left out."""
        found: dict[str, State] = {path: "removed" for path in self.before if path not in self.after}
        for path, stamp in self.after.items():
            if path not in self.before:
                found[path] = "created"
            elif not stamp.is_same(self.before[path]):
                found[path] = "rewritten"
        return dict(sorted(found.items(), key=lambda item: item[0].split("/")))

    def restrict(self, root: str) -> ListingChange:
        """The same below a directory."""
        start = root.rstrip("/") + "/"
        return ListingChange(
            {path: stamp for path, stamp in self.before.items() if path.startswith(start)},
            {path: stamp for path, stamp in self.after.items() if path.startswith(start)},
        )

    def split(self, roots: Collection[str]) -> dict[str, ListingChange]:
        """The same by root, each path under the nearest root above it; those below none are under ""."""
        before: dict[str, dict[str, Stamp]] = {root: {} for root in (*roots, "")}
        after: dict[str, dict[str, Stamp]] = {root: {} for root in (*roots, "")}
        for whole, parts in ((self.before, before), (self.after, after)):
            for path, stamp in whole.items():
                parts[_find_nearest(path, parts)][path] = stamp
        return {root: ListingChange(before[root], after[root]) for root in before}


def _find_nearest(path: str, roots: Collection[str]) -> str:
    while path not in roots:
        path = path.rpartition("/")[0]
    return path


@dataclass(frozen=True)
class TableState:
    """One table at one moment, read as far as needed: its objects by path, its commits, its catalog's facts."""

    table: Table
    files: Mapping[str, StoredFile] = field(default_factory=dict)
    commits: Mapping[tuple[object, ...], tuple[str, Snapshot]] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)


def read_state(table: Table, facts: Mapping[str, object], *, references: bool = True) -> TableState:
    """All of a table that is needed when its files are gone; with `references` every snapshot is walked."""
    files = {file.path: file for file in build_tree(table, references=references, limit=1_000_000)}
    commits: dict[tuple[object, ...], tuple[str, Snapshot]] = {}
    for snapshot, name in list_every_snapshot(table):
        commits.setdefault((snapshot.path, snapshot.id, snapshot.committed_at), (name, snapshot))
    _ = table.current, table.schema, table.metadata
    return TableState(table, files, commits, facts)
