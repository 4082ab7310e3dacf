"""Values of columns as what is put in order: whole numbers, texts, and back again; and as literals of SQL.

| logical type | ordered as |
| --- | --- |
| int8 to int64, date, time, timestamp, timestamptz, decimal | whole numbers: the count, the days, the ticks, the digits |
| float32, float64 | whole numbers in the order of the values; 0.0 and -0.0 are one |
| string | text |
| binary, fixed, uuid | text with a sign (U+0000 to U+00FF) for each byte |
| boolean | not replaced: two values have no other order |
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from lakelens.codecs.moments import FarTime
from lakelens.model.skeleton.scales import NANO_YEARS, YEARS, count_days

if TYPE_CHECKING:
    from lakelens.model.schema import DataType

_EPOCH = date(1970, 1, 1)
_DAY = timedelta(days=1)
_WIDE = Context(prec=80)
_MICRO = timedelta(microseconds=1)
#: new floats are whole numbers that 32 bits hold exactly
FLOATS = (2**20, 2**24 - 1)
TEXTS = frozenset(("string", "binary", "fixed", "uuid"))
_NUMBER_TYPES = "int8 int16 int32 int64 date time timestamp timestamptz decimal float32 float64"
NUMBERS = frozenset(_NUMBER_TYPES.split())
_BITS = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}
_EXACT = 15  # digits of a decimal that a double keeps


def rank_float(value: float) -> int:
    """Rank the place of a float among all floats.

    >>> rank_float(-1.5) < rank_float(-0.0) == rank_float(0.0) < rank_float(1e-300)
    True
    """
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) if bits >= 0 else -(int(bits) & 0x7FFF_FFFF_FFFF_FFFF)


def count_digits(precision: int) -> int:
    """Count the ticks of a second that a time of this precision has, as their number of digits: 0, 3, 6 or 9."""
    return 3 if precision <= 3 else 6 if precision <= 6 else 9


def to_ordinal(value: Any, kind: DataType) -> int | str:
    """Say what a value of a type is ordered by.

    >>> from lakelens.model.schema import DataType
    >>> to_ordinal(Decimal("1.50"), DataType("decimal(9, 2)", "decimal", precision=9, scale=2))
    150
    >>> to_ordinal(date(1970, 1, 3), DataType("date", "date"))
    2
    """
    return _TO[kind.logical](value, kind)


def from_ordinal(ordinal: int | str, kind: DataType) -> Any:
    """Give back the value of a type that is ordered by something.

    >>> from lakelens.model.schema import DataType
    >>> from_ordinal(150, DataType("decimal(9, 2)", "decimal", precision=9, scale=2))
    Decimal('1.50')
    >>> from_ordinal(2, DataType("date", "date"))
    datetime.date(1970, 1, 3)
    """
    return _FROM[kind.logical](ordinal, kind)


def find_limits(kind: DataType) -> tuple[int, int] | None:
    """Find what numbers may stand for values of a type; None for one without numbers. Long decimals have all their digits.

    >>> from lakelens.model.schema import DataType
    >>> find_limits(DataType("byte", "int8")), find_limits(DataType("string", "string"))
    ((-128, 127), None)
    """
    if kind.logical in _BITS:
        return -(2 ** _BITS[kind.logical]), 2 ** _BITS[kind.logical] - 1
    if kind.logical in ("float32", "float64"):
        return FLOATS
    if kind.logical == "decimal":
        most = 10**kind.precision - 1
        return (10 ** (kind.precision - 1) if kind.precision > _EXACT else -most), most
    if kind.logical == "time":
        return 0, 86_400_000_000 - 1
    if kind.logical not in NUMBERS:
        return None
    digits = count_digits(kind.precision)
    first, last = NANO_YEARS if kind.logical != "date" and digits == 9 else YEARS
    day = 1 if kind.logical == "date" else 86_400 * 10**digits
    return count_days(first) * day, count_days(last) * day


def write_literal(ordinal: int | str, kind: DataType) -> str:
    """Write a value as a literal of SQL.

    >>> from lakelens.model.schema import DataType
    >>> write_literal(2, DataType("date", "date")), write_literal("a'b", DataType("string", "string"))
    ("'1970-01-03'", "'a''b'")
    """
    return _WRITERS[kind.logical](ordinal, kind)


def _count_ticks(value: Any, kind: DataType) -> int:
    digits = count_digits(kind.precision)
    if isinstance(value, datetime):
        micros = int((value - datetime(1970, 1, 1, tzinfo=value.tzinfo)) // _MICRO)
        return micros * 1_000 if digits == 9 else micros // 10 ** (6 - digits)
    return int(value.count_in({3: "ms", 6: "us", 9: "ns"}[digits]))


def _count_micros(ordinal: int, kind: DataType) -> timedelta:
    return timedelta(microseconds=ordinal * 1_000_000 // 10 ** count_digits(kind.precision))


def _count_days(value: Any, kind: DataType) -> int:
    if isinstance(value, FarTime):
        return value.count_in("D")
    return (value.date() if isinstance(value, datetime) else value).toordinal() - date(1970, 1, 1).toordinal()


def _count_clock(value: time, kind: DataType) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond


def _write_ticks(ordinal: Any, kind: DataType) -> str:
    digits = count_digits(kind.precision)
    seconds, ticks = divmod(ordinal, 10**digits)
    moment = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    return f"'{moment:%Y-%m-%d %H:%M:%S}.{ticks:0{digits}d}'"


def _write_clock(ordinal: Any, kind: DataType) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ordinal)
    return f"'{moment:%H:%M:%S.%f}'"


def quote(text: str) -> str:
    """Quote a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


_TO: Mapping[str, Callable[[Any, DataType], int | str]] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), lambda value, kind: int(value)),
    **dict.fromkeys(("float32", "float64"), lambda value, kind: rank_float(float(value))),
    **dict.fromkeys(("timestamp", "timestamptz"), _count_ticks),
    "date": _count_days,
    "time": _count_clock,
    "decimal": lambda value, kind: int(_WIDE.scaleb(Decimal(value), kind.scale)),
    "string": lambda value, kind: str(value),
    **dict.fromkeys(("binary", "fixed"), lambda value, kind: bytes(value).decode("latin-1")),
    "uuid": lambda value, kind: (value.bytes if isinstance(value, UUID) else bytes(value)).decode("latin-1"),
}
_FROM: Mapping[str, Callable[[Any, DataType], Any]] = {
    **dict.fromkeys(_BITS, lambda ordinal, kind: ordinal),
    **dict.fromkeys(("float32", "float64"), lambda ordinal, kind: float(ordinal)),
    "timestamp": lambda ordinal, kind: datetime(1970, 1, 1) + _count_micros(ordinal, kind),
    "timestamptz": lambda ordinal, kind: datetime(1970, 1, 1, tzinfo=UTC) + _count_micros(ordinal, kind),
    "date": lambda ordinal, kind: _EPOCH + ordinal * _DAY,
    "time": lambda ordinal, kind: (datetime(1970, 1, 1) + ordinal * _MICRO).time(),
    "decimal": lambda ordinal, kind: _WIDE.scaleb(Decimal(ordinal), -kind.scale),
    "string": lambda ordinal, kind: ordinal,
    **dict.fromkeys(("binary", "fixed"), lambda ordinal, kind: ordinal.encode("latin-1")),
    "uuid": lambda ordinal, kind: UUID(bytes=ordinal.encode("latin-1")),
}
_WRITERS: Mapping[str, Callable[[Any, DataType], str]] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), lambda ordinal, kind: str(ordinal)),
    **dict.fromkeys(("float32", "float64"), lambda ordinal, kind: f"{ordinal}.0"),
    **dict.fromkeys(("timestamp", "timestamptz"), _write_ticks),
    "date": lambda ordinal, kind: f"'{_EPOCH + ordinal * _DAY}'",
    "time": _write_clock,
    "decimal": lambda ordinal, kind: f"{_WIDE.scaleb(Decimal(ordinal), -kind.scale):f}",
    "string": lambda ordinal, kind: quote(ordinal),
    **dict.fromkeys(("binary", "fixed"), lambda ordinal, kind: f"X'{ordinal.encode('latin-1').hex()}'"),
    "uuid": lambda ordinal, kind: quote(str(UUID(bytes=ordinal.encode("latin-1")))),
}
