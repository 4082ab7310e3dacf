"""The result of a query over a table's metadata: rows with a view, for every library that reads Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakelens.model.collections import Rows, read_cell

if TYPE_CHECKING:
    import pyarrow as pa


class QueryResult(Rows):
    """The rows of a query, in its order.

    `columns` are the names, `engine` is "duckdb" or "datafusion", `views` the views that the query named.
    """

    def __init__(self, table: pa.Table, engine: str, views: tuple[str, ...] = ()) -> None:
        super().__init__(table)
        self.engine = engine
        self.views = views

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order; several may have the same name."""
        return list(self._table.column_names)

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        rows: list[dict[str, Any]] = self._table.to_pylist()
        return rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self.rows()

    def __getitem__(self, key: int | str) -> list[Any] | tuple[Any, ...]:
        """A column by name as a list of values, or a row by position as a tuple. Raises KeyError or IndexError."""
        if isinstance(key, str):
            return [read_cell(cell) for cell in self._table.column(key)]
        if not -len(self) <= key < len(self):
            raise IndexError(key)
        return tuple(read_cell(column[key % len(self)]) for column in self._table.columns)
