"""What the stored values of a Parquet column mean, by its logical type: in the values of Python, or as Avro stores them.

    logical type              python                      stored
    Date, Time, Timestamp     date, time, datetime        the count
    Decimal                   Decimal                     16 bytes, big-endian
    String, JSON              str                         str
    Int without a sign        int                         int
    other bytes               bytes                       bytes

Follows "Logical Types" of the Apache Parquet format. INT96 are nanoseconds, as old engines mean them; times that Python has
no type for are those of `lakelens.codecs.moments`.
"""

from __future__ import annotations

import struct
from decimal import Context, Decimal
from functools import partial
from typing import Any, Literal

from lakelens.codecs.parquet.leaf_values import Convert
from lakelens.codecs.parquet.schema_tree import split_type
from lakelens.codecs.parquet.structure import SchemaLeaf
from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    time_from_millis,
    timestamp_from_micros,
    timestamp_from_nanos,
)
from lakelens.errors import Corrupt

Shape = Literal["python", "stored"]
#: Which physical types hold a logical one.
_HOLDERS = {
    "String": ("BYTE_ARRAY",),
    "JSON": ("BYTE_ARRAY",),
    "Float16": ("FIXED_LEN_BYTE_ARRAY",),
    "Date": ("INT32",),
    "Time": ("INT32", "INT64"),
    "Timestamp": ("INT64",),
    "Int": ("INT32", "INT64"),
    "Decimal": ("INT32", "INT64", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"),
}
_EXACT = Context(prec=200)
_SCALES = {"milliseconds": 1000, "microseconds": 1}
_MOST_PRECISE = 38  # what 16 bytes hold


def choose_conversion(leaf: SchemaLeaf, shape: Shape) -> Convert | None:
    """Choose what makes a value of a stored one; None where it is one already.

    Raises `Corrupt` for a logical type that the physical one does not hold.

    >>> choose_conversion(SchemaLeaf("a", "INT32", "Date", None, 0, 0), "python")(1)
    datetime.date(1970, 1, 2)
    """
    logical = leaf.logical_type or ""
    name, parts = logical.partition("(")[0], split_type(logical)
    if leaf.physical_type not in _HOLDERS.get(name, (leaf.physical_type,)):
        message = f"a type that {leaf.path} cannot have"
        raise Corrupt(
            message, expected=" or ".join(_HOLDERS[name]), seen=f"{logical} of {leaf.physical_type}"
        )
    if name == "Decimal":
        if shape == "stored" and int(parts["precision"]) <= _MOST_PRECISE:
            return _pack_decimal
        return partial(_make_decimal, scale=int(parts["scale"]))
    if name == "Int" and parts["isSigned"] == "false":
        return partial(_drop_sign, whole=1 << int(parts["bitWidth"]))
    if name in ("String", "JSON"):
        return bytes.decode
    if name == "Float16":
        return _read_half
    return None if shape == "stored" else _choose_time(leaf.physical_type, name, parts)


def _choose_time(kind: str, name: str, parts: Any) -> Convert | None:
    if kind == "INT96":
        return partial(timestamp_from_nanos, utc=False)
    if name == "Date":
        return date_from_days
    scale, is_utc = _SCALES.get(parts.get("timeUnit")), parts.get("isAdjustedToUTC") == "true"
    if name == "Timestamp":
        if scale is None:
            return partial(timestamp_from_nanos, utc=is_utc)
        return lambda count: timestamp_from_micros(count * scale, is_utc)
    if name != "Time":
        return None
    if scale is None:
        return lambda count: time_from_micros(count // 1000)
    return time_from_micros if scale == 1 else time_from_millis


def _read_unscaled(stored: Any) -> int:
    return stored if isinstance(stored, int) else int.from_bytes(stored, "big", signed=True)


def _make_decimal(stored: Any, scale: int) -> Decimal:
    return Decimal(_read_unscaled(stored)).scaleb(-scale, _EXACT)


def _pack_decimal(stored: Any) -> bytes:
    return _read_unscaled(stored).to_bytes(16, "big", signed=True)


def _drop_sign(stored: int, whole: int) -> int:
    return stored % whole


def _read_half(stored: bytes) -> float:
    value: float = struct.unpack("<e", stored)[0]
    return value
