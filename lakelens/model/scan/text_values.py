"""Values that a document holds as text, by the logical types of columns."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation, localcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakelens.model.schema import DataType

_MOMENT = re.compile(
    r"([+-]?\d{1,6})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d\d:?\d\d(?::\d\d)?)?"
)


def parse_value(text: str, kind: DataType) -> Any:
    """Parse a value of a type from its text. Raises `ValueError` for what is none of the type.

    >>> from lakelens.model.schema import DataType
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


def format_value(value: Any, between: str) -> str:
    """Format a value as `parse_value` parses it; `between` stands between date and time.

    >>> format_value(datetime(2024, 1, 31, tzinfo=UTC), "T"), format_value(True, " ")
    ('2024-01-31T00:00:00.000000Z', 'true')
    """
    if isinstance(value, datetime):
        return value.strftime(f"%Y-%m-%d{between}%H:%M:%S.%f") + ("Z" if value.tzinfo is not None else "")
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, bool):
        return str(value).lower()
    return (
        f"{value:f}"
        if isinstance(value, Decimal)
        else value.isoformat()
        if isinstance(value, date)
        else str(value)
    )
