"""The hash by which Paimon puts rows into buckets: Murmur3 over the BinaryRow of the bucket key.

    bucket = |hash % buckets|      hash: murmur3_x86_32, seed 42, signed, over the row's bytes (see `row`)

Follows Paimon's `BinaryRowWriter`, `BinaryRow.hashCode` and `KeyAndBucketExtractor.bucket`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from lakelens.codecs.hashes import hash_murmur3
from lakelens.codecs.moments import FarTime
from lakelens.codecs.paimon.types import PaimonType

SEED = 42
_EPOCH = date(1970, 1, 1)
_WIDE_DECIMAL = 18
_LONG_TIMESTAMP = 3


def find_bucket(kinds: Sequence[PaimonType], values: Sequence[Any], buckets: int) -> int:
    """Find the bucket of a key among a number of buckets. Raises TypeError for a type that cannot be part of a key.

    >>> find_bucket([PaimonType("INT")], [1], 4)
    2
    """
    hashed: int = hash_murmur3(encode_row(kinds, values), SEED)
    return abs(hashed) % buckets  # Java's remainder has the sign of the hash


def encode_row(kinds: Sequence[PaimonType], values: Sequence[Any]) -> bytes:
    """Encode a BinaryRow of values of these types, without the arity in front.

    >>> encode_row([PaimonType("INT"), PaimonType("VARCHAR", length=10)], [1, "a"]).hex()
    '000000000000000001000000000000006100000000000081'
    """
    null_bytes = (len(kinds) + 63 + 8) // 64 * 8
    fixed = bytearray(null_bytes + 8 * len(kinds))
    variable = bytearray()
    for number, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        slot = null_bytes + 8 * number
        if value is None:
            fixed[(number + 8) // 8] |= 1 << (number + 8) % 8
        begin = len(fixed) + len(variable)
        stored, more = _encode(kind, value, begin)
        fixed[slot : slot + len(stored)] = stored
        variable += more + bytes(-len(more) % 8)
    return bytes(fixed + variable)


def _encode(kind: PaimonType, value: Any, begin: int) -> tuple[bytes, bytes]:
    """Encode the slot of a value, and what goes to the variable part, which begins at a byte."""
    name = kind.name
    if name == "DECIMAL" and (kind.precision or 10) > _WIDE_DECIMAL:
        data = b""
        if value is not None:
            number = _unscale(value)
            # two's complement, big-endian, as short as can be: Java's `BigInteger.toByteArray`
            size = (number if number >= 0 else ~number).bit_length() // 8 + 1
            data = number.to_bytes(size, "big", signed=True)
        return struct.pack("<ii", len(data), begin), data.ljust(16, b"\0")
    if name.startswith("TIMESTAMP") and (6 if kind.precision is None else kind.precision) > _LONG_TIMESTAMP:
        millis, nanos = (0, 0) if value is None else _split_time(value)
        return struct.pack("<ii", nanos, begin), struct.pack("<q", millis)
    if value is None:
        return b"", b""
    if name in ("CHAR", "VARCHAR", "BINARY", "VARBINARY"):
        data = value.encode() if isinstance(value, str) else bytes(value)
        if len(data) <= 7:
            return data.ljust(7, b"\0") + bytes([0x80 + len(data)]), b""
        return struct.pack("<ii", len(data), begin), data
    encode = _FIXED.get(name) or (_FIXED["TIMESTAMP"] if name.startswith("TIMESTAMP") else None)
    if encode is None:
        raise TypeError(f"{kind} is no type of a key")
    return encode(value), b""


def _unscale(value: Decimal) -> int:
    sign, digits, _ = value.as_tuple()
    return int("".join(map(str, digits))) * (-1 if sign else 1)


def _split_time(value: Any) -> tuple[int, int]:
    """Milliseconds since 1970, and nanoseconds in the last of them."""
    if isinstance(value, datetime):
        plain = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        delta = plain - datetime(1970, 1, 1)
        nanos = (delta.days * 86_400 + delta.seconds) * 1_000_000_000 + delta.microseconds * 1_000
        nanos += getattr(value, "nanosecond", 0)
    else:
        nanos = (
            value.count_in("ns")
            if isinstance(value, FarTime)
            else int(value.astype("datetime64[ns]").astype("int64"))
        )
    return divmod(nanos, 1_000_000)


def _count_millis(value: time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


_FIXED: dict[str, Callable[[Any], bytes]] = {
    "BOOLEAN": lambda value: bytes([bool(value)]),
    "TINYINT": lambda value: struct.pack("<b", value),
    "SMALLINT": lambda value: struct.pack("<h", value),
    "INT": lambda value: struct.pack("<i", value),
    "BIGINT": lambda value: struct.pack("<q", value),
    "FLOAT": lambda value: struct.pack("<f", value),
    "DOUBLE": lambda value: struct.pack("<d", value),
    "DATE": lambda value: struct.pack("<i", (value - _EPOCH).days),
    "TIME": lambda value: struct.pack("<i", _count_millis(value)),
    "DECIMAL": lambda value: struct.pack("<q", _unscale(value)),
    "TIMESTAMP": lambda value: struct.pack("<q", _split_time(value)[0]),
}
