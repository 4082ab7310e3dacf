"""A reader of Iceberg tables in less than a hundred lines: it passes every step of `ll.ladder("iceberg")`."""

import json
from pathlib import Path

import fastavro
import pyarrow.parquet as pq
from pyroaring import BitMap64


class Table:
    """A table in a directory, wherever it was when its paths were recorded."""

    def __init__(self, place):
        names = (Path(place) / "metadata").glob("*.metadata.json")
        newest = max(names, key=lambda path: int(path.name.lstrip("v").replace(".", "-").split("-")[0]))
        self.place, self.metadata = Path(place), json.loads(newest.read_text())

    def locate(self, recorded):
        """Where a file is now, by the path that was recorded."""
        return self.place / recorded.removeprefix(self.metadata["location"]).lstrip("/")

    def read_avro(self, recorded):
        return list(fastavro.reader(self.locate(recorded).open("rb")))

    def list_entries(self, branch=None):
        """The live entries of the current snapshot or of a branch: (sequence number, file)."""
        wanted = self.metadata["current-snapshot-id"]
        if branch is not None:
            wanted = self.metadata["refs"][branch]["snapshot-id"]
        [snapshot] = [each for each in self.metadata["snapshots"] if each["snapshot-id"] == wanted]
        for line in self.read_avro(snapshot["manifest-list"]):
            for entry in self.read_avro(line["manifest_path"]):
                if entry["status"] != 2:
                    number = entry["sequence_number"]
                    number = line["sequence_number"] if number is None else number
                    yield number, entry["data_file"]

    def list_fields(self):
        [schema] = [
            each
            for each in self.metadata["schemas"]
            if each["schema-id"] == self.metadata["current-schema-id"]
        ]
        return schema


def convert(value, kind, stored):
    """A stored value by today's type: fields are found by their ids, whatever they were called."""
    if value is None or isinstance(kind, str):
        return value
    if kind["type"] == "struct":
        held = {int(field.metadata[b"PARQUET:field_id"]): field for field in stored if field.metadata}
        found = [(field, held.get(field["id"])) for field in kind["fields"]]
        return {field["name"]: at and convert(value[at.name], field["type"], at.type) for field, at in found}
    if kind["type"] == "list":
        return [convert(element, kind["element"], stored.value_type) for element in value]
    return {key: convert(held, kind["value"], stored.item_type) for key, held in dict(value).items()}


def files(table):
    opened = Table(table)
    return [opened.locate(file["file_path"]) for _, file in opened.list_entries() if file["content"] == 0]


def read_vector(opened, file):
    """The positions in a deletion vector: length, magic, a 64-bit bitmap, checksum."""
    start = file["content_offset"]
    blob = opened.locate(file["file_path"]).read_bytes()[start : start + file["content_size_in_bytes"]]
    return set(BitMap64.deserialize(blob[8:-4]))


def rows(table, branch=None):
    opened = Table(table)
    entries = list(opened.list_entries(branch))
    schema = opened.list_fields()
    names = {field["id"]: field["name"] for field in schema["fields"]}
    gone, equal = {}, []
    for number, file in entries:
        if file["content"] == 1 and file["file_format"].lower() == "puffin":
            gone.setdefault(file["referenced_data_file"], []).append((number, read_vector(opened, file)))
        elif file["content"] == 1:
            for line in pq.read_table(opened.locate(file["file_path"])).to_pylist():
                gone.setdefault(line["file_path"], []).append((number, {line["pos"]}))
        elif file["content"] == 2:
            columns = [names[key] for key in file["equality_ids"]]
            values = [
                [line[name] for name in columns]
                for line in pq.read_table(opened.locate(file["file_path"])).to_pylist()
            ]
            equal.append((number, file["partition"], columns, values))
    for number, file in entries:
        if file["content"] == 0:
            stored = pq.read_table(opened.locate(file["file_path"]))
            deleted = set().union(
                *(held for least, held in gone.get(file["file_path"], []) if least >= number)
            )
            for position, line in enumerate(stored.to_pylist()):
                row = convert(line, schema, stored.schema)
                by_value = (
                    number < least
                    and (part == file["partition"] or not part)
                    and [row[name] for name in columns] in values
                    for least, part, columns, values in equal
                )
                if position not in deleted and not any(by_value):
                    yield row
