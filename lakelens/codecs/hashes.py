"""The hashes that indexes of values are made of, as Java computes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

_INT = (1 << 32) - 1
_LONG = (1 << 64) - 1
_C1, _C2, _MIX = 0x87C37B91114253D5, 0x4CF5AD432745937F, 0x52DCE729
_SEED = 104729


def hash_murmur3(data: bytes, seed: int = 0) -> int:
    """Hash bytes with MurmurHash3, the variant of 32 bits for x86, signed as Java's.

    >>> hash_murmur3(b"iceberg"), hash_murmur3(b"", 42)
    (1210000089, 142593372)
    """
    return _find_murmur3()(data, seed)


@cache
def _find_murmur3() -> Callable[[bytes, int], int]:
    """Find the library's function where it is installed, else ours."""
    try:
        import mmh3
    except ModuleNotFoundError:
        return hash_murmur3_plain
    return mmh3.hash


def hash_murmur3_plain(data: bytes, seed: int = 0) -> int:
    """Hash bytes as `hash_murmur3` does, in plain Python: for where there is no library.

    >>> hash_murmur3_plain(b"iceberg"), hash_murmur3_plain(b"", 42)
    (1210000089, 142593372)
    """
    hashed, whole = seed & _INT, len(data) & ~3
    for at in range(0, whole, 4):
        hashed ^= _mix_murmur3(int.from_bytes(data[at : at + 4], "little"))
        hashed = ((hashed << 13 | hashed >> 19) * 5 + 0xE6546B64) & _INT
    hashed ^= _mix_murmur3(int.from_bytes(data[whole:], "little")) ^ len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        hashed = (hashed ^ hashed >> shift) * factor & _INT
    return hashed - (1 << 32) if hashed >> 31 else hashed


def _mix_murmur3(word: int) -> int:
    word = word * 0xCC9E2D51 & _INT
    return (word << 15 | word >> 17) * 0x1B873593 & _INT


def hash_number(number: int) -> int:
    """Thomas Wang's hash of a 64-bit integer, whose right shifts keep the sign; unsigned.

    >>> hash_number(1), hash_number(-1) == hash_number(2**64 - 1)
    (6614235796240398542, True)
    """
    key = _sign(number)
    key = _sign(~key + (key << 21))
    key ^= key >> 24
    key = _sign(key + (key << 3) + (key << 8))
    key ^= key >> 14
    key = _sign(key + (key << 2) + (key << 4))
    key ^= key >> 28
    return key + (key << 31) & _LONG


def hash_xx64(data: bytes) -> int:
    """xxHash64 of bytes, seed 0.

    >>> hex(hash_xx64(b"a"))
    '0xd24ec4f1a98c6e5b'
    """
    import xxhash

    return xxhash.xxh64_intdigest(data)


def hash_murmur64(data: bytes) -> int:
    """ORC's 64-bit variant of Murmur3 (`Murmur3.hash64`): one state of 64 bits instead of two; unsigned.

    >>> hash_murmur64(b"") == hash_murmur64(b"\\0")
    False
    """
    hashed, whole = _SEED, len(data) & ~7
    for at in range(0, whole, 8):
        hashed ^= _mix(int.from_bytes(data[at : at + 8], "little"))
        hashed = _rotate(hashed, 27) * 5 + _MIX & _LONG
    if whole < len(data):
        hashed ^= _mix(int.from_bytes(data[whole:], "little"))
    hashed ^= len(data)
    hashed = (hashed ^ hashed >> 33) * 0xFF51AFD7ED558CCD & _LONG
    hashed = (hashed ^ hashed >> 33) * 0xC4CEB9FE1A85EC53 & _LONG
    return hashed ^ hashed >> 33


def _mix(word: int) -> int:
    return _rotate(word * _C1 & _LONG, 31) * _C2 & _LONG


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> 64 - bits) & _LONG


def _sign(number: int) -> int:
    """The number that Java's long would be."""
    low = number & _LONG
    return low - (1 << 64) if low >> 63 else low
