"""What happened between two snapshots, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.diff.level_promotion import find_raised
from lakelens.analysis.diff.relation import Relation
from lakelens.model.datafile import DataFile, IndexFile
from lakelens.model.fileset import FileSet
from lakelens.model.snapshot import Snapshot

_NOUNS = {
    "data": "file",
    "position_deletes": "position delete file",
    "equality_deletes": "equality delete file",
    "deletion_vector": "deletion vector",
}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def word_action(diff: Diff, relation: Relation) -> str:
    """What was done, without counts of files: the operation, the commits between, or how the two states differ."""
    if diff.before is None:
        return _word_start(diff)
    if relation.kind == "elsewhere":
        return "two tables compared by the files' places in them"
    if relation.kind == "listing":
        return "two listings"
    if relation.kind == "same":
        return "one and the same snapshot"
    if relation.kind == "far":
        return f"{_plural(abs(relation.count), 'snapshot')} {'later' if relation.count > 0 else 'earlier'}"
    if relation.kind == "unknown":
        ids = f"snapshot {diff.before.id} and snapshot {diff.after.id}"
        return f"{ids}, which no commits that are still there lead from one to the other"
    if relation.kind == "forward":
        return _word_step(diff) if len(relation.steps) == 1 else _word_steps(relation.steps, diff)
    return _word_return(relation)


def word_sentence(diff: Diff, relation: Relation) -> str:
    """What was done, what became of files and rows, whether schema and partitioning changed."""
    raised, action = find_raised(diff), word_action(diff, relation)
    if len(relation.steps) == 1 and len(raised.files) == len(diff.added) == len(diff.removed) > 0:
        parts = [f"{action} raised {_plural(len(raised.files), 'file')} {raised.span}, none was rewritten"]
    else:
        parts = [f"{action}: {_word_files(diff)}"]
    changed = _word_structure(diff)
    return ". ".join([*parts, changed] if changed else parts)


def _word_start(diff: Diff) -> str:
    after = diff.after
    if after.id is None:
        return "everything that a listing found"
    word = after.operation or "an operation that is not recorded"
    if after.parent_id is not None:
        return f"{word}, compared with nothing, for snapshot {after.parent_id} before it has expired"
    return f"{word}, compared with nothing"


def _word_step(diff: Diff) -> str:
    """The operation of one commit, and on what."""
    after = diff.after
    word = after.operation or "an operation that is not recorded"
    statement = getattr(after, "statement", None)
    if statement and statement.upper() != word.upper():
        word = f"{word} ({statement})"
    picked = after.picked_from
    if picked is not None:
        return f"cherry-pick of snapshot {picked} ({word})"
    if not len(diff.added) and not len(diff.removed):
        if diff.manifests.dropped and diff.manifests.new:
            return f"{word}, a rewrite of manifests"
        return word
    if word.upper().startswith("OVERWRITE") and len(diff.removed):
        partitions = {change.partition for change in diff.by_partition if change.partition}
        return f"{word} of {_plural(len(partitions), 'partition')}" if partitions else word
    return word


def _word_steps(steps: Sequence[Snapshot], diff: Diff) -> str:
    before = diff.before
    took = ""
    if before is not None and before.committed_at is not None and diff.after.committed_at is not None:
        took = f" in {_word_time(diff.after.committed_at - before.committed_at)}"
    return _word_commits(steps, took)


def _word_return(relation: Relation) -> str:
    """Commits undone, and those that followed from the common snapshot instead."""
    common = relation.common
    number = common.id if common is not None else None
    undone = _word_commits(relation.undone)
    if relation.is_rollback:
        back = f"rollback to snapshot {number}, which undid {undone}"
        return f"{back}, then {_word_commits(relation.steps)}" if relation.steps else back
    if relation.kind == "back":
        return f"back to snapshot {number}, before {undone}"
    ids = {str(one.id) for one in relation.undone}
    picked = any(step.picked_from in ids for step in relation.steps)
    later = f"{_word_commits(relation.steps)} on the other{', which picked from the first' if picked else ''}"
    return f"both go back to snapshot {number}: {undone} on one side, {later}"


def _word_files(diff: Diff) -> str:
    """Files added and removed, those that were only raised left out, and what became of the rows."""
    raised = find_raised(diff)
    added = _count_contents(f for f in diff.added if f.path not in raised.paths)
    removed = _count_contents(f for f in diff.removed if f.path not in raised.paths)
    if not added and not removed:
        return f"{'none rewritten' if raised.files else 'no file changed'}{_word_marked(diff)}"
    words = [f"{counts} {what}" for counts, what in ((added, "added"), (removed, "removed")) if counts]
    if raised.files:
        words.append(f"{_plural(len(raised.files), 'file')} {raised.words}")
    again = len({f.path for f in diff.added} & {f.path for f in diff.removed} - raised.paths)
    if again and not diff.deletes.added:
        words.append(f"{_plural(again, 'file')} of them written anew under the same name")
    return f"{', '.join(words)}; {word_rows(diff)}"


def _count_contents(files: Iterable[DataFile]) -> str:
    """`2 files and 1 position delete file`; empty for none."""
    counts = Counter(found.content for found in files)
    return " and ".join(_plural(count, _NOUNS.get(content, content)) for content, count in counts.items())


def word_rows(diff: Diff) -> str:
    """How many rows more or less the files hold, and how many more or less of them are marked deleted."""
    rows = diff.added.record_count - diff.removed.record_count
    told = f"{_plural(abs(rows), 'row')} {'more' if rows > 0 else 'less'}" if rows else "as many rows"
    return f"{told}{_word_marked(diff)}"


def _word_marked(diff: Diff) -> str:
    """Rows that delete files and vectors mark by their position; Paimon's vectors lie in index files."""
    added, removed = _count_marked(diff.deletes.added), _count_marked(diff.deletes.removed)
    if not diff.deletes.added and not diff.deletes.removed and diff.before is not None:
        told = [_count_ranges(files) for files in (diff.index_files.added, diff.index_files.removed)]
        if None in told:
            return ", other deletion vectors"
        added, removed = (count or 0 for count in told)
    marked = (added or 0) - (removed or 0)
    if not marked:
        return ""
    return f", {_plural(abs(marked), 'row')} {'more' if marked > 0 else 'less'} marked deleted"


def _count_marked(files: FileSet) -> int:
    return sum(f.record_count or 0 for f in files if f.content in ("position_deletes", "deletion_vector"))


def _count_ranges(files: Iterable[IndexFile]) -> int | None:
    """The rows that the vectors of index files mark; None where one does not record it."""
    counts = [
        vector.get("cardinality") for f in files if f.index_type == "DELETION_VECTORS" for vector in f.ranges
    ]
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if len(known) == len(counts) else None


def _word_structure(diff: Diff) -> str:
    """How many columns changed, and whether the partitioning did."""
    if diff.before is None:
        return ""
    columns = len({change.field_id for change in diff.schema})
    words = []
    if columns:
        words.append(
            f"{_NUMBERS[columns] if columns < len(_NUMBERS) else format(columns, ',')} "
            f"column{'' if columns == 1 else 's'}"
        )
    if diff.partitioning:
        words.append("the partitioning")
    sentence = " and ".join(words)
    return f"{sentence[:1].upper()}{sentence[1:]} changed" if sentence else ""


def _word_commits(steps: Sequence[Snapshot], took: str = "") -> str:
    """`3 snapshots (2 append, 1 delete)`, the most frequent operation first; `2 snapshots (append)`."""
    counts = Counter(step.operation or "unknown" for step in steps)
    told = ", ".join(f"{count:,} {operation}" for operation, count in counts.most_common())
    return f"{_plural(len(steps), 'snapshot')}{took} ({told if len(counts) > 1 else next(iter(counts))})"


def _word_time(took: timedelta) -> str:
    seconds = abs(took.total_seconds())
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.3g} {unit}"
    return f"{seconds:.3g} s"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
