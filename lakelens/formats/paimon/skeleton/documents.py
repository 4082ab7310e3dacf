"""Schemas, snapshots, tags, changelogs and consumers with every name and value replaced; ids, counts and times stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lakelens.codecs.numbers import clamp_long
from lakelens.codecs.paimon.types import parse_type
from lakelens.errors import LakeError
from lakelens.formats.paimon.skeleton.record_walk import Container, PlaceBook
from lakelens.model.skeleton.redaction import Redaction
from lakelens.model.skeleton.walk import (
    LEFT_OUT,
    MARK,
    Pen,
    Spot,
    Table,
    Walk,
    Within,
    encode_json,
    fill_location,
    keep_number,
    one_of,
)

# Which table options stay: keys that Paimon specifies (`CoreOptions`), and values that are numbers or its own words.

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
    """Check whether a value says nothing of the data.

    >>> is_plain("1 mb"), is_plain("partial-update"), is_plain("0:avro,5:orc"), is_plain("secret")
    (True, True, True, False)
    """
    if value is None or isinstance(value, int | float):
        return True
    parts = [_LEVEL.fullmatch(part) for part in str(value).lower().split(",")]
    texts = [part[1] if part is not None else str(value).lower() for part in parts]
    return all(text in PLAIN or _AMOUNT.fullmatch(text) is not None for text in texts)


def redact_options(options: Mapping[str, Any], redaction: Redaction) -> dict[str, Any]:
    """Redact the options of a schema, in their order."""
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
    """Rename a list of columns, or parts of one."""
    names = redaction.names

    def rename(part: str) -> str:
        found = names.find_column(part.strip())
        return found or ".".join(map(names.refer, part.strip().split(".")))

    return ",".join(rename(part) for part in listed.split(","))


# The paths of snapshots (tags and changelogs, too), of schemas and of consumers.

LISTS = ("baseManifestList", "deltaManifestList", "changelogManifestList")
_SNAPSHOT_NUMBERS = """
version id schemaId baseManifestListSize deltaManifestListSize changelogManifestListSize commitIdentifier timeMillis
totalRecordCount deltaRecordCount changelogRecordCount watermark nextRowId tagTimeRetained tagCreateTime[]
"""
_COMMIT_WORDS = """
APPEND COMPACT OVERWRITE ANALYZE WRITE DELETE TRUNCATE UPDATE MERGE CREATE_TABLE_AS_SELECT REPLACE_TABLE_AS_SELECT
CREATE_OR_REPLACE_TABLE_AS_SELECT
"""
_COMMITS = frozenset(_COMMIT_WORDS.split())
_SEQUENCE = "sequence.generation.max-sequence-number"
_TYPE_WORDS = frozenset(("ARRAY", "MAP", "MULTISET", "ROW", "VECTOR", "NOT", "NULL", ""))
_NUMBER = re.compile(r"-?\d{1,20}")
_VERSION = re.compile(r"\d{1,3}(\.\d{1,3}){1,3}(-SNAPSHOT)?")


def _write_type(value: Any) -> str:
    """Write a type that is a text; one that is not known, or that names another system, without what it names."""
    try:
        found = parse_type(str(value))
    except LakeError:
        return "OTHER"
    is_plain = not found.fields and found.crs is None and not any((found.element, found.key))
    return str(value) if is_plain else "BYTES" if found.crs is None else found.name


_TYPE: Table = {
    "type": lambda text: text if {"", *str(text).upper().split()} <= _TYPE_WORDS else "OTHER",
    **dict.fromkeys(("element", "key", "value"), _write_type),
    **dict.fromkeys(("element{}", "key{}", "value{}"), "type"),
    "fields[]": "field",
    "length": keep_number,
}


def make_walk(redaction: Redaction, places: PlaceBook) -> Walk:
    """Make the walk over the documents of a table: a `snapshot`, a `schema`, a `consumer`."""
    names = redaction.names

    def write_word(prefix: str) -> Pen:
        return lambda value: names.word(prefix, str(value))

    def name_column(name: Any, field: Spot) -> str:
        return names.column(str(name), keep_number(field.holder.get("id")) or 0)

    def write_version(value: Any) -> Any:
        is_version = isinstance(value, str) and _VERSION.fullmatch(value)
        return value if is_version else names.word("value-", str(value))

    def write_properties(found: Mapping[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, value in found.items():
            new = value if name == _SEQUENCE and keep_number(value) else names.word("value-", str(value))
            made[name if name == _SEQUENCE else names.word("property-", name)] = new
        return made

    tables: dict[str, Table] = {
        "snapshot": {
            **dict.fromkeys(_SNAPSHOT_NUMBERS.split(), keep_number),
            **dict.fromkeys(LISTS, lambda name: places.list(str(name))),
            **dict.fromkeys(("commitKind", "operation"), one_of(_COMMITS, "OTHER")),
            "indexManifest": lambda name: places.index_manifest(str(name)),
            "commitUser": write_word("user-"),
            "uuid": write_word("uuid-"),
            "writerVersion": write_version,
            "statistics": redaction.leave_out("statistics files, which hold values of columns,", LEFT_OUT),
            "logOffsets{}": lambda found: {
                bucket: keep_number(offset) for bucket, offset in found.items() if _NUMBER.fullmatch(bucket)
            },
            "properties{}": write_properties,
        },
        "consumer": {"nextSnapshot": keep_number},
        "schema": {
            **dict.fromkeys(("version", "id", "timeMillis", "highestFieldId"), keep_number),
            **dict.fromkeys(("partitionKeys[]", "primaryKeys[]"), lambda name: names.refer(str(name))),
            "fields[]": "field",
            "options{}": lambda options: redact_options(options, redaction),
            "comment": Within(lambda text, schema: LEFT_OUT if text is None else redaction.comment(text)),
        },
        "field": {
            "id": keep_number,
            "name": Within(name_column),
            "type": _write_type,
            "type{}": "type",
            "description": redaction.comment,
            "defaultValue": redaction.leave_out("default values of columns", LEFT_OUT),
        },
        "type": _TYPE,
    }
    return Walk(tables)


# The documents of a Paimon skeleton, and what can be cut from them.
#
# Sizes that are recorded are those of the files as they are written here, with the differences that there were.

KINDS = ("snapshots", "refs", "manifests", "entries", "statistics", "schemas", "options", "index entries")
_HINTS = ("EARLIEST", "LATEST")
_EMPTY_ROW = bytes(4) + bytes(8)


@dataclass(frozen=True)
class PaimonBones:
    """A redacted Paimon table, file by file, by the paths below the table's directory.

    `differences` is what a recorded size differs by from the real one: of manifests and lists by name, of a list as a
    snapshot records it by the snapshot's path and the key.
    """

    documents: Mapping[str, dict[str, Any]]
    texts: Mapping[str, bytes]
    lists: Mapping[str, Container] = field(repr=False)
    manifests: Mapping[str, Container] = field(repr=False)
    indexes: Mapping[str, Container] = field(repr=False)
    files: Mapping[str, bytes] = field(repr=False)
    differences: Mapping[str, int] = field(repr=False)

    @property
    def kinds(self) -> tuple[str, ...]:
        """See `Bones.kinds`."""
        return KINDS

    def encode(self, location: str) -> Iterator[tuple[str, bytes]]:
        """See `Bones.encode`."""
        sizes: dict[str, int] = {}
        for name, container in (*self.manifests.items(), *self.indexes.items()):
            records = [fill_location(record, location) for record in container.records]
            data = container.encode(records)
            sizes[name] = clamp_long(len(data) + self.differences.get(name, 0))
            yield f"manifest/{name}", data
        for name, container in self.lists.items():
            lines = [
                line | {"_FILE_SIZE": sizes.get(line.get("_FILE_NAME", ""), line.get("_FILE_SIZE"))}
                for line in container.records
            ]
            data = container.encode(lines)
            sizes[name] = len(data)
            yield f"manifest/{name}", data
        for path, document in self.documents.items():
            changed = dict(document)
            for key in LISTS:
                if document.get(f"{key}Size") is not None and document.get(key) in sizes:
                    changed[f"{key}Size"] = sizes[document[key]] + self.differences.get(f"{path} {key}", 0)
            yield path, encode_json(changed, location)
        yield from (*self.texts.items(), *self.files.items())

    def list_parts(self, kind: str) -> list[str]:
        """See `Bones.list_parts`."""
        return _CUTS[kind][0](self)

    def leave_out(self, kind: str, keys: Collection[str]) -> PaimonBones:
        """See `Bones.leave_out`."""
        return drop_unused(_CUTS[kind][1](self, frozenset(keys)))


def drop_unused(bones: PaimonBones) -> PaimonBones:
    """Without the files that nothing refers to, and without hints to what is gone."""
    found = bones.documents.values()
    lists = {document.get(key) for document in found for key in LISTS}
    indexes = {document.get("indexManifest") for document in found}
    kept = {name: container for name, container in bones.lists.items() if name in lists}
    named = {line.get("_FILE_NAME") for container in kept.values() for line in container.records}
    kept_indexes = {name: one for name, one in bones.indexes.items() if name in indexes}
    used = {record.get("_FILE_NAME") for index in kept_indexes.values() for record in index.records}
    wanted = {f"manifest/{name}" for name in (*lists, *named, *indexes)}
    return replace(
        bones,
        lists=kept,
        manifests={name: one for name, one in bones.manifests.items() if name in named},
        indexes=kept_indexes,
        texts={path: text for path, text in bones.texts.items() if _has_target(path, text, bones.documents)},
        files={
            path: data
            for path, data in bones.files.items()
            if path.rpartition("/")[2] in used
            or path in wanted
            or not path.startswith(("index/", "manifest/"))
        },
    )


def _has_target(path: str, text: bytes, documents: Mapping[str, Any]) -> bool:
    """Check whether what a hint leads to is there, or never was."""
    folder, _, name = path.rpartition("/")
    if name not in _HINTS:
        return True
    kind = folder.rpartition("/")[2]
    return any(document.startswith(f"{folder}/{kind}-") for document in documents)


# --- cuts --------------------------------------------------------------------------------------------------------------


def _list_documents(*folders: str) -> Callable[[PaimonBones], list[str]]:
    return lambda bones: [path for path in bones.documents if path.split("/")[0] in folders]


def _cut_documents(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    documents = {path: document for path, document in bones.documents.items() if path not in keys}
    texts = {path: text for path, text in bones.texts.items() if not _is_stale(path, text, documents)}
    return replace(bones, documents=documents, texts=texts)


def _is_stale(path: str, text: bytes, documents: Mapping[str, Any]) -> bool:
    folder, _, name = path.rpartition("/")
    kind = folder.rpartition("/")[2]
    return name in _HINTS and f"{folder}/{kind}-{text.decode('ascii', 'replace').strip()}" not in documents


def _list_lines(bones: PaimonBones) -> list[str]:
    found = (line.get("_FILE_NAME") for one in bones.lists.values() for line in one.records)
    return [str(name) for name in dict.fromkeys(found)]


def _cut_lines(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    lists = {
        name: one.keep([line for line in one.records if line.get("_FILE_NAME") not in keys])
        for name, one in bones.lists.items()
    }
    return replace(bones, lists=lists)


def _list_entries(bones: PaimonBones) -> list[str]:
    return [f"{name}#{at}" for name, one in bones.manifests.items() for at in range(len(one.records))]


def _cut_entries(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    manifests, counted = {}, {}
    for name, one in bones.manifests.items():
        kept = [record for at, record in enumerate(one.records) if f"{name}#{at}" not in keys]
        gone = [record.get("_KIND") for at, record in enumerate(one.records) if f"{name}#{at}" in keys]
        counted[name] = {"_NUM_ADDED_FILES": gone.count(0), "_NUM_DELETED_FILES": gone.count(1)}
        manifests[name] = one.keep(kept)

    def lower(line: dict[str, Any]) -> dict[str, Any]:
        less = counted.get(line.get("_FILE_NAME", ""), {})
        return line | {
            key: line[key] - count for key, count in less.items() if isinstance(line.get(key), int)
        }

    lists = {name: one.keep([lower(line) for line in one.records]) for name, one in bones.lists.items()}
    return replace(bones, manifests=manifests, lists=lists)


def _list_statistics(bones: PaimonBones) -> list[str]:
    return ["_VALUE_STATS"] if bones.manifests else []


def _cut_statistics(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    def shorten(record: dict[str, Any]) -> dict[str, Any]:
        file = record.get("_FILE")
        if not keys or not isinstance(file, dict) or "_VALUE_STATS_COLS" not in file:
            return record
        empty = {"_MIN_VALUES": _EMPTY_ROW, "_MAX_VALUES": _EMPTY_ROW, "_NULL_COUNTS": []}
        return record | {"_FILE": file | {"_VALUE_STATS": empty, "_VALUE_STATS_COLS": []}}

    manifests = {
        name: one.keep([shorten(record) for record in one.records]) for name, one in bones.manifests.items()
    }
    return replace(bones, manifests=manifests)


def _list_options(bones: PaimonBones) -> list[str]:
    found = (key for document in bones.documents.values() for key in document.get("options") or ())
    return list(dict.fromkeys(found))


def _cut_options(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    documents = {}
    for path, document in bones.documents.items():
        options = document.get("options")
        if isinstance(options, dict):
            kept = {key: value for key, value in options.items() if key not in keys}
            document = document | {"options": kept}
        documents[path] = document
    return replace(bones, documents=documents)


def _list_indexes(bones: PaimonBones) -> list[str]:
    return [f"{name}#{at}" for name, one in bones.indexes.items() for at in range(len(one.records))]


def _cut_indexes(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    indexes = {
        name: one.keep([record for at, record in enumerate(one.records) if f"{name}#{at}" not in keys])
        for name, one in bones.indexes.items()
    }
    return replace(bones, indexes=indexes)


_List = Callable[[PaimonBones], list[str]]
_Cut = Callable[[PaimonBones, frozenset[str]], PaimonBones]
_CUTS: Mapping[str, tuple[_List, _Cut]] = {
    "snapshots": (_list_documents("snapshot", "changelog"), _cut_documents),
    "refs": (_list_documents("tag", "branch", "consumer"), _cut_documents),
    "manifests": (_list_lines, _cut_lines),
    "entries": (_list_entries, _cut_entries),
    "statistics": (_list_statistics, _cut_statistics),
    "schemas": (_list_documents("schema"), _cut_documents),
    "options": (_list_options, _cut_options),
    "index entries": (_list_indexes, _cut_indexes),
}
