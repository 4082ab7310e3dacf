"""The states of a table as lines of time: of the branch that was opened, of other branches, and what no branch leads to.

states    each state that keeps files once, in the order of commits, with the manifests that it names
aliases   under which names it is kept: snapshots, tags, branches, changelogs
lines     places of states, the oldest first; `before` is the state that a branch was made from
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.errors import LakeError, Missing, list_nearest, say_value
from lakelens.model.arrow import text_array
from lakelens.model.check.ledger import Ledger
from lakelens.model.check.references import Keeper, Referring
from lakelens.model.check.survey import State, Survey
from lakelens.model.snapshot import Snapshot

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.datafile import DataFile
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
        """Walk each state with the one before it."""
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
        for keeper in Referring.of(self.table).list_states():
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
        """Find the place of a snapshot's state; None where there is none."""
        return self._places.get((branch, number))

    def is_changelog(self, place: int) -> bool:
        """Check whether only a changelog is left of a state."""
        return self.states[place].roles == ("changelog",)

    def is_next(self, before: int | None, place: int) -> bool:
        """Check whether a state was made from another one, with none between."""
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
        """List the name, the numbering and the newest state of each branch, that of the opened one first."""
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


# Where some files are: in which states, by which entry of which manifest. Each manifest is read once, by column.
#
#     keys       a file under one level (Paimon), one offset (a vector in a Puffin file) and one deletion vector (a log)
#     net        for each key and state the weights of its entries: the state has the file where they add up to more than 0;
#                in a log the weight of the last one
#     entries    for each key and state the last entry that says that the file is there
#
# The weights are those of `analysis.check.holdings`: 1 where an entry adds a file, -1 where a Paimon entry takes one away,
# 0 for an Iceberg entry that says which commit removed one.

_LIVE = ("ADDED", "EXISTING", "ADD")
_PLAIN = ("path", "recorded_path", "manifest", "status", "content", "snapshot_id", "level", "first_row_id")
#: The columns that distinguish entries of one path, by the names of a sighting's.
_PARTS = {"offset": "content_offset", "vector": "vector_id"}
_MOST_NAMES = 2_000
_FIRST_LETTERS = 6

Choose = Callable[["pa.Array", "dict[str, pa.Array]"], "pa.Array"]


@dataclass(frozen=True, slots=True)
class Sighting:
    """One entry of a file: the manifest by number, the entry's place there, and what it says."""

    manifest: int
    entry: int
    path: str
    recorded_path: str | None
    status: str
    content: str
    snapshot_id: int | None
    level: int | None
    first_row_id: int | None
    offset: int | None
    vector: str | None = None

    @property
    def weight(self) -> int:
        """How the entry counts."""
        return 1 if self.status in _LIVE else -1 if self.status == "DELETE" else 0

    @property
    def key(self) -> tuple[str, int | None, int | None, str | None]:
        """Which file it is of."""
        return (self.path, self.level, self.offset, self.vector)


def find_sightings(past: Past, choose: Choose) -> list[Sighting]:
    """Find the entries that are chosen by their paths, in the order of the manifests; all entries are read, by column."""
    import pyarrow.compute as pc

    survey, found = past.survey, list[Sighting]()
    numbers = {manifest.path: number for number, manifest in enumerate(survey.manifests)}
    counted = dict.fromkeys(numbers.values(), 0)
    for batch in survey.read_batches((*_PLAIN, *_PARTS.values())):
        plain = batch.plain
        mask = pc.fill_null(choose(plain["path"], plain), False)
        rows = pc.indices_nonzero(mask)
        hits = rows.to_pylist()
        places = _count_places(plain["manifest"], hits, numbers, counted)
        columns = {name: plain[name].take(rows).to_pylist() for name in _PLAIN if plain.get(name) is not None}
        for name, column in _PARTS.items():
            parts = plain.get(column)
            columns[name] = [None] * len(hits) if parts is None else parts.take(rows).to_pylist()
        for row, place in enumerate(places):
            values = {name: column[row] for name, column in columns.items() if name != "manifest"}
            for name in ("recorded_path", "snapshot_id", "level", "first_row_id"):
                values.setdefault(name, None)
            found.append(Sighting(numbers[columns["manifest"][row]], place, **values))
    return found


def _count_places(
    manifests: pa.Array, hits: Sequence[int], numbers: dict[str, int], counted: dict[int, int]
) -> list[int]:
    """Count the places of some rows in their manifests; `counted` goes on from batch to batch."""
    import numpy as np

    encoded = manifests.dictionary_encode()
    codes = encoded.indices.to_numpy()
    known = [numbers[path] for path in encoded.dictionary.to_pylist()]
    found = [0] * len(hits)
    sizes = np.bincount(codes, minlength=len(known)).tolist()
    for code, number in enumerate(known):
        rows = np.flatnonzero(codes == code) if len(known) > 1 and len(hits) else None
        for row, hit in enumerate(hits):
            if codes[hit] == code:
                found[row] = counted[number] + (hit if rows is None else int(np.searchsorted(rows, hit)))
        counted[number] += sizes[code]
    return found


def choose_paths(paths: Iterable[str]) -> Choose:
    """Chooses entries by whole paths."""

    wanted = text_array(list(paths))

    def choose(column: pa.Array, plain: dict[str, pa.Array]) -> pa.Array:
        import pyarrow.compute as pc

        return pc.is_in(column, value_set=wanted)

    return choose


def find_named(past: Past, name: str) -> list[Sighting]:
    """The entries of the one file that a path or a name means. Raises `Missing`, and `LakeError` where it means several."""
    (base,) = text_array([posixpath.basename(name.rstrip("/"))]).to_pylist()

    def choose(column: pa.Array, plain: dict[str, pa.Array]) -> pa.Array:
        import pyarrow.compute as pc

        return pc.or_kleene(pc.ends_with(column, "/" + base), pc.equal(column, base))

    found = find_sightings(past, choose) if base else []
    root = past.table.location.rstrip("/") + "/"
    whole = name if name.startswith(root) else root + name.lstrip("/")
    for fits in (
        lambda one: name in (one.path, one.recorded_path),
        lambda one: one.path == whole,
        lambda one: one.path.endswith("/" + name.lstrip("/")),
    ):
        chosen = [one for one in found if fits(one)]
        if chosen:
            break
    else:
        raise Missing(
            f"no state of {past.table.name} has a file {say_value(name)}",
            path=root[:-1],
            hint=_advise(past, base),
        )
    paths = sorted({one.path for one in chosen})
    if len(paths) > 1:
        raise LakeError(
            f"{say_value(name)} is the name of {len(paths):,} files",
            path=root[:-1],
            hint=f"one of {', '.join(paths[:5])}",
        )
    return chosen


def _advise(past: Past, base: str) -> str:
    """Advise the nearest names of files, of those that begin alike; else where to look."""
    import pyarrow.compute as pc

    alike: dict[str, None] = {}
    some: dict[str, None] = {}
    for batch in past.survey.read_batches(("path", "manifest")):
        paths = batch.plain["path"]
        names = (
            pc.utf8_replace_slice(paths, 0, 0, "")
            if not len(paths)
            else pc.replace_substring_regex(paths, r"^.*/", "")
        )
        near = names.filter(pc.starts_with(names, base[:_FIRST_LETTERS])) if base else names
        alike |= dict.fromkeys(near[: _MOST_NAMES - len(alike)].to_pylist())
        some |= dict.fromkeys(names[: max(0, 5 - len(some))].to_pylist())
    if not (alike or some):
        return "it has no files"
    inside = [known for known in alike if base in known]
    if base and inside:
        return f"did you mean {' or '.join(inside[:3])}?"
    return list_nearest(base, alike or some)


class Presence:
    """In which states some files are, by their entries."""

    def __init__(self, past: Past, sightings: Sequence[Sighting]) -> None:
        import numpy as np

        self.past = past
        self.sightings = sightings
        self.keys = list(dict.fromkeys(sighting.key for sighting in sightings))
        numbers = {key: number for number, key in enumerate(self.keys)}
        shape = (len(self.keys), len(past.states))
        self._net: NDArray[np.int16] = np.zeros(shape, np.int16)
        self._last: NDArray[np.int32] = np.full(shape, -1, np.int32)
        holders, manifests = past.survey.holders, past.survey.manifests
        is_log = past.table.traits.keeps_log
        order = list(range(len(sightings)))
        if is_log:  # a later commit may have an earlier time
            order.sort(key=lambda row: manifests[sightings[row].manifest].added_snapshot_id or 0)
        for row in order:
            one = sightings[row]
            if one.weight:
                places = np.fromiter(holders[one.manifest], np.int64, len(holders[one.manifest]))
                key = numbers[one.key]
                self._net[key, places] = one.weight if is_log else self._net[key, places] + one.weight
                if one.weight > 0:
                    self._last[key, places] = row

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """For each key and state whether the state has the file."""
        found: NDArray[np.bool_] = self._net > 0
        return found

    def find(self, place: int) -> list[Sighting]:
        """Find the entries by which a state has the files."""
        return [self.sightings[self._last[key, place]] for key in self.held[:, place].nonzero()[0].tolist()]

    def get(self, key: int, place: int) -> Sighting:
        """Give the entry by which a state has a file."""
        return self.sightings[int(self._last[key, place])]


class ListedPresence:
    """The same of a format that has no manifests: which of some files its states have, by their sets of files."""

    def __init__(self, past: Past, paths: Sequence[str]) -> None:
        wanted = set(paths)
        self.files: dict[str, DataFile] = {}
        self._held: list[list[Sighting]] = []
        for state in past.states:
            found = [file for file in state.snapshot.files if file.path in wanted]
            self.files |= {file.path: file for file in found}
            self._held.append(
                [
                    Sighting(
                        0,
                        0,
                        file.path,
                        file.recorded_path,
                        "ADDED",
                        file.content,
                        None,
                        file.level,
                        None,
                        None,
                    )
                    for file in found
                ]
            )

    def find(self, place: int) -> list[Sighting]:
        """See `Presence.find`."""
        return self._held[place]


def read_file(past: Past, sighting: Sighting) -> DataFile:
    """Read the file of an entry, decoded alone. Raises `LakeError`."""
    manifest = past.survey.manifests[sighting.manifest]
    file = manifest.read_entry(sighting.entry).file
    if manifest.folded:  # row ids of some entries go on from those before them
        vars(file)["first_row_id"] = sighting.first_row_id
    return file
