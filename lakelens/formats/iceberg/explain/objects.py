"""The bytes behind the objects of an Iceberg table: its metadata document and places in it, manifests, bounds, files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import IO, Any, cast

from lakelens.codecs.avro.container import decode_header
from lakelens.codecs.kinds import explain
from lakelens.codecs.parquet.footer import decode_footer
from lakelens.codecs.span.span import Octets, OctetsFile
from lakelens.codecs.text.json_spans import find_json
from lakelens.errors import LakeError
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.explain.nested import ManifestColumns, nested_for_metadata
from lakelens.formats.iceberg.manifests.containers import is_parquet, make_header
from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.formats.iceberg.manifests.manifest_list import IcebergManifestList
from lakelens.formats.iceberg.metadata.document import decompress_document
from lakelens.formats.stored import (
    Caption,
    LabelledBytes,
    count_bytes,
    describe_vector,
    explain_file,
    explain_octets,
    explain_parts,
    explain_range,
    find_record,
    focus_on,
    join_clauses,
    kind_of_format,
    make_explanation,
    name_file,
    read_octets,
)
from lakelens.model.bytes_view import BytesView
from lakelens.model.datafile import IndexFile, StatisticsFile
from lakelens.model.manifest import Entry
from lakelens.model.schema import PartitionSpec, Schema, SortOrder
from lakelens.model.snapshot import Ref, Snapshot
from lakelens.model.stats import ColumnBounds
from lakelens.model.storage import MetadataLogEntry
from lakelens.model.table import Table

Steps = tuple[str | int, ...]


@singledispatch
def explain_object(thing: Any, context: TableContext, *needs: Any) -> BytesView:
    """The bytes of an object of a table, by its class; `needs` are other objects that its bytes are found through."""
    raise LakeError(f"no bytes belong to this {type(thing).__name__}", path=context.document.path)


@explain_object.register(Table)
def _explain_metadata(_: Table, context: TableContext) -> BytesView:
    """The metadata document as stored; of a compressed one also what it decompresses to."""
    path, typed = context.document.path, context.typed
    details = join_clauses(
        f"format version {typed.format_version}", f"table {typed.table_uuid or 'without uuid'}"
    )
    caption = Caption("Table metadata", place=name_file(path), details=details)
    return explain_file(context.access.store, path, "json", caption)


@explain_object.register(MetadataLogEntry)
def _explain_log_entry(entry: MetadataLogEntry, context: TableContext) -> BytesView:
    """The earlier metadata document that the log names. Raises `Missing` when it is gone."""
    path, _ = context.access.find_recorded(entry.recorded_path)
    caption = Caption(
        "Table metadata", place=name_file(path), details=f"an earlier version, {entry.timestamp:%F %T}"
    )
    return explain_file(context.access.store, path, "json", caption)


@explain_object.register(Snapshot)
def _explain_snapshot(snapshot: Snapshot, context: TableContext) -> BytesView:
    """The snapshot's object in the metadata document."""
    steps = _find_snapshot(snapshot.id, snapshot.raw, context)
    return _explain_place(context, steps, "Snapshot", f"snapshot {snapshot.id}")


def _find_snapshot(snapshot_id: int | None, raw: Any, context: TableContext) -> Steps:
    """Find where the object of an id is stored; of several with one id the one that was read."""
    stored = list(context.document.snapshots.list_stored(snapshot_id or 0))
    same = (index for index in stored if raw is None or context.document.decode_snapshot(index) == raw)
    return ("snapshots", next(same, len(context.document.snapshots)))


# list and id key in the document, the key of version 1's only one, the noun
_NUMBERED: dict[type, tuple[str, str, str, str]] = {
    Schema: ("schemas", "schema-id", "schema", "Schema"),
    PartitionSpec: ("partition-specs", "spec-id", "partition-spec", "Partition spec"),
    SortOrder: ("sort-orders", "order-id", "sort-order", "Sort order"),
}


@explain_object.register(Schema)
@explain_object.register(PartitionSpec)
@explain_object.register(SortOrder)
def _explain_numbered(thing: Schema | PartitionSpec | SortOrder, context: TableContext) -> BytesView:
    """The object of an id in the metadata document: in its list, or where version 1 keeps the only one."""
    key, id_key, single, noun = _NUMBERED[type(thing)]
    listed = context.document.outline.get(key)
    steps: Steps = (single,)
    for index, raw in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(raw, Mapping) and raw.get(id_key, thing.id) == thing.id:
            steps = (key, index)
            break
    number = f"spec {thing.id}" if isinstance(thing, PartitionSpec) else f"{noun.lower()} {thing.id}"
    return _explain_place(context, steps, noun, number)


@explain_object.register(Ref)
def _explain_ref(ref: Ref, context: TableContext) -> BytesView:
    """The branch or tag in the metadata document; `main` of a document without refs is its `current-snapshot-id`."""
    refs = context.document.outline.get("refs")
    known = isinstance(refs, Mapping) and ref.name in refs
    steps: Steps = ("refs", ref.name) if known else ("current-snapshot-id",)
    return _explain_place(context, steps, "Reference", f"{ref.type} {ref.name}")


def _explain_place(context: TableContext, steps: Steps, what: str, details: str) -> BytesView:
    """Explain the value at a place of the metadata document: in the file, or in what it decompresses to.

    All of the document where it cannot be found: it was damaged after the table was opened.
    """
    store, path = context.access.store, context.document.path
    data = read_octets(store, path)
    try:
        stored = bytes(data[:])
        content = decompress_document(stored, path)
        packed = content is not stored
        document = make_explanation(
            content, explain(content, "json"), Caption(), path=path, base=None if packed else 0
        )
        span = find_json(document, steps)
    except (KeyError, LakeError):
        where = ".".join(map(str, steps))
        caption = Caption(what, place=name_file(path), details=f"{details} is not at {where} any more")
        return explain_file(store, path, "json", caption)
    caption = Caption(
        what,
        f"JSON, {count_bytes(len(span))}",
        f"{span.note} of {name_file(path)}",
        join_clauses(details, "in the decompressed document" if packed else ""),
    )
    return focus_on(document, span, caption)


@explain_object.register(IcebergManifestList)
def _explain_manifest_list(listed: IcebergManifestList, context: TableContext) -> BytesView:
    """The file of the list; the `manifests` of the snapshot where version 1 names them itself."""
    if listed.recorded_path is None:
        steps = (*_find_snapshot(listed.snapshot_id, None, context), "manifests")
        return _explain_place(context, steps, "Manifest list", f"inline, snapshot {listed.snapshot_id}")
    details = f"of snapshot {listed.snapshot_id}"
    return _explain_records(context, listed.recorded_path, "Manifest list", details)


@explain_object.register(IcebergManifest)
def _explain_manifest(manifest: IcebergManifest, context: TableContext) -> BytesView:
    """The manifest file."""
    counts = (
        (manifest.added_files_count, "added"),
        (manifest.existing_files_count, "existing"),
        (manifest.deleted_files_count, "deleted"),
    )
    details = join_clauses(
        manifest.content, *(f"{count:,} {word}" for count, word in counts if count is not None)
    )
    return _explain_records(context, manifest.recorded_path, "Manifest", details)


def _explain_records(context: TableContext, recorded: str, what: str, details: str) -> BytesView:
    path, _ = context.access.find_recorded(recorded)
    caption = Caption(what, place=name_file(path), details=details)
    data = read_octets(context.access.store, path)
    kind = "parquet" if is_parquet(bytes(data[:4])) else "avro"
    return explain_octets(data, path, kind, caption, nested=_make_hook(data, path, kind, context))


def _make_hook(data: Octets, path: str, kind: str, context: TableContext) -> Any:
    """Make the hook that names bounds and the types of their columns, by the file's own header if it has one."""
    try:
        if kind == "parquet":
            footer = decode_footer(cast("IO[bytes]", OctetsFile(data, 0, len(data))), path)
            return ManifestColumns(context, make_header(footer, path), data, path).find
        return nested_for_metadata(context, decode_header(data))  # type: ignore[arg-type]
    except LakeError:
        return None if kind == "parquet" else nested_for_metadata(context)


@explain_object.register(Entry)
def _explain_entry(entry: Entry, context: TableContext, manifest: IcebergManifest) -> BytesView:
    """The record of an entry inside its block; all of the manifest where it cannot be reached, and of Parquet columns."""
    whole = _explain_manifest(manifest, context)
    place = f"{entry.status} {name_file(entry.file.recorded_path)}"
    position = entry.file.position if isinstance(entry.file, IcebergDataFile) else None
    record = None if position is None else find_record(whole, position)
    if record is None:
        return focus_on(whole, whole, Caption("Manifest", whole.summary, place))
    details = join_clauses(f"entry {position} of {name_file(manifest.path)}", record.details)
    return focus_on(record, record, Caption("Manifest entry", place=place, details=details))


@explain_object.register(IcebergDataFile)
def _explain_data_file(file: IcebergDataFile, context: TableContext) -> BytesView:
    """The stored file; of a deletion vector its blob, at its place in the Puffin file."""
    path, _ = context.access.find_recorded(file.recorded_path)
    store, details = context.access.store, _describe_entry(file)
    if file.content != "deletion_vector":
        caption = Caption(place=name_file(path), details=details)
        return explain_file(store, path, kind_of_format(file.file_format), caption)
    start, length = file.content_offset, file.content_size_in_bytes
    vector = {"offset": start, "cardinality": file.record_count}
    caption = describe_vector(vector, f"of {name_file(file.referenced_data_file)}", path, details)
    data = read_octets(store, path)
    return explain_range(data, "deletion_vector", start, length, caption, path=path, iceberg=True)


def _describe_entry(file: IcebergDataFile) -> str:
    """Describe where a file is recorded: its entry and partition."""
    entry = "" if file.position is None else f"entry {file.position} of {name_file(file.manifest)}"
    return join_clauses(entry, str(file.partition))


@explain_object.register(ColumnBounds)
def _explain_bounds(bounds: ColumnBounds, context: TableContext, file: IcebergDataFile) -> BytesView:
    """The stored bytes of the lower and the upper bound, each as a value of the column's type."""
    stored = (("lower_bounds", bounds.lower_raw), ("upper_bounds", bounds.upper_raw))
    parts = []
    for name, data in stored:
        if data is not None:
            kind: Any = context.columns.find(bounds.field_id or 0).iceberg_type
            if kind.name == "fixed" and len(data) != kind.length:
                kind = "binary"  # shortened by the writer, as strings are
            parts.append(LabelledBytes(name, bytes(data), "iceberg_value", context=(("type", kind),)))
    if not parts:
        raise LakeError(f"no bounds of column {bounds.name} are stored", path=file.manifest)
    caption = Caption(
        "Bounds",
        f"{bounds.name} {bounds.type}, field id {bounds.field_id}",
        f"{' and '.join(f'data_file.{part.label}' for part in parts)} of {name_file(file.recorded_path)}",
        _describe_entry(file),
    )
    return explain_parts(parts, caption, path=file.manifest)


@explain_object.register(IndexFile)
def _explain_index_file(
    file: IndexFile, context: TableContext, vector: Mapping[str, Any] | None = None
) -> BytesView:
    """The Puffin file, or one of the deletion vectors in it, by its line in `ranges`."""
    path, _ = context.access.find_recorded(file.recorded_path)
    if vector is None:
        caption = Caption(f"Puffin file {file.index_type}", place=name_file(path))
        return explain_file(context.access.store, path, "puffin", caption)
    caption = describe_vector(vector, f"of {name_file(vector['data_file'])}", path)
    data = read_octets(context.access.store, path)
    start, length = vector["offset"], vector["length"]
    return explain_range(data, "deletion_vector", start, length, caption, path=path, iceberg=True)


@explain_object.register(StatisticsFile)
def _explain_statistics(statistics: StatisticsFile, context: TableContext) -> BytesView:
    """The statistics file: Puffin for those of the table; those of partitions are a file of rows."""
    path, _ = context.access.find_recorded(statistics.recorded_path)
    kind = "puffin" if statistics.kind == "table" else kind_of_format(path.rpartition(".")[2].lower())
    details = f"{statistics.kind} statistics of snapshot {statistics.snapshot_id}"
    caption = Caption(place=name_file(path), details=details)
    return explain_file(context.access.store, path, kind, caption)
