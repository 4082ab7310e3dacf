"""Snapshots and the references that name them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError, Missing, UnknownName, list_nearest
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Explainable, FoundAgain, Source
from lakelens.model.collections import Items, NamedItems, know_none, show_stored, stored, worked_out
from lakelens.model.comparison import FileComparison, IndexChanges, compare_all, compare_index_files
from lakelens.model.datafile import IndexFiles, StatisticsFiles
from lakelens.model.deletes import (
    DanglingDeletes,
    DeleteMatch,
    LiveRows,
    count_live_rows_of,
    count_without_summary,
    state_live_rows,
)
from lakelens.model.facts.facts import REF, SNAPSHOT, Fact
from lakelens.model.facts.traits import UNKNOWN, Amount, Figures, Vocabulary
from lakelens.model.fileset import FileSet
from lakelens.model.manifest import ManifestLists, Manifests
from lakelens.model.schema import PartitionSpec, Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.analysis.diff.diff import Diff
    from lakelens.model.datafile import DataFile
    from lakelens.model.scan.plan import FileScan
    from lakelens.model.table import Table


@show_stored("ref")
@dataclass(frozen=True, slots=True, repr=False)
class Ref(Explainable, Displayable):
    """A name for a snapshot: `type` is "branch" or "tag"; retention is in milliseconds, None where not set.

    `created_at` and `path` are Paimon's, whose refs are files and directories of their own.
    """

    name: str
    type: Literal["branch", "tag"]
    snapshot_id: int | None
    max_ref_age_ms: int | None = None
    max_snapshot_age_ms: int | None = None
    min_snapshots_to_keep: int | None = None
    created_at: datetime | None = None
    path: str | None = None
    raw: Any = field(default=None, compare=False)
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __repr__(self) -> str:
        return f"<Ref {self.type} {self.name}: {self.snapshot_id}>"


class Refs(NamedItems[Ref]):
    """Branches and tags, in the order of the metadata; also by name, where a branch goes before a tag of the same name.

    >>> refs = Refs([Ref("main", "branch", 7), Ref("v1", "tag", 3)])
    >>> refs["v1"].snapshot_id, "main" in refs, [ref.name for ref in refs], len(refs.tags)
    (3, True, ['main', 'v1'], 1)
    """

    __slots__ = ("_named",)
    facts = REF
    _noun = "ref"

    def _list_names(self, item: Any) -> tuple[str, ...]:
        return (item.name,)

    def get(self, name: str) -> Ref | None:
        """Give the ref of a name, or None."""
        if not hasattr(self, "_named"):  # there may be a hundred thousand, each asked for
            self._named = {ref.name: ref for ref in (*self.tags[::-1], *self.branches[::-1])}
        return self._named.get(name)

    def __repr__(self) -> str:
        return f"<Refs {', '.join(self.keys())}>"

    @property
    def branches(self) -> Refs:
        """The branches."""
        return Refs(ref for ref in self if ref.type == "branch")

    @property
    def tags(self) -> Refs:
        """The tags."""
        return Refs(ref for ref in self if ref.type == "tag")

    def to_arrow(self) -> pa.Table:
        """One row for each: `name`, `type`, `snapshot_id`, the retention in milliseconds, `created_at` (UTC), `path`.

        >>> Refs([Ref("v1", "tag", 3)]).to_arrow().select(["name", "snapshot_id"]).to_pylist()
        [{'name': 'v1', 'snapshot_id': 3}]
        """
        return super().to_arrow()


def walk_lists(snapshot: Snapshot) -> Iterator[Any]:
    """Walk the manifests that the lists name; a list that cannot be read is a finding."""
    for manifest_list in snapshot.manifest_lists:
        manifests, error = manifest_list.walk()
        yield from manifests
        if error is not None:
            snapshot._note(error, manifest_list.path or "")


def find_schema(snapshot: Snapshot) -> Schema | None:
    """Find the schema of a snapshot by its id; None where it is not known."""
    return None if snapshot.schema_id is None else snapshot._table._find_schema(snapshot.schema_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotAnswers:
    """How a format finds what one of its snapshots names: functions of the snapshot, called when an attribute is asked for.

    What has a default is left out where the format has no such thing, or where it follows from the rest. Most are called
    once; what depends on what was read so far is called each time.
    """

    files: Callable[[Any], FileSet]
    #: None: today's
    schema: Callable[[Any], Schema | None] = find_schema
    manifest_lists: Callable[[Any], ManifestLists[Any]] = lambda snapshot: ManifestLists()
    manifests: Callable[[Any], Iterable[Any]] = walk_lists
    #: the live files of some of its manifests, where they are known without the others
    list_files: Callable[[Any, Sequence[Any]], FileSet] = lambda snapshot, manifests: snapshot.files
    #: plans to read the live files, and every entry of every manifest, by column
    scan_files: Callable[[Any], FileScan | None] = know_none
    scan_entries: Callable[[Any], FileScan | None] = know_none
    #: the files, and the index files, compared with an older state's: the older one first
    compare_files: Callable[[Any, Any], FileComparison] = compare_all
    compare_index_files: Callable[[Any, Any, FileComparison], IndexChanges] = compare_index_files
    partitioning: Callable[[Any], PartitionSpec | None] = lambda snapshot: snapshot._table.partitioning
    #: the table's document of the snapshot with its path
    document: Callable[[Any], tuple[str, Any] | None] = know_none
    index_files: Callable[[Any], Iterable[Any]] = lambda snapshot: ()
    statistics: Callable[[Any], Iterable[Any]] = lambda snapshot: ()

    # What it says of its rows, the cheapest first:
    figures: Callable[[Any], Figures] = lambda snapshot: Figures(rows=snapshot.record_count)
    #: the figures that lists or files which were read add up to, where these are others
    known_figures: Callable[[Any], Figures] = lambda snapshot: snapshot.figures
    #: the figures without changes of what was so already, which a history leaves out
    effects: Callable[[Any], Figures] = lambda snapshot: snapshot.figures
    vector_count: Callable[[Any], int | None] = know_none
    newly_deleted: Callable[[Any], Amount | None] = lambda snapshot: snapshot.figures.deleted
    #: the bounds that are known without any manifest; None: the stated ones, corrected by what was read
    recorded_live_rows: Callable[[Any], LiveRows] | None = None
    stated_live_rows: Callable[[Any], LiveRows] = state_live_rows
    #: counts them; whether delete files are decoded comes second
    count_live_rows: Callable[[Any, bool], LiveRows] = count_live_rows_of
    deletion_vectors: Callable[[Any], Mapping[str, DeleteMatch]] = lambda snapshot: {}
    dangling_deletes: Callable[[Any], Iterable[Any]] = lambda snapshot: ()


class Snapshot(FoundAgain, Explainable, Displayable):
    """One state of a table. Everything that needs another file is read when it is first asked for.

    A format's own class sets what its documents record, or says in `late` how that is worked out where no document is read
    only to know that there is a snapshot; `answers` say how the rest is found. It overrides nothing.
    Whatever follows from these and from the table (`schema`, `refs`, `parent`, `changes`, how it is related to another one)
    is written here, for all formats.

    `record_count` is what the snapshot records of itself (Paimon `totalRecordCount`, Iceberg `total-records`), None where
    it records nothing. Walking (`manifests`, `files`) goes past damage and keeps it as findings; asking a damaged
    `ManifestList` or `Manifest` for its content raises.
    """

    #: attributes that are worked out when they are first asked for
    late: ClassVar[Mapping[str, Callable[[Any], Any]]] = MappingProxyType({})
    answers: ClassVar[SnapshotAnswers]

    id: int | None
    _table: Table
    parent_id: int | None = None
    sequence_number: int | None = None
    committed_at: datetime | None = worked_out()
    operation: str | None = worked_out()
    schema_id: int | None = worked_out()
    summary: Mapping[str, str] = stored("summary")
    record_count: int | None = None
    picked_from: str | None = (
        None  # the id of the snapshot that this one is a cherry-pick of, where it records that
    )
    notes: tuple[str, ...] = ()  # what its own document says of how it was committed, in words
    statement: str | None = None  # what its writer calls the statement that committed it
    job: tuple[object, ...] | None = None  # what all snapshots that one statement committed have in common
    raw: Any = stored("snapshot")
    #: What the format says of the keys of its documents.
    vocabulary: Vocabulary = UNKNOWN
    #: what distinguishes it from another commit of the same id, where a number may come again
    _distinct: Hashable = None

    @cached_property
    def path(self) -> str | None:
        """Where it is now: its own document, else its manifest list; None where it is written in neither."""
        return self.manifest_lists[0].path if self.manifest_lists else None

    @cached_property
    def schema(self) -> Schema:
        """The schema it was written with; today's where that one is not known."""
        written = self.answers.schema(self)
        return self._table.schema if written is None else written

    @cached_property
    def figures(self) -> Figures:
        """What its own document records of its changes and totals. Nothing else is read."""
        return self.answers.figures(self)

    @property
    def known_figures(self) -> Figures:
        """The figures; where lists or files that were read add up to others, what these add up to. Nothing is read."""
        return self.answers.known_figures(self)

    @property
    def refs(self) -> tuple[str, ...]:
        """The names of the branches and tags that point here; nothing can name a Hive listing."""
        table = self._table
        return tuple(
            ref.name
            for ref in table.refs
            if ref.snapshot_id == self.id
            and (ref.type == "tag" or table.branch_name in (None, ref.name))  # others number their own
        )

    @cached_property
    def manifest_lists(self) -> ManifestLists[Any]:
        """The manifest lists: one in Iceberg, base, delta and perhaps changelog in Paimon, none in Hive."""
        return self.answers.manifest_lists(self)

    @cached_property
    def manifests(self) -> Manifests[Any]:
        """Every manifest that the lists name, in order, as many as can be read; none in Hive."""
        return Manifests(self.answers.manifests(self))

    @cached_property
    def files(self) -> FileSet:
        """The live files: data files, and Iceberg's delete files."""
        return self.answers.files(self)

    def list_files(self, manifests: Sequence[Any]) -> FileSet:
        """List the live files of some of its manifests, where a format knows them without the others; else all of them."""
        return self.answers.list_files(self, manifests)

    def scan_files(self) -> FileScan | None:
        """Scan a plan to read `files` by column, made from the manifest lists alone; None where the format has none.

        It can be pickled: threads and Spark's executors read it manifest by manifest.
        """
        return self.answers.scan_files(self)

    def scan_entries(self) -> FileScan | None:
        """Scan a plan to read every entry of every manifest, deleted ones included; None where the format has none."""
        return self.answers.scan_entries(self)

    def compare_files(self, before: Snapshot) -> FileComparison:
        """Give the files compared with those of an older state, of this table or of a copy of it. Nothing is read yet.

        A format reads only what changed, where its metadata makes that certain.
        """
        return self.answers.compare_files(before, self)

    def compare_index_files(self, before: Snapshot | None, files: FileComparison) -> IndexChanges:
        """The index files compared with those of an older state (None: nothing); `files` is the comparison of the files."""
        return self.answers.compare_index_files(before, self, files)

    @cached_property
    def partitioning(self) -> PartitionSpec | None:
        """How rows were divided at the time; None where it is not known."""
        return self.answers.partitioning(self)

    @property
    def table_location(self) -> str:
        """Where its table is."""
        return self._table.location

    def is_same(self, other: Snapshot) -> bool:
        """Check whether the other is the same snapshot, perhaps under another name (a tag, a branch)."""
        if self is other:
            return True
        return self.id is not None and (self.id, self._distinct) == (other.id, other._distinct)

    @property
    def parent(self) -> Snapshot | None:
        """The snapshot before it; None for the first, and when it has expired."""
        return None if self.parent_id is None else self._table.find_by_id(self.parent_id)

    def is_kept(self) -> bool:
        """Check whether its table has it under its id; a tag may keep one whose number another commit has by now."""
        known = None if self.id is None else self._table.find_by_id(self.id)
        return known is not None and known.is_same(self)

    def walk_ancestors(self) -> Iterator[Snapshot]:
        """Walk the snapshots it was made from, the nearest first, as far as they are still there.

        Where each is a document of its own a format bounds how many are read. Of a tag's commit that the branch no longer
        has there are none: another commit may have its number.
        """
        seen, ancestor = {self.id}, self.parent if self.is_kept() else None
        most = self._table._most_ancestors
        while ancestor is not None and ancestor.id not in seen and (most is None or len(seen) <= most):
            seen.add(ancestor.id)
            yield ancestor
            ancestor = ancestor.parent

    def count_from(self, before: Snapshot) -> int | None:
        """Count how many commits lead here from another snapshot, negative the other way round; None where it is not known.

        Known where each branch numbers its commits without a gap, and both are of this branch.
        """
        if self._table.branch_name is None or self.id is None or before.id is None:
            return None
        known = self._table.find_by_id(before.id) if self.is_kept() else None
        return self.id - before.id if known is not None and known.is_same(before) else None

    def was_undone_by(self, other: Snapshot) -> bool:
        """Whether the table went from this snapshot back to the other one, an ancestor: a rollback, by the snapshot log."""
        log = self._table._logged_ids
        return self.id in log and other.id in log[log.index(self.id) + 1 :]

    def find_document(self) -> tuple[str, Any] | None:
        """The table's whole metadata document of this snapshot, with its path; None where there is none, or it is gone."""
        return self.answers.document(self)

    @cached_property
    def live_rows(self) -> LiveRows:
        """How many rows are left without those that are deleted, what the metadata says about it, what was read to count."""
        return self.count_live_rows()

    @property
    def live_record_count(self) -> int | None:
        """The rows that are not deleted, exactly; None where that is not known (`live_rows.reason` says why).

        `record_count` is what the snapshot records, deleted rows included. Reads the manifests; delete files and data
        files only where the metadata does not say how many rows they delete.
        """
        return self.live_rows.count

    @property
    def known_live_rows(self) -> LiveRows:
        """`live_rows` where they were counted before; else what is known cheaply: a number, or its bounds.

        What is known without any manifest is enough in most cases; a format may look at a few small ones.
        """
        counted: LiveRows | None = vars(self).get("live_rows")
        if counted is not None:
            return counted
        known = self.known_figures
        return self.stated_live_rows if known == self.figures else count_without_summary(known, self.figures)

    @property
    def stated_live_rows(self) -> LiveRows:
        """`known_live_rows` by its own document and those before it: the same whatever was read or counted of it so far."""
        return self.answers.stated_live_rows(self)

    @property
    def recorded_live_rows(self) -> LiveRows:
        """The bounds of `live_rows` that are known without any manifest: the same whatever was read of it so far."""
        record = self.answers.recorded_live_rows or self.answers.stated_live_rows
        return record(self)

    @property
    def known_vector_count(self) -> int | None:
        """How many deletion vectors there are, where that is known without any manifest."""
        return self.answers.vector_count(self)

    @property
    def newly_deleted(self) -> Amount | None:
        """The rows that its commit deleted in files that stay, within bounds where files must be read to know.

        None where nothing is recorded. Rows of files that were removed are not among them. No manifest is read.
        """
        return self.answers.newly_deleted(self)

    def count_live_rows(self, *, read: bool = True) -> LiveRows:
        """Count the rows of the data files without the deleted ones. What cannot be read becomes a finding.

        Parameters
        ----------
        read
            Whether to decode delete files; with False `count` is None where that is needed, and only the bounds are known.
        """
        return self.answers.count_live_rows(self, read)

    @property
    def deletion_vectors(self) -> Mapping[str, DeleteMatch]:
        """The deletion vectors, by the data file that each is for, as the metadata names it."""
        return self.answers.deletion_vectors(self)

    @cached_property
    def dangling_deletes(self) -> DanglingDeletes:
        """Delete files and vectors that delete nothing, or name files that are not live, each with the reason."""
        return DanglingDeletes(self.answers.dangling_deletes(self))

    def _note_unread(self, error: LakeError, file: DataFile) -> None:
        """Keep as a finding that the deletes of a file cannot be read."""
        self._note(error, file.path)

    def _note(self, error: LakeError, path: str) -> None:
        self._table.findings.add_error(error, path, () if self.id is None else (self.id,))

    @cached_property
    def index_files(self) -> IndexFiles[Any]:
        """Index files of this snapshot."""
        return IndexFiles(self.answers.index_files(self))

    @cached_property
    def statistics(self) -> StatisticsFiles:
        """Statistics files that belong to this snapshot."""
        return StatisticsFiles(self.answers.statistics(self))

    @cached_property
    def changes(self) -> Diff:
        """What this snapshot changed: the diff to its parent, to nothing when it has none, or when that has expired."""
        number = self.parent_id
        before = number if number is not None and self._table.has_snapshot(number) else None
        return self._table.diff(before, self)

    def __repr__(self) -> str:
        return f"<Snapshot {self.id} {self.operation}>"


class Snapshots(Items[Snapshot]):
    """The snapshots of a table in commit order. Of a long history only those that are asked for are made.
    Numbers are positions; text is the name of a branch or a tag, or an id.

    >>> import lakelens as ll
    >>> ll.sample("iceberg").snapshots["main"]
    <Snapshot ... overwrite>
    """

    __slots__ = ("_table",)
    facts = SNAPSHOT

    def __init__(self, items: Iterable[Any] = (), make: Any = None, *, table: Table | None = None) -> None:
        super().__init__(items, make)
        self._table = table  # which knows the names; some of its snapshots have those that point at them

    @overload
    def __getitem__(self, key: int | str) -> Snapshot: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: int | str | slice) -> Snapshot | Self:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if self._table is not None and len(self):
            try:
                return self._table.snapshot(key)
            except Missing as e:
                raise UnknownName(e.message, path=e.path, hint=e.hint) from None
        for found in self:
            if key == str(found.id) or key in found.refs:
                return found
        raise UnknownName(f"no snapshot {key!r}", hint=list_nearest(key, self._ipython_key_completions_()))

    def _ipython_key_completions_(self) -> list[str]:
        newest, table = self[-20:], self._table
        refs = table.refs.keys() if table is not None else (name for one in newest for name in one.refs)
        return [*dict.fromkeys(refs), *(str(one.id) for one in newest[::-1])]

    def to_arrow(self) -> pa.Table:
        """One row for each, as it records itself: no manifest is read.

        Columns: `id`, `parent_id`, `sequence_number`, `committed_at` (UTC), `operation`, `schema_id`, `record_count`,
        `refs` (a list), `summary` (a map of text), `path`. What does not fit its column's type is null.

        >>> import lakelens as ll
        >>> ll.sample("iceberg-basic").snapshots.to_arrow()["record_count"].to_pylist()
        [1, 3, 4]
        """
        return super().to_arrow()


@dataclass(frozen=True, slots=True, repr=False)
class History(Displayable):
    """A table's history in outline: how many snapshots there are, the first, and the newest in commit order.
    Those between may not have been read: then damaged ones among them are counted too, and are not findings yet.

    >>> History(0).newest
    <Snapshots 0>
    """

    count: int
    first: Snapshot | None = None
    newest: Snapshots = field(default_factory=lambda: Snapshots(()))

    def __repr__(self) -> str:
        return f"<History {self.count} snapshots>"


@dataclass(frozen=True, slots=True, repr=False)
class LogEntry(Displayable):
    """When a snapshot became the current one, and whether it is an ancestor of today's."""

    made_current_at: datetime | None
    snapshot_id: int
    parent_id: int | None
    is_current_ancestor: bool

    def __repr__(self) -> str:
        return f"<LogEntry {self.made_current_at} {self.snapshot_id}>"


class SnapshotLog(Items[LogEntry]):
    """Which snapshot was the current one from when on, in order."""

    __slots__ = ()
    facts = (
        Fact("made_current_at", "time"),
        Fact("snapshot_id", "int64"),
        Fact("parent_id", "int64"),
        Fact("is_current_ancestor", "bool"),
    )
