"""Statistics of an older type as values of today's type.

Only where the cast keeps every value and the order: integers to wider integers, decimals or floating point that holds them,
FLOAT to DOUBLE, decimals to wider decimals, texts and bytes to longer ones, dates and timestamps to finer timestamps. For
any other change (a number to a text, say) the old bounds say nothing of today's values: they are left out, the counts stay.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Context, Decimal
from typing import Any

from lakelens.codecs.paimon.types import PaimonType, make_nullable

_RANGES = {"TINYINT": 2**7, "SMALLINT": 2**15, "INT": 2**31, "BIGINT": 2**63}
_FLOATS = {"FLOAT": 2**24, "DOUBLE": 2**53}
_EXACT = Context(prec=100)
_TEXTS = {"CHAR", "VARCHAR"}
_BYTES = {"BINARY", "VARBINARY"}
_TIMESTAMPS = {"TIMESTAMP", "TIMESTAMP_LTZ"}

Promotion = Callable[[Any], Any]


def find_promotion(old: PaimonType, new: PaimonType) -> Promotion | None:
    """A function that gives an old value as a value of the new type, None where that one does not fit.

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
        return _from_integer(new)
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
    """The value as it is."""
    return value


def _from_integer(new: PaimonType) -> Promotion | None:
    limit = _RANGES.get(new.name)
    if limit is not None:
        return lambda value: value if -limit <= value < limit else None
    exact = _FLOATS.get(new.name)
    if exact is not None:
        return lambda value: float(value) if -exact <= value <= exact else None
    if new.name == "DECIMAL":
        return lambda value: _fit_decimal(Decimal(value), new)
    return None


def _fit_decimal(value: Decimal, new: PaimonType) -> Decimal | None:
    precision, scale = new.precision or 10, new.scale or 0
    unscaled = _EXACT.scaleb(value, scale)
    if unscaled != _EXACT.to_integral_value(unscaled) or abs(int(unscaled)) >= 10**precision:
        return None
    return _EXACT.scaleb(Decimal(int(unscaled)), -scale)
