"""Every byte under a table's directory in one place: what it is, who keeps it, what would free it.

From one listing, from the manifests of every state, each read once, and from the footers of live data files. Nothing is
written, and nothing is estimated: the slices add up to the listing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens import options
from lakelens.analysis.kept import Kept, read_kept
from lakelens.analysis.space import census as names
from lakelens.analysis.space.census import Census, Slice, Slices, order_slices
from lakelens.analysis.space.division import Division, divide_files
from lakelens.analysis.space.holders import Expiries, Expiry, Holder, Holders, format_time, parse_before
from lakelens.caching import cached_property
from lakelens.display import Displayable, Named
from lakelens.errors import Unsupported
from lakelens.model.check.references import Referring
from lakelens.model.collections import Items, Tabular
from lakelens.model.facts.facts import Fact
from lakelens.model.facts.traits import format_size
from lakelens.model.finding import Findings

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.analysis.dry_run import Plan
    from lakelens.model.table import Table


# What each state and each ref keeps: alone, last of all, and with others.

_DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class StateSpace(Named):
    """A state: `size_bytes` of `files` are needed by it alone; `last_bytes` go with it when all states go in their order."""

    name: str
    snapshot_id: int | None
    committed_at: datetime | None
    held_by: str
    size_bytes: int
    files: int
    last_bytes: int


class StateSpaces(Items[StateSpace]):
    """What each state keeps, in the order of the metadata."""

    __slots__ = ()
    facts = (
        Fact("name"),
        Fact("snapshot_id", "int64"),
        Fact("committed_at", "time"),
        Fact("held_by"),
        Fact("size_bytes", "int64"),
        Fact("files", "int64"),
        Fact("last_bytes", "int64"),
    )


@dataclass(frozen=True, slots=True)
class RefSpace(Named):
    """What a ref, a history or a consumer keeps.

    Its `snapshots` are those that it holds; a snapshot of several refs is one's, and `shared_with` names the others.
    `size_bytes` of `files` are needed by these alone; `total_bytes` by them, whoever else needs them; `last_bytes` they let
    go of last.
    """

    name: str
    kind: str
    ref: str | None
    snapshots: int
    size_bytes: int
    files: int
    total_bytes: int
    last_bytes: int
    shared_with: tuple[str, ...] = ()


class RefSpaces(Items[RefSpace]):
    """What each ref keeps: the current snapshot, history, then branches and tags."""

    __slots__ = ()
    facts = (
        Fact("name"),
        Fact("kind"),
        Fact("ref"),
        Fact("snapshots", "int64"),
        Fact("size_bytes", "int64"),
        Fact("files", "int64"),
        Fact("total_bytes", "int64"),
        Fact("last_bytes", "int64"),
        Fact("shared_with", "strings"),
    )


def list_states(census: Census) -> StateSpaces:
    """List what each state keeps."""
    holders, many = census.holders, len(census.holders.keepers)
    sizes, files = census.add_up(_spread(census, census.only), many)
    last = census.add_up(census.owner, many)[0]

    def make(number: int) -> StateSpace:
        keeper = holders.keepers[number]
        return StateSpace(
            keeper.name,
            keeper.id,
            holders.times[number],
            holders.find(number).name,
            int(sizes[number]),
            int(files[number]),
            int(last[number]),
        )

    return StateSpaces(range(many), make)


def list_refs(census: Census) -> RefSpaces:
    """List what each holder keeps."""
    import numpy as np

    holders = census.holders
    many = len(holders.holders)
    sizes, files = census.add_up(_spread(census, census.alone), many)
    of = np.array(holders.of, np.int64)
    owner = census.owner
    last = census.add_up(np.where(owner >= 0, of[owner], -1) if len(of) else owner, many)[0]
    totals = np.zeros(many, np.int64)
    grouped = census.add_up(census.kept.group, len(census.kept.groups))[0]
    for group, size in zip(census.kept.groups, grouped.tolist(), strict=True):
        held = np.zeros(many, bool)
        held[of[np.frombuffer(group.to_array(), np.uint32)]] = True
        totals[held] += size

    def make(number: int) -> RefSpace:
        holder, states = holders.holders[number], np.flatnonzero(of == number).tolist()
        named = {name for state in states for name in holders.refs[state]} - {holder.ref}
        return RefSpace(
            holder.name,
            holder.kind,
            holder.ref,
            len(states),
            int(sizes[number]),
            int(files[number]),
            int(totals[number]),
            int(last[number]),
            tuple(sorted(named)),
        )

    kinds = ("current", "history", "unseen", "consumer", "changelogs", "branch", "tag")
    order = sorted(range(many), key=lambda number: kinds.index(holders.holders[number].kind))
    return RefSpaces(tuple(order), make)


def _spread(census: Census, by_group: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each listed file what is known of its group; -1 for those of no state."""
    import numpy as np

    return np.append(by_group, -1)[census.kept.group]


def describe_old(census: Census, before: datetime | None) -> list[Slice]:
    """Old snapshots by who keeps them last; history before and since a time."""
    holders = census.holders
    sizes, files = (total.tolist() for total in census.totals)
    rows: dict[tuple[Holder, bool], list[int]] = {}
    for number, (group, part) in enumerate(census.labels):
        if group == names.OLD and files[number]:
            state = int(part)
            holder, time = holders.find(state), holders.times[state]
            is_old = holder.kind == "history" and before is not None and time is not None and time < before
            rows.setdefault((holder, is_old), []).append(number)
    counts: dict[tuple[Holder, bool], int] = {}
    for state, time in enumerate(holders.times):
        holder = holders.find(state)
        is_old = holder.kind == "history" and before is not None and time is not None and time < before
        counts[(holder, is_old)] = counts.get((holder, is_old), 0) + 1
    found = []
    for (holder, is_old), numbers in rows.items():
        name = holder.name
        if holder.kind == "history" and before is not None and before != holders.newest:
            name += f" {'before' if is_old else 'since'} {format_time(before)}"
        elif holder.kind == "history" and before is not None and not is_old:
            name += ", no older than the current snapshot"
        size = sum(sizes[number] for number in numbers)
        about = _describe_holder(holders, holder, counts[(holder, is_old)], is_old)
        found.append(Slice(names.OLD, name, size, sum(files[number] for number in numbers), about))
    return sorted(found, key=lambda one: (-one.size_bytes, one.part))


def _describe_holder(holders: Holders, holder: Holder, count: int, is_old: bool) -> str:
    """Describe how many snapshots hold bytes, and when they let go."""
    many = f"{count:,} snapshot{'s' * (count != 1)}"
    if holder.kind == "history":
        return f"{many}; freed when {'these expire' if count != 1 else 'it expires'}" if is_old else many
    if holder.kind == "consumer":
        return f"{many} that consumer {holder.ref} has still to read"
    if holder.kind == "unseen":
        return f"{many}; no expiry removes them"
    if holder.kind == "changelogs":
        return f"{count:,} changelog{'s' * (count != 1)} of snapshots that have expired"
    age = holders.ages.get((holder.kind, holder.ref or ""))
    if age is None:
        return f"{many}, no retention set"
    days = max(age, 0) // _DAY
    return f"{many}, kept for {days:,} day{'s' * (days != 1)}"


_MOST_PLACES = 100
# options that say how many snapshots stay, whatever their age
_LEAST = ("retain_last", "retain_min")
_DIVIDED = ("page indexes", "bloom filters", "footers", "not recorded by column", "padding")


class Space(Tabular, Displayable):
    """The answer of `Table.space`.

    `slices` are the rows; `size_bytes` and `files` what was listed, `live_bytes` what the current state needs. `by_ref` and
    `by_snapshot` say what only one of them keeps. `outside_bytes` of `outside_files` are kept elsewhere, and in no slice.
    """

    def __init__(self, table: Table, kept: Kept, before: datetime | None, age: timedelta) -> None:
        self.table = table
        self.name = table.name
        self.kept = kept
        self.age = age
        self.holders = Holders(table, kept.holdings.keepers)
        self.census = Census(kept, self.holders, datetime.now(UTC) - age)
        self._before = before

    @cached_property
    def size_bytes(self) -> int:
        """The bytes that were listed under the directory."""
        return int(self.kept.listing.sizes[self.census.is_inside].sum())

    @cached_property
    def files(self) -> int:
        """The files that were listed under the directory."""
        return int(self.census.is_inside.sum())

    @cached_property
    def division(self) -> Division:
        """How live data divides: by column and by part of its files."""
        return divide_files(self.table, self.census.list_live())

    @cached_property
    def slices(self) -> Slices:
        """What the bytes are, each in one row, by group."""
        sizes, files = (total.tolist() for total in self.census.totals)
        rows = []
        for number, (group, part) in enumerate(self.census.labels):
            if group != names.OLD and (group, part) != (names.LIVE, "") and files[number]:
                keeper = self._name_keeper(group)
                rows.append(Slice(group, part, sizes[number], files[number], keeper))
        rows.sort(key=lambda one: (-one.size_bytes, one.part))
        return order_slices([*self._list_columns(), *rows, *describe_old(self.census, self.before)])

    def _list_columns(self) -> list[Slice]:
        """Live data: columns by size, then what is no column."""
        division, keeper = self.division, self._name_keeper(names.LIVE)
        found = [
            Slice(names.LIVE, name, size, None, keeper, division.types.get(name, ""))
            for name, size in sorted(division.columns.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
        taken = {one.part for one in found}
        for part in _DIVIDED:
            if part in division.parts:
                name = f"({part})" if part in taken else part  # a column may be called so
                found.append(Slice(names.LIVE, name, division.parts[part], None, keeper))
        for why, size in sorted(division.undivided.items()):
            files = division.undivided_files[why]
            found.append(Slice(names.LIVE, f"not divided: {why}", size, files, keeper))
        return found

    def _name_keeper(self, group: str) -> str:
        """Who keeps the files of a group."""
        if group in (names.LIVE, names.DELETES, names.CHANGELOG, names.INDEXES, names.MANIFESTS):
            current = self.table.current
            if current is None or current.id is None:
                return "the listing"
            return f"the current snapshot, {current.id}"
        age = format_age(self.age)
        return {
            names.NAMED: Referring.of(self.table).removed_kept_by,
            names.METADATA: "the table",
            names.STATISTICS: "the table, or the snapshot that they are about",
            names.ORPHANS: f"nobody; older than {age}",
            names.YOUNG: f"nobody yet; written in the last {age}",
            names.HIDDEN: "nobody; engines' listings skip them",
            names.FOREIGN: "nobody; not of the table's format",
        }[group]

    def count_files(self, group: str) -> int:
        """Count the files of a group of slices.

        Parameters
        ----------
        group
            As `Slice.group` has it.
        """
        files = self.census.totals[1].tolist()
        return sum(files[number] for number, (name, _) in enumerate(self.census.labels) if name == group)

    def measure(self, group: str) -> int:
        """Measure the bytes of a group of slices.

        Parameters
        ----------
        group
            As `Slice.group` has it.
        """
        sizes = self.census.totals[0].tolist()
        return sum(sizes[number] for number, (name, _) in enumerate(self.census.labels) if name == group)

    @cached_property
    def live_bytes(self) -> int:
        """The bytes of live data files."""
        return self.measure(names.LIVE)

    @property
    def before(self) -> datetime | None:
        """The time that divides history in two: what was asked for, else the month, day or hour of the newest commit."""
        return self._before or self.census.expiring.boundary

    @cached_property
    def by_snapshot(self) -> StateSpaces:
        """For each state, tags and changelogs too, the bytes that only it keeps, and those that it lets go of last."""
        return list_states(self.census)

    @cached_property
    def by_ref(self) -> RefSpaces:
        """For each branch, tag, history and consumer the bytes that only it keeps, and those that it keeps with others."""
        return list_refs(self.census)

    def find_freed(self, before: Any) -> Expiry:
        """Find what goes, and what nobody needs any more, when the history before a time goes.

        Those states stay that a ref names, that a consumer has still to read, and that are no older. What else decides an
        engine's own run (properties, ages of refs, its log) is in the plan of `expire`.

        Parameters
        ----------
        before
            A `datetime`, a date or ISO text; UTC without a zone.

        Returns
        -------
        Expiry
            How many snapshots go, the files and bytes that are freed.

        Raises
        ------
        LakeError
            `before` is no time.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("iceberg").space().find_freed("2100-01-01").snapshots
        4
        """
        return self.census.expiring.expire(parse_before(before))

    def expire(self, before: Any) -> Plan:
        """The plan of expiring all snapshots before a time, by the engine's own rules: see `Table.dry_run`.

        Parameters
        ----------
        before
            A `datetime`, a date or ISO text; UTC without a zone.

        Raises
        ------
        Unsupported
            The format has no such procedure.
        LakeError
            `before` is no time.

        Examples
        --------
        >>> import lakelens as ll
        >>> space = ll.sample("iceberg").space()
        >>> plan = space.expire("2100-01-01")
        >>> plan.freed_bytes == space.find_freed("2100-01-01").size_bytes
        True
        """
        procedure = self.table.procedures.get("expire_snapshots")
        if procedure is None and self.table.procedures:
            message = f"{self.table.traits.title} has no procedure that expires snapshots"
            raise Unsupported(message, path=self.table.location)
        known = {option.name for option in procedure.options} if procedure is not None else set()
        options = {name: 1 for name in _LEAST if name in known}
        return self.table.dry_run("expire_snapshots", older_than=parse_before(before), **options)

    @property
    def expiring(self) -> Expiries:
        """What expiring frees at the last few months, days or hours of history, and all but the current state."""
        return self.census.expiring.table

    @cached_property
    def outside(self) -> tuple[int, int]:
        """Files that states keep elsewhere, and their bytes as recorded or listed."""
        import numpy as np

        kept, listing = self.kept, self.kept.listing
        sizes = listing.sizes[~self.census.is_inside & (self.census.owner >= 0)]
        elsewhere = self._beyond[1]
        recorded: dict[int, int] = dict.fromkeys((elsewhere + len(listing)).tolist(), 0)
        rows = np.flatnonzero(
            np.isin(kept.entries.files, elsewhere + len(listing)) & (kept.entries.sizes >= 0)
        )
        recorded.update(
            zip(kept.entries.files[rows].tolist(), kept.entries.sizes[rows].tolist(), strict=True)
        )
        return len(sizes) + len(recorded), int(sizes.sum()) + sum(recorded.values())

    @cached_property
    def _beyond(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The files that states need and that are not listed, by their places in `FileEntries.absent`: below, elsewhere."""
        import numpy as np
        import pyarrow.compute as pc

        beyond = np.flatnonzero(self.kept.is_missed)
        paths = self.kept.entries.absent.take(beyond)
        is_below = pc.starts_with(paths, self.kept.listing.root).to_numpy(zero_copy_only=False)
        return beyond[is_below], beyond[~is_below]

    @property
    def missing_files(self) -> int:
        """How many files states need that are not under the directory, where they should be; `Table.check` lists them."""
        return len(self._beyond[0])

    @property
    def outside_files(self) -> int:
        """How many files states keep outside of the directory."""
        return self.outside[0]

    @property
    def outside_bytes(self) -> int:
        """Their bytes, as recorded; they are in no slice."""
        return self.outside[1]

    @property
    def is_certain(self) -> bool:
        """Whether all was read that could keep a file: else orphans must not be removed, nor bytes be called freed."""
        return not self.kept.holdings.unread

    @cached_property
    def findings(self) -> Findings:
        """What could not be listed, read or divided."""
        found = Findings()
        refused = {error.path for error in self.kept.listing.refused}
        for error in self.kept.listing.refused:
            found.add_error(error, error.path or self.table.location)
        for unread in list(self.kept.holdings.unread.values())[:_MOST_PLACES]:
            if unread.path not in refused:
                message = f"what it names is not known: {unread.reason}"
                found.add("error", "unread", unread.path, message)
        for path, place in self.table.relocation.elsewhere[:_MOST_PLACES]:
            found.add(
                "error", "missing", path, f"not in this copy, and counted nowhere; {place} still has it"
            )
        if self.missing_files and not refused:
            first: str = self.kept.entries.absent[int(self._beyond[0][0])].as_py()
            many = f"{self.missing_files:,} file{'s' * (self.missing_files != 1)}"
            found.add(
                "warning", "missing", first, f"{many} that states need are not there; check() lists them"
            )
        for path, error in self.division.failed:
            found.add("warning", "not-divided", path, f"its bytes are not known by column: {error.reason}")
        return found

    def to_arrow(self) -> pa.Table:
        """One row for each slice."""
        return self.slices.to_arrow()

    def __repr__(self) -> str:
        words = f"{format_size(self.size_bytes)} in {self.files:,} file{'s' * (self.files != 1)}"
        words += f", {format_size(self.live_bytes)} live"
        if self.before is not None:
            freed = self.find_freed(self.before).size_bytes
            words += f"; expiring before {format_time(self.before)} frees {format_size(freed)}"
        return f"<Space of {self.name}: {words}>"


def measure_space(table: Table, *, before: Any = None) -> Space:
    """Measure the space of a table: see `Table.space`."""
    moment = None if before is None else parse_before(before)
    return Space(table, read_kept(table), moment, timedelta(days=options.orphan_age))


def format_age(age: timedelta) -> str:
    """Format an age in days, or in hours.

    >>> format_age(timedelta(days=3)), format_age(timedelta(hours=1))
    ('3 days', '1 hour')
    """
    amount, unit = (age.days, "day") if age.days else (round(age.total_seconds() / 3600), "hour")
    return f"{amount:,} {unit}{'s' * (amount != 1)}"
