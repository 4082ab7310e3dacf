"""Which files came before, over millions of them, in little memory.

flags    2^27 bits, two of them set by each file's hash (64 bits of SipHash, whose key no file knows)
hashes   8 bytes for each file: asked where both bits of a new one are set already, once in 20,000 over a million
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_BITS = 27


class Repeats:
    """Finds the files that did not come before.

    >>> import pyarrow as pa
    >>> repeats = Repeats()
    >>> repeats.find_new(pa.array([b"a", b"b", b"a"])).tolist(), repeats.find_new(pa.array([b"b", b"c"])).tolist()
    ([True, True, False], [False, True])
    """

    def __init__(self) -> None:
        import numpy as np

        self._flags: NDArray[np.uint8] = np.zeros(1 << (_BITS - 3), np.uint8)
        self._hashes: list[NDArray[np.int64]] = []

    def find_new(self, identities: pa.Array) -> NDArray[np.bool_]:
        """Which of these binary identities come for the first time; from now on none of them is new."""
        import numpy as np

        values = np.fromiter(map(hash, identities.to_pylist()), np.int64, len(identities))
        new: NDArray[np.bool_] = np.zeros(len(values), np.bool_)
        new[np.unique(values, return_index=True)[1]] = True
        places = [self._place(values, shift) for shift in (0, _BITS)]
        perhaps = np.logical_and.reduce([(self._flags[byte] & bit) != 0 for byte, bit in places])
        for candidate in np.flatnonzero(perhaps & new).tolist():
            new[candidate] = not any((known == values[candidate]).any() for known in self._hashes)
        for byte, bit in places:
            np.bitwise_or.at(self._flags, byte, bit)
        self._hashes.append(values[new])
        return new

    @staticmethod
    def _place(values: NDArray[np.int64], shift: int) -> tuple[Any, Any]:
        """The byte and the bit of a flag for each hash."""
        import numpy as np

        flag = (values >> shift) & ((1 << _BITS) - 1)
        return flag >> 3, (1 << (flag & 7)).astype(np.uint8)
