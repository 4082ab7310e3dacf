"""Single values of Iceberg as what is put in order, and back in the same width.

Follows appendix D of the Iceberg table specification; see `lakelens.codecs.iceberg.value` for the layouts. A bound whose
bytes are no value of its type is replaced by zeros of the same length: it stays damaged.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any
from uuid import UUID

import mmh3

from lakelens.codecs.iceberg.types import IcebergType
from lakelens.codecs.iceberg.value import DAY_UNITS, list_widths
from lakelens.model.skeleton.ordinals import rank_float

Ordinal = int | str
COUNTS = frozenset(("int", "long", "date", "time", *DAY_UNITS))
TEXTS = frozenset(("string", "binary", "fixed", "uuid"))
_EPOCH = datetime(1970, 1, 1)
_WIDE = Context(prec=80)


def decode_ordinal(data: bytes, type_: IcebergType) -> Ordinal | None:
    """What the bytes of a bound are ordered by; None where they are not replaced in order.

    >>> decode_ordinal(bytes.fromhex("0b4d0000"), IcebergType("date"))
    19723
    """
    name, widths = type_.name, list_widths(type_)
    if widths is not None and len(data) not in widths:
        return None
    if name in COUNTS:
        return int.from_bytes(data, "little", signed=True)
    if name in ("float", "double"):
        value = struct.unpack("<f" if len(data) == 4 else "<d", data)[0]
        return rank_float(value) if math.isfinite(value) else None
    if name == "decimal":
        return int.from_bytes(data, "big", signed=True)
    if name == "string":
        try:
            return data.decode()
        except UnicodeDecodeError:
            return None
    return data.decode("latin-1") if name in TEXTS else None


def encode_ordinal(ordinal: Ordinal, type_: IcebergType, width: int) -> bytes:
    """The bytes of a bound in place of one that had `width` of them.

    >>> encode_ordinal(19723, IcebergType("date"), 4).hex()
    '0b4d0000'
    """
    if isinstance(ordinal, str):
        return ordinal.encode("utf-8" if type_.name == "string" else "latin-1")
    if type_.name in ("float", "double"):
        return struct.pack("<f" if width == 4 else "<d", float(ordinal))
    if type_.name == "decimal":
        return encode_decimal(ordinal)
    return ordinal.to_bytes(width, "little", signed=True)


def encode_decimal(ordinal: int) -> bytes:
    """The fewest bytes of a decimal's digits.

    >>> encode_decimal(-12345).hex(), encode_decimal(128).hex()
    ('cfc7', '0080')
    """
    return ordinal.to_bytes((ordinal + (ordinal < 0)).bit_length() // 8 + 1, "big", signed=True)


def blank_bound(data: bytes, type_: IcebergType | None) -> bytes:
    """What stands for bytes that have no order: an infinity, NaN and a truth value stay, all else is zeros."""
    if type_ is not None:
        widths = list_widths(type_)
        if type_.name in ("float", "double", "boolean") and widths and len(data) in widths:
            return data
    return bytes(len(data))


def read_stored(stored: Any, type_: IcebergType) -> Ordinal | None:
    """What a value of a partition tuple is ordered by, as Avro stores it without logical types."""
    if isinstance(stored, bool) or stored is None:
        return None
    if isinstance(stored, float):
        return rank_float(stored) if math.isfinite(stored) else None
    if isinstance(stored, int):
        return stored
    if isinstance(stored, bytes):
        if type_.name == "decimal":
            return int.from_bytes(stored, "big", signed=True)
        return stored.decode("latin-1")
    if type_.name == "uuid" and isinstance(stored, str):
        try:
            return UUID(stored).bytes.decode("latin-1")
        except ValueError:
            return stored
    return stored if isinstance(stored, str) else None


def write_stored(ordinal: Ordinal, type_: IcebergType, old: Any) -> Any:
    """A value of a partition tuple in place of an old one, stored as that was."""
    if isinstance(old, float):
        return float(ordinal)
    if isinstance(old, bytes):
        if isinstance(ordinal, int):
            try:
                return ordinal.to_bytes(len(old), "big", signed=True)
            except OverflowError:
                return encode_decimal(ordinal)
        return ordinal.encode("latin-1")
    if type_.name == "uuid" and isinstance(ordinal, str) and len(ordinal) == 16:
        return str(UUID(bytes=ordinal.encode("latin-1")))
    return ordinal


def make_fits(type_: IcebergType, widths: Sequence[int]) -> Callable[[Any, Any], bool]:
    """Whether two values are in the same buckets of each width ("Appendix B: 32-bit Hash Requirements").

    >>> make_fits(IcebergType("int"), [16])(34, 34 + 16)
    False
    """
    is_nanos = type_.name.endswith("_ns")

    def hash_ordinal(ordinal: Ordinal) -> int:
        if isinstance(ordinal, str):
            stored = ordinal.encode("utf-8" if type_.name == "string" else "latin-1")
        elif type_.name == "decimal":
            stored = encode_decimal(ordinal)
        else:
            stored = (ordinal // 1_000 if is_nanos else ordinal).to_bytes(8, "little", signed=True)
        return int(mmh3.hash(stored)) & 0x7FFF_FFFF

    def fits(old: Ordinal, new: Ordinal) -> bool:
        first, second = hash_ordinal(old), hash_ordinal(new)
        return all(first % width == second % width for width in widths)

    return fits


def write_json(ordinal: Ordinal, type_: IcebergType) -> Any:
    """A default value as JSON ("JSON single-value serialization").

    >>> write_json(19723, IcebergType("date")), write_json(-12345, IcebergType("decimal", precision=9, scale=2))
    ('2024-01-01', '-123.45')
    """
    name = type_.name
    if isinstance(ordinal, str):
        if name == "uuid":
            return str(UUID(bytes=ordinal.encode("latin-1")))
        return ordinal if name == "string" else ordinal.encode("latin-1").hex()
    if name in ("float", "double"):
        return float(ordinal)
    if name == "decimal":
        return f"{_WIDE.scaleb(Decimal(ordinal), -(type_.scale or 0)):f}"
    if name == "date":
        return str(date(1970, 1, 1) + timedelta(ordinal))
    if name == "time":
        return str((_EPOCH + timedelta(microseconds=ordinal)).time().isoformat())
    if name in DAY_UNITS:
        unit = 1_000_000_000 if name.endswith("_ns") else 1_000_000
        seconds, ticks = divmod(ordinal, unit)
        moment = (_EPOCH + timedelta(seconds=seconds)).isoformat()
        zone = "+00:00" if name.startswith("timestamptz") else ""
        return f"{moment}.{ticks:0{len(str(unit)) - 1}d}{zone}"
    return ordinal


def count_json(value: Any, type_: IcebergType) -> Ordinal | None:
    """What a parsed default is ordered by; None for one that is not replaced in order."""
    if value is None or isinstance(value, bool | dict | list):
        return None
    if isinstance(value, UUID):
        return value.bytes.decode("latin-1")
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, float):
        return rank_float(value) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(_WIDE.scaleb(value, type_.scale or 0))
    if isinstance(value, datetime):
        micros = (value - _EPOCH.replace(tzinfo=value.tzinfo)) // timedelta(microseconds=1)
        return micros * 1_000 if type_.name.endswith("_ns") else micros
    if isinstance(value, date):
        return (value - date(1970, 1, 1)).days
    if isinstance(value, time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    if isinstance(value, int | str):
        return value
    import numpy as np

    unit = "ns" if type_.name.endswith("_ns") else "D" if type_.name == "date" else "us"
    is_moment = isinstance(value, np.datetime64)
    return int(value.astype(f"datetime64[{unit}]").astype(np.int64)) if is_moment else None
