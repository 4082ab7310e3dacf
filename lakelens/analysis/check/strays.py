"""Missing and orphan files, both ways: what is referred to and gone, and what nobody refers to.

    referred to, not there            missing     with the states that need it
    referred to, of another length    resized
    there, not referred to            orphans     those younger than `options.orphan_age`: young, perhaps of a running commit
    there, skipped by engines         hidden      `.crc` beside a file, names that begin with `_` or `.`
    there, of another format          foreign     nothing is said of it

Nothing is removed. While anything that could refer to files is unread, orphans are not certain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens import options
from lakelens.analysis.check.losses import BrokenState, Losses, Whole, find_whole
from lakelens.analysis.holdings import FileEntries, Holdings, Listing, Unread, name_content, read_holdings
from lakelens.caching import cached_property
from lakelens.display import Named
from lakelens.errors import LakeError
from lakelens.model.arrow import text_array
from lakelens.model.check.ledger import MOST_FINDINGS
from lakelens.model.check.references import Purpose, Referring
from lakelens.model.check.survey import Survey
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact
from lakelens.model.storage import StoredFile
from lakelens.model.table import Table

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Stray(StoredFile):
    """A stored file that is missing, of another length than recorded, or that nobody refers to; `reason` says why.

    `size_bytes` of a missing file is the recorded one, -1 where none is; `snapshots` are the ids of those that need it, and
    `referenced_by` names them, tags and changelogs too. `recorded_bytes` is what the metadata records. `original` is where
    a file that this copy of the table lacks was recorded and still is.
    """

    reason: str = field(default="", kw_only=True)
    snapshots: tuple[int, ...] = field(default=(), kw_only=True)
    recorded_bytes: int | None = field(default=None, kw_only=True)
    original: str | None = field(default=None, kw_only=True)

    @property
    def modified_at(self) -> datetime | None:
        """When it was last written."""
        return self.modified


class StrayFiles(Items[Stray]):
    """Files that are missing or that nobody refers to; each is made when it is asked for."""

    __slots__ = ()
    facts = (
        Fact("path"),
        Fact("relative_path"),
        Fact("role"),
        Fact("size_bytes", "int64"),
        Fact("recorded_bytes", "int64"),
        Fact("modified", "time"),
        Fact("reason"),
        Fact("snapshots", "ids"),
        Fact("referenced_by", "strings"),
        Fact("original"),
    )

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them, as far as they are known."""
        return sum(max(one.size_bytes, 0) for one in self)


@dataclass(frozen=True)
class Strays(Named):
    """What `find_strays` found. `referenced` counts the files that are referred to, `listed` those that are there.

    `is_certain` is false while something that could refer to files is unread: `unread` says what, and then no orphan
    may be removed. `needed` counts the missing files that some state needs, by role, and has the ids of these states;
    `lost_paths` are those of all missing files. `not_listed` are directories that could not be listed: what is in them
    is not known. `not_looked_for` are files outside of the table in directories that could not be listed, or too many to
    be. `is_listed` is true where only the directory says which files there are (Hive): then nothing refers to files.
    """

    missing: StrayFiles
    resized: StrayFiles
    orphans: StrayFiles
    young: StrayFiles
    hidden: StrayFiles
    foreign: StrayFiles
    whole: Whole
    broken: tuple[BrokenState, ...]
    not_looked_for: tuple[str, ...]
    unread: tuple[Unread, ...]
    referenced: int
    listed: int
    age: timedelta
    needed: tuple[Mapping[str, int], Set[int]]
    lost_paths: pa.Array
    is_listed: bool = False
    not_listed: tuple[str, ...] = ()

    @property
    def is_certain(self) -> bool:
        """Whether all was read that could refer to a file."""
        return not self.unread

    def __repr__(self) -> str:
        doubt = "" if self.is_certain else ", do not remove them: something is unread"
        return (
            f"<Strays {len(self.missing)} missing of {self.referenced:,} files referred to, "
            f"{len(self.orphans)} orphans and {len(self.young)} young ones{doubt}>"
        )


def find_strays(
    table: Table,
    *,
    now: datetime | None = None,
    age: timedelta | None = None,
    survey: Survey | None = None,
    listing: Listing | None = None,
) -> Strays:
    """Find what is referred to and gone, and what nobody refers to.

    Parameters
    ----------
    table
        A table of any format.
    now
        The time at which the age of a file is taken; by default the clock's.
    age
        Files younger than this are listed apart; by default `lakelens.options.orphan_age`.
    survey, listing
        What was read of the table already, by a check or by who asks.

    Examples
    --------
    >>> import lakelens as ll
    >>> find_strays(ll.sample("iceberg"))
    <Strays 0 missing of 30 files referred to, 0 orphans and 0 young ones>
    """
    import numpy as np

    listing, holdings, entries = read_holdings(table, survey, listing)
    is_held = np.zeros(len(listing), bool)
    rows = entries.files < len(listing)
    if not Referring.of(table).removed_are_kept:
        rows &= entries.weights > 0
    is_held[entries.files[rows]] = True
    _take_inner_names(table, listing, holdings, is_held)
    named = [*holdings.named, *(manifest.path for manifest in holdings.manifests)]
    losses = Losses(holdings, listing, entries)
    places = listing.find(text_array(named))
    is_held[places[places >= 0]] = True
    maker = _Maker(table, listing, holdings, entries, losses)
    age = timedelta(days=options.orphan_age) if age is None else age
    sorted_out = maker.sort_out(np.flatnonzero(~is_held).tolist(), (now or datetime.now(UTC)) - age)
    broken = losses.list_broken()
    return Strays(
        missing=maker.list_missing(),
        resized=maker.list_resized(),
        whole=find_whole(table, holdings.keepers, broken),
        broken=tuple(broken.values()),
        not_looked_for=tuple(losses.unknown),
        unread=tuple(holdings.unread.values()),
        referenced=int(is_held.sum()) + len(losses.gone) + len(losses.named),
        listed=len(listing),
        age=age,
        needed=maker.count_needed(),
        lost_paths=maker.list_paths(),
        is_listed=table.traits.files_are_listed,
        not_listed=tuple(error.path or table.location for error in listing.refused),
        **sorted_out,
    )


def _take_inner_names(table: Table, listing: Listing, holdings: Holdings, is_held: NDArray[np.bool_]) -> None:
    """Take in the files that files which are kept name in their bytes; one that cannot be read may name any."""
    import numpy as np
    import pyarrow.compute as pc

    if Referring.of(table).naming_suffix is None or not len(listing):
        return
    is_naming = pc.ends_with(listing.paths, Referring.of(table).naming_suffix).to_numpy(zero_copy_only=False)
    for path in listing.paths.take(np.flatnonzero(is_naming & is_held)).to_pylist():
        try:
            for reference in Referring.of(table).read_names(path):
                holdings.name(reference)
        except LakeError as error:
            holdings.note(error, path)


@dataclass(frozen=True)
class _Maker:
    """Makes the stored files of what was found, each when it is asked for."""

    table: Table
    listing: Listing
    holdings: Holdings
    entries: FileEntries
    losses: Losses
    #: by some keepers, their ids and names
    known: dict[tuple[int, ...], tuple[tuple[int, ...], tuple[str, ...]]] = field(default_factory=dict)

    def sort_out(self, loose: Sequence[int], limit: datetime) -> dict[str, StrayFiles]:
        """Sort what nothing refers to, by what it is: orphans, young ones, hidden and foreign objects."""
        sorted_out: dict[str, list[int]] = {"orphans": [], "young": [], "hidden": [], "foreign": []}
        purposes: dict[int, Purpose] = {}
        for place in loose:
            purpose = Referring.of(self.table).find_purpose(self._shorten(self._path(place)))
            if purpose.standing == "known":
                continue
            purposes[place] = purpose
            modified = self.listing.modified[place]
            is_young = modified is None or modified > limit
            kind = ("young" if is_young else "orphans") if purpose.standing == "loose" else purpose.standing
            sorted_out[kind].append(place)

        def make(place: int) -> Stray:
            path, purpose = self._path(place), purposes[place]
            return Stray(
                path,
                self._shorten(path),
                int(self.listing.sizes[place]),
                purpose.role,
                (),
                self.listing.modified[place],
                reason=purpose.reason,
            )

        return {kind: StrayFiles(tuple(places), make) for kind, places in sorted_out.items()}

    def list_missing(self) -> StrayFiles:
        """List what is referred to and gone: documents first, then the files of entries by path."""
        import pyarrow.compute as pc

        documents, gone = tuple(self.losses.named), self.losses.gone
        paths = self.entries.absent.take(gone - len(self.listing))
        files = gone[pc.array_sort_indices(paths).to_numpy()]

        def make(place: int) -> Stray:
            if place < len(documents):
                return self._make_missing((documents[place], None))
            number = int(files[place - len(documents)])
            return self._make_missing((self.losses.find_path(number), number))

        return StrayFiles(range(len(documents) + len(files)), make)

    def list_paths(self) -> pa.Array:
        """List the paths of the same."""
        import pyarrow as pa

        files = self.entries.absent.take(self.losses.gone - len(self.listing))
        return pa.concat_arrays([text_array(list(self.losses.named)), files])

    def count_needed(self) -> tuple[Mapping[str, int], Set[int]]:
        """Count the missing files that some state needs, by role, and say which states these are, by their ids."""
        contents, states = self.losses.count_gone()
        roles = Counter({name_content(content): count for content, count in contents.items()})
        for path, keepers in self.losses.named.items():
            states.update(keepers)
            if keepers:
                roles[self._describe_document(path)[0]] += 1
        ids = (self.holdings.keepers[state].id for state in states)
        return roles, {number for number in ids if number is not None}

    def list_resized(self) -> StrayFiles:
        """List what is referred to and of another length than recorded."""
        documents = [(path, None) for path in self.losses.resized_named]
        files = [(self._path(number), number) for number in self.losses.resized]
        return StrayFiles((*documents, *sorted(files)), self._make_resized)

    def _make_missing(self, item: tuple[str, int | None]) -> Stray:
        path, number = item
        if number is None:
            role, size = self._describe_document(path)
            keepers = self.losses.named[path]
        else:
            role = name_content(self.losses.find_content(number))
            size, keepers = self.losses.find_recorded(number), tuple(self.losses.list_keepers(number))
        original = self._originals.get(path)
        reason = "it is not there" if original is None else f"not in this copy; {original} still has it"
        return self._make(path, -1 if size is None else size, role, reason, keepers, size, original)

    @cached_property
    def _originals(self) -> Mapping[str, str]:
        """Where files that are not in this copy of the table still are."""
        return dict(self.table.relocation.elsewhere)

    def _make_resized(self, item: tuple[str, int | None]) -> Stray:
        path, number = item
        if number is None:
            role, recorded = self._describe_document(path)
            size, keepers = self.losses.resized_named[path]
        else:
            role = name_content(self.losses.find_content(number))
            recorded, size = self.losses.resized[number]
            keepers = tuple(self.losses.list_keepers(number))
        return self._make(path, size, role, f"recorded with {recorded:,} bytes", keepers, recorded)

    def _make(
        self,
        path: str,
        size: int,
        role: str,
        reason: str,
        keepers: Sequence[int],
        recorded: int | None,
        original: str | None = None,
    ) -> Stray:
        ids, names = self._name_keepers(tuple(keepers))
        return Stray(
            path,
            self._shorten(path),
            size,
            role,
            names,
            reason=reason,
            snapshots=ids,
            recorded_bytes=recorded,
            original=original,
        )

    def _name_keepers(self, keepers: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Give the ids and names of some keepers; many files are needed by the same ones."""
        if keepers not in self.known:
            held = [self.holdings.keepers[number] for number in keepers]
            ids = dict.fromkeys(keeper.id for keeper in held if keeper.id is not None)
            self.known[keepers] = tuple(ids), tuple(keeper.name for keeper in held)
        return self.known[keepers]

    def _describe_document(self, path: str) -> tuple[str, int | None]:
        named = self.holdings.named.get(path)
        if named is not None:
            return named.reference.role, named.reference.size_bytes
        return "manifest", self._manifest_sizes.get(path)

    @cached_property
    def _manifest_sizes(self) -> Mapping[str, int | None]:
        return {manifest.path: manifest.size_bytes for manifest in self.holdings.manifests}

    def _path(self, number: int) -> str:
        beyond = number - len(self.listing)
        path: str = (self.entries.absent[beyond] if beyond >= 0 else self.listing.paths[number]).as_py()
        return path

    def _shorten(self, path: str) -> str:
        return path.removeprefix(self.listing.root)


# Every file that is referred to: whether it is there, and as long as recorded, by one listing of the directory.


def compare_presence(survey: Survey, strays: Strays) -> pa.Array:
    """Count the files that are there and as long as recorded; a finding for each of the others. The paths of lost ones."""
    if strays.is_listed:
        return text_array(())
    if strays.not_listed:
        first, *others = strays.not_listed
        more = f" and in {len(others):,} more" if others else ""
        why = "a directory that may not be listed: what is missing or left over there is not known"
        survey.ledger.leave(f"which files are in {first}{more}", why)
    line = survey.ledger.line("presence and length", "entries, lists, metadata", "a listing of the directory")
    line.agree(strays.referenced - len(strays.missing) - len(strays.resized))
    for lost in strays.missing[:MOST_FINDINGS]:
        recorded = lost.recorded_bytes
        length = "" if recorded is None else f" recorded with {recorded:,} B{_count_rows(survey, lost.path)}"
        message = f"{lost.role}{length}: {lost.reason}"
        line.differ(_judge(lost), "file-missing", lost.path, message, lost.snapshots)
    line.differ_alike("file-missing", max(0, len(strays.missing) - MOST_FINDINGS))
    for changed in strays.resized:
        message = (
            f"{changed.role} recorded with {changed.recorded_bytes or 0:,} B: it has {changed.size_bytes:,}"
        )
        line.differ(_judge(changed), "file-length", changed.path, message, changed.snapshots)
    return strays.lost_paths


def _count_rows(survey: Survey, path: str) -> str:
    """Count the rows that an entry records of a file; empty for what no entry names."""
    import pyarrow.compute as pc

    entries = survey.entries
    place = pc.index(entries["path"], path).as_py() if entries.num_rows else -1
    rows = entries["record_count"][place].as_py() if place >= 0 else None
    return "" if rows is None else f" and {rows:,} row{'s' * (rows != 1)}"


def _judge(stray: Stray) -> Any:
    """Judge an error where a state cannot be read without it; earlier documents and statistics are missed less.

    So is whatever a copy lacks and its original has: it would be lost with that.
    """
    return "error" if stray.referenced_by or stray.original else "warning"
