"""The storage tree of a table: every object below its directory, what it is for, and who refers to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.detect import Layout
from lakelens.formats.iceberg.names import guess_role
from lakelens.formats.iceberg.versions import HINT_NAME
from lakelens.io.store import ObjectInfo, walk
from lakelens.model.tree import StoredFile

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable

_FILE_ROLES = {
    "data": "data",
    "position_deletes": "position delete",
    "equality_deletes": "equality delete",
    "deletion_vector": "deletion vectors",
}


class _References:
    """Who refers to which path: role, and referrers in words."""

    def __init__(self) -> None:
        self.roles: dict[str, str] = {}
        self.by: dict[str, dict[str, None]] = {}

    def add(self, path: str, role: str, referrer: str) -> None:
        self.roles.setdefault(path, role)
        self.by.setdefault(path, {}).setdefault(referrer)


def list_stored_files(table: IcebergTable, context: TableContext, layout: Layout) -> Iterator[StoredFile]:
    """Every object below the table's directory, in path order."""
    references = _collect_references(table, context)
    for info in walk(context.access.store, layout.root):
        if not info.is_dir:
            yield _describe(info, layout.root, references)


def _describe(info: ObjectInfo, root: str, references: _References) -> StoredFile:
    relative = info.path[len(root) :].lstrip("/")
    role = references.roles.get(info.path) or guess_role(relative)
    referrers = tuple(references.by.get(info.path, ()))
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
    for snapshot in table.walk_snapshots():
        name = f"snapshot {snapshot.id}"
        for listed in snapshot.manifest_lists:
            if listed.path is not None:
                references.add(listed.path, "manifest list", name)
        for manifest in snapshot.manifests:
            references.add(manifest.path, "manifest", name)
        for _, entry in snapshot.walk_entries():
            if entry.is_live:
                references.add(entry.file.path, _FILE_ROLES[entry.file.content], name)
    return references
