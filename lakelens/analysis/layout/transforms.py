"""Partition values of known rows: what a transform makes of the different values of a column, and the periods of a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.schema import PartitionField

PERIODS = ("hour", "day", "month", "year")


def floor_times(values: pa.Array, word: str) -> pa.Array | None:
    """Say when the period of each time begins: `hour`, `day`, `month` or `year`; None for what is no time.

    >>> import datetime, pyarrow as pa
    >>> floor_times(pa.array([datetime.date(2026, 3, 4)]), "month")[0].as_py()
    datetime.datetime(2026, 3, 1, 0, 0)
    >>> floor_times(pa.array([1]), "day") is floor_times(pa.array([datetime.date(2026, 3, 4)]), "hour") is None
    True
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_date(values.type) and word != "hour":
        values = values.cast(pa.timestamp("us"), safe=False)
    return pc.floor_temporal(values, unit=word) if pa.types.is_timestamp(values.type) else None


def apply_transform(field: PartitionField, values: pa.Array, apply: Callable[[Any], Any]) -> pa.Array:
    """Apply a partition transform to different values; what it is not defined for is null."""
    import pyarrow as pa

    name = field.transform.partition("[")[0]
    if name == "identity":
        return values
    if name in PERIODS:
        floor = floor_times(values, name)
        # when a period begins stands for it
        return pa.nulls(len(values), pa.int64()) if floor is None else floor.view(pa.int64())
    return pa.array([apply(value) for value in values.to_pylist()])
