"""The lives of rows: every version of those that a predicate is about, where each was, since when, and what ended it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lakelens.analysis.life.following import (
    Change,
    Ident,
    Identity,
    Seen,
    States,
    Unit,
    Words,
    compare_units,
    freeze,
)
from lakelens.analysis.life.past import Line
from lakelens.caching import cached_property
from lakelens.display import Displayable, Named
from lakelens.model.collections import Items, Tabular
from lakelens.model.facts.facts import Fact
from lakelens.model.life.living import Living

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.analysis.life.past import Past
    from lakelens.analysis.life.records import Slots
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table


@dataclass(frozen=True, slots=True)
class Move(Named):
    """A version that went on elsewhere with the same values: where, by which commit."""

    file: str
    position: int
    snapshot_id: int | None
    at: datetime | None
    how: str
    branch: str = ""


@dataclass(frozen=True, slots=True)
class End(Named):
    """What ended a version: a `kind`, the words, the commit; `is_followed` says that a later version came with it."""

    kind: str
    how: str
    snapshot_id: int | None
    at: datetime | None
    branch: str = ""
    is_followed: bool = False


@dataclass
class Version(Displayable):
    """One version of a row: its values under today's names, where it was, since when, and what ended it.

    `row` counts the rows from 1, `number` the versions of each. `changed` are columns that differ from the version before.
    `since`, `since_id` and `by` are the commit that brought it; `is_first_known` says that it may be older: what was before
    has expired. `moves` are the places to which it went with the same values. `ends` says what ended it, on each branch.
    """

    row: int
    number: int
    values: Mapping[str, Any]
    file: str
    position: int
    since: datetime | None
    since_id: int | None
    by: str
    branch: str = ""
    changed: tuple[str, ...] = ()
    is_first_known: bool = False
    unknown: tuple[str, ...] = ()
    row_id: int | None = None
    moves: list[Move] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    stored: tuple[Any, ...] = ()
    places: set[int] = field(default_factory=set)

    @property
    def end(self) -> End | None:
        """What ended it on the branch where it began; None while it is there."""
        return next((end for end in self.ends if end.branch == self.branch), None)

    @property
    def until(self) -> datetime | None:
        """When it ended; None while it is there."""
        return None if self.end is None else self.end.at

    @property
    def ended_by(self) -> str | None:
        """What ended it, in words; None while it is there."""
        return None if self.end is None else self.end.how

    @property
    def last(self) -> tuple[str, int]:
        """The file and the row where it was last."""
        moves = [move for move in self.moves if move.branch == self.branch]
        return (moves[-1].file, moves[-1].position) if moves else (self.file, self.position)

    def __repr__(self) -> str:
        return f"<Version {self.number} of row {self.row}: {self.ended_by or 'there'}>"


class Versions(Items[Version]):
    """Versions of rows, row after row, each in the order of time."""

    __slots__ = ()
    facts = (
        Fact("row", "int64"),
        Fact("number", "int64"),
        Fact("since", "time"),
        Fact("since_id", "int64"),
        Fact("by"),
        Fact("until", "time"),
        Fact("ended_by"),
        Fact("ended_how", "string", lambda version: None if version.end is None else version.end.kind),
        Fact("file"),
        Fact("position", "int64"),
        Fact("moves", "int64", lambda version: len(version.moves)),
        Fact("branch"),
        Fact("changed", "strings", lambda version: list(version.changed)),
        Fact("row_id", "int64"),
    )


@dataclass
class Life(Named):
    """One row: what identifies it, and its versions."""

    number: int
    key: Hashable
    versions: list[Version] = field(default_factory=list)

    @property
    def main(self) -> list[Version]:
        """The versions of the branch that was opened."""
        return [version for version in self.versions if not version.branch]

    @property
    def is_there(self) -> bool:
        """Whether the branch that was opened has it now; a row may be on another branch alone."""
        return bool(self.main) and self.main[-1].end is None

    @property
    def gone(self) -> End | None:
        """What ended it for good on the branch that was opened; None while it is there."""
        versions = self.main or self.versions
        return versions[-1].end if versions else None


@dataclass(frozen=True, slots=True)
class Looked:
    """What was looked at: `files` that were opened, of the `candidates` that may hold such rows, `of` all; rows, deletes."""

    files: int
    candidates: int
    of: int
    rows: int
    delete_files: int
    requests: int
    bytes: int


class RowLife(Tabular, Displayable):
    """The answer of `Table.row`: `lives` of the rows that fit, `versions` of all of them.

    `identity` says by what a row is known to be the same in two versions. `doubts` says what could not be read.
    """

    def __init__(
        self,
        table: Table,
        where: str,
        past: Past,
        slots: Slots,
        identity: Identity,
        lives: Sequence[Life],
        looked: Looked,
        doubts: Sequence[str],
        merge: str = "",
    ) -> None:
        self.table = table
        self.name = table.name
        self.where = where
        self.past = past
        self.identity = identity
        self.lives = tuple(lives)
        self.looked = looked
        self.doubts = tuple(doubts)
        self.merge = merge
        self._slots = slots

    @cached_property
    def versions(self) -> Versions:
        """Every version, row after row."""
        return Versions(version for life in self.lives for version in life.versions)

    def at(self, ref: Any = None) -> list[dict[str, Any]]:
        """The rows as a reader of a snapshot sees them, under the names of its schema.

        Parameters
        ----------
        ref
            An id, a branch, a tag or a time, as `Table.snapshot` takes it; by default the current snapshot.

        Raises
        ------
        Missing
            There is no such snapshot.
        """
        snapshot = self.table.snapshot(ref)
        schema_of = None if ref is None else snapshot  # today's rows are read with today's schema
        return [
            self._slots.show(version.stored, schema_of)
            for place in self._find_places(snapshot)
            for version in self.versions
            if place in version.places
        ]

    def _find_places(self, snapshot: Snapshot | None) -> Iterator[int]:
        if not self.has_history or snapshot is None:
            yield from range(len(self.past.states) if not self.has_history else 0)
            return
        for place, state in enumerate(self.past.states):
            if state.snapshot is snapshot or (
                state.snapshot.id == snapshot.id and state.snapshot.is_same(snapshot)
            ):
                yield place
                return

    @property
    def has_history(self) -> bool:
        """Whether the format keeps any."""
        return self.table.traits.has_snapshots

    @cached_property
    def moves(self) -> int:
        """How often versions moved, their values unchanged."""
        return sum(len(version.moves) for version in self.versions)

    @cached_property
    def there(self) -> int:
        """How many of the rows are there now, on the branch that was opened."""
        return sum(1 for life in self.lives if life.is_there)

    def to_arrow(self) -> pa.Table:
        """One row a version: `row`, `number`, `since`, `since_id`, `by`, `until`, `ended_by`, `ended_how`, `file`,
        `position`, `moves`, `branch`, `changed`, `row_id`, then a column for each column of the table.
        """
        import pyarrow as pa

        from lakelens.model.arrow import arrow_type, escape_text, to_array

        table = self.versions.to_arrow()
        for place, slot in enumerate(self._slots.slots):
            values = [version.stored[place] for version in self.versions]
            if place >= self._slots.today and not any(value is not None for value in values):
                continue
            kind = slot.field.type
            try:
                array = pa.array(values) if kind.is_nested else to_array(values, arrow_type(kind))
            except (pa.ArrowException, TypeError, ValueError):
                array = pa.array([None if value is None else str(value) for value in values], pa.string())
            table = table.append_column(escape_text(slot.name), array)
        return table

    def __repr__(self) -> str:
        count = len(self.lives)
        if not count:
            answer = f"not known: {self.doubts[0]}" if self.doubts else "no such row in any state"
            return f"<RowLife of {self.name}, {self.where}: {answer}>"
        doubt = f"; not all is known: {self.doubts[0]}" if self.doubts else ""
        rows = "" if count == 1 else f"{count:,} rows, "
        versions = f"{len(self.versions):,} version{'s' * (len(self.versions) != 1)}"
        if count > 1:
            return (
                f"<RowLife of {self.name}, {self.where}: {rows}{versions}, {self.there:,} there now{doubt}>"
            )
        gone = self.lives[0].gone
        day = "" if gone is None or gone.at is None else f" {gone.at:%Y-%m-%d %H:%M:%S}"
        end = f"gone since{day}, {gone.kind}" if gone is not None else "there now"
        end = end if self.lives[0].main else "on another branch alone"
        return f"<RowLife of {self.name}, {self.where}: {versions}, {end}{doubt}>"


# Joins what is seen from state to state to versions of rows, and versions to lives.


@dataclass
class _Open:
    """A version that is seen on the line that is followed: since which of its places, and where it is now."""

    version: Version
    since: int
    seen: Seen


class Follower:
    """Joins what is seen from state to state to versions, and these to lives."""

    def __init__(self, states: States, identity: Identity) -> None:
        self.states = states
        self.past = states.past
        self.identity = identity
        self.words = Words(states)
        self.lives: list[Life] = []
        self._by_key: dict[Hashable, list[Life]] = {}
        self._life_of: dict[int, Life] = {}
        self._forks: dict[int, dict[Ident, _Open]] = {}
        self._visible: dict[int | None, list[int]] = {}

    def follow(self) -> None:
        """Follow every line."""
        needed = {line.before for line in self.past.lines if line.before is not None}
        for line in self.past.lines:
            self._follow_line(line, needed)

    def _follow_line(self, line: Line, needed: set[int]) -> None:
        branch = "" if line is self.past.lines[0] else line.name or "no branch"
        start = {} if line.before is None else self._forks.get(line.before, {})
        current = {ident: _Open(one.version, 0, one.seen) for ident, one in start.items()}
        units: dict[Hashable, Unit] = {} if line.before is None else self.states.read(line.before)
        for index, (before, place) in enumerate(line.walk()):
            now = self.states.read(place)
            self._step(_Step(line, branch, index, before, place), current, compare_units(units, now))
            units = now
            if place in needed:
                self._forks[place] = {
                    ident: _Open(one.version, 0, one.seen) for ident, one in current.items()
                }
        for one in current.values():
            one.version.places.update(line.places[one.since :])

    def _step(self, step: _Step, current: dict[Ident, _Open], change: Change) -> None:
        for old, new in change.moved:
            self._move(step, current, old, new)
        ended: dict[Hashable, list[Seen]] = {}
        for seen in change.ended:
            ended.setdefault(seen.key, []).append(seen)
        fresh: list[Seen] = []
        for seen in change.started:
            moved = self._find_moved(step, ended.get(seen.key, ()), seen)
            if moved is None:
                fresh.append(seen)
            else:
                ended[seen.key].remove(moved)
                self._move(step, current, moved, seen)
        alive = (
            Counter(id(self._life_of[id(one.version)]) for one in current.values()) if fresh else Counter()
        )
        for seen in fresh:
            left = ended.get(seen.key)
            old_version = None
            if left:
                old_version = self._end(step, current, left.pop(0), seen)
                alive[id(self._life_of[id(old_version)])] -= 1
            version = self._begin(step, seen, old_version, alive)
            alive[id(self._life_of[id(version)])] += 1
            current[seen.ident] = _Open(version, step.index, seen)
        for seens in ended.values():
            for seen in seens:
                self._end(step, current, seen, None)

    def _find_moved(self, step: _Step, ended: Sequence[Seen], seen: Seen) -> Seen | None:
        """Find the row of which this one is a copy: of the same values, of a file that the state no longer has."""
        visible = self._list_visible(step.place)
        for row in ended:
            if any(freeze(row.values[place]) != freeze(seen.values[place]) for place in visible):
                continue
            if self.states.merge_of(step.place):
                is_copy = row.record.sequence == seen.record.sequence
            else:
                if step.held is None:
                    step.held = {file.number for file, _, _ in self.states.list_files(step.place)}
                is_copy = row.record.file not in step.held
            if is_copy:
                return row
        return None

    def _list_visible(self, place: int) -> list[int]:
        """List the places of the columns that a reader of a state sees: a rewrite loses those that were dropped before."""
        snapshot = self.past.snapshot(place)
        key = snapshot.schema_id
        if key not in self._visible:
            self._visible[key] = [slot for _, slot in self.states.slots.list_names(snapshot)]
        return self._visible[key]

    def _move(self, step: _Step, current: dict[Ident, _Open], old: Seen, new: Seen) -> None:
        one = current.pop(old.ident)
        snapshot = self.past.snapshot(step.place)
        how = f"by {self.words.name_commit(step.before, step.place)}"
        path = self.states.by_number[new.record.file].file.path
        one.version.moves.append(
            Move(path, new.record.position, snapshot.id, snapshot.committed_at, how, step.branch)
        )
        one.seen = new
        current[new.ident] = one

    def _end(self, step: _Step, current: dict[Ident, _Open], seen: Seen, heir: Seen | None) -> Version:
        one = current.pop(seen.ident)
        one.version.places.update(step.line.places[one.since : step.index])
        snapshot = self.past.snapshot(step.place)
        kind, how = self.words.explain_end(seen, step.before, step.place, heir)
        one.version.ends.append(
            End(kind, how, snapshot.id, snapshot.committed_at, step.branch, heir is not None)
        )
        return one.version

    def _begin(self, step: _Step, seen: Seen, old: Version | None, alive: Counter[int]) -> Version:
        life = self._life_of[id(old)] if old is not None else self._find_life(seen.key, alive)
        before = old or next(
            (one for one in reversed(life.versions) if one.branch in ("", step.branch)), None
        )
        snapshot = self.past.snapshot(step.place)
        slots = self.states.slots.slots
        visible = () if before is None else self._list_visible(step.place)
        changed = tuple(
            slots[place].name
            for place in visible
            if before is not None and freeze(before.stored[place]) != freeze(seen.values[place])
        )
        is_later = step.before is None and Living.of(self.past.table).begins_later(snapshot)
        if step.before is not None:
            writer = self.words.name_writer(step.before, step.place, seen)
        elif is_later:
            writer = f"a commit before {snapshot.id}"
        elif snapshot.id is not None:
            writer = f"{Living.of(self.past.table).describe_commit(snapshot)} {snapshot.id}"
        else:
            writer = "the listing"
        today = self.states.slots.today
        version = Version(
            life.number,
            len(life.versions) + 1,
            {
                slot.name: value
                for place, (slot, value) in enumerate(zip(slots, seen.values, strict=True))
                if place < today or value is not None
            },
            self.states.by_number[seen.record.file].file.path,
            seen.record.position,
            snapshot.committed_at,
            snapshot.id,
            writer,
            step.branch,
            changed,
            is_later,
            tuple(slots[place].name for place in seen.unknown),
            seen.record.row_id,
            stored=seen.values,
        )
        life.versions.append(version)
        self._life_of[id(version)] = life
        return version

    def _find_life(self, key: Hashable, alive: Counter[int]) -> Life:
        """Find the life of a key that has no row now, else a new one."""
        lives = self._by_key.setdefault(key, [])
        if self.identity.kind != "values":
            for life in lives:
                if not alive[id(life)]:
                    return life
        life = Life(len(self.lives) + 1, key)
        self.lives.append(life)
        lives.append(life)
        return life


@dataclass
class _Step:
    """One step of a line: its branch, the number of the step, the state before, the state."""

    line: Line
    branch: str
    index: int
    before: int | None
    place: int
    held: set[int] | None = field(default=None)
