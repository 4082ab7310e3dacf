"""Bounds, counts and keys of files from the columns of manifest entries; what `PaimonDataFile.bounds` says, by column.

Files are taken in groups that were written with one schema and have statistics of the same columns, so that the rows of
smallest and largest values of a group decode column by column. See "Manifest" of the Paimon table specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.formats.paimon.metadata.logical_types import Promotion
from lakelens.formats.paimon.scan.columns import fit
from lakelens.formats.paimon.scan.entries import EntryRows
from lakelens.formats.paimon.scan.groups import RowGroup, RowGroups
from lakelens.formats.paimon.scan.values import ValueColumns
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.files_to_arrow import BOUNDS, type_column

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.paimon.context import TableContext
    from lakelens.model.fileset import FileColumns

_NO_FIELDS = 12  # bytes of a serialized row of arity 0
_KEPT = (*BOUNDS, "null_counts", "value_counts")  # Paimon has no others
Leaves = dict[str, dict[str, Any]]


class StatsColumns:
    """Builds statistics and keys of grouped entries. Raises `NotColumnar` where only the record path can."""

    def __init__(
        self,
        context: TableContext,
        columns: FileColumns,
        groups: RowGroups,
        leaves: frozenset[str] | None = None,
    ) -> None:
        import pyarrow as pa

        self._context = context
        self._columns = columns
        self._groups = groups
        known = (*columns.dropped, *columns.stats)
        self._kinds = {name: arrow_type(kind) for name, kind in known if leaves is None or name in leaves}
        self._count = pa.int64()
        self._nulls: dict[tuple[pa.DataType, int], pa.Array] = {}

    def build(self, names: Sequence[str]) -> Leaves:
        """The wanted statistics, by leaf column; a leaf that no file has anything for is left out."""
        groups = self._groups.groups
        built = [self._build_group(group, names) for group in groups]
        leaves = list(dict.fromkeys(leaf for one in built for leaf in one["value_counts"]))
        return {name: {leaf: self._merge(built, name, leaf) for leaf in leaves} for name in names}

    def build_keys(self, name: str) -> pa.Array:
        """`min_key` or `max_key`, a struct of today's key columns."""
        kind = type_column(name, self._columns)
        return self._groups.merge([self._build_key(group, name, kind) for group in self._groups.groups])

    def _merge(self, built: Sequence[Leaves], name: str, leaf: str) -> pa.Array:
        """One leaf of all groups; null where a group does not have it."""
        kind = self._kinds[leaf] if name in BOUNDS else self._count
        pieces = [one.get(name, {}).get(leaf) for one in built]
        if all(piece is None for piece in pieces):
            return self._make_nulls(kind, self._groups.rows)
        pairs = zip(pieces, self._groups.groups, strict=True)
        return self._groups.merge(
            [self._make_nulls(kind, len(group.rows)) if one is None else one for one, group in pairs]
        )

    def _make_nulls(self, kind: pa.DataType, rows: int) -> pa.Array:
        """One array for all leaves that have nothing: the structs share its buffers."""
        import pyarrow as pa

        if (kind, rows) not in self._nulls:
            self._nulls[kind, rows] = pa.nulls(rows, kind)
        return self._nulls[kind, rows]

    def _build_group(self, group: RowGroup, names: Sequence[str]) -> Leaves:
        """What a group has: by statistic, by leaf column."""
        import pyarrow as pa

        built: Leaves = {name: {} for name in _KEPT}
        if group.schema is None:
            return built
        rows = fit(group.rows.find("_ROW_COUNT", "integer"), pa.int64())
        low, high = (
            group.rows.find(f"_VALUE_STATS.{name}", "bytes") for name in ("_MIN_VALUES", "_MAX_VALUES")
        )
        without = is_absent(low, _NO_FIELDS if group.stats_columns else -1) | high.is_null().to_numpy(False)
        counts, present = _NullCounts(group.rows), Presence(without)
        bounds = None
        if not present.none:
            bounds = [ValueColumns(present.choose(stored), group.stats_columns) for stored in (low, high)]
        for leaf in self._list_leaves(group) if bounds is not None else ():
            if leaf.name in self._kinds:
                assert bounds is not None
                known = _find_known(counts, present, bounds, leaf.position)
                if known is None:
                    continue
                nulls, mask = known
                built["null_counts"][leaf.name] = nulls
                built["value_counts"][leaf.name] = rows if mask is None else _where(mask, rows)
                for name, one in zip(BOUNDS, bounds, strict=True):
                    if name in names:
                        column = one.convert(leaf.position, leaf.today, leaf.promote, self._kinds[leaf.name])
                        built[name][leaf.name] = present.spread(column)
        written = {column.id for column in group.schema.columns}
        for column in self._context.schema.columns if not group.writes_some else ():
            # added after the files were written: null in every row
            if column.id not in written and column.name in self._kinds:
                built["null_counts"][column.name] = built["value_counts"][column.name] = rows
        return built

    def _list_leaves(self, group: RowGroup) -> Iterator[_Leaf]:
        """The leaf columns that the statistics of a group are over."""
        assert group.schema is not None
        positions = {column.id: position for position, column in enumerate(group.stats_columns)}
        today, promotions = self._context.schema, self._context.promotions(group.schema)
        for column in today.columns:
            if column.id in positions:
                yield _Leaf(column.name, positions[column.id], column.type, promotions.get(column.id))
        kept = {column.id for column in today.columns}
        for column in group.stats_columns:
            if column.id not in kept and not column.name.startswith("_"):
                yield _Leaf(f"{column.name}#{column.id}", positions[column.id], None, _stay)

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
                return present.spread(_build_keys_singly(values, columns, names, promotions, kind))
            column = columns[position]
            children.append(
                values.convert(position, today[column.id].type, promotions.get(column.id), child.type)
            )
        return present.spread(pa.StructArray.from_arrays(children, fields=list(kind)))


class _Leaf(NamedTuple):
    """A leaf column of a group: its place in the rows, today's type, what promotes a value to it."""

    name: str
    position: int
    today: PaimonType | None
    promote: Promotion | None


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
        self._matrix: Any = None
        if not self._values.null_count and len(self._values) == self._shortest * self._rows:
            self._matrix = self._values.to_numpy().reshape(self._rows, self._shortest)

    def find(self, position: int) -> pa.Array:
        """The counts of the column at a place: int64, null where none is known."""
        import pyarrow as pa

        if self._values is None:
            return pa.nulls(self._rows, pa.int64())
        if self._matrix is not None and position < self._shortest:
            return pa.array(self._matrix[:, position].copy())
        short = None if position < self._shortest else self._lengths <= position
        return self._values.take(pa.array(self._starts + position, mask=short))


def _find_known(
    counts: _NullCounts, present: Presence, bounds: Sequence[ValueColumns], position: int
) -> tuple[pa.Array, pa.Array | None] | None:
    """The null counts of a column, and which files have anything for it (None: all); None where no file has."""
    import pyarrow.compute as pc

    nulls = counts.find(position)
    if not present.all:
        nulls = _where(present.mask, nulls)
    if not nulls.null_count:
        return nulls, None
    known = pc.is_valid(nulls)
    for one in bounds:
        column = one.find(position)
        if column.null_count < len(column):
            known = pc.or_(known, pc.is_valid(present.spread(column)))
    if not pc.any(known).as_py():
        return None
    return nulls, None if pc.all(known).as_py() else known


def _where(mask: pa.Array, values: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(mask, values, pa.scalar(None, pa.int64()))


def _build_keys_singly(
    values: ValueColumns,
    columns: Sequence[PaimonField],
    names: Mapping[int, str],
    promotions: Mapping[int, Promotion | None],
    kind: pa.DataType,
) -> pa.Array:
    """Keys row by row, as `PaimonDataFile.further` has them."""
    keys = []
    for record in values.list_records():
        key = {}
        for position, name in names.items():
            promote, value = promotions.get(columns[position].id), record[position]
            key[name] = promote(value) if promote is not None and value is not None else None
        keys.append(key)
    return to_array(keys, kind)


def _stay(value: Any) -> Any:
    return value
