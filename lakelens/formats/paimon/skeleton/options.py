"""Which table options stay: keys that Paimon specifies (`CoreOptions`), and values that are numbers or its own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lakelens.formats.paimon.skeleton.places import MARK
from lakelens.model.skeleton.redaction import Redaction

_SPECIFIED = """
bucket bucket-function.type bucket-append-ordered dynamic-bucket.target-row-num dynamic-bucket.initial-buckets
dynamic-bucket.max-buckets dynamic-bucket.assigner-parallelism changelog-producer changelog-producer.row-deduplicate
changelog-file.format changelog-file.compression changelog-file.stats-mode changelog.num-retained.max
changelog.num-retained.min changelog.time-retained compaction.min.file-num compaction.max.file-num
compaction.max-size-amplification-percent compaction.size-ratio compaction.optimization-interval
compaction.total-size-threshold compaction.delete-ratio-threshold compaction.force-up-level-0 commit.force-compact
commit.user-prefix commit.timeout commit.max-retries data-evolution.enabled data-evolution.row-sidecar.enabled
data-file.external-paths.strategy data-file.thin-mode deletion-vectors.enabled deletion-vectors.bitmap64
deletion-vectors.merge-on-read deletion-vector.index-file.target-size dynamic-partition-overwrite file-index.read.enabled
file-index.in-manifest-threshold file.block-size file.compression file.compression.per.level file.compression.zstd-level
file.format file.format.per.level file.suffix.include.compression full-compaction.delta-commits ignore-delete
incremental-between-scan-mode index-file-in-data-file-dir local-merge-buffer-size local-sort.max-num-file-handles
lookup-wait lookup.cache-file-retention lookup.cache-max-disk-size lookup.cache-max-memory-size
manifest.compression manifest.delete-file-drop-stats manifest.format manifest.full-compaction-threshold-size
manifest.merge-min-count manifest.target-file-size merge-engine metadata.stats-dense-store
metadata.stats-keep-first-n-columns metadata.stats-mode metadata.stats-mode.per.level metadata.iceberg.storage
num-levels num-sorted-run.compaction-trigger num-sorted-run.stop-trigger page-size parquet.enable.dictionary
partial-update.ignore-delete partial-update.remove-record-on-delete partition.expiration-time
partition.expiration-check-interval partition.expiration-strategy partition.legacy-name
read.batch-size record-level.expire-time row-tracking.enabled scan.mode scan.plan-sort-partition sequence.field.sort-order
sequence.snapshot-ordering snapshot.clean-empty-directories snapshot.expire.execution-mode snapshot.expire.limit
snapshot.num-retained.max snapshot.num-retained.min snapshot.time-retained sort-compaction.range-strategy
sort-engine sort-spill-buffer-size sort-spill-threshold source.split.open-file-cost source.split.target-size
spill-compression streaming-read-mode tag.automatic-creation tag.creation-delay tag.creation-period tag.default-time-retained
tag.num-retained-max target-file-size vector.file.format write-buffer-size write-buffer-spillable write-only
write-manifest-cache write-max-writers-to-spill zorder.var-length-contribution blob.target-file-size
"""
SPECIFIED = frozenset(_SPECIFIED.split())
# options whose value is a list of columns
_COLUMNS = frozenset(
    (
        *(
            "bucket-key",
            "sequence.field",
            "rowkind.field",
            "blob-field",
            "blob-descriptor-field",
            "vector-field",
        ),
        *("record-level.time-field", "partition", "primary-key"),
    )
)
_PATHS = frozenset(("path", "data-file.external-paths"))
_FIELD = re.compile(
    r"fields\.(.+)\.(aggregate-function|sequence-group|stats-mode|ignore-retract|distinct|default-value|"
    r"list-agg-delimiter|default-aggregate-function|nested-key|count-limit)"
)
_INDEXES = "bloom-filter|bitmap|bsi|range-bitmap|btree|full-text|lumina"
_INDEX = re.compile(rf"(file-index|global-index|pk-({_INDEXES}))\.({_INDEXES}|index)\.(.+)")
_OWN_COLUMNS = re.compile(
    rf"(file-index\.({_INDEXES})|pk-({_INDEXES})\.index|global-index\.({_INDEXES}))\.columns"
)
_PLAIN_WORDS = """
true false none null default mod input lookup full-compaction deduplicate partial-update aggregation first-row avro orc
parquet row csv json text zstd lz4 snappy gzip zlib lzo deflate uncompressed full counts sum max min last_value
last_non_null_value first_value first_non_null_value product count bool_or bool_and listagg collect merge_map nested_update
rbm32 rbm64 hll_sketch theta_sketch primary-key round-robin specific-fs batch process-time watermark daily hourly two-hours
values-time update-time delete ascending descending sync async
"""
PLAIN = frozenset(_PLAIN_WORDS.split())
_UNITS = "b|kb|mb|gb|tb|ms|s|min|m|h|d|k|g|bytes|hours?|days?|minutes?|seconds?"
_AMOUNT = re.compile(rf"-?\d{{1,20}}(\.\d{{1,10}})?( ?({_UNITS}))?|truncate\(\d{{1,6}}\)")
_LEVEL = re.compile(r"\d{1,3}:(.+)")


def is_plain(value: object) -> bool:
    """Whether a value says nothing of the data.

    >>> is_plain("1 mb"), is_plain("partial-update"), is_plain("0:avro,5:orc"), is_plain("secret")
    (True, True, True, False)
    """
    if value is None or isinstance(value, int | float):
        return True
    parts = [_LEVEL.fullmatch(part) for part in str(value).lower().split(",")]
    texts = [part[1] if part is not None else str(value).lower() for part in parts]
    return all(text in PLAIN or _AMOUNT.fullmatch(text) is not None for text in texts)


def redact_options(options: Mapping[str, Any], redaction: Redaction) -> dict[str, Any]:
    """The options of a schema, in their order."""
    made: dict[str, Any] = {}
    for key, value in options.items():
        field, index = _FIELD.fullmatch(key), _INDEX.fullmatch(key)
        if key in _PATHS:
            made[key] = MARK if key == "path" else f"{MARK}/external"
        elif key in _COLUMNS or _OWN_COLUMNS.fullmatch(key):
            made[key] = _rename(str(value), redaction)
        elif field is not None:
            new = _rename(str(value), redaction) if field[2] == "nested-key" else _value(value, redaction)
            made[f"fields.{_rename(field[1], redaction)}.{field[2]}"] = new
        elif key in SPECIFIED:
            made[key] = _value(value, redaction)
        elif index is not None and "." in index[4]:
            column, _, rest = index[4].rpartition(".")
            rest = rest if rest in ("items", "fpp", "version", "chunk-size") else "option"
            made[f"{index[1]}.{index[3]}.{_rename(column, redaction)}.{rest}"] = _value(value, redaction)
        elif redaction.keeps_properties:
            made[key] = value
        else:
            made[redaction.names.word("property-", key)] = redaction.names.word("value-", str(value))
    return made


def _value(value: Any, redaction: Redaction) -> Any:
    if is_plain(value) or redaction.keeps_properties:
        return value
    return redaction.names.word("value-", str(value))


def _rename(listed: str, redaction: Redaction) -> str:
    """A list of columns, or parts of one."""
    names = redaction.names

    def rename(part: str) -> str:
        found = names.find_column(part.strip())
        return found or ".".join(
            names.find_column(one) or names.word("no-column-", one) for one in part.strip().split(".")
        )

    return ",".join(rename(part) for part in listed.split(","))
