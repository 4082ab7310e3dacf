"""Damage to tables of Paimon: snapshots, lists, manifests, indexes, and rows that are not what their entries record."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tests.analysis.check.damage.kinds import kind
from tests.support.damage import Paimon, Records, edit_avro, edit_json


@kind("spark/paimon/append", "base-differs", "manifest-list-", "begins with")
def paimon_base_differs(lake: Paimon) -> None:
    """The base list of a snapshot has lost a manifest: what earlier commits wrote is gone."""

    def edit(lines: Records) -> Records:
        return lines[1:]

    number = next(n for n in range(lake.last, 0, -1) if len(lake.lines(n, "base")))
    lake.edit_list(number, edit, "base")


@kind("paimon-java/2.0.0-pk-fixed-bucket", "bucket-of-file", "manifest-", "bucket")
def paimon_bucket(lake: Paimon) -> None:
    """An entry is in a bucket that the table does not have."""

    def edit(entries: Records) -> None:
        entries[0]["_TOTAL_BUCKETS"] = 1
        entries[0]["_BUCKET"] = 7

    lake.edit_manifest(lake.manifest_path(1), edit)


@kind(
    "paimon-java/2.0.0-changelog-input",
    "record-count",
    "snapshot-",
    "changelogRecordCount",
    severity="warning",
)
def paimon_changelog_rows(lake: Paimon) -> None:
    """changelogRecordCount is wrong."""

    def edit(document: Any) -> None:
        document["changelogRecordCount"] += 5

    lake.edit_snapshot(1, edit)


@kind("spark/paimon/pk-partitioned", "file-missing", "data-", "it is not there")
def paimon_data_missing(lake: Paimon) -> None:
    """A data file is gone."""
    for path in lake.root.glob("**/bucket-*/data-*"):
        path.unlink()


@kind("spark/paimon/append", "record-count", "snapshot-1", "deltaRecordCount", severity="warning")
def paimon_delta_rows(lake: Paimon) -> None:
    """deltaRecordCount of an older snapshot is wrong."""

    def edit(document: Any) -> None:
        document["deltaRecordCount"] = 77

    lake.edit_snapshot(1, edit)


@kind("spark/paimon/append", "record-count", "bucket-0/data-", "rows of the file")
def paimon_entry_rows(lake: Paimon) -> None:
    """An entry records more rows than its data file has."""

    def edit(entries: Records) -> None:
        entries[0]["_FILE"]["_ROW_COUNT"] += 2

    lake.edit_manifest(lake.manifest_path(1), edit)


@kind("spark/paimon/append", "file-length", "bucket-0/data-", "recorded with")
def paimon_entry_size(lake: Paimon) -> None:
    """An entry records another length than its data file has."""

    def edit(entries: Records) -> None:
        entries[0]["_FILE"]["_FILE_SIZE"] += 2

    lake.edit_manifest(lake.manifest_path(1), edit)


@kind("paimon-java/2.0.0-append-types", "highest-field-id", "schema-0", "highestFieldId")
def paimon_field_id(lake: Paimon) -> None:
    """highestFieldId is below the id of a column: the next column would get an id that is taken."""

    def edit(document: Any) -> None:
        document["highestFieldId"] = 0

    edit_json(lake.root / "schema" / "schema-0", edit)


@kind("paimon-java/2.0.0-file-index-in-file", "file-missing", ".index", "it is not there")
def paimon_file_index_missing(lake: Paimon) -> None:
    """The file index beside a data file is gone."""
    lake.find("**/*.index").unlink()


@kind("paimon-java/2.0.0-pk-dynamic-bucket", "index-key", ".parquet", "the hash index of bucket", data=True)
def paimon_hash_of_key(lake: Paimon) -> None:
    """A hash index has another hash in place of a key's, as many as recorded: the key goes to another bucket next."""
    for path in (lake.root / "index").iterdir():
        data = bytearray(path.read_bytes())
        data[0] ^= 1
        path.write_bytes(bytes(data))


@kind("paimon-java/2.0.0-pk-dynamic-bucket", "index-rows", "index", "hashes")
def paimon_hashes_cut(lake: Paimon) -> None:
    """A hash index lost a key: the next write gives the key a second bucket."""
    for path in (lake.root / "index").iterdir():
        path.write_bytes(path.read_bytes()[:-4])


@kind("paimon-java/2.0.0-pk-fixed-bucket", "stale-hint", "LATEST", "the hint says 99", severity="warning")
def paimon_hint(lake: Paimon) -> None:
    """The hint of the latest snapshot names one that is not there."""
    (lake.root / "snapshot" / "LATEST").write_text("99")


@kind("spark/paimon/pk-compacted", "key-overlap", "data-", "same sorted run")
def paimon_key_overlap(lake: Paimon) -> None:
    """Two files of one sorted run have overlapping keys: readers that merge by runs miss the newer version."""

    def edit(entries: Records) -> Records:
        kept = next(entry for entry in entries if entry["_KIND"] == 0 and entry["_FILE"]["_LEVEL"] > 0)
        twin = deepcopy(kept)
        twin["_FILE"]["_FILE_NAME"] = "data-twin-0.parquet"
        return [*entries, twin]

    number = next(n for n in range(lake.last, 0, -1) if lake.snapshot(n)["commitKind"] == "COMPACT")
    lake.edit_manifest(lake.manifest_path(number), edit)


@kind("paimon-java/2.0.0-append-buckets", "manifest-range", "manifest-", "_BUCKET")
def paimon_list_buckets(lake: Paimon) -> None:
    """A manifest list's range of buckets leaves a bucket out: readers skip its files."""

    def edit(lines: Records) -> None:
        for line in lines:
            line["_MIN_BUCKET"] = line["_MAX_BUCKET"] = 99

    lake.edit_list(1, edit)


@kind("paimon-java/2.0.0-pk-fixed-bucket", "manifest-counts", "manifest-", "_NUM_ADDED_FILES")
def paimon_list_counts(lake: Paimon) -> None:
    """A manifest list counts an added file too few."""

    def edit(lines: Records) -> None:
        lines[0]["_NUM_ADDED_FILES"] -= 1

    lake.edit_list(lake.last, edit)


@kind("paimon-java/2.0.0-append-types", "manifest-length", "manifest-list-", "bytes", severity="warning")
def paimon_list_size(lake: Paimon) -> None:
    """A snapshot records another length of its manifest list than the file has."""

    def edit(document: Any) -> None:
        document["deltaManifestListSize"] += 1

    lake.edit_snapshot(lake.last, edit)


@kind("spark/paimon/append", "corrupt", "manifest-", "")
def paimon_manifest_garbled(lake: Paimon) -> None:
    """A manifest is cut short, its length as recorded."""
    path = lake.manifest_path(1)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + b"\0" * (len(data) - len(data) // 2))


@kind("spark/paimon/pk-partitioned", "partition-range", "manifest-", "bound")
def paimon_partition_range(lake: Paimon) -> None:
    """A manifest list's partition statistics leave a partition out."""

    def edit(lines: Records) -> None:
        for line in lines:
            stats = line["_PARTITION_STATS"]
            stats["_MIN_VALUES"], stats["_MAX_VALUES"] = stats["_MAX_VALUES"], stats["_MIN_VALUES"]

    for number in range(1, lake.last + 1):
        for role in ("base", "delta"):
            lake.edit_list(number, edit, role)


@kind("paimon-java/2.0.0-row-tracking", "row-ids", "snapshot-", "nextRowId")
def paimon_row_ids(lake: Paimon) -> None:
    """nextRowId is behind the row ids of files: the next commit gives them again."""

    def edit(document: Any) -> None:
        document["nextRowId"] = 1

    lake.edit_snapshot(lake.last, edit)


@kind("paimon-java/2.0.0-schema-evolution", "schema-missing", "", "schema")
def paimon_schema_missing(lake: Paimon) -> None:
    """The schema that older files were written with is gone."""
    (lake.root / "schema" / "schema-1").unlink()


@kind("paimon-java/2.0.0-pk-fixed-bucket", "sequence-range", "manifest-", "_MIN_SEQUENCE_NUMBER")
def paimon_sequence(lake: Paimon) -> None:
    """An entry's lowest sequence number is above its highest."""

    def edit(entries: Records) -> None:
        entries[0]["_FILE"]["_MIN_SEQUENCE_NUMBER"] = 1_000_000

    lake.edit_manifest(lake.manifest_path(1), edit)


@kind("paimon-java/2.0.0-pk-fixed-bucket", "corrupt", "snapshot-2", "JSON")
def paimon_snapshot_garbled(lake: Paimon) -> None:
    """A snapshot's document is cut short."""
    lake.cut(lake.root / "snapshot" / "snapshot-2")


@kind("spark/paimon/pk-compacted", "snapshot-gap", "snapshot", "no snapshot between", severity="warning")
def paimon_snapshot_missing(lake: Paimon) -> None:
    """A snapshot in the middle of the history is gone."""
    (lake.root / "snapshot" / "snapshot-2").unlink()


@kind("paimon-java/2.0.0-statistics", "statistics-snapshot", "stat-", "uses it", severity="warning")
def paimon_statistics(lake: Paimon) -> None:
    """Statistics are of a later snapshot than the one that uses them."""

    def edit(document: Any) -> None:
        document["snapshotId"] = 1000

    for path in (lake.root / "statistics").iterdir():
        edit_json(path, edit)


@kind(
    "paimon-java/2.0.0-pk-fixed-bucket", "record-count", "snapshot-", "totalRecordCount", severity="warning"
)
def paimon_total_rows(lake: Paimon) -> None:
    """totalRecordCount is a row too many."""

    def edit(document: Any) -> None:
        document["totalRecordCount"] += 1

    lake.edit_snapshot(lake.last, edit)


@kind("paimon-java/2.0.0-append-deletion-vectors", "corrupt", "index", "")
def paimon_vector_garbled(lake: Paimon) -> None:
    """A byte of a deletion vector is turned: its checksum no longer fits."""
    for path in (lake.root / "index").iterdir():
        data = bytearray(path.read_bytes())
        data[12] ^= 0xFF
        path.write_bytes(bytes(data))


@kind("paimon-java/2.0.0-append-deletion-vectors", "vector-cardinality", "index", "deleted rows")
def paimon_vector_rows(lake: Paimon) -> None:
    """The index manifest records more deleted rows than a deletion vector has."""

    def edit(entries: Records) -> None:
        for entry in entries:
            for found in entry["_DELETIONS_VECTORS_RANGES"] or []:
                found["_CARDINALITY"] += 1

    for path in (lake.root / "manifest").glob("index-manifest-*"):
        edit_avro(path, edit)


@kind("spark/paimon/append", "upper-bound", "data-", "upper bound", data=True)
def rows_paimon_bounds(lake: Paimon) -> None:
    """An entry's value statistics leave a row out."""

    def edit(entries: Records) -> None:
        for entry in entries:
            stats = entry["_FILE"]["_VALUE_STATS"]
            row = bytearray(stats["_MAX_VALUES"])
            row[12:16] = (-5).to_bytes(4, "little", signed=True)  # the first slot: the column id
            stats["_MAX_VALUES"] = bytes(row)

    lake.edit_manifest(lake.manifest_path(1), edit)


@kind("paimon-java/2.0.0-pk-fixed-bucket", "delete-rows", "data-", "rows that are deletes", data=True)
def rows_paimon_deletes(lake: Paimon) -> None:
    """An entry counts more deletes than the file has rows of kind -D."""

    def edit(entries: Records) -> None:
        entries[0]["_FILE"]["_DELETE_ROW_COUNT"] += 1

    lake.edit_manifest(lake.manifest_path(1), edit)


@kind("paimon-java/2.0.0-pk-fixed-bucket", "key-of-file", "data-", "_MIN_KEY", data=True)
def rows_paimon_key(lake: Paimon) -> None:
    """An entry records another first key than the file has: readers of that key skip the file."""

    def edit(entries: Records) -> None:
        for entry in entries:
            key = bytearray(entry["_FILE"]["_MIN_KEY"])
            key[12] ^= 1  # the first slot, after the arity and the null bits
            entry["_FILE"]["_MIN_KEY"] = bytes(key)

    lake.edit_manifest(lake.manifest_path(1), edit)


@kind("spark/paimon/pk-compacted", "sequence-range", "data-", "sequence numbers", data=True)
def rows_paimon_sequence(lake: Paimon) -> None:
    """Rows have higher sequence numbers than their file records: a merge may take an older version for the newest."""

    def edit(entries: Records) -> None:
        for entry in entries:
            file = entry["_FILE"]
            file["_MIN_SEQUENCE_NUMBER"] = file["_MAX_SEQUENCE_NUMBER"] = 100_000

    lake.edit_manifest(lake.manifest_path(1), edit)
