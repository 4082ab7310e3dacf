"""The storage tree of a table: every object below its directory, what it is for, and who refers to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.errors import AccessDenied, LakeError
from lakelens.formats.iceberg.discovery.detect import TableLayout
from lakelens.formats.iceberg.discovery.versions import HINT_NAME, guess_role
from lakelens.formats.iceberg.manifests.manifest import fetch_manifests
from lakelens.formats.iceberg.shared_lines import SharedLines
from lakelens.io.store import ObjectInfo, walk
from lakelens.model.scan.path_index import Mark, PathIndex, index_paths
from lakelens.model.storage import Referrers, StoredFile

if TYPE_CHECKING:
    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.snapshot import SnapshotReaders
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.manifest import Entry

_FILE_ROLES = {
    "data": "data",
    "position_deletes": "position delete",
    "equality_deletes": "equality delete",
    "deletion_vector": "deletion vectors",
}
_CHUNK = 20_000  # objects that are looked up at once


class _References:
    """Who refers to which path: role, and referrers in words.

    The snapshots that name a manifest refer to it and to its files: they are kept once, with the manifest, by their place
    in the history.
    """

    def __init__(self) -> None:
        self.roles: dict[str, str] = {}
        self.by: dict[str, dict[str, None]] = {}
        self.ids: list[int] = []  # of the snapshots
        self.naming: dict[str, list[int]] = {}  # of a manifest: the places of the snapshots that name it
        self.index: PathIndex
        self._held: dict[tuple[str, ...], Referrers] = {}

    def add(self, path: str, role: str, referrer: str) -> None:
        self.roles.setdefault(path, role)
        self.by.setdefault(path, {}).setdefault(referrer)

    @cached_property
    def names(self) -> list[str]:
        return [f"snapshot {number}" for number in self.ids]

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def describe(self, path: str, marks: Sequence[Mark]) -> tuple[str | None, Sequence[str]]:
        """Describe the role and the referrers of an object that entries leave these marks of."""
        role = self.roles.get(path)
        live = [mark for mark in marks if mark.is_live]
        if role is None and live:
            role = _FILE_ROLES[live[0].content]
        if path in self.naming:
            role = role or "manifest"
        own = tuple(self.by.get(path, ()))
        holders = ((path,) if path in self.naming else ()) + tuple(mark.manifest for mark in live)
        if not holders:
            return role, own
        held = self._hold(tuple(dict.fromkeys(holders)))
        return role, tuple(dict.fromkeys((*own, *held))) if own else held

    def _hold(self, manifests: tuple[str, ...]) -> Referrers:
        """Keep the snapshots that name any of some manifests: one object for all files of a manifest."""
        if manifests not in self._held:
            from lakelens.bitmaps import BitMap

            places = BitMap.union(*(BitMap(self.naming[manifest]) for manifest in manifests))
            self._held[manifests] = Referrers(self.names, self.numbers, places)
        return self._held[manifests]


def list_stored_files(
    table: IcebergTable, readers: SnapshotReaders, layout: TableLayout
) -> Iterator[StoredFile]:
    """List every object below the table's directory, in path order."""
    references = _collect_references(table, readers)
    store, findings = readers.context.access.store, table.findings

    def refuse(error: LakeError) -> None:
        if not isinstance(error, AccessDenied) or not store.is_far:
            raise error
        findings.add_error(error, layout.root)

    listed = (info for info in walk(store, layout.root, refuse=refuse) if not info.is_dir)
    while chunk := list(islice(listed, _CHUNK)):
        for info, marks in zip(chunk, references.index.find([one.path for one in chunk]), strict=True):
            yield _describe(info, layout.root, references, marks)


def _describe(info: ObjectInfo, root: str, references: _References, marks: Sequence[Mark]) -> StoredFile:
    relative = info.path[len(root) :].lstrip("/")
    known, referrers = references.describe(info.path, marks)
    role = known or guess_role(relative)
    if role == "table metadata" and not referrers:
        role = "orphan metadata"
    entries = references.index.format(marks) if marks else ()
    return StoredFile(info.path, relative, info.size, role, referrers, info.modified, entries=entries)


def _collect_references(table: IcebergTable, readers: SnapshotReaders) -> _References:
    references, context = _References(), readers.context
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
    shared = SharedLines(readers.manifests)
    manifests: dict[IcebergManifest, None] = {}
    for place, snapshot in enumerate(shared.fetch_along(table._known)):
        references.ids.append(snapshot.id)
        for listed in snapshot.manifest_lists:
            shared.read(listed)
            if listed.path is not None:
                references.add(listed.path, "manifest list", f"snapshot {snapshot.id}")
        for manifest in snapshot.manifests:
            manifests[manifest] = None
            references.naming.setdefault(manifest.path, []).append(place)
    references.index = _index(table, context, references, manifests)
    return references


def _index(
    table: IcebergTable,
    context: TableContext,
    references: _References,
    manifests: Collection[IcebergManifest],
) -> PathIndex:
    """Say which files the manifests name. Those that cannot be read are findings of the snapshots that name them."""

    def read(manifest: IcebergManifest) -> Sequence[Entry]:
        next(ahead, None)  # they are asked for in their order
        entries, error = manifest.walk()
        if error is not None:
            table.findings.add_error(error, manifest.path)
        return entries

    ahead = fetch_manifests(context, manifests)
    index = index_paths(partial(table.scan_manifests, manifests), manifests, read)
    for finding in table.findings:
        if finding.severity == "error" and finding.path in references.naming:
            ids = [references.ids[place] for place in references.naming[finding.path]]
            table.findings.add(finding.severity, finding.code, finding.path, finding.message, ids)
    return index
