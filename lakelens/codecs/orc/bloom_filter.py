"""ORC's bloom filters: which values a stripe cannot hold.

    stripe   streams in the order of its footer; BLOOM_FILTER_UTF8 of a column: one filter for each row group of the index
    filter   numHashFunctions, bits: 64-bit words LE         low, high: the halves of a hash as Java ints
    for i from 1 to the number of hash functions: bit low + i * high, in 32 bits, inverted when negative, modulo all

Follows "Bloom Filter Index" of the ORC specification, v1, and `org.apache.orc.util.BloomFilter`: numbers and dates by Thomas
Wang's hash, floating point by the bits of the double, texts and bytes by `Murmur3.hash64`. Not asked: BLOOM_FILTER, whose
texts are in the writer's own charset; decimals and timestamps, which versions hash in several ways; filters by the C++
writer before 1.6.12 and of 1.7.0, which hashes negative numbers otherwise (ORC-1024).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from lakelens.codecs.hashes import hash_murmur64, hash_number
from lakelens.codecs.orc.chunk_spans import decode_section
from lakelens.codecs.orc.proto_schema import BLOOM_FILTERS, STRIPE_FOOTER
from lakelens.codecs.orc.statistics import OrcType
from lakelens.codecs.orc.tail import OrcTail
from lakelens.errors import Corrupt

_WORD = (1 << 32) - 1
_MAX_HASHES = 1 << 10
_CPP = 1
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_PARTS = ("indexLength", "dataLength", "footerLength")


@dataclass(frozen=True, slots=True)
class OrcBloomFilter:
    """One filter: its bits and the number of its hash functions."""

    bits: bytes
    hashes: int

    def may_contain(self, hashed: int) -> bool:
        """Whether a value with this hash may be there; False is proof.

        >>> OrcBloomFilter(bytes(8), 2).may_contain(hash_number(1))
        False
        """
        low, high, size = hashed & _WORD, hashed >> 32, 8 * len(self.bits)
        for i in range(1, self.hashes + 1):
            combined = low + i * high & _WORD
            place = (combined ^ _WORD if combined >> 31 else combined) % size
            if not self.bits[place >> 3] >> (place & 7) & 1:
                return False
        return True


def hash_value(value: Any, kind: str) -> int | None:
    """The hash of a stored value of a type; None for types that are not asked.

    >>> hash_value(5, "LONG") == hash_number(5)
    True
    """
    if kind in ("BYTE", "SHORT", "INT", "LONG", "DATE"):
        return hash_number(value)
    if kind in ("FLOAT", "DOUBLE"):
        return hash_number(struct.unpack(">q", struct.pack(">d", value))[0])
    return hash_murmur64(value) if kind in ("STRING", "VARCHAR", "BINARY") else None


def read_bloom_filters(tail: OrcTail, number: int, leaf: OrcType) -> list[OrcBloomFilter]:
    """The filters of a column in a stripe, one for each of its row groups; empty where there are none to be trusted.

    Raises `Corrupt`, `Unsupported`.
    """
    stripe = tail.footer.get("stripes", [])[number]
    stride = tail.footer.get("rowIndexStride", 0)
    if not stride or hashes_negatives_otherwise(tail):
        return []
    start = tail.start + stripe.get("offset", 0)
    places = list(accumulate((stripe.get(part, 0) for part in _PARTS), initial=start))
    if places[-1] > tail.sections["stripeStatistics"][0]:
        raise Corrupt(f"stripe {number} where it cannot be", offset=start, seen=f"up to {places[-1]}")
    footer: Any = decode_section(tail.data, places[2], places[3], STRIPE_FOOTER, tail.compression)
    at = start
    for stream in footer.get("streams", []):
        end = at + stream.get("length", 0)
        if stream.get("kind") == "BLOOM_FILTER_UTF8" and stream.get("column") == leaf.number:
            if end > places[1]:
                raise Corrupt("an index stream that leaves its part of the stripe", offset=at, seen=end - at)
            message: Any = decode_section(tail.data, at, end, BLOOM_FILTERS, tail.compression)
            filters = [_make_filter(stored, at) for stored in message.get("bloomFilter", [])]
            groups = -(-stripe.get("numberOfRows", 0) // stride)
            return filters if len(filters) == groups else []
        at = end
    return []


def hashes_negatives_otherwise(tail: OrcTail) -> bool:
    """Whether the file is by a version of the C++ writer whose hash of negative numbers is not Java's (ORC-1024)."""
    if tail.footer.get("writer", 0) != _CPP:
        return False
    found = _VERSION.search(tail.footer.get("softwareVersion", ""))
    version = tuple(map(int, found.groups())) if found else (0, 0, 0)
    return version < (1, 6, 12) or version == (1, 7, 0)


def _make_filter(stored: Any, offset: int) -> OrcBloomFilter:
    words = stored.get("bitset", [])
    bits = stored.get("utf8bitset") or struct.pack(f"<{len(words)}Q", *words)
    hashes = stored.get("numHashFunctions", 0)
    if not bits or not 0 < hashes <= _MAX_HASHES:
        raise Corrupt("no bloom filter", offset=offset, expected="bits and hash functions", seen=hashes)
    return OrcBloomFilter(bits, hashes)
