"""Joins what is seen from state to state to versions of rows, and versions to lives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from lakelens.analysis.life.following import Change, Ident, Seen, States, Unit, Words, compare_units, freeze
from lakelens.analysis.life.identity import Identity
from lakelens.analysis.life.past import Line
from lakelens.analysis.life.rows import End, Life, Move, Version
from lakelens.model.life.living import Living


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
        """The row of which this one is a copy: of the same values, of a file that the state no longer has."""
        visible = self._list_visible(step.place)
        for one in ended:
            if all(freeze(one.values[place]) == freeze(seen.values[place]) for place in visible) and (
                one.record.sequence == seen.record.sequence
                if self.states.merge_of(step.place)
                else self._is_gone(step, one)
            ):
                return one
        return None

    def _list_visible(self, place: int) -> list[int]:
        """The places of the columns that a reader of a state sees: a rewrite loses those that were dropped before."""
        snapshot = self.past.snapshot(place)
        key = snapshot.schema_id
        if key not in self._visible:
            self._visible[key] = [slot for _, slot in self.states.slots.list_names(snapshot)]
        return self._visible[key]

    def _is_gone(self, step: _Step, seen: Seen) -> bool:
        if step.held is None:
            step.held = {one.number for one, _, _ in self.states.list_files(step.place)}
        return seen.record.file not in step.held

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
            self.words.name_writer(step.before, step.place, seen)
            if step.before is not None
            else self._name_first(step),
            step.branch,
            changed,
            step.before is None and Living.of(self.past.table).begins_later(snapshot),
            tuple(slots[place].name for place in seen.unknown),
            seen.record.row_id,
            stored=seen.values,
        )
        life.versions.append(version)
        self._life_of[id(version)] = life
        return version

    def _name_first(self, step: _Step) -> str:
        snapshot = self.past.snapshot(step.place)
        commit = (
            f"{Living.of(self.past.table).describe_commit(snapshot)} {snapshot.id}"
            if snapshot.id is not None
            else "the listing"
        )
        return (
            f"a commit before {snapshot.id}" if Living.of(self.past.table).begins_later(snapshot) else commit
        )

    def _find_life(self, key: Hashable, alive: Counter[int]) -> Life:
        """The life of a key that has no row now, else a new one."""
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
