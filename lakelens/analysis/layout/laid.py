"""What metadata would say of files that do not exist yet: of parts of known rows in their new order.

`LaidFiles` has the columns of files that exist, so a predicate is judged by `explain`'s own rules; row groups are such parts
as well. Where not every row is known, bounds are wider than those of the known rows. The first column of a sort is known
well: a file goes on until the next one begins. Of others the gap beyond the outermost row is taken to be as wide as the
mean gap between two rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.model.fileset import FileColumns
from lakelens.model.scan.placement import Placement
from lakelens.model.scan.plan import FileBatch, ScanRequest

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.analysis.layout.known import KnownRows
    from lakelens.analysis.layout.laying import Laying
    from lakelens.model.schema import DataType, PartitionField
    from lakelens.model.stats import Term

_SPEC = 0


class LaidPlacement(Placement):
    """What the partitions of a layout say, by the rules of the table's own format."""

    def __init__(self, placement: Placement, fields: Sequence[PartitionField]) -> None:
        super().__init__()
        self._own = placement
        self._fields = tuple(fields)

    def list_fields(self, spec_id: int | None, term: Term) -> Sequence[tuple[str, PartitionField, int]]:
        """See `Placement.list_fields`."""
        return [
            (field.name, field, place)
            for place, field in enumerate(self._fields)
            if field.source_name == term.column
        ]

    def find_sources(
        self, field: PartitionField, kind: DataType, values: pa.Array
    ) -> tuple[pa.Array, pa.Array] | None:
        """Say nothing of an order: the bounds of the rows in a file do."""
        return None

    def transform(self, field: PartitionField, kind: DataType, value: Any) -> Any:
        """See `Placement.transform`."""
        return value if field.transform == "identity" else self._own.transform(field, kind, value)


@dataclass(frozen=True)
class LaidFiles:
    """Files of a layout, by column: as much of a set of files as a predicate is judged by."""

    rows: NDArray[np.float64]
    sizes: NDArray[np.float64]
    lower: Mapping[str, pa.Array]
    upper: Mapping[str, pa.Array]
    nulls: Mapping[str, pa.Array]
    nans: Mapping[str, pa.Array]
    partitions: Mapping[str, pa.Array]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def columns(self) -> FileColumns:
        """See `FileSet.columns`."""
        partition = tuple((name, None) for name in self.partitions)
        return FileColumns(stats=(), partition=partition)  # type: ignore[arg-type]

    def read_with(self, request: ScanRequest) -> list[FileBatch]:
        """See `FileSet.read_with`."""
        import numpy as np
        import pyarrow as pa

        count = len(self)
        records = pa.array(np.maximum(np.round(self.rows), 1).astype(np.int64))
        plain = {
            "content": pa.array(["data"] * count, pa.string()),
            "record_count": records,
            "size_bytes": pa.array(np.round(self.sizes).astype(np.int64)),
        }
        if self.partitions:
            plain["spec_id"] = pa.array(np.full(count, _SPEC))
            plain["partition_values"] = pa.StructArray.from_arrays(
                [*self.partitions.values()], [*self.partitions]
            )
        stats = {
            "lower_bounds": dict(self.lower),
            "upper_bounds": dict(self.upper),
            "null_counts": dict(self.nulls),
            "nan_counts": dict(self.nans),
            "value_counts": dict.fromkeys(self.lower, records),
        }
        return [FileBatch(count, plain, stats)]


def describe_parts(
    laying: Laying,
    starts: NDArray[np.int64],
    wanted: Sequence[str],
    with_nans: Collection[str],
    margin: float = 1.0,
) -> LaidFiles:
    """Describe the parts of ordered rows that begin at some places, with bounds of some columns.

    `margin` is how many mean gaps wider than its known rows each part is, `with_nans` are the columns whose NaN are counted.
    """
    import numpy as np
    import pyarrow as pa

    known, order = laying.rows, laying.order
    count = np.diff(np.append(starts, len(order)))
    rows = np.add.reduceat(known.rows[order], starts)
    gaps = margin * (1 - np.minimum(count / np.maximum(rows, 1), 1)) / np.maximum(count - 1, 1)
    lower, upper, nulls, nans = {}, {}, {}, {}
    for name in wanted:
        if name in known.columns:
            lower[name], upper[name], is_empty = _bound_column(laying, name, starts, gaps)
            null, nan = _count_unordered(known, name, order, starts)
            nulls[name] = pa.array(
                np.where(is_empty & (nan == 0), np.maximum(np.round(rows), 1), null).astype(np.int64)
            )
            if name in with_nans:
                nans[name] = pa.array(nan)
    first = order[starts]
    partitions = {
        field.name: column.values.take(pa.array(column.codes[first], mask=column.codes[first] < 0))
        for field, column in zip(laying.partition_fields, laying.partitions, strict=True)
    }
    sizes = laying.weigh(np.add.reduceat(known.sizes[order], starts), rows)
    return LaidFiles(rows, sizes, lower, upper, nulls, nans, partitions)


def _bound_column(
    laying: Laying, name: str, starts: NDArray[np.int64], gaps: NDArray[np.float64]
) -> tuple[pa.Array, pa.Array, NDArray[np.bool_]]:
    """Bound a column in each part, and say where it holds nothing that has an order."""
    import numpy as np
    import pyarrow as pa

    known, order, column = laying.rows, laying.order, laying.rows.columns[name]
    codes = column.codes[order]
    low = np.minimum.reduceat(np.where(codes < 0, np.iinfo(np.int64).max, codes), starts)
    high = np.maximum.reduceat(codes, starts)
    # what is between wide bounds is not known: each row may be at either of its file's
    if name in known.wide:
        least, most = known.find_ends(name)
        low = np.minimum.reduceat(least[order], starts)
        high = np.maximum.reduceat(most[order], starts)
    is_empty = high < 0
    low, high = np.where(is_empty, 0, low), np.where(is_empty, 0, high)
    values = column.values if len(column.values) else pa.nulls(1, column.values.type)
    is_lead = name == laying.lead
    if not known.is_whole and pa.types.is_binary(values.type) | pa.types.is_string(values.type):
        reach = 0 if is_lead else np.round(gaps * (high - low)).astype(np.int64)
        low, high = np.maximum(low - reach, 0), np.minimum(high + reach, len(values) - 1)
    ends = values.take(pa.array(low, mask=is_empty)), values.take(pa.array(high, mask=is_empty))
    if not known.is_whole:
        ends = widen(*ends, gaps, is_lead, values)
    return *ends, is_empty


def _count_unordered(
    known: KnownRows, name: str, order: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the nulls and the NaN of a column in each part."""
    import numpy as np

    column, weight = known.columns[name], known.rows[order]
    nan = np.zeros(len(order), np.bool_) if column.is_nan is None else column.is_nan[order]
    null = (column.codes[order] < 0) & ~nan
    counted = (np.ceil(np.add.reduceat(weight * held, starts)).astype(np.int64) for held in (null, nan))
    return next(counted), next(counted)


def widen(
    lower: pa.Array, upper: pa.Array, gaps: NDArray[np.float64], is_lead: bool, values: pa.Array
) -> tuple[pa.Array, pa.Array]:
    """Widen bounds by gaps (shares of what they span) where their type has numbers; within the column's own."""
    import numpy as np
    import pyarrow as pa

    kind = lower.type
    if is_lead and len(lower) > 1:
        return lower, _reach(lower, upper)
    if pa.types.is_timestamp(kind) or pa.types.is_date32(kind):
        stored = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        width = (np.int32, np.int64)[stored.bit_width == 64]
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        stored, width = kind, kind.to_pandas_dtype()
    else:
        return lower, upper
    valid = lower.is_valid().to_numpy(zero_copy_only=False)
    low, high = (
        end.view(stored).fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
        for end in (lower, upper)
    )
    known = values.view(stored).drop_null().to_numpy(zero_copy_only=False).astype(np.float64)
    reach = (high - low) * gaps
    low, high = (
        np.maximum(low - reach, known.min(initial=np.inf)),
        np.minimum(high + reach, known.max(initial=-np.inf)),
    )
    low, high = (np.where(valid, end, 0) for end in (low, high))
    if pa.types.is_floating(kind):
        return pa.array(low.astype(width), kind, mask=~valid), pa.array(high.astype(width), kind, mask=~valid)
    return (
        pa.array(np.floor(low).astype(width), stored, mask=~valid).view(kind),
        pa.array(np.ceil(high).astype(width), stored, mask=~valid).view(kind),
    )


def _reach(lower: pa.Array, upper: pa.Array) -> pa.Array:
    """Let each file of a sort go on until just before the next one begins, where it begins above."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    following = pa.concat_arrays([lower.slice(1), upper.slice(len(upper) - 1)])
    goes_on = pc.fill_null(pc.greater(following, upper), False)
    kind = lower.type
    if pa.types.is_floating(kind):
        before = pa.array(np.nextafter(following.fill_null(0).to_numpy(zero_copy_only=False), -np.inf), kind)
    elif pa.types.is_integer(kind):
        before = pc.subtract(following, pa.scalar(1, kind))
    elif pa.types.is_timestamp(kind) or pa.types.is_date32(kind):
        stored = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        before = pc.subtract(following.view(stored), pa.scalar(1, stored)).view(kind)
    else:
        return upper
    return pc.if_else(goes_on, before, upper)
