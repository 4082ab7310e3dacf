"""Every object of a table's directory, with what refers to it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.manifest import Manifest
from lakelens.model.snapshot import Snapshot
from lakelens.model.storage import StoredFile
from lakelens.model.table import Table

_MOST_REFERRERS = 5
_ADDITION = re.compile(r" \(")
# what a reader finds by listing the directory or by a name that it knows: nothing needs to refer to it
_ROOTS = ("schema", "snapshot", "tag", "hint", "consumer", "success marker", "checksum")

_NOUNS = {
    "data": "data file",
    "position_deletes": "position delete file",
    "equality_deletes": "equality delete file",
    "deletion_vector": "file of deletion vectors",
    "changelog": "changelog file",
}


def build_tree(table: Table, *, references: bool = True, limit: int = 100_000) -> StorageTree:
    """The storage tree of a table.

    With `references` every snapshot, manifest list and manifest is read to find what refers to what; what cannot be read is
    left out (it is in `table.findings`). At most `limit` objects are listed.
    """
    files = list(islice(table.list_files(), limit + 1))
    listed = files[:limit]
    if references:
        referrers = find_references(table)
        merge = _Merge()
        listed = [_add_referrers(file, referrers, merge) for file in listed]
    return StorageTree(table.location, tuple(listed), truncated=len(files) > limit)


def find_references(table: Table) -> dict[str, dict[str, None]]:
    """What refers to each path, in order and once: snapshots to lists, lists to manifests, manifests to files.

    Where only a name is recorded (Paimon's index manifests) the key is that name.
    """
    referrers: dict[str, dict[str, None]] = {}
    walked: set[str] = set()

    def is_new(manifest: Manifest) -> bool:
        is_walked = manifest.path in walked
        walked.add(manifest.path)
        return not is_walked

    for entry in table.metadata_log:
        referrers.setdefault(entry.path, {}).setdefault("metadata log")
    for snapshot, name in list_every_snapshot(table):
        for use in walk_snapshot(snapshot, is_new):
            referrers.setdefault(use.path, {}).setdefault(use.entry or f"{name}{use.role}")
    return referrers


def list_every_snapshot(table: Table) -> Iterator[tuple[Snapshot, str]]:
    """The table's snapshots, those that only a branch or a tag still holds, and those kept for their changelog."""
    seen: set[str | None] = set()
    for snapshot in table.snapshots:
        seen.add(snapshot.path)
        yield snapshot, f"snapshot {snapshot.id}"
    for ref in table.refs:
        found = attempt(partial(table.snapshot, ref.name), None)
        if found is not None and found.path not in seen:
            seen.add(found.path)
            yield found, f"{ref.type} {ref.name}"
    for kept in getattr(table, "changelogs", ()):
        yield kept, f"changelog {kept.id}"


class Use(NamedTuple):
    """One object that a snapshot uses: `noun` says what it is, `role` is that of its manifest list: ` (delta)`.

    `entry` names the manifest and the status of the entry that a file was found in: `m0.avro (ADDED)`.
    """

    path: str
    noun: str
    role: str = ""
    entry: str = ""


def walk_snapshot(snapshot: Snapshot, is_read: Callable[[Manifest], bool]) -> Iterator[Use]:
    """The objects that a snapshot uses; files of those manifests for which `is_read` holds. Damaged parts are left out."""
    for manifest_list in snapshot.manifest_lists:
        role = "" if manifest_list.role == "all" else f" ({manifest_list.role})"
        if manifest_list.path is not None:
            yield Use(manifest_list.path, "manifest list", role)
        for manifest in attempt(partial(getattr, manifest_list, "manifests"), ()):
            yield Use(manifest.path, "manifest", role)
            if is_read(manifest):
                yield from _walk_manifest(manifest)
    for index in attempt(lambda: snapshot.index_files, ()):
        yield Use(index.path, f"index file ({index.index_type})")
    for statistics in attempt(lambda: snapshot.statistics, ()):
        yield Use(statistics.path, "statistics")
    index_manifest = getattr(snapshot, "index_manifest", None)
    if isinstance(index_manifest, str):
        yield Use(index_manifest, "index manifest")


def _walk_manifest(manifest: Manifest) -> Iterator[Use]:
    name = posixpath.basename(manifest.path)
    for entry in attempt(lambda: manifest.entries, ()):
        path, noun, found = (
            entry.file.path,
            _NOUNS.get(entry.file.content, "file"),
            f"{name} ({entry.status})",
        )
        yield Use(path, noun, entry=found)
        for extra in getattr(entry.file, "extra_files", None) or ():
            beside = posixpath.join(posixpath.dirname(path), extra)
            yield Use(beside, f"beside {noun} {posixpath.basename(path)},", entry=found)


def attempt(read: Callable[[], Any], default: Any) -> Any:
    """What reading gives; the default where it is damaged: the damage shows where the table itself is looked at."""
    try:
        return read()
    except LakeError:
        return default


def _add_referrers(file: StoredFile, referrers: dict[str, dict[str, None]], merge: _Merge) -> StoredFile:
    names = referrers.get(file.path) or referrers.get(posixpath.basename(file.path)) or {}
    merged = merge(file.referenced_by, tuple(names))
    if not merged and file.role.split(" (")[0].endswith(_ROOTS):
        merged = ("found by its name",)
    return replace(file, referenced_by=merged)


class _Merge:
    """Two lists of referrers made one, bounded. Files of one manifest have the same lists, which are merged once."""

    def __init__(self) -> None:
        self._cache: dict[tuple[int, tuple[str, ...]], tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def __call__(self, known: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
        """The first of both, each once, and how many more there are."""
        if len(known) + len(names) <= _MOST_REFERRERS:
            return self._merge(known, names)
        key = (id(known), names)  # the cache keeps `known` alive, so that no other object gets its id
        if key not in self._cache:
            self._cache[key] = (known, self._merge(known, names))
        return self._cache[key][1]

    @staticmethod
    def _merge(known: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
        merged = dict.fromkeys((*known, *names))
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
