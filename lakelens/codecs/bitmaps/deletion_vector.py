"""Deletion vectors: the positions of the rows of one data file that are deleted.

    Iceberg (Puffin blob deletion-vector-v1) and Paimon version 2      Paimon version 1
    length L      i32 BE   of magic + bitmap                           length L      i32 BE   of magic + bitmap
    magic         D1 D3 39 64                                          magic         5E 43 F2 D0
    bitmap        64-bit Roaring                                       bitmap        32-bit Roaring
    CRC-32        u32 BE   of magic + bitmap                           CRC-32        u32 BE   of magic + bitmap

    Paimon's index file: version (one byte, 1), then vectors; the index manifest gives each one's name, offset and length
    Paimon's hash index: i32 BE, one per key

Follows "Blob types: deletion-vector-v1" of Iceberg's Puffin specification and Paimon's "Table Index" specification
("Deletion Vectors", "Dynamic Bucket Index"). Length, magic and CRC are checked apart from each other, then every container
of the bitmap; each failure is a `Corrupt` with the offset.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NoReturn

from lakelens.codecs.bitmaps.roaring import decode_roaring32, decode_roaring64
from lakelens.errors import Corrupt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyroaring import BitMap64

MAGIC_64 = bytes.fromhex("d1d33964")
MAGIC_32 = bytes.fromhex("5e43f2d0")
PAIMON_VERSION = 1
FRAME = 8  # the length word and the CRC word


def decode_iceberg_dv(data: bytes, *, base: int = 0, path: str | None = None) -> BitMap64:
    """The deleted positions (0-based) in an Iceberg deletion vector: the bytes of one Puffin blob.

    `base` is the blob's offset in its file: offsets in errors count from the file's start. Gives a
    `pyroaring.BitMap64`: `len()`, iteration in order, `in`, `to_array()`. Follows Puffin's "deletion-vector-v1". Raises
    `Corrupt`.

    >>> blob = "00000024d1d339640100000000000000000000003a300000010000000000010010000000020003007a813847"
    >>> list(decode_iceberg_dv(bytes.fromhex(blob)))
    [2, 3]
    """
    return _decode_vector(data, "Iceberg", (MAGIC_64,), base, path)


def decode_paimon_dv(data: bytes, *, base: int = 0, path: str | None = None) -> BitMap64:
    """The deleted positions (0-based) in one Paimon deletion vector of either version, length and CRC words included.

    See `decode_iceberg_dv`. Follows Paimon's "Table Index" specification. Raises `Corrupt`.

    >>> vector = "000000225e43f2d03a300000020000000000010001000000180000001c00000000000500701127825e10"
    >>> list(decode_paimon_dv(bytes.fromhex(vector)))
    [0, 5, 70000]
    """
    return _decode_vector(data, "Paimon", (MAGIC_32, MAGIC_64), base, path)


def decode_hash_index(data: bytes, *, path: str | None = None) -> NDArray[np.int32]:
    """The key hashes in a Paimon `HASH` index file (dynamic buckets), in file order. Raises `Corrupt`.

    >>> decode_hash_index(bytes.fromhex("5759f99e")).tolist()
    [1465514398]
    """
    import numpy as np

    if len(data) % 4:
        raise Corrupt(
            "a hash index cut inside a hash",
            path=path,
            offset=len(data) - len(data) % 4,
            expected="a multiple of 4 bytes",
            seen=f"{len(data)} bytes",
        )
    return np.frombuffer(data, ">i4").astype(np.int32)


def _decode_vector(
    data: bytes, writer: str, magics: tuple[bytes, ...], base: int, path: str | None
) -> BitMap64:
    """The positions of a vector whose length, magic and CRC words are right."""

    def fail(message: str, at: int, expected: object, seen: object) -> NoReturn:
        raise Corrupt(message, path=path, offset=base + at, expected=expected, seen=seen)

    if len(data) < FRAME + 4:
        fail("too short for a deletion vector", 0, f"at least {FRAME + 4} bytes", f"{len(data)} bytes")
    length = int.from_bytes(data[:4], "big", signed=True)
    if length != len(data) - FRAME:
        fail("the length word of a deletion vector is wrong", 0, len(data) - FRAME, length)
    payload, magic = data[4:-4], data[4:8]
    if magic not in magics:
        expected = "magic " + " or ".join(known.hex() for known in magics)
        fail(f"not {'an' if writer == 'Iceberg' else 'a'} {writer} deletion vector", 4, expected, magic.hex())
    stored, computed = data[-4:].hex(), f"{zlib.crc32(payload):08x}"
    if stored != computed:
        fail("the CRC of a deletion vector does not match", len(data) - 4, computed, stored)
    decode = decode_roaring32 if magic == MAGIC_32 else decode_roaring64
    return decode(payload[4:], base=base + 8, path=path)
