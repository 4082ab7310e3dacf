"""Why a commit failed, or whether it would: which commits came between, which of their files fail which check.

    an exception      says which check failed, and often names files: the commits that added or removed them are found
    two states        the checks of an operation are asked of every commit between the state that its writer
                      started from and the other one

Bounds and partitions decide whether a file may hold a row; no row is read. So "collides" is what the library would say
from the same metadata, and not that two writers changed one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from lakelens.analysis.check.strays import find_strays
from lakelens.analysis.conflict.narrowing import list_narrower
from lakelens.analysis.explain.explanation import Explanation
from lakelens.caching import cached_property
from lakelens.display import Displayable, Named
from lakelens.errors import LakeError, say_value
from lakelens.model.check.attempt import (
    Attempt,
    Collision,
    Collisions,
    ConflictRules,
    Failure,
    Ruling,
    Rulings,
    Way,
    Ways,
)
from lakelens.model.collections import Items, Tabular
from lakelens.model.driver import require_part
from lakelens.model.facts.facts import Fact
from lakelens.model.fileset import FileSet
from lakelens.model.snapshot import Snapshot

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.check.attempt import ConflictRules, Failure
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

Outcome = Literal["collides", "passes", "unknown"]
_MOST = 1_000  # commits that are looked at for the files that an exception names
_MOST_TEXT = 100_000  # characters of an exception


@dataclass(frozen=True, slots=True)
class Meanwhile(Named):
    """A commit that came between: whether a file of it collides, and what it added and removed."""

    snapshot_id: int | None
    committed_at: datetime | None
    operation: str
    collides: bool
    added: int
    removed: int
    colliding: int


class Meanwhiles(Items[Meanwhile]):
    """The commits in between, the oldest first."""

    __slots__ = ()
    facts = (
        Fact("snapshot_id", "int64"),
        Fact("committed_at", "time"),
        Fact("operation"),
        Fact("collides", "bool"),
        Fact("added", "int64"),
        Fact("removed", "int64"),
        Fact("colliding", "int64"),
    )


@dataclass(frozen=True)
class Conflict(Tabular, Displayable):
    """Why a commit failed, or whether it would.

    `outcome` is "collides", "passes" (nothing that came between is in the way) or "unknown" (an exception that names no file
    which the table's history has). `collisions` are the files, `rulings` the checks, `between` the commits, `ways` what
    would have passed. `retry` is whether the same commit may pass when it is tried again, None where that is not known.
    """

    table: Table
    outcome: Outcome
    operation: str
    where: str | None
    isolation: str | None
    mode: str | None
    base: Snapshot | None
    between: Meanwhiles
    rulings: Rulings
    collisions: Collisions
    ways: Ways
    retry: bool | None
    failure: Failure | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def headline(self) -> str:
        """The answer in a line."""
        name = self.operation or "the commit"
        if self.outcome == "collides":
            culprits = [commit for commit in self.between if commit.collides]
            first = culprits[0] if culprits else None
            who = "" if first is None else f" by {first.operation} {first.snapshot_id}"
            verb = "failed" if self.failure is not None else "would fail"
            number, noun = len(self.collisions), self.collisions.noun
            said = f"{number} {noun}{'' if number == 1 else 's'}"
            return f"{name} {verb}{who}, {said}; a retry of the commit cannot pass"
        if self.outcome == "passes":
            return f"{name}: nothing that came between collides; would pass" + (
                " on a retry" if self.failure else ""
            )
        return f"{name} failed; nothing in the table's history is named by what it says"

    @cached_property
    def left(self) -> Leftovers:
        """Files that nothing refers to, written since the base was committed: what the failed writer may have left.

        Looked for in a listing when this is first asked; each says what ties it to a writer.
        """
        return find_leftovers(self.table, require_part(self.table, "conflict"), self.base, self.failure)

    def to_arrow(self) -> pa.Table:
        """Give the files that collide as a table."""
        return self.collisions.to_arrow()

    def __repr__(self) -> str:
        return f"<Conflict: {self.headline}>"


def explain_conflict(
    table: Table,
    error: Any = None,
    base: Any = None,
    theirs: Any = None,
    operation: str | None = None,
    where: str | None = None,
    isolation: str | None = None,
    mode: str | None = None,
) -> Conflict:
    """Explain why a commit failed, or whether it would; see `Table.conflict`."""
    rules: ConflictRules = require_part(table, "conflict")
    if isinstance(error, tuple):
        if len(error) != 2:
            raise LakeError("a pair of snapshots is (mine, theirs)", seen=say_value(error))
        (base, theirs), error = error, None
    failure = None
    if error is not None:
        failure = rules.read_failure(str(error)[:_MOST_TEXT])
        if failure is None:
            text = str(error).strip().partition("\n")[0]
            raise LakeError(
                "the text is no conflict of commits that the library is known to report",
                seen=say_value(text[:200]),
            )
    if operation is None or base is None:
        if failure is None:
            raise LakeError(
                "a conflict is asked by an exception, or by base= and operation=",
                hint=f"operation is one of {', '.join(rules.operations)}",
            )
        return _trace_failure(table, rules, failure, base, theirs)
    start, between = _list_between(table, base, theirs)
    judge = Judge(table, rules, operation, start, between)
    return _assemble(table, rules, judge, start, between, (operation, where, isolation, mode), failure)


def _list_between(table: Table, base: Any, theirs: Any) -> tuple[Snapshot, list[Snapshot]]:
    """List the commits after a state up to another one, the oldest first. Raises `LakeError` where they are in no line."""
    start, end = table.snapshot(base), table.snapshot(theirs)
    between: list[Snapshot] = []
    for snapshot in (end, *end.walk_ancestors()):
        if snapshot.id == start.id:
            return start, between[::-1]
        if not between or between[-1].id != snapshot.id:
            between.append(snapshot)
    raise LakeError(
        f"snapshot {start.id} is no ancestor of {end.id}: a commit on another line cannot be checked",
        hint="a writer starts from a state of the branch that it commits to, and that state must not be expired",
    )


@dataclass(frozen=True)
class Judge:
    """Judges one operation between two states, under an isolation, a mode and a filter."""

    table: Table
    rules: ConflictRules
    operation: str
    start: Snapshot
    between: Sequence[Snapshot]

    def read(self, isolation: str | None, mode: str | None, where: str | None) -> Judged:
        """Judge it. Raises `LakeError` for a word or a filter that the table does not know."""
        explanation = None if where is None else Explanation(self.table, where, self.start)

        def fit(files: Sequence[Any], bounds: bool) -> list[bool]:
            if explanation is None or not files:
                return [True] * len(files)
            unique = list(dict.fromkeys(files))
            pool = FileSet(lambda: unique, lambda: self.start.files.columns)
            judged = explanation.may_fit(pool, bounds=bounds, by_conjuncts=self.rules.by_conjuncts)
            fits = {file.path: kept for file, kept in zip(pool, judged, strict=True)}
            return [fits[file.path] for file in files]

        files = self.start.files if explanation is None else explanation.kept
        data = [file for file in files if file.content == "data"]
        level, way, why = self.rules.complete(self.table, self.operation, isolation, mode)
        attempt = Attempt(self.operation, level, way, self.start, self.between, fit, lambda: data)
        return Judged(self.rules.judge(self.table, attempt, why), attempt.notes, bool(data))


@dataclass(frozen=True, slots=True)
class Judged:
    """Each check with the files that fail it, what is to be known besides, and whether the filter meets files."""

    checks: Sequence[tuple[Ruling, list[Collision]]]
    notes: Sequence[str]
    meets_files: bool

    @property
    def word(self) -> Literal["yes", "no"]:
        """Whether it passes."""
        return "yes" if all(ruling.passes for ruling, _ in self.checks) else "no"


def _assemble(
    table: Table,
    rules: ConflictRules,
    judge: Judge,
    start: Snapshot,
    between: Sequence[Snapshot],
    asked: tuple[str, str | None, str | None, str | None],
    failure: Failure | None,
) -> Conflict:
    operation, where, isolation, mode = asked
    verdict = judge.read(isolation, mode, where)
    isolation, mode, _ = rules.complete(table, operation, isolation, mode)
    judged = verdict.checks
    reasons: dict[Collision, list[str]] = {}  # a file may fail several checks
    for _, hits in judged:
        for collision in hits:
            reasons.setdefault(replace(collision, why=""), []).append(collision.why)
    collisions = [replace(collision, why="; ".join(whys)) for collision, whys in reasons.items()]
    ways = list(_find_ways(judge, (isolation, mode, where), collisions))
    notes = (*verdict.notes, *_trace_writer(table, failure))
    if failure is not None and not failure.can_retry and not collisions:
        notes += (
            f"the exception says that a check failed ({failure.check}); from these states it would pass",
        )
    return Conflict(
        table,
        "collides" if collisions else "passes",
        operation,
        where,
        isolation,
        mode,
        start,
        Meanwhiles(_describe_between(rules, between, collisions)),
        Rulings(ruling for ruling, _ in judged),
        _sort_collisions(collisions, between),
        Ways(ways),
        not collisions,
        failure,
        notes,
    )


def _sort_collisions(collisions: Sequence[Collision], between: Sequence[Snapshot]) -> Collisions:
    order = {snapshot.id: place for place, snapshot in enumerate(between)}
    return Collisions(sorted(collisions, key=lambda collision: order.get(collision.snapshot_id, -1)))


def _describe_between(
    rules: ConflictRules, between: Sequence[Snapshot], collisions: Sequence[Collision]
) -> list[Meanwhile]:
    """Describe each commit in between: what it did, and how many of its files collide."""
    described = []
    for snapshot in between:
        added, removed = rules.changes(snapshot)
        paths = {collision.path for collision in collisions if collision.snapshot_id == snapshot.id}
        described.append(
            Meanwhile(
                snapshot.id,
                snapshot.committed_at,
                str(snapshot.operation or ""),
                bool(paths),
                len(added),
                len(removed),
                len(paths),
            )
        )
    return described


def _find_ways(
    judge: Judge, asked: tuple[str | None, str | None, str | None], collisions: Sequence[Collision]
) -> Iterator[Way]:
    """Find what would have passed: the statement again, what the format knows, a narrower filter, more retries."""
    isolation, mode, where = asked
    if not collisions:
        yield Way(
            "commit the same files again", "yes", "none, as long as nothing that collides comes meanwhile"
        )
        return
    price = "it reads the present state; if nothing comes meanwhile"
    yield Way(f"run the {judge.operation} again", "yes", price)
    yield from judge.rules.ways(
        judge.table,
        judge.operation,
        isolation,
        mode,
        lambda level, way: judge.read(level, way, where).word,
    )
    if judge.operation != "append":
        paths = {collision.path for collision in collisions}
        changed = [file for commit in judge.between for side in judge.rules.changes(commit) for file in side]
        files = [file for file in changed if file.path in paths]

        def passes(filter_: str) -> bool:
            judged = judge.read(isolation, mode, filter_)
            return judged.word == "yes" and judged.meets_files

        if files:
            by_bounds = judge.operation not in ("compaction", "overwrite partitions")
            yield from list_narrower(judge.table, where, files, passes, by_bounds)
    yield Way("more retries of the commit", "no", judge.rules.retry)


def _trace_writer(table: Table, failure: Failure | None) -> tuple[str, ...]:
    """Say which commits the failed writer did make: part of what it wrote may be in the table."""
    if failure is None or failure.writer is None:
        return ()
    made = [snapshot for snapshot in table.snapshots if snapshot.job and snapshot.job[0] == failure.writer]
    if not made:
        return ()
    named = ", ".join(f"{snapshot.id} ({snapshot.operation})" for snapshot in made[-3:])
    return (
        f"the writer that failed has committed snapshot {named}: those rows are in the table, and running the "
        "statement again writes them again",
    )


# --- from an exception alone ---------------------------------------------------------------------------------------------


def _trace_failure(table: Table, rules: ConflictRules, failure: Failure, base: Any, theirs: Any) -> Conflict:
    """Find the commits that added or removed the files that an exception names."""
    if table.current is None:
        return _conclude(table, rules, failure, None, (), (), ())
    end = table.snapshot(theirs)
    line = [end, *(snapshot for snapshot in end.walk_ancestors() if snapshot.id != end.id)][:_MOST]
    for snapshot in line if failure.commit else ():
        traced = None if rules.trace is None else rules.trace(snapshot, failure)
        if traced is not None:
            described = _describe_between(rules, [snapshot], traced)
            return _conclude(table, rules, failure, None, described, Collisions(traced), [snapshot])
    names = {path.rpartition("/")[2] for path in failure.files} - set(failure.written)
    touched, collisions = [], []
    start = None if base is None else table.snapshot(base)
    for snapshot in line:
        if start is not None and snapshot.id == start.id:
            break
        if not names:
            break
        for verb, files in zip(("added", "removed"), rules.changes(snapshot), strict=True):
            if verb != failure.verb:
                continue
            hit = [file for file in files if file.path.rpartition("/")[2] in names]
            if verb == "added":  # the last time, where a file was added again at another level
                names -= {file.path.rpartition("/")[2] for file in hit}
            collisions += [rules.describe(snapshot, file, verb, failure.check) for file in hit]
            touched += [snapshot] if hit else []
    between = [snapshot for snapshot in reversed(line) if snapshot in touched]
    described = _describe_between(rules, between, collisions)
    return _conclude(table, rules, failure, start, described, _sort_collisions(collisions, between), between)


def _conclude(
    table: Table,
    rules: ConflictRules,
    failure: Failure,
    start: Snapshot | None,
    described: Sequence[Meanwhile],
    collisions: Sequence[Collision],
    between: Sequence[Snapshot],
) -> Conflict:
    outcome: Outcome = "collides" if collisions else "passes" if failure.can_retry else "unknown"
    ways = [Way("commit the same files again", "yes", "none, if nothing that collides came meanwhile")]
    if not failure.can_retry:
        ways = [
            Way("run the statement again", "yes", "it reads the present state; if nothing comes meanwhile"),
            Way(
                "other settings, a narrower filter",
                "unknown",
                "say base=, operation= and where= to have them judged",
            ),
            Way("more retries of the commit", "no", rules.retry),
        ]
    ruling = Ruling(
        failure.check,
        failure.filter or "the exception says so",
        "as the exception says",
        False,
        failure.source,
    )
    named = "that the exception names" if failure.commit else "whose files the exception names"
    notes = (f"only the commits {named} are listed: it does not say where its writer started",)
    return Conflict(
        table,
        outcome,
        "",
        None,
        None,
        None,
        start,
        Meanwhiles(described),
        Rulings([ruling]),
        Collisions(collisions),
        Ways(ways),
        failure.can_retry,
        failure,
        (*_trace_writer(table, failure), *(notes if not failure.can_retry else ())),
    )


# What a failed writer left behind: files that no state refers to, written since its base, tied to it by their names.
#
# named            the exception says that its writer wrote it
# nothing came     the name has the id of a writer none of whose files was committed since the base
# others came      the writer of that id did commit files: a task that was tried again, or one of several commits
# not known        the name says nothing of its writer

_MOST_WRITERS = 200  # newest commits whose writers are looked at


@dataclass(frozen=True, slots=True)
class Leftover(Named):
    """A file that nothing refers to: the id of its writer by its name, and what ties it to the one that failed."""

    relative_path: str
    role: str
    size_bytes: int
    modified: datetime | None
    writer: str
    why: str


class Leftovers(Items[Leftover]):
    """Files that a failed writer may have left, as a listing has them."""

    __slots__ = ()
    facts = (
        Fact("relative_path"),
        Fact("role"),
        Fact("size_bytes", "int64"),
        Fact("modified", "time"),
        Fact("writer"),
        Fact("why"),
    )

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them."""
        return sum(file.size_bytes for file in self)


def find_leftovers(
    table: Table, rules: ConflictRules, base: Snapshot | None, failure: Failure | None
) -> Leftovers:
    """Find what nothing refers to and was written since the base, and tie each file to its writer."""
    strays = find_strays(table)
    since = None if base is None else base.committed_at
    files = [
        stray
        for stray in (*strays.orphans, *strays.young)
        if since is None or stray.modified is None or stray.modified >= since
    ]
    writers = [rules.name_writer(stray.relative_path.rpartition("/")[2]) for stray in files]
    counts, known = Counter(writers), _list_writers(table, rules, since) if any(writers) else set()
    written = () if failure is None else failure.written
    left = []
    for stray, writer in zip(files, writers, strict=True):
        if stray.relative_path.rpartition("/")[2] in written:
            why = "the exception says that its writer wrote it"
        elif not writer:
            why = "no commit names it; its name does not say who wrote it"
        elif writer in known:
            why = "its writer did commit other files: a task tried again, or one of several commits"
        else:
            why = f"nothing of its writer was committed; files of that writer here: {counts[writer]}"
        left.append(Leftover(stray.relative_path, stray.role, stray.size_bytes, stray.modified, writer, why))
    return Leftovers(left)


def _list_writers(table: Table, rules: ConflictRules, since: datetime | None) -> set[str]:
    """List the writers whose files were committed since a time, by the names of data files and manifests."""
    names: list[str] = []
    for snapshot in table.snapshots[-_MOST_WRITERS:]:
        moment = snapshot.committed_at
        if since is None or moment is None or moment >= since:
            names += [file.path for file in rules.changes(snapshot)[0]]
            names += [manifest.path for manifest in snapshot.manifests]
    return {rules.name_writer(name.rpartition("/")[2]) for name in names}
