"""The metadata document, and the schemas and specs in the headers of manifests, with every name and value replaced.

What is specified stays what it is: ids, numbers, times of commits, types, transforms. Of a key that the specification does
not have neither its name nor its value stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from lakelens.codecs.iceberg.transforms import Transform
from lakelens.codecs.iceberg.types import IcebergType, parse_type
from lakelens.codecs.iceberg.value_json import parse_json_value
from lakelens.errors import LakeError
from lakelens.formats.iceberg.metadata.columns import PROPERTY as NAME_MAPPING
from lakelens.formats.iceberg.skeleton.column_book import ColumnBook, count_json, write_json
from lakelens.formats.iceberg.skeleton.pens import MARK, PlaceBook
from lakelens.model.skeleton.redaction import Redaction

# Which properties and summary entries stay: keys that Iceberg specifies, and values that are numbers or words of its own.
#
# Keys are those of the Java library's `TableProperties` and of the optional snapshot summary fields (appendix F of the
# specification). A key of anybody else, and every value that is free text, is replaced.

_SPECIFIED = """
commit.retry.num-retries commit.retry.min-wait-ms commit.retry.max-wait-ms commit.retry.total-timeout-ms
commit.status-check.num-retries commit.status-check.min-wait-ms commit.status-check.max-wait-ms
commit.status-check.total-timeout-ms commit.manifest.target-size-bytes commit.manifest.min-count-to-merge
commit.manifest-merge.enabled commit.lock.enabled compatibility.snapshot-id-inheritance.enabled encryption.data-key-length
format-version gc.enabled history.expire.max-snapshot-age-ms history.expire.min-snapshots-to-keep
history.expire.max-ref-age-ms engine.hive.enabled engine.hive.lock-enabled
read.split.target-size read.split.metadata-target-size read.split.planning-lookback read.split.open-file-cost
read.split.adaptive-size.enabled read.parquet.vectorization.enabled read.parquet.vectorization.batch-size
read.orc.vectorization.enabled read.orc.vectorization.batch-size read.data-planning-mode read.delete-planning-mode
write.format.default write.delete.format.default write.delete.mode write.delete.isolation-level
write.delete.distribution-mode write.delete.granularity write.delete.target-file-size-bytes
write.update.mode write.update.isolation-level write.update.distribution-mode
write.merge.mode write.merge.isolation-level write.merge.distribution-mode
write.distribution-mode write.target-file-size-bytes write.wap.enabled write.upsert.enabled write.spark.fanout.enabled
write.spark.accept-any-schema write.spark.advisory-partition-size-bytes write.summary.partition-limit
write.object-storage.enabled write.object-storage.partitioned-paths write.manifest-lists.enabled
write.metadata.compression-codec write.metadata.previous-versions-max write.metadata.delete-after-commit.enabled
write.metadata.metrics.default write.metadata.metrics.max-inferred-column-defaults
write.parquet.row-group-size-bytes write.parquet.page-size-bytes write.parquet.page-row-limit write.parquet.page-version
write.parquet.dict-size-bytes write.parquet.compression-codec write.parquet.compression-level
write.parquet.row-group-check-min-record-count write.parquet.row-group-check-max-record-count
write.parquet.bloom-filter-max-bytes write.parquet.shred-variants write.parquet.variant-inference-buffer-size
write.delete.parquet.row-group-size-bytes write.delete.parquet.page-size-bytes write.delete.parquet.page-row-limit
write.delete.parquet.dict-size-bytes write.delete.parquet.compression-codec write.delete.parquet.compression-level
write.delete.parquet.row-group-check-min-record-count write.delete.parquet.row-group-check-max-record-count
write.avro.compression-codec write.avro.compression-level write.delete.avro.compression-codec
write.delete.avro.compression-level write.orc.stripe-size-bytes write.orc.block-size-bytes
write.orc.vectorized-row-batch-size write.orc.compression-codec write.orc.compression-strategy
write.orc.bloom.filter.fpp write.delete.orc.stripe-size-bytes write.delete.orc.block-size-bytes
write.delete.orc.vectorized-row-batch-size write.delete.orc.compression-codec write.delete.orc.compression-strategy
"""
SPECIFIED = frozenset(_SPECIFIED.split())
#: keys that end with a column's name
_BY_COLUMN = (
    *("write.metadata.metrics.column.", "write.parquet.bloom-filter-enabled.column."),
    *("write.parquet.bloom-filter-fpp.column.", "write.parquet.bloom-filter-ndv.column."),
    "write.parquet.stats-enabled.column.",
)
_LOCATIONS = frozenset(
    (
        *("write.metadata.path", "write.data.path"),
        *("write.object-storage.path", "write.folder-storage.path"),
    )
)
_PLAIN_WORDS = """
true false none null hash range copy-on-write merge-on-read partition file serializable snapshot full counts
parquet orc avro puffin zstd gzip snappy lz4 lzo brotli uncompressed deflate zlib speed compression v1 v2 auto local
distributed append replace overwrite delete spark flink trino hive impala presto dremio starrocks
"""
_WORDS = frozenset(_PLAIN_WORDS.split())
_PLAIN_NUMBER = re.compile(r"[+-]?\d{1,20}(\.\d{1,10})?|truncate\(\d{1,6}\)")
_VERSION = re.compile(r"\d{1,3}(\.\d{1,3}){1,3}")
_LIBRARY = re.compile(r"Apache Iceberg \d{1,3}(\.\d{1,3}){1,3}( \(commit [0-9a-f]{40}\))?|unknown")
_SUMMARY_KEYS = """
operation added-data-files deleted-data-files total-data-files added-delete-files removed-delete-files
total-delete-files added-equality-delete-files removed-equality-delete-files added-position-delete-files
removed-position-delete-files added-dvs removed-dvs added-records deleted-records total-records added-files-size
removed-files-size total-files-size added-position-deletes removed-position-deletes total-position-deletes
added-equality-deletes removed-equality-deletes total-equality-deletes deleted-duplicate-files changed-partition-count
manifests-created manifests-kept manifests-replaced entries-processed replace-partitions partition-summaries-included
wap.id published-wap-id source-snapshot-id spark.app.id app-id app-name engine-name engine-version iceberg-version
"""
SUMMARY = frozenset(_SUMMARY_KEYS.split())


def is_plain(value: object) -> bool:
    """Check whether a value says nothing of the data: a number, or a word that the format gives a meaning.

    >>> is_plain("merge-on-read"), is_plain("134217728"), is_plain("truncate(16)"), is_plain("my secret")
    (True, True, True, False)
    """
    if value is None or isinstance(value, int | float):
        return True
    return isinstance(value, str) and (value.lower() in _WORDS or _PLAIN_NUMBER.fullmatch(value) is not None)


def redact_properties(properties: Mapping[str, Any], book: ColumnBook, location: str) -> dict[str, Any]:
    """Redact the properties of a table, in their order."""
    redaction = book.redaction
    made: dict[str, Any] = {}
    for key, value in properties.items():
        column = next((start for start in _BY_COLUMN if key.startswith(start)), None)
        if key in _LOCATIONS:
            made[key] = f"{location}/{'metadata' if 'metadata' in key else 'data'}"
        elif key == NAME_MAPPING:
            made[key] = redact_name_mapping(value, book)
        elif column is not None:
            made[column + _rename(key[len(column) :], redaction)] = _value(value, redaction)
        elif key in SPECIFIED:
            made[key] = _value(value, redaction)
        elif redaction.keeps_properties:
            made[key] = value
        else:
            made[redaction.names.word("property-", key)] = redaction.names.word("value-", str(value))
    return made


def redact_summary(summary: Mapping[str, Any], redaction: Redaction) -> dict[str, Any]:
    """Redact the summary of a snapshot, in its order."""
    made: dict[str, Any] = {}
    for key, value in summary.items():
        if redaction.keeps_properties and not key.startswith("partitions."):
            made[key] = value
        elif key.startswith("partitions."):
            # the figures of a partition: `added-data-files=1,added-records=7`
            pairs = [pair.partition("=") for pair in str(value).split(",")]
            made[f"partitions.{redaction.names.word('partition-', key)}"] = ",".join(
                f"{key}={number}" for key, _, number in pairs if key in SUMMARY and number.isdecimal()
            )
        elif key in ("engine-version", "iceberg-version"):
            pattern = _VERSION if key == "engine-version" else _LIBRARY
            kept = isinstance(value, str) and pattern.fullmatch(value)
            made[key] = value if kept else redaction.names.word("value-", str(value))
        elif key in SUMMARY:
            made[key] = _value(value, redaction)
        else:
            new = redaction.names.word("entry-", key)
            made[new] = redaction.names.word("value-", str(value))
    return made


def _value(value: Any, redaction: Redaction) -> Any:
    if is_plain(value) or redaction.keeps_properties:
        return value
    return redaction.names.word("value-", str(value))


def _rename(name: str, redaction: Redaction) -> str:
    """Rename a full name of a column, part by part."""
    names = redaction.names
    whole = names.find_column(name)
    if whole is not None:
        return whole
    fixed = ("element", "key", "value")
    parts = [(names.find_column(part), part) for part in name.split(".")]
    if all(found or part in fixed for found, part in parts):
        return ".".join(found or part for found, part in parts)
    return names.word("no-column-", name)


def redact_name_mapping(text: Any, book: ColumnBook) -> str:
    """Redact a name mapping with the names in place of its names; one that is damaged becomes an empty one."""
    try:
        mapping = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        book.redaction.note("the name mapping could not be read and is left out")
        return "[]"
    return json.dumps(_map_names(mapping, book, 0))


def _map_names(mapping: Any, book: ColumnBook, depth: int) -> list[Any]:
    made = []
    for entry in mapping if isinstance(mapping, list) and depth < 100 else ():
        if not isinstance(entry, dict):
            continue
        number = entry.get("field-id")
        kept: dict[str, Any] = {"field-id": number} if isinstance(number, int) else {}
        listed = entry.get("names")
        names = [str(name) for name in listed] if isinstance(listed, list) else []
        key = number if isinstance(number, int) else 0
        kept["names"] = [
            name if name in ("element", "key", "value") else book.name(name, key) for name in names
        ]
        if "fields" in entry:
            kept["fields"] = _map_names(entry["fields"], book, depth + 1)
        made.append(kept)
    return made


_NUMBER = re.compile(r"[+-]?\d{1,20}(\.\d{1,20})?([eE][+-]?\d{1,3})?")
_TYPE = re.compile(
    r"boolean|int|long|float|double|date|time|timestamp|timestamptz|timestamp_ns|timestamptz_ns|string|uuid|binary|unknown|"
    r"variant|decimal\(\s*\d{1,3}\s*,\s*-?\d{1,3}\s*\)|fixed\[\s*\d{1,9}\s*\]"
)
_PARAMETERISED = ("geometry", "geography")
_KEPT_NUMBERS = (
    *("format-version", "last-sequence-number", "last-updated-ms", "last-column-id", "current-schema-id"),
    *("default-spec-id", "last-partition-id", "default-sort-order-id", "current-snapshot-id", "next-row-id"),
)
_SNAPSHOT_NUMBERS = (
    *("snapshot-id", "parent-snapshot-id", "sequence-number", "timestamp-ms", "schema-id", "first-row-id"),
    "added-rows",
)
_REF_NUMBERS = ("snapshot-id", "min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms")
_KNOWN_WORDS = (
    "branch",
    "tag",
    "BRANCH",
    "TAG",
    "asc",
    "desc",
    "nulls-first",
    "nulls-last",
    "struct",
    "list",
    "map",
)


def keep_number(value: Any) -> Any:
    """Keep a number as it is, also one that some JSON tool turned into text; anything else becomes null.

    >>> keep_number(7), keep_number("7"), keep_number("secret")
    (7, '7', None)
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    return value if isinstance(value, str) and _NUMBER.fullmatch(value) else None


def keep_word(value: Any) -> Any:
    """Keep a word of the specification; anything else becomes `other`."""
    return value if value in _KNOWN_WORDS else "other"


class DocumentWriter:
    """Writes one table's metadata document again."""

    def __init__(self, book: ColumnBook, places: PlaceBook, current: Mapping[str, Any]) -> None:
        self.book, self.redaction, self._places = book, book.redaction, places
        self._current = current

    def write(self) -> dict[str, Any]:
        """Write the whole document."""
        made: dict[str, Any] = {}
        for key, value in self._current.items():
            write = self._writers.get(key)
            if key in _KEPT_NUMBERS:
                made[key] = keep_number(value)
            elif write is not None:
                made[key] = None if value is None else write(value)
            else:
                self.redaction.note("keys of the metadata document that are not specified are left out")
        return made

    @property
    def _writers(self) -> Mapping[str, Callable[[Any], Any]]:
        return {
            "table-uuid": lambda value: str(UUID(int=self.redaction.random.getrandbits(128))),
            "location": lambda value: self._places.spell(value),
            "schema": self.write_schema,
            "schemas": lambda value: self._each(value, self.write_schema),
            "partition-spec": self.write_fields,
            "partition-specs": lambda value: self._each(value, self._write_spec),
            "sort-orders": lambda value: self._each(value, self._write_order),
            "properties": lambda value: redact_properties(_dict(value), self.book, MARK),
            "refs": self._write_refs,
            "snapshots": lambda value: self._each(value, self._write_snapshot),
            "snapshot-log": lambda value: self._each(value, self._write_log),
            "metadata-log": lambda value: self._leave_out(value, "earlier metadata files and their log"),
            "statistics": lambda value: self._leave_out(value, "statistics files (sketches of values)"),
            "partition-statistics": lambda value: self._leave_out(value, "partition statistics files"),
            "encryption-keys": lambda value: self._leave_out(value, "encryption keys"),
        }

    def _each(self, value: Any, write: Callable[[Any], Any]) -> list[Any]:
        return [write(item) for item in value] if isinstance(value, list) else []

    def _leave_out(self, value: Any, what: str) -> list[Any]:
        if value:
            self.redaction.note(f"{what} are left out")
        return []

    # --- schemas -------------------------------------------------------------------------------------------------------

    def write_schema(self, schema: Any, path: tuple[str, ...] = ()) -> Any:
        """Write a schema, or a struct inside of one."""
        if not isinstance(schema, dict):
            return {"type": "struct", "fields": []}
        made: dict[str, Any] = {}
        for key, value in schema.items():
            if key == "type":
                made[key] = keep_word(value)
            elif key == "schema-id":
                made[key] = keep_number(value)
            elif key == "identifier-field-ids":
                made[key] = [keep_number(one) for one in value] if isinstance(value, list) else []
            elif key == "fields":
                made[key] = self._each(value, lambda field: self._write_field(field, path))
        return made

    def _write_field(self, field: Any, path: tuple[str, ...]) -> Any:
        if not isinstance(field, dict):
            return {}
        name = str(field.get("name"))
        made: dict[str, Any] = {}
        for key, value in field.items():
            if key == "id" or key == "required":
                made[key] = keep_number(value)
            elif key == "name":
                made[key] = self.book.name(name, keep_number(field.get("id")) or 0, (*path, name))
            elif key == "type":
                made[key] = self._write_type(value, (*path, name))
            elif key == "doc":
                made[key] = value if self.redaction.names.keeps_all else "(comment)"
            elif key in ("initial-default", "write-default"):
                new = self._write_default(value, field)
                if new is not None:
                    made[key] = new
        return made

    def _write_type(self, value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, str):
            # A type that is not known, without its parameters; the geographic ones without their reference system.
            return (
                value
                if _TYPE.fullmatch(value)
                else next((word for word in _PARAMETERISED if value.startswith(word)), "unknown")
            )
        if not isinstance(value, dict):
            return "unknown"
        if value.get("type") == "struct":
            return self.write_schema(value, path)
        made: dict[str, Any] = {}
        for key, inner in value.items():
            if key == "type":
                made[key] = keep_word(inner)
            elif key in ("element", "key", "value"):
                made[key] = self._write_type(inner, (*path, key))
            elif key in ("element-id", "key-id", "value-id", "element-required", "value-required"):
                made[key] = keep_number(inner)
        return made

    def _write_default(self, value: Any, field: Mapping[str, Any]) -> Any:
        found = read_default(value, field)
        if found is None:
            if isinstance(value, bool):
                return value
            self.redaction.note(
                "defaults of nested columns, and those that do not fit their type, are left out"
            )
            return None
        column, ordinal, type_ = found
        if self.book.keeps(column):
            return value
        scale = self.book.scale(column)
        return None if scale is None else write_json(scale.map(ordinal), type_)  # type: ignore[arg-type]

    # --- specs, orders -------------------------------------------------------------------------------------------------

    def write_fields(self, fields: Any) -> list[Any]:
        """Write the fields of a partition spec."""
        made: list[Any] = []
        for position, field in enumerate(fields if isinstance(fields, list) else ()):
            field = _dict(field)
            number = field.get("field-id")
            number = number if isinstance(number, int) else 1000 + position
            new: dict[str, Any] = {}
            for key, value in field.items():
                if key in ("source-id", "field-id"):
                    new[key] = keep_number(value)
                elif key == "source-ids":
                    new[key] = self._each(value, keep_number)
                elif key == "name":
                    new[key] = self.redaction.names.field(str(value), number)
                elif key == "transform":
                    new[key] = value if Transform.parse(str(value)).is_known else "unknown"
            made.append(new)
        return made

    def _write_spec(self, spec: Any) -> Any:
        return {
            "spec-id": keep_number(_dict(spec).get("spec-id")),
            "fields": self.write_fields(_dict(spec).get("fields")),
        }

    def _write_order(self, order: Any) -> Any:
        fields = []
        for field in _dict(order).get("fields") or ():
            new: dict[str, Any] = {}
            for key, value in _dict(field).items():
                if key == "source-id":
                    new[key] = keep_number(value)
                elif key == "source-ids":
                    new[key] = self._each(value, keep_number)
                elif key == "transform":
                    new[key] = value if Transform.parse(str(value)).is_known else "unknown"
                elif key in ("direction", "null-order"):
                    new[key] = keep_word(value)
            fields.append(new)
        return {"order-id": keep_number(_dict(order).get("order-id")), "fields": fields}

    # --- snapshots -----------------------------------------------------------------------------------------------------

    def _write_refs(self, refs: Any) -> Any:
        made: dict[str, Any] = {}
        for name, ref in _dict(refs).items():
            kind = str(_dict(ref).get("type")).lower()
            new = {key: keep_number(value) for key, value in _dict(ref).items() if key in _REF_NUMBERS}
            if "type" in _dict(ref):
                new["type"] = keep_word(_dict(ref)["type"])
            made[self.redaction.names.ref(name, "t" if kind == "tag" else "b")] = new
        return made

    def _write_log(self, line: Any) -> Any:
        return {
            key: keep_number(value)
            for key, value in _dict(line).items()
            if key in ("timestamp-ms", "snapshot-id")
        }

    def _write_snapshot(self, snapshot: Any) -> Any:
        snapshot = _dict(snapshot)
        made: dict[str, Any] = {}
        for key, value in snapshot.items():
            if key in _SNAPSHOT_NUMBERS:
                made[key] = keep_number(value)
            elif key == "manifest-list" and isinstance(value, str):
                made[key] = self._places.name_list(value, snapshot.get("snapshot-id"))
            elif key == "manifests" and isinstance(value, list):
                made[key] = [self._places.name_manifest(str(one)) for one in value]
            elif key == "summary" and isinstance(value, dict):
                made[key] = redact_summary(value, self.redaction)
            elif key == "key-id" and value is not None:
                made[key] = self.redaction.names.word("key-", str(value))
        return made


def read_default(value: Any, field: Mapping[str, Any]) -> tuple[int, int | str, IcebergType] | None:
    """Read the column of a default value, what it is ordered by, and its type; None for one that has no order."""
    number = field.get("id")
    try:
        type_ = parse_type(field.get("type"))
        ordinal = count_json(parse_json_value(value, type_), type_)
    except LakeError:
        return None
    return None if ordinal is None or not isinstance(number, int) else (number, ordinal, type_)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
