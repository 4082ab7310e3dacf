"""Laying known rows out in files, as an engine would: their new order, and where in it each file and row group begins.

Rows are put into the order of the layout and divided as the engine divides them (`LayoutRules.divide`). What metadata would
say of each part is in `laid`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.analysis.layout.curves import order_hilbert, order_ranges, order_zorder
from lakelens.analysis.layout.transforms import apply_transform
from lakelens.analysis.layout.weights import measure_growth
from lakelens.caching import cached_property
from lakelens.model.measures.laying import LayoutRules, Pile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.analysis.layout.known import KnownRows, Ranks
    from lakelens.analysis.layout.wanted import Resolved
    from lakelens.analysis.layout.weights import Weights
    from lakelens.model.schema import Field, PartitionField


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
    def partitions(self) -> list[Ranks]:
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
        # the code of a null is -1: it takes the last, which is null's as well
        return type(made)(made.values, np.append(made.codes, -1)[column.codes])

    @cached_property
    def _groups(self) -> NDArray[np.int64]:
        """Which rows are ordered together: those of a partition that stays, as far as an engine takes them at once."""
        import numpy as np

        groups = np.zeros(len(self.rows), np.int64)
        if self._is_kept:
            for column in self.partitions:
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
        if self.rules.ranges is not None:
            columns = [self.rows.columns[key.column] for key in self.resolved.keys]
            return order_ranges(columns, self.rows.rows, self.rules.ranges)
        for key in self.resolved.keys:
            column = self.rows.columns[key.column]
            codes = -column.codes if key.is_descending else column.codes
            keys.append(np.where(column.codes < 0, np.iinfo(np.int64).max, codes))
        if strategy == "sort":
            return keys
        columns = [self.rows.columns[key.column] for key in self.resolved.keys]
        turn = order_zorder if strategy == "zorder" else order_hilbert
        return turn(columns, self.rules.tick)

    @property
    def lead(self) -> str | None:
        """The first column of a sort, by which rows follow one another; None on a curve."""
        keys = self.resolved.keys
        return keys[0].column if keys and self.resolved.layout.strategy == "sort" else None

    @property
    def order(self) -> NDArray[np.int64]:
        """The rows in their new order."""
        return self._placed[0]

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where in the order each file begins."""
        return self._placed[1]

    @cached_property
    def _placed(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows in their new order, and where in it each file begins."""
        import numpy as np

        parts = [column.codes for column in self.partitions] if not self._is_kept else []
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
        return measure_growth(self.rows, self.order, len(self.starts), self.weights)

    def weigh(self, sizes: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weigh new files, or row groups, of some rows that take some bytes today."""
        import numpy as np

        total, weights = float(self.rows.sizes.sum()), self.weights
        # what a row group has beside its columns it has again in each new one
        beside = weights.overhead * weights.groups * self._files / max(total, 1)
        groups = np.ceil(rows / weights.full_group - 1e-6) if weights.full_group else np.ones(len(rows))
        weighed: NDArray[np.float64] = sizes * max(self.growth - beside, 0.0) + weights.overhead * groups
        return weighed

    @cached_property
    def group_rows(self) -> float:
        """How many rows a row group of the new files has at most; 0 where that is not known."""
        rows = max(float(self.rows.rows.sum()), 1.0)
        stored = float(self.rows.sizes.sum()) * self.growth / rows
        most = self.weights.expect_group_rows(self.rules.row_group, stored)
        # of a row group two rows have to be known
        return most if len(self.order) >= 2 * rows / max(most, 1) else 0.0

    @cached_property
    def group_starts(self) -> NDArray[np.int64]:
        """Where in the order each row group begins; a file has one at least."""
        import numpy as np

        counted = np.cumsum(self.rows.rows[self.order]) - self.rows.rows[self.order]
        begun = np.zeros(len(self.order), np.bool_)
        begun[self.starts] = True
        within = counted - counted[self.starts][np.cumsum(begun) - 1]
        number = np.floor(within / self.group_rows + 1e-9)
        begun[1:] |= np.diff(number) != 0
        return np.flatnonzero(begun)
