"""Small objects of the model, made by hand: every string of them is given by the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from lakelens.analysis.diff.diff import Diff, ManifestChanges, PartitionChange
from lakelens.analysis.diff.documents import JsonChange, SchemaChange
from lakelens.analysis.tree import StorageTree
from lakelens.errors import LakeError
from lakelens.model.collections import Document, Preview
from lakelens.model.comparison import count_by_content
from lakelens.model.datafile import DataFile, IndexFile, StatisticsFile
from lakelens.model.deletes import DanglingDelete, DanglingDeletes, DeleteMatch, DeleteMatches
from lakelens.model.driver import Parts
from lakelens.model.facts.traits import Figures, Traits
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.finding import Findings
from lakelens.model.life.positions import Positions
from lakelens.model.manifest import (
    Entry,
    FieldSummaries,
    FieldSummary,
    Manifest,
    ManifestAnswers,
    ManifestList,
    ManifestLists,
)
from lakelens.model.schema import (
    DataType,
    Field,
    PartitionField,
    PartitionSpec,
    Schema,
    SortField,
    SortOrder,
)
from lakelens.model.snapshot import LogEntry, Ref, Snapshot, SnapshotAnswers, SnapshotLog
from lakelens.model.stats import Bounds, ColumnBounds, ColumnCounts, KeyRow, Partition
from lakelens.model.storage import (
    EncryptionKey,
    EncryptionKeys,
    Evidence,
    MetadataLogEntry,
    Reads,
    Relocation,
    StoredFile,
)
from lakelens.model.table import Table, TableSource
from lakelens.model.view import View, ViewLog, ViewLogEntry, ViewVersion, ViewVersions

START = datetime(2026, 11, 21, 11, 48, 26, tzinfo=UTC)
Word = Callable[[], str]


class FakeFile(DataFile):
    def __init__(self, word: Word, content: Any = "data") -> None:
        self.content = content
        self.path, self.recorded_path, self.file_format = word(), word(), word()
        self.partition = Partition({word(): word()}, {word(): word()})
        self.bucket, self.level, self.record_count, self.size_bytes = 1, 2, 3, 40_000
        self.sequence_number, self.snapshot_id = 5, 2**60
        self.manifest = word()
        self.min_key = {word(): word()}
        self.raw = {word(): {word(): [word(), b"\x00<b>"]}}
        self._word = word

    @property
    def bounds(self) -> Bounds:
        word = self._word
        made = [
            ColumnBounds(word(), DataType(word(), "string"), 1, word(), word(), 1, 2, 3, 4, True, b"<", b">"),
            ColumnBounds(word(), DataType(word(), "binary"), 2, b"<b>", [word(), {word(): word()}]),
        ]
        return Bounds({column.name: column for column in made})

    @property
    def footer(self) -> Any:
        return {self._word(): self._word()}

    def preview(self, n: int = 10) -> Any:
        raise AssertionError("a view reads no rows")


class FakeRow(KeyRow):
    def __init__(self, names: tuple[str, ...], values: tuple[Any, ...], type_: str) -> None:
        self.names, self.values, self.kind, self.data = names, values, "+I", b"<b>"
        self.columns = [Field(number, name, DataType(type_, "int32")) for number, name in enumerate(names)]

    def list_slots(self) -> Sequence[bytes]:
        return [b"<script>"] * len(self.names)

    def bytes_view(self) -> None: ...


def list_fake_entries(manifest: FakeManifest) -> Iterator[Entry]:
    manifest.opened += 1
    word = manifest._word
    return (Entry("ADDED", 7, 5, file, raw={word(): word()}) for file in manifest._files)


class FakeManifest(Manifest):
    answers = ManifestAnswers(entries=list_fake_entries)

    def __init__(self, word: Word, files: Sequence[DataFile]) -> None:
        self.path, self.recorded_path, self.size_bytes = word(), word(), 12_345
        self.content = word()
        self.added_files_count, self.existing_files_count, self.deleted_files_count = len(files), 0, 0
        self.partition_summary = FieldSummaries((FieldSummary(word(), word(), word(), True, False),))
        self.raw = {word(): word()}
        self.opened = 0
        self._word, self._files = word, files

    @property
    def header(self) -> Document:
        word = self._word
        held = {"format": word(), "codec": word(), "metadata": {word(): word()}, "schema": {word(): word()}}
        return Document(held, "header")


class FakeList(ManifestList):
    late = {"_read_manifests": lambda listed: (listed._manifests, None)}  # noqa: RUF012

    def __init__(self, word: Word, manifests: Sequence[Manifest]) -> None:
        self.path, self.recorded_path, self.role, self.size_bytes = word(), word(), word(), 100
        self._manifests, self._word = manifests, word

    @property
    def header(self) -> Document:
        return Document({self._word(): self._word()}, "header")


class FakeSnapshot(Snapshot):
    answers = SnapshotAnswers(
        files=lambda snapshot: FileSet(
            lambda: [entry.file for entry in snapshot.manifest.entries], FileColumns
        ),
        manifest_lists=lambda snapshot: ManifestLists((FakeList(snapshot._word, [snapshot.manifest]),)),
        manifests=lambda snapshot: (snapshot.manifest,),
        index_files=lambda snapshot: (make_index(snapshot._word),),
        statistics=lambda snapshot: (make_statistics(snapshot._word),),
    )

    def __init__(
        self,
        word: Word,
        number: int | None,
        schema: Schema,
        files: Sequence[DataFile] = (),
        table: Any = None,
    ) -> None:
        self.id, self.parent_id, self.sequence_number = number, 1, 3
        self._table = table or SimpleNamespace(partitioning=None)
        self.committed_at = START + timedelta(minutes=number or 0)
        self.operation, self.schema, self.path = word(), schema, word()
        self.summary = {word(): word()}
        self.record_count = 1_564_185
        self.figures = Figures(added_files=2, added_rows=9, removed_rows=4, rows=self.record_count)
        self.raw = {word(): word()}
        self.manifest = FakeManifest(word, files)
        self._word = word

    @property
    def refs(self) -> tuple[str, ...]:
        return (self._word(),)

    @property
    def changes(self) -> Diff:
        return make_diff(self._word, self)


class FakeAccess:
    def __init__(self, word: Word) -> None:
        self.findings = Findings()
        for severity in ("error", "warning", "note"):
            self.findings.add(severity, word(), word(), word(), (7,))  # type: ignore[arg-type]
        self._word = word

    def count_reads(self) -> Reads:
        return Reads(1, 1, 10, 0.5, (self._word(),))

    def describe_relocation(self, recorded_location: str | None) -> Relocation:
        word = self._word
        return Relocation(word(), word(), ((word(), word()),), (word(),))

    def open_storage(self) -> Any:
        return FakeStorage()


class FakeStorage:
    """Stores nothing."""

    def __getattr__(self, name: str) -> Any:
        raise LakeError("words have no bytes")


class FakeTable(Table):
    def __init__(
        self, word: Word, *, columns: int = 2, snapshots: int = 3, files: Sequence[DataFile] | None = None
    ) -> None:
        name, location = word(), word()
        evidence = Evidence("iceberg", (word(),), (word(),), 1.0, word(), (word(),), (word(),))
        access, catalog = FakeAccess(word), {word(): {word(): word()}}
        fields = [
            Field(n, word(), DataType(word(), "string"), doc=word(), nullable=n > 1)
            for n in range(1, columns + 1)
        ]
        nested = DataType(word(), "struct", children=(Field(9_999, word(), DataType(word(), "string")),))
        schema = Schema(0, (*fields, Field(9_998, word(), nested)), (fields[0].name,), {word(): word()})
        given = [FakeFile(word), FakeFile(word, "position_deletes")] if files is None else files
        known = [FakeSnapshot(word, n, schema, given, self) for n in range(1, snapshots + 1)]
        field = PartitionField(word(), 1, fields[0].name, word(), 1000)
        order = SortOrder(1, (SortField(1, word(), word(), word(), word()),))
        super().__init__(
            TableSource(
                format="iceberg",
                driver=Parts(),
                location=location,
                name=name,
                evidence=evidence,
                access=access,
                catalog=catalog,
                traits=lambda: Traits("Iceberg", "Iceberg table"),
                format_version=lambda: 2,
                schema=lambda: schema,
                schemas=lambda: (schema,),
                partitioning=lambda: PartitionSpec(0, (field,), {}),
                sort_orders=lambda: (order,),
                properties=lambda: {word(): word()},
                metadata=lambda: Document({word(): word(), "location": word()}, "metadata"),
                metadata_log=lambda: (MetadataLogEntry(START, f"metadata/{word()}", word()),),
                refs=lambda: [Ref(word(), "branch", 3), Ref(word(), "tag", 2, 86_400_000)],
                snapshots=lambda: known,
                find=lambda number: None,
                current=lambda: known[-1] if known else None,
                snapshot_log=lambda: SnapshotLog((LogEntry(START, 2, 1, True),)),
                list_files=lambda: (
                    StoredFile(word(), f"{word()}/{n}", 10, word(), (word(),), START) for n in range(3)
                ),
            )
        )
        self._word = word


def make_index(word: Word) -> IndexFile:
    ranges = ({word(): word(), "offset": 1},)
    return IndexFile(
        word(), word(), word(), 20, 2, ranges=ranges, blobs=({word(): word()},), raw={word(): word()}
    )


def make_statistics(word: Word) -> StatisticsFile:
    return StatisticsFile("table", word(), word(), 7, 30, {word(): {word(): word()}}, {word(): word()})


def make_diff(word: Word, after: Snapshot) -> Diff:
    def hold(count: int) -> FileSet:
        made = [FakeFile(word) for _ in range(count)]
        return FileSet(lambda: made, FileColumns)

    old = FakeManifest(word, [])
    diff = Diff(None, after)
    diff.added, diff.removed, diff.kept = hold(2), hold(1), hold(1)
    diff.manifests = ManifestChanges((), (FakeManifest(word, []),), (old,))
    diff.metadata = (
        JsonChange(word(), "changed", word(), {word(): word()}),
        JsonChange("$.a", "added", None, 1),
    )
    diff.schema = (SchemaChange("retyped", 3, word(), word(), word()),)
    diff.by_partition = (PartitionChange(word(), 2, 1, 6, 3, 80_000, 40_000),)
    diff.kept_by_content = count_by_content(diff.kept)
    return diff


def list_collections(table: FakeTable) -> list[Any]:
    """One of every list, document and preview."""
    import pyarrow as pa
    from pyroaring import FrozenBitMap64

    word, current = table._word, table.snapshots[-1]
    manifest = current.manifests[0]
    entry = manifest.entries[0]
    match = DeleteMatch(
        entry.file, word(), "deletion_vector", word(), lambda: FrozenBitMap64([1]), cardinality=1
    )
    dangling = DanglingDelete(entry.file, word(), 2, (word(),))
    names = [f"{word()[:1_000]}{number}".encode(errors="replace").decode() for number in range(2)]
    return [
        table.schemas, table.specs, table.sort_orders, table.sort_orders[0], table.metadata_log, table.metadata_log[0],
        table.snapshot_log, table.snapshot_log[0], table.properties, table.metadata, table.catalog,
        current.manifest_lists, current.manifests, current.index_files, current.statistics, current.summary, current.raw,
        manifest.entries, manifest.partition_summary, manifest.partition_summary[0], manifest.raw, manifest.header,
        entry.raw, entry.file.raw, DeleteMatches((match,)), DanglingDeletes((dangling,)),
        Preview(pa.table({names[0]: [names[1], None], names[1]: [1, 2]}), lambda: {1}),
        Preview(pa.table({"st": pa.array([None], pa.struct([(names[0], pa.int32())]))}), lambda: None),
        table.schema.fields, Positions([0, 1, 2, 2**40]), ColumnCounts({1: 5, -(2**70): 0}, word(), {1: (word(), word())}),
        FakeRow((word(), names[0]), (word(), None), word()),
        EncryptionKeys((EncryptionKey(word(), word(), 40, (7,)),)),
    ]  # fmt: skip


def make_view(table: FakeTable) -> View:
    """A view with two versions, each with SQL in two dialects."""
    word = table._word
    versions = ViewVersions(
        ViewVersion(
            number,
            START,
            1,
            {f"{word()}{dialect}": f"{word()}\n{word()}" for dialect in (1, 2)},
            (word(),),
            word(),
            word(),
            {"engine-name": word(), word(): word()},
            table.schema,
            {word(): word()},
        )
        for number in (1, 2)
    )
    return View(
        word(), "iceberg", 1, word(), word(), word(), 2, versions, table.schemas,
        ViewLog((ViewLogEntry(1, START), ViewLogEntry(2, None))), Document({word(): word()}, "properties"),
        Document({word(): word()}, "metadata"), table.evidence, table.findings, table.reads,
    )  # fmt: skip


def list_objects(table: FakeTable) -> list[Any]:
    """One object of every kind that has a view."""
    from lakelens.model.warehouse.catalog import Catalog, FoundTable, FoundView, FoundViews

    current = table.snapshots[-1]
    manifest = current.manifests[0]
    entry = manifest.entries[0]
    bounds = entry.file.bounds
    found = FoundTable(table.location, table.name, table.evidence, lambda: table)
    view = make_view(table)
    found_view = FoundView(table.location, "iceberg", table.evidence, lambda: view)
    tree = StorageTree(table.location, tuple(table.list_files()))
    return [
        table, table.schema, table.partitioning, table.partitioning.fields[0], table.snapshots, current,
        current.manifest_lists[0], manifest, entry, entry.file, current.files, bounds, next(iter(bounds.values())),
        *current.index_files, *current.statistics, current.changes, table.refs, table.refs[0], table.findings,
        table.findings[0], table.evidence, table.relocation, table.reads, tree, found,
        Catalog(table.location, [found], views=[found_view]), found_view, FoundViews([found_view]),
        view, view.versions, view.versions[0], view.log, view.log[0],
        *list_collections(table),
    ]  # fmt: skip
