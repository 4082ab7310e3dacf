"""Which listed files each state of a table needs, and so what is kept while some states stay, and freed when others go.

    file    ->  group      files that the same states need are one group: their number is small, however many files there are
    group   ->  states     a bitmap of their numbers, as `Holdings.keepers` has them

A state needs a file where the weights in the manifests that it names add up to more than 0, and what its own documents
name. A file that states only name (a list that a tag still mentions, a file of which only the removal is left) is theirs
too, where no state needs it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from lakelens.analysis.holdings import FileEntries, Holdings, Listing, read_holdings
from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.model.arrow import text_array
from lakelens.model.check.references import Referring

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.bitmaps import BitMap
    from lakelens.model.table import Table


class Kept:
    """For each file of a listing the states that need it.

    `groups` holds the sets of states that need the same files, `group` for each listed file the number of its set, -1 where
    no state names it; `absent` is the same for files of entries that are not listed. `is_needed` is false of files that
    states only name, `is_missed` of those that are not listed. `is_documented` is true of files that the table's own
    documents name, whatever its states are: the metadata itself, its log.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> kept = read_kept(table)
    >>> [keeper.id == snapshot.id for keeper, snapshot in zip(kept.holdings.keepers, table.snapshots)]
    [True, True, True, True, True]
    >>> newest = len(kept.holdings.keepers) - 1
    >>> stays = kept.find_kept([newest])             # for each listed file whether it is kept
    >>> freed = kept.find_freed(range(newest))       # what only the four older states need
    >>> int(kept.listing.sizes[freed].sum()), bool((stays & freed).any())
    (53168, False)
    """

    def __init__(self, holdings: Holdings, listing: Listing, entries: FileEntries) -> None:
        import numpy as np

        self.holdings, self.listing, self.entries = holdings, listing, entries
        self.groups: list[BitMap] = []
        self._group: NDArray[np.int64] = np.full(len(listing) + len(entries.absent), -1, np.int64)
        self._is_needed: NDArray[np.bool_] = np.zeros(len(self._group), bool)
        self.group, self.absent = np.split(self._group, [len(listing)])
        self.is_needed, self.is_missed = np.split(self._is_needed, [len(listing)])
        self.is_documented: NDArray[np.bool_] = np.zeros(len(listing), bool)
        self._numbers: dict[bytes, int] = {}
        self._take_files()
        if holdings.manifests and holdings.table.scan_manifests(holdings.manifests) is None:
            self._take_states()
        self._take_documents()
        self._take_inner_names()

    def find_kept(self, states: Collection[int]) -> NDArray[np.bool_]:
        """The listed files that are kept while these states stay: that one of them needs, or the table's own documents name.

        Parameters
        ----------
        states
            Numbers of `Holdings.keepers`.
        """
        return self.find_needed(states) | self.is_documented

    def find_freed(self, states: Collection[int]) -> NDArray[np.bool_]:
        """Find the listed files that are freed when these states go.

        A file is freed when a state that goes needs it, and none that stays, and no document of the table names it.

        Parameters
        ----------
        states
            Numbers of `Holdings.keepers`: those that go.
        """
        stay = set(range(len(self.holdings.keepers))).difference(states)
        return self.find_needed(states) & ~self.find_kept(stay)

    def find_needed(self, states: Collection[int]) -> NDArray[np.bool_]:
        """Find the listed files that one of these states needs or names.

        Parameters
        ----------
        states
            Numbers of `Holdings.keepers`.
        """
        return self._touch(states)[self.group] & (self.group >= 0)

    def count_gone(self, states: Collection[int]) -> int:
        """Count how many files would be freed when these states go, but are not there.

        Parameters
        ----------
        states
            Numbers of `Holdings.keepers`: those that go.
        """
        stay = set(range(len(self.holdings.keepers))).difference(states)
        freed = self._touch(states) & ~self._touch(stay)
        return int((freed[self.absent] & (self.absent >= 0) & self.is_missed).sum())

    def _touch(self, states: Collection[int]) -> NDArray[np.bool_]:
        """For each group whether one of these states is in it."""
        import numpy as np

        from lakelens.bitmaps import BitMap

        chosen = BitMap(states)
        return np.array([not chosen.isdisjoint(group) for group in self.groups] or [False], bool)

    def list_states(self, place: int) -> BitMap:
        """Give the states of a listed file, by their numbers."""
        from lakelens.bitmaps import BitMap

        number = int(self.group[place])
        return BitMap() if number < 0 else self.groups[number]

    @cached_property
    def _users(self) -> list[BitMap]:
        """Of each manifest the states that need its files."""
        return _turn(self.holdings.naming, len(self.holdings.manifests))

    @cached_property
    def _namers(self) -> list[BitMap]:
        """Of each manifest the states that only name it."""
        return _turn(self.holdings.mentioning, len(self.holdings.manifests))

    def _take_files(self) -> None:
        """Take the files of entries: those of the same manifests, with the same weights, are one group."""
        import numpy as np

        entries = self.entries
        rows = np.flatnonzero(entries.manifests >= 0)
        if not Referring.of(self.holdings.table).removed_are_kept:
            rows = rows[entries.weights[rows] > 0]
        many = max(len(self.holdings.manifests), 1)
        keys, places = np.unique(entries.files[rows] * many + entries.manifests[rows], return_inverse=True)
        weights = np.bincount(places, entries.weights[rows], len(keys)).astype(np.int64)
        files, manifests = np.divmod(keys, many)
        starts = np.flatnonzero(np.diff(files, prepend=-1)).tolist()
        pairs = np.stack([manifests, weights], axis=1)
        known: dict[bytes, tuple[int, bool]] = {}
        for start, end in pairwise([*starts, len(files)]):
            key = pairs[start:end].tobytes()
            found = known.get(key)
            if found is None:
                found = known[key] = self._find_users(manifests[start:end], weights[start:end])
            self._group[files[start]], self._is_needed[files[start]] = found

    def _take_states(self) -> None:
        """Take the files of whole states, of a format whose manifests are not read by column."""
        from lakelens.bitmaps import BitMap

        users: dict[str, BitMap] = {}
        for number, keeper in enumerate(self.holdings.keepers):
            if keeper.snapshot is None:
                continue
            try:
                for path in keeper.snapshot.files.to_arrow(stats=False, columns=["path"])["path"].to_pylist():
                    users.setdefault(path, BitMap()).add(number)
            except LakeError as error:
                self.holdings.note(error, keeper.path or keeper.name, number)
        for place, states in self._find(users):
            self.group[place], self.is_needed[place] = self._number(states), True

    def _find_users(self, manifests: NDArray[np.int64], weights: NDArray[np.int64]) -> tuple[int, bool]:
        """Find the group of files of some manifests, and whether any state needs them."""
        import numpy as np

        from lakelens.bitmaps import BitMap

        users = [self._users[number] for number in manifests.tolist()]
        if (weights > 0).all():
            states = BitMap.union(*users)
        else:
            counts = np.zeros(len(self.holdings.keepers), np.int64)
            for weight, one in zip(weights.tolist(), users, strict=True):
                counts[np.array(one.to_array(), np.int64)] += weight
            states = BitMap(np.flatnonzero(counts > 0).tolist())
        if states:
            return self._number(states), True
        return self._number(
            BitMap.union(*users, *(self._namers[number] for number in manifests.tolist()))
        ), False

    def _number(self, states: BitMap) -> int:
        """The number of a group: one of no state is none."""
        if not states:
            return -1
        key = states.serialize()
        number = self._numbers.setdefault(key, len(self.groups))
        if number == len(self.groups):
            self.groups.append(states)
        return number

    def _take_documents(self) -> None:
        """Take what documents name, the documents of states, and manifests."""
        from lakelens.bitmaps import BitMap

        holdings = self.holdings
        ids: dict[int | None, list[int]] = {}
        for number, keeper in enumerate(holdings.keepers):
            ids.setdefault(keeper.id, []).append(number)
        needed: dict[str, BitMap] = {}
        named: dict[str, BitMap] = {}
        documented = []
        for path, one in holdings.named.items():
            about = one.reference.snapshot_id
            keepers = one.keepers or (ids.get(about, []) if about is not None else [])
            if keepers:
                needed[path] = BitMap(keepers)
            elif one.namers:
                named[path] = BitMap(one.namers)
            else:
                documented.append(path)
        for number, keeper in enumerate(holdings.keepers):
            if keeper.path is not None and keeper.path not in holdings.named:
                needed.setdefault(keeper.path, BitMap()).add(number)
        for number, manifest in enumerate(holdings.manifests):
            users = self._users[number]
            (needed if users else named)[manifest.path] = users or self._namers[number]
        for places, is_needed in ((needed, True), (named, False)):
            for place, states in self._find(places):
                self.group[place], self.is_needed[place] = self._number(states), is_needed
        rows = self.listing.find(text_array(documented))
        self.is_documented[rows[rows >= 0]] = True

    def _find(self, states: dict[str, BitMap]) -> Iterator[tuple[int, BitMap]]:

        places = self.listing.find(text_array(list(states))).tolist()
        return ((place, one) for place, one in zip(places, states.values(), strict=True) if place >= 0)

    def _take_inner_names(self) -> None:
        """The files that files name in their bytes are kept by the states of those; one that cannot be read may name any."""
        import numpy as np
        import pyarrow.compute as pc

        from lakelens.bitmaps import BitMap

        table = self.holdings.table
        if Referring.of(table).naming_suffix is None or not len(self.listing):
            return
        is_naming = pc.ends_with(self.listing.paths, Referring.of(table).naming_suffix).to_numpy(
            zero_copy_only=False
        )
        users: dict[str, BitMap] = {}
        for place in np.flatnonzero(is_naming & (self.group >= 0)).tolist():
            path = self.listing.paths[place].as_py()
            states = self.list_states(place)
            try:
                for reference in Referring.of(table).read_names(path):
                    users[reference.path] = users.get(reference.path, BitMap()) | states
            except LakeError as error:
                self.holdings.note(error, path)
        for place, states in self._find(users):
            self.group[place], self.is_needed[place] = self._number(states | self.list_states(place)), True


def _turn(naming: Iterable[NDArray[np.int32]], many: int) -> list[BitMap]:
    """From the manifests of each state to the states of each manifest."""
    import numpy as np

    from lakelens.bitmaps import BitMap

    listed = list(naming)
    manifests = np.concatenate(listed) if listed else np.zeros(0, np.int32)
    states = np.repeat(np.arange(len(listed)), [len(one) for one in listed])
    order = np.argsort(manifests, kind="stable")
    ends = np.searchsorted(manifests[order], np.arange(many + 1))
    ordered = states[order].tolist()
    return [BitMap(ordered[start:end]) for start, end in pairwise(ends.tolist())]


def read_kept(table: Table) -> Kept:
    """Read what every state of a table keeps: one listing, and every manifest once.

    What cannot be read is in `holdings.unread`; while there is any, more may be kept than is known.
    """
    listing, holdings, entries = read_holdings(table)
    return Kept(holdings, listing, entries)
