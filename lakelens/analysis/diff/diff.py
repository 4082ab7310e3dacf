"""Diffs: what lies between two states of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from lakelens.display import Interactive
from lakelens.errors import LakeError
from lakelens.model.comparison import FileCounts, IndexChanges, count_by_content
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet
from lakelens.model.manifest import Entry, Manifest

if TYPE_CHECKING:
    from lakelens.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class JsonChange:
    """One place of a JSON document that changed: `path` (`$.refs.main`), `kind`, the old and the new value.

    >>> print(JsonChange("$.last-updated-ms", "changed", 1, 2))
    $.last-updated-ms: 1 → 2
    """

    path: str
    kind: Literal["added", "removed", "changed"]
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        if self.kind == "added":
            return f"{self.path}: absent → {_word_json(self.after)}"
        if self.kind == "removed":
            return f"{self.path}: {_word_json(self.before)} → absent"
        return f"{self.path}: {_word_json(self.before)} → {_word_json(self.after)}"


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One column that changed: `kind`, its field id, its name today, and its wording before and after."""

    kind: Literal["added", "dropped", "renamed", "retyped"]
    field_id: int
    name: str
    before: str | None = None
    after: str | None = None

    @property
    def words(self) -> str:
        """What happened to it, without its name: `int became long`, `was note`."""
        return _word_change(self.kind, self.before, self.after)

    def __str__(self) -> str:
        return f"{self.name} {self.kind}: {self.words}"


@dataclass(frozen=True, slots=True)
class PartitioningChange:
    """One part of the partitioning that changed: `kind`, its field id (None where the format has none), name, wording.

    Paimon's number of buckets is part of it, under the name `bucket`.

    >>> print(PartitioningChange("added", 1001, "id_bucket", None, "bucket[4](id)"))
    id_bucket added: bucket[4](id)
    """

    kind: Literal["added", "dropped", "renamed", "changed"]
    field_id: int | None
    name: str
    before: str | None = None
    after: str | None = None

    @property
    def words(self) -> str:
        """What happened to it, without its name."""
        return _word_change(self.kind, self.before, self.after)

    def __str__(self) -> str:
        return f"{self.name} {self.kind}: {self.words}"


class ManifestChanges:
    """Manifests by what happened to them: `kept`, `new`, `dropped`. The kept ones are never read."""

    def __init__(
        self,
        kept: tuple[Manifest, ...] = (),
        new: tuple[Manifest, ...] = (),
        dropped: tuple[Manifest, ...] = (),
    ) -> None:
        self.kept, self.new, self.dropped = kept, new, dropped

    @cached_property
    def taken(self) -> Mapping[str, Mapping[str, int]]:
        """How many live files each new manifest took over from which dropped ones, by path; reads those manifests.

        A manifest that cannot be read takes nothing over.
        """
        holders: dict[Any, str] = {}
        for manifest in self.dropped:
            holders |= {
                entry.file.identity: manifest.path for entry in _list_entries(manifest) if entry.is_live
            }
        found = {}
        for manifest in self.new:
            live = [entry.file.identity for entry in _list_entries(manifest) if entry.is_live]
            counts = Counter(holders[identity] for identity in live if identity in holders)
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
            count or 0
            for manifest in (*self.new, *self.dropped)
            for count in (
                manifest.added_files_count,
                manifest.existing_files_count,
                manifest.deleted_files_count,
            )
        )

    def __repr__(self) -> str:
        return f"<ManifestChanges +{len(self.new)} -{len(self.dropped)} ={len(self.kept)}>"


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """What changed in one partition: counts of files, rows and bytes added and removed."""

    partition: str
    added_files: int = 0
    removed_files: int = 0
    added_rows: int = 0
    removed_rows: int = 0
    added_bytes: int = 0
    removed_bytes: int = 0


@dataclass(frozen=True, slots=True)
class DeleteChanges:
    """Delete files and deletion vectors that were added and removed. Paimon's vectors lie in `Diff.index_files`."""

    added: FileSet
    removed: FileSet


class Diff(Interactive):
    """What changed from `before` (None: from nothing) to `after`. Each part is found when it is first asked for.

    `added`, `removed` and `kept` are file sets; `kept` holds today's description of a file, and looking into it reads all
    manifests of `after`; `kept_counts` does not.
    """

    def __init__(
        self,
        before: Snapshot | None,
        after: Snapshot,
        *,
        added: FileSet,
        removed: FileSet,
        kept: FileSet,
        manifests: Callable[[], ManifestChanges],
        metadata: Callable[[], tuple[JsonChange, ...]],
        schema: Callable[[], tuple[SchemaChange, ...]],
        by_partition: Callable[[], tuple[PartitionChange, ...]],
        partitioning: Callable[[], tuple[PartitioningChange, ...]] = tuple,
        index_files: Callable[[], IndexChanges] = IndexChanges,
        count_kept: Callable[[], Mapping[str, FileCounts]] | None = None,
        documents: Callable[[], tuple[str | None, str | None]] = lambda: (None, None),
        action: Callable[[Diff], str] = lambda _: "",
        sentence: Callable[[Diff], str] = lambda _: "",
    ) -> None:
        self.before, self.after = before, after
        self.added, self.removed, self.kept = added, removed, kept
        self._find_manifests, self._find_metadata = manifests, metadata
        self._find_schema, self._find_by_partition = schema, by_partition
        self._find_partitioning, self._find_index_files = partitioning, index_files
        self._count_kept, self._find_documents = count_kept, documents
        self._word_action, self._word_sentence = action, sentence

    @cached_property
    def action(self) -> str:
        """What was done, without counts: `append`, `overwrite of 2 partitions`, `9 snapshots in 31 s: 5 append, …`."""
        return self._word_action(self)

    @cached_property
    def sentence(self) -> str:
        """What happened, in words: what was done, which files and rows that concerns, whether the schema changed."""
        return self._word_sentence(self)

    @cached_property
    def manifests(self) -> ManifestChanges:
        """Manifests kept, new and dropped."""
        return self._find_manifests()

    @cached_property
    def metadata(self) -> tuple[JsonChange, ...]:
        """Places that differ: of the whole metadata documents where both are still there (`documents` names them).

        Else of the snapshots' own objects.
        """
        return self._find_metadata()

    @cached_property
    def documents(self) -> tuple[str | None, str | None]:
        """Where the two documents lie whose places `metadata` compares; (None, None) for the snapshots' own objects."""
        return self._find_documents()

    @cached_property
    def schema(self) -> tuple[SchemaChange, ...]:
        """Columns added, dropped, renamed or retyped."""
        return self._find_schema()

    @cached_property
    def partitioning(self) -> tuple[PartitioningChange, ...]:
        """Partition fields added, dropped, renamed or changed, Paimon's number of buckets too."""
        return self._find_partitioning()

    @cached_property
    def deletes(self) -> DeleteChanges:
        """Delete files and deletion vectors that were added and removed; they are in `added` and `removed` too."""
        return DeleteChanges(self.added.where(_is_delete), self.removed.where(_is_delete))

    @cached_property
    def index_files(self) -> IndexChanges:
        """Index files that were added and removed; of Iceberg's Puffin files those whose vectors were."""
        return self._find_index_files()

    @cached_property
    def by_partition(self) -> tuple[PartitionChange, ...]:
        """Files, rows and bytes added and removed, by partition; partitions without a change are left out."""
        return self._find_by_partition()

    @cached_property
    def kept_by_content(self) -> Mapping[str, FileCounts]:
        """Files, rows and bytes kept, by content: counted for a few files, else as lists and snapshots record them.

        What nothing tells without reading every manifest is None; `kept` is exact. Recorded figures do not tell delete
        files of one kind from another: they stand under "deletes".
        """
        return count_by_content(self.kept) if self._count_kept is None else self._count_kept()

    @property
    def kept_counts(self) -> FileCounts:
        """`kept_by_content` added up; rows are those of data files."""
        found = self.kept_by_content
        every = sum(found.values(), FileCounts())
        data = found.get("data", found.get("changelog", FileCounts()))
        return FileCounts(every.files, data.rows, every.bytes)

    @property
    def summary(self) -> dict[str, int | None]:
        """Files, rows and bytes added, removed and kept; None where nothing tells but reading every manifest."""
        sums = {
            name: FileCounts(len(files), files.record_count, files.size_bytes)
            for name, files in (("added", self.added), ("removed", self.removed))
        } | {"kept": self.kept_counts}
        return {
            f"{name}_{unit}": getattr(counts, unit)
            for name, counts in sums.items()
            for unit in ("files", "rows", "bytes")
        }

    def __repr__(self) -> str:
        before = "nothing" if self.before is None else self.before.id
        return f"<Diff {before} to {self.after.id}: +{len(self.added)} -{len(self.removed)} files>"


def _is_delete(found: DataFile) -> bool:
    return found.content not in ("data", "changelog")


def _list_entries(manifest: Manifest) -> Sequence[Entry]:
    """The entries; none of a manifest that cannot be read: that is told where its files are looked at."""
    try:
        return manifest.entries
    except LakeError:
        return ()


def _word_change(kind: str, before: str | None, after: str | None) -> str:
    """What happened to a column or to a part of the partitioning."""
    if kind == "renamed":
        return f"was {before}"
    if kind in ("retyped", "changed"):
        return f"{before} became {after}"
    return str(after if kind == "added" else before)


def _word_json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, default=str)
