"""Which checks a commit of Delta makes against each commit that came first, and what fails them.

    check       made by              what of the commits in between is in the way
    protocol    all but OPTIMIZE     a protocol that lacks a feature which the writer knew; any, where it sets one itself
    metadata    all but OPTIMIZE     metadata, but for marks of identity columns and the turning on of row tracking
    txn         an application's     a transaction of the same application
    added       what reads           files added in the partitions that the filter names, whatever their bounds
    read        what reads           files removed that it read: those of the partitions and bounds of the filter
    rewritten   OPTIMIZE             files that it rewrites and that are gone, or have another deletion vector

Overwrites, DELETE, UPDATE and MERGE read; an INSERT of values and a change of the table do not. Parts of a filter count for
partitions if they name partition columns alone and are joined by AND. Under WriteSerializable files that were added blindly,
by a writer that read nothing, are in nobody's way but that of a change of the table. OPTIMIZE begins again on the newest
version as long as its files are there. Follows `ConflictChecker`, `OptimisticTransaction` and `OptimizeTableCommand` of
delta-spark 3.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.codecs.numbers import read_number
from lakelens.formats.delta.actions import Action
from lakelens.formats.delta.maintenance.optimize import Rewrite
from lakelens.model.check.attempt import (
    Attempt,
    Collision,
    ConflictRules,
    Failure,
    Ruling,
    Try,
    Way,
    count_hits,
    describe_file,
    require_words,
)

if TYPE_CHECKING:
    from lakelens.formats.delta.action_file import DeltaFile
    from lakelens.formats.delta.log_table import DeltaTable
    from lakelens.formats.delta.version import DeltaSnapshot

_Ruled = tuple[Ruling, list[Collision]]
_IsMet = Callable[["DeltaSnapshot", Action], bool]
_Rows = Sequence[tuple["DeltaSnapshot", "DeltaFile"]]
_READING = ("overwrite", "overwrite partitions", "delete", "update", "merge")
OPERATIONS = ("append", *_READING, "compaction", "alter", "upgrade")
_LEVELS = ("Serializable", "WriteSerializable", "SnapshotIsolation")
_PROPERTY = "delta.isolationLevel"
_BACKFILLS = ("ROW TRACKING BACKFILL", "ROW TRACKING UNBACKFILL")
_TRACKING = re.compile(r"delta\.enableRowTracking|delta\.rowTracking\.materialized.*ColumnName")
_MARK = re.compile(r'\\?"delta\.identity\.highWaterMark\\?":-?\d+,?')

_PROTOCOL = "the protocol allows what the writer knew"
_METADATA = "the metadata is as the writer read it"
_TXN = "no other run of the same application has committed"
_ADDED = "no new file in the partitions that the filter names"
_READ = "the files that it read are still there"
_REMOVED = "the files that it removes are still there"
_NEXT = "its version is the next one"
# what is in a message of delta-spark or of delta-rs, what it is about, and the kind of action that is in the way
_MESSAGES = (
    (r"CONCURRENT_APPEND|ConcurrentAppend|concurrent transactions? added new data", _ADDED, "add"),
    (r"CONCURRENT_DELETE_READ|ConcurrentDeleteRead|deleted data this operation read", _READ, "remove"),
    (r"CONCURRENT_DELETE_DELETE|ConcurrentDeleteDelete|deleted the same data", _REMOVED, "remove"),
    (r"DELTA_METADATA_CHANGED|MetadataChanged|Metadata changed since last commit", _METADATA, "metaData"),
    (r"DELTA_PROTOCOL_CHANGED|ProtocolChanged|Protocol changed since last commit", _PROTOCOL, "protocol"),
    (r"DELTA_CONCURRENT_TRANSACTION|ConcurrentTransactionExc|Concurrent transaction failed", _TXN, "txn"),
    (r"CONCURRENT_WRITE|ConcurrentWrite|MAX_COMMIT_RETRIES|CommitFailed", _NEXT, ""),
    (r"Failed to commit transaction: \d+|(?:Version \d+|\d{20}\.json) already exists", _NEXT, ""),
)
_KINDS = {check: kind for _, check, kind in _MESSAGES}
_EXAMPLE = re.compile(r"\(for example ([^\s)]+)")
_PARTITION = re.compile(r"added to (?:partition \[([^\]\n]*)\]|the root of the table)")
_COMMIT = re.compile(r"Conflicting commit: (\{.*)")


def read_failure(text: str) -> Failure | None:
    """Read what the engine said; None where it is none of its conflicts."""
    places = [(found.start(), row) for row in _MESSAGES if (found := re.search(row[0], text))]
    if not places:
        return None
    _, (_, check, kind) = min(places)
    partition, commit = _PARTITION.search(text), _COMMIT.search(text)
    return Failure(
        check,
        (partition and partition[1]) or "",
        tuple(_EXAMPLE.findall(text)),
        check == _NEXT,
        "OptimisticTransaction.commit" if check == _NEXT else "ConflictChecker",
        verb="removed" if kind == "remove" else "added",
        commit=commit[1] if commit else "",
    )


def trace(snapshot: DeltaSnapshot, failure: Failure) -> list[Collision] | None:
    """List what a version has against the check that failed; None where the exception names another commit."""
    said = snapshot.commit_info
    mark = said.get("txnId") or said.get("timestamp")
    if not mark or f"{mark}" not in failure.commit:
        return None
    kind = _KINDS[failure.check]
    if kind not in ("add", "remove"):
        actions = [action for action in snapshot.commit.actions if action.kind == kind]
        return [_describe_action(snapshot, action, failure.check) for action in actions]
    files = list_changes(snapshot)[kind == "remove"]
    names = {path.rpartition("/")[2] for path in failure.files}
    chosen = [file for file in files if not names or file.path.rpartition("/")[2] in names]
    parts = [file for file in chosen if failure.filter and str(file.partition) == failure.filter]
    return [describe_file(snapshot, file, failure.verb, failure.check) for file in parts or chosen]


def complete(
    table: DeltaTable, operation: str, isolation: str | None, mode: str | None
) -> tuple[str | None, str | None, str]:
    """Give the level that an operation has by the table's properties, and why; the mode is the id of its application."""
    require_words(operation=(operation, OPERATIONS), isolation=(isolation, _LEVELS))
    if operation == "compaction":
        return "SnapshotIsolation", mode, "rows are only rearranged"
    if isolation is not None:
        return isolation, mode, "as asked"
    isolation = table._context.configuration.get(_PROPERTY)
    if isolation in _LEVELS:
        return isolation, mode, f"{_PROPERTY} = {isolation}"
    return "Serializable", mode, f"{_PROPERTY} = Serializable, default of delta-spark"


class Race:
    """One attempt beside the commits that came first."""

    def __init__(self, table: DeltaTable, attempt: Attempt, why: str) -> None:
        self._table, self._attempt, self._why = table, attempt, why

    def rule(self) -> Iterator[_Ruled]:
        """Rule on each check that the operation meets, in the engine's order."""
        attempt = self._attempt
        is_optimize = attempt.operation == "compaction"
        if not is_optimize:
            every = "every commit"
            yield self._rule_facts(_PROTOCOL, every, "checkProtocolCompatibility", self._lacks_feature)
            yield self._rule_facts(_METADATA, every, "checkNoMetadataUpdates", self._differs)
        if attempt.mode is not None:
            source = "checkForUpdatedApplicationTransactionIdsThatCurrentTxnDependsOn"
            because, name = f"it commits as {attempt.mode}", attempt.mode
            yield self._rule_facts(
                _TXN, because, source, lambda _, action: action.fields.get("appId") == name
            )
        if attempt.operation in _READING and attempt.isolation != "SnapshotIsolation":
            yield self._rule_added()
        if attempt.operation in _READING:
            paths = {file.logical_path for file in attempt.replaced()}
            source = "checkForDeletedFilesAgainstCurrentTxnReadFiles"
            yield self._rule_removed("every level", source, lambda file: file.logical_path in paths)
        if is_optimize:
            yield self._rule_rewritten()

    # -- actions that are no files ------------------------------------------------------------------------------------

    def _rule_facts(self, check: str, because: str, source: str, is_met: _IsMet) -> _Ruled:
        kind = _KINDS[check]
        pairs = [
            (snapshot, action) for snapshot in self._attempt.between for action in snapshot.commit.actions
        ]
        rows = [pair for pair in pairs if pair[1].kind == kind]
        hits = [_describe_action(*pair, check) for pair in rows if is_met(*pair)]
        seen = f"{len(hits)} of {len(rows)} {kind}" if rows else f"no {kind} was committed"
        return Ruling(check, because, seen, not hits, source), hits

    def _lacks_feature(self, snapshot: DeltaSnapshot, action: Action) -> bool:
        known = _list_features(self._attempt.base.protocol)
        return self._attempt.operation == "upgrade" or not known <= _list_features(action.fields)

    def _differs(self, snapshot: DeltaSnapshot, action: Action) -> bool:
        """Check whether metadata is another one for a writer; one that sets metadata itself stops at any."""
        before = self._attempt.base.metadata
        if before is None or self._attempt.operation == "alter":
            return True
        (old, old_settings), (new, new_settings) = map(_strip_marks, (before.fields, action.fields))
        added = {name for name in new_settings if old_settings.get(name) != new_settings[name]}
        is_tracking = bool(added) and new_settings.get("delta.enableRowTracking") == "true"
        is_marked = not added and before.fields.get("schemaString") != action.fields.get("schemaString")
        is_allowed = is_marked or (is_tracking and all(map(_TRACKING.fullmatch, added)))
        return old != new or not is_allowed or bool(old_settings.keys() - new_settings.keys())

    # -- files --------------------------------------------------------------------------------------------------------

    def _rule_added(self) -> _Ruled:
        rows: list[tuple[DeltaSnapshot, DeltaFile]] = []
        skips_blind = self._attempt.isolation == "WriteSerializable"
        for snapshot in self._attempt.between:
            is_blind = snapshot.commit_info.get("isBlindAppend") is True
            if snapshot.operation not in _BACKFILLS and not (is_blind and skips_blind):
                rows += [(snapshot, file) for file in list_changes(snapshot)[0]]
        fits = self._attempt.fit([file for _, file in rows], False)
        hit = [row for row, fit in zip(rows, fits, strict=True) if fit]
        source = "checkForAddedFilesThatShouldHaveBeenReadByCurrentTxn"
        return _decide((_ADDED, self._why, source), "added", rows, hit)

    def _rule_rewritten(self) -> _Ruled:
        rewrite = Rewrite(self._table, {})
        rewrite.pack_files(list(self._attempt.replaced()))
        chosen = {file._key for packed in rewrite.bins for file in packed.files}
        last = self._attempt.between[-1] if self._attempt.between else self._attempt.base
        gone = chosen - last.state.files.keys()
        because = "it begins again as long as they are there"
        return self._rule_removed(because, "OptimizeExecutor.commitAndRetry", lambda file: file._key in gone)

    def _rule_removed(self, because: str, source: str, is_met: Callable[[DeltaFile], bool]) -> _Ruled:
        rows = [(snapshot, file) for snapshot in self._attempt.between for file in list_changes(snapshot)[1]]
        return _decide((_READ, because, source), "removed", rows, [row for row in rows if is_met(row[1])])


def _decide(rule: tuple[str, str, str], verb: str, rows: _Rows, hit: _Rows) -> _Ruled:
    check, because, source = rule
    hits = [describe_file(snapshot, file, verb, check) for snapshot, file in hit]
    return Ruling(check, because, count_hits(len(hits), len(rows), verb), not hits, source), hits


def _list_features(protocol: Mapping[str, Any]) -> set[str]:
    """List the features that a protocol names, and the versions up to its own."""
    listed = [protocol.get(f"{side}Features") for side in ("reader", "writer")]
    named = {f"{name}" for names in listed if isinstance(names, list | tuple) for name in names}
    least = ((side, read_number(protocol, f"min{side}Version") or 0) for side in ("Reader", "Writer"))
    return named | {f"{side} {number}" for side, known in least for number in range(min(known, 99))}


def _strip_marks(fields: Mapping[str, Any]) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Strip from metadata what writers may change without others: marks of identity columns; its properties apart."""
    kept = {name: value for name, value in fields.items() if name != "configuration"}
    kept["schemaString"] = _MARK.sub("", str(fields.get("schemaString")))
    return kept, fields.get("configuration") or {}


def _describe_action(snapshot: DeltaSnapshot, action: Action, check: str) -> Collision:
    why = f"{action.fields.get('appId') or action.kind} committed, against: {check}"
    return Collision(snapshot.id, action.kind, action.path, "", None, None, why)


def list_changes(snapshot: DeltaSnapshot) -> tuple[list[Any], list[Any]]:
    """List the files that a version added and those that it removed; one with a new vector is both."""
    added, removed = (
        [action for action in snapshot.commit.actions if action.kind == kind] for kind in ("add", "remove")
    )
    return snapshot._make_files(added), snapshot._make_files(removed)


def judge_attempt(table: DeltaTable, attempt: Attempt, why: str) -> list[_Ruled]:
    """Judge a commit by the checks of its operation: each check, and what fails it."""
    return list(Race(table, attempt, why).rule())


def list_ways(
    table: DeltaTable, operation: str, isolation: str | None, mode: str | None, judge: Try
) -> list[Way]:
    """List the level below, and what it costs; a table without partitions has one that every filter names."""
    ways = []
    if isolation == "Serializable" and operation in _READING:
        word = judge("WriteSerializable", mode)
        price = "rows that others insert meanwhile stay as they are; delta-spark reads the level and lets none set it"
        ways.append(
            Way("isolation WriteSerializable", word, price if word == "yes" else "a check fails there too")
        )
    return ways


CONFLICTS = ConflictRules(
    operations=OPERATIONS,
    read_failure=read_failure,
    complete=complete,
    judge=judge_attempt,
    changes=list_changes,
    describe=describe_file,
    ways=list_ways,
    retry="the engine has compared it with each commit that came; the same files stop it again",
    trace=trace,
    by_conjuncts=True,
)
