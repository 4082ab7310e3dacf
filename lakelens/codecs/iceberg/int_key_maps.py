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
from itertools import repeat
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property

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
        """The values of a key, one for each row: null where the row does not have it."""
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
        """Where in `values` those of some keys are, `rows` for each key; -1 for none."""
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
    """The different keys, ascending."""
    import numpy as np

    if not len(keys):
        return keys
    if keys.min() >= 0 and keys.max() < _DENSE_KEYS:
        return np.flatnonzero(np.bincount(keys))
    return np.unique(keys)
