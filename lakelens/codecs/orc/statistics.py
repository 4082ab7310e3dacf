"""What the statistics and bloom filters of an ORC file's stripes prove of a column."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from typing import Any

from lakelens.codecs.hashes import hash_murmur64, hash_number
from lakelens.codecs.orc.chunk_spans import decode_section
from lakelens.codecs.orc.footer import OrcTail
from lakelens.codecs.orc.protobuf import BLOOM_FILTERS, STRIPE_FOOTER
from lakelens.codecs.part_statistics import PartStatistics
from lakelens.codecs.temporal import date_from_days, timestamp_from_nanos
from lakelens.errors import Corrupt
from lakelens.lazy import dataclass

_HIVE_8732, _ORC_135 = 1, 6
_INTEGERS = ("BYTE", "SHORT", "INT", "LONG")
_TEXTS = ("STRING", "VARCHAR", "CHAR")
_TIMESTAMPS = ("TIMESTAMP", "TIMESTAMP_INSTANT")
FIELD_ID_KEYS = ("iceberg.id", "paimon.id")


@dataclass(frozen=True, slots=True)
class OrcType:
    """One leaf of the schema that has a value in every row: its names from the top down, its number, and what it stores."""

    names: tuple[str, ...]
    number: int
    kind: str
    field_id: int | None = None
    precision: int = 0
    scale: int = 0


def list_leaves(tail: OrcTail) -> list[OrcType]:
    """List the leaves of the schema that are in no list, map or union. Raises `Corrupt`."""
    return list(_walk(tail.footer.get("types", []), 0, ()))


def _walk(types: list[Any], number: int, names: tuple[str, ...]) -> Iterator[OrcType]:
    if not 0 <= number < len(types):
        raise Corrupt("a type that the schema does not have", expected=f"below {len(types)}", seen=number)
    found = types[number]
    kind = str(found.get("kind", "BOOLEAN"))
    if kind == "STRUCT":
        for name, child in zip(found.get("fieldNames", []), found.get("subtypes", []), strict=False):
            if child <= number:  # types are numbered from the top down
                raise Corrupt("a type inside of itself", expected=f"above {number}", seen=child)
            yield from _walk(types, child, (*names, name))
    elif kind not in ("LIST", "MAP", "UNION"):
        pairs = {pair.get("key"): pair.get("value", "") for pair in found.get("attributes", [])}
        text = next((pairs[key] for key in FIELD_ID_KEYS if key in pairs), "")
        field_id = int(text) if text.isdigit() and len(text) <= 10 else None
        yield OrcType(names, number, kind, field_id, found.get("precision", 0), found.get("scale", 0))


def read_statistics(tail: OrcTail, leaf: OrcType) -> list[PartStatistics]:
    """Read what the tail proves of one leaf, stripe by stripe. Raises `Corrupt`.

    >>> import io, pyarrow as pa, pyarrow.orc
    >>> sink = io.BytesIO()
    >>> pyarrow.orc.write_table(pa.table({"id": [1, None, 3]}), sink)
    >>> tail = OrcTail(sink.getvalue(), 0, len(sink.getvalue()))
    >>> read_statistics(tail, list_leaves(tail)[0])
    [PartStatistics(lower=1, upper=3, nulls=1, values=3, nans=None)]
    """
    version = tail.facts.get("writerVersion", 0)
    stripes = tail.footer.get("stripes", [])
    parts = tail.metadata.get("stripeStats", [])
    if len(parts) != len(stripes):
        return [PartStatistics() for _ in stripes]
    found = []
    for stripe, part in zip(stripes, parts, strict=True):
        columns = part.get("colStats", [])
        stored = columns[leaf.number] if leaf.number < len(columns) else {}
        found.append(_judge(stored, leaf, stripe.get("numberOfRows", 0), version))
    return found


def _judge(stored: Mapping[str, Any], leaf: OrcType, rows: int, version: int) -> PartStatistics:
    filled = stored.get("numberOfValues")
    nulls = rows - filled if isinstance(filled, int) and 0 <= filled <= rows else None
    if nulls and stored.get("hasNull") is False and len(leaf.names) == 1:
        nulls = None  # the two contradict each other
    try:
        lower, upper = _find_bounds(stored, leaf, filled, version)
        is_range = lower is not None and upper is not None and bool(lower <= upper)
    except (TypeError, InvalidOperation):
        is_range = False
    if not is_range:
        lower = upper = None
    return PartStatistics(lower, upper, nulls, rows)


def _find_bounds(stored: Mapping[str, Any], leaf: OrcType, filled: Any, version: int) -> tuple[Any, Any]:
    kind = leaf.kind
    if kind == "BOOLEAN":
        # the bounds of a boolean follow from how many values are true
        counts = stored.get("bucketStatistics", {}).get("count", [])
        if not counts or not isinstance(filled, int) or not 0 <= counts[0] <= filled or not filled:
            return None, None
        return counts[0] == filled, counts[0] > 0
    if kind in _TIMESTAMPS:
        return _find_moments(stored.get("timestampStatistics", {})) if version >= _ORC_135 else (None, None)
    if kind in _TEXTS:
        texts = stored.get("stringStatistics", {}) if version >= _HIVE_8732 else {}
        return texts.get("minimum", texts.get("lowerBound")), texts.get("maximum", texts.get("upperBound"))
    if kind in _INTEGERS:
        return _pick(stored.get("intStatistics", {}))
    if kind in ("FLOAT", "DOUBLE"):
        return _pick(stored.get("doubleStatistics", {}))
    if kind == "DATE":
        low, high = _pick(stored.get("dateStatistics", {}))
        return (None, None) if low is None or high is None else (date_from_days(low), date_from_days(high))
    if kind == "DECIMAL":
        low, high = _pick(stored.get("decimalStatistics", {}))
        return (None, None) if low is None or high is None else (_read_decimal(low), _read_decimal(high))
    return None, None


def _read_decimal(text: str) -> Decimal | None:
    """A decimal of at most 38 digits before and after the point: one of a million zeros would be written out somewhere."""
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    is_held = isinstance(exponent, int) and exponent >= -38 and number.adjusted() < 38
    return number if is_held else None


def _pick(bounds: Mapping[str, Any]) -> tuple[Any, Any]:
    return bounds.get("minimum"), bounds.get("maximum")


def _find_moments(bounds: Mapping[str, Any]) -> tuple[Any, Any]:
    low, high = bounds.get("minimumUtc"), bounds.get("maximumUtc")
    if low is None or high is None:
        return None, None
    # stored plus one; without them the bounds reach over the whole millisecond
    first, last = bounds.get("minimumNanos", 1) - 1, bounds.get("maximumNanos", 1_000_000) - 1
    if not 0 <= first < 1_000_000 or not 0 <= last < 1_000_000:
        return None, None
    lower, upper = low * 1_000_000 + first, high * 1_000_000 + last
    return timestamp_from_nanos(lower, False), timestamp_from_nanos(upper, False)


# ORC's bloom filters: which values a stripe cannot hold.
#
#     stripe   streams in the order of its footer; BLOOM_FILTER_UTF8 of a column: one filter for each row group of the
#              index
#     filter   numHashFunctions, bits: 64-bit words LE         low, high: the halves of a hash as Java ints
#     for i from 1 to the number of hash functions: bit low + i * high, in 32 bits, inverted when negative, modulo all
#
# Follows "Bloom Filter Index" of the ORC specification, v1, and `org.apache.orc.util.BloomFilter`: numbers and dates by
# Thomas Wang's hash, floating point by the bits of the double, texts and bytes by `Murmur3.hash64`. Not asked:
# BLOOM_FILTER, whose texts are in the writer's own charset; decimals and timestamps, which versions hash in several ways;
# filters by the C++ writer before 1.6.12 and of 1.7.0, which hashes negative numbers otherwise (ORC-1024).

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
        """Check whether a value with this hash may be there; False is proof.

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
    """Give the hash of a stored value of a type; None for types that are not asked.

    >>> hash_value(5, "LONG") == hash_number(5)
    True
    """
    if kind in ("BYTE", "SHORT", "INT", "LONG", "DATE"):
        return hash_number(value)
    if kind in ("FLOAT", "DOUBLE"):
        return hash_number(struct.unpack(">q", struct.pack(">d", value))[0])
    return hash_murmur64(value) if kind in ("STRING", "VARCHAR", "BINARY") else None


def read_bloom_filters(tail: OrcTail, number: int, leaf: OrcType) -> list[OrcBloomFilter]:
    """Read the filters of a column in a stripe, one for each of its row groups; empty where there are none to be trusted.

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
    """Check whether the file is by a version of the C++ writer whose hash of negative numbers is not Java's (ORC-1024)."""
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
