"""Avro object container files: the header and the blocks, with the byte at which each lies.

Layout, see "Object Container Files" of the Avro 1.12 specification::

    "Obj" 01 | map of string to bytes: avro.schema, avro.codec, ... | sync marker, 16 bytes
    block:   long count | long size | size bytes, compressed by the codec | sync marker
    long:    zigzag, 7 bits to a byte, lowest first, at most 10 bytes

Codecs: null, deflate, snappy (with its CRC-32), zstandard, bzip2, xz. Refused as `Corrupt` with the byte: another magic,
a header without schema, anything cut short, another sync marker, and blocks that decompress to more than 256 MiB.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lakelens.codecs.avro.schema import find_record, parse_schema
from lakelens.codecs.compression import decompress
from lakelens.errors import Corrupt, Unsupported

MAGIC = b"Obj\x01"
SYNC_SIZE = 16
#: Avro's names of codecs and ours; snappy is followed by a CRC-32 of the content.
CODECS = {
    "null": "",
    "deflate": "deflate",
    "snappy": "snappy",
    "zstandard": "zstd",
    "bzip2": "bzip2",
    "xz": "xz",
}


@dataclass(frozen=True, slots=True)
class AvroHeader:
    """What the head of an Avro file says: `schema` as parsed JSON (ids kept), all `metadata`, sizes in bytes."""

    schema: Any
    metadata: dict[str, bytes] = field(repr=False)
    codec: str
    sync_marker: bytes
    header_size: int

    @property
    def record(self) -> dict[str, Any]:
        """The schema of the records, without the union around it that Paimon up to 0.8 wrote."""
        record = find_record(self.schema)
        if record is None:
            raise Unsupported("the Avro file does not hold records")
        return record


@dataclass(frozen=True, slots=True)
class AvroBlock:
    """Where one block lies: `offset` of its count, `start` and `size` of its compressed bytes; `count` of records."""

    offset: int
    count: int
    start: int
    size: int

    @property
    def end(self) -> int:
        """The byte after the sync marker."""
        return self.start + self.size + SYNC_SIZE


def decode_header(data: bytes, path: str | None = None) -> AvroHeader:
    """Decode the head of an Avro file; raises `Corrupt` with the byte (`path` only names the file in it).

    Follows "Object Container Files" of the Avro specification.

    >>> schema = b'{"type":"record","name":"r","fields":[]}'
    >>> data = MAGIC + bytes([2, 22]) + b"avro.schema" + bytes([len(schema) * 2]) + schema + bytes([0]) + b"s" * 16
    >>> header = decode_header(data)
    >>> header.codec, header.header_size == len(data)
    ('null', True)
    """
    if not data:
        raise Corrupt("empty file, not an Avro file", path=path, offset=0, expected="magic Obj\\x01")
    if data[:4] != MAGIC:
        seen = repr(bytes(data[:4]))
        raise Corrupt("not an Avro file", path=path, offset=0, expected="magic Obj\\x01", seen=seen)
    metadata, end = _decode_metadata(data, path)
    if end + SYNC_SIZE > len(data):
        raise Corrupt("Avro header cut short", path=path, offset=end, expected="a sync marker of 16 bytes")
    if "avro.schema" not in metadata:
        seen = ", ".join(sorted(metadata)) or "no keys"
        raise Corrupt(
            "Avro header without a schema", path=path, offset=4, expected="key avro.schema", seen=seen
        )
    schema = parse_schema(metadata["avro.schema"], path)
    codec = metadata.get("avro.codec", b"null").decode("utf-8", "replace") or "null"
    return AvroHeader(schema, metadata, codec, bytes(data[end : end + SYNC_SIZE]), end + SYNC_SIZE)


def iter_blocks(data: bytes, header: AvroHeader, path: str | None = None) -> Iterator[AvroBlock]:
    """Yield where the blocks lie, checking every sync marker.

    >>> list(iter_blocks(b"head" + bytes([2, 6]) + b"abc" + b"s" * 16, AvroHeader("long", {}, "null", b"s" * 16, 4)))
    [AvroBlock(offset=4, count=1, start=6, size=3)]
    """
    position = header.header_size
    while position < len(data):
        count, middle = decode_long(data, position, path)
        size, start = decode_long(data, middle, path)
        if count < 0:
            raise Corrupt(
                "negative count of records", path=path, offset=position, expected="0 or more", seen=count
            )
        if not 0 <= size <= len(data) - start - SYNC_SIZE:
            expected = f"at most {len(data) - start - SYNC_SIZE} bytes"
            raise Corrupt(
                "Avro block cut short", path=path, offset=middle, expected=expected, seen=f"{size} bytes"
            )
        block = AvroBlock(position, count, start, size)
        marker = bytes(data[start + size : block.end])
        if marker != header.sync_marker:
            expected = header.sync_marker.hex()
            offset = start + size
            raise Corrupt("wrong sync marker", path=path, offset=offset, expected=expected, seen=marker.hex())
        yield block
        position = block.end


def decompress_block(data: bytes, block: AvroBlock, codec: str, path: str | None = None) -> bytes:
    """The bytes of a block's records; `Corrupt` when they do not decompress, `Unsupported` for other codecs.

    >>> decompress_block(b"abc", AvroBlock(0, 1, 0, 3), "null")
    b'abc'
    """
    content = bytes(data[block.start : block.start + block.size])
    if codec == "null":
        return content
    if codec not in CODECS:
        raise Unsupported(f"Avro codec {codec!r} is not read", path=path, hint=f"one of {', '.join(CODECS)}")
    if codec != "snappy":
        return decompress(CODECS[codec], content, offset=block.start, path=path)
    expanded = decompress("snappy", content[:-4], offset=block.start, path=path)
    computed, stored = zlib.crc32(expanded), int.from_bytes(content[-4:], "big")
    if computed != stored or len(content) < 4:
        expected, seen = f"CRC-32 {computed:08x}", f"{stored:08x}"
        raise Corrupt(
            "does not decompress as snappy", path=path, offset=block.start, expected=expected, seen=seen
        )
    return expanded


def decode_long(data: bytes, offset: int, path: str | None = None) -> tuple[int, int]:
    """Give the zigzag number at `offset` and the byte after it.

    >>> decode_long(bytes([0x8F, 0x01]), 0)
    (-72, 2)
    """
    value = shift = 0
    for position in range(offset, min(offset + 10, len(data))):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position + 1
        shift += 7
    problem = "number longer than 10 bytes" if offset + 10 <= len(data) else "number cut short"
    raise Corrupt(problem, path=path, offset=offset)


def encode_long(value: int) -> bytes:
    """Give the zigzag bytes of a number.

    >>> encode_long(-72).hex()
    '8f01'
    """
    rest = (value << 1) ^ (value >> 63)
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def encode_header(metadata: dict[str, bytes], sync_marker: bytes) -> bytes:
    """Give the head of an Avro file with this metadata.

    >>> encode_header({"avro.codec": b"null"}, b"s" * 16)[:4]
    b'Obj\\x01'
    """
    pairs = [
        encode_long(len(key)) + key + encode_long(len(value)) + value
        for key, value in ((name.encode(), value) for name, value in metadata.items())
    ]
    return MAGIC + encode_long(len(pairs)) + b"".join(pairs) + (b"\x00" if pairs else b"") + sync_marker


def _decode_metadata(data: bytes, path: str | None) -> tuple[dict[str, bytes], int]:
    metadata: dict[str, bytes] = {}
    position = 4
    while True:
        start = position
        count, position = decode_long(data, position, path)
        if count == 0:
            return metadata, position
        if count < 0:  # a negative count is followed by the size of the block in bytes
            count = -count
            _, position = decode_long(data, position, path)
        if count > len(data) - position:
            raise Corrupt("Avro header cut short", path=path, offset=start, seen=f"{count} keys")
        for _ in range(count):
            offset = position
            key, position = _decode_bytes(data, position, path)
            value, position = _decode_bytes(data, position, path)
            try:
                metadata[key.decode("utf-8")] = value
            except UnicodeDecodeError:
                raise Corrupt(
                    "key of the Avro header is not UTF-8", path=path, offset=offset, seen=key
                ) from None


def _decode_bytes(data: bytes, offset: int, path: str | None) -> tuple[bytes, int]:
    size, start = decode_long(data, offset, path)
    if not 0 <= size <= len(data) - start:
        expected = f"at most {len(data) - start} bytes"
        raise Corrupt(
            "Avro header cut short", path=path, offset=offset, expected=expected, seen=f"{size} bytes"
        )
    return bytes(data[start : start + size]), start + size
