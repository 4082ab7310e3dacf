"""Traces: what a statement did to storage, object by object, table by table, commit by commit."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias, overload

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.diff.documents import FieldChanges, JsonChanges, SchemaChange, diff_json, diff_schemas
from lakelens.analysis.tree import attempt, build_tree, find_references, list_every_snapshot, walk_snapshot
from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.snapshot import Snapshot
from lakelens.model.storage import StoredFile
from lakelens.model.table import Table

# A table's objects before and after: two listings compared, and the states of the table that go with them.

State: TypeAlias = Literal["created", "removed", "rewritten"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """What distinguishes two states of a stored object: size, time, and a mark of its content where it is small.

    >>> Stamp(2, None, "a").is_same(Stamp(2, None, "b")), Stamp(2, None, "a").is_same(Stamp(2, None))
    (False, True)
    """

    size_bytes: int
    modified: datetime | None = None
    mark: str | None = None

    def is_same(self, other: Stamp) -> bool:
        """Check whether nothing distinguishes the two."""
        marked = self.mark is not None and other.mark is not None
        return (self.size_bytes, self.modified) == (other.size_bytes, other.modified) and (
            not marked or self.mark == other.mark
        )


@dataclass(frozen=True, slots=True)
class ListingChange:
    """The stamps of the objects on both sides, by path."""

    before: Mapping[str, Stamp]
    after: Mapping[str, Stamp]

    @property
    def states(self) -> dict[str, State]:
        """What happened to each path, in path order; unchanged ones are left out."""
        found: dict[str, State] = {path: "removed" for path in self.before if path not in self.after}
        for path, stamp in self.after.items():
            if path not in self.before:
                found[path] = "created"
            elif not stamp.is_same(self.before[path]):
                found[path] = "rewritten"
        return dict(sorted(found.items(), key=lambda item: item[0].split("/")))

    def restrict(self, root: str) -> ListingChange:
        """The same below a directory."""
        start = root.rstrip("/") + "/"
        return ListingChange(
            {path: stamp for path, stamp in self.before.items() if path.startswith(start)},
            {path: stamp for path, stamp in self.after.items() if path.startswith(start)},
        )

    def split(self, roots: Collection[str]) -> dict[str, ListingChange]:
        """Split the same by root, each path under the nearest root above it; those below none are under ""."""
        before: dict[str, dict[str, Stamp]] = {root: {} for root in (*roots, "")}
        after: dict[str, dict[str, Stamp]] = {root: {} for root in (*roots, "")}
        for whole, parts in ((self.before, before), (self.after, after)):
            for path, stamp in whole.items():
                root = path
                while root not in parts:
                    root = root.rpartition("/")[0]
                parts[root][path] = stamp
        return {root: ListingChange(before[root], after[root]) for root in before}


@dataclass(frozen=True)
class TableState:
    """One table at one moment, read as far as needed: its objects by path, its commits, its catalog's facts."""

    table: Table
    files: Mapping[str, StoredFile] = field(default_factory=dict)
    commits: Mapping[tuple[object, ...], tuple[str, Snapshot]] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)


def read_state(table: Table, facts: Mapping[str, object], *, references: bool = True) -> TableState:
    """Read all of a table that is needed when its files are gone; with `references` every snapshot is walked."""
    files = {file.path: file for file in build_tree(table, references=references, limit=1_000_000)}
    commits: dict[tuple[object, ...], tuple[str, Snapshot]] = {}
    for snapshot, name in _list_commits(table):
        commits.setdefault((snapshot.path, snapshot.id, snapshot.committed_at), (name, snapshot))
    _ = table.current, table.schema, table.metadata
    return TableState(table, files, commits, facts)


def _list_commits(table: Table) -> Iterator[tuple[Snapshot, str]]:
    """List every state with its name, those before the others that keep no files any more but can be read."""
    kept = list(list_every_snapshot(table))
    paths = {snapshot.path for snapshot, _ in kept}
    words = (
        name.removesuffix(f" {snapshot.id}") for snapshot, name in kept if name.endswith(f" {snapshot.id}")
    )
    word = next(words, "snapshot")
    for snapshot in table.snapshots:
        if snapshot.path not in paths:
            yield snapshot, f"{word} {snapshot.id}"
    yield from kept


# Why a stored object is there, or why it is gone.

NOTHING = "referred to by nothing"
_MOST = 3
_SNAPSHOT = re.compile(r"^(?:snapshot|tag|branch|changelog) .*?(?= \(|$)")


def describe_created(file: StoredFile, claim: str = "") -> str:
    """Describe why an object is there: what a new snapshot uses it for, else what its role and its referrers say.

    >>> describe_created(StoredFile("/t/a", "a", 1, "data"))
    'data file, referred to by nothing'
    >>> describe_created(StoredFile("/t/snapshot/LATEST", "snapshot/LATEST", 1, "snapshot hint", ("found by its name",)))
    'hint: latest snapshot'
    """
    return claim or _describe_by_role(file) or _describe_by_referrers(file)


def describe_removed(
    file: StoredFile, *, dropped: bool, still: Iterable[str] = (), gone: Collection[str] = ()
) -> str:
    """What an object was, and why nothing needs it; `gone` are snapshots that are gone too, `still` what names it even now.

    >>> describe_removed(StoredFile("/t/a", "a", 1, "manifest", ("snapshot 1",)), dropped=False, gone=["snapshot 1"])
    'manifest of snapshot 1, which is gone'
    >>> describe_removed(StoredFile("/t/a", "a", 1, "data", ("m0.avro (ADDED)",)), dropped=True)
    'data file; the table was dropped'
    """
    noun, named = name_noun(file.role), list(still)
    reason = _describe_by_role(file)
    if dropped:
        return f"{reason or noun}; the table was dropped"
    if named:
        return f"{noun}: still named by {_join(named)}"
    if reason:
        return reason
    owners = dict.fromkeys(found[0] for name in file.referenced_by if (found := _SNAPSHOT.match(name)))
    left = [name for name in owners if name in gone]
    if left:
        return f"{noun} of {_join(left)}, which {'is' if len(left) == 1 else 'are'} gone"
    if not file.referenced_by:
        return f"{noun}, {NOTHING}"
    if gone:
        return f"{noun}: only snapshots that are gone needed it"
    return f"{noun}: nothing needs it any more"


def name_noun(role: str) -> str:
    """Name a role as a noun.

    >>> name_noun("data"), name_noun("data file"), name_noun("manifest"), name_noun("position delete")
    ('data file', 'data file', 'manifest', 'position delete file')
    """
    if role in ("data", "changelog data", "unknown", "hidden", "temporary") or role.endswith("delete"):
        return f"{role} file"
    return role


def find_checked(path: str) -> str:
    """Find the path of the file that a checksum file is for; any other path as it is.

    >>> find_checked("/t/.a.orc.crc"), find_checked("/t/a.orc")
    ('/t/a.orc', '/t/a.orc')
    """
    folder, name = posixpath.split(path)
    return posixpath.join(folder, name[1:-4]) if name.startswith(".") and name.endswith(".crc") else path


def _describe_by_role(file: StoredFile) -> str:
    """Describe what is found by its name, not by a reference."""
    name = posixpath.basename(file.path)
    role = file.role.removeprefix("branch ")
    if role == "checksum":
        return f"checksum of {posixpath.basename(find_checked(file.path))}"
    if role == "snapshot hint" or (role.endswith(" hint") and name in ("LATEST", "EARLIEST")):
        return f"hint: {'earliest' if name == 'EARLIEST' else 'latest'} {role.removesuffix(' hint')}"
    if role == "version hint":
        return "hint: the number of the current metadata file"
    if role in ("success marker", "marker"):
        return "marker: a write job has finished here"
    if role == "schema":
        return f"{name}: columns, keys and options of the table"
    if role == "tag":
        return f"tag {name.removeprefix('tag-')}: a copy of its snapshot's document"
    if role == "consumer":
        return f"consumer {name.removeprefix('consumer-')}: the snapshot it reads next"
    if role == "snapshot":
        return f"snapshot {name.removeprefix('snapshot-')}"
    return ""


def _describe_by_referrers(file: StoredFile) -> str:
    noun = name_noun(file.role)
    names = list(file.referenced_by)
    if not names:
        return f"{noun}, {NOTHING}"
    if names[0].startswith("listing of "):
        return f"{noun}: readers find it by listing {names[0].removeprefix('listing of ')}"
    if names == ["metadata log"]:
        return f"{noun}: an earlier version, kept in the metadata log"
    if names[0] == "the current version":
        return f"{noun}: the current version"
    if names == ["found by its name"]:
        return f"{noun}, found by its name"
    return f"{noun} of {_join(names)}"


def _join(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST])
    return f"{shown} and {len(names) - _MOST} more" if len(names) > _MOST else shown


Kind: TypeAlias = Literal["created", "dropped", "replaced", "changed"]
_ENTRY = ("(ADD)", "(DELETE)", "(ADDED)", "(EXISTING)", "(DELETED)")


@dataclass(frozen=True, slots=True)
class TracedFile(StoredFile):
    """One stored object that a statement touched, and `reason`: why it is there, or what it was.

    A removed one is described as it was; `previous_size_bytes` is the size of a rewritten one before.
    """

    state: State = "created"
    reason: str = ""
    previous_size_bytes: int | None = None


class TracedFiles(Sequence[TracedFile], Displayable):
    """Stored objects in path order, shown as a tree; also by their path below `root`, or by their last name."""

    def __init__(self, root: str, files: Sequence[TracedFile] = ()) -> None:
        self.root = root
        self._files = tuple(files)

    @overload
    def __getitem__(self, key: int | str) -> TracedFile: ...
    @overload
    def __getitem__(self, key: slice) -> TracedFiles: ...
    def __getitem__(self, key: int | str | slice) -> TracedFile | TracedFiles:
        if isinstance(key, slice):
            return TracedFiles(self.root, self._files[key])
        if isinstance(key, int):
            return self._files[key]
        for file in self._files:
            if key in (file.path, file.relative_path, file.path.rpartition("/")[2]):
                return file
        raise KeyError(key)

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[TracedFile]:
        return iter(self._files)

    @property
    def size_bytes(self) -> int:
        """Their bytes, added up."""
        return sum(file.size_bytes for file in self._files)

    @property
    def paths(self) -> tuple[str, ...]:
        """Their paths."""
        return tuple(file.path for file in self._files)

    def __repr__(self) -> str:
        return f"<TracedFiles {len(self)} files, {self.size_bytes} bytes>"


def trace_file(file: StoredFile, change: ListingChange, state: State, reason: str, root: str) -> TracedFile:
    """Trace a stored object with what happened to it, its path relative to `root`."""
    stamp = (change.before if state == "removed" else change.after)[file.path]
    below = file.path.removeprefix(root.rstrip("/") + "/")
    previous = change.before[file.path].size_bytes if state == "rewritten" else None
    return TracedFile(
        file.path,
        below,
        stamp.size_bytes,
        file.role,
        file.referenced_by,
        stamp.modified,
        state,
        reason,
        previous,
    )


class FileChanges:
    """What happened to stored objects: `files` are all that were touched, in path order."""

    files: TracedFiles

    @property
    def created(self) -> TracedFiles:
        """Objects that were not there before."""
        return self._pick("created")

    @property
    def removed(self) -> TracedFiles:
        """Objects that are gone, as they were."""
        return self._pick("removed")

    @property
    def rewritten(self) -> TracedFiles:
        """Objects of the same name with another size, time or content."""
        return self._pick("rewritten")

    @property
    def is_empty(self) -> bool:
        """Whether no object was touched."""
        return not self.files

    def _pick(self, state: State) -> TracedFiles:
        return TracedFiles(self.files.root, [file for file in self.files if file.state == state])

    def __repr__(self) -> str:
        return f"+{len(self.created)} -{len(self.removed)} ~{len(self.rewritten)} files"


@dataclass(frozen=True, repr=False)
class CommitTrace(Displayable):
    """One snapshot that was committed in between: the snapshot, its name, the objects it brought.

    An object that several snapshots name belongs to the first of them.
    """

    name: str
    snapshot: Snapshot
    created: TracedFiles

    @property
    def changes(self) -> Diff:
        """What this snapshot changed: the diff to its parent."""
        return self.snapshot.changes

    def __repr__(self) -> str:
        return f"<CommitTrace {self.name} {self.snapshot.operation}: {len(self.created)} files>"


class TableTrace(FileChanges, Displayable):
    """What happened to one table: its objects, its commits, the diff of its snapshots, its schema and its documents.

    `before` and `after` are the table as it was and is, None where there was or is none. `kind` is "created", "dropped",
    "replaced" or "changed"; `snapshots` were committed in between, `gone` names those that existed only before.
    """

    def __init__(
        self,
        before: TableState | None,
        after: TableState | None,
        change: ListingChange,
        root: str,
        *,
        had_folder: bool = False,
    ) -> None:
        """At least one state is given; `change` holds the table's own paths, `had_folder`: its directory existed before."""
        self._facts = (before.facts if before else {}, after.facts if after else {})
        self.before = before.table if before else None
        self.after = after.table if after else None
        shown = self.after or self.before
        assert shown is not None
        self.name, self.format, self.location = shown.name, shown.format, shown.location
        self.kind = self._find_kind(had_folder and shown.traits.files_are_listed)
        old, new = before.commits if before else {}, after.commits if after else {}
        commits = [commit for key, commit in new.items() if key not in old]
        self.gone = tuple(name for key, (name, _) in old.items() if key not in new) if after else ()
        states = change.states
        claims: dict[str, tuple[str, str]] = {}
        for name, snapshot in commits:
            for path, reason in list_claims(snapshot, name, states):
                claims.setdefault(path, (name, reason))
        files = (before.files if before else {}, after.files if after else {})
        self.files = TracedFiles(root, tuple(self._trace_files(files, change, claims, root)))
        own: dict[str, list[TracedFile]] = {name: [] for name, _ in commits}
        for file in self.created:
            claim = claims.get(find_checked(file.path))  # a checksum goes with its file
            if claim is not None:
                own[claim[0]].append(file)
        self.snapshots = tuple(CommitTrace(name, one, TracedFiles(root, own[name])) for name, one in commits)

    def _find_kind(self, was_empty: bool) -> Kind:
        if self.before is None:  # a listed table without files is recognised by its directory alone
            return "changed" if was_empty else "created"
        if self.after is None:
            return "dropped"
        is_same = self.before.format == self.after.format and self.before.uuid == self.after.uuid
        return "changed" if is_same else "replaced"

    def _trace_files(
        self,
        files: tuple[Mapping[str, StoredFile], Mapping[str, StoredFile]],
        change: ListingChange,
        claims: Mapping[str, tuple[str, str]],
        root: str,
    ) -> Iterator[TracedFile]:
        states = change.states
        removed = [path for path, state in states.items() if state == "removed"]
        still = _find_named(self.after, removed) if self.after is not None and removed else {}
        for path, state in states.items():
            file = files[0 if state == "removed" else 1].get(path) or StoredFile(path, "", 0, "unknown")
            if state == "removed":
                names = still.get(path, ())
                reason = describe_removed(file, dropped=self.after is None, still=names, gone=self.gone)
            else:
                reason = describe_created(file, claims.get(path, ("", ""))[1])
            yield trace_file(file, change, state, reason, root)

    @cached_property
    def diff(self) -> Diff | None:
        """The diff of the current snapshots; None where the format has none, or the table is gone."""
        after = None if self.after is None else self.after.current
        if after is None or after.id is None:
            return None
        is_same = self.before is not None and self.before.format == self.format
        return Diff(self.before.current if self.before is not None and is_same else None, after)

    @cached_property
    def schema(self) -> FieldChanges[SchemaChange]:
        """Columns that changed; none of a table that was created or dropped."""
        if self.before is None or self.after is None:
            return FieldChanges()
        try:
            return diff_schemas(self.before.schema, self.after.schema)
        except LakeError:
            return FieldChanges()

    @cached_property
    def document(self) -> JsonChanges:
        """What changed in the table's own documents. A listed table has none: `metastore` says what changed there."""
        if self.before is None or self.after is None:
            return JsonChanges()
        if self.before.traits.files_are_listed or self.after.traits.files_are_listed:
            return JsonChanges()
        return diff_json(self.before.metadata, self.after.metadata)

    @cached_property
    def metastore(self) -> JsonChanges:
        """What changed in what the catalog says, where it was asked (`is_metastore_known`)."""
        return diff_facts(*self._facts)

    @property
    def is_metastore_known(self) -> bool:
        """Whether a catalog was asked, and knew of the table before or after."""
        return any(self._facts)

    def __repr__(self) -> str:
        return f"<TableTrace {self.name} ({self.format}) {self.kind}: {super().__repr__()}>"


class Trace(FileChanges, Displayable):
    """What a statement, or a block of code, did to storage. It is empty until the block has ended (`is_finished`).

    `tables` are those in which anything changed, `untouched_files` counts the objects that stayed as they were, `notes`
    say what could not be compared, and why, `statements` are those of SQL that a magic ran. `diff`, `snapshots` and the
    like are those of the one table; of several tables they are joined where that makes sense. `error` is what the block
    raised. Where nothing was at the target, before or after, `is_missing` is true and `near` are the names that are nearest.
    """

    def __init__(self, root: str, statement: str | None = None, error: BaseException | None = None) -> None:
        self.root, self.error = root, error
        self.statements: tuple[str, ...] = () if statement is None else (statement,)
        self.is_finished = False
        self.files = TracedFiles(root)
        self.tables: tuple[TableTrace, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.untouched_files = 0
        self.is_missing = False
        self.near: tuple[str, ...] = ()

    def finish(
        self,
        files: Sequence[TracedFile],
        tables: Sequence[TableTrace] = (),
        untouched_files: int = 0,
        notes: Sequence[str] = (),
    ) -> None:
        """Fill the trace: the block has ended."""
        self.files = TracedFiles(self.root, sorted(files, key=lambda file: file.relative_path.split("/")))
        self.tables, self.untouched_files, self.notes = tuple(tables), untouched_files, tuple(notes)
        self.is_finished = True

    @property
    def statement(self) -> str | None:
        """The one statement of SQL; None of a block of code, and of several."""
        return self.statements[0] if len(self.statements) == 1 else None

    @property
    def snapshots(self) -> tuple[CommitTrace, ...]:
        """The snapshots that were committed in between, by table and in commit order."""
        return tuple(commit for table in self.tables for commit in table.snapshots)

    @property
    def diff(self) -> Diff | None:
        """The diff of the snapshots before and after; None when there are none, or several tables have one."""
        found = [table.diff for table in self.tables if table.diff is not None]
        return found[0] if len(found) == 1 else None

    @property
    def metastore(self) -> JsonChanges:
        """What changed in what the catalog says, where a Spark session was given."""
        return JsonChanges(change for table in self.tables for change in table.metastore)

    def __getitem__(self, name: str) -> TableTrace:
        """The trace of one table, by its name or location."""
        for table in self.tables:
            if name in (table.name, table.location, table.location.rpartition("/")[2]):
                return table
        raise KeyError(name)

    def __repr__(self) -> str:
        return (
            f"<Trace {super().__repr__()}>" if self.is_finished else f"<Trace of {self.root}: not ended yet>"
        )


def list_claims(snapshot: Snapshot, name: str, wanted: Mapping[str, State]) -> Iterator[tuple[str, str]]:
    """List the objects that a snapshot brought, each with its reason. Only those manifests are read that are `wanted`."""
    document = attempt(snapshot.find_document, None)
    if document is not None:
        yield document[0], f"table metadata, committed with {name}"
    lists = {found.path for found in snapshot.manifest_lists}
    are_files = lists != {
        None
    }  # those of a log are none, and a checkpoint does not say what the last commit added
    if snapshot.path is not None and snapshot.path not in lists:
        holds = "it names the manifest lists" if are_files else "what it adds and removes"
        yield snapshot.path, f"{name} itself: {holds}"
    names = {posixpath.basename(path): path for path in wanted}
    uses = list(walk_snapshot(snapshot, lambda manifest: manifest.path in wanted))
    for use in uses:
        if not use.entry:  # of an index manifest only the name may be recorded
            path = use.path if "/" in use.path else names.get(use.path, use.path)
            yield path, f"{use.noun} of {name}{use.role}"
    for use in uses:
        if use.entry.rpartition(" (")[2].startswith("ADD"):
            yield use.path, f"{use.noun} added by {name}"
    if not are_files:
        added = attempt(lambda: {file.path for file in snapshot.changes.added}, set())
        before = attempt(lambda: {file.path for file in snapshot.changes.removed}, set())
        # with other deleted rows a file is removed and added
        yield from ((path, f"data file added by {name}") for path in sorted(added - before))


def diff_facts(before: Mapping[str, object], after: Mapping[str, object]) -> JsonChanges:
    """Say what a catalog says before and after; partitions are identified by name.

    >>> [str(c) for c in diff_facts({"partitions": []}, {"partitions": [{"name": "d=1", "record_count": 2}]})]
    ['$.partitions["d=1"]: absent → {"name": "d=1", "record_count": 2}']
    """
    return diff_json(_key_partitions(before), _key_partitions(after))


def _key_partitions(facts: Mapping[str, object]) -> dict[str, object]:
    listed = facts.get("partitions")
    if not isinstance(listed, list):
        return dict(facts)
    return {**facts, "partitions": {str(one.get("name")): one for one in listed if isinstance(one, dict)}}


def _find_named(table: Table, removed: list[str]) -> dict[str, list[str]]:
    """Find which removed objects the table still names, and in what; entries of files that are not live are history."""
    live = {file.path for file in attempt(lambda: list(table.files), ())}
    found = {}
    for path, referrers in zip(removed, find_references(table, removed), strict=True):
        names = [name for name in referrers if path in live or not name.endswith(_ENTRY)]
        if names:
            found[path] = names
    return found
