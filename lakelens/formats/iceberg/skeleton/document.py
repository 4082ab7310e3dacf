"""The metadata document, and the schemas and specs in the headers of manifests, with every name and value replaced.

What is specified stays what it is: ids, numbers, times of commits, types, transforms. Of a key that the specification does
not have neither its name nor its value stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from lakelens.codecs.iceberg.transforms import Transform
from lakelens.codecs.iceberg.types import IcebergType, parse_type
from lakelens.codecs.iceberg.value_json import parse_json_value
from lakelens.errors import LakeError
from lakelens.formats.iceberg.metadata.columns import PROPERTY as NAME_MAPPING
from lakelens.formats.iceberg.skeleton.avro_files import FIELD_NAMES
from lakelens.formats.iceberg.skeleton.column_book import ColumnBook, count_json, write_json
from lakelens.formats.iceberg.skeleton.pens import PlaceBook
from lakelens.model.skeleton.redaction import Redaction
from lakelens.model.skeleton.walk import LEFT_OUT, MARK, Spot, Table, Walk, Within, keep_number, one_of

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
#: what the column inside of a list or a map is called
_FIXED = ("element", "key", "value")
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
    parts = [(names.find_column(part), part) for part in name.split(".")]
    if all(found or part in _FIXED for found, part in parts):
        return ".".join(found or part for found, part in parts)
    return names.word("no-column-", name)


def redact_name_mapping(text: Any, book: ColumnBook) -> str:
    """Redact a name mapping with the names in place of its names; one that is damaged becomes an empty one."""
    try:
        mapping = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        book.redaction.note("the name mapping could not be read and is left out")
        return "[]"

    def rename(name: Any, entry: Spot) -> str:
        number = entry.holder.get("field-id")
        return str(name) if name in _FIXED else book.name(str(name), number if isinstance(number, int) else 0)

    table: Table = {"field-id": keep_number, "names[]": Within(rename), "fields[]": "names"}
    return json.dumps(Walk({"names": table}).write_each(mapping, "names"))


_TYPE = re.compile(
    r"boolean|int|long|float|double|date|time|timestamp|timestamptz|timestamp_ns|timestamptz_ns|string|uuid|binary|unknown|"
    r"variant|decimal\(\s*\d{1,3}\s*,\s*-?\d{1,3}\s*\)|fixed\[\s*\d{1,9}\s*\]"
)
_PARAMETERISED = ("geometry", "geography")
_KEYWORDS = """
branch tag BRANCH TAG asc desc nulls-first nulls-last struct list map
"""
_keep_word = one_of(frozenset(_KEYWORDS.split()), "other")


def _write_type(value: Any) -> str:
    """Write a type that is a text: one not known without its parameters, a geographic one without its reference system."""
    text = str(value)
    if _TYPE.fullmatch(text):
        return text
    return next((word for word in _PARAMETERISED if text.startswith(word)), "unknown")


def _write_transform(value: Any) -> Any:
    return value if Transform.parse(str(value)).is_known else "unknown"


# The paths of the metadata document, and of the schemas and specs inside of it.

_DOCUMENT_NUMBERS = """
format-version last-sequence-number last-updated-ms last-column-id current-schema-id default-spec-id last-partition-id
default-sort-order-id current-snapshot-id next-row-id
partition-specs[].spec-id sort-orders[].order-id sort-orders[].fields[].source-id sort-orders[].fields[].source-ids[]
snapshots[].snapshot-id snapshots[].parent-snapshot-id snapshots[].sequence-number snapshots[].timestamp-ms
snapshots[].schema-id snapshots[].first-row-id snapshots[].added-rows
snapshot-log[].timestamp-ms snapshot-log[].snapshot-id
"""
_REF_NUMBERS = "snapshot-id min-snapshots-to-keep max-snapshot-age-ms max-ref-age-ms"
_SCHEMA_NUMBERS = """
schema-id identifier-field-ids[] element-id key-id value-id element-required value-required
"""
_SCHEMA: Table = {
    "type": _keep_word,
    "fields[]": "field",
    **dict.fromkeys(_SCHEMA_NUMBERS.split(), keep_number),
    **dict.fromkeys(_FIXED, _write_type),
    **dict.fromkeys((f"{name}{{}}" for name in _FIXED), "schema"),
}
_FIELD: Table = {"id": keep_number, "required": keep_number, "type": _write_type, "type{}": "schema"}


class DocumentWriter:
    """Writes one table's metadata document again, and what of it is in the headers of manifests."""

    def __init__(self, book: ColumnBook, places: PlaceBook) -> None:
        redaction = book.redaction
        self._book, self._redaction, self._places = book, redaction, places
        self._walk = Walk(
            {
                "document": {
                    **dict.fromkeys(_DOCUMENT_NUMBERS.split(), keep_number),
                    "table-uuid": lambda value: str(UUID(int=redaction.random.getrandbits(128))),
                    "location": places.spell,
                    "schema": self.write_schema,
                    "schemas[]": self.write_schema,
                    "partition-spec[]": "partition field",
                    "partition-specs[].fields[]": "partition field",
                    "sort-orders[].fields[].transform": _write_transform,
                    "sort-orders[].fields[].direction": _keep_word,
                    "sort-orders[].fields[].null-order": _keep_word,
                    "properties": lambda value: (
                        redact_properties(value, book, MARK) if isinstance(value, dict) else {}
                    ),
                    "refs": self._write_refs,
                    "snapshots[].manifest-list": Within(self._name_list),
                    "snapshots[].manifests[]": lambda value: places.name_manifest(str(value)),
                    "snapshots[].summary{}": lambda value: redact_summary(value, redaction),
                    "snapshots[].key-id": lambda value: redaction.names.word("key-", str(value)),
                    "metadata-log": redaction.leave_out("earlier metadata files and their log", []),
                    "statistics": redaction.leave_out("statistics files (sketches of values)", []),
                    "partition-statistics": redaction.leave_out("partition statistics files", []),
                    "encryption-keys": redaction.leave_out("encryption keys", []),
                    "*": self._note_unspecified,
                },
                "ref": {**dict.fromkeys(_REF_NUMBERS.split(), keep_number), "type": _keep_word},
                "schema": _SCHEMA,
                "field": {
                    **_FIELD,
                    "name": Within(self._name_column),
                    "doc": redaction.comment,
                    "initial-default": Within(self._write_default),
                    "write-default": Within(self._write_default),
                },
                "partition field": {
                    **dict.fromkeys(("source-id", "field-id", "source-ids[]"), keep_number),
                    "name": Within(self._name_partition),
                    "transform": _write_transform,
                },
            }
        )

    def write(self, document: Mapping[str, Any]) -> Any:
        """Write the whole document."""
        return self._walk.write(document, "document")

    def write_schema(self, schema: Any) -> Any:
        """Write a schema; an empty one for what is none."""
        empty = {"type": "struct", "fields": list[Any]()}
        return self._walk.write(schema, "schema") if isinstance(schema, dict) else empty

    def write_fields(self, fields: Any) -> Any:
        """Write the fields of a partition spec."""
        return self._walk.write_each(fields, "partition field")

    def write_own(self, schema: Any, partition: Mapping[str, str]) -> Any:
        """Write the Iceberg schema of the records of a manifest, with the new names of partition fields."""

        def rename(name: Any) -> str:
            return partition.get(str(name), name if name in FIELD_NAMES else "x")

        return Walk({"schema": _SCHEMA, "field": {**_FIELD, "name": rename}}).write(schema, "schema")

    def _note_unspecified(self, value: Any) -> Any:
        self._redaction.note("keys of the metadata document that are not specified are left out")
        return LEFT_OUT

    def _name_column(self, name: Any, field: Spot) -> str:
        path: list[str] = []
        spot: Spot | None = field
        while spot is not None:
            if isinstance(spot.key, int):
                path.insert(0, str(spot.holder.get("name")))
            elif spot.key in _FIXED:
                path.insert(0, spot.key)
            spot = spot.above
        return self._book.name(str(name), keep_number(field.holder.get("id")) or 0, tuple(path))

    def _name_partition(self, name: Any, field: Spot) -> str:
        number = field.holder.get("field-id")
        number = number if isinstance(number, int) else 1000 + int(field.key)
        return self._redaction.names.field(str(name), number)

    def _name_list(self, recorded: Any, snapshot: Spot) -> Any:
        if not isinstance(recorded, str):
            return LEFT_OUT
        return self._places.name_list(recorded, snapshot.holder.get("snapshot-id"))

    def _write_refs(self, refs: Any) -> Any:
        made: dict[str, Any] = {}
        for name, ref in refs.items() if isinstance(refs, dict) else ():
            written = self._walk.write(ref, "ref") or {}
            if "type" in written:  # behind the numbers, wherever it was
                written["type"] = written.pop("type")
            kind = "t" if isinstance(ref, dict) and str(ref.get("type")).lower() == "tag" else "b"
            made[self._redaction.names.ref(name, kind)] = written
        return made

    def _write_default(self, value: Any, field: Spot) -> Any:
        found = read_default(value, field.holder)
        if found is None:
            if isinstance(value, bool):
                return value
            self._redaction.note(
                "defaults of nested columns, and those that do not fit their type, are left out"
            )
            return LEFT_OUT
        column, ordinal, type_ = found
        if self._book.keeps(column):
            return value
        scale = self._book.scale(column)
        return LEFT_OUT if scale is None else write_json(scale.map(ordinal), type_)  # type: ignore[arg-type]


def read_default(value: Any, field: Mapping[str, Any]) -> tuple[int, int | str, IcebergType] | None:
    """Read the column of a default value, what it is ordered by, and its type; None for one that has no order."""
    number = field.get("id")
    try:
        type_ = parse_type(field.get("type"))
        ordinal = count_json(parse_json_value(value, type_), type_)
    except LakeError:
        return None
    return None if ordinal is None or not isinstance(number, int) else (number, ordinal, type_)
