"""What `expire_snapshots` would do.

    kept by a branch     its newest snapshots, at least `retain_last` of them, and on down while they are young enough
    kept by a tag        the one it points to
    kept by nobody       snapshots that no branch leads to: while they are young enough
    refs                 those whose snapshot is older than their max-ref-age go, but for main

A branch's own settings go before the arguments, and those before the table's properties. Files that an expired snapshot
needs and no kept one are deleted; so are its manifest list, its manifests and its statistics. Metadata documents are not.
Follows `RemoveSnapshots` and `ExpireSnapshotsSparkAction` of Iceberg 1.12.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import Corrupt, Unsupported
from lakelens.formats.iceberg.maintenance.commits import (
    assume,
    estimate_document,
    find_statistics,
    list_ancestors,
    list_dropped_documents,
    read_number,
    read_switch,
    refuse,
    write_call,
)
from lakelens.formats.iceberg.metadata.wire import to_time
from lakelens.model.maintenance import Assumption, Fate, OrphanRule, Proposal

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.snapshot import Ref


_MAIN = "main"
_AGE = "history.expire.max-snapshot-age-ms"
_KEEP = "history.expire.min-snapshots-to-keep"
_REF_AGE = "history.expire.max-ref-age-ms"
_FIVE_DAYS = 5 * 86_400_000
_LONGEST = 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
GC = "gc.enabled"
GC_REFUSAL = f"{GC} is false: the engine refuses, for other tables may use these files"


def to_milliseconds(moment: datetime) -> int:
    """A time as the engine has it: whole milliseconds since the epoch."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def format_time(milliseconds: int) -> str:
    """Milliseconds as a time in UTC."""
    moment = to_time(milliseconds)
    return "before all calendars" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"


@dataclass
class Retention:
    """Which snapshots and refs a table keeps when snapshots before a time expire, and why."""

    table: IcebergTable
    values: Mapping[str, Any]
    now: int
    why: dict[int, tuple[str, str]] = field(default_factory=dict)  # by id: what keeps it, and why

    @cached_property
    def older_than(self) -> int:
        """Snapshots from this time on are young enough."""
        given = self.values.get("older_than")
        if given is not None:
            return to_milliseconds(given)
        return self.now - read_number(self.table, _AGE, _FIVE_DAYS)

    @cached_property
    def retain_last(self) -> int:
        """How many snapshots each branch keeps at least."""
        given: int | None = self.values.get("retain_last")
        return read_number(self.table, _KEEP, 1) if given is None else given

    @cached_property
    def moments(self) -> dict[int, int]:
        """When each snapshot was committed, in commit order."""
        return dict(self.table._context.document.snapshots.iter_moments())

    @cached_property
    def refs(self) -> list[Ref]:
        """The refs that stay."""
        return [ref for ref in self.table.refs if self._keeps_ref(ref)]

    @cached_property
    def lost_refs(self) -> list[Ref]:
        """The refs that go."""
        return [ref for ref in self.table.refs if not self._keeps_ref(ref)]

    def _keeps_ref(self, ref: Ref) -> bool:
        if ref.name == _MAIN:
            return True
        committed = None if ref.snapshot_id is None else self.moments.get(ref.snapshot_id)
        if committed is None:
            return False
        age = (
            read_number(self.table, _REF_AGE, _LONGEST) if ref.max_ref_age_ms is None else ref.max_ref_age_ms
        )
        return self.now - committed <= age

    @cached_property
    def chosen(self) -> frozenset[int]:
        """The snapshots that were named, to expire whatever their age."""
        return frozenset(self.values.get("snapshot_ids") or ())

    @cached_property
    def conflicts(self) -> list[tuple[int, str]]:
        """Named snapshots that a ref points to: the engine refuses these."""
        return [
            (ref.snapshot_id, ref.name)
            for ref in self.refs
            if ref.snapshot_id is not None and ref.snapshot_id in self.chosen
        ]

    def judge(self) -> tuple[list[int], list[int]]:
        """The ids that are lost, and those that stay, each in commit order; `why` has the reasons of those that stay."""
        led: set[int] = set()
        for ref in self.refs:
            if ref.type == "branch":
                led.update(self._keep_branch(ref))
            elif ref.snapshot_id is not None and ref.snapshot_id in self.moments:
                led.add(ref.snapshot_id)
                self.why.setdefault(ref.snapshot_id, (f"tag {ref.name}", "a tag keeps its snapshot"))
        young = f"no branch leads to it, and it is not older than {format_time(self.older_than)}"
        for number, moment in self.moments.items():
            if number not in led and moment >= self.older_than:
                self.why.setdefault(number, ("no ref", young))
        lost = [number for number in self.moments if number not in self.why or number in self.chosen]
        gone = set(lost)
        return lost, [number for number in self.moments if number not in gone]

    def _keep_branch(self, ref: Ref) -> Iterator[int]:
        """Keep every snapshot that a branch leads to; those it keeps are noted."""
        least = self.retain_last if ref.min_snapshots_to_keep is None else ref.min_snapshots_to_keep
        since = self.older_than if ref.max_snapshot_age_ms is None else self.now - ref.max_snapshot_age_ms
        is_kept, count = True, 0
        for number in list_ancestors(self.table, ref.snapshot_id):
            yield number
            is_young = self.moments[number] >= since
            is_kept = is_kept and (count < least or is_young)
            if not is_kept:
                continue
            count += 1
            why = f"not older than {format_time(since)}" if is_young else ""
            if count <= least and not is_young:
                own = "" if ref.min_snapshots_to_keep is None else ", as the branch itself sets"
                why = (
                    f"one of the newest {least} of the branch{own}"
                    if least > 1
                    else f"the newest of the branch{own}"
                )
            self.why.setdefault(number, (f"branch {ref.name}", why))

    def explain_loss(self, number: int) -> str:
        """Explain why a snapshot expires."""
        if number in self.chosen:
            return "named in snapshot_ids"
        return f"older than {format_time(self.older_than)}, and kept by no ref"


def plan_expiry(table: IcebergTable, values: Mapping[str, Any]) -> Proposal:
    """See the module."""
    now = to_milliseconds(datetime.now(UTC))
    retention = Retention(table, values, now)
    call = write_call(table.name, "expire_snapshots", dict(values))
    refusal = _refuse(table, retention)
    if refusal is not None:
        return refuse(table, call, refusal)
    lost, kept = retention.judge()
    is_idle = not lost and not retention.lost_refs
    return Proposal(
        changes="The current data does not change.",
        call=call,
        writes=() if is_idle else (estimate_document(table, lost=lost),),
        lost=[_make_fate(retention, number, retention.explain_loss(number)) for number in lost],
        kept=[_make_fate(retention, number, *reversed(retention.why[number])) for number in kept],
        deletes=() if is_idle else (*find_statistics(table, lost), *list_dropped_documents(table)),
        deletes_lost=True,
        assumptions=(*assume(table), *_assume_more(table, values)),
        notes=_list_notes(table, retention),
    )


def _make_fate(retention: Retention, number: int, why: str, by: str = "") -> Fate:
    return Fate(f"snapshot {number}", why, by, number, to_time(retention.moments[number]))


def _refuse(table: IcebergTable, retention: Retention) -> str | None:
    if not read_switch(table, GC, True):
        return GC_REFUSAL
    if retention.retain_last < 1 and "retain_last" in retention.values:
        return f"retain_last must be at least 1, and is {retention.retain_last}"
    if retention.conflicts:
        number, name = retention.conflicts[0]
        return f"snapshot {number} cannot expire: the ref {name} points to it"
    return None


def _assume_more(table: IcebergTable, values: Mapping[str, Any]) -> Iterator[Assumption]:
    setting = table.properties.get(GC)
    said = "not set" if setting is None else f"it is {setting}"
    yield Assumption(f"The engine may delete: {GC} is not false ({said}).")
    yield Assumption(
        "No other table uses these files: that cannot be known from here. A clone or a snapshot of this table would.",
        is_known=False,
    )
    if "older_than" not in values:
        yield Assumption(
            f"Ages are those of this moment: older_than is not given, so that {_AGE} (5 days) counts."
        )
    older = len(table.metadata_log)
    if older and not list_dropped_documents(table):
        yield Assumption(f"{older:,} older metadata.json stay: this procedure removes none of them.")


def _list_notes(table: IcebergTable, retention: Retention) -> list[str]:
    notes = []
    for ref in retention.lost_refs:
        known = ref.snapshot_id in retention.moments
        why = "its snapshot is older than its max-ref-age" if known else "its snapshot is not there"
        notes.append(f"The {ref.type} {ref.name} goes: {why}.")
    if sum(ref.type == "branch" for ref in retention.refs) > 1:
        notes.append("retain_last counts for each branch, and not for the table.")
    unknown = [number for number in retention.chosen if number not in retention.moments]
    if unknown:
        notes.append(f"There is no snapshot {', '.join(map(str, unknown))}: the engine passes over it.")
    if retention.chosen and "older_than" not in retention.values:
        notes.append(
            f"Named snapshots are not all: those older than {format_time(retention.older_than)} expire too."
        )
    return notes


# What `remove_orphan_files` would do.
#
#     looked at    everything below the table's location (or `location`) that was last written before `older_than` (3 days)
#     left out     names that begin with `_` or `.`, and what is below such a directory, but for partition columns called
#     so
#     spared       what the current metadata document reaches: its log, hint and statistics; of all snapshots lists,
#                  manifests,
#                  and the files of live entries
#
# Paths are compared without scheme and authority; where those of a recorded location differ from the listing's, the engine
# refuses (or spares, or deletes: `prefix_mismatch_mode`). s3n and s3a count as s3.
# Follows `DeleteOrphanFilesSparkAction`, `FileSystemWalker` and `RemoveOrphanFilesProcedure` of Iceberg 1.12.

_ORPHAN_AGE = timedelta(days=3)
_SHORTEST = timedelta(hours=24)
_MODES = ("error", "ignore", "delete")
_URI = re.compile(r"([A-Za-z][\w+.-]*):(?://([^/]*))?")
_SAME = {"s3n": "s3", "s3a": "s3"}


def plan_orphans(table: IcebergTable, values: Mapping[str, Any]) -> Proposal:
    """See the module."""
    now = datetime.now(UTC)
    before: datetime = values.get("older_than") or now - _ORPHAN_AGE
    mode = str(values.get("prefix_mismatch_mode", "error")).lower()
    if mode not in _MODES:
        message = "option prefix_mismatch_mode: the value does not fit"
        raise Corrupt(message, expected=" or ".join(_MODES), seen=mode)
    refusal = _refuse_age(table, values, now, mode)
    call = write_call(table.name, "remove_orphan_files", dict(values))
    if refusal is not None:
        return refuse(table, call, refusal)
    below = values.get("location")
    assumptions = [
        *assume(table, commits=False),
        Assumption(
            f"Files of {before:%Y-%m-%d %H:%M:%S} UTC and later are young, and stay: a running commit may need them."
        ),
        Assumption(
            "No other table or process keeps files below this location: that cannot be known from here.",
            is_known=False,
        ),
    ]
    if mode == "delete" and any(True for _ in _list_prefixes(table)):
        message = (
            "prefix_mismatch_mode is delete: files that are recorded under another scheme or authority are deleted too, "
            "and are not among these."
        )
        assumptions.append(Assumption(message, is_known=False))
    notes = []
    if table.relocation.is_moved:
        notes.append(
            "Recorded locations are not where the table is now. An engine that were called on this copy would take every "
            "file for an orphan: call it where the table is recorded."
        )
    if values.get("dry_run"):
        notes.append("With dry_run => true the engine only lists these files.")
    return Proposal(
        changes="No snapshot changes, and no commit is made.",
        call=call,
        orphans=OrphanRule(before, None if below is None else _find_place(table, below)),
        assumptions=assumptions,
        notes=notes,
    )


def _find_place(table: IcebergTable, location: str) -> str:
    """Find where a location is now. Raises `Unsupported` for one outside of the table, which was not listed."""
    found = table._context.access.locator.locate(location).rstrip("/")
    root = table.location.rstrip("/")
    if found != root and not found.startswith(root + "/"):
        message = (
            f"option location: {location} is not below the table, and only the table's directory is listed"
        )
        raise Unsupported(message, path=table.location, hint=f"location={root}/data")
    return found


def _refuse_age(table: IcebergTable, values: Mapping[str, Any], now: datetime, mode: str) -> str | None:
    if not read_switch(table, GC, True):
        return GC_REFUSAL
    given = values.get("older_than")
    if given is not None and now - given < _SHORTEST:
        return "older_than is less than 24 hours ago: files of running commits could be deleted"
    odd = list(_list_prefixes(table))
    if odd and mode == "error":
        named = ", ".join(odd[:3])
        return f"recorded locations begin otherwise than the listing does ({named}): which files are orphans is not clear"
    return None


def _list_prefixes(table: IcebergTable) -> Iterator[str]:
    """List where recorded locations below the table have another scheme or authority than the table; none fits any."""
    own, place = _split(table._context.typed.location or "")
    if own is None:
        return
    seen: set[str] = set()
    for recorded in _list_recorded(table):
        prefix, path = _split(recorded)
        if prefix is None or prefix == own or prefix in seen or not path.startswith(place.rstrip("/") + "/"):
            continue
        seen.add(prefix)
        yield f"{prefix} for {own}"


def _list_recorded(table: IcebergTable) -> Iterator[str]:
    typed = table._context.typed
    for log in typed.metadata_log:
        yield log.metadata_file
    for snapshot in table._known:
        for listed in snapshot.manifest_lists:
            if listed.recorded_path is not None:
                yield listed.recorded_path
            yield from (manifest.recorded_path for manifest in listed.walk()[0])
    for (recorded,) in table.files.pick("recorded_path"):
        yield recorded


def _split(location: str) -> tuple[str | None, str]:
    """Scheme and authority of a location as the engine compares them (None where it has none), and its path.

    >>> _split("s3a://Bucket/t/a"), _split("/t/a")
    (('s3://bucket', '/t/a'), (None, '/t/a'))
    """
    matched = _URI.match(location)
    if matched is None:
        return None, location
    scheme = matched[1].lower()
    return f"{_SAME.get(scheme, scheme)}://{(matched[2] or '').lower()}", location[matched.end() :]
