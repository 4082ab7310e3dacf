"""Iceberg single values as JSON: the defaults of columns in a schema document.

    boolean  int  long  float  double      JSON booleans and numbers
    decimal(P, S)                          "14.20", "2E+20"          at most P digits, no more than S behind the point
    date                                   "2017-11-16"
    time                                   "22:31:08.123456"
    timestamp  timestamptz                 "2017-11-16T22:31:08.123456", with "+00:00" behind it when zoned
    timestamp_ns  timestamptz_ns           the same with up to 9 digits
    string  uuid  fixed[L]  binary         text; canonical text; hexadecimal digits
    geometry  geography                    WKT text, kept as it is
    struct                                 {"1": 1, "2": "bar"}      by field id
    list                                   [1, 2, 3]
    map                                    {"keys": ["a", "b"], "values": [1, 2]}

Follows appendix D of the Iceberg table specification ("JSON single-value serialization"). null stands for no value in every
type. Values of variant and of types that are not known come back as they are. All else is refused with `Corrupt`.
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

_DATE = re.compile(r"([+-]?\d{4,6})-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?", re.ASCII)
_UTC = re.compile(r"(?:Z|[+-]00:00)\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DECIMAL = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,4})?", re.ASCII)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")
_DAY_NANOS = 86_400_000_000_000
_EXACT = Context(prec=80)
_LOSSY = Context(prec=250)  # 100 digits before the point and 38 behind it: quantizing never overflows


def parse_json_value(json: Any, type_: IcebergType, json_path: str = "$", *, path: str | None = None) -> Any:
    """The Python value that a JSON single value stands for: of the classes that `iceberg_value.decode_value` gives.

    A struct is a dict by field name of the fields that are told, a list a list, a map a list of (key, value) pairs as
    Arrow gives maps. `json_path` is the place in the document and `path` the file; both only name the place in errors.
    Follows appendix D of the specification. Raises `Corrupt`.

    >>> from lakelens.codecs.iceberg.types import parse_type
    >>> parse_json_value("2017-11-16T22:31:08.5+00:00", parse_type("timestamptz"))
    datetime.datetime(2017, 11, 16, 22, 31, 8, 500000, tzinfo=datetime.timezone.utc)
    >>> parse_json_value("14.20", parse_type("decimal(9, 2)")), parse_json_value("00ff", parse_type("binary"))
    (Decimal('14.20'), b'\\x00\\xff')
    >>> parse_json_value("14.201", parse_type("decimal(9, 2)"), "$.a")
    Traceback (most recent call last):
    lakelens.errors.Corrupt: not a decimal(9, 2) value (at $.a; expected at most 2 digits behind the point; seen 14.201)
    """
    parse = _PARSERS.get(type_.name)
    if json is None or parse is None or not type_.is_known:
        return json
    return parse(json, type_, _Place(json_path, path, type_))


class _Place:
    """Where a value stands, for errors and for the values inside it."""

    def __init__(self, json_path: str, path: str | None, type_: IcebergType) -> None:
        self.json_path, self.path, self.type = json_path, path, type_

    def refuse(self, expected: str, seen: object) -> NoReturn:
        message = f"not a {self.type if not self.type.is_nested else self.type.name} value"
        raise Corrupt(message, path=self.path, json_path=self.json_path, expected=expected, seen=seen)

    def text(self, json: Any, expected: str) -> str:
        return json if isinstance(json, str) else self.refuse(expected, json)

    def inside(self, json: Any, type_: IcebergType, step: str) -> Any:
        return parse_json_value(json, type_, self.json_path + step, path=self.path)


def _boolean(json: Any, type_: IcebergType, place: _Place) -> bool:
    return json if isinstance(json, bool) else place.refuse("true or false", json)


def _integer(json: Any, type_: IcebergType, place: _Place) -> int:
    bits = 32 if type_.name == "int" else 64
    if (
        not isinstance(json, int)
        or isinstance(json, bool)
        or not -(2 ** (bits - 1)) <= json < 2 ** (bits - 1)
    ):
        place.refuse(f"an integer of {bits} bits", json)
    return json


def _number(json: Any, type_: IcebergType, place: _Place) -> float:
    if not isinstance(json, int | float) or isinstance(json, bool):
        place.refuse("a number", json)
    try:
        return float(json)
    except OverflowError:
        place.refuse("a number of 64 bits", "an integer beyond them")


def _decimal(json: Any, type_: IcebergType, place: _Place) -> Decimal:
    text = place.text(json, "digits in a string")
    precision, scale = type_.precision or 0, type_.scale or 0
    if _DECIMAL.fullmatch(text) is None:
        place.refuse("digits", text)
    value = Decimal(text)
    if abs(value.adjusted()) > 100:
        place.refuse(f"at most {precision} digits", text)
    fitted = value.quantize(Decimal(1).scaleb(-scale), context=_LOSSY)
    if fitted != value:
        place.refuse(f"at most {scale} digits behind the point", text)
    if abs(fitted.scaleb(scale, _EXACT)) >= 10**precision:
        place.refuse(f"at most {precision} digits", text)
    return fitted


def _date(json: Any, type_: IcebergType, place: _Place) -> Any:
    return date_from_days(_count_days(place.text(json, "YYYY-MM-DD"), place))


def _time(json: Any, type_: IcebergType, place: _Place) -> Any:
    nanos = _count_nanos(place.text(json, "HH:MM:SS.ffffff"), place)
    if nanos % 1000:
        place.refuse("at most 6 digits behind the point", json)
    return time_from_micros(nanos // 1000)


def _timestamp(json: Any, type_: IcebergType, place: _Place) -> Any:
    zoned = type_.name.startswith("timestamptz")
    fine = type_.name.endswith("_ns")
    text = place.text(json, "YYYY-MM-DDTHH:MM:SS.ffffff" + ("+00:00" if zoned else ""))
    zone = _UTC.search(text)
    if zoned != (zone is not None):
        place.refuse("+00:00 at the end" if zoned else "no time zone", text)
    date, separator, time = text[: zone.start() if zone else None].partition("T")
    if not separator:
        place.refuse("a date, T and a time", text)
    nanos = _count_days(date, place) * _DAY_NANOS + _count_nanos(time, place)
    if fine:
        return timestamp_from_nanos(nanos, zoned)
    if nanos % 1000:
        place.refuse("at most 6 digits behind the point", text)
    return timestamp_from_micros(nanos // 1000, zoned)


def _count_days(text: str, place: _Place) -> int:
    """Days since 1970-01-01 of the proleptic Gregorian calendar, years beyond Python's included."""
    match = _DATE.fullmatch(text)
    if match is None:
        place.refuse("YYYY-MM-DD", text)
    year, month, day = (int(part) for part in match.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not 1 <= month <= 12 or not 1 <= day <= lengths[month - 1]:
        place.refuse("a day of the calendar", text)
    before = year - 1  # whole years since the year 0001; floor division holds for earlier ones too
    days = before * 365 + before // 4 - before // 100 + before // 400 + sum(lengths[: month - 1]) + day - 1
    return days - 719_162  # from 0001-01-01 to 1970-01-01


def _count_nanos(text: str, place: _Place) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        place.refuse("HH:MM:SS and at most 9 digits behind a point", text)
    hours, minutes, seconds = int(match[1]), int(match[2]), int(match[3] or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        place.refuse("a time of day", text)
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + int((match[4] or "").ljust(9, "0"))


def _string(json: Any, type_: IcebergType, place: _Place) -> str:
    return place.text(json, "a string")


def _uuid(json: Any, type_: IcebergType, place: _Place) -> uuid.UUID:
    text = place.text(json, "a uuid")
    return uuid.UUID(text) if _UUID.fullmatch(text) else place.refuse("8-4-4-4-12 hexadecimal digits", text)


def _octets(json: Any, type_: IcebergType, place: _Place) -> bytes:
    expected = "hexadecimal digits" + ("" if type_.length is None else f" of {type_.length} bytes")
    text = place.text(json, expected)
    if _HEX.fullmatch(text) is None or (type_.length is not None and len(text) != 2 * type_.length):
        place.refuse(expected, text)
    return bytes.fromhex(text)


def _struct(json: Any, type_: IcebergType, place: _Place) -> dict[str, Any]:
    if not isinstance(json, Mapping):
        place.refuse("an object by field id", json)
    by_id = {str(field.id): field for field in type_.fields}
    strange = next((key for key in json if key not in by_id), None)
    if strange is not None:
        place.refuse(f"the field ids {', '.join(by_id)}", strange)
    return {
        field.name: place.inside(json[key], field.type, f".{key}")
        for key, field in by_id.items()
        if key in json
    }


def _list(json: Any, type_: IcebergType, place: _Place) -> list[Any]:
    (element,) = type_.fields
    if not isinstance(json, list):
        place.refuse("an array", json)
    return [place.inside(item, element.type, f"[{index}]") for index, item in enumerate(json)]


def _map(json: Any, type_: IcebergType, place: _Place) -> list[tuple[Any, Any]]:
    key, value = type_.fields
    keys, values = (json.get("keys"), json.get("values")) if isinstance(json, Mapping) else (None, None)
    if not isinstance(keys, list) or not isinstance(values, list) or len(keys) != len(values):
        place.refuse('"keys" and "values", arrays of one length', json)
    return [
        (
            place.inside(keys[index], key.type, f".keys[{index}]"),
            place.inside(values[index], value.type, f".values[{index}]"),
        )
        for index in range(len(keys))
    ]


def _nothing(json: Any, type_: IcebergType, place: _Place) -> NoReturn:
    place.refuse("null: the type has no values", json)


_PARSERS: Mapping[str, Callable[[Any, IcebergType, _Place], Any]] = {
    "boolean": _boolean,
    "int": _integer,
    "long": _integer,
    "float": _number,
    "double": _number,
    "decimal": _decimal,
    "date": _date,
    "time": _time,
    "timestamp": _timestamp,
    "timestamptz": _timestamp,
    "timestamp_ns": _timestamp,
    "timestamptz_ns": _timestamp,
    "string": _string,
    "uuid": _uuid,
    "fixed": _octets,
    "binary": _octets,
    "geometry": _string,
    "geography": _string,
    "struct": _struct,
    "list": _list,
    "map": _map,
    "unknown": _nothing,
}
