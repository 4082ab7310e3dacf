"""Which deletes reach which data files, by numbers: counts and rows, file by file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Reach:
    """For each data file how many deletes reach it, and how many of its rows are known to be deleted.

    `by_partition` has for each partition the files and vectors with deletes that are in it. `known` are the deleted rows
    whose file the metadata names; `rows` all that deletes hold, those of position delete files for a whole partition too.
    `equality` are rows of equality deletes: how many rows they delete nobody knows without reading.
    """

    deletes: Numbers
    known: Numbers
    by_partition: Numbers
    rows_by_partition: Numbers
    files: int
    rows: int
    equality_files: int = 0
    equality_rows: int = 0
