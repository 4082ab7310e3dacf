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

from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.errors import Corrupt

MAGIC = b"crc\x00"
GROUP = 1000
#: Checksums of longer pieces are not computed; Hadoop writes one for every 512 bytes.
MAX_CHUNK = 1 << 20


def explain_crc(
    data: Octets, start: int = 0, end: int | None = None, *, neighbour: Octets | None = None
) -> Span:
    """A tree over a `.crc` file; its value is the checksums. `neighbour`, the file it speaks of, makes each be checked.

    >>> explain_crc(bytes.fromhex("63726300 00000200 e3069283"), neighbour=b"123456789").find(8).note
    'CRC-32C of bytes 0 to 8: matches'
    """
    stop = len(data) if end is None else end
    value = Deferred(lambda: tuple(leaf.value for leaf in _explain_sums(data, start + 8, stop, 0, 1, None)))
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
    for first in range(0, count, GROUP) if count > GROUP else ():
        left, right = start + 8 + first * 4, min(start + 8 + (first + GROUP) * 4, whole)
        label = f"checksums {first} to {first + (right - left) // 4 - 1}"
        make = partial(_explain_sums, data, left, right, first, size, neighbour)
        yield Span(left, right, label, children=make)
    if count <= GROUP:
        yield from _explain_sums(data, start + 8, whole, 0, size, neighbour)
    if whole < end:
        raise Corrupt(
            "a CRC file that is cut", offset=whole, expected="4 bytes for a checksum", seen=end - whole
        )
    if neighbour is not None and count != -(-len(neighbour) // size):
        expected = -(-len(neighbour) // size)
        raise Corrupt("not as many checksums as the file needs", offset=end, expected=expected, seen=count)


def _explain_sums(
    data: Octets, start: int, end: int, first: int, size: int, neighbour: Octets | None
) -> Iterator[Span]:
    stored = bytes(data[start:end])
    for i in range(len(stored) // 4):
        at, number = start + i * 4, first + i
        value = int.from_bytes(stored[i * 4 : i * 4 + 4], "big")
        chunk = (
            None
            if neighbour is None or size > MAX_CHUNK
            else bytes(neighbour[number * size : (number + 1) * size])
        )
        if chunk:
            yield _compare(at, number, value, chunk, number * size)
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
