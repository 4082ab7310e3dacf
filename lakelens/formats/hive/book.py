"""The defect book of Hive: the rules, and who wrote a table: names of files say it, and footers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects import STATISTICS, list_footer_writers, sample_files
from lakelens.model.check.defect import DefectBook, Product, Writer, rule
from lakelens.model.facts.traits import parse_figure

if TYPE_CHECKING:
    from lakelens.formats.hive.listing import HiveTable
    from lakelens.model.finding import Finding


@rule(
    "zero-rows",
    "a count of no rows that was never made",
    writers=(Product("hive"), Product("spark")),
    threads=("apache/spark#19831", "apache/spark#19880"),
    shows="numRows is 0 and the files have rows",
    severity="warning",
    reads_files=True,
)
def zero_rows(table: HiveTable) -> Iterator[Finding]:
    """Hive keeps numRows at 0 when statistics are not gathered: a planner that believes it broadcasts a table of any size.

    Shows in the metastore's facts: numRows is 0, totalSize is not, and the files have rows.
    """
    if parse_figure(table.properties, "numRows") != 0:
        return
    rows = sum(file.record_count or 0 for file in sample_files(table))
    size = sum(file.size_bytes or 0 for file in sample_files(table))
    if rows:
        message = f"numRows is 0; {rows:,} rows are in the {size:,} bytes that were looked at"
        yield zero_rows.report(table.location, message)


def list_writers(table: HiveTable) -> tuple[Writer, ...]:
    """See `DefectBook.list_writers`: the names of files say who wrote them, footers with which library."""
    named = dict.fromkeys(
        listed.name.writer for listed in table._listing if listed.is_data and listed.name.writer
    )
    found = (Writer(writer, "", "names of files") for writer in named if writer)
    return tuple(dict.fromkeys((*found, *list_footer_writers(table))))


BOOK = DefectBook((zero_rows, *STATISTICS), list_writers)
