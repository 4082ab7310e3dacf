"""Avro records of one width, many at a time: a table of bytes in which every record is a row, cut into blocks and packed.

A part of a record is either the same bytes in every record or an array of one row per record. Varints take as many bytes in
each record, because the numbers are of one magnitude; that is what makes a million entries a matter of seconds.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

import fastavro
import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.values import Longs, Octets

Part = bytes | Octets
SYNC_BYTES = 64_000  # how much Java's Avro writer gathers before it ends a block


def encode_record(schema: Any, value: Any) -> bytes:
    """One value as Avro writes it, by fastavro."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, value)
    return out.getvalue()


def encode_long(number: int) -> bytes:
    """A whole number as Avro writes a long."""
    zigzag, out = (number << 1) ^ (number >> 63), bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def encode_longs(numbers: Longs) -> Octets:
    """Numbers of at least 0 as Avro longs. Raises ValueError unless all take as many bytes."""
    zigzag = numbers << 1
    width = len(encode_long(int(numbers.max())))
    if width != len(encode_long(int(numbers.min()))):
        raise ValueError("the numbers are not of one magnitude")
    digits = zigzag[:, None] >> (7 * np.arange(width)) & 0x7F
    digits[:, :-1] |= 0x80
    return digits.astype(np.uint8)


def encode_little(numbers: NDArray[np.generic], width: int, real: bool = False) -> Octets:
    """Numbers as little-endian bytes."""
    kind = f"<f{width}" if real else f"<i{width}"
    return np.frombuffer(numbers.astype(kind).tobytes(), np.uint8).reshape(-1, width)


def encode_big(numbers: Longs) -> Octets:
    """Numbers of at least 0 as two's complement, big-endian, in as few bytes as hold them. Raises ValueError as above."""
    width = (int(numbers.max()).bit_length() + 8) // 8
    if width != (int(numbers.min()).bit_length() + 8) // 8:
        raise ValueError("the numbers are not of one magnitude")
    return np.frombuffer(numbers.astype(">i8").tobytes(), np.uint8).reshape(-1, 8)[:, 8 - width :]


def join_parts(parts: Sequence[Part], rows: int) -> Octets:
    """The records: every part side by side."""
    merged: list[Part] = []
    for part in parts:  # constants that follow each other are one
        if isinstance(part, bytes) and merged and isinstance(merged[-1], bytes):
            merged[-1] += part
        else:
            merged.append(part)
    width = sum(len(part) if isinstance(part, bytes) else part.shape[1] for part in merged)
    table = np.empty((rows, width), np.uint8)
    start = 0
    for part in merged:
        size = len(part) if isinstance(part, bytes) else part.shape[1]
        table[:, start : start + size] = np.frombuffer(part, np.uint8) if isinstance(part, bytes) else part
        start += size
    return table


def prefix_length(part: Octets) -> list[Part]:
    """Bytes or text as Avro writes them: the length, then the bytes."""
    return [encode_long(part.shape[1]), part]


def find_packer(codec: str) -> Callable[[bytes], bytes]:
    """What packs a block of an Avro codec ("deflate", "zstandard", "null")."""
    if codec == "deflate":
        return _deflate
    if codec == "zstandard":
        from tests.support import zstd

        return lambda data: bytes(zstd.compress(data, 3))
    if codec == "null":
        return bytes
    raise ValueError(f"no codec {codec!r}")


def _deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


class AvroFile:
    """An Avro file that is written block by block, with the header of another."""

    def __init__(self, path: Path, header: Mapping[str, str]) -> None:
        self.path = path
        self.entries = 0
        self.size = 0
        self._sync = os.urandom(16)
        self._stream: BinaryIO = path.open("wb")
        meta = {key: value.encode() for key, value in header.items()}
        schema = fastavro.parse_schema({"type": "map", "values": "bytes"})
        self._write(b"Obj\x01" + encode_record(schema, meta) + self._sync)

    def add_block(self, count: int, packed: bytes) -> None:
        """Add a block of `count` entries."""
        self._write(encode_long(count) + encode_long(len(packed)) + packed + self._sync)
        self.entries += count

    def close(self) -> None:
        """Nothing more comes."""
        self._stream.close()

    def _write(self, data: bytes) -> None:
        self._stream.write(data)
        self.size += len(data)


def pack_blocks(tables: Iterator[Octets], pack: Callable[[bytes], bytes]) -> Iterator[tuple[int, bytes]]:
    """Count and packed bytes of block after block, packed in two threads; one table of records is in memory at a time."""
    with ThreadPoolExecutor(2) as pool:
        for table in tables:
            step = max(1, -(-SYNC_BYTES // table.shape[1]))
            pieces = [table[start : start + step] for start in range(0, len(table), step)]
            yield from zip(
                map(len, pieces), pool.map(lambda piece: pack(piece.tobytes()), pieces), strict=True
            )
