"""Every object of a table's directory, with who refers to it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.manifest import Manifest
from lakelens.model.snapshot import Snapshot
from lakelens.model.storage import StoredFile
from lakelens.model.table import Table

_MOST_REFERRERS = 5
_ADDITION = re.compile(r" \(")
# what a reader finds by listing the directory or by a name it can tell beforehand: nothing needs to refer to it
_ROOTS = ("schema", "snapshot", "tag", "hint", "consumer", "success marker", "checksum")


def build_tree(table: Table, *, references: bool = True, limit: int = 100_000) -> StorageTree:
    """The storage tree of a table.

    With `references` every snapshot, manifest list and manifest is read to say who refers to what; what cannot be read is
    passed over (it stands in `table.findings`). At most `limit` objects are listed.
    """
    files = list(islice(table.list_files(), limit + 1))
    listed = files[:limit]
    if references:
        referrers = find_references(table)
        merge = _Merge()
        listed = [_add_referrers(file, referrers, merge) for file in listed]
    return StorageTree(table.location, tuple(listed), truncated=len(files) > limit)


def find_references(table: Table) -> dict[str, dict[str, None]]:
    """Who refers to each path, in order and once: snapshots to lists, lists to manifests, manifests to files.

    What only a name is recorded of (Paimon's index manifests) stands under that name.
    """
    referrers: dict[str, dict[str, None]] = {}
    walked: set[str] = set()
    for entry in table.metadata_log:
        referrers.setdefault(entry.path, {}).setdefault("metadata log")
    for snapshot, name in list_every_snapshot(table):
        for path, referrer in _walk_snapshot(snapshot, name, walked):
            referrers.setdefault(path, {}).setdefault(referrer)
    return referrers


def list_every_snapshot(table: Table) -> Iterator[tuple[Snapshot, str]]:
    """The table's snapshots, those that only a branch or a tag still holds, and those kept for their changelog."""
    met: set[str | None] = set()
    for snapshot in table.snapshots:
        met.add(snapshot.path)
        yield snapshot, f"snapshot {snapshot.id}"
    for ref in table.refs:
        try:
            found = table.snapshot(ref.name)
        except LakeError:
            continue
        if found.path not in met:
            met.add(found.path)
            yield found, f"{ref.type} {ref.name}"
    for kept in getattr(table, "changelogs", ()):
        yield kept, f"changelog {kept.id}"


def _walk_snapshot(snapshot: Snapshot, name: str, walked: set[str]) -> Iterator[tuple[str, str]]:
    for manifest_list in snapshot.manifest_lists:
        role = "" if manifest_list.role == "all" else f" ({manifest_list.role})"
        if manifest_list.path is not None:
            yield manifest_list.path, f"{name}{role}"
        for manifest in _attempt(manifest_list, "manifests"):
            yield manifest.path, f"{name}{role}"
            yield from _walk_manifest(manifest, walked)
    index_manifest = getattr(snapshot, "index_manifest", None)
    if isinstance(index_manifest, str):
        yield index_manifest, name
    for found in (*_attempt(snapshot, "index_files"), *_attempt(snapshot, "statistics")):
        yield found.path, name


def _walk_manifest(manifest: Manifest, walked: set[str]) -> Iterator[tuple[str, str]]:
    if manifest.path in walked:
        return
    walked.add(manifest.path)
    name = posixpath.basename(manifest.path)
    for entry in _attempt(manifest, "entries"):
        yield entry.file.path, f"{name} ({entry.status})"
        for extra in getattr(entry.file, "extra_files", None) or ():
            yield posixpath.join(posixpath.dirname(entry.file.path), extra), f"{name} ({entry.status})"


def _attempt(owner: object, name: str) -> Iterable[Any]:
    """What a property gives; nothing where it is damaged."""
    try:
        found: Iterable[Any] = getattr(owner, name)
    except LakeError:
        return ()
    return found


def _add_referrers(file: StoredFile, referrers: dict[str, dict[str, None]], merge: _Merge) -> StoredFile:
    names = referrers.get(file.path) or referrers.get(posixpath.basename(file.path)) or {}
    merged = merge(file.referenced_by, tuple(names))
    if not merged and file.role.split(" (")[0].endswith(_ROOTS):
        merged = ("found by its name",)
    return replace(file, referenced_by=merged)


class _Merge:
    """Two lists of referrers made one, bounded. Files of one manifest have the same lists, which are merged once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, tuple[str, ...]], tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def __call__(self, told: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
        """The first of both, each once, and how many more there are."""
        if len(told) + len(names) <= _MOST_REFERRERS:
            return self._merge(told, names)
        key = (id(told), names)  # what is known keeps `told` alive, so that no other object gets its id
        if key not in self._known:
            self._known[key] = (told, self._merge(told, names))
        return self._known[key][1]

    @staticmethod
    def _merge(told: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
        merged = dict.fromkeys((*told, *names))
        # "snapshot 1" says less than "snapshot 1 (base)"
        outdone = {name[: match.start()] for name in merged for match in _ADDITION.finditer(name)}
        kept = [name for name in merged if name not in outdone]
        more = len(kept) - _MOST_REFERRERS
        return (*kept[:_MOST_REFERRERS], f"… {more:,} more") if more > 0 else tuple(kept)


@dataclass(frozen=True, repr=False)
class StorageTree(Displayable):
    """Every object below a table's directory, in path order; `truncated` when the listing was cut at a limit."""

    root: str
    files: tuple[StoredFile, ...]
    truncated: bool = False

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[StoredFile]:
        return iter(self.files)

    def __repr__(self) -> str:
        return f"<StorageTree {len(self)} files, {sum(f.size_bytes for f in self.files)} bytes>"
