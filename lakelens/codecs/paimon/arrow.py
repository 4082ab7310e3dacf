"""Paimon types as Arrow types, and decoded values as Arrow takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakelens.codecs.paimon.types import PaimonType
from lakelens.codecs.variant.value import Variant
from lakelens.errors import Unsupported

if TYPE_CHECKING:
    import pyarrow as pa

_PLAIN = {
    "BOOLEAN": "bool_",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INT": "int32",
    "BIGINT": "int64",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "DATE": "date32",
    "CHAR": "string",
    "VARCHAR": "string",
    "BINARY": "binary",
    "VARBINARY": "binary",
    "BLOB": "binary",
    "GEOMETRY": "binary",
    "GEOGRAPHY": "binary",
}


def timestamp_unit(precision: int | None) -> str:
    """The Arrow unit that holds a precision: `ms` to 3 digits, `us` to 6, `ns` to 9.

    >>> timestamp_unit(3), timestamp_unit(6), timestamp_unit(7)
    ('ms', 'us', 'ns')
    """
    digits = precision or 0
    return "ms" if digits <= 3 else "us" if digits <= 6 else "ns"


def arrow_type(type_: PaimonType) -> pa.DataType:
    """The Arrow type that holds a Paimon type.

    >>> arrow_type(PaimonType("DECIMAL", precision=10, scale=2))
    Decimal128Type(decimal128(10, 2))
    """
    import pyarrow as pa

    if type_.name in _PLAIN:
        return getattr(pa, _PLAIN[type_.name])()
    match type_.name:
        case "DECIMAL":
            return pa.decimal128(type_.precision, type_.scale or 0)
        case "TIME":
            return pa.time32("ms")
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return pa.timestamp(
                timestamp_unit(type_.precision), "UTC" if type_.name == "TIMESTAMP_LTZ" else None
            )
        case "ARRAY" | "VECTOR":
            return pa.list_(arrow_type(_given(type_.element)))
        case "MAP":
            return pa.map_(arrow_type(_given(type_.key)), arrow_type(_given(type_.value)))
        case "MULTISET":
            return pa.map_(arrow_type(_given(type_.element)), pa.int32())
        case "ROW":
            return pa.struct([pa.field(field.name, arrow_type(field.type)) for field in type_.fields])
        case "VARIANT":
            return pa.struct([pa.field("value", pa.binary()), pa.field("metadata", pa.binary())])
    raise Unsupported(f"no Arrow type for {type_}")


def arrow_value(type_: PaimonType, value: Any) -> Any:
    """A decoded value in the form that `pyarrow.array` takes for `arrow_type(type_)`.

    >>> arrow_value(PaimonType("MULTISET", element=PaimonType("INT")), {7: 2})
    [(7, 2)]
    """
    if value is None:
        return None
    if isinstance(value, Variant):
        return {"value": value.value, "metadata": value.metadata}
    match type_.name:
        case "ARRAY" | "VECTOR":
            return [arrow_value(_given(type_.element), item) for item in value]
        case "MAP":
            pairs = value.items() if isinstance(value, dict) else value
            key, item = _given(type_.key), _given(type_.value)
            return [(arrow_value(key, k), arrow_value(item, v)) for k, v in pairs]
        case "MULTISET":
            pairs = value.items() if isinstance(value, dict) else value
            return [(arrow_value(_given(type_.element), k), v) for k, v in pairs]
        case "ROW":
            return {field.name: arrow_value(field.type, value[field.name]) for field in type_.fields}
    return value


def _given(type_: PaimonType | None) -> PaimonType:
    assert type_ is not None
    return type_
