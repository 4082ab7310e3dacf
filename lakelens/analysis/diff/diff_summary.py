"""What happened between two snapshots, in a sentence, and how the two are related."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from lakelens.caching import cached_property
from lakelens.lazy import dataclass
from lakelens.model.datafile import IndexFile
from lakelens.model.facts.traits import NO_ROWS, Amount
from lakelens.model.fileset import FileSet
from lakelens.model.snapshot import Snapshot

if TYPE_CHECKING:
    from lakelens.analysis.diff.diff import Diff


# Rows that were deleted between two states in files that stay, by the delete files and vectors that were added.
#
# A vector holds all that the one before it held: what it deletes more is new. Position delete files may name a row that
# was deleted before, deleted values any number of rows: then only a bound is known, or nothing but the values.

_NOUNS = {
    "position_deletes": "position delete file",
    "equality_deletes": "equality delete file",
    "deletion_vector": "deletion vector",
}
_ABOUT = "referenced_data_path"


def format_deleted(diff: Diff) -> str:
    """Say how many rows by what: `100 rows deleted by 1 deletion vector`; empty where nothing is known to be deleted."""
    rows, kinds = count_deleted(diff)
    if not kinds or rows.most == 0:
        return ""
    by = " and ".join(
        f"{number:,} {_NOUNS[kind]}{'' if number == 1 else 's'}" for kind, number in kinds.items()
    )
    known = rows.least if rows.exact is not None or rows.most is None else rows.most
    if not known:
        return f"rows deleted by {by}, how many is not recorded"
    bound = "" if rows.exact is not None else "at least " if rows.most is None else "at most "
    return f"{bound}{known:,} row{'' if known == 1 else 's'} deleted by {by}"


def count_deleted(diff: Diff) -> tuple[Amount, Counter[str]]:
    """Count the rows deleted since the older state, and how many delete files and vectors deleted them, by kind."""
    if diff.deletes.added:
        rows, kinds = _count_files(diff)
    elif diff.before is not None and not diff.deletes.removed:
        rows, kinds = _count_vectors(diff.index_files.added, diff.index_files.removed)
    else:
        return NO_ROWS, Counter()
    if diff.before is not None and kinds and diff.after.parent_id == diff.before.id is not None:
        recorded = diff.after.newly_deleted
        if recorded is not None and (recorded.exact is not None or rows.exact is None):
            rows = recorded
    return rows, kinds


def _count_files(diff: Diff) -> tuple[Amount, Counter[str]]:
    """By Iceberg's delete files and vectors."""
    removed = list(_pick_deletes(diff.deletes.removed))
    vectors = {path: rows or 0 for content, rows, path in removed if content == "deletion_vector"}
    has_files = any(content == "position_deletes" for content, _, _ in removed)
    total, kinds = NO_ROWS, Counter[str]()
    for content, rows, path in _pick_deletes(diff.deletes.added):
        kinds[content] += 1
        if content == "equality_deletes":
            total += Amount(0, None)
        elif content == "deletion_vector" and path is not None and not (has_files and path not in vectors):
            grown = max((rows or 0) - vectors.get(path, 0), 0)
            total += Amount(grown, grown)
        else:  # of a vector that took a position delete file's place as well
            total += Amount(0, rows)
    return total, kinds


def _pick_deletes(files: FileSet) -> Iterator[tuple[str, int | None, str | None]]:
    """Content, rows, and the one data file that it is about, of each delete file; a format may not record that one."""
    if not len(files):
        return iter(())
    if any(name == _ABOUT for name, _ in files.columns.further):
        return files.pick("content", "record_count", _ABOUT)
    return ((content, rows, None) for content, rows in files.pick("content", "record_count"))


def _count_vectors(added: Iterable[IndexFile], removed: Iterable[IndexFile]) -> tuple[Amount, Counter[str]]:
    """By Paimon's vectors, of which an index file may hold many, old ones too."""
    known = {item["data_file"]: item for item in _list_ranges(removed)}
    total, kinds = NO_ROWS, Counter[str]()
    for item in _list_ranges(added):
        before = known.get(item["data_file"])
        rows, less = item.get("cardinality"), 0 if before is None else before.get("cardinality")
        if rows is None or less is None:
            total += Amount(0, None)
        elif rows > less:
            total += Amount(rows - less, rows - less)
        else:
            continue
        kinds["deletion_vector"] += 1
    return total, kinds


def _list_ranges(files: Iterable[IndexFile]) -> list[Any]:
    return [item for file in files if file.index_type == "DELETION_VECTORS" for item in file.ranges]


_SUMMARY_NOUNS = {
    "data": "file",
    "position_deletes": "position delete file",
    "equality_deletes": "equality delete file",
    "deletion_vector": "deletion vector",
}
_UNRECORDED = "an operation that is not recorded"
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def format_action(diff: Diff, relation: Relation) -> str:
    """Say what was done, without counts of files: the operation, the commits between, or how the two states differ."""
    before, after = diff.before, diff.after
    if before is None:
        if after.id is None:
            return "all files of a listing"
        start = f"{after.operation or _UNRECORDED}, compared with nothing"
        return (
            start
            if after.parent_id is None
            else f"{start} (its parent, snapshot {after.parent_id}, has expired)"
        )
    if relation.kind == "elsewhere":
        return "two tables, compared by file path"
    if relation.kind == "listing":
        return "two listings"
    if relation.kind == "same":
        return "same snapshot"
    if relation.kind == "far":
        return f"{_plural(abs(relation.count), 'snapshot')} {'later' if relation.count > 0 else 'earlier'}"
    if relation.kind == "unknown":
        return f"snapshots {before.id} and {after.id}, no longer connected by commits"
    if relation.kind != "forward":
        return _format_return(relation)
    if len(relation.steps) == 1:
        return _format_step(diff)
    took = ""
    if before.committed_at is not None and after.committed_at is not None:
        took = f" in {format_duration(after.committed_at - before.committed_at)}"
    return _format_commits(relation.steps, took)


def format_sentence(diff: Diff, relation: Relation) -> str:
    """Say what was done, what happened to files and rows, whether schema and partitioning changed."""
    raised, action = diff.raised, diff.action
    if len(relation.steps) == 1 and len(raised.files) == len(diff.added) == len(diff.removed) > 0:
        sentence = f"{action} raised {_plural(len(raised.files), 'file')} {raised.span}, none rewritten"
    else:
        sentence = f"{action}: {_format_files(diff)}"
    changed = _format_structure(diff)
    return f"{sentence}. {changed}" if changed else sentence


def _format_step(diff: Diff) -> str:
    """Format the operation of one commit, and on what."""
    after = diff.after
    operation = after.operation or _UNRECORDED
    statement = getattr(after, "statement", None)
    if statement and statement.upper() != operation.upper():
        operation = f"{operation} ({statement})"
    picked = after.picked_from
    if picked is not None:
        return f"cherry-pick of snapshot {picked} ({operation})"
    if not len(diff.added) and not len(diff.removed) and diff.manifests.dropped and diff.manifests.new:
        return f"{operation}, a rewrite of manifests"
    if operation.upper().startswith("OVERWRITE") and diff.removed:
        partitions = {change.partition for change in diff.by_partition if change.partition}
        return f"{operation} of {_plural(len(partitions), 'partition')}" if partitions else operation
    return operation


def _format_return(relation: Relation) -> str:
    """Commits undone, and those that followed from the common snapshot instead."""
    common = relation.common
    number = common.id if common is not None else None
    undone = _format_commits(relation.undone)
    if relation.is_rollback:
        back = f"rollback to snapshot {number}, which undid {undone}"
        return f"{back}, then {_format_commits(relation.steps)}" if relation.steps else back
    if relation.kind == "back":
        return f"back to snapshot {number}, {undone} earlier"
    ids = {str(one.id) for one in relation.undone}
    picked = any(step.picked_from in ids for step in relation.steps)
    later = (
        f"{_format_commits(relation.steps)} on the other{', cherry-picked from the first' if picked else ''}"
    )
    return f"diverged at snapshot {number}: {undone} on one side, {later}"


def _format_files(diff: Diff) -> str:
    """Files added and removed, without those that were only raised, and what happened to the rows."""
    raised = diff.raised
    deleted = format_deleted(diff)
    added, removed = (_count_contents(raised.leave_out_of(files)) for files in (diff.added, diff.removed))
    if deleted:
        kept = "none rewritten" if raised.files else "no data file changed"
        rows = (
            files.choose(lambda content: content in ("data", "changelog"), "content")
            for files in (diff.added, diff.removed)
        )
        changed = _format_changed(diff, *map(_count_contents, rows))
        return f"{deleted}; {changed or kept}"
    if not added and not removed:
        return f"{'none rewritten' if raised.files else 'no files changed'}{_format_marked(diff)}"
    return f"{_format_changed(diff, added, removed)}{_format_marked(diff)}"


def _format_changed(diff: Diff, added: str, removed: str) -> str:
    """Files added, removed and raised, and how many more rows they hold; empty for none."""
    raised = diff.raised
    if not added and not removed:
        return ""
    words = [f"{counts} {what}" for counts, what in ((added, "added"), (removed, "removed")) if counts]
    if raised.files:
        words.append(f"{_plural(len(raised.files), 'file')} {raised.words}")
    again = (
        len(_list_paths(diff.added) & _list_paths(diff.removed) - raised.paths) if len(diff.removed) else 0
    )
    if again and not diff.deletes.added:
        words.append(f"{_plural(again, 'file')} of them rewritten under the same name")
    return f"{', '.join(words)}; {_format_growth(diff)}"


def _list_paths(files: FileSet) -> set[str]:
    return {path for (path,) in files.pick("path")}


def _count_contents(files: FileSet) -> str:
    """`2 files and 1 position delete file`; empty for none."""
    counts = Counter(content for (content,) in files.pick("content"))
    return " and ".join(
        _plural(count, _SUMMARY_NOUNS.get(content, content)) for content, count in counts.items()
    )


def format_rows(diff: Diff) -> str:
    """How many more or fewer rows the files hold, and how many of them are deleted: `2 more rows, 1 row deleted by …`."""
    deleted = format_deleted(diff)
    return f"{_format_growth(diff)}{f', {deleted}' if deleted else _format_marked(diff)}"


def _format_growth(diff: Diff) -> str:
    rows = diff.added.record_count - diff.removed.record_count
    return _format_difference(rows) if rows else "row count unchanged"


def _format_difference(rows: int) -> str:
    return f"{abs(rows):,} {'more' if rows > 0 else 'fewer'} row{'' if abs(rows) == 1 else 's'}"


def _format_marked(diff: Diff) -> str:
    """Rows that delete files and vectors mark by their position; Paimon's vectors are in index files."""
    added: int | None = _count_marked(diff.deletes.added)
    removed: int | None = _count_marked(diff.deletes.removed)
    if not diff.deletes.added and not diff.deletes.removed and diff.before is not None:
        added, removed = _count_ranges(diff.index_files.added), _count_ranges(diff.index_files.removed)
    if added is None or removed is None:
        return ", deletion vectors changed"
    return f", {_format_difference(added - removed)} marked deleted" if added != removed else ""


def _count_marked(files: FileSet) -> int:
    marking = ("position_deletes", "deletion_vector")
    return sum(rows or 0 for content, rows in files.pick("content", "record_count") if content in marking)


def _count_ranges(files: Iterable[IndexFile]) -> int | None:
    """Count the rows that the vectors of index files mark; None where one does not record it."""
    counts = [
        vector.get("cardinality") for f in files if f.index_type == "DELETION_VECTORS" for vector in f.ranges
    ]
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if len(known) == len(counts) else None


def _format_structure(diff: Diff) -> str:
    """Say how many columns changed, and whether the partitioning did: `Two columns and the partitioning changed`."""
    if diff.before is None:
        return ""
    columns = len({change.field_id for change in diff.schema})
    number = _NUMBERS[columns] if columns < len(_NUMBERS) else f"{columns:,}"
    parts = [f"{number} column{'' if columns == 1 else 's'}"] if columns else []
    parts += ["the partitioning"] if diff.partitioning else []
    sentence = " and ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]} changed" if sentence else ""


def _format_commits(steps: Sequence[Snapshot], took: str = "") -> str:
    """`3 snapshots (2 append, 1 delete)`, the most frequent operation first; `2 snapshots (append)`."""
    counts = Counter(step.operation or "unknown" for step in steps)
    listed = ", ".join(f"{count:,} {operation}" for operation, count in counts.most_common())
    return f"{_plural(len(steps), 'snapshot')}{took} ({listed if len(counts) > 1 else next(iter(counts))})"


def format_duration(took: timedelta) -> str:
    """Format a length of time, its sign left out.

    >>> format_duration(timedelta(hours=3)), format_duration(timedelta(seconds=-31))
    ('3 hours', '31 s')
    """
    seconds = abs(took.total_seconds())
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.3g} {unit}"
    return f"{seconds:.3g} s"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# where commits are documents of their own, at most this many are read to describe what they did
_FAR = 100


Kind = Literal["nothing", "same", "forward", "back", "sideways", "listing", "elsewhere", "far", "unknown"]


@dataclass(frozen=True)
class Relation:
    """From `before` to `after`: the commits that are undone, newest first, back to `common`, then those that follow.

    `kind` is "forward" where nothing is undone, "back" where nothing follows, "sideways" where both come from a common
    snapshot; "far" where `count` commits of one branch are between, too many to read; "elsewhere" for tables in two
    places, "listing" for states without commits, "unknown" where no common snapshot exists any more.
    """

    kind: Kind
    undone: Sequence[Snapshot] = ()
    steps: Sequence[Snapshot] = ()
    common: Snapshot | None = None
    count: int = 0

    @cached_property
    def is_rollback(self) -> bool:
        """Whether the table's own log says that the commits were undone by going back to the common snapshot."""
        return self.common is not None and any(one.was_undone_by(self.common) for one in self.undone)


def relate_snapshots(before: Snapshot | None, after: Snapshot) -> Relation:
    """Relate how `after` follows from `before`. Reads no manifest."""
    if before is None:
        return Relation("nothing", steps=(after,))
    if before.table_location != after.table_location:
        return Relation("elsewhere")
    if before.id is None or after.id is None:
        return Relation("listing")
    if before.is_same(after):
        return Relation("same", common=after)
    count = after.count_from(before)
    if count is not None and abs(count) > _FAR:
        return Relation("far", count=count)
    steps = [after]
    for ancestor in after.walk_ancestors():
        if ancestor.is_same(before):
            return Relation("forward", steps=steps[::-1], common=ancestor)
        steps.append(ancestor)
    undone = [before]
    known = {step.id: position for position, step in enumerate(steps)}
    for ancestor in before.walk_ancestors():
        position = known.get(ancestor.id)
        if position is not None and ancestor.is_same(steps[position]):
            newer = steps[:position][::-1]
            return Relation("sideways" if newer else "back", undone, newer, ancestor)
        undone.append(ancestor)
    return Relation("unknown")
