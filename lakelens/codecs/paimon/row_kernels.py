"""One slot of many BinaryRows to one Arrow array, with numpy: the kernels of `row_columns`.

A kernel gets the slots of the rows where the field is not null, and gives the array of all rows, or which slots do not
pass its checks. The bytes of a slot are drawn in `row_slots`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lakelens.codecs.paimon.arrow import arrow_type, timestamp_unit
from lakelens.codecs.paimon.row_slots import MILLIS_PER_DAY
from lakelens.codecs.paimon.types import PaimonType
from lakelens.errors import Corrupt, Unsupported

Ints = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of one field as `words` of 8 bytes, of the rows that have a value: `where` are their numbers among all.

    `nulls` says for all rows which have no value. Offsets count from `begins`, places of `content`, from where on all rows
    have `lengths` bytes; `at` is the offset of the slot itself.
    """

    content: np.ndarray[Any, np.dtype[np.uint8]]
    words: Ints
    where: Ints
    nulls: Flags
    begins: Ints
    lengths: Ints
    at: int

    @property
    def starts(self) -> Ints:
        """Where the rows with a value begin."""
        return self.begins if len(self.where) == len(self.nulls) else self.begins[self.where]

    @property
    def sizes(self) -> Ints:
        """How many bytes the rows with a value have."""
        return self.lengths if len(self.where) == len(self.nulls) else self.lengths[self.where]

    def take(self, dtype: str, skip: int = 0) -> Any:
        """The numbers of this numpy type, `skip` bytes into the slots."""
        size = np.dtype(dtype).itemsize
        return self.words.view(dtype)[skip // size :: 8 // size].copy()

    def spread(self, values: Any) -> Any:
        """The values at their rows, zero where the field is null."""
        if len(values) == len(self.nulls):
            return values
        full = np.zeros((len(self.nulls), *values.shape[1:]), values.dtype)
        full[self.where] = values
        return full

    @property
    def validity(self) -> Any:
        """The bitmap of the rows that are not null; None when all rows have a value."""
        return None if len(self.where) == len(self.nulls) else make_bits(~self.nulls)

    def make(self, kind: Any, values: Any) -> Any:
        """The Arrow array of a type of fixed width, its values null where the field is. Nothing is copied."""
        import pyarrow as pa

        buffer = make_bits(values) if values.dtype == np.bool_ else pa.py_buffer(values)
        return pa.Array.from_buffers(kind, len(self.nulls), [self.validity, buffer])


def make_bits(flags: Flags) -> Any:
    """Flags as one of Arrow's bitmaps."""
    import pyarrow as pa

    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def take_numbers(content: Any, positions: Ints, dtype: str) -> Any:
    """The numbers of a numpy type that begin at some bytes, aligned or not.

    The type may be one of raw bytes (`V5`).

    >>> take_numbers(np.arange(6, dtype=np.uint8), np.array([1, 4]), "<u2").tolist()
    [513, 1284]
    """
    kind = np.dtype(dtype)
    if not len(positions):
        return np.zeros(0, kind)
    windows: Any = np.ndarray((len(content) - kind.itemsize + 1,), kind, content, strides=(1,))
    return windows[positions]


def take_words(content: Any, positions: Ints, count: int) -> Any:
    """`count` words of 8 bytes from some positions on, as a matrix with a line for each word.

    >>> take_words(np.arange(24, dtype=np.uint8) // 8, np.array([0, 8]), 2).tolist()
    [[0, 72340172838076673], [72340172838076673, 144680345676153346]]
    """
    words = np.empty((count, len(positions)), "<i8")
    for first in range(0, len(positions), 512):  # what is gathered is still in the cache when it is turned
        part = slice(first, first + 512)
        words[:, part] = (
            take_numbers(content, positions[part], f"V{8 * count}").view("<i8").reshape(-1, count).T
        )
    return words


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a kernel gives: the array (None if any slot is bad), the bad slots, far bytes spent by each slot."""

    array: Any
    bad: Flags
    spent: Any = 0


def decode_column(type_: PaimonType, slots: Slots) -> Kernel:
    """Decode the slots of one field of an atomic type; see `row_columns.decode_binary_rows`."""
    kernel = _KERNELS.get(type_.name)
    if kernel is None:
        raise Unsupported(f"values of type {type_} are not decoded")
    return kernel(type_, slots)


def _decode_number(type_: PaimonType, slots: Slots) -> Kernel:
    values = slots.spread(slots.take(_DTYPES[type_.name]))
    if type_.name == "BOOLEAN":
        values = values != 0
    return Kernel(slots.make(arrow_type(type_), values), np.zeros(len(slots.where), np.bool_))


def _decode_time(type_: PaimonType, slots: Slots) -> Kernel:
    millis = slots.take("<i4")
    bad = (millis < 0) | (millis >= MILLIS_PER_DAY)
    return Kernel(slots.make(arrow_type(type_), slots.spread(millis)), bad)


def _decode_timestamp(type_: PaimonType, slots: Slots) -> Kernel:
    if (type_.precision or 0) <= 3:
        millis = slots.take("<i8")
        return Kernel(_make_timestamps(type_, slots, millis, "ms"), np.zeros(len(millis), np.bool_))
    nanos, offsets = slots.take("<i4").astype(np.int64), slots.take("<i4", 4).astype(np.int64)
    bad = (offsets < 0) | (offsets > slots.sizes - 8) | (nanos < 0) | (nanos >= 1_000_000)
    if bad.any():
        return Kernel(None, bad)
    millis = take_numbers(slots.content, slots.starts + offsets, "<i8")
    unit = _choose_unit(millis, nanos, timestamp_unit(type_.precision))
    if unit == "ns":
        counts = millis * 1_000_000 + nanos
    else:
        counts = millis * 1000 + nanos // 1000 if unit == "us" else millis
    return Kernel(_make_timestamps(type_, slots, counts, unit), bad, 8)


def _choose_unit(millis: Any, nanos: Any, unit: str) -> str:
    """The unit of the type, finer if there are more digits, coarser if the years are out of its reach."""
    if (nanos % 1000).any():
        unit = "ns"
    if unit == "ns" and not _fits(millis, 1_000_000):
        unit = "us"
    return "ms" if unit == "us" and not _fits(millis, 1000) else unit


def _fits(millis: Any, factor: int) -> bool:
    limit = 2**63 // factor - 1
    return not len(millis) or bool(millis.min() >= -limit and millis.max() < limit)


def _make_timestamps(type_: PaimonType, slots: Slots, counts: Any, unit: str) -> Any:
    import pyarrow as pa

    tz = "UTC" if type_.name == "TIMESTAMP_LTZ" else None
    return slots.make(pa.timestamp(unit, tz), slots.spread(counts))


def _decode_decimal(type_: PaimonType, slots: Slots) -> Kernel:
    precision = type_.precision or 10
    if precision <= 18:
        low = slots.take("<i8")
        bad = (low <= -(10**precision)) | (low >= 10**precision)
        return Kernel(_make_decimals(type_, slots, low >> 63, low), bad)
    length, offset = slots.take("<i4").astype(np.int64), slots.take("<i4", 4).astype(np.int64)
    bad = (length < 1) | (length > 16) | (offset < 0) | (offset + length > slots.sizes)
    if bad.any():
        return Kernel(None, bad)
    starts = slots.starts + offset
    high, low = _gather_big_endian(slots.content, starts, length)
    bad = _exceeds(high, low, 10**precision)
    return Kernel(_make_decimals(type_, slots, high, low), bad, length)


def _gather_big_endian(content: Any, starts: Ints, lengths: Ints) -> tuple[Any, Any]:
    """The high and low words of big-endian two's complement numbers of 1 to 16 bytes."""
    last = len(content) - 8
    if (starts <= last).all() and (starts + lengths <= len(content)).all():
        return _take_big_endian(content, starts, lengths)
    column = np.arange(16) - 16 + lengths[:, None]  # the byte of the number that lands in each of 16 columns
    positions = starts[:, None] + np.maximum(column, 0)
    sign = np.where(content[starts] >= 0x80, 0xFF, 0).astype(np.uint8)
    wide = np.where(column >= 0, content[positions], sign[:, None]).astype(np.uint8)
    words = np.ascontiguousarray(wide).view(">i8").astype(np.int64)
    return words[:, 0], words[:, 1]


def _take_big_endian(content: Any, starts: Ints, lengths: Ints) -> tuple[Any, Any]:
    """The same where eight bytes follow every start: two unaligned reads, shifted into place."""
    first = take_numbers(content, starts, ">i8").astype(np.int64)
    wide = lengths > 8
    last = take_numbers(content, starts + np.where(wide, lengths - 8, 0), ">i8").astype(np.int64)
    low = np.where(wide, last, first >> 8 * np.maximum(8 - lengths, 0))
    return np.where(wide, first >> 8 * np.minimum(16 - lengths, 7), low >> 63), low


def _exceeds(high: Any, low: Any, bound: int) -> Flags:
    """Whether numbers of two words are outside -bound to bound, both excluded."""
    low = low.view(np.uint64)
    top, bottom = bound >> 64, np.uint64(bound & (2**64 - 1))
    least = -bound
    floor, rest = least >> 64, np.uint64(least & (2**64 - 1))
    above = (high > top) | ((high == top) & (low >= bottom))
    below = (high < floor) | ((high == floor) & (low <= rest))
    return np.asarray(above | below, np.bool_)


def _make_decimals(type_: PaimonType, slots: Slots, high: Any, low: Any) -> Any:
    return slots.make(arrow_type(type_), slots.spread(np.stack([low.view(np.int64), high], axis=1)))


def _decode_bytes(type_: PaimonType, slots: Slots) -> Kernel:
    words, starts = slots.words, slots.starts
    short = words < 0  # the topmost bit of the last byte
    length, offset = words & 0xFFFF_FFFF, words >> 32
    bad = (length >= 2**31) | (offset + length > slots.sizes)
    spent = length
    if short.any():
        spent = np.where(short, 0, length)
        length = np.where(short, words >> 56 & 0x7F, length)
        bad = np.where(short, length > 7, bad)
        offset = np.where(short, slots.at, offset)
    if bad.any():
        return Kernel(None, bad)
    array, bad = _gather_bytes(type_, slots, starts + offset, length)
    return Kernel(array, bad, spent)


def _gather_bytes(type_: PaimonType, slots: Slots, starts: Ints, lengths: Ints) -> tuple[Any, Flags]:
    import pyarrow as pa

    total = int(lengths.sum())
    if total > len(slots.content):
        raise Corrupt("items overlap: they hold more than all the bytes")
    binary = _gather_items(slots, starts, lengths)
    if total < 2**31:
        binary = binary.cast(pa.binary())
    bad = np.zeros(len(slots.where), np.bool_)
    if type_.name not in ("CHAR", "VARCHAR"):
        return binary, bad
    try:
        return binary.cast(pa.string() if pa.types.is_binary(binary.type) else pa.large_string()), bad
    except pa.ArrowInvalid:
        return None, np.array([not _is_text(binary[int(row)].as_py()) for row in slots.where], np.bool_)


def _gather_items(slots: Slots, starts: Ints, lengths: Ints) -> Any:
    """The items by the rows that they are of: every other one of an array of items and what is between them.

    An item is inside of its row, and the rows follow each other.
    """
    import pyarrow as pa

    is_large = len(slots.content) >= 2**31
    offsets = np.zeros(2 * len(starts) + 1, np.int64 if is_large else np.int32)
    offsets[:-1:2], offsets[1::2] = starts, starts + lengths
    offsets[-1] = offsets[-2]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(slots.content)]
    kind = pa.large_binary() if is_large else pa.binary()
    items = pa.Array.from_buffers(kind, 2 * len(starts), buffers)
    return items.take(slots.make(pa.int64(), slots.spread(np.arange(0, 2 * len(starts), 2))))


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


_DTYPES = {
    "BOOLEAN": "u1",
    "TINYINT": "i1",
    "SMALLINT": "<i2",
    "INT": "<i4",
    "BIGINT": "<i8",
    "FLOAT": "<f4",
    "DOUBLE": "<f8",
    "DATE": "<i4",
}
_KERNELS: dict[str, Callable[[PaimonType, Slots], Kernel]] = {
    **dict.fromkeys(_DTYPES, _decode_number),
    **dict.fromkeys(
        ["CHAR", "VARCHAR", "BINARY", "VARBINARY", "BLOB", "GEOMETRY", "GEOGRAPHY"], _decode_bytes
    ),
    "TIME": _decode_time,
    "TIMESTAMP": _decode_timestamp,
    "TIMESTAMP_LTZ": _decode_timestamp,
    "DECIMAL": _decode_decimal,
}
