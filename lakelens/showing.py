"""`ll.show`: anything of lakelens, or rows of one's own, where the reader is: a table in a notebook, text elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.options import display

_MOST = 10_000  # rows that are looked at


class ShownRows(Displayable):
    """Rows of one's own as a card: names of columns, then values; texts as they are, bytes in hexadecimal.

    >>> ShownRows([{"id": 1, "name": "a"}, {"id": 2}])
    <ShownRows 2 rows: id, name>
    >>> print(ShownRows([{"id": 1, "name": "a"}, {"id": 2}]))
    Rows: 2
      id  name
       1  a
       2
    """

    __slots__ = ("columns", "rows")

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        found = list(islice(rows, _MOST))
        self.columns = tuple(dict.fromkeys(str(name) for row in found for name in row))
        self.rows = tuple({str(name): held for name, held in row.items()} for row in found)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<ShownRows {len(self)} row{'' if len(self) == 1 else 's'}: {', '.join(self.columns)}>"


def show(
    thing: Any, detail: int = 1, *, meanings: bool | None = None, columns: Sequence[str] | None = None
) -> None:
    """Show an object of lakelens, or rows: as a table in a notebook, as text elsewhere.

    Parameters
    ----------
    thing
        Anything that lakelens gives; or rows: dicts, named tuples or Spark's rows, a DataFrame of pandas, polars or Spark,
        an Arrow table, a dict of names and values. Of very many rows the first `options.display.max_rows` are shown.
    detail
        From 0 (one line) to 3 (everything).
    meanings
        Whether what each name stands for is a column of the tables; None for `options.display.meanings`.
    columns
        The names of the columns, for rows that are plain tuples.

    Raises
    ------
    LakeError
        These are no rows.

    Examples
    --------
    >>> show({"step": name, "bytes": name.encode()} for name in ("id", "name"))
    Rows: 2
      step  bytes
      id    69 64
      name  6e 61 6d 65
    >>> show([(1, "a")], columns=["id", "name"])
    Rows: 1
      id  name
       1  a
    """
    shown = thing if isinstance(thing, Displayable) else ShownRows(_list_rows(thing, columns))
    shown.show(detail, meanings=meanings)


def _list_rows(thing: Any, columns: Sequence[str] | None) -> Iterable[Mapping[str, Any]]:
    """Rows by name, of whatever has them."""
    if isinstance(thing, Mapping):
        return [{"name": name, "value": held} for name, held in islice(thing.items(), _MOST)]
    if hasattr(thing, "to_pylist"):
        return thing.slice(0, _MOST).to_pylist()  # type: ignore[no-any-return]
    if hasattr(thing, "to_dicts"):
        return thing.head(_MOST).to_dicts()  # type: ignore[no-any-return]
    if hasattr(thing, "to_dict") and hasattr(thing, "columns"):
        return thing.head(_MOST).to_dict("records")  # type: ignore[no-any-return]
    if hasattr(thing, "collect") and hasattr(thing, "limit"):
        thing = thing.limit(max(display.max_rows, 1)).collect()
    if isinstance(thing, str | bytes) or not isinstance(thing, Iterable):
        raise LakeError(
            "these are no rows", expected="dicts, tuples with columns=, or a table", seen=type(thing).__name__
        )
    return [_name_values(row, columns) for row in islice(thing, _MOST)]


def _name_values(row: Any, columns: Sequence[str] | None) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    for verb in ("_asdict", "asDict"):
        if hasattr(row, verb):
            named: Mapping[str, Any] = getattr(row, verb)()
            return named
    if isinstance(row, list | tuple) and columns is not None and len(row) == len(columns):
        return dict(zip(columns, row, strict=True))
    wanted = "a dict" if columns is None else f"{len(columns)} values"
    raise LakeError("this is no row", expected=f"{wanted} for each row", seen=type(row).__name__)
