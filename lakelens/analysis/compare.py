"""Two places, one table? A copy, a backup, a mirror: what is the same, what is missing, what is different.

    each side by itself     what its own metadata names and is not there, or has another length than recorded
    both together           schemas, snapshots, refs; the live files of the newest state that both have
    file by file            by place below the table and length; documents by all bytes, data files too where that is asked

A copy is judged by what is in it: a file that is missing is missing, also where it still stands at its recorded place.
Documents with other bytes say the same where only recorded places differ, as in a copy whose metadata was written again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from lakelens.analysis.check.strays import Strays, find_strays
from lakelens.analysis.holdings import Listing
from lakelens.caching import cached_property
from lakelens.display import Displayable, Named
from lakelens.errors import LakeError
from lakelens.model.charts import count_noun
from lakelens.model.check.references import Referring
from lakelens.model.collections import Items, Tabular
from lakelens.model.facts.facts import Fact

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.manifest import Manifest, ManifestList
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

Name = Literal["a", "b"]
State = Literal["SAME", "DIFFERENT", "MISSING", "BEHIND"]
_PLACES = (
    "path",
    "recorded_path",
    "manifest",
    "referenced_data_path",
    "referenced_data_file",
    "external_path",
)
_MOST_NAMES = 3  # of what differs in a line
#: roles of files that are no documents
_OF_ROWS = re.compile(r"\bdata\b|delete|vector|changelog|sidecar|index")


@dataclass(frozen=True, slots=True)
class Likeness(Named):
    """One thing that was compared: what it is in `a` and in `b`, its state, and by what it was compared.

    `state` is "SAME", "DIFFERENT", "MISSING" (of what a side names itself) or "BEHIND" (one side has gone on).
    """

    name: str
    a: str
    b: str
    state: State
    by: str = ""


class Likenesses(Items[Likeness]):
    """What was compared, from the table to its files."""

    __slots__ = ()
    facts = (Fact("name"), Fact("a"), Fact("b"), Fact("state"), Fact("by"))


@dataclass(frozen=True, slots=True)
class Difference(Named):
    """A file that is not the same in both: `state` is "MISSING", "OTHER LENGTH", "OTHER BYTES", "UNREADABLE" or "ONLY".

    `side` is where it is missing, unreadable, of another length than recorded, or alone; None where that is so of both.
    `snapshots` are the ids of the states that need it there, `is_live` whether the newest does. Sizes are those that are
    stored; of a missing file None.
    """

    state: Literal["MISSING", "OTHER LENGTH", "OTHER BYTES", "UNREADABLE", "ONLY"]
    side: Name | None
    role: str
    relative_path: str
    a_bytes: int | None
    b_bytes: int | None
    is_live: bool = False
    snapshots: tuple[int, ...] = ()
    why: str = ""


class Differences(Items[Difference]):
    """Files that are not the same in both."""

    __slots__ = ()
    facts = (
        Fact("state"),
        Fact("side"),
        Fact("role"),
        Fact("relative_path"),
        Fact("a_bytes", "int64"),
        Fact("b_bytes", "int64"),
        Fact("is_live", "bool"),
        Fact("snapshots", "ids"),
        Fact("why"),
    )


class Side:
    """One of the two tables: its listing, what its own metadata lacks, and what nothing there refers to."""

    def __init__(self, name: Name, table: Table) -> None:
        self.name, self.table = name, table
        self.root = table.location.rstrip("/") + "/"
        listing = Listing(table)
        self.strays: Strays = find_strays(table, listing=listing)
        paths = map(self.shorten, listing.paths.to_pylist())
        self.sizes: Mapping[str, int] = dict(zip(paths, listing.sizes.tolist(), strict=True))
        others = (self.strays.orphans, self.strays.young, self.strays.hidden, self.strays.foreign)
        self.loose = frozenset(stray.relative_path for strays in others for stray in strays)

    def shorten(self, path: str) -> str:
        """The place of a file below the table; what is elsewhere keeps its whole path."""
        return path.removeprefix(self.root)

    def find_role(self, relative_path: str) -> str:
        """What a file is for, by its place and name."""
        return Referring.of(self.table).find_purpose(relative_path).role

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """What each of its own files is for."""
        return {path: self.find_role(path) for path in self.owned}

    @cached_property
    def owned(self) -> Mapping[str, int]:
        """The sizes of the files that are the table's: those that something refers to, or that readers find by name."""
        return {path: size for path, size in self.sizes.items() if path not in self.loose}

    @cached_property
    def misplaced(self) -> frozenset[str]:
        """Names of files that are there and count as missing: their place cannot be worked out, as without a schema."""
        there = {path.rpartition("/")[2] for path in self.loose}
        return frozenset(there & {path.rpartition("/")[2] for path in self.lost} if there else ())

    @cached_property
    def lost(self) -> frozenset[str]:
        """The files that are missing here."""
        return frozenset(map(self.shorten, self.strays.lost_paths.to_pylist()))

    def may_refer_to(self, path: str) -> bool:
        """Whether a file is there that something may refer to: it cannot be read, or does not say the place."""
        is_named = bool(self.strays.unread) or path.rpartition("/")[2] in self.misplaced
        return path in self.loose and is_named

    @cached_property
    def ids(self) -> Mapping[int, Snapshot]:
        """Its snapshots by id."""
        return {snapshot.id: snapshot for snapshot in self.table.snapshots if snapshot.id is not None}

    @cached_property
    def lists(self) -> Mapping[str, ManifestList]:
        """Its manifest lists by place."""
        return {
            self.shorten(listed.path): listed
            for snapshot in self.table.snapshots
            for listed in snapshot.manifest_lists
            if listed.path is not None
        }

    @cached_property
    def manifests(self) -> Mapping[str, Manifest]:
        """Its manifests by place, as far as lists can be read."""
        return {
            self.shorten(manifest.path): manifest
            for snapshot in self.table.snapshots
            for listed in snapshot.manifest_lists
            for manifest in listed.walk()[0]
        }

    @cached_property
    def recorded(self) -> str:
        """Where its documents say that it is."""
        return (self.table.relocation.recorded_location or self.root).rstrip("/")

    def say_without_places(self, relative_path: str) -> Any:
        """Say what a document holds, but for recorded places."""
        if relative_path in self.manifests:
            rows = self.manifests[relative_path].entries.to_arrow().to_pylist()
            return [self._leave_out_places(row) for row in rows]
        if relative_path in self.lists:
            rows = self.lists[relative_path].manifests.to_arrow().drop_columns(["size_bytes"]).to_pylist()
            return [self._leave_out_places(row) for row in rows]
        return self._leave_out_root(self.table.storage.read_document(self.root + relative_path))

    def _leave_out_places(self, row: Mapping[str, Any]) -> dict[str, Any]:
        place = self.shorten(row["path"]) if isinstance(row.get("path"), str) else None
        return {"place": place, **{key: value for key, value in row.items() if key not in _PLACES}}

    def _leave_out_root(self, held: Any) -> Any:
        if isinstance(held, dict):
            return {key: self._leave_out_root(value) for key, value in held.items()}
        if isinstance(held, list):
            return [self._leave_out_root(value) for value in held]
        return held.replace(self.recorded, "") if isinstance(held, str) else held


@dataclass(frozen=True)
class Comparison(Tabular, Displayable):
    """The answer of `lakelens.compare`: whether two places hold one table.

    `same` is true where nothing differs, nothing is missing and neither is behind. `rows` are what was compared,
    `differences` the files; `at` is the newest state that both have (None: there is none, or the format keeps none).
    `behind` counts the commits of `a` that `b` lacks since, `ahead` those of `b` that `a` lacks. `reads_data` says whether
    bytes of data files were compared, `other_bytes` how many documents differ in recorded places alone.
    """

    a: Table
    b: Table
    rows: Likenesses
    differences: Differences
    at: int | None = None
    behind: int = 0
    ahead: int = 0
    reads_data: bool = False
    files: int = 0
    other_bytes: int = 0
    notes: Sequence[str] = field(default=())

    @property
    def same(self) -> bool:
        """Whether it is one table in both places, whole, and of one state."""
        return not self.differences and all(row.state == "SAME" for row in self.rows)

    @cached_property
    def missing(self) -> Differences:
        """The files that one side names itself and lacks, or cannot be read there."""
        return Differences(
            difference for difference in self.differences if difference.state in ("MISSING", "UNREADABLE")
        )

    @cached_property
    def verdict(self) -> Literal["same", "not whole", "different", "behind", "other table"]:
        """What it comes to, the gravest first."""
        if any(row.name == "table" and row.state == "DIFFERENT" for row in self.rows):
            return "other table"
        if self.missing:
            return "not whole"
        different = any(row.state in ("DIFFERENT", "MISSING") for row in self.rows)
        if different or any(difference.state != "ONLY" for difference in self.differences):
            return "different"
        return "same" if self.same else "behind"

    @property
    def detail(self) -> str:
        """What the verdict is about: how many files are missing, what differs, how far one side is behind."""
        if self.verdict == "not whole":
            sides = Counter(difference.side or "both" for difference in self.missing)
            return ", ".join(f"{count_noun(sides[side], 'file')} missing in {side}" for side in sorted(sides))
        if self.verdict == "different":
            names = [row.name for row in self.rows if row.state == "DIFFERENT"]
            return _join(names) or count_noun(len(self.differences), "file")
        if self.verdict == "behind":
            commits = (("b", self.behind), ("a", self.ahead))
            parts = (f"{side} is {count_noun(number, 'commit')} behind" for side, number in commits if number)
            return ", ".join(parts) or "one side has gone on"
        return ""

    @property
    def headline(self) -> str:
        """What it comes to, in a few words."""
        whole = {"same": "the same table", "other table": "two tables", "behind": self.detail}
        return whole.get(self.verdict) or f"{self.verdict}: {self.detail}"

    def to_arrow(self) -> pa.Table:
        """One row for each file that is not the same: the columns of `Differences`."""
        return self.differences.to_arrow()

    def __repr__(self) -> str:
        return f"<Comparison of {self.a.name} with {self.b.name}: {self.headline}>"


def _join(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def compare_tables(a: Table, b: Table, data: bool = False) -> Comparison:
    """Compare two tables of one format: see `lakelens.compare`."""
    return _Comparer(Side("a", a), Side("b", b), data).compare()


class _Comparer:
    """Compares two tables of one format."""

    def __init__(self, a: Side, b: Side, data: bool) -> None:
        self.a, self.b, self.data = a, b, data
        self.rows: list[Likeness] = []
        self.differences: list[Difference] = []
        self.other_bytes = 0
        recorded = [side.table.relocation.recorded_location for side in (a, b)]
        self.has_other_places = recorded[0] != recorded[1]
        #: places outside of both, as of a shallow clone: what is there is in neither copy
        self.outside = set(a.strays.not_looked_for) & set(b.strays.not_looked_for)

    def compare(self) -> Comparison:
        """Compare from the table to its files."""
        self._compare_identity()
        at, behind, ahead = self._compare_states()
        self._compare_files(has_gone_on=bool(behind or ahead))
        if at is not None or not self.a.table.traits.has_snapshots:
            self._compare_live(at)
        return Comparison(
            self.a.table,
            self.b.table,
            Likenesses(self.rows),
            Differences(sorted(self.differences, key=lambda found: (found.state, found.relative_path))),
            at,
            behind,
            ahead,
            self.data,
            len(self.a.owned.keys() | self.b.owned.keys()),
            self.other_bytes,
            (f"Outside of both, and not looked for: {_join(sorted(self.outside))}.",) if self.outside else (),
        )

    def _add(self, name: str, a: object, b: object, by: str, *, state: State | None = None) -> None:
        chosen: State = state or ("SAME" if a == b else "DIFFERENT")
        shown = [f"{value:,}" if isinstance(value, int) else str(value) for value in (a, b)]
        self.rows.append(Likeness(name, shown[0], shown[1], chosen, by))

    def _compare_identity(self) -> None:
        """Compare what each says that it is."""
        a, b = self.a.table, self.b.table
        if a.uuid is not None or b.uuid is not None:
            self._add("table", a.uuid, b.uuid, "its UUID")
        elif self.a.ids and self.b.ids:
            shared = [number for number in self.a.ids if number in self.b.ids]
            times = [self.a.ids[number].committed_at == self.b.ids[number].committed_at for number in shared]
            state: State = "SAME" if any(times) else "DIFFERENT"
            self._add("table", a.name, b.name, "times of the same snapshots", state=state)
        if a.format_version is not None or b.format_version is not None:
            self._add("format version", str(a.format_version), str(b.format_version), "the value")
        schemas = [
            [getattr(schema, "raw", None) or repr(schema) for schema in table.schemas] for table in (a, b)
        ]
        self._add_listed("schemas", schemas, "ids, names and types of columns")
        specs = [[repr(spec) for spec in table.specs] for table in (a, b)]
        self._add_listed("partitioning", specs, "its fields")
        properties = [dict(table.properties) for table in (a, b)]
        self._add_listed("properties", properties, "names and values")

    def _add_listed(self, name: str, held: Sequence[Any], by: str) -> None:
        """Compare lists or mappings, of which the row shows how many there are."""
        state: State = "SAME" if held[0] == held[1] else "DIFFERENT"
        self._add(name, len(held[0]), len(held[1]), by, state=state)

    def _compare_states(self) -> tuple[int | None, int, int]:
        """Compare snapshots and refs: the newest state that both have, and what each has committed since."""
        a, b = self.a, self.b
        if not a.table.traits.has_snapshots:
            return None, 0, 0
        known = {snapshot.id for snapshot in walk_back(b.table)}
        # the newest state that both have is among the ancestors of each one's current snapshot
        at = next((snapshot.id for snapshot in walk_back(a.table) if snapshot.id in known), None)
        behind, ahead = (_count_since(side, at) for side in (a, b))
        if at is None and not (a.ids and b.ids):  # one is from before the first commit
            behind, ahead = len(a.ids), len(b.ids)
        in_both = a.ids.keys() & b.ids.keys()
        differing = [number for number in in_both if _describe(a.ids[number]) != _describe(b.ids[number])]
        has_gone_on = bool(behind or ahead)
        kept = len(a.ids) - behind == len(in_both) == len(b.ids) - ahead
        state: State = "DIFFERENT" if differing or not kept else "BEHIND" if has_gone_on else "SAME"
        by = "id, parent, time and summary"
        if not kept and not differing:
            by = "ids: one side has expired what the other keeps"
        self._add("snapshots", len(a.ids), len(b.ids), by, state=state)
        newest = [str(side.table.current.id) if side.table.current else "none" for side in (a, b)]
        self._add("current snapshot", newest[0], newest[1], "its id", state="BEHIND" if has_gone_on else None)
        refs = [{(ref.name, ref.type, ref.snapshot_id) for ref in side.table.refs} for side in (a, b)]
        moved = {name for name, _, _ in refs[0] ^ refs[1]}
        is_behind = has_gone_on and moved <= {side.table.branch_name or "main" for side in (a, b)}
        if refs[0] or refs[1]:
            state = "SAME" if not moved else "BEHIND" if is_behind else "DIFFERENT"
            self._add(
                "refs", len(refs[0]), len(refs[1]), "names and the snapshots that they point to", state=state
            )
        return at, behind, ahead

    def _compare_files(self, has_gone_on: bool) -> None:
        """Compare file by file: what each lacks by itself first, then what both have, then what one alone has."""
        judged: set[str] = set()
        for side in (self.a, self.b):
            judged.update(self._judge(side))
        both = [path for path in self.a.owned if path in self.b.owned and path not in judged]
        for path in both:
            self._compare_file(path, has_gone_on)
        for side, other in ((self.a, self.b), (self.b, self.a)):
            for path in side.owned:
                if path not in other.owned and path not in judged and not other.may_refer_to(path):
                    self._add_only(side, other, path)
        self._count_roles(has_gone_on)

    def _judge(self, side: Side) -> Iterator[str]:
        """Judge a side by itself: what it refers to and is not there, cannot be read, or is not as long as recorded."""
        current = side.table.current
        in_both = self.a.lost & self.b.lost
        is_told = side is self.b and in_both == side.lost  # all of it was found missing in both
        missing = () if is_told else side.strays.missing
        for state, strays in (("MISSING", missing), ("OTHER LENGTH", side.strays.resized)):
            for stray in strays:
                path = stray.relative_path
                if state == "MISSING" and path.rpartition("/")[2] in side.misplaced:
                    continue
                is_shared = state == "MISSING" and path in in_both
                if not (is_shared and side is self.b):
                    is_live = current is not None and current.id in stray.snapshots
                    where = None if is_shared else side
                    needed = (is_live, stray.snapshots)
                    self._add_difference(state, where, stray.role, path, stray.reason, *needed)
                yield path
        for path in set(side.strays.not_looked_for) - self.outside:
            why = "recorded outside of the table's directory, where nothing was read"
            self._add_difference("MISSING", side, "file", path, why)
            yield path
        for unread in side.strays.unread:
            path = side.shorten(unread.path)
            if path in side.sizes:
                self._add_difference("UNREADABLE", side, side.find_role(path), path, unread.reason)
                yield path

    def _add_difference(
        self,
        state: Any,
        side: Side | None,
        role: str,
        path: str,
        why: str,
        is_live: bool = False,
        snapshots: tuple[int, ...] = (),
    ) -> None:
        name = None if side is None else side.name
        sizes = (self.a.sizes.get(path), self.b.sizes.get(path))
        self.differences.append(Difference(state, name, role, path, *sizes, is_live, snapshots, why))

    def _compare_file(self, path: str, has_gone_on: bool) -> None:
        role = self.a.roles[path]
        if has_gone_on and "hint" in role:
            return  # it names the newest state
        is_document = _is_document(role)
        if not is_document and self.a.sizes[path] != self.b.sizes[path]:
            self._add_difference("OTHER LENGTH", None, role, path, "the same name, of two lengths")
        elif is_document or self.data:
            try:
                self._compare_bytes(path, role, is_document)
            except LakeError as error:
                self._add_difference("UNREADABLE", None, role, path, error.reason)

    def _compare_bytes(self, path: str, role: str, is_document: bool) -> None:
        digests = [side.table.storage.read_digest(side.root + path) for side in (self.a, self.b)]
        if digests[0] == digests[1]:
            return
        if is_document and self.has_other_places and "hint" not in role:
            with suppress(LakeError):  # where what it holds cannot be read its bytes count
                if self.a.say_without_places(path) == self.b.say_without_places(path):
                    self.other_bytes += 1
                    return
        same = "of the same length" if self.a.sizes[path] == self.b.sizes[path] else "of another length"
        self._add_difference("OTHER BYTES", None, role, path, f"other bytes, {same}")

    def _add_only(self, side: Side, other: Side, path: str) -> None:
        """Add a file that one side alone has: there the other's metadata does not name it."""
        why = f"{other.name} does not refer to it"
        if path in other.sizes:
            why += ", though it is there"
        self._add_difference("ONLY", side, side.roles[path], path, why)

    def _count_roles(self, has_gone_on: bool) -> None:
        """Count the files of each role on both sides, with the gravest that was found of any."""
        found: dict[str, set[str]] = {}
        counts = [Counter(side.roles.values()) for side in (self.a, self.b)]
        for difference in self.differences:
            found.setdefault(difference.role, set()).add(difference.state)
        for role in sorted(counts[0].keys() | counts[1].keys() | found.keys()):
            states = found.get(role, set())
            state: State = "SAME"
            if states & {"MISSING", "UNREADABLE"}:
                state = "MISSING"
            elif states - {"ONLY"}:
                state = "DIFFERENT"
            elif states:
                state = "BEHIND" if has_gone_on else "DIFFERENT"
            by = "all bytes" if self.data or _is_document(role) else "name and length"
            self._add(_name_files(role), counts[0][role], counts[1][role], by, state=state)

    def _compare_live(self, at: int | None) -> None:
        """Compare the live files of the newest state that both have, as each records them."""
        live = []
        for side in (self.a, self.b):
            state = side.table.current if at is None else side.ids[at]
            names = ["path", "content", "size_bytes", "record_count"]
            paths, *others = (
                ((),) * len(names)
                if state is None
                else state.files.to_arrow(stats=False, columns=names).to_pydict().values()
            )
            live.append(Counter(zip(map(side.shorten, paths), *others, strict=True)))
        by = "place, content, recorded length and rows" + ("" if at is None else f", at {at}")
        is_same: State = "SAME" if live[0] == live[1] else "DIFFERENT"
        self._add("live files", live[0].total(), live[1].total(), by, state=is_same)
        rows_of = [
            sum((rows or 0) * times for (_, content, _, rows), times in files.items() if content == "data")
            for files in live
        ]
        self._add("rows of data files", rows_of[0], rows_of[1], "recorded counts")


def _is_document(role: str) -> bool:
    return _OF_ROWS.search(role) is None


def _name_files(role: str) -> str:
    """Name the files of a role.

    >>> [_name_files(role) for role in ("manifest", "data", "deletion vectors", "data file")]
    ['manifest files', 'data files', 'deletion vectors', 'data files']
    """
    if role.endswith("s"):
        return role
    return f"{role}s" if role.endswith("file") else f"{role} files"


def _describe(snapshot: Snapshot) -> tuple[Any, ...]:
    """What a snapshot says of itself, but for places."""
    summary = dict(snapshot.summary or {})
    return snapshot.parent_id, snapshot.committed_at, snapshot.operation, snapshot.schema_id, summary


def walk_back(table: Table) -> Iterator[Snapshot]:
    """Walk from the current snapshot to its parent and on, as far as they are kept.

    `Snapshot.walk_ancestors` bounds how many documents a card reads; a copy may be further behind.
    """
    snapshot = table.current
    seen: set[int | None] = set()
    while snapshot is not None and snapshot.id not in seen:
        seen.add(snapshot.id)
        yield snapshot
        snapshot = snapshot.parent


def _count_since(side: Side, at: int | None) -> int:
    """Count the commits of a side since a state; none where there is no such state."""
    if at is None:
        return 0
    return next(number for number, snapshot in enumerate(walk_back(side.table)) if snapshot.id == at)
