"""How an engine arranges rows again: what a format's part `layout` says of its own procedure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakelens.lazy import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.model.schema import PartitionField


#: How many rows a page has at most, by default: `parquet.page.row.count.limit`.
PAGE_ROWS = 20_000
#: The `row_group` of an engine that leaves the rows of a file in no order: each row group reaches as far as the file.
WHOLE_FILE = 1 << 62


@dataclass(frozen=True, slots=True)
class Pile:
    """Rows in the order of their keys that an engine divides into files: what of each of them it divides by.

    `rows` and `sizes` are how many rows and bytes each known row stands for, `is_first` whether its key is another than the
    one before it.
    """

    rows: NDArray[np.float64]
    sizes: NDArray[np.float64]
    is_first: NDArray[np.bool_]
    #: the bytes of a row before it is encoded, which a writer holds until a page is full; 0 where they are not known
    raw_row: float = 0.0

    def find_rolls(self, start: int, end: int, limit: int, row_group: int, looks: int) -> list[int]:
        """Find where a writer begins another file between two places, for as long as one does not end by itself.

        It looks after each `looks` rows whether what it holds reaches `limit` bytes: pages and row groups that are full, as
        they are stored, and the page that it fills, where each value takes what it takes by itself.

        >>> import numpy as np
        >>> Pile(np.full(50, 100.0), np.full(50, 1_000.0), np.ones(50, bool), 20.0).find_rolls(0, 50, 30_000, 1 << 27, 1_000)
        [20, 40]
        """
        import numpy as np

        rows, size = float(self.rows[start:end].sum()), float(self.sizes[start:end].sum())
        stored = max(size / max(rows, 1), 1e-9)
        raw = max(self.raw_row, stored)
        page = min(PAGE_ROWS, row_group / raw)
        full = max(0, -int((page * raw - limit) // (page * stored)))
        most = np.ceil((full * page + (limit - full * page * stored) / raw) / looks) * looks
        if most >= rows:
            return []
        counted = np.cumsum(self.rows[start:end]) - self.rows[start:end]
        places = np.searchsorted(counted, np.arange(most, rows - 0.5, most) - 1e-6)
        return [start + place for place in places.tolist()]

    def cut_evenly(self, parts: int) -> NDArray[np.int64]:
        """Find where parts begin that are equal in rows.

        >>> import numpy as np
        >>> Pile(np.ones(8), np.full(8, 100.0), np.ones(8, bool)).cut_evenly(3).tolist()
        [0, 3, 6]
        """
        import numpy as np

        counted = np.cumsum(self.rows) - self.rows
        goals = float(self.rows.sum()) / parts * np.arange(parts) - 1e-6
        begun: NDArray[np.int64] = np.unique(np.searchsorted(counted, goals))
        return begun[begun < len(counted)]


def find_range_ends(counted: NDArray[np.float64], ranges: int) -> list[int]:
    """Find the values at which Spark's ranges end, of how many rows there are up to each value: none ends within one.

    >>> import numpy as np
    >>> find_range_ends(np.cumsum([2.0, 4.0, 1.0, 1.0]), 4)
    [0, 1, 2]
    """
    import numpy as np

    step = float(counted[-1]) / ranges
    ends: list[int] = []
    goal, last = step, -1
    while len(ends) < ranges - 1:
        place = max(int(np.searchsorted(counted, goal - 1e-6 * step)), last + 1)
        if place >= len(counted) - 1:
            break
        ends.append(place)
        goal, last = goal + step, place
    return ends


@dataclass(frozen=True, slots=True)
class LayoutRules:
    """What the engine's procedure can do with a table, and how.

    `target` is the table's own size of a file, `strategies` the orders that it knows (`sort`, `zorder`, `hilbert`),
    `transforms` the partition transforms that a table can be given later, `fields` the partitioning that it has now.
    `divide` gives the places at which tasks begin in a pile, of a target, `roll` those at which a writer begins another file
    between two places. A row group holds `row_group` bytes. `group_bytes` is how many bytes are ordered at once, `tick`
    what curves count times by, `write_calls` writes the statements of a layout, `read_call` reads the options of one from a
    CALL. `most_sorted` is how many columns a sort takes at most, `ranges` into how many ranges an engine divides the values
    of a column whose orders, a sort as well, are a Z-order of these. `assumptions` says what is followed, and what is not
    known. `counts_nans`: new files say how many NaN they hold.
    """

    target: int
    strategies: tuple[str, ...]
    divide: Callable[[Pile, int], NDArray[np.int64]]
    write_calls: Callable[[Any], tuple[str, ...]]
    read_call: Callable[[Any], dict[str, Any]]
    row_group: int
    group_bytes: int = 1 << 62
    transforms: tuple[str, ...] = ()
    roll: Callable[[Pile, int, int, int], list[int]] = lambda pile, start, end, target: []
    fields: tuple[PartitionField, ...] = ()
    tick: str = "us"
    most_sorted: int | None = None
    ranges: int | None = None
    assumptions: tuple[str, ...] = ()
    counts_nans: bool = False
