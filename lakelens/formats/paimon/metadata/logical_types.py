"""Paimon's types in the words of the model: the text stays Paimon's, the logical name is format-free.

Array elements, map keys and map values have no field of their own in a schema; they get the ids that Paimon's writers put
into Parquet and ORC files (536870911 plus or minus 1024 times the column's id, and the depth), so that ids stay unique.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Context, Decimal
from typing import Any

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
    """Describe a Paimon type as a `DataType`; whether it is nullable is the field's business.

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
    """Describe a column or nested field as a `Field`."""
    kind = describe_type(column.type, column.id)
    return Field(
        column.id, column.name, kind, column.type.nullable, column.description, write_default=column.default
    )


def describe_row(columns: Sequence[PaimonField]) -> DataType:
    """Describe the struct type of some columns, for keys that are shown as one value."""
    fields = tuple(describe_field(column) for column in columns)
    text = f"ROW<{', '.join(f'{field.name} {field.type}' for field in fields)}>"
    return DataType(text, "struct", children=fields)


# Statistics of an older type as values of today's type.
#
# Only where the cast keeps every value and the order: integers to wider integers, decimals or floating point that holds
# them, FLOAT to DOUBLE, decimals to wider decimals, texts and bytes to longer ones, dates and timestamps to finer
# timestamps. For any other change (a number to a text, say) the old bounds say nothing of today's values: they are left
# out, the counts stay.

_RANGES = {"TINYINT": 2**7, "SMALLINT": 2**15, "INT": 2**31, "BIGINT": 2**63}
_FLOATS = {"FLOAT": 2**24, "DOUBLE": 2**53}
_EXACT = Context(prec=100)
_TEXTS = {"CHAR", "VARCHAR"}
_BYTES = {"BINARY", "VARBINARY"}
_TIMESTAMPS = {"TIMESTAMP", "TIMESTAMP_LTZ"}

Promotion = Callable[[Any], Any]


def find_promotion(old: PaimonType, new: PaimonType) -> Promotion | None:
    """Find a function that gives an old value as a value of the new type, None where that one does not fit.

    None instead of a function when the types have no exact, order-keeping cast.

    >>> from lakelens.codecs.paimon.types import parse_type
    >>> find_promotion(parse_type("INT"), parse_type("DECIMAL(12, 2)"))(7)
    Decimal('7.00')
    >>> find_promotion(parse_type("INT"), parse_type("STRING")) is None
    True
    """
    if make_nullable(old, True) == make_nullable(new, True):
        return keep
    if old.name in _RANGES:
        limit = _RANGES.get(new.name)
        if limit is not None:
            return lambda value: value if -limit <= value < limit else None
        exact = _FLOATS.get(new.name)
        if exact is not None:
            return lambda value: float(value) if -exact <= value <= exact else None
        if new.name == "DECIMAL":
            return lambda value: _fit_decimal(Decimal(value), new)
        return None
    if old.name == "DECIMAL" and new.name == "DECIMAL":
        return lambda value: _fit_decimal(value, new)
    if (old.name, new.name) == ("FLOAT", "DOUBLE"):
        return keep
    if {old.name, new.name} <= _TEXTS or {old.name, new.name} <= _BYTES:
        return lambda value: value if len(value) <= (new.length or 0) else None
    if old.name == "DATE" and new.name == "TIMESTAMP":
        return lambda value: datetime(value.year, value.month, value.day) if isinstance(value, date) else None
    if old.name in _TIMESTAMPS and old.name == new.name and (new.precision or 0) >= (old.precision or 0):
        return keep
    return None


def keep(value: Any) -> Any:
    """Keep the value as it is."""
    return value


def _fit_decimal(value: Decimal, new: PaimonType) -> Decimal | None:
    precision, scale = new.precision or 10, new.scale or 0
    unscaled = _EXACT.scaleb(value, scale)
    if unscaled != _EXACT.to_integral_value(unscaled) or abs(int(unscaled)) >= 10**precision:
        return None
    return _EXACT.scaleb(Decimal(int(unscaled)), -scale)
