"""What changed between two states of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.analysis.diff.diff_summary import Relation, format_action, format_sentence, relate_snapshots
from lakelens.analysis.diff.documents import (
    FieldChanges,
    JsonChanges,
    PartitioningChange,
    SchemaChange,
    diff_documents,
    diff_partitioning,
    diff_schemas,
)
from lakelens.caching import cached_property
from lakelens.display import Displayable, Interactive
from lakelens.errors import LakeError, Missing
from lakelens.lazy import dataclass
from lakelens.model.collections import Document, Items, Tabular
from lakelens.model.comparison import FileCounts, IndexChanges, WholeComparison
from lakelens.model.datafile import DataFile
from lakelens.model.facts.facts import Fact
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.manifest import Entry, Manifest, Manifests
from lakelens.model.revision import Default, find_parent
from lakelens.model.scan.arrow_files import pick
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table

if TYPE_CHECKING:
    import pyarrow as pa


# Files that a compaction only raised to a higher level: the same file, removed and added under one name.

_MOST_READ = 1_000  # files of a commit that are read to see whether they were only raised


@dataclass(frozen=True)
class Raised:
    """The files as they are now, and the level of each before, by path."""

    files: Sequence[DataFile]
    levels: Mapping[str, int | None]

    @cached_property
    def paths(self) -> frozenset[str]:
        """Their paths."""
        return frozenset(self.levels)

    @property
    def words(self) -> str:
        """What happened to them: `moved up from level 0 to 5`."""
        is_raised = all((f.level or 0) > (self.levels[f.path] or 0) for f in self.files)
        return f"{'moved up' if is_raised else 'moved'} {self.span}"

    @property
    def span(self) -> str:
        """From which level to which: `from level 0 to 5`."""
        before = sorted({level for level in self.levels.values() if level is not None})
        after = sorted({file.level for file in self.files if file.level is not None})
        return f"from level {_join(before)} to {_join(after)}"

    def leave_out_of(self, files: FileSet) -> FileSet:
        """The files that are not among these."""
        return files.choose(lambda path: path not in self.paths, "path") if self.files else files

    def leave_out(self, change: PartitionChange) -> PartitionChange | None:
        """Say what else changed in a partition; None when nothing else did."""
        mine = [file for file in self.files if str(file.partition) == change.partition]
        if not mine:
            return change
        rows = sum(found.record_count or 0 for found in mine)
        size = sum(found.size_bytes or 0 for found in mine)
        left = replace(
            change,
            added_files=change.added_files - len(mine),
            removed_files=change.removed_files - len(mine),
            added_rows=change.added_rows - rows,
            removed_rows=change.removed_rows - rows,
            added_bytes=change.added_bytes - size,
            removed_bytes=change.removed_bytes - size,
        )
        return left if left.added_files or left.removed_files else None


def _join(levels: Sequence[int]) -> str:
    return " and ".join(str(level) for level in levels) if levels else "unknown"


def find_raised(added: FileSet, removed: FileSet) -> Raised:
    """Find the data files that were removed and added again at another level, their bytes as they were."""
    gone = removed.pick("path", "level", "content")
    before = {path: level for path, level, content in gone if level is not None and content == "data"}
    if not before:
        return Raised((), {})
    files = list(added.choose(lambda path, level: path in before and level != before[path], "path", "level"))
    return Raised(files, {f.path: before[f.path] for f in files})


def find_raised_by(snapshot: Snapshot) -> Raised | None:
    """Find the files of a commit that did nothing but raise files to another level; None for any other commit.

    Only the commit's own manifests are read, and only where their list counts equally many files added and removed.
    """
    entries = _read_balanced(snapshot)
    before = {e.file.path: e.file.level for e in entries if not e.is_live}
    files = [e.file for e in entries if e.is_live]
    is_raised = all(f.path in before and f.level != before[f.path] for f in files)
    return Raised(files, before) if files and len(files) == len(before) and is_raised else None


def _read_balanced(snapshot: Snapshot) -> Sequence[Entry]:
    """Read the entries of a commit that adds as many files as it removes; none of any other, or of one that is damaged."""
    try:
        deltas = [one for one in snapshot.manifest_lists if one.role == "delta"]
        manifests = [manifest for delta in deltas for manifest in delta.manifests]
        added = sum(manifest.added_files_count or 0 for manifest in manifests)
        removed = sum(manifest.deleted_files_count or 0 for manifest in manifests)
        if added != removed or not 0 < added <= _MOST_READ:
            return ()
        return [entry for manifest in manifests for entry in manifest.entries]
    except LakeError:
        return ()


@dataclass(frozen=True, slots=True)
class PartitionChange(Displayable):
    """What changed in one partition: counts of files, rows and bytes added and removed."""

    partition: str
    added_files: int = 0
    removed_files: int = 0
    added_rows: int = 0
    removed_rows: int = 0
    added_bytes: int = 0
    removed_bytes: int = 0


class PartitionChanges(Items[PartitionChange]):
    """What changed in each partition, sorted by its text."""

    __slots__ = ()
    facts = (
        Fact("partition"),
        Fact("added_files", "int64"),
        Fact("removed_files", "int64"),
        Fact("added_rows", "int64"),
        Fact("removed_rows", "int64"),
        Fact("added_bytes", "int64"),
        Fact("removed_bytes", "int64"),
    )


@dataclass(frozen=True, slots=True, repr=False)
class DeleteChanges(Displayable):
    """Delete files and deletion vectors that were added and removed. Paimon's vectors are in `Diff.index_files`."""

    added: FileSet
    removed: FileSet

    def __repr__(self) -> str:
        return f"<DeleteChanges +{len(self.added)} -{len(self.removed)} deletes>"


class Diff(Tabular, Interactive):
    """What changed from `before` (None: from nothing) to `after`. Each part is found when it is first asked for.

    `added`, `removed` and `kept` are file sets; `kept` holds today's description of a file, and looking into it reads all
    manifests of `after`; `kept_counts` does not. The two may belong to two tables of one format: then files are the same
    where their paths below the tables are. Raises `LakeError` for snapshots of two formats.
    """

    def __init__(self, before: Snapshot | None, after: Snapshot) -> None:
        if before is not None and type(before) is not type(after):
            raise LakeError("snapshots of two formats cannot be compared", path=after.path)
        self.before, self.after = before, after
        nothing = FileSet(lambda: (), FileColumns)
        compared = WholeComparison(nothing, after.files) if before is None else after.compare_files(before)
        self._files = compared
        self.added, self.removed, self.kept = compared.added, compared.removed, compared.kept

    def to_arrow(self) -> pa.Table:
        """One row a file that was added or removed: `state` ("ADDED", "REMOVED"), then the columns of a set of files."""
        import pyarrow as pa

        tables = [
            files.to_arrow().add_column(0, "state", pa.array([state] * len(files), pa.string()))
            for state, files in (("ADDED", self.added), ("REMOVED", self.removed))
        ]
        return pa.concat_tables(tables, promote_options="permissive")

    @cached_property
    def _relation(self) -> Relation:
        return relate_snapshots(self.before, self.after)

    @cached_property
    def action(self) -> str:
        """What was done, without counts: `append`, `overwrite of 2 partitions`, `9 snapshots in 31 s (5 append, …)`."""
        return format_action(self, self._relation)

    @cached_property
    def sentence(self) -> str:
        """What happened: what was done, which files and rows that concerns, whether the schema changed."""
        return format_sentence(self, self._relation)

    @cached_property
    def manifests(self) -> ManifestChanges:
        """Manifests kept, new and dropped."""
        return diff_manifests(self.before, self.after)

    @cached_property
    def _documents(self) -> tuple[tuple[str, Any], tuple[str, Any]] | None:
        """Both whole documents with their paths; None unless both still exist."""
        new = None if self.before is None else self.after.find_document()
        old = None if self.before is None or new is None else self.before.find_document()
        return None if old is None or new is None else (old, new)

    @cached_property
    def metadata(self) -> JsonChanges:
        """Places that differ: of the whole metadata documents where both still exist (`documents` names them).

        Else of the snapshots' own objects.
        """
        if self._documents is not None:
            (_, old), (_, new) = self._documents
        else:
            old = {} if self.before is None else self.before.raw or {}
            new = self.after.raw or {}
        return diff_documents(old, new, "$", self.after.vocabulary)

    @property
    def documents(self) -> tuple[str | None, str | None]:
        """The paths of the two documents that `metadata` compares; (None, None) for the snapshots' own objects."""
        found = self._documents
        return (None, None) if found is None else (found[0][0], found[1][0])

    @cached_property
    def schema(self) -> FieldChanges[SchemaChange]:
        """Columns added, dropped, renamed or retyped."""
        return diff_schemas(self.before.schema if self.before is not None else None, self.after.schema)

    @cached_property
    def partitioning(self) -> FieldChanges[PartitioningChange]:
        """Partition fields added, dropped, renamed or changed, Paimon's number of buckets too."""
        before, after = self.before, self.after
        if before is None:
            return diff_partitioning(None, after.partitioning)
        options = (getattr(before.schema, "options", None), getattr(after.schema, "options", None))
        return diff_partitioning(before.partitioning, after.partitioning, *options)

    @cached_property
    def deletes(self) -> DeleteChanges:
        """Delete files and deletion vectors that were added and removed; they are in `added` and `removed` too."""
        return DeleteChanges(*(files.choose(_is_delete, "content") for files in (self.added, self.removed)))

    @cached_property
    def index_files(self) -> IndexChanges:
        """Index files that were added and removed; of Iceberg's Puffin files those whose vectors were."""
        return self.after.compare_index_files(self.before, self._files)

    @cached_property
    def raised(self) -> Raised:
        """The files that a compaction only moved to another level: they are in `added` and in `removed`."""
        return find_raised(self.added, self.removed)

    @cached_property
    def by_partition(self) -> PartitionChanges:
        """Files, rows and bytes added and removed, by partition; partitions without a change are left out."""
        return count_by_partition(self.added, self.removed)

    @cached_property
    def kept_by_content(self) -> Mapping[str, FileCounts]:
        """Files, rows and bytes kept, by content: counted for a few files, else as lists and snapshots record them.

        What cannot be known without reading every manifest is None; `kept` is exact. Recorded figures do not distinguish
        kinds of delete files: those are counted under "deletes".
        """
        return self._files.count_kept()

    @property
    def kept_counts(self) -> FileCounts:
        """`kept_by_content` added up; rows are those of data files."""
        found = self.kept_by_content
        every = sum(found.values(), FileCounts())
        data = found.get("data", found.get("changelog", FileCounts()))
        return FileCounts(every.files, data.rows, every.bytes)

    @property
    def summary(self) -> Document:
        """Files, rows and bytes added, removed and kept; None where only reading every manifest would give it."""
        sums = {
            name: FileCounts(len(files), files.record_count, files.size_bytes)
            for name, files in (("added", self.added), ("removed", self.removed))
        } | {"kept": self.kept_counts}
        counted = {
            f"{name}_{unit}": getattr(counts, unit)
            for name, counts in sums.items()
            for unit in ("files", "rows", "bytes")
        }
        return Document(counted, "diff")

    def __repr__(self) -> str:
        before = "nothing" if self.before is None else self.before.id
        return f"<Diff {before} to {self.after.id}: +{len(self.added)} -{len(self.removed)} files>"


def diff_table(table: Table, before: Any = Default.PARENT, after: Any = None) -> Diff:
    """Compare two states of a table, or two tables: see `Table.diff`."""
    new = pick_snapshot(table, after)
    if before is Default.PARENT:
        return Diff(find_parent(table, new), new)
    return Diff(None if before is None else pick_snapshot(table, before), new)


def pick_snapshot(table: Table, wanted: Any) -> Snapshot:
    """Pick the snapshot that is meant: of a table its current one. Raises `Missing` where there is none."""
    if not isinstance(wanted, Table):
        return table.snapshot(wanted)
    if wanted.current is None:
        raise Missing("the table has no snapshot yet", path=wanted.location)
    return wanted.current


def count_by_partition(
    added: FileSet | Iterable[DataFile], removed: FileSet | Iterable[DataFile]
) -> PartitionChanges:
    """Files, rows and bytes added and removed by partition, sorted by its text; rows are those of data files."""
    counts: dict[str, list[int]] = {}
    for offset, files in ((0, added), (1, removed)):
        for partition, content, rows, size in pick(
            files, "partition", "content", "record_count", "own_size_bytes"
        ):
            row = counts.setdefault(partition, [0] * 6)
            row[offset] += 1
            row[2 + offset] += (rows or 0) if content == "data" else 0
            row[4 + offset] += size or 0
    return PartitionChanges(PartitionChange(partition, *row) for partition, row in sorted(counts.items()))


def _is_delete(content: str) -> bool:
    return content not in ("data", "changelog")


class ManifestChanges(Displayable):
    """Manifests by what happened to them: `kept`, `new`, `dropped`. The kept ones are never read."""

    def __init__(
        self,
        kept: tuple[Manifest, ...] = (),
        new: tuple[Manifest, ...] = (),
        dropped: tuple[Manifest, ...] = (),
    ) -> None:
        self.kept: Manifests[Manifest] = Manifests(kept)
        self.new: Manifests[Manifest] = Manifests(new)
        self.dropped: Manifests[Manifest] = Manifests(dropped)

    @cached_property
    def taken(self) -> Mapping[str, Mapping[str, int]]:
        """How many live files each new manifest took over from which dropped ones, by path; reads those manifests.

        A manifest that cannot be read takes nothing over.
        """
        holders = {file: manifest.path for manifest in self.dropped for file in _list_live(manifest)}
        found = {}
        for manifest in self.new:
            counts = Counter(holders[file] for file in _list_live(manifest) if file in holders)
            if counts:
                found[manifest.path] = dict(counts)
        return found

    @cached_property
    def rewrites(self) -> Mapping[str, tuple[str, ...]]:
        """Which dropped manifests' live files each new one took over, by path; reads the new and dropped manifests."""
        return {path: tuple(sources) for path, sources in self.taken.items()}

    @property
    def entry_count(self) -> int:
        """How many entries the new and dropped manifests have, by the counts of their lists: what `rewrites` reads."""
        return sum(
            (one.added_files_count or 0) + (one.existing_files_count or 0) + (one.deleted_files_count or 0)
            for one in (*self.new, *self.dropped)
        )

    def __repr__(self) -> str:
        return f"<ManifestChanges +{len(self.new)} -{len(self.dropped)} ={len(self.kept)}>"


def diff_manifests(before: Snapshot | None, after: Snapshot) -> ManifestChanges:
    """Manifests kept, new and dropped; the same manifest is the one with the same recorded location."""
    old = {m.recorded_path: m for m in before.manifests} if before is not None else {}
    new = {m.recorded_path: m for m in after.manifests}
    return ManifestChanges(
        kept=tuple(manifest for path, manifest in new.items() if path in old),
        new=tuple(manifest for path, manifest in new.items() if path not in old),
        dropped=tuple(manifest for path, manifest in old.items() if path not in new),
    )


def _list_live(manifest: Manifest) -> Sequence[Hashable]:
    """List the identities of the live files; none of a manifest that cannot be read: its damage shows with its files."""
    try:
        return [entry.file.identity for entry in manifest.entries if entry.is_live]
    except LakeError:
        return ()
