"""Which properties and summary entries stay: keys that Iceberg specifies, and values that are numbers or words of its own.

Keys are those of the Java library's `TableProperties` and of the optional snapshot summary fields (appendix F of the
specification). A key of anybody else, and every value that is free text, is replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from lakelens.formats.iceberg.metadata.name_mapping import PROPERTY as NAME_MAPPING
from lakelens.formats.iceberg.skeleton.columns import ColumnBook
from lakelens.model.skeleton.redaction import Redaction

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
_NUMBER = re.compile(r"[+-]?\d{1,20}(\.\d{1,10})?|truncate\(\d{1,6}\)")
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
    """Whether a value says nothing of the data: a number, or a word that the format gives a meaning.

    >>> is_plain("merge-on-read"), is_plain("134217728"), is_plain("truncate(16)"), is_plain("my secret")
    (True, True, True, False)
    """
    if value is None or isinstance(value, int | float):
        return True
    return isinstance(value, str) and (value.lower() in _WORDS or _NUMBER.fullmatch(value) is not None)


def redact_properties(properties: Mapping[str, Any], book: ColumnBook, location: str) -> dict[str, Any]:
    """The properties of a table, in their order."""
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
    """The summary of a snapshot, in its order."""
    made: dict[str, Any] = {}
    for key, value in summary.items():
        if redaction.keeps_properties and not key.startswith("partitions."):
            made[key] = value
        elif key.startswith("partitions."):
            made[f"partitions.{redaction.names.word('partition-', key)}"] = _keep_figures(value)
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


def _keep_figures(value: Any) -> str:
    """The figures of a partition: `added-data-files=1,added-records=7`."""
    pairs = [pair.partition("=") for pair in str(value).split(",")]
    return ",".join(f"{key}={number}" for key, _, number in pairs if key in SUMMARY and number.isdecimal())


def _value(value: Any, redaction: Redaction) -> Any:
    if is_plain(value) or redaction.keeps_properties:
        return value
    return redaction.names.word("value-", str(value))


def _rename(name: str, redaction: Redaction) -> str:
    """A full name of a column, part by part."""
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
    """A name mapping with the names in place of its names; one that is damaged becomes an empty one."""
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
