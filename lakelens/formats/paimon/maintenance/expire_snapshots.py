"""`expire_snapshots`: the oldest snapshots of a branch go, with the files that only they need.

    snapshots    earliest … end: at most `retain_max` stay, at least `retain_min`, none that is younger than `older_than`,
                 none that a consumer still reads, at most `max_deletes` go
    data files   what commits begin + 1 … end removed, unless the tag before that commit has it
    changelogs   those that the snapshots that go have made
    metadata     what neither the first snapshot that stays nor a tag between them names

Other branches are not looked at: files that only they need are deleted too. From 2.0 on a snapshot is as old as the commit
that followed it. Follows `ExpireSnapshotsImpl` and `ConsumerManager` of Paimon 0.9 and 2.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.paimon.maintenance.deletion import (
    Deletion,
    Skips,
    find_before,
    list_overlapped,
    list_tagged,
    skip_none,
)
from lakelens.formats.paimon.maintenance.estimates import write_hint
from lakelens.formats.paimon.maintenance.others import describe_damage, warn_of_others
from lakelens.formats.paimon.maintenance.settings import Settings, parse_span
from lakelens.formats.paimon.maintenance.states import (
    ENGINE,
    describe_engine,
    describe_fate,
    is_new_engine,
    list_others,
    name_table,
    require_paimon,
    to_millis,
    write_call,
)
from lakelens.model.maintenance.procedure import Option, Procedure
from lakelens.model.maintenance.proposal import Assumption, Fate, Proposal

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.table import Table

_MANY = 2**31 - 1
_GOES = "only snapshots that go need it"


@dataclass(frozen=True, slots=True)
class Range:
    """The snapshots `ids` go, `end` is the first that stays; `why` says what keeps it."""

    ids: tuple[int, ...]
    end: int
    why: str


def choose_range(
    branch: PaimonTable, values: Mapping[str, Any], is_new: bool, ahead: int = 0
) -> Range | None:
    """Which snapshots go, after `ahead` more commits; None where there are none. Raises `LakeError` for what stops it."""
    ids = branch.pointer.ids
    if not ids:
        return None
    earliest, latest = ids[0], ids[-1] + ahead
    most, least = values.get("retain_max", _MANY), values.get("retain_min", 1)
    if most < least:
        raise LakeError(f"retain_max is {most}, less than retain_min, which is {least}: the engine refuses")
    limits = [(latest - least + 1, f"retain_min: the newest {least:,} {'stays' if least == 1 else 'stay'}")]
    limits += [
        (number, f"consumer {name} reads on from snapshot {number}")
        for name, number in branch.consumers.items()
    ]
    limits.append((earliest + values.get("max_deletes", _MANY), "max_deletes: no more go at a time"))
    end, why = min(limits)
    first = max(latest - most + 1, earliest)
    asked = [number for number in ids if first <= number < end]
    young = _find_young(branch, asked, values.get("older_than"), is_new)
    if young is not None:
        end, why = young
    end = max(end, earliest)
    return Range(_list_going(ids, end, is_new), end, why)


def _list_going(ids: Sequence[int], end: int, is_new: bool) -> tuple[int, ...]:
    """The snapshots before `end`; 0.9 takes a gap for the place where an expiry before it has stopped."""
    going = [number for number in ids if number < end]
    if is_new:
        return tuple(going)
    after = end
    for place in range(len(going) - 1, -1, -1):
        if going[place] != after - 1:
            return tuple(going[place + 1 :])
        after = going[place]
    return tuple(going)


def _find_young(
    branch: PaimonTable, numbers: Sequence[int], before: datetime | None, is_new: bool
) -> tuple[int, str] | None:
    """The first snapshot that is too young to go, and why."""
    if before is None:
        why = "no older_than: only what retain_max does not keep goes"
        return (numbers[0], why) if numbers else None
    limit = to_millis(before)
    for number in numbers:
        asked = number + 1 if is_new else number
        if not branch.has_snapshot(asked):
            continue
        snapshot = branch.find_numbered(asked)
        if snapshot is None:
            raise LakeError(
                f"snapshot {asked} cannot be read: the engine fails before it deletes anything",
                path=branch.context.layout.document("snapshot", asked),
            )
        if limit <= snapshot.time_millis:
            age = "until not before" if is_new else "not older than"
            return number, f"{age} {before:%Y-%m-%d %H:%M:%S}"
    return None


def describe_automatic(branch: PaimonTable, now: datetime, is_new: bool, ahead: int) -> list[str]:
    """What the expiry at the end of a write takes, by the table's own settings; `ahead` commits are made before it."""
    settings = Settings(branch.context.options, bool(branch.primary_keys))
    most = settings.number("snapshot.num-retained.max", _MANY)
    kept = settings.read("snapshot.time-retained", timedelta(hours=1), parse_span)
    values = {
        "retain_max": most,
        "retain_min": min(settings.number("snapshot.num-retained.min", 10), most),
        "older_than": now - min(kept, timedelta(days=36_500)),
        "max_deletes": settings.number("snapshot.expire.limit", 50 if is_new else 10),
    }
    try:
        chosen = choose_range(branch, values, is_new, ahead)
    except LakeError as error:
        return [f"The expiry at the end fails: {error.reason}."]
    going = () if chosen is None else chosen.ids
    if is_new and ahead and branch.pointer.latest in going:
        going = going[:-1]  # the commit that is made is the one that follows it, and is young
    number = len(going)
    if not number:
        return []
    which = "the oldest snapshot" if number == 1 else f"the oldest {number:,} snapshots"
    return [f"The call ends with the table's own expiry, which takes {which}: see expire_snapshots."]


def plan_expiry(table: Table, values: Mapping[str, Any]) -> Proposal:
    """What `expire_snapshots` would do."""
    branch = require_paimon(table)
    is_new = is_new_engine(branch, values)
    call = write_call("expire_snapshots", {"table": name_table(branch), **_list_arguments(values)})
    assumptions = [
        Assumption(f"No commit happens in between; this was planned on snapshot {branch.pointer.latest}."),
        describe_engine(is_new),
    ]
    if branch.context.is_on("snapshot.clean-empty-directories"):
        assumptions.append(Assumption("Directories that become empty are removed too: they are no files."))
    changes = "The current data does not change."
    try:
        chosen = choose_range(branch, values, is_new)
        tags = _read_tags(branch)
    except LakeError as error:
        return Proposal(changes, call, refusal=error.reason, notes=_locate(error), assumptions=assumptions)
    if chosen is None:
        notes = ["There is no snapshot."]
        kept = tuple(list_others(branch, frozenset()))
        return Proposal(changes, call, notes=notes, assumptions=assumptions, kept=kept, frees="states")
    deletion = Deletion(branch)
    failure = expire_range(deletion, chosen, tags, is_new)
    lost = [describe_fate(branch, branch.find_numbered(number), number, "expired") for number in chosen.ids]
    names = frozenset(fate.keeper for fate in lost)
    stays = [*_list_kept(branch, chosen), *list_others(branch, names)]
    notes = [*failure, *describe_damage(deletion)]
    writes = [write_hint("EARLIEST", chosen.end)] if lost else []
    return Proposal(
        changes,
        call,
        writes=writes,
        lost=lost,
        kept=stays,
        deletes=tuple(deletion.pieces.values()),
        assumptions=assumptions,
        notes=notes,
        frees="states",
        dangers=warn_of_others(branch, deletion),
    )


def _list_arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values.get(name) for name in ("retain_max", "retain_min", "older_than", "max_deletes")}


def _locate(error: LakeError) -> list[str]:
    return [] if error.path is None else [f"It is about {error.path}."]


def _read_tags(branch: PaimonTable) -> list[PaimonSnapshot]:
    """The states of the tags. Raises `LakeError` where one of them cannot be read."""
    unread = [name for name in branch.tag_names if name not in branch.tags]
    if unread:
        path = branch.context.layout.document("tag", unread[0])
        raise LakeError(f"tag {unread[0]} cannot be read: the engine fails", path=path)
    return list_tagged(branch)


def _list_kept(branch: PaimonTable, chosen: Range) -> list[Fate]:
    """The snapshots that stay, each with why: the first by what stopped the expiry, the others as they are newer."""
    kept, going = [], frozenset(chosen.ids)
    for number in branch.pointer.ids:
        if number not in going:
            why = chosen.why if number >= chosen.end else "before a gap: the engine passes it over"
            kept.append(describe_fate(branch, branch.find_numbered(number), number, why))
    return kept


def expire_range(
    deletion: Deletion, chosen: Range, tags: Sequence[PaimonSnapshot], is_new: bool
) -> list[str]:
    """Take the snapshots of a range away. Says where the engine fails before it is done."""
    branch = deletion.branch
    if not chosen.ids:
        return []
    states: dict[int, PaimonSnapshot] = {}
    for number in (*chosen.ids, chosen.end):
        state = branch.find_numbered(number)
        if state is None:
            return [f"Snapshot {number} cannot be read: the engine fails, and may have deleted a part."]
        states[number] = state
    for number in (*chosen.ids[1:], chosen.end):
        skips = _skip_tagged(deletion, find_before(tags, number))
        if skips is not None:
            deletion.drop_removed(states[number], skips, "replaced or deleted since")
    going = [states[number] for number in chosen.ids]
    for state in going:
        deletion.drop_added(state, "changelog", "the changelog of a snapshot that goes")
    try:
        kept = [*list_overlapped(tags, chosen.ids[0], chosen.end), states[chosen.end]]
        skipped = deletion.name_metadata(kept)
    except LakeError as error:
        return _fail_names(deletion, going, error, is_new)
    try:
        for state in going:
            deletion.drop_metadata(state, skipped, ("base", "delta", "changelog"), _GOES)
            deletion.drop_document("snapshot", state.id, "expired")
    except LakeError as error:
        return [f"The engine fails before it is done: {error.reason}."]
    return []


def _fail_names(
    deletion: Deletion, going: Sequence[PaimonSnapshot], error: LakeError, is_new: bool
) -> list[str]:
    """What happens where the metadata of a state that stays cannot be read."""
    if not is_new:
        return [
            f"The engine fails after it has deleted data files, and leaves the snapshots: {error.reason}."
        ]
    for state in going:
        deletion.drop_document("snapshot", state.id, "expired")
    return [f"The engine leaves all manifests: {error.reason}."]


def _skip_tagged(deletion: Deletion, tag: PaimonSnapshot | None) -> Skips | None:
    """What a tag keeps; None where that cannot be read, and the engine leaves the files."""
    if tag is None:
        return skip_none
    try:
        return deletion.list_live(tag).__contains__
    except LakeError as error:
        deletion.doubts[error.path or tag.path or ""] = (
            f"{error.reason}: the engine leaves what the tag may keep"
        )
        return None


PROCEDURE = Procedure(
    "expire_snapshots",
    "Expire snapshots",
    "the oldest snapshots go, with the files that only they need",
    (
        Option("retain_max", "integer", "the most snapshots that stay", "no limit", least=1),
        Option("retain_min", "integer", "the fewest snapshots that stay", "1", least=1),
        Option("older_than", "time", "snapshots that are not older stay", "the beginning: none is older"),
        Option("max_deletes", "integer", "the most snapshots that go at a time", "no limit", least=1),
        ENGINE,
    ),
    plan_expiry,
)
