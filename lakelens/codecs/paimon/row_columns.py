"""Many BinaryRows at once, column by column: the fast path for the partitions and bounds of whole manifests.

The bytes are those of `row`, and a slot is drawn in `row_slots`; here each slot of all rows is taken at once::

    row k of the binary column:  starts[k] | 4 arity | null bits | slot 0 | slot 1 | ...
    heads                        arity, kind and null bits of every row, as one numpy matrix
    words                        the slots of some fields of every row: a matrix with a line for each field
    far items                    positions computed from the slots, checked, then gathered

A kernel gets the slots of the rows where the field is not null, and gives the array of all rows, or which slots do not pass
its checks. Nothing is decoded differently from `decode_binary_row`: whatever does not pass is handed to it, so that the
error is the same and names the same byte (of the row, with the number of the row). Values of nested types are decoded row
by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lakelens.codecs.moments import FarTime, NanoTimestamp
from lakelens.codecs.paimon.binary_row import (
    MILLIS_PER_DAY,
    FieldLike,
    count_null_bytes,
    decode_binary_row,
    split_fields,
)
from lakelens.codecs.paimon.types import PaimonType
from lakelens.codecs.variant import Variant
from lakelens.errors import Corrupt, LakeError, Unsupported

if TYPE_CHECKING:
    import pyarrow as pa


# Paimon types as Arrow types, and decoded values as Arrow takes them.

_PLAIN = {
    "BOOLEAN": "bool_",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INT": "int32",
    "BIGINT": "int64",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "DATE": "date32",
    "CHAR": "string",
    "VARCHAR": "string",
    "BINARY": "binary",
    "VARBINARY": "binary",
    "BLOB": "binary",
    "GEOMETRY": "binary",
    "GEOGRAPHY": "binary",
}


def timestamp_unit(precision: int | None) -> str:
    """The Arrow unit that holds a precision: `ms` to 3 digits, `us` to 6, `ns` to 9.

    >>> timestamp_unit(3), timestamp_unit(6), timestamp_unit(7)
    ('ms', 'us', 'ns')
    """
    digits = precision or 0
    return "ms" if digits <= 3 else "us" if digits <= 6 else "ns"


def arrow_type(type_: PaimonType) -> pa.DataType:
    """The Arrow type that holds a Paimon type.

    >>> arrow_type(PaimonType("DECIMAL", precision=10, scale=2))
    Decimal128Type(decimal128(10, 2))
    """
    import pyarrow as pa

    if type_.name in _PLAIN:
        return getattr(pa, _PLAIN[type_.name])()
    match type_.name:
        case "DECIMAL":
            return pa.decimal128(type_.precision, type_.scale or 0)
        case "TIME":
            return pa.time32("ms")
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return pa.timestamp(
                timestamp_unit(type_.precision), "UTC" if type_.name == "TIMESTAMP_LTZ" else None
            )
        case "ARRAY" | "VECTOR":
            return pa.list_(arrow_type(_given(type_.element)))
        case "MAP":
            return pa.map_(arrow_type(_given(type_.key)), arrow_type(_given(type_.value)))
        case "MULTISET":
            return pa.map_(arrow_type(_given(type_.element)), pa.int32())
        case "ROW":
            return pa.struct([pa.field(field.name, arrow_type(field.type)) for field in type_.fields])
        case "VARIANT":
            return pa.struct([pa.field("value", pa.binary()), pa.field("metadata", pa.binary())])
    raise Unsupported(f"no Arrow type for {type_}")


def arrow_value(type_: PaimonType, value: Any) -> Any:
    """A decoded value in the form that `pyarrow.array` takes for `arrow_type(type_)`.

    >>> arrow_value(PaimonType("MULTISET", element=PaimonType("INT")), {7: 2})
    [(7, 2)]
    """
    if value is None:
        return None
    if isinstance(value, Variant):
        return {"value": value.value, "metadata": value.metadata}
    match type_.name:
        case "ARRAY" | "VECTOR":
            return [arrow_value(_given(type_.element), item) for item in value]
        case "MAP":
            pairs = value.items() if isinstance(value, dict) else value
            key, item = _given(type_.key), _given(type_.value)
            return [(arrow_value(key, k), arrow_value(item, v)) for k, v in pairs]
        case "MULTISET":
            pairs = value.items() if isinstance(value, dict) else value
            return [(arrow_value(_given(type_.element), k), v) for k, v in pairs]
        case "ROW":
            return {field.name: arrow_value(field.type, value[field.name]) for field in type_.fields}
    if isinstance(value, NanoTimestamp):
        return value.to_pandas()
    return value.to_numpy() if isinstance(value, FarTime) else value


def _given(type_: PaimonType | None) -> PaimonType:
    assert type_ is not None
    return type_


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
        """Take the numbers of this numpy type, `skip` bytes into the slots."""
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
        """Make the Arrow array of a type of fixed width, its values null where the field is. Nothing is copied."""
        import pyarrow as pa

        buffer = make_bits(values) if values.dtype == np.bool_ else pa.py_buffer(values)
        return pa.Array.from_buffers(kind, len(self.nulls), [self.validity, buffer])


def make_bits(flags: Flags) -> Any:
    """Flags as one of Arrow's bitmaps."""
    import pyarrow as pa

    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def take_numbers(content: Any, positions: Ints, dtype: str) -> Any:
    """Take the numbers of a numpy type that begin at some bytes, aligned or not.

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
    # the unit of the type, finer if there are more digits, coarser if the years are out of its reach
    unit = timestamp_unit(type_.precision)
    if (nanos % 1000).any():
        unit = "ns"
    if unit == "ns" and not _fits(millis, 1_000_000):
        unit = "us"
    unit = "ms" if unit == "us" and not _fits(millis, 1000) else unit
    if unit == "ns":
        counts = millis * 1_000_000 + nanos
    else:
        counts = millis * 1000 + nanos // 1000 if unit == "us" else millis
    return Kernel(_make_timestamps(type_, slots, counts, unit), bad, 8)


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
    """Gather the high and low words of big-endian two's complement numbers of 1 to 16 bytes."""
    last = len(content) - 8
    if (starts <= last).all() and (starts + lengths <= len(content)).all():
        # where eight bytes follow every start, two unaligned reads are shifted into place
        first = take_numbers(content, starts, ">i8").astype(np.int64)
        wide = lengths > 8
        last = take_numbers(content, starts + np.where(wide, lengths - 8, 0), ">i8").astype(np.int64)
        low = np.where(wide, last, first >> 8 * np.maximum(8 - lengths, 0))
        return np.where(wide, first >> 8 * np.minimum(16 - lengths, 7), low >> 63), low
    column = np.arange(16) - 16 + lengths[:, None]  # the byte of the number that lands in each of 16 columns
    positions = starts[:, None] + np.maximum(column, 0)
    sign = np.where(content[starts] >= 0x80, 0xFF, 0).astype(np.uint8)
    wide = np.where(column >= 0, content[positions], sign[:, None]).astype(np.uint8)
    words = np.ascontiguousarray(wide).view(">i8").astype(np.int64)
    return words[:, 0], words[:, 1]


def _exceeds(high: Any, low: Any, bound: int) -> Flags:
    """Check whether numbers of two words are outside -bound to bound, both excluded."""
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
    """Gather the items by the rows that they are of: every other one of an array of items and what is between them.

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


_GATHERED = 64  # slots of a row that are gathered at once


def decode_binary_rows(column: pa.Array, fields: Sequence[FieldLike]) -> pa.StructArray:
    """Decode a binary column of serialized rows to a struct column; a null row gives a null struct.

    Arrow types: TIMESTAMP(0..3) is `timestamp[ms]`, (4..6) `[us]`, (7..9) `[ns]`, with local zone tz UTC; a column that
    holds moments its unit cannot is `[ns]` for more digits, `[us]` or `[ms]` for years out of reach. DECIMAL is
    `decimal128`, TIME `time32[ms]`, DATE `date32`, texts `string`, bytes and BLOB `binary`, VARIANT a struct of value
    and metadata, MAP and MULTISET `map`, VECTOR `list`.

    Raises `Corrupt` with the byte of the row, and the number of the first damaged row in the message. Follows
    "BinaryRow" of the Paimon table specification.

    >>> import pyarrow as pa
    >>> rows = pa.array([bytes.fromhex("0000000100000000000000000a00000000000000"), None], pa.binary())
    >>> decode_binary_rows(rows, [("id", "INT")]).to_pylist()
    [{'id': 10}, None]
    """
    import pyarrow as pa

    names, types = split_fields(fields)
    rows = _BinaryRows(_flatten(column), fields, len(types))
    rows.check_fixed_part()
    columns = [rows.decode(i, type_) for i, type_ in enumerate(types)]
    rows.check_spent()
    mask = pa.array(rows.missing) if rows.missing.any() else None
    arrow_fields = [pa.field(name, array.type) for name, array in zip(names, columns, strict=True)]
    if not columns:
        validity = None if mask is None else pa.compute.invert(mask).buffers()[1]
        return pa.Array.from_buffers(pa.struct([]), len(rows.starts), [validity])
    return pa.StructArray.from_arrays(columns, fields=arrow_fields, mask=mask)


def _flatten(column: Any) -> Any:
    """Flatten one contiguous array of type `large_binary` of any binary column."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column if pa.types.is_large_binary(column.type) else column.cast(pa.large_binary())


class _BinaryRows:
    """The bytes of all rows, where each starts and ends, and how much each has spent of its bytes."""

    def __init__(self, column: Any, fields: Sequence[FieldLike], arity: int) -> None:
        self.column = column
        self.fields = fields
        self.arity = arity
        buffers = column.buffers()
        offsets = np.zeros(1, np.int64)
        if len(column):
            offsets = np.frombuffer(buffers[1], np.int64, len(column) + 1, column.offset * 8)
        content = buffers[2] if buffers[2] is not None else b""
        self.content = np.frombuffer(content, np.uint8)
        self.missing = np.asarray(column.is_null().to_numpy(zero_copy_only=False), np.bool_)
        self.starts = offsets[:-1]
        self.lengths = np.diff(offsets)
        self.present = np.flatnonzero(~self.missing)
        self.present_starts = self.starts[self.present] if self.missing.any() else self.starts
        self.begins, self.sizes = self.starts + 4, self.lengths - 4
        self.null_bytes = count_null_bytes(arity)
        self.words: tuple[int, Any] = -1, None
        self.spent = np.full(len(column), self.null_bytes + 8 * arity, np.int64)

    def check_fixed_part(self) -> None:
        """Hand the first row that is too short, or has another arity or an unknown kind, to the row path to refuse."""
        self.refuse(self.lengths < 4 + self.null_bytes + 8 * self.arity)
        width = 4 + self.null_bytes
        heads = take_numbers(self.content, self.present_starts, f"V{width}").view(np.uint8).reshape(-1, width)
        self.refuse_at(self.present[(heads.view(">i4")[:, 0] != self.arity) | (heads[:, 4] > 3)])
        self.null_bits = heads[:, 4:]
        self.any_nulls = np.bitwise_or.reduce(self.null_bits, axis=0)

    def check_spent(self) -> None:
        """Refuse rows whose items overlap, as the row path does."""
        self.refuse(self.spent > self.lengths)

    def refuse(self, bad: Any) -> None:
        """Raise the error of the row path for the first bad row that is not null."""
        found = np.flatnonzero(bad & ~self.missing)
        if not len(found):
            return
        self.decode_row(int(found[0]))
        raise Corrupt(f"row {found[0]} does not decode by column")  # the row path would have raised

    def decode_row(self, index: int) -> Any:
        try:
            return decode_binary_row(self.column[index].as_py(), self.fields)
        except Corrupt as error:
            raise Corrupt(
                f"row {index}: {error.message}",
                offset=error.offset,
                expected=error.expected,
                seen=error.seen,
                hint=error.hint,
            ) from error
        except LakeError as error:
            raise type(error)(f"row {index}: {error.message}", hint=error.hint) from error

    def find_nulls(self, index: int) -> Any:
        """Find which rows have no value of a field."""
        byte, bit = (index + 8) // 8, 1 << index % 8
        if not self.any_nulls[byte] & bit:
            return self.missing
        nulls = self.missing.copy()
        nulls[self.present] = self.null_bits[:, byte] & bit
        return nulls

    def find_words(self, index: int) -> Any:
        """Find the slots of a field, of every row that is there."""
        number = index // _GATHERED
        if self.words[0] != number:
            first, starts = number * _GATHERED, self.present_starts
            count = min(_GATHERED, self.arity - first)
            self.words = -1, None
            self.words = (
                number,
                take_words(self.content, starts + (4 + self.null_bytes + 8 * first), count),
            )
        return self.words[1][index % _GATHERED]

    def decode(self, index: int, type_: PaimonType) -> Any:
        import pyarrow as pa

        nulls = self.find_nulls(index)
        if type_.name in ("ARRAY", "MAP", "MULTISET", "ROW", "VARIANT", "VECTOR"):
            return self.decode_nested(index, type_, nulls)
        words, where = self.find_words(index), self.present
        if nulls is not self.missing:
            where, words = np.flatnonzero(~nulls), words[~nulls[self.present]]
        if not len(where):
            return pa.nulls(len(self.starts), arrow_type(type_))
        at = self.null_bytes + 8 * index
        slots = Slots(self.content, words, where, nulls, self.begins, self.sizes, at)
        kernel = decode_column(type_, slots)
        if kernel.bad.any():
            self.refuse_at(where[kernel.bad])
        if np.any(kernel.spent):
            self.spent[where] += kernel.spent
        return kernel.array

    def refuse_at(self, indices: Any) -> None:
        bad = np.zeros(len(self.starts), np.bool_)
        bad[indices] = True
        self.refuse(bad)

    def decode_nested(self, index: int, type_: PaimonType, nulls: Any) -> Any:
        """Nested values, row by row: their statistics are null in all but made-up rows."""
        import pyarrow as pa

        values = [None if null else self.decode_row(row)[index] for row, null in enumerate(nulls)]
        try:
            return pa.array([arrow_value(type_, value) for value in values], arrow_type(type_))
        except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
            raise Unsupported(f"a value of type {type_} does not fit into Arrow: {error}") from error
