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

import struct
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lakelens.codecs.bitmaps.roaring import decode_roaring32, decode_roaring64
from lakelens.errors import Corrupt, Unsupported

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyroaring import BitMap64

MAGIC_64 = bytes.fromhex("d1d33964")
MAGIC_32 = bytes.fromhex("5e43f2d0")
PAIMON_VERSION = 1
_FRAME = 8  # the length word and the CRC word


def decode_iceberg_dv(data: bytes, *, base: int = 0, path: str | None = None) -> BitMap64:
    """The deleted positions (0-based) in an Iceberg deletion vector: the bytes of one Puffin blob.

    `base` is the blob's offset in its file: offsets in errors count from the file's start. Gives a
    `pyroaring.BitMap64`: `len()`, iteration in order, `in`, `to_array()`. Follows Puffin's "deletion-vector-v1". Raises
    `Corrupt`.

    >>> blob = "00000024d1d339640100000000000000000000003a300000010000000000010010000000020003007a813847"
    >>> list(decode_iceberg_dv(bytes.fromhex(blob)))
    [2, 3]
    """
    payload = _unframe(data, base, path)
    if payload[:4] != MAGIC_64:
        raise Corrupt(
            "not an Iceberg deletion vector",
            path=path,
            offset=base + 4,
            expected=f"magic {MAGIC_64.hex()}",
            seen=payload[:4].hex(),
        )
    return decode_roaring64(payload[4:], base=base + 8, path=path)


def decode_paimon_dv(data: bytes, *, base: int = 0, path: str | None = None) -> BitMap64:
    """The deleted positions (0-based) in one Paimon deletion vector of either version, length and CRC words included.

    See `decode_iceberg_dv`. Follows Paimon's "Table Index" specification. Raises `Corrupt`.

    >>> vector = "000000225e43f2d03a300000020000000000010001000000180000001c00000000000500701127825e10"
    >>> list(decode_paimon_dv(bytes.fromhex(vector)))
    [0, 5, 70000]
    """
    payload = _unframe(data, base, path)
    if payload[:4] == MAGIC_32:
        return decode_roaring32(payload[4:], base=base + 8, path=path)
    if payload[:4] == MAGIC_64:
        return decode_roaring64(payload[4:], base=base + 8, path=path)
    raise Corrupt(
        "not a Paimon deletion vector",
        path=path,
        offset=base + 4,
        expected=f"magic {MAGIC_32.hex()} or {MAGIC_64.hex()}",
        seen=payload[:4].hex(),
    )


def decode_paimon_dv_file(
    data: bytes, ranges: Iterable[tuple[str, int, int]], *, path: str | None = None
) -> dict[str, BitMap64]:
    """The deletion vectors of a Paimon index file, by data file name.

    `ranges` are `_DELETIONS_VECTORS_RANGES` of the index manifest: name, offset, length. The length counts magic and
    bitmap for version 1 and the whole vector for version 2. Raises `Corrupt`, or `Unsupported` for a later file version.

    >>> vector = bytes.fromhex("000000225e43f2d03a300000020000000000010001000000180000001c00000000000500701127825e10")
    >>> {name: list(rows) for name, rows in decode_paimon_dv_file(b"\\x01" + vector, [("a.orc", 1, 34)]).items()}
    {'a.orc': [0, 5, 70000]}
    """
    if not data:
        raise Corrupt(
            "an empty deletion-vector file", path=path, offset=0, expected=f"version {PAIMON_VERSION}"
        )
    if data[0] != PAIMON_VERSION:
        raise Unsupported(f"version {data[0]} of Paimon's deletion-vector files", path=path)
    vectors = {}
    for name, offset, length in ranges:
        if not 0 <= offset <= len(data) - 4:
            raise Corrupt(
                f"the deletion vector of {name} starts outside its file",
                path=path,
                offset=len(data),
                expected=f"1 to {len(data) - 4}",
                seen=offset,
            )
        size = struct.unpack_from(">i", data, offset)[0]
        if length not in (size, size + _FRAME):
            raise Corrupt(
                f"the deletion vector of {name} is not as long as the index manifest says",
                path=path,
                offset=offset,
                expected=length,
                seen=size,
            )
        vectors[name] = decode_paimon_dv(data[offset : offset + size + _FRAME], base=offset, path=path)
    return vectors


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


def _unframe(data: bytes, base: int, path: str | None) -> bytes:
    """Magic and bitmap of a vector whose length and CRC words are right."""
    if len(data) < _FRAME + 4:
        raise Corrupt(
            "too short for a deletion vector",
            path=path,
            offset=base,
            expected=f"at least {_FRAME + 4} bytes",
            seen=f"{len(data)} bytes",
        )
    length = struct.unpack_from(">i", data)[0]
    if length != len(data) - _FRAME:
        raise Corrupt(
            "the length word of a deletion vector is wrong",
            path=path,
            offset=base,
            expected=len(data) - _FRAME,
            seen=length,
        )
    payload = data[4:-4]
    stored, computed = struct.unpack(">I", data[-4:])[0], zlib.crc32(payload)
    if stored != computed and payload[:4] in (MAGIC_32, MAGIC_64):  # else the wrong magic is what to tell
        raise Corrupt(
            "the CRC of a deletion vector does not match",
            path=path,
            offset=base + len(data) - 4,
            expected=f"{computed:08x}",
            seen=f"{stored:08x}",
        )
    return payload
