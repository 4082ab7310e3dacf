"""Manifest lists and manifests of a skeleton: records as they were stored, with what is named or has a value replaced."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lakelens.codecs.avro.records import encode_records
from lakelens.formats.iceberg.manifests.records import (
    ENTRY_FIELDS,
    FILE_FIELDS,
    MANIFEST_FIELDS,
    find_field,
    find_name,
    unwrap,
)
from lakelens.formats.iceberg.skeleton.column_book import RESERVED, PartitionMap
from lakelens.formats.iceberg.skeleton.pens import MARK, Pen

# The Avro schemas of manifests and manifest lists: ids, types and specified names stay; partition fields get new names.
#
# Fields that the specification does not have are left out, with their values; so are comments and aliases.

SUMMARY_FIELDS = {509: "contains_null", 518: "contains_nan", 510: "lower_bound", 511: "upper_bound"}
_KEPT_WORDS = """type name fields items values size logicalType precision scale field-id element-id key-id value-id
adjust-to-utc order symbols"""
_KEPT = frozenset(_KEPT_WORDS.split())
_NAME = re.compile(
    r"r\d{1,10}|k\d{1,10}_v\d{1,10}|manifest_(file|entry)|data_file|(fixed|decimal|uuid)(_\d{1,5}){0,2}|uuid_fixed"
)
_KIND_WORDS = "null boolean int long float double bytes string record array map enum fixed union"
_KINDS = frozenset(_KIND_WORDS.split())
_LOGICAL_WORDS = """map decimal uuid date time-millis time-micros timestamp-millis timestamp-micros timestamp-nanos
local-timestamp-millis local-timestamp-micros local-timestamp-nanos"""
_LOGICAL = frozenset(_LOGICAL_WORDS.split())
_IDS = {"manifest": MANIFEST_FIELDS, "entry": ENTRY_FIELDS, "file": FILE_FIELDS, "summary": SUMMARY_FIELDS}
# what the record of a field has inside
_INNER = {"data_file": "file", "partition": "partition", "partitions": "summary"}
_OLD = {f"{word}_data_files_count": f"{word}_files_count" for word in ("added", "existing", "deleted")}


def name_fields(record: Mapping[str, Any], kind: str) -> dict[str, str]:
    """Give the specified name of each stored field of a record that has one; `kind` is manifest, entry, file or summary."""
    known, names = _IDS[kind], {}
    for field in record.get("fields", ()):
        stored = str(field.get("name"))
        found = find_name(field, known) or (
            _OLD.get(stored, stored) if _OLD.get(stored, stored) in known.values() else None
        )
        if found is not None:
            names[stored] = found
    return names


class SchemaWriter:
    """Writes an Avro schema again. `partition` has the new names of partition fields by their stored ones."""

    def __init__(self, partition: Mapping[str, str]) -> None:
        self._partition = partition
        self._named: dict[str, str] = {}

    def write(self, schema: Any, kind: str) -> Any:
        """Write a schema; `kind` is of the record that it is or holds: manifest, entry, file, summary, partition, none."""
        if isinstance(schema, list):
            return [self.write(branch, kind) for branch in schema]
        if isinstance(schema, str):
            return schema if schema in _KINDS else self._named.get(schema, schema)
        if not isinstance(schema, dict):
            return "null"
        made = {
            key: value for key, value in schema.items() if key in _KEPT and key not in ("symbols", "fields")
        }
        if made.get("logicalType") not in _LOGICAL:
            made.pop("logicalType", None)
        if "name" in made:
            name = str(made["name"])
            is_known = _NAME.fullmatch(name) is not None
            made["name"] = name if is_known else self._named.setdefault(name, f"n{len(self._named) + 1}")
        for key in ("items", "values"):
            if key in made:
                made[key] = self.write(made[key], kind)
        if schema.get("type") == "record":
            made["fields"] = self._write_fields(schema, kind)
        elif schema.get("type") == "enum":
            made["symbols"] = [f"s{number}" for number in range(len(schema.get("symbols", ())))]
        elif not isinstance(schema.get("type"), str):
            made["type"] = self.write(schema.get("type"), kind)
        return made

    def _write_fields(self, schema: Mapping[str, Any], kind: str) -> list[Any]:
        names = name_fields(schema, kind) if kind in _IDS else {}
        made = []
        for field in schema.get("fields", ()):
            stored = str(field.get("name"))
            if kind in _IDS and stored not in names:
                continue
            new = {key: value for key, value in field.items() if key in _KEPT and key != "symbols"}
            if field.get("default", 0) is None:
                new["default"] = None
            new["name"] = self._partition.get(stored, "x") if kind == "partition" else stored
            new["type"] = self.write(field.get("type"), _INNER.get(names.get(stored, ""), ""))
            made.append(new)
        return made


#: every name that the specification gives a field of a manifest or a manifest list, now or before
FIELD_NAMES = frozenset(
    (
        *MANIFEST_FIELDS.values(),
        *ENTRY_FIELDS.values(),
        *FILE_FIELDS.values(),
        *SUMMARY_FIELDS.values(),
        *_OLD,
    )
)


_FORMATS = frozenset(("parquet", "orc", "avro", "puffin"))


@dataclass(frozen=True)
class AvroDocument:
    """One file of records before it is written: its schema, its header's other entries, its records and its codec.

    The schema is Avro's of a Parquet file too (`is_parquet`), as version 4 has manifests.
    """

    schema: Any
    header: Mapping[str, bytes]
    records: list[dict[str, Any]] = dataclasses.field(repr=False)
    codec: str = "null"
    is_parquet: bool = False

    def encode(self, location: str) -> bytes:
        """Encode the bytes of the file, if the table is at a location."""
        records = (fill_location(record, location) for record in self.records)
        if self.is_parquet:
            from lakelens.codecs.parquet.records import encode_records as encode_parquet

            return encode_parquet(self.schema, records, self.header, self.codec)
        return encode_records(self.schema, records, self.header, self.codec)

    def keep(self, records: list[dict[str, Any]]) -> AvroDocument:
        """Keep the same file with other records."""
        return replace(self, records=records)


def fill_location(record: dict[str, Any], location: str) -> dict[str, Any]:
    """A record with the location in place of its mark: in paths, and in bounds of paths."""
    return {key: _fill(key, value, location) for key, value in record.items()}


def _fill(key: str, value: Any, location: str) -> Any:
    if isinstance(value, str):
        return value.replace(MARK, location)
    if isinstance(value, dict):
        return fill_location(value, location)
    if key in ("lower_bounds", "upper_bounds") and value and value[0].get("key", 0) > RESERVED:
        return [{**pair, "value": _fill_bound(pair["value"], location)} for pair in value]
    return _fill_bound(value, location)


def _fill_bound(value: Any, location: str) -> Any:
    return value.replace(MARK.encode(), location.encode()) if isinstance(value, bytes) else value


class ListWalk:
    """The lines of one manifest list."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.names = name_fields(record, "manifest")
        stored = next((one for one, name in self.names.items() if name == "partitions"), None)
        found: Mapping[str, Any] | None = find_field(record, 507, "partitions") if stored else None
        array = unwrap(found["type"], "array") if found is not None else {}
        self._summary = name_fields(unwrap(array.get("items"), "record"), "summary")

    def find(self, line: Mapping[str, Any], name: str) -> Any:
        """Find a specified field of a line; None when it has none."""
        return next((line.get(stored) for stored, known in self.names.items() if known == name), None)

    def write(self, line: Mapping[str, Any], fields: list[PartitionMap], pen: Pen) -> dict[str, Any]:
        """Write a line with everything replaced; `fields` are those of its partition spec."""
        made: dict[str, Any] = {}
        for stored, name in self.names.items():
            value = line.get(stored)
            if name == "manifest_path" and isinstance(value, str):
                value = pen.manifest(value)
            elif name == "key_metadata" and isinstance(value, bytes):
                value = bytes(len(value))
            elif name == "partitions" and isinstance(value, list):
                value = [self._write_summary(one, at, fields, pen) for at, one in enumerate(value)]
            made[stored] = value
        return made

    def _write_summary(self, summary: Any, at: int, fields: list[PartitionMap], pen: Pen) -> Any:
        if not isinstance(summary, dict):
            return None
        made: dict[str, Any] = {}
        for stored, name in self._summary.items():
            value = summary.get(stored)
            if isinstance(value, bytes):
                value = pen.partition_bound(fields[at], value) if at < len(fields) else bytes(len(value))
            made[stored] = value if name else None
        return made


class EntryWalk:
    """The entries of one manifest."""

    def __init__(self, record: Mapping[str, Any], partition: Mapping[str, tuple[str, PartitionMap]]) -> None:
        self.names = name_fields(record, "entry")
        found = find_field(record, 2, "data_file")
        self.file_record = unwrap(found["type"], "record") if found is not None else {}
        self.file_names = name_fields(self.file_record, "file")
        inner = find_field(self.file_record, 102, "partition")
        self.partition_record = unwrap(inner["type"], "record") if inner is not None else {}
        self._partition = partition

    def write(self, entry: Mapping[str, Any], pen: Pen) -> dict[str, Any]:
        """Write an entry with everything replaced."""
        made: dict[str, Any] = {}
        for stored, name in self.names.items():
            value = entry.get(stored)
            made[stored] = (
                self._write_file(value, pen) if name == "data_file" and isinstance(value, dict) else value
            )
        return made

    def _write_file(self, file: Mapping[str, Any], pen: Pen) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for stored, name in self.file_names.items():
            value = file.get(stored)
            if name in ("file_path", "referenced_data_file") and isinstance(value, str):
                value = pen.file(value)
            elif name == "file_format" and isinstance(value, str):
                value = value if value.lower() in _FORMATS else "other"
            elif name == "partition" and isinstance(value, dict):
                fields = ((self._partition[key], inner) for key, inner in value.items())
                value = {
                    new: None if inner is None else pen.partition(field, inner)
                    for (new, field), inner in fields
                }
            elif name in ("lower_bounds", "upper_bounds") and value is not None:
                value = _write_bounds(value, pen)
            elif name == "key_metadata" and isinstance(value, bytes):
                value = bytes(len(value))
            made[stored] = value
        return made


def _write_bounds(bounds: Any, pen: Pen) -> Any:
    if isinstance(bounds, Mapping):  # an Avro map: its keys are text
        pairs = ((str(key), pen.bound(int(key), value)) for key, value in bounds.items())
        return {key: value for key, value in pairs if value is not None}
    made = []
    for pair in bounds:
        key, value = pair.get("key"), pair.get("value")
        new = pen.bound(key, value) if isinstance(key, int) and isinstance(value, bytes) else None
        if new is not None:
            made.append({"key": key, "value": new})
    return made
