"""Every object of a table's directory, with what refers to it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.check.references import Referring
from lakelens.model.manifest import Entry, Manifest
from lakelens.model.scan.path_index import index_paths
from lakelens.model.snapshot import Snapshot
from lakelens.model.storage import Referrers, StoredFile
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
    """Build the storage tree of a table.

    With `references` every snapshot, manifest list and manifest is read to find what refers to what; what cannot be read is
    left out (it is in `table.findings`). At most `limit` objects are listed.
    """
    files = list(islice(table.list_files(), limit + 1))
    listed = files[:limit]
    if references:
        paths = [file.path for file in listed]
        found = (
            (file.entries for file in listed)
            if table.traits.lists_referrers
            else find_references(table, paths)
        )
        merge = _Merge()
        for place, (file, names) in enumerate(zip(files[:limit], found, strict=True)):
            merged = merge(file.referenced_by, names)
            if not merged and file.role.split(" (")[0].endswith(_ROOTS):
                merged = ("found by its name",)
            listed[place] = replace(file, referenced_by=merged)
    return StorageTree(table.location, tuple(listed), truncated=len(files) > limit)


def find_references(table: Table, paths: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """What refers to each of some paths, in order and once: snapshots to lists, lists to manifests, manifests to files.

    Where only a name is recorded (Paimon's index manifests) it stands for every path of that name. Files of one manifest
    share one tuple.
    """
    wanted = {*paths, *map(posixpath.basename, paths)}
    uses: dict[str, dict[str, int]] = {}  # by path; of each how many manifests were walked before it
    manifests: dict[str, Manifest] = {}

    def add(path: str, name: str) -> None:
        if path in wanted:
            uses.setdefault(path, {}).setdefault(name, len(manifests))

    def keep(manifest: Manifest) -> bool:
        manifests.setdefault(manifest.path, manifest)
        return False

    for entry in table.metadata_log:
        add(entry.path, "metadata log")
    for snapshot, name in list_every_snapshot(table):
        names: dict[str, str] = {}  # of each role one text, however many objects it is said of
        for use in walk_snapshot(snapshot, keep):
            add(use.path, names.setdefault(use.role, name + use.role))
    held = list(manifests.values())
    index = index_paths(partial(table.scan_manifests, held), held, _read_entries)
    places = {path: place for place, path in enumerate(manifests, 1)}
    for path, marks in zip(paths, index.find(paths), strict=True):
        own = uses.get(path) or (None if marks else uses.get(posixpath.basename(path)))
        if own and marks:  # a file that snapshots name, and manifests too: in the order of the walk
            order = {name: (place, 1) for name, place in own.items()}
            for mark in marks:
                order.setdefault(str(mark), (places[mark.manifest], 0))
            yield tuple(sorted(order, key=order.__getitem__))
        else:
            yield tuple(own) if own else index.format(marks)


def _read_entries(manifest: Manifest) -> Iterable[Entry]:
    entries: Iterable[Entry] = attempt(lambda: manifest.entries, ())
    return entries


def list_every_snapshot(table: Table) -> Iterator[tuple[Snapshot, str]]:
    """List every state that keeps files, of all branches, with its name; those that cannot be read are left out."""
    for keeper in Referring.of(table).list_keepers():
        if keeper.snapshot is not None:
            yield keeper.snapshot, keeper.name


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
    """Say what reading gives; the default where it is damaged: the damage shows where the table itself is looked at."""
    try:
        return read()
    except LakeError:
        return default


class _Merge:
    """Two lists of referrers made one, bounded. Files of one manifest have the same lists, which are merged once."""

    def __init__(self) -> None:
        self._cache: dict[tuple[int, int], tuple[Any, tuple[str, ...]]] = {}

    def __call__(self, known: Sequence[str], names: tuple[str, ...]) -> tuple[str, ...]:
        """The first of both, each once, and how many more there are."""
        key = (id(known), id(names))
        if key not in self._cache:  # which keeps both alive, so that nothing else gets their ids
            self._cache[key] = (known, names), self._merge(known, names)
        return self._cache[key][1]

    @staticmethod
    def _merge(known: Sequence[str], names: tuple[str, ...]) -> tuple[str, ...]:
        listed: Collection[str] = known if isinstance(known, Referrers) else dict.fromkeys(known)
        further = dict.fromkeys(name for name in names if name not in listed)
        # "snapshot 1" says less than "snapshot 1 (base)"; a format's long lists of snapshots say no more than that
        texts = further if isinstance(known, Referrers) else [*listed, *further]
        outdone = {name[: match.start()] for name in texts for match in _ADDITION.finditer(name)}
        lost = sum(name in listed or name in further for name in outdone)
        kept = (name for name in chain(listed, further) if name not in outdone)
        more = len(listed) + len(further) - lost - _MOST_REFERRERS
        first = tuple(islice(kept, _MOST_REFERRERS))
        return (*first, f"… {more:,} more") if more > 0 else first


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
