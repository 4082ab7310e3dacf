"""What writers of Parquet files get wrong in their statistics, whatever table format the files are of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.codecs.parquet.statistics import has_wrong_binary_bounds
from lakelens.codecs.parquet.thrift_schema import decode_statistic
from lakelens.formats.defects.evidence import list_chunks, shorten
from lakelens.model.check.defect import Product, rule

if TYPE_CHECKING:
    from lakelens.model.finding import Finding
    from lakelens.model.table import Table

_BINARY = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")


@rule(
    "binary-statistics",
    "min and max of binary columns are those of the last row group",
    writers=(Product("parquet-mr", before="1.8.0"),),
    threads=("apache/parquet-java#197", "trinodb/trino#1798"),
    shows="the same bounds in every row group of a binary column",
    severity="warning",
    reads_files=True,
)
def binary_statistics(table: Table) -> Iterator[Finding]:
    """PARQUET-251: parquet-mr before 1.8.0 reused a buffer, so that every row group has the bounds of the last one.

    Shows in footers: a binary column of several row groups, in all of which the stored bounds are the same bytes.
    """
    for file, footer, leaf, statistics in list_chunks(table):
        if leaf.physical_type not in _BINARY or not has_wrong_binary_bounds(footer.created_by):
            continue
        bounds = [(one.get("min"), one.get("max")) for one in statistics]
        if len(bounds) > 1 and bounds[0][0] is not None and len(set(bounds)) == 1:
            message = (
                f"column {leaf.path}: {len(bounds)} row groups have the same bounds; "
                f"written by {footer.created_by or 'an unnamed writer'}"
            )
            yield binary_statistics.report(shorten(table, file.path), message)


@rule(
    "signed-statistics",
    "min and max of strings and decimals follow the order of signed bytes",
    writers=(Product("parquet-mr"),),
    threads=("apache/parquet-java#367", "apache/parquet-format#46"),
    shows="only the old members min and max, with bytes beyond ASCII",
    severity="note",
    reads_files=True,
)
def signed_statistics(table: Table) -> Iterator[Finding]:
    """PARQUET-686: min and max of strings were compared as signed bytes: text beyond ASCII sorts before all else.

    Shows in footers: a string or decimal column that has only the old members `min` and `max`, with a byte of 0x80 or
    more in one of them.
    """
    for file, footer, leaf, statistics in list_chunks(table):
        if leaf.physical_type not in _BINARY:
            continue
        for one in statistics:
            low, high = one.get("min"), one.get("max")
            if one.get("min_value") is not None or not isinstance(low, bytes) or not isinstance(high, bytes):
                continue
            if low != high and max((*low, *high), default=0) >= 0x80:
                message = (
                    f"column {leaf.path}: bounds in the order of signed bytes, {low[:16]!r} to {high[:16]!r}; "
                    f"written by {footer.created_by or 'an unnamed writer'}"
                )
                yield signed_statistics.report(shorten(table, file.path), message)
                break


@rule(
    "int96-statistics",
    "min and max of INT96 timestamps were compared as bytes",
    threads=("apache/doris#35041",),
    shows="an INT96 column with a min and another max",
    severity="note",
    reads_files=True,
)
def int96_statistics(table: Table) -> Iterator[Finding]:
    """PARQUET-1065: old writers compared INT96 timestamps as bytes, so that their min and max are no bounds.

    Shows in footers: an INT96 column with bounds that differ. Where both are the same value no order matters.
    """
    from lakelens.codecs.parquet.statistics import find_order

    for file, footer, leaf, statistics in list_chunks(table):
        if leaf.physical_type != "INT96":
            continue
        if find_order(footer, footer.leaves.index(leaf)) == "INT96_TIMESTAMP_ORDER":
            continue
        for one in statistics:
            pairs = ((one.get("min"), one.get("max")), (one.get("min_value"), one.get("max_value")))
            if any(low is not None and high is not None and low != high for low, high in pairs):
                message = f"column {leaf.path}: bounds of INT96 timestamps, which had no order when they were written"
                yield int96_statistics.report(shorten(table, file.path), message)
                break


@rule(
    "reversed-bounds",
    "min and max of decimals were compared as unsigned bytes",
    writers=(Product("clickhouse"), Product("polars")),
    threads=("ClickHouse/ClickHouse#83754", "pola-rs/polars#29347"),
    shows="the min of a row group is above its max",
    severity="error",
    reads_files=True,
)
def reversed_bounds(table: Table) -> Iterator[Finding]:
    """Writers that compare decimals as unsigned bytes state a min above the max: readers then drop every row.

    Shows in footers: a decimal column whose stored min is above its max.
    """
    for file, footer, leaf, statistics in list_chunks(table):
        if not (leaf.logical_type or "").startswith("Decimal"):
            continue
        for number, one in enumerate(statistics):
            stored = one.get("min_value"), one.get("max_value")
            if not all(isinstance(data, bytes) for data in stored):
                continue
            low, high = (decode_statistic(data, leaf.physical_type, leaf.logical_type) for data in stored)
            if low is not None and high is not None and low > high:
                message = (
                    f"column {leaf.path}, row group {number}: min {low} is above max {high}; "
                    f"written by {footer.created_by or 'an unnamed writer'}"
                )
                yield reversed_bounds.report(shorten(table, file.path), message)
                break


#: The rules of every table format whose data files may be Parquet.
STATISTICS = (binary_statistics, signed_statistics, int96_statistics, reversed_bounds)
