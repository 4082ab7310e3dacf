"""The structures of `parquet.thrift` by name: every field of footers, page headers, page indexes and bloom filters.

    FileMetaData  schema, row groups, key-values      PageHeader  in front of every page
    ColumnIndex, OffsetIndex  behind the row groups   BloomFilterHeader  in front of a bloom filter's bits

Follows `parquet.thrift` of the Apache Parquet format. Bounds are decoded by the type of their column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakelens.codecs.parquet.enums import CODECS, ENCODINGS, PHYSICAL, REPETITION, decode_statistic
from lakelens.codecs.parquet.structure import SchemaLeaf
from lakelens.codecs.parquet.thrift_spans import Each, Shape, Struct, Words, decode_text

_CONVERTED = (
    *("UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE", "TIME_MILLIS", "TIME_MICROS"),
    *("TIMESTAMP_MILLIS", "TIMESTAMP_MICROS", "UINT_8", "UINT_16", "UINT_32", "UINT_64"),
    *("INT_8", "INT_16", "INT_32", "INT_64", "JSON", "BSON", "INTERVAL"),
)
_LOGICAL = (
    *("STRING", "MAP", "LIST", "ENUM", "DECIMAL", "DATE", "TIME", "TIMESTAMP", "INTERVAL", "INTEGER"),
    *("UNKNOWN", "JSON", "BSON", "UUID", "FLOAT16", "VARIANT", "GEOMETRY", "GEOGRAPHY"),
)
_EDGES = ("SPHERICAL", "VINCENTY", "THOMAS", "ANDOYER", "KARNEY")
PAGE_TYPES = ("DATA_PAGE", "INDEX_PAGE", "DICTIONARY_PAGE", "DATA_PAGE_V2")


def _struct(name: str, *fields: str | tuple[str, Shape] | None) -> Struct:
    """A structure whose fields are numbered from 1 on; None where a number is not used."""
    named = {i: (f, None) if isinstance(f, str) else f for i, f in enumerate(fields, 1) if f is not None}
    return Struct(name, named)


_TYPE = Words("Type", PHYSICAL)
_ENCODING = Words("Encoding", ENCODINGS)
_CODEC = Words("CompressionCodec", CODECS)
_PAGE_TYPE = Words("PageType", PAGE_TYPES)
_ORDER = Words("BoundaryOrder", ("UNORDERED", "ASCENDING", "DESCENDING"))

_UNIT = _struct("TimeUnit", *((unit, _struct(unit)) for unit in ("MILLIS", "MICROS", "NANOS")))
_LOGICAL_FIELDS: dict[str, Struct] = {
    "DECIMAL": _struct("DecimalType", "scale", "precision"),
    "TIME": _struct("TimeType", "isAdjustedToUTC", ("unit", _UNIT)),
    "TIMESTAMP": _struct("TimestampType", "isAdjustedToUTC", ("unit", _UNIT)),
    "INTEGER": _struct("IntType", "bitWidth", "isSigned"),
    "VARIANT": _struct("VariantType", "specification_version"),
    "GEOMETRY": _struct("GeometryType", ("crs", decode_text)),
    "GEOGRAPHY": _struct("GeographyType", ("crs", decode_text), ("algorithm", Words("Edges", _EDGES))),
}
_LOGICAL_TYPE = _struct(
    "LogicalType", *((name, _LOGICAL_FIELDS.get(name, _struct(name))) for name in _LOGICAL)
)
_SCHEMA_ELEMENT = _struct(
    "SchemaElement",
    ("type", _TYPE),
    "type_length",
    ("repetition_type", Words("FieldRepetitionType", REPETITION)),
    ("name", decode_text),
    "num_children",
    ("converted_type", Words("ConvertedType", _CONVERTED)),
    "scale",
    "precision",
    "field_id",
    ("logicalType", _LOGICAL_TYPE),
)
_KEY_VALUE = _struct("KeyValue", ("key", decode_text), ("value", decode_text))
_SORTING = _struct("SortingColumn", "column_idx", "descending", "nulls_first")
_PAGE_STATS = _struct("PageEncodingStats", ("page_type", _PAGE_TYPE), ("encoding", _ENCODING), "count")
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
_ORDERS = ("TYPE_ORDER", "IEEE_754_TOTAL_ORDER", "INT96_TIMESTAMP_ORDER")
_COLUMN_ORDER = _struct("ColumnOrder", *((name, _struct(name)) for name in _ORDERS))
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
        ("schema", _SCHEMA_ELEMENT),
        "num_rows",
        ("row_groups", group),
        ("key_value_metadata", _KEY_VALUE),
        ("created_by", decode_text),
        ("column_orders", _COLUMN_ORDER),
        ("encryption_algorithm", _ENCRYPTION),
        "footer_signing_key_metadata",
    )


def shape_page_header(leaf: SchemaLeaf | None) -> Struct:
    """The shape of a page's header; of its parts only the one for its type is there.

    >>> shape_page_header(None).fields[3]
    ('compressed_page_size', None)
    """
    statistics = _shape_statistics(leaf)
    data_page = _struct(
        "DataPageHeader",
        "num_values",
        ("encoding", _ENCODING),
        ("definition_level_encoding", _ENCODING),
        ("repetition_level_encoding", _ENCODING),
        ("statistics", statistics),
    )
    dictionary = _struct("DictionaryPageHeader", "num_values", ("encoding", _ENCODING), "is_sorted")
    data_page_v2 = _struct(
        "DataPageHeaderV2",
        "num_values",
        "num_nulls",
        "num_rows",
        ("encoding", _ENCODING),
        "definition_levels_byte_length",
        "repetition_levels_byte_length",
        "is_compressed",
        ("statistics", statistics),
    )
    return _struct(
        "PageHeader",
        ("type", _PAGE_TYPE),
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
        ("boundary_order", _ORDER),
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
        ("type", _TYPE),
        ("encodings", _ENCODING),
        ("path_in_schema", decode_text),
        ("codec", _CODEC),
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
