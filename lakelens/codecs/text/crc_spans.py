"""Hadoop's checksum files, `.NAME.crc` beside NAME: a checksum for every few bytes of the file.

    "crc" 00 | bytes per checksum, int32 BE | checksum, uint32 BE | checksum | …

Follows what `ChecksumFileSystem` of Apache Hadoop writes: CRC-32C today, CRC-32 (of zlib) in old files; the file does not
say which. Refused with `Corrupt`: another magic, a chunk size that is not positive, a rest that is no whole checksum and,
when the neighbour is at hand, checksums that are not its own.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cache, partial

from lakelens.codecs.span.reader import group_items
from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.errors import Corrupt

MAGIC = b"crc\x00"
#: Checksums of longer pieces are not computed; Hadoop writes one for every 512 bytes.
MAX_CHUNK = 1 << 20


def explain_crc(
    data: Octets, start: int = 0, end: int | None = None, *, neighbour: Octets | None = None
) -> Span:
    """A tree over a `.crc` file; its value is the checksums. They are compared with those of `neighbour`, if given.

    >>> explain_crc(bytes.fromhex("63726300 00000200 e3069283"), neighbour=b"123456789").find(8).note
    'CRC-32C of bytes 0 to 8: matches'
    """
    stop = len(data) if end is None else end
    count = max(0, stop - start - 8) // 4
    value = Deferred(lambda: tuple(leaf.value for leaf in _explain_sums(data, start + 8, 1, None, 0, count)))
    return Span(
        start, stop, "CRC file", value, "big-endian", partial(_explain_file, data, start, stop, neighbour)
    )


def compute_crc32c(data: bytes) -> int:
    """The CRC-32C (Castagnoli) of some bytes.

    >>> hex(compute_crc32c(b"123456789"))
    '0xe3069283'
    """
    table, crc = _crc32c_table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _explain_file(data: Octets, start: int, end: int, neighbour: Octets | None) -> Iterator[Span]:
    head = bytes(data[start : min(start + 8, end)])
    if head[:4] != MAGIC:
        raise Corrupt("not a CRC file", offset=start, expected="magic crc", seen=head[:4])
    yield Span(start, start + 4, "magic", "crc", "ASCII and a zero byte")
    if len(head) < 8:
        raise Corrupt("a CRC file that is cut", offset=start + 4, expected="8 bytes", seen=len(head))
    size = int.from_bytes(head[4:], "big", signed=True)
    if size <= 0:
        raise Corrupt(
            "a chunk size that is not positive", offset=start + 4, expected="1 or more bytes", seen=size
        )
    yield Span(start + 4, start + 8, "bytes per checksum", size, "int32, big-endian")
    whole = end - (end - start) % 4
    count = (whole - start - 8) // 4
    make = partial(_explain_sums, data, start + 8, size, neighbour)
    yield from group_items(count, lambda i: start + 8 + i * 4, "checksums", make)
    if whole < end:
        expected = "4 bytes for a checksum"
        raise Corrupt("a CRC file that is cut", offset=whole, expected=expected, seen=end - whole)
    if neighbour is not None and count != (needed := -(-len(neighbour) // size)):
        raise Corrupt(
            "another number of checksums than the file needs", offset=end, expected=needed, seen=count
        )


def _explain_sums(
    data: Octets, start: int, size: int, neighbour: Octets | None, low: int, high: int
) -> Iterator[Span]:
    """Checksums `low` to `high - 1`; the first of all is at `start`."""
    for number in range(low, high):
        at = start + number * 4
        value, offset = int.from_bytes(bytes(data[at : at + 4]), "big"), number * size
        chunk = b"" if neighbour is None or size > MAX_CHUNK else bytes(neighbour[offset : offset + size])
        if chunk:
            yield _compare(at, number, value, chunk, offset)
        else:
            note = "CRC-32C or CRC-32, big-endian"
            yield Span(at, at + 4, f"checksum {number}", value, note, number=number)


def _compare(at: int, number: int, value: int, chunk: bytes, offset: int) -> Span:
    where = f"bytes {offset} to {offset + len(chunk) - 1}"
    kinds = (("CRC-32C", compute_crc32c), ("CRC-32", zlib.crc32))
    for kind, compute in kinds:
        if compute(chunk) == value:
            return Span(at, at + 4, f"checksum {number}", value, f"{kind} of {where}: matches", number=number)
    message = f"the checksum of {where} is not that of the file"
    expected = " or ".join(f"{compute(chunk):08x} ({kind})" for kind, compute in kinds)
    return damaged_leaf(at, at + 4, Corrupt(message, offset=at, expected=expected, seen=f"{value:08x}"))


@cache
def _crc32c_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)
