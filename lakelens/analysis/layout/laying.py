"""Laying known rows out in files, as an engine would, and what metadata would then say of each file.

Rows are put into the order of the layout, divided as the engine divides them (`LayoutRules.divide`), and each part gets the
bounds of its rows: `LaidFiles` has the columns of files that exist, so a predicate is judged by `explain`'s own rules.

Where not every row is known, a file's bounds are wider than those of its known rows. The first column of a sort is known
well: a file goes on until the next one begins. Of others the gap beyond the outermost row is taken to be as wide as the
mean gap between two rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.analysis.layout.curves import order_hilbert, order_zorder
from lakelens.analysis.layout.weights import measure_growth
from lakelens.caching import cached_property
from lakelens.model.fileset import FileColumns
from lakelens.model.measures.laying import LayoutRules, Pile
from lakelens.model.scan.placement import Placement
from lakelens.model.scan.plan import FileBatch, ScanRequest

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.analysis.layout.known import KnownRows, Ranks
    from lakelens.analysis.layout.wanted import Resolved
    from lakelens.analysis.layout.weights import Weights
    from lakelens.model.schema import DataType, Field, PartitionField
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


class Laying:
    """A layout of known rows: their order, where files begin, and these files."""

    def __init__(
        self,
        resolved: Resolved,
        rows: KnownRows,
        rules: LayoutRules,
        kept: Sequence[PartitionField],
        transform: Callable[[PartitionField, Field, Any], Any],
        fields: Mapping[str, Field],
        weights: Weights,
        files: int,
    ) -> None:
        self.weights, self._files = weights, files
        self.resolved, self.rows, self.rules, self.fields = resolved, rows, rules, fields
        #: the partition fields that the files will have
        self.partition_fields = tuple(kept if resolved.spec is None else resolved.spec.fields)
        self._is_kept = resolved.spec is None
        self._transform = transform
        size = resolved.layout.target_file_size
        self.target = size if isinstance(size, int) else rules.target

    @property
    def unknown(self) -> list[str]:
        """The columns that the layout needs, and of which nothing is known, or too little."""
        needed = [key.column for key in self.resolved.keys]
        needed += [field.source_name for field in self.partition_fields]
        return [name for name in dict.fromkeys(needed) if name not in self.rows.columns]

    @cached_property
    def _partitions(self) -> list[Ranks]:
        """The partition values of each row, by field."""
        return [self._transform_column(field) for field in self.partition_fields]

    def _transform_column(self, field: PartitionField) -> Ranks:
        import numpy as np

        from lakelens.analysis.layout.known import make_column

        column = self.rows.columns[field.source_name]
        values = apply_transform(
            field, column.values, lambda value: self._transform(field, self.fields[field.source_name], value)
        )
        made = make_column(values)
        codes = np.where(column.codes < 0, -1, made.codes[column.codes])
        return type(made)(made.values, codes)

    @cached_property
    def _groups(self) -> NDArray[np.int64]:
        """Which rows are ordered together: those of a partition that stays, as far as an engine takes them at once."""
        import numpy as np

        groups = np.zeros(len(self.rows), np.int64)
        if self._is_kept:
            for column in self._partitions:
                groups = groups * (len(column.values) + 1) + column.codes + 1
                _, groups = np.unique(groups, return_inverse=True)
        if float(self.rows.sizes.sum()) <= self.rules.group_bytes:
            return groups
        # an engine takes the files of a partition in their order, until it has enough
        order = np.argsort(groups, kind="stable")
        sizes, first = self.rows.sizes[order], np.flatnonzero(np.diff(groups[order], prepend=-1))
        before = np.cumsum(sizes) - sizes
        within = before - np.repeat(before[first], np.diff(np.append(first, len(order))))
        number = (within // self.rules.group_bytes).astype(np.int64)
        made = np.empty(len(groups), np.int64)
        made[order] = groups[order] * (int(number.max()) + 1) + number
        return made

    @cached_property
    def _keys(self) -> list[NDArray[Any]]:
        """What rows are ordered by, the first first."""
        import numpy as np

        strategy, keys = self.resolved.layout.strategy, []
        for key in self.resolved.keys:
            column = self.rows.columns[key.column]
            codes = -column.codes if key.is_descending else column.codes
            keys.append(np.where(column.codes < 0, np.iinfo(np.int64).max, codes))
        if strategy == "sort":
            return keys
        columns = [self.rows.columns[key.column] for key in self.resolved.keys]
        turn = order_zorder if strategy == "zorder" else order_hilbert
        return turn(columns, self.rules.tick)

    @cached_property
    def _placed(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows in their new order, and where in it each file begins."""
        import numpy as np

        parts = [column.codes for column in self._partitions] if not self._is_kept else []
        levels = [self._groups, *parts, *self._keys]
        order = np.lexsort(levels[::-1])
        new = np.zeros(len(order), np.bool_)
        new[:1] = True
        edge = new.copy()  # where a file ends in any case
        group = self._groups[order]
        edge[1:] |= group[1:] != group[:-1]
        for level in levels:
            sorted_level = level[order]
            new[1:] |= sorted_level[1:] != sorted_level[:-1]
        starts = np.flatnonzero(edge)
        rows, sizes = self.rows.rows[order], self.rows.sizes[order]
        begun = edge
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
            pile = Pile(rows[start:end], sizes[start:end], new[start:end])
            begun[start + self.rules.divide(pile, self.target)] = True
        for part in parts:
            codes = part[order]
            begun[1:] |= codes[1:] != codes[:-1]
        whole, starts = Pile(rows, sizes, new, self.weights.raw_row), np.flatnonzero(begun)
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
            begun[self.rules.roll(whole, start, end, self.target)] = True
        return order, np.flatnonzero(begun)

    @cached_property
    def growth(self) -> float:
        """How many bytes columns take in the new order, of what all take today."""
        order, starts = self._placed
        return measure_growth(self.rows, order, len(starts), self.weights)

    def arrange(self, wanted: Sequence[str], with_nans: Collection[str], margin: float = 1.0) -> LaidFiles:
        """Arrange the files, with bounds of some columns; `margin` is how many mean gaps wider than its known rows
        each is, `with_nans` are the columns whose NaN are counted."""
        import numpy as np
        import pyarrow as pa

        order, starts = self._placed
        count = np.add.reduceat(np.ones(len(order)), starts)
        keys, is_sort = self.resolved.keys, self.resolved.layout.strategy == "sort"
        lead = keys[0].column if is_sort and keys else None
        lower, upper, nulls, nans = {}, {}, {}, {}
        rows = np.add.reduceat(self.rows.rows[order], starts)
        for name in wanted:
            column = self.rows.columns.get(name)
            if column is None:
                continue
            codes = column.codes[order]
            missing = codes < 0
            low = np.minimum.reduceat(np.where(missing, np.iinfo(np.int64).max, codes), starts)
            high = np.maximum.reduceat(codes, starts)
            # what is between wide bounds is not known: each row may be at either of its file's
            if name in self.rows.wide:
                least, most = self.rows.find_ends(name)
                low = np.minimum.reduceat(least[order], starts)
                high = np.maximum.reduceat(most[order], starts)
            empty = high < 0
            low, high = np.where(empty, 0, low), np.where(empty, 0, high)
            values = column.values if len(column.values) else pa.nulls(1, column.values.type)
            gaps = margin * (1 - np.minimum(count / np.maximum(rows, 1), 1)) / np.maximum(count - 1, 1)
            if not self.rows.is_whole and pa.types.is_binary(values.type) | pa.types.is_string(values.type):
                reach = 0 if name == lead else np.round(gaps * (high - low)).astype(np.int64)
                low, high = np.maximum(low - reach, 0), np.minimum(high + reach, len(values) - 1)
            ends = values.take(pa.array(low, mask=empty)), values.take(pa.array(high, mask=empty))
            if not self.rows.is_whole:
                ends = widen(*ends, gaps, name == lead, values)
            lower[name], upper[name] = ends
            nan = np.zeros(len(codes), np.bool_) if column.is_nan is None else column.is_nan[order]
            weight = self.rows.rows[order]
            null, number = (
                np.ceil(np.add.reduceat(weight * held, starts)).astype(np.int64)
                for held in (missing & ~nan, nan)
            )
            nulls[name] = pa.array(
                np.where(empty & (number == 0), np.maximum(np.round(rows), 1), null).astype(np.int64)
            )
            if name in with_nans:
                nans[name] = pa.array(number)
        first = order[starts]
        partitions = {
            field.name: column.values.take(pa.array(column.codes[first], mask=column.codes[first] < 0))
            for field, column in zip(self.partition_fields, self._partitions, strict=True)
        }
        # what a file has beside its columns it has again in each new file
        sizes = np.add.reduceat(self.rows.sizes[order], starts)
        total, beside = float(sizes.sum()), self.weights.overhead
        sizes = sizes * max(self.growth - beside * self._files / max(total, 1), 0.0) + beside
        return LaidFiles(rows, sizes, lower, upper, nulls, nans, partitions)


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


def apply_transform(field: PartitionField, values: pa.Array, apply: Callable[[Any], Any]) -> pa.Array:
    """Apply a partition transform to different values; what it is not defined for is null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    name = field.transform.partition("[")[0]
    if name == "identity":
        return values
    if name in ("year", "month", "day", "hour"):
        if not (pa.types.is_timestamp(values.type) or pa.types.is_date(values.type)):
            return pa.nulls(len(values), pa.int64())
        at = values.cast(pa.timestamp("us"), safe=False) if not pa.types.is_timestamp(values.type) else values
        floor = pc.floor_temporal(at, unit=name)
        return (
            pc.cast(floor, pa.int64(), safe=False)
            if floor.type == pa.timestamp("us")
            else floor.view(pa.int64())
        )
    made = [apply(value) for value in values.to_pylist()]
    return pa.array(made)
