"""Bounds and counts of many files by leaf column: the same values as `file_answers.build_bounds` gives file by file.

Follows "Manifests" (fields 108 to 137) and appendix D of the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from lakelens.codecs.iceberg.types import IcebergType
from lakelens.codecs.iceberg.value import decode_value
from lakelens.codecs.iceberg.value_columns import KeyedLists, decode_values, take_places
from lakelens.errors import LakeError
from lakelens.formats.iceberg.metadata.columns import DELETE_FILE_PATH, ColumnIndex, LeafColumn
from lakelens.formats.iceberg.scan.entries import EntryColumns
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.columnar import NotColumnar
from lakelens.model.scan.files_to_arrow import STATS

if TYPE_CHECKING:
    import pyarrow as pa

#: The columns of bounds and counts, and the fields of the specification that they show.
FIELDS = {
    name: {"null_counts": "null_value_counts", "nan_counts": "nan_value_counts"}.get(name, name)
    for name in STATS
}
_BULK = (
    *("boolean", "int", "long", "float", "double", "decimal", "date", "time", "timestamp", "timestamptz"),
    *("timestamp_ns", "timestamptz_ns", "string", "uuid", "fixed", "binary"),
)

_WIDEST_DECIMAL = 38

#: Called with the row and the error where bytes are no value.
Report = Callable[[int, LakeError], None]


def open_lists(entries: EntryColumns, name: str, keep: pa.Array | None) -> KeyedLists | None:
    """Open one map of the specification for the rows that are kept; None where the manifests do not have it."""
    stored = _find_lists(entries, name)
    return None if stored is None else KeyedLists(stored if keep is None else stored.filter(keep))


def _find_lists(entries: EntryColumns, name: str) -> pa.Array | None:
    """Find one map as it is stored. Raises `NotColumnar` where it has other types than the specification's."""
    import pyarrow as pa

    stored = entries.get(name)
    if stored is None or pa.types.is_null(stored.type):
        return None
    kind = stored.type
    if (
        not pa.types.is_list(kind)
        or not pa.types.is_struct(kind.value_type)
        or kind.value_type.num_fields != 2
    ):
        raise NotColumnar(f"{name} is {kind}")
    key, value = kind.value_type.field(0), kind.value_type.field(1)
    wanted = pa.binary() if name.endswith("bounds") else pa.int64()
    if (key.name, value.name) != ("key", "value") or value.type != wanted:
        raise NotColumnar(f"{name} is {kind}")
    if not (pa.types.is_int32(key.type) or pa.types.is_int64(key.type)):
        raise NotColumnar(f"{name} is {kind}")
    return stored


def check_lists(entries: EntryColumns) -> None:
    """Raises `NotColumnar` where a map has an entry or a key that is null: the record path refuses such a file."""
    import pyarrow as pa

    for name in (*FIELDS.values(), "distinct_counts"):
        stored = entries.get(name)
        if stored is None or pa.types.is_null(stored.type):
            continue
        if name == "distinct_counts":
            _find_lists(entries, name)
        pairs = stored.flatten() if pa.types.is_list(stored.type) else stored
        if not pa.types.is_struct(pairs.type) or pairs.null_count or pairs.field(0).null_count:
            raise NotColumnar(f"{name} has no keys")


def build_stats(
    entries: EntryColumns,
    keep: pa.Array | None,
    columns: ColumnIndex,
    wanted: list[str],
    report: Report,
    only: frozenset[str] | None = None,
) -> dict[str, dict[str, pa.Array]]:
    """Build the wanted columns of the contract: arrays by leaf column, of `only` some (None: all).

    A leaf that no file has anything for is left out.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    lists = {name: open_lists(entries, stored, keep) for name, stored in FIELDS.items()}
    ids = {key for found in lists.values() if found is not None for key in found.keys}
    groups = columns.group_by_type(tuple(sorted(ids)))
    if only is not None:
        groups = [tuple(column for column in group if column.name in only) for group in groups]
        groups = [group for group in groups if group]
    found: dict[str, dict[str, pa.Array]] = {}
    for name in wanted:
        found[name] = {}
        of_name = lists[name]
        if of_name is None or not of_name.keys:
            continue
        there = groups
        if len(of_name.keys) < len(ids) or only is not None:
            there = [tuple(column for column in group if column.id in of_name) for group in groups]
        if name.endswith("bounds"):
            for group in filter(None, there):
                found[name] |= _cut(decode_bounds(of_name, group, report), group)
        else:
            leaves = tuple(chain.from_iterable(there))
            if not leaves:
                continue
            found[name] = _cut(of_name.take_all([column.id for column in leaves]), leaves)
    shown = {name for of_name in found.values() for name in of_name}
    if len(shown) < len(ids):
        hidden = [column for column in chain.from_iterable(groups) if column.name not in shown]
        rows = entries.rows if keep is None else pc.sum(keep).as_py() or 0
        for column in hidden:  # leaves that only columns that are not wanted have anything for
            kind = arrow_type(column.type) if wanted[0].endswith("bounds") else pa.int64()
            found[wanted[0]][column.name] = pa.nulls(rows, kind)
    return found


def _cut(values: pa.Array, leaves: Sequence[LeafColumn]) -> dict[str, pa.Array]:
    rows = len(values) // len(leaves)
    return {column.name: values.slice(number * rows, rows) for number, column in enumerate(leaves)}


def decode_bounds(lists: KeyedLists, leaves: Sequence[LeafColumn], report: Report) -> pa.Array:
    """Decode the bounds of some columns, all of one type, in one go: rows of one column after those of the other.

    Those that are no values become null and are reported.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    type_ = leaves[0].iceberg_type
    target = arrow_type(leaves[0].type)
    stored, places = lists.values, lists.find_places([column.id for column in leaves])
    rows = lists.rows

    def note(place: int, error: LakeError) -> None:
        number, row = divmod(place, rows)
        error.message = f"bound of column {leaves[number].name}: {error.message}"
        report(row, error)

    if not type_.is_known or type_.name not in _BULK or (type_.precision or 0) > _WIDEST_DECIMAL:
        values = take_places(stored, places).to_pylist()
        return to_array([_decode(value, type_, place, note) for place, value in enumerate(values)], target)
    if type_.name == "fixed":  # shortened by the writer: no value of the type, and no damage
        whole = pc.equal(pc.binary_length(stored), type_.length)
        stored = pc.if_else(whole, stored, pa.scalar(None, pa.binary()))
    decoded = decode_values(stored, type_, report=note, places=places)
    if decoded.type != target:
        raise NotColumnar(f"a bound of {type_} as {decoded.type}")
    return decoded


def _decode(data: bytes | None, type_: IcebergType, place: int, report: Report) -> Any:
    if data is None:
        return None
    try:
        return decode_value(data, type_)
    except LakeError as error:
        report(place, error)
        return None


def find_targets(
    entries: EntryColumns, keep: pa.Array | None, is_position: pa.Array, recorded: pa.Array
) -> pa.Array:
    """The one data file that each delete file or vector is for: recorded, or known by equal bounds of its `file_path`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    open_ = pc.and_(is_position, pc.is_null(recorded))
    lower, upper = _find_lists(entries, "lower_bounds"), _find_lists(entries, "upper_bounds")
    if lower is None or upper is None or not pc.any(open_).as_py():
        return recorded
    if keep is not None:
        lower, upper = lower.filter(keep), upper.filter(keep)
    bounds = zip(
        recorded.to_pylist(),
        open_.to_pylist(),
        KeyedLists(lower).take(DELETE_FILE_PATH).to_pylist(),
        KeyedLists(upper).take(DELETE_FILE_PATH).to_pylist(),
        strict=True,
    )
    texts = [
        low.decode("utf-8", "replace") if asked and low is not None and low == high else path
        for path, asked, low, high in bounds
    ]
    return pa.array(texts, pa.string())
