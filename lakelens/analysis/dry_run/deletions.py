"""Which stored files a procedure deletes: those that only lost states need, those that it names, and orphans.

    lost     a file that a lost state needs, and no kept state nor document
    named    what the format says by path
    orphans  what nothing refers to, last written before a time

Sizes are the listing's. A file that is not there is not deleted; nor is anything while a kept state is unread: what it needs
is not known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from lakelens.analysis.holdings import Listing, Unread, name_content
from lakelens.analysis.kept import Kept, read_kept
from lakelens.display import Named
from lakelens.model.arrow import text_array
from lakelens.model.check.references import Referring
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact
from lakelens.model.maintenance.proposal import Piece, Proposal
from lakelens.model.storage import StoredFile

if TYPE_CHECKING:
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
class Tally(Named):
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


def find_deletions(table: Table, proposal: Proposal) -> Deletions:
    """What a proposal deletes. Reads the listing where it deletes anything, and the manifests where states are lost."""
    if proposal.orphans is not None:
        return _find_orphans(table, proposal)
    listing: Listing | None = None
    found: dict[int, Piece] = {}
    missing = 0
    unread: tuple[tuple[str, str], ...] = ()
    live = older = None
    if proposal.deletes_lost and proposal.lost:
        kept = read_kept(table)
        listing = kept.listing
        found, missing, live, older = _find_lost(kept, proposal)
        unread = _list_unread(table, kept.holdings.unread.values())
        if unread:
            found = {}
    if proposal.deletes:
        listing = listing or Listing(table)
        for piece, place in _place(listing, proposal.deletes):
            if place >= 0:
                found[place] = piece
            else:
                missing += 1
    if listing is None or not found:
        return Deletions(PlannedFiles(()), (), live, older, None, unread, missing)
    named = listing.paths.take(list(found)).to_pylist()
    places = [place for _, place in sorted(zip(named, found, strict=True))]

    def make(place: int) -> PlannedFile:
        piece, path = found[place], listing.paths[place].as_py()
        size, modified = int(listing.sizes[place]), listing.modified[place]
        short = path.removeprefix(listing.root)
        return PlannedFile(path, short, size, piece.role, (), modified, why=piece.why)

    tallies = _count((found[place], int(listing.sizes[place])) for place in places)
    return Deletions(PlannedFiles(places, make), tallies, live, older, None, unread, missing)


def _find_lost(kept: Kept, proposal: Proposal) -> tuple[dict[int, Piece], int, Tally, Tally]:
    """The places of the files that only lost states need, and what the others keep."""
    import numpy as np

    holdings, listing = kept.holdings, kept.listing
    lost_names = {fate.keeper for fate in proposal.lost}
    lost = [number for number, keeper in enumerate(holdings.keepers) if keeper.name in lost_names]
    freed, gone = kept.find_freed(lost) & kept.is_needed, kept.count_gone(lost)
    contents = _list_contents(kept)
    found = {
        place: Piece("", name_content(contents.get(place, 0)), None, "only states that are lost need it")
        for place in np.flatnonzero(freed).tolist()
    }
    states = set(lost)
    documents = [
        Piece(path, one.reference.role, None, f"of {holdings.keepers[one.keepers[0]].name}")
        for path, one in holdings.named.items()
        if one.keepers and states.issuperset(one.keepers)
    ]
    why = "only states that are lost name it"
    manifests = [Piece(manifest.path, "manifest", None, why) for manifest in holdings.manifests]
    for piece, place in _place(listing, [*manifests, *documents]):
        if place in found:
            found[place] = piece
    gone += sum(place < 0 for _, place in _place(listing, documents))
    return found, gone, *_count_kept(kept, lost)


def _place(listing: Listing, pieces: Sequence[Piece]) -> list[tuple[Piece, int]]:
    """Pieces with their places in the listing; -1 for what is not there."""

    places = listing.find(text_array([one.path for one in pieces]))
    return list(zip(pieces, places.tolist(), strict=True))


def _list_contents(kept: Kept) -> Mapping[int, int]:
    """What each listed file holds, as a number of `name_content`: of the files that are no plain data files."""
    import numpy as np

    entries = kept.entries
    rows = np.flatnonzero((entries.contents != 0) & (entries.files < len(kept.listing)))
    return dict(zip(entries.files[rows].tolist(), entries.contents[rows].tolist(), strict=True))


def _count_kept(kept: Kept, lost: Collection[int]) -> tuple[Tally, Tally]:
    """The files of entries that the current state needs, and further ones that others do."""
    import numpy as np

    sizes, current = kept.listing.sizes, kept.holdings.table.current
    keepers = kept.holdings.keepers
    newest = [place for place, one in enumerate(keepers) if current is not None and one.id == current.id][:1]
    is_entry = np.zeros(len(kept.listing), bool)
    is_entry[kept.entries.files[kept.entries.files < len(kept.listing)]] = True
    is_entry &= kept.is_needed
    live = kept.find_needed(newest) & is_entry
    older = kept.find_needed(set(range(len(keepers))).difference(lost)) & is_entry & ~live
    return (
        Tally("data", int(live.sum()), int(sizes[live].sum())),
        Tally("data", int(older.sum()), int(sizes[older].sum())),
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
    doubts = {path for path, _ in Referring.of(table).list_doubts()}
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
