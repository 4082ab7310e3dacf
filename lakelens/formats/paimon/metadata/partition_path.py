"""The text of a partition value in a directory's name.

With `partition.legacy-name` (the default) Paimon prints its internal value: a DATE is a day number, a TIME milliseconds, a
TIMESTAMP Java's ISO form (`2024-01-01T00:00`). Without it the value is cast to text as SQL does. Texts that are null, empty
or blank all become the default partition name.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Context, Decimal
from typing import Any

from lakelens.codecs.paimon.types import PaimonType

_EPOCH = date(1970, 1, 1)
_EXACT = Context(prec=100)
_NO_BLANKS = "\u00a0\u2007\u202f"  # blank to Python, not to Java


def format_value(value: Any, kind: PaimonType, *, legacy: bool) -> str | None:
    """The text of a value, not yet escaped; None for null.

    >>> day = date(2024, 1, 1)
    >>> format_value(day, PaimonType("DATE"), legacy=True), format_value(day, PaimonType("DATE"), legacy=False)
    ('19723', '2024-01-01')
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format_float(value, single=kind.name == "FLOAT")
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if kind.name == "DATE":
        return _format_date(value, legacy)
    if kind.name == "TIME":
        return _format_time(value, kind.precision or 0, legacy)
    if kind.name in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return _format_timestamp(value, kind.precision or 0, legacy)
    return str(value)


def is_blank(text: str | None) -> bool:
    """Whether the text is null, empty or blank to Java.

    >>> is_blank(None), is_blank(" \\t"), is_blank("\\u00a0"), is_blank("a")
    (True, True, False, False)
    """
    return text is None or (not text.strip() and not any(char in text for char in _NO_BLANKS))


def format_float(value: float, *, single: bool) -> str:
    """A floating-point number as Java prints it.

    >>> format_float(1.5, single=False), format_float(1e10, single=False), format_float(float("nan"), single=False)
    ('1.5', '1.0E10', 'NaN')
    """
    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    digits = repr(value)
    if single:
        import numpy as np

        digits = str(np.float32(value))
    number = Decimal(_two_digits(value, digits, single))
    if number == 0:
        return "-0.0" if digits.startswith("-") else "0.0"
    number = _EXACT.normalize(number)
    sign, figures, _ = number.as_tuple()
    exponent = number.adjusted()
    text = "".join(map(str, figures))
    if -3 <= exponent < 7:
        plain = format(number, "f")
        return plain if "." in plain else plain + ".0"
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{exponent}"


def _two_digits(value: float, digits: str, single: bool) -> str:
    """Java prints at least two digits, and of all such texts the nearest one: 4.9E-324 where Python says 5e-324."""
    longer = f"{value:.1e}"
    if len(_EXACT.normalize(Decimal(digits)).as_tuple().digits) > 1:
        return digits
    if not single:
        return longer if float(longer) == value else digits
    import numpy as np

    return longer if np.float32(longer) == np.float32(value) else digits


def _format_date(value: Any, legacy: bool) -> str:
    if not legacy:
        return str(value)
    days = (value - _EPOCH).days if isinstance(value, date) else int(value.astype("int64"))
    return str(days)


def _format_time(value: Any, precision: int, legacy: bool) -> str:
    if not isinstance(value, time):  # outside one day
        return str(int(value.astype("int64")))
    millis = ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
    if legacy:
        return str(millis)
    return f"{value:%H:%M:%S}" + _format_fraction(f"{millis % 1000:03d}", precision)


def _format_timestamp(value: Any, precision: int, legacy: bool) -> str:
    if not isinstance(value, datetime):  # outside Python's years
        return str(value)
    plain = value.astimezone(UTC) if value.tzinfo else value
    nanos = plain.microsecond * 1000 + int(getattr(plain, "nanosecond", 0))
    day = f"{plain.year:04d}-{plain.month:02d}-{plain.day:02d}"
    clock = f"{plain.hour:02d}:{plain.minute:02d}"
    if not legacy:
        return f"{day} {clock}:{plain.second:02d}" + _format_fraction(f"{nanos:09d}", precision)
    if not plain.second and not nanos:
        return f"{day}T{clock}"
    figures = f"{nanos:09d}"
    if nanos % 1_000_000 == 0:
        figures = figures[:3] if nanos else ""
    elif nanos % 1000 == 0:
        figures = figures[:6]
    return f"{day}T{clock}:{plain.second:02d}" + (f".{figures}" if figures else "")


def _format_fraction(figures: str, precision: int) -> str:
    """The digits after the second: at least `precision` of them, more when they are not zero."""
    while len(figures) > precision and figures.endswith("0"):
        figures = figures[:-1]
    return f".{figures}" if figures else ""
