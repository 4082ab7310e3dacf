"""How a data file divides its bytes: columns, what finds them, what describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakelens.errors import Corrupt

#: What a file is made of besides its columns, as `FileDivision.parts` names it.
PARTS = ("page indexes", "bloom filters", "footers", "padding")


@dataclass(frozen=True, slots=True)
class FileDivision:
    """The bytes of a file by column and by the parts that are no column's: together they are its `size_bytes`.

    A column is named by its path in the file and by the table's field id where the file has it. `parts` are some of `PARTS`.

    >>> divide(100, {("id", 1): 60, ("b.x", 3): 20}, {"footers": 15}, "/t/a").parts
    {'footers': 15, 'padding': 5}
    """

    size_bytes: int
    columns: Mapping[tuple[str, int | None], int]
    parts: Mapping[str, int]


def divide(
    size: int,
    columns: Mapping[tuple[str, int | None], int],
    parts: Mapping[str, int],
    path: str,
    rest: str = "padding",
) -> FileDivision:
    """The division of a file of a size; what neither a column nor a part takes is the `rest`.

    Raises `Corrupt` for parts that are longer than the file.
    """
    found = sum(columns.values()) + sum(parts.values())
    if found > size:
        raise Corrupt(
            "columns and footer longer than the file", path=path, expected=f"at most {size}", seen=found
        )
    filled = {name: length for name, length in parts.items() if length}
    if found < size:
        filled[rest] = filled.get(rest, 0) + size - found
    return FileDivision(size, dict(columns), filled)
