"""Every object of a table's directory, with who refers to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from lakelens.errors import LakeError
from lakelens.model.manifest import Manifest
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.model.tree import StorageTree

_MOST_REFERRERS = 5


def build_tree(table: Table, *, references: bool = True, limit: int = 100_000) -> StorageTree:
    """The storage tree of a table.

    With `references` every snapshot, manifest list and manifest is read to say who refers to what; what cannot be read is
    passed over (it stands in `table.findings`). At most `limit` objects are listed.
    """
    files = list(islice(table.list_files(), limit + 1))
    referrers = find_references(table) if references else {}
    named = [
        replace(file, referenced_by=_word_referrers(referrers.get(file.path, {}))) for file in files[:limit]
    ]
    return StorageTree(table.location, tuple(named), truncated=len(files) > limit)


def find_references(table: Table) -> dict[str, dict[str, None]]:
    """Who refers to each path, in order and once: snapshots to lists, lists to manifests, manifests to files."""
    referrers: dict[str, dict[str, None]] = {}
    walked: set[str] = set()
    for snapshot in table.snapshots:
        for path, referrer in _walk_snapshot(snapshot, walked):
            referrers.setdefault(path, {}).setdefault(referrer)
    return referrers


def _walk_snapshot(snapshot: Snapshot, walked: set[str]) -> Iterator[tuple[str, str]]:
    name = f"snapshot {snapshot.id}"
    for manifest_list in snapshot.manifest_lists:
        if manifest_list.path is not None:
            yield manifest_list.path, f"{name} ({manifest_list.role})"
        try:
            manifests = manifest_list.manifests
        except LakeError:
            continue
        for manifest in manifests:
            yield manifest.path, f"{name} ({manifest_list.role})"
            yield from _walk_manifest(manifest, walked)
    for index_file in snapshot.index_files:
        yield index_file.path, name
    for statistics in snapshot.statistics:
        yield statistics.path, name


def _walk_manifest(manifest: Manifest, walked: set[str]) -> Iterator[tuple[str, str]]:
    if manifest.path in walked:
        return
    walked.add(manifest.path)
    try:
        entries = manifest.entries
    except LakeError:
        return
    for entry in entries:
        yield entry.file.path, f"manifest {manifest.path.rsplit('/', 1)[-1]} ({entry.status})"


def _word_referrers(referrers: dict[str, None]) -> tuple[str, ...]:
    names = tuple(islice(referrers, _MOST_REFERRERS))
    more = len(referrers) - len(names)
    return (*names, f"… {more} more") if more else names
