"""A reader of Paimon tables in less than a hundred lines: it passes every step of `ll.ladder("paimon")`."""

import json
import struct
from pathlib import Path

import fastavro
import pyarrow.parquet as pq
from pyroaring import BitMap

KINDS = ("+I", "-U", "+U", "-D")


def read_json(table, *names):
    return json.loads(Path(table, *names).read_text())


def read_avro(table, name):
    return list(fastavro.reader(Path(table, "manifest", name).open("rb")))


def find_snapshot(table):
    """The newest snapshot: the hint may be behind, so the directory decides."""
    paths = Path(table, "snapshot").glob("snapshot-*")
    numbers = [int(path.name.partition("-")[2]) for path in paths]
    snapshot = read_json(table, "snapshot", f"snapshot-{max(numbers)}")
    return snapshot, read_json(table, "schema", f"schema-{snapshot['schemaId']}")


def decode(data, kinds):
    """The values of a BinaryRow: arity, header, a slot of eight bytes each, then what is far."""
    row = data[4:]
    start = (len(kinds) + 8 + 63) // 64 * 8
    for i, kind in enumerate(kinds):
        slot = row[start + 8 * i : start + 8 * i + 8]
        if row[(i + 8) // 8] >> (i + 8) % 8 & 1:
            yield None
        elif kind.split()[0] in ("INT", "BIGINT"):
            yield int.from_bytes(slot[: 4 if kind.startswith("INT") else 8], "little", signed=True)
        elif slot[7] & 0x80:
            yield slot[: slot[7] & 0x7F].decode()
        else:
            length, offset = struct.unpack("<ii", slot)
            yield row[offset : offset + length].decode()


def list_entries(table, snapshot, lists=("baseManifestList", "deltaManifestList")):
    """The live entries of a snapshot, by file: what is said last of a file counts."""
    live = {}
    for name in lists:
        for line in read_avro(table, snapshot[name]) if snapshot.get(name) else ():
            for entry in read_avro(table, line["_FILE_NAME"]):
                key = entry["_PARTITION"], entry["_BUCKET"], entry["_FILE"]["_FILE_NAME"]
                live[key] = entry if entry["_KIND"] == 0 else None
    return [entry for entry in live.values() if entry]


def locate(table, schema, entry):
    """Where a data file is: the directories of its partition, then that of its bucket."""
    kinds = {field["name"]: field["type"] for field in schema["fields"]}
    values = decode(entry["_PARTITION"], [kinds[name] for name in schema["partitionKeys"]])
    parts = [f"{name}={value}" for name, value in zip(schema["partitionKeys"], values, strict=True)]
    return Path(table).joinpath(*parts, f"bucket-{entry['_BUCKET']}", entry["_FILE"]["_FILE_NAME"])


def files(table):
    snapshot, schema = find_snapshot(table)
    return [locate(table, schema, entry) for entry in list_entries(table, snapshot)]


def keys(table):
    snapshot, schema = find_snapshot(table)
    kinds = [
        field["type"] for name in schema["primaryKeys"] for field in schema["fields"] if field["name"] == name
    ]
    live = [entry["_FILE"] for entry in list_entries(table, snapshot)]
    return {
        file["_FILE_NAME"]: [list(decode(file[end], kinds)) for end in ("_MIN_KEY", "_MAX_KEY")]
        for file in live
    }


def read_vectors(table, snapshot):
    """The deleted positions of each data file: length, magic number, bitmap each."""
    found = {}
    for entry in read_avro(table, snapshot["indexManifest"]) if snapshot.get("indexManifest") else ():
        data = Path(table, "index", entry["_FILE_NAME"]).read_bytes()
        for part in entry["_DELETIONS_VECTORS_RANGES"] or ():
            found[part["f0"]] = set(BitMap.deserialize(data[part["f1"] + 8 : part["f1"] + 4 + part["f2"]]))
    return found


def rows(table):
    snapshot, schema = find_snapshot(table)
    marked = schema["options"].get("deletion-vectors.enabled") == "true"
    vectors, newest = read_vectors(table, snapshot), {}
    for entry in list_entries(table, snapshot):
        file = entry["_FILE"]
        if marked and schema["primaryKeys"] and file["_LEVEL"] == 0:
            continue  # not merged yet, so not visible
        names = {
            field["id"]: field["name"]
            for field in read_json(table, "schema", f"schema-{file['_SCHEMA_ID']}")["fields"]
        }
        for position, line in enumerate(pq.read_table(locate(table, schema, entry)).to_pylist()):
            if position not in vectors.get(file["_FILE_NAME"], ()):
                key = tuple(line[name] for name in schema["primaryKeys"]) or (file["_FILE_NAME"], position)
                row = {field["name"]: line.get(names.get(field["id"])) for field in schema["fields"]}
                number, kind = line.get("_SEQUENCE_NUMBER", 0), line.get("_VALUE_KIND", 0)
                newest[key] = max(newest.get(key, (-1,)), (number, kind, row), key=lambda held: held[0])
    return [row for _, kind, row in newest.values() if kind in (0, 2)]


def changes(table):
    found = []
    schema = find_snapshot(table)[1]
    for path in Path(table, "snapshot").glob("snapshot-*"):
        snapshot = json.loads(path.read_text())
        for entry in list_entries(table, snapshot, ("changelogManifestList",)):
            for line in pq.read_table(locate(table, schema, entry)).to_pylist():
                kept = {field["name"]: line[field["name"]] for field in schema["fields"]}
                found.append({"rowkind": KINDS[line["_VALUE_KIND"]], **kept})
    return found
