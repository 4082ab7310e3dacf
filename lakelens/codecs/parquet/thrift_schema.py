"""The structures and enumerations of `parquet.thrift` by name: footers, page headers, page indexes and bloom filters.

    FileMetaData  schema, row groups, key-values      PageHeader  in front of every page
    ColumnIndex, OffsetIndex  behind the row groups   BloomFilterHeader  in front of a bloom filter's bits

Follows `parquet.thrift` of the Apache Parquet format; this is the only list of its field ids. Bounds are decoded by the type
of their column, as `Statistics` and "Logical Types" say: PLAIN encoded, without length:

    INT32 INT64 FLOAT DOUBLE  little-endian      BOOLEAN  one byte 00 or 01
    BYTE_ARRAY  the bytes alone                  FIXED_LEN_BYTE_ARRAY  the bytes: decimals and uuids big-endian

INT96 and intervals have no order, so no values here. A value that does not fit its type gives None: an unknown bound, not an
error.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from lakelens.codecs.span.reader import Enum
from lakelens.codecs.temporal import (
    date_from_days,
    time_from_micros,
    timestamp_from_micros,
    timestamp_from_nanos,
)
from lakelens.lazy import dataclass

if TYPE_CHECKING:
    from lakelens.codecs.parquet.structure import SchemaLeaf


def _enum(name: str, names: str) -> Enum:
    return Enum(name, dict(enumerate(names.split())))


PHYSICAL = _enum("Type", "BOOLEAN INT32 INT64 INT96 FLOAT DOUBLE BYTE_ARRAY FIXED_LEN_BYTE_ARRAY")
REPETITION = _enum("FieldRepetitionType", "required optional repeated")
CODECS = _enum("CompressionCodec", "UNCOMPRESSED SNAPPY GZIP LZO BROTLI LZ4 ZSTD LZ4_RAW")
ENCODINGS = Enum(
    "Encoding",
    {
        0: "PLAIN",
        2: "PLAIN_DICTIONARY",
        3: "RLE",
        4: "BIT_PACKED",
        5: "DELTA_BINARY_PACKED",
        6: "DELTA_LENGTH_BYTE_ARRAY",
        7: "DELTA_BYTE_ARRAY",
        8: "RLE_DICTIONARY",
        9: "BYTE_STREAM_SPLIT",
    },
)
PAGE_TYPES = _enum("PageType", "DATA_PAGE INDEX_PAGE DICTIONARY_PAGE DATA_PAGE_V2")
ORDERS = _enum("BoundaryOrder", "UNORDERED ASCENDING DESCENDING")
EDGES = _enum("Edges", "SPHERICAL VINCENTY THOMAS ANDOYER KARNEY")
#: The types of values in old files.
CONVERTED = _enum(
    "ConvertedType",
    "UTF8 MAP MAP_KEY_VALUE LIST ENUM DECIMAL DATE TIME_MILLIS TIME_MICROS TIMESTAMP_MILLIS "
    "TIMESTAMP_MICROS UINT_8 UINT_16 UINT_32 UINT_64 INT_8 INT_16 INT_32 INT_64 JSON BSON INTERVAL",
)

UNITS = {"MILLIS": "milliseconds", "MICROS": "microseconds", "NANOS": "nanoseconds"}
_TEXTS = ("String", "Enum", "JSON")
_EXACT = Context(prec=200)


def decode_statistic(data: bytes, physical: str, logical: str | None) -> Any:
    """Decode a `min_value` or `max_value` as a Python value; None when its bytes are no value of the type.

    >>> decode_statistic(bytes.fromhex("0b4d0000"), "INT32", "Date")
    datetime.date(2024, 1, 1)
    """
    logical = logical or ""
    try:
        if physical == "BOOLEAN":
            return {b"\0": False, b"\1": True}.get(data)
        if physical in ("FLOAT", "DOUBLE"):
            return struct.unpack("<f" if physical == "FLOAT" else "<d", data)[0]
        if physical in ("INT32", "INT64"):
            if len(data) != (4 if physical == "INT32" else 8):
                return None
            return _integer(int.from_bytes(data, "little", signed=True), logical)
        return _bytes(data, logical) if physical in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY") else None
    except (ValueError, struct.error, ArithmeticError):
        return None


def _integer(value: int, logical: str) -> Any:
    if logical.startswith("Decimal"):
        return Decimal(value).scaleb(-_scale(logical), _EXACT)
    if logical == "Date":
        return date_from_days(value)
    if logical.startswith(("Time(", "Timestamp(")):
        unit = logical.split("timeUnit=")[1].rstrip(")")
        if unit not in UNITS.values():
            return None
        scale = {"milliseconds": 1000, "microseconds": 1}.get(unit)
        if logical.startswith("Time("):
            return time_from_micros(value * scale if scale else value // 1000)
        utc = "UTC=true" in logical
        return timestamp_from_micros(value * scale, utc) if scale else timestamp_from_nanos(value, utc)
    if "isSigned=false" in logical and value < 0:
        width = int(logical.split("bitWidth=")[1].split(",")[0])
        return value + (1 << width) if width in (8, 16, 32, 64) else None
    return value


def _bytes(data: bytes, logical: str) -> Any:
    if logical in _TEXTS:
        return data.decode()
    if logical.startswith("Decimal"):
        return (
            Decimal(int.from_bytes(data, "big", signed=True)).scaleb(-_scale(logical), _EXACT)
            if data
            else None
        )
    if logical == "UUID":
        return uuid.UUID(bytes=data)
    if logical == "Float16":
        return struct.unpack("<e", data)[0]
    return None if logical == "Interval" else data


def _scale(logical: str) -> int:
    return int(logical.split("scale=")[1].rstrip(")"))


@dataclass(frozen=True, slots=True)
class Struct:
    """A structure of a schema: its name, and name and shape of each field by id; `ids` has the id of each name."""

    name: str
    fields: Mapping[int, tuple[str, Shape]] = field(default_factory=dict)
    ids: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.ids.update({name: number for number, (name, _) in self.fields.items()})


@dataclass(frozen=True, slots=True)
class Each:
    """A list whose elements differ by their place."""

    of: Callable[[int], Shape]


#: What a schema says of a value: a structure, an enumeration, how to decode it, or nothing. A list has its elements' shape.
Shape = Struct | Enum | Each | Callable[[Any], Any] | None


def element_shape(shape: Shape, place: int) -> Shape:
    """The shape of the element at a place of a list."""
    return shape.of(place) if isinstance(shape, Each) else shape


def decode_text(data: Any) -> Any:
    """Binary as UTF-8 text; invalid bytes are replaced, other values are left alone."""
    return data.decode(errors="replace") if isinstance(data, bytes) else data


def name_value(value: Any, shape: Shape) -> Any:
    """Give a decoded value with the names of its schema instead of ids and numbers.

    >>> name_value({1: 2, 9: 5}, Struct("S", {1: ("kind", Enum("Kind", {2: "c"}))}))
    {'kind': 'c', 'field 9': 5}
    """
    if isinstance(value, list):
        return [name_value(part, element_shape(shape, i)) for i, part in enumerate(value)]
    if isinstance(value, dict):
        fields = shape.fields if isinstance(shape, Struct) else {}
        named = {}
        for number, part in value.items():
            name, inner = fields.get(number, (f"field {number}", None))
            named[name] = name_value(part, inner)
        return named
    if isinstance(shape, Enum):
        return shape.find(value)
    return shape(value) if callable(shape) and not isinstance(shape, Struct | Each) else value


def _struct(name: str, *fields: str | tuple[str, Shape]) -> Struct:
    """A structure whose fields are numbered from 1 on."""
    return Struct(name, {i: (f, None) if isinstance(f, str) else f for i, f in enumerate(fields, 1)})


_LOGICAL = (
    *("STRING", "MAP", "LIST", "ENUM", "DECIMAL", "DATE", "TIME", "TIMESTAMP", "INTERVAL", "INTEGER"),
    *("UNKNOWN", "JSON", "BSON", "UUID", "FLOAT16", "VARIANT", "GEOMETRY", "GEOGRAPHY"),
)
_UNIT = _struct("TimeUnit", *((unit, _struct(unit)) for unit in UNITS))
_LOGICAL_FIELDS: dict[str, Struct] = {
    "DECIMAL": _struct("DecimalType", "scale", "precision"),
    "TIME": _struct("TimeType", "isAdjustedToUTC", ("unit", _UNIT)),
    "TIMESTAMP": _struct("TimestampType", "isAdjustedToUTC", ("unit", _UNIT)),
    "INTEGER": _struct("IntType", "bitWidth", "isSigned"),
    "VARIANT": _struct("VariantType", "specification_version"),
    "GEOMETRY": _struct("GeometryType", ("crs", decode_text)),
    "GEOGRAPHY": _struct("GeographyType", ("crs", decode_text), ("algorithm", EDGES)),
}
_LOGICAL_TYPE = _struct(
    "LogicalType", *((name, _LOGICAL_FIELDS.get(name, _struct(name))) for name in _LOGICAL)
)
SCHEMA_ELEMENT = _struct(
    "SchemaElement",
    ("type", PHYSICAL),
    "type_length",
    ("repetition_type", REPETITION),
    ("name", decode_text),
    "num_children",
    ("converted_type", CONVERTED),
    "scale",
    "precision",
    "field_id",
    ("logicalType", _LOGICAL_TYPE),
)
_KEY_VALUE = _struct("KeyValue", ("key", decode_text), ("value", decode_text))
_SORTING = _struct("SortingColumn", "column_idx", "descending", "nulls_first")
_PAGE_STATS = _struct("PageEncodingStats", ("page_type", PAGE_TYPES), ("encoding", ENCODINGS), "count")
_SIZES = _struct(
    "SizeStatistics",
    "unencoded_byte_array_data_bytes",
    "repetition_level_histogram",
    "definition_level_histogram",
)
_BOX = _struct("BoundingBox", "xmin", "xmax", "ymin", "ymax", "zmin", "zmax", "mmin", "mmax")
_GEOSPATIAL = _struct("GeospatialStatistics", ("bbox", _BOX), "geospatial_types")
_AES = ("aad_prefix", "aad_file_unique", "supply_aad_prefix")
_ENCRYPTION = _struct(
    "EncryptionAlgorithm",
    ("AES_GCM_V1", _struct("AesGcmV1", *_AES)),
    ("AES_GCM_CTR_V1", _struct("AesGcmCtrV1", *_AES)),
)
_COLUMN_CRYPTO = _struct(
    "ColumnCryptoMetaData",
    ("ENCRYPTION_WITH_FOOTER_KEY", _struct("EncryptionWithFooterKey")),
    (
        "ENCRYPTION_WITH_COLUMN_KEY",
        _struct("EncryptionWithColumnKey", ("path_in_schema", decode_text), "key_metadata"),
    ),
)
_COLUMN_ORDERS = ("TYPE_ORDER", "IEEE_754_TOTAL_ORDER", "INT96_TIMESTAMP_ORDER")
_COLUMN_ORDER = _struct("ColumnOrder", *((name, _struct(name)) for name in _COLUMN_ORDERS))
FILE_CRYPTO = _struct("FileCryptoMetaData", ("encryption_algorithm", _ENCRYPTION), "key_metadata")


def shape_file(leaves: Sequence[SchemaLeaf]) -> Struct:
    """The shape of `FileMetaData`, the bounds in it decoded by the types of these columns.

    >>> shape_file(()).fields[3]
    ('num_rows', None)
    """
    plain = _shape_chunk(None)

    def shape(place: int) -> Struct:
        return _shape_chunk(leaves[place]) if place < len(leaves) else plain

    group = _struct(
        "RowGroup",
        ("columns", Each(shape)),
        "total_byte_size",
        "num_rows",
        ("sorting_columns", _SORTING),
        "file_offset",
        "total_compressed_size",
        "ordinal",
    )
    return _struct(
        "FileMetaData",
        "version",
        ("schema", SCHEMA_ELEMENT),
        "num_rows",
        ("row_groups", group),
        ("key_value_metadata", _KEY_VALUE),
        ("created_by", decode_text),
        ("column_orders", _COLUMN_ORDER),
        ("encryption_algorithm", _ENCRYPTION),
        "footer_signing_key_metadata",
    )


def shape_page_header(leaf: SchemaLeaf | None) -> Struct:
    """The shape of a page's header; of its parts only the one for its type is present.

    >>> shape_page_header(None).fields[3]
    ('compressed_page_size', None)
    """
    statistics = _shape_statistics(leaf)
    data_page = _struct(
        "DataPageHeader",
        "num_values",
        ("encoding", ENCODINGS),
        ("definition_level_encoding", ENCODINGS),
        ("repetition_level_encoding", ENCODINGS),
        ("statistics", statistics),
    )
    dictionary = _struct("DictionaryPageHeader", "num_values", ("encoding", ENCODINGS), "is_sorted")
    data_page_v2 = _struct(
        "DataPageHeaderV2",
        "num_values",
        "num_nulls",
        "num_rows",
        ("encoding", ENCODINGS),
        "definition_levels_byte_length",
        "repetition_levels_byte_length",
        "is_compressed",
        ("statistics", statistics),
    )
    return _struct(
        "PageHeader",
        ("type", PAGE_TYPES),
        "uncompressed_page_size",
        "compressed_page_size",
        "crc",
        ("data_page_header", data_page),
        ("index_page_header", _struct("IndexPageHeader")),
        ("dictionary_page_header", dictionary),
        ("data_page_header_v2", data_page_v2),
    )


def shape_column_index(leaf: SchemaLeaf | None) -> Struct:
    """The shape of a `ColumnIndex`: bounds and null counts by page.

    >>> shape_column_index(None).fields[1]
    ('null_pages', None)
    """
    bound = _Bound(leaf)
    return _struct(
        "ColumnIndex",
        "null_pages",
        ("min_values", bound),
        ("max_values", bound),
        ("boundary_order", ORDERS),
        "null_counts",
        "repetition_level_histograms",
        "definition_level_histograms",
        "nan_counts",
    )


OFFSET_INDEX = _struct(
    "OffsetIndex",
    ("page_locations", _struct("PageLocation", "offset", "compressed_page_size", "first_row_index")),
    "unencoded_byte_array_data_bytes",
)
BLOOM_FILTER = _struct(
    "BloomFilterHeader",
    "numBytes",
    ("algorithm", _struct("BloomFilterAlgorithm", ("BLOCK", _struct("SplitBlockAlgorithm")))),
    ("hash", _struct("BloomFilterHash", ("XXHASH", _struct("XxHash")))),
    ("compression", _struct("BloomFilterCompression", ("UNCOMPRESSED", _struct("Uncompressed")))),
)


class _Bound:
    """Decodes a bound by the type of its column; bytes that are no value of it stay bytes."""

    def __init__(self, leaf: SchemaLeaf | None) -> None:
        self.leaf = leaf

    def __call__(self, stored: Any) -> Any:
        if self.leaf is None or not isinstance(stored, bytes):
            return stored
        value = decode_statistic(stored, self.leaf.physical_type, self.leaf.logical_type)
        return stored if value is None else value


def _shape_statistics(leaf: SchemaLeaf | None) -> Struct:
    bound = _Bound(leaf)
    return _struct(
        "Statistics",
        ("max", bound),
        ("min", bound),
        "null_count",
        "distinct_count",
        ("max_value", bound),
        ("min_value", bound),
        "is_max_value_exact",
        "is_min_value_exact",
        "nan_count",
    )


def _shape_chunk(leaf: SchemaLeaf | None) -> Struct:
    metadata = _struct(
        "ColumnMetaData",
        ("type", PHYSICAL),
        ("encodings", ENCODINGS),
        ("path_in_schema", decode_text),
        ("codec", CODECS),
        "num_values",
        "total_uncompressed_size",
        "total_compressed_size",
        ("key_value_metadata", _KEY_VALUE),
        "data_page_offset",
        "index_page_offset",
        "dictionary_page_offset",
        ("statistics", _shape_statistics(leaf)),
        ("encoding_stats", _PAGE_STATS),
        "bloom_filter_offset",
        "bloom_filter_length",
        ("size_statistics", _SIZES),
        ("geospatial_statistics", _GEOSPATIAL),
    )
    return _struct(
        "ColumnChunk",
        ("file_path", decode_text),
        "file_offset",
        ("meta_data", metadata),
        "offset_index_offset",
        "offset_index_length",
        "column_index_offset",
        "column_index_length",
        ("crypto_metadata", _COLUMN_CRYPTO),
        "encrypted_column_metadata",
    )


#: The shape of a footer whose bounds stay bytes.
FILE = shape_file(())
