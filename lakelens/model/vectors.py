"""Vectors: the deleted rows of the data files that one file speaks of, each read when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyroaring import FrozenBitMap64


class Vectors(Mapping[str, "FrozenBitMap64"]):
    """The deleted rows (counted from 0) by data file, as the metadata names it. `read` is asked for one vector at a time.

    Asking raises `LakeError` for a vector that is damaged or gone, `KeyError` for a data file that has none.

    >>> from pyroaring import FrozenBitMap64
    >>> vectors = Vectors(["a.orc"], lambda name: FrozenBitMap64([0, 5]))
    >>> vectors, list(vectors["a.orc"])
    (<Vectors of 1 data file>, [0, 5])
    """

    def __init__(self, names: Iterable[str], read: Callable[[str], FrozenBitMap64]) -> None:
        self._names = dict.fromkeys(names)
        self._read = read

    def __getitem__(self, data_file: str) -> FrozenBitMap64:
        if data_file not in self._names:
            raise KeyError(data_file)
        return self._read(data_file)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<Vectors of {len(self)} data file{'' if len(self) == 1 else 's'}>"
