"""Who keeps a file last: the order in which a table's states let go of what they need.

    unseen      documents that engines pass over: files are theirs by name alone, and nothing expires them
    history     states that no ref names: they go when snapshots expire, the oldest first
    consumer    those of history that a reader of the table has still to read
    changelogs  documents that outlived their snapshots
    branch      the newest state of another branch, and as many before a branch's newest as it keeps at least; where branches
                number their own, all states of another one
    tag         a state that a tag names
    current     the current state: what it needs is live

A file that several states need is the last one's: that of the highest rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.check.references import Keeper, Referring
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact
from lakelens.model.maintenance import read_time
from lakelens.model.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Kind = Literal["unseen", "history", "consumer", "changelogs", "branch", "tag", "current"]
_ORDER: tuple[Kind, ...] = ("unseen", "history", "consumer", "changelogs", "branch", "tag", "current")
_EARLIEST = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Holder:
    """What holds states: the current snapshot, a tag, a branch, a branch's history (`ref` None: that of no branch)."""

    kind: Kind
    ref: str | None

    @property
    def name(self) -> str:
        """The holder in words."""
        if self.kind == "current":
            return "the current snapshot"
        if self.kind == "unseen":
            return "snapshots that no engine sees"
        if self.kind == "changelogs":
            return "changelogs" if self.ref in (None, "main") else f"changelogs of {self.ref}"
        if self.kind == "history":
            return "snapshots of no branch" if self.ref is None else f"history of {self.ref}"
        return f"{self.kind} {self.ref}"


class Holders:
    """For each state its holder, and its rank among all: the state of the highest rank lets go last.

    `of` has for each state, by the numbers of `Holdings.keepers`, the number of its holder in `holders`; `times` when it was
    committed, None where nothing says so; `refs` all the refs that name it.
    """

    def __init__(self, table: Table, keepers: Sequence[Keeper]) -> None:
        self.table = table
        self.keepers = keepers
        self.branch = name_branch(table)
        self.times = [None if one.snapshot is None else one.snapshot.committed_at for one in keepers]
        self.holders: list[Holder] = []
        self.refs: list[tuple[str, ...]] = [()] * len(keepers)
        numbers: dict[Holder, int] = {}
        self.of: list[int] = []
        self.current: int | None = None
        for number, keeper in enumerate(keepers):
            holder = self._find(number, keeper)
            if holder.kind == "current":
                self.current = number
            place = numbers.setdefault(holder, len(self.holders))
            if place == len(self.holders):
                self.holders.append(holder)
            self.of.append(place)

    def _find(self, number: int, keeper: Keeper) -> Holder:
        """Find the holder of a state."""
        if keeper.roles == ():
            return Holder("unseen", keeper.ref)
        if keeper.kind == "changelog":
            return Holder("changelogs", keeper.ref)
        if keeper.kind in ("tag", "branch"):
            self.refs[number] = (keeper.name.partition("tag ")[0] + (keeper.ref or ""),)
            return Holder("tag" if keeper.kind == "tag" else "branch", self.refs[number][0])
        if keeper.ref is not None:  # branches number their own
            if keeper.ref != self.branch:
                return Holder("branch", keeper.ref)
            if self._is_current(keeper):
                return Holder("current", keeper.ref)
            following, name = (
                self._consumer
            )  # the one that is furthest behind, of states that it has still to read
            if keeper.id is not None and following is not None and keeper.id >= following:
                return Holder("consumer", name)
            return Holder("history", keeper.ref)
        self.refs[number] = tuple(name for name, _ in self._named.get(keeper.id, ()))
        if self._is_current(keeper):
            return Holder("current", self.branch)
        for name, kind in self._named.get(keeper.id, ()):
            return Holder("tag" if kind == "tag" else "branch", name)
        return Holder("history", self._lines.get(keeper.id))

    @cached_property
    def _consumer(self) -> tuple[int | None, str]:
        return min(
            ((number, name) for name, number in Referring.of(self.table).list_consumers()), default=(None, "")
        )

    def _is_current(self, keeper: Keeper) -> bool:
        current = self.table.current
        return current is not None and keeper.snapshot is not None and keeper.id == current.id

    @cached_property
    def _named(self) -> Mapping[int | None, list[tuple[str, str]]]:
        """By id of a snapshot the refs that name it, and the branches that keep that many before theirs."""
        named: dict[int | None, list[tuple[str, str]]] = {}
        for ref in sorted(self.table.refs, key=lambda ref: ref.type):
            least = ref.min_snapshots_to_keep or 1 if ref.type == "branch" else 1
            line = _walk(ref.snapshot_id, self._parents)
            for number in islice(line, max(1, min(least, len(self.keepers)))):
                named.setdefault(number, []).append((ref.name, ref.type))
        return named

    @cached_property
    def _parents(self) -> Mapping[int | None, int | None]:
        return {
            keeper.id: keeper.snapshot.parent_id for keeper in self.keepers if keeper.snapshot is not None
        }

    @cached_property
    def _lines(self) -> dict[int | None, str]:
        """By id of a snapshot the branch that it is history of: the opened one before the others."""
        lines: dict[int | None, str] = {}
        branches = sorted(self.table.refs.branches, key=lambda ref: ref.name != self.branch)
        for ref in branches:
            for number in _walk(ref.snapshot_id, self._parents):
                if number in lines:
                    break
                lines[number] = ref.name
        return lines

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """For each state its rank: by what holds it, then by time."""
        import numpy as np

        def weigh(number: int) -> tuple[int, bool, datetime, int]:
            time = self.times[number]
            return _ORDER.index(self.holders[self.of[number]].kind), time is None, time or _EARLIEST, number

        ranks = np.zeros(len(self.keepers), np.int64)
        ranks[np.array(sorted(range(len(self.keepers)), key=weigh), np.int64)] = np.arange(len(self.keepers))
        return ranks

    def find(self, state: int) -> Holder:
        """Find the holder of a state."""
        return self.holders[self.of[state]]

    @cached_property
    def expirable(self) -> list[int]:
        """The states that expire when they are old enough, the oldest first: of history, with a time."""
        found = [
            number
            for number in range(len(self.keepers))
            if self.find(number).kind == "history" and self.times[number] is not None
        ]
        return sorted(found, key=lambda number: int(self.ranks[number]))

    @cached_property
    def ages(self) -> Mapping[tuple[str, str], int | None]:
        """By type and name of a ref how long it is kept, in milliseconds."""
        return {(ref.type, ref.name): ref.max_ref_age_ms for ref in self.table.refs}

    @property
    def newest(self) -> datetime | None:
        """When the current state was committed, else the newest one."""
        if self.current is not None and self.times[self.current] is not None:
            return self.times[self.current]
        return max((time for time in self.times if time is not None), default=None)


def name_branch(table: Table) -> str:
    """Give the name of the branch that a table was opened on."""
    name = getattr(table, "branch_name", None) or getattr(table, "branch", None)
    return name if isinstance(name, str) else "main"


def _walk(start: int | None, parents: Mapping[int | None, int | None]) -> Iterator[int]:
    """Walk a snapshot and those before it that are known; a circle ends."""
    seen: set[int] = set()
    while start is not None and start in parents and start not in seen:
        seen.add(start)
        yield start
        start = parents[start]


# What expiring snapshots before a time frees: those of history that are older go, unless a ref or a consumer keeps them.
#
# A file goes with the last state that needs it. So what each state lets go of last is found once, and every time is a sum.

#: Rows of the table of times.
MOST_TIMES = 6


@dataclass(frozen=True, slots=True, repr=False)
class Expiry(Displayable):
    """What expiring snapshots before a time frees: `states` that go, by number of `Holdings.keepers`, files and bytes."""

    before: datetime
    snapshots: int
    files: int
    size_bytes: int
    states: Sequence[int]

    def __repr__(self) -> str:
        many = f"{self.snapshots:,} snapshot{'s' * (self.snapshots != 1)}"
        files = f"{self.files:,} file{'s' * (self.files != 1)}"
        return f"<Expiry before {format_time(self.before)}: {many}, {files}, {self.size_bytes:,} bytes>"


class Expiries(Items[Expiry]):
    """What expiring before some times frees, the earliest first."""

    __slots__ = ()
    facts = (
        Fact("before", "time"),
        Fact("snapshots", "int64"),
        Fact("files", "int64"),
        Fact("size_bytes", "int64"),
    )


class Expiring:
    """What each state that may expire lets go of last: `sizes` and `files` by state, as `Holders` numbers them."""

    def __init__(self, holders: Holders, sizes: NDArray[np.int64], files: NDArray[np.int64]) -> None:
        self.holders, self.sizes, self.files = holders, sizes, files

    @cached_property
    def _times(self) -> list[datetime]:
        times = self.holders.times
        return [moment for number in self.holders.expirable if (moment := times[number]) is not None]

    def expire(self, before: datetime) -> Expiry:
        """Say what goes when snapshots before a time expire."""
        from bisect import bisect_left

        going = self.holders.expirable[: bisect_left(self._times, before)]
        size, files = int(self.sizes[going].sum()), int(self.files[going].sum())
        return Expiry(before, len(going), files, size, going)

    @cached_property
    def boundary(self) -> datetime | None:
        """The time that divides history in two: the month, day or hour of the newest commit, else that commit.

        None where nothing can expire.
        """
        newest = self.holders.newest
        if newest is None or not self._times:
            return None
        starts = (_start(newest, unit) for unit in ("month", "day", "hour"))
        return next((start for start in starts if start > self._times[0]), newest)

    @cached_property
    def table(self) -> Expiries:
        """The last times at which more goes than at the one before: months, days or hours, and all but the current state."""
        newest = self.holders.newest
        if newest is None or not self._times:
            return Expiries()
        rows: list[Expiry] = []
        for before in _step_back(newest, self._times[0]):
            found = self.expire(before)
            if rows and rows[-1].snapshots == found.snapshots:
                rows[-1] = found  # the earlier time says the same
            elif found.snapshots:
                rows.append(found)
            if len(rows) > MOST_TIMES or not found.snapshots:
                break
        whole = self.expire(newest)
        rows = rows[:MOST_TIMES][::-1]
        if whole.snapshots and (not rows or rows[-1].snapshots < whole.snapshots):
            rows.append(whole)
        return Expiries(rows)


def parse_before(before: Any) -> datetime:
    """Parse a time before which snapshots expire: a `datetime` or a date (UTC without a zone), or ISO text.

    Raises `LakeError` for anything else.

    >>> parse_before("2024-03-01")
    datetime.datetime(2024, 3, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    try:
        return read_time(before)
    except (ValueError, TypeError, OverflowError):
        hint = "a datetime, a date or ISO text as 2024-03-01 or 2024-03-01T12:00, UTC without a zone"
        raise LakeError(f"{before!r} is not a time", hint=hint) from None


def format_time(moment: datetime) -> str:
    """Format a time as short as it is exact.

    >>> from datetime import UTC
    >>> format_time(datetime(2024, 3, 1, tzinfo=UTC)), format_time(datetime(2024, 3, 1, 7, 30, tzinfo=UTC))
    ('2024-03-01', '2024-03-01 07:30')
    """
    if moment.time() == time():
        return f"{moment:%Y-%m-%d}"
    if moment.microsecond:
        return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment.second else f"{moment:%Y-%m-%d %H:%M}"


def _start(moment: datetime, unit: str) -> datetime:
    """The beginning of a time's month, day or hour."""
    if unit == "month":
        return moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    if unit == "day":
        return moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return moment.replace(minute=0, second=0, microsecond=0)


def _step_back(newest: datetime, oldest: datetime) -> Iterator[datetime]:
    """The beginnings of months, days or hours from the newest commit back, at most 120 of them."""
    for unit in ("month", "day", "hour"):
        if _start(newest, unit) > oldest:
            break
    else:
        return
    at = _start(newest, unit)
    for _ in range(120):
        if at <= oldest:
            return
        yield at
        at = _start(at - timedelta(hours=1), unit)
