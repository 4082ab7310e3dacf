"""A small BinaryRow writer, for tests only, and hypothesis strategies of types with values that fit them."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Context, Decimal
from typing import Any

from hypothesis import strategies as st

from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.codecs.temporal import timestamp_from_nanos
from lakelens.codecs.variant import Variant

EXACT = Context(prec=100)
EPOCH = dt.datetime(1970, 1, 1)
BYTES_LIKE = {"CHAR", "VARCHAR", "BINARY", "VARBINARY", "BLOB", "GEOMETRY", "GEOGRAPHY"}
WIDTHS = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "DATE": 4, "TIME": 4, "FLOAT": 4}
FORMATS = {
    "BOOLEAN": "<?",
    "TINYINT": "<b",
    "SMALLINT": "<h",
    "INT": "<i",
    "BIGINT": "<q",
    "FLOAT": "<f",
    "DOUBLE": "<d",
}


def encode_row(types: list[PaimonType], values: list[Any], kind: int = 0) -> bytes:
    """The serialized form, arity first."""
    return struct.pack(">i", len(types)) + encode_nested_row(types, values, kind)


def encode_nested_row(types: list[PaimonType], values: list[Any], kind: int = 0) -> bytes:
    head = bytearray((len(types) + 63 + 8) // 64 * 8)
    head[0] = kind
    for i, value in enumerate(values):
        if value is None:
            head[(i + 8) // 8] |= 1 << (i + 8) % 8
    return _encode_slots(bytes(head), types, values, [8] * len(types), reserve=True)


def encode_array(element: PaimonType, values: list[Any]) -> bytes:
    bits = bytearray((len(values) + 31) // 32 * 4)
    for i, value in enumerate(values):
        if value is None:
            bits[i // 8] |= 1 << i % 8
    head = struct.pack("<i", len(values)) + bytes(bits)
    return _encode_slots(head, [element] * len(values), values, [WIDTHS.get(element.name, 8)] * len(values))


def _encode_slots(
    head: bytes, types: list[PaimonType], values: list[Any], widths: list[int], reserve: bool = False
) -> bytes:
    """Slots and variable part after `head`; a row reserves the space of a null item, an array does not."""
    fixed_end = -(-(len(head) + sum(widths)) // 8) * 8
    slots, variable = bytearray(), bytearray()
    for type_, value, width in zip(types, values, widths, strict=True):
        slot, item = bytes(8), b""
        if value is not None or reserve:
            slot, item = _encode_value(type_, value, fixed_end + len(variable))
        slots += slot.ljust(width, b"\0")[:width]
        variable += item.ljust(-(-len(item) // 8) * 8, b"\0")
    return (head + bytes(slots)).ljust(fixed_end, b"\0") + bytes(variable)


def _encode_value(type_: PaimonType, value: Any, offset: int) -> tuple[bytes, bytes]:
    """The slot, and what goes to the variable part at `offset`."""
    name = type_.name
    if value is None:
        if name == "DECIMAL" and type_.precision > 18:
            return struct.pack("<ii", 0, offset), bytes(16)
        if name in ("TIMESTAMP", "TIMESTAMP_LTZ") and type_.precision > 3:
            return struct.pack("<ii", 0, offset), bytes(8)
        return bytes(8), b""
    if name in FORMATS:
        return struct.pack(FORMATS[name], value), b""
    if name == "DATE":
        return struct.pack("<i", (value - EPOCH.date()).days), b""
    if name == "TIME":
        seconds = value.hour * 3600 + value.minute * 60 + value.second
        return struct.pack("<i", seconds * 1000 + value.microsecond // 1000), b""
    if name in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        micros = (value.replace(tzinfo=None) - EPOCH) // dt.timedelta(microseconds=1)
        nanos = micros * 1000 + getattr(value, "nanosecond", 0)
        if type_.precision <= 3:
            return struct.pack("<q", nanos // 1_000_000), b""
        return struct.pack("<ii", nanos % 1_000_000, offset), struct.pack("<q", nanos // 1_000_000)
    if name == "DECIMAL":
        unscaled = int(value.scaleb(type_.scale, EXACT))
        if type_.precision <= 18:
            return struct.pack("<q", unscaled), b""
        content = unscaled.to_bytes(
            (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1, "big", signed=True
        )
        return struct.pack("<ii", len(content), offset), content.ljust(16, b"\0")
    content = _encode_content(type_, value)
    if name in BYTES_LIKE and len(content) <= 7:
        return content.ljust(7, b"\0") + bytes([0x80 + len(content)]), b""
    return struct.pack("<ii", len(content), offset), content


def _encode_content(type_: PaimonType, value: Any) -> bytes:
    match type_.name:
        case "ARRAY":
            return encode_array(type_.element, value)
        case "MAP" | "MULTISET":
            key, item = (
                (type_.key, type_.value) if type_.name == "MAP" else (type_.element, PaimonType("INT"))
            )
            pairs = list(value.items())
            keys = encode_array(key, [k for k, _ in pairs])
            return struct.pack("<i", len(keys)) + keys + encode_array(item, [v for _, v in pairs])
        case "ROW":
            return encode_nested_row([f.type for f in type_.fields], [value[f.name] for f in type_.fields])
        case "VARIANT":
            return struct.pack("<i", len(value.value)) + value.value + value.metadata
        case "VECTOR":
            packed = [struct.pack(FORMATS[type_.element.name], item) for item in value]
            elements = b"".join(packed)
            return struct.pack("<i", len(value)) + elements.ljust(-(-len(elements) // 8) * 8, b"\0")
        case "CHAR" | "VARCHAR":
            return value.encode()
        case _:
            return value


# -- strategies


def atomic_types() -> st.SearchStrategy[PaimonType]:
    plain = st.sampled_from(
        ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "BLOB"]
    )
    sized = st.sampled_from(["CHAR", "VARCHAR", "BINARY", "VARBINARY"])
    decimals = st.integers(1, 38).flatmap(
        lambda p: st.integers(0, p).map(lambda s: PaimonType("DECIMAL", precision=p, scale=s))
    )
    timed = st.tuples(st.sampled_from(["TIMESTAMP", "TIMESTAMP_LTZ"]), st.integers(0, 9))
    return st.one_of(
        plain.map(PaimonType),
        sized.map(lambda name: PaimonType(name, length=100)),
        decimals,
        st.just(PaimonType("TIME", precision=3)),
        timed.map(lambda pair: PaimonType(pair[0], precision=pair[1])),
        st.just(PaimonType("GEOMETRY", crs="OGC:CRS84")),
    )


def _nested_types(inner: st.SearchStrategy[PaimonType]) -> st.SearchStrategy[PaimonType]:
    keys = st.sampled_from([PaimonType("INT"), PaimonType("VARCHAR", length=100), PaimonType("BIGINT")])
    vectors = st.tuples(st.sampled_from(["FLOAT", "DOUBLE", "INT", "TINYINT", "BIGINT"]), st.integers(1, 5))
    return st.one_of(
        inner.map(lambda element: PaimonType("ARRAY", element=element)),
        keys.map(lambda element: PaimonType("MULTISET", element=element)),
        st.tuples(keys, inner).map(lambda kv: PaimonType("MAP", key=kv[0], value=kv[1])),
        st.lists(inner, max_size=4).map(
            lambda types: PaimonType(
                "ROW", fields=tuple(PaimonField(i, f"n{i}", t) for i, t in enumerate(types))
            )
        ),
        st.just(PaimonType("VARIANT")),
        vectors.map(lambda pair: PaimonType("VECTOR", element=PaimonType(pair[0]), length=pair[1])),
    )


def types(nested: bool = True) -> st.SearchStrategy[PaimonType]:
    return st.recursive(atomic_types(), _nested_types, max_leaves=5) if nested else atomic_types()


def values(type_: PaimonType) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), _non_null(type_))


def _non_null(type_: PaimonType) -> st.SearchStrategy[Any]:
    bits = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
    match type_.name:
        case "BOOLEAN":
            return st.booleans()
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            return st.integers(-(2 ** bits[type_.name]), 2 ** bits[type_.name] - 1)
        case "FLOAT" | "DOUBLE":
            return st.floats(allow_nan=False, width=32 if type_.name == "FLOAT" else 64)
        case "DATE":
            return st.dates()
        case "TIME":
            return st.integers(0, 86_399_999).map(lambda ms: (EPOCH + dt.timedelta(milliseconds=ms)).time())
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return _timestamps(type_)
        case "DECIMAL":
            top = 10**type_.precision - 1
            return st.integers(-top, top).map(lambda n: Decimal(n).scaleb(-type_.scale, EXACT))
        case "CHAR" | "VARCHAR":
            return st.text(max_size=12)
        case "ARRAY":
            return st.lists(values(type_.element), max_size=5)
        case "MAP":
            return st.dictionaries(_non_null(type_.key), values(type_.value), max_size=4)
        case "MULTISET":
            return st.dictionaries(_non_null(type_.element), st.integers(1, 9), max_size=4)
        case "ROW":
            return st.fixed_dictionaries({field.name: values(field.type) for field in type_.fields})
        case "VARIANT":
            return st.builds(Variant, st.binary(max_size=9), st.binary(max_size=9))
        case "VECTOR":
            return st.lists(_non_null(type_.element), min_size=type_.length, max_size=type_.length)
        case _:
            return st.binary(max_size=12)


def _timestamps(type_: PaimonType) -> st.SearchStrategy[Any]:
    utc = type_.name == "TIMESTAMP_LTZ"
    step = 1000 if type_.precision <= 3 else 1

    def finish(value: dt.datetime) -> dt.datetime:
        value = value.replace(microsecond=value.microsecond // step * step)
        return value.replace(tzinfo=dt.UTC) if utc else value

    moments = st.datetimes().map(finish)
    if type_.precision <= 6:
        return moments
    nanos = st.integers(-(2**62), 2**62).filter(lambda n: n % 1000)
    return st.one_of(moments, nanos.map(lambda n: timestamp_from_nanos(n, utc)))


@st.composite
def rows(draw: st.DrawFn, nested: bool = True, max_size: int = 6) -> tuple[list[PaimonType], list[Any]]:
    """Types, and values that fit them."""
    drawn = draw(st.lists(types(nested), max_size=max_size))
    return drawn, [draw(values(type_)) for type_ in drawn]
