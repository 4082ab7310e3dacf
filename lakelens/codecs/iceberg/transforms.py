"""Iceberg partition transforms: what the text of a spec means, and how partition values are written for people.

    identity    the value                   year   month   day   hour     int since 1970 (day: a date)
    bucket[N]   (murmur3_x86_32(value) & 0x7fffffff) % N                  void   always null
    truncate[W] numbers: down to a multiple of W; strings: first W code points; binary: first W bytes

Follows "Partition Transforms" of the Iceberg table specification. Texts are those of the Java library's
`Transform.toHumanString`, which directory names and the `partition_summaries` of the metadata tables are made of (compared
with Iceberg 1.12; much older releases wrote a zoned timestamp with `Z`).

The text of an unknown transform is kept, and its values are shown raw.
"""

from __future__ import annotations

import base64
import re
import struct
import uuid
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any
from urllib.parse import quote_plus

from lakelens.codecs.iceberg.types import IcebergType
from lakelens.codecs.moments import FarTime, Unit, civil_date
from lakelens.codecs.numbers import write_single
from lakelens.lazy import dataclass

_DAY_MICROS = 86_400_000_000
_WITH_WIDTH = re.compile(r"(\w+)\[(\d{1,10})\]")
_WIDE = Context(prec=80)
_WITHOUT_WIDTH = ("identity", "year", "month", "day", "hour", "void")


@dataclass(frozen=True, slots=True)
class Transform:
    """One transform of a partition spec or a sort order.

    `name` is the transform's word (`bucket`, `day`, …), `width` its N or W, `text` what the file says.

    >>> Transform.parse("bucket[16]")
    Transform(name='bucket', width=16, text='bucket[16]')
    """

    name: str
    width: int | None
    text: str

    @classmethod
    def parse(cls, text: str) -> Transform:
        """Parse the transform that a text spells; an unknown one keeps its text as its name and `is_known` is False.

        >>> Transform.parse("zorder").is_known
        False
        """
        word = text.strip().lower()
        if word in _WITHOUT_WIDTH:
            return cls(word, None, text)
        match = _WITH_WIDTH.fullmatch(word)
        if match and match[1] in ("bucket", "truncate") and 0 < int(match[2]) < 2**31:
            return cls(match[1], int(match[2]), text)
        return cls(text, None, text)

    @property
    def is_known(self) -> bool:
        """False for a transform of a later version of the format: its values are shown raw and never pruned by."""
        return self.width is not None or self.name in _WITHOUT_WIDTH

    def __str__(self) -> str:
        return self.text

    def result_type(self, source: IcebergType) -> IcebergType:
        """The type of the partition values made from a column of type `source`; unknown for an unknown transform.

        >>> str(Transform.parse("day").result_type(IcebergType("timestamptz")))
        'date'
        """
        if not self.is_known:
            return IcebergType(self.text)  # an unknown type, too: its values are shown raw
        if self.name == "day":
            return IcebergType("date")
        return IcebergType("int") if self.name in ("bucket", "year", "month", "hour") else source

    def apply(self, value: Any, source: IcebergType) -> Any:
        """The partition value of a value of a column of type `source`; None for null, and where the transform has none.

        Follows "Partition Transforms", "Bucket Transform Details" and "Appendix B: 32-bit Hash Requirements".

        >>> Transform.parse("bucket[16]").apply(34, IcebergType("int"))
        3
        >>> Transform.parse("truncate[10]").apply(-1, IcebergType("int"))
        -10
        """
        if value is None or self.name == "void" or not self.is_known:
            return None
        if self.name == "identity":
            return value
        if self.width is None:
            days = epoch_count(value, source.name)
            return _UNITS[self.name](days, source.name)
        if self.name == "bucket":
            from lakelens.codecs.hashes import hash_murmur3  # a first card needs none

            stored = _hashed_bytes(value, source.name)
            return None if stored is None else (hash_murmur3(stored) & 0x7FFF_FFFF) % self.width
        width = self.width
        if isinstance(value, Decimal):
            scale = value.as_tuple().exponent
            assert isinstance(scale, int)
            unscaled = int(value.scaleb(-scale, _WIDE))
            return Decimal(unscaled - unscaled % width).scaleb(scale, _WIDE)
        return value - value % width if isinstance(value, int) else value[:width]

    def render(self, value: Any, type_: IcebergType) -> str:
        """Render a partition value as the Java library prints it.

        `value` is a partition value (already transformed), `type_` the type of it or of its source column; dates and
        timestamps may be Python values or the counts that the file holds. Null prints `null`.

        >>> Transform.parse("month").render(-1, IcebergType("date"))
        '1969-12'
        >>> Transform.parse("identity").render(19723, IcebergType("date"))
        '2024-01-01'
        """
        if value is None:
            return "null"
        if (format_count := _CALENDAR.get(self.name)) is not None:
            return format_count(epoch_count(value, "date"))
        return str(value) if self.name == "bucket" else render_value(value, type_)


def _hashed_bytes(value: Any, source: str) -> bytes | None:
    """The bytes of a value that Iceberg hashes; None for a type that has no hash."""
    if source in ("int", "long", "date", "time") or source.startswith("timestamp"):
        count = epoch_count(value, source)
        # nanoseconds hash as the microseconds that they begin
        return struct.pack("<q", count // 1000 if source.endswith("_ns") else count)
    if source == "decimal":
        sign, digits, _ = value.as_tuple()
        unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
        return unscaled.to_bytes(
            (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1, "big", signed=True
        )
    if source == "string":
        return str(value).encode()
    if source == "uuid":
        return bytes(getattr(value, "bytes", value))
    return bytes(value) if source in ("fixed", "binary") else None


def _count_months(count: int, source: str) -> int:
    year, month, _ = civil_date(_count_days(count, source))
    return (year - 1970) * 12 + month - 1


def _count_days(count: int, source: str) -> int:
    return count if source == "date" else count // (_DAY_MICROS * (1000 if source.endswith("_ns") else 1))


_UNITS: dict[str, Callable[[int, str], int]] = {
    "year": lambda count, source: civil_date(_count_days(count, source))[0] - 1970,
    "month": _count_months,
    "day": _count_days,
    "hour": lambda count, source: count // (3_600_000_000 * (1000 if source.endswith("_ns") else 1)),
}


def partition_path(names: Iterable[str], strings: Iterable[str]) -> str:
    """The directory of a partition below `data/`: `name=value/…`, both parts URL-form-encoded as Java's URLEncoder does.

    >>> partition_path(["day", "what now"], ["2024-01-01", "a b/ü~*"])
    'day=2024-01-01/what+now=a+b%2F%C3%BC%7E*'
    """
    return "/".join(f"{_form_encode(n)}={_form_encode(v)}" for n, v in zip(names, strings, strict=True))


def _form_encode(text: str) -> str:
    if text.isascii() and text.isalnum():
        return text  # most values are a number or a word
    return quote_plus(text, safe="*", errors="replace").replace("~", "%7E")


# --- human strings -----------------------------------------------------------------------------------------------------


def render_value(value: Any, type_: IcebergType) -> str:
    """Render a value of a type as the Java library prints it in identity and truncate partitions.

    >>> render_value(b"\\0\\1", IcebergType("binary")), render_value(True, IcebergType("boolean"))
    ('AAE=', 'true')
    """
    if value is None:
        return "null"
    name = type_.name
    if name == "date":
        return _human_day(epoch_count(value, name))
    if name == "time":
        return _human_time(epoch_count(value, name) * 1000)
    if name.startswith("timestamp"):
        nanos = epoch_count(value, name) * (1 if name.endswith("_ns") else 1000)
        # Java's `ISO_LOCAL_DATE_TIME`: a plus sign after year 9999, a minus sign and four digits before year 0
        days, rest = divmod(nanos, 86_400_000_000_000)
        year, month, day = civil_date(days)
        sign = "-" if year < 0 else "+" if year > 9999 else ""
        zone = "+00:00" if name.startswith("timestamptz") else ""
        return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}T{_iso_time(rest)}{zone}"
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode() if name != "uuid" else str(uuid.UUID(bytes=bytes(value)))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _human_float(value, single=name == "float")
    return str(value)


def _human_day(days: int) -> str:
    year, month, day = civil_date(days)
    return f"{year:04d}-{month:02d}-{day:02d}"


_CALENDAR: dict[str, Callable[[int], str]] = {
    "year": lambda years: f"{1970 + years:04d}",
    "month": lambda months: f"{1970 + months // 12:04d}-{months % 12 + 1:02d}",
    "day": _human_day,
    "hour": lambda hours: f"{_human_day(hours // 24)}-{hours % 24:02d}",
}


def _human_time(nanos: int) -> str:
    """Java's `LocalTime.toString`: seconds only when they are not zero, the fraction in groups of three digits."""
    text = _iso_time(nanos)
    if nanos % 60_000_000_000 == 0:
        return text[:5]
    fraction = text[9:]
    return text + "0" * (-len(fraction) % 3)


def _iso_time(nanos: int) -> str:
    """Java's `ISO_LOCAL_TIME`: seconds always, as many digits of fraction as it takes."""
    seconds, fraction = divmod(nanos, 1_000_000_000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{fraction:09d}".rstrip("0") if fraction else text


def _human_float(value: float, *, single: bool) -> str:
    """Java's `Float.toString` and `Double.toString`: plain between 0.001 and 10 million, else `1.0E10`."""
    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    shortest = Decimal(write_single(value) if single else repr(value))
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = format(shortest, "f")
        text = text.rstrip("0") if "." in text else text
        return f"{text}.0" if "." not in text else f"{text}0" if text.endswith(".") else text
    sign, digits, _ = shortest.as_tuple()
    figures = "".join(map(str, digits)).rstrip("0")
    return f"{'-' if sign else ''}{figures[0]}.{figures[1:] or '0'}E{shortest.adjusted()}"


# --- counting ----------------------------------------------------------------------------------------------------------


def epoch_count(value: Any, type_name: str) -> int:
    """A date, time or timestamp as the count that the format stores: days, µs of the day, µs or ns since the epoch.

    Counts pass through; values of `numpy` and `pandas.Timestamp` are understood.

    >>> from datetime import date
    >>> epoch_count(date(2024, 1, 1), "date")
    19723
    """
    if isinstance(value, int):
        return value
    nanos = type_name.endswith("_ns")
    if isinstance(value, datetime):
        micros = (value - datetime(1970, 1, 1, tzinfo=value.tzinfo)) // timedelta(microseconds=1)
        if type_name == "date":
            return micros // _DAY_MICROS
        return micros * 1000 + getattr(value, "nanosecond", 0) if nanos else micros
    if isinstance(value, date):
        days = value.toordinal() - 719_163
        return days if type_name == "date" else days * _DAY_MICROS * (1000 if nanos else 1)
    if isinstance(value, time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    unit: Unit = "D" if type_name == "date" else "ns" if nanos else "us"
    if isinstance(value, FarTime):
        return value.count_in(unit)
    import numpy as np

    if isinstance(value, np.datetime64):
        return int(value.astype(f"datetime64[{unit}]").astype(np.int64))
    if isinstance(value, np.timedelta64):
        return int(value.astype(f"timedelta64[{unit}]").astype(np.int64))
    return int(value)
