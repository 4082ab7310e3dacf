"""Manifest lists and manifests of a skeleton: records as they were stored, with what is named or has a value replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lakelens.codecs.avro.encoding import encode_records
from lakelens.formats.iceberg.manifests.records import find_field, unwrap
from lakelens.formats.iceberg.skeleton.avro_schemas import name_fields
from lakelens.formats.iceberg.skeleton.columns import RESERVED, PartitionMap
from lakelens.formats.iceberg.skeleton.pens import Pen
from lakelens.formats.iceberg.skeleton.places import MARK

_FORMATS = frozenset(("parquet", "orc", "avro", "puffin"))


@dataclass(frozen=True)
class AvroDocument:
    """One file of records before it is written: its schema, its header's other entries, its records and its codec.

    The schema is Avro's of a Parquet file too (`is_parquet`), as version 4 has manifests.
    """

    schema: Any
    header: Mapping[str, bytes]
    records: list[dict[str, Any]] = field(repr=False)
    codec: str = "null"
    is_parquet: bool = False

    def encode(self, location: str) -> bytes:
        """The bytes of the file, if the table is at a location."""
        records = (fill_location(record, location) for record in self.records)
        if self.is_parquet:
            from lakelens.codecs.parquet.encoding import encode_records as encode_parquet

            return encode_parquet(self.schema, records, self.header, self.codec)
        return encode_records(self.schema, records, self.header, self.codec)

    def keep(self, records: list[dict[str, Any]]) -> AvroDocument:
        """The same file with other records."""
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
        """A specified field of a line; None when it has none."""
        return next((line.get(stored) for stored, known in self.names.items() if known == name), None)

    def write(self, line: Mapping[str, Any], fields: list[PartitionMap], pen: Pen) -> dict[str, Any]:
        """A line with everything replaced; `fields` are those of its partition spec."""
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
        """An entry with everything replaced."""
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
                value = self._write_partition(value, pen)
            elif name in ("lower_bounds", "upper_bounds") and value is not None:
                value = _write_bounds(value, pen)
            elif name == "key_metadata" and isinstance(value, bytes):
                value = bytes(len(value))
            made[stored] = value
        return made

    def _write_partition(self, values: Mapping[str, Any], pen: Pen) -> dict[str, Any]:
        made = {}
        for stored, value in values.items():
            name, field = self._partition[stored]
            made[name] = None if value is None else pen.partition(field, value)
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
