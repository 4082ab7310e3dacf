"""Traces: what a statement did to storage, file by file, table by table, commit by commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias, overload

from lakelens.display import Displayable
from lakelens.model.storage import StoredFile

if TYPE_CHECKING:
    from lakelens.analysis.diff.diff import Diff
    from lakelens.analysis.diff.documents import JsonChange
    from lakelens.analysis.diff.fields import SchemaChange
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

State: TypeAlias = Literal["created", "removed", "rewritten"]
Kind: TypeAlias = Literal["created", "dropped", "replaced", "changed"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one state of a stored object from another: size, time, and a mark of its content where it is small.

    >>> Stamp(2, None, "a").is_same(Stamp(2, None, "b")), Stamp(2, None, "a").is_same(Stamp(2, None))
    (False, True)
    """

    size_bytes: int
    modified: datetime | None = None
    mark: str | None = None

    def is_same(self, other: Stamp) -> bool:
        """Whether nothing tells the two apart."""
        marked = self.mark is not None and other.mark is not None
        return (self.size_bytes, self.modified) == (other.size_bytes, other.modified) and (
            not marked or self.mark == other.mark
        )


@dataclass(frozen=True, slots=True)
class TracedFile(StoredFile):
    """One stored object that a statement touched, and `reason`: why it is there, or what it was, in words.

    A removed one is told as it was before; of a rewritten one `previous_size_bytes` says how large it was.
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
        """Where they lie."""
        return tuple(file.path for file in self._files)

    def __repr__(self) -> str:
        return f"<TracedFiles {len(self)} files, {self.size_bytes} bytes>"


class FileChanges:
    """What happened to stored objects: `created`, `removed` and `rewritten`."""

    created: TracedFiles
    removed: TracedFiles
    rewritten: TracedFiles

    @property
    def files(self) -> TracedFiles:
        """All of them, in path order."""
        every = sorted(
            (*self.created, *self.removed, *self.rewritten), key=lambda file: file.relative_path.split("/")
        )
        return TracedFiles(self.created.root, every)

    @property
    def is_empty(self) -> bool:
        """Whether no object was touched."""
        return not (self.created or self.removed or self.rewritten)


@dataclass(frozen=True, repr=False)
class CommitTrace(Displayable):
    """One snapshot that was committed in between: the snapshot, its name in words, the objects it brought.

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


@dataclass(frozen=True, repr=False)
class TableTrace(FileChanges, Displayable):
    """What happened to one table: its objects, its commits, the diff of its snapshots, its schema and its documents.

    `before` and `after` are the table as it was and is, None where there was or is none. `snapshots` were committed in
    between, `gone` are the names of those that were there before and are not any more. `document` compares the tables'
    metadata documents, `metastore` what the catalog said, where it was asked (`is_metastore_known`).
    """

    name: str
    format: str
    location: str
    kind: Kind
    before: Table | None
    after: Table | None
    created: TracedFiles
    removed: TracedFiles
    rewritten: TracedFiles
    snapshots: tuple[CommitTrace, ...] = ()
    gone: tuple[str, ...] = ()
    diff: Diff | None = None
    schema: tuple[SchemaChange, ...] = ()
    document: tuple[JsonChange, ...] = ()
    metastore: tuple[JsonChange, ...] = ()
    is_metastore_known: bool = False

    def __repr__(self) -> str:
        return (
            f"<TableTrace {self.name} ({self.format}) {self.kind}: "
            f"+{len(self.created)} -{len(self.removed)} ~{len(self.rewritten)} files>"
        )


@dataclass(frozen=True, slots=True)
class StorageChange:
    """All that is known when a watch has ended."""

    created: TracedFiles
    removed: TracedFiles
    rewritten: TracedFiles
    tables: tuple[TableTrace, ...] = ()
    untouched_files: int = 0
    notes: tuple[str, ...] = ()


@dataclass(repr=False)
class Trace(FileChanges, Displayable):
    """What a statement, or a block of code, did to storage. It is empty until the block has ended.

    `tables` are those in which anything changed. `diff`, `snapshots` and the like are of the one table; of several they
    are put together where that makes sense, and stand in `tables` one by one. `error` is what the block raised.
    """

    root: str
    statement: str | None = None
    error: BaseException | None = None
    change: StorageChange | None = field(default=None)

    @property
    def is_finished(self) -> bool:
        """Whether the block has ended."""
        return self.change is not None

    @property
    def created(self) -> TracedFiles:  # type: ignore[override]
        """Objects that were not there before."""
        return self.change.created if self.change else TracedFiles(self.root)

    @property
    def removed(self) -> TracedFiles:  # type: ignore[override]
        """Objects that are not there any more, as they were."""
        return self.change.removed if self.change else TracedFiles(self.root)

    @property
    def rewritten(self) -> TracedFiles:  # type: ignore[override]
        """Objects of the same name with another size, time or content."""
        return self.change.rewritten if self.change else TracedFiles(self.root)

    @property
    def tables(self) -> tuple[TableTrace, ...]:
        """The tables in which anything changed."""
        return self.change.tables if self.change else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be told, and why."""
        return self.change.notes if self.change else ()

    @property
    def untouched_files(self) -> int:
        """How many objects stayed as they were."""
        return self.change.untouched_files if self.change else 0

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
    def metastore(self) -> tuple[JsonChange, ...]:
        """What the catalog said before and after, where a Spark session was given."""
        return tuple(change for table in self.tables for change in table.metastore)

    def __getitem__(self, name: str) -> TableTrace:
        """The trace of one table, by its name or where it lies."""
        for table in self.tables:
            if name in (table.name, table.location, table.location.rpartition("/")[2]):
                return table
        raise KeyError(name)

    def __repr__(self) -> str:
        if not self.is_finished:
            return f"<Trace of {self.root}: not ended yet>"
        return f"<Trace +{len(self.created)} -{len(self.removed)} ~{len(self.rewritten)} files>"


@dataclass(frozen=True)
class TableState:
    """One table at one moment, all that is needed of it read: its objects by path, its commits, its catalog's facts."""

    table: Table
    files: Mapping[str, StoredFile]
    commits: Mapping[tuple[object, ...], tuple[str, Snapshot]]
    facts: Mapping[str, object] = field(default_factory=dict)
