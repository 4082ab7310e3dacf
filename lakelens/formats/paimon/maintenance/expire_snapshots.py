"""`expire_snapshots`: the oldest snapshots of a branch go, with the files that only they need.

    snapshots    earliest … end: at most `retain_max` stay, at least `retain_min`, none that is younger than `older_than`,
                 none that a consumer still reads, at most `max_deletes` go
    data files   what commits begin + 1 … end removed, unless the tag before that commit has it
    changelogs   those that the snapshots that go have made
    metadata     what neither the first snapshot that stays nor a tag between them names

Other branches are not looked at: files that only they need are deleted too. From 2.0 on a snapshot is as old as the commit
that followed it. Follows `ExpireSnapshotsImpl` and `ConsumerManager` of Paimon 0.9 and 2.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Missing
from lakelens.formats.paimon.listed_files import plan_scan, plan_tasks
from lakelens.formats.paimon.maintenance.deletion import (
    AT,
    ENGINE,
    Deletion,
    Skips,
    describe_damage,
    describe_engine,
    describe_fate,
    find_before,
    is_new_engine,
    list_others,
    list_overlapped,
    list_tagged,
    name_table,
    read_now,
    require_paimon,
    skip_none,
    to_millis,
    warn_of_others,
    write_call,
)
from lakelens.formats.paimon.maintenance.estimates import write_hint
from lakelens.formats.paimon.maintenance.settings import Settings, parse_span
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.roles import name_role
from lakelens.model.check.references import Referring
from lakelens.model.maintenance import Assumption, Fate, Option, Piece, Procedure, Proposal
from lakelens.model.scan.plan import ScanRequest

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.manifest import PaimonManifest
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.table import Table


_MANY = 2**31 - 1
_GOES = "only snapshots that go need it"


@dataclass(frozen=True, slots=True)
class Range:
    """The snapshots `ids` go, `end` is the first that stays; `why` says what keeps it."""

    ids: tuple[int, ...]
    end: int
    why: str


def choose_range(
    branch: PaimonTable, values: Mapping[str, Any], is_new: bool, ahead: int = 0
) -> Range | None:
    """Which snapshots go, after `ahead` more commits; None where there are none. Raises `LakeError` for what stops it."""
    ids = branch.context.pointer.ids
    if not ids:
        return None
    earliest, latest = ids[0], ids[-1] + ahead
    most, least = values.get("retain_max", _MANY), values.get("retain_min", 1)
    if most < least:
        raise LakeError(f"retain_max is {most}, less than retain_min, which is {least}: the engine refuses")
    limits = [(latest - least + 1, f"retain_min: the newest {least:,} {'stays' if least == 1 else 'stay'}")]
    limits += [
        (number, f"consumer {name} reads on from snapshot {number}")
        for name, number in branch.consumers.items()
    ]
    limits.append((earliest + values.get("max_deletes", _MANY), "max_deletes: no more go at a time"))
    end, why = min(limits)
    first = max(latest - most + 1, earliest)
    asked = [number for number in ids if first <= number < end]
    young = _find_young(branch, asked, values.get("older_than"), is_new)
    if young is not None:
        end, why = young
    end = max(end, earliest)
    return Range(_list_going(ids, end, is_new), end, why)


def _list_going(ids: Sequence[int], end: int, is_new: bool) -> tuple[int, ...]:
    """List the snapshots before `end`; 0.9 takes a gap for the place where an expiry before it has stopped."""
    going = [number for number in ids if number < end]
    if is_new:
        return tuple(going)
    after = end
    for place in range(len(going) - 1, -1, -1):
        if going[place] != after - 1:
            return tuple(going[place + 1 :])
        after = going[place]
    return tuple(going)


def _find_young(
    branch: PaimonTable, numbers: Sequence[int], before: datetime | None, is_new: bool
) -> tuple[int, str] | None:
    """Find the first snapshot that is too young to go, and why."""
    if before is None:
        why = "no older_than: only what retain_max does not keep goes"
        return (numbers[0], why) if numbers else None
    limit = to_millis(before)
    for number in numbers:
        asked = number + 1 if is_new else number
        if not branch.has_snapshot(asked):
            continue
        snapshot = branch.find_numbered(asked)
        if snapshot is None:
            raise LakeError(
                f"snapshot {asked} cannot be read: the engine fails before it deletes anything",
                path=branch.context.layout.document("snapshot", asked),
            )
        if limit <= snapshot.time_millis:
            age = "until not before" if is_new else "not older than"
            return number, f"{age} {before:%Y-%m-%d %H:%M:%S}"
    return None


def describe_automatic(branch: PaimonTable, now: datetime, is_new: bool, ahead: int) -> list[str]:
    """What the expiry at the end of a write takes, by the table's own settings; `ahead` commits are made before it."""
    settings = Settings(branch.context.options, bool(branch.primary_keys))
    most = settings.number("snapshot.num-retained.max", _MANY)
    kept = settings.read("snapshot.time-retained", timedelta(hours=1), parse_span)
    values = {
        "retain_max": most,
        "retain_min": min(settings.number("snapshot.num-retained.min", 10), most),
        "older_than": now - min(kept, timedelta(days=36_500)),
        "max_deletes": settings.number("snapshot.expire.limit", 50 if is_new else 10),
    }
    try:
        chosen = choose_range(branch, values, is_new, ahead)
    except LakeError as error:
        return [f"The expiry at the end fails: {error.reason}."]
    going = () if chosen is None else chosen.ids
    if is_new and ahead and branch.context.pointer.latest in going:
        going = going[:-1]  # the commit that is made is the one that follows it, and is young
    number = len(going)
    if not number:
        return []
    which = "the oldest snapshot" if number == 1 else f"the oldest {number:,} snapshots"
    return [f"The call ends with the table's own expiry, which takes {which}: see expire_snapshots."]


def plan_expiry(table: Table, values: Mapping[str, Any]) -> Proposal:
    """Plan what `expire_snapshots` would do."""
    branch = require_paimon(table)
    is_new = is_new_engine(branch, values)
    own = {name: values.get(name) for name in ("retain_max", "retain_min", "older_than", "max_deletes")}
    call = write_call("expire_snapshots", {"table": name_table(branch), **own})
    assumptions = [
        Assumption(
            f"No commit happens in between; this was planned on snapshot {branch.context.pointer.latest}."
        ),
        describe_engine(is_new),
    ]
    if branch.context.is_on("snapshot.clean-empty-directories"):
        assumptions.append(Assumption("Directories that become empty are removed too: they are no files."))
    changes = "The current data does not change."
    try:
        chosen = choose_range(branch, values, is_new)
        unread = [name for name in branch.context.tag_names if name not in branch.tags]
        if unread:
            path = branch.context.layout.document("tag", unread[0])
            raise LakeError(f"tag {unread[0]} cannot be read: the engine fails", path=path)
        tags = list_tagged(branch)
    except LakeError as error:
        return Proposal(
            changes,
            call,
            refusal=error.reason,
            notes=[] if error.path is None else [f"It is about {error.path}."],
            assumptions=assumptions,
        )
    if chosen is None:
        notes = ["There is no snapshot."]
        kept = tuple(list_others(branch, frozenset()))
        return Proposal(changes, call, notes=notes, assumptions=assumptions, kept=kept, frees="states")
    deletion = Deletion(branch)
    failure = expire_range(deletion, chosen, tags, is_new)
    lost = [describe_fate(branch, branch.find_numbered(number), number, "expired") for number in chosen.ids]
    names = frozenset(fate.keeper for fate in lost)
    stays = [*_list_kept(branch, chosen), *list_others(branch, names)]
    notes = [*failure, *describe_damage(deletion)]
    writes = [write_hint("EARLIEST", chosen.end)] if lost else []
    return Proposal(
        changes,
        call,
        writes=writes,
        lost=lost,
        kept=stays,
        deletes=tuple(deletion.pieces.values()),
        assumptions=assumptions,
        notes=notes,
        frees="states",
        dangers=warn_of_others(branch, deletion),
    )


def _list_kept(branch: PaimonTable, chosen: Range) -> list[Fate]:
    """List the snapshots that stay, each with why: the first by what stopped the expiry, the others as they are newer."""
    kept, going = [], frozenset(chosen.ids)
    for number in branch.context.pointer.ids:
        if number not in going:
            why = chosen.why if number >= chosen.end else "before a gap: the engine passes it over"
            kept.append(describe_fate(branch, branch.find_numbered(number), number, why))
    return kept


def expire_range(
    deletion: Deletion, chosen: Range, tags: Sequence[PaimonSnapshot], is_new: bool
) -> list[str]:
    """Take the snapshots of a range away. Says where the engine fails before it is done."""
    branch = deletion.branch
    if not chosen.ids:
        return []
    states: dict[int, PaimonSnapshot] = {}
    for number in (*chosen.ids, chosen.end):
        state = branch.find_numbered(number)
        if state is None:
            return [f"Snapshot {number} cannot be read: the engine fails, and may have deleted a part."]
        states[number] = state
    for number in (*chosen.ids[1:], chosen.end):
        skips = _skip_tagged(deletion, find_before(tags, number))
        if skips is not None:
            deletion.drop_removed(states[number], skips, "replaced or deleted since")
    going = [states[number] for number in chosen.ids]
    for state in going:
        deletion.drop_added(state, "changelog", "the changelog of a snapshot that goes")
    try:
        kept = [*list_overlapped(tags, chosen.ids[0], chosen.end), states[chosen.end]]
        skipped = deletion.name_metadata(kept)
    except LakeError as error:
        # the metadata of a state that stays cannot be read
        if not is_new:
            return [
                f"The engine fails after it has deleted data files, and leaves the snapshots: {error.reason}."
            ]
        for state in going:
            deletion.drop_document("snapshot", state.id, "expired")
        return [f"The engine leaves all manifests: {error.reason}."]
    try:
        for state in going:
            deletion.drop_metadata(state, skipped, ("base", "delta", "changelog"), _GOES)
            deletion.drop_document("snapshot", state.id, "expired")
    except LakeError as error:
        return [f"The engine fails before it is done: {error.reason}."]
    return []


def _skip_tagged(deletion: Deletion, tag: PaimonSnapshot | None) -> Skips | None:
    """Skip what a tag keeps; None where that cannot be read, and the engine leaves the files."""
    if tag is None:
        return skip_none
    try:
        return deletion.list_live(tag).__contains__
    except LakeError as error:
        deletion.doubts[error.path or tag.path or ""] = (
            f"{error.reason}: the engine leaves what the tag may keep"
        )
        return None


PROCEDURE = Procedure(
    "expire_snapshots",
    "Expire snapshots",
    "the oldest snapshots go, with the files that only they need",
    (
        Option("retain_max", "integer", "the most snapshots that stay", "no limit", least=1),
        Option("retain_min", "integer", "the fewest snapshots that stay", "1", least=1),
        Option("older_than", "time", "snapshots that are not older stay", "the beginning: none is older"),
        Option("max_deletes", "integer", "the most snapshots that go at a time", "no limit", least=1),
        ENGINE,
    ),
    plan_expiry,
)


# `remove_orphan_files`: files that no state names, older than a day.
#
#     searched   `manifest`, `index`, `statistics`, and the buckets (0.9 takes all that is no bucket or partition beside
#                them
#                too, in tables with partitions); `snapshot` and `changelog` for what is none by its name
#     used       what any snapshot, tag or kept changelog of any branch names, by name alone; entries that delete count
#     age        `older_than`, a day unless it is given
#
# 0.9 takes a snapshot one of whose manifests is not there for one that is being deleted, and counts nothing of it as used.
# 2.0 counts what it can read. A document or manifest that is there and does not decode stops either. Follows
# `OrphanFilesClean` of Paimon 0.9 and 2.0.

_SHARED = ("manifest", "index", "statistics")
_OWN = {"snapshot": "snapshot-", "changelog": "changelog-"}


class UsedNames:
    """The names that the states of all branches use, as the engine gathers them."""

    def __init__(self, is_new: bool) -> None:
        self._is_new = is_new
        self._read: dict[str, Collection[str]] = {}  # by manifest the names of its files
        self._used: set[str] = set()  # the manifests whose files count
        self._named: set[str] = set()
        self.passed: list[str] = []

    def add_branch(self, branch: PaimonTable) -> None:
        """Add all states of a branch. Raises `LakeError` where the engine stops."""
        layout = branch.context.layout
        numbers = (*branch.context.pointer.stray, *branch.context.pointer.ids)
        states = [
            (branch.find_numbered(number), f"snapshot {number}", layout.document("snapshot", number))
            for number in numbers
        ]
        states += [
            (branch.tags.get(name), f"tag {name}", layout.document("tag", name))
            for name in branch.context.tag_names
        ]
        known = {snapshot.id: snapshot for snapshot in branch.changelogs}
        logs = [
            (known.get(number), f"changelog {number}", layout.document("changelog", number))
            for number in branch.context.changelog_numbers
        ]
        self._read_ahead(branch, [state for state, *_ in (*states, *logs) if state is not None])
        for state in states:
            self._add(*state)
        for state in logs:
            self._add(*state, is_log=True)

    def gather(self) -> set[str]:
        """Gather the names of all states that were added."""
        return self._named.union(*(self._read[path] for path in self._used))

    def _read_ahead(self, branch: PaimonTable, states: Iterable[PaimonSnapshot]) -> None:
        """Read the manifests of many files by column; those that are damaged are left to who needs them."""
        from lakelens.model.scan.scan_to_arrow import is_worthwhile, iterate_batches

        found: dict[str, PaimonManifest] = {}
        for state in states:
            for listed in state.manifest_lists:
                found.update((manifest.path, manifest) for manifest in listed.walk()[0])
        manifests = [manifest for path, manifest in found.items() if path not in self._read]
        if not is_worthwhile(plan_tasks(manifests)):
            return
        scan = plan_scan(branch.context, manifests)
        names: dict[str, list[str]] = {manifest.path: [] for manifest in manifests}
        columns = ("manifest", "path", "extra_files")
        for batch in iterate_batches(scan, ScanRequest(stats=False, columns=columns, entries=True)):
            rows = zip(*(batch.plain[name].to_pylist() for name in columns), strict=True)
            for manifest, path, beside in rows:
                names[manifest].append(path.rpartition("/")[2])
                names[manifest] += beside
        self._read |= {path: held for path, held in names.items() if path not in scan.refused}

    def _add(self, state: PaimonSnapshot | None, name: str, path: str, *, is_log: bool = False) -> None:
        if state is None:
            raise LakeError(f"{name} cannot be read: the engine stops", path=path)
        try:
            named, manifests = self._list_log(state) if is_log else self._list_state(state)
            for manifest in manifests:
                self._read_names(manifest)
        except Missing as error:
            self.passed.append(
                f"{name}: {error.path} is not there. The engine takes the {name.split()[0]} for one that is being deleted, "
                "and what only it names for unused."
            )
        except LakeError as error:
            raise LakeError(
                f"{name} cannot be read, the engine stops: {error.reason}", path=error.path
            ) from error
        else:
            self._used.update(manifest.path for manifest in manifests)
            self._named.update(named, (manifest.file_name for manifest in manifests))

    def _list_state(self, state: PaimonSnapshot) -> tuple[set[str], list[PaimonManifest]]:
        """List the names of what a state's documents name, and the manifests whose files it uses."""
        names: set[str] = set()
        manifests: list[PaimonManifest] = []
        for listed in state.manifest_lists:
            names.add(listed.recorded_path or "")
            try:
                manifests += listed.manifests
            except Missing:
                if not self._is_new:
                    raise
        if state.index_manifest:
            try:
                files = state.read_index_files()
            except Missing:
                files = ()
            names.add(state.index_manifest)
            names.update(file.path.rpartition("/")[2] for file in files)
        if state.document.statistics:
            names.add(state.document.statistics)
        return names, manifests

    def _list_log(self, state: PaimonSnapshot) -> tuple[set[str], list[PaimonManifest]]:
        """What a kept changelog uses: its lists and manifests, and the files of one list: the changelog, else the delta."""
        lists = {listed.role: listed for listed in state.manifest_lists}
        names: set[str] = set()
        read: dict[str, list[PaimonManifest]] = {}
        for role, listed in lists.items():
            try:
                read[role] = list(listed.manifests)
            except Missing:
                if role != "changelog":
                    continue
                read[role] = []
            names.add(listed.recorded_path or "")
            names.update(manifest.file_name for manifest in read[role])
        return names, read.get("changelog" if "changelog" in lists else "delta", [])

    def _read_names(self, manifest: PaimonManifest) -> None:
        if manifest.path in self._read:
            return
        try:
            files = (entry.file for entry in manifest.iterate_entries())
            self._read[manifest.path] = frozenset(
                name
                for file in files
                if isinstance(file, PaimonDataFile)
                for name in (file.file_name, *file.extra_files)
            )
        except Missing:
            if not self._is_new:
                raise
            self._read[manifest.path] = frozenset()


def plan_removal(table: Table, values: Mapping[str, Any]) -> Proposal:
    """Plan what `remove_orphan_files` would do."""
    branch = require_paimon(table).branch("main")
    is_new = is_new_engine(branch, values)
    asked = values.get("older_than")
    before = asked or read_now(values) - timedelta(days=1)
    text = None if asked is None else f"{asked:%Y-%m-%d %H:%M:%S}"
    is_dry = values.get("dry_run") or None
    call = write_call(
        "remove_orphan_files", {"table": name_table(branch), "older_than": text, "dry_run": is_dry}
    )
    changes = "No state changes."
    assumptions = [
        Assumption("No commit is running: its files are not named yet.", False),
        Assumption("A file's time of writing is the listing's.", False),
        describe_engine(is_new),
    ]
    used = UsedNames(is_new)
    try:
        for ref in branch.refs.branches:
            found = branch.branch(ref.name)
            if found.schema.id is None:
                raise LakeError(f"branch {ref.name} has no schema: the engine stops", path=ref.path)
            used.add_branch(found)
    except LakeError as error:
        where = [] if error.path is None else [f"It is about {error.path}."]
        return Proposal(changes, call, refusal=error.reason, notes=where, assumptions=assumptions)
    refused: list[LakeError] = []
    listed = list(Referring.of(branch).list_objects(refused.append))
    searcher = _Searcher(branch, before, is_new)
    pieces = list(searcher.search(listed, used.gather()))
    notes = [
        *used.passed,
        *(f"{error.path} could not be listed: nothing there is removed." for error in refused),
    ]
    if is_dry:
        notes.append("With dry_run => true the engine only lists these files.")
    if searcher.young:
        which = "1 file" if searcher.young == 1 else f"{searcher.young:,} files"
        notes.append(f"{which} that nothing names stay: not older than {before:%Y-%m-%d %H:%M:%S}.")
    if not is_new and len(branch.partition_keys) > 1:
        notes.append(
            "Paimon 0.9 may never end here: with several partition columns its threads wait for one another where there "
            "are as many partitions as cores."
        )
    why = "what it names is not removed"
    kept = [
        describe_fate(branch, branch.find_numbered(number), number, why)
        for number in branch.context.pointer.ids
    ]
    return Proposal(
        changes,
        call,
        kept=(*kept, *list_others(branch, frozenset(), lambda name: why)),
        deletes=tuple(pieces),
        assumptions=assumptions,
        notes=notes,
        frees="orphans",
    )


class _Searcher:
    """Finds those files of a listing that the engine takes for orphans. `young` counts those that are not old enough."""

    def __init__(self, branch: PaimonTable, before: datetime, is_new: bool) -> None:
        self._root = branch.location.rstrip("/") + "/"
        self._depth = len(branch.partition_keys)
        self._base = branch.context.partitions.base.rstrip("/") + "/"
        self._before = before
        self._is_new = is_new
        self._changelogs = branch.options.get("changelog-file.prefix", "changelog-")
        self.young = 0

    def search(self, listed: Iterable[Any], used: set[str]) -> Iterator[Piece]:
        """Those that go, each with why."""
        for found in listed:
            relative = found.path.removeprefix(self._root)
            why = self._judge(relative, found.path, used)
            if why is None:
                continue
            if found.modified is None or found.modified >= self._before:
                self.young += 1
                continue
            yield Piece(found.path, name_role(relative, self._changelogs), found.size, why)

    def _judge(self, relative: str, path: str, used: set[str]) -> str | None:
        """Judge why an object is an orphan, but for its age; None where it is none."""
        parts = relative.split("/")
        name = parts[-1]
        home = parts[2:] if parts[0] == "branch" and len(parts) > 2 else parts
        if len(home) == 2 and home[0] in _OWN:
            is_own = name.startswith(_OWN[home[0]]) or name in ("EARLIEST", "LATEST")
            return None if is_own else f"it is no {home[0]} by its name"
        if len(parts) == 2 and parts[0] in _SHARED:
            return None if name in used else "no state names it"
        folders = path.removeprefix(self._base).split("/")[:-1] if path.startswith(self._base) else []
        for level, folder in enumerate(folders[: self._depth]):
            if "=" not in folder:
                # 0.9 takes what is beside partitions of a lower level for no part of the table
                return "it is no partition" if level and not self._is_new else None
        if len(folders) < self._depth:
            return "it is beside partitions" if folders and not self._is_new else None
        inside = folders[self._depth :]
        if inside and inside[0].startswith("bucket-"):
            is_pack = self._is_new and name.endswith(".managed.blob")  # named by other files alone
            return None if len(inside) > 1 or is_pack or name in used else "no state names it"
        return "it is beside buckets" if self._depth and not self._is_new else None


ORPHANS_PROCEDURE = Procedure(
    "remove_orphan_files",
    "Remove orphan files",
    "files that no state names are deleted",
    (
        Option("older_than", "time", "files that are not older stay", "a day ago"),
        Option("dry_run", "boolean", "only list them", "false"),
        ENGINE,
        AT,
    ),
    plan_removal,
)
