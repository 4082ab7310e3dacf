"""The defect book of Paimon: the rules, and who wrote a table: the versions in its snapshots, and footers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.defects import STATISTICS, list_footer_writers, sample_files, sample_footers, shorten
from lakelens.formats.paimon.manifests.manifest import merge_entries
from lakelens.model.check.defect import DefectBook, Product, Writer, rule

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.finding import Finding
    from lakelens.model.manifest import Entry

_MOST = 200
_OPTION = "manifest.delete-file-drop-stats"


@rule(
    "total-rows-of-compaction",
    "the total counts the rows of compacted files again",
    writers=(Product("paimon"),),
    threads=("apache/paimon#1998", "apache/paimon#2009"),
    shows="after a COMPACT totalRecordCount is more than the rows of the live files",
    severity="warning",
)
def total_rows(table: PaimonTable) -> Iterator[Finding]:
    """Paimon, while 0.6 was made, added the rows of a compaction's output to the total, and kept those of its input.

    Shows in snapshots: totalRecordCount is larger than the rows of the live files.
    """
    compacted = False
    for snapshot in table.snapshots[-_MOST:]:
        compacted = compacted or snapshot.operation == "COMPACT"
        recorded = snapshot.record_count
        if recorded is None or not compacted:
            continue
        try:
            rows = snapshot.files.record_count
        except LakeError:
            continue
        if recorded > rows and not getattr(snapshot, "is_incomplete", False):
            message = f"totalRecordCount is {recorded:,}, the live files have {rows:,} rows"
            number = [snapshot.id] if snapshot.id is not None else []
            yield total_rows.report(shorten(table, snapshot.path or ""), message, number)


@rule(
    "file-added-twice",
    "a file that was committed twice",
    writers=(Product("paimon"),),
    threads=("apache/paimon#301", "apache/paimon#3112"),
    shows="an entry adds a file that is live already",
    severity="error",
)
def added_twice(table: PaimonTable) -> Iterator[Finding]:
    """A job that went back to an old checkpoint committed the same files again: engines refuse the manifests, or count
    rows twice.

    Shows in a snapshot: an entry adds a file that is there already.
    """
    snapshot = table.current
    if snapshot is None or snapshot.files.rows is not None:
        return  # where the files were merged by column, none was added twice
    for entry in merge_entries(_list_entries(table)).repeated:
        message = f"{entry.file.path.rpartition('/')[2]} is added although it is there already"
        path = shorten(table, entry.file.manifest or "")
        yield added_twice.report(path, message, [snapshot.id])


def _list_entries(table: PaimonTable) -> Iterator[Entry]:
    """List the entries that the newest snapshot folds, those of each manifest that can be read."""
    lists = table.current.manifest_lists if table.current is not None else ()
    for listed in lists:
        if listed.role == "changelog":
            continue
        for manifest in listed.walk()[0]:
            try:
                yield from manifest.entries
            except LakeError:
                continue


@rule(
    "stats-dropped-by-compaction",
    "entries without statistics after a file's level was raised",
    writers=(Product("paimon"),),
    threads=("apache/paimon#7026",),
    shows="live files above level 0 have no statistics, and manifest.delete-file-drop-stats is on",
    severity="note",
)
def dropped_stats(table: PaimonTable) -> Iterator[Finding]:
    """With `manifest.delete-file-drop-stats`, a compaction that only raises a file's level writes its new entry without
    statistics.

    Shows in manifests: the option is on, and live files above level 0 have no value statistics while others have them.
    """
    if not table.context.is_on(_OPTION) or table.options.get("metadata.stats-mode", "") == "none":
        return
    for file in sample_files(table):
        if (file.level or 0) > 0 and not file.bounds:
            message = f"level {file.level}, without statistics: {_OPTION} is on"
            snapshots = [table.current.id] if table.current is not None else []
            yield dropped_stats.report(shorten(table, file.path), message, snapshots)


@rule(
    "timestamp-without-type",
    "timestamps in Parquet without their logical type",
    writers=(Product("paimon"),),
    threads=("apache/paimon#2557",),
    shows="a TIMESTAMP column is INT64 without a logical type",
    severity="note",
    reads_files=True,
)
def plain_timestamps(table: PaimonTable) -> Iterator[Finding]:
    """Paimon 0.6 wrote timestamps into Parquet files as bare numbers: other readers show integers, or refuse them.

    Shows in footers: a TIMESTAMP column that is INT64 without a logical type.
    """
    times = {
        field.id: field.name for field in table.schema.fields if field.type.logical.startswith("timestamp")
    }
    for file, footer in sample_footers(table) if times else ():
        for leaf in footer.leaves:
            is_time = leaf.field_id in times or (leaf.field_id is None and leaf.path in times.values())
            if is_time and leaf.physical_type == "INT64" and leaf.logical_type is None:
                message = f"column {leaf.path}: INT64 without a logical type"
                yield plain_timestamps.report(shorten(table, file.path), message)
                break


def list_writers(table: PaimonTable) -> tuple[Writer, ...]:
    """See `DefectBook.list_writers`: writers' versions in snapshots, then the libraries that wrote data files."""
    versions = dict.fromkeys(getattr(snapshot, "writer_version", None) for snapshot in table.snapshots)
    named = [Writer("paimon", version, "writerVersion of snapshots") for version in versions if version]
    return tuple(dict.fromkeys((*(named or [Writer("paimon")]), *list_footer_writers(table))))


BOOK = DefectBook((total_rows, added_twice, dropped_stats, plain_timestamps, *STATISTICS), list_writers)
