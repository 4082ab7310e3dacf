"""What manifest lists record of manifests, compared with the entries in them: counts of files and rows, partition ranges.

Follows "Manifest Lists" of the Iceberg table specification: fields 502 to 514, and `field_summary` (507 to 511, 518).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakelens.formats.iceberg.check.tallies import Tally
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.model.check.ledger import Line, format_figure
from lakelens.model.check.survey import Survey

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.iceberg.table import IcebergTable

_COUNTS = (("ADDED", "added"), ("EXISTING", "existing"), ("DELETED", "deleted"))


def compare_counts(survey: Survey, tallies: Sequence[Tally]) -> None:
    """Compare the counts of files and rows that lists record of each manifest. Damaged manifests are left out."""
    lists = f"{len(survey.lists):,} manifest list{'s' * (len(survey.lists) != 1)}"
    manifests = f"{len(survey.manifests):,} manifest{'s' * (len(survey.manifests) != 1)}"
    line = survey.ledger.line("counts of manifests", lists, manifests)
    for number, tally in enumerate(tallies):
        if number in survey.damaged:
            continue
        found = {word: tally.count(status) for status, word in _COUNTS}
        for manifest in survey.lines[number]:
            for word, amount in found.items():
                for noun, counted in (("files", amount.files), ("rows", amount.rows)):
                    name = f"{word}_{noun}_count"
                    recorded = getattr(manifest, name)
                    if recorded is not None:
                        snapshots = survey.list_snapshots([number])
                        line.compare(
                            recorded, counted, "manifest-counts", manifest.path, name, snapshots, "error"
                        )


def compare_ranges(table: IcebergTable, survey: Survey) -> None:
    """Compare the ranges of partition values that lists record with the partitions of the entries.

    A range that leaves a value out makes readers skip the manifest; one that is too wide costs them time only.
    """
    entries = survey.entries
    if "partition_values" not in entries.column_names:
        return
    lists = f"{len(survey.lists):,} manifest list{'s' * (len(survey.lists) != 1)}"
    line = survey.ledger.line("partition ranges", lists, "partitions of the entries")
    starts = _find_starts(survey)
    values = entries["partition_values"].combine_chunks()
    for number, manifest in enumerate(survey.manifests):
        start, stop = starts[number], starts[number + 1]
        if number in survey.damaged or start == stop:
            continue
        for known in survey.lines[number]:
            if isinstance(known, IcebergManifest) and known.partitions is not None:
                snapshots = survey.list_snapshots([number])
                _compare_summaries(line, known, values.slice(start, stop - start), snapshots)
        _ = manifest


def _find_starts(survey: Survey) -> list[int]:
    """The row at which the entries of each manifest begin; they are in the order of the manifests."""
    import numpy as np

    numbers = survey.numpy("number")
    found: list[int] = np.searchsorted(numbers, np.arange(len(survey.manifests) + 1)).tolist()
    return found


def _compare_summaries(
    line: Line, manifest: IcebergManifest, values: pa.StructArray, snapshots: Sequence[int]
) -> None:
    import pyarrow.compute as pc

    for place, summary in enumerate(manifest.partition_summary):
        index = values.type.get_field_index(summary.name)
        if index < 0:
            continue
        column = pc.struct_field(values, [index])
        where = f"partitions[{place}] ({summary.name})"
        has_null, has_nan, lower, upper = measure_values(column)
        line.require(
            bool(summary.contains_null) or not has_null,
            "partition-range",
            manifest.path,
            f"{where}: contains_null is false, and an entry has null",
            snapshots,
        )
        if summary.contains_nan is not None:
            line.require(
                summary.contains_nan or not has_nan,
                "partition-range",
                manifest.path,
                f"{where}: contains_nan is false, and an entry has NaN",
                snapshots,
            )
        for word, recorded, found, sign in (
            ("lower_bound", summary.lower, lower, -1),
            ("upper_bound", summary.upper, upper, 1),
        ):
            _compare_end(line, manifest, f"{where}.{word}", recorded, found, sign, snapshots)


def _compare_end(
    line: Line,
    manifest: IcebergManifest,
    where: str,
    recorded: Any,
    found: Any,
    sign: int,
    snapshots: Sequence[int],
) -> None:
    """One end of a range; `sign` says on which side values are left out."""
    if found is None:
        return
    if recorded is None:
        message = f"{where}: none recorded, and entries reach {format_figure(found)}"
        line.differ("error", "partition-range", manifest.path, message, snapshots)
        return
    try:
        is_same = recorded == found
        leaves_out = recorded > found if sign < 0 else recorded < found
    except TypeError:  # a type that does not order: nothing can be said
        return
    message = f"{where}: {format_figure(recorded)} recorded, entries reach {format_figure(found)}"
    if is_same:
        line.agree()
    elif leaves_out:
        line.differ("error", "partition-range", manifest.path, message, snapshots)
    else:
        line.differ("warning", "partition-range-wide", manifest.path, message, snapshots)


def measure_values(column: pa.Array) -> tuple[bool, bool, Any, Any]:
    """Whether values are null, whether some are NaN, and the least and the greatest of the others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    has_null, has_nan = column.null_count > 0, False
    if pa.types.is_floating(column.type):
        nan = pc.is_nan(column)
        has_nan = bool(pc.any(nan).as_py())
        column = column.filter(pc.invert(nan)) if has_nan else column
    if column.null_count == len(column):
        return has_null, has_nan, None, None
    try:
        ends = pc.min_max(column)
    except pa.ArrowNotImplementedError:
        values = [value for value in column.to_pylist() if value is not None]
        return has_null, has_nan, min(values), max(values)
    return has_null, has_nan, ends["min"].as_py(), ends["max"].as_py()
