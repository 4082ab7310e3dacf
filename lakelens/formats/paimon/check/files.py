"""What entries record of data files, compared with each other: buckets, sequence numbers, key ranges, row ids.

See "Data File" and "LSM Trees" of the Paimon documentation. The files of one level from 1 on are one sorted run: their key
ranges never overlap, or readers that open one file of them miss the newer version of a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import le, lt
from typing import TYPE_CHECKING, Any

from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.snapshot import PaimonSnapshot
from lakelens.model.check.checking import OrderCheck, RowCheck, find_starts
from lakelens.model.check.ledger import Ledger, LedgerLine, format_figure
from lakelens.model.check.survey import State, Survey

if TYPE_CHECKING:
    import pyarrow as pa

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
        # the newest state of every branch, and what tags keep
        newest = [table.branch(ref.name).current for ref in table.refs.branches]
        for state in survey.states:
            is_kept = any(state.snapshot is snapshot for snapshot in newest) or "tag " in state.name
            if is_kept and survey.is_whole(state) and isinstance(state.snapshot, PaimonSnapshot):
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
            name = survey.entries["path"][row].as_py().rpartition("/")[2]
            line.compared -= 1
            message = f"{survey.describe_entry(row)} ({name}) {words}"
            line.differ("error", code, survey.manifest_of(row).path, message, survey.snapshots_of(row))


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


def _compare_runs(survey: Survey, line: LedgerLine, state: State) -> None:
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
        line.require(_holds(le, *keys), "key-range", path, message, state.ids)
        if (level or 0) > 0:
            runs.setdefault((str(partition), bucket, level), []).append((*keys, path))
    for (_, bucket, level), run in runs.items():
        _compare_run(line, run, f"level {level} of bucket {bucket}", state)


def _compare_run(line: LedgerLine, run: list[tuple[Any, Any, str]], where: str, state: State) -> None:
    try:
        ordered = sorted(run, key=lambda one: one[0])
    except TypeError:  # keys that do not order in Python
        return
    for (_, high, one), (low, _, other) in pairwise(ordered):
        name = one.rpartition("/")[2]
        message = f"its keys overlap with those of {name}, which is in the same sorted run: {where}"
        line.require(_holds(lt, high, low), "key-overlap", other, message, state.ids)


def _holds(order: Callable[[Any, Any], bool], key: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Say whether two keys are in an order; those that do not order in Python are taken to be."""
    try:
        return order(key, other)
    except TypeError:
        return True


def _format_key(key: dict[str, Any]) -> str:
    return ", ".join(f"{name} {str(value)[:40]}" for name, value in key.items())


# What Paimon records of a file's rows beside statistics: keys and their order, sequence numbers, deletes among the rows.
#
# See "Data File" of the Paimon specification: a file of a primary-key table has `_KEY_…`, `_SEQUENCE_NUMBER` and
# `_VALUE_KIND` before its columns (without the keys in thin mode), is sorted by key, and its entry records the first and
# the last one.

_SEQUENCE, _KIND = "_SEQUENCE_NUMBER", "_VALUE_KIND"
_DELETES = (1, 3)  # -U and -D


def list_row_checks(file: PaimonDataFile) -> Iterator[RowCheck]:
    """List the checks of a file of a table with a primary key; of another there are none."""
    columns = file.schema.key_columns
    if not columns or file.content != "data" or file.min_key is None:
        return
    names = [f"_KEY_{column.name}" for column in columns]
    if file.file_format == "avro":
        names = []  # Avro's rows come without their logical types
    if names:
        order = [(name, False, True) for name in names]
        yield OrderCheck(file.path, order, "the rows of the file are sorted", "error")
        yield KeyCheck(file, names)
    yield SequenceCheck(file, is_ordered_by_snapshot=file.context.is_on("sequence.snapshot-ordering"))


class SequenceCheck(RowCheck):
    """The least and greatest sequence number of the rows, and how many of them are deletes.

    With `is_ordered_by_snapshot` the commit gives the file numbers, and those of its rows do not count.
    """

    def __init__(self, file: PaimonDataFile, *, is_ordered_by_snapshot: bool = False) -> None:
        self._file = file
        self._is_ordered_by_snapshot = is_ordered_by_snapshot
        self._least: int | None = None
        self._most: int | None = None
        self._deletes = 0
        self._has_kinds = True

    def add(self, rows: pa.Table) -> None:
        """See `RowCheck.add`."""
        import pyarrow as pa
        import pyarrow.compute as pc

        # columns of these names and of another type are not those that Paimon writes
        names = rows.column_names
        typed = zip(names, rows.schema.types, strict=True)
        whole = {name for name, kind in typed if pa.types.is_integer(kind) and names.count(name) == 1}
        if _SEQUENCE in whole and rows.num_rows:
            ends = pc.min_max(rows[_SEQUENCE])
            low, high = ends["min"].as_py(), ends["max"].as_py()
            if low is not None:
                self._least = low if self._least is None else min(self._least, low)
                self._most = high if self._most is None else max(self._most, high)
        if _KIND in whole:
            kinds = rows[_KIND].cast(pa.int64())
            self._deletes += pc.sum(pc.is_in(kinds, value_set=pa.array(_DELETES, pa.int64()))).as_py() or 0
        else:
            self._has_kinds = False

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """See `RowCheck.finish`."""
        line, file = ledger.line("keys and sequence numbers", "entries", "rows"), self._file
        users = tuple(snapshots)
        low, high = file.min_sequence_number, file.max_sequence_number
        if None not in (self._least, self._most, low, high) and not self._is_ordered_by_snapshot:
            message = f"sequence numbers {low} to {high} recorded, rows have {self._least} to {self._most}"
            holds = low <= self._least and self._most <= high  # type: ignore[operator]
            line.require(holds, "sequence-range", file.path, message, users)
        if self._has_kinds:
            what = "rows that are deletes"
            line.compare(file.delete_row_count, self._deletes, "delete-rows", file.path, what, users, "error")


class KeyCheck(RowCheck):
    """The first and the last key of a file."""

    def __init__(self, file: PaimonDataFile, names: Sequence[str]) -> None:
        self._file, self._names = file, names
        self._first: list[Any] | None = None
        self._last: list[Any] | None = None

    def add(self, rows: pa.Table) -> None:
        """See `RowCheck.add`."""
        if rows.num_rows and all(name in rows.column_names for name in self._names):
            if self._first is None:
                self._first = [_read(rows[name][0]) for name in self._names]
            self._last = [_read(rows[name][rows.num_rows - 1]) for name in self._names]

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """See `RowCheck.finish`."""
        line, file = ledger.line("keys and sequence numbers", "entries", "rows"), self._file
        for label, key, found in (
            ("_MIN_KEY", file.min_key, self._first),
            ("_MAX_KEY", file.max_key, self._last),
        ):
            if key is None or found is None:
                continue
            for name, recorded, value in zip(self._names, key, found, strict=True):
                if value is None or type(recorded) is not type(value):
                    continue  # a type whose values Arrow reads in another form
                said = f"{format_figure(recorded)} recorded, the row has {format_figure(value)}"
                message = f"{label}, {name.removeprefix('_KEY_')}: {said}"
                line.require(recorded == value, "key-of-file", file.path, message, snapshots)


def _read(cell: Any) -> Any:
    try:
        return cell.as_py()
    except (ValueError, OverflowError):
        return None
