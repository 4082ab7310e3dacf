"""How many rows of a Paimon table are left, and where that cannot be counted without merging.

An append table holds its rows but those that deletion vectors delete. Rows of a primary-key table are merged by key when
they are read: they can be counted only where nothing is left to merge. With deletion vectors, batch readers skip level 0
until it is compacted and read the other levels unmerged ("Deletion Vectors" of the primary-key table documentation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lakelens.model.deletes import LiveRows, count_live_rows

if TYPE_CHECKING:
    from lakelens.errors import LakeError
    from lakelens.formats.paimon.context import TableContext
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
    from lakelens.model.datafile import DataFile

Report = Callable[["LakeError", "DataFile"], None]
MERGED = "rows of a primary-key table are merged by key when they are read"


def count_rows(
    context: TableContext,
    files: Sequence[PaimonDataFile],
    report: Report | None = None,
    *,
    read: bool = True,
) -> LiveRows:
    """The rows of a snapshot's live files that a batch reader sees."""
    if not context.schema.primary_keys:
        return _count_appended(files, report, read)
    if skips_level_0(context):
        waiting = [file for file in files if not file.level or (file.bucket or 0) < 0]
        return _count_upper(files, waiting, report, read)
    counted = count_live_rows(files, report, read=read)
    why = _find_merge(files)
    return counted if why is None else replace(counted, count=None, reason=why, at_least=0)


def count_file(context: TableContext, file: PaimonDataFile, report: Report | None = None) -> LiveRows:
    """The rows of one file that no vector deletes; unknown where its keys are merged with those of other files."""
    if file.content != "data":
        return LiveRows(None, "it holds no rows of the table", None, None, None)
    counted = count_live_rows([file], report)
    if not context.schema.primary_keys or (skips_level_0(context) and file.level):
        return counted
    why = f"{MERGED}{word_removals(file)}"
    return replace(counted, count=None, reason=why, at_least=0)


def skips_level_0(context: TableContext) -> bool:
    """Whether batch readers leave out level 0: with deletion vectors, and with the merge engine `first-row`."""
    options = context.options

    def is_on(key: str) -> bool:
        return options.get(key, "false").strip().lower() == "true"

    if is_on("deletion-vectors.enabled"):
        return not is_on("deletion-vectors.merge-on-read")
    return options.get("merge-engine", "").strip().lower() == "first-row"


def word_removals(file: PaimonDataFile) -> str:
    """How many of a file's rows are deletes themselves, as the manifest records it; nothing when it does not."""
    if not file.delete_row_count:
        return ""
    noun = "row of it is a delete" if file.delete_row_count == 1 else "rows of it are deletes"
    return f"; {file.delete_row_count:,} {noun} (_VALUE_KIND -U or -D)"


def _count_appended(files: Sequence[PaimonDataFile], report: Report | None, read: bool) -> LiveRows:
    counted = count_live_rows(files, report, read=read)
    ranges: dict[tuple[bytes, int], int] = {}
    for file in files:
        if file.write_cols is None and not file.file_name.endswith(".blob"):
            continue
        if file.first_row_id is None:
            return replace(counted, count=None, reason="files hold some of the columns of rows without ids")
        ranges[file.partition_bytes, file.first_row_id] = 0
    if not ranges:
        return counted
    if any(file.deletes for file in files):
        return replace(counted, count=None, reason="files share rows, and vectors delete of some of them")
    count = _measure_union(
        sorted((file.first_row_id or 0, (file.first_row_id or 0) + (file.row_count or 0)) for file in files)
    )
    return replace(counted, count=count, at_least=count, at_most=count, reason="by row ids: files share rows")


def _measure_union(ranges: Sequence[tuple[int, int]]) -> int:
    """How many numbers lie in any of the half-open ranges, given in order.

    >>> _measure_union([(0, 3), (0, 3), (2, 5), (7, 8)])
    6
    """
    total, end = 0, 0
    for start, stop in ranges:
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def _count_upper(
    files: Sequence[PaimonDataFile], waiting: Sequence[PaimonDataFile], report: Report | None, read: bool
) -> LiveRows:
    names = {id(file) for file in waiting}
    counted = count_live_rows([file for file in files if id(file) not in names], report, read=read)
    rows = [file.row_count for file in waiting]
    recorded = (
        None
        if counted.recorded is None or None in rows
        else counted.recorded + sum(number or 0 for number in rows)
    )
    if not waiting:
        return counted
    some = "1 file of level 0 waits" if len(waiting) == 1 else f"{len(waiting)} files of level 0 wait"
    why = f"{counted.reason}; {some} for compaction, which batch readers skip until then"
    return replace(counted, recorded=recorded, reason=why)


def _find_merge(files: Sequence[PaimonDataFile]) -> str | None:
    """Why the rows of a primary-key table cannot be counted: what must be merged; None when nothing must.

    All files of a bucket on one level above 0 are one sorted run in which each key is once.
    """
    levels: dict[tuple[bytes, int | None], set[int | None]] = {}
    for file in files:
        levels.setdefault((file.partition_bytes, file.bucket), set()).add(file.level)
        if file.delete_row_count:
            return f"{MERGED}{word_removals(file)}"
        if file.delete_row_count is None:
            return f"{MERGED}; this writer did not record how many rows are deletes"
    merging = sum(1 for found in levels.values() if len(found) > 1 or not next(iter(found)))
    if not merging:
        return None
    return f"{MERGED}, in {merging} of {len(levels)} buckets from several levels or from level 0"
