"""Bounds, counts and keys of files from the columns of manifest entries; what `PaimonDataFile.bounds` says, by column.

Files are taken in groups that were written with one schema and have statistics of the same columns, so that the rows of
smallest and largest values of a group decode column by column. See "Manifest" of the Paimon table specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.formats.paimon.metadata.type_promotion import Promotion
from lakelens.formats.paimon.scan.columns import fit
from lakelens.formats.paimon.scan.entries import EntryRows
from lakelens.formats.paimon.scan.groups import RowGroup, RowGroups
from lakelens.formats.paimon.scan.values import ValueColumns
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.files_to_arrow import type_column

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.paimon.context import TableContext
    from lakelens.model.fileset import FileColumns

_NO_FIELDS = 12  # bytes of a serialized row of arity 0
Leaves = dict[str, dict[str, Any]]


@dataclass(slots=True)
class _Built:
    """What a group has: by statistic, by leaf column."""

    lower_bounds: dict[str, Any] = field(default_factory=dict)
    upper_bounds: dict[str, Any] = field(default_factory=dict)
    null_counts: dict[str, Any] = field(default_factory=dict)
    value_counts: dict[str, Any] = field(default_factory=dict)


class StatsColumns:
    """Builds statistics and keys of grouped entries. Raises `LakeError` where only the record path can."""

    def __init__(self, context: TableContext, columns: FileColumns, groups: RowGroups) -> None:
        self._context = context
        self._columns = columns
        self._groups = groups
        self._kinds = {name: arrow_type(kind) for name, kind in (*columns.dropped, *columns.stats)}

    def build(self, names: Sequence[str]) -> Leaves:
        """The wanted statistics, by leaf column; a leaf that no file has anything of is left out."""
        import pyarrow as pa

        built = [self._build_group(group, names) for group in self._groups.groups]
        leaves = dict.fromkeys(leaf for one in built for leaf in one.value_counts)
        stats: Leaves = {name: {} for name in names}
        for name in names:
            if name in ("nan_counts", "column_sizes"):  # which Paimon does not keep
                rows = sum(len(group.rows) for group in self._groups.groups)
                stats[name] = dict.fromkeys(leaves, pa.nulls(rows, pa.int64()))
                continue
            for leaf in leaves:
                kind = self._kinds[leaf] if name.endswith("bounds") else pa.int64()
                pieces = [
                    getattr(one, name)[leaf]
                    if leaf in getattr(one, name)
                    else pa.nulls(len(group.rows), kind)
                    for one, group in zip(built, self._groups.groups, strict=True)
                ]
                stats[name][leaf] = self._groups.merge(pieces)
        return stats

    def build_keys(self, name: str) -> pa.Array:
        """`min_key` or `max_key`, a struct of today's key columns."""
        kind = type_column(name, self._columns)
        return self._groups.merge([self._build_key(group, name, kind) for group in self._groups.groups])

    def _build_group(self, group: RowGroup, names: Sequence[str]) -> _Built:
        import pyarrow as pa

        built = _Built()
        if group.schema is None:
            return built
        present, stats = self._decode(group)
        counts = _NullCounts(group.rows)
        rows = fit(group.rows.find("_ROW_COUNT", "integer"), pa.int64())
        positions = {column.id: position for position, column in enumerate(group.stats_columns)}
        for name, position, today, promote in self._list_leaves(group, positions):
            if stats is not None and name in self._kinds:
                self._add_leaf(built, names, name, position, today, promote, stats, counts, rows, present)
        written = {column.id for column in group.schema.columns}
        for column in self._context.schema.columns if not group.writes_some else ():
            if column.id not in written:
                _add_unwritten(built, column.name, rows)
        return built

    def _decode(self, group: RowGroup) -> tuple[Presence, tuple[ValueColumns, ValueColumns] | None]:
        """Which files have statistics, and the smallest and largest values of those that have."""
        low = group.rows.find("_VALUE_STATS._MIN_VALUES", "bytes")
        high = group.rows.find("_VALUE_STATS._MAX_VALUES", "bytes")
        absent = is_absent(low, _NO_FIELDS if group.stats_columns else -1) | high.is_null().to_numpy(False)
        present = Presence(absent)
        if present.none:
            return present, None
        chosen = [present.choose(column) for column in (low, high)]
        return present, (
            ValueColumns(chosen[0], group.stats_columns),
            ValueColumns(chosen[1], group.stats_columns),
        )

    def _list_leaves(
        self, group: RowGroup, positions: dict[int, int]
    ) -> Iterator[tuple[str, int, PaimonType | None, Promotion | None]]:
        """Leaf columns of the group: name, place in the rows, today's type, what promotes a value to it."""
        assert group.schema is not None
        today, promotions = self._context.schema, self._context.promotions(group.schema)
        for column in today.columns:
            if column.id in positions:
                yield column.name, positions[column.id], column.type, promotions.get(column.id)
        kept = {column.id for column in today.columns}
        for column in group.stats_columns:
            if column.id not in kept and not column.name.startswith("_"):
                yield f"{column.name}#{column.id}", positions[column.id], None, _stay

    def _add_leaf(
        self,
        built: _Built,
        names: Sequence[str],
        name: str,
        position: int,
        today: PaimonType | None,
        promote: Promotion | None,
        stats: tuple[ValueColumns, ValueColumns],
        counts: _NullCounts,
        rows: pa.Array,
        present: Presence,
    ) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        nulls = counts.find(position)
        if not present.all:
            nulls = pc.if_else(present.mask, nulls, pa.scalar(None, pa.int64()))
        told = pc.is_valid(nulls)
        low, high = (present.spread(one.find(position)) for one in stats)
        for bound in (low, high):
            if nulls.null_count and bound.null_count < len(bound):
                told = pc.or_(told, pc.is_valid(bound))
        if not pc.any(told).as_py():
            return
        built.null_counts[name] = nulls
        every = not nulls.null_count or pc.all(told).as_py()
        built.value_counts[name] = rows if every else pc.if_else(told, rows, pa.scalar(None, pa.int64()))
        for asked, target, one in zip(
            ("lower_bounds", "upper_bounds"), (built.lower_bounds, built.upper_bounds), stats, strict=True
        ):
            if asked in names:
                target[name] = present.spread(one.convert(position, today, promote, self._kinds[name]))

    def _build_key(self, group: RowGroup, name: str, kind: pa.StructType) -> pa.Array:
        import pyarrow as pa

        stored = group.rows.find(f"_{name.upper()}", "bytes")
        columns = group.schema.key_columns if group.schema is not None else ()
        if group.schema is None or not columns or stored.null_count == len(stored):
            return pa.nulls(len(group.rows), kind)
        present = Presence(is_absent(stored))
        values = ValueColumns(present.choose(stored), columns)
        today = {column.id: column for column in self._context.schema.columns}
        promotions = self._context.promotions(group.schema)
        places = {today[c.id].name: position for position, c in enumerate(columns) if c.id in today}
        children = []
        for child in kind:
            position = places.get(child.name)
            if position is None:
                children.append(pa.nulls(len(values.decoded), child.type))
                continue
            if not values.is_plain(position, child.type):
                names = {position: name for name, position in places.items()}
                return present.spread(_word_keys(values, columns, names, promotions, kind))
            column = columns[position]
            children.append(
                values.convert(position, today[column.id].type, promotions.get(column.id), child.type)
            )
        return present.spread(pa.StructArray.from_arrays(children, fields=list(kind)))


class Presence:
    """Which rows have something stored."""

    def __init__(self, absent: Any) -> None:
        import numpy as np
        import pyarrow as pa

        self.none, self.all = bool(absent.all()), not absent.any()
        self.mask = pa.array(~absent)
        self._numbers = None if self.all else pa.array(np.flatnonzero(~absent))
        self._places = None if self.all else pa.array(np.cumsum(~absent) - 1, mask=absent)

    def choose(self, column: pa.Array) -> pa.Array:
        """The rows that have something."""
        return column if self._numbers is None else column.take(self._numbers)

    def spread(self, column: pa.Array) -> pa.Array:
        """A column of the rows that have something as one of all rows."""
        return column if self._places is None else column.take(self._places)


def is_absent(stored: pa.Array, most: int | None = None) -> Any:
    """Whether a serialized row is null, empty or of no fields; longer than `most` bytes it never is. A numpy array.

    >>> import pyarrow as pa
    >>> is_absent(pa.array([None, b"", bytes(4), bytes(20), b"0000"]), 12).tolist()
    [True, True, True, False, False]
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if stored.null_count == len(stored):
        return np.ones(len(stored), np.bool_)
    lengths = pc.binary_length(stored)
    zero = pc.or_(pc.equal(lengths, 0), pc.equal(pc.binary_slice(stored, 0, 4), pa.scalar(bytes(4))))
    if most is not None:
        zero = pc.and_(zero, pc.less_equal(lengths, most))
    return pc.fill_null(zero, True).to_numpy(zero_copy_only=False)


class _NullCounts:
    """The null counts of all columns, as lists that may be shorter than there are columns."""

    def __init__(self, rows: EntryRows) -> None:
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        lists = rows.find("_VALUE_STATS._NULL_COUNTS", "list")
        self._rows = len(lists)
        self._values: Any = None
        if lists.null_count == len(lists):
            return
        self._values = fit(lists.flatten(), pa.int64())
        self._lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._shortest = int(self._lengths.min()) if len(lists) else 0

    def find(self, position: int) -> pa.Array:
        """The counts of the column at a place: int64, null where none is known."""
        import pyarrow as pa

        if self._values is None:
            return pa.nulls(self._rows, pa.int64())
        short = None if position < self._shortest else self._lengths <= position
        return self._values.take(pa.array(self._starts + position, mask=short))


def _add_unwritten(built: _Built, name: str, rows: pa.Array) -> None:
    """A column that was added after the files were written: null in every row."""
    built.null_counts[name] = built.value_counts[name] = rows


def _word_keys(
    values: ValueColumns,
    columns: Sequence[PaimonField],
    names: Mapping[int, str],
    promotions: Mapping[int, Promotion | None],
    kind: pa.StructType,
) -> pa.Array:
    """Keys row by row, as `PaimonDataFile.further` words them."""
    words = []
    for record in values.list_records():
        word = {}
        for position, name in names.items():
            promote, value = promotions.get(columns[position].id), record[position]
            word[name] = promote(value) if promote is not None and value is not None else None
        words.append(word)
    return to_array(words, kind)


def _stay(value: Any) -> Any:
    return value
