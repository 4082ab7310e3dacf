"""The bytes behind the objects of a Paimon table, and what nests in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from lakelens.codecs.kinds import explain
from lakelens.codecs.paimon.binary_row import count_null_bytes
from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import LakeError
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.index import DELETION_VECTORS, PaimonIndexFile
from lakelens.formats.paimon.manifests.manifest import PaimonManifest, PaimonManifestList
from lakelens.formats.paimon.manifests.stats import VALUE_STATS, SimpleStats, StoredRow
from lakelens.formats.paimon.metadata.partitions import PaimonPartition
from lakelens.formats.paimon.metadata.schemas import PaimonSchema, require_schema
from lakelens.formats.stored import (
    Caption,
    LabelledBytes,
    count_bytes,
    describe_vector,
    explain_file,
    explain_parts,
    explain_range,
    find_child,
    find_field,
    find_record,
    find_value,
    focus_on,
    join_clauses,
    kind_of_format,
    make_explanation,
    name_file,
    read_octets,
)
from lakelens.model.bytes_view import BytesView
from lakelens.model.datafile import StatisticsFile
from lakelens.model.manifest import Entry
from lakelens.model.schema import Schema
from lakelens.model.snapshot import Ref, Snapshot
from lakelens.model.stats import ColumnBounds
from lakelens.model.table import Table

if TYPE_CHECKING:
    from lakelens.codecs.avro.record_spans import Explainer, Nested, Path


# What nests in the bytes fields of Paimon's manifests: which rows, of which columns, and file indexes.
#
#     manifest list   _PARTITION_STATS._MIN_VALUES, _MAX_VALUES        rows of the partition columns
#     manifest        _PARTITION                                       row of the partition columns
#                     _FILE._MIN_KEY, _MAX_KEY, _KEY_STATS             rows of the trimmed primary key of _SCHEMA_ID
#                     _FILE._VALUE_STATS                               rows of _VALUE_STATS_COLS, _WRITE_COLS or all
#                                                                      columns
#                     _FILE._EMBEDDED_FILE_INDEX                       a file index
#     index manifest  _PARTITION                                       row of the partition columns
#                     _GLOBAL_INDEX._INDEX_META, _SOURCE_META          first and last key; data files of the index
#
# See "Manifest" and "Index manifest" of the Paimon table specification. The rows of no fields that stand for missing keys
# and statistics are noted as such.

#: The kinds of global indexes whose files hold sorted keys.
SORTED_INDEXES = frozenset({"btree", "bitmap"})

_NO_FIELDS = bytes(4)  # the arity of a row without fields


def nested_for_metadata(context: TableContext) -> Nested:
    """The hook for `explain_avro` of any manifest list, manifest or index manifest of a table.

    Pass it as `explain(data, "avro", nested=nested_for_metadata(context))`; for one record alone as `nested` of
    "avro_record". Fields that it does not know are left to the Avro codec. Where a schema is missing, or does not have the
    columns that a file names, the hook raises `LakeError`, which the codec shows at the leaf.
    """

    def find(path: Path, record: Mapping[str, Any]) -> Explainer | None:
        match path:
            case ("_PARTITION",):
                return _make_row(context.schema.partition_columns, required=True)
            case ("_PARTITION_STATS", "_MIN_VALUES" | "_MAX_VALUES"):
                return _make_row(context.schema.partition_columns)
            case ("_FILE", "_MIN_KEY" | "_MAX_KEY") | ("_FILE", "_KEY_STATS", "_MIN_VALUES" | "_MAX_VALUES"):
                return _make_row(_find_schema(context, record).key_columns)
            case ("_FILE", "_VALUE_STATS", "_MIN_VALUES" | "_MAX_VALUES"):
                return _make_row(_find_schema(context, record).find_stats_columns(record["_FILE"]))
            case ("_FILE", "_EMBEDDED_FILE_INDEX"):
                types = list_types(context, record["_FILE"].get("_SCHEMA_ID"))
                return lambda data, start, end: explain(data, "file_index", start, end, types=types)
            case ("_GLOBAL_INDEX", "_INDEX_META"):
                # the keys of a sorted index are of the type of its column; other kinds have descriptions of their
                # own
                if record.get("_INDEX_TYPE") not in SORTED_INDEXES:
                    return _explain_index_meta
                type_ = context.schema.find_type(record["_GLOBAL_INDEX"].get("_INDEX_FIELD_ID", -1))
                return lambda data, start, end: explain(data, "index_meta", start, end, type=type_)
            case ("_GLOBAL_INDEX", "_SOURCE_META"):
                return lambda data, start, end: explain(data, "source_meta", start, end)
        return None

    return find


def list_types(context: TableContext, schema_id: int | None) -> dict[str, PaimonType]:
    """List the types of a schema's columns, which values in bitmap indexes need; none where the schema is missing."""
    schema = context.schemas.find(schema_id or 0)
    return {} if schema is None else {column.name: column.type for column in schema.columns}


def _find_schema(context: TableContext, record: Mapping[str, Any]) -> PaimonSchema:
    number = record["_FILE"].get("_SCHEMA_ID") or 0
    return require_schema(context.schemas.find(number), number, "")


def _make_row(columns: Sequence[PaimonField], *, required: bool = False) -> Explainer:
    """Explains a row of these columns, or, unless they are required, the row without fields that says there is none."""

    def explain_row(data: Octets, start: int, end: int) -> Span:
        arity = bytes(data[start : start + 4]) if end - start >= 4 else bytes(data[start:end])
        if not arity:
            return Span(start, end, "BinaryRow", None, "no bytes: nothing was kept")
        if arity == _NO_FIELDS and columns and not required:
            span = explain(data, "binary_row", start, end, fields=())
            span.note = "a row without fields: nothing was kept"
            return span
        return explain(data, "binary_row", start, end, fields=columns)

    return explain_row


def _explain_index_meta(data: Octets, start: int, end: int) -> Span:
    note = "the index type's own description, of no specified layout"
    return Span(start, end, "bytes", bytes(data[start:end]), note, role="unexplained")


# The bytes behind the objects of a Paimon table: documents, manifests and the rows in them, data and index files.

Holder = PaimonDataFile | PaimonManifest

_EMBEDDED = "_FILE._EMBEDDED_FILE_INDEX"
_LIST_LINE = "a line of its manifest lists"
_INDEX_KINDS = {
    "HASH": "hash_index",
    DELETION_VECTORS: "paimon_dv_index",
    "btree": "global_index",
    "bitmap": "global_index",
}


@singledispatch
def explain_object(thing: Any, context: TableContext, *needs: Any) -> BytesView:
    """The bytes of an object of a table, by its class; `needs` is what finding them takes beside the object."""
    raise LakeError(f"no bytes belong to this {type(thing).__name__}", path=context.layout.root)


@explain_object.register(Table)
def _explain_table(table: Table, context: TableContext) -> BytesView:
    """The two documents that say what the table is now: the current snapshot and today's schema."""
    store, root = context.store, table.location
    found = (table.current.path if table.current is not None else None, context.schema.path)
    paths = [path for path in found if path]
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


@explain_object.register(Snapshot)
def _explain_snapshot(
    snapshot: Snapshot, context: TableContext, index_manifest: str | None = None
) -> BytesView:
    """The document of a snapshot, a tag or a long-lived changelog; or the index manifest that it names."""
    if index_manifest is not None:
        return _explain_container(context, index_manifest, "Index manifest")
    details = join_clauses(f"snapshot {snapshot.id}", snapshot.operation)
    return _explain_document(context, snapshot.path, "Snapshot document", details)


@explain_object.register(Schema)
def _explain_schema(schema: Schema, context: TableContext) -> BytesView:
    return _explain_document(context, getattr(schema, "path", None), "Schema document", f"schema {schema.id}")


@explain_object.register(Ref)
def _explain_ref(ref: Ref, context: TableContext) -> BytesView:
    """The document of a tag, which is a copy of its snapshot's."""
    if ref.type == "branch":
        hint = f"table.branch({ref.name!r}).current.bytes_view() shows its latest snapshot"
        raise LakeError("a branch is a folder and has no bytes of its own", hint=hint)
    details = f"tag {ref.name} of snapshot {ref.snapshot_id}"
    return _explain_document(context, ref.path, "Tag document", details)


@explain_object.register(StatisticsFile)
def _explain_statistics(statistics: StatisticsFile, context: TableContext) -> BytesView:
    """The document that ANALYZE wrote."""
    details = f"statistics of snapshot {statistics.snapshot_id}"
    return _explain_document(context, statistics.path, "Statistics document", details)


def _explain_document(context: TableContext, path: str | None, what: str, details: str) -> BytesView:
    assert path is not None
    data = read_octets(context.store, path)
    caption = Caption(what, f"JSON, {count_bytes(len(data))}", name_file(path), details)
    return make_explanation(data, explain(data, "json"), caption, path=path, base=0)


@explain_object.register(PaimonManifestList)
def _explain_manifest_list(listed: PaimonManifestList, context: TableContext) -> BytesView:
    return _explain_container(context, listed.path, "Manifest list", f"role {listed.role}")


@explain_object.register(PaimonManifest)
def _explain_manifest(manifest: PaimonManifest, context: TableContext) -> BytesView:
    counts = f"{manifest.num_added_files} added, {manifest.num_deleted_files} deleted"
    return _explain_container(context, manifest.path, "Manifest", counts)


def _explain_container(context: TableContext, path: str, what: str, details: str = "") -> BytesView:
    """Explain a file of records; the rows inside of Avro records are explained too."""
    caption = Caption(what, place=name_file(path), details=details)
    return explain_file(context.store, path, "avro", caption, nested=nested_for_metadata(context))


@explain_object.register(Entry)
def _explain_entry(entry: Entry, context: TableContext) -> BytesView:
    """The record of an entry inside its block; all of the manifest where entries have no bytes of their own.

    ORC and Parquet keep a manifest by columns: an entry is spread over all of them.
    """
    file = entry.file
    assert isinstance(file, PaimonDataFile)
    whole = _explain_manifest(file.source_manifest, context)
    place = f"{entry.status} {name_file(file.recorded_path)}"
    record = find_record(whole, file.position)
    if record is None:
        details = f"one row of {name_file(file.manifest)}, whose rows are kept by columns"
        return focus_on(whole, whole, Caption("Manifest", whole.summary, place, details))
    details = join_clauses(f"entry {file.position} of {name_file(file.manifest)}", record.details)
    return focus_on(record, record, Caption("Manifest entry", place=place, details=details))


@explain_object.register(StoredRow)
def _explain_stored_row(row: StoredRow, context: TableContext, holder: Holder) -> BytesView:
    """A row of a manifest or a manifest list: a key of a file, or the minimum or maximum of some columns."""
    place = f"{row.label} of {holder.file_name}"
    if isinstance(holder, PaimonManifest):
        return _explain_row(row.stored, row.columns, place, _LIST_LINE, None, None)
    base = _locate_in_entry(holder, row.label, row.stored, context)
    return _explain_row(row.stored, row.columns, place, describe_entry(holder), holder.manifest, base)


@explain_object.register(PaimonPartition)
def _explain_partition(partition: PaimonPartition, context: TableContext, path: str) -> BytesView:
    """The row of a partition, in the first manifest that named it."""
    details = f"partition {partition}" if len(partition) else "no partition"
    base = find_value(context.store, path, ("_PARTITION",), partition.stored)
    place = f"_PARTITION in {name_file(path)}"
    return _explain_row(partition.stored, partition.columns, place, details, path, base)


def _explain_row(
    data: bytes, columns: Sequence[Any], place: str, details: str, path: str | None, base: int | None
) -> BytesView:
    span = explain(data, "binary_row", fields=columns)
    caption = Caption("BinaryRow", describe_row(data, columns, span), place, details)
    explanation = make_explanation(data, span, caption, path=path, base=base)
    explanation.explain_again = lambda other: explain(other, "binary_row", fields=columns)
    return explanation


def describe_row(data: bytes, columns: Sequence[Any], span: Any) -> str:
    """Describe a row in a sentence: fields, bytes, kind and nulls, as far as it decodes."""
    fields, size = _count_noun(len(columns), "field"), count_bytes(len(data))
    try:
        row = span.value
    except LakeError:
        row = None
    if row is None:
        return f"{fields}, {size}, damaged"
    nulls = sum(value is None for value in row)
    return join_clauses(fields, size, f"kind {row.kind}", _count_noun(nulls, "null") if nulls else "")


def _count_noun(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def describe_entry(file: PaimonDataFile) -> str:
    """Describe where a file is recorded: its entry, bucket and partition."""
    entry = f"entry {file.position} of {name_file(file.manifest)}"
    return join_clauses(entry, _describe_bucket(file.bucket, str(file.partition)))


def _describe_bucket(number: int | None, partition: str) -> str:
    bucket = "" if number is None else f"bucket {number}"
    return f"{bucket} of {partition}" if bucket and partition else bucket or partition


def _locate_in_entry(file: PaimonDataFile, label: str, stored: bytes, context: TableContext) -> int | None:
    """The byte of the manifest where a value of the file's entry begins; None when compressed, or kept by columns."""
    return find_value(context.store, file.source_manifest.path, label.split("."), stored, file.position)


@explain_object.register(SimpleStats)
def _explain_stats(stats: SimpleStats, context: TableContext, holder: Holder) -> BytesView:
    """The record of statistics inside its entry; the two rows alone in a manifest list, or where it is no Avro file."""
    place, columns = f"{stats.label} of {holder.file_name}", _count_noun(len(stats), "column")
    if isinstance(holder, PaimonManifest):
        return _explain_both_rows(stats, Caption("SimpleStats", columns, place, _LIST_LINE), None)
    details = describe_entry(holder)
    record = find_record(_explain_manifest(holder.source_manifest, context), holder.position)
    field = None if record is None else find_field(record, stats.label.split("."))
    if record is None or field is None:
        return _explain_both_rows(stats, Caption("SimpleStats", columns, place, details), holder.manifest)
    details = join_clauses(details, record.details)
    return focus_on(record, field, Caption("SimpleStats", columns, place, details))


@explain_object.register(ColumnBounds)
def _explain_bounds(bounds: ColumnBounds, _: TableContext, file: PaimonDataFile) -> BytesView:
    """The rows of smallest and largest values: the column is one field of both."""
    stats = file.value_stats
    position = next((i for i, column in enumerate(stats.columns) if column.id == bounds.field_id), None)
    if position is None:
        raise LakeError("no bytes of this column are stored: it was added after the file was written")
    details = join_clauses(f"{bounds.name} is field {position} of both rows", describe_entry(file))
    caption = Caption("Bounds", f"{bounds.name} {bounds.type}", f"{VALUE_STATS} of {file.file_name}", details)
    explanation = _explain_both_rows(stats, caption, file.manifest)
    # a view of many columns begins at this one's slot in the first row
    explanation.looked_at = 4 + count_null_bytes(len(stats.columns)) + 8 * position
    return explanation


def _explain_both_rows(stats: SimpleStats, caption: Caption, path: str | None) -> BytesView:
    stored = [(name, stats.raw.get(name)) for name in ("_MIN_VALUES", "_MAX_VALUES")]
    context = (("fields", stats.columns),)
    parts = [
        LabelledBytes(name, data, "binary_row", context=context) for name, data in stored if data is not None
    ]
    if not parts:
        raise LakeError("no statistics were kept")
    return explain_parts(parts, caption, path=path)


@explain_object.register(PaimonDataFile)
def _explain_data_file(file: PaimonDataFile, context: TableContext, part: str = "") -> BytesView:
    """The stored file, by its own magic; as `part` "index" the index over its columns."""
    if part == "index":
        return _explain_file_index(file, context)
    caption = Caption(place=name_file(file.path), details=describe_entry(file))
    return explain_file(context.store, file.path, kind_of_format(file.file_format), caption)


def _explain_file_index(file: PaimonDataFile, context: TableContext) -> BytesView:
    """Explain the index of a data file: embedded in its manifest entry, or a file of its own beside it."""
    data, types = file.embedded_file_index, list_types(context, file.schema_id)
    if data is not None:
        place = f"{_EMBEDDED} of {file.file_name}"
        caption = Caption("File index", count_bytes(len(data)), place, describe_entry(file))
        base = _locate_in_entry(file, _EMBEDDED, data, context)
        span = explain(data, "file_index", types=types)
        return make_explanation(data, span, caption, path=file.manifest, base=base)
    name = next((name for name in file.extra_files if name.endswith(".index")), None)
    if name is None:
        hint = "bytes_view() shows the file itself"
        raise LakeError("the data file has no file index", path=file.path, hint=hint)
    path = f"{file.path.rpartition('/')[0]}/{name}"
    caption = Caption("File index", place=name, details=f"beside {file.file_name}")
    return explain_file(context.store, path, "file_index", caption, types=types)


@explain_object.register(PaimonIndexFile)
def _explain_index_file(
    file: PaimonIndexFile, context: TableContext, vector: Mapping[str, Any] | None = None
) -> BytesView:
    """The stored index file, or one of the deletion vectors in it, by its line in `ranges`."""
    kind = "global_index" if file.global_index is not None else _INDEX_KINDS.get(file.index_type, "")
    more: dict[str, Any] = {"ranges": file.ranges} if kind == "paimon_dv_index" else {}
    if kind == "global_index":
        more["type"] = context.schema.find_type((file.global_index or {}).get("index_field_id", -1))
    bucket = _describe_bucket(file.bucket, "" if file.partition is None else str(file.partition))
    details = join_clauses(bucket, f"named by {name_file(file.manifest)}" if file.manifest else "")
    caption = Caption(f"Index file {file.index_type}", place=name_file(file.path), details=details)
    whole = explain_file(context.store, file.path, kind, caption, **more)
    if vector is None:
        return whole
    offset, length = vector["offset"], vector["length"]
    caption = describe_vector(vector, f"of {vector['data_file']}", file.path, details)
    span = find_child(whole, offset)
    if span is None:
        return explain_range(whole.data, "deletion_vector", offset, length, caption, path=file.path)
    return focus_on(whole, span, caption)
