"""Snapshots of an Iceberg table.

Follows "Snapshots" of the Iceberg table specification. Walking goes past damage: what stops a manifest list or a manifest
from being read becomes a finding, and what was read before it is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.formats.iceberg.context import TableContext, TableObject
from lakelens.formats.iceberg.figures import (
    bound_rows,
    correct_figures,
    count_lists,
    read_figures,
)
from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest, fetch_manifests
from lakelens.formats.iceberg.manifests.manifest_list import IcebergManifestList, KnownManifests
from lakelens.formats.iceberg.metadata.document import CommittedDocuments
from lakelens.formats.iceberg.metadata.wire import WireSnapshot, to_text, to_time
from lakelens.model.comparison import (
    FileComparison,
    FileCounts,
    WholeComparison,
    identify_copy,
)
from lakelens.model.driver import later
from lakelens.model.facts.traits import Figures, parse_figure
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.manifest import ManifestLists
from lakelens.model.schema import PartitionSpec
from lakelens.model.snapshot import Snapshot, SnapshotAnswers, walk_lists

if TYPE_CHECKING:
    from lakelens.formats.iceberg.deletes.matching import DeleteIndex
    from lakelens.formats.iceberg.deletes.positions import DeleteReader
    from lakelens.formats.iceberg.scan.plan import IcebergScan
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.comparison import IndexChanges
    from lakelens.model.deletes import DeleteMatch, LiveRows

PLAN_SCAN = later("lakelens.formats.iceberg.scan.plan:plan_scan")
_READER = later("lakelens.formats.iceberg.live_files:LiveFiles")
_NOTES = {
    "source-snapshot-id": "cherry-picked from",
    "wap.id": "staged as",
    "published-wap-id": "published",
}


class SnapshotReaders:
    """What the snapshots of one table share in addition to its context: what one reads is kept for the next."""

    def __init__(self, context: TableContext) -> None:
        self.context = context
        self.manifests = KnownManifests(context)
        self.documents = CommittedDocuments(context.access, context.document)
        self.distances: dict[int, float] = {}

    @cached_property
    def deletes(self) -> DeleteReader:
        """Decodes delete files and vectors."""
        from lakelens.formats.iceberg.deletes.positions import DeleteReader

        return DeleteReader(self.context)


def _compare_files(before: Snapshot, after: IcebergSnapshot) -> FileComparison:
    """Compare the files of two states: only the manifests that one of the two names alone are read."""
    from lakelens.formats.iceberg.changes import IcebergComparison

    if isinstance(before, IcebergSnapshot) and before.is_same_table(after):
        return IcebergComparison(before, after, after.context.access.store)
    return WholeComparison(before.files, after.files, identify_copy)


def _compare_index_files(
    before: Snapshot | None, after: IcebergSnapshot, files: FileComparison
) -> IndexChanges:
    """List the statistics that are its own, and the Puffin files of the vectors that changed; only those are read."""
    from lakelens.formats.iceberg.deletes.puffins import list_sketch_files, list_vector_files
    from lakelens.model.comparison import IndexChanges

    sketches = () if before is after else list_sketch_files(after.context, after.id)
    reader = after.delete_reader
    return IndexChanges(
        (*sketches, *list_vector_files(reader, files.added)), list_vector_files(reader, files.removed)
    )


def _plan_scan(snapshot: IcebergSnapshot) -> IcebergScan:
    """Plan to read the files of every manifest by column."""
    scan: IcebergScan = PLAN_SCAN(snapshot.context, snapshot.manifests, (snapshot.id,))
    return scan


class IcebergSnapshot(TableObject, Snapshot):
    """One snapshot. Every field of the document is in `raw`; `summary` is the document's, `operation` included."""

    id: int
    _table: IcebergTable
    parent: IcebergSnapshot | None

    def __init__(
        self, table: IcebergTable, readers: SnapshotReaders, wire: WireSnapshot, raw: dict[str, Any]
    ) -> None:
        self._table = table
        self._context = self.context = readers.context
        self._readers = readers
        self._wire = wire
        self.raw = raw
        self.id = wire.snapshot_id
        self.parent_id = wire.parent_snapshot_id if wire.parent_snapshot_id != -1 else None
        self.sequence_number = wire.sequence_number or 0
        self.committed_at = to_time(wire.timestamp_ms)
        self.summary = {key: to_text(value) for key, value in (wire.summary or {}).items()}
        self.operation = self.summary.get("operation")
        self.record_count = parse_figure(self.summary, "total-records")
        self.schema_id = wire.schema_id
        self.first_row_id = wire.first_row_id
        self.added_rows = wire.added_rows
        #: data files and delete files as all its manifests add up to; None where not all of them were read
        self.counted: tuple[FileCounts, FileCounts] | None = None
        self.key_id = wire.key_id
        self.picked_from = self.summary.get("source-snapshot-id")
        # cherry-picks, and commits that were staged (write, audit, publish)
        self.notes = tuple(
            f"{words} {self.summary[key]}" for key, words in _NOTES.items() if key in self.summary
        )

    @property
    def delete_reader(self) -> DeleteReader:
        """Decodes delete files and vectors of the table."""
        return self._readers.deletes

    def _find_figures(self) -> Figures:
        """Find the summary's figures, or those that its lists or manifests add up to, as far as these were read."""
        figures, counted = self.figures, self.counted
        if counted is None and all(listed.is_read for listed in self.manifest_lists):
            counted = count_lists(self)
        return figures if counted is None else correct_figures(figures, *counted)

    def _state_live_rows(self) -> LiveRows:
        """Bound the live rows by its summary, and by those before it where its vectors ask for them."""
        return bound_rows(self, self._context.typed.format_version or 1, self._readers.distances)

    def _name_lists(self) -> ManifestLists[IcebergManifestList]:
        """Name the one manifest list."""
        wire = self._wire
        if wire.manifest_list:
            known, listed = self._readers.manifests, wire.manifest_list
            return ManifestLists((IcebergManifestList(known, listed, self.id, key_id=wire.key_id),))
        if wire.manifests is not None:
            return ManifestLists(
                (IcebergManifestList(self._readers.manifests, None, self.id, wire.manifests),)
            )
        return ManifestLists()

    def _walk_lists(self) -> list[IcebergManifest]:
        """Walk the manifests that the list names; one that is named twice is a finding, as is a list that cannot be read."""
        manifests: list[IcebergManifest] = list(walk_lists(self))
        for manifest, times in Counter(manifests).items():
            if times > 1:
                message = f"the manifest list of snapshot {self.id} names it {times} times"
                self.add_warning("repeated-manifest", manifest.path, message)
        return manifests

    def _open_files(self) -> FileSet:
        """Open the live data files, delete files and deletion vectors."""
        return FileSet(
            self._load_files, self._describe_columns, lambda: _READER(self, self.manifests, is_all=True)
        )

    def _open_some(self, manifests: Sequence[IcebergManifest]) -> FileSet:
        """Open the live files of some of its manifests, as this snapshot sees them: with its own deletes."""
        return FileSet(
            lambda: self.list_live(manifests),
            self.describe_known_columns,
            partial(_READER, self, manifests),
        )

    @cached_property
    def delete_index(self) -> DeleteIndex:
        """The delete files and vectors by what they may reach."""
        from lakelens.formats.iceberg.deletes.matching import DeleteIndex

        files: Any = self.files
        return DeleteIndex(files, self._readers.deletes)

    def find_deletes(self, file: IcebergDataFile) -> Sequence[DeleteMatch]:
        """Find the delete files and vectors that reach a data file."""
        return self.delete_index.match(file)

    def _match_vectors(self) -> Mapping[str, DeleteMatch]:
        """Match the deletion vectors with the data file that each reaches, as the manifest names it."""
        return {
            match.data_file: match
            for file in (self.files if self.delete_index.has_vectors else ())
            for match in file.deletes
            if match.kind == "deletion_vector"
        }

    def _count_rows(self, read: bool) -> LiveRows:
        """Count the live rows: no file is looked at where there is nothing that deletes."""
        from lakelens.model.deletes import count_live_rows, count_recorded

        if self.delete_index:
            if read:
                deletes: Any = self.files.choose(lambda content: content != "data", "content")
                self._readers.deletes.fetch(deletes)
            return count_live_rows(self.files, self._note_unread, read=read)
        return count_recorded(
            rows for content, rows in self.files.pick("content", "record_count") if content == "data"
        )

    def _find_dangling(self) -> Iterable[Any]:
        """Find delete files and vectors that reach no live data file, or name files that are not live, with the reason.

        Reads the manifests, and those position delete files whose data files the metadata does not name. None where a
        manifest cannot be read: the files that a delete is for may be its.
        """
        from lakelens.formats.iceberg.deletes.dangling import find_dangling

        files: Any = self.files
        len(files)
        if self._is_incomplete():
            return ()
        return find_dangling(self.delete_index, files, read=True)

    def _is_incomplete(self) -> bool:
        """Whether a list or a manifest of it could not be read, as far as its files were; one may be read elsewhere."""
        elsewhere = self._context.access.elsewhere
        lists = (one.path for one in self.manifest_lists if one.path is not None)
        places = (*lists, *(manifest.path for manifest in self.manifests))
        read = {elsewhere.get(path, path) for path in places}
        findings = self._context.findings
        return any(finding.severity == "error" and finding.path in read for finding in findings)

    def _find_partitioning(self) -> PartitionSpec | None:
        """Find the default spec of the document it was committed with; of a lost one the newest that manifests follow."""
        specs = self._context.specs.specs
        if len(specs) == 1:
            return next(iter(specs.values()))
        found = self.find_document()
        default = found[1].get("default-spec-id") if found is not None else None
        if default in specs:
            return specs[default]
        used = [number for m in self.manifests if isinstance(number := m.raw.get("partition_spec_id"), int)]
        return specs.get(max(used, default=0))

    def list_documents(self) -> Iterator[str]:
        """List where the document that it was committed with is looked for first; nothing where the opened one is it."""
        return self._readers.documents.list_unread(self._wire.timestamp_ms)

    def is_same_table(self, other: IcebergSnapshot) -> bool:
        """Check whether both are states of one table in one place: then one location names one and the same file."""
        mine, theirs = self._table, other._table
        return mine is theirs or (mine.location == theirs.location and mine.uuid == theirs.uuid)

    def walk_entries(self) -> Iterator[tuple[IcebergManifest, Any]]:
        """Walk every entry of every manifest once, with its manifest; damage becomes findings."""
        return self._walk_manifests(self.manifests)

    def _walk_manifests(self, manifests: Iterable[IcebergManifest]) -> Iterator[tuple[IcebergManifest, Any]]:
        for manifest in fetch_manifests(self._context, manifests):
            entries, error = manifest.walk()
            if error is not None:
                self._context.findings.add_error(error, manifest.path, (self.id,))
            for entry in entries:
                yield manifest, entry

    def _describe_columns(self) -> FileColumns:
        """Reads the entries first: manifests may have columns that the document has forgotten."""
        has_deletes = any(manifest.content != "data" for manifest in self.manifests)
        self._context.columns.expect_reserved(self._context.typed.format_version or 1, has_deletes)
        for _ in self.walk_entries():
            pass
        return self.describe_known_columns()

    def describe_known_columns(self) -> FileColumns:
        """Describe the columns of files in Arrow, as far as they are known by now."""
        return self._context.describe_columns()

    def list_live(self, manifests: Iterable[IcebergManifest]) -> list[IcebergDataFile]:
        """List the live files of some of its manifests, as this snapshot sees them: with its own deletes."""
        # the same entry may be live in many snapshots, with other deletes
        return [
            entry.file.with_deletes(self.find_deletes)
            for _, entry in self._walk_manifests(manifests)
            if entry.is_live
        ]

    def _load_files(self) -> list[IcebergDataFile]:
        from lakelens.formats.iceberg.live_files import check_files, note_absence

        found = self.list_live(self.manifests)
        if not self._is_damaged():
            check_files(self, found)
        if not found:
            note_absence(self)
        return found

    def _is_damaged(self) -> bool:
        """Check whether some of the manifests could not be read, so that nothing is known of what is missing."""
        manifests = any(manifest.walk()[1] for manifest in self.manifests)
        return manifests or any(listed.walk()[1] for listed in self.manifest_lists)

    def add_warning(self, code: str, path: str, message: str) -> None:
        """Keep what is odd about this snapshot as a finding."""
        self._context.findings.add("warning", code, path, message, (self.id,))

    answers = SnapshotAnswers(
        files=_open_files,
        manifest_lists=_name_lists,
        manifests=_walk_lists,
        list_files=_open_some,
        scan_files=_plan_scan,
        scan_entries=_plan_scan,
        compare_files=_compare_files,
        compare_index_files=_compare_index_files,
        partitioning=_find_partitioning,
        document=lambda self: self._readers.documents.find(self.id, self._wire.timestamp_ms),
        index_files=later("lakelens.formats.iceberg.deletes.puffins:list_index_files"),
        statistics=later("lakelens.formats.iceberg.deletes.puffins:list_statistics"),
        figures=lambda self: read_figures(self.summary),
        known_figures=_find_figures,
        stated_live_rows=_state_live_rows,
        count_live_rows=_count_rows,
        deletion_vectors=_match_vectors,
        dangling_deletes=_find_dangling,
    )
