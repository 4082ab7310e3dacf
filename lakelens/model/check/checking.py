"""What a format says of its tables so that they can be checked: it compares what only it records.

What formats compare alike is here: rows with what is recorded of them, and ranges that metadata records of values with the
values, as one that leaves a value out makes readers lose rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.model.check.ledger import Affected, Ledger, LedgerLine, format_figure
from lakelens.model.driver import Part

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.check.survey import Survey
    from lakelens.model.datafile import DataFile


class Checking(Part):
    """What a format compares beside what every format has; files are looked for in any format."""

    answer = "check"
    #: the columns of entries that `compare_figures` looks at, beside those of every format
    columns: tuple[str, ...] = ()

    def compare_figures(self, survey: Survey) -> None:
        """Compare the figures that only this format records with what they are about; see `Table.check`."""

    def list_row_checks(self, file: DataFile) -> Iterable[RowCheck]:
        """List what this format records of a file's rows beside bounds and counts, ready to be compared with them."""
        return ()


# What is compared with the rows of one file, while they are read in pieces: each check sees every piece once, in order.


class RowCheck:
    """One claim about the rows of a file. `add` sees a piece of them, `finish` compares."""

    def add(self, rows: pa.Table) -> None:
        """Look at the next rows."""
        raise NotImplementedError

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """Compare what was seen with what is recorded."""
        raise NotImplementedError


class OrderCheck(RowCheck):
    """Whether rows are in the order of some columns: ascending, nulls first where `nulls_first`, descending where asked.

    Texts and bytes compare by their bytes. `columns` are names with whether they descend and whether their nulls come first.
    """

    def __init__(
        self, path: str, columns: Sequence[tuple[str, bool, bool]], what: str, severity: Any
    ) -> None:
        self._path, self._columns, self._what, self._severity = path, columns, what, severity
        self._last: pa.Table | None = None
        self._seen = 0
        self._wrong: int | None = None
        self._is_comparable = True

    def add(self, rows: pa.Table) -> None:
        """See `RowCheck.add`."""
        import pyarrow as pa

        names = [name for name, _, _ in self._columns]
        if not self._is_comparable or any(rows.column_names.count(name) != 1 for name in names):
            self._is_comparable = False
            return
        chosen = pa.table({name: _plain(rows[name]) for name in names})
        joined = chosen if self._last is None else pa.concat_tables([self._last, chosen])
        if self._wrong is None and joined.num_rows > 1:
            try:
                place = find_disorder(joined, self._columns)
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
                self._is_comparable = False
                return
            if place is not None:
                self._wrong = self._seen - (self._last is not None) + place
        self._seen += rows.num_rows
        self._last = chosen.slice(max(chosen.num_rows - 1, 0), 1) if chosen.num_rows else self._last

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """See `RowCheck.finish`."""
        if not self._is_comparable:
            return
        line = ledger.line("order of rows", "entries", "rows")
        names = ", ".join(name for name, _, _ in self._columns)
        message = f"{self._what} by {names}: row {self._wrong} comes before the row in front of it"
        line.require(self._wrong is None, "row-order", self._path, message, snapshots, self._severity)


def find_disorder(rows: pa.Table, columns: Sequence[tuple[str, bool, bool]]) -> int | None:
    """Find the number of the first row that belongs before the one in front of it; None where all are in order.

    >>> import pyarrow as pa
    >>> find_disorder(pa.table({"a": [1, 1, 2], "b": ["x", "w", "a"]}), [("a", False, True), ("b", False, True)])
    1
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    count = rows.num_rows - 1
    decided = np.zeros(count, np.bool_)
    for name, is_descending, nulls_first in columns:
        column = rows[name].combine_chunks()
        one, other = column.slice(0, count), column.slice(1)
        none, later = one.is_null().to_numpy(False), other.is_null().to_numpy(False)
        first, second = (other, one) if is_descending else (one, other)
        after = pc.fill_null(pc.greater(first, second), False).to_numpy(False)
        before = pc.fill_null(pc.less(first, second), False).to_numpy(False)
        wrong = after | ((later & ~none) if nulls_first else (none & ~later))
        right = before | ((none & ~later) if nulls_first else (later & ~none))
        if pa.types.is_floating(column.type):  # NaN comes after every number, whichever way
            nan, next_nan = (pc.fill_null(pc.is_nan(part), False).to_numpy(False) for part in (one, other))
            wrong, right = wrong & ~nan & ~next_nan, right | nan | next_nan
        found = np.flatnonzero(wrong & ~decided)
        if len(found):
            return int(found[0]) + 1
        decided |= right
    return None


def _plain(column: Any) -> Any:
    """A column as it is, or decoded where it comes as a dictionary; texts as bytes, which is how engines order them."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    return column.cast(pa.binary()) if pa.types.is_string(kind) else column


def find_starts(survey: Survey) -> list[int]:
    """The row at which the entries of each manifest begin, and the end of the last; they are in the manifests' order."""
    import numpy as np

    if not survey.entries.num_rows:
        return [0] * (len(survey.manifests) + 1)
    numbers = survey.numpy("number")
    found: list[int] = np.searchsorted(numbers, np.arange(len(survey.manifests) + 1)).tolist()
    return found


def compare_ranges(survey: Survey, recorded_in: str) -> None:
    """Compare the partition ranges that lists record of each manifest with the partitions of its entries.

    A range that is too wide costs readers time only. Damaged manifests are left out.
    """
    entries = survey.entries
    if "partition_values" not in entries.column_names:
        return
    line = survey.ledger.line("partition ranges", recorded_in, "partitions of the entries")
    starts = find_starts(survey)
    values = entries["partition_values"].combine_chunks()
    for number in range(len(survey.manifests)):
        start, stop = starts[number], starts[number + 1]
        if number in survey.damaged or start == stop:
            continue
        snapshots = partial(survey.list_snapshots, (number,))
        for known in survey.lines[number]:
            _compare_summaries(line, known, values.slice(start, stop - start), snapshots)


def _compare_summaries(line: LedgerLine, manifest: Any, values: pa.StructArray, snapshots: Affected) -> None:
    import pyarrow.compute as pc

    for place, summary in enumerate(manifest.partition_summary):
        index = values.type.get_field_index(summary.name)
        if index < 0:
            continue
        column = pc.struct_field(values, [index])
        where = f"partition field {place} ({summary.name})"
        nulls, has_nan, lower, upper = measure_values(column)
        rules = [(bool(summary.contains_null) or not nulls, "no null", "null")]
        if summary.contains_nan is not None:
            rules.append((summary.contains_nan or not has_nan, "no NaN", "NaN"))
        for holds, said, seen in rules:
            message = f"{where}: {said} recorded in contains_{seen.lower()}, and an entry has {seen}"
            line.require(holds, "partition-range", manifest.path, message, snapshots)
        what = f"{where}: nulls"
        line.compare(summary.null_count, nulls, "partition-nulls", manifest.path, what, snapshots)
        compare_end(line, manifest.path, f"{where}: lower bound", summary.lower, lower, -1, snapshots)
        compare_end(line, manifest.path, f"{where}: upper bound", summary.upper, upper, 1, snapshots)


def compare_end(
    line: LedgerLine, path: str, where: str, recorded: Any, found: Any, sign: int, snapshots: Affected
) -> None:
    """Compare one end of a range; `sign` says on which side of it no value may be."""
    if found is None:
        return
    if recorded is None:
        message = f"{where}: none recorded, and entries reach {format_figure(found)}"
        line.differ("error", "partition-range", path, message, snapshots)
        return
    try:
        leaves_out = recorded > found if sign < 0 else recorded < found
    except TypeError:  # a type that does not order: nothing can be said
        return
    message = f"{where}: {format_figure(recorded)} recorded, entries reach {format_figure(found)}"
    if recorded == found:
        line.agree()
    elif leaves_out:
        line.differ("error", "partition-range", path, message, snapshots)
    else:
        line.differ("warning", "partition-range-wide", path, message, snapshots)


def measure_values(column: Any) -> tuple[int, bool, Any, Any]:
    """Measure how many values are null, whether some are NaN, and the least and the greatest of the others.

    >>> import pyarrow as pa
    >>> measure_values(pa.array([2.0, None, float("nan"), 1.0]))
    (1, True, 1.0, 2.0)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    nulls, has_nan = column.null_count, False
    if pa.types.is_floating(column.type):
        nan = pc.is_nan(column)
        has_nan = bool(pc.any(nan).as_py())
        column = column.filter(pc.fill_null(pc.invert(nan), False)) if has_nan else column
    if column.null_count == len(column):
        return nulls, has_nan, None, None
    try:
        ends = pc.min_max(column)
    except pa.ArrowNotImplementedError:
        values = [value for value in column.to_pylist() if value is not None]
        try:
            return nulls, has_nan, min(values), max(values)
        except TypeError:  # a type that does not order
            return nulls, has_nan, None, None
    return nulls, has_nan, _read(ends["min"]), _read(ends["max"])


def _read(value: Any) -> Any:
    """Read a value as Python has it; None for one that it cannot hold."""
    try:
        return value.as_py()
    except (ValueError, OverflowError):
        return None
