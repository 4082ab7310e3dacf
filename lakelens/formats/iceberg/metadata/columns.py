"""What a column id is called today: the names and types under which bounds and counts are shown.

A leaf of today's schema has its full name (`st.x`, `tags.element`, `m.key`) and today's type; a column that was dropped
since has `name#id` and the last type that is known of it; ids from 2147483447 on are the specification's own columns
(`file_path` and `pos` of position deletes).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from threading import RLock
from typing import Any

from lakelens.codecs.iceberg.types import IcebergType, leaf_fields, parse_type_text
from lakelens.formats.iceberg.metadata.schemas import describe_type
from lakelens.lazy import dataclass
from lakelens.model.schema import DataType

RESERVED = {
    2147483646: ("_file", "string"),
    2147483645: ("_pos", "long"),
    2147483644: ("_deleted", "boolean"),
    2147483643: ("_spec_id", "int"),
    2147483546: ("file_path", "string"),
    2147483545: ("pos", "long"),
    2147483543: ("_change_type", "string"),
    2147483542: ("_change_ordinal", "int"),
    2147483541: ("_commit_snapshot_id", "long"),
    2147483540: ("_row_id", "long"),
    2147483539: ("_last_updated_sequence_number", "long"),
}
DELETE_FILE_PATH = 2147483546
DELETE_POS = 2147483545
ROW_ID = 2147483540
LAST_UPDATED_SEQUENCE_NUMBER = 2147483539
_MOST_GROUPINGS = 64


@dataclass(frozen=True, slots=True)
class LeafColumn:
    """One leaf column: the name it is shown under, its type for decoding and for the model."""

    id: int
    name: str
    iceberg_type: IcebergType
    type: DataType
    is_dropped: bool = False


class ColumnIndex:
    """Leaf columns by id: today's first, in schema order, then those that the document still knows, newest schema first.

    Those that only manifests know come last, by id, in whichever order they are found. Threads may share it.
    """

    def __init__(self, structs: Iterable[IcebergType]) -> None:
        self._columns: dict[int, LeafColumn] = {}
        self._order: dict[int, tuple[int, int]] = {}
        self._names: set[str] = set()
        self._by_type: dict[tuple[int, ...], list[tuple[LeafColumn, ...]]] = {}
        self._lock = RLock()
        self._is_open = False
        self.headers: set[int] = set()  # hashes of the headers of manifests whose columns are known
        for index, struct in enumerate(structs):
            self.learn(struct, today=index == 0)
        self._is_open = True

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            stored = {
                "_columns": dict(self._columns),
                "_order": dict(self._order),
                "_names": set(self._names),
            }
        return {**stored, "headers": set()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _by_type={}, _lock=RLock(), _is_open=True)

    def learn(self, struct: IcebergType, *, today: bool = False) -> None:
        """Add the leaves of a schema; known ids keep their columns."""
        with self._lock:
            for name, field in leaf_fields(struct):
                if field.id not in self._columns:
                    shown = self._free_name(name, field.id) if today else f"{name}#{field.id}"
                    self._add(LeafColumn(field.id, shown, field.type, describe_type(field.type), not today))

    def add_unknown(self, fields: Mapping[str, Any]) -> None:
        """Add the ids that a data file has statistics for, so that every one of them has a name."""
        for name in ("column_sizes", "value_counts", "null_value_counts", "lower_bounds"):
            for column_id in fields.get(name) or ():
                if column_id not in self._columns:
                    self.find(column_id)

    def expect_reserved(self, version: int, has_deletes: bool) -> None:
        """Add the columns that no schema has but the files of a table of this version may: one rule for both paths.

        Position deletes have statistics of their own two columns; rewritten files of version 3 keep their rows' lineage.
        """
        for column_id in (DELETE_FILE_PATH, DELETE_POS) if has_deletes else ():
            self.find(column_id)
        for column_id in (ROW_ID, LAST_UPDATED_SEQUENCE_NUMBER) if version >= 3 else ():
            self.find(column_id)

    def find(self, column_id: int) -> LeafColumn:
        """Find the column of an id; one that no schema names is `#id`, shown as bytes."""
        found = self._columns.get(column_id)
        if found is not None:
            return found
        with self._lock:
            if column_id in self._columns:
                return self._columns[column_id]
            if column_id in RESERVED:
                name, text = RESERVED[column_id]
                type_ = parse_type_text(text)
                shown = self._free_name(name, column_id)
                return self._add(LeafColumn(column_id, shown, type_, describe_type(type_), True))
            type_ = parse_type_text("binary")
            return self._add(LeafColumn(column_id, f"#{column_id}", type_, describe_type(type_), True))

    def rank(self, column_id: int) -> tuple[int, int]:
        """Rank the sort key of columns: today's and the document's in their order, then the others by id."""
        self.find(column_id)
        return self._order[column_id]

    def group_by_type(self, ids: tuple[int, ...]) -> list[tuple[LeafColumn, ...]]:
        """Group the columns of these ids, those of one type together; kept, because many manifests have the same ones."""
        found = self._by_type.get(ids)
        if found is None:
            groups: dict[tuple[str, DataType], list[LeafColumn]] = {}
            for column in map(self.find, sorted(ids, key=self.rank)):
                groups.setdefault((str(column.iceberg_type), column.type), []).append(column)
            if len(self._by_type) >= _MOST_GROUPINGS:
                self._by_type.clear()
            found = self._by_type[ids] = [tuple(group) for group in groups.values()]
        return found

    def today(self) -> Iterator[LeafColumn]:
        """The leaves of today's schema."""
        return (column for column in self._in_order() if not column.is_dropped)

    def dropped(self) -> Iterator[LeafColumn]:
        """The leaves that are not in today's schema."""
        return (column for column in self._in_order() if column.is_dropped)

    def _in_order(self) -> list[LeafColumn]:
        with self._lock:
            return sorted(self._columns.values(), key=lambda column: self._order[column.id])

    def _free_name(self, name: str, column_id: int) -> str:
        """The name, or the name with its id where another column is shown under it."""
        return f"{name}#{column_id}" if name in self._names else name

    def _add(self, column: LeafColumn) -> LeafColumn:
        self._order[column.id] = (1, column.id) if self._is_open else (0, len(self._order))
        self._columns[column.id] = column
        self._names.add(column.name)
        return column


# The name mapping of a table: which field ids the names in files without ids stand for.
#
#     schema.name-mapping.default   [{"field-id": 1, "names": ["id", "record_id"], "fields": […]}, …]
#
# Follows "Name Mapping Serialization" of the Iceberg table specification.

PROPERTY = "schema.name-mapping.default"
_MAX_DEPTH = 100


def read_name_mapping(properties: Mapping[str, str]) -> dict[tuple[str, ...], int] | None:
    """The field id of each name, with the names it is below; None where the table has no mapping, empty for a damaged one.

    >>> read_name_mapping({PROPERTY: '[{"field-id": 1, "names": ["a", "b"]}]'})
    {('a',): 1, ('b',): 1}
    """
    text = properties.get(PROPERTY)
    if text is None:
        return None
    try:
        mapping = json.loads(text)
    except (ValueError, RecursionError):
        mapping = None
    found: dict[tuple[str, ...], int] = {}
    for path, field_id in _walk(mapping, (), 0):
        found.setdefault(path, field_id)
    return found


def _walk(mapping: Any, prefix: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], int]]:
    for entry in mapping if isinstance(mapping, list) and depth < _MAX_DEPTH else ():
        names = entry.get("names") if isinstance(entry, dict) else None
        for name in names if isinstance(names, list) else ():
            path = (*prefix, str(name))
            if isinstance(entry.get("field-id"), int):
                yield path, entry["field-id"]
            yield from _walk(entry.get("fields"), path, depth + 1)
