"""What a query of a table's metadata gave: rows that a notebook shows, and that every library takes as Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakelens.display import Displayable
from lakelens.model.tabular import Tabular

if TYPE_CHECKING:
    import pyarrow as pa


class QueryResult(Tabular, Displayable):
    """The rows of a query, in its order.

    `columns` are the names, `engine` is what ran it ("duckdb" or "datafusion"), `views` those that the query was given.
    """

    def __init__(self, table: pa.Table, engine: str, views: tuple[str, ...] = ()) -> None:
        self._table = table
        self.engine = engine
        self.views = views

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order; a query may give one name to several."""
        return list(self._table.column_names)

    def to_arrow(self) -> pa.Table:
        """The result as an Arrow table."""
        return self._table

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        rows: list[dict[str, Any]] = self._table.to_pylist()
        return rows

    def rows(self, most: int | None = None) -> Iterator[tuple[Any, ...]]:
        """The rows as tuples of Python values; the first `most` of them.

        A value that Python's types cannot hold (a time beyond the year 9999) is its text.
        """
        part = self._table if most is None else self._table.slice(0, most)
        return zip(*([_read_cell(cell) for cell in column] for column in part.columns), strict=True)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self.rows()

    def __getitem__(self, key: int | str) -> list[Any] | tuple[Any, ...]:
        """A column by name as a list of values, or a row by position as a tuple. Raises KeyError or IndexError."""
        if isinstance(key, str):
            return [_read_cell(cell) for cell in self._table.column(key)]
        if not -len(self) <= key < len(self):
            raise IndexError(key)
        return tuple(_read_cell(column[key % len(self)]) for column in self._table.columns)

    def __repr__(self) -> str:
        return f"<QueryResult {len(self)} rows: {', '.join(self.columns)}>"


def _read_cell(cell: Any) -> Any:
    """A value as Python has it: a map as a dictionary, a time after the year 9999 as text.

    A struct that Python cannot have as a dictionary, two of its fields having one name, is a list of names and values.
    """
    import pyarrow as pa

    try:
        value = cell.as_py()
    except (ValueError, OverflowError):
        return _read_odd_cell(cell)
    return dict(value) if value is not None and pa.types.is_map(cell.type) else value


def _read_odd_cell(cell: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_struct(cell.type):
        return [(field.name, _read_cell(cell[place])) for place, field in enumerate(cell.type)]
    try:
        return str(cell.cast(pa.string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return f"a value of type {cell.type}"
