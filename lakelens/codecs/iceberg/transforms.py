"""Iceberg partition transforms: what a spec's text means, what a partition value looks like to a human, and apply.

    identity    the value                   year   month   day   hour     int since 1970 (day: a date)
    bucket[N]   (murmur3_x86_32(value) & 0x7fffffff) % N                  void   always null
    truncate[W] numbers: down to a multiple of W; strings: first W code points; binary: first W bytes

Follows "Partition Transforms" and appendix B ("32-bit Hash Requirements") of the Iceberg table specification. Human
strings are those of the Java library's `Transform.toHumanString`, which directory names and the `partition_summaries` of the
metadata tables are made of (compared with Iceberg 1.12; much older releases wrote a zoned timestamp with `Z`).

A transform that is not known is kept as it is written and its values are shown raw.
"""

from __future__ import annotations

import base64
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any
from urllib.parse import quote_plus

from lakelens.codecs.iceberg.types import IcebergType
from lakelens.errors import Unsupported

#: How many values of each calendar transform's source unit make a day or an hour.
_MICROS_PER = {"day": 86_400_000_000, "hour": 3_600_000_000}
_WITH_WIDTH = re.compile(r"(\w+)\[(\d{1,10})\]")
_INT = IcebergType("int")
_EXACT = Context(prec=80)  # more digits than 16 bytes can hold: scaling never rounds


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
        """The transform that a text spells; an unknown one keeps its text as name and `is_known` is False.

        >>> Transform.parse("zorder").is_known
        False
        """
        word = text.strip().lower()
        if word in ("identity", "year", "month", "day", "hour", "void"):
            return cls(word, None, text)
        match = _WITH_WIDTH.fullmatch(word)
        if match and match[1] in ("bucket", "truncate") and 0 < int(match[2]) < 2**31:
            return cls(match[1], int(match[2]), text)
        return cls(text, None, text)

    @property
    def is_known(self) -> bool:
        """False for a transform of a later version of the format: show raw, never prune by it."""
        return self.width is not None or self.name in ("identity", "year", "month", "day", "hour", "void")

    def __str__(self) -> str:
        return self.text

    def result_type(self, source: IcebergType) -> IcebergType:
        """The type of the partition values made from a column of type `source`; unknown for an unknown transform.

        >>> str(Transform.parse("day").result_type(IcebergType("timestamptz")))
        'date'
        """
        if not self.is_known:
            return IcebergType(self.text)  # a type that is not known either: its values are shown raw
        if self.name == "day":
            return IcebergType("date")
        return _INT if self.name in ("bucket", "year", "month", "hour") else source

    def render(self, value: Any, type_: IcebergType) -> str:
        """A partition value as the Java library prints it.

        `value` is a partition value (already transformed), `type_` the type of it or of its source column; dates and
        timestamps may be Python values or the counts that the file holds. Null prints `null`.

        >>> Transform.parse("month").render(-1, IcebergType("date"))
        '1969-12'
        >>> Transform.parse("identity").render(19723, IcebergType("date"))
        '2024-01-01'
        """
        if value is None:
            return "null"
        calendar = {"year": _human_year, "month": _human_month, "day": _human_day, "hour": _human_hour}.get(
            self.name
        )
        if calendar is not None:
            return calendar(value if isinstance(value, int) else epoch_count(value, "date"))
        return str(value) if self.name == "bucket" else render_value(value, type_)

    def apply(self, value: Any, source: IcebergType) -> Any:
        """The partition value of a column value, both as Python values; None stays None.

        Days come back as a number of days. Raises `Unsupported` where the specification does not define the transform for
        the type, and for transforms that are not known.

        >>> Transform.parse("bucket[16]").apply("iceberg", IcebergType("string"))
        9
        >>> Transform.parse("truncate[10]").apply(-1, IcebergType("int"))
        -10
        """
        if value is None or self.name == "void":
            return None
        if self.name == "identity":
            return value
        if self.width is not None and self.name == "bucket":
            return (bucket_hash(value, source) & 0x7FFFFFFF) % self.width
        if self.width is not None:
            return _truncate(value, self, source)
        if self.is_known:
            return self._apply_calendar(value, source)
        raise Unsupported(f"the transform {self.text!r} is not known")

    def _apply_calendar(self, value: Any, source: IcebergType) -> int:
        if source.name == "date" and self.name != "hour":
            days = epoch_count(value, "date")
        elif source.name.startswith("timestamp"):
            micros = epoch_count(value, source.name) // (1000 if source.name.endswith("_ns") else 1)
            if self.name == "hour":
                return micros // _MICROS_PER["hour"]
            days = micros // _MICROS_PER["day"]
        else:
            raise Unsupported(f"the transform {self.text} is not defined for {source}")
        year, month, _ = civil_date(days)
        return {"day": days, "month": (year - 1970) * 12 + month - 1, "year": year - 1970}[self.name]


def partition_path(names: Iterable[str], strings: Iterable[str]) -> str:
    """The directory of a partition below `data/`: `name=value/…`, both parts URL-form-encoded as Java's URLEncoder does.

    >>> partition_path(["day", "what now"], ["2024-01-01", "a b/ü~*"])
    'day=2024-01-01/what+now=a+b%2F%C3%BC%7E*'
    """
    return "/".join(f"{_form_encode(n)}={_form_encode(v)}" for n, v in zip(names, strings, strict=True))


def _form_encode(text: str) -> str:
    return quote_plus(text, safe="*", errors="replace").replace("~", "%7E")


# --- human strings -----------------------------------------------------------------------------------------------------


def render_value(value: Any, type_: IcebergType) -> str:
    """A value of a type as the Java library prints it in identity and truncate partitions.

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
        return _human_timestamp(nanos) + ("+00:00" if name.startswith("timestamptz") else "")
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode() if name != "uuid" else str(uuid.UUID(bytes=bytes(value)))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _human_float(value, single=name == "float")
    return str(value)


def _human_year(ordinal: int) -> str:
    return f"{1970 + ordinal:04d}"


def _human_month(ordinal: int) -> str:
    return f"{1970 + ordinal // 12:04d}-{ordinal % 12 + 1:02d}"


def _human_day(days: int) -> str:
    year, month, day = civil_date(days)
    return f"{year:04d}-{month:02d}-{day:02d}"


def _human_hour(ordinal: int) -> str:
    return f"{_human_day(ordinal // 24)}-{ordinal % 24:02d}"


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


def _human_timestamp(nanos: int) -> str:
    """Java's `ISO_LOCAL_DATE_TIME`: years after 9999 carry a plus sign, years before 0 a minus sign and four digits."""
    days, rest = divmod(nanos, 86_400_000_000_000)
    year, month, day = civil_date(days)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}T{_iso_time(rest)}"


def _human_float(value: float, *, single: bool) -> str:
    """Java's `Float.toString` and `Double.toString`: plain between 0.001 and 10 million, else `1.0E10`."""
    import numpy as np

    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    shortest = np.float32(value) if single else np.float64(value)
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return np.format_float_positional(shortest, unique=True, trim="0")
    mantissa, _, exponent = np.format_float_scientific(shortest, unique=True, trim="0").partition("e")
    return f"{mantissa}E{int(exponent)}"


# --- counting ----------------------------------------------------------------------------------------------------------


def civil_date(days: int) -> tuple[int, int, int]:
    """Year, month and day of a count of days since 1970-01-01 in the proleptic Gregorian calendar, of any size.

    >>> civil_date(19723), civil_date(-719529)
    ((2024, 1, 1), (-1, 12, 31))
    """
    era, day_of_era = divmod(days + 719_468, 146_097)  # eras of 400 years that begin on 1 March
    year = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * day_of_year + 2) // 153  # months counted from March
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def epoch_count(value: Any, type_name: str) -> int:
    """A date, time or timestamp as the count that the format stores: days, µs of the day, µs or ns since the epoch.

    Counts pass through; `pandas.Timestamp`, `numpy.datetime64` and `numpy.timedelta64` are understood.

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
            return micros // _MICROS_PER["day"]
        return micros * 1000 + getattr(value, "nanosecond", 0) if nanos else micros
    if isinstance(value, date):
        days = value.toordinal() - 719_163
        return days if type_name == "date" else days * _MICROS_PER["day"] * (1000 if nanos else 1)
    if isinstance(value, time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    import numpy as np

    unit = "D" if type_name == "date" else "ns" if nanos else "us"
    if isinstance(value, np.datetime64):
        return int(value.astype(f"datetime64[{unit}]").astype(np.int64))
    if isinstance(value, np.timedelta64):
        return int(value.astype(f"timedelta64[{unit}]").astype(np.int64))
    return int(value)


# --- bucket and truncate -----------------------------------------------------------------------------------------------


def bucket_hash(value: Any, type_: IcebergType) -> int:
    """The signed 32-bit hash that `bucket[N]` takes modulo N. Raises `Unsupported` for types that cannot be bucketed.

    >>> bucket_hash(34, IcebergType("int"))
    2017239379
    """
    name = type_.name
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value)
    elif isinstance(value, uuid.UUID):
        data = value.bytes
    elif isinstance(value, Decimal):
        data = _minimal_bytes(_unscaled(value, type_))
    elif name in ("int", "long", "date", "time") or name.startswith("timestamp"):
        count = epoch_count(value, name) // (1000 if name.endswith("_ns") else 1)
        data = (count & (2**64 - 1)).to_bytes(8, "little")
    else:
        raise Unsupported(f"values of type {type_} cannot be put into buckets")
    return murmur3_32(data)


def murmur3_32(data: bytes, seed: int = 0) -> int:
    """Murmur3, x86 variant, 32 bits, signed.

    >>> murmur3_32(bytes([0, 1, 2, 3]))
    -188683207
    """
    mask, hashed = 0xFFFFFFFF, seed
    for start in range(0, len(data), 4):
        word = data[start : start + 4]
        mixed = int.from_bytes(word, "little") * 0xCC9E2D51 & mask
        mixed = (mixed << 15 | mixed >> 17) & mask
        hashed ^= mixed * 0x1B873593 & mask
        if len(word) == 4:
            hashed = (hashed << 13 | hashed >> 19) & mask
            hashed = (hashed * 5 + 0xE6546B64) & mask
    hashed ^= len(data)
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & mask
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & mask
    hashed ^= hashed >> 16
    return hashed - 2**32 if hashed >= 2**31 else hashed


def _truncate(value: Any, transform: Transform, source: IcebergType) -> Any:
    width = transform.width or 1
    if isinstance(value, Decimal):
        unscaled = _unscaled(value, source)
        return Decimal(unscaled - unscaled % width).scaleb(-(source.scale or 0), _EXACT)
    if isinstance(value, int) and not isinstance(value, bool):
        return value - value % width  # Python's % is never negative: this is v - (((v % W) + W) % W)
    if isinstance(value, str | bytes):
        return value[:width]
    raise Unsupported(f"the transform {transform} is not defined for {source}")


def _unscaled(value: Decimal, type_: IcebergType) -> int:
    """The integer that is stored: the value times ten to the scale of its type."""
    return int(value.scaleb(type_.scale or 0, _EXACT))


def _minimal_bytes(number: int) -> bytes:
    bits = number.bit_length() if number >= 0 else (-number - 1).bit_length()
    return number.to_bytes(bits // 8 + 1, "big", signed=True)
