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
With `Unsupported`, before any container is looked at: more of them than the user's budget for a vector.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from operator import add, lt
from typing import TYPE_CHECKING, cast

from lakelens.codecs.compression import Limit, take_budget
from lakelens.codecs.span.reader import SpanReader
from lakelens.errors import Corrupt, Unsupported
from lakelens.lazy import dataclass

if TYPE_CHECKING:
    from lakelens.bitmaps import BitMap64, RangeSet

COOKIE = 12346
COOKIE_WITH_RUNS = 12347
MAX_ARRAY = 4096
BITMAP_BYTES = 8192
MIN_BITMAP_BYTES = 8  # a 32-bit bitmap without containers
MANY = 64  # containers from which all of them are checked by arrays
WHAT = "a Roaring bitmap"


def decode_roaring32(data: bytes, *, base: int = 0, path: str | None = None) -> BitMap64:
    """Decode the set of numbers in one 32-bit bitmap that fills `data`.

    `base` is where `data` starts in its file: offsets in errors count from the file's start. Raises `Corrupt`.

    >>> sorted(decode_roaring32(bytes.fromhex("3a300000010000000000010010000000020003 00")))
    [2, 3]
    """
    _check_whole(_check_bitmap32, data, base, path)
    return _load(struct.pack("<QI", 1, 0) + data)


def decode_roaring64(data: bytes, *, base: int = 0, path: str | None = None) -> BitMap64:
    """Decode the set of numbers in one 64-bit bitmap that fills `data`. See `decode_roaring32`.

    >>> len(decode_roaring64(bytes(8)))
    0
    """
    _check_whole(_check_bitmap64, data, base, path)
    return _load(data)


def _load(data: bytes) -> BitMap64:
    """Load a 64-bit bitmap that was checked, by the library or as ranges."""
    from lakelens.bitmaps import BitMap64, RangeSet

    if issubclass(BitMap64, RangeSet):
        return cast("BitMap64", decode_ranges(data))
    return BitMap64.deserialize(data)


def decode_ranges(data: bytes) -> RangeSet:
    """Decode a 64-bit bitmap that was checked, without the library.

    >>> decode_ranges(bytes(8))
    RangeSet([])
    """
    from lakelens.bitmaps import RangeSet

    kinds = dict.fromkeys(("array", "bitset", "run"), 0)
    return RangeSet.of_ranges(_list_ranges(data, kinds), kinds)


def _list_ranges(data: bytes, kinds: dict[str, int]) -> Iterator[tuple[int, int]]:
    """List the ranges of a 64-bit bitmap that was checked, in order, and count its containers by kind."""
    reader = SpanReader(data, 8, len(data), WHAT)
    while reader.left:
        above = int.from_bytes(reader.octets(4, "a bitmap's key"), "little") << 32
        for container in find_containers(reader, read_head(reader)):
            base, kind = above | container.key << 16, container.kind.partition(" ")[0]
            kinds[kind] += 1
            content = data[container.start : container.end]
            if kind == "array":
                yield from ((base | low, base | low) for (low,) in struct.iter_unpack("<H", content))
            elif kind == "run":
                yield from (
                    (base + low, base + low + more) for low, more in struct.iter_unpack("<HH", content[2:])
                )
            else:
                bits = f"{int.from_bytes(content, 'little'):b}"[::-1]
                yield from ((base + run.start(), base + run.end() - 1) for run in re.finditer("1+", bits))


@dataclass(slots=True)  # not frozen: there may be millions, and each is made in half the time
class Head:
    """The headers of a 32-bit bitmap: where each begins (`offsets` is None when left out), and what they say."""

    start: int
    count: int
    flags: int | None
    runs: bytes
    pairs: int
    offsets: int | None
    body: int
    keys: tuple[int, ...]
    cardinalities: tuple[int, ...]


@dataclass(slots=True)
class RoaringContainer:
    """Where a container is and what the headers say of it."""

    number: int
    kind: str
    start: int
    end: int
    cardinality: int
    key: int


def read_head(reader: SpanReader) -> Head:
    """Read the headers of the 32-bit bitmap that the reader is at. Raises `Corrupt`."""
    start = reader.at
    cookie = int.from_bytes(reader.octets(4, "its cookie"), "little")
    flags, runs = None, b""
    if cookie == COOKIE:
        count = int.from_bytes(reader.octets(4, "its container count"), "little")
        if count > 1 << 16:
            reader.fail("an impossible count of containers", start + 4, expected="at most 65536", seen=count)
    elif cookie & 0xFFFF == COOKIE_WITH_RUNS:
        count, flags = (cookie >> 16) + 1, reader.at
        runs = reader.octets((count + 7) // 8, "its run flags")
    else:
        expected = f"cookie {COOKIE} or {COOKIE_WITH_RUNS}"
        reader.fail("not a Roaring bitmap", start, expected=expected, seen=cookie)
    pairs = reader.at
    numbers = struct.unpack(f"<{2 * count}H", reader.octets(4 * count, "its container keys"))
    offsets = reader.take(4 * count, "its container offsets") if flags is None or count >= 4 else None
    cardinalities = tuple([less + 1 for less in numbers[1::2]])
    return Head(start, count, flags, runs, pairs, offsets, reader.at, numbers[::2], cardinalities)


def find_containers(reader: SpanReader, head: Head) -> Iterator[RoaringContainer]:
    """Find the containers one after the other, from their sizes. Raises `Corrupt` where one does not fit."""
    start = reader.at = head.body
    runs, end = head.runs, reader.end
    for number, cardinality in enumerate(head.cardinalities):
        if runs and runs[number // 8] >> number % 8 & 1:
            kind = "run container"
            count = int.from_bytes(reader.octets(2, "a run container"), "little")
            stop = start + 2 + 4 * count
        elif cardinality <= MAX_ARRAY:
            kind, stop = "array container", start + 2 * cardinality
        else:
            kind, stop = "bitset container", start + BITMAP_BYTES
        if stop > end:
            reader.take(stop - reader.at, f"the {kind}")
        reader.at = stop
        yield RoaringContainer(number, kind, start, stop, cardinality, head.keys[number])
        start = stop


# -- checks


def _check_whole(
    check: Callable[[SpanReader, bytes, _Work], None], data: bytes, base: int, path: str | None
) -> None:
    """Walks a serialized bitmap and raises at the first thing that is wrong."""
    reader = SpanReader(data, 0, len(data), WHAT)
    try:
        check(reader, data, _Work(take_budget("max_vector"), path))
        if reader.left:
            reader.fail("bytes after the end of a Roaring bitmap", reader.at, seen=f"{reader.left} bytes")
    except Corrupt as error:
        error.offset, error.path = base + (error.offset or 0), path
        raise


class _Work:
    """Counts the containers of a vector."""

    def __init__(self, limit: Limit, path: str | None) -> None:
        self._limit, self._path, self._done = limit, path, 0

    def add(self, count: int) -> None:
        """Count some more. Raises `Unsupported` beyond the budget."""
        self._done += count
        if self._done > self._limit:
            message = (
                f"a deletion vector of {self._done:,} containers or more, at most {self._limit:,} are read"
            )
            raise Unsupported(message, path=self._path, hint=self._limit.advice)


def _check_bitmap64(reader: SpanReader, data: bytes, work: _Work) -> None:
    (count,) = struct.unpack("<q", reader.octets(8, "its bitmap count"))
    limit = reader.left // (4 + MIN_BITMAP_BYTES)
    if not 0 <= count <= limit:
        reader.fail("an impossible count of bitmaps", 0, expected=f"0 to {limit}", seen=count)
    work.add(count)
    previous = -1
    for _ in range(count):
        start = reader.at
        key = int.from_bytes(reader.octets(4, "a bitmap's key"), "little")
        if key <= previous:
            reader.fail("bitmap keys do not ascend", start, expected=f"more than {previous}", seen=key)
        previous = key
        _check_bitmap32(reader, data, work)


def _check_bitmap32(reader: SpanReader, data: bytes, work: _Work) -> None:
    head, previous = read_head(reader), -1
    work.add(max(0, head.count - 1))  # the bitmap itself has been counted
    if head.count >= MANY and (stop := measure_large(data, head, reader.end, is_checked=True)) is not None:
        reader.at = stop
        return
    for i, key in enumerate(head.keys):
        if key <= previous:
            at, expected = head.pairs + 4 * i, f"more than {previous}"
            reader.fail("container keys do not ascend", at, expected=expected, seen=key)
        previous = key
    offsets: tuple[int, ...] = ()
    if head.offsets is not None:
        offsets = struct.unpack(f"<{head.count}I", data[head.offsets : head.body])
    for container in find_containers(reader, head):
        start = container.start
        if offsets and offsets[container.number] != start - head.start:
            at, seen = head.pairs + 4 * (head.count + container.number), offsets[container.number]
            reader.fail("a wrong container offset", at, expected=start - head.start, seen=seen)
        if container.cardinality > 1 or container.kind != "array container":
            _CHECKS[container.kind](data, container)


def measure_large(data: bytes, head: Head, end: int, *, is_checked: bool) -> int | None:
    """The byte after a bitmap, found quickly; None where its offsets, or `is_checked` its containers, may be wrong."""
    if head.offsets is None:
        return None
    try:
        import numpy as np

        from lakelens.codecs.bitmaps.roaring_arrays import measure, measure_sound
    except ModuleNotFoundError:
        return None  # one container after the other says the same

    pairs = np.frombuffer(data, "<u2", 2 * head.count, head.pairs).astype(np.int64)
    offsets = np.frombuffer(data, "<u4", head.count, head.offsets).astype(np.int64)
    take = measure_sound if is_checked else measure
    return take(data, head.start, head.body, end, pairs, offsets, head.runs)


def _check_array(data: bytes, container: RoaringContainer) -> None:
    values = struct.unpack_from(f"<{container.cardinality}H", data, container.start)
    if not all(map(lt, values, values[1:])):
        raise Corrupt("the values of an array container do not ascend", offset=container.start)


def _check_bitset(data: bytes, container: RoaringContainer) -> None:
    ones = int.from_bytes(data[container.start : container.end], "little").bit_count()
    check_cardinality("bitmap", container, ones)


def _check_runs(data: bytes, container: RoaringContainer) -> None:
    count, start = (container.end - container.start - 2) // 4, container.start
    numbers = struct.unpack_from(f"<{2 * count}H", data, start + 2)
    firsts, ends = numbers[::2], tuple(map(add, numbers[::2], numbers[1::2]))
    if (ends and max(ends) > 0xFFFF) or not all(map(lt, ends, firsts[1:])):
        raise Corrupt("the runs of a run container overlap or leave it", offset=start)
    check_cardinality("run", container, sum(numbers[1::2]) + count)


def check_cardinality(kind: str, container: RoaringContainer, seen: int) -> None:
    """Raises `Corrupt` when a container does not hold what its header says."""
    if seen != container.cardinality:
        message, expected = f"a {kind} container's cardinality is not true", container.cardinality
        raise Corrupt(message, offset=container.start, expected=expected, seen=seen)


_CHECKS = {"array container": _check_array, "bitset container": _check_bitset, "run container": _check_runs}
