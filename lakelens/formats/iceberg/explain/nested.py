"""What nests in the bytes fields of Iceberg's manifests and manifest lists: single values of which types.

    manifest list   partitions[i].lower_bound, upper_bound   result type of field i of the line's partition spec
    manifest        data_file.lower_bounds, upper_bounds     type of the column whose id is the key
                    data_file.partition.*                    result type of the field of that id
    both            key_metadata                             the key provider's own

Fields are recognised by the ids in the Avro schema, else by name. A column has today's type, as in the model's bounds, where
the table has the column; else the type in the schema of the manifest's own header. Values written before a type was
promoted are recognised by their width.

Follows "Manifests", "Manifest Lists" and appendix D of the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lakelens.caching import cached_property
from lakelens.codecs.iceberg.types import IcebergType, parse_struct, parse_type_text
from lakelens.codecs.kinds import explain
from lakelens.codecs.parquet.pages import Meaning
from lakelens.codecs.parquet.structure import SchemaLeaf
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import LakeError
from lakelens.formats.iceberg.manifests.containers import DRAFT_FIELDS, Header, ParquetHeader, iterate_tables
from lakelens.formats.iceberg.manifests.header import describe_header, read_number
from lakelens.formats.iceberg.manifests.records import ENTRY_FIELDS, FILE_FIELDS, find_field, unwrap
from lakelens.formats.iceberg.metadata.columns import ColumnIndex
from lakelens.formats.iceberg.metadata.partitions import PartitionColumn, SpecBook
from lakelens.formats.iceberg.metadata.schemas import describe_spec
from lakelens.formats.iceberg.metadata.wire import WirePartitionField

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.avro.record_spans import Explainer, Nested, Path
    from lakelens.formats.iceberg.context import TableContext


_BOUNDS = {125: "lower_bounds", 128: "upper_bounds"}
_SUMMARY_BOUNDS = {510: "lower_bound", 511: "upper_bound"}
_BINARY = parse_type_text("binary")


def nested_for_metadata(context: TableContext | None, header: Header | None = None) -> Nested:
    """The hook for `explain_avro` of any manifest list or manifest.

    Pass it as `explain(data, "avro", nested=nested_for_metadata(context, decode_header(data)))`. The header gives fields
    their ids, and brings the schema and partition spec that the manifest was written with; without one fields are found
    by their names in the specification, and only the table's own schemas and specs are known. Without a table (`context` is
    None) the bounds of a manifest are explained by its header alone; those in a manifest list are not.

    >>> hook = nested_for_metadata(None)
    >>> line = {"partition_spec_id": 0, "partitions": [{"lower_bound": b"a"}]}
    >>> hook(("partitions", 0, "lower_bound"), line)(b"a", 0, 1).note
    'partition spec 0 is not known here'
    """
    return MetadataHook(context, header).find


class FileFields(NamedTuple):
    """What the data file of an entry is called in a file, and its fields by their specified names."""

    file: str
    by_name: Mapping[str, str]


class _Names:
    """What the fields are called in a file: the names in its Avro schema by id, the specification's where it has no id."""

    def __init__(self, header: Header | None) -> None:
        record = header.record if header is not None else {}
        file_field = find_field(record, 2, "data_file") or {"name": "data_file"}
        file = unwrap(file_field.get("type"), "record")
        self.file: str = file_field["name"]
        self.bounds = {_name(file, number, name) for number, name in _BOUNDS.items()}
        self.partition = _name(file, 102, "partition")
        self.keys = {_name(file, 131, "key_metadata"), _name(record, 519, "key_metadata")}
        fields = unwrap((find_field(file, 102, "partition") or {}).get("type"), "record").get("fields", ())
        self.partition_ids = {field["name"]: field.get("field-id") for field in fields}
        self.spec_id = _name(record, 502, "partition_spec_id")
        summaries = find_field(record, 507, "partitions") or {"name": "partitions"}
        summary = unwrap(unwrap(summaries.get("type"), "array").get("items"), "record")
        self.summaries: str = summaries["name"]
        self.summary_bounds = {_name(summary, number, name) for number, name in _SUMMARY_BOUNDS.items()}


def _name(record: Mapping[str, Any], number: int, name: str) -> str:
    found = find_field(record, number, name)
    return str(found["name"]) if found is not None else name


class MetadataHook:
    """Finds who explains a field, by its path."""

    def __init__(self, context: TableContext | None, header: Header | None) -> None:
        self._context = context
        self._header = header
        self._names = _Names(header)

    def find(self, path: Path, record: Mapping[str, Any]) -> Explainer | None:
        """Find the explainer of a field of a record; None for fields that hold no value of a type."""
        names = self._names
        if path[-1] in names.keys and len(path) <= 2:
            return _leave("key metadata, in the key provider's own layout", "unexplained")
        match path:
            case (file, bounds, *place) if file == names.file and bounds in names.bounds:
                column_id = _find_key(record[names.file][bounds], place)
                column = self._columns.find(column_id)
                if column.name == f"#{column_id}":
                    return _leave(f"column {column_id} is in no schema that is known here")
                return _make_value(column.iceberg_type, f"column {column_id}, {column.name}")
            case (file, partition, str(name)) if file == names.file and partition == names.partition:
                return self._explain_partition(name)
            case (summaries, int(index), bound) if (
                summaries == names.summaries and bound in names.summary_bounds
            ):
                spec_id = record.get(names.spec_id)
                columns = self._find_spec(spec_id)
                if columns is None:
                    return _leave(f"partition spec {spec_id} is not known here")
                if index >= len(columns):
                    return _leave(f"partition spec {spec_id} has only {len(columns)} fields")
                return _explain_partition_value(columns[index])
        return None

    @cached_property
    def _structs(self) -> list[IcebergType]:
        """Every schema that is known, today's first."""
        structs = self._context.schemas.newest_first() if self._context is not None else []
        schema = self._metadata.get("schema")
        return [*structs, parse_struct(schema, "schema")] if isinstance(schema, dict) else list(structs)

    @cached_property
    def _metadata(self) -> Mapping[str, Any]:
        described: dict[str, Any] = {} if self._header is None else dict(describe_header(self._header))
        metadata: Mapping[str, Any] = described.get("metadata", {})
        return metadata

    @cached_property
    def _columns(self) -> ColumnIndex:
        return ColumnIndex(self._structs)

    def describe_partition(self, number: int) -> str:
        """Describe the partition field of an id in words."""
        columns = self._find_spec(self._spec_id) or ()
        shown = next((column.shown for column in columns if column.field_id == number), None)
        return f"partition field {number}" + ("" if shown is None else f", {shown}")

    def name_column(self, column_id: int) -> str:
        """Name a column in words."""
        name = self._columns.find(column_id).name
        return f"column {column_id}" + ("" if name == f"#{column_id}" else f", {name}")

    def find_type(self, column_id: int) -> IcebergType | None:
        """Find the type of a column; None where it is in no schema that is known here."""
        column = self._columns.find(column_id)
        return None if column.name == f"#{column_id}" else column.iceberg_type

    def find_file_fields(self) -> FileFields:
        """Find what the data file of an entry, and its fields, are called in the file."""
        record = {} if self._header is None else self._header.record
        file = unwrap((find_field(record, 2, "data_file") or {}).get("type"), "record")
        names = {}
        for number, name in FILE_FIELDS.items():
            found = find_field(file, number, name)
            if found is not None:
                names[name] = str(found["name"])
        return FileFields(self._names.file, names)

    def explain_value(self, kind: IcebergType | None, words: str) -> Explainer:
        """Explains a single value of a type, or leaves it as bytes where there is none."""
        return _leave(words) if kind is None else _make_value(kind, words)

    def _explain_partition(self, name: str) -> Explainer:
        columns = self._find_spec(self._spec_id)
        if columns is None and self._spec_id is None and self._context is not None:
            columns = (
                self._context.specs.unified
            )  # without a header the spec is unknown: fields of all specs, by name
        if columns is None:
            return _leave(f"partition spec {self._spec_id} is not known here")
        number = self._names.partition_ids.get(name)
        for column in columns:
            if column.field_id == number or (number is None and column.name == name):
                return _explain_partition_value(column)
        return _leave(f"partition spec {self._spec_id} has no field {name}")

    @cached_property
    def _spec_id(self) -> int | None:
        return None if self._header is None else read_number(self._header, "partition-spec-id")

    def _find_spec(self, spec_id: Any) -> Sequence[PartitionColumn] | None:
        """Find the fields of a spec: the table's, else those in the manifest's header."""
        known = self._context.specs.columns(spec_id) if self._context is not None else None
        if known is not None or spec_id != self._spec_id or self._header is None:
            return known
        try:
            fields = msgspec.convert(self._metadata.get("partition-spec"), list[WirePartitionField])
        except msgspec.ValidationError:
            return None
        number = spec_id or 0
        return SpecBook({number: describe_spec(number, fields, self._structs)}, self._structs).columns(number)


def join_words(words: Sequence[str], most: int) -> str:
    """Join some of many, and how many more there are.

    >>> join_words(["a", "b", "c"], 2)
    'a; b; 1 more'
    """
    more = [f"{len(words) - most:,} more"] if len(words) > most else []
    return "; ".join([*words[:most], *more])


def _find_key(stored: Any, place: Sequence[str | int]) -> int:
    """Find the column id that is the key of a value, in an array of pairs or in a map. Raises `LakeError`."""
    try:
        if isinstance(stored, Mapping):
            return int(place[0])
        return int(stored[place[0]]["key"])
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise LakeError("a bound without a column id") from error


def _explain_partition_value(column: PartitionColumn) -> Explainer:
    words = f"partition field {column.field_id}, {column.shown}"
    return (
        _leave(f"{words}, of a type that is not known")
        if column.result is None
        else _make_value(column.result, words)
    )


def _make_value(kind: IcebergType, words: str) -> Explainer:
    """Explains a single value; a fixed of another length was shortened by its writer, as texts are."""

    def explain_value(data: Octets, start: int, end: int) -> Span:
        type_ = _BINARY if kind.name == "fixed" and kind.length != end - start else kind
        span = explain(data, "iceberg_value", start, end, type=type_)
        span.note = f"{words}: {span.note}" if span.note else words
        return span

    return explain_value


def _leave(note: str, role: Any = "") -> Explainer:
    """One leaf, with the reason."""
    return lambda data, start, end: Span(start, end, "bytes", bytes(data[start:end]), note, role=role)


# What the columns of a Parquet manifest mean: the specified field of each, and the typed values of bounds.
#
#     data_file.lower_bounds.key_value.key      126   column ids
#     data_file.lower_bounds.key_value.value    127   bounds: a value belongs to the columns whose id is beside it
#     data_file.partition.*                     the id of the partition field
#
# A Parquet file keeps keys and values of a map apart, and equal values once. Which columns a bound belongs to is therefore
# found by its bytes: all those that have it in some entry of this manifest.
#
# Follows "Manifests" and appendix D of the Iceberg table specification.

_BOUNDS_COLUMNS = {127: "lower_bounds", 130: "upper_bounds"}
_KEYS = (117, 119, 121, 138, 123, 126, 129)
_OF_MAPS = {118: "bytes on disk", 120: "values", 122: "nulls", 139: "NaN values", 124: "distinct values"}
_ITEMS = {112: "column ids", 133: "offsets in the file", 136: "column ids"}
_CODES = {
    0: "0 EXISTING, 1 ADDED, 2 DELETED",
    134: "0 data, 1 position deletes and deletion vectors, 2 equality deletes",
}
_INHERITED = (1, 3, 4, 142)
_MOST_NAMED = 4


class ManifestColumns:
    """The hook for `explain_parquet` of a manifest with this header; without a table its own schema gives the types."""

    def __init__(self, context: TableContext | None, header: ParquetHeader, data: Octets, path: str) -> None:
        self._hook = MetadataHook(context, header)
        self._header, self._data, self._path = header, data, path

    def find(self, leaf: SchemaLeaf) -> Meaning | None:
        """Find what a column means; None where the file does not say which field it is."""
        number = leaf.field_id
        if number is None:
            return None
        name = _BOUNDS_COLUMNS.get(number)
        if name is not None:

            def find(stored: bytes) -> Callable[[Octets, int, int], Span] | None:
                # the columns that have a bound with these bytes in some entry
                import pyarrow as pa
                import pyarrow.compute as pc

                found: set[int] = set()
                for keys, values in self._pairs.get(name, ()):
                    same = keys.filter(pc.equal(values, pa.scalar(stored, values.type)))
                    found.update(same.unique().to_pylist())
                columns = sorted(found)
                if not columns:
                    return None
                words = join_words([self._hook.name_column(column) for column in columns], _MOST_NAMED)
                kinds = {self._hook.find_type(column) for column in columns}
                return self._hook.explain_value(kinds.pop() if len(kinds) == 1 else None, words)

            return Meaning("bounds, of the column whose id is the key", find)
        if ".partition." in f".{leaf.path}":
            return Meaning(self._hook.describe_partition(number))
        known = ENTRY_FIELDS.get(number) if "." not in leaf.path else FILE_FIELDS.get(number)
        if number in _KEYS:
            return Meaning("column ids")
        if number in _OF_MAPS or number in _ITEMS:
            return Meaning((_OF_MAPS | _ITEMS)[number])
        if number in DRAFT_FIELDS or known is None:
            return Meaning(f"field {number}, which the specification does not have yet")
        more = f": {_CODES[number]}" if number in _CODES else ""
        more = ", inherited where it is null" if number in _INHERITED else more
        return Meaning(f"field {number}, {known}{more}")

    @cached_property
    def _pairs(self) -> dict[str, list[tuple[pa.Array, pa.Array]]]:
        """The keys and values of both maps of bounds, of all entries that can be read."""
        found: dict[str, list[tuple[pa.Array, pa.Array]]] = {}
        places = self._hook.find_file_fields()
        try:
            for table in iterate_tables(bytes(self._data[:]), self._path, self._header):
                files = table[places.file].combine_chunks()
                for name in _BOUNDS_COLUMNS.values():
                    stored = places.by_name.get(name)
                    if stored is not None:
                        pairs = files.field(stored).flatten()
                        found.setdefault(name, []).append((pairs.field(0), pairs.field(1)))
        except LakeError:
            pass  # the tree shows the damage in its place
        return found
