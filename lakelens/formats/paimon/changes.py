"""What changed between two snapshots of a Paimon table, read from as few manifests as possible.

A snapshot is the fold of the entries of its base and delta manifests: ADD inserts a file, DELETE removes it. Manifests are
never rewritten in place, so those that both snapshots name count the same for both, and what only one of them names is
the difference, each file counted +1 for an ADD and -1 for a DELETE::

    change(file) = sum over the newer's own manifests - sum over the older's own manifests     +1 added, -1 removed

After a rewrite of the manifests most of them are one side's own. Then the deltas of the commits between give the same
with less, if all those snapshots are there and the row counts that they record agree. Where entries do not add up
(damaged or missing manifests, a file added twice) the whole sets are compared. See "Manifest" of the Paimon specification.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.paimon.listed_files import ListedFiles
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.manifest import ADDED, REMOVED, PaimonManifest, place_manifest
from lakelens.io.ahead import fetch, fetch_along, fetch_first
from lakelens.model.comparison import (
    FEW_ENTRIES,
    FEW_MANIFESTS,
    FileComparison,
    FileCounts,
    WholeComparison,
    count_by_content,
    sum_known,
)
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.scan.file_rows import FileRows
from lakelens.model.scan.file_table import IDENTITY, FileTable
from lakelens.model.scan.scan_to_arrow import is_worthwhile

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.model.scan.file_table import Numbers

# a step through one commit reads a snapshot document and a delta list: about as long as this many entries take
_STEP = 100
# fewer entries are folded one by one
_MANY = 1_000

Manifests = dict[str, PaimonManifest]


class PaimonComparison(FileComparison):
    """Two snapshots of one table, its branches and tags included."""

    def __init__(self, before: PaimonSnapshot, after: PaimonSnapshot) -> None:
        super().__init__(before.files, after.files)
        self._old, self._new = before, after

    def find_changes(self) -> tuple[FileSet, FileSet]:
        """By the deltas between or by each side's own manifests, whichever has less to read; else by the whole sets."""
        try:
            newer, older = self._choose_manifests()
            every = (*newer, *older)
            counted = list_own(self._new).values()
            fetch_first(
                self._new.context.store, [*every, *(counted if is_few(counted) else ())], place_manifest
            )
            if count_entries(every) >= _MANY and is_worthwhile(ListedFiles(self._new, every).tasks):
                net = fold_columns(self._old, self._new, older, newer)
            else:
                net = self._fold(newer, older)
        except LakeError:
            net = None  # comparing the whole sets makes the damage a finding
        return WholeComparison(self._before, self._after).find_changes() if net is None else net

    def _fold(
        self, newer: Iterable[PaimonManifest], older: Iterable[PaimonManifest]
    ) -> tuple[FileSet, FileSet] | None:
        """Fold the net effect of few entries, one by one; None where they do not add up."""
        net = fold_manifests(newer, older)
        if not net.adds_up:
            return None
        added, removed = net.list_files(1), net.list_files(-1)
        columns = self.describe_columns
        return (
            FileSet(lambda: map(self._new.see, added), columns),
            FileSet(lambda: map(self._old.see, removed), columns),
        )

    def describe_columns(self) -> FileColumns:
        """Describe the columns by the schemas alone."""
        return self._new.context.describe_columns()

    def count_kept(self) -> Mapping[str, FileCounts]:
        """Count what was kept; of many manifests by the counts of the lists and the recorded rows, without the bytes."""
        try:
            manifests = list(list_own(self._new).values())
        except LakeError:
            manifests = []
        if self._after.is_loaded or is_few(manifests):
            return count_by_content(self.kept)
        added = sum(count_by_content(self.added).values(), FileCounts())
        left = FileCounts(count_live(manifests), self._new.record_count, None) - added
        return {"data": left} if left.files or left.rows else {}

    def _choose_manifests(self) -> tuple[Sequence[PaimonManifest], Sequence[PaimonManifest]]:
        """The newer state's manifests and the older one's that make the difference. Raises `LakeError` for a lost list."""
        self._new.fetch_near(self._old, self._new)
        old, new = list_own(self._old), list_own(self._new)
        dropped = [manifest for path, manifest in old.items() if path not in new]
        fresh = [manifest for path, manifest in new.items() if path not in old]
        deltas = self._find_deltas(fresh, dropped) if fresh and dropped else None
        if deltas is None:
            return fresh, dropped
        return (deltas, ()) if self._old.id < self._new.id else ((), deltas)

    def _find_deltas(
        self, fresh: Sequence[PaimonManifest], dropped: Sequence[PaimonManifest]
    ) -> list[PaimonManifest] | None:
        """Find the deltas of the commits between, if they certainly give the same as each side's own, with less to read."""
        entries = count_entries((*fresh, *dropped))
        older, newer = sorted((self._old, self._new), key=lambda snapshot: snapshot.id)
        steps = newer.id - older.id
        if not steps or steps > max(1, entries // _STEP):
            return None
        deltas = list_deltas(older, newer)
        if deltas is None or count_entries(deltas) >= entries:
            return None
        left, gone, net = (count_live(manifests) for manifests in (fresh, dropped, deltas))
        if left is None or gone is None or net is None:
            return None
        return deltas if left - gone == (net if newer is self._new else -net) else None


@dataclass(slots=True)
class NetChange:
    """The net effect of entries: +1 for a file that is there after and was not before, -1 the other way round."""

    counts: dict[Hashable, int] = field(default_factory=dict)
    files: dict[Hashable, PaimonDataFile] = field(default_factory=dict)

    @property
    def adds_up(self) -> bool:
        """Whether no file was added twice or removed twice."""
        return all(-1 <= count <= 1 for count in self.counts.values())

    def count(self, manifests: Iterable[PaimonManifest], sign: int) -> None:
        """Count the entries of manifests. Raises `LakeError` when one cannot be read."""
        known = list(manifests)
        store = known[0].context.store if known else None
        for manifest in known if store is None else fetch_along(store, known, place_manifest):
            for entry in manifest.entries:
                assert isinstance(entry.file, PaimonDataFile)
                identity = entry.file.identity
                change = sign if entry.is_live else -sign
                self.counts[identity] = self.counts.get(identity, 0) + change
                if entry.is_live or identity not in self.files:
                    self.files[identity] = entry.file

    def list_files(self, count: int) -> list[PaimonDataFile]:
        """List the files of one count."""
        return [self.files[identity] for identity, found in self.counts.items() if found == count]


def fold_manifests(newer: Iterable[PaimonManifest], older: Iterable[PaimonManifest]) -> NetChange:
    """Fold the net effect of the newer state's manifests, compared with the older one's."""
    net = NetChange()
    net.count(older, -1)
    net.count(newer, 1)
    return net


def fold_columns(
    old: PaimonSnapshot,
    new: PaimonSnapshot,
    older: Sequence[PaimonManifest],
    newer: Sequence[PaimonManifest],
) -> tuple[FileSet, FileSet] | None:
    """Fold the same by column: the files added, as the newer state sees them, and those removed, as the older one does.

    None where they do not add up, and where a manifest cannot be read.
    """
    asked = [(manifests, kept) for manifests in (older, newer) for kept in (ADDED, REMOVED)]
    fetch_first(new.context.store, [*older, *newer], place_manifest)
    tables = [read_entries(new, manifests, kept) for manifests, kept in asked]
    if (
        not all(table.scan.is_whole for table in tables)
        or (chosen := count_net(tables, (-1, 1, 1, -1))) is None
    ):
        return None
    found = []
    for snapshot, numbers in zip((new, old), chosen, strict=True):
        readers = (ListedFiles(snapshot, manifests) for manifests, _ in asked)
        seen = (table.seen_by(reader) for table, reader in zip(tables, readers, strict=True))
        rows = FileRows(tuple((table, None) for table in seen))
        found.append(FileSet(tuple, new.context.describe_columns, choose=partial(rows.take, numbers)))
    return found[0], found[1]


def read_entries(snapshot: PaimonSnapshot, manifests: Sequence[PaimonManifest], kept: str) -> FileTable:
    """Read the files of the ADD or of the DELETE entries of manifests, in order."""
    reader = ListedFiles(snapshot, manifests, kept)
    counts = [
        manifest.num_added_files if kept == ADDED else manifest.num_deleted_files for manifest in manifests
    ]
    scan = reader.plan()
    table = FileTable(scan.with_tasks([task for task in scan.tasks if counts[task.position] != 0]), reader)
    table.read_all()
    return table


def count_net(tables: Sequence[FileTable], signs: Sequence[int]) -> tuple[Numbers, Numbers] | None:
    """The rows of files added and of those removed, among ADD and DELETE entries of the older, then the newer manifests.

    A file is described by its last ADD entry, else by its first DELETE entry; files are in the order in which they first
    come. None where a file was added or removed twice.
    """
    import numpy as np
    import pyarrow as pa

    identities = pa.concat_arrays([table.column(IDENTITY) for table in tables])
    lengths = [len(table) for table in tables]
    codes = identities.dictionary_encode().indices.to_numpy()
    if not len(codes):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    side = np.repeat([0, 0, 1, 1], lengths)
    is_add = np.repeat([True, False, True, False], lengths)
    moments = (side.astype(np.int64) << 62) + np.concatenate([table.order for table in tables])
    net = np.zeros(codes.max() + 1, np.int64)
    np.add.at(net, codes, np.repeat(signs, lengths))
    if np.abs(net).max() > 1:
        return None
    # the last ADD goes before all, then the first DELETE
    by_worth = np.lexsort((np.where(is_add, -moments, moments), ~is_add, codes))
    first_by_time = np.lexsort((moments, codes))
    starts = np.flatnonzero(np.diff(codes[by_worth], prepend=-1))
    rows, came = by_worth[starts], moments[first_by_time[starts]]
    added, removed = (np.flatnonzero(net == wanted) for wanted in (1, -1))
    return (
        rows[added[np.argsort(came[added], kind="stable")]],
        rows[removed[np.argsort(came[removed], kind="stable")]],
    )


def fetch_lists(*snapshots: PaimonSnapshot, roles: Sequence[str] = ("base", "delta")) -> None:
    """Read the manifest lists of snapshots together, where their store is far."""
    for first in snapshots[:1]:
        lists = (listed for snapshot in snapshots for listed in snapshot.manifest_lists)
        wanted = [listed.path for listed in lists if listed.role in roles and not listed.is_read]
        fetch(first.context.store, documents=wanted)


def list_own(snapshot: PaimonSnapshot) -> Manifests:
    """The manifests that make up a snapshot's files, base before delta, by path. Raises `LakeError` for a lost list."""
    fetch_lists(snapshot)
    found: Manifests = {}
    for listed in snapshot.manifest_lists:
        if listed.role != "changelog":
            for manifest in listed.manifests:
                if manifest.path in found:
                    raise LakeError("a manifest is named twice", path=listed.path)
                found[manifest.path] = manifest
    return found


def list_deltas(older: PaimonSnapshot, newer: PaimonSnapshot) -> list[PaimonManifest] | None:
    """List the delta manifests of every commit from one snapshot to a later one, in their order.

    None where a snapshot between is gone, where one of the two is not the one of its number in the newer one's branch (a
    tag may keep a commit that was rolled back), or where the rows they record do not add up. Raises `LakeError` for a lost
    list.
    """
    chain = newer.list_chain(older)
    rows = sum_known(*(snapshot.delta_record_count for snapshot in chain))
    if not chain or rows is None or older.record_count is None:
        return None
    if older.record_count + rows != newer.record_count:
        return None
    fetch_lists(*chain, roles=("delta",))
    lists = [listed for snapshot in chain for listed in snapshot.manifest_lists if listed.role == "delta"]
    return [manifest for listed in lists for manifest in listed.manifests]


def count_entries(manifests: Sequence[PaimonManifest]) -> int:
    """Count how many entries manifests have by the counts in their lists."""
    return sum((m.num_added_files or 0) + (m.num_deleted_files or 0) for m in manifests)


def is_few(manifests: Collection[PaimonManifest]) -> bool:
    """Check whether manifests are so few and small that all files of a state are counted by them."""
    return len(manifests) <= FEW_MANIFESTS and count_entries(list(manifests)) <= FEW_ENTRIES


def count_live(manifests: Sequence[PaimonManifest]) -> int | None:
    """Count how many files are left by the counts in the lists; None where one has none."""
    added = sum_known(*(m.num_added_files for m in manifests))
    deleted = sum_known(*(m.num_deleted_files for m in manifests))
    return None if added is None or deleted is None else added - deleted
