"""The messages of `orc_proto.proto` by name: postscript, footer, metadata, stripe footers and indexes.

    PostScript, Footer, Metadata  at the end of the file      StripeFooter  at the end of each stripe
    RowIndex, BloomFilterIndex    in the index streams of a stripe

Follows `orc_proto.proto` of the Apache ORC specification, v1.
"""

from __future__ import annotations

from lakelens.codecs.orc.protobuf_spans import Many, Message, Scalar, Type
from lakelens.codecs.span.reader import Enum


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
