"""Iceberg single values: the binary form of bounds, one value at a time.

    boolean                          00 or anything else                                   1 byte
    int  date (days)                 LE two's complement                                   4 bytes
    long  time (µs)  timestamp* (µs) LE two's complement; timestamp_ns* counts ns          8 bytes
    float  double                    LE IEEE 754                                           4, 8 bytes
    decimal(P, S)                    BE two's complement of the unscaled value, minimal    1 to 16 bytes
    string  binary  fixed[L]         UTF-8; the bytes themselves
    uuid                             BE                                                    16 bytes
    geometry  geography              LE doubles x y [z [m]]                                16, 24, 32 bytes
    variant                          variant metadata, then a variant object
    unknown  struct  list  map       no bounds

Follows appendix D of the Iceberg table specification ("Binary single-value serialization"). Bounds written before a type
promotion keep the width of the old type: 4 bytes in a long (int), a double (float) or a timestamp without zone (date);
these are decoded by their length.

Refused with `Corrupt`: any other length, text that is not UTF-8, a time outside one day, a decimal with more digits than
its type. Variants, nested types and unknown types come back as their bytes.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.codecs.iceberg.types import IcebergType, parse_type
from lakelens.codecs.span.reader import format_count, format_number, shift_errors
from lakelens.codecs.span.span import Octets, Span, damaged_leaf
from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)
from lakelens.errors import Corrupt

if TYPE_CHECKING:
    import pyarrow as pa


#: Microseconds or nanoseconds in a day, by type.
DAY_UNITS = {
    "timestamp": 86_400_000_000,
    "timestamptz": 86_400_000_000,
    "timestamp_ns": 86_400_000_000_000,
    "timestamptz_ns": 86_400_000_000_000,
}
DAY_MICROS = 86_400_000_000


class Point(NamedTuple):
    """A corner of the bounding box of a geometry or geography column; `z` and `m` are None when not stored."""

    x: float
    y: float
    z: float | None = None
    m: float | None = None


def decode_value(data: bytes, type_: IcebergType, *, path: str | None = None) -> Any:
    """Decode the Python value that the bytes of one bound stand for.

    Gives bool, int, float, `Decimal`, str, `uuid.UUID`, bytes, `date`, `time`, `datetime` (UTC-aware for timestamptz;
    see `lakelens.codecs.temporal` for what is outside Python's range), `Point`; raw bytes for variant, nested and unknown
    types. `path` only names the file in errors. Follows appendix D of the specification. Raises `Corrupt`.

    >>> from lakelens.codecs.iceberg.types import parse_type
    >>> decode_value(bytes.fromhex("cfc7"), parse_type("decimal(9, 2)"))
    Decimal('-123.45')
    >>> decode_value(bytes.fromhex("0b4d0000"), parse_type("date"))
    datetime.date(2024, 1, 1)
    >>> decode_value(bytes.fromhex("01000000"), parse_type("long"))  # written when the column was an int
    1
    """
    data, widths, decode = bytes(data), list_widths(type_), _DECODERS.get(type_.name)
    if not type_.is_known:
        return data
    try:
        if widths is not None and len(data) not in widths:
            message, seen = f"a {type_} value of the wrong length", f"{len(data)} bytes {data[:40].hex()}"
            raise Corrupt(message, offset=0, expected=format_widths(widths), seen=seen)
        return data if decode is None else decode(data, type_)
    except Corrupt as error:
        error.path = path
        raise


def arrow_type(type_: IcebergType) -> pa.DataType:
    """The Arrow type of a column of this type: its rows, its bounds (leaf types) and its partition values.

    timestamps are in µs or ns with tz `UTC` when zoned, `uuid` is Arrow's uuid, `unknown` is null, geometry, geography,
    variant and types that are not known are binary.

    >>> from lakelens.codecs.iceberg.types import parse_type
    >>> arrow_type(parse_type("timestamptz"))
    TimestampType(timestamp[us, tz=UTC])
    """
    import pyarrow as pa

    if type_.precision is not None:
        return pa.decimal128(type_.precision, type_.scale)
    if type_.length is not None:
        return pa.binary(type_.length)
    if type_.name == "struct":
        return pa.struct([pa.field(f.name, arrow_type(f.type), not f.required) for f in type_.fields])
    if type_.name == "list":
        (element,) = type_.fields
        return pa.list_(pa.field("element", arrow_type(element.type), not element.required))
    if type_.name == "map":
        key, value = type_.fields
        return pa.map_(arrow_type(key.type), pa.field("value", arrow_type(value.type), not value.required))
    plain: Mapping[str, pa.DataType] = {
        "boolean": pa.bool_(),
        "int": pa.int32(),
        "long": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "date": pa.date32(),
        "time": pa.time64("us"),
        "timestamp": pa.timestamp("us"),
        "timestamptz": pa.timestamp("us", "UTC"),
        "timestamp_ns": pa.timestamp("ns"),
        "timestamptz_ns": pa.timestamp("ns", "UTC"),
        "string": pa.string(),
        "uuid": pa.uuid(),
        "unknown": pa.null(),
    }
    return plain.get(type_.name, pa.binary())


# --- one value, whose width is one of the type's ------------------------------------------------------------------------


def format_widths(widths: Sequence[int]) -> str:
    """Format the lengths that a value may have, in words.

    >>> format_widths((1,)), format_widths((8, 4)), format_widths(range(1, 17))
    ('1 byte', '8 or 4 bytes', '1 to 16 bytes')
    """
    if isinstance(widths, range):
        return f"{widths[0]} to {widths[-1]} bytes"
    *most, last = map(str, widths)
    return (f"{', '.join(most)} or {last}" if most else last) + (" byte" if widths == (1,) else " bytes")


def list_widths(type_: IcebergType) -> Sequence[int] | None:
    """List the lengths that a value of a type may have, the usual one first; None for any length.

    >>> list_widths(IcebergType("long")), list_widths(IcebergType("string"))
    ((8, 4), None)
    """
    return _WIDTHS.get(type_.name) if type_.length is None else (type_.length,)


def _read_integer(data: bytes, type_: IcebergType) -> int:
    return int.from_bytes(data, "little", signed=True)


def _read_float(data: bytes, type_: IcebergType) -> float:
    value: float = struct.unpack("<f" if len(data) == 4 else "<d", data)[0]
    return value


def _read_decimal(data: bytes, type_: IcebergType) -> Decimal:
    unscaled = int.from_bytes(data, "big", signed=True)
    if abs(unscaled) >= 10 ** (type_.precision or 0):
        message, expected = f"a {type_} value with too many digits", f"at most {type_.precision} digits"
        raise Corrupt(message, offset=0, expected=expected, seen=unscaled)
    return Decimal(f"{unscaled}E{-(type_.scale or 0)}")


def _read_date(data: bytes, type_: IcebergType) -> Any:
    return date_from_days(_read_integer(data, type_))


def _read_time(data: bytes, type_: IcebergType) -> Any:
    micros = _read_integer(data, type_)
    if not 0 <= micros < DAY_MICROS:
        expected = f"0 to {DAY_MICROS - 1} µs"
        raise Corrupt("a time outside one day", offset=0, expected=expected, seen=micros)
    return time_from_micros(micros)


def _read_timestamp(data: bytes, type_: IcebergType) -> Any:
    count, utc = _read_integer(data, type_), type_.name.startswith("timestamptz")
    if len(data) == 4:  # a date that became a timestamp (v3)
        count *= DAY_UNITS[type_.name]
        if not -(2**63) <= count < 2**63:
            raise Corrupt(f"a date outside the range of {type_}", offset=0, seen=data.hex())
    return (
        timestamp_from_nanos(count, utc) if type_.name.endswith("_ns") else timestamp_from_micros(count, utc)
    )


def _read_string(data: bytes, type_: IcebergType) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message, seen = "a string value that is not UTF-8", data[:40].hex()
        raise Corrupt(message, offset=error.start, seen=seen) from error


def _read_point(data: bytes, type_: IcebergType) -> Point:
    x, y, *rest = struct.unpack(f"<{len(data) // 8}d", data)
    z, m = [*rest, None, None][:2]
    if m is not None and z is not None and z != z:  # 32 bytes with a NaN for z: the point has only m
        z = None
    return Point(x, y, z, m)


_WIDTHS: Mapping[str, Sequence[int]] = {
    "boolean": (1,),
    "int": (4,),
    "long": (8, 4),
    "float": (4,),
    "double": (8, 4),
    "decimal": range(1, 17),
    "date": (4,),
    "time": (8,),
    "timestamp": (8, 4),
    "timestamptz": (8,),
    "timestamp_ns": (8, 4),
    "timestamptz_ns": (8,),
    "uuid": (16,),
    "geometry": (16, 24, 32),
    "geography": (16, 24, 32),
}
_DECODERS: Mapping[str, Callable[[bytes, IcebergType], Any]] = {
    "boolean": lambda data, type_: data != b"\0",
    **dict.fromkeys(["int", "long"], _read_integer),
    **dict.fromkeys(["float", "double"], _read_float),
    "decimal": _read_decimal,
    "date": _read_date,
    "time": _read_time,
    **dict.fromkeys(DAY_UNITS, _read_timestamp),
    "string": _read_string,
    "uuid": lambda data, type_: uuid.UUID(bytes=data),
    **dict.fromkeys(["geometry", "geography"], _read_point),
    "unknown": lambda data, type_: None,  # it has no values: any bytes mean nothing
}


# An Iceberg single value (a bound, a default) with a name for every byte.
#
#     boolean int long float double date time timestamp…    | value |        little-endian
#     decimal uuid                                          | value |        big-endian
#     string binary fixed                                   | value |        as they are
#     geometry geography                                    | x | y | z? | m? |        little-endian doubles
#     variant                                               | metadata | value |       see `lakelens.codecs.variant`
#
# Follows appendix D of the Iceberg table specification ("Binary single-value serialization"); `value` has the fast
# decoder, and what it refuses is damage here.

# what a value of 4 bytes was written as, by the type that its column has now; see "Schema Evolution"
_PROMOTED = {"long": "int", "double": "float", "timestamp": "date", "timestamp_ns": "date"}
_TEMPORAL = {
    "time": "µs of the day",
    "timestamp": "µs since 1970",
    "timestamptz": "µs since 1970, UTC",
    "timestamp_ns": "ns since 1970",
    "timestamptz_ns": "ns since 1970, UTC",
}


def explain_iceberg_value(
    data: Octets, start: int = 0, end: int | None = None, *, type: IcebergType | str | dict[str, Any]
) -> Span:
    """Explain the spans of one value as bounds keep it; the value is what `decode_value` gives for the type.

    `type` is an `IcebergType`, or its JSON: a string for primitive types. Bytes that are no value of it are damage.

    >>> span = explain_iceberg_value(bytes.fromhex("0b4d0000"), type="date")
    >>> span.value, span.note
    (datetime.date(2024, 1, 1), 'date: 4 bytes, little-endian, day 19,723 since 1970-01-01')
    >>> [leaf.label for leaf in explain_iceberg_value(bytes(16), type="geometry").leaves()]
    ['x', 'y']
    """
    end = len(data) if end is None else end
    type_ = type if isinstance(type, IcebergType) else parse_type(type)
    content = bytes(data[start:end])
    try:
        with shift_errors(start):
            value = decode_value(content, type_)
    except Corrupt as error:
        return Span(start, end, str(type_), None, error.reason, (damaged_leaf(start, end, error),))
    note = _note(type_, content)
    if type_.name == "variant":
        from lakelens.codecs.variant import explain_variant_pair

        pair = explain_variant_pair(data, start, end)
        return Span(start, end, str(type_), value, note, lambda: pair.children)
    return Span(start, end, str(type_), value, note, tuple(_split(type_, content, value, start, note)))


def _split(type_: IcebergType, content: bytes, value: Any, start: int, note: str) -> Iterator[Span]:
    """Split the leaves of a value; text of no characters has none."""
    if type_.name in ("geometry", "geography"):
        names = ("x", "y", "z", "m")[: len(content) // 8]
        for i, (name, number) in enumerate(
            zip(names, struct.unpack(f"<{len(names)}d", content), strict=True)
        ):
            note = f"{name}: IEEE 754 double, little-endian"
            yield Span(start + 8 * i, start + 8 * i + 8, name, number, note)
    elif content:
        role: Any = "unexplained" if type_.name == "unknown" or not type_.is_known else ""
        yield Span(start, start + len(content), "value", value, note, role=role)


def _note(type_: IcebergType, content: bytes) -> str:
    """Note how the bytes are encoded, in words."""
    size = format_count(len(content), "byte")
    name = type_.name
    if len(content) == 4 and name in _PROMOTED:
        written = IcebergType(_PROMOTED[name])
        return f"{type_}, written when the column was {written}: {_format_fixed(written.name, content, size)}"
    if name == "string":
        return f"string: {size}, UTF-8"
    if name == "decimal":
        unscaled = int.from_bytes(content, "big", signed=True)
        return f"{type_}: {size}, big-endian, unscaled {format_number(unscaled)}"
    if name == "uuid":
        return f"uuid: {size}, big-endian"
    if name in ("geometry", "geography"):
        return f"{type_}: {size}, a corner of the bounding box, {len(content) // 8} doubles"
    if name == "variant":
        return f"variant: {size}, metadata and then the value"
    if name == "unknown":
        return "unknown: a type without values, so that these bytes say nothing"
    if type_.is_nested or not type_.is_known:
        return f"{type_}: {size}, no single value is specified for this type"
    if name in ("binary", "fixed"):
        return f"{type_}: {size} as they are"
    return f"{type_}: {_format_fixed(name, content, size)}"


def _format_fixed(name: str, content: bytes, size: str) -> str:
    """Size, byte order and count of a value of fixed width."""
    if name == "boolean":
        return f"{size}, 0 is false"
    if name in ("float", "double"):
        return f"{size}, IEEE 754, little-endian"
    count = format_number(int.from_bytes(content, "little", signed=True))
    if name == "date":
        return f"{size}, little-endian, day {count} since 1970-01-01"
    if name in _TEMPORAL:
        return f"{size}, little-endian, {count} {_TEMPORAL[name]}"
    return f"{size}, little-endian"
