"""Which checks a commit of Paimon makes on the newest snapshot before it becomes the next one, and what fails them.

    statement                         commits as             checked                       what must hold
    INSERT                            APPEND                 no
    … that compacts too               APPEND, then COMPACT   the second commit             files, keys, buckets
    DELETE, UPDATE, MERGE, no keys    APPEND (0.9)           no
                                      OVERWRITE (1.4)        yes                           files, vectors
    compaction                        COMPACT                yes                           files, keys, buckets
    INSERT OVERWRITE, TRUNCATE, …     OVERWRITE              made on the newest snapshot   nothing can be missing

    files      each file that it removes is still there, at its level
    keys       of a table with keys: in no level above 0 may keys of two files overlap
    buckets    the files of a partition are of one number of buckets (1.4)
    vectors    of a table without buckets: the deletion vector of a file is the one that the writer read (1.4)

A statement on a table with keys writes rows, deletes too, and what its writers compact meanwhile is a second commit. The
rules are those of `FileStoreCommitImpl` of 0.9, and of `ConflictDetection` of 1.4, which judges whatever is newer than 0.9.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.paimon.maintenance.deletion import is_new_engine
from lakelens.formats.paimon.maintenance.picks import (
    AppendFile,
    AppendPacker,
    MergePlanner,
    SortedRun,
    Unit,
    list_runs,
    pick_full,
    pick_unit,
)
from lakelens.formats.paimon.maintenance.settings import Settings
from lakelens.formats.paimon.manifests.index import DELETION_VECTORS, PaimonIndexFile
from lakelens.model.check.attempt import (
    Attempt,
    Collision,
    ConflictRules,
    Failure,
    Ruling,
    Try,
    Way,
    count_hits,
    find_uuid,
    require_words,
)

OPERATIONS = (
    *("append", "overwrite", "overwrite partitions", "delete", "update", "merge", "compaction"),
    *("drop partition", "truncate"),
)
_Place = tuple[bytes, int]  # the stored partition and the bucket
_MODES = ("copy-on-write", "deletion-vectors")
_CHANGES = ("delete", "update", "merge")

_FILES = "the files that it replaces are still there"
_KEYS = "no other file has its keys in a level that it writes"
_BUCKETS = "a partition has one number of buckets"
_VECTORS = "the deletion vectors that it replaces are as it read them"
_STRICT = "no other user compacted or overwrote since the last safe snapshot"

# how a message of the library begins, what it is about, whether a retry of the commit may pass, whose it is
_MESSAGES = (
    ("File deletion conflicts detected! Give up committing.", _FILES, False, "noConflictsOrFail"),
    ("LSM conflicts detected! Give up committing.", _KEYS, False, "noConflictsOrFail"),
    ("without overwrite. Give up committing.", _BUCKETS, False, "ConflictDetection.checkBucketKeepSame"),
    ("Try to write ", _BUCKETS, False, "AbstractFileStoreWrite"),
    ("Trying to create deletion vector on file", _VECTORS, False, "ConflictDetection"),
    ("Giving up committing as commit.strict-mode", _STRICT, False, "StrictModeChecker"),
    ("You are writing data to expired partitions", _FILES, False, "checkConflictForPartitionExpire"),
    ("Trying to delete file", _FILES, False, "FileEntry.mergeEntries"),
    (
        "there maybe exist commit conflicts between multiple jobs",
        "its snapshot is the next one",
        True,
        "tryCommit",
    ),
)
_TRYING = re.compile(r"Trying to (?:delete|create deletion vector on) file (\S+)")
_ENTRY = re.compile(
    r"\{kind=(ADD|DELETE), [^{}]*?fileName='?([^\s,{}']+)[^{}]*\}(?:, \{dvFileName=(?:null|([^\s{}]+))\})?"
)
_NAMED = re.compile(r"level \d+, file ([^\s,]+)")
_USER = re.compile(r"Current commit user is: ([^\s;]+)")
_BUCKET_NUMBERS = re.compile(
    r"Total buckets of partition .*? changed from \d+ to \d+|Try to write .*? bucket num is \d+"
)


def read_failure(text: str) -> Failure | None:
    """Read what the library said; None where it is none of its conflicts."""
    for begin, check, can_retry, source in _MESSAGES:
        if begin in text and (begin != "Try to write " or "bucket num" in text):
            # the whole commit, where the message has it, and the live files of its partitions
            base, _, changes = text.rpartition("Changes are:")
            entries = _ENTRY.findall(changes) if base else []
            removed = [name for kind, name, _ in entries if kind == "DELETE"]
            named = _TRYING.findall(text) or _NAMED.findall(text)
            if check == _FILES:
                live = {
                    name: vectors
                    for _, name, vectors in _ENTRY.findall(base.rpartition("Base entries are:")[2])
                }
                named = named or removed  # without its cause
                if any(live.get(name) for name in named):
                    # the file is there, with another vector than the writer read
                    check, named = _VECTORS, [live[name] for name in named if live.get(name)]
            elif check == _KEYS:
                own = {name for _, name, _ in entries}
                named = [name for name in named if name not in own]
            asked, user = _BUCKET_NUMBERS.search(text), _USER.search(text)
            written = [name for kind, name, _ in entries if kind == "ADD" and name not in removed]
            return Failure(
                check,
                asked.group() if asked else "",
                tuple(dict.fromkeys(named)),
                can_retry,
                source,
                user.group(1) if user else None,
                tuple(dict.fromkeys(written)),
                "removed" if check == _FILES else "added",
            )
    return None


def complete(
    table: Any, operation: str, isolation: str | None, mode: str | None
) -> tuple[str | None, str | None, str]:
    """Give how an operation deletes by the table's options, and why; isolation is "strict" or none."""
    require_words(operation=(operation, OPERATIONS), isolation=(isolation, ("strict",)), mode=(mode, _MODES))
    if isolation is None and "commit.strict-mode.last-safe-snapshot" in table.options:
        isolation = "strict"
    if table.primary_keys or operation not in _CHANGES:
        return isolation, None, "as asked"
    has_vectors = Settings(table.options, has_keys=False).has_vectors
    mode = mode or ("deletion-vectors" if has_vectors else "copy-on-write")
    return isolation, mode, f"deletion-vectors.enabled = {str(has_vectors).lower()}"


@dataclass
class _Change:
    """What a compaction removes, and each level of a bucket that it writes, with the files whose keys go there."""

    removed: list[Any] = field(default_factory=list)
    written: list[tuple[_Place, int, list[Any]]] = field(default_factory=list)
    is_made: bool = False


class Checks:
    """Asks one attempt's checks."""

    def __init__(self, table: Any, attempt: Attempt) -> None:
        self._table, self._attempt = table, attempt
        self._has_keys = bool(table.primary_keys)
        self._settings = Settings(table.options, self._has_keys)
        self._is_new = is_new_engine(table, {})
        self._removed = [(snapshot, file) for snapshot in attempt.between for file in snapshot.removed_files]
        self._added = [(snapshot, file) for snapshot in attempt.between for file in snapshot.delta_files]
        self._latest = attempt.between[-1] if attempt.between else attempt.base
        self.notes = attempt.notes

    def rule(self) -> Iterator[tuple[Ruling, list[Collision]]]:
        """Rule on each check that the operation meets, in the engine's order."""
        attempt = self._attempt
        is_change = attempt.operation in _CHANGES and not self._has_keys
        if attempt.isolation == "strict":
            yield self._rule_strict(is_change or attempt.operation in _REPLACING)
        if attempt.operation in _REPLACING:
            because = "an overwrite is made again on the newest snapshot by each try"
            yield Ruling(_FILES, because, "nothing can be missing", True, "tryOverwrite"), []
        elif is_change and attempt.mode == "deletion-vectors":
            touched = self._share([file.file_name for file in attempt.replaced()])
            base = attempt.base.files if attempt.base else ()
            yield self._rule_files([file for file in base if file.file_name in touched], self._is_new)
            yield self._rule_vectors(touched)
        elif is_change:
            yield self._rule_files(list(attempt.replaced()), self._is_new)
        else:
            change = self._compact() if attempt.operation == "compaction" else self._compact_meanwhile()
            if change.is_made:
                yield from self._rule_compaction(change)
        if self._has_keys and self._table.bucket == -1 and attempt.operation in ("append", *_CHANGES):
            self.notes.append(
                "buckets are dynamic: two jobs that write one partition may put a key into two buckets, and nothing "
                "checks it"
            )

    # -- what it would do -------------------------------------------------------------------------------------------

    @cached_property
    def _buckets(self) -> dict[_Place, list[Any]]:
        """The files of the base in each bucket that the filter reaches."""
        base = self._attempt.base
        files = [file for file in (base.files if base else ()) if file.content == "data"]
        found: dict[_Place, list[Any]] = {}
        for file, fit in zip(files, self._attempt.fit(files, False), strict=True):
            if fit:
                found.setdefault(_place(file), []).append(file)
        return found

    @cached_property
    def _vectors(self) -> dict[str, str]:
        return _map_vectors(self._attempt.base)

    def _compact(self) -> _Change:
        """Find what `sys.compact` takes: all runs of a bucket, or the bins of a table without keys."""
        change = _Change()
        if self._has_keys:
            for place, files in self._buckets.items():
                runs = list_runs(files)
                levels = max(self._settings.levels, runs[-1].level + 1)
                unit = pick_full(runs, levels)
                if unit is not None:
                    self._take(change, place, runs, unit, levels)
            return change
        packer = AppendPacker(self._settings, self._vectors, self._is_new)
        if self._table.bucket > 0:
            groups = list(self._buckets.values())
            bins = [held for files in groups for held in packer.pack_bucket(files, True)]
        else:
            partitions: dict[bytes, list[Any]] = {}
            for (partition, _), files in self._buckets.items():
                partitions.setdefault(partition, []).extend(files)
            bins = [held for files in partitions.values() for held in packer.pack_partition(files)]
        change.removed += [file for held in bins for file in held]
        change.is_made = bool(bins)
        return change

    def _compact_meanwhile(self) -> _Change:
        """Find what the writers of a statement compact of each bucket, with their own rows as a new small file."""
        change = _Change()
        if self._settings.flag("write-only") or not (self._has_keys or self._table.bucket > 0):
            return change
        if not self._has_keys:
            packer = AppendPacker(self._settings, self._vectors, self._is_new)
            for files in self._buckets.values():
                # with the file that the statement writes: small, with the newest rows, without a path
                where = (files[0].partition, files[0].bucket, files[0].total_buckets)
                own = AppendFile(self._table.context, "", *where, 1, 1, 1 << 62, files[0].file_format, ())
                bins = packer.pack_bucket([*files, own], False)
                change.removed += [file for held in bins for file in held if file.path]
            change.is_made = bool(change.removed)
            return change
        added = [file for _, file in self._added]
        fits = self._attempt.fit(added, False)
        others = [_place(file) for file, fit in zip(added, fits, strict=True) if fit]
        for place in dict.fromkeys((*self._buckets, *others)):
            runs = [SortedRun(0, ()), *list_runs(self._buckets.get(place, ()))]
            levels = max(self._settings.levels, runs[-1].level + 1)
            unit = pick_unit(runs, levels, self._settings, self._is_new)
            if unit is not None:
                self._take(change, place, runs, unit, levels)
        return change

    def _take(
        self, change: _Change, place: _Place, runs: Sequence[SortedRun], unit: Unit, levels: int
    ) -> None:
        taken = [file for run in runs[: unit.count] for file in run.files]
        if taken:
            planner = MergePlanner(self._settings, frozenset(self._vectors), self._is_new)
            left = {id(file) for file in planner.plan(runs, unit.count, unit.level, levels).left}
            change.removed += [file for file in taken if id(file) not in left]
        if taken or self._attempt.operation != "delete":  # of deletes alone nothing is left to write
            change.written.append((place, unit.level, taken))
        change.is_made = True

    # -- what it is checked against ---------------------------------------------------------------------------------

    def _rule_files(self, files: Sequence[Any], is_checked: bool) -> tuple[Ruling, list[Collision]]:
        known = {_identify(file) for file in files}
        hit = [pair for pair in self._removed if _identify(pair[1]) in known]
        because = (
            "a commit that removes files" if is_checked else "Paimon 0.9 does not ask it of this statement"
        )
        if hit and not is_checked:
            gone = f"{len(hit)} file{'' if len(hit) == 1 else 's'}"
            self.notes.append(
                f"Paimon 0.9 commits this unchecked, though {gone} that it replaces {'is' if len(hit) == 1 else 'are'} "
                "gone already: their rows stand twice, or are there again, until it is repaired; Paimon 1.4 refuses it"
            )
        return _decide(_FILES, because, "noConflictsOrFail", self._removed, hit, "removed", is_checked)

    def _rule_compaction(self, change: _Change) -> Iterator[tuple[Ruling, list[Collision]]]:
        if self._is_new:
            yield self._rule_buckets()
        yield self._rule_files(change.removed, True)
        if self._has_keys:
            yield self._rule_keys(change)
        elif self._settings.has_vectors and self._table.bucket < 0:
            yield self._rule_vectors(self._share([file.file_name for file in change.removed]))

    def _rule_keys(self, change: _Change) -> tuple[Ruling, list[Collision]]:
        mine = {_identify(file) for file in change.removed}
        hit = []
        gone = {_identify(file) for _, file in self._removed}
        rows = [(snapshot, file) for snapshot, file in self._added if (file.level or 0) > 0]
        rows = [pair for pair in rows if _identify(pair[1]) not in gone]
        fits = self._attempt.fit([file for _, file in rows], True)
        for (snapshot, file), fit in zip(rows, fits, strict=True):
            for place, level, sources in change.written:
                own = self._attempt.operation != "compaction" and fit
                taken = [source for source in sources if _identify(source) in mine]
                is_met = own or any(_overlap(file, source) for source in taken)
                if _place(file) == place and file.level == level and is_met:
                    hit.append((snapshot, file))
                    break
        because = "a commit that compacts a table with keys"
        return _decide(_KEYS, because, "checkKeyRange", rows, hit, "added", True)

    def _rule_buckets(self) -> tuple[Ruling, list[Collision]]:
        counts = {
            partition: files[0].total_buckets for (partition, _), files in self._buckets.items() if files
        }
        live = {_identify(file) for file in self._latest.files} if self._latest else set()
        rows = [pair for pair in self._added if (pair[1].total_buckets or 0) > 0]
        hit = [
            (snapshot, file)
            for snapshot, file in rows
            if _identify(file) in live
            and counts.get(file.partition_bytes, file.total_buckets) != file.total_buckets
        ]
        source = "ConflictDetection.checkBucketKeepSame"
        return _decide(_BUCKETS, "a commit that is no overwrite", source, rows, hit, "added", True)

    def _share(self, names: Sequence[str]) -> frozenset[str]:
        """Add the data files whose vectors are in an index file with one of some: they are written again together."""
        indexes = {self._vectors[name] for name in names if name in self._vectors}
        return frozenset(names).union(name for name, index in self._vectors.items() if index in indexes)

    def _rule_vectors(self, touched: frozenset[str]) -> tuple[Ruling, list[Collision]]:
        """A vector replaces the one that was read: it may not have changed since."""
        known = {file.file_name: file for file in (self._attempt.base.files if self._attempt.base else ())}
        hit, before, seen = [], self._vectors, 0
        for snapshot in self._attempt.between:
            after = _map_vectors(snapshot)
            changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
            seen += len(changed)
            hit += [(snapshot, known[name]) for name in changed if name in touched and name in known]
            before = after
        because = "a commit with deletion vectors" if self._is_new else "Paimon 0.9 does not ask it"
        if hit and not self._is_new:
            self.notes.append(
                "Paimon 0.9 commits this unchecked, though vectors of files that it replaces or marks were written "
                "meanwhile: rows that the other statement deleted may be there again. Paimon 1.4 refuses it"
            )
        source = "ConflictDetection.buildDeltaEntriesWithDV"
        return _decide(_VECTORS, because, source, [None] * seen, hit, "marked", self._is_new)

    def _rule_strict(self, replaces: bool) -> tuple[Ruling, list[Collision]]:
        hit = []
        rows = [*self._added, *self._removed]
        for snapshot, file in rows:
            kind = snapshot.operation
            is_fixed = kind == "APPEND" and replaces and (file.bucket or 0) >= 0 and self._table.bucket > 0
            if kind in ("COMPACT", "OVERWRITE") or is_fixed:
                hit.append((snapshot, file))
        because = "commit.strict-mode.last-safe-snapshot is set"
        return _decide(_STRICT, because, "StrictModeChecker.check", rows, hit, "changed", True)


_REPLACING = ("overwrite", "overwrite partitions", "drop partition", "truncate")


def _place(file: Any) -> _Place:
    return file.partition_bytes, file.bucket or 0


def _identify(file: Any) -> tuple[Any, ...]:
    """Identify a file as the engine does: at another level it is another file."""
    return file.partition_bytes, file.bucket, file.level, file.file_name


def _map_vectors(snapshot: Any) -> dict[str, str]:
    """Map data files to the index files that have their vectors."""
    if snapshot is None:
        return {}
    found = [file for file in snapshot.index_files if file.index_type == DELETION_VECTORS]
    return {str(part["data_file"]): file.path for file in found for part in file.ranges}


def _overlap(file: Any, other: Any) -> bool:
    """Check whether the keys of two files overlap; True where they cannot be compared."""
    try:
        low, high = tuple(file.min_key or ()), tuple(file.max_key or ())
        other_low, other_high = tuple(other.min_key or ()), tuple(other.max_key or ())
        return bool(low <= other_high and other_low <= high)
    except (LakeError, TypeError):
        return True


def _decide(
    check: str,
    because: str,
    source: str,
    rows: Sequence[Any],
    hit: Sequence[tuple[Any, Any]],
    verb: str,
    is_checked: bool,
) -> tuple[Ruling, list[Collision]]:
    seen = count_hits(len(hit), len(rows), verb)
    collisions = [describe(snapshot, file, verb, check) for snapshot, file in hit] if is_checked else []
    return Ruling(check, because, seen, not collisions, source), collisions


def describe(snapshot: Any, file: Any, verb: str, check: str) -> Collision:
    """Describe a file that is in the way."""
    is_index = isinstance(file, PaimonIndexFile)
    partition = [f"{name}={value}" for name, value in file.partition.items()]
    where = (
        []
        if file.bucket is None or (not is_index and file.total_buckets == -1)
        else [f"bucket {file.bucket}"]
    )
    level = [] if is_index or not file.min_key else [f"level {file.level}"]
    return Collision(
        snapshot.id,
        "deletion_vectors" if is_index else file.content,
        file.path,
        ", ".join([*partition, *where, *level]),
        file.row_count if is_index else file.record_count,
        file.size_bytes,
        f"{verb}, against: {check}",
    )


def list_changes(snapshot: Any) -> tuple[list[Any], list[Any]]:
    """List the files that a snapshot added, index files with vectors too, and those that it removed."""
    before = set() if snapshot.parent is None else {file.path for file in snapshot.parent.index_files}
    vectors = [
        file
        for file in snapshot.index_files
        if file.index_type == DELETION_VECTORS and file.path not in before
    ]
    return [*snapshot.delta_files, *vectors], list(snapshot.removed_files)


def judge_attempt(table: Any, attempt: Attempt, why: str) -> list[tuple[Ruling, list[Collision]]]:
    """Judge a commit by the checks of its operation: each check, and the files that fail it."""
    return list(Checks(table, attempt).rule())


def list_ways(table: Any, operation: str, isolation: str | None, mode: str | None, judge: Try) -> list[Way]:
    """List what would have passed instead, and what it costs."""
    ways = []
    if isolation == "strict":
        ways.append(
            Way("without commit.strict-mode", judge(None, mode), "other writers' compactions may pass")
        )
    if table.primary_keys or operation == "compaction":
        ways.append(
            Way(
                "write-only = true, and one job that compacts",
                "no" if operation == "compaction" else "yes",
                "readers merge more files until that job comes by"
                if operation != "compaction"
                else "this is a compaction: let it be the only one of the table",
            )
        )
    if mode == "copy-on-write":
        price = "readers apply vectors; only for tables that are read by Paimon 0.9 or later"
        ways.append(Way("deletion-vectors.enabled = true", judge(isolation, "deletion-vectors"), price))
    return ways


CONFLICTS = ConflictRules(
    operations=OPERATIONS,
    read_failure=read_failure,
    complete=complete,
    judge=judge_attempt,
    changes=list_changes,
    describe=describe,
    ways=list_ways,
    retry="the engine has tried again already, and checks the same files each time",
    name_writer=find_uuid,
)
