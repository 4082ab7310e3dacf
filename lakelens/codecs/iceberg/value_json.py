"""Iceberg single values as JSON: the defaults of columns in a schema document.

    boolean  int  long  float  double      JSON booleans and numbers
    decimal(P, S)                          "14.20", "2E+20"          at most P digits, at most S after the point
    date                                   "2017-11-16"
    time                                   "22:31:08.123456"
    timestamp  timestamptz                 "2017-11-16T22:31:08.123456", followed by "+00:00" when zoned
    timestamp_ns  timestamptz_ns           the same with up to 9 digits
    string  uuid  fixed[L]  binary         text; canonical text; hexadecimal digits
    geometry  geography                    WKT text, unchanged
    struct                                 {"1": 1, "2": "bar"}      by field id
    list                                   [1, 2, 3]
    map                                    {"keys": ["a", "b"], "values": [1, 2]}

Follows appendix D of the Iceberg table specification ("JSON single-value serialization"). null stands for no value in every
type. Values of variant and of unknown types are returned unchanged. All else is refused with `Corrupt`.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from typing import Any, NoReturn

from lakelens.codecs.iceberg.types import IcebergType
from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)
from lakelens.errors import Corrupt
from lakelens.lazy import dataclass

_DATE = re.compile(r"([+-]?\d{4,6})-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?", re.ASCII)
_UTC = re.compile(r"(?:Z|[+-]00:00)\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DECIMAL = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,4})?", re.ASCII)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")
_DAY_NANOS = 86_400_000_000_000
_LOSSY = Context(prec=250)  # 100 digits before the point and 38 after it: quantizing never overflows


def parse_json_value(json: Any, type_: IcebergType, json_path: str = "$", *, path: str | None = None) -> Any:
    """Parse the Python value that a JSON single value stands for, of the classes that `value.decode_value` gives.

    A struct is a dict by field name of the fields that are written, a list a list, a map a list of (key, value) pairs as
    Arrow gives maps. `json_path` is the place in the document and `path` the file; both only name the place in errors.
    Follows appendix D of the specification. Raises `Corrupt`.

    >>> from lakelens.codecs.iceberg.types import parse_type
    >>> parse_json_value("2017-11-16T22:31:08.5+00:00", parse_type("timestamptz"))
    datetime.datetime(2017, 11, 16, 22, 31, 8, 500000, tzinfo=datetime.timezone.utc)
    >>> parse_json_value("14.20", parse_type("decimal(9, 2)")), parse_json_value("00ff", parse_type("binary"))
    (Decimal('14.20'), b'\\x00\\xff')
    >>> parse_json_value("14.201", parse_type("decimal(9, 2)"), "$.a")
    Traceback (most recent call last):
    lakelens.errors.Corrupt: not a decimal(9, 2) value (at $.a; expected at most 2 digits after the point; seen 14.201)
    """
    parse = _PARSERS.get(type_.name)
    if json is None or parse is None or not type_.is_known:
        return json
    return parse(_Written(json, type_, json_path, path))


@dataclass(frozen=True, slots=True)
class _Written:
    """A value as it is written, with its type and its place for errors."""

    json: Any
    type: IcebergType
    json_path: str
    path: str | None

    def refuse(self, expected: str, seen: object = None) -> NoReturn:
        message = f"not a {self.type.name if self.type.is_nested else self.type} value"
        seen = self.json if seen is None else seen
        raise Corrupt(message, path=self.path, json_path=self.json_path, expected=expected, seen=seen)

    def match(self, pattern: re.Pattern[str], expected: str, text: str | None = None) -> re.Match[str]:
        """Match the parts of the text, or of one part of it, where it has the right form."""
        found = pattern.fullmatch(self.text(expected) if text is None else text)
        return self.refuse(expected, text) if found is None else found

    def text(self, expected: str = "a string") -> str:
        return self.json if isinstance(self.json, str) else self.refuse(expected)

    def parse_inner(self, json: Any, type_: IcebergType, step: str) -> Any:
        return parse_json_value(json, type_, self.json_path + step, path=self.path)


def _parse_boolean(value: _Written) -> bool:
    return value.json if isinstance(value.json, bool) else value.refuse("true or false")


def _parse_integer(value: _Written) -> int:
    bits, number = 32 if value.type.name == "int" else 64, value.json
    limit = 2 ** (bits - 1)
    if not isinstance(number, int) or isinstance(number, bool) or not -limit <= number < limit:
        value.refuse(f"an integer of {bits} bits")
    return number


def _parse_float(value: _Written) -> float:
    if not isinstance(value.json, int | float) or isinstance(value.json, bool):
        value.refuse("a number")
    try:
        return float(value.json)
    except OverflowError:
        value.refuse("a number of 64 bits", "an integer beyond them")


def _parse_decimal(value: _Written) -> Decimal:
    precision, scale = value.type.precision or 0, value.type.scale or 0
    value.text("digits in a string")
    number = Decimal(value.match(_DECIMAL, "digits")[0])
    if abs(number.adjusted()) > 100:
        value.refuse(f"at most {precision} digits")
    fitted = number.quantize(Decimal(1).scaleb(-scale), context=_LOSSY)
    if fitted != number:
        value.refuse(f"at most {scale} digits after the point")
    if (
        fitted.adjusted() >= precision - scale
    ):  # compared by digits: arithmetic would round to those of the context
        value.refuse(f"at most {precision} digits")
    return fitted


def _parse_date(value: _Written) -> Any:
    return date_from_days(_count_days(value, value.text("YYYY-MM-DD")))


def _parse_time(value: _Written) -> Any:
    nanos = _count_nanos(value, value.text("HH:MM:SS.ffffff"))
    return time_from_micros(_drop_nanos(value, nanos))


def _parse_timestamp(value: _Written) -> Any:
    utc = value.type.name.startswith("timestamptz")
    text = value.text("YYYY-MM-DDTHH:MM:SS.ffffff" + ("+00:00" if utc else ""))
    zone = _UTC.search(text)
    if utc != (zone is not None):
        value.refuse("+00:00 at the end" if utc else "no time zone")
    date, separator, time = text[: zone.start() if zone else None].partition("T")
    if not separator:
        value.refuse("a date, T and a time")
    nanos = _count_days(value, date) * _DAY_NANOS + _count_nanos(value, time)
    if value.type.name.endswith("_ns"):
        return timestamp_from_nanos(nanos, utc)
    return timestamp_from_micros(_drop_nanos(value, nanos), utc)


def _drop_nanos(value: _Written, nanos: int) -> int:
    """Microseconds, where nothing is lost."""
    return value.refuse("at most 6 digits after the point") if nanos % 1000 else nanos // 1000


def _count_days(value: _Written, text: str) -> int:
    """Days since 1970-01-01 of the proleptic Gregorian calendar, years beyond Python's included."""
    year, month, day = map(int, value.match(_DATE, "YYYY-MM-DD", text).groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not 1 <= month <= 12 or not 1 <= day <= lengths[month - 1]:
        value.refuse("a day of the calendar", text)
    before = year - 1  # whole years since the year 0001; floor division holds for earlier ones too
    days = before * 365 + before // 4 - before // 100 + before // 400 + sum(lengths[: month - 1]) + day - 1
    return days - 719_162  # from 0001-01-01 to 1970-01-01


def _count_nanos(value: _Written, text: str) -> int:
    match = value.match(_TIME, "HH:MM:SS and at most 9 digits after a point", text)
    hours, minutes, seconds = int(match[1]), int(match[2]), int(match[3] or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        value.refuse("a time of day", text)
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + int((match[4] or "").ljust(9, "0"))


def _parse_uuid(value: _Written) -> uuid.UUID:
    value.text("a uuid")
    return uuid.UUID(value.match(_UUID, "8-4-4-4-12 hexadecimal digits")[0])


def _parse_bytes(value: _Written) -> bytes:
    length = value.type.length
    expected = "hexadecimal digits" + ("" if length is None else f" of {length} bytes")
    content = bytes.fromhex(value.match(_HEX, expected)[0])
    return content if length in (None, len(content)) else value.refuse(expected)


def _parse_struct(value: _Written) -> dict[str, Any]:
    if not isinstance(value.json, Mapping):
        value.refuse("an object by field id")
    by_id = {str(field.id): field for field in value.type.fields}
    strange = next((key for key in value.json if key not in by_id), None)
    if strange is not None:
        value.refuse(f"the field ids {', '.join(by_id)}", strange)
    return {
        field.name: value.parse_inner(value.json[key], field.type, f".{key}")
        for key, field in by_id.items()
        if key in value.json
    }


def _parse_list(value: _Written) -> list[Any]:
    (element,) = value.type.fields
    if not isinstance(value.json, list):
        value.refuse("an array")
    return [value.parse_inner(item, element.type, f"[{index}]") for index, item in enumerate(value.json)]


def _parse_map(value: _Written) -> list[tuple[Any, Any]]:
    written = value.json if isinstance(value.json, Mapping) else {}
    keys, values = written.get("keys"), written.get("values")
    if not isinstance(keys, list) or not isinstance(values, list) or len(keys) != len(values):
        value.refuse('"keys" and "values", arrays of one length')
    key, item = (field.type for field in value.type.fields)
    return [
        (value.parse_inner(k, key, f".keys[{i}]"), value.parse_inner(v, item, f".values[{i}]"))
        for i, (k, v) in enumerate(zip(keys, values, strict=True))
    ]


_PARSERS: Mapping[str, Callable[[_Written], Any]] = {
    "boolean": _parse_boolean,
    **dict.fromkeys(["int", "long"], _parse_integer),
    **dict.fromkeys(["float", "double"], _parse_float),
    "decimal": _parse_decimal,
    "date": _parse_date,
    "time": _parse_time,
    **dict.fromkeys(["timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"], _parse_timestamp),
    **dict.fromkeys(["string", "geometry", "geography"], _Written.text),
    "uuid": _parse_uuid,
    **dict.fromkeys(["fixed", "binary"], _parse_bytes),
    "struct": _parse_struct,
    "list": _parse_list,
    "map": _parse_map,
    "unknown": lambda value: value.refuse("null: the type has no values"),
}
