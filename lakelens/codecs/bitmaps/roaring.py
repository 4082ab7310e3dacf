"""Roaring bitmaps, checked to the last container before any library sees them.

    32-bit: cookie 12346 (u32), container count n (u32)            or   cookie 12347 (u16), n - 1 (u16), run flags (n bits)
            n * (key u16, cardinality - 1 u16)
            n * offset u32                                              (left out when there are run flags and n < 4)
            n * container: array  cardinality * u16, ascending          (cardinality up to 4096)
                           bitmap 1024 * u64
                           run    run count u16, then (start u16, length - 1 u16)
    64-bit: bitmap count (i64), then count * (key u32, 32-bit bitmap)   a value is key << 32 | low

Everything is little-endian. Follows the RoaringFormatSpec ("standard 32-bit", "extension for 64-bit"), as Iceberg's Puffin
specification and Paimon's deletion vectors do. Refused with `Corrupt` and the offset: wrong cookies, counts that do not
fit, keys or values that do not ascend, cardinalities that are not true, offsets that point elsewhere, bytes left over.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NoReturn

from lakelens.errors import Corrupt

if TYPE_CHECKING:
    from pyroaring import BitMap64

COOKIE = 12346
COOKIE_WITH_RUNS = 12347
MAX_ARRAY = 4096
BITMAP_BYTES = 8192
MIN_BITMAP_BYTES = 8  # a 32-bit bitmap without containers


def decode_roaring32(data: bytes, *, base: int = 0, path: str | None = None) -> BitMap64:
    """The set of numbers in one 32-bit bitmap that fills `data`.

    `base` is where `data` starts in its file: offsets in errors count from the file's start. Raises `Corrupt`.

    >>> sorted(decode_roaring32(bytes.fromhex("3a300000010000000000010010000000020003 00")))
    [2, 3]
    """
    from pyroaring import BitMap64

    _Checker(data, base, path).check_whole(lambda checker: checker.check_bitmap32())
    return BitMap64.deserialize(struct.pack("<QI", 1, 0) + data)


def decode_roaring64(data: bytes, *, base: int = 0, path: str | None = None) -> BitMap64:
    """The set of numbers in one 64-bit bitmap that fills `data`. See `decode_roaring32`.

    >>> len(decode_roaring64(bytes(8)))
    0
    """
    from pyroaring import BitMap64

    _Checker(data, base, path).check_whole(lambda checker: checker.check_bitmap64())
    return BitMap64.deserialize(data)


class _Checker:
    """Walks a serialized bitmap and raises at the first thing that is not so."""

    def __init__(self, data: bytes, base: int, path: str | None) -> None:
        self.data, self.base, self.path = data, base, path
        self.at = 0

    def fail(self, message: str, at: int, *, expected: object = None, seen: object = None) -> NoReturn:
        raise Corrupt(message, path=self.path, offset=self.base + at, expected=expected, seen=seen)

    def take(self, size: int, what: str) -> int:
        """Moves past `size` bytes and gives where they start."""
        start = self.at
        if size > len(self.data) - start:
            self.fail(
                f"a Roaring bitmap ends inside {what}",
                start,
                expected=f"{size} bytes",
                seen=f"{len(self.data) - start} bytes",
            )
        self.at = start + size
        return start

    def number(self, layout: str, what: str) -> int:
        value: int = struct.unpack_from(layout, self.data, self.take(struct.calcsize(layout), what))[0]
        return value

    def check_whole(self, check: Any) -> None:
        check(self)
        if self.at != len(self.data):
            self.fail(
                "bytes after the end of a Roaring bitmap", self.at, seen=f"{len(self.data) - self.at} bytes"
            )

    def check_bitmap64(self) -> None:
        count = self.number("<q", "its bitmap count")
        limit = (len(self.data) - self.at) // (4 + MIN_BITMAP_BYTES)
        if not 0 <= count <= limit:
            self.fail("an impossible count of bitmaps", 0, expected=f"0 to {limit}", seen=count)
        previous = -1
        for _ in range(count):
            start = self.at
            key = self.number("<I", "a bitmap's key")
            if key <= previous:
                self.fail("bitmap keys do not ascend", start, expected=f"more than {previous}", seen=key)
            previous = key
            self.check_bitmap32()

    def check_bitmap32(self) -> None:
        start = self.at
        cookie = self.number("<I", "its cookie")
        runs = b""
        if cookie & 0xFFFF == COOKIE_WITH_RUNS:
            count = (cookie >> 16) + 1
            flags = self.take((count + 7) // 8, "its run flags")
            runs = self.data[flags : self.at]
        elif cookie == COOKIE:
            count = self.number("<I", "its container count")
            if count > 1 << 16:
                self.fail(
                    "an impossible count of containers", start + 4, expected="at most 65536", seen=count
                )
        else:
            self.fail(
                "not a Roaring bitmap", start, expected=f"cookie {COOKIE} or {COOKIE_WITH_RUNS}", seen=cookie
            )
        header = self.take(4 * count, "its container keys")
        pairs = struct.unpack_from(f"<{2 * count}H", self.data, header)
        has_offsets = not runs or count >= 4
        offsets = self.take(4 * count, "its container offsets") if has_offsets else None
        previous = -1
        for i in range(count):
            key, cardinality = pairs[2 * i], pairs[2 * i + 1] + 1
            if key <= previous:
                self.fail(
                    "container keys do not ascend", header + 4 * i, expected=f"more than {previous}", seen=key
                )
            previous = key
            if offsets is not None:
                offset = struct.unpack_from("<I", self.data, offsets + 4 * i)[0]
                if offset != self.at - start:
                    self.fail(
                        "a wrong container offset", offsets + 4 * i, expected=self.at - start, seen=offset
                    )
            if runs and runs[i // 8] >> i % 8 & 1:
                self.check_runs(cardinality)
            elif cardinality <= MAX_ARRAY:
                self.check_array(cardinality)
            else:
                self.check_words(cardinality)

    def check_array(self, cardinality: int) -> None:
        import numpy as np

        start = self.take(2 * cardinality, "an array container")
        values = np.frombuffer(self.data, "<u2", cardinality, start)
        if not (values[1:] > values[:-1]).all():
            self.fail("the values of an array container do not ascend", start)

    def check_words(self, cardinality: int) -> None:
        start = self.take(BITMAP_BYTES, "a bitmap container")
        ones = int.from_bytes(self.data[start : self.at], "little").bit_count()
        if ones != cardinality:
            self.fail("a bitmap container's cardinality is not true", start, expected=cardinality, seen=ones)

    def check_runs(self, cardinality: int) -> None:
        import numpy as np

        start = self.at
        count = self.number("<H", "a run container")
        at = self.take(4 * count, "a run container")
        runs = np.frombuffer(self.data, "<u2", 2 * count, at).reshape(-1, 2).astype(np.int64)
        ends = runs[:, 0] + runs[:, 1]
        if (ends > 0xFFFF).any() or not (runs[1:, 0] > ends[:-1]).all():
            self.fail("the runs of a run container overlap or leave it", start)
        total = int(runs[:, 1].sum()) + count
        if total != cardinality:
            self.fail("a run container's cardinality is not true", start, expected=cardinality, seen=total)
