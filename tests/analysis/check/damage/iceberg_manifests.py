"""Damage to the manifest lists and manifests of Iceberg: heads, counts, sequence numbers, and the files they name."""

from __future__ import annotations

from typing import Any

from tests.analysis.check.damage.kinds import kind
from tests.support.damage import Iceberg, Records, edit_head


@kind("spark/iceberg/v1-basic", "record-count", ".parquet", "rows of the file")
def entry_rows(lake: Iceberg) -> None:
    """An entry records other rows than the data file has; list and summary agree with the entry."""

    def edit(entries: Records) -> None:
        entries[0]["data_file"]["record_count"] += 1

    lake.edit_manifest(lake.manifest_path(), edit)


@kind("spark/iceberg/v2-merge-on-read", "entry-sequence", ".avro", "entry 0")
def entry_sequence(lake: Iceberg) -> None:
    """An entry has a higher sequence number than its manifest."""

    def edit(entries: Records) -> None:
        entries[0]["sequence_number"] = entries[0]["file_sequence_number"] = 77

    lake.edit_manifest(lake.manifest_path(content=0), edit)


@kind("spark/iceberg/v2-basic", "file-length", ".parquet", "recorded with")
def entry_size(lake: Iceberg) -> None:
    """An entry records another length than the data file has."""

    def edit(entries: Records) -> None:
        entries[0]["data_file"]["file_size_in_bytes"] += 100

    lake.edit_manifest(lake.manifest_path(), edit)


@kind("spark/iceberg/v2-basic", "entry-snapshot", "-m0.avro", "entry 0")
def entry_snapshot(lake: Iceberg) -> None:
    """An ADDED entry names another commit than the one that added its manifest."""

    def edit(entries: Records) -> None:
        entries[0]["snapshot_id"] = 1

    lake.edit_manifest(lake.manifest_path(), edit)


@kind("spark/iceberg/v2-merge-on-read", "manifest-content", ".avro", "content")
def head_content(lake: Iceberg) -> None:
    """A manifest list says that a manifest of deletes holds data."""

    def edit(lines: Records) -> None:
        for line in lines:
            line["content"] = 0

    lake.edit_list(edit)


@kind("spark/iceberg/v2-partition-evolution", "head-schema", ".avro", "the table's is", severity="warning")
def head_copy_of_schema(lake: Iceberg) -> None:
    """The schema in the head of a manifest has another type under the same ids: a schema never changes under its id."""
    path = lake.manifest_path()
    edit_head(path, "schema", lambda schema: schema["fields"][0].update({"type": "binary"}))
    lake.fix_length(path)


@kind("spark/iceberg/v2-partition-evolution", "head-spec", ".avro", "partition-spec of the head is")
def head_copy_of_spec(lake: Iceberg) -> None:
    """The spec in the head of a manifest names another transform: whoever trusts the head decodes other partitions."""
    for number in range(len(lake.lines())):
        path = lake.manifest_path(number)
        if edit_head(path, "partition-spec", lambda fields: fields[0].update({"transform": "truncate[3]"})):
            lake.fix_length(path)


@kind("spark/iceberg/v2-partition-evolution", "version-rule", "snap-", "format-version of the head is 9")
def head_of_list(lake: Iceberg) -> None:
    """The head of a manifest list is of a version that its table does not have."""
    edit_head(lake.list_path(), "format-version", lambda version: 9)


@kind("spark/iceberg/v2-partition-evolution", "manifest-spec", ".avro", "partition-spec-id")
def head_spec(lake: Iceberg) -> None:
    """A manifest list gives a manifest another partition spec than its own head does: partitions are read by a wrong one."""

    def edit(lines: Records) -> None:
        for line in lines:
            line["partition_spec_id"] = 1 - min(line["partition_spec_id"], 1)

    lake.edit_list(edit)


@kind("spark/iceberg/v2-basic", "manifest-counts", "-m0.avro", "added_files_count")
def list_added_files(lake: Iceberg) -> None:
    """A manifest list counts an added file too many."""

    def edit(lines: Records) -> None:
        lines[0]["added_files_count"] += 1

    lake.edit_list(edit)


@kind("spark/iceberg/v2-basic", "corrupt", "snap-", "")
def list_cut(lake: Iceberg) -> None:
    """The manifest list of the current snapshot is cut short."""
    lake.cut(lake.list_path(), 0.95)


@kind("spark/iceberg/v2-rewrite-manifests", "manifest-counts", ".avro", "_rows_count")
def list_existing_rows(lake: Iceberg) -> None:
    """One of several lists that name a manifest records other rows than the others do."""

    def edit(lines: Records) -> None:
        lines[0]["existing_rows_count"] += 5

    lake.edit_list(edit)


@kind("spark/iceberg/v2-rewrite-manifests", "min-sequence-number", ".avro", "min_sequence_number")
def list_min_sequence(lake: Iceberg) -> None:
    """A manifest list records a higher min_sequence_number than its files have: planning leaves deletes out."""

    def edit(lines: Records) -> None:
        for line in lines:
            line["min_sequence_number"] = line["sequence_number"] + 1

    lake.edit_list(edit)


@kind("spark/iceberg/v2-copy-on-write", "file-missing", "snap-", "manifest list")
def list_missing(lake: Iceberg) -> None:
    """The manifest list of an older snapshot is gone."""
    lake.list_path(0).unlink()


@kind("spark/iceberg/v2-partition-identity", "partition-range", ".avro", "lower bound")
def list_partition_lower(lake: Iceberg) -> None:
    """A manifest list's lower bound of a partition field is too high: readers skip files that they need."""

    def edit(lines: Records) -> None:
        for line in lines:
            for summary in line["partitions"]:
                summary["lower_bound"] = summary["upper_bound"]

    for place in range(len(lake.document["snapshots"])):
        lake.edit_list(edit, place)


@kind("spark/iceberg/v2-partition-identity", "partition-range", ".avro", "contains_null")
def list_partition_null(lake: Iceberg) -> None:
    """A manifest list says that no partition is null, and one is."""

    def edit(lines: Records) -> None:
        for line in lines:
            for summary in line["partitions"]:
                summary["contains_null"] = False

    for place in range(len(lake.document["snapshots"])):
        lake.edit_list(edit, place)


@kind("spark/iceberg/v2-merge-on-read", "manifest-sequence", ".avro", "sequence number")
def list_sequence(lake: Iceberg) -> None:
    """A manifest list gives a manifest a later sequence number than its snapshot has: deletes no longer reach its files."""

    def edit(lines: Records) -> None:
        lines[0]["sequence_number"] = 99

    lake.edit_list(edit)


@kind("spark/iceberg/v2-merge-on-read", "list-of-snapshot", "snap-", "of the head", severity="warning")
def list_swapped(lake: Iceberg) -> None:
    """Two snapshots have changed their manifest lists: each is a whole list, of another snapshot."""

    def edit(document: Any) -> None:
        one, other = document["snapshots"][-2:]
        one["manifest-list"], other["manifest-list"] = other["manifest-list"], one["manifest-list"]

    lake.edit_document(edit)


@kind("spark/iceberg/v2-merge-on-read", "corrupt", ".avro", "")
def manifest_cut(lake: Iceberg) -> None:
    """A manifest is cut short."""
    lake.cut(lake.manifest_path(), 0.9)


@kind("spark/iceberg/v2-basic", "corrupt", ".avro", "")
def manifest_garbled(lake: Iceberg) -> None:
    """A byte within a manifest's compressed entries is turned."""
    path = lake.manifest_path()
    data = bytearray(path.read_bytes())
    place = len(data) - 60
    data[place : place + 20] = bytes(byte ^ 0xFF for byte in data[place : place + 20])
    path.write_bytes(bytes(data))


@kind("spark/iceberg/v2-basic", "file-missing", "-m0.avro", "manifest")
def manifest_missing(lake: Iceberg) -> None:
    """A manifest is gone."""
    lake.manifest_path().unlink()


@kind("spark/iceberg/v2-basic", "manifest-counts", "-m0.avro", "deleted_files_count")
def manifest_status(lake: Iceberg) -> None:
    """An entry's status is not what the list counts: a file that was added is called deleted."""

    def edit(entries: Records) -> None:
        entries[0]["status"] = 2
        entries[0]["sequence_number"] = entries[0]["file_sequence_number"] = 1

    lake.edit_manifest(lake.manifest_path(), edit)


@kind("spark/iceberg/v3-basic", "row-ids", ".metadata.json", "next-row-id")
def row_ids_beyond(lake: Iceberg) -> None:
    """next-row-id is behind the row ids that were given: the next commit gives them again."""

    def edit(document: Any) -> None:
        document["next-row-id"] = 1

    lake.edit_document(edit)


@kind("spark/iceberg/v3-basic", "row-ids", ".avro", "row ids from")
def row_ids_overlap(lake: Iceberg) -> None:
    """Two manifests of one snapshot begin with the same row id."""

    def edit(lines: Records) -> None:
        for line in lines:
            line["first_row_id"] = 0

    for place in range(len(lake.document["snapshots"])):
        lake.edit_list(edit, place)
