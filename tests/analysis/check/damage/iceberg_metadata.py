"""Damage to the metadata documents of Iceberg: ids, references, logs, statistics, and summaries of snapshots."""

from __future__ import annotations

from typing import Any

from tests.analysis.check.damage.kinds import kind
from tests.support.damage import Iceberg


@kind("spark/iceberg/v2-basic", "missing-snapshot", ".metadata.json", "current snapshot")
def document_current(lake: Iceberg) -> None:
    """current-snapshot-id is not among the snapshots."""

    def edit(document: Any) -> None:
        document["current-snapshot-id"] = 42
        document["refs"]["main"]["snapshot-id"] = 42

    lake.edit_document(edit)


@kind("spark/iceberg/v1-copy-on-write", "snapshot-cycle", ".metadata.json", "lead back")
def document_cycle(lake: Iceberg) -> None:
    """A snapshot's chain of parents leads back to itself."""

    def edit(document: Any) -> None:
        snapshots = document["snapshots"]
        snapshots[0]["parent-snapshot-id"] = snapshots[-1]["snapshot-id"]

    lake.edit_document(edit)


@kind("spark/iceberg/v2-partition-evolution", "unknown-id", ".metadata.json", "default-spec-id")
def document_default_spec(lake: Iceberg) -> None:
    """The default partition spec is not among the specs."""

    def edit(document: Any) -> None:
        document["default-spec-id"] = 9

    lake.edit_document(edit)


@kind("spark/iceberg/v2-schema-evolution", "last-column-id", ".metadata.json", "last-column-id")
def document_last_column(lake: Iceberg) -> None:
    """last-column-id is below the id of a column: the next column would get an id that is taken."""

    def edit(document: Any) -> None:
        document["last-column-id"] = 1

    lake.edit_document(edit)


@kind("spark/iceberg/v2-merge-on-read", "sequence-number", ".metadata.json", "last-sequence-number")
def document_last_sequence(lake: Iceberg) -> None:
    """last-sequence-number is behind: the next commit takes a number that is taken."""

    def edit(document: Any) -> None:
        document["last-sequence-number"] = 1

    lake.edit_document(edit)


@kind("spark/iceberg/v2-copy-on-write", "snapshot-log", ".metadata.json", "ends with", severity="warning")
def document_log(lake: Iceberg) -> None:
    """The snapshot log does not end with the current snapshot."""

    def edit(document: Any) -> None:
        document["snapshot-log"].pop()

    lake.edit_document(edit)


@kind("spark/iceberg/v2-branches-and-tags", "dangling-ref", ".metadata.json", "points to", severity="warning")
def document_ref(lake: Iceberg) -> None:
    """A tag points to a snapshot that is not there."""

    def edit(document: Any) -> None:
        document["refs"]["lost"] = {"snapshot-id": 42, "type": "tag"}

    lake.edit_document(edit)


@kind("spark/iceberg/v2-basic", "required-key", ".metadata.json", "last-sequence-number")
def document_required(lake: Iceberg) -> None:
    """A document of version 2 lacks a key that the version requires."""

    def edit(document: Any) -> None:
        del document["last-sequence-number"]

    lake.edit_document(edit)


@kind("spark/iceberg/v2-schema-evolution", "unknown-id", ".metadata.json", "schema 77")
def document_schema(lake: Iceberg) -> None:
    """A snapshot was written with a schema that is not kept."""

    def edit(document: Any) -> None:
        document["snapshots"][-1]["schema-id"] = 77

    lake.edit_document(edit)


@kind(
    "spark/iceberg/v2-statistics",
    "statistics-footer",
    ".stats",
    "file-footer-size-in-bytes",
    severity="warning",
)
def statistics_footer(lake: Iceberg) -> None:
    """The document records another footer of a statistics file than it has."""

    def edit(document: Any) -> None:
        document["statistics"][0]["file-footer-size-in-bytes"] += 1

    lake.edit_document(edit)


@kind("spark/iceberg/v2-statistics", "statistics-snapshot", ".metadata.json", "not there", severity="warning")
def statistics_snapshot(lake: Iceberg) -> None:
    """Statistics are of a snapshot that is not there."""

    def edit(document: Any) -> None:
        document["statistics"][0]["snapshot-id"] = 5

    lake.edit_document(edit)


@kind("spark/iceberg/v2-basic", "added-data-files", ".metadata.json", "added-data-files", severity="warning")
def summary_added_files(lake: Iceberg) -> None:
    """A commit says that it added more data files than it did."""
    lake.edit_summary(added_data_files="17")


@kind("spark/iceberg/v2-basic", "total-files-size", ".metadata.json", "total-files-size", severity="warning")
def summary_bytes(lake: Iceberg) -> None:
    """The summary adds up other bytes than the entries record."""
    lake.edit_summary(total_files_size="12345678")


@kind(
    "spark/iceberg/v2-copy-on-write",
    "total-data-files",
    ".metadata.json",
    "total-data-files",
    severity="warning",
)
def summary_data_files(lake: Iceberg) -> None:
    """The summary of an older snapshot counts a data file too few."""
    lake.edit_summary(0, total_data_files="0")


@kind(
    "spark/iceberg/v2-merge-on-read",
    "total-delete-files",
    ".metadata.json",
    "total-delete-files",
    severity="warning",
)
def summary_delete_files(lake: Iceberg) -> None:
    """The summary counts a delete file that is not there."""
    lake.edit_summary(total_delete_files="99")


@kind(
    "spark/iceberg/v2-copy-on-write",
    "deleted-records",
    ".metadata.json",
    "deleted-records",
    severity="warning",
)
def summary_deleted_rows(lake: Iceberg) -> None:
    """A commit says that it deleted fewer rows than it did."""
    snapshots = lake.document["snapshots"]
    place = next(i for i, one in enumerate(snapshots) if "deleted-records" in one["summary"])
    lake.edit_summary(place, deleted_records="0")


@kind("spark/iceberg/v2-basic", "total-records", ".metadata.json", "not a number", severity="warning")
def summary_no_number(lake: Iceberg) -> None:
    """A total that is no number."""
    lake.edit_summary(total_records="many")


@kind(
    "spark/iceberg/v2-partition-identity",
    "changed-partition-count",
    ".metadata.json",
    "changed-partition-count",
    severity="warning",
)
def summary_partitions(lake: Iceberg) -> None:
    """A commit says that it changed more partitions than it did."""
    lake.edit_summary(changed_partition_count="50")


@kind(
    "spark/iceberg/v3-deletion-vectors",
    "total-position-deletes",
    ".metadata.json",
    "total-position-deletes",
    severity="warning",
)
def summary_position_deletes(lake: Iceberg) -> None:
    """The summary counts deleted positions wrongly."""
    lake.edit_summary(total_position_deletes="1000")


@kind(
    "spark/iceberg/v3-merge-on-read", "total-records", ".metadata.json", "total-records", severity="warning"
)
def summary_rows(lake: Iceberg) -> None:
    """A snapshot's summary counts a row too many."""
    rows = int(lake.document["snapshots"][-1]["summary"]["total-records"])
    lake.edit_summary(total_records=str(rows + 1))
