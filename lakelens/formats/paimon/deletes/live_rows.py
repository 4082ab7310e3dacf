"""How many rows of a Paimon table are left, and where that cannot be counted without merging.

An append table holds its rows but those that deletion vectors delete. Rows of a primary-key table are merged by key when
they are read: they can be counted only where nothing is left to merge. With deletion vectors, batch readers skip level 0
until it is compacted and read the other levels unmerged ("Deletion Vectors" of the primary-key table documentation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.manifests.datafile import MERGED, PaimonDataFile
from lakelens.model.deletes import LiveRows

Files = Sequence[PaimonDataFile]
# counts the rows of files without those that vectors delete
Count = Callable[[Files], LiveRows]


def count_rows(context: TableContext, files: Files, count: Count) -> LiveRows:
    """Count the rows of a snapshot's live files that a batch reader sees."""
    if not context.schema.primary_keys:
        return _count_appended(files, count)
    if context.skips_level_0:
        return _count_upper(files, count)
    why = _find_merge(files)
    counted = count(files)
    return counted if why is None else replace(counted, count=None, reason=why, at_least=0)


def _count_appended(files: Files, count: Count) -> LiveRows:
    counted = count(files)
    partial = [file for file in files if file.write_cols is not None or file.file_name.endswith(".blob")]
    if not partial:
        return counted
    if any(file.first_row_id is None for file in partial):
        return replace(counted, count=None, reason="files hold some of the columns of rows without ids")
    if any(file.deletes for file in files):
        return replace(counted, count=None, reason="files share rows, and vectors delete of some of them")
    starts = ((file.first_row_id or 0, file.row_count or 0) for file in files)
    rows = _measure_union(sorted((start, start + length) for start, length in starts))
    why = "by row ids: files share rows"
    return replace(counted, count=rows, at_least=rows, at_most=rows, reason=why, deleted=None)


def _measure_union(ranges: Sequence[tuple[int, int]]) -> int:
    """Measure how many numbers are in any of the half-open ranges, given in order.

    >>> _measure_union([(0, 3), (0, 3), (2, 5), (7, 8)])
    6
    """
    total, end = 0, 0
    for start, stop in ranges:
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def _count_upper(files: Files, count: Count) -> LiveRows:
    upper = [file for file in files if file.level and (file.bucket or 0) >= 0]
    waiting = [file for file in files if not (file.level and (file.bucket or 0) >= 0)]
    counted = count(upper)
    if not waiting:
        return counted
    rows = [counted.recorded, *(file.row_count for file in waiting)]
    recorded = None if None in rows else sum(number or 0 for number in rows)
    some = "1 file of level 0 waits" if len(waiting) == 1 else f"{len(waiting)} files of level 0 wait"
    why = f"{counted.reason}; {some} for compaction, which batch readers skip until then"
    waits = 0 if recorded is None or counted.recorded is None else recorded - counted.recorded
    return replace(counted, recorded=recorded, reason=why, waiting=waits)


def _find_merge(files: Files) -> str | None:
    """Find why the rows of a primary-key table cannot be counted: what must be merged; None when nothing must.

    A file alone in its bucket and all files of a bucket on one level above 0 are one sorted run in which each key is once:
    engines read such a file as it is (Paimon's `MergeTreeSplitGenerator`). What waits in the bucket of a postponed table
    is not read yet.
    """
    levels: dict[tuple[bytes, int | None], list[int | None]] = {}
    for file in files:
        levels.setdefault((file.partition_bytes, file.bucket), []).append(file.level)
        if file.delete_row_count:
            return file.merge_reason
        if file.delete_row_count is None:
            return f"{MERGED}; this writer did not record how many rows are deletes"
    merging = sum(not _is_one_run(bucket, held) for (_, bucket), held in levels.items())
    if not merging:
        return None
    return f"{MERGED}, in {merging} of {len(levels)} buckets from several levels or from level 0"


def _is_one_run(bucket: int | None, levels: Sequence[int | None]) -> bool:
    """Whether files on some levels of a bucket are one run; level 0 may have keys twice, and so may one not recorded."""
    is_alone = len(levels) == 1 and (bucket or 0) >= 0
    return is_alone or (len(set(levels)) == 1 and bool(levels[0]))
