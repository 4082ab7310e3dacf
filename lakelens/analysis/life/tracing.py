"""Traces rows through all states: chooses files, reads the rows that fit, follows them, joins their versions to lives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.conditions import parse_condition
from lakelens.analysis.life.candidates import Candidates, choose_files
from lakelens.analysis.life.following import Change, Ident, Seen, States, Unit, Words, compare_units, freeze
from lakelens.analysis.life.identity import Identity, choose_identity
from lakelens.analysis.life.lineage import list_relatives
from lakelens.analysis.life.past import Line, Past
from lakelens.analysis.life.records import OpenedFile, Reader
from lakelens.analysis.life.rows import End, Life, Looked, Move, RowLife, Version
from lakelens.analysis.life.sightings import ListedPresence, Presence, choose_paths, find_sightings, read_file
from lakelens.analysis.life.slots import Slots
from lakelens.analysis.life.values import find_rows, pick_terms, refuse_inexact
from lakelens.errors import LakeError, Unsupported
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.predicate import Condition, Constant, Group, Term, list_terms

if TYPE_CHECKING:
    from lakelens.model.datafile import DataFile
    from lakelens.model.table import Table

_MOST_TERMS = 10_000


@dataclass
class _Open:
    """A version that is seen on the line that is followed: since which of its places, and where it is now."""

    version: Version
    since: int
    seen: Seen


class _Follower:
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
            self.words.name_commit(step.before, step.place)
            if step.before is not None
            else self._name_first(step),
            step.branch,
            changed,
            step.before is None and self.past.table.begins_later(snapshot),
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
            f"{self.past.table.describe_commit(snapshot)} {snapshot.id}"
            if snapshot.id is not None
            else "the listing"
        )
        return f"a commit before {snapshot.id}" if self.past.table.begins_later(snapshot) else commit

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


class _Trace:
    """What is known of one question while it is answered."""

    def __init__(self, table: Table, where: str, most_files: int) -> None:
        self.table = table
        self.where = where
        self.most_files = most_files
        self.condition = parse_condition(where, table.schema)
        refuse_inexact(self.condition)
        self.past = Past(table)
        self.slots = Slots(table)
        self.reader = Reader(table, self.slots)
        self.total = 0
        self.is_cut = False

    def choose(self, condition: Condition) -> Candidates:
        """The files that may hold rows. Raises `LakeError` for more than are opened."""
        found = choose_files(self.past, condition)
        self.total = max(self.total, found.total)
        if len(found.paths) > self.most_files:
            many = f"{len(found.paths):,} data files of all states may hold such rows"
            message = f"{many}; {self.most_files:,} are opened at most"
            raise LakeError(
                message, path=self.table.location, hint="a narrower predicate, or a larger most_files"
            )
        return found

    def find_files(self, paths: Sequence[str]) -> tuple[Any, list[DataFile]]:
        """In which states files are, and the files themselves."""
        if not self.past.survey.manifests:
            presence: Any = ListedPresence(self.past, paths)
            return presence, list(presence.files.values())
        sightings = [one for one in find_sightings(self.past, choose_paths(paths)) if one.content == "data"]
        first = {one.path: one for one in reversed(sightings) if one.weight > 0}
        return Presence(self.past, sightings), [read_file(self.past, one) for one in first.values()]


def trace_rows(table: Table, where: str, most_files: int) -> RowLife:
    """The lives of the rows that a predicate is about; see `Table.row`."""
    before = table.reads
    trace = _Trace(table, where, most_files)
    current = table.current
    merge = None if current is None else table.open_merge(current, trace.slots.by_id)
    keys = merge.keys if merge is not None else table.schema.identifier_names
    of_keys = pick_terms(trace.condition, keys)
    is_of_keys = of_keys is not None and _count(of_keys) == _count(trace.condition)
    asked = trace.condition
    if merge is not None and merge.is_combining and not is_of_keys:
        asked = of_keys if of_keys is not None else Constant("TRUE", True)
    found = trace.choose(asked)
    presence, files = trace.find_files(found.paths)
    opened = trace.reader.read(files, asked)
    records = [record for one in opened for record in one.records]
    has_ids = bool(records) and all(record.row_id is not None for record in records)
    identity = choose_identity(table, trace.slots, trace.condition, has_row_ids=has_ids)
    if identity.is_tracked and not is_of_keys and asked is trace.condition and records:
        wanted = {identity.identify(record) for record in records}
        asked = _ask_for_keys(table, identity, opened)
        found = trace.choose(asked)
        presence, files = trace.find_files(found.paths)
        trace.reader.count = 0
        opened = _keep(trace.reader.read(files, asked), identity, wanted)
    states, follower = _follow(trace, presence, opened, identity)
    if identity.kind == "row id":
        opened, states, follower = _follow_ids(trace, opened, states, follower, identity)
        files = [one.file for one in opened]
    lives = follower.lives if is_of_keys or merge is None else _keep_fitting(trace, follower.lives)
    errors = dict.fromkeys(error.reason for error in (*trace.reader.errors, *states.errors))
    doubts = [*errors, *(f"{keeper.name} cannot be read" for keeper in trace.past.unread)]
    doubts += [f"{state.name}: a manifest list cannot be read" for state in trace.past.states if state.unread]
    if trace.is_cut:
        doubts.append(f"further versions of rows may be in more than {most_files:,} files")
    now = table.reads
    looked = Looked(
        len(files),
        len(found.paths),
        trace.total,
        sum(len(one.records) for one in opened),
        states.count_deletes(),
        now.requests - before.requests,
        now.bytes - before.bytes,
    )
    numbered = _number(lives)
    return RowLife(
        table,
        where,
        trace.past,
        trace.slots,
        identity,
        numbered,
        looked,
        doubts,
        merge.words if merge else "",
    )


def _follow(
    trace: _Trace, presence: Any, opened: Sequence[OpenedFile], identity: Identity
) -> tuple[States, _Follower]:
    """Follow the rows of some files."""
    deletes = trace.table.open_deletes([one.file for one in opened])
    states = States(trace.past, presence, opened, trace.slots, identity.identify, deletes)
    follower = _Follower(states, identity)
    follower.follow()
    return states, follower


def _follow_ids(
    trace: _Trace, opened: list[OpenedFile], states: States, follower: _Follower, identity: Identity
) -> tuple[list[OpenedFile], States, _Follower]:
    """Follow rows by their ids to versions that do not fit the predicate, commit by commit."""
    ids = {record.row_id for one in opened for record in one.records}
    first = {
        one.file.path for one in opened
    }  # they may hold other versions of the same rows, which do not fit
    looked = set[str]()
    while True:
        paths = list_relatives(trace.past, follower.lives, opened) - looked
        if not paths or len(looked | first | paths) > trace.most_files:
            trace.is_cut = bool(paths)
            return opened, states, follower
        paths |= first - looked
        known = [one for one in opened if one.file.path in looked]
        looked |= paths
        _, files = trace.find_files(sorted(paths))
        opened = _number_files([*known, *trace.reader.read(files, Constant("TRUE", True), ids)])
        presence, _ = trace.find_files([one.file.path for one in opened])
        states, follower = _follow(trace, presence, opened, identity)


def _number_files(opened: Sequence[OpenedFile]) -> list[OpenedFile]:
    """Files and their records numbered again."""
    return [
        replace(one, number=number, records=[replace(record, file=number) for record in one.records])
        for number, one in enumerate(opened)
    ]


def _count(condition: Condition) -> int:
    return len(list(list_terms(condition)))


def _number(lives: Sequence[Life]) -> list[Life]:
    """Lives numbered again, in the order of their beginning; those without a version are none."""
    kept = [life for life in lives if life.versions]
    for number, life in enumerate(kept, 1):
        life.number = number
        for version in life.versions:
            version.row = number
    return kept


def _ask_for_keys(table: Table, identity: Identity, opened: Sequence[OpenedFile]) -> Condition:
    """A predicate that no row of the keys fails; others may fit it too."""
    fields = {field.name: field for field in table.schema.fields}
    parts: list[Condition] = []
    for name, place in zip(identity.columns, identity.places, strict=True):
        kind = fields[name].type
        values = list(dict.fromkeys(record.values[place] for one in opened for record in one.records))
        if None in values or len(values) > _MOST_TERMS or kind.is_nested:
            continue
        parts.append(Term(f"{name} of the rows", name, kind, "in", tuple(values), fields[name].id))
    if not parts:
        return Constant("TRUE", True)
    return parts[0] if len(parts) == 1 else Group("the keys of the rows", "and", tuple(parts))


def _keep(opened: Sequence[OpenedFile], identity: Identity, wanted: set[Hashable]) -> list[OpenedFile]:
    for one in opened:
        one.records = [record for record in one.records if identity.identify(record) in wanted]
    return [one for one in opened if one.records]


def _keep_fitting(trace: _Trace, lives: Sequence[Life]) -> list[Life]:
    """The lives of which some version fits the predicate: of merged rows only then it is known."""
    versions = [version for life in lives for version in life.versions]
    columns = {}
    for term in list_terms(trace.condition):
        place = trace.slots.by_name.get(term.column)
        if place is None:
            raise Unsupported(f"merged rows are not chosen by {term.column}, a part of a column")
        kind: Any = arrow_type(term.type)
        array = to_array([version.stored[place] for version in versions], kind)
        columns[term.column] = getattr(array, "storage", array)
    fits = find_rows(trace.condition, columns, len(versions)) if versions else ()
    chosen = {version.row for version, is_fit in zip(versions, fits, strict=True) if is_fit}
    return [life for life in lives if life.number in chosen]
