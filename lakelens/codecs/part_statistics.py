"""What a file says of one column in a part of itself: a row group of Parquet, a stripe of ORC, a value by itself."""

from __future__ import annotations

from typing import Any

from lakelens.lazy import dataclass


@dataclass(frozen=True, slots=True)
class PartStatistics:
    """What is proved of the values of one column in a part of a file; None: not known. `values` counts nulls too."""

    lower: Any = None
    upper: Any = None
    nulls: int | None = None
    values: int | None = None
    nans: int | None = None
