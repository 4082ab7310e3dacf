"""Paimon's types in the words of the model: the text stays Paimon's, the logical name is format-free.

Array elements, map keys and map values have no field of their own in a schema; they get the ids that Paimon's writers put
into Parquet and ORC files (536870911 plus or minus 1024 times the column's id, and the depth), so that ids stay unique.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakelens.codecs.paimon.types import PaimonField, PaimonType, make_nullable
from lakelens.model.schema import DataType, Field

_NESTED_IDS = 536870911
_LOGICAL = {
    "CHAR": "string",
    "VARCHAR": "string",
    "BINARY": "binary",
    "VARBINARY": "binary",
    "BOOLEAN": "boolean",
    "DECIMAL": "decimal",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INT": "int32",
    "BIGINT": "int64",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "DATE": "date",
    "TIME": "time",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_LTZ": "timestamptz",
    "ARRAY": "list",
    "MAP": "map",
    "MULTISET": "multiset",
    "ROW": "struct",
    "VECTOR": "vector",
    "VARIANT": "variant",
    "BLOB": "blob",
    "GEOMETRY": "geometry",
    "GEOGRAPHY": "geography",
}


def describe_type(kind: PaimonType, field_id: int = 0, depth: int = 0) -> DataType:
    """A Paimon type as a `DataType`; whether it is nullable is the field's business.

    >>> from lakelens.codecs.paimon.types import parse_type
    >>> found = describe_type(parse_type("DECIMAL(10, 2) NOT NULL"))
    >>> found, found.logical, found.precision
    ('DECIMAL(10, 2)', 'decimal', 10)
    """
    return DataType(
        str(make_nullable(kind, True)),
        _LOGICAL.get(kind.name, "unknown"),
        children=_describe_children(kind, field_id, depth + 1),
        precision=kind.precision or 0,
        scale=kind.scale or 0,
        length=kind.length or 0,
    )


def _describe_children(kind: PaimonType, field_id: int, depth: int) -> tuple[Field, ...]:
    if kind.name == "ROW":
        return tuple(describe_field(child) for child in kind.fields)
    above, below = _NESTED_IDS + 1024 * field_id + depth, _NESTED_IDS - 1024 * field_id - depth
    parts: list[tuple[int, str, PaimonType]] = []
    if kind.name == "MULTISET" and kind.element is not None:
        parts = [(below, "key", kind.element), (above, "value", PaimonType("INT", nullable=False))]
    elif kind.element is not None:
        parts = [(above, "element", kind.element)]
    elif kind.key is not None and kind.value is not None:
        parts = [(below, "key", kind.key), (above, "value", kind.value)]
    return tuple(
        Field(number, name, describe_type(part, field_id, depth), part.nullable)
        for number, name, part in parts
    )


def describe_field(column: PaimonField) -> Field:
    """A column or nested field as a `Field`."""
    kind = describe_type(column.type, column.id)
    return Field(
        column.id, column.name, kind, column.type.nullable, column.description, write_default=column.default
    )


def describe_row(columns: Sequence[PaimonField]) -> DataType:
    """The struct type of some columns, for keys that are shown as one value."""
    fields = tuple(describe_field(column) for column in columns)
    text = f"ROW<{', '.join(f'{field.name} {field.type}' for field in fields)}>"
    return DataType(text, "struct", children=fields)
