"""What `VACUUM` would delete.

    cutoff    now less `retain_hours`; by default `delta.deletedFileRetentionDuration` (1 week)
    full      of all files below the table those that were last written before the cutoff
    lite      of the files that commits removed, and of change data files, those of commits up to the newest one that was
              stored before the cutoff; from where the last run has ended. None where the log's head was cleaned since
    kept      what a live file or a tombstone needs: the file, and its deletion vector. Of tombstones those whose file was
              removed since the cutoff and within the table's own retention, whatever the call says
    hidden    names that begin with `_` or `.` are never listed, but for `_change_data`, `_delta_index` and partition
              columns that are called so; `metadata` where the table is mirrored for Iceberg

Directories that are empty go too: not those that this run has emptied. Follows `VacuumCommand` of delta-spark 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.numbers import read_number
from lakelens.codecs.temporal import read_interval
from lakelens.codecs.text.objects import find_object
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.delta.actions import Action
from lakelens.formats.delta.context import RETENTION, WEEK
from lakelens.formats.delta.discovery import LOG, VACUUMED, guess_role
from lakelens.formats.delta.maintenance.commits import (
    Commits,
    assume,
    describe_fate,
    list_kept,
    read_now,
    refuse,
    to_millis,
    write_name,
)
from lakelens.formats.delta.vectors import find_vector
from lakelens.io.store import ObjectInfo, find_info, walk
from lakelens.model.maintenance import Assumption, Output, Piece, Proposal

if TYPE_CHECKING:
    from lakelens.formats.delta.log_table import DeltaTable

_HOUR = 3_600_000
_MOST_NAMED = 5


@dataclass
class Vacuum:
    """One run, planned."""

    table: DeltaTable
    values: Mapping[str, Any]
    now: int

    @cached_property
    def retention(self) -> int:
        """How long the table keeps what was removed, in milliseconds."""
        span = read_interval(self.table._context.configuration, RETENTION, WEEK)
        return span // timedelta(milliseconds=1)

    @cached_property
    def cutoff(self) -> int:
        """What is older may go, in milliseconds."""
        given: datetime | None = self.values.get("older_than")
        if given is not None:
            return to_millis(given)
        hours: float | None = self.values.get("retain_hours")
        return self.now - (self.retention if hours is None else round(hours) * _HOUR)

    @cached_property
    def is_lite(self) -> bool:
        """Whether only the log is looked at. Raises `Corrupt` for another type than there is."""
        kind = str(self.values.get("type", "FULL")).upper()
        if kind not in ("FULL", "LITE"):
            raise Corrupt("option type: the value does not fit", expected="FULL or LITE", seen=kind)
        return kind == "LITE"

    @cached_property
    def needed(self) -> frozenset[str]:
        """The places of what live files and unexpired tombstones need."""
        state = self.table.newest.state
        tombstones = (
            action
            for action in state.tombstones.values()
            if read_removal(action) >= self.cutoff and read_removal(action) > self.now - self.retention
        )
        actions = [*state.files.values(), *tombstones]
        return frozenset(place for action in actions for place in self.list_places(action))

    def list_places(self, action: Action) -> Iterator[str]:
        """List where a file and its vector are; of vectors those alone that the engine looks after."""
        context = self.table._context
        yield context.locate(action.key[0])
        path = find_vector(action, context)
        if path is not None and (action.vector or {}).get("storageType") == "u":
            yield path

    @cached_property
    def listed(self) -> tuple[list[ObjectInfo], list[str]]:
        """The objects that may go by their names, and the directories that have nothing in them."""
        context = self.table._context
        prefix = f"{context.root}/"
        found, folders = list[ObjectInfo](), set[str]()
        filled: set[str] = set()
        for info in walk(context.store, context.root):
            short = info.path.removeprefix(prefix).rstrip("/")
            filled.add(short.rpartition("/")[0])
            if self.table._hides(short):
                continue
            if info.is_dir:
                folders.add(short)
            else:
                found.append(info)
        return found, sorted(folders - filled)

    @cached_property
    def span(self) -> tuple[int, int] | None:
        """The commits that a lite run reads, both ends included; None where there are none. Raises `LakeError`."""
        table, log = self.table, self.table._context.log
        ended = self._read_info()
        newest = None
        for number in sorted(log.commits, reverse=True):
            stored = table._make(number).committed_at
            if stored is None or to_millis(stored) <= self.cutoff:
                newest = number
                break
        if newest is None:
            return None
        earliest = min(log.commits)
        if earliest and (ended is None or ended < earliest):
            message = (
                f"VACUUM LITE reads commits from the first one on, or from where the last run has ended; the log begins "
                f"with {earliest}: run VACUUM FULL once"
            )
            raise LakeError(message, path=f"{table.location}/{LOG}")
        first = min(table.newest.id, earliest if ended is None else ended + 1)
        return None if first > newest else (first, newest)

    def _read_info(self) -> int | None:
        """Read up to which commit the last run has looked; None where nothing says so."""
        context = self.table._context
        path = f"{context.folder}/{VACUUMED}"
        if find_info(context.store, path) is None:
            return None
        return read_number(
            find_object(context.store.read(path)), "latestCommitVersionOutsideOfRetentionWindow"
        )

    def find_pieces(self) -> Iterator[Piece]:
        """Find what goes."""
        context = self.table._context
        prefix = f"{context.root}/"
        if not self.is_lite:
            for info in self.listed[0]:
                stored = 0 if info.modified is None else to_millis(info.modified)
                if stored < self.cutoff and info.path not in self.needed:
                    why = "no live file and no unexpired tombstone is it"
                    yield Piece(info.path, guess_role(info.path.removeprefix(prefix)), info.size, why)
            return
        found: dict[str, tuple[int, int]] = {}
        first, newest = self.span or (0, -1)
        for version in range(first, newest + 1):
            for action in self.table._make(version).commit.actions if version in context.log.commits else ():
                if action.kind in ("remove", "cdc"):
                    removed = read_removal(action)
                    for path in self.list_places(action):
                        found[path] = (max(found.get(path, (0, 0))[0], removed), version)
        for path, (removed, version) in found.items():
            if removed < self.cutoff and path not in self.needed and path.startswith(prefix):
                why = f"version {version} has removed it" if removed else f"changes of version {version}"
                yield Piece(path, guess_role(path.removeprefix(prefix)), None, why)


def read_removal(action: Action) -> int:
    """Read when a file was removed, in milliseconds; 0 where that is not said, which is long ago."""
    found = action.fields.get("deletionTimestamp")
    return found if type(found) is int else 0


def find_readers(vacuum: Vacuum, gone: frozenset[str]) -> dict[int, int]:
    """Find the versions that need a file that goes, each with how many.

    From version to version only what changed is looked at; a file whose `add` is not in the log was there from the first.
    """
    table = vacuum.table
    context, versions = table._context, table._versions
    since: dict[tuple[str, str], int] = {}
    change = dict[int, int]()
    first = versions[0]
    if first not in context.log.commits or first > 0:
        actions: Any = table._make(first).state.files.values()
        since = {action.key: first for action in actions if not gone.isdisjoint(vacuum.list_places(action))}
    for version in versions:
        if version not in context.log.commits:
            continue
        for action in table._make(version).commit.actions:
            if action.kind not in ("add", "remove") or gone.isdisjoint(vacuum.list_places(action)):
                continue
            if action.kind == "add":
                since.setdefault(action.key, version)
            elif action.key in since:
                start = since.pop(action.key)
                change[start] = change.get(start, 0) + 1
                change[version] = change.get(version, 0) - 1
    for start in since.values():
        change[start] = change.get(start, 0) + 1
    needed, count = {}, 0
    for version in versions:
        count += change.get(version, 0)
        if count:
            needed[version] = count
    return needed


def plan_vacuum(table: DeltaTable, values: Mapping[str, Any]) -> Proposal:
    """See the module."""
    vacuum = Vacuum(table, values, read_now(values))
    call = f"VACUUM {write_name(table)}" + (f" {str(values['type']).upper()}" if "type" in values else "")
    hours = values.get("retain_hours")
    if "older_than" in values:
        hours = max(0, (vacuum.now - vacuum.cutoff) // _HOUR)
    if hours is not None:
        call += f" RETAIN {hours:g} HOURS"
    try:
        if vacuum.is_lite:
            _ = vacuum.span
    except Corrupt:
        raise
    except LakeError as error:
        return refuse(table, call, error.reason)
    if not table.newest.state.is_whole:
        why = "the newest version cannot be read as a whole: which files it needs is not known"
        return refuse(table, call, why, fails=True)
    pieces = list(vacuum.find_pieces())
    commits = Commits(table, 2, vacuum.now)
    context = table._context
    there = (
        piece.path
        for piece in pieces
        if not vacuum.is_lite or find_info(context.store, piece.path) is not None
    )
    needed = find_readers(vacuum, frozenset(there))
    lost = [
        describe_fate(table, version, f"{count:,} of its files {'goes' if count == 1 else 'go'}")
        for version, count in needed.items()
        if version != table.newest.id
    ]
    lost += [fate for fate in commits.lost if fate.id not in needed]
    gone = {piece.path for piece in pieces if piece.role == "deletion vectors"}
    dangers = [  # the engine does not look after vectors with absolute paths
        f"{path} is named with its whole path, and goes although {action.fields['path']} needs it."
        for action in (table.newest.state.files.values() if gone else ())
        if (action.vector or {}).get("storageType") == "p" and (path := find_vector(action, context)) in gone
    ]
    return Proposal(
        changes="The newest version does not change; older versions that need what goes can no longer be read.",
        call=call,
        writes=[*commits.writes, Output("vacuum hint", 1, None, True, None, None, 0, 1)],
        deletes=[*pieces, *commits.deletes],
        lost=lost,
        kept=list_kept(table, {fate.id for fate in lost}, "nothing of it goes"),
        frees="orphans",
        assumptions=[*assume(table), *_assume_more(vacuum)],
        notes=[*_list_notes(vacuum), *commits.describe()],
        dangers=dangers,
    )


def _assume_more(vacuum: Vacuum) -> Iterator[Assumption]:
    moment = datetime.fromtimestamp(vacuum.cutoff / 1000, UTC)
    yield Assumption(f"What was written or removed at {moment:%Y-%m-%d %H:%M:%S} UTC or later stays.")
    if vacuum.now - vacuum.cutoff < vacuum.retention:
        words = (
            f"spark.databricks.delta.retentionDurationCheck.enabled is false: without that the engine refuses to keep less "
            f"than {-(-vacuum.retention // _HOUR)} hours."
        )
        yield Assumption(words, is_known=False)
    words = (
        "No other table (a shallow clone) needs files below this location: that cannot be known from here."
    )
    yield Assumption(words, is_known=False)


def _list_notes(vacuum: Vacuum) -> Iterator[str]:
    if vacuum.is_lite:
        if vacuum.span is None:
            yield "No commit is old enough: nothing is looked at."
        else:
            yield f"Commits {vacuum.span[0]} to {vacuum.span[1]} are read, and no directory is listed."
        return
    empty = vacuum.listed[1]
    if empty:
        shown = ", ".join(empty[:_MOST_NAMED]) + (", …" if len(empty) > _MOST_NAMED else "")
        yield f"{len(empty):,} empty director{'y goes' if len(empty) == 1 else 'ies go'} too: {shown}"
