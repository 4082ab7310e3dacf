"""Bounds, counts and keys of files from the columns of manifest entries; what `PaimonDataFile.bounds` says, by column.

Files are taken in groups that were written with one schema and have statistics of the same columns, so that the rows of
smallest and largest values of a group decode column by column. See "Manifest" of the Paimon table specification.

Columns of old types become columns of today's: what `promotion` does to one value is done to all of them. Where a cast is
simple it is Arrow's; elsewhere each different value goes through the record path's own function; where even a value may
differ from what the record path decodes (moments beyond a unit, nested values) each row does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.codecs.paimon.binary_row import decode_binary_row
from lakelens.codecs.paimon.types import PaimonField, PaimonType, make_nullable
from lakelens.errors import LakeError
from lakelens.formats.paimon.metadata.logical_types import Promotion
from lakelens.formats.paimon.scan.columns import fit, to_unit
from lakelens.formats.paimon.scan.entries import EntryRows
from lakelens.formats.paimon.scan.identity import encode_lists
from lakelens.lazy import dataclass
from lakelens.model.arrow import arrow_type, map_distinct, to_array
from lakelens.model.scan.columnar import NotColumnar
from lakelens.model.scan.files_to_arrow import BOUNDS, type_column

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.paimon.context import TableContext
    from lakelens.formats.paimon.metadata.schemas import PaimonSchema
    from lakelens.model.fileset import FileColumns

_NO_FIELDS = 12  # bytes of a serialized row of arity 0
_INTEGERS = {"TINYINT", "SMALLINT", "INT", "BIGINT"}
_TEXTS = {"CHAR", "VARCHAR", "BINARY", "VARBINARY"}
# types whose values Arrow gives back as the record path decodes them
_EQUAL = _INTEGERS | _TEXTS | {"BOOLEAN", "DECIMAL", "FLOAT", "DOUBLE", "DATE"}
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_FIRST_DAY, _PAST_DAY = -719_162, 2_932_897  # the years 1 to 9999
_KEPT = (*BOUNDS, "null_counts", "value_counts")  # Paimon has no others
Leaves = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows of one layout; `schema` is None where it cannot be read.

    `stats_columns` are those that statistics are over, `writes_some` says whether the files hold some columns alone.
    """

    rows: EntryRows
    schema: PaimonSchema | None
    stats_columns: tuple[PaimonField, ...]
    writes_some: bool


@dataclass(frozen=True, slots=True)
class RowGroups:
    """All rows in groups; `places` has the place of each row of the whole (None: the only group has them in order)."""

    groups: tuple[RowGroup, ...]
    places: Any

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(len(group.rows) for group in self.groups)

    def merge(self, pieces: Sequence[pa.Array]) -> pa.Array:
        """Columns of the groups as one column of all rows, in their order."""
        import pyarrow as pa

        if self.places is None:
            return pieces[0]
        return pa.concat_arrays(pieces).take(self.places)


def group_rows(context: TableContext, rows: EntryRows) -> RowGroups:
    """Group the rows by the id of their schema, `_VALUE_STATS_COLS` and `_WRITE_COLS`.

    Raises `NotColumnar` where statistics name a column that the schema does not have.
    """
    import numpy as np
    import pyarrow as pa

    codes = _code_rows(rows)
    if len(codes) and (codes == codes[0]).all():
        return RowGroups((_make_group(context, rows),), None)
    order = np.argsort(codes, kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    groups = (_make_group(context, rows.choose(part)) for part in np.split(order, cuts) if len(part))
    return RowGroups(tuple(groups), pa.array(places))


def _code_rows(rows: EntryRows) -> Any:
    import numpy as np

    codes = np.zeros(len(rows), np.int64)
    for column in _list_keys(rows):
        coded = column.dictionary_encode("encode")
        _, codes = np.unique(
            codes * (len(coded.dictionary) + 1) + coded.indices.to_numpy(zero_copy_only=False),
            return_inverse=True,
        )
    return codes


def _list_keys(rows: EntryRows) -> Iterator[pa.Array]:
    schemas = rows.find("_SCHEMA_ID", "integer")
    if schemas.null_count < len(schemas):
        yield schemas
    for name in ("_VALUE_STATS_COLS", "_WRITE_COLS"):
        lists = rows.find(name, "list")
        if lists.null_count < len(lists):
            yield encode_lists(lists)


def _make_group(context: TableContext, rows: EntryRows) -> RowGroup:
    number = rows.find("_SCHEMA_ID", "integer")[0].as_py() or 0
    schema = context.schemas.find(number)
    lists = {name: rows.find(name, "list")[0].as_py() for name in ("_VALUE_STATS_COLS", "_WRITE_COLS")}
    try:
        columns = () if schema is None else schema.find_stats_columns(lists)
    except LakeError as error:
        raise NotColumnar(error.message) from error
    return RowGroup(rows, schema, columns, lists["_WRITE_COLS"] is not None)


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
        """Build the wanted statistics, by leaf column; a leaf that no file has anything for is left out."""
        groups = self._groups.groups
        built = [self._build_group(group, names) for group in groups]
        leaves = list(dict.fromkeys(leaf for one in built for leaf in one["value_counts"]))
        return {name: {leaf: self._merge(built, name, leaf) for leaf in leaves} for name in names}

    def build_keys(self, name: str) -> pa.Array:
        """`min_key` or `max_key`, a struct of today's key columns."""
        kind = type_column(name, self._columns)
        return self._groups.merge([self._build_key(group, name, kind) for group in self._groups.groups])

    def _merge(self, built: Sequence[Leaves], name: str, leaf: str) -> pa.Array:
        """Merge one leaf of all groups; null where a group does not have it."""
        kind = self._kinds[leaf] if name in BOUNDS else self._count
        pieces = [one.get(name, {}).get(leaf) for one in built]
        if all(piece is None for piece in pieces):
            return self._make_nulls(kind, self._groups.rows)
        pairs = zip(pieces, self._groups.groups, strict=True)
        return self._groups.merge(
            [self._make_nulls(kind, len(group.rows)) if one is None else one for one, group in pairs]
        )

    def _make_nulls(self, kind: pa.DataType, rows: int) -> pa.Array:
        """Make one array for all leaves that have nothing: the structs share its buffers."""
        import pyarrow as pa

        if (kind, rows) not in self._nulls:
            self._nulls[kind, rows] = pa.nulls(rows, kind)
        return self._nulls[kind, rows]

    def _build_group(self, group: RowGroup, names: Sequence[str]) -> Leaves:
        """Build what a group has: by statistic, by leaf column."""
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
        """List the leaf columns that the statistics of a group are over."""
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
        """Choose the rows that have something."""
        return column if self._numbers is None else column.take(self._numbers)

    def spread(self, column: pa.Array) -> pa.Array:
        """A column of the rows that have something as one of all rows."""
        return column if self._places is None else column.take(self._places)


def is_absent(stored: pa.Array, most: int | None = None) -> Any:
    """Check whether a serialized row is null, empty or of no fields; longer than `most` bytes it never is. A numpy array.

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
        """Find the counts of the column at a place: int64, null where none is known."""
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
    """Find the null counts of a column, and which files have anything for it (None: all); None where no file has."""
    import pyarrow.compute as pc

    nulls = counts.find(position)
    if not present.all:
        nulls = _where(present.mask, nulls)
    if not nulls.null_count:
        return nulls, None
    known = pc.is_valid(nulls)
    for bound in bounds:
        column = bound.find(position)
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


class ValueColumns:
    """The fields of serialized rows by column, as columns of today's types. Raises `NotColumnar` on damage."""

    def __init__(self, stored: pa.Array, columns: Sequence[PaimonField]) -> None:
        from lakelens.codecs.paimon.row_columns import decode_binary_rows

        self._stored = stored
        self._columns = columns
        try:
            self.decoded = decode_binary_rows(stored, columns)
        except LakeError as error:
            raise NotColumnar(str(error)) from error
        self._records: list[Any] | None = None

    def find(self, position: int) -> pa.Array:
        """Find a field as it is stored."""
        return self.decoded.field(position)

    def convert(
        self, position: int, today: PaimonType | None, promote: Promotion | None, kind: pa.DataType
    ) -> pa.Array:
        """A field as a column of an Arrow type; `today` is the type it has now, None where the value stays as it is."""
        import pyarrow as pa

        column, old = self.find(position), self._columns[position].type
        if promote is None or column.null_count == len(column):
            return pa.nulls(len(column), kind)
        try:
            found = _convert(column, old, today or old, kind)
            if found is not None:
                return found
            if old.name in _EQUAL and (old.name != "DATE" or _is_in_years(column)):
                return map_distinct(column, promote, kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, NotColumnar):
            pass  # a value that a column of this type cannot hold: each value by itself
        values = (None if record is None else record[position] for record in self.list_records())
        return to_array([None if value is None else promote(value) for value in values], kind)

    def is_plain(self, position: int, kind: pa.DataType) -> bool:
        """Check whether a struct of Python values would hold a field just as its column does."""
        import pyarrow as pa

        column = self.find(position)
        if self._columns[position].type.name in _EQUAL - {"DATE"} or column.null_count == len(column):
            return True
        return column.type == kind and (pa.types.is_time(kind) or _is_in_years(column))

    def list_records(self) -> list[Any]:
        """List the rows one by one, as the record path decodes them."""
        if self._records is None:
            decode: Callable[[bytes], Any] = lambda data: decode_binary_row(data, self._columns)  # noqa: E731
            self._records = [None if data is None else decode(data) for data in self._stored.to_pylist()]
        return self._records


def _convert(column: pa.Array, old: PaimonType, new: PaimonType, kind: pa.DataType) -> pa.Array | None:
    """By Arrow's own casts; None where there is none that says the same."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if make_nullable(old, True) == make_nullable(new, True) or (old.name, new.name) == ("FLOAT", "DOUBLE"):
        return _keep(column, kind)
    if old.name in _INTEGERS and new.name in _INTEGERS and pa.types.is_integer(kind):
        bits = kind.bit_width - 1
        if bits < column.type.bit_width - 1:
            inside = pc.and_(pc.greater_equal(column, -(2**bits)), pc.less(column, 2**bits))
            column = pc.if_else(inside, column, pa.scalar(None, column.type))
        return column.cast(kind)
    if old.name in _TEXTS and new.name in _TEXTS and column.type == kind:
        length = pc.utf8_length(column) if pa.types.is_string(kind) else pc.binary_length(column)
        return pc.if_else(pc.less_equal(length, new.length or 0), column, pa.scalar(None, kind))
    if old.name == new.name and old.name in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return _keep(column, kind)
    return None


def _keep(column: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Keep the same values in the type of the contract."""
    import pyarrow as pa

    if column.type == kind:
        return column
    if pa.types.is_timestamp(column.type) and pa.types.is_timestamp(kind):
        return to_unit(column, kind)
    same = (
        (pa.types.is_time(column.type) and pa.types.is_time(kind))
        or (pa.types.is_float32(column.type) and pa.types.is_float64(kind))
        or (pa.types.is_large_string(column.type) and pa.types.is_string(kind))
        or (pa.types.is_large_binary(column.type) and pa.types.is_binary(kind))
    )
    return column.cast(kind) if same else None


def _is_in_years(column: pa.Array) -> bool:
    """Check whether all dates or timestamps are in the years 1 to 9999."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_date32(column.type) or pa.types.is_timestamp(column.type)):
        return False
    per_day = 1 if pa.types.is_date32(column.type) else _PER_DAY[column.type.unit]
    ends = pc.min_max(column.view(pa.int32() if per_day == 1 else pa.int64())).as_py()
    return bool(_FIRST_DAY * per_day <= ends["min"] and ends["max"] < _PAST_DAY * per_day)
