"""Protocol buffers byte by byte, and the messages of `orc_proto.proto` by name."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import Any, Literal

from lakelens.codecs.span.reader import GROUP, Enum, format_count
from lakelens.codecs.span.span import Deferred, Span
from lakelens.errors import Corrupt
from lakelens.lazy import dataclass

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIRES = {VARINT: "varint", FIXED64: "8 bytes", BYTES: "length-delimited", FIXED32: "4 bytes"}
_LABEL_NOTES = {"sint": "zigzag varint", "uint": "varint", "int": "varint", "bool": "varint"}

Scalar = Literal["uint", "sint", "int", "bool", "double", "fixed64", "text", "bytes"]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a schema: its name, and name and type of each field by number."""

    name: str
    fields: Mapping[int, tuple[str, Type]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Many:
    """A repeated field, packed or not."""

    of: Scalar | Enum | Message


Type = Scalar | Enum | Message | Many | None


@dataclass(frozen=True, slots=True)
class _Field:
    """One field as stored: where it and its value begin and end, and the plain value (bytes for wire 2)."""

    start: int
    value_start: int  # behind the tag; for wire 2 the length
    body: int
    end: int
    number: int
    wire: int
    value: Any


def explain_message(
    data: bytes, message: Message, label: str = "", *, start: int = 0, end: int | None = None, base: int = 0
) -> Span:
    """Explain the message in `data[start:end]`, as a tree whose positions are those in `data` moved by `base`.

    Its value is a dict by name: a list for a repeated field, a name for an enumeration.

    >>> pair = Message("Pair", {1: ("first", "sint"), 2: ("second", Many("text"))})
    >>> span = explain_message(bytes.fromhex("08 03 12 01 61"), pair)
    >>> span.value, [part.label for part in span.children]
    ({'first': -2, 'second': ['a']}, ['first', 'second[0]'])
    """
    stop = len(data) if end is None else end
    tree = _Tree(data, base)
    make = partial(tree.explain_fields, start, stop, message, {})
    value = Deferred(partial(tree.decode, start, stop, message))
    note = f"{message.name}, protobuf" if label and label != message.name else "protobuf"
    return Span(base + start, base + stop, label or message.name, value, note, make)


class _Tree:
    """The bytes of a message, and the spans of what is in it: positions in `data` here, moved by `base` in spans."""

    def __init__(self, data: bytes, base: int) -> None:
        self.data, self.base = data, base

    def fail(self, at: int, message: str, seen: object = None) -> Corrupt:
        return Corrupt(message, offset=self.base + at, seen=seen)

    def read_varint(self, at: int, end: int) -> tuple[int, int]:
        value = shift = 0
        for place in range(at, min(at + 10, end)):
            byte = self.data[place]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF, place + 1
            shift += 7
        is_cut = end - at < 10
        raise self.fail(
            at, "a message that ends inside a number" if is_cut else "a number of more than 64 bits"
        )

    def read_field(self, at: int, end: int) -> _Field:
        tag, body = self.read_varint(at, end)
        number, wire = tag >> 3, tag & 7
        if number == 0 or number >= 1 << 29 or wire not in _WIRES:
            raise self.fail(at, "no field of a message", f"field {number}, wire type {wire}")
        start = body
        if wire == VARINT:
            value, stop = self.read_varint(body, end)
            return _Field(at, start, body, stop, number, wire, value)
        size = 8 if wire == FIXED64 else 4
        if wire == BYTES:
            size, body = self.read_varint(body, end)
        if size > end - body:
            raise self.fail(at, "a message that ends inside a field", f"{size} bytes")
        return _Field(at, start, body, body + size, number, wire, self.data[body : body + size])

    def decode(self, start: int, end: int, message: Message) -> dict[str, Any]:
        """Decode the message as a dict by name."""
        decoded: dict[str, Any] = {}
        while start < end:
            found = self.read_field(start, end)
            name, kind = _find_type(found, message)
            if isinstance(kind, Many):
                decoded.setdefault(name, []).extend(self.decode_many(found, kind))
            else:
                decoded[name] = self.decode_value(found, kind)
            start = found.end
        return decoded

    def decode_many(self, found: _Field, kind: Many) -> list[Any]:
        if is_packed(found, kind):
            return [value for _, _, value in self.read_packed(found, kind)]
        return [self.decode_value(found, kind.of)]

    def decode_value(self, found: _Field, kind: Type) -> Any:
        if isinstance(kind, Message):
            return self.decode(found.body, found.end, kind)
        return _convert(found.value, found.wire, kind)

    def read_packed(self, found: _Field, kind: Many) -> Iterator[tuple[int, int, Any]]:
        """Start, end and value of every packed number."""
        at = found.body
        while at < found.end:
            if kind.of in ("fixed64", "double"):
                if found.end - at < 8:
                    raise self.fail(at, "a list that ends inside a number")
                yield at, at + 8, _convert(self.data[at : at + 8], FIXED64, kind.of)
                at += 8
            else:
                value, stop = self.read_varint(at, found.end)
                yield at, stop, _convert(value, VARINT, kind.of)
                at = stop

    def leaf(self, start: int, end: int, label: str, value: Any = None, note: str = "") -> Span:
        return Span(self.base + start, self.base + end, label, value, note)

    def explain_fields(
        self, start: int, end: int, message: Message, counts: dict[int, int]
    ) -> Iterator[Span]:
        """Explain the fields; after many of them the rest is a span of its own. `counts` are those seen of each number."""
        seen, at, total = dict(counts), start, 0
        while at < end:
            if total == GROUP:
                rest = partial(self.explain_fields, at, end, message, dict(seen))
                yield Span(self.base + at, self.base + end, "further fields", children=rest)
                return
            found = self.read_field(at, end)
            name, kind = _find_type(found, message)
            if isinstance(kind, Many):
                place = seen.get(found.number, 0)
                seen[found.number] = place + 1
                yield self.explain_many(found, f"{name}[{place}]", name, kind)
            else:
                yield self.explain_field(found, name, kind)
            at, total = found.end, total + 1

    def head(self, found: _Field) -> tuple[Span, ...]:
        tag = self.leaf(
            found.start, found.value_start, "tag", None, f"field {found.number}, {_WIRES[found.wire]}: varint"
        )
        if found.wire != BYTES:
            return (tag,)
        return tag, self.leaf(found.value_start, found.body, "length", found.end - found.body, "varint")

    def explain_field(self, found: _Field, name: str, kind: Type) -> Span:
        head, prefix = self.head(found), f"field {found.number}: "
        start, end = self.base + found.start, self.base + found.end
        if isinstance(kind, Message):
            value = Deferred(partial(self.decode, found.body, found.end, kind))
            return Span(
                start, end, name, value, f"{prefix}{kind.name}", partial(self.explain_inner, found, kind)
            )
        decoded = self.decode_value(found, kind)
        note = prefix + _note(found, kind)
        leaf = (self.leaf(found.body, found.end, name, decoded, note),) if found.end > found.body else ()
        return Span(start, end, name, decoded, note, (*head, *leaf))

    def explain_inner(self, found: _Field, kind: Message) -> Iterator[Span]:
        yield from self.head(found)
        yield from self.explain_fields(found.body, found.end, kind, {})

    def explain_many(self, found: _Field, label: str, name: str, kind: Many) -> Span:
        if not is_packed(found, kind):
            return self.explain_field(found, label, kind.of)
        value = Deferred(partial(self.decode_many, found, kind))
        note = f"field {found.number}: packed"
        make = partial(self.explain_packed, found, kind)
        return Span(self.base + found.start, self.base + found.end, name, value, note, make)

    def explain_packed(self, found: _Field, kind: Many) -> Iterator[Span]:
        yield from self.head(found)
        yield from self.explain_numbers(found, kind, 0)

    def explain_numbers(self, found: _Field, kind: Many, first: int) -> Iterator[Span]:
        for i, (start, end, value) in enumerate(self.read_packed(found, kind)):
            if i == GROUP:
                rest = _Field(found.start, start, start, found.end, found.number, found.wire, b"")
                make = partial(self.explain_numbers, rest, kind, first + i)
                yield Span(self.base + start, self.base + found.end, "further numbers", children=make)
                return
            yield self.leaf(start, end, f"[{first + i}]", value, _LABEL_NOTES.get(str(kind.of), "varint"))


def is_packed(found: _Field, kind: Many) -> bool:
    """Check whether a field of a repeated number holds many of them at once."""
    return found.wire == BYTES and not isinstance(kind.of, Message) and kind.of not in ("text", "bytes")


def _find_type(found: _Field, message: Message) -> tuple[str, Type]:
    """Name and type of a field; one whose wire type is not that of its type is not known, as for every decoder."""
    name, kind = message.fields.get(found.number, ("", None))
    inner = kind.of if isinstance(kind, Many) else kind
    if isinstance(inner, Message) or inner in ("text", "bytes"):
        fits = found.wire == BYTES
    else:
        fits = found.wire == (FIXED64 if inner in ("fixed64", "double") else VARINT)
        fits = fits or (isinstance(kind, Many) and is_packed(found, kind))
    return (name, kind) if kind is not None and fits else (f"field {found.number}", None)


def _convert(value: Any, wire: int, kind: Type) -> Any:
    """Convert a stored number or bytes as what the schema says; as they are when they do not fit."""
    if isinstance(kind, Enum):
        return kind.find(value)
    if isinstance(value, int):
        if kind == "sint":
            return value >> 1 ^ -(value & 1)
        if kind == "int":
            return value - (1 << 64) if value >> 63 else value
        return bool(value) if kind == "bool" else value
    if wire == BYTES:
        return value.decode(errors="replace") if kind == "text" else value
    if kind == "double" and wire == FIXED64:
        return struct.unpack("<d", value)[0]
    return int.from_bytes(value, "little")


def _note(found: _Field, kind: Type) -> str:
    if isinstance(kind, Enum):
        return f"{kind.name} {found.value}, varint" if found.wire == VARINT else kind.name
    if found.wire == BYTES:
        return f"{'UTF-8' if kind == 'text' else 'bytes'}, {format_count(found.end - found.body, 'byte')}"
    if found.wire == VARINT:
        return _LABEL_NOTES.get(str(kind), "varint")
    return f"{'double' if kind == 'double' else f'fixed{(found.end - found.body) * 8}'}, little-endian"


# The messages of `orc_proto.proto` by name: postscript, footer, metadata, stripe footers and indexes.
#
#     PostScript, Footer, Metadata  at the end of the file      StripeFooter  at the end of each stripe
#     RowIndex, BloomFilterIndex    in the index streams of a stripe
#
# Follows `orc_proto.proto` of the Apache ORC specification, v1.


def _message(name: str, *fields: str | tuple[str, Type]) -> Message:
    """A message whose fields are numbered from 1 on; unsigned numbers where no type is given."""
    return Message(name, {i: (f, "uint") if isinstance(f, str) else f for i, f in enumerate(fields, 1)})


def _enum(name: str, names: str) -> Enum:
    return Enum(name, dict(enumerate(names.split())))


COMPRESSION = _enum("CompressionKind", "NONE ZLIB SNAPPY LZO LZ4 ZSTD BROTLI")
STREAM_KIND = Enum(
    "Stream.Kind",
    {
        **dict(enumerate(("PRESENT", "DATA", "LENGTH", "DICTIONARY_DATA", "DICTIONARY_COUNT", "SECONDARY"))),
        **dict(enumerate(("ROW_INDEX", "BLOOM_FILTER", "BLOOM_FILTER_UTF8", "ENCRYPTED_INDEX"), 6)),
        10: "ENCRYPTED_DATA",
        100: "STRIPE_STATISTICS",
        101: "FILE_STATISTICS",
    },
)
_TYPE_KIND = _enum(
    "Type.Kind",
    "BOOLEAN BYTE SHORT INT LONG FLOAT DOUBLE STRING BINARY TIMESTAMP LIST MAP STRUCT UNION DECIMAL "
    "DATE VARCHAR CHAR TIMESTAMP_INSTANT GEOMETRY GEOGRAPHY",
)
_EDGES = _enum("EdgeInterpolationAlgorithm", "SPHERICAL VINCENTY THOMAS ANDOYER KARNEY")
_ENCODING_KIND = _enum("ColumnEncoding.Kind", "DIRECT DICTIONARY DIRECT_V2 DICTIONARY_V2")
_CALENDAR = _enum("CalendarKind", "UNKNOWN_CALENDAR JULIAN_GREGORIAN PROLEPTIC_GREGORIAN")
_CIPHER = _enum("EncryptionAlgorithm", "UNKNOWN_ENCRYPTION AES_CTR_128 AES_CTR_256")
_PROVIDER = _enum("KeyProviderKind", "UNKNOWN HADOOP AWS GCP AZURE")


def _bounds(name: str, kind: Scalar, *more: tuple[str, Type]) -> Message:
    return _message(name, ("minimum", kind), ("maximum", kind), *more)


_BOX = _message("BoundingBox", *((f"{axis}{side}", "double") for axis in "xyzm" for side in ("min", "max")))
_STATISTICS = _message(
    "ColumnStatistics",
    "numberOfValues",
    ("intStatistics", _bounds("IntegerStatistics", "sint", ("sum", "sint"))),
    ("doubleStatistics", _bounds("DoubleStatistics", "double", ("sum", "double"))),
    (
        "stringStatistics",
        _bounds("StringStatistics", "text", ("sum", "sint"), ("lowerBound", "text"), ("upperBound", "text")),
    ),
    ("bucketStatistics", _message("BucketStatistics", ("count", Many("uint")))),
    ("decimalStatistics", _bounds("DecimalStatistics", "text", ("sum", "text"))),
    ("dateStatistics", _bounds("DateStatistics", "sint")),
    ("binaryStatistics", _message("BinaryStatistics", ("sum", "sint"))),
    (
        "timestampStatistics",
        _bounds(
            "TimestampStatistics",
            "sint",
            ("minimumUtc", "sint"),
            ("maximumUtc", "sint"),
            ("minimumNanos", "int"),
            ("maximumNanos", "int"),
        ),
    ),
    ("hasNull", "bool"),
    "bytesOnDisk",
    ("collectionStatistics", _message("CollectionStatistics", "minChildren", "maxChildren", "totalChildren")),
    (
        "geospatialStatistics",
        _message("GeospatialStatistics", ("bbox", _BOX), ("geospatialTypes", Many("int"))),
    ),
)
_STREAM = _message("Stream", ("kind", STREAM_KIND), "column", "length")
_ENCODING = _message("ColumnEncoding", ("kind", _ENCODING_KIND), "dictionarySize", "bloomEncoding")
STRIPE_FOOTER = _message(
    "StripeFooter",
    ("streams", Many(_STREAM)),
    ("columns", Many(_ENCODING)),
    ("writerTimezone", "text"),
    (
        "encryption",
        Many(
            _message("StripeEncryptionVariant", ("streams", Many(_STREAM)), ("encoding", Many(_ENCODING))),
        ),
    ),
)
ROW_INDEX = _message(
    "RowIndex",
    ("entry", Many(_message("RowIndexEntry", ("positions", Many("uint")), ("statistics", _STATISTICS)))),
)
BLOOM_FILTERS = _message(
    "BloomFilterIndex",
    (
        "bloomFilter",
        Many(
            _message("BloomFilter", "numHashFunctions", ("bitset", Many("fixed64")), ("utf8bitset", "bytes"))
        ),
    ),
)
METADATA = _message(
    "Metadata", ("stripeStats", Many(_message("StripeStatistics", ("colStats", Many(_STATISTICS)))))
)
_TYPE = _message(
    "Type",
    ("kind", _TYPE_KIND),
    ("subtypes", Many("uint")),
    ("fieldNames", Many("text")),
    "maximumLength",
    "precision",
    "scale",
    ("attributes", Many(_message("StringPair", ("key", "text"), ("value", "text")))),
    ("crs", "text"),
    ("algorithm", _EDGES),
)
_STRIPE = _message(
    "StripeInformation",
    "offset",
    "indexLength",
    "dataLength",
    "footerLength",
    "numberOfRows",
    "encryptStripeId",
    ("encryptedLocalKeys", Many("bytes")),
)
_ENCRYPTION = _message(
    "Encryption",
    (
        "mask",
        Many(
            _message(
                "DataMask", ("name", "text"), ("maskParameters", Many("text")), ("columns", Many("uint"))
            )
        ),
    ),
    ("key", Many(_message("EncryptionKey", ("keyName", "text"), "keyVersion", ("algorithm", _CIPHER)))),
    (
        "variants",
        Many(
            _message(
                "EncryptionVariant",
                "root",
                "key",
                ("encryptedKey", "bytes"),
                ("stripeStatistics", Many(_STREAM)),
                ("fileStatistics", "bytes"),
            ),
        ),
    ),
    ("keyProvider", _PROVIDER),
)
FOOTER = _message(
    "Footer",
    "headerLength",
    "contentLength",
    ("stripes", Many(_STRIPE)),
    ("types", Many(_TYPE)),
    ("metadata", Many(_message("UserMetadataItem", ("name", "text"), ("value", "bytes")))),
    "numberOfRows",
    ("statistics", Many(_STATISTICS)),
    "rowIndexStride",
    "writer",
    ("encryption", _ENCRYPTION),
    ("calendar", _CALENDAR),
    ("softwareVersion", "text"),
)
POSTSCRIPT = Message(
    "PostScript",
    {
        1: ("footerLength", "uint"),
        2: ("compression", COMPRESSION),
        3: ("compressionBlockSize", "uint"),
        4: ("version", Many("uint")),
        5: ("metadataLength", "uint"),
        6: ("writerVersion", "uint"),
        7: ("stripeStatisticsLength", "uint"),
        8000: ("magic", "text"),
    },
)
