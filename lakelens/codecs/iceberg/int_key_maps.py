"""Maps with integer keys by key instead of by row: what Iceberg stores as lists of key and value, as columns.

    row 0   {1: a, 2: b}        key 1   a  c  .
    row 1   {1: c}         =>   key 2   b  .  d
    row 2   {2: d}

Avro writes such a map as an array of records `key`, `value` ("Avro" in appendix A of the Iceberg table specification).
Where a row names a key twice the later value counts, as in a dict. Most writers give every file the same keys in the
same order: then a key's values are one stride apart, and nothing is looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

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
        self._values = pairs.field(1)
        self._stride = self._find_stride(column)
        if self._stride:
            self._places = {int(key): place for place, key in enumerate(self._keys[: self._stride])}
        else:
            found = _find_keys(self._keys)
            self._places = {int(key): place for place, key in enumerate(found)}
            self._dense = self._scatter(column, found)

    @property
    def keys(self) -> list[int]:
        """The keys that some row has, in ascending order."""
        return sorted(self._places)

    def __contains__(self, key: int) -> bool:
        return key in self._places

    def take(self, key: int) -> pa.Array:
        """The values of a key, one for each row: null where the row does not have it."""
        return self.take_all([key])

    def take_all(self, keys: Sequence[int]) -> pa.Array:
        """The values of some keys, those of one key after those of the other: `rows` for each, in memory of their own."""
        import numpy as np
        import pyarrow as pa

        places = [self._places.get(key, -1) for key in keys]
        if -1 in places:
            missing = pa.nulls(self.rows, self._values.type)
            taken = [
                missing if place < 0 else self.take(key) for key, place in zip(keys, places, strict=True)
            ]
            return pa.concat_arrays(taken) if taken else missing[:0]
        plain = pa.types.is_int64(self._values.type) and not self._values.null_count
        if self._stride:
            if plain:
                table = self._values.to_numpy().reshape(self.rows, self._stride)
                return pa.array(np.array(table.T[places], order="C").reshape(-1))
            starts = np.arange(0, len(self._values), self._stride)
            return self._values.take(pa.array((np.array(places)[:, None] + starts).reshape(-1)))
        indices = self._dense[places].reshape(-1)
        absent = indices < 0
        if not plain or not len(self._values):
            return self._values.take(pa.array(indices, mask=absent))
        values = self._values.to_numpy()[indices]  # -1 takes the last one, which the mask hides
        return pa.array(values, mask=absent) if absent.any() else pa.array(values)

    def _find_stride(self, column: pa.ListArray) -> int:
        """How many keys every row has, where all have the same ones in the same order; else 0."""
        count, rest = divmod(len(self._keys), self.rows) if self.rows else (0, 0)
        if rest or not count or column.null_count:
            return 0
        first = self._keys[:count]
        table = self._keys.reshape(self.rows, count)
        if len(set(first.tolist())) < count or not (table == first).all():
            return 0
        lengths = column.value_lengths().to_numpy(zero_copy_only=False)
        return count if (lengths == count).all() else 0

    def _scatter(self, column: pa.ListArray, found: NDArray[Any]) -> NDArray[np.int32]:
        """For each key (row of the result) where the value of each row is; -1 for none."""
        import numpy as np
        import pyarrow.compute as pc

        dense = np.full((len(found), self.rows), -1, np.int32)
        if not len(self._keys):
            return dense
        if found[0] >= 0 and found[-1] < _DENSE_KEYS:
            table = np.zeros(int(found[-1]) + 1, np.int64)
            table[found] = np.arange(len(found)) * self.rows
            cells = table[self._keys]
        else:
            cells = np.searchsorted(found, self._keys) * self.rows
        cells += pc.list_parent_indices(column).to_numpy()
        dense.reshape(-1)[cells] = np.arange(
            len(self._keys), dtype=np.int32
        )  # of equal cells the last one stays
        return dense


def _find_keys(keys: NDArray[Any]) -> NDArray[Any]:
    """The different keys, ascending."""
    import numpy as np

    if not len(keys):
        return keys
    if keys.min() >= 0 and keys.max() < _DENSE_KEYS:
        return np.flatnonzero(np.bincount(keys))
    return np.unique(keys)
