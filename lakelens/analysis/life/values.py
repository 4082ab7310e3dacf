"""Stored values as today's types have them, and which rows a predicate holds for: by column, with Arrow.

A predicate holds for a row where it is true of it: a comparison with null is not, NaN equals NaN and is above every number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any
from uuid import UUID

from lakelens.caching import cached_property
from lakelens.codecs.numbers import parse_whole
from lakelens.errors import LakeError, Unsupported
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.collections import read_cell
from lakelens.model.stats import Condition, Constant, Group, Term, list_terms

if TYPE_CHECKING:
    import pyarrow as pa

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
        return [UUID(bytes=one) if isinstance(one, bytes) and len(one) == 16 else one for one in values]
    if field.type.children:
        return [rename(one, array.type, field.type) for one in values]
    return values


def rename(value: Any, stored: pa.DataType, kind: DataType) -> Any:
    """A nested value under today's names: fields are matched by id where the file keeps ids, else by name."""
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
        return {
            _freeze(rename(one, stored.key_type, key)): rename(other, stored.item_type, item)
            for one, other in value.items()
        }
    return value


def _find_child(stored: Any, child: Field) -> int | None:
    """The place of a field in a stored struct."""
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
    """What Iceberg's writers call a field in Avro, whose names have letters, digits and underscores alone.

    >>> make_avro_name("a.b"), make_avro_name("1st")
    ('a_x2Eb', '_1st')
    """
    safe = "".join(one if one.isalnum() or one == "_" else f"_x{ord(one):X}" for one in name)
    return f"_{safe}" if safe[:1].isdigit() else safe


def _freeze(value: Any) -> Any:
    return (
        tuple(value.items())
        if isinstance(value, dict)
        else tuple(value)
        if isinstance(value, list)
        else value
    )


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
    """The parts of a conjunction that speak of some columns alone; None where none does."""
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
        """The columns that a reader of a snapshot sees, each under its name then, with its place."""
        schema: Schema = self._schema
        if snapshot is not None:
            try:
                schema = snapshot.schema
            except LakeError:
                schema = self._schema
        keys = ((field.name, self._places.get(self._key(field))) for field in schema.fields)
        return [(name, place) for name, place in keys if place is not None]

    def show(self, values: Sequence[Any], snapshot: Snapshot | None) -> dict[str, Any]:
        """The values of a row under the names of a snapshot's schema."""
        return {name: values[place] for name, place in self.list_names(snapshot)}
