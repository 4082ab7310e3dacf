"""Equality deletes without any package: the same answers as `equality` gives by column, row by row.

A key is a tuple of Python values of the columns' types: null equals null, floats are the bits of a double, all NaNs as one,
so that the two zeros differ.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.errors import Corrupt, Unsupported
from lakelens.formats.iceberg.deletes.equality import (
    KeyColumn,
    check_columns,
    find_columns,
    find_constant,
    refuse_many,
)
from lakelens.formats.iceberg.deletes.stored_rows import StoredRows
from lakelens.formats.iceberg.metadata.partitions import convert_stored

if TYPE_CHECKING:
    from lakelens.bitmaps import BitMap64
    from lakelens.codecs.iceberg.types import IcebergType
    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.deletes.stored_columns import StoredColumn
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile

Key = tuple[Any, ...]
_NAN = struct.pack("<d", float("nan"))
_PER_SECOND = {"millis": 10**3, "micros": 10**6, "nanos": 10**9}
_COUNTED = ("time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")
_STORED: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("int", "long", "date", *_COUNTED), (int,)),
    **dict.fromkeys(("float", "double"), (float, int)),
    "boolean": (bool,),
    "string": (str,),
    "binary": (bytes,),
    "uuid": (bytes, str),
}


def read_plain_keys(
    context: TableContext, columns: Sequence[KeyColumn], path: str, kind: str
) -> list[tuple[Any, ...]]:
    """Read the keys of an equality delete file, one for each row. Raises `LakeError`."""
    check_columns(columns, path)
    stored, keys = StoredRows(context, path, kind), list[Key]()
    chosen = find_columns(stored, columns, path)
    for values in stored.iterate(chosen):
        refuse_many(len(keys) + 1, path)
        keys.append(_make_key(values, chosen, columns, path))
    return keys


def format_plain_keys(columns: Sequence[KeyColumn], keys: Iterable[Key]) -> tuple[Key, ...]:
    """Format keys as Python values of the columns' types."""
    return tuple(
        tuple(
            struct.unpack("<d", value)[0]
            if value is not None and column.type.name in ("float", "double")
            else value
            for column, value in zip(columns, key, strict=True)
        )
        for key in keys
    )


class PlainDataKeys:
    """What a data file holds in some columns. Raises `LakeError`."""

    def __init__(
        self, context: TableContext, data: IcebergDataFile, columns: Sequence[KeyColumn], path: str, kind: str
    ) -> None:
        self._columns, self._path, self._record_count = columns, path, data.record_count or 0
        self._stored = StoredRows(context, path, kind)
        self._places = [self._stored.find(column.id) for column in columns]
        self._constants = [
            _compare(find_constant(context, data, column), column.type) if place is None else None
            for place, column in zip(self._places, columns, strict=True)
        ]

    def find(self, keys: frozenset[Key]) -> BitMap64:
        """Find the positions of the rows that equal one of the keys."""
        from lakelens.bitmaps import BitMap64

        hits = BitMap64()
        if all(place is None for place in self._places):  # the same for every row
            if tuple(self._constants) in keys:
                hits.add_range(0, self._record_count)
            return hits
        hits.update([row for row, key in enumerate(self._iterate()) if key in keys])
        return hits

    def _iterate(self) -> Iterator[Key]:
        chosen = [place for place in self._places if place is not None]
        compared = [
            column for place, column in zip(self._places, self._columns, strict=True) if place is not None
        ]
        for values in self._stored.iterate(chosen):
            given = iter(_make_key(values, chosen, compared, self._path))
            yield tuple(
                constant if place is None else next(given)
                for place, constant in zip(self._places, self._constants, strict=True)
            )


def _make_key(
    values: Sequence[Any], stored: Sequence[StoredColumn], columns: Sequence[KeyColumn], path: str
) -> Key:
    return tuple(
        None if value is None else _convert(value, place.avro, column, path)
        for value, place, column in zip(values, stored, columns, strict=True)
    )


def _convert(value: Any, described: Any, column: KeyColumn, path: str) -> Any:
    """Make a stored value comparable. Raises `Corrupt` for one that the column's type cannot hold, `Unsupported`."""
    kind = column.type
    is_bytes = kind.precision is not None or kind.length is not None
    wanted = _STORED.get(kind.name, (bytes,) if is_bytes else ())
    if not wanted:
        raise Unsupported(f"{column.name} of type {kind} is not compared", path=path)
    if type(value) not in wanted:
        seen = type(value).__name__
        raise Corrupt(f"{column.name} does not fit its type", path=path, expected=kind, seen=seen)
    if kind.name in _COUNTED and isinstance(described, dict):
        unit = str(described.get("logicalType")).rpartition("-")[2]
        own = 10**9 if kind.name.endswith("_ns") else 10**6
        return convert_stored(value * own // _PER_SECOND.get(unit, own), kind)
    return _compare(convert_stored(value, kind), kind)


def _compare(value: Any, kind: IcebergType) -> Any:
    if value is None or kind.name not in ("float", "double"):
        return value
    return _NAN if value != value else struct.pack("<d", value)
