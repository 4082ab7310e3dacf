"""Schemas, partition specs and sort orders of the metadata document in the model's words.

Follows "Schemas and Data Types", "Partitioning" and "Sorting" of the Iceberg table specification; version 1's `schema`
and `partition-spec` are used where the lists are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from lakelens.codecs.iceberg.transforms import Transform
from lakelens.codecs.iceberg.types import IcebergField, IcebergType, parse_struct
from lakelens.codecs.iceberg.value_json import parse_json_value
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.iceberg.metadata.wire import (
    WireMetadata,
    WirePartitionField,
    WireSortOrder,
    WireSpec,
)
from lakelens.model.bytes_view import Source
from lakelens.model.schema import (
    DataType,
    Field,
    PartitionField,
    PartitionSpec,
    Schema,
    SortField,
    SortOrder,
)

_LOGICAL = {
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "timestamp_ns": "timestamp",
    "timestamptz_ns": "timestamptz",
}
_DIGITS = {"time": 6, "timestamp": 6, "timestamptz": 6, "timestamp_ns": 9, "timestamptz_ns": 9}
FIRST_PARTITION_ID = 1000


def describe_type(type_: IcebergType) -> DataType:
    """Describe the model's type for an Iceberg type; one that is not known is shown as bytes.

    >>> kind = describe_type(IcebergType("timestamp_ns"))
    >>> kind.logical, kind.precision
    ('timestamp', 9)
    """
    if type_.is_nested:
        return DataType(
            str(type_), type_.name, children=tuple(describe_field(child) for child in type_.fields)
        )
    return _describe_leaf(type_)


@lru_cache(maxsize=1024)
def _describe_leaf(type_: IcebergType) -> DataType:
    text = str(type_)
    if type_.precision is not None:
        return DataType(text, "decimal", precision=type_.precision, scale=type_.scale or 0)
    if type_.length is not None:
        return DataType(text, "fixed", length=type_.length)
    if not type_.is_known:
        return DataType(text, "binary")
    return DataType(text, _LOGICAL.get(type_.name, type_.name), precision=_DIGITS.get(type_.name, 0))


def describe_field(field: IcebergField) -> Field:
    """Describe the model's field for an Iceberg field."""
    return Field(
        field.id,
        field.name,
        describe_type(field.type),
        not field.required,
        field.doc,
        field.initial_default,
        field.write_default,
    )


class SchemaBook:
    """Every schema of a table by id, as Iceberg types and as the model's schemas."""

    def __init__(self, typed: WireMetadata, path: str, report: Callable[[LakeError], None]) -> None:
        self.structs: dict[int, IcebergType] = {}
        self.schemas: dict[int, Schema] = {}
        self.current_id = self._choose_current(typed)
        defaults = DefaultValues(path, report)
        documents = [(raw, f"$.schemas[{i}]") for i, raw in enumerate(typed.schemas or [])]
        if typed.schema is not None:
            documents.append((typed.schema, "$.schema"))
        for raw, place in documents:
            number = _read_id(raw, self.current_id if place == "$.schema" else None)
            if number in self.schemas:
                continue  # version 1 writes the current schema twice
            try:
                struct = parse_struct(raw, place, path=path)
            except LakeError as error:
                if number == self.current_id:
                    raise
                report(error)
                continue
            self.structs[number] = struct
            self.schemas[number] = describe_schema(defaults.decode(struct, place), number, raw)
        others = Source(lambda schema, book: book.schemas.values(), self)
        self.schemas = {number: replace(schema, _others=others) for number, schema in self.schemas.items()}
        if self.current_id not in self.schemas:
            self.current_id = max(self.schemas)

    @property
    def current(self) -> Schema:
        """Today's schema."""
        return self.schemas[self.current_id]

    @property
    def current_struct(self) -> IcebergType:
        """Today's schema as Iceberg types."""
        return self.structs[self.current_id]

    def newest_first(self) -> list[IcebergType]:
        """Today's schema, then the others from the newest to the oldest."""
        others = sorted((number for number in self.structs if number != self.current_id), reverse=True)
        return [self.current_struct, *(self.structs[number] for number in others)]

    @staticmethod
    def _choose_current(typed: WireMetadata) -> int:
        if typed.schemas:
            ids = [_read_id(raw, 0) for raw in typed.schemas]
            return typed.current_schema_id if typed.current_schema_id in ids else max(ids)
        return _read_id(typed.schema or {}, typed.current_schema_id or 0)


def describe_schema(struct: IcebergType, number: int | None, raw: Any = None) -> Schema:
    """Describe the model's schema of a struct type."""
    fields = tuple(describe_field(field) for field in struct.fields)
    identifiers = raw.get("identifier-field-ids") if isinstance(raw, dict) else None
    schema = Schema(number, fields)
    by_id = {field.id: name for name, field in schema.walk()}
    names = tuple(by_id[i] for i in (identifiers if isinstance(identifiers, list) else []) if i in by_id)
    return Schema(number, fields, names, raw)


def _read_id(raw: dict[str, Any], default: int | None) -> int:
    number = raw.get("schema-id")
    if isinstance(number, int) and not isinstance(number, bool):
        return number
    return default if default is not None else 0


def describe_specs(typed: WireMetadata, structs: Iterable[IcebergType]) -> dict[int, PartitionSpec]:
    """Describe every partition spec by id; spec 0 without fields where the document has none."""
    known = list(structs)
    specs = list(typed.partition_specs or [])
    if not specs:
        specs = [WireSpec(typed.default_spec_id or 0, typed.partition_spec or [])]
    return {spec.spec_id: describe_spec(spec.spec_id, spec.fields, known) for spec in specs}


def describe_spec(
    number: int | None, fields: list[WirePartitionField], structs: list[IcebergType]
) -> PartitionSpec:
    """Describe one partition spec. Version 1 may lack field ids: they are then numbered from 1000."""
    described = []
    for index, field in enumerate(fields):
        sources = [find_source(source, structs) for source in field.sources]
        name, type_ = sources[0] if sources else ("?", None)
        transform = Transform.parse(field.transform)
        result = transform.result_type(type_) if type_ is not None and len(sources) == 1 else None
        described.append(
            PartitionField(
                field.name,
                next(iter(field.sources), None),
                ", ".join(source for source, _ in sources) or name,
                field.transform,
                field.field_id if field.field_id is not None else FIRST_PARTITION_ID + index,
                None if result is None or not transform.is_known else describe_type(result),
            )
        )
    return PartitionSpec(number, tuple(described), fields)


def find_source(source_id: int, structs: Iterable[IcebergType]) -> tuple[str, IcebergType | None]:
    """Find the full name and the type of a column, by the newest schema that has it; `#id` and None for an unknown one."""
    found = (
        (".".join(path), field.type)
        for struct in structs
        for path, field in walk_fields(struct)
        if field.id == source_id
    )
    return next(found, (f"#{source_id}", None))


def walk_fields(struct: IcebergType) -> Iterator[tuple[tuple[str, ...], IcebergField]]:
    """Walk every field below a type with its path, each before those inside of it."""
    for field in struct.fields:
        yield (field.name,), field
        for path, inner in walk_fields(field.type):
            yield (field.name, *path), inner


def describe_sort_orders(typed: WireMetadata, structs: Iterable[IcebergType]) -> dict[int, SortOrder]:
    """Describe every sort order by id; order 0 (unsorted) where the document has none."""
    known = list(structs)
    orders = typed.sort_orders or [WireSortOrder(0)]
    return {order.order_id: _describe_order(order, known) for order in orders}


def _describe_order(order: WireSortOrder, structs: list[IcebergType]) -> SortOrder:
    fields = []
    for field in order.fields:
        names = ", ".join(find_source(source, structs)[0] for source in field.sources)
        source = next(iter(field.sources), None)
        fields.append(SortField(source, names, field.transform, field.direction, field.null_order))
    return SortOrder(order.order_id, tuple(fields))


class DefaultValues:
    """Decodes the defaults of one document's schemas ("Default values", version 3).

    `report` gets one that does not fit its type; it stays as the document has it: the table is readable without it.
    """

    def __init__(self, path: str, report: Callable[[LakeError], None]) -> None:
        self._path, self._report = path, report

    def decode(self, type_: IcebergType, place: str) -> IcebergType:
        """Decode every default below a type; `place` is where it is in the document."""
        if not type_.fields:
            return type_
        fields = []
        for index, field in enumerate(type_.fields):
            if not field.type.fields and field.initial_default is None and field.write_default is None:
                fields.append(field)
                continue
            own = self._find_place(type_, index, place)
            decoded = replace(
                field,
                # elements, keys and values have their type in their own place, fields in a member of theirs
                type=self.decode(field.type, f"{own}.type" if own.endswith("]") else own),
                initial_default=self._parse(field.initial_default, field.type, f"{own}.initial-default"),
                write_default=self._parse(field.write_default, field.type, f"{own}.write-default"),
            )
            fields.append(decoded)
        return replace(type_, fields=tuple(fields))

    @staticmethod
    def _find_place(type_: IcebergType, index: int, place: str) -> str:
        return f"{place}.fields[{index}]" if type_.name == "struct" else f"{place}.{type_.fields[index].name}"

    def _parse(self, json: Any, type_: IcebergType, place: str) -> Any:
        try:
            return parse_json_value(json, type_, place, path=self._path)
        except Corrupt as error:
            self._report(error)
            return json
