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

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.manifest import PaimonManifest
from lakelens.model.comparison import (
    FEW_ENTRIES,
    FEW_MANIFESTS,
    FileComparison,
    FileCounts,
    WholeComparison,
    count_by_content,
    sum_known,
)
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileColumns

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot

# a step through one commit reads a snapshot document and a delta list: about as long as this many entries take
_STEP = 100

Manifests = dict[str, PaimonManifest]


class PaimonComparison(FileComparison):
    """Two snapshots of one table, its branches and tags included."""

    def __init__(self, before: PaimonSnapshot, after: PaimonSnapshot) -> None:
        super().__init__(before.files, after.files)
        self._old, self._new = before, after

    def find_changes(self) -> tuple[Sequence[DataFile], Sequence[DataFile]]:
        """By the deltas between or by each side's own manifests, whichever has less to read; else by the whole sets."""
        try:
            net = self._fold()
        except LakeError:
            net = None  # comparing the whole sets makes the damage a finding
        if net is None or not net.adds_up:
            return WholeComparison(self._before, self._after).find_changes()
        added = [self._new.see(found) for found in net.list_files(1)]
        return added, [self._old.see(found) for found in net.list_files(-1)]

    def describe_columns(self) -> FileColumns:
        """The columns by the schemas alone."""
        return self._new.context.describe_columns()

    def count_kept(self) -> Mapping[str, FileCounts]:
        """What was kept; of many manifests by the counts of the lists and the recorded rows, without the bytes."""
        try:
            manifests = list(list_own(self._new).values())
        except LakeError:
            manifests = []
        is_small = len(manifests) <= FEW_MANIFESTS and count_entries(manifests) <= FEW_ENTRIES
        if self._after.is_loaded or is_small:
            return count_by_content(self.kept)
        added = sum(count_by_content(self.added).values(), FileCounts())
        left = FileCounts(count_live(manifests), self._new.record_count, None) - added
        return {"data": left} if left.files or left.rows else {}

    def _fold(self) -> NetChange:
        old, new = list_own(self._old), list_own(self._new)
        dropped = [manifest for path, manifest in old.items() if path not in new]
        fresh = [manifest for path, manifest in new.items() if path not in old]
        deltas = self._find_deltas(fresh, dropped) if fresh and dropped else None
        if deltas is None:
            return fold_manifests(fresh, dropped)
        return fold_manifests(deltas, ()) if self._old.id < self._new.id else fold_manifests((), deltas)

    def _find_deltas(
        self, fresh: Sequence[PaimonManifest], dropped: Sequence[PaimonManifest]
    ) -> list[PaimonManifest] | None:
        """The deltas of the commits between, if they certainly give the same as each side's own, with less to read."""
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
        for manifest in manifests:
            for entry in manifest.entries:
                assert isinstance(entry.file, PaimonDataFile)
                identity = entry.file.identity
                change = sign if entry.is_live else -sign
                self.counts[identity] = self.counts.get(identity, 0) + change
                if entry.is_live or identity not in self.files:
                    self.files[identity] = entry.file

    def list_files(self, count: int) -> list[PaimonDataFile]:
        """The files of one count."""
        return [self.files[identity] for identity, found in self.counts.items() if found == count]


def fold_manifests(newer: Iterable[PaimonManifest], older: Iterable[PaimonManifest]) -> NetChange:
    """The net effect of the newer state's manifests, compared with the older one's."""
    net = NetChange()
    net.count(older, -1)
    net.count(newer, 1)
    return net


def list_own(snapshot: PaimonSnapshot) -> Manifests:
    """The manifests that make up a snapshot's files, base before delta, by path. Raises `LakeError` for a lost list."""
    found: Manifests = {}
    for listed in snapshot.manifest_lists:
        if listed.role != "changelog":
            for manifest in listed.manifests:
                if manifest.path in found:
                    raise LakeError("a manifest is named twice", path=listed.path)
                found[manifest.path] = manifest
    return found


def list_deltas(older: PaimonSnapshot, newer: PaimonSnapshot) -> list[PaimonManifest] | None:
    """The delta manifests of every commit from one snapshot to a later one, in their order.

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
    lists = [listed for snapshot in chain for listed in snapshot.manifest_lists if listed.role == "delta"]
    return [manifest for listed in lists for manifest in listed.manifests]


def count_entries(manifests: Sequence[PaimonManifest]) -> int:
    """How many entries manifests have by the counts in their lists."""
    return sum((m.num_added_files or 0) + (m.num_deleted_files or 0) for m in manifests)


def count_live(manifests: Sequence[PaimonManifest]) -> int | None:
    """How many files are left by the counts in the lists; None where one has none."""
    added = sum_known(*(m.num_added_files for m in manifests))
    deleted = sum_known(*(m.num_deleted_files for m in manifests))
    return None if added is None or deleted is None else added - deleted
