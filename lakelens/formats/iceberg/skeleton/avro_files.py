"""Manifest lists and manifests of a skeleton: records as they were stored, with what is named or has a value replaced."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from lakelens.formats.iceberg.skeleton.column_book import PartitionMap
from lakelens.formats.iceberg.skeleton.pens import Pen
from lakelens.model.skeleton.walk import Spot, Table, Walk, Within, fill_location, keep, of_text

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


# Lines and entries: every field stays that the specification has, but those of these paths, which a pen writes.
#
# Tables are of specified names; the fields of one file are recognised by their ids, and keep the names that they have there.

_FORMATS = frozenset(("parquet", "orc", "avro", "puffin"))


def find_inner(record: Mapping[str, Any], number: int, name: str, kind: str = "record") -> Mapping[str, Any]:
    """Find the Avro type of a field of a record, by its id or its name; empty where there is none of that kind."""
    found = find_field(record, number, name)
    return {} if found is None else unwrap(found["type"], kind)


def find_partition(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Find the Avro record of the partition tuples of a manifest."""
    return find_inner(find_inner(record, 2, "data_file"), 102, "partition")


def walk_lines(
    record: Mapping[str, Any], list_fields: Callable[[Any], Sequence[PartitionMap]], pen: Pen
) -> Walk:
    """Make the walk over the lines of a manifest list; `list_fields` gives the fields of a line's partition spec."""

    def write_bound(data: Any, summary: Spot) -> Any:
        line = None if summary.above is None else summary.above.holder
        fields, place = list_fields(line), int(summary.key)
        return (
            pen.partition_bound(fields[place], data)
            if isinstance(data, bytes) and place < len(fields)
            else _blank(data)
        )

    summary = unwrap(find_inner(record, 507, "partitions", "array").get("items"), "record")
    bounds = dict.fromkeys(("lower_bound", "upper_bound"), Within(write_bound))
    tables: dict[str, Table] = {
        "line": {
            "*": keep,
            "manifest_path": of_text(pen.manifest),
            "key_metadata": _blank,
            "partitions[]": "summary",
        },
        "summary": {"*": _blank, **bounds},
    }
    return Walk(tables, {"line": name_fields(record, "manifest"), "summary": name_fields(summary, "summary")})


def walk_entries(
    record: Mapping[str, Any], partition: Mapping[str, tuple[str, PartitionMap]], pen: Pen
) -> Walk:
    """Make the walk over the entries of a manifest; `partition` has the new names of partition fields and their values."""

    def write_tuple(values: Mapping[str, Any]) -> dict[str, Any]:
        fields = ((*partition[stored], value) for stored, value in values.items())
        return {name: None if value is None else pen.partition(field, value) for name, field, value in fields}

    file: Table = {
        "*": keep,
        **dict.fromkeys(("file_path", "referenced_data_file"), of_text(pen.file)),
        **dict.fromkeys(("lower_bounds", "upper_bounds"), partial(_write_bounds, pen=pen)),
        "file_format": of_text(lambda name: name if name.lower() in _FORMATS else "other"),
        "partition{}": write_tuple,
        "key_metadata": _blank,
    }
    names = {
        "entry": name_fields(record, "entry"),
        "file": name_fields(find_inner(record, 2, "data_file"), "file"),
    }
    return Walk({"entry": {"*": keep, "data_file": "file"}, "file": file}, names)


def _blank(value: Any) -> Any:
    return bytes(len(value)) if isinstance(value, bytes) else value


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
