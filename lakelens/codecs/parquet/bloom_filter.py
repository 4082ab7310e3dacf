"""Parquet's bloom filters: which values a column chunk cannot hold.

    BloomFilterHeader (Thrift compact): numBytes, algorithm BLOCK, hash XXHASH, compression UNCOMPRESSED
    bitset     numBytes bytes: blocks of 32 bytes           block  8 words of 32 bits LE, one bit of each set by a value
    block of a hash   (hash >> 32) * blocks >> 32           bit of word i   (low 32 bits * salt i mod 2^32) >> 27

Follows "Parquet Bloom Filter" of the Apache Parquet format (split block filter, xxHash64 with seed 0 over the PLAIN encoded
value, byte arrays without their length). Refused with `Unsupported`: other algorithms, hashes and compressions; with
`Corrupt`: sizes that are no blocks, and filters that end past the end of their file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lakelens.codecs.hashes import hash_xx64
from lakelens.codecs.parquet.structure import StructReader
from lakelens.codecs.parquet.thrift import ThriftReader
from lakelens.codecs.parquet.thrift_schema import BLOOM_FILTER
from lakelens.errors import Corrupt, Unsupported

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
    """Whether all eight bits of a hash are set in its block.

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
    """The filter whose header is at `offset` of its file; `read` gives bytes of the file by start and length.

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
