"""Positions of rows in a data file: a bitmap that shows itself. Loaded with the first bitmap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.bitmaps import FrozenBitMap64
from lakelens.display import Displayable
from lakelens.model.collections import Tabular

if TYPE_CHECKING:
    import pyarrow as pa


class Positions(FrozenBitMap64, Tabular, Displayable):
    """Rows of a data file, counted from 0: a `pyroaring.FrozenBitMap64` with a view.

    It has `len()`, `in`, iteration in order, set operations and `to_array()`; equal to a bitmap of the same positions.

    >>> rows = Positions([7, 0, 1, 2])
    >>> rows, list(rows.ranges()), rows & FrozenBitMap64([2, 3]) == FrozenBitMap64([2])
    (<Positions: 4 rows in 2 ranges, 0 to 7>, [(0, 2), (7, 7)], True)
    """

    __slots__ = ()
    __str__ = Displayable.__str__

    def ranges(self) -> Iterator[tuple[int, int]]:
        """The first and the last position of each run of positions without a gap, in order."""
        return zip(self - self.shift(1), self - self.shift(-1), strict=True)

    def count_ranges(self) -> int:
        """Count how many ranges there are."""
        return len(self) - int(self.intersection_cardinality(self.shift(1)))

    def containers(self) -> dict[str, int]:
        """Say how many containers the bitmap has in memory: `array`, `bitset` and `run`."""
        held = self.get_statistics()
        return {
            "array": held["n_array_containers"],
            "bitset": held["n_bitset_containers"],
            "run": held["n_run_containers"],
        }

    def to_arrow(self) -> pa.Table:
        """One row for each position: `pos`."""
        import pyarrow as pa

        return pa.table({"pos": pa.array(self.to_array(), pa.uint64())})

    def __repr__(self) -> str:
        if not len(self):
            return "<Positions: no rows>"
        number = self.count_ranges()
        ranges = f" in {number:,} range{'' if number == 1 else 's'}" if number < len(self) else ""
        return f"<Positions: {len(self):,} row{'' if len(self) == 1 else 's'}{ranges}, {self.min()} to {self.max()}>"
