"""How a table came to be what it is: its snapshots as marks on lanes, with refs, rollbacks and gaps. Plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from lakelens.analysis.diff.diff import Raised, find_raised_by
from lakelens.analysis.figures import read_changes
from lakelens.caching import cached_property
from lakelens.display import Interactive, Named
from lakelens.model.bytes_view import Bound
from lakelens.model.collections import Tabular
from lakelens.model.facts.facts import Fact, build_rows
from lakelens.model.facts.traits import NO_ROWS, Figures
from lakelens.model.snapshot import Snapshot

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.table import Table


# The rows that commits brought and took, by one rule for every view: what each records, read beside its statement.
#
# A rewrite (Iceberg `replace`, Paimon COMPACT) copies rows to other files and changes none, unless it is one of the
# commits of a statement that wrote: then what it merges away is what was written over. The rows that a DELETE of a table
# with keys appends are the keys that it deletes: none of them came.

_REWRITES = ("compact", "replace")


class Commit(NamedTuple):
    """What a commit records of itself, as far as its rows are counted by it."""

    operation: str
    statement: str | None  # what its writer calls what it did
    job: tuple[object, ...] | None  # what all commits of one statement have in common
    figures: Figures

    @property
    def is_rewrite(self) -> bool:
        """Whether the format calls it one, and it deletes no row in files that stay."""
        deleted = self.figures.deleted
        return self.operation.lower() in _REWRITES and (deleted is None or deleted.most == 0)


class RowCount(NamedTuple):
    """The rows that a commit brought and took, those aside that it deleted in files that stay.

    `moved` are the rows that a rewrite copied, as far as that is recorded; `dropped` are those that it left behind: replaced
    or deleted before, so that no reader misses them. Of what is no rewrite both are 0.
    """

    came: int = 0
    went: int = 0
    moved: int = 0
    dropped: int = 0
    is_rewrite: bool = False


NO_CHANGE = RowCount()


def group_jobs(commits: Iterable[Commit]) -> Iterator[list[Commit]]:
    """Commits of one branch in their order, put together by the statement that made them."""
    group: list[Commit] = []
    for commit in commits:
        if group and (commit.job is None or commit.job != group[0].job):
            yield group
            group = []
        group.append(commit)
    if group:
        yield group


def count_rows(commits: Sequence[Commit]) -> list[RowCount]:
    """Count what each commit of one statement brought and took, the oldest first.

    >>> upsert = Commit("APPEND", None, (1,), Figures(net_rows=25)), Commit("COMPACT", None, (1,), Figures(net_rows=-25))
    >>> [(count.came, count.went) for count in count_rows(upsert)]
    [(25, 0), (0, 25)]
    >>> replace = Commit("replace", None, None, Figures(added_rows=8, removed_rows=10))
    >>> count_rows([replace])
    [RowCount(came=0, went=0, moved=8, dropped=2, is_rewrite=True)]
    """
    flows = [_read_flow(commit.figures) for commit in commits]
    if all(commit.is_rewrite for commit in commits):
        # one that stores more rows than it replaced brought the others: nothing else accounts for them
        return [
            RowCount(came - went) if came > went else RowCount(0, 0, came, went - came, is_rewrite=True)
            for came, went in flows
        ]
    if not any((commit.statement or "").lower() == "delete" for commit in commits):
        return [RowCount(*flow) for flow in flows]
    # what a compaction merges away are the keys, with the rows that they delete
    is_merged = any(commit.operation.lower() in _REWRITES for commit in commits)
    keys, counts = 0, []
    for came, went in flows:
        if (came and went) or not (came or keys):
            counts.append(RowCount(came, went))
            continue
        gone = max(went - keys, 0) if is_merged else came
        keys = max(keys + came - went, 0)
        counts.append(RowCount(0, gone))
    return counts


def _read_flow(figures: Figures) -> tuple[int, int]:
    """Rows added and removed; of a net change alone one of them."""
    if figures.net_rows is not None and figures.added_rows is None and figures.removed_rows is None:
        return max(figures.net_rows, 0), max(-figures.net_rows, 0)
    return figures.added_rows or 0, figures.removed_rows or 0


# what a commit did to the rows; "compact" kept them and rewrote them (Iceberg `replace`, Paimon COMPACT)
_AMOUNTS = ("added_rows", "removed_rows", "net_rows", "added_files", "removed_files", "net_bytes")
Kind: TypeAlias = Literal["append", "overwrite", "delete", "compact", "other"]


class LazySnapshot(NamedTuple):
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
    source: Snapshot | LazySnapshot = field(compare=False, repr=False)
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


def find_snapshot(source: Snapshot | LazySnapshot) -> Snapshot:
    """Find the snapshot, or the one at the place."""
    return source.snapshots[source.position] if isinstance(source, LazySnapshot) else source


def choose_marks(marks: Sequence[Mark], most: int) -> Sequence[Mark]:
    """Choose marks evenly over all of them, at most `most`; the first and the last are among them."""
    if len(marks) <= most:
        return marks
    return [marks[round(place * (len(marks) - 1) / (most - 1))] for place in range(most)]


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
        """Find the place of a mark among the marks, by its key; None when there is none."""
        return self._by_key.get(key)

    def __len__(self) -> int:
        return len(self.marks)

    def __repr__(self) -> str:
        many = "snapshot" if len(self) == 1 else "snapshots"
        return f"<Timeline of {self.table.name}: {len(self):,} {many}>"


# The snapshots of a history put together by statement: what one wrote and what it compacted after that is one change.

_SUMMED = (
    "added_files", "removed_files", "added_bytes", "removed_bytes", "added_equality_deletes",
)  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """The snapshots that one statement committed, oldest first, and what each of them records that it changed."""

    snapshots: tuple[Snapshot, ...]

    @property
    def word(self) -> str:
        """What its writer calls it; else the format's word for its first commit."""
        named = next((snapshot.statement for snapshot in self.snapshots if snapshot.statement), None)
        return named or self.snapshots[0].operation or "not recorded"

    @property
    def is_rewrite(self) -> bool:
        """Whether it is nothing but a compaction: every row is as it was, in other files or at another level."""
        return all(count.is_rewrite for count in self.counts)

    @cached_property
    def counts(self) -> tuple[RowCount, ...]:
        """The rows that came and went by each of its commits, as the timeline says them."""
        parts = zip(self.snapshots, self._parts, strict=True)
        return tuple(
            count_rows([Commit(s.operation or "", s.statement, s.job, figures) for s, figures in parts])
        )

    @cached_property
    def changes(self) -> Figures:
        """What it changed, all its commits together: the sum of what each of them brought and took."""
        came, went = (sum(amounts) for amounts in zip(*((c.came, c.went) for c in self.counts), strict=True))
        return replace(_sum(self._parts), added_rows=came, removed_rows=went, net_rows=None)

    @cached_property
    def _parts(self) -> tuple[Figures, ...]:
        parts = []
        for snapshot in self.snapshots:
            figures = read_changes(snapshot)
            if (
                find_raised_by(snapshot) is not None
            ):  # a file that was only raised to another level is the same file
                figures = replace(figures, added_files=0, removed_files=0)
            parts.append(figures)
        return tuple(parts)

    @property
    def rows_gone(self) -> tuple[int, bool]:
        """Rows that went, with their files or deleted in files that stay, and whether that is exact."""
        found = self.changes
        deleted = found.deleted
        if deleted is None:
            return found.removed_rows or 0, True
        most = deleted.least + (found.added_equality_deletes or 1) if deleted.most is None else deleted.most
        return (found.removed_rows or 0) + most, deleted.exact is not None

    @property
    def is_delete(self) -> bool:
        """Whether rows went and none came."""
        return self.rows_gone[0] > 0 and not self.changes.added_rows

    @cached_property
    def raised(self) -> tuple[Raised, ...]:
        """The files that compactions of it only raised to another level."""
        found = (find_raised_by(snapshot) for snapshot in self.snapshots)
        return tuple(one for one in found if one is not None)


def group_statements(snapshots: Iterable[Snapshot]) -> Iterator[Statement]:
    """Snapshots, newest first, as the statements that committed them, newest first."""
    group: list[Snapshot] = []
    for snapshot in snapshots:
        if group and (snapshot.job is None or snapshot.job != group[0].job):
            yield Statement(tuple(reversed(group)))
            group = []
        group.append(snapshot)
    if group:
        yield Statement(tuple(reversed(group)))


def _sum(parts: Sequence[Figures]) -> Figures:
    sums: dict[str, int | None] = {}
    for name in _SUMMED:
        amounts = [held for held in (getattr(part, name) for part in parts) if held is not None]
        sums[name] = sum(amounts) if amounts else None
    deleted = [part.deleted for part in parts if part.deleted is not None]
    return Figures(**sums, deleted=sum(deleted, NO_ROWS) if deleted else None)
