"""Paimon's arrays of numbers as differences: what `DeltaVarintCompressor` of its sources writes.

difference to the number before (to 0 for the first), zigzag, as a varint of 7 bits in a byte, lowest first
"""

from __future__ import annotations

from lakelens.errors import Corrupt


def decode_deltas(stored: bytes, start: int = 0) -> list[tuple[int, int]]:
    """The numbers, each after the absolute position of its end. Raises `Corrupt` with the byte; `start` is the first's.

    >>> decode_deltas(bytes.fromhex("0401"))
    [(1, 2), (2, 1)]
    """
    found, value, raw, shift = [], 0, 0, 0
    for i, byte in enumerate(stored):
        raw |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            value += raw >> 1 ^ -(raw & 1)
            found.append((start + i + 1, value))
            raw = shift = 0
        elif shift > 63:
            raise Corrupt("a number of more than 64 bits", offset=start + i)
    if shift:
        raise Corrupt("an index that ends inside a number", offset=start + len(stored))
    return found
