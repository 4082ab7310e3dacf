"""Long histories as engines leave them: each commit has a manifest of one file and a manifest list of its own.

Every so many commits the manifests are merged into one, as both formats do by default, so that a list stays short while the
manifests of all commits together name each file many times. Only metadata is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import fastavro

from tests.benchmarks.octets import AvroFile, encode_record, find_packer
from tests.support import growth

ICEBERG_MERGE, PAIMON_MERGE = 100, 30


def commit_iceberg(root: Path, commits: int, merge: int = ICEBERG_MERGE) -> None:
    """Add commits to an Iceberg table, each of one file."""
    folder = root / "metadata"
    path = sorted(folder.glob("*.metadata.json"))[-1]
    document = json.loads(path.read_text())
    current = document["current-snapshot-id"]
    snapshot = next(one for one in document["snapshots"] if one["snapshot-id"] == current)
    header, lines = growth.read_avro(folder / Path(snapshot["manifest-list"]).name)
    origin = next(line for line in lines if line.get("content", 0) == 0)
    place = origin["manifest_path"].rsplit("/", 1)[0]
    schema = fastavro.parse_schema(json.loads(header["avro.schema"]))
    manifest_header, entries = growth.read_avro(folder / Path(origin["manifest_path"]).name)
    (added,) = growth.mark_entries(entries[:1], [])
    numbers = {key: 1 for key in ("sequence_number", "file_sequence_number") if key in added}
    kept = {**added, "status": 0, "snapshot_id": current, **numbers}

    def describe(name: str, entry: Mapping[str, Any], start: int, end: int) -> bytes:
        size = _write_clones(folder / name, manifest_header, entry, start, end)
        counts = {"added_files_count": 0, "existing_files_count": 0, "deleted_files_count": 0}
        counts["added_files_count" if entry is added else "existing_files_count"] = end - start
        ids = {"manifest_path": f"{place}/{name}", "added_snapshot_id": snapshot["snapshot-id"]}
        return encode_record(schema, {**origin, **ids, **counts, "manifest_length": size})

    first, merged, recent = [encode_record(schema, line) for line in lines], list[bytes](), list[bytes]()
    for number in range(commits):
        snapshot = growth.add_snapshot(document, snapshot, number)
        growth.raise_totals(snapshot, entries[:1], 0, 1)
        if len(recent) == merge:
            merged, recent = [describe(f"merged-{number:06}-m0.avro", kept, 0, number)], []
        recent.append(describe(f"commit-{number:06}-m0.avro", added, number, number + 1))
        name = f"snap-commit-{number:06}.avro"
        _write_block(folder / name, header, [*first, *merged, *recent])
        snapshot["manifest-list"] = f"{place}/{name}"
    path.write_text(json.dumps(document))


def commit_paimon(root: Path, commits: int, merge: int = PAIMON_MERGE) -> None:
    """Add commits to a Paimon table, each of one file."""
    newest = max((root / "snapshot").glob("snapshot-*"), key=lambda path: int(path.name.split("-")[1]))
    document = json.loads(newest.read_text())
    folder = root / "manifest"
    header, lines = growth.read_avro(folder / document["baseManifestList"])
    delta_header, delta_lines = growth.read_avro(folder / document["deltaManifestList"])
    origin = next(line for line in [*delta_lines, *lines] if line["_NUM_ADDED_FILES"])
    schema = fastavro.parse_schema(json.loads(header["avro.schema"]))
    manifest_header, entries = growth.read_avro(folder / origin["_FILE_NAME"])
    entry = growth.mark_paimon_entries([one for one in entries if one["_KIND"] == 0][:1])[0]

    def describe(name: str, start: int, end: int) -> bytes:
        size = _write_clones(folder / name, manifest_header, entry, start, end)
        counts = {"_NUM_ADDED_FILES": end - start, "_NUM_DELETED_FILES": 0}
        return encode_record(schema, {**origin, "_FILE_NAME": name, "_FILE_SIZE": size, **counts})

    first = [encode_record(schema, line) for line in [*lines, *delta_lines]]
    merged, recent = list[bytes](), list[bytes]()
    for number in range(commits):
        if len(recent) == merge:
            merged, recent = [describe(f"manifest-merged-{number:06}", 0, number)], []
        base, delta = (f"manifest-list-commit-{number:06}-{kind}" for kind in (0, 1))
        size = _write_block(folder / base, header, [*first, *merged, *recent])
        recent.append(describe(f"manifest-commit-{number:06}", number, number + 1))
        delta_size = _write_block(folder / delta, delta_header, recent[-1:])
        document = {
            **document,
            "id": document["id"] + 1,
            "timeMillis": document["timeMillis"] + 1_000,
            "baseManifestList": base,
            "deltaManifestList": delta,
            "deltaRecordCount": entry["_FILE"]["_ROW_COUNT"],
            "totalRecordCount": document["totalRecordCount"] + entry["_FILE"]["_ROW_COUNT"],
        }
        for key, known in (("baseManifestListSize", size), ("deltaManifestListSize", delta_size)):
            if key in document:
                document[key] = known
        (root / "snapshot" / f"snapshot-{document['id']}").write_text(json.dumps(document))
    (root / "snapshot" / "LATEST").write_text(str(document["id"]))


def _write_clones(
    path: Path, header: Mapping[str, str], entry: Mapping[str, Any], start: int, end: int
) -> int:
    """A manifest of one entry many times over, but for the number in the name of its file; its size."""
    schema = fastavro.parse_schema(json.loads(header["avro.schema"]))
    before, after = encode_record(schema, entry).split(growth.MARK.encode())
    return _write_block(path, header, [before + b"%09d" % number + after for number in range(start, end)])


def _write_block(path: Path, header: Mapping[str, str], records: Sequence[bytes]) -> int:
    """An Avro file of one block; its size."""
    file = AvroFile(path, header)
    if records:
        file.add_block(len(records), find_packer(header.get("avro.codec", "null"))(b"".join(records)))
    file.close()
    return file.size
