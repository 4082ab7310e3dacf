"""Traces rows through all states: chooses files, reads the rows that fit, follows them, joins their versions to lives."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.conditions import parse_condition
from lakelens.analysis.explain.files import FileFacts, judge_files, list_leaves
from lakelens.analysis.explain.levels import judge_manifests
from lakelens.analysis.life.following import Identity, States, choose_identity
from lakelens.analysis.life.past import (
    ListedPresence,
    Past,
    Presence,
    choose_paths,
    find_sightings,
    read_file,
)
from lakelens.analysis.life.records import OpenedFile, Reader, Slots, find_rows, pick_terms, refuse_inexact
from lakelens.analysis.life.rows import Follower, Life, Looked, RowLife
from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.check.ledger import name_some
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.life.living import Living
from lakelens.model.scan.placement import open_placement
from lakelens.model.scan.plan import FileBatch, ScanRequest
from lakelens.model.stats import Condition, Constant, Group, Term, list_terms

if TYPE_CHECKING:
    from lakelens.analysis.life.rows import Version
    from lakelens.model.datafile import DataFile
    from lakelens.model.scan.plan import FileScan
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table


# Which files of all states may hold rows of a predicate: by partitions, buckets, keys and bounds, as `explain` judges
# them.
#
# A file is judged once, whatever number of states has it, and skipped only on proof. Manifests are judged by what their
# lists say first, and those that are left are read once.

_LIVE = ("ADDED", "EXISTING", "ADD")


class Candidates:
    """The paths of the files that are left, of how many `total` that were looked at."""

    def __init__(self, paths: list[str], total: int, manifests: int) -> None:
        self.paths = paths
        self.total = total
        self.manifests = manifests


def choose_files(past: Past, condition: Condition) -> Candidates:
    """Choose the data files of all states in which a row may fit."""
    table, survey = past.table, past.survey
    manifests = [manifest for manifest in survey.manifests if manifest.content == "data"]
    if not manifests:
        files = gather_files(past)
        facts = FileFacts(files, open_placement(table), None)
        kept = judge_files(condition, facts).kept
        paths = facts.column("path")
        chosen = [] if paths is None else paths.filter(_to_arrow(kept)).to_pylist()
        return Candidates(list(dict.fromkeys(chosen)), len(facts), 0)
    kept = judge_manifests(condition, manifests, open_placement(table)).kept
    left = [one for one, is_left in zip(manifests, kept.tolist(), strict=True) if is_left]
    scan = table.scan_manifests(left) if left else None
    if not left:
        return Candidates([], 0, 0)
    pool = gather_files(past) if scan is None else _Pool(scan)
    leaves = [name for term in list_terms(condition) for name in list_leaves(term)]
    facts = FileFacts(pool, open_placement(table), leaves)
    chosen_files = judge_files(condition, facts).kept
    column = facts.column("path")
    found = [] if column is None else column.filter(_to_arrow(chosen_files)).to_pylist()
    return Candidates(list(dict.fromkeys(found)), len(facts), len(left))


def _to_arrow(mask: Any) -> Any:
    import pyarrow as pa

    return pa.array(mask)


def gather_files(past: Past) -> FileSet:
    """Gather the files of all states, of a format that has no plan to read them by column."""
    files: dict[Any, DataFile] = {}
    gather = _gather_log if past.table.traits.keeps_log else _gather_states
    for file in gather(past):
        if file.content == "data":
            files[file.identity] = file
    columns = past.states[-1].snapshot.files.columns if past.states else FileColumns()
    return FileSet(lambda: files.values(), lambda: columns)


def _gather_states(past: Past) -> Iterator[DataFile]:
    for state in past.states:
        yield from state.snapshot.files


def _gather_log(past: Past) -> Iterator[DataFile]:
    """Iterate the files of the first state of each checkpoint, and those that commits add: each commit is read once."""
    known: set[int] = set()
    for state in sorted(past.states, key=lambda state: state.snapshot.id or 0):
        new = [(role, manifest) for number, role, manifest in state.manifests if number not in known]
        known.update(number for number, _, _ in state.manifests)
        if any(role == "checkpoint" for role, _ in new):
            yield from state.snapshot.files
        for role, manifest in new:
            if role != "checkpoint":
                entries, error = manifest.walk()
                yield from (entry.file for entry in entries if entry.status in _LIVE)
                if error is not None:
                    past.table.findings.add_error(error, manifest.path, state.ids)


class _Pool:
    """The files that entries add, each once: as much of a set of files as is judged."""

    def __init__(self, scan: FileScan) -> None:
        self._scan = scan
        self._seen: set[str] = set()

    @property
    def columns(self) -> FileColumns:
        """See `FileSet.columns`."""
        return self._scan.columns

    def read_with(self, request: ScanRequest) -> list[FileBatch]:
        """See `FileSet.read_with`."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        from lakelens.model.scan.scan_to_arrow import iterate_batches

        columns = (*(request.columns or ()), "status")
        chosen = []
        for batch in iterate_batches(self._scan, replace(request, columns=columns, entries=True)):
            status, paths = batch.plain["status"], batch.plain["path"].to_pylist()
            live = pc.is_in(status, value_set=pa.array(_LIVE)).to_numpy(zero_copy_only=False)
            for row in np.flatnonzero(live).tolist():
                if paths[row] in self._seen:
                    live[row] = False
                self._seen.add(paths[row])
            chosen.append(batch.filter(pa.array(live)))
        return chosen


# Versions of a row that do not fit the predicate: found by row id in the files that a commit wrote or took rows from.
#
# Follows "Row Lineage" of the Iceberg table specification: a row that is updated or moved keeps its `_row_id`. The version
# after one that ended is in a file that the commit added; the version before is in a file that the commit removed or that
# its deletion vectors are for. So only the files of those commits are opened, and not all that keep row ids.


def list_relatives(past: Past, lives: Sequence[Life], opened: Sequence[OpenedFile]) -> set[str]:
    """The paths of the files in which further versions may be, of those that the commits of the known versions concern."""
    files = {one.file.path: one.file for one in opened}
    snapshots = {state.snapshot.id: state.snapshot for state in past.states}
    after, before = set[int | None](), set[int | None]()
    for life in lives:
        for version in life.versions:
            after.update(end.snapshot_id for end in version.ends if not end.is_followed)
            if _is_carried(version, files.get(version.file)):
                before.add(version.since_id)
    paths: set[str] = set()
    for number in after:
        paths.update(_list_added(snapshots.get(number)))
    for number in before:
        paths.update(_list_sources(snapshots.get(number)))
    return paths


def _is_carried(version: Version, file: Any) -> bool:
    """Whether the first version that is known came from another file: its row id is not one that its file was given."""
    first = getattr(file, "first_row_id", None)
    if version.number != 1 or version.row_id is None or file is None:
        return False
    return first is None or not first <= version.row_id < first + (file.record_count or 0)


def _list_added(snapshot: Snapshot | None) -> Iterator[str]:
    """List the data files that a commit added."""
    if snapshot is None:
        return
    try:
        yield from (file.path for file in snapshot.changes.added if file.content == "data")
    except LakeError:
        return


def _list_sources(snapshot: Snapshot | None) -> Iterator[str]:
    """List the data files that a commit removed, or took rows from."""
    if snapshot is None:
        return
    try:
        changes = snapshot.changes
        yield from (file.path for file in changes.removed if file.content == "data")
        for file in changes.added:
            target = getattr(file, "referenced_data_path", None)
            if file.content != "data" and target is not None:
                yield target
    except LakeError:
        return


_MOST_TERMS = 10_000


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
        """Choose the files that may hold rows. Raises `LakeError` for more than are opened."""
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
        sightings = [
            sighting
            for sighting in find_sightings(self.past, choose_paths(paths))
            if sighting.content == "data"
        ]
        first = {sighting.path: sighting for sighting in reversed(sightings) if sighting.weight > 0}
        return Presence(self.past, sightings), [read_file(self.past, one) for one in first.values()]


def trace_rows(table: Table, where: str, most_files: int) -> RowLife:
    """Trace the lives of the rows that a predicate is about; see `Table.row`."""
    before = table.reads
    trace = _Trace(table, where, most_files)
    current = table.current
    merge = None if current is None else Living.of(table).open_merge(current, trace.slots.by_id)
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
    unread = trace.reader.unread
    asked_for = {file.path for file in files}.union(unread)
    reasons = dict.fromkeys(error.reason for error in states.errors)
    for error in states.errors:
        table.findings.add_error(error, table.location)
    doubts = [
        *_describe_unread(unread, max(len(asked_for), len(found.paths))),
        *reasons,
        *(f"{keeper.name} cannot be read" for keeper in trace.past.unread),
    ]
    doubts += [f"{state.name}: a manifest list cannot be read" for state in trace.past.states if state.unread]
    if trace.is_cut:
        doubts.append(f"further versions of rows may be in more than {most_files:,} files")
    read = table.reads - before
    looked = Looked(
        len(asked_for) - len(unread),
        len(found.paths),
        trace.total,
        sum(len(one.records) for one in opened),
        states.count_deletes(),
        read.requests,
        read.bytes,
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


def _describe_unread(unread: Mapping[str, LakeError], count: int) -> Iterator[str]:
    """Describe which of the files that may hold such rows are not there, and which cannot be read, and why."""
    gone = [path for path, error in unread.items() if isinstance(error, Missing)]
    damaged: dict[str, list[str]] = {}
    for path, error in unread.items():
        if path not in gone:
            damaged.setdefault(error.reason, []).append(path.rpartition("/")[2])
    noun = f"{count:,} file{'s' * (count != 1)} that may hold it"
    if gone:
        some = name_some([path.rpartition("/")[2] for path in gone])
        yield f"{len(gone):,} of {noun} {'is' if len(gone) == 1 else 'are'} not there: {some}"
    for reason, names in damaged.items():
        yield f"{len(names):,} of {noun} cannot be read: {name_some(names, 2)}: {reason}"


def _follow(
    trace: _Trace, presence: Any, opened: Sequence[OpenedFile], identity: Identity
) -> tuple[States, Follower]:
    """Follow the rows of some files."""
    deletes = Living.of(trace.table).open_deletes([one.file for one in opened])
    states = States(trace.past, presence, opened, trace.slots, identity.identify, deletes)
    follower = Follower(states, identity)
    follower.follow()
    return states, follower


def _follow_ids(
    trace: _Trace, opened: list[OpenedFile], states: States, follower: Follower, identity: Identity
) -> tuple[list[OpenedFile], States, Follower]:
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
        known += trace.reader.read(files, Constant("TRUE", True), ids)
        opened = [
            replace(file, number=number, records=[replace(record, file=number) for record in file.records])
            for number, file in enumerate(known)
        ]
        presence, _ = trace.find_files([one.file.path for one in opened])
        states, follower = _follow(trace, presence, opened, identity)


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
    """Give a predicate that no row of the keys fails; others may fit it too."""
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
    """Keep the lives of which some version fits the predicate: of merged rows only then it is known."""
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
