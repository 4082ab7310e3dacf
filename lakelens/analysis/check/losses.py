"""Which states of a table lack something that they need: files that are gone or of another length, and what cannot be read.

States that name the same manifests lack the same files. So the files that each set of manifests lacks are found once, as a
bitmap of their numbers, however long the history is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from lakelens.analysis.holdings import FileEntries, Holdings, Listing
from lakelens.caching import cached_property
from lakelens.display import Named
from lakelens.errors import LakeError
from lakelens.model.arrow import text_array
from lakelens.model.check.references import Keeper, Referring
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.bitmaps import BitMap


#: Files that are looked for one by one at a time.
_CHUNK = 16_384


@dataclass(frozen=True, slots=True)
class BrokenState:
    """A state that cannot be read in full: how many files it lacks, how many are of another length, what is unread."""

    keeper: Keeper
    missing: int
    resized: int
    unread: int

    @property
    def name(self) -> str:
        """The state, as `Keeper.name` has it."""
        return self.keeper.name

    def __str__(self) -> str:
        counts = (
            (self.missing, "missing file"),
            (self.resized, "file of another length"),
            (self.unread, "unread document"),
        )
        parts = [f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts if n]
        text = ", ".join(parts).replace("file of another lengths", "files of another length")
        return f"{self.name}: {text}"


class Losses:
    """What is lost, by number of the file, and by state."""

    def __init__(self, holdings: Holdings, listing: Listing, entries: FileEntries) -> None:
        self._holdings = holdings
        self._listing = listing
        self._entries = entries
        self.unknown: list[str] = []  # outside of the table, not looked for
        self.resized = self._find_resized()  # number of the file: recorded size, size
        self.gone = self._find_gone()  # the numbers of the files, ascending
        self.named: dict[str, tuple[int, ...]] = {}  # documents that are gone, with the states that need them
        # documents of another length: their size, and the states that need them
        self.resized_named: dict[str, tuple[int, tuple[int, ...]]] = {}
        self._users: dict[tuple[int, ...], list[int]] = {}
        self._find_named()

    def _find_resized(self) -> dict[int, tuple[int, int]]:
        import numpy as np

        entries, sizes = self._entries, self._listing.sizes
        rows = np.flatnonzero((entries.weights > 0) & (entries.sizes >= 0) & (entries.files < len(sizes)))
        rows = rows[entries.sizes[rows] != sizes[entries.files[rows]]] if len(sizes) else rows[:0]
        return {
            int(entries.files[row]): (int(entries.sizes[row]), int(sizes[entries.files[row]]))
            for row in rows.tolist()
        }

    def _find_gone(self) -> NDArray[np.int64]:
        """Files that some state needs and that are nowhere; what is below a directory that cannot be listed is unknown."""
        import numpy as np

        from lakelens.bitmaps import BitMap

        beyond = len(self._listing)
        needed = BitMap.union(BitMap(), *self._live)
        numbers = np.fromiter((number for number in needed if number >= beyond), np.int64)
        if self._listing.refused:
            paths = (path for path, _ in self._iterate_absent(numbers))
            is_looked = np.fromiter((not self._listing.is_hidden(path) for path in paths), bool, len(numbers))
            numbers = numbers[is_looked]
        sizes = Referring.of(self._holdings.table).find_sizes(self._iterate_absent(numbers))
        is_gone = np.ones(len(numbers), bool)
        for place, size in enumerate(sizes):
            if size is None:
                continue
            number = int(numbers[place])
            is_gone[place] = False
            if size < 0:
                self.unknown.append(self.find_path(number))
            elif (recorded := self.find_recorded(number)) not in (None, size):
                self.resized[number] = (recorded or 0, size)
        return numbers[is_gone]

    def _iterate_absent(self, numbers: NDArray[np.int64]) -> Iterator[tuple[str, str | None]]:
        """Yield the paths of files that are not listed, and where they were recorded."""
        beyond = len(self._listing)
        for start in range(0, len(numbers), _CHUNK):
            places = numbers[start : start + _CHUNK] - beyond
            columns = (
                column.take(places).to_pylist() for column in (self._entries.absent, self._entries.recorded)
            )
            yield from zip(*columns, strict=True)

    def find_path(self, number: int) -> str:
        """Find the path of a file that is not listed."""
        path: str = self._entries.absent[number - len(self._listing)].as_py()
        return path

    def find_recorded(self, number: int) -> int | None:
        """Find the recorded size of a lost file; None where nothing is."""
        row = self._find_row(number)
        size = -1 if row is None else int(self._entries.sizes[row])
        return None if size < 0 else size

    def find_content(self, number: int) -> int:
        """Find what the first entry that adds a lost file says that it holds."""
        row = self._find_row(number)
        return 0 if row is None else int(self._entries.contents[row])

    def _find_row(self, number: int) -> int | None:
        """Find the first entry that adds a file that is lost or may be; None where none does."""
        import numpy as np

        files, rows = self._first_rows
        place = int(np.searchsorted(files, number))
        return int(rows[place]) if place < len(files) and files[place] == number else None

    @cached_property
    def _first_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The files that are lost or may be, ascending, and the first entry that adds each."""
        import numpy as np

        rows = np.flatnonzero(self._is_lost & (self._entries.weights > 0))
        files, first = np.unique(self._entries.files[rows], return_index=True)
        return files, rows[first]

    @cached_property
    def _is_lost(self) -> NDArray[np.bool_]:
        """For each entry whether its file is not in the listing, or of another length."""
        import numpy as np

        entries = self._entries
        lost: NDArray[np.bool_] = entries.files >= len(self._listing)
        if self.resized:
            lost |= np.isin(entries.files, np.fromiter(self.resized, np.int64, len(self.resized)))
        return lost

    def _find_named(self) -> None:
        """Documents that are not in the listing, and those of another length than recorded; so for manifests."""

        named, manifests = self._holdings.named, self._holdings.manifests
        paths = [*named, *(manifest.path for manifest in manifests)]
        recorded = [
            *((one.reference.size_bytes, one.reference.recorded_path) for one in named.values()),
            *((manifest.size_bytes, manifest.recorded_path) for manifest in manifests),
        ]
        places = self._listing.find(text_array(paths)).tolist()
        absent = [
            (path, location)
            for path, (_, location), place in zip(paths, recorded, places, strict=True)
            if place < 0 and not self._listing.is_hidden(path)
        ]
        elsewhere = dict(
            zip(
                (path for path, _ in absent),
                Referring.of(self._holdings.table).find_sizes(absent),
                strict=True,
            )
        )
        for number, (path, (size, _), place) in enumerate(zip(paths, recorded, places, strict=True)):
            found = int(self._listing.sizes[place]) if place >= 0 else elsewhere.get(path)
            if found is not None and found < 0:
                self.unknown.append(path)
            elif found is None and path in elsewhere:
                self.named[path] = self._list_users(path, number - len(named))
            elif found is not None and size is not None and found != size:
                self.resized_named[path] = found, self._list_users(path, number - len(named))

    def _list_users(self, path: str, manifest: int) -> tuple[int, ...]:
        if manifest >= 0:
            return tuple(self._holdings.find_keepers(manifest))
        return tuple(dict.fromkeys(self._holdings.named[path].keepers))

    @cached_property
    def _rows(self) -> dict[int, tuple[NDArray[np.int64], NDArray[np.int8]]]:
        """By manifest the entries of files that are lost or may be: their numbers and weights."""
        import numpy as np

        entries = self._entries
        rows = np.flatnonzero(self._is_lost)
        rows = rows[np.argsort(entries.manifests[rows], kind="stable")]
        manifests, starts = np.unique(entries.manifests[rows], return_index=True)
        parts = np.split(rows, starts[1:]) if len(manifests) else []
        return {
            int(manifest): (entries.files[part], entries.weights[part])
            for manifest, part in zip(manifests, parts, strict=True)
        }

    @cached_property
    def _groups(self) -> tuple[list[tuple[int, ...]], list[int]]:
        """The sets of manifests with lost files that states name, each once, and of each state the number of its set."""
        import numpy as np

        touched = np.array(sorted(self._rows), np.int32)
        numbers: dict[tuple[int, ...], int] = {}
        sets = (tuple(np.intersect1d(places, touched).tolist()) for places in self._holdings.naming)
        of_states = [numbers.setdefault(one, len(numbers)) for one in sets]
        return list(numbers), of_states

    @cached_property
    def _live(self) -> list[BitMap]:
        """For each set of manifests the files that it needs, of those that are lost or may be."""
        return [self._fold(group) for group in self._groups[0]]

    def _fold(self, group: Sequence[int]) -> BitMap:
        import numpy as np

        from lakelens.bitmaps import BitMap

        if not group:
            return BitMap()
        files = np.concatenate([self._rows[manifest][0] for manifest in group])
        weights = np.concatenate([self._rows[manifest][1] for manifest in group])
        distinct, places = np.unique(files, return_inverse=True)
        live = distinct[np.bincount(places, weights) > 0]
        return BitMap(live.tolist())

    def list_keepers(self, number: int) -> list[int]:
        """List the states that need a file, by their numbers."""
        groups = tuple(group for group, files in enumerate(self._live) if number in files)
        if groups not in self._users:
            live = set(groups)
            self._users[groups] = [state for state, group in enumerate(self._groups[1]) if group in live]
        return self._users[groups]

    def count_gone(self) -> tuple[dict[int, int], set[int]]:
        """Count the files that are gone by what they hold, and say which states need one of them, by their numbers."""
        import numpy as np

        from lakelens.bitmaps import BitMap

        gone = BitMap(self.gone.tolist())
        touched = {group for group, files in enumerate(self._live) if len(files & gone)}
        states = {state for state, group in enumerate(self._groups[1]) if group in touched}
        files, first = self._first_rows
        rows = first[np.isin(files, self.gone)]
        contents, counts = np.unique(self._entries.contents[rows], return_counts=True)
        found = dict(zip(map(int, contents), map(int, counts), strict=True))
        if len(rows) < len(self.gone):
            found[0] = found.get(0, 0) + len(self.gone) - len(rows)
        return found, states

    def list_broken(self) -> dict[int, BrokenState]:
        """List the states that cannot be read in full, by their numbers."""
        from lakelens.bitmaps import BitMap

        gone, resized = BitMap(self.gone.tolist()), BitMap(self.resized)
        counts = [(len(files & gone), len(files & resized)) for files in self._live]
        documents = _count(users for users in self.named.values())
        lengths = _count(users for _, users in self.resized_named.values())
        unread = _count(one.keepers for one in self._holdings.unread.values())
        found = {}
        for number, keeper in enumerate(self._holdings.keepers):
            missing, changed = counts[self._groups[1][number]]
            missing += documents.get(number, 0)
            changed += lengths.get(number, 0)
            state = BrokenState(keeper, missing, changed, unread.get(number, 0))
            if missing or changed or state.unread:
                found[number] = state
        return found


def _count(lists: Iterable[Iterable[int]]) -> dict[int, int]:
    """Count how often each number is in some lists, once in each."""
    counts: dict[int, int] = {}
    for one in lists:
        for number in set(one):
            counts[number] = counts.get(number, 0) + 1
    return counts


# The newest states of a table that are whole: nothing that they need is gone, of another length, or unreadable.

_Key = tuple[int | None, str | None] | None


@dataclass(frozen=True, slots=True)
class Whole(Named):
    """Which states are whole: `count` of `total`, and the newest on the branch that was opened, on every branch, of tags.

    `snapshot` is None where none of the branch is whole. `after` are the states of the branch that are newer and broken, the
    newest first.
    """

    snapshot: Snapshot | None
    branches: Mapping[str, Snapshot | None]
    tags: tuple[str, ...]
    after: tuple[BrokenState, ...]
    count: int
    total: int

    @property
    def is_current(self) -> bool:
        """Whether the branch's newest state is whole."""
        return self.snapshot is not None and not self.after


def find_whole(table: Table, keepers: Sequence[Keeper], broken: Mapping[int, BrokenState]) -> Whole:
    """Find the newest whole states, by those that are `broken`."""
    lost: dict[_Key, BrokenState] = {
        _identify(keepers[number].snapshot): state for number, state in broken.items()
    }
    branches: dict[str, Snapshot | None] = {}
    after: tuple[BrokenState, ...] = ()
    opened = getattr(table, "branch", None)
    main = getattr(table, "branch_name", None) or (opened if isinstance(opened, str) else None) or "main"
    newest: dict[str, Callable[[], Snapshot | None]] = {
        ref.name: partial(table.snapshot, ref.name) for ref in table.refs.branches
    }
    # a format without branches has one line of states
    for name, find in (newest or {main: lambda: table.current}).items():
        steps = list(_walk_back(find, lost))
        branches[name] = next((step for step in steps if _identify(step) not in lost), None)
        if name == main:
            newer = [lost[key] for step in steps if (key := _identify(step)) in lost]
            after = (*_find_unread(table, keepers, broken, steps), *newer)
    names = []
    for ref in table.refs.tags:
        with suppress(LakeError):
            if _identify(table.snapshot(ref.name)) not in lost:
                names.append(ref.name)
    unreadable = sum(keeper.snapshot is None for keeper in keepers)
    total = (
        len({_identify(keeper.snapshot) for keeper in keepers if keeper.snapshot is not None}) + unreadable
    )
    count = total - unreadable - len({key for key in lost if key is not None})
    return Whole(branches.get(main), branches, tuple(names), after, count, total)


def _find_unread(
    table: Table, keepers: Sequence[Keeper], broken: Mapping[int, BrokenState], steps: Sequence[Snapshot]
) -> Iterator[BrokenState]:
    """States of the opened branch that are newer than its newest readable one: their documents cannot be read."""
    if not table.traits.numbers_branches or not steps:
        return
    known = [number for number, keeper in enumerate(keepers) if keeper.snapshot is steps[0]]
    for number in range(len(keepers) - 1, known[-1] if known else len(keepers), -1):
        keeper = keepers[number]
        if number in broken and keeper.snapshot is None and keeper.name.startswith("snapshot "):
            yield broken[number]


def _identify(snapshot: Snapshot | None) -> _Key:
    """What distinguishes states: branches of Paimon number their own, and a tag's document is a file of its own."""
    return None if snapshot is None else (snapshot.id, snapshot.path)


def _walk_back(find: Callable[[], Snapshot | None], lost: Mapping[_Key, BrokenState]) -> Iterator[Snapshot]:
    """Walk the newest state of a line, where it can be read, and those before it, up to the first that is whole."""
    try:
        newest = find()
    except LakeError:
        return
    for state in chain((newest,), newest.walk_ancestors()) if newest is not None else ():
        yield state
        if _identify(state) not in lost:
            return
