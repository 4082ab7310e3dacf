"""Iceberg bounds by column: the same values as `value.decode_value` gives, decoded with numpy over Arrow buffers.

    validity | offsets o0 o1 … on | bytes        an Arrow binary array; value i is bytes[o(i):o(i+1)]

Values of one width are gathered into one block and reinterpreted; a column of two widths (an int that became a long) is
done in two. Rows whose bytes are not a value of the type go through `decode_value`, which makes their error.
Layout of the values: see `value` (appendix D of the Iceberg table specification).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakelens.codecs.iceberg.types import IcebergType
from lakelens.codecs.iceberg.value import DAY_MICROS, DAY_UNITS, arrow_type, decode_value, list_widths
from lakelens.errors import Corrupt

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Ints = NDArray[np.int64]

Report = Callable[[int, Corrupt], None]

_INT64_MAX = 2**63 - 1


def decode_values(
    column: pa.Array | pa.ChunkedArray,
    type_: IcebergType,
    *,
    report: Report | None = None,
    path: str | None = None,
) -> pa.Array:
    """A column of bounds (Arrow binary) as an Arrow array of `arrow_type(type_)`: what `decode_value` gives, in bulk.

    Nulls stay null. Without `report` the first bad value raises `Corrupt`; with it a bad value becomes null and
    `report(row, error)` is called. Geometry, variant, nested and unknown types stay binary.

    >>> import pyarrow as pa
    >>> from lakelens.codecs.iceberg.types import parse_type
    >>> decode_values(pa.array([b"\\x01\\0\\0\\0", None, b"\\x02" + bytes(7)]), parse_type("long")).to_pylist()
    [1, None, 2]
    """
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if column.type != pa.binary():
        column = column.cast(pa.binary())
    if type_.name == "unknown":
        return pa.nulls(len(column))
    target = arrow_type(type_)
    if type_.is_nested or target == pa.binary():
        return column
    if type_.name == "string":
        return _decode_strings(column, type_, report, path)
    return _Column(column, type_, report, path).decode(target)


def _decode_strings(
    column: pa.Array, type_: IcebergType, report: Report | None, path: str | None
) -> pa.Array:
    import pyarrow as pa

    try:
        return column.cast(pa.string())  # no copy: checks that the bytes are UTF-8
    except pa.ArrowInvalid:
        values = [
            _decode_or_report(i, value, type_, report, path) for i, value in enumerate(column.to_pylist())
        ]
        return pa.array(values, pa.string())


def _decode_or_report(
    row: int, data: bytes | None, type_: IcebergType, report: Report | None, path: str | None
) -> Any:
    if data is None:
        return None
    try:
        return decode_value(data, type_, path=path)
    except Corrupt as error:
        if report is None:
            raise
        report(row, error)
        return None


class _Column:
    """One binary column seen through numpy: which rows have a value, how long it is, where it starts."""

    def __init__(self, column: pa.Array, type_: IcebergType, report: Report | None, path: str | None) -> None:
        import numpy as np

        self.column, self.type, self.report, self.path = column, type_, report, path
        _, offsets, data = column.buffers()
        count = len(column)
        ends = (
            np.frombuffer(offsets, np.int32, count + 1, column.offset * 4) if count else np.zeros(1, np.int32)
        )
        self.starts: Ints = ends[:-1].astype(np.int64)
        self.lengths: Ints = np.diff(ends).astype(np.int64)
        self.bytes = (
            np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
        )
        self.valid: Mask = column.is_valid().to_numpy(zero_copy_only=False)

    def decode(self, target: pa.DataType) -> pa.Array:
        import numpy as np
        import pyarrow as pa

        name, widths = self.type.name, list_widths(self.type)
        assert widths is not None
        fits = np.isin(self.lengths, widths) if len(widths) > 1 else self.lengths == widths[0]
        self.drop(np.flatnonzero(self.valid & ~fits))
        rows: Mask = self.valid & fits
        if name == "boolean":
            values = self.gather(rows, 1)[:, 0] != 0
            return pa.array(self.scatter(values, bool), pa.bool_(), mask=~self.valid)
        if name in ("uuid", "fixed"):
            return self.decode_bytes(rows, widths[0], target)
        if name == "decimal":
            return self.decode_decimals(rows, target)
        if name in ("int", "date"):
            narrow = self.view(rows, 4, "<i4")
            return pa.array(self.scatter(narrow, np.int32), pa.int32(), mask=~self.valid).view(target)
        if name == "float":
            return self.make_floats(self.scatter(self.view(rows, 4, "<f4"), np.float32), target)
        if name == "double":
            values, _ = self.view_both(rows, "<f8", "<f4")
            return self.make_floats(values, target)
        return self.decode_longs(rows, target)

    def view_both(self, rows: Mask, wide: str, narrow: str) -> tuple[NDArray[Any], Mask]:
        """The values of 8 bytes and the promoted ones of 4, and which rows have the latter."""
        import numpy as np

        values = np.zeros(len(self.valid), wide)
        long, short = rows & (self.lengths == 8), rows & (self.lengths == 4)
        values[long] = self.view(long, 8, wide)
        if short.any():
            values[short] = self.view(short, 4, narrow)
        return values, short

    def decode_longs(self, rows: Mask, target: pa.DataType) -> pa.Array:
        """long, time and timestamps: all are 64-bit integers for Arrow."""
        import numpy as np
        import pyarrow as pa

        values, short = self.view_both(rows, "<i8", "<i4")
        unit = DAY_UNITS.get(self.type.name, 1)
        if unit != 1 and short.any():  # dates that became timestamps
            days = values[short]
            values[short] = days * unit  # wraps where it does not fit: those rows are dropped here
            self.drop(np.flatnonzero(short)[np.abs(days) > _INT64_MAX // unit])
        if self.type.name == "time":
            self.drop(np.flatnonzero(rows & ((values < 0) | (values >= DAY_MICROS))))
        return pa.array(values, pa.int64(), mask=~self.valid).view(target)

    def make_floats(self, values: NDArray[Any], target: pa.DataType) -> pa.Array:
        """Floats without pyarrow taking a NaN for a null (it does so only for pandas input; said here on purpose)."""
        import pyarrow as pa

        return pa.array(values, target, mask=~self.valid, from_pandas=False)

    def decode_bytes(self, rows: Mask, width: int, target: pa.DataType) -> pa.Array:
        """uuid and fixed: blocks of one width."""
        import numpy as np
        import pyarrow as pa

        block = np.zeros((len(rows), width), np.uint8)
        block[rows] = self.gather(rows, width)
        storage = pa.Array.from_buffers(
            pa.binary(width), len(rows), [self.validity(), pa.py_buffer(block.tobytes())]
        )
        return pa.ExtensionArray.from_storage(target, storage) if self.type.name == "uuid" else storage

    def decode_decimals(self, rows: Mask, target: pa.DataType) -> pa.Array:
        """Big-endian bytes of any length up to 16, sign-extended into Arrow's 16 little-endian ones."""
        import numpy as np
        import pyarrow as pa

        words = np.zeros((len(rows), 16), np.uint8)
        for length in np.unique(self.lengths[rows]):
            some = rows & (self.lengths == length)
            block = self.gather(some, int(length))
            wide = np.where(block[:, :1] >= 0x80, np.uint8(0xFF), np.uint8(0)).repeat(16, axis=1)
            wide[:, :length] = block[:, ::-1]
            words[some] = wide
        low, high = words.view("<u8")[:, 0], words.view("<i8")[:, 1]
        self.drop(np.flatnonzero(rows & _exceeds(high, low, 10 ** (self.type.precision or 0) - 1)))
        return pa.Array.from_buffers(target, len(rows), [self.validity(), pa.py_buffer(words.tobytes())])

    def drop(self, rows: Ints) -> None:
        """Reports rows that hold no value of the type and makes them null; raises when nobody takes reports."""
        for row in rows.tolist():
            if (
                _decode_or_report(row, self.column[row].as_py(), self.type, self.report, self.path)
                is not None
            ):
                raise AssertionError(f"the column decoder dropped row {row}, which holds a {self.type}")
            self.valid[row] = False

    def gather(self, rows: Mask, width: int) -> NDArray[np.uint8]:
        """The bytes of these rows as a block of `width` columns."""
        import numpy as np

        starts = self.starts[rows]
        if len(starts) == 0 or width == 0:
            return np.zeros((len(starts), width), np.uint8)
        if starts[-1] - starts[0] == (len(starts) - 1) * width and (np.diff(starts) == width).all():
            return self.bytes[starts[0] : starts[-1] + width].reshape(
                -1, width
            )  # one after the other: no copy
        block: NDArray[np.uint8] = self.bytes[starts[:, None] + np.arange(width)]
        return block

    def view(self, rows: Mask, width: int, dtype: str) -> NDArray[Any]:
        import numpy as np

        return np.ascontiguousarray(self.gather(rows, width)).view(dtype)[:, 0]

    def scatter(self, values: NDArray[Any], dtype: Any) -> NDArray[Any]:
        """Values of the valid rows put where they belong; zeros elsewhere."""
        import numpy as np

        if self.valid.all():
            return values
        spread = np.zeros(len(self.valid), dtype)
        spread[self.valid] = values
        return spread

    def validity(self) -> pa.Buffer | None:
        import numpy as np
        import pyarrow as pa

        return (
            None if self.valid.all() else pa.py_buffer(np.packbits(self.valid, bitorder="little").tobytes())
        )


def _exceeds(high: Ints, low: NDArray[np.uint64], limit: int) -> Mask:
    """Where a 128-bit value (signed high word, unsigned low word) is outside ±limit."""
    import numpy as np

    def above(bound: int) -> Any:
        bound_high, bound_low = np.int64(bound >> 64), np.uint64(bound & (2**64 - 1))
        return (high > bound_high) | ((high == bound_high) & (low > bound_low))

    too_big: Mask = above(limit) | ~above(-limit - 1)
    return too_big
