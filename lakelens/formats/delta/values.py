"""Values that the log holds as text: partition values and statistics, by the types of the columns.

See "Partition Value Serialization" and "Per-file Statistics" of the Delta protocol. Bounds are made as wide as what was cut
off may need: writers cut text to 32 characters and timestamps to milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from lakelens.codecs.text.objects import parse_object
from lakelens.model.scan.text_values import parse_decimal, parse_moment, parse_value
from lakelens.model.scan.wide_bounds import is_cut, widen_decimal, widen_text
from lakelens.model.schema import DataType

NULL = "__HIVE_DEFAULT_PARTITION__"
BAD = (ValueError, OverflowError, ArithmeticError, TypeError)  # what a value of another type raises
_PLAIN = " !$&()+,-.;<>@[]^_`{|}~"  # what Hive leaves as it is in the name of a partition's directory
_MINUTE = timedelta(seconds=59)
_ODD_ZONE = re.compile(r":\d\d(?:\.\d+)?[+-]\d\d:?(\d\d)$")
_MILLISECOND = timedelta(microseconds=999)


def format_partition(text: str | None) -> str:
    """A partition value as it stands in the name of a directory.

    >>> format_partition("a/b=c"), format_partition(None)
    ('a%2Fb%3Dc', '__HIVE_DEFAULT_PARTITION__')
    """
    return quote(text, safe=_PLAIN, errors="surrogatepass") if text else NULL


def parse_statistics(text: str, path: str) -> dict[str, Any]:
    """Parse the statistics of a file; numbers with a point keep all their digits. Raises `Corrupt`."""
    return parse_object(text, path, "stats", parse_float=Decimal)


def find_leaf(held: Any, names: tuple[str, ...]) -> Any:
    """Find what statistics hold of a leaf, by its physical names; None where they do not have it."""
    for name in names:
        if not isinstance(held, Mapping):
            return None
        held = held.get(name)
    return None if isinstance(held, Mapping) else held


def read_bound(stored: Any, kind: DataType, *, is_upper: bool) -> tuple[Any, bool]:
    """Read a bound, and whether it was cut: then it is made so wide that it bounds whatever was there.

    None for what bounds nothing: NaN, and text that cannot be raised. Raises `ValueError` for what is none of the type.

    >>> read_bound("2024-01-01T00:00:00.123Z", DataType("timestamp", "timestamptz", precision=6), is_upper=True)
    (datetime.datetime(2024, 1, 1, 0, 0, 0, 123999, tzinfo=datetime.timezone.utc), True)
    >>> read_bound("z" * 32, DataType("string", "string"), is_upper=True)[0][-2:]
    'z{'
    """
    if stored is None:
        return None, False
    logical = kind.logical
    if logical == "string":
        if not isinstance(stored, str):
            raise ValueError(f"{stored!r} is no text")
        return widen_text(stored) if is_upper else (stored, is_cut(stored))
    if logical in ("timestamp", "timestamptz"):
        if isinstance(stored, datetime):
            moment = stored.replace(tzinfo=UTC if logical == "timestamptz" else None)
            digits = 3 if stored.microsecond % 1000 == 0 else 6
        else:
            moment, digits = parse_moment(str(stored), is_utc=logical == "timestamptz")
        is_short = digits <= 3
        if isinstance(stored, str) and (zone := _ODD_ZONE.search(stored)) and int(zone[1]) % 15:
            # delta-spark before 4.0 writes offsets of times before there were zones without their seconds
            moment += _MINUTE if is_upper else -_MINUTE
        return (moment + _MILLISECOND if is_short and is_upper else moment), is_short and is_upper
    if logical in ("float32", "float64"):
        number = float(stored)
        return (None if number != number else number), False
    if logical == "decimal":
        return widen_decimal(parse_decimal(stored, kind), kind, is_upper)
    if logical == "date" and isinstance(stored, date):
        return stored, False
    if logical.startswith("int") and isinstance(stored, Decimal | float):
        if stored != int(stored):
            raise ValueError(f"{stored!r} is no whole number")
        return int(stored), False
    if logical == "boolean" and isinstance(stored, bool):
        return stored, False
    if logical in ("unknown", "variant", "list", "map", "struct", "binary"):
        return None, False
    return parse_value(str(stored), kind), False
