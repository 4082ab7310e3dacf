"""`compare`: whether two places hold one table."""

from __future__ import annotations

from typing import Any

from lakelens.analysis.compare import Comparison, compare_tables
from lakelens.analysis.mirror import compare_mirror
from lakelens.errors import LakeError, say_value
from lakelens.model.table import Table
from lakelens.opening import open_any


def compare_places(a: Any, b: Any, data: bool = False) -> Comparison:
    """Compare two places: a table and its copy, its backup, its mirror in another region or by another format.

    A place is opened `enclosed`: it is judged by what is in its own directory. What it lacks is missing, also where the
    original still has it.

    Parameters
    ----------
    a, b
        Tables, or whatever `lakelens.open` takes.
    data
        Whether the bytes of data files and delete files are compared too; else their names and lengths are, and what the
        metadata records. Documents are compared by all their bytes in any case.

    Returns
    -------
    Comparison
        `same`, `verdict`, `rows` (what was compared, with its state on both sides), `differences` (the files), `missing`,
        `at` (the newest state that both have), `behind` and `ahead` (commits).

    Raises
    ------
    LakeError
        A place cannot be opened, or is a view.

    Examples
    --------
    >>> import lakelens as ll
    >>> compare_places(ll.sample("iceberg"), ll.sample("iceberg")).headline
    'the same table'
    """
    first, second = (_open(place) for place in (a, b))
    if first.format != second.format:
        return compare_mirror(first, second)
    return compare_tables(first, second, data)


def compare_with(table: Table, other: Any, data: bool = False) -> Comparison:
    """Compare a table that is open with another place: the question behind `lakelens compare`.

    Of a place the table is opened again as that is, enclosed, where this leads to the same state.
    """
    if isinstance(other, Table):
        return compare_places(table, other, data)
    try:
        again = open_any(table.location, format=table.format, enclosed=True)
    except LakeError:  # it takes more to open it than its place
        again = table
    is_same = isinstance(again, Table) and again.metadata_path == table.metadata_path
    return compare_places(again if is_same else table, other, data)


def _open(place: Any) -> Table:
    table = place if isinstance(place, Table) else open_any(place, enclosed=True)
    if not isinstance(table, Table):
        raise LakeError("a view has no files that could be compared", seen=say_value(table))
    return table


def format_unlikeness(table: Table, compared: Comparison) -> str:
    """Say in a line what differs between two places; nothing where they hold one table in one state."""
    if compared.same:
        return ""
    shown = next(iter(compared.differences), None)
    first = "" if shown is None else f"; {shown.relative_path}: {shown.why}"
    return f"{table.location} and {compared.b.location}: {compared.headline}{first}"
