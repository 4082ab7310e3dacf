"""The encodings of a Parquet page as lists of Python values, without any package.

    RLE, bit-packing hybrid   runs: varint, low bit 1: groups of 8 values, bit-packed; 0: one value and its count
    PLAIN                     values one after the other; byte arrays with their length in front, booleans a bit each
    DELTA_BINARY_PACKED       block size, miniblocks, count, first value | least delta, a width each, bit-packed deltas …
    DELTA_LENGTH_BYTE_ARRAY   lengths as above | the bytes of all values
    DELTA_BYTE_ARRAY          lengths of what is shared with the value before, as above | the rest as above
    BYTE_STREAM_SPLIT         the first byte of every value | the second of every value | …

Follows "Encodings" of the Apache Parquet format. Values are those of the physical type: numbers, bytes, and INT96 as the
nanoseconds that old engines mean by it. Refused with `Corrupt`: values that do not fill their page, widths and counts that
nothing has; with `Unsupported`: encodings that a type does not have. Nothing is made that the page did not count.
"""

from __future__ import annotations

import struct
from itertools import accumulate, pairwise
from typing import Any

from lakelens.codecs.compression import check_decoded
from lakelens.codecs.parquet.structure import SchemaLeaf
from lakelens.errors import Corrupt, Unsupported

_LAYOUTS = {"INT32": ("i", 4), "INT64": ("q", 8), "FLOAT": ("f", 4), "DOUBLE": ("d", 8)}
_BITS = {"INT32": 32, "INT64": 64}
_JULIAN_EPOCH = 2_440_588
_DAY_NANOS = 86_400_000_000_000
_GROUPS = 64  # of eight packed values, which are one number while they are taken apart


def decode_values(encoding: str, content: bytes, count: int, leaf: SchemaLeaf, offset: int) -> list[Any]:
    """Decode the `count` values of a page that are no indexes; `offset` is the page's, for errors.

    >>> leaf = SchemaLeaf("a", "INT32", None, None, 0, 0)
    >>> decode_values("PLAIN", bytes([1, 0, 0, 0, 2, 0, 0, 0]), 2, leaf, 0)
    [1, 2]
    """
    kind = leaf.physical_type
    if not count:
        return []
    if encoding == "PLAIN":
        return decode_plain(content, count, leaf, offset)
    if encoding == "RLE" and kind == "BOOLEAN":
        end = 4 + int.from_bytes(content[:4], "little")
        if end > len(content):
            raise Corrupt("a page that ends inside its values", offset=offset, seen=f"{end} bytes")
        return list(map(bool, decode_runs(content, 4, end, 1, count, offset)))
    if encoding == "DELTA_BINARY_PACKED" and kind in _BITS:
        return decode_deltas(content, 0, count, _BITS[kind], offset)[0]
    if encoding == "DELTA_LENGTH_BYTE_ARRAY" and kind == "BYTE_ARRAY":
        return _decode_lengths(content, 0, count, offset)
    if encoding == "DELTA_BYTE_ARRAY" and kind in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"):
        values = _decode_prefixes(content, count, offset)
        if kind == "FIXED_LEN_BYTE_ARRAY" and set(map(len, values)) - {leaf.width}:
            raise Corrupt("values of another length than their type", offset=offset, expected=leaf.width)
        return values
    if encoding == "BYTE_STREAM_SPLIT" and (kind in _LAYOUTS or kind == "FIXED_LEN_BYTE_ARRAY"):
        width = leaf.width if kind == "FIXED_LEN_BYTE_ARRAY" else _LAYOUTS[kind][1]
        if len(content) != width * count:
            _refuse_size(content, width * count, offset)
        joined = bytearray(len(content))
        for place in range(width):
            joined[place::width] = content[place * count : (place + 1) * count]
        return decode_plain(bytes(joined), count, leaf, offset)
    raise Unsupported(f"values of {kind} in the encoding {encoding} are not decoded here")


def decode_plain(content: bytes, count: int, leaf: SchemaLeaf, offset: int) -> list[Any]:
    """Decode PLAIN values. Raises `Corrupt` where there are more or fewer."""
    kind = leaf.physical_type
    if kind in _LAYOUTS:
        layout, width = _LAYOUTS[kind]
        if len(content) != width * count:
            _refuse_size(content, width * count, offset)
        return list(struct.unpack(f"<{count}{layout}", content))
    if kind == "BYTE_ARRAY":
        return _split_arrays(content, count, offset)
    if kind == "BOOLEAN":
        if len(content) < (count + 7) // 8:
            _refuse_size(content, (count + 7) // 8, offset)
        return list(map(bool, unpack_bits(content, 0, 1, count)))
    width = 12 if kind == "INT96" else leaf.width if kind == "FIXED_LEN_BYTE_ARRAY" else 0
    if width <= 0:
        raise Unsupported(f"values of {kind}, {leaf.width} bytes wide, are not decoded")
    if len(content) != width * count:
        _refuse_size(content, width * count, offset)
    values = [content[at : at + width] for at in range(0, len(content), width)]
    return values if kind != "INT96" else list(map(_read_nanos, values))


def _refuse_size(content: bytes, expected: int, offset: int) -> None:
    message = "values of another size than their page counts"
    raise Corrupt(message, offset=offset, expected=f"{expected} bytes", seen=f"{len(content)} bytes")


def _read_nanos(stored: bytes) -> int:
    nanos, day = struct.unpack("<qi", stored)
    return int((day - _JULIAN_EPOCH) * _DAY_NANOS + nanos)


def _split_arrays(content: bytes, count: int, offset: int) -> list[bytes]:
    values, at, size = list[bytes](), 0, len(content)
    while at < size and len(values) < count:
        begin = at + 4
        at = begin + int.from_bytes(content[at:begin], "little")
        if at > size:
            message, expected = "a value that leaves its page", f"at most {size - begin} bytes"
            raise Corrupt(message, offset=offset, expected=expected, seen=at - begin)
        values.append(content[begin:at])
    if len(values) != count or at != size:
        message = "another number of values than their page counts"
        raise Corrupt(message, offset=offset, expected=count, seen=f"{len(values)} in {at} of {size} bytes")
    return values


def unpack_bits(content: bytes, start: int, width: int, count: int) -> list[int]:
    """Unpack values of `width` bits from the lowest bit on; bits that are not there are no values.

    >>> unpack_bits(bytes([0b10_01_00_11]), 0, 2, 4)
    [3, 0, 1, 2]
    """
    if width == 0:
        return [0] * count
    if width == 8:
        return list(content[start : start + count])
    mask, values = (1 << width) - 1, list[int]()
    shifts = range(0, 8 * _GROUPS * width, width)
    stop = min(len(content), start + (count * width + 7) // 8)
    for at in range(start, stop, _GROUPS * width):
        piece = content[at : min(at + _GROUPS * width, stop)]
        packed = int.from_bytes(piece, "little")
        values += [packed >> shift & mask for shift in shifts[: len(piece) * 8 // width]]
    return values[:count]


def decode_runs(content: bytes, start: int, end: int, width: int, count: int, offset: int = 0) -> list[int]:
    """Decode the first `count` values of the RLE and bit-packing hybrid. Raises `Corrupt` where there are fewer.

    >>> decode_runs(bytes([6, 1, 3, 0b10101010]), 0, 4, 1, 6)
    [1, 1, 1, 0, 1, 0]
    """
    if width > 32:
        raise Corrupt("runs of values that are too wide", offset=offset, expected="at most 32", seen=width)
    values, at, size = list[int](), start, (width + 7) // 8
    while len(values) < count and at < end:
        header, at = read_varint(content, at, end, offset)
        left = count - len(values)
        if header & 1:
            stop = min(at + (header >> 1) * width, end)  # some writers cut the padding of the last run
            values += unpack_bits(content[at:stop], 0, width, min((header >> 1) * 8, left))
            at = stop
        else:
            if at + size > end:
                raise Corrupt("a run that ends before its value", offset=offset, expected=f"{size} bytes")
            values += [int.from_bytes(content[at : at + size], "little")] * min(header >> 1, left)
            at += size
    if width == 0:  # indexes of no bits, into a dictionary of one value
        values += [0] * (count - len(values))
    if len(values) < count:
        raise Corrupt("fewer values than their page counts", offset=offset, expected=count, seen=len(values))
    return values


def unpack_levels(content: bytes, width: int, count: int) -> list[int]:
    """Unpack the levels of very old files, whose bits begin with the highest.

    >>> unpack_levels(bytes([0b11_00_01_10]), 2, 4)
    [3, 0, 1, 2]
    """
    values = list[int]()
    for start in range(0, count, 8):
        piece = content[start * width // 8 : (start + 8) * width // 8]
        packed, bits = int.from_bytes(piece, "big"), 8 * len(piece)
        shifts = range(bits - width, -1, -width)[: count - start]
        values += [packed >> shift & (1 << width) - 1 for shift in shifts]
    return values


def read_varint(content: bytes, at: int, end: int, offset: int) -> tuple[int, int]:
    """Read an unsigned varint of at most 64 bits: its value, and where it ends. Raises `Corrupt`."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            break
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise Corrupt("a number without an end", offset=offset, seen=content[max(0, at - 10) : at].hex(" "))


def _unfold(number: int) -> int:
    return number >> 1 ^ -(number & 1)


def decode_deltas(content: bytes, at: int, count: int, bits: int, offset: int) -> tuple[list[int], int]:
    """Decode DELTA_BINARY_PACKED numbers of `bits` bits, and say where they end. Raises `Corrupt`.

    >>> decode_deltas(bytes([128, 1, 4, 3, 14, 2, 0, 0, 0, 0]), 0, 3, 32, 0)
    ([7, 8, 9], 10)
    """
    end = len(content)
    block, at = read_varint(content, at, end, offset)
    parts, at = read_varint(content, at, end, offset)
    total, at = read_varint(content, at, end, offset)
    first, at = read_varint(content, at, end, offset)
    if parts < 1 or block % (8 * parts) or not block or total != count:
        message, expected = "deltas that are not laid out as such", f"{count} values, blocks of whole bytes"
        raise Corrupt(message, offset=offset, expected=expected, seen=(block, parts, total))
    each, half, whole = block // parts, 1 << bits - 1, 1 << bits
    deltas = [_unfold(first)]
    while len(deltas) < count:
        folded, at = read_varint(content, at, end, offset)
        least, widths, at = _unfold(folded), content[at : at + parts], at + parts
        for width in widths:
            wanted = min(each, count - len(deltas))
            if wanted <= 0:
                break  # the widths of parts that are not stored mean nothing
            if width > bits or at + (wanted * width + 7) // 8 > end:
                message = "deltas that are cut, or too wide"
                raise Corrupt(message, offset=offset, expected=f"at most {bits} bits", seen=width)
            deltas += [least + delta for delta in unpack_bits(content, at, width, wanted)]
            at += each * width // 8
        if len(widths) < parts and len(deltas) < count:
            raise Corrupt("deltas that are cut", offset=offset, expected=count, seen=len(deltas))
    summed = accumulate(deltas[:count])
    return [(value + half) % whole - half for value in summed], min(at, end)


def _decode_lengths(content: bytes, at: int, count: int, offset: int) -> list[bytes]:
    lengths, at = decode_deltas(content, at, count, 32, offset)
    if min(lengths, default=0) < 0 or sum(lengths) != len(content) - at:
        message = "values of other lengths than their page has room for"
        raise Corrupt(message, offset=offset, expected=len(content) - at, seen=sum(lengths))
    ends = list(accumulate(lengths, initial=at))
    return [content[start:stop] for start, stop in pairwise(ends)]


def _decode_prefixes(content: bytes, count: int, offset: int) -> list[bytes]:
    shared, at = decode_deltas(content, 0, count, 32, offset)
    values, last, size = list[bytes](), b"", 0
    for prefix, rest in zip(shared, _decode_lengths(content, at, count, offset), strict=True):
        if not 0 <= prefix <= len(last):
            message = "a value that shares more than the one before has"
            raise Corrupt(message, offset=offset, expected=f"at most {len(last)}", seen=prefix)
        last = last[:prefix] + rest
        size += len(last)
        check_decoded(size, offset=offset, stored=len(content))  # a byte may stand for all of the one before
        values.append(last)
    return values
