"""How the values that a file stores are read as the type that their column has today, and back.

Only pairs of types are known here that every reader reads as the same values: integers as wider ones, floats as doubles,
decimals of the same scale, timestamps with the same meaning of UTC in the same or a finer unit, bytes as text. Of any other
pair statistics of the file say nothing about the table's values.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, time
from decimal import Context, Decimal
from typing import Any, Literal
from uuid import UUID

from lakelens.codecs.part_statistics import PartStatistics
from lakelens.lazy import dataclass
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.ranges import Ranges
from lakelens.model.schema import DataType, Field

Family = Literal[
    "boolean",
    "integer",
    "float",
    "double",
    "decimal",
    "date",
    "time",
    "timestamp",
    "text",
    "bytes",
    "uuid",
]
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_UNIT_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_EXACT = Context(prec=200)


@dataclass(frozen=True, slots=True)
class StoredType:
    """What a file stores in a column.

    `bits` and `is_signed` are an integer's, `precision` and `scale` a decimal's; `digits` are those after the second of a
    time or timestamp, `is_utc` says whether a timestamp is an instant (None: the file does not say). `is_hybrid`: see
    `TableColumn`.
    """

    family: Family
    bits: int = 0
    is_signed: bool = True
    precision: int = 0
    scale: int = 0
    digits: int = 0
    is_utc: bool | None = None
    is_hybrid: bool = False


def is_readable(stored: StoredType, kind: DataType) -> bool:
    """Check whether stored values are values of a column's type, the same ones to every reader.

    >>> is_readable(StoredType("integer", bits=32), DataType("long", "int64"))
    True
    >>> is_readable(StoredType("integer", bits=64), DataType("int", "int32"))
    False
    """
    logical = kind.logical
    if kind.casefold().startswith("char"):
        return False  # some readers pad them, some do not
    match stored.family:
        case "integer":
            room = _BITS.get(logical, 53 if logical == "float64" else 0)
            return stored.bits <= room if stored.is_signed else stored.bits < room
        case "float":
            return logical in ("float32", "float64")
        case "decimal":
            return logical == "decimal" and stored.scale == kind.scale and stored.precision <= kind.precision
        case "time":
            return logical == "time" and stored.digits <= _count_digits(kind)
        case "timestamp":
            wanted = {"timestamp": False, "timestamptz": True}.get(logical)
            is_same = wanted is not None and stored.is_utc in (wanted, None)
            return is_same and stored.digits <= _count_digits(kind)
        case "bytes":
            return logical in ("binary", "fixed", "string", "uuid")
    names = {"boolean": "boolean", "double": "float64", "date": "date", "text": "string", "uuid": "uuid"}
    return names[stored.family] == logical


def promote(value: Any, stored: StoredType, kind: DataType) -> Any:
    """A decoded value of the file as a value of the column's type; None where it is none. The types are readable.

    >>> promote(7, StoredType("integer", bits=32), DataType("double", "float64"))
    7.0
    """
    if stored.is_hybrid and _is_ancient(value):
        return None
    if stored.family == "integer" and kind.logical == "float64":
        return float(value)
    if stored.family == "bytes" and kind.logical == "string":
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return None
    if stored.family == "bytes" and kind.logical == "uuid":
        return UUID(bytes=bytes(value)) if len(value) == 16 else None
    return value


def restore(value: Any, stored: StoredType, kind: DataType) -> tuple[Any, ...] | None:
    """The values a file would store that equal one of the column's: numbers, unscaled numbers, counts of units, or bytes.

    None where that is not known; empty where no stored value equals it.

    >>> restore(5, StoredType("integer", bits=32), DataType("long", "int64"))
    (5,)
    >>> restore(2**40, StoredType("integer", bits=32), DataType("long", "int64"))
    ()
    >>> restore(Decimal("1.50"), StoredType("decimal", precision=9, scale=2), DataType("decimal(9, 2)", "decimal", scale=2))
    (150,)
    """
    try:
        match stored.family:
            case "integer":
                return _restore_integer(value, stored)
            case "float" | "double":
                return _restore_float(float(value), stored, kind)
            case "decimal":
                unscaled = _EXACT.scaleb(Decimal(value), stored.scale)
                whole = int(unscaled)
                return (whole,) if whole == unscaled and abs(whole) < 10**stored.precision else ()
            case "date" | "time" | "timestamp":
                if stored.is_hybrid and _is_ancient(value):
                    return None
                return _restore_count(value, stored, kind)
            case "text":
                return (str(value).encode(),)
            case "bytes" | "uuid":
                return (value.encode() if isinstance(value, str) else bytes(getattr(value, "bytes", value)),)
    except (TypeError, ValueError, ArithmeticError, struct.error):
        pass  # a literal of another type than the column's
    return None


def _is_ancient(value: Any) -> bool:
    """Check whether a date or timestamp is from before the Gregorian calendar, or beyond what Python's dates hold."""
    return value.year < 1583 if isinstance(value, date) else not isinstance(value, time)


def _restore_integer(value: Any, stored: StoredType) -> tuple[int, ...]:
    whole = int(value)
    if whole != value:
        return ()
    low, high = (-(1 << stored.bits - 1), 1 << stored.bits - 1) if stored.is_signed else (0, 1 << stored.bits)
    return (whole,) if low <= whole < high else ()


def _restore_float(value: float, stored: StoredType, kind: DataType) -> tuple[float, ...] | None:
    if math.isnan(value):
        return None
    if stored.family == "float":
        near = struct.unpack("<f", struct.pack("<f", value))[0]
        # engines compare a float column with the double that is written, or with the float next to it
        if near != value and kind.logical != "float32":
            return ()
        value = near
    return (0.0, -0.0) if value == 0 else (value,)


def _restore_count(value: Any, stored: StoredType, kind: DataType) -> tuple[int, ...] | None:
    """Days, or units of the stored type since midnight or the epoch."""
    from lakelens.arrays import pa

    array = to_array([value], arrow_type(kind))
    width = pa.int32() if array.type.bit_width == 32 else pa.int64()
    count = array.view(width)[0].as_py()
    if count is None or stored.family == "date":
        return None if count is None else (count,)
    whole, rest = divmod(count, 10 ** (_count_digits(kind) - stored.digits))
    return () if rest else (whole,)


def _count_digits(kind: DataType) -> int:
    """Count the digits after the second that a column's values keep in Arrow."""
    return _UNIT_DIGITS[str(arrow_type(kind).unit)]


# Which column of a file is a column of the table: what each format finds out in its own way.


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A leaf of today's schema in one file: its type today, and the place of its column among the file's leaves.

    `place` is None where the file does not have the column: then `default` is in every row. `is_hybrid` says that
    dates and timestamps before 1583 may have been counted in another calendar than readers use.
    """

    type: DataType
    place: int | None = None
    default: Any = None
    is_hybrid: bool = False


#: Finds a column of the table in a file by its full name; None where it is not clear what the file has of it.
FindColumn = Callable[[str], TableColumn | None]


def walk_structs(fields: Sequence[Field], prefix: str = "") -> Iterator[tuple[str, tuple[Field, ...]]]:
    """The leaves that have one value a row, in no list and no map: the full name, and the fields from the top down to it."""
    for field in fields:
        name = f"{prefix}{field.name}"
        if not field.type.is_nested:
            yield name, (field,)
        elif field.type.logical == "struct":
            for below, path in walk_structs(field.type.children, f"{name}."):
                yield below, (field, *path)


def make_ranges(kind: DataType, parts: Sequence[PartStatistics]) -> Ranges:
    """Say what is proved of some parts of a file, as Arrow arrays; bounds are values of the type already."""
    from lakelens.arrays import pa

    target, count = arrow_type(kind), pa.int64()
    has_nans = pa.types.is_floating(target)
    return Ranges(
        to_array([part.lower for part in parts], target),
        to_array([part.upper for part in parts], target),
        pa.array([part.nulls for part in parts], count),
        pa.array([part.values for part in parts], count),
        pa.array([part.nans if has_nans else 0 for part in parts], count),
    )


def promote_part(part: PartStatistics, stored: StoredType | None, kind: DataType) -> PartStatistics:
    """Statistics as they are stored with bounds as values of a column's type, or without bounds where they are none."""
    lower = upper = None
    if part.lower is not None and stored is not None and is_readable(stored, kind):
        lower, upper = (promote(bound, stored, kind) for bound in (part.lower, part.upper))
        if lower is None or upper is None:
            lower = upper = None
    return replace(part, lower=lower, upper=upper)


def repeat_default(column: TableColumn, record_counts: Sequence[int]) -> Ranges:
    """Repeat what is known of a column that a file does not have: every row is null, or has the default."""
    from lakelens.arrays import pa

    value, rows = column.default, list(record_counts)
    target = arrow_type(column.type)
    bounds = to_array([value] * len(rows), target)
    nulls = pa.array(rows if value is None else [0] * len(rows), pa.int64())
    is_nan = isinstance(value, float) and value != value
    nans = pa.array(rows if is_nan else [0] * len(rows), pa.int64())
    return Ranges(bounds, bounds, nulls, pa.array(rows, pa.int64()), nans)
