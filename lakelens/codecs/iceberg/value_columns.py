"""Iceberg bounds by column: the same values as `value.decode_value` gives, decoded with numpy over Arrow buffers.

    validity | offsets o0 o1 … on | bytes        an Arrow binary array; value i is bytes[o(i):o(i+1)]

The bytes are seen as numbers that begin at every byte, and those at the offsets are taken; a column of two widths (an int
that became a long) is done in two. Rows whose bytes are not a value of the type go through `decode_value`, which makes
their error.
Layout of the values: see `value` (appendix D of the Iceberg table specification).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
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
    places: Ints | None = None,
) -> pa.Array:
    """A column of bounds (Arrow binary) as an Arrow array of `arrow_type(type_)`: what `decode_value` gives, in bulk.

    Nulls stay null. `places` are the numbers of the rows that are wanted, in order, -1 for a null (None: all rows). Without
    `report` the first bad value raises `Corrupt`; with it a bad value becomes null and
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
        return pa.nulls(len(column if places is None else places))
    target = arrow_type(type_)
    if not (type_.is_nested or target == pa.binary() or type_.name == "string"):
        return _Column(column, type_, report, path, places).decode(target)
    if places is not None:
        column = take_places(column, places)
    return _decode_strings(column, type_, report, path) if type_.name == "string" else column


def take_places(column: pa.Array, places: Ints) -> pa.Array:
    """Take the values at these places, in memory of their own; null for -1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    absent = places < 0
    return pc.take(column, pa.array(places, mask=absent if absent.any() else None), boundscheck=False)


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
    """Rows of a binary column seen through numpy: which have a value, how long it is, where it starts."""

    def __init__(
        self,
        column: pa.Array,
        type_: IcebergType,
        report: Report | None,
        path: str | None,
        places: Ints | None,
    ) -> None:
        import numpy as np

        self.column, self.type, self.report, self.path = column, type_, report, path
        self.places = np.arange(len(column)) if places is None else places
        _, offsets, data = column.buffers()
        count = len(column)
        ends = (
            np.frombuffer(offsets, np.int32, count + 1, column.offset * 4) if count else np.zeros(1, np.int32)
        )
        self.starts = ends[self.places]
        self.lengths = ends[self.places + 1] - self.starts
        self.bytes = (
            np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
        )
        self.valid: Mask = self.places >= 0
        if column.null_count:
            self.valid &= column.is_valid().to_numpy(zero_copy_only=False)[self.places]

    def decode(self, target: pa.DataType) -> pa.Array:
        import numpy as np
        import pyarrow as pa

        name, widths = self.type.name, list_widths(self.type)
        assert widths is not None
        if name == "decimal":
            fits = (self.lengths >= min(widths)) & (self.lengths <= max(widths))
        else:
            fits = (self.lengths == widths[0]) | (self.lengths == widths[-1])
        self.drop(np.flatnonzero(self.valid & ~fits))
        if name == "boolean":
            return pa.array(self.gather("u1") != 0, mask=~self.valid)
        if name == "decimal":
            return self.make_array(self.gather_decimals(), target)
        if name in ("uuid", "fixed"):
            values = self.gather(f"V{widths[0]}")
            if name == "fixed":
                return self.make_array(values, target)
            return pa.ExtensionArray.from_storage(target, self.make_array(values, target.storage_type))
        if name in ("int", "date", "float"):
            return self.make_array(self.gather("<f4" if name == "float" else "<i4"), target)
        values = self.gather("<f8" if name == "double" else "<i8")
        short = self.valid & (self.lengths == 4)
        if short.any():
            values[short] = self.gather("<f4" if name == "double" else "<i4", short)
            self.scale_days(values, short)
        if name == "time":
            self.drop(np.flatnonzero(self.valid & ((values < 0) | (values >= DAY_MICROS))))
        return self.make_array(values, target)

    def scale_days(self, values: NDArray[Any], short: Mask) -> None:
        """Dates that became timestamps."""
        import numpy as np

        unit = DAY_UNITS.get(self.type.name, 1)
        if unit != 1:
            days = values[short]
            values[short] = days * unit  # wraps where it does not fit: those rows are dropped here
            self.drop(np.flatnonzero(short)[np.abs(days) > _INT64_MAX // unit])

    def gather_decimals(self) -> NDArray[Any]:
        """Big-endian bytes of any length up to 16, sign-extended into Arrow's 16 little-endian ones."""
        import numpy as np

        words = np.empty((len(self.valid), 2), "<i8")
        lengths = np.clip(self.lengths, 1, 8)
        words[:, 0] = self.gather(">i8") >> (64 - 8 * lengths)  # the bytes after the value are shifted out
        words[:, 1] = words[:, 0] >> 63
        for length in np.unique(self.lengths[self.valid & (self.lengths > 8)]).tolist():
            some = self.valid & (self.lengths == length)
            block = self.gather(f"V{length}", some).view(np.uint8).reshape(-1, length)
            wide = np.where(block[:, :1] >= 0x80, np.uint8(0xFF), np.uint8(0)).repeat(16, axis=1)
            wide[:, :length] = block[:, ::-1]
            words[some] = wide.view("<i8")
        low, high = words.view("<u8")[:, 0], words[:, 1]
        limit = 10 ** (self.type.precision or 0) - 1
        self.drop(np.flatnonzero(self.valid & _exceeds(high, low, limit)))
        return words

    def drop(self, rows: Ints) -> None:
        """Reports rows that hold no value of the type and makes them null; raises when nobody takes reports."""
        for row in rows.tolist():
            data = self.column[int(self.places[row])].as_py()
            if _decode_or_report(row, data, self.type, self.report, self.path) is not None:
                raise AssertionError(f"the column decoder dropped row {row}, which holds a {self.type}")
            self.valid[row] = False

    def gather(self, dtype: str, rows: Mask | None = None) -> NDArray[Any]:
        """Gather what stands where the values of these rows (None: of all) start; anything for those that have none."""
        import numpy as np

        starts = self.starts if rows is None else self.starts[rows]
        width = np.dtype(dtype).itemsize
        if len(starts) and int(starts.max()) + width > len(self.bytes):
            self.bytes = np.concatenate([self.bytes, np.zeros(width, np.uint8)])
        # numbers that begin at every byte: numpy takes unaligned ones as they are
        places = max(len(self.bytes) - width + 1, 0)
        taken: NDArray[Any] = np.ndarray((places,), dtype, self.bytes, 0, (1,))[starts]
        return taken

    def make_array(self, values: NDArray[Any], target: pa.DataType) -> pa.Array:
        """Make an Arrow array of these values, which are not copied; NaN is a value, not a null."""
        import numpy as np
        import pyarrow as pa

        validity = None if self.valid.all() else pa.py_buffer(np.packbits(self.valid, bitorder="little"))
        data = pa.py_buffer(values.view(np.uint8) if len(values) else b"")
        return pa.Array.from_buffers(target, len(values), [validity, data])


def _exceeds(high: Ints, low: NDArray[np.uint64], limit: int) -> Mask:
    """Say where a 128-bit value (signed high word, unsigned low word) is outside ±limit."""
    import numpy as np

    def above(bound: int) -> Any:
        bound_high, bound_low = np.int64(bound >> 64), np.uint64(bound & (2**64 - 1))
        return (high > bound_high) | ((high == bound_high) & (low > bound_low))

    too_big: Mask = above(limit) | ~above(-limit - 1)
    return too_big


# Maps with integer keys by key instead of by row: what Iceberg stores as lists of key and value, as columns.
#
#     row 0   {1: a, 2: b}        key 1   a  c  .
#     row 1   {1: c}         =>   key 2   b  .  d
#     row 2   {2: d}
#
# Avro writes such a map as an array of records `key`, `value` ("Avro" in appendix A of the Iceberg table specification).
# Where a row names a key twice the later value counts, as in a dict. Most writers give every file the same keys in the
# same order: then a key's values are one stride apart, and nothing is looked up.

_DENSE_KEYS = 1 << 20  # keys below are looked up in a table, not searched for


class KeyedLists:
    """A column of `list<struct<key, value>>` (Arrow), null rows without entries; keys are never null.

    >>> import pyarrow as pa
    >>> kind = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.int64())]))
    >>> lists = KeyedLists(pa.array([[(1, 10), (2, 20)], None, [(1, 30)]], kind))
    >>> lists.keys, lists.take(1).to_pylist(), lists.take(2).to_pylist()
    ([1, 2], [10, None, 30], [20, None, None])
    """

    def __init__(self, column: pa.ListArray) -> None:
        self.rows = len(column)
        pairs = column.flatten()
        self._keys: NDArray[Any] = pairs.field(0).to_numpy(zero_copy_only=False)
        self.values = pairs.field(1)
        self._stride = self._find_stride(column)
        if self._stride:
            self._places = {int(key): place for place, key in enumerate(self._keys[: self._stride])}
        else:
            found = _find_keys(self._keys)
            self._places = {int(key): place for place, key in enumerate(found)}
            self._dense = self._scatter(column, found)

    @cached_property
    def keys(self) -> list[int]:
        """The keys that some row has, in ascending order."""
        return sorted(self._places)

    def __contains__(self, key: int) -> bool:
        return key in self._places

    def take(self, key: int) -> pa.Array:
        """Take the values of a key, one for each row: null where the row does not have it."""
        return self.take_all([key])

    def take_all(self, keys: Sequence[int]) -> pa.Array:
        """The values of some keys, those of one key after those of the other: `rows` for each, in memory of their own."""
        import numpy as np
        import pyarrow as pa

        if not pa.types.is_int64(self.values.type) or self.values.null_count or not len(self.values):
            places = self.find_places(keys)
            return self.values.take(pa.array(places, mask=places < 0))
        columns = self._find_columns(keys)
        values = self.values.to_numpy()
        if self._stride and -1 not in columns:
            return pa.array(
                np.array(values.reshape(self.rows, self._stride).T[columns], order="C").reshape(-1)
            )
        places = self.find_places(keys)
        absent = places < 0
        return pa.array(values[places], mask=absent if absent.any() else None)  # the mask hides what -1 takes

    def find_places(self, keys: Sequence[int]) -> Ints:
        """Find where in `values` those of some keys are, `rows` for each key; -1 for none."""
        import numpy as np

        columns = np.array(self._find_columns(keys), np.int64)
        if not self._stride:
            return self._dense[columns].reshape(-1)  # the last row is that of keys that no row has
        places = columns[:, None] + np.arange(0, len(self.values), self._stride)
        places[columns < 0] = -1
        return places.reshape(-1)

    def _find_columns(self, keys: Sequence[int]) -> list[int]:
        return list(map(self._places.get, keys, repeat(-1)))

    def _find_stride(self, column: pa.ListArray) -> int:
        """Find how many keys every row has, where all have the same ones in the same order; else 0."""
        count, rest = divmod(len(self._keys), self.rows) if self.rows else (0, 0)
        if rest or not count or column.null_count:
            return 0
        first = self._keys[:count]
        table = self._keys.reshape(self.rows, count)
        if len(set(first.tolist())) < count or not (table == first).all():
            return 0
        lengths = column.value_lengths().to_numpy(zero_copy_only=False)
        return count if (lengths == count).all() else 0

    def _scatter(self, column: pa.ListArray, found: NDArray[Any]) -> Ints:
        """For each key (row of the result), and for one that no row has, where the value of each row is; -1 for none."""
        import numpy as np
        import pyarrow.compute as pc

        dense = np.full((len(found) + 1, self.rows), -1, np.int64)
        if not len(self._keys):
            return dense
        if found[0] >= 0 and found[-1] < _DENSE_KEYS:
            table = np.zeros(int(found[-1]) + 1, np.int64)
            table[found] = np.arange(len(found)) * self.rows
            cells = table[self._keys]
        else:
            cells = np.searchsorted(found, self._keys) * self.rows
        cells += pc.list_parent_indices(column).to_numpy()
        dense.reshape(-1)[cells] = np.arange(len(self._keys))  # of equal cells the last one stays
        return dense


def _find_keys(keys: NDArray[Any]) -> NDArray[Any]:
    """Find the different keys, ascending."""
    import numpy as np

    if not len(keys):
        return keys
    if keys.min() >= 0 and keys.max() < _DENSE_KEYS:
        return np.flatnonzero(np.bincount(keys))
    return np.unique(keys)
