"""Engine-written tables grown to a chosen size: the same schemas and headers, the engine's own entries many times over.

Only metadata grows: the data files that the new entries name do not exist. What is cloned keeps every field that the
engine wrote; names, ids and counts are changed so that each entry is one of its own. Written with fastavro, independent of
what reads. Clones of `typed` columns have bounds, counts and sizes that differ from file to file, as real ones do, and
manifests of a real size (`tests.benchmarks.typed`); with `located` the table says that it lies where it does, so that
readers that know of no relocation (pyiceberg, Spark) find its manifests.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import zlib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import fastavro

from tests import support
from tests.benchmarks import typed as typed_growth
from tests.benchmarks import values

LAKES = support.LAKES / "spark"
TYPED_ICEBERG = "v2-partition-text"
TYPED_PAIMON = "2.0.0-partition-texts"
_DAY = 86_400_000
MARK = "000000000"  # stands in an encoded entry where the number of its clone goes: as long as every number
_BLOCK = 4_000  # entries of one Avro block


def grow_iceberg(
    target: Path,
    *,
    files: int = 0,
    manifests: int = 10,
    columns: int = 0,
    snapshots: int = 0,
    appended: int = 0,
    lake: str = "v2-partition-identity",
    typed: int = 0,
    located: bool = False,
) -> Path:
    """A copy of an Iceberg table with `files` more files in `manifests` manifests, `columns` more columns (each with bounds
    and counts in each new entry), then `snapshots` more commits, the last of which adds one manifest of `appended` files.

    With `typed` the table has that many columns of mixed types and each new file its own statistics of them; the lake must
    be partitioned by one text (`TYPED_ICEBERG`), and `manifests=0` starts a new one every eight megabytes.
    """
    root = _copy(LAKES / "iceberg" / lake / "table", target)
    metadata_path = sorted((root / "metadata").glob("*.metadata.json"))[-1]
    if located:
        _relocate_iceberg(root, json.loads(metadata_path.read_text())["location"])
    document = json.loads(metadata_path.read_text())
    names = _add_columns(document, columns)
    snapshot = next(s for s in document["snapshots"] if s["snapshot-id"] == document["current-snapshot-id"])
    folder = root / "metadata"
    header, lines = read_avro(folder / Path(snapshot["manifest-list"]).name)
    origin = next(line for line in lines if line.get("content", 0) == 0)
    place = origin["manifest_path"].rsplit("/", 1)[0]
    manifest_header, entries = read_avro(folder / Path(origin["manifest_path"]).name)
    if columns:
        manifest_header = {**manifest_header, "schema": json.dumps(document["schemas"][-1])}
    made = 0
    if typed and files:
        lines += typed_growth.write_iceberg(
            folder,
            document,
            manifest_header,
            entries,
            origin,
            files=files,
            manifests=manifests,
            columns=typed,
        )
        _raise_typed_totals(snapshot, files)
    for number in range(manifests if files and not typed else 0):
        count = files * (number + 1) // manifests - made
        lines.append(
            _write_manifest(
                folder, place, f"grown-{number}", manifest_header, entries, made, count, names, origin
            )
        )
        made += count
    _write_avro(folder / Path(snapshot["manifest-list"]).name, header, lines)
    raise_totals(snapshot, entries, 0, made)
    for number in range(snapshots):
        extra = appended if number == snapshots - 1 else 0
        name = Path(snapshot["manifest-list"]).name
        snapshot = add_snapshot(document, snapshot, number)
        if extra:
            line = _write_manifest(
                folder, place, "appended", manifest_header, entries, made, extra, names, origin
            )
            line["added_snapshot_id"] = snapshot["snapshot-id"]
            snapshot["manifest-list"] = f"{place}/snap-grown.avro"
            name = "snap-grown.avro"
            _write_avro(folder / name, header, [*lines, line])
            raise_totals(snapshot, entries, made, extra)
    metadata_path.write_text(json.dumps(document))
    return root


def grow_paimon(
    target: Path,
    *,
    files: int = 0,
    manifests: int = 10,
    snapshots: int = 0,
    appended: int = 0,
    lake: str = "partition-text",
    typed: int = 0,
) -> Path:
    """A copy of a Paimon table with `files` more files in `manifests` base manifests, then `snapshots` more commits, the
    last of which adds `appended` files in its delta list.

    With `typed` the table gets a newer schema of that many columns of mixed types, and each new file its own statistics of
    them; the lake must be partitioned by texts and whole numbers (`TYPED_PAIMON`), and `manifests=0` starts a new one every
    eight megabytes.
    """
    lakes = (
        LAKES.parent / "paimon-java" if lake[0].isdigit() else LAKES / "paimon"
    )  # by Paimon's own Java writer
    root = _copy(lakes / lake / "table", target)
    newest = max((root / "snapshot").glob("snapshot-*"), key=lambda path: int(path.name.split("-")[1]))
    document = json.loads(newest.read_text())
    folder = root / "manifest"
    header, lines = read_avro(folder / document["baseManifestList"])
    delta_header, delta_lines = read_avro(folder / document["deltaManifestList"])
    origin = next(line for line in [*delta_lines, *lines] if line["_NUM_ADDED_FILES"])
    manifest_header, entries = read_avro(folder / origin["_FILE_NAME"])
    entries = [entry for entry in entries if entry["_KIND"] == 0]
    made = 0
    if typed and files:
        schema = json.loads((root / "schema" / f"schema-{document['schemaId']}").read_text())
        document["schemaId"] = schema["id"] = schema["id"] + 1
        lines += typed_growth.write_paimon(
            folder,
            manifest_header,
            entries[0],
            origin,
            schema,
            files=files,
            manifests=manifests,
            columns=typed,
        )
        (root / "schema" / f"schema-{schema['id']}").write_text(json.dumps(schema))
        document["totalRecordCount"] += _count_typed_rows(files)
    else:
        document["totalRecordCount"] += _count_rows(entries, 0, files)
    for number in range(manifests if files and not typed else 0):
        count = files * (number + 1) // manifests - made
        lines.append(
            _write_paimon_manifest(
                folder, f"manifest-grown-{number}", manifest_header, entries, made, count, origin
            )
        )
        made += count
    size = _write_avro(folder / document["baseManifestList"], header, lines)
    if "baseManifestListSize" in document:
        document["baseManifestListSize"] = size
    newest.write_text(json.dumps(document))
    for number in range(snapshots):
        lines = [*lines, *delta_lines]
        delta_lines = []
        document = {**document, "id": document["id"] + 1, "timeMillis": document["timeMillis"] + 1_000}
        if number == snapshots - 1 and appended:
            document["totalRecordCount"] += _count_rows(entries, made, appended)
            delta_lines = [
                _write_paimon_manifest(
                    folder, "manifest-appended", manifest_header, entries, made, appended, origin
                )
            ]
        if number in (0, snapshots - 1):
            document["baseManifestList"] = f"manifest-list-grown-{number}-0"
            document["deltaManifestList"] = f"manifest-list-grown-{number}-1"
            _write_avro(folder / document["baseManifestList"], header, lines)
            _write_avro(folder / document["deltaManifestList"], delta_header, delta_lines)
        (root / "snapshot" / f"snapshot-{document['id']}").write_text(json.dumps(document))
    (root / "snapshot" / "LATEST").write_text(str(document["id"]))
    return root


def _copy(lake: Path, target: Path) -> Path:
    shutil.copytree(lake, target)
    return target


def _relocate_iceberg(root: Path, recorded: str) -> None:
    """Write into every document and every Avro file of a table that it lies where it does."""
    here = str(root.resolve())

    def move(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(recorded, here)
        if isinstance(value, dict):
            return {key: move(one) for key, one in value.items()}
        return [move(one) for one in value] if isinstance(value, list) else value

    for path in (root / "metadata").glob("*.json"):
        path.write_text(path.read_text().replace(recorded, here))
    for path in sorted((root / "metadata").glob("*.avro"), key=lambda path: path.name.startswith("snap-")):
        header, records = read_avro(path)
        for record in (moved := [move(record) for record in records]):
            if "manifest_length" in record:  # manifests were moved before their lists
                record["manifest_length"] = Path(record["manifest_path"]).stat().st_size
        _write_avro(path, header, moved)


def read_avro(path: Path) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The header and the records of an Avro file."""
    with path.open("rb") as stream:
        reader = fastavro.reader(stream)
        records = [dict(record) for record in reader if isinstance(record, dict)]
        return dict(reader.metadata), records


def _write_avro(path: Path, header: dict[str, str], records: Any) -> int:
    schema = json.loads(header["avro.schema"])
    told = {key: value for key, value in header.items() if not key.startswith("avro.")}
    codec = header.get("avro.codec", "null")
    with path.open("wb") as stream:
        fastavro.writer(stream, schema, records, codec=codec, metadata=told, sync_interval=64_000)
    return path.stat().st_size


def _add_columns(document: dict[str, Any], columns: int) -> list[int]:
    """Give the newest schema more long columns; their ids."""
    schema = next(s for s in document["schemas"] if s["schema-id"] == document["current-schema-id"])
    first = document["last-column-id"] + 1
    ids = list(range(first, first + columns))
    schema["fields"] += [{"id": i, "name": f"c{i}", "required": False, "type": "long"} for i in ids]
    document["last-column-id"] += columns
    if document.get("schema"):
        document["schema"] = schema
    return ids


def mark_entries(entries: list[dict[str, Any]], ids: list[int]) -> list[dict[str, Any]]:
    """The entries as their clones are: ADDED, of files of a new name, with bounds and counts of the new columns."""
    bounds = [{"key": i, "value": i.to_bytes(8, "little")} for i in ids]
    counts = [{"key": i, "value": i} for i in ids]
    marked = []
    for origin in entries:
        file = dict(origin["data_file"])
        file["file_path"] = f"{file['file_path'].rsplit('/', 1)[0]}/grown-{MARK}.parquet"
        for name in ("lower_bounds", "upper_bounds"):
            file[name] = [*(file.get(name) or []), *bounds]
        for name in ("value_counts", "null_value_counts", "column_sizes"):
            file[name] = [*(file.get(name) or []), *counts]
        marked.append({**origin, "status": 1, "data_file": file})
    return marked


def _write_clones(
    path: Path, header: Mapping[str, str], marked: Sequence[Mapping[str, Any]], first: int, count: int
) -> int:
    """An Avro file of clones, in turn of each marked entry; its size. Each origin is encoded once and its name filled in."""
    schema = fastavro.parse_schema(json.loads(header["avro.schema"]))
    encoded = [_encode(schema, one) for one in marked]
    halves = [data.split(f"grown-{MARK}".encode()) for data in encoded]
    assert all(len(parts) == 2 for parts in halves), "the name stands once in an entry"
    sync = os.urandom(16)
    meta = {key: value.encode() for key, value in {**header, "avro.codec": "deflate"}.items()}
    meta_schema = fastavro.parse_schema({"type": "map", "values": "bytes"})
    with path.open("wb") as stream:
        stream.write(b"Obj\x01" + _encode(meta_schema, meta) + sync)
        for start in range(first, first + count, _BLOCK):
            numbers = range(start, min(start + _BLOCK, first + count))
            body = b"".join((b"grown-%09d" % n).join(halves[n % len(halves)]) for n in numbers)
            packer = zlib.compressobj(6, zlib.DEFLATED, -15)
            packed = packer.compress(body) + packer.flush()
            stream.write(_encode_long(len(numbers)) + _encode_long(len(packed)) + packed + sync)
    return path.stat().st_size


def _encode(schema: Any, record: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, record)
    return out.getvalue()


def _encode_long(number: int) -> bytes:
    """A number of at least 0 as Avro writes a long."""
    zigzag, out = number << 1, bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def _write_manifest(
    folder: Path,
    place: str,
    name: str,
    header: dict[str, str],
    entries: list[dict[str, Any]],
    first: int,
    count: int,
    ids: list[int],
    origin: dict[str, Any],
) -> dict[str, Any]:
    size = _write_clones(folder / f"{name}-m0.avro", header, mark_entries(entries, ids), first, count)
    rows = sum(entries[n % len(entries)]["data_file"]["record_count"] for n in range(first, first + count))
    changes = {"files_count": count, "rows_count": rows}
    line = deepcopy(origin) | {"manifest_path": f"{place}/{name}-m0.avro", "manifest_length": size}
    for key in line:
        for ending, amount in changes.items():
            if key.endswith(ending):
                line[key] = amount if key.startswith("added") else 0
    return line


def add_snapshot(document: dict[str, Any], parent: dict[str, Any], number: int) -> dict[str, Any]:
    """Add a commit to an Iceberg document that names what its parent does, an hour later; the snapshot."""
    snapshot = deepcopy(parent)
    snapshot["parent-snapshot-id"] = parent["snapshot-id"]
    snapshot["snapshot-id"] = 1_000_000_000_000_000_000 + number
    snapshot["timestamp-ms"] = parent["timestamp-ms"] + _DAY // 24
    if "sequence-number" in snapshot:
        snapshot["sequence-number"] += 1
        document["last-sequence-number"] = snapshot["sequence-number"]
    document["snapshots"].append(snapshot)
    document["snapshot-log"].append(
        {"timestamp-ms": snapshot["timestamp-ms"], "snapshot-id": snapshot["snapshot-id"]}
    )
    document["current-snapshot-id"] = snapshot["snapshot-id"]
    document["last-updated-ms"] = snapshot["timestamp-ms"]
    if "main" in document.get("refs", {}):
        document["refs"]["main"]["snapshot-id"] = snapshot["snapshot-id"]
    return snapshot


def raise_totals(snapshot: dict[str, Any], entries: list[dict[str, Any]], first: int, count: int) -> None:
    """Count clones of entries in the totals of a snapshot's summary."""
    cloned = [entries[number % len(entries)]["data_file"] for number in range(first, first + count)]
    more = {
        "total-data-files": count,
        "total-records": sum(file["record_count"] for file in cloned),
        "total-files-size": sum(file["file_size_in_bytes"] for file in cloned),
    }
    for key in more.keys() & snapshot["summary"].keys():
        snapshot["summary"][key] = str(int(snapshot["summary"][key]) + more[key])


def _raise_typed_totals(snapshot: dict[str, Any], files: int) -> None:
    sizes = sum(int(values.measure_files(numbers).sum()) for numbers in values.iterate_numbers(files))
    more = {
        "total-data-files": files,
        "total-records": _count_typed_rows(files),
        "total-files-size": sizes,
    }
    for key in more.keys() & snapshot["summary"].keys():
        snapshot["summary"][key] = str(int(snapshot["summary"][key]) + more[key])


def _count_typed_rows(files: int) -> int:
    return sum(int(values.count_rows(numbers).sum()) for numbers in values.iterate_numbers(files))


def _count_rows(entries: list[dict[str, Any]], first: int, count: int) -> int:
    return sum(
        entries[number % len(entries)]["_FILE"]["_ROW_COUNT"] for number in range(first, first + count)
    )


def _write_paimon_manifest(
    folder: Path,
    name: str,
    header: dict[str, str],
    entries: list[dict[str, Any]],
    first: int,
    count: int,
    origin: dict[str, Any],
) -> dict[str, Any]:
    size = _write_clones(folder / name, header, mark_paimon_entries(entries), first, count)
    return deepcopy(origin) | {
        "_FILE_NAME": name,
        "_FILE_SIZE": size,
        "_NUM_ADDED_FILES": count,
        "_NUM_DELETED_FILES": 0,
    }


def mark_paimon_entries(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries as their clones are: of files of a new name."""
    marked = []
    for entry in entries:
        file = entry["_FILE"]
        ending = file["_FILE_NAME"].rsplit(".", 1)[-1]
        marked.append({**entry, "_FILE": {**file, "_FILE_NAME": f"data-grown-{MARK}.{ending}"}})
    return marked
