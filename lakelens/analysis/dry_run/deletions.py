"""Which stored files a procedure deletes: those that only lost states need, those that it names, and orphans.

    lost     a file that a lost state needs, and no kept state nor document
    named    what the format says by path
    orphans  what nothing refers to, last written before a time

Sizes are the listing's. A file that is not there is not deleted; nor is anything while a kept state is unread: what it needs
is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakelens.analysis.holdings import FileEntries, Holdings, Listing, Unread, name_content
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact
from lakelens.model.maintenance.proposal import Piece, Proposal
from lakelens.model.storage import StoredFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.model.table import Table


@dataclass(frozen=True, slots=True)
class PlannedFile(StoredFile):
    """A stored file and what happens to it: `action` is "deleted", "rewritten", "replaced" or "read", and `why`.

    A rewritten file is read and leaves the current state; a replaced one leaves it unread. Older states keep both.
    """

    action: str = field(default="deleted", kw_only=True)
    why: str = field(default="", kw_only=True)


class PlannedFiles(Items[PlannedFile]):
    """Files that something happens to; each is made when it is asked for."""

    __slots__ = ()
    facts = (
        Fact("action"),
        Fact("role"),
        Fact("path"),
        Fact("relative_path"),
        Fact("size_bytes", "int64"),
        Fact("why"),
    )

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them, as far as they are known."""
        return sum(max(one.size_bytes, 0) for one in self)


@dataclass(frozen=True, slots=True)
class Tally:
    """Files of one role, counted."""

    role: str
    files: int
    size_bytes: int
    why: str = ""


@dataclass(frozen=True)
class Deletions:
    """The files that are deleted, those that stay, and what could not be read.

    `live` and `older` are files of the current state, and further ones that other states keep; None where nothing was looked
    up. `unread` are places with the reason why they could not be read.
    """

    files: PlannedFiles
    tallies: Sequence[Tally]
    live: Tally | None = None
    older: Tally | None = None
    young: Tally | None = None
    unread: tuple[tuple[str, str], ...] = ()
    missing: int = 0


class Stock:
    """Every state of a table with what it holds, and the listing of its directory: read once, when it is asked for."""

    def __init__(self, table: Table) -> None:
        self.table = table

    @cached_property
    def listing(self) -> Listing:
        """What is there."""
        return Listing(self.table)

    @cached_property
    def holdings(self) -> Holdings:
        """What each state names."""
        return Holdings(self.table)

    @cached_property
    def entries(self) -> FileEntries:
        """Every entry of every manifest."""
        return self.holdings.read_entries(self.listing)

    def find_needed(self, states: Iterable[int]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For each file (also those that are absent) and for each manifest whether one of some states needs it."""
        import numpy as np

        entries, chosen = self.entries, list(states)
        files = np.zeros(len(self.listing) + len(entries.absent), bool)
        manifests = np.zeros(len(self.holdings.manifests), bool)
        for number in chosen:
            manifests[self.holdings.naming[number]] = True
        if not len(entries.files):
            return files, manifests
        if (entries.weights >= 0).all():
            rows = (entries.weights > 0) & (entries.manifests >= 0)
            rows[rows] = manifests[entries.manifests[rows]]
            files[entries.files[rows]] = True
            return files, manifests
        for number in chosen:
            rows = np.isin(entries.manifests, self.holdings.naming[number])
            net = np.bincount(entries.files[rows], entries.weights[rows], len(files))
            files |= net > 0
        return files, manifests

    def place(self, paths: Sequence[str]) -> NDArray[np.int64]:
        """The places of paths in the listing; -1 for what is not there."""
        import pyarrow as pa

        return self.listing.find(pa.array(paths, pa.string()))


def find_deletions(table: Table, proposal: Proposal) -> Deletions:
    """What a proposal deletes. Reads the listing where it deletes anything, and the manifests where states are lost."""
    if proposal.orphans is not None:
        return _find_orphans(table, proposal)
    stock = Stock(table)
    found: dict[int, Piece] = {}
    missing = 0
    unread: tuple[tuple[str, str], ...] = ()
    live = older = None
    if proposal.deletes_lost and proposal.lost:
        found, missing, live, older = _find_lost(stock, proposal)
        unread = _list_unread(table, stock.holdings.unread.values())
        if unread:
            found = {}
    if proposal.deletes:
        for piece, place in zip(
            proposal.deletes, stock.place([one.path for one in proposal.deletes]).tolist(), strict=True
        ):
            if place >= 0:
                found[place] = piece
            else:
                missing += 1
    if not found:
        return Deletions(PlannedFiles(()), (), live, older, None, unread, missing)
    listing = stock.listing
    named = listing.paths.take(list(found)).to_pylist()
    places = [place for _, place in sorted(zip(named, found, strict=True))]

    def make(place: int) -> PlannedFile:
        piece, path = found[place], listing.paths[place].as_py()
        size, modified = int(listing.sizes[place]), listing.modified[place]
        short = path.removeprefix(listing.root)
        return PlannedFile(path, short, size, piece.role, (), modified, why=piece.why)

    tallies = _count((found[place], int(listing.sizes[place])) for place in places)
    return Deletions(PlannedFiles(places, make), tallies, live, older, None, unread, missing)


def _find_lost(stock: Stock, proposal: Proposal) -> tuple[dict[int, Piece], int, Tally, Tally]:
    """The places of the files that only lost states need, and what the others keep."""
    import numpy as np

    holdings, listing = stock.holdings, stock.listing
    lost_names = {fate.keeper for fate in proposal.lost}
    lost = [number for number, keeper in enumerate(holdings.keepers) if keeper.name in lost_names]
    gone = set(lost)
    kept = [number for number in range(len(holdings.keepers)) if number not in gone]
    files, manifests = stock.find_needed(lost)
    kept_files, kept_manifests = stock.find_needed(kept)
    documents = {reference.path for reference in stock.table.list_documents()}
    named = {
        path: one
        for path, one in holdings.named.items()
        if one.keepers and path not in documents and gone.issuperset(one.keepers)
    }
    pieces: list[Piece] = [
        Piece(path, one.reference.role, None, _name_keeper(holdings, one.keepers))
        for path, one in named.items()
    ]
    only = np.flatnonzero(manifests & ~kept_manifests).tolist()
    why = "only states that are lost name it"
    pieces += [Piece(holdings.manifests[number].path, "manifest", None, why) for number in only]
    places = stock.place([piece.path for piece in pieces]).tolist()
    found = {place: piece for place, piece in zip(places, pieces, strict=True) if place >= 0}
    missing = sum(1 for place in places if place < 0)
    free = files & ~kept_files
    free[: len(listing)][list(found)] = False
    _spare(stock, free, kept, documents)
    contents = _list_contents(stock)
    for place in np.flatnonzero(free[: len(listing)]).tolist():
        found[place] = Piece(
            "", name_content(contents.get(place, 0)), None, "only states that are lost need it"
        )
    missing += int(free[len(listing) :].sum())
    live, older = _count_kept(stock, kept_files, found)
    return found, missing, live, older


def _spare(stock: Stock, free: NDArray[np.bool_], kept: Sequence[int], documents: Iterable[str]) -> None:
    """Take back what documents and kept states name themselves."""
    holdings = stock.holdings
    left = set(kept)
    paths = [path for path, one in holdings.named.items() if left.intersection(one.keepers)]
    places = stock.place([*paths, *documents])
    free[places[places >= 0]] = False


def _name_keeper(holdings: Holdings, keepers: Sequence[int]) -> str:
    return f"of {holdings.keepers[keepers[0]].name}"


def _list_contents(stock: Stock) -> Mapping[int, int]:
    """What each listed file holds, as a number of `name_content`: of the files that are no plain data files."""
    import numpy as np

    entries = stock.entries
    rows = np.flatnonzero((entries.contents != 0) & (entries.files < len(stock.listing)))
    return dict(zip(entries.files[rows].tolist(), entries.contents[rows].tolist(), strict=True))


def _count_kept(stock: Stock, kept: NDArray[np.bool_], found: Mapping[int, Any]) -> tuple[Tally, Tally]:
    """The files of the current state, and those of others."""
    listing, holdings, current = stock.listing, stock.holdings, stock.table.current
    number = None
    if current is not None:
        number = next((place for place, one in enumerate(holdings.keepers) if one.id == current.id), None)
    live = kept[: len(listing)] & False if number is None else stock.find_needed([number])[0][: len(listing)]
    older = kept[: len(listing)] & ~live
    return (
        Tally("data", int(live.sum()), int(listing.sizes[live].sum())),
        Tally("data", int(older.sum()), int(listing.sizes[older].sum())),
    )


def _find_orphans(table: Table, proposal: Proposal) -> Deletions:
    """What nothing refers to and is old enough, by the rules of `check`."""
    from lakelens.analysis.check.strays import find_strays

    rule = proposal.orphans
    assert rule is not None
    # what was written before the time is old enough, what was written at it is not
    strays = find_strays(table, now=rule.before - timedelta(microseconds=1), age=timedelta(0))
    below = None if rule.below is None else rule.below.rstrip("/") + "/"

    def choose(files: Sequence[Any]) -> Iterator[PlannedFile]:
        for one in files:
            if below is None or one.path.startswith(below):
                yield PlannedFile(
                    one.path, one.relative_path, one.size_bytes, one.role, (), one.modified, why=one.reason
                )

    found, young = list(choose(strays.orphans)), list(choose(strays.young))
    tallies = _count((Piece(one.path, one.role, None, ""), one.size_bytes) for one in found)
    left = Tally("young", len(young), sum(one.size_bytes for one in young))
    unread = _list_unread(table, strays.unread)
    return Deletions(PlannedFiles(found), tallies, None, None, left, unread)


def _list_unread(table: Table, unread: Iterable[Unread]) -> tuple[tuple[str, str], ...]:
    """What the engine could not read either: not the documents that only a catalog can choose among."""
    doubts = {path for path, _ in table.list_doubts()}
    return tuple((one.path, one.reason) for one in unread if one.path not in doubts)


def _count(pieces: Iterable[tuple[Piece, int]]) -> tuple[Tally, ...]:
    """Pieces by role, with their bytes."""
    counts: dict[str, list[int]] = {}
    for piece, size in pieces:
        line = counts.setdefault(piece.role, [0, 0])
        line[0] += 1
        line[1] += size
    order = sorted(counts, key=_rank_role)
    return tuple(Tally(role, counts[role][0], counts[role][1]) for role in order)


_ROLES = (
    "data",
    "position delete",
    "equality delete",
    "deletion vectors",
    "changelog data",
    "sidecar",
    "manifest",
)


def _rank_role(role: str) -> tuple[int, str]:
    return (_ROLES.index(role) if role in _ROLES else len(_ROLES), role)


def count_pieces(pieces: Iterable[Piece]) -> tuple[Tally, ...]:
    """Pieces by role, with the bytes that they say themselves."""
    return _count((piece, piece.size_bytes or 0) for piece in pieces)
