"""The names of pyarrow that the core uses, where it works without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lakelens.arrays import functions as compute
from lakelens.arrays.kinds import (
    Kind,
    UuidType,
    binary,
    bool_,
    date32,
    decimal128,
    decimal256,
    field,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    list_,
    map_,
    null,
    string,
    struct,
    time32,
    time64,
    timestamp,
    types,
    uuid,
)
from lakelens.arrays.lists import (
    ArrowInvalid,
    ArrowNotImplementedError,
    ArrowTypeError,
    ExtensionArray,
    ListColumn,
    StructArray,
    array,
    concat_arrays,
    nulls,
    scalar,
)

# What is used of Arrow's tables where the core works without pyarrow; names, arguments and results are pyarrow's.


class Schema:
    """Names and types of columns."""

    def __init__(self, fields: Iterable[tuple[str, Kind]]) -> None:
        self.fields = list(fields)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [name for name, _ in self.fields]

    def empty_table(self) -> Table:
        """A table without rows."""
        return Table([nulls(0, kind) for _, kind in self.fields], self.names)


class Table:
    """Columns of one length with names."""

    def __init__(self, columns: Sequence[ListColumn], names: Sequence[str]) -> None:
        self.columns, self.names = columns, names

    def take(self, places: ListColumn) -> Table:
        """The rows at some places."""
        return Table([column.take(places) for column in self.columns], self.names)

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as values of Python."""
        rows = zip(*(column.to_pylist() for column in self.columns), strict=True)
        return [dict(zip(self.names, row, strict=True)) for row in rows]


schema = Schema


def table(columns: Sequence[ListColumn], schema: Schema) -> Table:
    """See `pyarrow.table`."""
    return Table(columns, schema.names)


def concat_tables(tables: Sequence[Table]) -> Table:
    """See `pyarrow.concat_tables`."""
    joined = [concat_arrays(parts) for parts in zip(*(part.columns for part in tables), strict=True)]
    return Table(joined, tables[0].names)


__all__ = [
    "ArrowInvalid",
    "ArrowNotImplementedError",
    "ArrowTypeError",
    "ExtensionArray",
    "StructArray",
    "UuidType",
    "array",
    "binary",
    "bool_",
    "compute",
    "concat_arrays",
    "concat_tables",
    "date32",
    "decimal128",
    "decimal256",
    "field",
    "float32",
    "float64",
    "int16",
    "int32",
    "int64",
    "int8",
    "list_",
    "map_",
    "null",
    "nulls",
    "scalar",
    "schema",
    "string",
    "struct",
    "table",
    "time32",
    "time64",
    "timestamp",
    "types",
    "uuid",
]
