"""Iceberg single values: the binary form of bounds, one value at a time or a column of them; the JSON form of defaults.

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

Follows appendix D of the Iceberg table specification ("Binary single-value serialization", "JSON single-value
serialization"). Bounds written before a type promotion keep the width of the old type: 4 bytes in a long (int), a double
(float) or a timestamp without zone (date); these are decoded by their length.

Refused with `Corrupt`: any other length, text that is not UTF-8, a time outside one day, a decimal with more digits than
its type. Variants, nested types and unknown types come back as their bytes.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from lakelens.codecs.iceberg.types import IcebergType
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
_EXACT = Context(prec=80)  # more digits than 16 bytes can hold: scaling never rounds


class Point(NamedTuple):
    """A corner of the bounding box of a geometry or geography column; `z` and `m` are None when not stored."""

    x: float
    y: float
    z: float | None = None
    m: float | None = None


def decode_value(data: bytes, type_: IcebergType, *, path: str | None = None) -> Any:
    """The Python value that the bytes of one bound stand for.

    Gives bool, int, float, `Decimal`, str, `uuid.UUID`, bytes, `date`, `time`, `datetime` (UTC-aware for timestamptz;
    see `lakelens.codecs.temporal` for what lies outside Python's range), `Point`; raw bytes for variant, nested and unknown
    types. `path` only names the file in errors. Follows appendix D of the specification. Raises `Corrupt`.

    >>> from lakelens.codecs.iceberg.types import parse_type
    >>> decode_value(bytes.fromhex("cfc7"), parse_type("decimal(9, 2)"))
    Decimal('-123.45')
    >>> decode_value(bytes.fromhex("0b4d0000"), parse_type("date"))
    datetime.date(2024, 1, 1)
    >>> decode_value(bytes.fromhex("01000000"), parse_type("long"))  # written when the column was an int
    1
    """
    decode = _DECODERS.get(type_.name)
    return bytes(data) if decode is None or not type_.is_known else decode(bytes(data), type_, path)


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


def decode_values(
    column: pa.Array | pa.ChunkedArray,
    type_: IcebergType,
    *,
    report: Callable[[int, Corrupt], None] | None = None,
    path: str | None = None,
) -> pa.Array:
    """A column of bounds (Arrow binary) as an Arrow array of `arrow_type(type_)`: what `decode_value` gives, in bulk.

    Nulls stay null. Without `report` the first bad value raises `Corrupt`; with it a bad value becomes null and
    `report(row, error)` is called. Geometry, variant, nested and unknown types stay binary.

    >>> import pyarrow as pa
    >>> from lakelens.codecs.iceberg.types import parse_type
    >>> decode_values(pa.array([b"\\x01\\0\\0\\0", None, b"\\x02" + bytes(7)]), parse_type("long")).to_pylist()
    [1, None, 2]
    """
    from lakelens.codecs.iceberg.value_columns import decode_column

    return decode_column(column, type_, report, path)


# --- one value ---------------------------------------------------------------------------------------------------------


def _wrong_length(data: bytes, type_: IcebergType, expected: str, path: str | None) -> NoReturn:
    raise Corrupt(
        f"a {type_} value of the wrong length",
        path=path,
        offset=0,
        expected=expected,
        seen=f"{len(data)} bytes {data[:40].hex()}",
    )


def _boolean(data: bytes, type_: IcebergType, path: str | None) -> bool:
    return data != b"\0" if len(data) == 1 else _wrong_length(data, type_, "1 byte", path)


def _little_endian(data: bytes, type_: IcebergType, path: str | None, *widths: int) -> int:
    if len(data) not in widths:
        _wrong_length(data, type_, " or ".join(map(str, widths)) + " bytes", path)
    return int.from_bytes(data, "little", signed=True)


def _int(data: bytes, type_: IcebergType, path: str | None) -> int:
    return _little_endian(data, type_, path, 4)


def _long(data: bytes, type_: IcebergType, path: str | None) -> int:
    return _little_endian(data, type_, path, 8, 4)


def _float(data: bytes, type_: IcebergType, path: str | None) -> float:
    return _ieee(data) if len(data) == 4 else _wrong_length(data, type_, "4 bytes", path)


def _double(data: bytes, type_: IcebergType, path: str | None) -> float:
    return _ieee(data) if len(data) in (4, 8) else _wrong_length(data, type_, "8 or 4 bytes", path)


def _ieee(data: bytes) -> float:
    value: float = struct.unpack("<f" if len(data) == 4 else "<d", data)[0]
    return value


def _decimal(data: bytes, type_: IcebergType, path: str | None) -> Decimal:
    if not 1 <= len(data) <= 16:
        _wrong_length(data, type_, "1 to 16 bytes", path)
    unscaled = int.from_bytes(data, "big", signed=True)
    if abs(unscaled) >= 10 ** (type_.precision or 0):
        raise Corrupt(
            f"a {type_} value with too many digits",
            path=path,
            offset=0,
            expected=f"at most {type_.precision} digits",
            seen=unscaled,
        )
    return Decimal(unscaled).scaleb(-(type_.scale or 0), _EXACT)


def _date(data: bytes, type_: IcebergType, path: str | None) -> Any:
    return date_from_days(_little_endian(data, type_, path, 4))


def _time(data: bytes, type_: IcebergType, path: str | None) -> Any:
    micros = _little_endian(data, type_, path, 8)
    if not 0 <= micros < DAY_MICROS:
        raise Corrupt(
            "a time outside one day", path=path, offset=0, expected=f"0 to {DAY_MICROS - 1} µs", seen=micros
        )
    return time_from_micros(micros)


def _timestamp(data: bytes, type_: IcebergType, path: str | None) -> Any:
    zoned = type_.name.startswith("timestamptz")
    count = _little_endian(data, type_, path, 8) if zoned else _little_endian(data, type_, path, 8, 4)
    if len(data) == 4:  # a date that became a timestamp (v3)
        count *= DAY_UNITS[type_.name]
        if not -(2**63) <= count < 2**63:
            raise Corrupt(f"a date outside the range of {type_}", path=path, offset=0, seen=data.hex())
    return (
        timestamp_from_nanos(count, zoned)
        if type_.name.endswith("_ns")
        else timestamp_from_micros(count, zoned)
    )


def _string(data: bytes, type_: IcebergType, path: str | None) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Corrupt(
            "a string value that is not UTF-8", path=path, offset=error.start, seen=data[:40].hex()
        ) from error


def _uuid(data: bytes, type_: IcebergType, path: str | None) -> uuid.UUID:
    return uuid.UUID(bytes=data) if len(data) == 16 else _wrong_length(data, type_, "16 bytes", path)


def _fixed(data: bytes, type_: IcebergType, path: str | None) -> bytes:
    return data if len(data) == type_.length else _wrong_length(data, type_, f"{type_.length} bytes", path)


def _point(data: bytes, type_: IcebergType, path: str | None) -> Point:
    if len(data) not in (16, 24, 32):
        _wrong_length(data, type_, "16, 24 or 32 bytes", path)
    x, y, *rest = struct.unpack(f"<{len(data) // 8}d", data)
    z, m = [*rest, None, None][:2]
    if m is not None and z is not None and z != z:  # 32 bytes with a NaN for z: the point has only m
        z = None
    return Point(x, y, z, m)


def _nothing(data: bytes, type_: IcebergType, path: str | None) -> None:
    """`unknown` has no values, hence no bounds; whatever bytes are there say nothing."""


_DECODERS: Mapping[str, Callable[[bytes, IcebergType, str | None], Any]] = {
    "boolean": _boolean,
    "int": _int,
    "long": _long,
    "float": _float,
    "double": _double,
    "decimal": _decimal,
    "date": _date,
    "time": _time,
    "timestamp": _timestamp,
    "timestamptz": _timestamp,
    "timestamp_ns": _timestamp,
    "timestamptz_ns": _timestamp,
    "string": _string,
    "uuid": _uuid,
    "fixed": _fixed,
    "geometry": _point,
    "geography": _point,
    "unknown": _nothing,
}
