"""The storage tree of a table: every object below its directory, what it is for, and who refers to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.discovery.detect import TableLayout
from lakelens.formats.iceberg.discovery.names import guess_role
from lakelens.formats.iceberg.discovery.versions import HINT_NAME
from lakelens.io.store import ObjectInfo, walk
from lakelens.model.storage import StoredFile

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.manifest import Entry

_FILE_ROLES = {
    "data": "data",
    "position_deletes": "position delete",
    "equality_deletes": "equality delete",
    "deletion_vector": "deletion vectors",
}


class _References:
    """Who refers to which path: role, and referrers in words.

    The files of a manifest are referred to by every snapshot that names it: those are kept once, with the manifest.
    """

    def __init__(self) -> None:
        self.roles: dict[str, str] = {}
        self.by: dict[str, dict[str, None]] = {}
        self.naming: dict[IcebergManifest, dict[int, None]] = {}  # the snapshots that name it
        self.holders: dict[str, list[IcebergManifest]] = {}  # of a file: the manifests that it is live in
        self.ids: list[int] = []  # of the snapshots
        self._worded: dict[IcebergManifest, tuple[str, ...]] = {}

    def add(self, path: str, role: str, referrer: str) -> None:
        self.roles.setdefault(path, role)
        self.by.setdefault(path, {}).setdefault(referrer)

    def add_files(self, manifest: IcebergManifest, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if entry.is_live:
                path = entry.file.path
                self.roles.setdefault(path, _FILE_ROLES[entry.file.content])
                holders = self.holders.setdefault(path, [])
                if not holders or holders[-1] is not manifest:
                    holders.append(manifest)

    def list_referrers(self, path: str) -> tuple[str, ...]:
        own, holders = tuple(self.by.get(path, ())), self.holders.get(path, [])
        if not holders:
            return own
        if len(holders) == 1:
            held = self._name_snapshots(holders[0])
        else:
            ranks = {number for manifest in holders for number in self.naming[manifest]}
            held = tuple(f"snapshot {self.ids[rank]}" for rank in sorted(ranks))
        return tuple(dict.fromkeys((*own, *held))) if own else held

    def _name_snapshots(self, manifest: IcebergManifest) -> tuple[str, ...]:
        """One tuple for all files of a manifest."""
        if manifest not in self._worded:
            names = (f"snapshot {self.ids[rank]}" for rank in self.naming[manifest])
            self._worded[manifest] = tuple(names)
        return self._worded[manifest]


def list_stored_files(
    table: IcebergTable, context: TableContext, layout: TableLayout
) -> Iterator[StoredFile]:
    """Every object below the table's directory, in path order."""
    references = _collect_references(table, context)
    for info in walk(context.access.store, layout.root):
        if not info.is_dir:
            yield _describe(info, layout.root, references)


def _describe(info: ObjectInfo, root: str, references: _References) -> StoredFile:
    relative = info.path[len(root) :].lstrip("/")
    role = references.roles.get(info.path) or guess_role(relative)
    referrers = references.list_referrers(info.path)
    if role == "table metadata" and not referrers:
        role = "orphan metadata"
    return StoredFile(info.path, relative, info.size, role, referrers, info.modified)


def _collect_references(table: IcebergTable, context: TableContext) -> _References:
    references = _References()
    locate = context.access.locator.locate
    references.add(table.metadata_path, "table metadata", "the current version")
    for log in table.metadata_log:
        references.add(log.path, "table metadata", "metadata log")
    folder = table.metadata_path.rpartition("/")[0]
    references.add(f"{folder}/{HINT_NAME}", "version hint", "readers without a catalog")
    for kind, wires in (
        ("statistics", context.typed.statistics),
        ("partition statistics", context.typed.partition_statistics),
    ):
        for wire in wires:
            references.add(locate(wire.statistics_path), kind, f"snapshot {wire.snapshot_id}")
    for rank, snapshot in enumerate(table.walk_snapshots()):
        name = f"snapshot {snapshot.id}"
        references.ids.append(snapshot.id)
        for listed in snapshot.manifest_lists:
            if listed.path is not None:
                references.add(listed.path, "manifest list", name)
        for manifest in snapshot.manifests:
            references.add(manifest.path, "manifest", name)
            references.naming.setdefault(manifest, {})[rank] = None
    for manifest, ranks in references.naming.items():
        entries, error = manifest.walk()
        if error is not None:
            context.findings.add_error(error, manifest.path, tuple(references.ids[rank] for rank in ranks))
        references.add_files(manifest, entries)
    return references
