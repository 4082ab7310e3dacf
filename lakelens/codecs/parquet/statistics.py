"""What the statistics and bloom filters of a column chunk prove of its values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from lakelens.codecs.hashes import hash_xx64
from lakelens.codecs.parquet.footer import ParquetFooter
from lakelens.codecs.parquet.structure import SchemaLeaf, StructReader
from lakelens.codecs.parquet.thrift import ThriftReader
from lakelens.codecs.parquet.thrift_schema import BLOOM_FILTER, FILE, decode_statistic
from lakelens.codecs.part_statistics import PartStatistics
from lakelens.codecs.span.reader import in_file
from lakelens.errors import Corrupt, Unsupported
from lakelens.lazy import dataclass

_SIGNED = ("BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE")
_BINARY = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
_VERSION = re.compile(r"^parquet-mr\s+version\s+(\d+)\.(\d+)\.(\d+)([^\s(]*)")
_FIXED = (1, 8, 0)  # the first version without PARQUET-251
_CLOUDERA = re.compile(r"-cdh5\.(\d+)")


def read_statistics(footer: ParquetFooter, index: int) -> list[PartStatistics]:
    """Read what the footer proves of one leaf, row group by row group. Raises `Corrupt`.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> from lakelens.codecs.parquet.footer import decode_footer
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"id": [1, None, 3]}), sink)
    >>> read_statistics(decode_footer(sink), 0)
    [PartStatistics(lower=1, upper=3, nulls=1, values=3, nans=None)]
    """
    leaf = footer.leaves[index]
    has_order = find_order(footer, index) == "TYPE_ORDER"
    return [
        _judge(metadata, leaf, rows, footer.created_by, has_order)
        for metadata, rows in iter_chunks(footer, index)
    ]


def iter_chunks(footer: ParquetFooter, index: int) -> list[tuple[StructReader, int]]:
    """The `ColumnMetaData` of one leaf in each row group, with the group's number of rows. Raises `Corrupt`."""
    with in_file(footer.path):
        found = []
        for group in StructReader(footer.structure, FILE, None).structs("row_groups"):
            columns = group.structs("columns")
            if index >= len(columns):
                group.fail("a row group without every column", expected=len(footer.leaves), seen=len(columns))
            column = columns[index]
            found.append((column.struct("meta_data", column.get("meta_data")), group.integer("num_rows")))
        return found


def find_order(footer: ParquetFooter, index: int) -> str | None:
    """Find the order that `min_value` and `max_value` of a leaf follow, as `ColumnOrder` names it; None without one."""
    orders = StructReader(footer.structure, FILE, None).get("column_orders")
    order = orders[index] if isinstance(orders, list) and index < len(orders) else None
    if not isinstance(order, dict) or len(order) != 1:
        return None
    names = {1: "TYPE_ORDER", 2: "IEEE_754_TOTAL_ORDER", 3: "INT96_TIMESTAMP_ORDER"}
    return names.get(next(iter(order)))


def has_wrong_binary_bounds(created_by: str | None) -> bool:
    """Whether a writer may have stored wrong bounds of binary columns (PARQUET-251), as parquet-mr judges by `created_by`.

    >>> has_wrong_binary_bounds("parquet-mr version 1.6.0 (build abc)"), has_wrong_binary_bounds("parquet-mr version 1.8.1")
    (True, False)
    >>> has_wrong_binary_bounds(None), has_wrong_binary_bounds("parquet-cpp version 1.0.0")
    (True, False)
    """
    if not created_by:
        return True
    if not created_by.startswith("parquet-mr"):
        return False
    found = _VERSION.match(created_by)
    if found is None:
        return True
    version, suffix = tuple(int(part) for part in found.groups()[:3]), found[4]
    if version >= _FIXED:
        return version == _FIXED and suffix.startswith("-")  # a snapshot or candidate of the release
    cloudera = _CLOUDERA.match(suffix)
    return not (version == (1, 5, 0) and cloudera is not None and int(cloudera[1]) >= 5)


def _judge(
    metadata: StructReader, leaf: SchemaLeaf, rows: int, created_by: str | None, has_order: bool
) -> PartStatistics:
    values = metadata.integer("num_values")
    if leaf.max_repetition_level or values != rows:
        return PartStatistics()
    statistics = metadata.struct("statistics", metadata.get("statistics", {}))
    nulls, nans = statistics.optional("null_count"), statistics.optional("nan_count")
    if not leaf.max_definition_level:
        nulls = 0  # a required column
    elif nulls is not None and nulls > values:
        nulls = None
    if nans is not None and nans > values - (nulls or 0):
        nans = None
    lower, upper = _decode_bounds(statistics, leaf, created_by, has_order)
    return PartStatistics(lower, upper, nulls, values, nans)


def _decode_bounds(
    statistics: StructReader, leaf: SchemaLeaf, created_by: str | None, has_order: bool
) -> tuple[Any, Any]:
    stored = _choose(statistics, leaf, created_by, has_order)
    if stored is None:
        return None, None
    lower, upper = (decode_statistic(data, leaf.physical_type, leaf.logical_type) for data in stored)
    try:
        # no comparison holds of NaN; in a damaged footer the bounds may be the wrong way round
        is_range = lower is not None and upper is not None and bool(lower <= upper)
    except TypeError:  # one of them is a date that Python's dates cannot hold
        is_range = False
    return (lower, upper) if is_range else (None, None)


def _choose(
    statistics: StructReader, leaf: SchemaLeaf, created_by: str | None, has_order: bool
) -> Sequence[bytes] | None:
    """Choose the stored bounds that may be trusted, both or none."""
    if leaf.physical_type == "INT96" or leaf.logical_type == "Interval":
        return None
    low, high = statistics.get("min_value"), statistics.get("max_value")
    if isinstance(low, bytes) and isinstance(high, bytes):
        return (low, high) if has_order or low == high else None
    low, high = statistics.get("min"), statistics.get("max")
    if not isinstance(low, bytes) or not isinstance(high, bytes):
        return None
    if leaf.physical_type in _BINARY and has_wrong_binary_bounds(created_by):
        return None
    logical = leaf.logical_type or ""
    is_other = "isSigned=false" in logical or logical.startswith("Decimal")
    is_signed = leaf.physical_type in _SIGNED and not is_other  # the order that the deprecated bounds follow
    return (low, high) if is_signed or low == high else None


__all__ = ["find_order", "has_wrong_binary_bounds", "iter_chunks", "read_statistics"]


# Parquet's bloom filters: which values a column chunk cannot hold.
#
#     BloomFilterHeader (Thrift compact): numBytes, algorithm BLOCK, hash XXHASH, compression UNCOMPRESSED
#     bitset     numBytes bytes: blocks of 32 bytes           block  8 words of 32 bits LE, one bit of each set by a value
#     block of a hash   (hash >> 32) * blocks >> 32           bit of word i   (low 32 bits * salt i mod 2^32) >> 27
#
# Follows "Parquet Bloom Filter" of the Apache Parquet format (split block filter, xxHash64 with seed 0 over the PLAIN
# encoded value, byte arrays without their length). Refused with `Unsupported`: other algorithms, hashes and compressions;
# with `Corrupt`: sizes that are no blocks, and filters that end past the end of their file.

BLOCK = 32
#: The largest that parquet-mr writes (`BlockSplitBloomFilter.UPPER_BOUND_BYTES`).
MAX_SIZE = 128 << 20
#: More than any header takes.
HEADER_ROOM = 256
_SALTS = (
    *(0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D),
    *(0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31),
)
_ONLY = {"algorithm": ("BLOCK", 1), "hash": ("XXHASH", 1), "compression": ("UNCOMPRESSED", 1)}


@dataclass(frozen=True, slots=True)
class ParquetBloomFilter:
    """One filter: where its bitset begins in the file, and its length in bytes. Only the blocks asked for are read."""

    start: int
    size: int
    read: Callable[[int, int], bytes]

    def may_contain(self, plain: bytes) -> bool:
        """Whether the chunk may hold a value, PLAIN encoded; False is proof. Raises `Corrupt` for a filter that is cut.

        >>> filter = ParquetBloomFilter(0, 32, lambda start, length: bytes(length))
        >>> filter.may_contain(b"abc")
        False
        """
        hashed = hash_xx64(plain)
        start = self.start + ((hashed >> 32) * (self.size // BLOCK) >> 32) * BLOCK
        block = self.read(start, BLOCK)
        if len(block) < BLOCK:
            message, seen = "a bloom filter that ends past the end of its file", f"{len(block)} bytes"
            raise Corrupt(message, offset=start, expected=f"{BLOCK} bytes", seen=seen)
        return holds_hash(block, hashed)


def holds_hash(block: bytes, hashed: int) -> bool:
    """Check whether all eight bits of a hash are set in its block.

    >>> holds_hash(bytes([255] * 32), 12345), holds_hash(bytes(32), 12345)
    (True, False)
    """
    key = hashed & 0xFFFFFFFF
    for i, salt in enumerate(_SALTS):
        word = int.from_bytes(block[4 * i : 4 * i + 4], "little")
        if not word >> ((key * salt & 0xFFFFFFFF) >> 27) & 1:
            return False
    return True


def decode_bloom_filter(offset: int, file_size: int, read: Callable[[int, int], bytes]) -> ParquetBloomFilter:
    """Decode the filter whose header is at `offset` of its file; `read` gives bytes of the file by start and length.

    Raises `Corrupt` and `Unsupported` with the offset.

    >>> stored = bytes.fromhex("15 40 1c 1c 00 00 1c 1c 00 00 1c 1c 00 00 00") + bytes(32)
    >>> decode_bloom_filter(0, len(stored), lambda start, length: stored[start : start + length]).size
    32
    """
    if not 0 <= offset < file_size:
        raise Corrupt("a bloom filter past the end of its file", offset=offset, expected=f"below {file_size}")
    reader = ThriftReader(read(offset, min(HEADER_ROOM, file_size - offset)), offset)
    header = StructReader(reader.fields(0), BLOOM_FILTER, offset)
    for name, (meaning, number) in _ONLY.items():
        chosen = header.get(name)
        if not isinstance(chosen, dict) or list(chosen) != [number]:
            raise Unsupported(f"a bloom filter at byte {offset} whose {name} is not {meaning}")
    size, start = header.integer("numBytes"), offset + reader.at
    if size == 0 or size % BLOCK or size > MAX_SIZE:
        expected = f"a multiple of {BLOCK}, at most {MAX_SIZE}"
        raise Corrupt("no size of a bloom filter", offset=offset, expected=expected, seen=size)
    if start + size > file_size:
        message, expected = (
            "a bloom filter that ends past the end of its file",
            f"at most {file_size - start}",
        )
        raise Corrupt(message, offset=offset, expected=expected, seen=size)
    return ParquetBloomFilter(start, size, read)
