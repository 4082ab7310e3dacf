"""The order of rows on a curve through several columns, as Iceberg and Paimon write it.

    z-order    each value becomes 8 bytes whose order is that of the values (integers with their sign turned, the bits of a
               float, the first 8 bytes of a text, zeros for null); the bits of the columns take turns, the highest first
    Hilbert    each value becomes a number of 63 bits, the sign being dropped, and these a place on Hilbert's curve
    ranges     each value becomes the number of its range among those of the column, and their bits take turns

Follows `ZOrderByteUtils` of Iceberg 1.12, `ZIndexer` and `HilbertIndexer` of Paimon 0.9, `RangePartitionId` and
`InterleaveBits` of delta-spark 3.3; the curve itself is that of
J. Skilling, "Programming the Hilbert curve" (2004), as the latter's library has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakelens.model.measures.laying import find_range_ends

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.analysis.layout.known import Ranks

_HILBERT_BITS = 63


def number_values(values: pa.Array, tick: str = "us") -> NDArray[Any]:
    """Number values so that the order of their 64 bits is theirs.

    >>> import pyarrow as pa
    >>> [hex(number) for number in number_values(pa.array([-1, 0, 1])).tolist()]
    ['0x7fffffffffffffff', '0x8000000000000000', '0x8000000000000001']
    """
    import numpy as np
    import pyarrow as pa

    kind, sign = values.type, np.uint64(1 << 63)
    if pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_string(kind):
        texts = (text[:8].ljust(8, b"\0") for text in values.cast(pa.binary()).to_pylist())
        return np.array([int.from_bytes(text, "big") for text in texts], np.uint64)
    if pa.types.is_floating(kind):
        bits = values.to_numpy(zero_copy_only=False).astype(np.float64).view(np.uint64)
        turned: NDArray[Any] = np.where(bits >> np.uint64(63) == 1, ~bits, bits | sign)
        return turned
    if pa.types.is_date32(kind):
        whole = values.view(pa.int32())
    elif pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        whole = values.view(pa.int64())
        if tick != "us" and pa.types.is_timestamp(kind):
            whole = values.cast(pa.timestamp(tick, kind.tz), safe=False).view(pa.int64())
    elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        whole = values
    else:  # of others their place among the values stands for them
        return np.arange(len(values), dtype=np.uint64) | sign
    numbers: NDArray[Any] = whole.to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)
    return numbers ^ sign


def _spread(columns: Sequence[Ranks], null: int, tick: str) -> list[NDArray[Any]]:
    """Give each row the number of its value."""
    import numpy as np

    spread = []
    for column in columns:
        numbers = np.append(number_values(column.values, tick), np.uint64(null))
        spread.append(numbers[column.codes])
    return spread


def order_zorder(columns: Sequence[Ranks], tick: str = "us") -> list[NDArray[Any]]:
    """Put the bits of several columns into words of 64, the first first."""
    return _interleave(_spread(columns, 0, tick), 64)


def _interleave(numbers: Sequence[NDArray[Any]], bits: int) -> list[NDArray[Any]]:
    """Let the lowest `bits` bits of numbers take turns, from the highest."""
    import numpy as np

    width = len(numbers)
    words = [np.zeros(len(numbers[0]), np.uint64) for _ in range((bits * width + 63) // 64)]
    for place in range(bits * width):
        source, bit = place % width, bits - 1 - place // width
        word, offset = divmod(place, 64)
        words[word] |= ((numbers[source] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(63 - offset)
    return words


def order_ranges(columns: Sequence[Ranks], rows: NDArray[Any], ranges: int) -> list[NDArray[Any]]:
    """Put the numbers of ranges of several columns on a Z-order: each has as many rows as the others, null is in the first.

    >>> import numpy as np, pyarrow as pa
    >>> from lakelens.analysis.layout.known import make_column
    >>> columns = [make_column(pa.array(values)) for values in ([0, 0, 1, 1], [0, 1, 0, 1])]
    >>> np.lexsort(order_ranges(columns, np.ones(4), 1_000)[::-1]).tolist()
    [0, 1, 2, 3]
    """
    import numpy as np

    numbers = []
    for column in columns:
        counted = np.cumsum(np.bincount(column.codes + 1, rows).astype(np.float64))
        ends = np.array(find_range_ends(counted, ranges), np.int64)
        numbers.append(np.searchsorted(ends, column.codes + 1).astype(np.uint64))
    return _interleave(numbers, ranges.bit_length())


def order_hilbert(columns: Sequence[Ranks], tick: str = "us") -> list[NDArray[Any]]:
    """Put several columns onto Hilbert's curve.

    >>> import numpy as np, pyarrow as pa
    >>> from lakelens.analysis.layout.known import make_column
    >>> x, y = (make_column(pa.array(one)) for one in ([0, 0, 1, 1], [0, 1, 0, 1]))
    >>> np.lexsort(order_hilbert([x, y])[::-1]).tolist()
    [0, 1, 3, 2]
    """
    import numpy as np
    import pyarrow as pa

    sign, place = np.uint64(1 << 63), []
    for column, numbers in zip(columns, _spread(columns, (1 << 63) - 1, tick), strict=True):
        # the bits of a float are taken as they are: numbers below zero are among those above, by their amount
        is_below = (numbers & sign == 0) & (column.codes >= 0) & pa.types.is_floating(column.values.type)
        place.append(np.where(is_below, ~numbers, numbers) & ~sign)
    count, one = len(place), np.uint64(1)
    for bit in range(_HILBERT_BITS - 1, 0, -1):
        mask = np.uint64((1 << bit) - 1)
        for axis in range(count):
            is_set = (place[axis] >> np.uint64(bit)) & one == one
            swap = np.where(is_set, np.uint64(0), (place[0] ^ place[axis]) & mask)
            place[0] = np.where(is_set, place[0] ^ mask, place[0] ^ swap)
            if axis:
                place[axis] = place[axis] ^ swap
    for axis in range(1, count):
        place[axis] = place[axis] ^ place[axis - 1]
    turned = np.zeros(len(place[0]), np.uint64)
    for bit in range(_HILBERT_BITS - 1, 0, -1):
        mask = np.uint64((1 << bit) - 1)
        turned = np.where((place[-1] >> np.uint64(bit)) & one == one, turned ^ mask, turned)
    return _interleave([numbers ^ turned for numbers in place], _HILBERT_BITS)
