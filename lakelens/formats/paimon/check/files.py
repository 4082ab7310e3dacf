"""What entries record of data files, compared with each other: buckets, sequence numbers, key ranges, row ids.

See "Data File" and "LSM Trees" of the Paimon documentation. The files of one level from 1 on are one sorted run: their key
ranges never overlap, or readers that open one file of them miss the newer version of a key.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lakelens.formats.paimon.snapshot import PaimonSnapshot
from lakelens.model.check.ledger import Line
from lakelens.model.check.ranges import find_starts
from lakelens.model.check.survey import State, Survey

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable

#: Live files of a state whose key ranges are compared.
_MOST_FILES = 50_000
_POSTPONED = -2


def compare_files(table: PaimonTable, survey: Survey) -> None:
    """Compare the facts of each entry with each other, and the key ranges of sorted runs."""
    if not survey.entries.num_rows:
        return
    _compare_entries(table, survey)
    _compare_row_ids(survey)
    if table.primary_keys:
        line = survey.ledger.line("key ranges", "entries", "files of the same level")
        for state in _list_newest(table, survey):
            _compare_runs(survey, line, state)


def _compare_entries(table: PaimonTable, survey: Survey) -> None:
    import numpy as np

    line = survey.ledger.line("facts of entries", "entries", "one another")
    live = survey.live
    bucket, total = survey.numpy("bucket"), survey.numpy("total_buckets", -1)
    least, most = survey.numpy("min_sequence_number"), survey.numpy("max_sequence_number")
    rows, deleted = survey.numpy("record_count"), survey.numpy("delete_row_count")
    level = survey.numpy("level")
    rules: tuple[tuple[str, Any, str], ...] = (
        (
            "bucket-of-file",
            live & (total > 0) & (bucket >= total),
            "is in a bucket that the table does not have",
        ),
        ("bucket-of-file", live & (bucket < 0) & (bucket != _POSTPONED), "is in a bucket below 0"),
        (
            "sequence-range",
            live & (least > most),
            "has a _MIN_SEQUENCE_NUMBER above its _MAX_SEQUENCE_NUMBER",
        ),
        ("delete-rows", live & (deleted > rows), "counts more deletes than rows"),
        ("negative-count", live & ((rows < 0) | (level < 0)), "has a negative count of rows, or level"),
    )
    line.agree(len(rules) * int(live.sum()))
    for code, wrong, words in rules:
        for row in np.flatnonzero(wrong).tolist():
            _note(survey, line, row, code, words)


def _compare_row_ids(survey: Survey) -> None:
    """Row ids are below the next free one of every snapshot that has the file."""
    import numpy as np

    first, rows = survey.numpy("first_row_id", -1), survey.numpy("record_count")
    if not (first >= 0).any():
        return
    line = survey.ledger.line("row ids", "entries", "nextRowId of the snapshots")
    ends = np.where(survey.live & (first >= 0), first + rows, 0)
    starts = find_starts(survey)
    for state in survey.states:
        following = getattr(state.snapshot, "next_row_id", None)
        if following is None or state.roles == ("changelog",):
            continue
        numbers = [number for number, *_ in state.manifests]
        highest = max((int(ends[starts[n] : starts[n + 1]].max(initial=0)) for n in numbers), default=0)
        message = f"{state.name}: a file has row ids up to {highest:,}, nextRowId is {following:,}"
        line.require(highest <= following, "row-ids", state.snapshot.path or "", message, state.ids)


def _list_newest(table: PaimonTable, survey: Survey) -> list[State]:
    """The newest state of every branch, and what tags keep."""
    newest = [table.branch(ref.name).current for ref in table.refs.branches]
    return [
        state
        for state in survey.states
        if survey.is_whole(state)
        and (any(state.snapshot is one for one in newest) or "tag " in state.name)
        and isinstance(state.snapshot, PaimonSnapshot)
    ]


def _compare_runs(survey: Survey, line: Line, state: State) -> None:
    files = state.snapshot.files
    if "min_key" not in dict(files.columns.further):
        return  # a branch whose own schema has no primary key
    if len(files) > _MOST_FILES:
        survey.ledger.leave(f"key ranges of {state.name}", f"{len(files):,} files")
        return
    runs: dict[tuple[Any, ...], list[tuple[Any, Any, str]]] = {}
    for partition, bucket, level, low, high, path in files.pick(
        "partition", "bucket", "level", "min_key", "max_key", "path"
    ):
        if low is None or high is None:
            continue
        keys = tuple(low.values()), tuple(high.values())
        message = f"_MIN_KEY {_format_key(low)} is above _MAX_KEY {_format_key(high)}"
        line.require(_is_ordered(*keys), "key-range", path, message, state.ids)
        if (level or 0) > 0:
            runs.setdefault((str(partition), bucket, level), []).append((*keys, path))
    for (_, bucket, level), run in runs.items():
        _compare_run(line, run, f"level {level} of bucket {bucket}", state)


def _compare_run(line: Line, run: list[tuple[Any, Any, str]], where: str, state: State) -> None:
    try:
        ordered = sorted(run, key=lambda one: one[0])
    except TypeError:  # keys that do not order in Python
        return
    for (_, high, one), (low, _, other) in pairwise(ordered):
        name = one.rpartition("/")[2]
        message = f"its keys overlap with those of {name}, which is in the same sorted run: {where}"
        line.require(_is_below(high, low), "key-overlap", other, message, state.ids)


def _is_ordered(low: tuple[Any, ...], high: tuple[Any, ...]) -> bool:
    try:
        return low <= high
    except TypeError:
        return True


def _is_below(high: tuple[Any, ...], low: tuple[Any, ...]) -> bool:
    try:
        return high < low
    except TypeError:
        return True


def _format_key(key: dict[str, Any]) -> str:
    return ", ".join(f"{name} {str(value)[:40]}" for name, value in key.items())


def _note(survey: Survey, line: Line, row: int, code: str, words: str) -> None:
    name = survey.entries["path"][row].as_py().rpartition("/")[2]
    line.compared -= 1
    message = f"{survey.describe_entry(row)} ({name}) {words}"
    line.differ("error", code, survey.manifest_of(row).path, message, survey.snapshots_of(row))
