"""The bytes behind the objects of a Paimon table: documents, manifests, rows in them, statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from lakelens.codecs.kinds import explain
from lakelens.codecs.paimon.row_slots import count_null_bytes
from lakelens.errors import LakeError
from lakelens.formats.explain.avro_records import find_field, find_record, find_value
from lakelens.formats.explain.caption import Caption, count_bytes, join_clauses, name_file
from lakelens.formats.explain.stored import (
    LabelledBytes,
    explain_file,
    explain_parts,
    focus_on,
    make_explanation,
    read_octets,
)
from lakelens.formats.paimon.explain.nested import nested_for_metadata
from lakelens.formats.paimon.manifests.rows import VALUE_STATS, PaimonPartition, StoredRow
from lakelens.io.store import Store
from lakelens.model.explanation import Explanation

if TYPE_CHECKING:
    from lakelens.formats.paimon.context import TableContext
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
    from lakelens.formats.paimon.manifests.manifest import PaimonManifest, PaimonManifestList
    from lakelens.formats.paimon.manifests.stats import SimpleStats
    from lakelens.formats.paimon.metadata.partitions import Partitions
    from lakelens.formats.paimon.metadata.schema import PaimonSchema
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.datafile import StatisticsFile
    from lakelens.model.manifest import Entry
    from lakelens.model.snapshot import Ref
    from lakelens.model.stats import ColumnBounds

_STATS_FIELDS = ("_MIN_VALUES", "_MAX_VALUES")


def refuse(thing: Any, message: str, hint: str | None = None) -> NoReturn:
    """For objects that no bytes stand behind, although others of their kind have some."""
    raise LakeError(message, hint=hint)


def explain_table(table: PaimonTable) -> Explanation:
    """The two documents that say what the table is now: the current snapshot and today's schema."""
    store, root = table.context.store, table.location
    paths = [thing.path for thing in (table.current, table.schema) if thing is not None and thing.path]
    if not paths:
        raise LakeError("neither a snapshot nor a schema of the table can be read", path=root)
    names = [path.removeprefix(root).lstrip("/") for path in paths]
    documents = [bytes(read_octets(store, path)[:]) for path in paths]
    summary = f"JSON, {count_bytes(sum(map(len, documents)))}"
    caption = Caption("Table documents", summary, " and ".join(names), table.name)
    if len(paths) == 1:
        return explain_file(store, paths[0], "json", caption)
    parts = [LabelledBytes(name, data, "json") for name, data in zip(names, documents, strict=True)]
    return explain_parts(parts, caption)


def explain_snapshot(snapshot: PaimonSnapshot) -> Explanation:
    """The document of a snapshot, a tag or a long-lived changelog."""
    details = join_clauses(f"snapshot {snapshot.id}", snapshot.commit_kind)
    return _explain_document(snapshot.context.store, snapshot.path, "Snapshot document", details)


def explain_schema(schema: PaimonSchema, store: Store) -> Explanation:
    """The document of a schema."""
    return _explain_document(store, schema.path, "Schema document", f"schema {schema.id}")


def explain_tag(tag: Ref, store: Store) -> Explanation:
    """The document of a tag, which is a copy of its snapshot's."""
    details = f"tag {tag.name} of snapshot {tag.snapshot_id}"
    return _explain_document(store, tag.path, "Tag document", details)


def explain_statistics(statistics: StatisticsFile, store: Store) -> Explanation:
    """The document that ANALYZE wrote."""
    details = f"statistics of snapshot {statistics.snapshot_id}"
    return _explain_document(store, statistics.path, "Statistics document", details)


def _explain_document(store: Store, path: str | None, what: str, details: str) -> Explanation:
    assert path is not None
    data = read_octets(store, path)
    caption = Caption(what, f"JSON, {count_bytes(len(data))}", name_file(path), details)
    return make_explanation(data, explain(data, "json"), caption, path=path, base=0)


def explain_manifest_list(listed: PaimonManifestList, context: TableContext) -> Explanation:
    """The file of a manifest list."""
    caption = Caption("Manifest list", place=name_file(listed.path), details=f"role {listed.role}")
    return _explain_container(context, listed.path, caption)


def explain_manifest(manifest: PaimonManifest, context: TableContext) -> Explanation:
    """The file of a manifest."""
    counts = f"{manifest.num_added_files} added, {manifest.num_deleted_files} deleted"
    caption = Caption("Manifest", place=name_file(manifest.path), details=counts)
    return _explain_container(context, manifest.path, caption)


def explain_index_manifest(path: str, context: TableContext) -> Explanation:
    """The file of an index manifest."""
    return _explain_container(context, path, Caption("Index manifest", place=name_file(path)))


def _explain_container(context: TableContext, path: str, caption: Caption) -> Explanation:
    return explain_file(context.store, path, "avro", caption, nested=nested_for_metadata(context))


def explain_entry(entry: Entry, manifest: PaimonManifest, context: TableContext) -> Explanation:
    """The record of an entry inside its block; all of the manifest where entries have no bytes of their own.

    ORC and Parquet keep a manifest by columns: an entry is spread over all of them.
    """
    whole = explain_manifest(manifest, context)
    place = f"{entry.status} {name_file(entry.file.recorded_path)}"
    position = find_position(manifest, entry.raw)
    record = None if position is None else find_record(whole, position)
    if record is None:
        details = f"one row of {name_file(manifest.path)}, whose rows are kept by columns"
        return focus_on(whole, whole, Caption("Manifest", whole.summary, place, details))
    details = join_clauses(f"entry {position} of {name_file(manifest.path)}", record.details)
    return focus_on(record, record, Caption("Manifest entry", place=place, details=details))


def find_position(manifest: PaimonManifest | None, raw: Mapping[str, Any]) -> int | None:
    """The position of an entry in its manifest, by its record; None when the manifest cannot be read any more."""
    try:
        entries = manifest.entries if manifest is not None else ()
    except LakeError:
        return None
    for position, entry in enumerate(entries):
        if entry.raw is raw:
            return position
    return next((position for position, entry in enumerate(entries) if entry.raw == raw), None)


def explain_file_row(row: StoredRow, file: PaimonDataFile, store: Store) -> Explanation:
    """A row of a manifest entry: a key of the file, or the minimum or maximum of its columns."""
    place = f"{row.label} of {file.file_name}"
    base = locate_in_entry(file, row.label, row.stored, store)
    return _explain_row(row.stored, row.columns, place, describe_entry(file), file.manifest, base)


def explain_list_row(row: StoredRow, manifest: PaimonManifest) -> Explanation:
    """A row of a manifest list: the smallest or largest partition of a manifest."""
    place = f"{row.label} of {manifest.file_name}"
    return _explain_row(row.stored, row.columns, place, "a line of its manifest lists", None, None)


def explain_partition(partition: PaimonPartition, path: str, partitions: Partitions) -> Explanation:
    """The row of a partition, as the first manifest that named it keeps it."""
    text = f"partition {partition}" if len(partition) else "no partition"
    base = find_value(partitions.store, path, ("_PARTITION",), partition.stored)
    place = f"_PARTITION in {name_file(path)}"
    return _explain_row(partition.stored, partition.columns, place, text, path, base)


def _explain_row(
    data: bytes, columns: Sequence[Any], place: str, details: str, path: str | None, base: int | None
) -> Explanation:
    span = explain(data, "binary_row", fields=columns)
    caption = Caption("BinaryRow", describe_row(data, columns, span), place, details)
    return make_explanation(data, span, caption, path=path, base=base)


def describe_row(data: bytes, columns: Sequence[Any], span: Any) -> str:
    """A row in a sentence: fields, bytes, kind and nulls, as far as it decodes."""
    fields = "1 field" if len(columns) == 1 else f"{len(columns)} fields"
    size = count_bytes(len(data))
    try:
        row = span.value
    except LakeError:
        row = None
    if row is None:
        return f"{fields}, {size}, damaged"
    nulls = sum(value is None for value in row)
    return join_clauses(
        fields, size, f"kind {row.kind}", f"{nulls:,} null{'s' * (nulls != 1)}" if nulls else ""
    )


def describe_entry(file: PaimonDataFile) -> str:
    """Where a file is spoken of: its entry, bucket and partition."""
    position = find_position(file.find_manifest(), file.raw)
    entry = "" if position is None else f"entry {position} of {name_file(file.manifest)}"
    bucket = "" if file.bucket is None else f"bucket {file.bucket}"
    partition = str(file.partition)
    return join_clauses(entry, f"{bucket} of {partition}" if bucket and partition else bucket or partition)


def locate_in_entry(file: PaimonDataFile, label: str, stored: bytes, store: Store) -> int | None:
    """The byte of the manifest where a value of the file's entry begins; None when it is compressed, or kept by columns."""
    position = find_position(file.find_manifest(), file.raw)
    if position is None or file.manifest is None:
        return None
    return find_value(store, file.manifest, label.split("."), stored, position)


def explain_stats(stats: SimpleStats, file: PaimonDataFile, label: str) -> Explanation:
    """The record of statistics inside its manifest entry; the two rows alone where the manifest is no Avro file."""
    manifest = file.find_manifest()
    position = find_position(manifest, file.raw)
    place = f"{label} of {file.file_name}"
    caption = Caption("SimpleStats", _count_columns(stats), place, describe_entry(file))
    if manifest is not None and position is not None:
        record = find_record(manifest.bytes_view(), position)
        field = None if record is None else find_field(record, label.split("."))
        if record is not None and field is not None:
            details = join_clauses(caption.details, record.details)
            return focus_on(record, field, Caption(caption.what, caption.summary, place, details))
    return _explain_both_rows(stats, caption, file.manifest)


def explain_bounds(bounds: ColumnBounds, file: PaimonDataFile) -> Explanation:
    """The rows of smallest and largest values: the column is one field of both."""
    stats = file.value_stats
    position = next((i for i, column in enumerate(stats.columns) if column.id == bounds.field_id), None)
    place = f"{VALUE_STATS} of {file.file_name}"
    details = join_clauses(f"{bounds.name} is field {position} of both rows", describe_entry(file))
    caption = Caption("Bounds", f"{bounds.name} {bounds.type}", place, details)
    explanation = _explain_both_rows(stats, caption, file.manifest)
    if position is not None:  # a view of many columns begins at this one's slot in the first row
        explanation.looked_at = 4 + count_null_bytes(len(stats.columns)) + 8 * position
    return explanation


def explain_list_stats(stats: SimpleStats, manifest: PaimonManifest, label: str) -> Explanation:
    """The two rows of partition statistics in a line of a manifest list."""
    place = f"{label} of {manifest.file_name}"
    caption = Caption("SimpleStats", _count_columns(stats), place, "a line of its manifest lists")
    return _explain_both_rows(stats, caption, None)


def _explain_both_rows(stats: SimpleStats, caption: Caption, path: str | None) -> Explanation:
    stored = [(name, (stats.raw or {}).get(name)) for name in _STATS_FIELDS]
    context = (("fields", stats.columns),)
    parts = [
        LabelledBytes(name, data, "binary_row", context=context) for name, data in stored if data is not None
    ]
    if not parts:
        refuse(stats, "no statistics were kept")
    return explain_parts(parts, caption, path=path)


def _count_columns(stats: SimpleStats) -> str:
    return "1 column" if len(stats) == 1 else f"{len(stats)} columns"
