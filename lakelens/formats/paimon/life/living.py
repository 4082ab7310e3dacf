"""Who committed a snapshot, how a file was written, which deletion vectors reach it in each snapshot, and its rows.

Follows "Snapshot" and "Manifest" of the Paimon table specification.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Context, Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import Unsupported
from lakelens.model.life.living import FileDeletes, Living, Merge, Merged, NamedRows, Record, StoredRows

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
    from lakelens.formats.paimon.metadata.schemas import PaimonSchema
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.datafile import DataFile
    from lakelens.model.deletes import DeleteMatch
    from lakelens.model.schema import Field
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.storage import Storage

_MOST_COMMITS = 50  # that are looked at for the one that wrote a row


class PaimonDeletes(FileDeletes):
    """One index manifest holds all vectors of a snapshot: each is read once, and compared by the vectors of the files."""

    def __init__(self, files: Sequence[DataFile]) -> None:
        super().__init__(files)
        self._known: dict[str, dict[str, tuple[DeleteMatch, ...]]] = {}

    def mark(self, snapshot: Snapshot) -> Hashable:
        """See `FileDeletes.mark`."""
        found = self._read(snapshot)
        places = {
            (name, match.file.path, match.offset) for name, matches in found.items() for match in matches
        }
        return frozenset(places) if places else None

    def match(self, snapshot: Snapshot, file: DataFile) -> Sequence[DeleteMatch]:
        """See `FileDeletes.match`."""
        return self._read(snapshot).get(file.path.rpartition("/")[2], ())

    def _read(self, snapshot: Any) -> dict[str, tuple[DeleteMatch, ...]]:
        seen: PaimonSnapshot = snapshot
        name = seen.index_manifest
        if name is None:
            return {}
        if name not in self._known:
            files: Any = self._files
            found = ((file.file_name, seen.find_deletes(file)) for file in files)
            self._known[name] = {file: matches for file, matches in found if matches}
        return self._known[name]


def open_by_ids(storage: Storage, file: PaimonDataFile) -> NamedRows:
    """Open a data file by the ids that the schema that it was written with gives to the names of its columns.

    A column that was added later is null in older files. Raises `Unsupported` for files of some columns.
    """
    if file.write_cols is not None or file.file_name.endswith(".blob"):
        message = "rows that are put together from files of some of their columns are not followed"
        raise Unsupported(message, path=file.path)

    def name(way: Sequence[Field]) -> tuple[str, ...] | None:
        names: list[str] = []
        fields: Any = file.schema.fields
        for wanted in way:
            found = next((field for field in fields if field.id == wanted.id), None)
            if found is None:
                return None
            names.append(found.name)
            fields = found.type.children
        return tuple(names)

    return NamedRows(storage, file, name, stores_partition=True)


class PaimonLiving(Living):
    """What only a Paimon table knows of lives."""

    first_id = 1
    table: PaimonTable

    def open_rows(self, file: DataFile) -> StoredRows:
        """See `Living.open_rows`."""
        found: Any = file
        return open_by_ids(self.table.storage, found)

    def open_merge(self, snapshot: Snapshot, slots: Mapping[int, int]) -> Merge | None:
        """See `Living.open_merge`: by the options of the snapshot's schema, as a reader that travels there has them."""
        schema: Any = snapshot.schema
        if not schema.primary_keys:
            return None
        return PaimonMerge(schema, slots, skips_level_0=self.table.context.skips_level_0)

    def open_deletes(self, files: Sequence[DataFile]) -> FileDeletes:
        """See `Living.open_deletes`."""
        return PaimonDeletes(files)

    def find_row_writer(self, snapshot: Snapshot, file: DataFile, sequence: int) -> Snapshot | None:
        """See `Living.find_row_writer`: with deletion vectors readers see a row once it is compacted out of level 0.

        A bucket numbers its rows: the file of level 0 whose sequence numbers have the row's is the one it was written to.
        """
        if snapshot.operation != "COMPACT":
            return None
        for before in islice(snapshot.walk_ancestors(), _MOST_COMMITS):
            for written in getattr(before, "delta_files", ()):
                if (written.partition, written.bucket, written.level) == (
                    file.partition,
                    file.bucket,
                    0,
                ) and (written.min_sequence_number <= sequence <= written.max_sequence_number):
                    return before
        return None

    def describe_commit(self, snapshot: Snapshot) -> str:
        """See `Living.describe_commit`: the kind, and since 2.0 the statement."""
        statement = getattr(snapshot, "statement", None)
        kind = super().describe_commit(snapshot)
        return f"{kind} ({statement})" if statement and statement != kind else kind

    def describe_writer(self, snapshot: Snapshot) -> str:
        """See `Living.describe_writer`."""
        version = getattr(snapshot, "writer_version", None)
        return f"Paimon {version}" if version else ""

    def describe_origin(self, file: DataFile) -> tuple[str, ...]:
        """See `Living.describe_origin`: also its level, and the sequence numbers and deletes of its rows."""
        words = list(super().describe_origin(file))
        if file.level is not None and getattr(file, "min_key", None):
            words.append(f"level {file.level}")
        removes = getattr(file, "delete_row_count", None)
        if removes:
            words.append(f"{removes:,} of its rows remove others")
        return tuple(words)


# How Paimon merges the records of one key, engine by engine.
#
# Follows `DeduplicateMergeFunction`, `FirstRowMergeFunction`, `PartialUpdateMergeFunction` and `AggregateMergeFunction` with
# `FieldAggregator` of Paimon's sources, and "Merge Engine" of its documentation on primary-key tables. Records are merged in
# the order of `sequence.field`, then of `_SEQUENCE_NUMBER`. What is not known here (sketches, collections, what was
# retracted from a maximum) is said to be unknown, never guessed.

_IGNORES = (
    "ignore-delete",
    "first-row.ignore-delete",
    "deduplicate.ignore-delete",
    "partial-update.ignore-delete",
)
_UNKNOWN = object()
_EXACT = Context(
    prec=100
)  # a sum of decimals has up to 39 digits, and Python rounds to 28 of them by default


class PaimonMerge(Merge):
    """The merge of a schema; `slots` says at which place of a record's values each of its columns is."""

    def __init__(self, schema: PaimonSchema, slots: Mapping[int, int], *, skips_level_0: bool) -> None:
        self._schema = schema
        self._options = schema.options
        self.engine = schema.options.get("merge-engine", "deduplicate").strip().lower()
        self.keys = schema.primary_keys
        self.is_combining = self.engine in ("partial-update", "aggregation")
        self._skips_level_0 = skips_level_0
        self._places = {column.name: slots[column.id] for column in schema.columns if column.id in slots}
        if self.engine not in ("deduplicate", "first-row", "partial-update", "aggregation"):
            raise Unsupported(f"the merge engine {self.engine} is not known", path=schema.path)
        order = (
            "the first" if self.engine == "first-row" else "the newest" if not self.is_combining else "all"
        )
        by = f"{', '.join(self._sequence_names)}, then " if self._sequence_names else ""
        self.words = f"merge engine {self.engine}: {order} of a key by {by}sequence number"

    def sees(self, level: int | None, bucket: int | None) -> bool:
        """See `Merge.sees`: batch readers leave out rows whose bucket is postponed until a compaction gives them one."""
        return (bucket is None or bucket >= 0) and (bool(level) or not self._skips_level_0)

    @cached_property
    def _sequence_names(self) -> tuple[str, ...]:
        return _split(self._options.get("sequence.field", ""))

    @cached_property
    def _ignores_deletes(self) -> bool:
        return any(self._options.get(name, "false").lower() == "true" for name in _IGNORES)

    def _order(self, record: Record) -> tuple[Any, ...]:
        values = [record.values[self._places[name]] for name in self._sequence_names if name in self._places]
        return (*map(_rank, values), record.sequence)

    def merge(self, records: Sequence[Record]) -> Merged:
        """See `Merge.merge`."""
        is_down = self._options.get("sequence.field.sort-order", "ascending").lower() == "descending"
        ordered = sorted(records, key=self._order)
        if is_down and self._sequence_names:
            count = len(self._sequence_names)
            ordered.sort(key=lambda one: one.sequence)
            ordered.sort(key=lambda one: self._order(one)[:count], reverse=True)
        if self._ignores_deletes:
            kept = [one for one in ordered if not one.removes]
            if not kept:
                return Merged(None, ordered[-1])
            ordered = kept
        if self.engine == "deduplicate":
            last = ordered[-1]
            return Merged(None if last.removes else last.values, last)
        if self.engine == "first-row":
            first = ordered[0]
            return Merged(None if first.removes else first.values, first)
        return self._update(ordered) if self.engine == "partial-update" else self._aggregate(ordered)

    # --- partial update ------------------------------------------------------------------------------------------------

    @cached_property
    def _groups(self) -> dict[int, tuple[int, ...]]:
        """For each place of a column in a sequence group the places of the group's sequence columns."""
        found: dict[int, tuple[int, ...]] = {}
        for key, text in self._options.items():
            if key.startswith("fields.") and key.endswith(".sequence-group"):
                names = _split(key.removeprefix("fields.").removesuffix(".sequence-group"))
                by = tuple(self._places[name] for name in names if name in self._places)
                for name in (*_split(text), *names):
                    if name in self._places:
                        found[self._places[name]] = by
        return found

    def _update(self, records: Sequence[Record]) -> Merged:
        """Columns that are not null win, in their order, or in that of their sequence group."""
        row: list[Any] = [None] * len(records[0].values)
        unknown: set[int] = set()
        clears = self._options.get("partial-update.remove-record-on-delete", "false").lower() == "true"
        last, is_there = records[0], False
        for record in records:
            last = record
            if record.removes and clears:
                row, is_there = [None] * len(row), False
                unknown.clear()
                continue
            if record.removes and not self._groups:
                raise Unsupported(
                    "a partial update has deletes, and no option says what they do", path=self._schema.path
                )
            is_there = is_there or not record.removes
            for place in self._places.values():
                self._set(row, unknown, place, record)
        values = tuple(row)
        return Merged(values if is_there else None, last, tuple(sorted(unknown)))

    def _set(self, row: list[Any], unknown: set[int], place: int, record: Record) -> None:
        value, by = record.values[place], self._groups.get(place)
        function = self._functions.get(place)
        if by is None:
            if function is not None:
                self._combine(row, unknown, place, record)
            elif value is not None:
                row[place] = value
            return
        given = [record.values[one] for one in by]
        if all(one is None for one in given):
            return
        is_newer = [*map(_rank, given)] >= [_rank(row[one]) for one in by]
        if is_newer and place in by:
            for one in by:
                row[one] = record.values[one]
        elif is_newer:
            if function is not None:
                self._combine(row, unknown, place, record)
            else:
                row[place] = None if record.removes else value
        elif function is not None:
            unknown.add(place)  # some functions take older values in reversed order

    # --- aggregation ---------------------------------------------------------------------------------------------------

    @cached_property
    def _functions(self) -> dict[int, str]:
        """The aggregate function of each column that has one."""
        default = self._options.get("fields.default-aggregate-function")
        if self.engine == "aggregation":
            default = default or "last_non_null_value"
        found = {}
        for name, place in self._places.items():
            own = self._options.get(f"fields.{name}.aggregate-function", default)
            if own is not None and name not in (*self.keys, *self._sequence_names):
                found[place] = own.strip().lower()
        return found

    def _aggregate(self, records: Sequence[Record]) -> Merged:
        row: list[Any] = [None] * len(records[0].values)
        unknown: set[int] = set()
        clears = self._options.get("aggregation.remove-record-on-delete", "false").lower() == "true"
        is_there = True
        self._first: set[int] = set()
        for record in records:
            if record.kind == 3 and clears:
                row, is_there = [None] * len(row), False
                unknown.clear()
                self._first.clear()
                continue
            is_there = True
            for place in self._places.values():
                if place in self._functions:
                    self._combine(row, unknown, place, record)
                else:
                    row[place] = record.values[place]
        return Merged(tuple(row) if is_there else None, records[-1], tuple(sorted(unknown)))

    def _combine(self, row: list[Any], unknown: set[int], place: int, record: Record) -> None:
        """Take one value into an aggregate."""
        name, value, before = self._functions[place], record.values[place], row[place]
        if record.removes:
            column = next(key for key, at in self._places.items() if at == place)
            if self._options.get(f"fields.{column}.ignore-retract", "false").lower() == "true":
                return
            found = _retract(name, before, value)
        elif name == "first_value":
            seen = self.__dict__.setdefault("_first", set())
            found = before if place in seen else value
            seen.add(place)
        elif name == "listagg":
            column = next(key for key, at in self._places.items() if at == place)
            found = self._join(column, before, value)
        else:
            function = _FUNCTIONS.get(name)
            found = _UNKNOWN if function is None else function(before, value)
        if found is _UNKNOWN or (isinstance(found, Decimal) and not self._holds(place, found)):
            unknown.add(place)
        else:
            row[place] = found

    def _holds(self, place: int, value: Decimal) -> bool:
        """Whether a decimal column has room for a value: what Paimon makes of an overflow depends on how it is stored."""
        kind = next(column.type for column in self._schema.columns if self._places.get(column.name) == place)
        return len(value.as_tuple().digits) <= (kind.precision or 38)

    def _join(self, column: str, before: Any, value: Any) -> Any:
        if self._options.get(f"fields.{column}.distinct", "false").lower() == "true":
            return _UNKNOWN
        if before is None or value is None:
            return value if before is None else before
        return before + self._options.get(f"fields.{column}.list-agg-delimiter", ",") + value


def _rank(value: Any) -> tuple[bool, Any]:
    """Values in order, null before all."""
    return (value is not None, 0 if value is None else value)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _choose(one: Any, other: Any, pick: Callable[[Any, Any], Any]) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return pick(one, other)


def _add(one: Any, other: Any) -> Any:
    return _EXACT.add(one, other) if isinstance(one, Decimal) else one + other


def _take(one: Any, other: Any) -> Any:
    """Take a value less another one; None is nothing."""
    if isinstance(other, Decimal):
        return other.copy_negate() if one is None else _EXACT.subtract(one, other)
    return -other if one is None else one - other


def _multiply(one: Any, other: Any) -> Any:
    return _UNKNOWN if isinstance(one, Decimal) else one * other


_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda before, value: _choose(before, value, _add),
    "product": lambda before, value: _choose(before, value, _multiply),
    "max": lambda before, value: _choose(before, value, max),
    "min": lambda before, value: _choose(before, value, min),
    "last_value": lambda before, value: value,
    "last_non_null_value": lambda before, value: before if value is None else value,
    "first_non_null_value": lambda before, value: value if before is None else before,
    "first_not_null_value": lambda before, value: value if before is None else before,
    "bool_and": lambda before, value: _choose(before, value, lambda one, other: one and other),
    "bool_or": lambda before, value: _choose(before, value, lambda one, other: one or other),
}


def _retract(name: str, before: Any, value: Any) -> Any:
    """Say what an aggregate is without a value."""
    if name == "sum":
        return before if value is None else _take(before, value)
    if name == "last_value":
        return None
    if name == "last_non_null_value":
        return before if value is None else None
    return _UNKNOWN
