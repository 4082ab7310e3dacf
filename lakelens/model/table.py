"""The table: the entry to everything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from lakelens import display
from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError, Missing, find_nearest, say_value
from lakelens.lazy import dataclass
from lakelens.model.answers.arranged import Arranged
from lakelens.model.answers.asked import Answers
from lakelens.model.answers.shown import Pages
from lakelens.model.bytes_view import Explainable, Reopened
from lakelens.model.collections import Document, know_none, stored
from lakelens.model.driver import Parts
from lakelens.model.facts.traits import UNKNOWN, Traits, Vocabulary
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.finding import Findings
from lakelens.model.revision import Default, find_revision, parse_time
from lakelens.model.schema import PartitionSpec, PartitionSpecs, Schema, Schemas, SortOrder, SortOrders
from lakelens.model.snapshot import History, Ref, Refs, Snapshot, SnapshotLog, Snapshots
from lakelens.model.storage import (
    EncryptionKeys,
    Evidence,
    MetadataLog,
    MetadataLogEntry,
    Reads,
    Relocation,
    Storage,
    StoredFile,
)

if TYPE_CHECKING:
    from lakelens.analysis.diff.diff import Diff
    from lakelens.analysis.timeline.timeline import Timeline
    from lakelens.analysis.tree import StorageTree
    from lakelens.model.manifest import Manifest
    from lakelens.model.scan.plan import FileScan
    from lakelens.views.render.plot import Plot
    from lakelens.watching import Watch

_ID = re.compile(r"-?[0-9]{1,19}")  # 64 bits
_MOST_SUGGESTED = 20  # of the newest snapshots, each of which may be a document of its own


class Access(Protocol):
    """How the files of one table are read; `lakelens.formats.access.TableAccess` is one."""

    findings: Findings

    def count_reads(self) -> Reads:
        """Count what was read so far."""
        ...

    def describe_relocation(self, recorded_location: str | None) -> Relocation:
        """Describe how recorded locations were mapped so far."""
        ...

    def open_storage(self) -> Storage:
        """Open what the table's data files say of themselves."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class TableSource:
    """All that a format says of one table: facts, and functions that give the rest.

    Each function is called when what it gives is first asked for, and once, unless its comment says otherwise. What has a
    default is left out where the format has no such thing, or where it follows from the rest.
    """

    format: str
    #: what its format is, and says to the answers
    driver: Parts
    location: str
    name: str
    evidence: Evidence
    access: Access
    uuid: str | None = None
    #: facts that only a catalog or metastore knows, when the table was opened through one
    catalog: Mapping[str, Any] | None = None
    #: the document that says what the table is now; else it is the current snapshot's
    document: str | None = None
    #: where branches number their own commits without a gap: the one whose the snapshots are
    branch_name: str | None = None
    #: how many ancestors of a snapshot are followed, where each is a document of its own
    most_ancestors: int | None = None

    traits: Callable[[], Traits]
    format_version: Callable[[], int | None] = know_none

    schema: Callable[[], Schema]
    schemas: Callable[[], Iterable[Schema]]
    #: one schema by its id, at every call; by `schemas` where that reads no more
    find_schema: Callable[[int], Schema | None] | None = None
    partitioning: Callable[[], PartitionSpec]
    specs: Callable[[], Iterable[PartitionSpec]] | None = None
    sort_orders: Callable[[], Iterable[SortOrder]] = tuple
    properties: Callable[[], Mapping[str, Any] | None] = dict
    encryption_keys: Callable[[], EncryptionKeys] = EncryptionKeys
    #: the raw documents, as one with its noun, or as they are
    metadata: Callable[[], Document]
    metadata_log: Callable[[], Iterable[MetadataLogEntry]] = tuple
    #: what the columns of its files are, where it has none yet
    columns: Callable[[], FileColumns] = FileColumns

    refs: Callable[[], Iterable[Ref]] = tuple
    #: in commit order
    snapshots: Callable[[], Iterable[Snapshot]] = tuple
    current: Callable[[], Snapshot | None]
    snapshot_log: Callable[[], SnapshotLog] = SnapshotLog
    separate_branches: Callable[[], Mapping[str, Snapshots]] = dict

    # Of a format that knows more than its list of snapshots, where none is to be read that was not asked for:
    #: how many there are
    count: Callable[[], int] | None = None
    #: whether there is one of an id, readable or not
    has: Callable[[int], bool] | None = None
    #: the one of an id
    find: Callable[[int], Snapshot | None] | None = None
    #: the one of an id that a tag alone keeps
    find_tagged: Callable[[int], Snapshot | None] = know_none
    #: the one that a name points at
    follow: Callable[[Ref], Snapshot | None] | None = None
    #: the one that was current at a time
    find_at: Callable[[datetime], Snapshot | None] | None = None
    #: an outline with that many of the newest; None where the list is short enough to read
    outline: Callable[[int], History | None] = know_none
    #: reads together what an outline and a card show, where the store is far
    fetch_outline: Callable[[], None] = know_none

    #: every object below the table's directory with its role, listed at every call
    list_files: Callable[[], Iterator[StoredFile]]
    #: a plan to read every entry of some manifests, at every call
    scan_manifests: Callable[[Iterable[Any]], FileScan | None] = know_none
    #: how recorded locations were mapped so far, at every call
    relocation: Callable[[], Relocation] | None = None
    #: what the table was opened as, see `Table.find_newer`
    mark: Callable[[], tuple[str, Hashable]] | None = None


class Table(Reopened, Answers, Arranged, Pages, Explainable, Displayable):
    """A data lake table, read from nothing but its files. Lazy, cached, never written to.

    What a format knows of it is one `TableSource`; whatever follows from that is written here, for all formats.
    """

    #: What the format says of the keys of its documents.
    vocabulary: Vocabulary = UNKNOWN
    # facts that only a catalog or metastore knows, when the table was opened through one
    catalog: Mapping[str, Any] | None = stored("catalog")

    def __init__(self, source: TableSource) -> None:
        self._told = source
        self.format = source.format
        self.driver = source.driver
        self.location = source.location
        self.name = source.name
        self.uuid = source.uuid
        self.evidence = source.evidence
        self.findings = source.access.findings
        self.catalog = source.catalog
        self.branch_name = source.branch_name
        self._most_ancestors = source.most_ancestors

    @property
    def traits(self) -> Traits:
        """What is true of it because of its format."""
        return self._told.traits()

    @property
    def format_version(self) -> int | None:
        """The version of its format, where that has versions."""
        return self._told.format_version()

    @property
    def storage(self) -> Storage:
        """What the table's data files say."""
        return self._told.access.open_storage()

    @property
    def metadata_path(self) -> str | None:
        """The document that says what the table is now; None where there is none."""
        if self._told.document is not None or not self.traits.has_snapshots:
            return self._told.document
        return self.current.path if self.current is not None else None

    def find_newer(self) -> str | None:
        """Whether the table has gone on since it was opened, as a sentence; None where it has not, or where nobody can say.

        The pointer is looked at once more: a writer may commit, expire and delete beside a reader, whose opened state then
        lacks files, although the table is sound.

        >>> import lakelens as ll
        >>> ll.sample("iceberg").find_newer() is None
        True
        """
        if self.reopening is None:
            return None
        open_again, how = self.reopening
        try:
            (now, mark), (then, known) = open_again(*how)._mark_state(), self._mark_state()
        except LakeError:
            return None
        if mark == known:
            return None
        is_newer = (
            f"{now} is newer than {then}, which was opened"
            if now != then
            else f"{now} is not as it was opened"
        )
        return f"the table has gone on: {is_newer}; what is missing may have expired since: open it again"

    def _mark_state(self) -> tuple[str, Hashable]:
        """Say what the table was opened as: in words, and what differs as soon as a commit or an expiry was made since."""
        if self._told.mark is not None:
            return self._told.mark()
        path = self.metadata_path or ""
        return path.rpartition("/")[2] or "nothing", (path, self.snapshot_count)

    @cached_property
    def properties(self) -> Document:
        """The table's properties (Paimon: options)."""
        return Document(self._told.properties(), "properties")

    @cached_property
    def schema(self) -> Schema:
        """Today's schema."""
        return self._told.schema()

    @cached_property
    def schemas(self) -> Schemas:
        """Every schema that is known, by id."""
        return Schemas(self._told.schemas())

    def _find_schema(self, number: int) -> Schema | None:
        """Find the schema of an id; None where it is not known. Of a format with a file for each no other is read."""
        if self._told.find_schema is not None:
            return self._told.find_schema(number)
        return next((schema for schema in self.schemas if schema.id == number), None)

    @cached_property
    def partitioning(self) -> PartitionSpec:
        """Today's partitioning."""
        return self._told.partitioning()

    @cached_property
    def specs(self) -> PartitionSpecs:
        """Every partitioning that is known."""
        return PartitionSpecs((self.partitioning,) if self._told.specs is None else self._told.specs())

    @cached_property
    def sort_orders(self) -> SortOrders:
        """The sort orders; only Iceberg has them."""
        return SortOrders(self._told.sort_orders())

    @cached_property
    def encryption_keys(self) -> EncryptionKeys:
        """The keys that its metadata names, themselves encrypted; only Iceberg since version 3 has them."""
        return self._told.encryption_keys()

    @cached_property
    def refs(self) -> Refs:
        """Branches and tags."""
        return Refs(self._told.refs())

    @cached_property
    def snapshots(self) -> Snapshots:
        """The snapshots in commit order; empty for Hive."""
        return Snapshots(self._told.snapshots(), table=self)

    @property
    def snapshot_count(self) -> int:
        """How many snapshots there are. No snapshot is read only to count it, so damaged ones may be counted too."""
        return len(self.snapshots) if self._told.count is None else self._told.count()

    def has_snapshot(self, number: int) -> bool:
        """Check whether there is a snapshot of this id. No snapshot is read only to know it."""
        return self.find_by_id(number) is not None if self._told.has is None else self._told.has(number)

    def find_by_id(self, number: int, /) -> Snapshot | None:
        """Find the snapshot of an id; None when there is none, or when it cannot be read."""
        if self._told.find is not None:
            return self._told.find(number)
        return next((snapshot for snapshot in self.snapshots if snapshot.id == number), None)

    def outline_history(self, most: int = 5) -> History:
        """The history in outline: the number of snapshots, the first, and the newest in commit order.

        At most `most` of the newest are listed. A format with a file for each snapshot reads only these if there are many;
        damaged ones among them are passed over and are findings, as in `snapshots`.

        >>> import lakelens as ll
        >>> table = ll.sample("iceberg")
        >>> history = table.outline_history(2)
        >>> history.count == len(table.snapshots), len(history.newest)
        (True, 2)
        """
        self._told.fetch_outline()
        outline = None if "snapshots" in vars(self) else self._told.outline(most)
        if outline is not None:
            return outline
        known = self.snapshots
        return History(len(known), known[0] if len(known) else None, known[max(len(known) - most, 0) :])

    @cached_property
    def current(self) -> Snapshot | None:
        """The current snapshot; None before the first commit. For Hive a listing taken now."""
        return self._told.current()

    @cached_property
    def metadata(self) -> Document:
        """The raw metadata document (Iceberg), or documents by name (Paimon); every key kept."""
        return self._told.metadata()

    @cached_property
    def metadata_log(self) -> MetadataLog:
        """Earlier versions of the metadata, oldest first, without the one that was opened; only Iceberg keeps them."""
        return MetadataLog(self._told.metadata_log())

    @cached_property
    def snapshot_log(self) -> SnapshotLog:
        """Which snapshot was the current one from when on; only Iceberg keeps it."""
        return self._told.snapshot_log()

    @property
    def separate_branches(self) -> Mapping[str, Snapshots]:
        """The snapshots of other branches by name, where each branch numbers its own: only Paimon's do."""
        return self._told.separate_branches()

    @property
    def relocation(self) -> Relocation:
        """How recorded locations were mapped onto where the table is now."""
        if self._told.relocation is not None:
            return self._told.relocation()
        return self._told.access.describe_relocation(None)

    @property
    def reads(self) -> Reads:
        """What was read so far."""
        return self._told.access.count_reads()

    def list_files(self) -> Iterator[StoredFile]:
        """List every object below the table's directory with its role; listed again at each call."""
        return self._told.list_files()

    @property
    def files(self) -> FileSet:
        """The live files of the current snapshot; empty before the first commit."""
        return self.current.files if self.current is not None else self._empty_files

    @cached_property
    def _empty_files(self) -> FileSet:
        return FileSet(lambda: (), self._told.columns)

    def scan_entries(self, *, all_snapshots: bool = False) -> FileScan | None:
        """Scan a plan to read every entry of the current snapshot's manifests, or of every manifest that a snapshot names.

        A manifest that many snapshots name is read once. Reads the manifest lists; None where the format has no manifests.
        """
        chosen = self.snapshots if all_snapshots else [self.current] if self.current is not None else []
        scans = [scan for snapshot in chosen if (scan := snapshot.scan_entries()) is not None]
        if not scans:
            return None
        tasks = {task.path: task for scan in scans for task in scan.tasks}
        return scans[-1].with_tasks([replace(t, position=n) for n, t in enumerate(tasks.values())])

    def scan_manifests(self, manifests: Iterable[Manifest]) -> FileScan | None:
        """A plan to read every entry of some of the table's manifests, each once; None where the format has no such plan."""
        return self._told.scan_manifests(manifests)

    def snapshot(self, ref: Any) -> Snapshot:
        """The snapshot of an id, a branch, a tag or a time; also as git names a commit.

        Parameters
        ----------
        ref
            An id, the name of a branch or tag, or a time (`datetime`, UTC when it has no zone, or ISO text): the last
            snapshot committed at or before it. None is the current one; a `Snapshot` is returned unchanged.
            As text also `"main~1"`, the parent of what `main` points at, `"~1"`, the current one's parent, `"-1"`, the
            newest one, `"main@{2026-03-01}"`, what it was at a time, and in Iceberg tables the first digits of an id, at
            least four.

        Raises
        ------
        Missing
            There is no such snapshot; the hint lists some that exist.
        Ambiguous
            Several ids begin so; the hint lists them.
        LakeError
            `ref` is none of these.

        Examples
        --------
        >>> import lakelens as ll
        >>> table = ll.sample("iceberg")
        >>> table.snapshot("main").id == table.snapshots[-1].id
        True
        >>> table.snapshot("main~1").id == table.snapshot("-2").id == table.snapshots[-2].id
        True
        """
        if isinstance(ref, Snapshot):
            return ref
        found = self._find_snapshot(ref)
        if found is None and (isinstance(ref, str) or (isinstance(ref, int) and ref < 0)):
            found = find_revision(self, ref if isinstance(ref, str) else say_value(ref))
        if found is None:
            is_time = isinstance(ref, datetime)
            name = f"at {ref:%Y-%m-%d %H:%M:%S %Z}".rstrip() if is_time else say_value(ref)
            hint = self._suggest_snapshot("" if is_time else name.strip("'"))
            raise Missing(f"no snapshot {name}", path=self.location, hint=hint)
        return found

    def _suggest_snapshot(self, ref: str) -> str:
        """Suggest the nearest refs and ids; else all refs and the newest ids."""
        refs, ids = self.refs.keys(), [str(s.id) for s in self.snapshots[-_MOST_SUGGESTED:]]
        if self.refs.get(ref) is not None:
            return "nothing was committed to it, or its snapshot is gone"
        if not ids and not refs:
            is_listing = self.current is not None
            return (
                "leave it out: the state is the listing of its files"
                if is_listing
                else "it is empty: there is no snapshot"
            )
        near = find_nearest(ref, [*refs, *ids])
        return f"did you mean {' or '.join(near)}?" if near else f"one of {', '.join([*ids[-5:], *refs])}"

    def _find_snapshot(self, ref: Any) -> Snapshot | None:
        if isinstance(ref, int) and not isinstance(ref, bool):
            known = self.find_by_id(ref)
            return self._told.find_tagged(ref) if known is None and not self.has_snapshot(ref) else known
        if isinstance(ref, str):
            if (named := self.refs.get(ref)) is not None:
                return self._follow(named)
            if _ID.fullmatch(ref):
                return self._find_snapshot(int(ref))
            ref = parse_time(ref)
            if ref is None:
                return None
        if isinstance(ref, datetime):
            return self._snapshot_at(ref if ref.tzinfo else ref.replace(tzinfo=UTC))
        if ref is None:
            return self.current
        message = f"{say_value(ref)} is not a snapshot id, a branch, a tag or a time"
        raise LakeError(message, path=self.location)

    def _follow(self, ref: Ref) -> Snapshot | None:
        if self._told.follow is not None:
            return self._told.follow(ref)
        return None if ref.snapshot_id is None else self.find_by_id(ref.snapshot_id)

    def _snapshot_at(self, moment: datetime) -> Snapshot | None:
        if self._told.find_at is not None:
            return self._told.find_at(moment)
        before = [s for s in self.snapshots if s.committed_at is not None and s.committed_at <= moment]
        return before[-1] if before else None

    @cached_property
    def _logged_ids(self) -> Sequence[int]:
        """The ids of the snapshots that were the current one, in order, as far as they are logged."""
        return tuple(line.snapshot_id for line in self.snapshot_log)

    def diff(self, before: Any = Default.PARENT, after: Any = None) -> Diff:
        """Say what changed from one snapshot to another: of `table.diff()` by the last commit.

        Files, manifests and documents are read when a part is accessed.

        Files are identified by path, deletion vectors in Puffin files by their offset too; the files of two tables by
        their path below the table.

        Parameters
        ----------
        before, after
            Snapshots, anything that `Table.snapshot` takes (an id, a branch, a tag, a time, `"main~1"`), or tables of this
            format, of which the current snapshot is meant. `before` may be None, for a diff from nothing, and is the
            parent of `after` where it is left out; `after` is the current snapshot then.

        Raises
        ------
        Missing
            There is no such snapshot, or the parent has expired.
        LakeError
            The two are of different formats.

        Examples
        --------
        >>> import lakelens as ll
        >>> table = ll.sample("iceberg")
        >>> diff = table.diff(table.snapshots[0], table.current)
        >>> len(diff.added) - len(diff.removed) == len(table.files) - len(table.snapshots[0].files)
        True
        """
        return cast("Diff", display.call("analysis.diff.diff:diff_table", self, before, after))

    def tree(self, references: bool = True) -> StorageTree:
        """Every object in the table's directory with its size, its role and what refers to it.

        Parameters
        ----------
        references
            Whether to find what refers to what, by walking every snapshot; False only lists.
        """
        return cast("StorageTree", display.call("analysis.tree:build_tree", self, references=references))

    @cached_property
    def history(self) -> Timeline:
        """Every snapshot once, with branches, tags, rollbacks and what expired: a still picture. Reads no manifest.

        A Hive table has no snapshots: its history is when its files were written.

        >>> import lakelens as ll
        >>> ll.sample("iceberg").history
        <Timeline of lakes.v3_merge_on_read: 5 snapshots>
        """
        return cast("Timeline", display.call("analysis.timeline.marks:trace_history", self))

    def timeline(self, *, spacing: Literal["time", "even"] = "time") -> Any:
        """The history as a widget: choose a snapshot for its card, two of them or a range for the diff.

        The choice is `widget.snapshot` and `widget.diff`. Needs anywidget (`pip install 'lakelens[notebook]'`); without
        a kernel a reader sees the still picture of `history`.

        Parameters
        ----------
        spacing
            Whether snapshots are placed true to time or evenly.
        """
        if spacing not in ("time", "even"):
            raise ValueError(f"spacing is 'time' or 'even', not {spacing!r}")
        widget = self.history.widget()
        widget.spacing = spacing
        return widget

    def watch(self, *, spark: Any = None, storage_options: Mapping[str, Any] | None = None) -> Watch:
        """Watch what a block of code does to this table's storage: see `lakelens.watch`.

        Parameters
        ----------
        spark
            A session: a table that was opened by name is then found again through its catalog.
        storage_options
            Options of the store, as in `lakelens.open`.
        """
        options = {"spark": spark, "storage_options": storage_options}
        return cast("Watch", display.call("watching:watch", self, **options))

    def plot(self, *, figsize: tuple[float, float] | None = None) -> Plot:
        """Plot how the table grew: rows, files and bytes after each snapshot, as the snapshots record them.

        No manifest is read. A table with fewer than two snapshots shows its files instead: see `FileSet.plot`.

        Parameters
        ----------
        figsize
            Width and height in inches.

        Raises
        ------
        Unsupported
            Matplotlib is not installed.

        Examples
        --------
        >>> import lakelens as ll
        >>> [axes.get_ylabel() for axes in ll.sample("iceberg").plot().figure.axes]
        ['live rows', 'files', 'bytes (binary units)']
        """
        return cast("Plot", display.call("views.render.plots:plot_growth", self, figsize))

    def __repr__(self) -> str:
        version = f" v{self.format_version}" if self.format_version is not None else ""
        return f"<Table {self.name} ({self.format}{version})>"
