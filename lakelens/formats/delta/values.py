"""Values that the log holds as text: partition values and statistics, by the types of the columns.

See "Partition Value Serialization" and "Per-file Statistics" of the Delta protocol. Bounds are made as wide as what was cut
off may need: writers cut text to 32 characters and timestamps to milliseconds.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any
from urllib.parse import quote

from lakelens.errors import Corrupt
from lakelens.model.schema import DataType

NULL = "__HIVE_DEFAULT_PARTITION__"
CUT = 32  # characters of text in statistics
EXACT_DIGITS, _DOUBLE_DIGITS = 15, 17  # that a double always keeps, and that it is written with
_PLAIN = " !$&()+,-.;<>@[]^_`{|}~"  # what Hive leaves as it is in the name of a partition's directory
_MINUTE = timedelta(seconds=59)
_ODD_ZONE = re.compile(r":\d\d(?:\.\d+)?[+-]\d\d:?(\d\d)$")
_MILLISECOND = timedelta(microseconds=999)
_MOMENT = re.compile(
    r"([+-]?\d{1,6})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d\d:?\d\d(?::\d\d)?)?"
)


def parse_value(text: str, kind: DataType) -> Any:
    """Parse a partition value, or a bound that is text. Raises `ValueError` for what is none of the type.

    >>> parse_value("2024-01-31 10:11:12.5", DataType("timestamp", "timestamptz", precision=6))
    datetime.datetime(2024, 1, 31, 10, 11, 12, 500000, tzinfo=datetime.timezone.utc)
    >>> parse_value("true", DataType("boolean", "boolean")), parse_value("-5", DataType("integer", "int32"))
    (True, -5)
    """
    match kind.logical:
        case "string":
            return text
        case "boolean":
            if text.strip().lower() not in ("true", "false"):
                raise ValueError(f"{text!r} is no boolean")
            return text.strip().lower() == "true"
        case "int8" | "int16" | "int32" | "int64":
            number = int(text)
            if not -(2**63) <= number < 2**63:
                raise ValueError(f"{text!r} has more than 64 bits")
            return number
        case "float32" | "float64":
            return float(text)
        case "decimal":
            return parse_decimal(text, kind)
        case "binary":
            return text.encode("utf-8", "surrogatepass")
        case "date":
            return parse_moment(text, is_utc=False)[0].date()
        case "timestamptz":
            return parse_moment(text, is_utc=True)[0]
        case "timestamp":
            return parse_moment(text, is_utc=False)[0]
    return text


def parse_decimal(value: Any, kind: DataType) -> Decimal:
    """Parse a decimal with the digits of its type. Raises `ValueError`."""
    try:
        number = Decimal(str(value))
        if not number.is_finite() or abs(number.adjusted()) > 100:
            raise ValueError(f"{value!r} is no decimal")
        with localcontext() as context:
            context.prec = 200
            scaled = number.quantize(Decimal(1).scaleb(-kind.scale))
    except InvalidOperation:
        raise ValueError(f"{value!r} is no decimal") from None
    return scaled if scaled == number else number


def parse_moment(text: str, *, is_utc: bool) -> tuple[datetime, int]:
    """Parse a date or a timestamp, and how many digits it has after the second. Raises `ValueError`.

    Without a zone it is taken for UTC: the writer's zone is recorded nowhere.
    """
    matched = _MOMENT.fullmatch(text.strip())
    if matched is None:
        raise ValueError(f"{text!r} is no time")
    year, month, day, hour, minute, second, fraction, zone = matched.groups()
    digits = fraction or ""
    moment = datetime(
        int(year),
        int(month),
        int(day),
        int(hour or 0),
        int(minute or 0),
        int(second or 0),
        int(digits[:6].ljust(6, "0")),
    )
    if not is_utc:
        return moment, len(digits)
    if zone and zone not in ("Z", "UTC"):
        sign = -1 if zone[0] == "-" else 1
        hours, minutes, *seconds = (int(part) for part in re.findall(r"\d\d", zone))
        moment -= sign * timedelta(hours=hours, minutes=minutes, seconds=sum(seconds))
    return moment.replace(tzinfo=UTC), len(digits)


def format_partition(text: str | None) -> str:
    """A partition value as it stands in the name of a directory.

    >>> format_partition("a/b=c"), format_partition(None)
    ('a%2Fb%3Dc', '__HIVE_DEFAULT_PARTITION__')
    """
    if not text:
        return NULL
    return quote(text, safe=_PLAIN, errors="surrogatepass")


def parse_statistics(text: str, path: str) -> dict[str, Any]:
    """Parse the statistics of a file; numbers with a point keep all their digits. Raises `Corrupt`."""
    try:
        held = json.loads(text, parse_float=Decimal)
    except (TypeError, ValueError, RecursionError, InvalidOperation) as error:
        raise Corrupt("statistics are no JSON", path=path, expected="stats", seen=str(error)) from None
    if not isinstance(held, dict):
        raise Corrupt("statistics are no object", path=path, expected="{…}", seen=str(text)[:60])
    return held


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
        return _widen_text(stored) if is_upper else (stored, _is_cut(stored))
    if logical in ("timestamp", "timestamptz"):
        moment, digits = (
            (stored, 6)
            if isinstance(stored, datetime)
            else parse_moment(str(stored), is_utc=logical == "timestamptz")
        )
        if isinstance(stored, datetime):
            moment = stored.replace(tzinfo=UTC if logical == "timestamptz" else None)
            digits = 3 if stored.microsecond % 1000 == 0 else 6
        is_cut = digits <= 3
        if isinstance(stored, str) and (zone := _ODD_ZONE.search(stored)) and int(zone[1]) % 15:
            # delta-spark before 4.0 writes offsets of times before there were zones without their seconds
            moment += _MINUTE if is_upper else -_MINUTE
        return (moment + _MILLISECOND if is_cut and is_upper else moment), is_cut and is_upper
    if logical in ("float32", "float64"):
        number = float(stored)
        return (None if number != number else number), False
    if logical == "decimal":
        return _widen_decimal(parse_decimal(stored, kind), kind, is_upper)
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


def _widen_decimal(number: Decimal, kind: DataType, is_upper: bool) -> tuple[Decimal, bool]:
    """Widen a bound that may have gone through a double, as delta-rs writes it: then its last digits are rounded."""
    if kind.precision <= EXACT_DIGITS or len(number.normalize().as_tuple().digits) > _DOUBLE_DIGITS:
        return number, False
    near = float(number)
    if Decimal(repr(near)) != number:
        return number, False
    with localcontext() as context:
        context.prec = 200
        rounded = Decimal(math.ulp(near))
        return (number + rounded if is_upper else number - rounded), True


def _is_cut(text: str) -> bool:
    """Whether text has the length to which it is cut, in characters, or in units of UTF-16 as some writers count."""
    return len(text) >= CUT or len(text) + sum(ord(letter) > 0xFFFF for letter in text) >= CUT


def _widen_text(text: str) -> tuple[str | None, bool]:
    """Raise an upper bound that was cut and not raised by its writer, who would have appended a character for it."""
    units = len(text) + sum(ord(letter) > 0xFFFF for letter in text)
    if CUT not in (len(text), units):
        return text, _is_cut(text)
    for place in range(len(text) - 1, -1, -1):
        code = ord(text[place]) + 1
        code = 0xE000 if 0xD800 <= code <= 0xDFFF else code
        if code <= 0x10FFFF:
            return text[:place] + chr(code), True
    return None, True
