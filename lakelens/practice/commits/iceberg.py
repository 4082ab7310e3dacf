"""How an INSERT writes an Iceberg table: data files, a manifest, a list, table metadata, and last the catalog's pointer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from lakelens.codecs.avro.records import decode_records
from lakelens.practice.commits.lake import (
    Commit,
    Format,
    Lake,
    load_json,
    load_lake,
    rewrite_avro,
    write_json,
)

STEPS = ("data files", "manifest", "manifest list", "table metadata", "pointer")
_TOTALS = {
    "total-records": "added-records",
    "total-files-size": "added-files-size",
    "total-data-files": "added-data-files",
}


@dataclass(frozen=True)
class Insert:
    """What Spark wrote of one INSERT: its snapshot, and the paths of its files."""

    snapshot: Mapping[str, Any]
    data: tuple[str, ...]
    manifest: str
    listed: str
    metadata: str


def start_lake() -> Lake:
    """The table as it is after its first INSERT."""
    created, first, *_ = _list_metadata()
    insert = find_insert(0)
    kept = (created, first, *insert.data, insert.manifest, insert.listed)
    return Lake({path: load_lake("iceberg")[path] for path in kept}, first)


@cache
def find_insert(number: int) -> Insert:
    """Find the files of one of the three INSERTs, counted from 0."""
    lake = load_lake("iceberg")
    metadata = _list_metadata()[number + 1]
    snapshot = load_json(lake, metadata)["snapshots"][-1]
    listed = _shorten(snapshot["manifest-list"])
    [manifest] = [
        _shorten(record["manifest_path"])
        for record in decode_records(lake[listed])
        if record["added_snapshot_id"] == snapshot["snapshot-id"]
    ]
    data = tuple(_shorten(entry["data_file"]["file_path"]) for entry in decode_records(lake[manifest]))
    return Insert(snapshot, data, manifest, listed, metadata)


def _list_metadata() -> list[str]:
    return sorted(path for path in load_lake("iceberg") if path.endswith(".metadata.json"))


def _shorten(path: str) -> str:
    """Shorten a recorded path to what it is below the table."""
    return "/".join(path.split("/")[-2:])


def insert(lake: Lake, number: int, is_atomic: bool) -> Commit:
    """Insert two rows as Spark does; the pointer is compared and swapped, or written whatever it is.

    Where another commit came first, list and metadata are made again on top of it, and the list that no snapshot names is
    removed, as Iceberg's `SnapshotProducer` does. The metadata file of the attempt stays: a JDBC catalog removes none.
    """
    mine, stored = find_insert(number), load_lake("iceberg")
    for path in mine.data:
        yield STEPS[0]
        lake.write(path, stored[path])
    yield STEPS[1]
    lake.write(mine.manifest, stored[mine.manifest])
    step, attempt, superseded = STEPS[2], 1, []
    while True:
        yield step
        base = lake.pointer
        before = load_json(lake.files, base)
        listed = mine.listed.replace("-1-", f"-{attempt}-", 1)
        lake.write(listed, _write_list(lake, mine, before))
        yield step if attempt > 1 else STEPS[3]
        count = int(base.rpartition("/")[2].partition("-")[0]) + 1
        name = mine.metadata.rpartition("/")[2].partition("-")[2]
        metadata = f"metadata/{count:05}-{f'{attempt}' if attempt > 1 else ''}{name}"
        lake.write(metadata, write_json(_add_snapshot(before, mine, base, listed)))
        yield STEPS[4]
        if not is_atomic or lake.pointer == base:
            break
        superseded.append(listed)
        step, attempt = STEPS[4], attempt + 1
    lake.swap(metadata)
    for path in superseded:
        yield STEPS[4]
        lake.remove(path)


def _write_list(lake: Lake, mine: Insert, before: Mapping[str, Any]) -> bytes:
    """Write a manifest list: the manifest of this INSERT, then those of the snapshot before it."""
    stored = load_lake("iceberg")[mine.listed]
    number = before["last-sequence-number"] + 1
    [own] = [
        record
        for record in decode_records(stored)
        if record["added_snapshot_id"] == mine.snapshot["snapshot-id"]
    ]
    parent = _find_current(before)
    rest = decode_records(lake.files[_shorten(parent["manifest-list"])])
    records = [{**own, "sequence_number": number, "min_sequence_number": number}, *rest]
    return rewrite_avro(
        stored, records, sequence_number=str(number), parent_snapshot_id=str(parent["snapshot-id"])
    )


def _find_current(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return next(
        snapshot
        for snapshot in document["snapshots"]
        if snapshot["snapshot-id"] == document["current-snapshot-id"]
    )


def _add_snapshot(before: Mapping[str, Any], mine: Insert, base: str, listed: str) -> dict[str, Any]:
    """Add this INSERT's snapshot to table metadata."""
    parent, location = _find_current(before), before["location"]
    summary = dict(mine.snapshot["summary"])
    for total, added in _TOTALS.items():
        summary[total] = str(int(parent["summary"][total]) + int(summary[added]))
    summary["manifests-kept"] = str(int(parent["summary"]["manifests-kept"]) + 1)
    number = before["last-sequence-number"] + 1
    snapshot = {
        **mine.snapshot,
        "sequence-number": number,
        "parent-snapshot-id": parent["snapshot-id"],
        "summary": summary,
        "manifest-list": f"{location}/{listed}",
    }
    moment = {"timestamp-ms": snapshot["timestamp-ms"], "snapshot-id": snapshot["snapshot-id"]}
    older = {"timestamp-ms": before["last-updated-ms"], "metadata-file": f"{location}/{base}"}
    return {
        **before,
        "last-sequence-number": number,
        "last-updated-ms": snapshot["timestamp-ms"],
        "current-snapshot-id": snapshot["snapshot-id"],
        "refs": {"main": {"snapshot-id": snapshot["snapshot-id"], "type": "branch"}},
        "snapshots": [*before["snapshots"], snapshot],
        "snapshot-log": [*before["snapshot-log"], moment],
        "metadata-log": [*before["metadata-log"], older],
    }


FORMAT = Format("iceberg", STEPS, "compare-and-swap", start_lake, insert)
