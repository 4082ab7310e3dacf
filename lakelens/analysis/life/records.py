"""The stored rows that a predicate is about, as today's types have them: each file is opened once, its columns first.

A predicate holds for a row where it is true of it: a comparison with null is not, NaN equals NaN and is above every number.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any
from uuid import UUID

from lakelens.analysis.explain.conditions import list_columns
from lakelens.caching import cached_property
from lakelens.codecs.numbers import parse_whole
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.model.arrow import arrow_type, read_cell, to_array
from lakelens.model.check.ledger import MOST_FINDINGS
from lakelens.model.life.living import Living, Record
from lakelens.model.stats import Condition, Constant, Group, Term, list_terms
from lakelens.progress import track

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.datafile import DataFile
    from lakelens.model.life.living import StoredRows
    from lakelens.model.schema import DataType, Field, Schema
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table


_IDS = (b"PARQUET:field_id", b"iceberg.id", b"paimon.id")


def cast_stored(array: pa.Array, kind: DataType, path: str) -> pa.Array:
    """Stored values in the type that the column has today; nested ones as they are. Raises `Unsupported`."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if kind.is_nested or kind.logical in (
        "variant",
        "blob",
        "unknown",
        "geometry",
        "geography",
        "list",
        "map",
        "struct",
    ):
        return array
    wanted: Any = arrow_type(kind)
    plain = getattr(wanted, "storage_type", wanted)
    array = getattr(array, "storage", array)
    if array.type == plain:
        return array
    try:
        if pa.types.is_integer(array.type) and pa.types.is_date32(plain):
            return array.cast(pa.int32()).view(plain)
        if pa.types.is_integer(array.type) and pa.types.is_temporal(plain):
            return array.cast(pa.int64() if plain.bit_width == 64 else pa.int32()).view(plain)
        if pa.types.is_binary(array.type) and pa.types.is_decimal(plain):
            return _read_decimals(array, plain)
        return array.cast(plain, safe=not pa.types.is_temporal(plain))
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise Unsupported(f"values of {array.type} cannot be read as {kind}: {error}", path=path) from error


def _read_decimals(array: pa.Array, kind: Any) -> pa.Array:
    from decimal import Context, Decimal

    import pyarrow as pa

    whole = (None if one is None else int.from_bytes(one, "big", signed=True) for one in array.to_pylist())
    exact = Context(prec=76)
    return pa.array([None if one is None else Decimal(one).scaleb(-kind.scale, exact) for one in whole], kind)


def list_values(array: pa.Array, field: Field) -> list[Any]:
    """Values as Python has them; structs under the names that their fields have today."""
    values = [read_cell(cell) for cell in array]
    if field.type.logical == "uuid":
        return [
            UUID(bytes=value) if isinstance(value, bytes) and len(value) == 16 else value for value in values
        ]
    if field.type.children:
        return [rename(value, array.type, field.type) for value in values]
    return values


def rename(value: Any, stored: pa.DataType, kind: DataType) -> Any:
    """Rename a nested value under today's names: fields are matched by id where the file keeps ids, else by name."""
    import pyarrow as pa

    if value is None or not kind.children:
        return value
    if pa.types.is_struct(stored) and isinstance(value, dict) and kind.logical == "struct":
        found = {}
        for child in kind.children:
            place = _find_child(stored, child)
            held = None if place is None else stored.field(place)
            inner = value.get(held.name) if held is not None else child.initial_default
            found[child.name] = inner if held is None else rename(inner, held.type, child.type)
        return found
    if isinstance(value, list) and (pa.types.is_list(stored) or pa.types.is_large_list(stored)):
        return [rename(one, stored.value_type, kind.children[0].type) for one in value]
    if isinstance(value, dict) and pa.types.is_map(stored) and len(kind.children) == 2:
        key, item = (child.type for child in kind.children)
        entries = {}
        for old, inner in value.items():
            name = rename(old, stored.key_type, key)
            if isinstance(name, dict):
                name = tuple(name.items())
            elif isinstance(name, list):
                name = tuple(name)
            entries[name] = rename(inner, stored.item_type, item)
        return entries
    return value


def _find_child(stored: Any, child: Field) -> int | None:
    """Find the place of a field in a stored struct."""
    by_name = None
    for place in range(stored.num_fields):
        field = stored.field(place)
        text = next((field.metadata[key] for key in _IDS if field.metadata and key in field.metadata), None)
        if text is not None and parse_whole(text) == child.id:
            return place
        if text is None and field.name in (child.name, make_avro_name(child.name)):
            by_name = place
    return by_name


def make_avro_name(name: str) -> str:
    """Say what Iceberg's writers call a field in Avro, whose names have letters, digits and underscores alone.

    >>> make_avro_name("a.b"), make_avro_name("1st")
    ('a_x2Eb', '_1st')
    """
    safe = "".join(one if one.isalnum() or one == "_" else f"_x{ord(one):X}" for one in name)
    return f"_{safe}" if safe[:1].isdigit() else safe


# --- predicates --------------------------------------------------------------------------------------------------------


def refuse_inexact(condition: Condition) -> None:
    """Raise `Unsupported` for a part of which only something weaker is known: rows cannot be chosen by that."""
    for term in list_terms(condition):
        if not term.is_exact:
            hint = "a pattern that begins with its text and ends with %"
            raise Unsupported(f"rows cannot be chosen by {term.text!r}", hint=hint)


def find_rows(condition: Condition, columns: Mapping[str, pa.Array], count: int) -> Any:
    """For each row whether the predicate holds: a numpy array. `columns` are by name, as `cast_stored` makes them."""
    import numpy as np

    if isinstance(condition, Constant):
        return np.full(count, condition.value)
    if isinstance(condition, Group):
        parts = [find_rows(part, columns, count) for part in condition.parts]
        return reduce(np.logical_and if condition.kind == "and" else np.logical_or, parts)
    return _compare(condition, columns[condition.column])


def _compare(term: Term, array: pa.Array) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if term.test in ("is null", "is not null"):
        found = array.is_null() if term.test == "is null" else array.is_valid()
    elif "starts" in term.test:
        found = pc.starts_with(array, term.values[0])
        found = pc.invert(found) if term.test.startswith("not") else found
    elif "nan" in term.test:
        found = pc.is_nan(array) if term.test == "is nan" else pc.invert(pc.is_nan(array))
    else:
        kind: Any = arrow_type(term.type)
        literals = to_array(list(term.values), kind)
        literals = getattr(literals, "storage", literals)
        if pa.types.is_boolean(literals.type):
            array, literals = array.cast(pa.int8()), literals.cast(pa.int8())
        if pa.types.is_floating(literals.type):
            return _compare_floats(term.test, array, literals)
        found = _compare_plain(term.test, array, literals)
    return pc.fill_null(found, False).to_numpy(zero_copy_only=False)


def _compare_plain(test: str, array: pa.Array, literals: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    if test in ("in", "not in"):
        found = pc.is_in(array, value_set=literals)
        return pc.and_(array.is_valid(), found if test == "in" else pc.invert(found))
    tests: dict[str, Callable[..., pa.Array]] = {
        "=": pc.equal,
        "!=": pc.not_equal,
        "<": pc.less,
        "<=": pc.less_equal,
        ">": pc.greater,
        ">=": pc.greater_equal,
    }
    return tests[test](array, literals[0])


def _compare_floats(test: str, array: pa.Array, literals: pa.Array) -> Any:
    """NaN equals NaN and is above every number."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    valid = array.is_valid().to_numpy(zero_copy_only=False)
    values = pc.fill_null(array, 0.0).cast(pa.float64()).to_numpy(zero_copy_only=False)
    wanted = literals.cast(pa.float64()).to_numpy(zero_copy_only=False)
    is_nan = np.isnan(values)
    if test in ("in", "not in"):
        found = np.isin(values, wanted) | (is_nan & bool(np.isnan(wanted).any()))
        return valid & (found if test == "in" else ~found)
    one = wanted[0]
    if np.isnan(one):
        equal, less = is_nan, ~is_nan
    else:
        equal, less = values == one, values < one
    tests = {"=": equal, "!=": ~equal, "<": less, "<=": less | equal, ">": ~(less | equal), ">=": ~less}
    return valid & tests[test]


def pick_terms(condition: Condition, names: Sequence[str]) -> Condition | None:
    """Pick the parts of a conjunction that speak of some columns alone; None where none does."""
    parts = condition.parts if isinstance(condition, Group) and condition.kind == "and" else (condition,)
    kept = tuple(
        part
        for part in parts
        if all(term.column in names for term in list_terms(part)) and any(list_terms(part))
    )
    if not kept:
        return None
    return kept[0] if len(kept) == 1 else Group(condition.text, "and", kept)


# The columns that a table has or had: a place for each in the values of a row, whatever it was called at the time.


@dataclass(frozen=True, slots=True)
class Slot:
    """One column: its newest field, and the name under which it is shown (`name#id` where it was dropped)."""

    field: Field
    name: str


class Slots:
    """The top-level columns of all schemas; by field id, or by name where a format has no ids."""

    def __init__(self, table: Table) -> None:
        self._is_by_id = table.format_version is not None
        today = {self._key(field): field for field in table.schema.fields}
        known: dict[Any, Field] = {}
        for schema in (*table.schemas, table.schema):
            known |= {self._key(field): field for field in schema.fields}
        ordered = [*today, *(key for key in known if key not in today)]
        self.slots = tuple(
            Slot(known[key], known[key].name if key in today else f"{known[key].name}#{key}")
            for key in ordered
        )
        self._places = {key: place for place, key in enumerate(ordered)}
        self.today = len(today)
        self._schema = table.schema

    def _key(self, field: Field) -> Any:
        return field.id if self._is_by_id else field.name

    @cached_property
    def by_id(self) -> Mapping[int, int]:
        """The place of each column by field id."""
        return {slot.field.id: place for place, slot in enumerate(self.slots)}

    @cached_property
    def by_name(self) -> Mapping[str, int]:
        """The place of each of today's columns by name."""
        return {slot.name: place for place, slot in enumerate(self.slots)}

    def list_names(self, snapshot: Snapshot | None) -> list[tuple[str, int]]:
        """List the columns that a reader of a snapshot sees, each under its name then, with its place."""
        schema: Schema = self._schema
        if snapshot is not None:
            try:
                schema = snapshot.schema
            except LakeError:
                schema = self._schema
        keys = ((field.name, self._places.get(self._key(field))) for field in schema.fields)
        return [(name, place) for name, place in keys if place is not None]

    def show(self, values: Sequence[Any], snapshot: Snapshot | None) -> dict[str, Any]:
        """Show the values of a row under the names of a snapshot's schema."""
        return {name: values[place] for name, place in self.list_names(snapshot)}


#: Rows that are kept at most: each is a tuple of Python values.
MOST_RECORDS = 100_000


@dataclass
class OpenedFile:
    """One data file that was opened: its number, itself, and the rows of it that fit."""

    number: int
    file: DataFile
    records: list[Record] = field(default_factory=list)


class Reader:
    """Reads rows of data files by a predicate over today's columns, as values of all columns that there were."""

    def __init__(self, table: Table, slots: Slots) -> None:
        self._table = table
        self._slots = slots
        self._ways = dict(_list_ways(table.schema.fields))
        self.unread: dict[str, LakeError] = {}  # files by path, with what keeps them from being read
        self.count = 0

    def read(
        self, files: Sequence[DataFile], condition: Condition, ids: Collection[int | None] | None = None
    ) -> list[OpenedFile]:
        """The rows that fit, file by file; those of files that cannot be read are `unread`. Raises `LakeError` for too many.

        With `ids` only rows of these row ids are kept.
        """
        import pyarrow as pa

        opened, storage = [], self._table.storage
        ahead = iter(files)
        if storage is not None:
            ahead = storage.follow(files, lambda file: (file.path, file.size_bytes), whole=True)
        for number, file in enumerate(track(ahead, "data files", len(files))):
            one = OpenedFile(number, file)
            try:
                one.records = list(self._read_file(number, file, condition, ids))
            except _TooMany:
                message = f"more than {MOST_RECORDS:,} stored rows fit"
                raise LakeError(message, path=file.path, hint="a narrower predicate") from None
            except LakeError as error:
                self._leave(file, error)
                continue
            except (pa.ArrowException, OverflowError) as error:  # values that pyarrow cannot compare, or hold
                self._leave(file, Corrupt(f"its rows cannot be compared: {error}", path=file.path))
                continue
            if one.records:
                opened.append(one)
        return opened

    def _leave(self, file: DataFile, error: LakeError) -> None:
        """Keep why a file is not read, here and among the findings of the table: rows of it may be what is asked for."""
        self.unread[file.path] = error
        if isinstance(error, Unsupported):  # no damage
            self._table.findings.add("warning", "unsupported", file.path, error.reason)
        elif len(self.unread) <= MOST_FINDINGS:
            self._table.findings.add_error(error, file.path)
        else:
            more = f"{len(self.unread) - MOST_FINDINGS:,} more data files cannot be read"
            self._table.findings.add("error", "unread", self._table.location, more, counts_on=True)

    def _read_file(
        self, number: int, file: DataFile, condition: Condition, ids: Collection[int | None] | None
    ) -> Iterator[Record]:
        stored = Living.of(self._table).open_rows(file)
        positions = (
            self._find_positions(file, stored, condition) if ids is None else _find_ids(file, stored, ids)
        )
        if not len(positions):
            return
        self.count += len(positions)
        if self.count > MOST_RECORDS:
            raise _TooMany
        columns = []
        for slot in self._slots.slots:
            place = stored.find((slot.field,))
            columns.append((place, stored.get_constant(slot.field) if place is None else None))
        system = {name: place for name in _SYSTEM if (place := stored.find_system(name)) is not None}
        places = [place for place, _ in columns if place is not None]
        taken = _take(file, stored, [*places, *system.values()], positions)
        values: list[list[Any]] = []
        rest = iter(taken)
        for (place, constant), slot in zip(columns, self._slots.slots, strict=True):
            if place is None:
                values.append([constant] * len(positions))
                continue
            kind = slot.field.type
            arrays = (cast_stored(array, kind, file.path) for array in next(rest))
            values.append([value for array in arrays for value in list_values(array, slot.field)])
        further = {name: [one for array in next(rest) for one in array.to_pylist()] for name in system}
        yield from _make_records(number, file, positions, values, further)

    def _find_positions(self, file: DataFile, stored: StoredRows, condition: Condition) -> Any:
        """Find the positions of the rows that fit."""
        import numpy as np

        names = list(dict.fromkeys(term.column for term in list_terms(condition)))
        places = {name: stored.find(self._ways[name]) for name in names}
        read = [name for name in names if places[name] is not None]
        found, start = [], 0
        pieces: Iterator[Sequence[pa.Array]] = (
            stored.read([places[name] for name in read]) if read else iter(())
        )
        if not read:  # the same for every row
            columns = {name: self._repeat(stored, name, 1) for name in names}
            fits = bool(find_rows(condition, columns, 1)[0])
            if fits and file.record_count is None:
                raise Unsupported(f"rows of a {file.file_format} file are not read", path=file.path)
            return np.arange((file.record_count or 0) if fits else 0)
        for arrays in pieces:
            count = len(arrays[0])
            columns = {
                name: cast_stored(array, self._ways[name][-1].type, file.path)
                for name, array in zip(read, arrays, strict=True)
            }
            columns |= {name: self._repeat(stored, name, count) for name in names if name not in columns}
            found.append(np.flatnonzero(find_rows(condition, columns, count)) + start)
            start += count
            if sum(map(len, found)) > MOST_RECORDS:
                raise _TooMany
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def _repeat(self, stored: StoredRows, name: str, count: int) -> pa.Array:
        import pyarrow as pa

        way = self._ways[name]
        kind: Any = arrow_type(way[-1].type)
        value = stored.get_constant(way[0]) if len(way) == 1 else None
        array = to_array([value], kind)
        array = getattr(array, "storage", array)
        return array.take(pa.array([0] * count, pa.int64()))


_SYSTEM = ("_row_id", "_last_updated_sequence_number", "_SEQUENCE_NUMBER", "_VALUE_KIND")


def _find_ids(file: DataFile, stored: StoredRows, ids: Collection[int | None]) -> Any:
    """Find the positions of the rows of some row ids: as stored, else counted on from the file's first one."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = np.array(sorted(one for one in ids if one is not None), np.int64)
    first, place = getattr(file, "first_row_id", None), stored.find_system("_row_id")
    own = np.zeros(0, np.int64)
    if first is not None:
        own = wanted[(wanted >= first) & (wanted < first + (file.record_count or 0))] - first
    if place is None:
        return own
    found, start = [], 0
    for (array,) in stored.read([place]):
        plain = array.cast(pa.int64())
        at = np.arange(start, start + len(plain))
        is_wanted = pc.is_in(plain, value_set=pa.array(wanted)).to_numpy(zero_copy_only=False)
        is_own = np.isin(at, own) & plain.is_null().to_numpy(zero_copy_only=False)
        found.append(at[is_wanted | is_own])
        start += len(plain)
    return np.concatenate(found) if found else np.zeros(0, np.int64)


class _TooMany(Exception):
    """More rows fit than are kept."""


def _take(file: DataFile, stored: StoredRows, places: Sequence[Any], positions: Any) -> list[list[pa.Array]]:
    """Take the values of some columns at some positions, column by column in pieces.

    Raises `Corrupt` where a position, which may follow from the rows that are recorded of a file, is past its last one.
    """
    import numpy as np
    import pyarrow as pa

    found: list[list[pa.Array]] = [[] for _ in places]
    start = 0
    for arrays in stored.read(places) if places else ():
        end = start + len(arrays[0])
        here = positions[np.searchsorted(positions, start) : np.searchsorted(positions, end)] - start
        if len(here):
            for part, array in zip(found, arrays, strict=True):
                part.append(array.take(pa.array(here)))
        start = end
        if start > positions[-1]:
            return found
    if places:
        seen, expected = f"{start:,} rows", f"{file.record_count or 0:,}, as is recorded"
        raise Corrupt("the file has fewer rows than it should", path=file.path, seen=seen, expected=expected)
    return found


def _make_records(
    number: int,
    file: DataFile,
    positions: Any,
    values: Sequence[Sequence[Any]],
    further: Mapping[str, Sequence[Any]],
) -> Iterator[Record]:
    """Records of columns. A row id that is not stored follows from the file's first one and the position."""
    count = len(positions)
    nothing = [None] * count
    first = getattr(file, "first_row_id", None)
    ids, updated = further.get("_row_id", nothing), further.get("_last_updated_sequence_number", nothing)
    sequences, kinds = further.get("_SEQUENCE_NUMBER", nothing), further.get("_VALUE_KIND", nothing)
    for row, position in enumerate(positions.tolist()):
        row_id = ids[row] if ids[row] is not None else None if first is None else first + position
        yield Record(
            number,
            position,
            tuple(column[row] for column in values),
            sequences[row] or 0,
            kinds[row] or 0,
            row_id,
            (updated[row] if updated[row] is not None else file.sequence_number)
            if row_id is not None
            else None,
            file.level or 0,
        )


def _list_ways(fields: Sequence[Field]) -> Iterator[tuple[str, tuple[Field, ...]]]:
    """List the columns that a predicate can name, each with the fields that lead to it."""
    known = dict(list_columns(fields))
    for name, field_ in known.items():
        parts = name.split(".")
        way = [
            known[".".join(parts[: end + 1])]
            for end in range(len(parts))
            if ".".join(parts[: end + 1]) in known
        ]
        yield name, tuple(way) if way[-1] is field_ else (field_,)
