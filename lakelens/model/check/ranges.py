"""Ranges that metadata records of values, compared with the values: one that leaves a value out makes readers lose rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.model.check.ledger import Affected, LedgerLine, format_figure
from lakelens.model.check.survey import Survey

if TYPE_CHECKING:
    import pyarrow as pa


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
    """One end of a range; `sign` says on which side of it no value may be."""
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
    """How many values are null, whether some are NaN, and the least and the greatest of the others.

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
    """A value as Python has it; None for one that it cannot hold."""
    try:
        return value.as_py()
    except (ValueError, OverflowError):
        return None
