"""Snapshots of a Paimon table; tags and long-lived changelogs are snapshot documents too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.access import StoredKey
from lakelens.formats.paimon.context import TableObject
from lakelens.formats.paimon.deletes.known_rows import bound_rows, count_new, count_vectors, state_rows
from lakelens.formats.paimon.listed_files import ListedFiles, plan_scan
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.index import PaimonIndexFile, read_index_files
from lakelens.formats.paimon.manifests.manifest import (
    LIVE,
    PaimonManifest,
    PaimonManifestList,
    merge_entries,
    place_manifest,
)
from lakelens.formats.paimon.metadata.schemas import PaimonSchema
from lakelens.formats.paimon.metadata.wire import (
    SnapshotDocument,
    parse_json,
    parse_millis,
    parse_snapshot,
    read_statistics,
)
from lakelens.formats.paimon.reading import fetch_near
from lakelens.io.ahead import fetch, fetch_along
from lakelens.model.collections import Document
from lakelens.model.comparison import FileComparison, WholeComparison, identify_copy
from lakelens.model.datafile import DataFile, StatisticsFile
from lakelens.model.deletes import DeleteMatch, LiveRows, count_live_rows
from lakelens.model.facts.traits import Figures
from lakelens.model.fileset import FileSet
from lakelens.model.finding import Severity
from lakelens.model.manifest import Entry, ManifestLists
from lakelens.model.snapshot import Snapshot, SnapshotAnswers

if TYPE_CHECKING:
    from lakelens.formats.paimon.deletes.positions import Matches
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.bytes_view import BytesView

T = TypeVar("T")
L = TypeVar("L", PaimonManifestList, PaimonManifest)


def _compare_files(before: Snapshot, after: PaimonSnapshot) -> FileComparison:
    """Compare the files of two states: by the deltas between, or by the manifests that one of the two names alone."""
    from lakelens.formats.paimon.changes import PaimonComparison

    if isinstance(before, PaimonSnapshot) and before.table_location == after.table_location:
        return PaimonComparison(before, after)
    return WholeComparison(before.files, after.files, identify_copy)


class PaimonSnapshot(TableObject, Snapshot):
    """One snapshot. Every key of its document is an attribute in snake case; `raw` is the document itself.
    `operation` is the commit kind (APPEND, COMPACT, OVERWRITE, ANALYZE); `statement` is what Paimon 2 writes under the key
    `operation` (WRITE, DELETE, MERGE, …).
    """

    def _find_stored(self, name: str) -> Any:
        return getattr(self.document, name)

    _table: PaimonTable
    schema: PaimonSchema
    parent: PaimonSnapshot | None

    uuid = StoredKey[str | None]("The snapshot's own id, where the writer gives it one.")
    version = StoredKey[int]("The version of the document.")
    commit_kind = StoredKey[str]("APPEND, COMPACT, OVERWRITE or ANALYZE.")
    commit_user = StoredKey[str | None]("Who committed: an id of the writer.")
    commit_identifier = StoredKey[int | None]("The writer's own number of the commit, to commit once only.")
    writer_version = StoredKey[str | None]("The version of Paimon that wrote the document.")
    schema_id = StoredKey[int]("The schema at the time of the commit.")
    time_millis = StoredKey[int]("When it was committed, in milliseconds since 1970.")
    total_record_count = StoredKey[int | None]("Rows of the live files.")
    delta_record_count = StoredKey[int | None]("Rows added minus rows removed by the commit.")
    changelog_record_count = StoredKey[int | None]("Rows of the changelog that the commit made.")
    watermark = StoredKey[int | None]("The watermark of a streaming writer.")
    next_row_id = StoredKey[int | None]("The first row id that is still free, with row tracking.")
    base_manifest_list = StoredKey[str]("The manifest list of everything before the commit.")
    delta_manifest_list = StoredKey[str]("The manifest list of the commit's changes.")
    changelog_manifest_list = StoredKey[str | None]("The manifest list of the commit's changelog.")
    index_manifest = StoredKey[str | None]("The manifest of all index files.")

    def __init__(
        self, table: PaimonTable, document: SnapshotDocument, raw: Mapping[str, Any], path: str, number: int
    ) -> None:
        self._table = table
        self.context = table.context
        self.document = document
        self.raw = raw
        self.path = path
        self.id: int = number
        self.operation = document.commit_kind
        self.statement = document.operation
        self.job = (document.commit_user, document.commit_identifier) if document.commit_user else None
        self.committed_at = parse_millis(document.time_millis)
        self.record_count = document.total_record_count
        self.log_offsets = document.log_offsets or {}
        self.properties = document.properties or {}
        #: ids are consecutive
        self.parent_id = number - 1 if table.has_snapshot(number - 1) else None
        self.summary = _write_summary(raw)
        #: each commit writes lists of its own; a number may come again
        self._distinct = (document.base_manifest_list, document.delta_manifest_list)
        self.is_incomplete = False

    def fetch_near(self, *compared: PaimonSnapshot) -> None:
        """Read what the commits of a history that is being walked changed, together where its store is far."""
        if self.context.store.is_far:
            fetch_near(self, self._table.__dict__.get("snapshots", ()), compared)

    def _name_lists(self) -> ManifestLists[PaimonManifestList]:
        """Name the lists: base (everything before the commit), delta (its changes), changelog (when it made one)."""
        self.fetch_near()
        document, known = self.document, self._table._known_manifests
        named = (
            ("base", document.base_manifest_list, document.base_manifest_list_size),
            ("delta", document.delta_manifest_list, document.delta_manifest_list_size),
            ("changelog", document.changelog_manifest_list, document.changelog_manifest_list_size),
        )
        return ManifestLists(known.share_list(name, role, size) for role, name, size in named if name)

    def _open_files(self) -> FileSet:
        """Open the live data files: the entries of base and delta, folded. Damaged manifests are findings."""
        return FileSet(self._merge, self.context.describe_columns, lambda: self.make_reader("base", "delta"))

    @cached_property
    def delta_files(self) -> FileSet:
        """The files that this commit added."""
        return self._list_files("delta", "added")

    @cached_property
    def removed_files(self) -> FileSet:
        """The files that this commit removed."""
        return self._list_files("delta", "removed")

    @cached_property
    def changelog_files(self) -> FileSet:
        """The changelog files that this commit made; never part of the live files."""
        return self._list_files("changelog", "added")

    def _list_files(self, role: str, kept: str) -> FileSet:
        """List the files of the entries of one list that are ADDs ("added"), or those that are DELETEs ("removed")."""
        return FileSet(
            lambda: [e.file for e in self._list_entries(role) if e.is_live == (kept == "added")],
            self.context.describe_columns,
            lambda: self.make_reader(role, kept=kept),
        )

    def make_reader(self, *roles: str, kept: str = "live") -> ListedFiles:
        """Make what reads the files of some lists by column."""
        return ListedFiles(self, list(self._list_manifests(*roles)), kept)

    def _list_index_files(self) -> Sequence[PaimonIndexFile]:
        """List every index file of this snapshot; none, with a finding, when the index manifest cannot be read."""
        path = self.context.layout.shared("manifest", self.index_manifest or "")
        return self._attempt(self.read_index_files, path, ())

    def read_index_files(self) -> Sequence[PaimonIndexFile]:
        """Read every index file of this snapshot. Raises `LakeError` when the index manifest cannot be read."""
        if self.index_manifest is None:
            return ()
        return read_index_files(self.context, self.index_manifest, self._table._vector_reader.read_vector)

    def _find_dangling(self) -> Sequence[Any]:
        """Find index files with deletion vectors for data files that are not live. Reads the manifests."""
        from lakelens.formats.paimon.deletes.positions import find_dangling

        names = {path.rpartition("/")[2] for (path,) in self.files.pick("path")}
        found = find_dangling(self._deletes, names) if not self.is_incomplete else ()
        for dangling in found:
            self.context.findings.add(
                "warning", "dangling-deletes", dangling.file.path, dangling.reason, (self.id,)
            )
        return found

    def _count_rows(self, read: bool) -> LiveRows:
        """Count the rows that a batch reader sees; None, with the reason, where keys must be merged to know.

        Vectors count as recorded; with `read=False` those without a recorded number of rows are not decoded.
        """
        from lakelens.formats.paimon.deletes.known_rows import count_rows

        files = [file for file in self.files if isinstance(file, PaimonDataFile)]
        count = partial(count_live_rows, report=self._note_unread, read=read)
        return count_rows(self.context, files, count)

    @cached_property
    def listed_live_rows(self) -> LiveRows:
        """What the entries of the live files prove of their rows; no vector is decoded."""
        return self.count_live_rows(read=False)

    def find_deletes(self, file: PaimonDataFile) -> tuple[DeleteMatch, ...]:
        """Find the deletion vectors of this snapshot for a data file, by its name."""
        return self._deletes.get(file.file_name, ())

    @cached_property
    def _deletes(self) -> Matches:
        from lakelens.formats.paimon.deletes.positions import match_deletes

        return match_deletes(self.index_files, self._table._vector_reader)

    def _list_statistics(self) -> tuple[StatisticsFile, ...]:
        """List the statistics that ANALYZE wrote, inherited by later snapshots; a missing file is a finding."""
        name = self.document.statistics
        if name is None:
            return ()
        path = self.context.layout.shared("statistics", name)
        absent = StatisticsFile("table", path, name, None, _source=self.context.source())
        return (self._attempt(lambda: read_statistics(self.context, path, name), path, absent),)

    def list_chain(self, older: PaimonSnapshot) -> tuple[PaimonSnapshot, ...]:
        """The commits after an older snapshot up to this one, as its branch has them; none where one of them is gone."""
        if not (self.is_kept() and self.is_in_branch(older)):
            return ()
        find = self._table.find_numbered
        numbers = range(older.id + 1, self.id + 1)
        found = [find(number) if self._table.has_snapshot(number) else None for number in numbers]
        return () if None in found else tuple(step for step in found if step is not None)

    def is_in_branch(self, other: PaimonSnapshot) -> bool:
        """Check whether the branch of this snapshot has the other one, not another commit of its number."""
        return (known := self._table.find_by_id(other.id)) is not None and known.is_same(other)

    def see(self, found: PaimonDataFile) -> PaimonDataFile:
        """A file as this snapshot sees it: with its own deletion vectors."""
        return found if self.index_manifest is None else found.with_deletes(self.find_deletes)

    def index_manifest_view(self) -> BytesView:
        """The bytes of the index manifest, which names every index file.

        Raises
        ------
        LakeError
            When the snapshot has no index manifest.
        """
        if self.index_manifest is None:
            raise LakeError("the snapshot has no index manifest", path=self.path)
        return self.context.explain(self, self.context.layout.shared("manifest", self.index_manifest))

    def _merge(self) -> list[DataFile]:
        merged = merge_entries(self._list_entries("base", "delta"))
        for entry in merged.repeated:
            self._note_entry("error", "repeated-add", entry, "is added although it is there already")
        for entry in merged.dangling if not self.is_incomplete else ():
            what = "is deleted although no entry before adds it"
            self._note_entry("warning", "dangling-delete", entry, what)
        files = [entry.file for entry in merged.live.values()]
        self.make_reader("base", "delta").check_merged(files)
        return [self.see(f) if isinstance(f, PaimonDataFile) else f for f in files]

    def _note_entry(self, severity: Severity, code: str, entry: Entry, what: str) -> None:
        message = f"{entry.file.recorded_path} {what}"
        self.context.findings.add(severity, code, entry.file.manifest or "", message, (self.id,))

    def check_total(self, total: int) -> None:
        """Keep as a finding that the live files hold another number of rows than the document records."""
        if self.record_count is not None and not self.is_incomplete and total != self.record_count:
            message = f"totalRecordCount is {self.record_count}, the live files hold {total} rows"
            self.context.findings.add("warning", "record-count", self.path or "", message, (self.id,))

    def _list_entries(self, *roles: str) -> Iterator[Entry]:
        for manifest in fetch_along(self.context.store, self._list_manifests(*roles), place_manifest):
            yield from self._walk(manifest, lambda walked: walked.entries)

    def _list_manifests(self, *roles: str) -> Iterator[PaimonManifest]:
        chosen = [listed for listed in self.manifest_lists if listed.role in roles]
        fetch(self.context.store, documents=[listed.path for listed in chosen if not listed.is_read])
        for listed in chosen:
            yield from self._walk(listed, lambda walked: walked.manifests)

    def _walk(self, listed: L, read: Callable[[L], Sequence[T]]) -> Sequence[T]:
        return self._attempt(lambda: read(listed), listed.path, ())

    def _attempt(self, action: Callable[[], T], path: str, default: T) -> T:
        """The action's result; damage is a finding, after which totals and deletions are no longer checked."""
        try:
            return action()
        except LakeError as error:
            self.is_incomplete = True
            self.context.findings.add_error(error, path, (self.id,))
            return default

    answers = SnapshotAnswers(
        files=_open_files,
        manifest_lists=_name_lists,
        manifests=lambda self: self._list_manifests("base", "delta", "changelog"),
        scan_files=lambda self: self.make_reader("base", "delta").plan(),
        scan_entries=lambda self: plan_scan(self.context, self.manifests, LIVE, (self.id,)),
        compare_files=_compare_files,
        partitioning=lambda self: self.schema.partitioning,
        index_files=_list_index_files,
        statistics=_list_statistics,
        figures=lambda self: Figures(rows=self.record_count, net_rows=self.delta_record_count),
        vector_count=count_vectors,
        newly_deleted=count_new,
        recorded_live_rows=bound_rows,
        stated_live_rows=state_rows,
        count_live_rows=_count_rows,
        deletion_vectors=lambda self: {name: matches[-1] for name, matches in self._deletes.items()},
        dangling_deletes=_find_dangling,
    )


def _write_summary(raw: Mapping[str, Any]) -> Document:
    """Write the scalar facts of the document as text, under their own keys."""
    scalars = {key: value for key, value in raw.items() if isinstance(value, str | int | float)}
    texts = {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in scalars.items()}
    return Document(texts, "summary")


def read_snapshot(
    table: PaimonTable,
    path: str,
    number: int | None = None,
    read: Callable[[], bytes] | None = None,
    affected: Sequence[int] = (),
) -> PaimonSnapshot | None:
    """The snapshot of a document: `snapshot-N`, `changelog-N` or, without a number, a tag; None, with a finding, on damage.

    `read` may have the bytes already; `affected` are the snapshots that the finding is about.
    """
    context = table.context

    def load() -> PaimonSnapshot:
        raw = parse_json(context.store.read(path) if read is None else read(), path)
        document, notes = parse_snapshot(raw, path, number)
        for note in notes:
            context.findings.add("warning", "snapshot-document", path, note)
        chosen = document.id if number is None else number
        return PaimonSnapshot(table, document, raw, path, chosen or 0)

    return context.access.attempt(load, path, None, affected)
