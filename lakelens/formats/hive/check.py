"""The check of a Hive-style table: its files compared with themselves, with their names, and with the metastore.

Nothing in the directory records how many rows there are. A file is sound where its footer can be read; what a metastore
says (buckets, partitions, statistics) is compared where the table was opened through one. Statistics of a metastore go
stale by design: that they differ is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.access import run_ahead
from lakelens.formats.contents import FORMATS
from lakelens.formats.defects import STATISTICS, list_footer_writers, sample_files
from lakelens.formats.hive.datafile import HiveFile
from lakelens.formats.hive.names import find_leftover
from lakelens.io.store import ObjectInfo
from lakelens.model.check.checking import Checking
from lakelens.model.check.defect import DefectBook, Product, Writer, rule
from lakelens.model.check.ledger import Ledger
from lakelens.model.check.references import Purpose, Referring
from lakelens.model.check.survey import Survey
from lakelens.model.facts.traits import parse_figure
from lakelens.model.finding import Findings
from lakelens.progress import track

if TYPE_CHECKING:
    from lakelens.formats.hive.listing import HiveTable
    from lakelens.formats.hive.read import Found
    from lakelens.model.finding import Finding

#: Files of which every footer is read; of more the first ones are.
MOST_FOOTERS = 1_000
_STATISTICS = re.compile(r"([\d,]+) bytes(?:, ([\d,]+) rows)?")
_THREADS = 8


class HiveChecking(Checking):
    """What is compared of one Hive-style table."""

    table: HiveTable

    def compare_figures(self, survey: Survey) -> None:
        """See `Checking.compare_figures`."""
        files = [file for file in self.table.files if isinstance(file, HiveFile)]
        rows = _read_footers(survey.ledger, files)
        _compare_names(self.table, survey.ledger, files)
        _compare_partitions(self.table, survey.ledger, files)
        _compare_statistics(self.table, survey.ledger, files, rows)


def _read_footers(ledger: Ledger, files: list[HiveFile]) -> int | None:
    """Read the footer of every file; the rows of all of them, None where that is not known."""
    filled = [file for file in files if file.size_bytes]
    readable = [file for file in filled if file.file_format in FORMATS]
    chosen = readable[:MOST_FOOTERS]
    if len(readable) > len(chosen):
        what = f"the footers of {len(readable) - len(chosen):,} of {len(readable):,} data files"
        ledger.leave(what, f"the first {len(chosen):,} were read")
    text = len(filled) - len(readable)
    if text:
        ledger.leave(f"{text:,} files of formats without a footer", "nothing in them says how long they are")
    line = ledger.line("files that can be read", "the directory", "their own footers")
    total = 0
    jobs = (partial(file.read_facts, file.file_format) for file in chosen)
    loads = run_ahead(jobs, _THREADS, chosen[0]._access.store if chosen else None)
    for file, load in track(zip(chosen, loads, strict=True), "footers", len(chosen)):
        try:
            facts = load()
        except LakeError as error:
            line.differ("error", type(error).__name__.lower(), error.path or file.path, error.reason)
            continue
        file.count_rows(lambda facts=facts: facts)  # type: ignore[misc]
        line.agree()
        total += 0 if facts is None else facts.record_count or 0
    return total if len(chosen) == len(filled) and not line.differing else None


def _compare_names(table: HiveTable, ledger: Ledger, files: Iterable[HiveFile]) -> None:
    """Compare the bucket in a file's name, with the number of buckets that the metastore knows."""
    facts = (table.catalog or {}).get("table")
    number = str(facts.get("Num Buckets", "")) if isinstance(facts, Mapping) else ""
    if not number.isdecimal() or not int(number):
        return
    line = ledger.line("buckets of files", "the metastore", "names of files")
    for file in files:
        if file.writer in ("spark", "hive"):
            seen = "no bucket" if file.bucket is None else f"bucket {file.bucket}"
            message = f"the name says {seen}, the table has {number} buckets"
            is_known = file.bucket is not None and file.bucket < int(number)
            line.require(is_known, "bucket-of-file", file.path, message, severity="warning")


def _compare_partitions(table: HiveTable, ledger: Ledger, files: Iterable[HiveFile]) -> None:
    """The values in partition directories, with the types of their columns; registered partitions with directories."""
    kinds = {field.name: str(field.result_type) for field in table.partitioning}
    if not kinds:
        return
    line = ledger.line("partition values", "names of directories", "types of the columns")
    seen: set[str] = set()
    for file in files:
        if str(file.partition) in seen:
            continue
        seen.add(str(file.partition))
        for name, value in file.partition.items():
            kind = kinds.get(name, "string")
            message = f"{name}={value} is not of type {kind}: readers see null"
            line.require(_fits(value, kind), "partition-value", file.path, message, severity="warning")
    registered = (table.catalog or {}).get("partitions") or ()
    if registered:  # what does not agree is a finding of the listing
        odd = {f.code for f in table.findings} & {"partition-missing", "partition-unregistered"}
        known = ledger.line("partitions", "the metastore", "directories")
        known.agree(max(len(registered) - len(odd), 0))


def _fits(value: Any, kind: str) -> bool:
    """Check whether the text of a directory is a value of a type, as Hive casts it.

    >>> _fits("7", "int"), _fits("x", "int"), _fits("2024-02-30", "date")
    (True, False, False)
    """
    from datetime import date

    if not isinstance(value, str):
        return True
    try:
        if kind in ("tinyint", "smallint", "int", "bigint", "integer", "long"):
            int(value)
        elif kind in ("float", "double"):
            float(value)
        elif kind == "date":
            date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _compare_statistics(table: HiveTable, ledger: Ledger, files: list[HiveFile], rows: int | None) -> None:
    facts = table.catalog or {}
    line = ledger.line("statistics of the metastore", "the metastore", "files and their footers")
    size = sum(file.size_bytes or 0 for file in files)
    for where, recorded_size, recorded_rows in _list_statistics(facts):
        line.compare(recorded_size, size, "metastore-statistics", table.location, f"{where}: bytes")
        line.compare(recorded_rows, rows, "metastore-statistics", table.location, f"{where}: rows")
    number = _find_number(facts.get("properties"), "numFiles")
    line.compare(number, len(files), "metastore-statistics", table.location, "numFiles")


def _list_statistics(facts: Mapping[str, Any]) -> Iterator[tuple[str, int | None, int | None]]:
    """Bytes and rows of the table as the metastore has them: of `DESCRIBE`, and of the table's properties."""
    table, properties = facts.get("table"), facts.get("properties")
    text = str(table.get("Statistics", "")) if isinstance(table, Mapping) else ""
    matched = _STATISTICS.fullmatch(text)
    if matched:
        yield "Statistics", *(None if one is None else int(one.replace(",", "")) for one in matched.groups())  # type: ignore[misc]
    for size, rows in (
        ("totalSize", "numRows"),
        ("spark.sql.statistics.totalSize", "spark.sql.statistics.numRows"),
    ):
        found = _find_number(properties, size), _find_number(properties, rows)
        if any(one is not None for one in found):
            # 0 and -1 rows beside bytes mean that nobody has counted them
            is_counted = bool(found[1] and found[1] > 0)
            yield size.rpartition(".")[0] or "properties", found[0], found[1] if is_counted else None


def _find_number(properties: Any, name: str) -> int | None:
    text = str(properties.get(name)) if isinstance(properties, Mapping) else ""
    return int(text) if len(text) < 20 and text.lstrip("-").isdecimal() else None


# What an object of a Hive-style table is for: nothing refers to files, so only what no reader sees can be left over.


class HiveReferring(Referring):
    """What there is to know of the objects of a Hive-style table."""

    table: HiveTable

    def list_objects(self, refuse: Callable[[LakeError], None]) -> Iterator[ObjectInfo]:
        """See `Referring.list_objects`."""
        found: list[Found] = []
        problems = Findings()
        try:
            found = self.table.list_found(problems)
        except LakeError as error:
            refuse(error)
        for problem in problems:
            if problem.severity == "error":
                refuse(LakeError(problem.message, path=problem.path))
        self._roles = {listed.relative_path: listed.role for listed in found}
        return (listed.info for listed in found)

    def find_purpose(self, relative_path: str) -> Purpose:
        """See `Referring.find_purpose`."""
        role = self._roles.get(relative_path, "unknown")
        reason = find_leftover(role)
        return Purpose(role, "known") if reason is None else Purpose(role, "loose", reason)

    @cached_property
    def _roles(self) -> dict[str, str]:
        return {listed.relative_path: listed.role for listed in self.table.list_found(Findings())}


# The defect book of Hive: the rules, and who wrote a table: names of files say it, and footers.


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
