"""What writers of Iceberg get wrong in the entry of a file: its size, split offsets, counts and bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.defects.evidence import (
    find_snapshots,
    list_chunks,
    list_sizes,
    read_entries,
    sample_recorded,
    shorten,
)
from lakelens.model.check.defect import Product, rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding

_MOST = 200


@rule(
    "split-offsets-past-end",
    "split offsets of another file, past the end of this one",
    writers=(Product("iceberg", "1.4.0", "1.4.1"),),
    threads=("apache/iceberg#8860", "apache/iceberg#8834", "apache/iceberg#8925"),
    shows="the last split offset is not less than the length of the file",
    severity="warning",
)
def split_offsets(table: IcebergTable) -> Iterator[Finding]:
    """Iceberg 1.4.0 read the split offsets of a manifest's first entry for all of them, and rewrote manifests with those.

    Shows in entries: the last split offset is at or past the end of the file. Readers since 1.4.1 ignore such offsets.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    entries = read_entries(table)
    if not entries.num_rows or pa.types.is_string(entries["split_offsets"].type):
        return
    known = entries.filter(pc.greater(pc.list_value_length(entries["split_offsets"]), 0))
    if not known.num_rows:
        return
    offsets = known["split_offsets"].combine_chunks()
    ends = pc.subtract(pc.cumulative_sum(pc.cast(pc.list_value_length(offsets), pa.int64())), 1)
    last = pc.list_flatten(offsets).take(ends)
    wrong = pc.fill_null(pc.greater_equal(last, known["size_bytes"].combine_chunks()), False)
    rows = known.filter(wrong)
    for path, size, offset, manifest in zip(
        *(rows[name].to_pylist() for name in ("path", "size_bytes")),
        last.filter(wrong).to_pylist(),
        rows["manifest"].to_pylist(),
        strict=True,
    ):
        message = f"the last split offset is {offset:,}, the file has {size:,} bytes"
        yield split_offsets.report(shorten(table, path), message, find_snapshots(table, [manifest]))


@rule(
    "file-size-too-large",
    "the recorded length counts rows that were still buffered",
    writers=(Product("iceberg"),),
    threads=("apache/iceberg#1980", "trinodb/trino#6369"),
    shows="a complete file is shorter than recorded",
    severity="error",
)
def file_sizes(table: IcebergTable) -> Iterator[Finding]:
    """Old Parquet writers of Iceberg took a file's length with rows that were still buffered: more bytes are recorded
    than written.

    Shows in entries and the listing: the recorded length is larger than the file, which is complete all the same.
    """
    entries, sizes = read_entries(table), list_sizes(table)
    pairs = zip(entries["path"].to_pylist(), entries["size_bytes"].to_pylist(), strict=True)
    shorter = {path for path, size in pairs if path in sizes and size is not None and sizes[path] < size}
    if not shorter or table.current is None:
        return
    for number, file in enumerate(table.files.choose(lambda path: path in shorter, "path")):
        if number == _MOST:
            return
        try:
            rows = file.footer.facts.num_rows
        except (LakeError, AttributeError):
            continue  # it is cut off: that is damage, not this defect
        if rows == file.record_count:
            message = (
                f"recorded with {file.size_bytes:,} bytes, the file is complete with {sizes[file.path]:,}"
            )
            snapshots = [table.current.id]
            yield file_sizes.report(shorten(table, file.path), message, snapshots)


@rule(
    "nan-bounds",
    "NaN as a bound of a column",
    writers=(Product("iceberg"),),
    threads=("apache/iceberg#2464", "apache/iceberg#1761"),
    shows="a lower or upper bound of a float or double column is NaN",
    severity="warning",
)
def nan_bounds(table: IcebergTable) -> Iterator[Finding]:
    """Iceberg took bounds of floats from the files as they were: in ORC a first value of NaN made both bounds NaN.

    Shows in entries: a lower or upper bound that is NaN. A reader that believes it skips files with matching rows.
    """
    if not any(leaf.type.logical in ("float32", "float64") for _, leaf in table.schema.leaves()):
        return
    for file in sample_recorded(table):
        names = [
            one.name
            for one in file.bounds.values()
            if any(isinstance(bound, float) and bound != bound for bound in (one.lower, one.upper))
        ]
        if names:
            message = f"NaN is a bound of {', '.join(names)}"
            yield nan_bounds.report(
                shorten(table, file.path), message, [table.current.id] if table.current else []
            )


@rule(
    "bounds-cut-in-character",
    "bounds of strings cut inside of a character",
    writers=(Product("duckdb-iceberg"), Product("duckdb")),
    threads=("duckdb/duckdb-iceberg#1136", "duckdb/duckdb-iceberg#1334"),
    shows="a bound of a string column is no UTF-8",
    severity="warning",
)
def cut_bounds(table: IcebergTable) -> Iterator[Finding]:
    """DuckDB cut the bounds of strings at a byte, in the middle of a character: strict readers refuse them.

    Shows in entries: a bound of a string column that is no UTF-8.
    """
    if not any(leaf.type.logical == "string" for _, leaf in table.schema.leaves()):
        return
    for file in sample_recorded(table):
        for one in file.bounds.values():
            stored = (one.lower_raw, one.upper_raw) if one.type.logical == "string" else ()
            for bound in stored:
                if bound is not None and not _is_text(bound):
                    message = f"column {one.name}: a bound that is no UTF-8: {bound[:24]!r}"
                    snapshots = [table.current.id] if table.current else []
                    yield cut_bounds.report(shorten(table, file.path), message, snapshots)
                    break


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@rule(
    "null-count-of-unknown",
    "null counts that took an unknown one for -1",
    writers=(Product("iceberg"),),
    threads=("apache/iceberg#17557", "apache/iceberg#17558"),
    shows="fewer nulls are recorded than the row groups that count them have",
    severity="error",
    reads_files=True,
)
def null_counts(table: IcebergTable) -> Iterator[Finding]:
    """Iceberg added up null counts of row groups with -1 for those that record none: a file with nulls is said to have none.

    Shows in a footer and its entry: a row group has no null count, and the entry's is the sum of the others less one for
    each such group. A reader then skips the file for IS NULL.
    """
    for file, _, leaf, statistics in list_chunks(table):
        counts = [one.optional("null_count") for one in statistics]
        unknown = counts.count(None)
        if not unknown or unknown == len(counts) or leaf.field_id is None:
            continue
        recorded = next((one.nulls for one in file.bounds.values() if one.field_id == leaf.field_id), None)
        known = sum(count or 0 for count in counts)
        if recorded is not None and recorded == known - unknown:
            message = (
                f"column {leaf.path}: {recorded} nulls are recorded; {known} are in the row groups that count them, "
                f"{unknown} of {len(counts)} row groups do not"
            )
            yield null_counts.report(
                shorten(table, file.path), message, [table.current.id] if table.current else []
            )
