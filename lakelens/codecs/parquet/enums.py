"""Parquet's enumerations, and statistics as Python values.

    INT32 INT64 FLOAT DOUBLE  little-endian      BOOLEAN  one byte 00 or 01
    BYTE_ARRAY  the bytes alone                  FIXED_LEN_BYTE_ARRAY  the bytes: decimals and uuids big-endian

Follows "Logical Types" and the `Statistics` structure of the Apache Parquet format: `min_value` and `max_value` are PLAIN
encoded without length. INT96 and intervals have no order, so no values here. A value that does not fit its type gives None:
an unknown bound, not an error.
"""

from __future__ import annotations

import struct
import uuid
from decimal import Context, Decimal
from typing import Any

from lakelens.codecs.span.reader import Enum
from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)


def _enum(name: str, *names: str) -> Enum:
    return Enum(name, dict(enumerate(names)))


PHYSICAL = _enum(
    "Type", "BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"
)
REPETITION = _enum("FieldRepetitionType", "required", "optional", "repeated")
CODECS = _enum(
    "CompressionCodec", "UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"
)
ENCODINGS = Enum(
    "Encoding",
    {
        0: "PLAIN",
        2: "PLAIN_DICTIONARY",
        3: "RLE",
        4: "BIT_PACKED",
        5: "DELTA_BINARY_PACKED",
        6: "DELTA_LENGTH_BYTE_ARRAY",
        7: "DELTA_BYTE_ARRAY",
        8: "RLE_DICTIONARY",
        9: "BYTE_STREAM_SPLIT",
    },
)
PAGE_TYPES = _enum("PageType", "DATA_PAGE", "INDEX_PAGE", "DICTIONARY_PAGE", "DATA_PAGE_V2")
ORDERS = _enum("BoundaryOrder", "UNORDERED", "ASCENDING", "DESCENDING")
EDGES = _enum("Edges", "SPHERICAL", "VINCENTY", "THOMAS", "ANDOYER", "KARNEY")
#: The types of values in old files.
CONVERTED = _enum(
    "ConvertedType",
    *("UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE", "TIME_MILLIS", "TIME_MICROS"),
    *("TIMESTAMP_MILLIS", "TIMESTAMP_MICROS", "UINT_8", "UINT_16", "UINT_32", "UINT_64"),
    *("INT_8", "INT_16", "INT_32", "INT_64", "JSON", "BSON", "INTERVAL"),
)

UNITS = {"MILLIS": "milliseconds", "MICROS": "microseconds", "NANOS": "nanoseconds"}
_TEXTS = ("String", "Enum", "JSON")
_EXACT = Context(prec=200)


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
        if unit not in UNITS.values():
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
