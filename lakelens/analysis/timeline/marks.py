"""A table's history from what its snapshots record of themselves: marks, lanes, flags, rollbacks, gaps.

No manifest is read. Where branches share the snapshots (Iceberg), lanes follow the parents from each branch's head: `main`
first, and a snapshot belongs to the first branch that leads to it. Where each branch numbers its own (Paimon), those that a
branch began with are the snapshots of the branch that it was made from, and are shown once, there.

Rollbacks are found in Iceberg's snapshot log: the current snapshot became one of its own ancestors. A Paimon rollback
deletes the snapshots behind it and the next commit takes their numbers, so no trace of it is left.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from sys import intern
from typing import NamedTuple

from lakelens.analysis.timeline.timeline import (
    Commit,
    Flag,
    Gap,
    Kind,
    Lane,
    LazySnapshot,
    Mark,
    Rollback,
    RowCount,
    Timeline,
    count_rows,
    find_snapshot,
    group_jobs,
)
from lakelens.errors import LakeError
from lakelens.model.facts.traits import NO_ROWS, Amount, Figures
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table

_MAIN = "main"
_MOST_LANES = 8  # of branches; what the other branches alone lead to shares one lane
_MOST_NEW = (
    100  # snapshots that are asked for rows that vectors deleted where their documents do not record them
)
_MOST_STEPS = 1_000_000  # along parents in search of rollbacks: a log is an attacker's too
_KINDS: dict[str, Kind] = {
    "append": "append",
    "overwrite": "overwrite",
    "delete": "delete",
    "replace": "compact",
    "compact": "compact",
}


def trace_history(table: Table) -> Timeline:
    """The history of a table; of a Hive table, which has no snapshots, the listing of its files as the nearest thing."""
    found = _gather(table)
    if not found.snapshots:
        current = table.current
        return Timeline(table, listing=current if current is not None and current.id is None else None)
    rollbacks = tuple(_find_rollbacks(table, found))
    _place_branches(table, found)
    undone = {key for rollback in rollbacks for key in rollback.undone}
    _place_loose(table, found, undone)
    gaps = tuple(_find_gaps(table, found))
    flags = tuple(_make_flags(table, found))
    has_keys = bool(table.schema.identifier_names)
    marks = tuple(_make_marks(found, {gap.before for gap in gaps}, undone, has_keys=has_keys))
    return Timeline(table, marks, tuple(found.lanes), flags, gaps, rollbacks)


class _Seen(NamedTuple):
    """What a timeline says of a snapshot, which is not kept: of a long history only those that are looked at are objects."""

    source: Snapshot | LazySnapshot
    id: int | None
    parent_id: int | None
    time: int
    operation: str
    is_staged: bool
    amounts: Figures
    notes: tuple[str, ...]
    statement: str | None
    job: tuple[object, ...] | None


def _see(snapshot: Snapshot, source: Snapshot | LazySnapshot, *, is_new: bool = True) -> _Seen:
    return _Seen(
        source,
        snapshot.id,
        snapshot.parent_id,
        0 if snapshot.committed_at is None else round(snapshot.committed_at.timestamp() * 1000),
        intern(snapshot.operation or "not recorded"),
        "wap.id" in snapshot.summary,
        read_amounts(snapshot, is_new=is_new),
        snapshot.notes,
        snapshot.statement,
        snapshot.job,
    )


@dataclass
class _Found:
    """What was found so far: snapshots by key in the order of commits, their parents, and the lane of each."""

    snapshots: dict[str, _Seen] = field(default_factory=dict)
    parents: dict[str, str | None] = field(default_factory=dict)
    lanes: list[Lane] = field(default_factory=list)
    lane_of: dict[str, int] = field(default_factory=dict)
    bare: list[str] = field(default_factory=list)  # branches without a snapshot to themselves
    heads: dict[str, str] = field(default_factory=dict)  # branch: the key of its newest snapshot
    kept: set[str] = field(default_factory=set)  # that only a tag keeps


def _gather(table: Table) -> _Found:
    """Gather every snapshot once: the table's, those that only a tag keeps, those of branches that keep their own."""
    found = _Found()
    listed = table.snapshots
    new = len(listed) - _MOST_NEW
    own = {
        str(one.id): _see(one, LazySnapshot(listed, place), is_new=place >= new)
        for place, one in enumerate(listed)
    }
    kept = dict(_list_kept_by_tags(table, own))
    found.kept = set(kept)
    found.snapshots = kept | own
    if table.traits.numbers_branches:  # what a tag keeps belongs before what is still there
        found.snapshots = dict(sorted(found.snapshots.items(), key=lambda item: item[1].id or 0))
    for key, snapshot in found.snapshots.items():
        parent = str((snapshot.id or 0) - 1 if table.traits.numbers_branches else snapshot.parent_id)
        found.parents[key] = parent if parent in found.snapshots and parent != key else None
    for name, snapshots in table.separate_branches.items():
        _add_separate(found, name, snapshots)
    return found


def _list_kept_by_tags(table: Table, own: Mapping[str, _Seen]) -> Iterator[tuple[str, _Seen]]:
    for tag in table.refs.tags:
        if tag.snapshot_id is None or str(tag.snapshot_id) in own:
            continue
        try:
            snapshot = table.snapshot(tag.snapshot_id)
        except LakeError:
            continue
        if str(snapshot.id) not in own:
            yield str(snapshot.id), _see(snapshot, snapshot)


def _add_separate(found: _Found, name: str, snapshots: Sequence[Snapshot]) -> None:
    """Add a branch that numbers its own snapshots; those it began with are copies of another branch's documents."""
    keys: dict[int | None, str] = {}
    lane, is_alone = len(found.lanes), False
    for snapshot in snapshots:
        plain, key = str(snapshot.id), f"{name}/{snapshot.id}"
        known = found.snapshots.get(plain)
        is_free = plain not in found.lane_of
        if known is not None and is_free and find_snapshot(known.source).raw == snapshot.raw:
            keys[snapshot.id] = plain
            continue
        keys[snapshot.id], is_alone = key, True
        found.snapshots[key] = _see(snapshot, snapshot)
        found.parents[key] = keys.get((snapshot.id or 0) - 1)
        found.lane_of[key] = lane
    if keys:
        found.heads[name] = list(keys.values())[-1]
    if is_alone:
        found.lanes.append(Lane(name))
    else:
        found.bare.append(name)


def _find_rollbacks(table: Table, found: _Found) -> Iterator[Rollback]:
    before: str | None = None
    steps = 0
    for entry in table.snapshot_log:
        key = str(entry.snapshot_id)
        if before is not None and key != before and found.parents.get(key) != before:
            path: list[str] = []
            at: str | None = before
            while at is not None and at != key and steps < _MOST_STEPS:
                path.append(at)
                at = found.parents.get(at)
                steps += 1
            if at == key and before in found.snapshots:
                yield Rollback(entry.made_current_at, before, key, tuple(path))
        before = key


def _place_branches(table: Table, found: _Found) -> None:
    """Give each snapshot that a branch leads to its lane, the opened branch's first; without branches all have one."""
    if not table.traits.has_branches:
        found.lanes.append(Lane(""))
        found.lane_of = dict.fromkeys(found.snapshots, 0)
        return
    branches = sorted(table.refs.branches, key=lambda ref: ref.name != _MAIN)
    if table.traits.numbers_branches:
        opened = next((ref.name for ref in branches if ref.name not in table.separate_branches), _MAIN)
        found.lanes.insert(0, Lane(opened))
        found.lane_of = {key: lane + 1 for key, lane in found.lane_of.items()}
        for key in found.snapshots:
            if key not in found.lane_of:
                found.lane_of[key] = 0
                found.heads[opened] = key
    else:
        for ref in branches:
            _follow_parents(found, ref.name, str(ref.snapshot_id))
    _join_lanes(found)


def _follow_parents(found: _Found, name: str, head: str) -> None:
    """Follow the lane of a branch: what it leads to and no branch before it."""
    if head not in found.snapshots:
        return
    found.heads[name] = head
    if head in found.lane_of:
        found.bare.append(name)
        return
    at: str | None = head
    while at is not None and at not in found.lane_of:
        found.lane_of[at] = len(found.lanes)
        at = found.parents[at]
    found.lanes.append(Lane(name))


def _join_lanes(found: _Found) -> None:
    """More branches than can be distinguished share the last lane."""
    if len(found.lanes) <= _MOST_LANES:
        return
    left = len(found.lanes) - _MOST_LANES + 1
    found.lanes = [*found.lanes[: _MOST_LANES - 1], Lane(f"{left:,} more branches")]
    found.lane_of = {key: min(lane, _MOST_LANES - 1) for key, lane in found.lane_of.items()}


def _place_loose(table: Table, found: _Found, undone: set[str]) -> None:
    """Lanes for the snapshots that no branch leads to, by why that is."""
    logged = {str(entry.snapshot_id) for entry in table.snapshot_log}
    lanes: dict[str, int] = {}
    for key, snapshot in found.snapshots.items():
        if key in found.lane_of:
            continue
        if key in undone:
            word = "rolled back"
        elif snapshot.is_staged:
            word = "staged"
        else:
            word = "replaced" if key in logged else "no branch"
        if word not in lanes:
            lanes[word] = len(found.lanes)
            found.lanes.append(Lane(word, is_branch=False))
        found.lane_of[key] = lanes[word]


def _find_gaps(table: Table, found: _Found) -> Iterator[Gap]:
    """Find where the snapshot that another was made from is gone; numbers show how many are, hashes do not."""
    last: dict[int, int] = {}  # lane: the number seen last
    for key, snapshot in found.snapshots.items():
        parent, lane, number = found.parents[key], found.lane_of[key], snapshot.id or 0
        if not table.traits.numbers_branches:
            if snapshot.parent_id is not None and parent is None:
                yield Gap(key)
            continue
        before = last.get(lane, 0 if parent is None else number - 1)
        if number > before + 1:
            yield Gap(key, number - before - 1)
        last[lane] = number


def _make_flags(table: Table, found: _Found) -> Iterator[Flag]:
    for name in found.bare:
        if name in found.heads:
            yield Flag(name, "branch", found.heads[name])
    for ref in table.refs:
        key = None if ref.snapshot_id is None else str(ref.snapshot_id)
        if ref.type == "tag":
            yield Flag(ref.name, "tag", key if key in found.snapshots else None)
        elif ref.name not in found.heads:
            yield Flag(ref.name, "branch", None)


def _make_marks(found: _Found, gapped: set[str], undone: set[str], *, has_keys: bool) -> Iterator[Mark]:
    """Make the marks in order of time; a commit whose clock went back stands where the one before it stands."""
    times: dict[str, int] = {}
    newest: dict[str, int] = {}  # commits of one branch never overtake each other
    for key, snapshot in found.snapshots.items():
        home = key.rsplit("/", 1)[0] if "/" in key else ""
        times[key] = newest[home] = max(snapshot.time, newest.get(home, 0))
    counts = _count_lanes(found)
    for key in sorted(found.snapshots, key=lambda key: times[key]):
        snapshot = found.snapshots[key]
        yield Mark(
            key,
            snapshot.source,
            snapshot.operation,
            _find_kind(snapshot, has_keys),
            found.lane_of[key],
            times[key],
            found.parents[key],
            snapshot.amounts,
            tuple(_list_notes(key, found, gapped, undone)),
            counts[key],
        )


def _count_lanes(found: _Found) -> dict[str, RowCount]:
    """Count the rows that came and went by each commit: the commits of one statement follow each other on their branch."""
    lanes: dict[int, list[str]] = {}
    for key in found.snapshots:
        lanes.setdefault(found.lane_of[key], []).append(key)
    counts: list[RowCount] = []
    for keys in lanes.values():
        seen = (found.snapshots[key] for key in keys)
        commits = (Commit(one.operation, one.statement, one.job, one.amounts) for one in seen)
        for group in group_jobs(commits):
            counts += count_rows(group)
    return dict(zip((key for keys in lanes.values() for key in keys), counts, strict=True))


def _find_kind(snapshot: _Seen, has_keys: bool) -> Kind:
    """Find what a commit did; one that adds and removes no row but deletes some is a delete, whatever its word.

    A compaction of a table with keys marks rows that newer ones have replaced: that is none.
    """
    kind = _KINDS.get(snapshot.operation.lower(), "other")
    if (snapshot.statement or "").lower() == "delete" and kind in ("append", "overwrite"):
        return "delete"  # what it appends are the keys that it deletes
    amounts = snapshot.amounts
    deleted = amounts.deleted
    if deleted is None or deleted.most == 0 or amounts.added_rows or amounts.removed_rows:
        return kind
    return kind if kind == "compact" and has_keys else "delete"


def _list_notes(key: str, found: _Found, gapped: set[str], undone: set[str]) -> Iterator[str]:
    if key in undone:
        yield "rolled back"
    yield from found.snapshots[key].notes
    if key in gapped:
        yield "what came before has expired"
    if key in found.kept:
        yield "expired, kept by a tag"


def read_amounts(snapshot: Snapshot, *, is_new: bool = True) -> Figures:
    """What a snapshot's own document records; of a new one also the rows that it deleted, where another small file has them.

    Where that is the net change of rows alone, it counts as added when it is positive, as removed when it is negative.
    """
    figures = snapshot.answers.effects(snapshot)
    if (net := figures.net_rows) is None:
        return figures
    deleted = snapshot.newly_deleted if is_new and figures.deleted is None else figures.deleted
    rows = snapshot.record_count
    return Figures(added_rows=max(net, 0), removed_rows=max(-net, 0), rows=rows, deleted=deleted)


# Folding a long history by the calendar: the newest marks stay single, older ones share one item for each unit of time.
#
# The unit is the finest whose items fit. A run of marks that no unit divides, all of one second, is cut into equal parts,
# so that opening folds always comes to single marks.

_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000
_MONDAY = 3 * _DAY  # 1970 began on a Thursday
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SPANS = (
    (_SECOND, "a second"),
    (10 * _SECOND, "10 seconds"),
    (_MINUTE, "a minute"),
    (10 * _MINUTE, "10 minutes"),
    (_HOUR, "an hour"),
    (3 * _HOUR, "3 hours"),
    (12 * _HOUR, "12 hours"),
    (_DAY, "a day"),
    (2 * _DAY, "2 days"),
    (7 * _DAY, "a week"),
    (14 * _DAY, "2 weeks"),
)
_MONTHS = ((1, "a month"), (3, "a quarter"), (12, "a year"), (120, "a decade"), (1200, "a century"))


@dataclass(frozen=True, slots=True)
class Item:
    """One mark, or a fold of several that follow each other. `first` and `last` are their places among all marks."""

    first: int
    last: int
    marks: tuple[Mark, ...]

    @property
    def count(self) -> int:
        """How many snapshots it stands for."""
        return len(self.marks)

    @property
    def start(self) -> int:
        """When the first of them was committed, in milliseconds since 1970."""
        return self.marks[0].time

    @property
    def end(self) -> int:
        """When the last of them was committed, in milliseconds since 1970."""
        return self.marks[-1].time

    @property
    def added(self) -> int:
        """Rows that came, as far as they are recorded; those that a rewrite copied did not."""
        return sum(mark.rows.came for mark in self.marks)

    @property
    def removed(self) -> int:
        """Rows that went, as far as they are recorded; those that a rewrite copied did not."""
        return sum(mark.rows.went for mark in self.marks)

    @property
    def deleted(self) -> Amount:
        """Rows that were deleted in files that stayed, as far as that is known."""
        return sum((mark.amounts.deleted or NO_ROWS for mark in self.marks), NO_ROWS)

    @property
    def deleted_values(self) -> int:
        """Values that rows were deleted by: how many rows have them is not known."""
        return sum(mark.amounts.added_equality_deletes or 0 for mark in self.marks)

    @property
    def gone(self) -> tuple[int, int]:
        """Rows that went, with their files or deleted in them: those that certainly did, and as many as may have.

        Of deleted values, as many as there are of these.
        """
        deleted = self.deleted
        most = deleted.least + (self.deleted_values or 1) if deleted.most is None else deleted.most
        return self.removed + deleted.least, self.removed + most

    def count_operations(self) -> Counter[str]:
        """Count how often each operation is among them."""
        return Counter(mark.operation for mark in self.marks)

    def count_lanes(self) -> Counter[int]:
        """Count how many of them are on each lane."""
        return Counter(mark.lane for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Folding:
    """Items, oldest first; the first `folded` of them are units of time of the length `unit`."""

    items: tuple[Item, ...]
    folded: int = 0
    unit: str = ""


def fold_marks(
    marks: Sequence[Mark], first: int, end: int, *, singles: int, newest: int, folds: int
) -> Folding:
    """Fold the marks from `first` up to, not with, `end` as items.

    All stay single where there are at most `singles`; else the `newest` stay so, and the others are at most `folds` items.
    """
    if end - first <= singles:
        return Folding(tuple(_make_items(marks, list(range(first, end + 1)))))
    edge = end - newest
    starts, unit = _divide(marks, first, edge, folds)
    older = _make_items(marks, [*starts, edge])
    return Folding((*older, *_make_items(marks, list(range(edge, end + 1)))), len(older), unit)


def _make_items(marks: Sequence[Mark], edges: Sequence[int]) -> list[Item]:
    pairs = itertools.pairwise(edges)
    return [Item(first, end - 1, tuple(marks[first:end])) for first, end in pairs]


def _divide(marks: Sequence[Mark], first: int, end: int, most: int) -> tuple[list[int], str]:
    """Divide where the finest unit with at most `most` items begins each of them, and the unit's name."""
    spans = [(_count_spans(length), name) for length, name in _SPANS]
    for number_of, name in spans + [(_count_months(length), name) for length, name in _MONTHS]:
        starts: list[int] = []
        before: int | None = None
        for index in range(first, end):
            number = number_of(marks[index].time)
            if number != before:
                starts.append(index)
                before = number
            if len(starts) > most:
                break
        if len(starts) == 1 and end - first > 1:
            break
        if len(starts) <= most:
            return starts, name
    step = -(-(end - first) // most)
    return list(range(first, end, step)), f"{step:,} snapshots"


def _count_spans(length: int) -> Callable[[int], int]:
    return lambda time: (time + _MONDAY) // length


def _count_months(length: int) -> Callable[[int], int]:
    def count(time: int) -> int:
        moment = _EPOCH + timedelta(milliseconds=time)
        return (moment.year * 12 + moment.month - 1) // length

    return count
