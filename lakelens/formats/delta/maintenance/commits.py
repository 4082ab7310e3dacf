"""What every procedure of Delta has in common: its statement, its time, and the commits that it makes.

A commit whose version is a multiple of `delta.checkpointInterval` is followed by a checkpoint, and a checkpoint by the
cleanup of the log:

    cutoff     now less `delta.logRetentionDuration` (30 days), at the midnight before it, UTC
    expired    commits, checkpoints and checksums below the newest checkpoint that were stored at the cutoff or before
    kept       a commit stored before the one that it follows counts a millisecond later than that: such a run of commits
               goes as a whole or not at all
    sidecars   stored before the cutoff and named by no checkpoint, where a checkpoint went

Follows `Checkpoints`, `MetadataCleanup` and `BufferingLogDeletionIterator` of delta-spark 3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.codecs.temporal import read_interval
from lakelens.errors import LakeError
from lakelens.formats.delta.discovery import LOG, guess_role, read_names
from lakelens.io.store import ObjectInfo
from lakelens.model.maintenance import Assumption, Fate, Output, Piece, Proposal

if TYPE_CHECKING:
    from lakelens.formats.delta.log_table import DeltaTable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOG_RETENTION = "delta.logRetentionDuration"
_CLEANUP = "delta.enableExpiredLogCleanup"
_PROTECTED = "delta.requireCheckpointProtectionBeforeVersion"
_EVERY = "delta.checkpointInterval"


def to_millis(moment: datetime) -> int:
    """A time as the engine has it: whole milliseconds since the epoch."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def read_now(values: Mapping[str, Any]) -> int:
    """Read when the procedure would run, in milliseconds."""
    return to_millis(values.get("at") or datetime.now(UTC))


def read_size(configuration: Mapping[str, Any], name: str, default: int) -> int:
    """Read a number among the table's properties; the default where there is none that is understood."""
    text = str(configuration.get(name, default)).strip()
    return int(text) if text.isdecimal() and len(text) < 19 else default


def has_feature(table: DeltaTable, name: str) -> bool:
    """Check whether the protocol names a feature for writers."""
    return name in table.features["writer"]


def write_name(table: DeltaTable) -> str:
    """The table as a statement names it: by its place."""
    return f"delta.`{table.location.replace('`', '``')}`"


def assume(table: DeltaTable) -> list[Assumption]:
    """Say what must hold for any procedure."""
    return [
        Assumption(f"No commit happens in between; this was planned on version {table.newest.id}."),
        Assumption("The engine runs with the defaults of delta-spark 3.3."),
    ]


def refuse(table: DeltaTable, call: str, why: str, *, fails: bool = False) -> Proposal:
    """Propose nothing: the engine refuses to run a procedure, or fails at it."""
    changes = f"Nothing changes: the engine {'fails' if fails else 'refuses'}."
    return Proposal(changes, call, refusal=why, assumptions=assume(table))


@dataclass
class Commits:
    """What some commits after the newest version write and delete, with the checkpoint that one of them may bring.

    `lost` are the versions that cannot be restored any more. A commit that is large by its kind always brings a checkpoint.
    """

    table: DeltaTable
    count: int
    now: int
    is_large: bool = False
    writes: list[Output] = field(default_factory=list)
    deletes: list[Piece] = field(default_factory=list)
    lost: list[Fate] = field(default_factory=list)

    def __post_init__(self) -> None:
        newest = self.table.newest.id
        if self.count:
            size = 1_000 * self.count
            self.writes.append(Output("commit", self.count, size, True, 1, None, self.count, self.count))
            note = "engines that write no checksums leave them out"
            self.writes.append(
                Output("version checksum", self.count, None, True, None, None, 0, self.count, note)
            )
        every = read_size(self.table._context.configuration, _EVERY, 10)
        for version in range(newest + 1, newest + self.count + 1):
            if self.is_large or (every > 0 and version % every == 0):
                self.add_checkpoint(version)

    def add_checkpoint(self, version: int) -> None:
        """Take in a checkpoint of a version, and the cleanup of the log that follows it."""
        table = self.table
        is_v2 = table._context.configuration.get("delta.checkpointPolicy", "").lower() == "v2"
        live = len(table.newest.state.files) + len(table.newest.state.tombstones)
        note = f"of version {version}: {live:,} actions of files at most"
        self.writes.append(Output("checkpoint", 1, None, True, None, None, 1, 2 if is_v2 else 1, note))
        if is_v2:
            self.writes.append(Output("sidecar", 1, None, True, None, None, 1, None, note))
        hint = table._context.log.checkpoints
        self.writes.append(Output("checkpoint hint", 1, None, True, None, None, 0 if hint else 1, 1))
        self.deletes, self.lost = clean_log(table, version, self.now)

    def describe(self) -> Iterator[str]:
        """Say what the checkpoint that comes with the commits deletes."""
        if self.deletes:
            yield (
                f"A checkpoint comes with it, and with that {len(self.deletes):,} files of the log go, which have "
                f"expired: {len(self.lost):,} versions cannot be restored after it."
            )


def clean_log(table: DeltaTable, checkpoint: int, now: int) -> tuple[list[Piece], list[Fate]]:
    """Find the files of the log that go after a checkpoint of a version, and the versions that are lost with them."""
    context, settings = table._context, table._context.configuration
    if settings.get(_CLEANUP, "true").lower() == "false":
        return [], []
    span = read_interval(settings, _LOG_RETENTION, timedelta(days=30))
    day = timedelta(days=1) // timedelta(milliseconds=1)
    cutoff = (now - span // timedelta(milliseconds=1)) // day * day
    listed = [info for info in context.store.list(context.folder) if not info.is_dir]
    log = {
        info.path: info
        for info in sorted(listed, key=lambda info: info.name)
        if guess_role(f"{LOG}/{info.name}") in ("commit", "checkpoint", "version checksum")
    }
    gone = [*_list_expired(log.values(), checkpoint - 1, cutoff)]
    protected = read_size(settings, _PROTECTED, 0)
    if protected and gone and all(int(info.name[:20]) < protected - 1 for info in gone):
        return [], []
    why = f"older than {_EPOCH + timedelta(milliseconds=cutoff):%Y-%m-%d %H:%M} UTC, below the checkpoint of {checkpoint}"
    pieces = [Piece(info.path, guess_role(f"{LOG}/{info.name}"), info.size, why) for info in gone]
    paths = {info.path for info in gone}
    left = [info for info in listed if info.path not in paths]
    made = ObjectInfo(f"{context.folder}/{checkpoint:020}.checkpoint.parquet", 1)
    still = set(read_names([*left, made]).versions)
    if has_feature(table, "v2Checkpoint") and any(".checkpoint." in path for path in paths):
        pieces += _find_sidecars(table, paths, cutoff)
    why = "its commit, or what it begins with, goes"
    return pieces, [describe_fate(table, version, why) for version in table._versions if version not in still]


def describe_fate(table: DeltaTable, version: int, why: str) -> Fate:
    """Describe what becomes of a version."""
    return Fate(f"version {version}", why, "", version, table._make(version).committed_at)


def _list_expired(log: Iterable[ObjectInfo], newest: int, cutoff: int) -> Iterator[ObjectInfo]:
    """List what expires, in the order of names; files that need one another's time go together."""
    waiting: list[ObjectInfo] = []
    last = (-1, 0)
    for info in log:
        version = int(info.name[:20])
        stored = 0 if info.modified is None else to_millis(info.modified)
        if waiting and last[0] < version and last[1] >= stored:
            stored = last[1] + 1
        elif waiting:
            if last[1] <= cutoff and last[0] <= newest:
                yield from waiting
            waiting = []
        waiting.append(info)
        last = (version, stored)
    if waiting and last[1] <= cutoff and last[0] <= newest:
        yield from waiting


def _find_sidecars(table: DeltaTable, gone: set[str], cutoff: int) -> Iterator[Piece]:
    """Find the sidecars that no checkpoint names which stays."""
    context = table._context
    named: set[str] = set()
    for checkpoints in context.log.checkpoints.values():
        for checkpoint in checkpoints:
            if checkpoint.files[0].path not in gone:
                named.update(path for path, _ in context.list_parts(checkpoint))
    try:
        listed = context.store.list(f"{context.folder}/_sidecars")
    except LakeError:
        return
    for info in listed:
        if not info.is_dir and info.path not in named and info.modified and to_millis(info.modified) < cutoff:
            yield Piece(info.path, "sidecar", info.size, "no checkpoint names it any more")


def plan_checkpoint(table: DeltaTable, values: Mapping[str, Any]) -> Proposal:
    """Plan a checkpoint of the newest version, and the cleanup of the log that the engine does after it."""
    now, newest = read_now(values), table.newest
    commits = Commits(table, 0, now)
    commits.add_checkpoint(newest.id)
    lost = {fate.id for fate in commits.lost}
    notes = []
    if newest.id in table._context.log.checkpoints:
        notes.append(
            f"There is a checkpoint of version {newest.id} already: it is written again, in its place."
        )
    return Proposal(
        changes="No row changes: readers of the newest version begin at the new checkpoint.",
        call=f'DeltaTable("{table.location}").create_checkpoint()',
        dialect="Python, deltalake",
        writes=commits.writes,
        deletes=commits.deletes,
        lost=commits.lost,
        kept=list_kept(table, lost),
        frees="states" if commits.deletes else None,
        assumptions=[
            *assume(table),
            Assumption("delta-spark does it by itself, after a commit whose version the interval divides."),
        ],
        notes=notes,
    )


def list_kept(
    table: DeltaTable, lost: set[int | None], why: str = "all that leads to it is there"
) -> list[Fate]:
    """List the versions that can be read afterwards."""
    versions: Sequence[int] = table._versions
    return [describe_fate(table, version, why) for version in versions if version not in lost]
