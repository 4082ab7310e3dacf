"""Rows that were deleted between two states in files that stay, by the delete files and vectors that were added.

A vector holds all that the one before it held: what it deletes more is new. Position delete files may name a row that was
deleted before, deleted values any number of rows: then only a bound is known, or nothing but the values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from lakelens.model.datafile import IndexFile
from lakelens.model.facts.amounts import NO_ROWS, Amount

if TYPE_CHECKING:
    from lakelens.analysis.diff.diff import Diff
    from lakelens.model.fileset import FileSet

_NOUNS = {
    "position_deletes": "position delete file",
    "equality_deletes": "equality delete file",
    "deletion_vector": "deletion vector",
}
_ABOUT = "referenced_data_path"


def format_deleted(diff: Diff) -> str:
    """How many rows by what: `100 rows deleted by 1 deletion vector`; empty where nothing is known to be deleted."""
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
    """The rows deleted since the older state, and how many delete files and vectors deleted them, by kind."""
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
