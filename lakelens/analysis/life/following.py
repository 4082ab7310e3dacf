"""Follows rows from state to state along each line of time: what is seen where, what began, what ended it.

A state is divided into units: a data file where each row stands for itself, a bucket where rows of a key are merged. A unit
is looked at again only when its files or the deletes that reach them are others than before.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from lakelens.caching import cached_property
from lakelens.display import Named
from lakelens.errors import LakeError
from lakelens.model.deletes import unite_positions
from lakelens.model.life.living import Living
from lakelens.model.stats import Condition, Group, Term

if TYPE_CHECKING:
    from lakelens.analysis.life.past import Past, Presence
    from lakelens.analysis.life.records import OpenedFile, Slots
    from lakelens.model.deletes import DeleteMatch
    from lakelens.model.life.living import FileDeletes, Merge, Record
    from lakelens.model.table import Table


Ident = Hashable
_KEPT_STATES = 4


@dataclass(frozen=True, slots=True)
class Seen:
    """One row as a reader of a state sees it: its values, the stored row that they are (or that decided last)."""

    ident: Ident
    key: Hashable
    values: tuple[Any, ...]
    record: Record
    unknown: tuple[int, ...] = ()


@dataclass
class Unit:
    """What a state's unit is made of, and the rows that a reader sees in it."""

    mark: Hashable
    rows: dict[Ident, Seen]


class States:
    """The rows that readers see at each state, by unit."""

    def __init__(
        self,
        past: Past,
        presence: Presence,
        opened: Sequence[OpenedFile],
        slots: Slots,
        identify: Any,
        deletes: FileDeletes,
    ) -> None:
        self.past = past
        self.presence = presence
        self.files = {one.file.path: one for one in opened}
        self.by_number = {one.number: one for one in opened}
        self.slots = slots
        self._identify = identify
        self.deletes = deletes
        self._units: dict[Hashable, dict[Hashable, Unit]] = {}
        self._positions: dict[Hashable, Any] = {}
        self._merges: dict[Any, Merge | None] = {}
        self._listed: dict[int, list[tuple[OpenedFile, int | None, Sequence[DeleteMatch]]]] = {}
        self.errors: list[LakeError] = []

    def list_files(self, place: int) -> list[tuple[OpenedFile, int | None, Sequence[DeleteMatch]]]:
        """List the opened files that a state has, with their levels then and the deletes that reach them."""
        if place not in self._listed:
            for known in list(self._listed)[: -_KEPT_STATES + 1]:
                del self._listed[known]
            snapshot = self.past.snapshot(place)
            has_deletes = self.deletes.mark(snapshot) is not None
            found = []
            for sighting in self.presence.find(place):
                one = self.files.get(sighting.path)
                if one is not None:
                    found.append(
                        (one, sighting.level, self.deletes.match(snapshot, one.file) if has_deletes else ())
                    )
            self._listed[place] = found
        return self._listed[place]

    def merge_of(self, place: int) -> Merge | None:
        """Say how rows are merged at a state."""
        snapshot = self.past.snapshot(place)
        if snapshot.schema_id not in self._merges:
            self._merges[snapshot.schema_id] = Living.of(self.past.table).open_merge(
                snapshot, self.slots.by_id
            )
        return self._merges[snapshot.schema_id]

    def read(self, place: int) -> dict[Hashable, Unit]:
        """Read the units of a state; those that are as they were in another state are the same objects."""
        merge = self.merge_of(place)
        units: dict[Hashable, list[Any]] = {}
        for one, level, matches in self.list_files(place):
            if merge is not None and not merge.sees(level, one.file.bucket):
                continue
            name: Hashable = one.number
            if merge is not None:
                name = (str(one.file.partition), one.file.bucket)
            units.setdefault(name, []).append((one, level, matches))
        return {name: self._read_unit(name, parts, merge, place) for name, parts in units.items()}

    def _read_unit(self, name: Hashable, parts: list[Any], merge: Merge | None, place: int) -> Unit:
        schema = self.past.snapshot(place).schema_id if merge is not None else None
        mark = (schema, *((one.number, frozenset(map(mark_delete, matches))) for one, _, matches in parts))
        known = self._units.setdefault(name, {})
        if mark not in known:
            rows: dict[Ident, Seen] = {}
            try:
                rows = self._merge(parts, merge) if merge is not None else self._list_rows(parts)
            except LakeError as error:
                self.errors.append(error)
            known[mark] = Unit(mark, rows)
        return known[mark]

    def count_deletes(self) -> int:
        """Count the delete files and vectors that reach the files in some state."""
        places = (place for place in range(len(self.past.states)) if not self.past.is_changelog(place))
        files = (file for place in places for file in self.list_files(place))
        return len({mark_delete(match) for _, _, matches in files for match in matches})

    def list_left(self, one: OpenedFile, matches: Sequence[DeleteMatch]) -> Iterator[Record]:
        """List the rows of a file that no delete deletes."""
        if not matches:
            yield from one.records
            return
        key = (one.number, frozenset(map(mark_delete, matches)))
        if key not in self._positions:
            self._positions[key] = unite_positions(matches, one.file.record_count)
        gone = self._positions[key]
        yield from (record for record in one.records if record.position not in gone)

    def _list_rows(self, parts: list[Any]) -> dict[Ident, Seen]:
        found: dict[Ident, Seen] = {}
        for one, _, matches in parts:
            for record in self.list_left(one, matches):
                ident = (one.number, record.position)
                found[ident] = Seen(ident, self._identify(record), record.values, record)
        return found

    def group(self, parts: Sequence[Any]) -> Mapping[Hashable, list[Record]]:
        """Group the records of each key."""
        keys: dict[Hashable, list[Record]] = {}
        for one, _, matches in parts:
            for record in self.list_left(one, matches):
                keys.setdefault(self._identify(record), []).append(record)
        return keys

    def _merge(self, parts: list[Any], merge: Merge) -> dict[Ident, Seen]:
        found: dict[Ident, Seen] = {}
        for key, records in self.group(parts).items():
            merged = merge.merge(records)
            if merged.values is not None:
                ident = (key, merged.last.sequence, freeze(merged.values))
                found[ident] = Seen(ident, key, merged.values, merged.last, merged.unknown)
        return found


def mark_delete(match: DeleteMatch) -> Hashable:
    """Say what distinguishes a delete from others."""
    return (match.kind, match.file.path, match.offset)


def freeze(value: Any) -> Hashable:
    """A value that can be looked up: lists and dictionaries as tuples; NaN equals NaN.

    >>> freeze([1, {"a": [2]}]), freeze(float("nan")) == freeze(float("nan"))
    ((1, (('a', (2,)),)), True)
    """
    if isinstance(value, list | tuple):
        return tuple(map(freeze, value))
    if isinstance(value, dict):
        return tuple((freeze(key), freeze(held)) for key, held in value.items())
    if isinstance(value, float) and value != value:
        return "NaN"
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value  # type: ignore[no-any-return]


@dataclass
class Change:
    """What is different in a state from the one before: rows that were seen and are not, and rows that are new."""

    ended: list[Seen] = field(default_factory=list)
    started: list[Seen] = field(default_factory=list)
    moved: list[tuple[Seen, Seen]] = field(default_factory=list)


def compare_units(before: Mapping[Hashable, Unit], now: Mapping[Hashable, Unit]) -> Change:
    """Compare the rows that began and ended between two states; only units that differ are looked at."""
    change = Change()
    gone: dict[Ident, Seen] = {}
    came: dict[Ident, Seen] = {}
    for name in dict.fromkeys((*before, *now)):
        old, new = before.get(name), now.get(name)
        if old is new:
            continue
        gone |= old.rows if old is not None else {}
        came |= new.rows if new is not None else {}
    for ident, seen in gone.items():
        other = came.get(ident)
        if other is None:
            change.ended.append(seen)
        elif (other.record.file, other.record.position) != (seen.record.file, seen.record.position):
            change.moved.append((seen, other))
    change.started += (seen for ident, seen in came.items() if ident not in gone)
    return change


class Words:
    """Says why a row is no longer seen."""

    def __init__(self, states: States) -> None:
        self._states = states
        self._past = states.past

    @cached_property
    def _table(self) -> Any:
        return self._past.table

    def name_commit(self, before: int | None, place: int) -> str:
        """Name the commit that made a state, or that commits between have expired."""
        snapshot = self._past.snapshot(place)
        if not self._past.is_next(before, place):
            return f"a commit before {snapshot.id}; those between have expired"
        return f"{Living.of(self._table).describe_commit(snapshot)} {snapshot.id}"

    def name_writer(self, before: int | None, place: int, seen: Seen) -> str:
        """Name the commit that wrote a row, and the one since which readers see it where that is another."""
        commit = self.name_commit(before, place)
        if not self._past.is_next(before, place):
            return commit
        file = self._states.by_number[seen.record.file].file
        writer = Living.of(self._table).find_row_writer(
            self._past.snapshot(place), file, seen.record.sequence
        )
        if writer is None:
            return commit
        return f"{Living.of(self._table).describe_commit(writer)} {writer.id}, visible since {commit}"

    def explain_end(self, seen: Seen, before: int | None, place: int, heir: Seen | None) -> tuple[str, str]:
        """Explain what ended a row between two states: the kind, and the words."""
        commit = self.name_commit(before, place) if heir is None else self.name_writer(before, place, heir)
        merge = self._states.merge_of(place)
        if merge is not None:
            return self._explain_merge(seen, place, heir, commit)
        one = self._states.by_number[seen.record.file]
        held = next((parts for parts in self._states.list_files(place) if parts[0] is one), None)
        if held is None:
            if heir is not None:
                return "overwrite", f"its file was rewritten by {commit}"
            return "file removed", f"its file was removed by {commit}, and the row went on in no other"
        known = (
            set()
            if before is None
            else {
                mark_delete(match)
                for held, _, found in self._states.list_files(before)
                if held is one
                for match in found
            }
        )
        for match in held[2]:
            if mark_delete(match) not in known and seen.record.position in match.positions:
                noun = match.kind.replace("_", " ").removesuffix("s") if "delet" in match.kind else match.kind
                on = (
                    f" on {', '.join(match.columns)}"
                    if match.columns and match.kind == "equality_deletes"
                    else ""
                )
                name = match.file.path.rpartition("/")[2]
                return noun, f"{noun}{on} of {commit}, in {name}"
        return "delete", f"deleted by {commit}"

    def _explain_merge(self, seen: Seen, place: int, heir: Seen | None, commit: str) -> tuple[str, str]:
        if heir is not None:
            record = heir.record
            name = self._name_file(record)
            return "newer record", f"a record with sequence number {record.sequence} of {commit}, in {name}"
        for one, level, matches in self._states.list_files(place):
            merge = self._states.merge_of(place)
            if merge is None or not merge.sees(level, one.file.bucket):
                continue
            for record in self._states.list_left(one, matches):
                if (
                    record.removes
                    and self._states._identify(record) == seen.key
                    and record.sequence >= seen.record.sequence
                ):
                    kind = "-D" if record.kind == 3 else "-U"
                    name = self._name_file(record)
                    return (
                        "delete record",
                        f"{kind} with sequence number {record.sequence} of {commit}, in {name}",
                    )
        if any(one.number == seen.record.file for one, _, _ in self._states.list_files(place)):
            return "deletion vector", f"a deletion vector of {commit}"
        return "file removed", f"its file was removed by {commit}"

    def _name_file(self, record: Record) -> str:
        name = self._states.by_number[record.file].file.path.rpartition("/")[2]
        return f"{name}, row {record.position:,}"


# By what a row of one version is known to be the row of another: a key, a row id, or what the predicate names.


@dataclass(frozen=True)
class Identity(Named):
    """What identifies a row: the kind, the columns, and the places of their values."""

    kind: Literal["primary key", "identifier fields", "row id", "predicate", "values"]
    columns: tuple[str, ...]
    places: tuple[int, ...]

    @property
    def is_tracked(self) -> bool:
        """Whether versions that do not fit the predicate belong to the row too, and can be looked for."""
        return self.kind in ("primary key", "identifier fields")

    @property
    def follows(self) -> bool:
        """Whether a row is known to be gone when no later version is found: else a later one may not fit the predicate."""
        return self.is_tracked or self.kind == "row id"

    @property
    def words(self) -> str:
        """In words."""
        columns = ", ".join(self.columns)
        return {
            "primary key": f"by primary key ({columns})",
            "identifier fields": f"by identifier fields ({columns})",
            "row id": "by row id (row lineage)",
            "predicate": f"by what the predicate names ({columns}): the table has no key",
            "values": "by all values alone: the table has no key, and the predicate names no single value",
        }[self.kind]

    def identify(self, record: Record) -> Hashable:
        """Identify what is equal for versions of one row."""
        if self.kind == "row id":
            return record.row_id
        return tuple(freeze(record.values[place]) for place in self.places)


def choose_identity(table: Table, slots: Slots, condition: Condition, *, has_row_ids: bool) -> Identity:
    """Choose the strongest identity that a table has."""
    names = tuple(name for name in table.schema.identifier_names if name in slots.by_name)
    if names:
        kind: Literal["primary key", "identifier fields"] = "identifier fields"
        if getattr(table, "primary_keys", None):
            kind = "primary key"
        return Identity(kind, names, tuple(slots.by_name[name] for name in names))
    if has_row_ids:
        return Identity("row id", (), ())
    parts = condition.parts if isinstance(condition, Group) and condition.kind == "and" else (condition,)
    equal = [part.column for part in parts if isinstance(part, Term) and part.test in ("=", "in")]
    found = tuple(dict.fromkeys(name for name in equal if name in slots.by_name))
    if found:
        return Identity("predicate", found, tuple(slots.by_name[name] for name in found))
    return Identity("values", (), tuple(range(slots.today)))
