"""What nests in the bytes fields of Paimon's manifests: which rows, of which columns, and file indexes.

    manifest list   _PARTITION_STATS._MIN_VALUES, _MAX_VALUES        rows of the partition columns
    manifest        _PARTITION                                       row of the partition columns
                    _FILE._MIN_KEY, _MAX_KEY, _KEY_STATS             rows of the trimmed primary key of _SCHEMA_ID
                    _FILE._VALUE_STATS                               rows of _VALUE_STATS_COLS, _WRITE_COLS or all columns
                    _FILE._EMBEDDED_FILE_INDEX                       a file index
    index manifest  _PARTITION                                       row of the partition columns
                    _GLOBAL_INDEX._INDEX_META, _SOURCE_META          first and last key; data files of the index

See "Manifest" and "Index manifest" of the Paimon table specification. The rows of no fields that stand for missing keys and
statistics are noted as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.codecs.kinds import explain
from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.codecs.span.span import Octets, Span
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.metadata.schema import PaimonSchema, require_schema

if TYPE_CHECKING:
    from lakelens.codecs.avro.record_spans import Explainer, Nested, Path

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
                return _make_index_meta(context, record)
            case ("_GLOBAL_INDEX", "_SOURCE_META"):
                return lambda data, start, end: explain(data, "source_meta", start, end)
        return None

    return find


def list_types(context: TableContext, schema_id: int | None) -> dict[str, PaimonType]:
    """The types of a schema's columns, which values in bitmap indexes need; none where the schema is missing."""
    schema = context.schemas.find(schema_id or 0)
    return {} if schema is None else {column.name: column.type for column in schema.columns}


def _find_schema(context: TableContext, record: Mapping[str, Any]) -> PaimonSchema:
    number = record["_FILE"].get("_SCHEMA_ID") or 0
    return require_schema(context.schemas.find(number), number, "")


def _make_index_meta(context: TableContext, record: Mapping[str, Any]) -> Explainer:
    """The keys of a sorted index, of the type of its column; other kinds have descriptions of their own."""
    if record.get("_INDEX_TYPE") not in SORTED_INDEXES:
        return _explain_index_meta
    type_ = context.schema.find_type(record["_GLOBAL_INDEX"].get("_INDEX_FIELD_ID", -1))
    return lambda data, start, end: explain(data, "index_meta", start, end, type=type_)


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
