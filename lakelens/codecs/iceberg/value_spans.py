"""An Iceberg single value (a bound, a default) with a name for every byte.

    boolean int long float double date time timestamp…    | value |        little-endian
    decimal uuid                                          | value |        big-endian
    string binary fixed                                   | value |        as they are
    geometry geography                                    | x | y | z? | m? |        little-endian doubles
    variant                                               | metadata | value |       see `lakelens.codecs.variant`

Follows appendix D of the Iceberg table specification ("Binary single-value serialization"); `value` has the fast
decoder, and what it refuses is damage here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from lakelens.codecs.iceberg.types import IcebergType, parse_type
from lakelens.codecs.iceberg.value import decode_value
from lakelens.codecs.span.reader import format_count, format_number, shift_errors
from lakelens.codecs.span.span import Octets, Span, damaged_leaf
from lakelens.errors import Corrupt

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
    """The spans of one value as bounds keep it; the value is what `decode_value` gives for the type.

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
        from lakelens.codecs.variant.spans import explain_variant_pair

        pair = explain_variant_pair(data, start, end)
        return Span(start, end, str(type_), value, note, lambda: pair.children)
    return Span(start, end, str(type_), value, note, tuple(_split(type_, content, value, start, note)))


def _split(type_: IcebergType, content: bytes, value: Any, start: int, note: str) -> Iterator[Span]:
    """The leaves of a value; text of no characters has none."""
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
    """How the bytes are encoded, in words."""
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
