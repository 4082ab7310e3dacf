"""Parquet's own words and values: names of enumerations, logical types as text, statistics as Python values.

    INT32 INT64 FLOAT DOUBLE  little-endian      BOOLEAN  one byte 00 or 01
    BYTE_ARRAY  the bytes alone                  FIXED_LEN_BYTE_ARRAY  the bytes: decimals and uuids big-endian

Follows "Logical Types" and the `Statistics` structure of the Apache Parquet format: `min_value` and `max_value` are PLAIN
encoded without length. INT96 and intervals have no order, so no values here. A value that does not fit its type gives None:
a bound that cannot be told, not an error.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Mapping
from decimal import Context, Decimal
from typing import Any

from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)

PHYSICAL = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
REPETITION = ("required", "optional", "repeated")
CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW")
ENCODINGS = {
    0: "PLAIN",
    2: "PLAIN_DICTIONARY",
    3: "RLE",
    4: "BIT_PACKED",
    5: "DELTA_BINARY_PACKED",
    6: "DELTA_LENGTH_BYTE_ARRAY",
    7: "DELTA_BYTE_ARRAY",
    8: "RLE_DICTIONARY",
    9: "BYTE_STREAM_SPLIT",
}
#: The converted types of old files, in the words of today's logical types.
CONVERTED = {
    0: "String",
    1: "Map",
    2: "Map",
    3: "List",
    4: "Enum",
    6: "Date",
    7: "Time(isAdjustedToUTC=true, timeUnit=milliseconds)",
    8: "Time(isAdjustedToUTC=true, timeUnit=microseconds)",
    9: "Timestamp(isAdjustedToUTC=true, timeUnit=milliseconds)",
    10: "Timestamp(isAdjustedToUTC=true, timeUnit=microseconds)",
    11: "Int(bitWidth=8, isSigned=false)",
    12: "Int(bitWidth=16, isSigned=false)",
    13: "Int(bitWidth=32, isSigned=false)",
    14: "Int(bitWidth=64, isSigned=false)",
    15: "Int(bitWidth=8, isSigned=true)",
    16: "Int(bitWidth=16, isSigned=true)",
    17: "Int(bitWidth=32, isSigned=true)",
    18: "Int(bitWidth=64, isSigned=true)",
    19: "JSON",
    20: "BSON",
    21: "Interval",
}
_PLAIN_LOGICAL = {1: "String", 2: "Map", 3: "List", 4: "Enum", 6: "Date", 11: "Null", 12: "JSON", 13: "BSON"}
_PLAIN_LOGICAL |= {14: "UUID", 15: "Float16", 16: "Variant", 17: "Geometry", 18: "Geography"}
_UNITS = {1: "milliseconds", 2: "microseconds", 3: "nanoseconds"}
_TEXTS = ("String", "Enum", "JSON")
_EXACT = Context(prec=200)


def name_of(names: tuple[str, ...] | Mapping[int, str], number: Any) -> str:
    """The word for a number of an enumeration; `unknown N` for numbers that are not known.

    >>> name_of(CODECS, 6), name_of(CODECS, 99)
    ('ZSTD', 'unknown 99')
    """
    if isinstance(names, tuple):
        return names[number] if isinstance(number, int) and 0 <= number < len(names) else f"unknown {number}"
    return names.get(number, f"unknown {number}")


def logical_type(element: Mapping[int, Any]) -> str | None:
    """A schema element's logical type (or the converted type of old files) in words, None when it has neither.

    >>> logical_type({6: 5, 7: 2, 8: 9})
    'Decimal(precision=9, scale=2)'
    """
    union = element.get(10)
    if isinstance(union, dict) and union:
        number, inner = next(iter(union.items()))
        return _logical_union(number, inner if isinstance(inner, dict) else {})
    converted = element.get(6)
    if converted == 5:
        return f"Decimal(precision={element.get(8, 0)}, scale={element.get(7, 0)})"
    return CONVERTED.get(converted) if isinstance(converted, int) else None


def _logical_union(number: int, inner: Mapping[int, Any]) -> str:
    if number == 5:
        return f"Decimal(precision={inner.get(2, 0)}, scale={inner.get(1, 0)})"
    if number in (7, 8):
        stored = inner.get(2)
        unit = _UNITS.get(next(iter(stored), 0), "unknown") if isinstance(stored, dict) else "unknown"
        utc = "true" if inner.get(1) else "false"
        return f"{'Time' if number == 7 else 'Timestamp'}(isAdjustedToUTC={utc}, timeUnit={unit})"
    if number == 10:
        return f"Int(bitWidth={inner.get(1, 0)}, isSigned={'true' if inner.get(2) else 'false'})"
    return _PLAIN_LOGICAL.get(number, f"unknown {number}")


def decode_statistic(data: bytes, physical: str, logical: str | None) -> Any:
    """A `min_value` or `max_value` as a Python value; None when its bytes are no value of the type.

    >>> decode_statistic(bytes.fromhex("0b4d0000"), "INT32", "Date")
    datetime.date(2024, 1, 1)
    """
    logical = logical or ""
    try:
        if physical == "BOOLEAN":
            return {b"\0": False, b"\1": True}.get(data)
        if physical in ("FLOAT", "DOUBLE"):
            return struct.unpack("<f" if physical == "FLOAT" else "<d", data)[0]
        if physical in ("INT32", "INT64"):
            if len(data) != (4 if physical == "INT32" else 8):
                return None
            return _integer(int.from_bytes(data, "little", signed=True), logical)
        return _bytes(data, logical) if physical in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY") else None
    except (ValueError, struct.error, ArithmeticError):
        return None


def _integer(value: int, logical: str) -> Any:
    if logical.startswith("Decimal"):
        return Decimal(value).scaleb(-_scale(logical), _EXACT)
    if logical == "Date":
        return date_from_days(value)
    if logical.startswith(("Time(", "Timestamp(")):
        unit = logical.split("timeUnit=")[1].rstrip(")")
        if unit not in _UNITS.values():
            return None
        scale = {"milliseconds": 1000, "microseconds": 1}.get(unit)
        if logical.startswith("Time("):
            return time_from_micros(value * scale if scale else value // 1000)
        utc = "UTC=true" in logical
        return timestamp_from_micros(value * scale, utc) if scale else timestamp_from_nanos(value, utc)
    if "isSigned=false" in logical and value < 0:
        width = int(logical.split("bitWidth=")[1].split(",")[0])
        return value + (1 << width) if width in (8, 16, 32, 64) else None
    return value


def _bytes(data: bytes, logical: str) -> Any:
    if logical in _TEXTS:
        return data.decode()
    if logical.startswith("Decimal"):
        return (
            Decimal(int.from_bytes(data, "big", signed=True)).scaleb(-_scale(logical), _EXACT)
            if data
            else None
        )
    if logical == "UUID":
        return uuid.UUID(bytes=data)
    if logical == "Float16":
        return struct.unpack("<e", data)[0]
    return None if logical == "Interval" else data


def _scale(logical: str) -> int:
    return int(logical.split("scale=")[1].rstrip(")"))
