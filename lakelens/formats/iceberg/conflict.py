"""Which checks a commit of the Java library makes before it becomes the next snapshot, and what fails them.

    check      commits that are looked at        what of them is in the way
    new data   append, overwrite                 data files added, where the filter may match
    deletes    overwrite, delete                 delete files added, which reach a replaced file, or the filter's partitions
    removed    overwrite, delete, replace        data files removed, where the filter may match
    exist      overwrite, replace (and delete)   data files removed, to which a new position delete refers
    missing    any                               data files removed, which the commit replaces

The specification leaves this to writers ("Optimistic Concurrency"). The rules are those of `MergingSnapshotProducer` as
`BaseOverwriteFiles`, `BaseReplacePartitions`, `BaseRowDelta`, `BaseRewriteFiles` and Spark's `SparkWrite` and
`SparkPositionDeltaWrite` ask for them. Bounds decide whether a file may match; no row is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from lakelens.formats.iceberg.deletes.matching import DeleteIndex, partition_key
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
    find_uuid,
    require_words,
)

OPERATIONS = ("append", "overwrite", "overwrite partitions", "delete", "update", "merge", "compaction")
_LEVELS = ("serializable", "snapshot")
_MODES = ("copy-on-write", "merge-on-read")
_NEW_DATA = frozenset({"append", "overwrite"})
_NEW_DELETES = frozenset({"overwrite", "delete"})
_REMOVED = frozenset({"overwrite", "delete", "replace"})

# checks that stop at files which another commit removed
_NONE_REMOVED = "no data file removed where the filter matches"
_REFERRED = "the files that its deletes refer to are still there"
_REPLACED = "the files that it replaces are still there"

# how a message of the library begins, and what it is about
_MESSAGES = (
    (
        "Found conflicting files that can contain records matching",
        "no new data file that the filter can match",
    ),
    (
        "Found new conflicting delete files that can apply to records matching",
        "no new delete where the filter matches",
    ),
    ("Found conflicting deleted files that can", _NONE_REMOVED),
    (
        "Cannot commit, found new position delete for replaced data file",
        "no new delete for a file that it replaces",
    ),
    ("Cannot commit, found new delete for replaced data file", "no new delete for a file that it replaces"),
    ("Cannot commit, missing data files", _REFERRED),
    ("Missing required files to delete", _REPLACED),
    ("Found concurrently added DV for", "no new deletion vector for a file of its own"),
)
_GONE = (_NONE_REMOVED, _REFERRED, _REPLACED)
# a place begins with a scheme or a slash, and may have the "=" of a partition in it
_FILE = re.compile(r"(?:[a-z][a-z0-9+.-]*:|/)[^\s\[\],'\"{}]+\.(?:parquet|orc|avro|puffin)\b", re.IGNORECASE)
_STACK = re.compile(r"\n\s*(?:at |Caused by|\.\.\. )|\]")
_RACE = re.compile(
    r"CommitFailedException|has been committed by|Version \d+ already exists|metadata location .* has changed"
    r"|Cannot commit: stale table metadata|is not same as the current table metadata location"
)


def read_failure(text: str) -> Failure | None:
    """Read what the library said; None where it is none of its conflicts."""
    for begin, check in _MESSAGES:
        place = text.find(begin)
        if place >= 0:
            # the filter is on its line; the files may be one to a line, up to the stack or the end of the list
            said = text[place + len(begin) :]
            asked, _, rest = (
                said.partition("\n")[0].rpartition(": ") if " matching" in begin else ("", "", said)
            )
            asked = asked or ("" if begin.endswith("for") else rest if " matching" in begin else "")
            named = _STACK.split(said[len(asked) :], maxsplit=1)[0]
            files = tuple(dict.fromkeys(_FILE.findall(named)))
            verb: Literal["added", "removed"] = "removed" if check in _GONE else "added"
            return Failure(check, asked.strip(), files, False, "MergingSnapshotProducer", verb=verb)
    if _RACE.search(text):
        return Failure(
            "the table is still as it was when the commit began", "", (), True, "SnapshotProducer.commit"
        )
    return None


def complete(
    table: Any, operation: str, isolation: str | None, mode: str | None
) -> tuple[str | None, str | None, str]:
    """Give the isolation and mode that an operation has by the table's properties, and why it has them."""
    require_words(operation=(operation, OPERATIONS), isolation=(isolation, _LEVELS), mode=(mode, _MODES))
    why = "as asked"
    if operation in ("delete", "update", "merge"):
        if isolation is None:
            key = f"write.{operation}.isolation-level"
            isolation = table.properties.get(key, "serializable")
            why = f"{key} = {isolation}" + ("" if key in table.properties else ", default")
        mode = mode or table.properties.get(f"write.{operation}.mode", "copy-on-write")
    elif operation.startswith("overwrite") and isolation is None:
        why = "an overwrite checks nothing unless the writer sets isolation-level"
    return isolation, mode, why


class Checks:
    """Asks one attempt's checks; what the commits in between added and removed is read once."""

    def __init__(self, table: Any, attempt: Attempt, why: str) -> None:
        self._attempt, self._why = attempt, why
        self._added = [(snapshot, *pair) for snapshot in attempt.between for pair in _walk(snapshot, "ADDED")]
        self._removed = [
            (snapshot, *pair) for snapshot in attempt.between for pair in _walk(snapshot, "DELETED")
        ]
        self._files: list[Any] = [] if attempt.operation == "append" else list(attempt.replaced())
        self._version = table.format_version or 1

    def rule(self) -> Iterator[tuple[Ruling, list[Collision]]]:
        """Rule on each check that the operation makes, in the library's order."""
        attempt = self._attempt
        is_serializable = attempt.isolation == "serializable"
        if attempt.operation.startswith("overwrite"):
            by_filter = attempt.operation == "overwrite"
            source = "BaseOverwriteFiles.validate" if by_filter else "BaseReplacePartitions.validate"
            if is_serializable:
                yield self._rule_new_data(source)
            if attempt.isolation is not None:
                yield self._rule_new_deletes(source)
                rows = _choose(self._removed, _REMOVED, "data")
                hit = self._keep_fitting(rows, bounds=by_filter)
                check = _NONE_REMOVED
                yield _decide(check, "both levels", source, rows, hit, "removed")
        elif attempt.operation == "compaction":
            yield self._rule_reached("BaseRewriteFiles.validate", equality=False)
            yield self._rule_missing("BaseRewriteFiles.validate")
        elif attempt.mode == "merge-on-read":
            source = "BaseRowDelta.validate"
            is_delete = attempt.operation == "delete"
            yield self._rule_exist(source, _REMOVED - {"delete"} if is_delete else _REMOVED)
            if is_serializable:
                yield self._rule_new_data(source)
            if not is_delete:
                yield self._rule_new_deletes(source)
            if self._version >= 3:
                yield self._rule_vectors(source)
        elif attempt.operation in ("delete", "update", "merge"):
            if is_serializable:
                yield self._rule_new_data("BaseOverwriteFiles.validate")
            yield self._rule_reached("BaseOverwriteFiles.validate", equality=True)
            yield self._rule_missing("BaseOverwriteFiles.validate")

    def _keep_fitting(self, rows: list[tuple[Any, str, Any]], bounds: bool) -> list[tuple[Any, str, Any]]:
        fits = self._attempt.fit([row[2] for row in rows], bounds)
        return [row for row, fit in zip(rows, fits, strict=True) if fit]

    def _rule_new_data(self, source: str) -> tuple[Ruling, list[Collision]]:
        rows = _choose(self._added, _NEW_DATA, "data")
        # where partitions are replaced they are compared, and not the bounds of the files in them
        hit = self._keep_fitting(rows, bounds=self._attempt.operation != "overwrite partitions")
        because = self._why if self._why != "as asked" else "isolation serializable"
        return _decide("no new data file that the filter can match", because, source, rows, hit, "added")

    def _rule_new_deletes(self, source: str) -> tuple[Ruling, list[Collision]]:
        rows = _choose(self._added, _NEW_DELETES, "deletes")
        known = [*(self._attempt.base.files if self._attempt.base else ()), *(row[2] for row in self._added)]
        data: list[Any] = [file for file in known if file.content == "data"]
        fits = self._attempt.fit(data, False)
        places = {partition_key(file) for file, fit in zip(data, fits, strict=True) if fit}
        hit = [row for row in rows if partition_key(row[2]) in places]
        return _decide("no new delete where the filter matches", "both levels", source, rows, hit, "added")

    def _rule_reached(self, source: str, equality: bool) -> tuple[Ruling, list[Collision]]:
        rows = _choose(self._added, _NEW_DELETES, "deletes")
        rows = [row for row in rows if equality or row[2].content != "equality_deletes"]
        hit = []
        for row in rows:
            index = DeleteIndex([row[2]], row[0].delete_reader)
            if any(index.find(file) for file in self._files):
                hit.append(row)
        return _decide("no new delete for a file that it replaces", "both levels", source, rows, hit, "added")

    def _rule_vectors(self, source: str) -> tuple[Ruling, list[Collision]]:
        paths = {file.recorded_path for file in self._files}
        rows = [row for row in self._added if row[2].content == "deletion_vector"]
        hit = [row for row in rows if row[2].referenced_data_file in paths]
        return _decide(
            "no new deletion vector for a file of its own", "format version 3", source, rows, hit, "added"
        )

    def _rule_exist(self, source: str, operations: frozenset[str]) -> tuple[Ruling, list[Collision]]:
        rows = _choose(self._removed, operations, "data")
        paths = {file.recorded_path for file in self._files}
        hit = [row for row in rows if row[2].recorded_path in paths]
        check = _REFERRED
        return _decide(check, "both levels", source, rows, hit, "removed")

    def _rule_missing(self, source: str) -> tuple[Ruling, list[Collision]]:
        rows = [row for row in self._removed if row[2].content == "data"]
        paths = {file.recorded_path for file in self._files}
        hit = [row for row in rows if row[2].recorded_path in paths]
        return _decide(_REPLACED, "both levels", source, rows, hit, "removed")


def judge_attempt(table: Any, attempt: Attempt, why: str) -> list[tuple[Ruling, list[Collision]]]:
    """Judge a commit by the checks of its operation: each check, and the files that fail it."""
    return list(Checks(table, attempt, why).rule())


def _walk(snapshot: Any, status: str) -> Iterator[tuple[str, Any]]:
    """Walk what a snapshot itself added or removed, with its operation."""
    for manifest in snapshot.manifests:
        if manifest.added_snapshot_id == snapshot.id:
            for entry in manifest.entries:
                if entry.status == status and entry.snapshot_id == snapshot.id:
                    yield snapshot.operation, entry.file


def list_changes(snapshot: Any) -> tuple[list[Any], list[Any]]:
    """List the files that a snapshot added and those that it removed, deletes included."""
    return [file for _, file in _walk(snapshot, "ADDED")], [file for _, file in _walk(snapshot, "DELETED")]


def _choose(
    rows: Sequence[tuple[Any, str, Any]], operations: frozenset[str], content: str
) -> list[tuple[Any, str, Any]]:
    return [row for row in rows if row[1] in operations and (row[2].content == "data") == (content == "data")]


def _decide(
    check: str,
    because: str,
    source: str,
    rows: Sequence[tuple[Any, str, Any]],
    hit: Sequence[tuple[Any, str, Any]],
    verb: str,
) -> tuple[Ruling, list[Collision]]:
    seen = count_hits(len(hit), len(rows), verb)
    collisions = [describe_file(snapshot, file, verb, check) for snapshot, _, file in hit]
    return Ruling(check, because, seen, not hit, source), collisions


def list_ways(table: Any, operation: str, isolation: str | None, mode: str | None, judge: Try) -> list[Way]:
    """List the other isolation and the other mode, and what each costs."""
    ways = []
    if isolation == "serializable":
        word = judge("snapshot", mode)
        price = "rows that came meanwhile are not looked at: they stay as they are, also where the filter matches them"
        ways.append(
            Way("isolation snapshot", word, price if word == "yes" else "a check of both levels fails")
        )
    if mode is not None and operation != "compaction":
        other = next(known for known in _MODES if known != mode)
        word = judge(isolation, other)
        price = "readers apply deletes" if other == "merge-on-read" else "whole files are written again"
        ways.append(Way(f"mode {other}", word, price if word == "yes" else "a check fails there too"))
    return ways


CONFLICTS = ConflictRules(
    operations=OPERATIONS,
    read_failure=read_failure,
    complete=complete,
    judge=judge_attempt,
    changes=list_changes,
    describe=describe_file,
    ways=list_ways,
    retry="a retry of the commit checks the same files again",
    name_writer=find_uuid,
)
