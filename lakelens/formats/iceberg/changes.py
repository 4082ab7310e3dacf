"""What changed between two snapshots of an Iceberg table, read from the manifests that only one of them names.

A manifest is never rewritten in place, so one that both lists name holds the same files for both::

    added    live files of the manifests that only the newer list names, without those below
    removed  live files of the manifests that only the older list names, without those above

A file that a third manifest, named by both, holds as well would count as changed; writers remove a file from every
manifest that holds it. See "Manifest Lists" and "Snapshots" of the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest, count_line, place_manifest
from lakelens.io.ahead import fetch, fetch_first
from lakelens.model.comparison import (
    FEW_ENTRIES,
    FEW_MANIFESTS,
    FileComparison,
    FileCounts,
    count_by_content,
)
from lakelens.model.fileset import FileColumns, FileSet

if TYPE_CHECKING:
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.io.store import Store


class IcebergComparison(FileComparison):
    """Two snapshots of one table; reads the two lists, and the manifests that are not in both.

    From a `store` behind a network lists, documents and manifests are read together, each kind once.
    """

    def __init__(self, before: IcebergSnapshot, after: IcebergSnapshot, store: Store | None = None) -> None:
        super().__init__(before.files, after.files)
        self._store = store
        self._old, self._new = before, after

    @cached_property
    def kept_manifests(self) -> tuple[IcebergManifest, ...]:
        """The manifests that both snapshots name, each once."""
        if self._store is not None:
            fetch(self._store, documents=list_documents(self._new, self._old))
        known = {manifest.recorded_path for manifest in self._old.manifests}
        return tuple(m for m in dict.fromkeys(self._new.manifests) if m.recorded_path in known)

    @cached_property
    def _live(self) -> tuple[FileSet, FileSet]:
        """The live files of the manifests that only the older and that only the newer snapshot names."""
        kept = {manifest.recorded_path for manifest in self.kept_manifests}
        if self._store is not None:
            changed = [
                one for one in (*self._old.manifests, *self._new.manifests) if one.recorded_path not in kept
            ]
            counted = self.kept_manifests if self._is_small() else ()
            fetch_first(self._store, [*changed, *counted], place_manifest)
        return _list_live(self._old, kept), _list_live(self._new, kept)

    def find_changes(self) -> tuple[FileSet, FileSet]:
        """Find the files of the new manifests that no dropped one holds, and the other way round."""
        old, new = self._live
        return new - old, old - new

    def describe_columns(self) -> FileColumns:
        """Reads the changed manifests first: they may know columns that the document has forgotten."""
        for files in self._live:
            files.read()
        return self._new.describe_known_columns()

    def count_kept(self) -> Mapping[str, FileCounts]:
        """Count what was kept, by content; of many manifests by their lines in the list, and by the snapshot's totals.

        Then all deletes are one content, "deletes", and their bytes are not counted apart from those of data.
        """
        if self._after.is_loaded or self._is_small():
            return count_by_content(self.kept)
        old, new = self._live
        counts = _count_by_kind(new & old)
        for manifest in self.kept_manifests:
            counts[manifest.content] = counts.get(manifest.content, FileCounts()) + count_line(manifest)
        return self._complete(counts)

    def _complete(self, counts: dict[str, FileCounts]) -> dict[str, FileCounts]:
        """Give the counts completed by the snapshot's totals: the bytes, and all where a list has no counts."""
        added = _count_by_kind(self.added)
        total = self._new.figures
        recorded = {
            "data": FileCounts(total.files, total.rows, None),
            "deletes": FileCounts(total.delete_files, None, None),
        }
        size = FileCounts(bytes=total.size_bytes) - FileCounts(
            bytes=sum(part.bytes or 0 for part in added.values())
        )
        done = {}
        for kind, part in counts.items():
            left = recorded[kind] - replace(added.get(kind, FileCounts()), bytes=None)
            files = part.files if part.files is not None else left.files
            rows = part.rows if part.rows is not None else left.rows
            done[kind] = FileCounts(files, rows, size.bytes if len(counts) == 1 else part.bytes)
        return done

    def _is_small(self) -> bool:
        files = [count_line(manifest).files for manifest in self.kept_manifests]
        return len(files) <= FEW_MANIFESTS and sum(n or 0 for n in files) <= FEW_ENTRIES and None not in files


def list_documents(*snapshots: IcebergSnapshot) -> Iterator[str]:
    """List what a comparison reads first: the manifest lists, and the documents that the snapshots were committed with."""
    for snapshot in snapshots:
        if snapshot.path is not None:
            yield snapshot.path
        yield from snapshot.list_documents()


def _list_live(snapshot: IcebergSnapshot, kept: set[str]) -> FileSet:
    """List the live files of a snapshot's manifests that are not among the kept, as that snapshot sees them."""
    return snapshot.list_files(
        [manifest for manifest in snapshot.manifests if manifest.recorded_path not in kept]
    )


def _count_by_kind(files: FileSet) -> dict[str, FileCounts]:
    """Counts by the content of a manifest: "data", or "deletes" of any content."""
    counts: dict[str, FileCounts] = {}
    for content, part in count_by_content(files).items():
        kind = "data" if content == "data" else "deletes"
        counts[kind] = counts.get(kind, FileCounts()) + part
    return counts
