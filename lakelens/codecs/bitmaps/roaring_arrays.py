"""All containers of a large 32-bit Roaring bitmap checked at once, by arrays: see `lakelens.codecs.bitmaps.roaring`.

    offsets   each is the end of the container before it       arrays, runs   gathered in pieces, neighbours compared
    keys      ascend                                           bitsets        ones counted, one container at a time

What is found here is only that a bitmap is sound; what is wrong with another, and where, the check by container says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

_PIECE = 1 << 20  # values that are gathered at once
_LARGE = 512  # values of an array container from which it is compared alone


def measure_sound(
    data: bytes, start: int, body: int, end: int, pairs: Numbers, offsets: Numbers, flags: bytes
) -> int | None:
    """Measure the byte after a bitmap whose containers are all sound; None where one may not be.

    The bitmap begins at `start`, its first container at `body`. `pairs` are the keys and cardinalities - 1 of its headers,
    `offsets` where its containers begin, from `start` on; `flags` has a bit for each run container, if there are any.

    >>> pairs, offsets = np.array([0, 1]), np.array([16])
    >>> measure_sound(bytes(16) + bytes([2, 0, 3, 0]), 0, 16, 20, pairs, offsets, b"")
    20
    """
    octets = np.frombuffer(data, np.uint8)
    found = _follow(octets, start, body, end, pairs, offsets, flags)
    if found is None or (np.diff(pairs[::2]) <= 0).any():
        return None
    stop, starts, counts, is_run, is_array = found
    cardinalities = pairs[1::2] + 1
    is_sound = (
        _check_arrays(data, octets, starts[is_array], cardinalities[is_array])
        and _check_runs(octets, starts[is_run], counts[is_run], cardinalities[is_run])
        and all(
            int.from_bytes(data[at : at + 8192], "little").bit_count() == count
            for at, count in zip(
                starts[~is_run & ~is_array].tolist(), cardinalities[~is_run & ~is_array].tolist(), strict=True
            )
        )
    )
    return stop if is_sound else None


def measure(
    data: bytes, start: int, body: int, end: int, pairs: Numbers, offsets: Numbers, flags: bytes
) -> int | None:
    """Measure the byte after a bitmap whose containers follow each other as its offsets say; None for others."""
    found = _follow(np.frombuffer(data, np.uint8), start, body, end, pairs, offsets, flags)
    return None if found is None else found[0]


def _follow(
    octets: NDArray[np.uint8],
    start: int,
    body: int,
    end: int,
    pairs: Numbers,
    offsets: Numbers,
    flags: bytes,
) -> tuple[int, Numbers, Numbers, NDArray[np.bool_], NDArray[np.bool_]] | None:
    """The end, where containers begin, their runs, which hold runs and which arrays; None for offsets that are wrong."""
    keys, cardinalities = pairs[::2], pairs[1::2] + 1
    starts = offsets + start
    if starts[0] != body or (np.diff(starts) < 0).any() or starts[-1] + 2 > end:
        return None
    is_run = np.zeros(len(keys), bool)
    if flags:
        bits = np.unpackbits(np.frombuffer(flags, np.uint8), count=len(keys), bitorder="little")
        is_run = bits.astype(bool)
    is_array = ~is_run & (cardinalities <= 4096)
    counts = np.where(is_run, _gather(octets, starts), 0)
    sizes = np.where(is_run, 2 + 4 * counts, np.where(is_array, 2 * cardinalities, 8192))
    stop = int(starts[-1] + sizes[-1])
    if stop > end or (starts[1:] != starts[:-1] + sizes[:-1]).any():
        return None
    return stop, starts, counts, is_run, is_array


def _gather(octets: NDArray[np.uint8], at: Numbers) -> Numbers:
    """Gather the 16-bit numbers at some bytes, wherever they are."""
    return octets[at].astype(np.int64) | octets[at + 1].astype(np.int64) << 8


def _cut(counts: Numbers) -> Iterator[slice]:
    """Containers in slices of about a million values each."""
    total, first = np.cumsum(counts), 0
    while first < len(counts):
        before = int(total[first - 1]) if first else 0
        stop = max(first + 1, int(np.searchsorted(total, before + _PIECE, "right")))
        yield slice(first, stop)
        first = stop


def _spread(starts: Numbers, counts: Numbers, width: int) -> tuple[Numbers, NDArray[np.bool_]]:
    """Say where each value of some containers is, and which values are the first of their container."""
    ends = np.cumsum(counts)
    inside = np.arange(int(ends[-1])) - np.repeat(ends - counts, counts)
    return np.repeat(starts, counts) + width * inside, inside == 0


def _check_arrays(data: bytes, octets: NDArray[np.uint8], starts: Numbers, counts: Numbers) -> bool:
    is_large = counts > _LARGE
    for at, count in zip(starts[is_large].tolist(), counts[is_large].tolist(), strict=True):
        values = np.frombuffer(data, "<u2", count, at)
        if not (values[1:] > values[:-1]).all():
            return False
    starts, counts = starts[~is_large], counts[~is_large]
    for some in _cut(counts):
        at, is_first = _spread(starts[some], counts[some], 2)
        if ((np.diff(_gather(octets, at)) <= 0) & ~is_first[1:]).any():
            return False
    return True


def _check_runs(octets: NDArray[np.uint8], starts: Numbers, counts: Numbers, cardinalities: Numbers) -> bool:
    if (counts == 0).any():
        return False
    for some in _cut(counts):
        at, is_first = _spread(starts[some] + 2, counts[some], 4)
        lows, lengths = _gather(octets, at), _gather(octets, at + 2)
        highs = lows + lengths
        if (highs > 0xFFFF).any() or ((lows[1:] <= highs[:-1]) & ~is_first[1:]).any():
            return False
        if (np.add.reduceat(lengths + 1, np.nonzero(is_first)[0]) != cardinalities[some]).any():
            return False
    return True
