"""What each state and each ref keeps: alone, last of all, and with others."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from lakelens.analysis.space import slices as names
from lakelens.analysis.space.expiring import format_time
from lakelens.analysis.space.holders import Holder, Holders
from lakelens.analysis.space.slices import Slice
from lakelens.display import Named
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.analysis.space.census import Census

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
    """What each state keeps."""
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
    """What each holder keeps."""
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
    sizes, files = (found.tolist() for found in census.totals)
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
    """How many snapshots hold bytes, and when they let go."""
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
